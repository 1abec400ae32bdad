/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From microdata to a table. */
#ifndef CELLAR_TABULATE_H
#define CELLAR_TABULATE_H

#include <cellar/microdata.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What to count. Start from cellar_tabulate_spec_default(). The strings stay the caller's. */
typedef struct cellar_tabulate_spec {
    const char *path; /* "-" is standard input */
    cellar_reader_options reader;
    const cellar_variable_spec *variables;
    size_t n_variables;

    const char *const *missing; /* strings that mean missing, besides the empty one */
    size_t n_missing;
    cellar_missing_policy missing_policy; /* of variables that have none of their own */

    const char *const *where; /* conditions a row must meet, all of them: "column=a|b",
                                 "column!=a", "column>=18"; on the raw values */
    size_t n_where;

    const char *weight_column;     /* NULL: unweighted */
    uint64_t max_weight;           /* larger weights count as this; public; 0: no bound */
    const char *unit_column;       /* NULL: every record is a unit of its own */
    uint64_t max_per_unit;         /* the first so many records of a unit count; 0: required */
    const char *record_key_column; /* keys of records, added up for each cell */
    const char *record_id_column;  /* or: derive them from this stable identifier of a record */
    const unsigned char *record_secret; /* and this secret: cellar_key_secret(), for records */
    uint64_t key_range;                 /* modulus of the keys; 0: decimal keys in [0,1) */

    cellar_margins margins;
    const char *structural_zeros_path; /* rules; NULL: none */

    int n_threads;      /* 0: one per processor */
    uint64_t max_cells; /* refuse tables with more non-zero cells [no limit: 0] */
    cellar_progress progress;
} cellar_tabulate_spec;

/* Nothing to count yet: path and variables are required. */
CELLAR_API cellar_tabulate_spec cellar_tabulate_spec_default(void);

/* Counts the file. The result does not depend on the number of threads. The table keeps no pointer
 * to its arguments; free it with cellar_table_free(). `report` (may be NULL) is filled on success.
 * On failure *out is NULL and the message names file, line and column of the first fault. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_tabulate(const cellar_tabulate_spec *spec,
                                                          cellar_table **out,
                                                          cellar_row_report *report,
                                                          cellar_error *err);

/* One table of several that are counted together: positions of its variables in the spec. */
typedef struct cellar_tabulate_set {
    size_t n;
    uint8_t variables[CELLAR_MAX_VARIABLES];
} cellar_tabulate_set;

/* Counts many tables in one pass over the file: `out` has room for n_sets of them. Each is the
 * table that cellar_tabulate() makes of its variables, but for rows with a missing value in any
 * variable of the spec, which are dropped or refused for all of them. Structural zeros, single
 * margins and hierarchies are refused. Free each with cellar_table_free(). On failure all are NULL.
 */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_tabulate_many(const cellar_tabulate_spec *spec,
                                                               const cellar_tabulate_set *sets,
                                                               size_t n_sets, cellar_table **out,
                                                               cellar_row_report *report,
                                                               cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
