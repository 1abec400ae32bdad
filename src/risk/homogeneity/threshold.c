/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/threshold.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "risk/homogeneity/quadrature.h"

#define TAIL 1e-18
#define SOFT_STEP 0.1 /* in ln u: the error of the trapezoidal rule is far below 1e-15 */
enum { MAX_WINDOW = 1 << 22, MAX_NODES = 512 };

/* The law of the released number of one count, from `low` on; below it nothing, above it all. */
typedef struct released_law {
    int64_t low;
    size_t n;
    double *pmf, *cdf;  /* n each */
    double absent;      /* P(released <= 0) */
    double *decay;      /* E[e^{-uX}] at each u, X = max(released, 0) */
    double *decay_mean; /* E[X e^{-uX}] */
} released_law;

struct cellar_threshold {
    const uint64_t *counts; /* a copy */
    size_t n_counts;
    released_law *laws;
    double soft_first; /* ln of the first u */
    size_t n_soft;
};

/* ---- laws ------------------------------------------------------------------------------ */

static cellar_status law_make(const cellar_mechanism *m, uint64_t count, released_law *law,
                              cellar_error *err)
{
    int64_t high;
    cellar_mechanism_support(m, (int64_t) count, TAIL, &law->low, &high);
    law->absent = cellar_mechanism_cdf(m, (int64_t) count, 0);
    if (law->low < 1)
        law->low = 1; /* what is not positive is never told apart */
    if (high < law->low)
        high = law->low;
    if (high - law->low >= MAX_WINDOW)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "so much noise cannot be summed over: use method simulate");
    law->n = (size_t) (high - law->low + 1);
    law->pmf = cellar_alloc(2 * law->n, sizeof *law->pmf);
    if (law->pmf == NULL)
        return cellar_fail_memory(err, "the risk of guesses");
    law->cdf = law->pmf + law->n;
    for (size_t i = 0; i < law->n; i++) {
        law->pmf[i] = cellar_mechanism_pmf(m, (int64_t) count, law->low + (int64_t) i);
        law->cdf[i] = cellar_mechanism_cdf(m, (int64_t) count, law->low + (int64_t) i);
    }
    return CELLAR_OK;
}

static double law_pmf(const released_law *law, int64_t b)
{
    return b < law->low || b - law->low >= (int64_t) law->n ? 0 : law->pmf[b - law->low];
}

static double law_cdf(const released_law *law, int64_t b)
{
    if (b < law->low)
        return b < 1 || law->low == 1 ? law->absent : 0;
    return b - law->low >= (int64_t) law->n ? 1 : law->cdf[b - law->low];
}

/* E[e^{-uX}] and E[X e^{-uX}] on the grid of u. */
static cellar_status law_decay(released_law *law, double first, size_t n, cellar_error *err)
{
    law->decay = cellar_alloc(2 * n, sizeof *law->decay);
    if (law->decay == NULL)
        return cellar_fail_memory(err, "the risk of guesses");
    law->decay_mean = law->decay + n;
    for (size_t i = 0; i < n; i++) {
        double u = exp(first + SOFT_STEP * (double) i), ratio = exp(-u);
        double power = exp(-u * (double) law->low), sum = 0, mean = 0;
        for (size_t j = 0; j < law->n && power > 0; j++) {
            double term = law->pmf[j] * power;
            sum += term;
            mean += term * (double) (law->low + (int64_t) j);
            power *= ratio;
        }
        law->decay[i] = law->absent + sum;
        law->decay_mean[i] = mean;
    }
    return CELLAR_OK;
}

/* ---- life cycle ------------------------------------------------------------------------ */

void cellar_threshold_free(cellar_threshold *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->n_counts && t->laws != NULL; i++) {
        cellar_free(t->laws[i].pmf);
        cellar_free(t->laws[i].decay);
    }
    cellar_free(t->laws);
    cellar_free((void *) t->counts);
    cellar_free(t);
}

cellar_status cellar_threshold_create(const cellar_mechanism *mechanism, const uint64_t *counts,
                                      size_t n_counts, cellar_threshold **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_threshold *t = cellar_alloc(1, sizeof *t);
    uint64_t *copy = NULL;
    double highest = 1;

    *out = NULL;
    CELLAR_ASSERT(n_counts > 0 && counts[0] == 0);
    if (t == NULL || (t->counts = copy = cellar_alloc(n_counts, sizeof *copy)) == NULL ||
        (t->laws = cellar_alloc(n_counts, sizeof *t->laws)) == NULL) {
        status = cellar_fail_memory(err, "the risk of guesses");
        goto out;
    }
    t->n_counts = n_counts;
    for (size_t i = 0; i < n_counts; i++) {
        copy[i] = counts[i];
        CELLAR_TRY(law_make(mechanism, counts[i], &t->laws[i], err));
        highest = fmax(highest, (double) t->laws[i].low + (double) t->laws[i].n);
    }
    /* the integrand over ln u falls like u below 1/highest and like e^-u above 1 */
    t->soft_first = log(1e-15 / highest);
    t->n_soft = (size_t) ((log(50) - t->soft_first) / SOFT_STEP) + 1;
    for (size_t i = 0; i < n_counts; i++)
        CELLAR_TRY(law_decay(&t->laws[i], t->soft_first, t->n_soft, err));
    *out = t;
    t = NULL;
out:
    cellar_threshold_free(t);
    return status;
}

/* ---- a group ------------------------------------------------------------------------------ */

/* Values with the same count. */
typedef struct guess_part {
    const released_law *law;
    double count, times;
} guess_part;

typedef struct guess_group {
    guess_part *parts;
    size_t n;
    double size, n_values;
} guess_group;

static const released_law *threshold_law(const cellar_threshold *t, uint64_t count)
{
    size_t low = 0, high = t->n_counts;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (t->counts[middle] <= count)
            low = middle;
        else
            high = middle;
    }
    CELLAR_ASSERT(t->counts[low] == count);
    return &t->laws[low];
}

static cellar_status guess_group_make(const cellar_threshold *t, const uint64_t *counts,
                                      size_t n_positive, uint64_t n_zeros, guess_group *group,
                                      cellar_error *err)
{
    group->n_values = (double) n_zeros + (double) n_positive;
    group->parts = cellar_alloc(n_positive + 1, sizeof *group->parts);
    if (group->parts == NULL)
        return cellar_fail_memory(err, "the risk of guesses");
    for (size_t i = 0; i < n_positive; i++) {
        double count = (double) counts[i];
        size_t k = 0;
        while (k < group->n && group->parts[k].count != count)
            k++;
        if (k == group->n)
            group->parts[group->n++] = (guess_part){threshold_law(t, counts[i]), count, 0};
        group->parts[k].times++;
        group->size += count;
    }
    if (n_zeros > 0)
        group->parts[group->n++] = (guess_part){&t->laws[0], 0, (double) n_zeros};
    return CELLAR_OK;
}

static double part_others(const guess_part *part, const guess_part *of)
{
    return part->times - (part == of);
}

/* P(the guess is one given value of `part`): its number is b, no other is larger, and of those that
 * tie one is taken at random: E[1/(1+T)] is the integral over x in [0,1] of E[x^T], a polynomial
 * that Gauss's rule integrates exactly. */
static double hard_chance(const guess_group *group, const guess_part *part,
                          const cellar_quadrature *rule)
{
    double sum = 0;
    for (size_t i = 0; i < part->law->n; i++) {
        int64_t b = part->law->low + (int64_t) i;
        double tie = 0;
        if (part->law->pmf[i] <= 0)
            continue;
        for (size_t node = 0; node < rule->n; node++) {
            double product = 1;
            for (size_t k = 0; k < group->n; k++) {
                const released_law *other = group->parts[k].law;
                double at = law_cdf(other, b - 1) + rule->nodes[node] * law_pmf(other, b);
                product *= pow(at, part_others(&group->parts[k], part));
            }
            tie += rule->weights[node] * product;
        }
        sum += part->law->pmf[i] * tie;
    }
    return sum;
}

/* X_k / sum X is the integral over u > 0 of X_k e^{-u sum X}; over ln u the trapezoidal rule. */
static double soft_chance(const cellar_threshold *t, const guess_group *group,
                          const guess_part *part)
{
    double sum = 0;
    for (size_t i = 0; i < t->n_soft; i++) {
        double product = part->law->decay_mean[i] * exp(t->soft_first + SOFT_STEP * (double) i);
        for (size_t k = 0; k < group->n; k++)
            product *= pow(group->parts[k].law->decay[i], part_others(&group->parts[k], part));
        sum += product;
    }
    return sum * SOFT_STEP;
}

cellar_status cellar_threshold_assess(const cellar_threshold *t, cellar_risk_measure measure,
                                      const uint64_t *counts, size_t n_positive, uint64_t n_zeros,
                                      cellar_risk *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    guess_group group = {0};
    cellar_quadrature rule = {0};
    double none = 1;
    size_t n_nodes;

    *out = (cellar_risk){0, {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}, 0, 0, 0, 0};
    CELLAR_TRY(guess_group_make(t, counts, n_positive, n_zeros, &group, err));
    n_nodes = (size_t) group.n_values / 2 + 1;
    if (measure == CELLAR_RISK_HARD)
        CELLAR_TRY(cellar_quadrature_make(&rule, n_nodes < MAX_NODES ? n_nodes : MAX_NODES, err));
    for (size_t k = 0; k < group.n; k++) {
        const guess_part *part = &group.parts[k];
        none *= pow(part->law->absent, part->times);
        if (part->count > 0)
            out->value += part->times * part->count / group.size *
                          (measure == CELLAR_RISK_HARD ? hard_chance(&group, part, &rule)
                                                       : soft_chance(t, &group, part));
    }
    out->claim = 1 - none;
    out->right = fmin(out->value, out->claim);
    out->false_claim = out->claim - out->right;
    out->precision = out->claim > 0 ? out->right / out->claim : NAN;
out:
    cellar_quadrature_clear(&rule);
    cellar_free(group.parts);
    return status;
}

/* ---- one group ------------------------------------------------------------------------------ */

static cellar_status threshold_one(const cellar_mechanism *mechanism, cellar_risk_measure measure,
                                   const uint64_t *counts, size_t n_values, cellar_risk *out,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_threshold *t = NULL;
    uint64_t *sorted = cellar_alloc(2 * n_values + 1, sizeof *sorted), *distinct;
    size_t n_distinct = 1, n_zeros = 0;

    if (sorted == NULL)
        return cellar_fail_memory(err, "the risk of guesses");
    distinct = sorted + n_values; /* its first is 0 */
    for (size_t i = 0; i < n_values; i++)
        sorted[i] = counts[i];
    qsort(sorted, n_values, sizeof *sorted, cellar_order_u64);
    for (size_t i = 0; i < n_values; i++) {
        n_zeros += sorted[i] == 0;
        if (sorted[i] != distinct[n_distinct - 1])
            distinct[n_distinct++] = sorted[i];
    }
    CELLAR_TRY(cellar_threshold_create(mechanism, distinct, n_distinct, &t, err));
    CELLAR_TRY(cellar_threshold_assess(t, measure, sorted + n_zeros, n_values - n_zeros, n_zeros,
                                       out, err));
out:
    cellar_threshold_free(t);
    cellar_free(sorted);
    return status;
}

cellar_status cellar_threshold_hard(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err)
{
    return threshold_one(mechanism, CELLAR_RISK_HARD, counts, n_values, out, err);
}

cellar_status cellar_threshold_soft(const cellar_mechanism *mechanism, const uint64_t *counts,
                                    size_t n_values, cellar_risk *out, cellar_error *err)
{
    return threshold_one(mechanism, CELLAR_RISK_SOFT, counts, n_values, out, err);
}
