/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/blocks.h"

#include <math.h>

#include "base/memory.h"
#include "math/run_quick.h"

enum { BLOCKS_WANTED = 1 << 13, ROOM_FIRST = 1 << 12 };
static const double LEAST = 1e-305; /* masses below would not be right */

static void blocks_clear(cellar_blocks *blocks)
{
    cellar_free(blocks->mass);
    cellar_free(blocks->loss);
    cellar_free(blocks->edge);
    *blocks = (cellar_blocks){0};
}

void cellar_blocks_store_clear(cellar_blocks_store *store)
{
    for (size_t i = 0; i < CELLAR_BLOCKS_KEPT; i++)
        blocks_clear(&store->items[i]);
}

static int list_grow(double **list, size_t room)
{
    double *larger = cellar_realloc(*list, room, sizeof *larger);
    if (larger != NULL)
        *list = larger;
    return larger != NULL;
}

static int blocks_grow(cellar_blocks *blocks)
{
    size_t room = blocks->room == 0 ? ROOM_FIRST : 2 * blocks->room;
    if (blocks->n + 1 < blocks->room)
        return 1;
    if (!list_grow(&blocks->mass, room) || !list_grow(&blocks->loss, room) ||
        !list_grow(&blocks->edge, room))
        return 0;
    blocks->room = room;
    return 1;
}

/* ---- both laws side by side --------------------------------------------------------------- */

/* One law: what its row holds, and from there on by doubles. */
typedef struct reader {
    const cellar_law_row *row;
    cellar_law_row own;
    size_t at; /* in the row */
    cellar_run_quick run;
    double p; /* the number it stands at, times 2^(BITS exponent) */
    int exponent;
    double below; /* no less than what lies below the number it started with */
} reader;

/* A row that ends has nothing to go on from, and one that does not start at 0 is not held for that:
 * a new one is made, up to numbers that are told. */
static int reader_open(reader *r, const cellar_pair *pair, int64_t count)
{
    *r = (reader){.row = cellar_pair_cache_words(pair->cache, pair->m, count, 0)};
    if (r->row != NULL && !r->row->has_ended && !(r->row->untold > 0))
        return 1;
    r->row = &r->own;
    if (!pair->m->ops->law_row(pair->m, count, &r->own))
        return 0;
    while (!(r->own.p[r->own.n - 1].high > 0))
        if (!cellar_law_row_reach(&r->own, r->own.first + (int64_t) r->own.n))
            return 0;
    return !r->own.has_ended;
}

/* The first number that is told. */
static int64_t reader_first(const reader *r)
{
    size_t i = 0;
    while (!(r->row->p[i].high > 0))
        i++;
    return r->row->first + (int64_t) i;
}

static int reader_start(reader *r, int64_t b)
{
    const double more = 1 + 0x1p-40;
    if (r->row == &r->own && !cellar_law_row_reach(&r->own, b))
        return 0;
    r->at = (size_t) (b - r->row->first);
    if (r->at >= r->row->n || !cellar_run_quick_start(&r->run, &r->row->run))
        return 0;
    r->p = r->row->p[r->at].high;
    r->below = r->row->before + r->row->untold;
    r->below += r->at > 0 ? r->row->below[r->at - 1].high * more : 0;
    return 1;
}

CELLAR_DWORD_INLINE void reader_next(reader *r, cellar_run_kind kind)
{
    if (++r->at < r->row->n) {
        r->p = r->row->p[r->at].high;
        return;
    }
    if (r->at > r->row->n)
        cellar_run_quick_step(&r->run, kind);
    r->p = r->run.p;
    r->exponent = r->run.exponent;
}

/* ln of the ratio of two numbers, or sums of them, of the two laws. */
static double log_ratio(double larger, double smaller, int exponent)
{
    return log(larger / smaller) + exponent * (CELLAR_RUN_QUICK_BITS * M_LN2);
}

/* Both laws at the same number. */
typedef struct pass {
    reader larger, smaller;
    int64_t b;
} pass;

/* The number of the larger count as it is. */
CELLAR_DWORD_INLINE double pass_value(const pass *w)
{
    return w->larger.exponent == 0   ? w->larger.p
           : w->larger.exponent == 1 ? w->larger.p * 0x1p-512
                                     : 0;
}

static double pass_edge(const pass *w)
{
    return log_ratio(w->larger.p, w->smaller.p, w->smaller.exponent - w->larger.exponent);
}

/* The next `size` numbers: what the larger count has there, and answers ln of the ratio. */
CELLAR_DWORD_INLINE double pass_block(pass *w, cellar_run_kind kind, int64_t size, double *mass)
{
    int exponent = w->smaller.exponent; /* of the sum of the smaller one */
    double smaller = 0;
    *mass = 0;
    for (int64_t i = 0; i < size; i++) {
        if (w->smaller.exponent > exponent) {
            smaller *= 0x1p512;
            exponent++;
        }
        *mass += pass_value(w);
        smaller += w->smaller.p;
        reader_next(&w->larger, kind);
        reader_next(&w->smaller, kind);
    }
    w->b += size;
    return log_ratio(*mass, smaller, exponent);
}

/* 1 when no more than `tail` lies from b on, or nothing that can be told. */
static int pass_is_done(const pass *w, double tail, double *above)
{
    double p = pass_value(w) * (1 + cellar_run_quick_error(&w->larger.run));
    if (p > tail && p > LEAST && w->b < CELLAR_BLOCKS_NUMBERS_MAX)
        return 0;
    *above = (p + cellar_law_row_rest(w->larger.row, w->b, p)) * (1 + 0x1p-40) + 1e-307;
    return *above <= tail || p <= LEAST || w->b >= CELLAR_BLOCKS_NUMBERS_MAX;
}

/* Blocks grow while their edges are close, and shrink when they are not: by how large losses are,
 * and how far they usually reach. */
CELLAR_DWORD_INLINE int blocks_fill(cellar_blocks *blocks, pass *w, cellar_run_kind kind,
                                    double reach)
{
    int64_t size = 1, largest = 1;
    double edge = pass_edge(w);
    while (!pass_is_done(w, blocks->tail, &blocks->above)) {
        double first = edge, target = (fabs(edge) + reach) / BLOCKS_WANTED, step, loss;
        if (!blocks_grow(blocks))
            return 0;
        loss = pass_block(w, kind, size, &blocks->mass[blocks->n]);
        edge = pass_edge(w);
        step = fabs(edge - first);
        blocks->edge[blocks->n] = first;
        blocks->edge[blocks->n + 1] = edge;
        blocks->loss[blocks->n++] =
            size == 1 ? first : fmax(fmin(first, edge), fmin(loss, fmax(first, edge)));
        if (size > 1)
            blocks->widest = fmax(blocks->widest, step);
        largest = size > largest ? size : largest;
        if (step < target / 2)
            size *= 2;
        else if (step > target && size > 1)
            size /= 2;
    }
    blocks->n_numbers = w->b;
    blocks->error = cellar_run_quick_error(&w->larger.run) +
                    cellar_run_quick_error(&w->smaller.run) + (double) largest * 0x1p-52;
    return blocks->n > 0 && isfinite(blocks->above);
}

/* ---- making ------------------------------------------------------------------------------- */

/* How far losses reach, but for 1e-12 of the law. */
static double usual_reach(const cellar_blocks *blocks)
{
    const double usual = 1e-12;
    const cellar_mechanism *m = blocks->m;
    int64_t low, high;
    m->ops->support(m, blocks->larger, fmax(usual, blocks->tail), &low, &high);
    high = high < CELLAR_BLOCKS_NUMBERS_MAX ? high : CELLAR_BLOCKS_NUMBERS_MAX;
    return m->ops->log_pmf(m, blocks->larger, high) - m->ops->log_pmf(m, blocks->smaller, high) -
           m->ops->log_pmf(m, blocks->larger, low) + m->ops->log_pmf(m, blocks->smaller, low);
}

/* From the first number on that both laws tell. */
static int pass_init(pass *w, const cellar_blocks *blocks, const cellar_pair *pair)
{
    if (!reader_open(&w->smaller, pair, blocks->smaller) ||
        !reader_open(&w->larger, pair, blocks->larger) || w->smaller.row == w->larger.row)
        return 0;
    w->b = reader_first(&w->larger);
    w->b = w->b > reader_first(&w->smaller) ? w->b : reader_first(&w->smaller);
    return reader_start(&w->smaller, w->b) && reader_start(&w->larger, w->b);
}

static int blocks_make(cellar_blocks *blocks, const cellar_pair *pair)
{
    pass w = {0};
    double reach = usual_reach(blocks);
    int is_made = isfinite(reach) && pass_init(&w, blocks, pair);
    blocks->below_larger = w.larger.below;
    blocks->below_smaller = w.smaller.below;
    if (is_made && w.larger.run.kind == CELLAR_RUN_PAIRED)
        is_made = blocks_fill(blocks, &w, CELLAR_RUN_PAIRED, reach);
    else if (is_made && w.larger.run.kind == CELLAR_RUN_FADING)
        is_made = blocks_fill(blocks, &w, CELLAR_RUN_FADING, reach);
    else if (is_made)
        is_made = blocks_fill(blocks, &w, CELLAR_RUN_SIMPLE, reach);
    cellar_law_row_clear(&w.smaller.own);
    cellar_law_row_clear(&w.larger.own);
    return is_made;
}

/* About what that took, and what is made of them will take. */
static double blocks_cost(const cellar_blocks *blocks)
{
    const double number = 0.006, block = 0.1;
    return number * (double) blocks->n_numbers + block * (double) blocks->n;
}

const cellar_blocks *cellar_blocks_of(const cellar_pair *pair, double tail)
{
    int rising = pair->count[0] > pair->count[1];
    int64_t smaller = pair->count[rising], larger = pair->count[!rising];
    cellar_blocks_store *store = cellar_pair_cache_blocks(pair->cache);
    cellar_blocks *blocks = store->items;
    for (size_t i = 0; i < CELLAR_BLOCKS_KEPT; i++) {
        cellar_blocks *other = &store->items[i];
        if (other->m == pair->m && other->smaller == smaller && other->larger == larger) {
            blocks = other;
            break;
        }
        if (other->used < blocks->used)
            blocks = other;
    }
    if (blocks->m != pair->m || blocks->smaller != smaller || blocks->larger != larger ||
        blocks->tail > tail) {
        blocks_clear(blocks);
        *blocks = (cellar_blocks){
            .m = pair->m, .smaller = smaller, .larger = larger, .tail = tail, .above = INFINITY};
        if (!blocks_make(blocks, pair))
            blocks->above = INFINITY;
        cellar_work_add(cellar_pair_cache_work(pair->cache), blocks_cost(blocks));
        if (blocks->above > tail)
            blocks->tail = 0; /* they go no further */
    }
    blocks->used = ++store->n_asked;
    return isfinite(blocks->above) ? blocks : NULL;
}
