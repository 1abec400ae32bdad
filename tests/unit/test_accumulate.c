/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dense and sparse counting agree with a plain count, while the codes grow under their feet. */
#include "check.h"
#include "fail_every.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "splitmix.h"
#include "table/counting/accumulate.h"
#include "table/counting/cellmap.h"

enum { N_LANES = 3, N_BATCHES = 40, BATCH = 700, LEVELS_A = 9, LEVELS_B = 14, RANGE = 4096 };

/* Rows whose codes grow from batch to batch, with weights and keys. */
typedef struct sample {
    int32_t a[N_BATCHES][BATCH], b[N_BATCHES][BATCH];
    cellar_int128 weight[N_BATCHES][BATCH];
    uint64_t key[N_BATCHES][BATCH];
    size_t n_codes[N_BATCHES][2];
    uint64_t count[LEVELS_A][LEVELS_B], keys[LEVELS_A][LEVELS_B];
    cellar_int128 weights[LEVELS_A][LEVELS_B];
} sample;

static void sample_make(sample *s, uint64_t seed)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < N_BATCHES; i++) {
        s->n_codes[i][0] = 1 + i * LEVELS_A / N_BATCHES;
        s->n_codes[i][1] = 1 + i * LEVELS_B / N_BATCHES;
        for (size_t r = 0; r < BATCH; r++) {
            int32_t a = (int32_t) (next_random(&seed) % s->n_codes[i][0]);
            int32_t b = (int32_t) (next_random(&seed) % s->n_codes[i][1]);
            s->a[i][r] = a;
            s->b[i][r] = b;
            s->weight[i][r] = (cellar_int128) (next_random(&seed) % 5000000000u);
            s->key[i][r] = next_random(&seed) % RANGE;
            s->count[a][b]++;
            s->weights[a][b] += s->weight[i][r];
            s->keys[a][b] = (s->keys[a][b] + s->key[i][r]) % RANGE;
        }
    }
    /* a count that is an exact multiple of 256 leaves its small counter at zero */
    while (s->count[0][0] % 256 != 0)
        for (size_t r = 0; r < BATCH && s->count[0][0] % 256 != 0; r++)
            if (s->a[N_BATCHES - 1][r] != 0 || s->b[N_BATCHES - 1][r] != 0) {
                int32_t a = s->a[N_BATCHES - 1][r], b = s->b[N_BATCHES - 1][r];
                s->count[a][b]--;
                s->weights[a][b] -= s->weight[N_BATCHES - 1][r];
                s->keys[a][b] = (s->keys[a][b] + RANGE - s->key[N_BATCHES - 1][r]) % RANGE;
                s->a[N_BATCHES - 1][r] = s->b[N_BATCHES - 1][r] = 0;
                s->count[0][0]++;
                s->weights[0][0] += s->weight[N_BATCHES - 1][r];
                s->keys[0][0] = (s->keys[0][0] + s->key[N_BATCHES - 1][r]) % RANGE;
            }
}

typedef struct adding {
    const sample *s;
    cellar_accumulator *accumulator;
    size_t n_rows; /* of each batch */
    size_t step;   /* from a batch to the next */
    int with_extras;
} adding;

static cellar_status add_lane(void *context, size_t first, size_t last, int lane, cellar_error *err)
{
    adding *work = context;
    for (size_t k = first; k < last; k++) {
        size_t i = k * work->step;
        const int32_t *codes[] = {work->s->a[i], work->s->b[i]};
        cellar_coded_rows rows = {.n = work->n_rows,
                                  .codes = codes,
                                  .n_codes = work->s->n_codes[i],
                                  .weights = work->with_extras ? work->s->weight[i] : NULL,
                                  .record_keys = work->with_extras ? work->s->key[i] : NULL};
        cellar_status status = cellar_accumulator_add(work->accumulator, lane, &rows, err);
        if (status != CELLAR_OK)
            return status;
    }
    return CELLAR_OK;
}

static void check_cells(const sample *s, const cellar_cells *cells, int with_extras)
{
    size_t n = 0;
    for (size_t a = 0; a < LEVELS_A; a++)
        for (size_t b = 0; b < LEVELS_B; b++)
            n += s->count[a][b] > 0;
    assert_int_equal(cells->n, n);
    for (size_t i = 0; i < cells->n; i++) {
        /* leaves were numbered backwards */
        size_t a = LEVELS_A - 1 - (size_t) cells->index[i] / LEVELS_B;
        size_t b = LEVELS_B - 1 - (size_t) cells->index[i] % LEVELS_B;
        assert_int_equal(cells->count[i], s->count[a][b]);
        if (with_extras) {
            assert_true(cells->weight[i] == s->weights[a][b]);
            assert_int_equal(cells->key[i], s->keys[a][b]);
        }
    }
}

static cellar_status run_sample(const sample *s, size_t n_rows, size_t step, int n_lanes,
                                uint64_t dense_limit, int with_extras, cellar_cells *cells,
                                cellar_error *err)
{
    cellar_accumulator_spec spec = {.n_variables = 2,
                                    .n_lanes = n_lanes,
                                    .weighted = with_extras,
                                    .key_range = with_extras ? RANGE : 0,
                                    .dense_limit = dense_limit};
    uint32_t a_leaf[LEVELS_A], b_leaf[LEVELS_B];
    const uint32_t *leaf_of[] = {a_leaf, b_leaf};
    const size_t n_codes[] = {LEVELS_A, LEVELS_B};
    const uint64_t stride[] = {LEVELS_B, 1};
    adding work = {.s = s, .n_rows = n_rows, .step = step, .with_extras = with_extras};
    cellar_pool *pool = NULL;
    cellar_status status;

    for (uint32_t i = 0; i < LEVELS_A; i++)
        a_leaf[i] = LEVELS_A - 1 - i;
    for (uint32_t i = 0; i < LEVELS_B; i++)
        b_leaf[i] = LEVELS_B - 1 - i;
    status = cellar_pool_create(n_lanes, &pool, err);
    if (status == CELLAR_OK)
        status = cellar_accumulator_create(&spec, &work.accumulator, err);
    if (status == CELLAR_OK)
        status = cellar_pool_for(pool, N_BATCHES / step, 1, add_lane, &work, err);
    if (status == CELLAR_OK)
        status = cellar_accumulator_cells(work.accumulator, leaf_of, n_codes, stride, cells, err);
    cellar_accumulator_free(work.accumulator);
    cellar_pool_free(pool);
    return status;
}

static void test_accumulate(void **state)
{
    static sample s;
    static const uint64_t limits[] = {0, 1, 30, LEVELS_A * LEVELS_B};
    (void) state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        sample_make(&s, seed);
        for (size_t l = 0; l < sizeof limits / sizeof *limits; l++)
            for (int extras = 0; extras <= 1; extras++) {
                cellar_cells cells = {0};
                cellar_error err;
                assert_int_equal(run_sample(&s, BATCH, 1, N_LANES, limits[l], extras, &cells, &err),
                                 CELLAR_OK);
                check_cells(&s, &cells, extras);
                cellar_cells_clear(&cells);
            }
    }
}

static void test_too_many_cells(void **state)
{
    enum { N = 8 };
    cellar_accumulator_spec spec = {.n_variables = N, .n_lanes = 1};
    cellar_accumulator *accumulator = NULL;
    int32_t code = 0;
    const int32_t *codes[N];
    size_t n_codes[N];
    cellar_coded_rows rows = {.n = 1, .codes = codes, .n_codes = n_codes};
    cellar_error err;
    (void) state;
    for (size_t v = 0; v < N; v++) {
        codes[v] = &code;
        n_codes[v] = 200; /* 200^8 is 2.6e18: below 2^63 */
    }
    assert_int_equal(cellar_accumulator_create(&spec, &accumulator, &err), CELLAR_OK);
    assert_int_equal(cellar_accumulator_add(accumulator, 0, &rows, &err), CELLAR_OK);
    for (size_t v = 0; v < N; v++)
        n_codes[v] = 300; /* 300^8 is 6.6e19 */
    assert_int_equal(cellar_accumulator_add(accumulator, 0, &rows, &err), CELLAR_ERR_OVERFLOW);
    cellar_accumulator_free(accumulator);
}

/* Few batches of few rows: they run once for each of many allocations. */
static cellar_status accumulate_scenario(const sample *s, int with_extras, cellar_error *err)
{
    cellar_cells cells = {0};
    cellar_status status = run_sample(s, 10, 5, 1, 30, with_extras, &cells, err);
    cellar_cells_clear(&cells);
    return status;
}

static cellar_status plain_scenario(void *context, cellar_error *err)
{
    return accumulate_scenario(context, 0, err);
}

static cellar_status extras_scenario(void *context, cellar_error *err)
{
    return accumulate_scenario(context, 1, err);
}

static void test_every_allocation_fails(void **state)
{
    static sample s;
    (void) state;
    sample_make(&s, 9);
    check_fail_every(plain_scenario, &s);
    check_fail_every(extras_scenario, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_too_many_cells),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
