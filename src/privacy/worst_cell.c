/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One cell that a unit changes: its pairs of counts, and what is proved about large counts. */
#include <math.h>

#include "math/work.h"
#include "privacy/worst.h"

enum { COUNTS_REPEATED_MAX = 20000 };
static const double WORK_OF_QUESTION = 6e7, WORK_OF_PAIR = 1000; /* steps (math/work.h) */

void cellar_one_cell_init(cellar_one_cell *cell, const cellar_mechanism *m, int64_t shift,
                          int64_t smallest, cellar_negatives negatives, double effort)
{
    *cell = (cellar_one_cell){.m = m, .shift = shift, .smallest = smallest, .negatives = negatives};
    cell->work_max = effort > 0 ? WORK_OF_QUESTION * effort : INFINITY;
}

static void cell_drop_pair(cellar_one_cell *cell)
{
    for (int i = 0; i < 2 && cell->has_pair; i++)
        cellar_distribution_clear(&cell->at[i]);
    cell->has_pair = 0;
}

void cellar_one_cell_clear(cellar_one_cell *cell)
{
    cell_drop_pair(cell);
    cellar_noise_table_clear(&cell->noise);
    *cell = (cellar_one_cell){0};
}

static int is_held(const cellar_distribution *d, int64_t count, cellar_negatives negatives)
{
    int64_t low, high;
    d->m->ops->support(d->m, count, 0, &low, &high);
    return d->count == count && d->is_clamped == (negatives == CELLAR_NEGATIVES_ZERO && low < 0);
}

/* The larger count of one pair is often the smaller one of the next. */
cellar_pair cellar_one_cell_pair(cellar_one_cell *cell, int64_t smaller, int64_t shift,
                                 int larger_is_p, cellar_negatives negatives)
{
    cellar_pair pair;
    const int64_t count[2] = {smaller, smaller + shift};
    if (cell->has_pair && !is_held(&cell->at[0], count[0], negatives) &&
        is_held(&cell->at[1], count[0], negatives)) {
        cellar_distribution held = cell->at[0];
        cell->at[0] = cell->at[1];
        cell->at[1] = held;
    }
    for (int i = 0; i < 2; i++) {
        if (cell->has_pair && is_held(&cell->at[i], count[i], negatives))
            continue;
        if (cell->has_pair)
            cellar_distribution_clear(&cell->at[i]);
        cellar_distribution_init(&cell->at[i], cell->m, count[i], negatives);
        cell->at[i].noise = &cell->noise;
    }
    cell->has_pair = 1;
    cellar_work_add(WORK_OF_PAIR);
    cellar_pair_init(&pair, &cell->at[larger_is_p], &cell->at[!larger_is_p]);
    return pair;
}

int cellar_one_cell_is_noise(const cellar_one_cell *cell)
{
    return cell->m->ops->is_additive && cellar_facts_monotone(cell->m);
}

int cellar_one_cell_has_first(const cellar_one_cell *cell)
{
    return cellar_one_cell_is_noise(cell) ||
           (cellar_facts_ordered(cell->m) && cellar_facts_monotone(cell->m));
}

int cellar_one_cell_has_bound(const cellar_one_cell *cell)
{
    return cell->m->ops->facts != NULL && cell->m->ops->facts->bound != NULL;
}

double cellar_one_cell_bound(const cellar_one_cell *cell, int64_t from, double epsilon)
{
    return fmin(1, cell->m->ops->facts->bound(cell->m, from, cell->shift, epsilon));
}

int cellar_one_cell_repeats(const cellar_one_cell *cell, int64_t *end)
{
    const cellar_facts *facts = cell->m->ops->facts;
    int64_t from, period, low, high;
    if (facts == NULL || facts->period == NULL || !facts->period(cell->m, &from, &period))
        return 0;
    from = from > cell->smallest ? from : cell->smallest;
    *end = from + period;
    if (*end - cell->smallest > COUNTS_REPEATED_MAX)
        return 0;
    for (int64_t count = from; count < from + period; count++) {
        cell->m->ops->support(cell->m, count, 0, &low, &high);
        if (cell->negatives == CELLAR_NEGATIVES_ZERO && low < 0 && low > -COUNTS_REPEATED_MAX &&
            *end < from + period - low)
            *end = from + period - low;
    }
    return 1;
}

int64_t cellar_one_cell_least_shift(const cellar_one_cell *cell)
{
    return cellar_facts_monotone(cell->m) ? cell->shift : 1;
}

/* ---- counts one by one --------------------------------------------------------------------- */

cellar_count_search cellar_count_search_start(const cellar_one_cell *cell)
{
    cellar_count_search search = {.cell = cell,
                                  .count = cell->smallest,
                                  .next = cell->smallest + 1,
                                  .work_start = cellar_work_done()};
    search.is_finite = cellar_one_cell_repeats(cell, &search.end);
    return search;
}

int cellar_count_search_is_done(const cellar_count_search *search)
{
    return search->is_finite && search->count >= search->end;
}

int cellar_count_search_is_used_up(const cellar_count_search *search)
{
    return cellar_work_is_over() ||
           cellar_work_done() - search->work_start >= search->cell->work_max;
}

int cellar_count_search_is_due(cellar_count_search *search)
{
    if (search->is_finite)
        return 0;
    if (search->count == search->cell->smallest ||
        (search->count < search->next && !cellar_count_search_is_used_up(search)))
        return 0;
    search->next = search->count + (search->count - search->cell->smallest);
    return 1;
}
