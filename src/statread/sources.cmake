# SPDX-License-Identifier: GPL-3.0-or-later
# What cellar-statread is made of, besides main.c; tests and fuzzers use it directly.
set(STATREAD_SOURCES
  labels.c
  parse.c
  rows.c
  sandbox.c
  value.c
)
