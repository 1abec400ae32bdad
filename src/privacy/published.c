/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/published.h"

#include <math.h>
#include <string.h>

#include "math/ball.h"

enum { BITS = 256 };

/* 1 - F_{a+A}[(1 + epsilon) / ln((a+A)/(a-1+A))] with a = min_count + 1, for epsilon >= 1: Jackson,
 * Mitra, Francis and Dove, "Obtaining (epsilon, delta)-differential privacy guarantees when using a
 * Poisson mechanism", eq. (9); with a known minimum eq. (10). */
static double published_poisson(const cellar_mechanism *m, const fmpq_t epsilon, uint64_t min_count,
                                cellar_pair_cache *cache)
{
    const cellar_parameter *alpha = cellar_parameter_find(&m->parameters, "alpha");
    int64_t count = (int64_t) min_count + 1;
    double delta = NAN;
    cellar_pair pair;
    fmpq_t mean;
    fmpz_t last;
    arb_t x, y;

    if (fmpq_cmp_si(epsilon, 1) < 0 || min_count > 1000000000 || m->ops->survival_ball == NULL)
        return NAN;
    fmpq_init(mean);
    fmpz_init(last);
    arb_init(x);
    arb_init(y);
    fmpq_add_si(mean, alpha->value, (slong) min_count);
    if (fmpq_sgn(mean) > 0) {
        fmpq_inv(mean, mean); /* (a + A) / (a - 1 + A) = 1 + 1 / (a - 1 + A) */
        arb_set_fmpq(x, mean, BITS);
        arb_log1p(x, x, BITS);
        arb_set_fmpq(y, epsilon, BITS);
        arb_add_ui(y, y, 1, BITS);
        arb_div(y, y, x, BITS);
        arb_floor(y, y, BITS);
        if (arb_get_unique_fmpz(last, y) && fmpz_cmp_si(last, INT64_C(1) << 60) < 0) {
            cellar_pair_init(&pair, m, count, count - 1, CELLAR_NEGATIVES_KEEP);
            pair.cache = cache;
            cellar_pair_upper(&pair, 0, fmpz_get_si(last) + 1, CELLAR_PAIR_BITS, x);
            delta = cellar_ball_upper(x);
        }
    }
    fmpq_clear(mean);
    fmpz_clear(last);
    arb_clear(x);
    arb_clear(y);
    return delta;
}

/* q(m), at the mechanism's own epsilon: Rinott, O'Keefe, Shlomo and Skinner, "Confidentiality and
 * differential privacy in the dissemination of frequency tables", section 3. */
static double published_truncated(const cellar_mechanism *m, const fmpq_t epsilon,
                                  uint64_t min_count, cellar_pair_cache *cache)
{
    double delta;
    arb_t q;
    (void) min_count;
    (void) cache;
    if (!fmpq_equal(epsilon, cellar_parameter_find(&m->parameters, "epsilon")->value))
        return NAN;
    arb_init(q);
    m->ops->pmf_ball(m, 0, (int64_t) cellar_parameter_find(&m->parameters, "m")->nearest, BITS, q);
    delta = cellar_ball_upper(q);
    arb_clear(q);
    return delta;
}

double cellar_published_delta(const cellar_mechanism *m, const fmpq_t epsilon, uint64_t min_count,
                              cellar_pair_cache *cache)
{
    static const struct {
        const char *name;
        double (*delta)(const cellar_mechanism *, const fmpq_t, uint64_t, cellar_pair_cache *);
    } published[] = {{"poisson", published_poisson},
                     {"truncated-laplace", published_truncated},
                     {"truncated-normal", published_truncated}};
    for (size_t i = 0; i < sizeof published / sizeof *published; i++)
        if (strcmp(m->ops->name, published[i].name) == 0)
            return published[i].delta(m, epsilon, min_count, cache);
    return NAN;
}
