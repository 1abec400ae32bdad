/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a caller may put into a ledger. */
#ifndef CELLAR_LEDGER_CHECK_H
#define CELLAR_LEDGER_CHECK_H

#include "ledger/ledger.h"

/* One line of UTF-8 of 1 to 200 bytes. */
cellar_status cellar_ledger_check_name(const char *what, const char *name, cellar_error *err);
/* The same, of up to 65536 bytes. */
cellar_status cellar_ledger_check_text(const char *what, const char *text, cellar_error *err);
/* A delta of 1/population or more lets one person's record out with certainty, on average: it
 * must be meant. */
cellar_status cellar_ledger_check_delta(const cellar_amounts *amounts, uint64_t population,
                                        int accept_delta, cellar_error *err);
cellar_status cellar_ledger_check_edition(const cellar_ledger *ledger, const char *dataset,
                                          const char *edition, cellar_error *err);
/* All of a charge but whether it fits. In a dataset accounted in rho the amounts get theirs. */
cellar_status cellar_ledger_check_charge(const cellar_ledger *ledger, const cellar_charge *charge,
                                         cellar_amounts *amounts, cellar_error *err);

#endif
