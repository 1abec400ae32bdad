/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a plan with a universe to a cube: what to measure, at which noise, what it costs, and the
 * cube itself. docs/cube.md explains the choices. */
#ifndef CELLAR_CUBE_PLAN_H
#define CELLAR_CUBE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/certificate.h>
#include <cellar/export.h>
#include <cellar/plan.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a cube will be; depends on no count. Immutable. */
typedef struct cellar_cube_design cellar_cube_design;

/* Chooses the tables to measure and their noise for the budget of the plan. Reads code lists, and
 * no data: every domain must be declared. A standard deviation that was asked for and cannot be had
 * is refused (CELLAR_ERR_RULE) with the budget that would do. The plan outlives *out; free it with
 * cellar_cube_design_free(). On failure it is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cube_design_create(const cellar_plan *plan,
                                                                    cellar_cube_design **out,
                                                                    cellar_error *err);
CELLAR_API void cellar_cube_design_free(cellar_cube_design *design); /* NULL is fine */

/* One table of the universe. */
typedef struct cellar_cube_design_table {
    const char *name; /* "region x sex"; "total" */
    size_t n_variables;
    uint64_t n_cells;
    const char *mechanism; /* that it is measured with; NULL: it has no noise of its own */
    int was_measured;      /* 1: by the published cube that is extended, and not again */
    int is_exact;          /* 1: published as it is counted, or summed from such a table */
    double sd;             /* of the noise of a cell of the cube's table: the largest */
    double independent_sd; /* if every table had noise of its own, the budget split as well as can
                              be for the same weights */
    double inner_sd;       /* if only the tables that nothing is above were measured, with equal
                              noise, and this one were added up from the best of them. NAN, as the
                              one above, where a published cube is extended */
    double before_sd;      /* in the published cube that is extended; NAN: it lacks the table */
} cellar_cube_design_table;

/* All tables of the universe, and one of them by its number. */
CELLAR_API size_t cellar_cube_design_n_tables(const cellar_cube_design *design);
CELLAR_API cellar_cube_design_table cellar_cube_design_table_at(const cellar_cube_design *design,
                                                                size_t table);
CELLAR_API size_t cellar_cube_design_n_measured(const cellar_cube_design *design);
CELLAR_API size_t cellar_cube_design_n_mechanisms(const cellar_cube_design *design); /* different */
/* The guarantee of what is measured: of the whole cube, and what a ledger is charged. */
CELLAR_API const cellar_certificate *
cellar_cube_design_certificate(const cellar_cube_design *design);
/* Where a published cube is extended: the guarantee of both measurements together, which the new
 * cube has. NULL: nothing is extended. */
CELLAR_API const cellar_certificate *cellar_cube_design_together(const cellar_cube_design *design);

/* 1 when in every hierarchy all nodes of a level have equally many children. */
CELLAR_API int cellar_cube_design_is_balanced(const cellar_cube_design *design);
/* How good the choice is: its loss (the weighted sum of variances) over a bound that no choice of
 * measured tables with Gaussian noise is below, and over the least of all Gaussian matrix
 * mechanisms. Where a hierarchy is not balanced the first is that of balanced ones with as many
 * nodes. NAN where no optimum is claimed: pure epsilon; for the second also substitute neighbours,
 * hierarchies that are not balanced, and a published cube that is extended. */
CELLAR_API double cellar_cube_design_loss_to_bound(const cellar_cube_design *design);
CELLAR_API double cellar_cube_design_loss_to_optimum(const cellar_cube_design *design);

/* ---- building ---------------------------------------------------------------- */

typedef struct cellar_cube_build_options {
    int n_threads; /* 0: one per processor */
    cellar_progress progress;
    const char *date; /* [today, UTC] */
} cellar_cube_build_options;

/* All processors, no progress, today. */
CELLAR_API cellar_cube_build_options cellar_cube_build_options_default(void);

typedef struct cellar_cube_build_result {
    int is_new;     /* 1: drawn now; 0: an earlier run of the request had drawn it */
    int is_charged; /* 1: a ledger paid */
    char stamp[CELLAR_STAMP_TEXT];
} cellar_cube_build_result;

/* Counts all tables in one pass over the data, charges the ledger once, draws, estimates and lets
 * the cube appear. Run again after whatever happened, it finishes what was drawn and recorded, and
 * never draws a request twice. On failure nothing appears; the message says what stays charged. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_cube_build(const cellar_cube_design *design, const cellar_cube_build_options *options,
                  cellar_cube_build_result *out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
