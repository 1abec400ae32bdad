/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cube before it is built. */
#ifndef CELLAR_PLAN_CUBE_DESIGN_H
#define CELLAR_PLAN_CUBE_DESIGN_H

#include <cellar/cube_plan.h>

#include "cube/cube.h"
#include "cube/precision.h"
#include "plan/work.h"

/* Different mechanisms that a cube may use: its certificate composes each as often as it is used.
 */
enum {
    CUBE_MECHANISMS_MAX = 32,
    CUBE_MEASURED_BEFORE = 253, /* by a cube that is extended */
    CUBE_PUBLISHED = 254,
    CUBE_NOT_MEASURED = 255
};

struct cellar_cube_design {
    const cellar_plan *plan;
    cellar_cube *cube; /* variables, lattice, planned measures; nothing measured */
    plan_work work;    /* of no table: what a unit multiplies */
    cellar_schema *domains[CELLAR_MAX_VARIABLES]; /* of each variable alone */
    /* Of each table: weight of the variance of a cell; largest variance as a share of the budget
     * (at cost 1), as the plan wishes it, and what is aimed at for that; errors. */
    double *weight, *cap, *wish, *aim, *sd, *independent_sd, *inner_sd;
    uint32_t *named; /* the tables that the plan names, in its order */
    double cost;     /* the sum of all precisions */
    char **names;
    cube_space *exact; /* tables that are published as they were counted */
    size_t n_exact;
    const char **invariants; /* their names, NULL at the end */
    uint8_t *mechanism_of;   /* each table, or one of the words above */
    cellar_mechanism *mechanisms[CUBE_MECHANISMS_MAX];
    size_t n_mechanisms;
    cellar_certificate *certificate; /* of what is measured now: the price */
    cellar_cube *published;          /* the cube that is extended; NULL: none */
    double *before_sd;               /* of each table in it; NAN: it lacks the table */
    uint32_t *before;                /* each table in it, or CUBE_NO_SPACE */
    cellar_certificate *together;    /* of both measurements; NULL: there is one */
    const char *delta;               /* at which epsilon is stated first; NULL: none */
    double loss_to_bound, loss_to_optimum;
    int is_balanced; /* every hierarchy */
};

/* The declared categories of a variable, those that an empty table of it has: its levels, and the
 * schema of that table. Both are the caller's, *domain also on failure, unless it is NULL. */
cellar_status cellar_plan_open_variable(const cellar_plan *plan, size_t v, cellar_schema **domain,
                                        cube_variable *out, cellar_error *err);

/* The universe of the plan: its variables and tables as a cube, weights and caps (cube_universe.c).
 */
cellar_status cellar_cube_design_universe(cellar_cube_design *design, cellar_error *err);

/* Precisions and noise for the budget that meet all wishes, or CELLAR_ERR_RULE with the budget that
 * would do (cube_choose.c). Clear *choice in every case. */
cellar_status cellar_cube_design_choose(cellar_cube_design *design, cube_choice *choice,
                                        cellar_error *err);
/* Noise for the precisions of a choice: mechanisms, measures and the certificate, for a cost that
 * a unit pays (cube_noise.c). Replaces what an earlier call made. is_search: the certificate has to
 * say no more than epsilon at the first delta. */
cellar_status cellar_cube_design_noise(cellar_cube_design *design, const cube_choice *choice,
                                       double budget, int is_search, cellar_error *err);
/* What one certificate of mechanisms, each with how often a record meets it, says about the plan's
 * units. is_search: only the first delta matters. */
cellar_status cellar_cube_design_certify(const cellar_cube_design *design,
                                         const cellar_certify_part *parts, size_t n, int is_search,
                                         cellar_certificate **out, cellar_error *err);

/* ---- adding tables to a published cube (cube_extend.c) ----------------------------------------
 */

/* Opens and checks the published cube: it must have these variables, and protect the same units. */
cellar_status cellar_cube_extend_open(cellar_cube_design *design, const cube_variable *variables,
                                      cellar_error *err);
/* Takes over which tables it measured, how, and what is exact; its own tables weigh nothing unless
 * the plan names them. CELLAR_ERR_RULE when the plan has no table to measure. */
cellar_status cellar_cube_extend_take(cellar_cube_design *design, cellar_error *err);
/* The certificate of both measurements, once the noise of the second is known. */
cellar_status cellar_cube_extend_certify(cellar_cube_design *design, cellar_error *err);
/* Refuses a ledger in which the first charge is not one for the same data. */
cellar_status cellar_cube_extend_check_ledger(const cellar_cube_design *design,
                                              const cellar_ledger *ledger, cellar_error *err);
/* The measured values of the published cube, in the new one, which has room for them. */
void cellar_cube_extend_fill(const cellar_cube_design *design);
/* Whom a cube of the plan counts and protects, for its description; NULL: no memory. */
json_t *cellar_cube_describe_units(const cellar_cube_design *design);
/* All measurements of a cube for its description, of which the last is given; takes it. NULL: no
 * memory. */
json_t *cellar_cube_extend_describe(const cellar_cube_design *design, json_t *last);

/* Counts the n measured tables in one pass over the data (cube_count.c); `out` has room for them,
 * NULL. On failure some are there. */
cellar_status cellar_cube_count(const cellar_cube_design *design, const uint32_t *tables, size_t n,
                                const cellar_cube_build_options *options, cellar_table **out,
                                cellar_error *err);
/* 1: pure epsilon, by discrete Laplace noise. */
int cellar_cube_design_is_pure(const cellar_cube_design *design);

#endif
