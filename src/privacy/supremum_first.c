/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first pair of a kernel where it dominates all others: in doubles where these do, measured
 * elsewhere. */
#include <math.h>

#include "privacy/epsilon_tail.h"
#include "privacy/pair_rows.h"
#include "privacy/supremum_part.h"

/* 1: so many numbers matter that double-words take long, and there are doubles. */
int cellar_first_is_wide(const cellar_reach *reach)
{
    const double deviations = 40, many = 6e4;
    double mean, variance;
    if (reach->m->ops->facts->quick == NULL)
        return 0;
    cellar_mechanism_mean_variance(reach->m, reach->smallest + reach->shift, &mean, &variance);
    return mean + deviations * sqrt(variance) > many ||
           cellar_pair_is_slow(reach->m, reach->smallest + reach->shift);
}

/* The first pair at one epsilon after another, where it is known of which size it matters. */
static int first_again(const cellar_reach *reach, double epsilon, double numbers, cellar_quick *out)
{
    const double each = 0.006; /* us */
    const cellar_mechanism *m = reach->m;
    int is_known = cellar_pair_rows_quick(reach->cache, m, reach->smallest, reach->shift, epsilon,
                                          reach->size, numbers, out);
    if (is_known)
        return 1;
    is_known =
        m->ops->facts->quick(m, reach->smallest, reach->shift, epsilon, reach->size, numbers, out);
    cellar_work_add(cellar_pair_cache_work(reach->cache), each * out->numbers);
    return is_known;
}

/* 1: the upper tails that make that delta of the first pair, the larger count's and the smaller
 * one's, are not told in the time there is. */
static int first_is_far(const cellar_reach *reach, double delta, double epsilon)
{
    const double share = 0.4;
    return cellar_pair_tail_is_far(reach->m, reach->smallest + reach->shift, log(delta), epsilon,
                                   share * cellar_work_limit(cellar_pair_cache_work(reach->cache)));
}

/* delta of the first pair of a kernel where it dominates all others, by doubles, where its laws are
 * wide or it is too small for double-words: 0 when it is neither, or there are none. */
int cellar_first_by_doubles(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *out)
{
    static const double sizes[] = {1e-190, 0, 1e-20, 1e-6};
    const double numbers = 4e5, each = 0.006; /* us */
    const double about = nextafter(fmpq_get_d(epsilon), 0);
    const cellar_mechanism *m = reach->m;
    const int64_t first = reach->smallest, second = first + reach->shift;
    cellar_quick quick;
    int is_known = 0, larger = 0, is_coarse = 1, is_slow = cellar_pair_is_slow(m, second);
    if (m->ops->facts->quick == NULL)
        return 0;
    if (reach->size > 0) {
        is_known = first_again(reach, about, numbers, &quick);
        larger = is_known && quick.delta[1] >= quick.delta[0];
    }
    for (size_t i = cellar_first_is_wide(reach) ? 1 : 0;
         i < sizeof sizes / sizeof *sizes && !is_known && !(reach->size > 0); i++) {
        is_known = m->ops->facts->quick(m, first, reach->shift, about, sizes[i], numbers, &quick);
        cellar_work_add(cellar_pair_cache_work(reach->cache), each * quick.numbers);
        larger = quick.delta[1] >= quick.delta[0];
        if (i == 0 && (!is_known || (quick.delta[larger] > sizes[0] &&
                                     !(larger && first_is_far(reach, quick.delta[1], about)))))
            return 0;
        is_known = is_known && i > 0;
        is_coarse = !is_known || sizes[i] > 0;
    }
    if (!is_known && !is_slow)
        return 0;
    *out = worst_start(reach);
    out->bound = is_known ? fmin(1, quick.delta[larger]) : cellar_supremum_tail(reach, epsilon);
    if (is_coarse && !(reach->size > 0))
        out->bound = fmin(out->bound, cellar_epsilon_tail_delta(m, second, first, about));
    out->count = larger ? second : first;
    out->neighbour = larger ? first : second;
    out->is_attained = 0;
    return 1;
}

/* delta of that pair, measured: the worse order first, as far as doubles tell which that is, and
 * the other only where they do not say that it is no worse. */
void cellar_first_worst(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    const double numbers = 4e5, least = 1e-200;
    const cellar_mechanism *m = reach->m;
    const int64_t first = reach->smallest, second = first + reach->shift;
    cellar_quick quick = {.delta = {1, 1}};
    cellar_pair pair;
    int larger;
    if (m->ops->facts->quick == NULL ||
        !m->ops->facts->quick(m, first, reach->shift, nextafter(fmpq_get_d(epsilon), 0), least,
                              numbers, &quick))
        quick.delta[0] = quick.delta[1] = 1;
    larger = quick.delta[1] >= quick.delta[0];
    *worst = worst_start(reach);
    for (int i = 0; i < 2 && worst->bound < 1; i++, larger = !larger)
        if (quick.delta[larger] > worst->bound) {
            reach_pair(reach, &pair, larger ? second : first, larger ? first : second);
            worst_measure(&pair, cellar_pair_delta, epsilon, worst);
        }
}
