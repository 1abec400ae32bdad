/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of a unit in the cells of one table: k_1, k_2, ... of them in different cells, k_1 +
 * k_2 + ... = m. The cells are drawn independently, and each that changes by k w at most (w the
 * largest weight) is dominated by the pair, or the envelope, of that change. So the worst of the
 * compositions over all partitions of m bounds what a unit can do; fewer records do less. */
#include "privacy/certify.h"

#include <math.h>

#include "privacy/envelope.h"

enum { RECORDS_MAX = 4, SHIFT_MAX = 16 };

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

/* Pairs that are worst everywhere, or envelopes that are quickly made. */
static int unit_has_stakes(const cellar_setting *s)
{
    cellar_reach reach = cellar_setting_reach(s, 0);
    cellar_stake stake = cellar_setting_stake(s, 0, 1, (int64_t) s->group * s->shift, 1);
    int64_t n_counts;
    if (!stake.is_envelope)
        return 1;
    return cellar_envelope_exists(&reach) &&
           (stake.pair.monotone || cellar_reach_period(&reach, &n_counts));
}

static int unit_is_possible(const cellar_setting *s)
{
    return s->n == 1 && s->group > 1 && s->group <= RECORDS_MAX && s->options->n_cells == 1 &&
           s->options->neighbours == CELLAR_NEIGHBOURS_ADD_REMOVE &&
           (int64_t) s->group * s->shift <= SHIFT_MAX && unit_has_stakes(s);
}

/* One partition, all cells of which rise, or fall. */
static cellar_status unit_ask(const cellar_setting *s, const partition *p, int larger,
                              double epsilon, double delta, double enough, cellar_bounds *out,
                              cellar_error *err)
{
    cellar_stake stakes[RECORDS_MAX];
    size_t n = 0;
    for (int64_t part = 1; part <= (int64_t) s->group; part++)
        if (p->cells[part] > 0)
            stakes[n++] = cellar_setting_stake(s, 0, larger, part * s->shift, p->cells[part]);
    stakes[0].is_rough = 1;
    return isnan(epsilon) ? cellar_tight_epsilon(stakes, n, delta, enough, out, err)
                          : cellar_tight_delta(stakes, n, epsilon, enough, out, err);
}

cellar_status cellar_setting_unit(const cellar_setting *s, double epsilon, double delta,
                                  cellar_bounds *out, cellar_error *err)
{
    const cellar_bounds nothing = {.upper = isnan(epsilon) ? INFINITY : 1};
    cellar_status status = CELLAR_OK;
    partition p = {{0}};
    *out = nothing;
    if (!unit_is_possible(s))
        return CELLAR_OK;
    out->upper = 0;
    while (status == CELLAR_OK && partition_next(&p, s->group))
        for (int larger = 0; larger < 2 && status == CELLAR_OK; larger++) {
            cellar_bounds one;
            status = unit_ask(s, &p, larger, epsilon, delta, out->upper, &one, err);
            if (status == CELLAR_OK)
                out->upper = fmax(out->upper, one.upper);
        }
    if (cellar_setting_is_too_wide(status))
        *out = nothing;
    return cellar_setting_is_too_wide(status) ? CELLAR_OK : status;
}
