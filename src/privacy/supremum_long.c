/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta of kernels whose laws are too long to be summed, and of which it is known what their counts
 * are drawn from. That bounds delta, and closely but for small numbers: those are told by much less
 * than what they were drawn from. Where a threshold lies among these, double-words sum them. */
#include "mechanism/facts.h"
#include "privacy/supremum_part.h"

int cellar_reach_has_mixing(const cellar_reach *reach)
{
    return cellar_facts_ordered(reach->m) && reach->m->ops->facts->mixing != NULL;
}

/* P(<= last | count) less e^epsilon times that of the neighbour, where double-words tell. */
static int lower_by_words(const cellar_pair *pair, int64_t last, const arb_t factor, arb_t out)
{
    int is_known;
    arb_t q;
    arb_zero(out);
    if (last < 0)
        return 1;
    arb_init(q);
    is_known =
        cellar_pair_cache_lower(pair->cache, pair->m, pair->count[0], last, CELLAR_PAIR_BITS,
                                out) &&
        cellar_pair_cache_lower(pair->cache, pair->m, pair->count[1], last, CELLAR_PAIR_BITS, q);
    arb_submul(out, q, factor, CELLAR_PAIR_BITS);
    arb_clear(q);
    return is_known;
}

/* 1 and delta of a pair where few numbers below the threshold tell it. */
static int delta_by_words(const cellar_pair *pair, const fmpq_t epsilon, arb_t out)
{
    enum { FEW = 1 << 15, ACCURACY = 40 };
    const cellar_mechanism *m = pair->m;
    const int is_larger = pair->count[0] > pair->count[1];
    const double loss =
        m->ops->log_pmf(m, pair->count[0], FEW) - m->ops->log_pmf(m, pair->count[1], FEW);
    int64_t x;
    int is_known;
    arb_t factor;
    if (is_larger ? loss <= fmpq_get_d(epsilon) : loss >= fmpq_get_d(epsilon))
        return 0;
    arb_init(factor);
    arb_set_fmpq(factor, epsilon, CELLAR_PAIR_BITS);
    arb_exp(factor, factor, CELLAR_PAIR_BITS);
    x = cellar_pair_threshold(pair, epsilon, is_larger ? pair->count[0] : -pair->count[0]);
    is_known = lower_by_words(pair, is_larger ? x - 1 : -x, factor, out);
    if (is_larger) { /* what those leave of 1 - e^epsilon */
        arb_add(out, out, factor, CELLAR_PAIR_BITS);
        arb_sub_ui(out, out, 1, CELLAR_PAIR_BITS);
        arb_neg(out, out);
    }
    arb_clear(factor);
    return is_known && (arb_is_zero(out) || arb_rel_accuracy_bits(out) >= ACCURACY);
}

int cellar_mixing_worst(const cellar_reach *reach, int64_t from, const fmpq_t epsilon,
                        cellar_worst *worst)
{
    enum { MIXING_WORK = 200 };
    int is_known = cellar_reach_has_mixing(reach);
    arb_t value, bound;
    arb_init(value);
    arb_init(bound);
    arb_set_fmpq(value, epsilon, CELLAR_PAIR_BITS);
    *worst = worst_start(reach);
    for (int larger = 1; larger >= 0 && is_known; larger--) {
        cellar_pair pair;
        int is_exact;
        reach_pair(reach, &pair, from + larger * reach->shift, from + !larger * reach->shift);
        is_exact = delta_by_words(&pair, epsilon, bound);
        cellar_work_add(cellar_pair_cache_work(reach->cache), is_exact ? 0 : MIXING_WORK);
        is_known = is_exact ||
                   reach->m->ops->facts->mixing(reach->m, from, reach->shift, larger, value, bound);
        if (bound_of(bound) > worst->bound) {
            worst->bound = bound_of(bound);
            worst->count = pair.count[0];
            worst->neighbour = pair.count[1];
            worst->is_attained = is_exact;
        }
    }
    arb_clear(value);
    arb_clear(bound);
    return is_known;
}
