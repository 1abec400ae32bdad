/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/kernel_sampler.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/kernels/kernel_row.h"

enum {
    N_DIRECT = 1024,
    BLOCK = CELLAR_INVERSE_BLOCK,
    BITS_BLOCK = 512, /* cells whose bits are drawn together, before those of wide distributions */
    KEPT_MAX = 1 << 25, /* thresholds kept in all: 384 MiB; beyond, tables are made for each draw */
};

typedef cellar_kernel_row row;

/* Rows of small counts lie in an array, those of others in a table of open addresses. */
struct cellar_kernel_sampler {
    pthread_rwlock_t lock;
    row *direct[N_DIRECT];
    row **slots;
    size_t n_slots, n_rows; /* n_slots is 0 or a power of two at least twice n_rows */
    size_t n_kept, kept_max;
};

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_kernel_sampler_create(cellar_kernel_sampler **out, cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    pthread_rwlock_init(&(*out)->lock, NULL);
    (*out)->kept_max = KEPT_MAX;
    return CELLAR_OK;
}

void cellar_kernel_sampler_free(cellar_kernel_sampler *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < N_DIRECT; i++)
        cellar_kernel_row_free(s->direct[i]);
    for (size_t i = 0; i < s->n_slots; i++)
        cellar_kernel_row_free(s->slots[i]);
    cellar_free(s->slots);
    pthread_rwlock_destroy(&s->lock);
    cellar_free(s);
}

void cellar_kernel_sampler_keep(cellar_kernel_sampler *s, size_t n_thresholds)
{
    s->kept_max = n_thresholds;
}

/* ---- rows ------------------------------------------------------------------ */

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

/* Takes the row, unless another thread has brought one in the meantime. The lock is held. */
static cellar_status sampler_insert(cellar_kernel_sampler *s, row **given, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    row *r = *given;
    size_t n = r->has_table ? cellar_inverse_n_thresholds(r->inverse) : 0;

    if (sampler_find(s, r->count) != NULL)
        return CELLAR_OK;
    if (r->count >= N_DIRECT) {
        CELLAR_TRY(sampler_grow(s, err));
        *sampler_slot(s, r->count) = r;
        s->n_rows++;
    } else {
        s->direct[r->count] = r;
    }
    *given = NULL;
    if (r->has_table && s->n_kept + n > s->kept_max) {
        cellar_inverse_free(r->inverse);
        r->inverse = NULL;
    } else {
        s->n_kept += n;
    }
out:
    return status;
}

/* Makes the row of a count if it is missing. It is made without the lock, so that threads make
 * rows side by side. */
static cellar_status sampler_add(cellar_kernel_sampler *s, const cellar_kernel *k, int64_t count,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    row *r = NULL;
    int is_known;

    pthread_rwlock_rdlock(&s->lock);
    is_known = sampler_find(s, count) != NULL;
    pthread_rwlock_unlock(&s->lock);
    if (is_known)
        return CELLAR_OK;
    CELLAR_TRY(cellar_kernel_row_create(k, count, &r, err));
    pthread_rwlock_wrlock(&s->lock);
    status = sampler_insert(s, &r, err);
    pthread_rwlock_unlock(&s->lock);
out:
    cellar_kernel_row_free(r);
    return status;
}

/* ---- drawing --------------------------------------------------------------- */

/* The cells of a block that 64 bits decide. */
typedef struct block {
    const row **rows;
    size_t *cells; /* those with tables */
    const cellar_inverse **laws;
    int64_t *bits, *values;
    size_t n_tables;
} block;

/* Room for n cells, not cleared. */
static cellar_status block_init(block *b, size_t n, cellar_error *err)
{
    *b = (block){.bits = cellar_realloc(NULL, n + 1, 5 * sizeof *b->bits)};
    if (b->bits == NULL)
        return cellar_fail_memory(err, "a sampler");
    b->values = b->bits + n;
    b->cells = (size_t *) (b->values + n);
    b->rows = (const row **) (b->cells + n);
    b->laws = (const cellar_inverse **) (b->rows + n);
    return CELLAR_OK;
}

/* Decides by a table made for this cell alone. */
static cellar_status decide_dropped(const row *r, const int64_t *bits, cellar_rng *rng,
                                    int64_t *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_inverse *table;
    const cellar_inverse *law;
    CELLAR_TRY(cellar_kernel_row_table(r, &table, err));
    law = table;
    status = cellar_inverse_decide_many(&law, 1, bits, CELLAR_INVERSE_BEST, rng, value, err);
    cellar_inverse_free(table);
out:
    return status;
}

/* Stretches of cells whose tables are kept, and between them those whose tables are not. */
static cellar_status block_decide(block *b, cellar_rng *rng, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0, end; i < b->n_tables; i = end) {
        for (end = i; end < b->n_tables && b->laws[end] != NULL;)
            end++;
        if (end > i) {
            CELLAR_TRY(cellar_inverse_decide_many(b->laws + i, end - i, b->bits + i,
                                                  CELLAR_INVERSE_BEST, rng, b->values + i, err));
        } else {
            CELLAR_TRY(decide_dropped(b->rows[b->cells[i]], b->bits + i, rng, b->values + i, err));
            end++;
        }
    }
out:
    return status;
}

/* The bits of cells first..end-1 with tables, and what is drawn for the others. */
static cellar_status block_take_bits(block *b, size_t first, size_t end, cellar_rng *rng,
                                     int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t old = b->n_tables, n;

    for (size_t i = first; i < end; i++) {
        b->cells[b->n_tables] = i;
        b->laws[b->n_tables] = b->rows[i]->inverse;
        b->n_tables += b->rows[i]->has_table != 0;
    }
    n = b->n_tables - old;
    CELLAR_TRY(cellar_rng_bytes(rng, b->bits + old, n * sizeof *b->bits, err));
    for (size_t i = first; n < end - first && i < end; i++)
        if (!b->rows[i]->has_table)
            CELLAR_TRY(cellar_kernel_row_draw_wide(b->rows[i], rng, &released[i], err));
out:
    return status;
}

/* One block, all of whose rows are there. */
static cellar_status block_draw(block *b, size_t n, cellar_rng *rng, int64_t *released,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    b->n_tables = 0;
    for (size_t i = 0; i < n; i += BITS_BLOCK)
        CELLAR_TRY(
            block_take_bits(b, i, n - i < BITS_BLOCK ? n : i + BITS_BLOCK, rng, released, err));
    CELLAR_TRY(block_decide(b, rng, err));
    for (size_t i = 0; i < b->n_tables; i++)
        released[b->cells[i]] = b->values[i];
out:
    cellar_wipe(b->bits, n * sizeof *b->bits);
    cellar_wipe(b->values, n * sizeof *b->values);
    return status;
}

/* Draws one block, or nothing when a row is missing (*is_drawn = 0). Rows are never taken away, so
 * the lock is needed only to find them. */
static cellar_status sampler_draw_block(cellar_kernel_sampler *s, block *b, const int64_t *counts,
                                        size_t n, cellar_rng *rng, int64_t *released, int *is_drawn,
                                        cellar_error *err)
{
    *is_drawn = 1;
    pthread_rwlock_rdlock(&s->lock);
    for (size_t i = 0; i < n && *is_drawn; i++) {
        b->rows[i] = sampler_find(s, counts[i]);
        *is_drawn = b->rows[i] != NULL;
    }
    pthread_rwlock_unlock(&s->lock);
    return *is_drawn ? block_draw(b, n, rng, released, err) : CELLAR_OK;
}

cellar_status cellar_kernel_sampler_draw(cellar_kernel_sampler *s, const cellar_kernel *k,
                                         const int64_t *counts, size_t n, cellar_rng *rng,
                                         int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    block b;

    CELLAR_TRY(block_init(&b, n < BLOCK ? n : BLOCK, err));
    for (size_t i = 0; i < n;) {
        size_t n_block = n - i < BLOCK ? n - i : BLOCK;
        int is_drawn;
        CELLAR_TRY(
            sampler_draw_block(s, &b, counts + i, n_block, rng, released + i, &is_drawn, err));
        if (is_drawn)
            i += n_block;
        else
            for (size_t j = i; j < i + n_block; j++)
                CELLAR_TRY(sampler_add(s, k, counts[j], err));
    }
out:
    cellar_free(b.bits);
    return status;
}
