/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is said about a ledger, to people and to programs. */
#ifndef CELLAR_CLI_LEDGER_OUT_H
#define CELLAR_CLI_LEDGER_OUT_H

#include <cellar/ledger.h>
#include <cellar/sampling.h>

/* The statement of each dataset, or of one, the shares of analysts, and the non-adaptive figure at
 * `delta` (NULL: at that of the cap). */
cellar_status cli_ledger_show(cellar_ledger *ledger, const char *dataset, const char *delta,
                              int as_json, cellar_error *err);
/* Every entry, or those about one dataset. */
cellar_status cli_ledger_history(const cellar_ledger *ledger, const char *dataset, int as_json,
                                 cellar_error *err);
/* That the history is whole, and what each release (NULL-terminated) was found to be. */
cellar_status cli_ledger_tell_verified(const cellar_ledger *ledger, const char *const *releases,
                                       const cellar_against *found, int as_json, cellar_error *err);

/* What the cap of a dataset is for the population behind a sample, and what that assumes
 * (ledger_amplify.c). */
cellar_status cli_ledger_amplify(const cellar_ledger *ledger, const char *dataset,
                                 const cellar_sampling *sampling, int as_json, cellar_error *err);

#endif
