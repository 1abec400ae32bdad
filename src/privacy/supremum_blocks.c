/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supremum of delta_p over all counts of a synthetic kernel, many counts at a time.
 *
 * Let R(b) = P(b | a + s) / P(b | a), which does not decrease in b. What violates epsilon at the
 * pair (a, a + s) are the numbers from x(a) on, where R exceeds e^epsilon, and those up to y(a),
 * where it is below e^-epsilon. Where ln P(b | a) is a concave function of the logarithm of the
 * mean mu (facts.h, `is_concave`, with the proof of what follows in mechanism/facts_mixed.c),
 *   x(a) does not fall as a grows, and
 *   y(a) at epsilon is at most y(a2) at epsilon tau(a2) / tau(a1), tau = ln(1 + s/mu), for all a in
 * a1 .. a2. Upper tails S(b | a) = P(>= b | a) grow with a and lower ones F fall, so that all pairs
 * with a smaller count in a1 .. a2 have at most
 *   S(x(a1) | a2) + F(Y | a1) and S(x(a1) | a2 + s) + F(Y | a1 + s), Y = y(a2) at the smaller
 * epsilon, when a number is drawn from the law of the smaller count, and of the larger. A block of
 * counts whose bound does not exceed the worst single pair found is done with; another one is
 * looked at in smaller blocks, down to single counts, whose pairs are measured. A bound for all
 * counts from some on (supremum.c) ends it, and the answer is the largest of single pairs.
 *
 * Along the diagonal. For Poisson and negative binomial counts (facts.h, `side`, with the proof in
 * mechanism/facts_kernels.c) thresholds move at least as fast as counts: x(a + i) >= x(a) + i, and
 * y(a + i) <= y(a) + i if y(a) + 1 <= mu. P(>= x + i | a + i) does not decrease in i if x >= mu +
 * 1, and does not increase if x <= mu, so that the last of the block, or the first, has the
 * largest; between the two the first with x - 1 does. With lower tails it is the other way round.
 * These bounds are the better ones: they lose as much as thresholds gain on the counts.
 *
 * A bound is rounded up, and exceeds what balls make of any pair in its block by more than their
 * radius, so that looking at all counts one by one gives the same number. */
#include <math.h>

#include "math/rational.h"
#include "privacy/supremum_part.h"

/* Work is counted in evaluations, of which those of wide laws count more. */
enum { WORK_MAX = 6000, WORK_BEFORE_PROBES = 24, HOLD_MAX = 64 };

typedef struct blocks {
    const cellar_reach *reach;
    const fmpq *epsilon;
    cellar_worst *worst;
    int64_t above, below; /* where thresholds were last found, from the count on */
    double work, work_each;
} blocks;

static int64_t blocks_above(blocks *b, const cellar_pair *larger)
{
    int64_t x = cellar_pair_threshold(larger, b->epsilon, larger->count[1] + b->above);
    b->above = x - larger->count[1];
    return x;
}

/* Minus the last number that violates below, as thresholds of falling losses are told. */
static int64_t blocks_below(blocks *b, const cellar_pair *smaller, const fmpq_t epsilon)
{
    int64_t x = cellar_pair_threshold(smaller, epsilon, b->below - smaller->count[0]);
    b->below = x + smaller->count[0];
    return x;
}

static void blocks_keep(blocks *b, const cellar_pair *pair, int64_t above, int64_t below)
{
    double bound;
    arb_t value;
    arb_init(value);
    cellar_pair_violation_beyond(pair, above, below, value);
    bound = bound_of(value);
    if (bound > b->worst->bound) {
        b->worst->bound = bound;
        b->worst->count = pair->count[0];
        b->worst->neighbour = pair->count[1];
    }
    arb_clear(value);
}

/* Both orders of one pair: the same numbers violate. */
static void blocks_measure(blocks *b, int64_t count)
{
    int64_t above, below;
    cellar_pair larger, smaller;
    reach_pair(b->reach, &larger, count + b->reach->shift, count);
    reach_pair(b->reach, &smaller, count, count + b->reach->shift);
    above = blocks_above(b, &larger);
    below = blocks_below(b, &smaller, b->epsilon);
    blocks_keep(b, &larger, above, below);
    if (b->worst->bound < 1)
        blocks_keep(b, &smaller, below, above);
    b->work += b->work_each;
}

/* No more than epsilon tau(last) / tau(first): doubles are right to far more than 1e-9. */
static void blocks_epsilon(const blocks *b, int64_t first, int64_t last, fmpq_t out)
{
    const double safe = 1 - 1e-9, shift = (double) b->reach->shift;
    double start, end, variance;
    cellar_mechanism_mean_variance(b->reach->m, first, &start, &variance);
    cellar_mechanism_mean_variance(b->reach->m, last, &end, &variance);
    cellar_rational_set_double(out, log1p(shift / end) / log1p(shift / start) * safe);
    fmpq_mul(out, out, b->epsilon);
}

/* Rounded up: P(>= above) of one count and P(<= -below) of another. */
static double blocks_tails(const cellar_pair *upper, int upper_side, int64_t above,
                           const cellar_pair *lower, int lower_side, int64_t below)
{
    double bound;
    arb_t sum, part;
    arb_init(sum);
    arb_init(part);
    cellar_pair_upper(upper, upper_side, above, CELLAR_PAIR_BITS, sum);
    cellar_pair_lower(lower, lower_side, -below, CELLAR_PAIR_BITS, part);
    arb_add(sum, sum, part, CELLAR_PAIR_BITS);
    bound = bound_of(sum);
    arb_clear(sum);
    arb_clear(part);
    return bound;
}

/* ---- by concavity ------------------------------------------------------------------------- */

/* A bound of all pairs whose smaller count is one of first .. last. The larger of both tails at
 * once is tried before each by itself. */
static double bound_by_concavity(blocks *b, int64_t first, int64_t last)
{
    cellar_pair start, end;
    int64_t above, below;
    double bound = 1;
    fmpq_t smaller;
    fmpq_init(smaller);
    reach_pair(b->reach, &start, first + b->reach->shift, first);
    reach_pair(b->reach, &end, last, last + b->reach->shift);
    blocks_epsilon(b, first, last, smaller);
    above = blocks_above(b, &start);
    below = blocks_below(b, &end, smaller);
    if (-below < above - 1) {
        bound = blocks_tails(&end, 1, above, &start, 1, below);
        if (bound >= b->worst->bound)
            bound = fmax(blocks_tails(&end, 0, above, &start, 1, below),
                         blocks_tails(&end, 1, above, &start, 0, below));
    }
    fmpq_clear(smaller);
    return bound;
}

/* ---- along the diagonal --------------------------------------------------------------------- */

static int side_of(const blocks *b, int64_t count, int64_t number)
{
    return b->reach->m->ops->facts->side(b->reach->m, count, number);
}

/* The largest P(>= x + i) of counts first + i, i = 0 .. width. */
static void diagonal_upper(const blocks *b, int64_t first, int64_t width, int64_t x, arb_t out)
{
    cellar_pair pair;
    if (side_of(b, first, x - 1) >= 0) {
        reach_pair(b->reach, &pair, first + width, first);
        cellar_pair_upper(&pair, 0, x + width, CELLAR_PAIR_BITS, out);
    } else {
        reach_pair(b->reach, &pair, first, first + width);
        cellar_pair_upper(&pair, 0, side_of(b, first, x) <= 0 ? x : x - 1, CELLAR_PAIR_BITS, out);
    }
}

/* The same of P(<= y + i). */
static void diagonal_lower(const blocks *b, int64_t first, int64_t width, int64_t y, arb_t out)
{
    cellar_pair pair;
    if (side_of(b, first, y + 1) <= 0) {
        reach_pair(b->reach, &pair, first + width, first);
        cellar_pair_lower(&pair, 0, y + width, CELLAR_PAIR_BITS, out);
    } else {
        reach_pair(b->reach, &pair, first, first + width);
        cellar_pair_lower(&pair, 0, side_of(b, first, y) >= 0 ? y : y + 1, CELLAR_PAIR_BITS, out);
    }
}

/* 1 and the bound when thresholds are known to move so: y(first) + 1 must not exceed the mean. */
static int bound_by_diagonal(blocks *b, int64_t first, int64_t last, double *bound)
{
    const int64_t shift = b->reach->shift, width = last - first;
    cellar_pair larger, smaller;
    int64_t x, y;
    arb_t sum, part;
    if (b->reach->m->ops->facts->side == NULL)
        return 0;
    reach_pair(b->reach, &larger, first + shift, first);
    reach_pair(b->reach, &smaller, first, first + shift);
    y = -blocks_below(b, &smaller, b->epsilon);
    if (side_of(b, first, y + 1) > 0)
        return 0;
    x = blocks_above(b, &larger);
    arb_init(sum);
    arb_init(part);
    *bound = y < x - 1 ? 0 : 1;
    for (int i = 0; i < 2 && *bound < 1; i++) {
        diagonal_upper(b, first + i * shift, width, x, sum);
        diagonal_lower(b, first + i * shift, width, y, part);
        arb_add(sum, sum, part, CELLAR_PAIR_BITS);
        *bound = fmax(*bound, bound_of(sum));
    }
    arb_clear(sum);
    arb_clear(part);
    return 1;
}

/* ---- all blocks ------------------------------------------------------------------------------ */

/* A bound of all pairs whose smaller count is one of first .. last. */
static double blocks_bound(blocks *b, int64_t first, int64_t last)
{
    const double room = 1 + 0x1p-50; /* more than balls are off */
    double bound;
    if (!bound_by_diagonal(b, first, last, &bound))
        bound = bound_by_concavity(b, first, last);
    b->work += b->work_each;
    return fmin(bound * room, 1);
}

/* Some counts ahead: the earlier a bad one is known, the larger are the blocks. */
static void blocks_probe(blocks *b, int64_t count)
{
    enum { PROBES = 12 };
    for (int i = 0; i < PROBES && b->worst->bound < 1; i++) {
        count += (count - b->reach->smallest) / 4 + 1;
        blocks_measure(b, count);
    }
}

/* The widths of blocks grow after some that are done with, and fall after one that is not; the more
 * often they fall, the longer they wait. */
typedef struct pace {
    int64_t width;
    int hold, wait;
} pace;

static void pace_passed(pace *p)
{
    if (--p->wait > 0)
        return;
    p->width *= 2;
    p->hold = p->hold > 1 ? p->hold / 2 : 1;
    p->wait = p->hold;
}

static void pace_failed(pace *p)
{
    p->width = p->width > 1 ? p->width / 2 : 1;
    p->hold = p->hold < HOLD_MAX ? 2 * p->hold : HOLD_MAX;
    p->wait = p->hold;
}

/* One block: 1 when it is done with. Beyond the limit of work its bound is taken as it is, though
 * it is of no count in particular. */
static int blocks_step(blocks *b, int64_t first, int64_t width)
{
    double bound;
    if (width == 1) {
        blocks_measure(b, first);
        return 1;
    }
    bound = blocks_bound(b, first, first + width - 1);
    if (bound > b->worst->bound && b->work <= WORK_MAX)
        return 0;
    if (bound > b->worst->bound) {
        b->worst->bound = bound;
        b->worst->is_attained = 0;
    }
    return 1;
}

void cellar_blocks_violation(const cellar_reach *reach, const fmpq_t epsilon, double work_each,
                             cellar_worst *worst)
{
    blocks b = {.reach = reach, .epsilon = epsilon, .worst = worst, .work_each = work_each};
    pace p = {.width = 1, .hold = 1, .wait = 1};
    int64_t next = reach->smallest, next_check = next + 1;
    int is_probed = 0;
    *worst = worst_start(reach);
    while (worst->bound < 1) {
        if (next >= next_check) {
            if (cellar_rest_violation(reach, next, epsilon, worst->bound) <= worst->bound)
                return;
            next_check = next + (next - reach->smallest) / 4 + 1;
        }
        if (!is_probed && b.work > WORK_BEFORE_PROBES) {
            blocks_probe(&b, next);
            is_probed = 1;
        }
        if (blocks_step(&b, next, p.width)) {
            next += p.width;
            pace_passed(&p);
        } else {
            pace_failed(&p);
        }
    }
}
