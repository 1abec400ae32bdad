# SPDX-License-Identifier: GPL-3.0-or-later
set(LAYER_SOURCES
  ledger.c
  ledger_add.c
  ledger_amount.c
  ledger_charge.c
  ledger_check.c
  ledger_entry.c
  ledger_files.c
  ledger_spend.c
  ledger_state.c
  ledger_store.c
  ledger_tell.c
  ledger_verify.c
)
