/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The smallest sigma for (epsilon, delta), sensitivity 1: found in doubles and then proved by balls
 * to meet delta where the double below it does not. */
#ifndef CELLAR_MECHANISM_CALIBRATION_CALIBRATION_H
#define CELLAR_MECHANISM_CALIBRATION_CALIBRATION_H

#include "math/flint.h"

/* sqrt(2 ln(1.25/delta)) / epsilon (Dwork and Roth 2014, Appendix A), for epsilon < 1. */
double cellar_calibrate_classic(const fmpq_t epsilon, const fmpq_t delta);
/* (sqrt(z^2 + 2 epsilon) - z) / (2 epsilon), z the delta/2 quantile of the normal distribution (Liu
 * 2019, "Generalized Gaussian mechanism for differential privacy"). */
double cellar_calibrate_pdp_liu(const fmpq_t epsilon, const fmpq_t delta);
/* Probabilistic DP of continuous noise, exactly. */
double cellar_calibrate_pdp(const fmpq_t epsilon, const fmpq_t delta);
/* Approximate DP of continuous noise, exactly (Balle and Wang 2018, Theorem 8). */
double cellar_calibrate_analytic(const fmpq_t epsilon, const fmpq_t delta);

/* The same for the discrete Gaussian law. Its delta is not monotone in sigma: these are the
 * smallest sigma from which on every sigma meets delta (the second within 1e-10 of it). */
double cellar_calibrate_discrete_pdp(const fmpq_t epsilon, const fmpq_t delta);
double cellar_calibrate_discrete_analytic(const fmpq_t epsilon, const fmpq_t delta);

/* Encloses a delta that falls as sigma grows; not finite, or 1 and more, where sigma is too small
 * to tell. */
typedef void cellar_sigma_delta(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out);
/* About the logarithm of it, in doubles. */
typedef double cellar_sigma_log_delta(double sigma, double epsilon);

/* The smallest double at which delta is proven to be met, or INFINITY. `about` finds the place and
 * balls prove it; where `about` misleads it only costs time. */
double cellar_sigma_find(cellar_sigma_delta *law, cellar_sigma_log_delta *about,
                         const fmpq_t epsilon, const fmpq_t delta);

/* P(Z >= x - y) - e^epsilon P(Z >= x + y), x = epsilon sigma, y = 1/2sigma: the delta of
 * continuous noise. */
void cellar_gaussian_delta(double sigma, const fmpq_t epsilon, int64_t bits, arb_t out);
double cellar_gaussian_log_delta(double sigma, double epsilon);

#endif
