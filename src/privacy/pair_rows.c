/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta is no more than the sum of max(0, (1 + e) P(b) - e^epsilon (1 - e) Q(b)), numbers being
 * right to e of themselves, and what P has elsewhere. Blocks in which all terms are positive, or
 * none is, need not be looked at again. */
#include "privacy/pair_rows.h"

#include <math.h>

#include "base/memory.h"
#include "privacy/atoms_store.h"

enum { BLOCK = 512 };
static const double NUMBER_COST = 0.012, TERM_COST = 0.002; /* us (work.h) */
static const double ROUNDING = 1e-11;                       /* of sums, products and e^epsilon */

void cellar_pair_rows_clear(cellar_pair_rows *rows)
{
    cellar_free(rows->p[0]);
    cellar_free(rows->blocks);
    *rows = (cellar_pair_rows){0};
}

/* ---- making ---------------------------------------------------------------------------- */

static cellar_rows_block block_of(const cellar_pair_rows *rows, size_t from, size_t to)
{
    cellar_rows_block block = {.least = INFINITY, .most = 0};
    for (size_t b = from; b < to; b++) {
        const double p = rows->p[0][b], q = rows->p[1][b];
        const double ratio = p > 0 ? q / p : INFINITY;
        block.mass[0] += p;
        block.mass[1] += q;
        if (p > 0 || q > 0) {
            block.least = fmin(block.least, ratio);
            block.most = fmax(block.most, ratio);
        }
    }
    return block;
}

/* 0 when memory ends. */
static int rows_fill(cellar_pair_rows *rows)
{
    const cellar_facts *facts = rows->m->ops->facts;
    rows->n_blocks = (rows->n + BLOCK - 1) / BLOCK;
    rows->p[0] = cellar_alloc(2 * rows->n, sizeof *rows->p[0]);
    rows->blocks = cellar_alloc(rows->n_blocks, sizeof *rows->blocks);
    if (rows->p[0] == NULL || rows->blocks == NULL)
        return 0;
    rows->p[1] = rows->p[0] + rows->n;
    for (int i = 0; i < 2; i++) {
        double error;
        rows->outside[i] =
            facts->fill(rows->m, rows->count + i * rows->shift, 0, rows->n, rows->p[i], &error) +
            (double) rows->n * CELLAR_FILL_LEAST;
        rows->error = fmax(rows->error, error);
    }
    for (size_t k = 0; k < rows->n_blocks; k++)
        rows->blocks[k] =
            block_of(rows, k * BLOCK, k + 1 < rows->n_blocks ? (k + 1) * BLOCK : rows->n);
    for (size_t b = 0; b < rows->n; b++)
        for (int i = 0; i < 2; i++)
            rows->blind[i] += rows->p[!i][b] > 0 ? 0 : rows->p[i][b];
    return 1;
}

/* The rows of that pair, as far as deltas of the size `enough` take; NULL where that is too far. */
static const cellar_pair_rows *rows_make(cellar_pair_cache *cache, const cellar_mechanism *m,
                                         int64_t count, int64_t shift, double enough,
                                         double numbers)
{
    const double part = 1e-9, least = 1e-275, much = 1.3;
    cellar_pair_rows *rows = cellar_pair_cache_doubles(cache);
    const double tail = part * enough;
    double n;
    if (m->ops->facts->length == NULL || tail < least)
        return NULL;
    n = fmax(m->ops->facts->length(m, count, tail), m->ops->facts->length(m, count + shift, tail));
    if (!(n < much * numbers))
        return NULL;
    cellar_pair_rows_clear(rows);
    *rows = (cellar_pair_rows){
        .m = m, .count = count, .shift = shift, .tail = tail, .n = (size_t) n + 1};
    cellar_work_add(cellar_pair_cache_work(cache), NUMBER_COST * n);
    if (rows_fill(rows))
        return rows;
    cellar_pair_rows_clear(rows);
    cellar_pair_cache_atoms(cache)->is_short = 1;
    return NULL;
}

static const cellar_pair_rows *rows_find(cellar_pair_cache *cache, const cellar_mechanism *m,
                                         int64_t count, int64_t shift, double enough,
                                         double numbers)
{
    const double visible = 1e-6;
    const cellar_pair_rows *rows = cellar_pair_cache_doubles(cache);
    const int is_held = rows->m == m && rows->count == count && rows->shift == shift;
    if (is_held && (enough <= 0 || rows->tail <= visible * enough))
        return rows;
    return enough > 0 ? rows_make(cache, m, count, shift, enough, numbers) : NULL;
}

/* ---- asking ---------------------------------------------------------------------------- */

/* P the larger count's, or the smaller one's, and numbers that count times these factors. */
typedef struct question {
    const cellar_pair_rows *rows;
    int larger;
    double up, down; /* 1 + e, and e^epsilon (1 - e) */
    double sum, mass;
} question;

static void question_block(question *a, size_t k)
{
    const cellar_pair_rows *rows = a->rows;
    const double *p = rows->p[a->larger], *q = rows->p[!a->larger];
    const size_t end = k + 1 < rows->n_blocks ? (k + 1) * BLOCK : rows->n;
    for (size_t b = k * BLOCK; b < end; b++) {
        const double term = a->up * p[b] - a->down * q[b];
        if (term > 0) {
            a->sum += term;
            a->mass += p[b];
        }
    }
}

/* Terms are positive where the ratio, or its inverse, exceeds down/up. Answers how many blocks had
 * to be looked at. */
static size_t question_ask(question *a)
{
    const double slack = 1e-12, level = a->down / a->up;
    size_t looked = 0;
    for (size_t k = 0; k < a->rows->n_blocks; k++) {
        const cellar_rows_block *block = &a->rows->blocks[k];
        const double least = a->larger ? block->least : 1 / block->most;
        const double most = a->larger ? block->most : 1 / block->least;
        if (most < level * (1 - slack) || block->least > block->most)
            continue;
        if (least > level * (1 + slack)) {
            a->sum += a->up * block->mass[a->larger] - a->down * block->mass[!a->larger];
            a->mass += block->mass[a->larger];
        } else {
            question_block(a, k);
            looked++;
        }
    }
    return looked;
}

int cellar_pair_rows_quick(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                           int64_t shift, double epsilon, double enough, double numbers,
                           cellar_quick *out)
{
    const double visible = 1e-6, epsilon_max = 600;
    const cellar_pair_rows *rows;
    double error, size = enough;
    size_t looked = 0;
    *out = (cellar_quick){.numbers = 0};
    if (cache == NULL || !(epsilon >= 0 && epsilon < epsilon_max))
        return 0;
    rows = rows_find(cache, m, count, shift, enough, numbers);
    if (rows == NULL || rows->error > visible)
        return 0;
    out->numbers = (double) rows->n;
    error = rows->error + ROUNDING;
    for (int larger = 0; larger < 2; larger++) {
        question a = {.rows = rows, .larger = larger, .up = 1 + error};
        a.down = exp(epsilon) * (1 - error);
        looked += question_ask(&a);
        out->delta[larger] = a.sum * (1 + ROUNDING) + rows->outside[larger];
        out->violation[larger] = a.mass * (1 + error) + rows->outside[larger];
        out->rest = fmax(out->rest, rows->outside[larger] + rows->blind[larger]);
        size = fmax(size, out->delta[larger]);
    }
    cellar_work_add(cellar_pair_cache_work(cache),
                    TERM_COST * (double) (looked * BLOCK + rows->n_blocks));
    return out->rest <= visible * size;
}
