/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A tabulation under way: what is read, counted and made into tables, step by step. */
#ifndef CELLAR_TABLE_COUNTING_TABULATE_RUN_H
#define CELLAR_TABLE_COUNTING_TABULATE_RUN_H

#include <cellar/tabulate.h>

#include "data/coder.h"
#include "data/scan.h"
#include "table/build.h"
#include "table/counting/accumulate.h"
#include "table/counting/lane.h"

typedef struct tabulation {
    const cellar_tabulate_spec *spec;
    cellar_scan *scan;
    cellar_condition **conditions;
    cellar_codelist *held[CELLAR_MAX_VARIABLES]; /* lists that the coders read */
    cellar_coder **coders;                       /* of the variables, then of the conditions */
    cellar_scan_use *uses;                       /* the same, then weight, record key and unit */
    size_t n_coders, n_uses;
    cellar_admission admission;
    const cellar_tabulate_set *sets; /* the tables to count */
    size_t n_sets;
    cellar_accumulator **accumulators; /* one for each */
    cellar_lane *lanes;
    int n_lanes;
    cellar_codelist *domains[CELLAR_MAX_VARIABLES];
    uint32_t *leaf_of[CELLAR_MAX_VARIABLES];
    cellar_structural_rules *rules;
} tabulation;

/* Opens the data (`stored`: a store that is open already; else NULL) and finds what the spec names.
 * `sets` outlive the run. Clear it also after a failure. */
cellar_status cellar_tabulation_prepare(tabulation *t, const cellar_tabulate_spec *spec,
                                        const cellar_tabulate_set *sets, size_t n_sets,
                                        cellar_stored_file *stored, cellar_error *err);
void cellar_tabulation_clear(tabulation *t);

/* The set of all variables of a spec. */
cellar_tabulate_set cellar_tabulate_set_all(size_t n_variables);

/* How the data are read. */
cellar_scan_options cellar_tabulation_options(const tabulation *t);
cellar_status cellar_tabulation_count(tabulation *t, cellar_row_report *report, cellar_error *err);
/* CELLAR_ERR_RULE when a table may not have so many cells. */
cellar_status cellar_tabulation_check_size(const tabulation *t, size_t n_cells, cellar_error *err);

/* The tables of all sets, once all rows were counted. Those made before a failure are the caller's.
 */
cellar_status cellar_tabulation_tables(tabulation *t, cellar_table **out, cellar_error *err);

#endif
