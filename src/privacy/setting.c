/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one unit can change. A set of tables is d groups of cells (tables and margins), and a record
 * lies in one cell of each. A unit of m records of weight at most w changes each group by m w in
 * all, spread over cells or in one. For a family with monotone likelihood ratios the change of one
 * cell by s = m w dominates all ways to spread it: the distributions change step by step, each
 * step's trade-off curve is at least that of one cell, curves compose as f(1 - g), and for one cell
 * the same tests are optimal for every step, so that this bound is its curve exactly (Dong, Roth
 * and Su 2022, Theorem 2.14; Karlin and Rubin 1956). For additive noise this covers all counts at
 * once, and Poisson counts are so for a reason of their own (facts_kernels.c). For other mechanisms
 * the records of a unit are changed one after the other (curve.c). */
#include "privacy/setting.h"

#include "base/error.h"
#include "base/memory.h"

/* 1: a change of one cell dominates every way to spread it over cells. */
static int spreads(const cellar_certify_part *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const cellar_mechanism *m = parts[i].mechanism;
        const cellar_facts *facts = m->ops->facts;
        const int is_spread = facts != NULL && facts->is_spread != NULL && facts->is_spread(m);
        if (!is_spread && !(m->ops->is_additive && cellar_facts_monotone(m)))
            return 0;
    }
    return 1;
}

cellar_status cellar_setting_init(cellar_setting *s, const cellar_certify_part *parts, size_t n,
                                  const cellar_certify_options *options, cellar_error *err)
{
    const int is_chain = options->max_per_unit > 1 && !spreads(parts, n);
    const uint64_t shift = options->max_weight * (is_chain ? 1 : options->max_per_unit);
    *s = (cellar_setting){.parts = parts, .n = n, .options = options};
    s->group = is_chain ? options->max_per_unit : 1;
    s->cells = cellar_alloc(n, sizeof *s->cells);
    if (s->cells == NULL)
        return cellar_fail_memory(err, "a certificate");
    for (size_t i = 0; i < n; i++)
        cellar_one_cell_init(&s->cells[i], parts[i].mechanism, (int64_t) shift,
                             (int64_t) options->min_count, options->negatives, options->effort);
    return CELLAR_OK;
}

void cellar_setting_clear(cellar_setting *s)
{
    for (size_t i = 0; i < s->n && s->cells != NULL; i++)
        cellar_one_cell_clear(&s->cells[i]);
    cellar_free(s->cells);
    *s = (cellar_setting){0};
}

double cellar_setting_cells_of(const cellar_setting *s, size_t i)
{
    const int sides = s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    return (double) s->options->n_cells * (double) s->parts[i].times * sides;
}

/* Tables of different units: a unit meets one of them, or moves from one to another. */
double cellar_setting_n_cells(const cellar_setting *s)
{
    double sum = 0, largest = 0;
    for (size_t i = 0; i < s->n; i++) {
        const double cells = cellar_setting_cells_of(s, i);
        sum += cells;
        largest = cells > largest ? cells : largest;
    }
    return s->options->parallel ? largest : sum;
}

int cellar_setting_is_single(const cellar_setting *s)
{
    return s->n == 1 && cellar_setting_cells_of(s, 0) == 1;
}

int cellar_setting_composes(const cellar_setting *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!cellar_one_cell_has_first(&s->cells[i]))
            return 0;
    return 1;
}
