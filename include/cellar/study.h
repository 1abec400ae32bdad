/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies: how often tests reject, by simulation of tables and of their release. */
#ifndef CELLAR_STUDY_H
#define CELLAR_STUDY_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/inference.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A design, as in "Confidentiality and differential privacy in the dissemination of frequency
 * tables", section 6.1: Poisson counts with ln mean = eta + alpha_i + beta_j + dependence *
 * gamma_ij, where alpha, beta and gamma are uniform within +-spread, drawn anew for every table or
 * once for the study. Start from cellar_study_spec_default(). */
typedef struct cellar_study_spec {
    size_t n_rows, n_columns; /* [10, 10] */
    double eta;               /* [4] */
    double spread;            /* [0.5] */
    double dependence;        /* 0: rows and columns are independent [0] */
    int fixed_effects;        /* 1: all tables have the same means */
    const char *mechanism;    /* required */
    cellar_negatives negatives;
    uint64_t n_tables;          /* [1000] */
    double level;               /* of the tests [0.05] */
    cellar_reference reference; /* of the aware test [chi-square] */
    uint64_t n_replicates;      /* of each bootstrap [199] */
    uint64_t seed;              /* [1] */
    int n_threads;              /* 0: one per processor; the answer is the same */
    cellar_progress progress;
} cellar_study_spec;

/* What a test of independence did over all tables; _se is the simulation's standard error. */
typedef struct cellar_study_result {
    double rejected, rejected_se; /* the share of tables with a p-value of at most the level */
    double statistic, statistic_se;
    double p_value, p_value_se;
} cellar_study_result;

typedef struct cellar_study {
    cellar_study_result original; /* G^2 of the counts */
    cellar_study_result naive;    /* G^2 of the released values, negatives as zeros */
    cellar_study_result aware;    /* the likelihood ratio that knows the noise */
    size_t n_failed;              /* fits that did not converge; they do not reject */
} cellar_study;

/* The values in brackets; the mechanism is required. */
CELLAR_API cellar_study_spec cellar_study_spec_default(void);
/* Simulates the tables and tests each of them. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_study_run(const cellar_study_spec *spec,
                                                           cellar_study *out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
