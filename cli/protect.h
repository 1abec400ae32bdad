/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the parts of cellar protect share. */
#ifndef CELLAR_CLI_PROTECT_H
#define CELLAR_CLI_PROTECT_H

#include <cellar/dirichlet.h>
#include <cellar/ledger.h>
#include <cellar/release.h>
#include <cellar/release_file.h>

#include "options.h"

/* Who pays. */
typedef struct protect_account {
    const char *ledger, *key, *dataset, *request, *analyst, *delta;
    int accept_delta;
} protect_account;

typedef struct protect_values {
    const char *mechanism, *total_epsilon, *key, *edition, *unit, *date, *path;
    int negatives, per_cell, noise, domain_public, neighbours, chosen;
    int force, format, zeros, sparse, json;
    protect_account account;
    cli_words domain, accept;
    cli_number threshold, max_cells, per_unit, max_weight, threads;
} protect_values;

/* Everything that a run holds. */
typedef struct protect_run {
    cellar_table *table;
    cellar_mechanism *mechanism; /* NULL when it takes the table as a whole */
    cellar_dirichlet *dirichlet; /* when that is multinomial-dirichlet */
    int is_invariant;            /* the total it draws is the table's own */
    cellar_key *key;
    cellar_release_file *file;
    cellar_release *release;
    cellar_named_codelist *codelists;
    cli_words domain_names;
    char *spec;
    cellar_protect_options options;
    cellar_forecast forecast;
    cellar_table_write_options write;
    cellar_ledger *ledger; /* NULL: nobody pays */
    char statement[256];   /* of an uncharged entry */
} protect_run;

/* 1 for mechanisms that take a table as a whole. */
int cli_protect_is_joint(const char *spec);
/* "add-remove" or "substitute". */
const char *cli_protect_neighbours(cellar_neighbours neighbours);

/* Reads and opens all that the run needs; nothing is drawn. Answers CLI_GO_ON, or an exit code
 * after a message; clear the run in any case. */
int cli_protect_prepare(const protect_values *values, const char *path, protect_run *run);
void cli_protect_clear(protect_run *run);

/* Draws, with a progress line. */
cellar_status cli_protect_draw(protect_run *run, cellar_error *err);

/* Charges the ledger, draws, and lets the release appear; or finds what was drawn before. */
cellar_status cli_protect_spend(const protect_values *values, protect_run *run, cellar_error *err);

#endif
