/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the two papers on the homogeneity attack share: their groups and curves of risk. */
#ifndef EXAMPLES_HOMOGENEITY_H
#define EXAMPLES_HOMOGENEITY_H

#include <stddef.h>

#include <cellar/risk.h>
#include <cellar/risk_fit.h>

#include "report.h"

/* Adult as the papers count it: every combination of the six columns and income a group. */
cellar_groups *adult_cells(void);
/* Adult by the six columns, as an attacker sees it: 5,009 groups. */
cellar_groups *adult_by_columns(void);
cellar_groups *bankruptcy(void);
/* Financial flexibility, three values, by the other five columns. */
cellar_groups *bankruptcy_subset(void);

/* Draws how many groups have each size, and writes it as NAME.csv and NAME.svg. Answers the
 * largest size. */
enum histogram_of { HISTOGRAM_ADULT, HISTOGRAM_BANKRUPTCY, HISTOGRAM_SUBSET };
size_t histogram(report *r, enum histogram_of what, const char *title, const char *name);

/* The moment estimator of Appendix B (2022) for a value of the subset, as printed. */
double appendix_b(size_t value);

/* n values from `low` to `high`, evenly spaced in the logarithm. */
void log_grid(double low, double high, size_t n, double *values);

/* The mean risk over groups at every epsilon, which stands for the % of `format`. */
void risk_curve(const cellar_groups *groups, const char *format, const double *epsilons, size_t n,
                const cellar_risk_options *options, cellar_risk_summary *out);
/* The same at one spec. */
double risk_at(const cellar_groups *groups, const char *spec, cellar_risk_measure measure,
               cellar_risk_method method);

#endif
