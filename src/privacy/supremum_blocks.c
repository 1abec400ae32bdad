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

enum { FAILED_BEFORE_PROBES = 6, HOLD_MAX = 64 };

/* When so much of what may be done has been done (work.h), bounds are taken as they are that exceed
 * the worst pair found by no more than that factor, and are as much nearer to 1 at most. */
static const struct {
    double share, factor;
} patience[] = {{0.7, 1.02}, {0.8, 1.1}, {0.9, 1.5}, {1, INFINITY}};

/* A count whose pairs may be the worst. */
typedef struct contender {
    int64_t count;
    double bound; /* by doubles */
} contender;

enum { CONTENDERS = 8 };
/* Doubles (facts.h, `block`) are closer to a pair than this; but where they cannot tell whether a
 * number violates, and may take one more than there is. */
static const double CLOSE = 1 - 1e-7;
/* What is less doubles do not tell apart. */
static const double NOTHING = 3e-290;

typedef struct blocks {
    const cellar_reach *reach;
    const fmpq *epsilon;
    cellar_worst *worst;
    int is_wide;                      /* tails of its laws take long, unless they are bounded */
    int64_t above, below;             /* where thresholds were last found, from the count on */
    double last;                      /* bound of the last block that was done with */
    double attained;                  /* of the worst pair found */
    int is_lost;                      /* its laws have become too wide for doubles */
    int is_exact;                     /* what doubles tell of single counts is not enough */
    contender contenders[CONTENDERS]; /* all counts that exceed the bound found, by doubles */
    int n_contenders;                 /* or more than fit */
} blocks;

static const cellar_work *blocks_work(const blocks *b)
{
    return cellar_pair_cache_work(b->reach->cache);
}

/* Blocks with no more are done with. */
static double blocks_level(const blocks *b)
{
    double level = b->worst->bound;
    if (b->reach->m->ops->facts->block != NULL)
        level = fmax(level, NOTHING);
    for (size_t i = 0; i < sizeof patience / sizeof *patience; i++)
        if (cellar_work_is_over(blocks_work(b), patience[i].share))
            level = fmax(level, fmin(b->attained * patience[i].factor,
                                     1 - (1 - b->attained) / patience[i].factor));
    return level;
}

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
    b->attained = fmax(b->attained, bound);
    if (bound > b->worst->bound) {
        b->worst->bound = bound;
        b->worst->count = pair->count[0];
        b->worst->neighbour = pair->count[1];
        b->worst->is_attained = 1; /* whatever bounds were taken before are smaller */
    }
    arb_clear(value);
}

static double blocks_bound(blocks *b, int64_t first, int64_t last);

/* Takes a bound as it is, though it is of no count in particular. */
static void blocks_accept(blocks *b, double bound)
{
    if (bound > b->worst->bound) {
        b->worst->bound = bound;
        b->worst->is_attained = 0;
    }
}

/* A bound of all pairs whose smaller count is one of first .. last by doubles: 0 when the kernel
 * has none. One count with too many is the last that is looked at. */
static int blocks_quick(blocks *b, int64_t first, int64_t last, double *bound)
{
    const double most = 3e5, start = 2, each = 0.006, tiny = 1e-100; /* us, and where it is more */
    const cellar_mechanism *m = b->reach->m;
    const double epsilon = nextafter(fmpq_get_d(b->epsilon), 0);
    const double enough = fmax(b->worst->bound, 0);
    cellar_quick quick;
    int is_known;
    if (m->ops->facts->block == NULL)
        return 0;
    is_known = m->ops->facts->block(m, first, last, b->reach->shift, epsilon, enough, most, &quick);
    *bound = is_known ? fmax(quick.violation[0], quick.violation[1]) : 1;
    cellar_work_add(cellar_pair_cache_work(b->reach->cache),
                    start + (*bound < tiny ? 2 : 1) * each * quick.numbers);
    b->is_lost = b->is_lost || (!is_known && first == last);
    return 1;
}

/* A count that exceeds what was found: it will be measured unless a worse one comes. */
static void blocks_contend(blocks *b, int64_t count, double bound)
{
    double level = fmax(b->worst->bound, bound * CLOSE);
    int n = 0;
    for (int i = 0; i < b->n_contenders && i < CONTENDERS; i++)
        if (b->contenders[i].bound > level && b->contenders[i].count != count)
            b->contenders[n++] = b->contenders[i];
    if (n < CONTENDERS)
        b->contenders[n] = (contender){count, bound};
    b->n_contenders = n + 1;
    b->attained = fmax(b->attained, level);
    b->worst->bound = level;
    b->worst->is_attained = 1;
}

/* 1: P(>= above) is not told in the time there is. */
static int blocks_is_far(const blocks *b, const cellar_pair *larger, int64_t above)
{
    const double share = 0.4;
    const cellar_mechanism *m = larger->m;
    return m->ops->facts->block != NULL &&
           cellar_pair_tail_is_far(m, larger->count[0], m->ops->log_pmf(m, larger->count[0], above),
                                   0, share * cellar_work_limit(blocks_work(b)));
}

/* Both orders of one pair: the same numbers violate. */
static void blocks_measure(blocks *b, int64_t count)
{
    int64_t above, below;
    cellar_pair larger, smaller;
    double bound;
    if (blocks_quick(b, count, count, &bound)) {
        if (bound > b->worst->bound && !b->is_exact && !b->is_lost)
            blocks_contend(b, count, bound);
        if (bound <= b->worst->bound || !b->is_exact)
            return;
    }
    reach_pair(b->reach, &larger, count + b->reach->shift, count);
    reach_pair(b->reach, &smaller, count, count + b->reach->shift);
    above = blocks_above(b, &larger);
    if (cellar_pair_tail_is_long(b->reach->m, larger.count[0], above) ||
        cellar_pair_is_slow(b->reach->m, larger.count[0]) || blocks_is_far(b, &larger, above) ||
        2 * cellar_pair_upper_cost(b->reach->m, count) > cellar_work_left(blocks_work(b))) {
        blocks_accept(b, blocks_bound(b, count, count));
        return;
    }
    below = blocks_below(b, &smaller, b->epsilon);
    blocks_keep(b, &larger, above, below);
    if (b->worst->bound < 1)
        blocks_keep(b, &smaller, below, above);
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

/* P(>= x), or a bound of it where that takes long: of a wide law, or far out. */
static void blocks_upper(const blocks *b, const cellar_pair *pair, int side, int64_t x, arb_t out)
{
    enum { FAR_BITS = 80 };
    const double share = 0.1;
    const cellar_mechanism *m = pair->m;
    const int64_t count = pair->count[side];
    const int is_wide =
        b->is_wide || cellar_pair_upper_cost(m, count) > share * cellar_work_limit(blocks_work(b));
    const int is_bounded = x > 0 && is_wide && !cellar_pair_tail_is_told(m, count, x);
    double factor;
    arb_t p;
    arb_init(p);
    if (x > 0)
        cellar_pair_pmf(pair, side, x, CELLAR_PAIR_BITS, p);
    if (is_bounded || (x > 0 && arf_cmpabs_2exp_si(arb_midref(p), -FAR_BITS) < 0)) {
        factor = m->ops->tail_factor(m, count, x);
        arb_set_d(out, isfinite(factor) ? factor : 0);
        arb_mul(out, out, p, CELLAR_PAIR_BITS);
        if (!isfinite(factor) && cellar_pair_tail_is_long(m, count, x))
            arb_one(out);
        else if (!isfinite(factor))
            cellar_pair_upper(pair, side, x, CELLAR_PAIR_BITS, out);
    } else {
        cellar_pair_upper(pair, side, x, CELLAR_PAIR_BITS, out);
    }
    arb_clear(p);
}

/* ---- bounds of a block ---------------------------------------------------------------------- */

/* Counts first .. first + width, all moved by the shift where P is the law of the larger count of a
 * pair; and what is known of the numbers that violate at pairs of smaller count first + i. */
typedef struct block {
    int64_t first, width;
    int has_side;    /* it is known what happens along the diagonal */
    int64_t x;       /* those above are at least x + i then, and at least x */
    int64_t y, most; /* those below are at most y + i then, and at most `most` */
    int y_moves;     /* 1: the first of the two is known */
} block;

/* The sign of the number less the mean of a count. */
static int side_of(const blocks *b, int64_t count, int64_t number)
{
    return b->reach->m->ops->facts->side(b->reach->m, count, number);
}

/* A bound of P(>= x(first + i) | first + i). */
static void block_upper(const blocks *b, const block *k, int64_t first, arb_t out)
{
    int64_t x = k->x, count = first + k->width;
    cellar_pair pair;
    if (k->has_side && side_of(b, first, x - 1) >= 0) {
        x += k->width;
    } else if (k->has_side) {
        count = first;
        x -= side_of(b, first, x) > 0;
    }
    reach_pair(b->reach, &pair, count, count + b->reach->shift);
    blocks_upper(b, &pair, 0, x, out);
}

/* A bound of P(<= y(first + i) | first + i). */
static void block_lower(const blocks *b, const block *k, int64_t first, arb_t out)
{
    cellar_pair pair;
    arb_t other;
    reach_pair(b->reach, &pair, first, first + b->reach->shift);
    if (k->most == INT64_MAX)
        arb_one(out);
    else
        cellar_pair_lower(&pair, 0, k->most, CELLAR_PAIR_BITS, out);
    if (!k->y_moves || k->y + k->width < 0 || arb_is_zero(out))
        return;
    arb_init(other);
    if (side_of(b, first, k->y + 1) <= 0) {
        reach_pair(b->reach, &pair, first + k->width, first);
        cellar_pair_lower(&pair, 0, k->y + k->width, CELLAR_PAIR_BITS, other);
    } else {
        cellar_pair_lower(&pair, 0, k->y + (side_of(b, first, k->y) < 0), CELLAR_PAIR_BITS, other);
    }
    arb_min(out, out, other, CELLAR_PAIR_BITS);
    arb_clear(other);
}

static block block_of(blocks *b, int64_t first, int64_t last)
{
    const int64_t shift = b->reach->shift;
    block k = {.first = first, .width = last - first};
    cellar_pair pair;
    fmpq_t smaller;
    fmpq_init(smaller);
    k.has_side = b->reach->m->ops->facts->side != NULL;
    reach_pair(b->reach, &pair, first + shift, first);
    k.x = blocks_above(b, &pair);
    if (k.has_side) {
        reach_pair(b->reach, &pair, first, first + shift);
        k.y = -blocks_below(b, &pair, b->epsilon);
        k.y_moves = side_of(b, first, k.y + 1) <= 0;
    }
    k.most = INT64_MAX;
    if (!k.y_moves || k.y < 2 * k.width) { /* or what is known along the diagonal is better */
        blocks_epsilon(b, first, last, smaller);
        reach_pair(b->reach, &pair, last, last + shift);
        k.most = -blocks_below(b, &pair, smaller);
    }
    fmpq_clear(smaller);
    return k;
}

/* A bound of all pairs whose smaller count is one of first .. last. */
static double blocks_bound(blocks *b, int64_t first, int64_t last)
{
    const double room = 1 + 0x1p-50; /* more than balls are off */
    double bound = 0;
    block k;
    arb_t sum, part;
    if (blocks_quick(b, first, last, &bound))
        return fmin(bound, 1);
    k = block_of(b, first, last);
    arb_init(sum);
    arb_init(part);
    for (int larger = 1; larger >= 0 && bound < 1; larger--) {
        block_upper(b, &k, first + larger * b->reach->shift, sum);
        block_lower(b, &k, first + larger * b->reach->shift, part);
        arb_add(sum, sum, part, CELLAR_PAIR_BITS);
        bound = fmax(bound, bound_of(sum));
    }
    arb_clear(sum);
    arb_clear(part);
    return fmin(bound * room, 1);
}

/* Some counts ahead: the earlier a bad one is known, the larger are the blocks. Far out a bound is
 * quick, where exact tails are not. */
static void blocks_probe(blocks *b, int64_t count)
{
    enum { PROBES = 12 };
    for (int i = 0; i < PROBES && b->worst->bound < 1; i++) {
        count += (count - b->reach->smallest) / 4 + 1;
        if (blocks_bound(b, count, count) > b->worst->bound)
            blocks_measure(b, count);
    }
}

/* The worst of some counts here and there by doubles, where they are quick. */
static void blocks_guess(blocks *b)
{
    enum { GUESSES = 24 };
    const double share = 0.4;
    int64_t count = b->reach->smallest;
    double most = 0, bound;
    for (int i = 0; i < GUESSES && blocks_quick(b, count, count, &bound); i++) {
        if (b->is_lost)
            break; /* there, and not yet before */
        if (bound > b->worst->bound)
            blocks_contend(b, count, bound);
        most = fmax(most, bound);
        if (bound < most / 2 || bound < NOTHING || cellar_work_is_over(blocks_work(b), share))
            break;
        count += 1 + (count - b->reach->smallest) / 4;
    }
    b->is_lost = 0;
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

static void pace_hurry(pace *p)
{
    p->hold = p->wait = 1;
}

static void pace_failed(pace *p)
{
    p->width = p->width > 1 ? p->width / 2 : 1;
    p->hold = p->hold < HOLD_MAX ? 2 * p->hold : HOLD_MAX;
    p->wait = p->hold;
}

/* One block: 1 when it is done with. */
static int blocks_step(blocks *b, int64_t first, int64_t width)
{
    double bound;
    if (width == 1) {
        blocks_measure(b, first);
        return 1;
    }
    bound = blocks_bound(b, first, first + width - 1);
    if (bound > blocks_level(b))
        return 0;
    b->last = bound;
    blocks_accept(b, bound);
    return 1;
}

/* The count from which on the rest was bounded by less than what was found, for the next larger
 * shift: it is for this one, for these laws are a post-processing of those (facts_mixed.c), and
 * doubles are quick to get there. INT64_MAX when it is not known, or no longer. */
static int64_t blocks_rest_wider(const blocks *b)
{
    const double same = 3e-12, room = 1e-8; /* of epsilon, and for what bounds differ then */
    const cellar_reach *reach = b->reach;
    cellar_rest *wider = reach->enough > 0 && reach->m->ops->facts->block != NULL
                             ? cellar_pair_cache_rest(reach->cache, reach->m, reach->shift + 1)
                             : NULL;
    cellar_rest *rest = cellar_pair_cache_rest(reach->cache, reach->m, reach->shift);
    if (wider == NULL || wider->from <= 0 || wider->bound * (1 + room) > b->worst->bound ||
        fmpq_get_d(b->epsilon) < wider->epsilon * (1 - same))
        return INT64_MAX;
    rest->from = wider->from;
    rest->epsilon = wider->epsilon;
    rest->tried = wider->tried;
    rest->bound = wider->bound;
    return wider->from;
}

/* 1 when all counts from `next` on have no more than what was found. What did at a smaller epsilon
 * is remembered: bounds fall with epsilon, and with the first count. An earlier count is tried when
 * epsilon has grown by a little. */
static int blocks_rest(const blocks *b, int64_t next)
{
    const cellar_reach *reach = b->reach;
    const double epsilon = fmpq_get_d(b->epsilon), room = 1e-12, near = 1.02;
    cellar_rest *rest = cellar_pair_cache_rest(reach->cache, reach->m, reach->shift);
    double bound;
    int64_t wider = blocks_rest_wider(b);
    if (wider < INT64_MAX)
        return next >= wider;
    if (rest != NULL && rest->from > 0) {
        if (next >= rest->from && epsilon * (1 - room) >= rest->epsilon &&
            rest->bound <= b->worst->bound) {
            rest->tried = epsilon > near * rest->tried ? epsilon : rest->tried;
            return 1;
        }
        if (next < rest->from - rest->from / 4 && epsilon < near * rest->tried)
            return 0; /* it did not do there */
    }
    bound = cellar_rest_violation(reach, next, b->epsilon, b->worst->bound);
    if (bound > b->worst->bound)
        return 0;
    if (rest != NULL) {
        rest->from = next;
        rest->epsilon = epsilon * (1 + room);
        rest->tried = epsilon;
        rest->bound = bound;
    }
    return 1;
}

/* All counts, from the first on. */
static void blocks_run(blocks *b)
{
    const cellar_reach *reach = b->reach;
    cellar_worst *worst = b->worst;
    const int64_t far = INT64_C(1) << 40;
    pace p = {.width = 1, .hold = 1, .wait = 1};
    int64_t next = reach->smallest, next_check = next + 1, next_try = next + 1;
    int n_failed = 0, is_done;
    while (worst->bound < 1) {
        if (next >= next_check) {
            if ((b->last < worst->bound / 2 || next >= next_try) && blocks_rest(b, next))
                return;
            if (next >= next_try) /* bounds of the rest are costly, and never as close */
                next_try = 8 * (next - reach->smallest) + reach->smallest;
            if (next > far || cellar_work_is_over(blocks_work(b), 1.15)) {
                blocks_accept(b, cellar_rest_violation(reach, next, b->epsilon, 1));
                return;
            }
            next_check = next + (next - reach->smallest) / 2 + 1;
        }
        is_done = blocks_step(b, next, p.width);
        if (b->is_lost) {
            blocks_accept(b, cellar_rest_violation(reach, next, b->epsilon, 1));
            return;
        }
        if (is_done) {
            next += p.width;
            if (worst->bound > b->attained) /* it is a bound now, and may be one of many */
                pace_hurry(&p);
            pace_passed(&p);
        } else {
            pace_failed(&p);
            if (++n_failed == FAILED_BEFORE_PROBES && reach->m->ops->facts->block == NULL)
                blocks_probe(b, next);
        }
    }
}

/* What doubles tell is proved for all other counts: the contenders are measured, or taken as they
 * are where that takes too long. 0 when doubles said too much of them all, and of others maybe. */
static int blocks_settle(blocks *b)
{
    const double too_small = 1e-190; /* for double-words */
    const double level = b->worst->bound;
    const int is_attained = b->worst->is_attained;
    b->is_exact = 1;
    if (is_attained)
        b->worst->bound = b->reach->enough > 0 ? b->reach->enough : -1;
    for (int i = 0; i < b->n_contenders && i < CONTENDERS; i++) {
        const contender *c = &b->contenders[i];
        if (c->bound <= b->worst->bound)
            continue;
        if (is_attained && c->bound > too_small && !cellar_work_is_over(blocks_work(b), 1))
            blocks_measure(b, c->count);
        else
            blocks_accept(b, c->bound);
    }
    return b->worst->bound >= level && b->n_contenders <= CONTENDERS;
}

void cellar_blocks_violation(const cellar_reach *reach, const fmpq_t epsilon, cellar_worst *worst)
{
    blocks b = {.reach = reach, .epsilon = epsilon, .worst = worst, .attained = reach->enough};
    b.is_wide = cellar_pair_law_is_wide(reach->m, reach->smallest);
    *worst = worst_start(reach);
    if (reach->m->ops->facts->block != NULL && reach->enough > 0)
        worst->bound = reach->enough; /* others have that much, and less does not matter */
    blocks_guess(&b);
    blocks_run(&b);
    if (b.n_contenders > 0 && !blocks_settle(&b))
        blocks_run(&b);
}
