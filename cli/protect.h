/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of cellar protect share. */
#ifndef CELLAR_CLI_PROTECT_H
#define CELLAR_CLI_PROTECT_H

#include <cellar/charged.h>

#include "options.h"

/* Who pays. */
typedef struct protect_account {
    const char *ledger, *key, *dataset, *request, *analyst, *delta;
    int accept_delta;
} protect_account;

typedef struct protect_values {
    const char *mechanism, *total_epsilon, *key, *edition, *unit, *date, *path;
    int negatives, per_cell, noise, domain_public, neighbours, chosen;
    int below, force, format, zeros, sparse, json, forecast;
    protect_account account;
    cli_words domain, accept;
    cli_number threshold, max_cells, per_unit, max_weight, threads;
} protect_values;

/* Everything that a run holds. */
typedef struct protect_run {
    cellar_table *table;
    cellar_mechanism *mechanism; /* NULL when it takes the table as a whole */
    cellar_key *key;
    cellar_prepared *prepared; /* all but drawn */
    cellar_release_file *file;
    cellar_release *release;
    cellar_named_codelist *codelists;
    cli_words domain_names;
    char *spec;
    cellar_protect_options options;
    cellar_forecast forecast;
    cellar_table_write_options write;
    cellar_ledger *ledger; /* NULL: nobody pays */
} protect_run;

/* 1 for mechanisms that take a table as a whole; and for the one of them that draws nothing. */
int cli_protect_is_joint(const char *spec);
int cli_protect_is_cell_key(const char *spec);

/* Reads and opens all that the run needs; nothing is drawn. Answers CLI_GO_ON, or an exit code
 * after a message; clear the run in any case. */
int cli_protect_prepare(const protect_values *values, const char *path, protect_run *run);
void cli_protect_clear(protect_run *run);

#endif
