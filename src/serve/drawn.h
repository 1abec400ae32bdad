/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the configuration says about a data set whose tables a vault draws (the kinds `budget` and
 * `cell-key`): what is counted, which ledger knows it, and how it is protected. Nothing of it is
 * secret: the front shows costs from it. Only the vault opens the data, the keys and the ledger. */
#ifndef CELLAR_SERVE_DRAWN_H
#define CELLAR_SERVE_DRAWN_H

#include "plan/plan.h"
#include "serve/config.h"

/* Tables of at most so many variables and cells have this noise; of a list the first that fits. */
typedef struct serve_class {
    plan_place place;
    uint64_t variables, cells; /* cells: 0: any number */
    const char *mechanism;     /* of a cell: "discrete-gaussian:sigma=4" */
} serve_class;

/* `ledger:`; both kinds need one. */
typedef struct serve_ledger_text {
    const char *file, *key; /* key: NULL: the name of the file followed by ".key" */
    const char *dataset;
} serve_ledger_text;

/* `budget.cap`: that of the ledger's dataset, which the front cannot open. A rho, or an epsilon and
 * perhaps a delta: the currency of all costs. */
typedef struct serve_cap_text {
    const char *rho, *epsilon, *delta;
} serve_cap_text;

/* `budget:` */
typedef struct serve_budget_text {
    serve_cap_text cap;
    int neighbours, negatives, parameter_choice; /* values of the enums of these names */
    uint64_t threshold;
    int below; /* 1 zero, 2 suppress */
    const char *delta;
    plan_list accept, classes; /* texts; serve_class */
} serve_budget_text;

/* `cell_key:` */
typedef struct serve_cell_key_text {
    const char *matrix;              /* a file */
    int boundary, large;             /* 1 below, 2 at-most; 1 last, 2 rotate; 0: the default */
    const char *record_key;          /* the column of the keys of records, */
    const char *record_id, *records; /* or of identifiers, and the file of the key */
    uint64_t key_range;              /* 0: decimal keys in [0,1) */
    const char *smallest_sd;         /* the floor: no margin may be known better */
} serve_cell_key_text;

/* All of it. */
typedef struct serve_drawn_text {
    cellar_plan records; /* `records:`: data, unit and variables only, as in plans */
    serve_ledger_text ledger;
    serve_budget_text budget;
    serve_cell_key_text cell_key;
} serve_drawn_text;

/* Reads what a data set of one of these kinds says, resolves names and reads the code lists; no
 * data are opened. The texts live as long as the configuration. Free the lists with
 * serve_drawn_unload() in every case. */
cellar_status serve_drawn_read(const serve_config *config, const serve_config_dataset *dataset,
                               serve_drawn_text *out, cellar_error *err);
void serve_drawn_unload(serve_drawn_text *text);

#endif
