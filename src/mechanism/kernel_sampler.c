/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernel_sampler.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/kernel_cells.h"
#include "random/histogram.h"
#include "random/inverse.h"

enum { N_DIRECT = 1024, BLOCK = 512, THRESHOLDS_MAX = 1 << 16 };

/* The law of one count. */
typedef struct row {
    const cellar_kernel *k;
    int64_t count;
    cellar_inverse *inverse;     /* its table, */
    cellar_histogram *histogram; /* or, for a wide law, its histogram */
} row;

/* Rows of small counts lie in an array, those of others in a table of open addresses. */
struct cellar_kernel_sampler {
    pthread_rwlock_t lock;
    row *direct[N_DIRECT];
    row **slots;
    size_t n_slots, n_rows; /* n_slots is 0 or a power of two at least twice n_rows */
};

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_kernel_sampler_create(cellar_kernel_sampler **out, cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    pthread_rwlock_init(&(*out)->lock, NULL);
    return CELLAR_OK;
}

static void row_free(row *r)
{
    if (r == NULL)
        return;
    cellar_inverse_free(r->inverse);
    cellar_histogram_free(r->histogram);
    cellar_free(r);
}

void cellar_kernel_sampler_free(cellar_kernel_sampler *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < N_DIRECT; i++)
        row_free(s->direct[i]);
    for (size_t i = 0; i < s->n_slots; i++)
        row_free(s->slots[i]);
    cellar_free(s->slots);
    pthread_rwlock_destroy(&s->lock);
    cellar_free(s);
}

/* ---- rows ------------------------------------------------------------------ */

static void row_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const row *r = context;
    cellar_kernel_cdf_balls(r->k, r->count, first, n, bits, out);
}

static void row_p_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const row *r = context;
    r->k->law->p_balls(r->k, r->count, first, n, bits, out);
}

/* P(2c)/P(c) is a product of c ratios, each at most the bound at b: ln 4 < 3/2. */
static int row_settles(const void *context, int64_t b)
{
    const row *r = context;
    const cellar_count_law *law = r->k->law;
    if (law->settles != NULL)
        return law->settles(r->k, r->count, b);
    return (long double) b * (1 - law->ratio_bound(r->k, r->count, b)) >= 1.5L;
}

/* The table by a run, of at most n_max thresholds; none is made when that is not enough. */
static cellar_status row_make_fast(row *r, cellar_law law, size_t n_max, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_kernel_cells cells = {0};
    int found;
    CELLAR_TRY(cellar_kernel_cells_make(r->k, r->count, &law, n_max, &cells, &found, err));
    if (found)
        CELLAR_TRY(
            cellar_inverse_create_list(law, cells.first, cells.list, cells.n, &r->inverse, err));
out:
    cellar_kernel_cells_clear(&cells);
    return status;
}

/* A law of half the thresholds it may have is certainly narrow enough, and need not be asked how
 * far it reaches. */
static cellar_status row_make(row *r, cellar_error *err)
{
    const cellar_mechanism *m = &r->k->base;
    size_t n_max = r->k->law->thresholds_max > 0 ? r->k->law->thresholds_max : THRESHOLDS_MAX;
    cellar_law law = {row_cdf_balls, r, INT64_MAX};
    cellar_status status = row_make_fast(r, law, n_max / 2, err);
    int64_t low, high;
    if (status != CELLAR_OK || r->inverse != NULL)
        return status;
    m->ops->support(m, r->count, 0x1p-64, &low, &high);
    if ((uint64_t) (high - low) > n_max && r->k->law->thresholds_max == 0)
        return cellar_histogram_create((cellar_wide_law){row_p_balls, row_settles, r},
                                       &r->histogram, err);
    status = row_make_fast(r, law, 2 * n_max, err);
    if (status != CELLAR_OK || r->inverse != NULL)
        return status;
    return cellar_inverse_create(law, low > 0 ? low - 1 : 0, high, 2 * n_max, &r->inverse, err);
}

static cellar_status row_create(const cellar_kernel *k, int64_t count, row **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    row *r = cellar_alloc(1, sizeof *r);

    *out = NULL;
    if (r == NULL)
        return cellar_fail_memory(err, "a sampler");
    r->k = k;
    r->count = count;
    CELLAR_TRY(row_make(r, err));
    *out = r;
    r = NULL;
out:
    row_free(r);
    return status;
}

/* Where a count is, or would be. */
static row **sampler_slot(const cellar_kernel_sampler *s, int64_t count)
{
    size_t i = (size_t) ((uint64_t) count * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (s->n_slots - 1);
    while (s->slots[i] != NULL && s->slots[i]->count != count)
        i = (i + 1) & (s->n_slots - 1);
    return &s->slots[i];
}

static const row *sampler_find(const cellar_kernel_sampler *s, int64_t count)
{
    if (count < N_DIRECT)
        return s->direct[count];
    return s->n_slots > 0 ? *sampler_slot(s, count) : NULL;
}

static cellar_status sampler_grow(cellar_kernel_sampler *s, cellar_error *err)
{
    cellar_kernel_sampler old = *s;
    size_t n = s->n_slots == 0 ? 64 : 2 * s->n_slots;
    row **slots;
    if (2 * (s->n_rows + 1) <= s->n_slots)
        return CELLAR_OK;
    slots = cellar_alloc(n, sizeof *slots);
    if (slots == NULL)
        return cellar_fail_memory(err, "a sampler");
    s->slots = slots;
    s->n_slots = n;
    for (size_t i = 0; i < old.n_slots; i++)
        if (old.slots[i] != NULL)
            *sampler_slot(s, old.slots[i]->count) = old.slots[i];
    cellar_free(old.slots);
    return CELLAR_OK;
}

static cellar_status sampler_add(cellar_kernel_sampler *s, const cellar_kernel *k, int64_t count,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (sampler_find(s, count) != NULL)
        return CELLAR_OK;
    if (count < N_DIRECT)
        return row_create(k, count, &s->direct[count], err);
    CELLAR_TRY(sampler_grow(s, err));
    CELLAR_TRY(row_create(k, count, sampler_slot(s, count), err));
    s->n_rows++;
out:
    return status;
}

/* ---- drawing --------------------------------------------------------------- */

/* Makes the rows that are missing. */
static cellar_status sampler_prepare(cellar_kernel_sampler *s, const cellar_kernel *k,
                                     const int64_t *counts, size_t n, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    pthread_rwlock_wrlock(&s->lock);
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(sampler_add(s, k, counts[i], err));
out:
    pthread_rwlock_unlock(&s->lock);
    return status;
}

/* One block, all of whose rows are there: tables first, then histograms. */
static cellar_status block_draw(const row *const *rows, size_t n, cellar_rng *rng,
                                int64_t *released, cellar_error *err)
{
    const cellar_inverse *laws[BLOCK];
    int64_t values[BLOCK];
    size_t n_tables = 0;
    cellar_status status = CELLAR_OK;

    for (size_t i = 0; i < n; i++)
        if (rows[i]->inverse != NULL)
            laws[n_tables++] = rows[i]->inverse;
    CELLAR_TRY(cellar_inverse_draw_many(laws, n_tables, rng, values, err));
    for (size_t i = n; i-- > 0;)
        if (rows[i]->inverse != NULL)
            released[i] = values[--n_tables];
    for (size_t i = 0; i < n; i++)
        if (rows[i]->inverse == NULL)
            CELLAR_TRY(cellar_histogram_draw(rows[i]->histogram, rng, &released[i], err));
out:
    cellar_wipe(values, sizeof values);
    return status;
}

/* Draws for counts[0..], block by block, until one has a count without a row; *n_done says how far
 * it came. A whole block or nothing: the same bits whatever was known before. */
static cellar_status sampler_draw_known(cellar_kernel_sampler *s, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, size_t *n_done,
                                        cellar_error *err)
{
    const row *rows[BLOCK];
    cellar_status status = CELLAR_OK;

    *n_done = 0;
    pthread_rwlock_rdlock(&s->lock);
    while (*n_done < n) {
        size_t n_block = n - *n_done < BLOCK ? n - *n_done : BLOCK, n_known = 0;
        while (n_known < n_block &&
               (rows[n_known] = sampler_find(s, counts[*n_done + n_known])) != NULL)
            n_known++;
        if (n_known < n_block)
            break;
        CELLAR_TRY(block_draw(rows, n_block, rng, released + *n_done, err));
        *n_done += n_block;
    }
out:
    pthread_rwlock_unlock(&s->lock);
    return status;
}

cellar_status cellar_kernel_sampler_draw(cellar_kernel_sampler *s, const cellar_kernel *k,
                                         const int64_t *counts, size_t n, cellar_rng *rng,
                                         int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_done;

    while (n > 0) {
        CELLAR_TRY(sampler_draw_known(s, counts, n, rng, released, &n_done, err));
        counts += n_done;
        released += n_done;
        n -= n_done;
        if (n > 0)
            CELLAR_TRY(sampler_prepare(s, k, counts, n < BLOCK ? n : BLOCK, err));
    }
out:
    return status;
}
