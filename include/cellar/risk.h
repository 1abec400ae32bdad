/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack: how likely an attacker who knows a person's group reads off the person's
 * sensitive value from a released table. Everything computed here from true counts is an
 * assessment: confidential. */
#ifndef CELLAR_RISK_H
#define CELLAR_RISK_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/mechanism.h>
#include <cellar/output.h>
#include <cellar/progress.h>
#include <cellar/status.h>
#include <cellar/table.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what is measured ---------------------------------------------------------- */

/* The attacker learns the value of everybody in a group in which exactly one of the K released
 * counts is positive. The first five measures are that attack, the counts being given, drawn with
 * shares, drawn with shares that have a prior, and drawn in groups of random size; the last two
 * attack every group (docs/risk.md). */
typedef enum cellar_risk_measure {
    CELLAR_RISK_LOCAL,
    CELLAR_RISK_EXPECTED,
    CELLAR_RISK_SHRINKAGE,
    CELLAR_RISK_GLOBAL,
    CELLAR_RISK_GLOBAL_FIXED,
    CELLAR_RISK_HARD, /* the attacker takes the most frequent positive released value */
    CELLAR_RISK_SOFT  /* the risk of a record is the released share of its value */
} cellar_risk_measure;
enum { CELLAR_RISK_N_MEASURES = 7 };

typedef enum cellar_risk_method {
    CELLAR_RISK_EXACT,
    CELLAR_RISK_PUBLISHED,      /* the closed form of 2022, as printed; understates */
    CELLAR_RISK_PUBLISHED_2020, /* its first term only, as in the paper of 2020 */
    CELLAR_RISK_SIMULATE        /* seeded copies */
} cellar_risk_method;
enum { CELLAR_RISK_N_METHODS = 4 };

/* "local", "expected", ..., and "exact", "published", "published-2020", "simulate". */
CELLAR_API const char *cellar_risk_measure_name(cellar_risk_measure measure);
CELLAR_API const char *cellar_risk_method_name(cellar_risk_method method);

enum { CELLAR_RISK_N_SCENARIOS = 8 };

/* What the attack yields. A number that the method does not give is NAN. */
typedef struct cellar_risk {
    double value; /* scenario 1 + scenario 8 */
    /* Scenario s is scenario[s - 1]. One value in truth: released alone (1), another one alone (2),
     * several (3), none (4). Several values in truth: several released (5), none (6), one alone
     * that nobody has (7), one alone that somebody has (8). */
    double scenario[CELLAR_RISK_N_SCENARIOS];
    double claim;       /* P(exactly one count is positive): the attacker claims its value */
    double right;       /* P(claims, and a random member of the group has that value) */
    double false_claim; /* claim - right */
    double precision;   /* right / claim; NAN when nothing is ever claimed */
} cellar_risk;

/* ---- the size of a group --------------------------------------------------------- */

typedef enum cellar_size_family { CELLAR_SIZE_POISSON, CELLAR_SIZE_NEGBIN } cellar_size_family;
typedef enum cellar_size_zeros {
    CELLAR_SIZE_PLAIN,
    CELLAR_SIZE_TRUNCATED, /* given that the group is not empty */
    CELLAR_SIZE_INFLATED   /* empty with probability `zero`, else as the plain one */
} cellar_size_zeros;

/* Poisson(lambda), or C(n+r-1, n) (1-lambda)^n lambda^r. */
typedef struct cellar_size_model {
    cellar_size_family family;
    cellar_size_zeros zeros;
    double lambda, r, zero;
} cellar_size_model;

/* Reads poisson:lambda=L or negbin:r=R,lambda=L, either with zero-truncated- or zero-inflated-
 * before the name; the latter takes zero=Z as well. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_size_model_parse(const char *spec,
                                                                  cellar_size_model *out,
                                                                  cellar_error *err);
/* "poisson", "zero-truncated-negbin", ... */
CELLAR_API const char *cellar_size_model_name(const cellar_size_model *model) CELLAR_NONNULL(1);
/* ln P(size = n). */
CELLAR_API double cellar_size_model_log_pmf(const cellar_size_model *model, uint64_t n)
    CELLAR_NONNULL(1);

/* ---- one group, with or without data ---------------------------------------------- */

/* A hypothetical group. Give counts; or size or model, with shares or prior. Start from
 * cellar_risk_cell_default(). */
typedef struct cellar_risk_cell {
    size_t n_values;                /* K, at least 2 */
    const uint64_t *counts;         /* local, hard, soft; also expected with the observed shares */
    uint64_t size;                  /* expected, shrinkage; 0: not given */
    const cellar_size_model *model; /* global, global_fixed; NULL: not given */
    const double *shares;           /* of the values; they sum to one */
    const double *prior;            /* of a Dirichlet distribution; 0: the value never occurs */
} cellar_risk_cell;

/* Nothing is given: n_values and one of the others are required. */
CELLAR_API cellar_risk_cell cellar_risk_cell_default(void);

/* 1 when the measure can be computed by the method from what the cell gives. */
CELLAR_API int cellar_risk_cell_allows(const cellar_risk_cell *cell,
                                       const cellar_mechanism *mechanism,
                                       cellar_risk_measure measure, cellar_risk_method method);

/* The risk of one group. Exact values are accurate to 1e-10, relative whenever above 1e-290. A
 * cell that does not allow the measure is refused (CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_risk_cell_assess(
    const cellar_risk_cell *cell, const cellar_mechanism *mechanism, cellar_risk_measure measure,
    cellar_risk_method method, cellar_risk *out, cellar_error *err);

/* ---- the groups of a table: confidential ------------------------------------------- */

/* Groups by their counts of the sensitive values; equal ones (in any order of the values) are kept
 * once. Immutable. */
typedef struct cellar_groups cellar_groups;

/* The groups of the `n_qid` quasi-identifiers, with the values of `n_sensitive` variables jointly
 * (every combination of their leaves is a value). Combinations that are structural zeros are never
 * perturbed and are no values of their group. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_groups_create(
    const cellar_table *table, const size_t *qid, size_t n_qid, const size_t *sensitive,
    size_t n_sensitive, cellar_groups **out, cellar_error *err);

/* `n_rows` groups of `n_values` counts each, row by row; row i stands for times[i] groups (one each
 * when `times` is NULL). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_groups_from_counts(const uint64_t *counts,
                                                                    size_t n_rows, size_t n_values,
                                                                    const uint64_t *times,
                                                                    cellar_groups **out,
                                                                    cellar_error *err);
CELLAR_API void cellar_groups_free(cellar_groups *groups); /* NULL is fine */

/* Values of the sensitive variables; groups; those in which everybody has the same value; records;
 * and groups that differ. */
CELLAR_API size_t cellar_groups_n_values(const cellar_groups *groups) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_groups_n_groups(const cellar_groups *groups) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_groups_n_homogeneous(const cellar_groups *groups) CELLAR_NONNULL(1);
CELLAR_API uint64_t cellar_groups_n_records(const cellar_groups *groups) CELLAR_NONNULL(1);
CELLAR_API size_t cellar_groups_n_distinct(const cellar_groups *groups) CELLAR_NONNULL(1);
/* With several sensitive variables: groups homogeneous in some of them, not in all. */
CELLAR_API uint64_t cellar_groups_n_partial(const cellar_groups *groups) CELLAR_NONNULL(1);
/* Groups that could be and have no record: the product of the quasi-identifiers' leaves less the
 * groups there are; 0 when they did not come from a table. */
CELLAR_API uint64_t cellar_groups_n_empty(const cellar_groups *groups) CELLAR_NONNULL(1);

/* ---- the risk of a table ---------------------------------------------------------------- */

typedef enum cellar_risk_average {
    CELLAR_RISK_BY_GROUP,
    CELLAR_RISK_BY_PERSON
} cellar_risk_average;

/* The upper quantiles reported beside a mean: 0.90, 0.95, 0.99. */
enum { CELLAR_RISK_N_QUANTILES = 3 };
CELLAR_API double cellar_risk_quantile_level(size_t index);

/* Start from cellar_risk_options_default(). */
typedef struct cellar_risk_options {
    cellar_risk_measure measure;
    cellar_risk_method method;
    cellar_risk_average average;
    const double *prior;            /* one per value: shrinkage, global */
    const cellar_size_model *model; /* global, global_fixed */
    int zeros_stay;                 /* 1: cells without records are released as 0 (cell keys) */
    uint64_t copies, seed;          /* simulate: copies at least 2 [500, 1] */
    int n_threads;                  /* 0: one per processor */
    cellar_progress progress;
} cellar_risk_options;

/* The exact local risk by group; simulations have 500 copies and the seed 1. */
CELLAR_API cellar_risk_options cellar_risk_options_default(void);

/* Means over the groups or the people. Risks of several tables, or of a table with its margins,
 * are lower bounds of what an attacker can do: the caller says so. */
typedef struct cellar_risk_summary {
    cellar_risk mean;
    double maximum;                            /* over groups */
    double quantiles[CELLAR_RISK_N_QUANTILES]; /* over groups or people */
    double baseline;   /* success of guessing the most frequent value without the release */
    double difference; /* precision - baseline */
    double sd;         /* simulate: of the value from copy to copy, else NAN */
    double original;   /* the value before protection: the share that is homogeneous */
} cellar_risk_summary;

/* Assesses the groups under each of `n_mechanisms` mechanisms. The result does not depend on the
 * number of threads. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_risk_assess(
    const cellar_groups *groups, const cellar_mechanism *const *mechanisms, size_t n_mechanisms,
    const cellar_risk_options *options, cellar_risk_summary *out, cellar_error *err);

/* The local or expected risk under the multinomial-Dirichlet mechanism, whose cells depend on each
 * other: all `n_cells` cells of the table (at least those of the groups) are drawn together with
 * `total` records in all; alpha is added to every cell. Exact, and no other method will do. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_risk_assess_dirichlet(const cellar_groups *groups, double alpha, uint64_t n_cells,
                             uint64_t total, const cellar_risk_options *options,
                             cellar_risk_summary *out, cellar_error *err) CELLAR_NONNULL(1, 5);

/* One group after the other, the most exposed first (ties: in the order of the table). */
typedef struct cellar_exposed_group {
    const uint32_t *categories; /* of the quasi-identifiers; NULL without a table */
    uint64_t size;
    size_t n_present; /* values present in truth */
    double value;     /* the local risk */
} cellar_exposed_group;
typedef int cellar_exposed_visitor(void *context, const cellar_exposed_group *group);
/* `zeros_stay` as in cellar_risk_options. A non-zero answer of `visit` stops
 * (CELLAR_ERR_CANCELLED). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_risk_rank(const cellar_groups *groups, const cellar_mechanism *mechanism, int zeros_stay,
                 cellar_exposed_visitor *visit, void *context, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
