/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of an audit: cells that are unknown, and what is known of their sums. */
#ifndef CELLAR_INFERENCE_AUDIT_H
#define CELLAR_INFERENCE_AUDIT_H

#include <cellar/audit.h>

#include "table/build.h"

/* A variable, with the schema of the first file that has it. */
typedef struct audit_variable {
    cellar_schema *schema; /* retained */
    size_t variable;
    size_t n_leaves;
    uint64_t stride; /* of a leaf in the index of a cell */
} audit_variable;

/* low <= the sum of the cells in members[first], ... <= high; `value` is what was released. */
typedef struct audit_line {
    double low, high, value; /* high may be INFINITY */
    size_t first, n_members;
} audit_line;

struct cellar_audit {
    size_t n_variables;
    audit_variable variables[CELLAR_MAX_VARIABLES];
    uint64_t n_cells;
    audit_line *lines;
    size_t n_lines, lines_room;
    int *members; /* cells from 1 on, as GLPK counts columns */
    size_t n_members, members_room;
    cellar_audit_cell *cells; /* by index while they are computed, then by what is known */
};

/* Takes in the variables of a file, its categories checked against those of the files before
 * (audit_lines.c). */
cellar_status cellar_audit_add_schema(cellar_audit *audit, const cellar_schema *schema,
                                      cellar_error *err);
/* Numbers the cells once all variables are there. */
cellar_status cellar_audit_number(cellar_audit *audit, uint64_t max_cells, cellar_error *err);
/* The lines of a file; `tail` is the chance that the limits of one value are wrong. */
cellar_status cellar_audit_add_release(cellar_audit *audit, const cellar_release *release,
                                       double tail, cellar_error *err);
cellar_status cellar_audit_add_table(cellar_audit *audit, const cellar_table *table,
                                     cellar_error *err);
/* The count of every cell by a table with all of its variables, into `counts`. */
cellar_status cellar_audit_true_counts(const cellar_audit *audit, const cellar_table *table,
                                       uint64_t *counts, cellar_error *err);

/* Fills low, high and guess of every cell (audit_programme.c). */
cellar_status cellar_audit_solve(cellar_audit *audit, const cellar_progress *progress,
                                 cellar_error *err);

#endif
