/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact draws from a matrix: the thresholds of the count's row, all of them compared each time, so
 * that time and memory access depend on the count but not on what is drawn. */
#include "mechanism/matrix.h"

#include "base/error.h"
#include "base/memory.h"
#include "random/secret.h"

enum { BLOCK_CELLS = 256, CELL_BYTES = 12 }; /* 96 bits a cell, whatever its row */

void cellar_matrix_mechanism_init(cellar_mechanism *m, cellar_matrix *matrix)
{
    cellar_matrix_mechanism *mm = (cellar_matrix_mechanism *) m;
    mm->matrix = matrix;
    pthread_mutex_init(&mm->lock, NULL);
}

void cellar_matrix_mechanism_clear(cellar_mechanism *m)
{
    cellar_matrix_mechanism *mm = (cellar_matrix_mechanism *) m;
    if (mm->matrix == NULL)
        return; /* init failed before there was one */
    for (size_t r = 0; mm->thresholds != NULL && r < mm->matrix->n_rows; r++)
        cellar_thresholds_clear(&mm->thresholds[r]);
    cellar_free(mm->thresholds);
    pthread_mutex_destroy(&mm->lock);
    cellar_matrix_free(mm->matrix);
}

static void row_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_matrix_law *law = context;
    for (size_t i = 0; i < n; i++)
        arb_set_fmpq(out + i, law->cdf + (size_t) first + i, bits);
}

static cellar_status thresholds_make(const cellar_matrix *matrix, cellar_thresholds **out,
                                     cellar_error *err)
{
    cellar_thresholds *thresholds = cellar_alloc(matrix->n_rows, sizeof *thresholds);
    cellar_status status = CELLAR_OK;
    size_t r = 0;
    if (thresholds == NULL)
        return cellar_fail_memory(err, "the thresholds of a sampler");
    for (; status == CELLAR_OK && r < matrix->n_rows; r++) {
        const cellar_matrix_law *row = &matrix->rows[r].law;
        cellar_law law = {row_cdf_balls, row, (int64_t) row->n - 1};
        status = cellar_thresholds_init(&thresholds[r], law, row->n, err);
    }
    if (status == CELLAR_OK) {
        *out = thresholds;
        return CELLAR_OK;
    }
    while (r-- > 0)
        cellar_thresholds_clear(&thresholds[r]);
    cellar_free(thresholds);
    return status;
}

/* The same number on every machine; compilers make one load of it. */
static uint64_t load_little_endian(const unsigned char *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value |= (uint64_t) bytes[i] << (8 * i);
    return value;
}

static cellar_status cell_draw(const cellar_matrix *matrix, const cellar_thresholds *thresholds,
                               const unsigned char *bytes, int64_t count, cellar_rng *rng,
                               int64_t *released, cellar_error *err)
{
    size_t row = cellar_matrix_row_of(matrix, count);
    const cellar_matrix_law *law = &matrix->rows[row].law;
    const cellar_thresholds *t = &thresholds[row];
    uint64_t low = load_little_endian(bytes, 8);
    uint32_t high = (uint32_t) load_little_endian(bytes + 8, 4), tie;
    int64_t change = 0, index = cellar_thresholds_decide(t, high, low, &tie);

    CELLAR_DECLASSIFY(tie); /* a chance of 2^-96 for each threshold */
    if (tie != 0) {
        cellar_status status = cellar_thresholds_resolve(t, high, low, rng, &index, err);
        if (status != CELLAR_OK)
            return status;
    }
    for (size_t i = 0; i < law->n; i++) /* no index that depends on what was drawn */
        change |= law->changes[i] & -(int64_t) ((int64_t) i == index);
    *released = count + change;
    return CELLAR_OK;
}

cellar_status cellar_matrix_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, cellar_error *err)
{
    /* what is made at the first draw is no part of the law */
    cellar_matrix_mechanism *mm = (cellar_matrix_mechanism *) (uintptr_t) m;
    unsigned char bytes[BLOCK_CELLS * CELL_BYTES];
    cellar_status status = CELLAR_OK;

    pthread_mutex_lock(&mm->lock);
    if (mm->thresholds == NULL)
        status = thresholds_make(mm->matrix, &mm->thresholds, err);
    pthread_mutex_unlock(&mm->lock);
    for (size_t first = 0; status == CELLAR_OK && first < n; first += BLOCK_CELLS) {
        size_t n_block = n - first < BLOCK_CELLS ? n - first : BLOCK_CELLS;
        status = cellar_rng_bytes(rng, bytes, n_block * CELL_BYTES, err);
        for (size_t i = 0; status == CELLAR_OK && i < n_block; i++)
            status = cell_draw(mm->matrix, mm->thresholds, bytes + i * CELL_BYTES,
                               counts[first + i], rng, &released[first + i], err);
    }
    cellar_wipe(bytes, sizeof bytes);
    return status;
}
