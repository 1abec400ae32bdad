/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tabulation at work. */
#ifndef CELLAR_TABLE_COUNTING_TABULATE_H
#define CELLAR_TABLE_COUNTING_TABULATE_H

#include <cellar/tabulate.h>

#include "data/coder.h"
#include "data/condition.h"
#include "data/scan.h"
#include "table/counting/accumulate.h"
#include "table/counting/cover.h"
#include "table/counting/lane.h"

typedef struct cellar_tabulation {
    const cellar_tabulate_spec *spec;
    cellar_scan *scan;
    cellar_condition **conditions;
    cellar_codelist *held[CELLAR_MAX_VARIABLES]; /* lists that the coders read */
    cellar_coder **coders;                       /* of the variables, then of the conditions */
    cellar_scan_use *uses;                       /* the same, then weight, record key and unit */
    size_t n_coders, n_uses;
    cellar_admission admission;
    const cellar_tabulate_set *sets; /* the tables that are wanted */
    size_t n_sets;
    cellar_cover cover;                /* the tables that are counted */
    cellar_accumulator **accumulators; /* one for each of these */
    cellar_lane *lanes;
    int n_lanes;
    cellar_codelist *domains[CELLAR_MAX_VARIABLES];
    uint32_t *leaf_of[CELLAR_MAX_VARIABLES];
    cellar_structural_rules *rules;
} cellar_tabulation;

/* The set of all variables of a spec. */
cellar_tabulate_set cellar_tabulate_set_all(size_t n_variables);

/* Refuses a spec that contradicts itself. */
cellar_status cellar_tabulation_check(const cellar_tabulate_spec *spec, cellar_error *err);

/* Finds what the spec names in `scan`, which it takes over in every case (NULL: the data are opened
 * here). Spec and sets outlive the run. Clear it also after a failure. */
cellar_status cellar_tabulation_prepare(cellar_tabulation *t, const cellar_tabulate_spec *spec,
                                        const cellar_tabulate_set *sets, size_t n_sets,
                                        cellar_scan *scan, cellar_error *err);
void cellar_tabulation_clear(cellar_tabulation *t);

/* How the data are read, and counting them. */
cellar_scan_options cellar_tabulation_options(const cellar_tabulation *t);
cellar_status cellar_tabulation_count(cellar_tabulation *t, cellar_row_report *report,
                                      cellar_error *err);
/* Once all rows were counted: every wanted table, from the counted ones (tabulate_tables.c). `out`
 * has room for them, NULL; on failure some are there. */
cellar_status cellar_tabulation_tables(cellar_tabulation *t, cellar_table **out, cellar_error *err);
/* All of it for one table of all variables; takes over the scan (NULL: the data are opened here).
 */
cellar_status cellar_tabulation_run(const cellar_tabulate_spec *spec, cellar_scan *scan,
                                    cellar_table **out, cellar_row_report *report,
                                    cellar_error *err);
/* CELLAR_ERR_RULE when a table has more cells than the spec allows. */
cellar_status cellar_tabulation_check_size(const cellar_tabulation *t, size_t n_cells,
                                           cellar_error *err);

#endif
