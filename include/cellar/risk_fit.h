/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Priors and size models fitted to the groups of a table, and parameters of a mechanism found for a
 * given risk. All of it is computed from true counts: confidential. */
#ifndef CELLAR_RISK_FIT_H
#define CELLAR_RISK_FIT_H

#include <stddef.h>

#include <cellar/export.h>
#include <cellar/risk.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- hyper-parameters ------------------------------------------------------------------------ */

typedef enum cellar_hyper_fit_end {
    CELLAR_HYPER_FIT_CONVERGED,
    CELLAR_HYPER_FIT_AT_ZERO, /* the best value is the limit 0: of a prior, all groups homogeneous
                               */
    CELLAR_HYPER_FIT_AT_INFINITY,  /* the limit infinity: no more variation than chance gives */
    CELLAR_HYPER_FIT_UNIDENTIFIED, /* the data do not decide */
    CELLAR_HYPER_FIT_NOT_CONVERGED
} cellar_hyper_fit_end;
/* How the fit ended, as a phrase. */
CELLAR_API const char *cellar_hyper_fit_end_text(cellar_hyper_fit_end end);

typedef struct cellar_hyper_fit {
    cellar_hyper_fit_end end;
    int n_steps;
    double log_likelihood; /* without the terms that have no parameter; NAN for moments */
    double gradient;       /* the largest left, relative to its terms */
} cellar_hyper_fit;

/* The Dirichlet prior of the shares, prior[n_values], by maximum likelihood of the
 * Dirichlet-multinomial distribution: Newton's method from the moments, with steps that only ever
 * gain. At a limit the prior is that limit as near as numbers go; a value without records gets 0.
 */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_prior_fit(const cellar_groups *groups,
                                                           double *prior, cellar_hyper_fit *fit,
                                                           cellar_error *err) CELLAR_NONNULL(3);
/* By moments: shares as observed, and the total from the chance that two members of a group have
 * the same value. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_prior_moments(const cellar_groups *groups,
                                                               double *prior, cellar_hyper_fit *fit,
                                                               cellar_error *err);

/* The size model of that family and kind by maximum likelihood on the sizes of the groups. A plain
 * model is fitted to non-empty groups as if empty ones could not be (as the papers do); an inflated
 * one needs groups from a table, which knows how many are empty. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_size_fit(const cellar_groups *groups,
                                                          cellar_size_family family,
                                                          cellar_size_zeros zeros,
                                                          cellar_size_model *model,
                                                          cellar_hyper_fit *fit, cellar_error *err);

/* ---- calibration ----------------------------------------------------------------------------- */

/* Values of a parameter with risk at most the target: [low, high]. */
typedef struct cellar_risk_range {
    double low, high;
} cellar_risk_range;
enum { CELLAR_RISK_MAX_RANGES = 32 };

typedef struct cellar_calibration {
    cellar_risk_range ranges[CELLAR_RISK_MAX_RANGES]; /* ascending */
    size_t n_ranges;                                  /* 0: no value reaches the target */
    double least, least_at;                           /* the smallest risk seen, and where */
} cellar_calibration;

/* All values of the parameter `key` between `low` and `high` for which the mean risk under
 * `spec` (without that key) is at most `target`. The risk need not be monotone: a grid of 193
 * log-spaced values is searched for crossings and for dips and peaks between its points, and every
 * crossing is narrowed to 1e-9. A risk within 1e-13 of the target, relatively, reaches it. A key
 * whose values are whole numbers is tried at each of them. A value chosen like this depends on the
 * confidential table, which no certificate covers. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_risk_calibrate(
    const cellar_groups *groups, const char *spec, const char *key, double low, double high,
    double target, const cellar_risk_options *options, cellar_calibration *out, cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
