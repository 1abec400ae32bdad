/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the words of a configuration to a data set. */
#ifndef CELLAR_SERVE_DATASET_OPEN_H
#define CELLAR_SERVE_DATASET_OPEN_H

#include "serve/population.h"
#include "serve/site.h"

/* Opens the cube or the folder of releases, finds the variables, and gives them their words and
 * rules. Texts lie in the arenas of the site and of its configuration. Close it in every case. */
cellar_status serve_dataset_open(cellar_site *site, const serve_config_dataset *words,
                                 serve_dataset *out, cellar_error *err);
void serve_dataset_close(serve_dataset *dataset); /* {0} is fine */

enum { SERVE_SECRETS = 4 };
/* The files that only a vault opens: data, ledger, its key, the key of records; those that there
 * are not are NULL. */
void serve_dataset_secrets(const serve_dataset *dataset, const char *out[SERVE_SECRETS]);

/* What of it matters for the population. */
serve_member serve_dataset_member(const serve_dataset *dataset, const serve_config_dataset *words);

#endif
