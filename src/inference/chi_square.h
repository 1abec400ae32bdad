/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The chi-square reference. */
#ifndef CELLAR_INFERENCE_CHI_SQUARE_H
#define CELLAR_INFERENCE_CHI_SQUARE_H

/* P(chi-square of df degrees of freedom > statistic); 1 without any. */
double cellar_chi_square_tail(double statistic, double df);
/* The value that is exceeded with probability `tail`. */
double cellar_chi_square_quantile(double tail, double df);
/* The standard normal value that is exceeded with probability `tail`. */
double cellar_normal_quantile(double tail);

#endif
