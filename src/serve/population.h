/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One population, one budget: what may be served beside what about the same people. */
#ifndef CELLAR_SERVE_POPULATION_H
#define CELLAR_SERVE_POPULATION_H

#include "plan/schema.h"
#include "serve/dataset.h"

/* What of a data set matters here. Front and vault fill it in from the same configuration. */
typedef struct serve_member {
    plan_place place;
    const char *id, *population;
    serve_kind kind;
    const char *unit;
    const char *ledger, *ledger_dataset; /* of the kinds that have a vault, else NULL */
    int accepts_void;                    /* accept: [guarantee-void] */
} serve_member;

/* Said with every answer about a population whose guarantee is void. */
#define SERVE_VOID_NOTE                                                                            \
    "Tables from cell keys are published about the same people: the guarantee of differential "    \
    "privacy does not cover all that is published about them."

/* Refuses what cannot be promised (CELLAR_ERR_INPUT names line and place): data sets of one
 * population that charge different data sets of ledgers, or that protect different units; data sets
 * of different populations that charge one; `cell-key` beside a guarantee that nobody accepts the
 * loss of. */
cellar_status serve_populations_check(const char *name, const serve_member *members, size_t n,
                                      cellar_error *err);
/* 1 when cell keys are served beside a guarantee for that population. */
int serve_population_is_void(const serve_member *members, size_t n, const char *population);

#endif
