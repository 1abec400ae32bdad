/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact draws from a matrix: 64 bits are compared with all thresholds of the count's row, and the
 * steps of those below are summed, so that time and memory access depend on the count but not on
 * what is drawn. Bits that equal those of a threshold (a chance of 2^-64 each) decide nothing;
 * more are drawn, as many as it takes. */
#include "mechanism/matrix/matrix.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/secret.h"

enum { BLOCK_CELLS = 256, CELL_BYTES = 8, BITS = 64 }; /* the same for every row */

/* From the change before to the one after a threshold: the first 64 bits of it, such that
 * cell < 2^64 t <= cell + 1. */
typedef struct row_step {
    uint64_t cell;
    int64_t change;
} row_step;

typedef struct row_sampler {
    int64_t first; /* the change before all thresholds */
    const row_step *steps;
    size_t n_steps;
    cellar_law law;
} row_sampler;

struct cellar_matrix_sampler {
    pthread_mutex_t lock;
    row_sampler *rows; /* NULL until the first draw */
    row_step *steps;   /* of all rows */
};

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_matrix_mechanism_init(cellar_mechanism *m, cellar_matrix *matrix,
                                           cellar_error *err)
{
    cellar_matrix_mechanism *mm = (cellar_matrix_mechanism *) m;
    mm->sampler = cellar_alloc(1, sizeof *mm->sampler);
    if (mm->sampler == NULL) {
        cellar_matrix_free(matrix);
        return cellar_fail_memory(err, "a mechanism");
    }
    mm->matrix = matrix;
    pthread_mutex_init(&mm->sampler->lock, NULL);
    return CELLAR_OK;
}

void cellar_matrix_mechanism_clear(cellar_mechanism *m)
{
    cellar_matrix_mechanism *mm = (cellar_matrix_mechanism *) m;
    if (mm->matrix == NULL)
        return; /* init failed before there was one */
    cellar_free(mm->sampler->rows);
    cellar_free(mm->sampler->steps);
    pthread_mutex_destroy(&mm->sampler->lock);
    cellar_free(mm->sampler);
    cellar_matrix_free(mm->matrix);
}

static void row_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_matrix_law *law = context;
    for (size_t i = 0; i < n; i++)
        arb_set_fmpq(out + i, law->cdf + (size_t) first + i, bits);
}

/* ceil(2^64 t) - 1, for 0 < t < 1: exact, as t is rational. */
static uint64_t threshold_cell(const fmpq_t t)
{
    uint64_t cell;
    fmpz_t scaled;
    fmpz_init(scaled);
    fmpz_mul_2exp(scaled, fmpq_numref(t), BITS);
    fmpz_cdiv_q(scaled, scaled, fmpq_denref(t));
    fmpz_sub_ui(scaled, scaled, 1);
    cell = fmpz_get_ui(scaled);
    fmpz_clear(scaled);
    return cell;
}

static cellar_status sampler_make(const cellar_matrix *matrix, struct cellar_matrix_sampler *s,
                                  cellar_error *err)
{
    row_sampler *rows = cellar_alloc(matrix->n_rows, sizeof *rows);
    row_step *steps;
    size_t n = 0;
    for (size_t r = 0; r < matrix->n_rows; r++)
        n += matrix->rows[r].law.n - 1;
    steps = cellar_alloc(n, sizeof *steps);
    if (rows == NULL || steps == NULL) {
        cellar_free(rows);
        cellar_free(steps);
        return cellar_fail_memory(err, "the thresholds of a sampler");
    }
    n = 0;
    for (size_t r = 0; r < matrix->n_rows; r++) {
        const cellar_matrix_law *law = &matrix->rows[r].law;
        rows[r] = (row_sampler){
            law->changes[0], steps + n, law->n - 1, {row_cdf_balls, law, (int64_t) law->n - 1}};
        for (size_t i = 0; i + 1 < law->n; i++)
            steps[n++] =
                (row_step){threshold_cell(law->cdf + i), law->changes[i + 1] - law->changes[i]};
    }
    s->rows = rows;
    s->steps = steps;
    return CELLAR_OK;
}

/* ---- drawing --------------------------------------------------------------- */

/* The same number on every machine; compilers make one load of it. */
static uint64_t load_little_endian(const unsigned char *bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < CELL_BYTES; i++)
        value |= (uint64_t) bytes[i] << (8 * i);
    return value;
}

/* The change of bits that equal a threshold's, followed by more from `rng`. */
static cellar_status row_resolve(const row_sampler *row, uint64_t bits, cellar_rng *rng,
                                 int64_t *change, cellar_error *err)
{
    const cellar_matrix_law *law = row->law.context;
    cellar_status status;
    int64_t index;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, bits);
    status = cellar_law_draw(&row->law, prefix, BITS, rng, &index, err);
    fmpz_clear(prefix);
    if (status == CELLAR_OK)
        *change = law->changes[index];
    return status;
}

static cellar_status row_draw(const row_sampler *row, uint64_t bits, cellar_rng *rng,
                              int64_t *change, cellar_error *err)
{
    int64_t sum = row->first;
    uint64_t tie = 0;
    for (size_t i = 0; i < row->n_steps; i++) {
        sum += row->steps[i].change & -(int64_t) (bits > row->steps[i].cell);
        tie |= bits == row->steps[i].cell;
    }
    *change = sum;
    CELLAR_DECLASSIFY(tie);
    return tie != 0 ? row_resolve(row, bits, rng, change, err) : CELLAR_OK;
}

cellar_status cellar_matrix_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, cellar_error *err)
{
    const cellar_matrix *matrix = ((const cellar_matrix_mechanism *) m)->matrix;
    struct cellar_matrix_sampler *sampler = ((const cellar_matrix_mechanism *) m)->sampler;
    unsigned char bytes[BLOCK_CELLS * CELL_BYTES];
    cellar_status status = CELLAR_OK;

    pthread_mutex_lock(&sampler->lock);
    if (sampler->rows == NULL)
        status = sampler_make(matrix, sampler, err);
    pthread_mutex_unlock(&sampler->lock);
    for (size_t first = 0; status == CELLAR_OK && first < n; first += BLOCK_CELLS) {
        size_t n_block = n - first < BLOCK_CELLS ? n - first : BLOCK_CELLS;
        status = cellar_rng_bytes(rng, bytes, n_block * CELL_BYTES, err);
        for (size_t i = 0; status == CELLAR_OK && i < n_block; i++) {
            int64_t count = counts[first + i], change = 0;
            const row_sampler *row = &sampler->rows[cellar_matrix_row_of(matrix, count)];
            status = row_draw(row, load_little_endian(bytes + i * CELL_BYTES), rng, &change, err);
            released[first + i] = count + change;
        }
    }
    cellar_wipe(bytes, sizeof bytes);
    return status;
}
