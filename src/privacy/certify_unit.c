/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of a unit in the cells of one table: k_1, k_2, ... of them in different cells, k_1 +
 * k_2 + ... = m. The cells are drawn independently, and each that changes by k w at most (w the
 * largest weight) is dominated by the pair, or the envelope, of that change. So the worst of the
 * compositions over all partitions of m bounds what a unit can do; fewer records do less. When
 * records move, as many leave cells as come to others: some cells fall by a partition of m at most,
 * and others rise by one. */
#include "privacy/certify.h"

#include <math.h>

#include "privacy/blocks.h"
#include "privacy/envelope.h"
#include "privacy/one_part.h"

/* Partitions are many, and envelopes take time. */
enum { RECORDS_MAX = 6, MOVING_MAX = 3, ENVELOPES_MAX = 4, ENVELOPE_SHIFT_MAX = 16 };
static const int n_partitions[RECORDS_MAX + 1] = {1, 1, 2, 3, 5, 7, 11};

/* How many cells hold k of the records, k = 1 .. m. */
typedef struct partition {
    uint64_t cells[RECORDS_MAX + 1];
} partition;

/* The next one in the order of its largest part, from all in one cell (0 before the first); 0 after
 * the last. */
static int partition_next(partition *p, uint64_t m)
{
    uint64_t free = p->cells[1], part;
    for (part = 2; part <= m && p->cells[part] == 0; part++)
        ;
    if (part > m) { /* all single: after the last, unless none was there */
        if (free > 0)
            return 0;
        p->cells[m] = 1;
        return 1;
    }
    p->cells[1] = 0;
    p->cells[part]--;
    free += part;
    for (part--; free > 0; part--)
        for (; free >= part; free -= part)
            p->cells[part]++;
    return 1;
}

/* The records move. */
static int unit_moves(const cellar_setting *s)
{
    return s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE;
}

/* Pairs that are worst everywhere, or envelopes that are quickly made. */
static int unit_has_stakes(const cellar_setting *s)
{
    cellar_reach reach = cellar_setting_reach(s, 0);
    int64_t shift = (int64_t) s->group * s->shift, n_counts;
    cellar_stake stake = cellar_setting_stake(s, 0, 1, shift, 1);
    if (!stake.is_envelope)
        return 1;
    return s->group <= ENVELOPES_MAX && shift <= ENVELOPE_SHIFT_MAX && !unit_moves(s) &&
           cellar_envelope_exists(&reach) &&
           (stake.pair.monotone || cellar_reach_period(&reach, &n_counts));
}

/* Numbers of the law of the largest change, but for what does not show. */
static double unit_numbers(const cellar_setting *s, double epsilon, double delta)
{
    const double usual = 1e-12, least = 1e-300;
    const cellar_stake stake = cellar_setting_stake(s, 0, 1, (int64_t) s->group * s->shift, 1);
    const cellar_mechanism *m = stake.pair.m;
    double about = isnan(epsilon) ? delta : cellar_one_part_about(&stake, epsilon);
    int64_t low, high;
    about = about > least ? fmin(about, usual) : usual; /* nothing is soon seen to be nothing */
    m->ops->support(m, stake.pair.count[0], fmax(least, about * CELLAR_ONE_PART_LEFT), &low, &high);
    return (double) high - (double) low;
}

/* About what it takes: the losses of each size of a part, one by one or in blocks of numbers, and
 * their compositions. Envelopes have limits of their own. */
static double unit_cost(const cellar_setting *s, double epsilon, double delta)
{
    const double many = 0x1p14, most = 0x1p15, each = 0.1, in_block = 0.006, start = 100;
    const double numbers = unit_numbers(s, epsilon, delta), ways = n_partitions[s->group];
    const double list = fmin(numbers, most), n = ways * (unit_moves(s) ? ways : 2);
    const double part =
        numbers > many ? in_block * fmin(numbers, CELLAR_BLOCKS_NUMBERS_MAX) : each * numbers;
    if (cellar_setting_stake(s, 0, 1, s->shift, 1).is_envelope)
        return 0;
    return (double) s->group * (part + 0.1 * list) + n * (start + 0.04 * list);
}

static int unit_is_possible(const cellar_setting *s)
{
    return s->n == 1 && s->group > 1 && s->group <= (unit_moves(s) ? MOVING_MAX : RECORDS_MAX) &&
           s->options->n_cells == 1 && unit_has_stakes(s);
}

/* The cells of a partition, which fall or rise. Answers how many sizes there are. */
static size_t unit_stakes(const cellar_setting *s, const partition *p, int larger,
                          cellar_stake *stakes)
{
    size_t n = 0;
    for (int64_t part = 1; part <= (int64_t) s->group; part++)
        if (p->cells[part] > 0)
            stakes[n++] = cellar_setting_stake(s, 0, larger, part * s->shift, p->cells[part]);
    return n;
}

/* Raises *worst to what these stakes do: delta at epsilon, or (epsilon NAN) epsilon at delta. Most
 * are seen to do less. */
static cellar_status unit_raise(cellar_stake *stakes, size_t n, double epsilon, double delta,
                                double *worst, cellar_error *err)
{
    cellar_bounds one;
    cellar_status status;
    stakes[0].is_rough = 2;
    status = isnan(epsilon) ? cellar_tight_epsilon(stakes, n, delta, *worst, &one, err)
                            : cellar_tight_delta(stakes, n, epsilon, *worst, &one, err);
    if (status == CELLAR_OK)
        *worst = fmax(*worst, one.upper);
    return status;
}

/* All partitions: of cells that fall or that rise, or of both. */
static cellar_status unit_try_all(const cellar_setting *s, double epsilon, double delta,
                                  double *worst, cellar_error *err)
{
    cellar_stake stakes[2 * RECORDS_MAX];
    cellar_status status = CELLAR_OK;
    partition first = {{0}};
    while (status == CELLAR_OK && partition_next(&first, s->group)) {
        partition second = {{0}};
        for (int larger = 1; larger >= 0 && status == CELLAR_OK && !unit_moves(s); larger--)
            status = unit_raise(stakes, unit_stakes(s, &first, larger, stakes), epsilon, delta,
                                worst, err);
        while (status == CELLAR_OK && unit_moves(s) && partition_next(&second, s->group)) {
            size_t n = unit_stakes(s, &first, 1, stakes);
            n += unit_stakes(s, &second, 0, stakes + n);
            status = unit_raise(stakes, n, epsilon, delta, worst, err);
        }
    }
    return status;
}

cellar_status cellar_setting_unit(const cellar_setting *s, double epsilon, double delta,
                                  cellar_bounds *out, cellar_error *err)
{
    const cellar_bounds nothing = {.upper = isnan(epsilon) ? INFINITY : 1};
    const cellar_work *work = cellar_pair_cache_work(s->cache);
    const double more = 0.8; /* costs are at most so much too high */
    cellar_status status;
    *out = nothing;
    if (!unit_is_possible(s) ||
        unit_cost(s, epsilon, delta) >
            fmax(0, cellar_work_left(work)) + (s->is_rough ? 0 : more) * cellar_work_limit(work))
        return CELLAR_OK;
    out->upper = 0;
    status = unit_try_all(s, epsilon, delta, &out->upper, err);
    if (cellar_setting_is_too_wide(status))
        *out = nothing;
    return cellar_setting_is_too_wide(status) ? CELLAR_OK : status;
}
