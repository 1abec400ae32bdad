/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Products of the generating functions of a group's values, for eight mechanisms at once.
 *
 * Counts drawn by a multinomial law are independent Poisson counts given their sum; those of a
 * Dirichlet-multinomial law are independent negative binomial counts given their sum. So a group is
 * a product of power series, one factor per value: its weights (the "base", probabilities) times
 * the probability of being absent or present. The coefficient of x^n is the answer. All terms are
 * positive: nothing cancels. */
#ifndef CELLAR_RISK_HOMOGENEITY_PRODUCT_H
#define CELLAR_RISK_HOMOGENEITY_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

#include "risk/homogeneity/lanes.h"
#include "risk/homogeneity/presence.h"

enum { CELLAR_PRODUCT_MAX = 600 }; /* largest degree: e^-600 is still a normal number */

/* Absence and presence by count, count by count for all lanes. */
typedef struct cellar_lane_table {
    cellar_lanes absent[CELLAR_PRODUCT_MAX + 1];
    cellar_lanes present[CELLAR_PRODUCT_MAX + 1];
} cellar_lane_table;

/* Fills the table; lanes beyond `n_presences` repeat the last. */
void cellar_lane_table_init(cellar_lane_table *table, const cellar_presence *const *presences,
                            size_t n_presences);

/* What a coefficient counts, each summed over the counts of the values with that total:
 * all absent; one present that is in the truth; that times its count; one present that is not. */
enum { PRODUCT_EMPTY, PRODUCT_SHOWN, PRODUCT_RIGHT, PRODUCT_STRAY, PRODUCT_N_KINDS };

/* The factor of a value: its base times absence, presence, and presence times count. Each is kept
 * within the counts where it is not negligible in all lanes. */
typedef struct cellar_factor {
    cellar_lanes *absent, *shown, *right; /* by count; memory for 0..degree */
    cellar_lanes stray;                   /* presence at count 0 */
    size_t absent_first, absent_end, shown_first, shown_end;
    size_t degree;
} cellar_factor;

/* From base[0..degree]; what is below `floor` is left out. As all weights are probabilities, every
 * partial product bounds the terms it leads to: a floor of 1e-306 cannot matter to a result above
 * 1e-290, one of 1e-24 not to one that need only be right to 1e-17. Answers 0 when memory ends. */
int cellar_factor_init(cellar_factor *factor, const double *base, const cellar_lane_table *table,
                       size_t degree, double floor);
void cellar_factor_clear(cellar_factor *factor); /* {0} is fine */

/* A product up to a degree, apart by how many values have a positive count: none (degree 0), one,
 * or several. */
typedef struct cellar_product {
    size_t degree;
    size_t first, end; /* coefficients from 1 on that are not negligible; others are not set */
    double floor;
    cellar_lanes none[PRODUCT_N_KINDS];
    cellar_lanes *single[PRODUCT_N_KINDS]; /* degree + 1 each, [0] unused */
    cellar_lanes *several[PRODUCT_N_KINDS];
    cellar_lanes *all[PRODUCT_N_KINDS]; /* the sum of both */
    void *memory;
    size_t capacity; /* largest degree that fits in `memory` */
} cellar_product;

/* Makes room for `degree` <= CELLAR_PRODUCT_MAX in a product ({0} at first); what it held is lost.
 * Answers 0 when memory ends. */
int cellar_product_reserve(cellar_product *product, size_t degree);
/* The empty product. */
int cellar_product_init(cellar_product *product, size_t degree, double floor);
void cellar_product_clear(cellar_product *product); /* {0} is fine */

/* `out` becomes `in` times the factor, up to the degree of `out`, which neither may be below. */
void cellar_product_multiply(const cellar_product *in, const cellar_factor *factor,
                             cellar_product *out);

/* The coefficients of x^n of `in` times the factor, over counts in which several values are
 * positive. */
void cellar_product_last(const cellar_product *in, const cellar_factor *factor, size_t n,
                         cellar_lanes out[PRODUCT_N_KINDS]);

#endif
