/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The time goes into increments: one that hits the counter of the row before waits until that one
 * is stored. Neighbouring rows therefore have counters of their own, as long as all of them stay in
 * the second-level cache. */
#include "data/stored/count.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/threads.h"

enum {
    BLOCK_ROWS = 2048,    /* rows whose cells are computed at a time */
    FOUR_CELLS = 1 << 14, /* cells up to which four neighbouring rows have their own counters */
    TWO_CELLS = 1 << 12   /* with keys: two */
};

/* The sum of keys in 96 bits, and how many they are: no row needs a division, or a branch that
 * nobody can foresee. A store has fewer than 2^32 rows. */
typedef struct keyed_counter {
    uint64_t low;
    uint64_t count_and_high; /* the count in the lower half */
} keyed_counter;

/* Of one lane and request. */
typedef struct counters {
    uint32_t *counts;
    keyed_counter *keyed;
    cellar_uint128 *weights;
    size_t n_copies; /* of counts or keyed, one after the other */
} counters;

/* Where records of units are bounded, keys and weights wait for the second pass. */
static int adds_keys(const cellar_stored_request *r)
{
    return r->adds_keys && r->max_per_unit == 0;
}

static int adds_weights(const cellar_stored_request *r)
{
    return r->adds_weights && r->max_per_unit == 0;
}

typedef struct counting {
    const cellar_stored_file *file;
    cellar_stored_request *const *requests;
    size_t n_requests;
    counters *of; /* lane by lane */
    const cellar_progress *progress;
} counting;

/* ---- requests ---------------------------------------------------------------- */

int cellar_stored_request_fits(cellar_stored_request *r, const cellar_stored_file *file)
{
    uint64_t n_cells = 1;
    for (size_t d = r->n; d-- > 0;) {
        const cellar_stored_column *column = &file->columns[r->columns[d]];
        r->least[d] = (uint32_t) column->least;
        r->radix[d] = (uint32_t) (column->limit - column->least);
        r->stride[d] = (uint32_t) n_cells;
        r->width[d] = column->width;
        n_cells *= r->radix[d];
        if (n_cells > STORED_CELLS_MAX)
            return 0;
    }
    r->n_cells = (uint32_t) n_cells;
    return n_cells <= FOUR_CELLS || n_cells <= file->n_rows / 2;
}

void cellar_stored_request_clear(cellar_stored_request *r)
{
    cellar_free(r->counts);
    cellar_free(r->keys);
    cellar_free(r->weights);
    *r = (cellar_stored_request){0};
}

/* ---- counters ----------------------------------------------------------------- */

static void counters_clear(counters *c)
{
    cellar_free(c->counts);
    cellar_free(c->keyed);
    cellar_free(c->weights);
}

static int counters_init(counters *c, const cellar_stored_request *r)
{
    const size_t n = r->n_cells;
    if (adds_keys(r)) {
        c->n_copies = n <= TWO_CELLS ? 2 : 1;
        c->keyed = cellar_alloc(c->n_copies * n, sizeof *c->keyed);
    } else {
        c->n_copies = n <= FOUR_CELLS ? 4 : 1;
        c->counts = cellar_alloc(c->n_copies * n, sizeof *c->counts);
    }
    if (adds_weights(r))
        c->weights = cellar_alloc(n, sizeof *c->weights);
    return (c->counts != NULL || c->keyed != NULL) && (!adds_weights(r) || c->weights != NULL);
}

/* ---- cells of rows ------------------------------------------------------------- */

/* The values of a request in one group. */
typedef struct pieces {
    const void *values[STORED_DIMENSIONS_MAX];
    const uint64_t *keys, *weights;
} pieces;

/* cells[i] += values[i] * stride; a whole block, so that compilers see how often. */
#define ADD_SCALED(type)                                                                           \
    for (size_t i = 0; i < BLOCK_ROWS; i++)                                                        \
    cells[i] += ((const type *) values)[i] * stride

/* The cells of a whole block. Values are at least `least`, so that no cell is below 0. */
static inline __attribute__((always_inline)) void
find_cells(const cellar_stored_request *r, const pieces *p, size_t first, uint32_t *restrict cells)
{
    uint32_t origin = 0;
    for (size_t d = 0; d < r->n; d++)
        origin -= r->least[d] * r->stride[d];
    for (size_t i = 0; i < BLOCK_ROWS; i++)
        cells[i] = origin;
    for (size_t d = 0; d < r->n; d++) {
        const uint32_t stride = r->stride[d];
        const void *values = (const char *) p->values[d] + first * r->width[d];
        if (r->width[d] == 1)
            ADD_SCALED(uint8_t);
        else
            ADD_SCALED(uint16_t);
    }
}

static void find_cells_plain(const cellar_stored_request *r, const pieces *p, size_t first,
                             uint32_t *cells)
{
    find_cells(r, p, first, cells);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
find_cells_avx2(const cellar_stored_request *r, const pieces *p, size_t first, uint32_t *cells)
{
    find_cells(r, p, first, cells);
}
#endif

/* The same for any number of rows: the last ones of a store. */
static void find_cells_few(const cellar_stored_request *r, const pieces *p, size_t first, size_t n,
                           uint32_t *cells)
{
    for (size_t i = 0; i < n; i++)
        cells[i] = cellar_stored_cell(r, p->values, first + i);
}

static void find_cells_of(const cellar_stored_request *r, const pieces *p, size_t first, size_t n,
                          uint32_t *cells)
{
    if (n < BLOCK_ROWS) {
        find_cells_few(r, p, first, n, cells);
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        find_cells_avx2(r, p, first, cells);
        return;
    }
#endif
    find_cells_plain(r, p, first, cells);
}

/* ---- adding --------------------------------------------------------------------- */

static void add_counts(counters *c, uint32_t n_cells, const uint32_t *cells, size_t n)
{
    uint32_t *first = c->counts, *second = first + n_cells, *third = second + n_cells,
             *fourth = third + n_cells;
    size_t i = 0;
    if (c->n_copies == 4)
        for (; i + 4 <= n; i += 4) {
            first[cells[i]]++;
            second[cells[i + 1]]++;
            third[cells[i + 2]]++;
            fourth[cells[i + 3]]++;
        }
    for (; i < n; i++)
        first[cells[i]]++;
}

static inline void add_key(keyed_counter *counter, uint64_t key)
{
    const uint64_t carry = __builtin_add_overflow(counter->low, key, &counter->low);
    counter->count_and_high += 1 + (carry << 32);
}

static void add_keys(counters *c, uint32_t n_cells, const uint32_t *cells, const uint64_t *keys,
                     size_t n)
{
    keyed_counter *first = c->keyed, *second = c->n_copies == 2 ? first + n_cells : first;
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        add_key(&first[cells[i]], keys[i]);
        add_key(&second[cells[i + 1]], keys[i + 1]);
    }
    for (; i < n; i++)
        add_key(&first[cells[i]], keys[i]);
}

static void add_weights(counters *c, const uint32_t *cells, const uint64_t *weights, size_t n,
                        uint64_t largest)
{
    for (size_t i = 0; i < n; i++)
        c->weights[cells[i]] += weights[i] < largest ? weights[i] : largest;
}

/* ---- groups ---------------------------------------------------------------------- */

static cellar_status load_pieces(const cellar_stored_file *file, const cellar_stored_request *r,
                                 size_t group, pieces *p, cellar_error *err)
{
    const void *keys = NULL, *weights = NULL;
    cellar_status status = CELLAR_OK;
    for (size_t d = 0; d < r->n; d++)
        CELLAR_TRY(cellar_stored_piece(file, group, r->columns[d], &p->values[d], err));
    if (adds_keys(r))
        CELLAR_TRY(cellar_stored_piece(file, group, CELLAR_STORED_KEY, &keys, err));
    if (adds_weights(r))
        CELLAR_TRY(cellar_stored_piece(file, group, CELLAR_STORED_WEIGHT, &weights, err));
    p->keys = keys;
    p->weights = weights;
out:
    return status;
}

static cellar_status count_group(const cellar_stored_file *file, const cellar_stored_request *r,
                                 counters *c, size_t group, cellar_error *err)
{
    const size_t rows = cellar_stored_group_rows(file, group);
    const uint64_t largest = r->largest_weight > 0 ? r->largest_weight : UINT64_MAX;
    uint32_t cells[BLOCK_ROWS];
    pieces p;
    cellar_status status = load_pieces(file, r, group, &p, err);
    for (size_t first = 0; status == CELLAR_OK && first < rows; first += BLOCK_ROWS) {
        const size_t n = rows - first < BLOCK_ROWS ? rows - first : BLOCK_ROWS;
        find_cells_of(r, &p, first, n, cells);
        if (adds_keys(r))
            add_keys(c, r->n_cells, cells, p.keys + first, n);
        else
            add_counts(c, r->n_cells, cells, n);
        if (adds_weights(r))
            add_weights(c, cells, p.weights + first, n, largest);
    }
    return status;
}

/* All requests of a group while it is in the cache. */
static cellar_status count_groups(void *context, size_t first, size_t last, int lane,
                                  cellar_error *err)
{
    const counting *job = context;
    const cellar_progress *progress = job->progress;
    cellar_status status = CELLAR_OK;
    for (size_t g = first; g < last; g++) {
        for (size_t r = 0; r < job->n_requests; r++)
            CELLAR_TRY(count_group(job->file, job->requests[r],
                                   &job->of[(size_t) lane * job->n_requests + r], g, err));
        if (lane == 0 && progress != NULL && progress->report != NULL &&
            progress->report(progress->context, "reading",
                             (double) (g + 1) / (double) job->file->n_groups))
            return cellar_fail(err, CELLAR_ERR_CANCELLED, "%s: reading was cancelled",
                               job->file->name);
    }
out:
    return status;
}

/* ---- the answer -------------------------------------------------------------------- */

static int answer_init(cellar_stored_request *r)
{
    r->counts = cellar_alloc(r->n_cells, sizeof *r->counts);
    if (adds_keys(r))
        r->keys = cellar_alloc(r->n_cells, sizeof *r->keys);
    if (adds_weights(r))
        r->weights = cellar_alloc(r->n_cells, sizeof *r->weights);
    return r->counts != NULL && (!adds_keys(r) || r->keys != NULL) &&
           (!adds_weights(r) || r->weights != NULL);
}

static void answer_add(cellar_stored_request *r, const counters *c, uint64_t key_range)
{
    const size_t n = r->n_cells;
    for (size_t copy = 0; copy < c->n_copies; copy++)
        for (size_t cell = 0; cell < n; cell++)
            if (adds_keys(r)) {
                const keyed_counter *counter = &c->keyed[copy * n + cell];
                const cellar_uint128 sum =
                    ((cellar_uint128) (counter->count_and_high >> 32) << 64) + counter->low;
                r->counts[cell] += (uint32_t) counter->count_and_high;
                r->keys[cell] = (uint64_t) ((r->keys[cell] + sum) % key_range);
            } else
                r->counts[cell] += c->counts[copy * n + cell];
    for (size_t cell = 0; adds_weights(r) && cell < n; cell++)
        r->weights[cell] += c->weights[cell];
}

static cellar_status counting_run(counting *job, cellar_pool *pool, cellar_error *err)
{
    const size_t n_lanes = (size_t) cellar_pool_n_lanes(pool);
    cellar_status status = CELLAR_OK;
    int ok = 1;
    for (size_t i = 0; ok && i < n_lanes * job->n_requests; i++)
        ok = counters_init(&job->of[i], job->requests[i % job->n_requests]);
    for (size_t r = 0; ok && r < job->n_requests; r++)
        ok = answer_init(job->requests[r]);
    if (!ok)
        return cellar_fail_memory(err, "counters");
    CELLAR_TRY(cellar_pool_for(pool, job->file->n_groups, 1, count_groups, job, err));
    for (size_t i = 0; i < n_lanes * job->n_requests; i++)
        answer_add(job->requests[i % job->n_requests], &job->of[i], job->file->key_range);
out:
    return status;
}

cellar_status cellar_stored_count(const cellar_stored_file *file,
                                  cellar_stored_request *const *requests, size_t n_requests,
                                  int n_threads, const cellar_progress *progress, cellar_error *err)
{
    counting job = {
        .file = file, .requests = requests, .n_requests = n_requests, .progress = progress};
    cellar_pool *pool = NULL;
    cellar_status status = cellar_pool_create(n_threads, &pool, err);
    size_t n_counters = 0;

    if (status == CELLAR_OK) {
        n_counters = (size_t) cellar_pool_n_lanes(pool) * n_requests;
        job.of = cellar_alloc(n_counters, sizeof *job.of);
        status =
            job.of != NULL ? counting_run(&job, pool, err) : cellar_fail_memory(err, "counters");
    }
    for (size_t i = 0; job.of != NULL && i < n_counters; i++)
        counters_clear(&job.of[i]);
    cellar_free(job.of);
    cellar_pool_free(pool);
    for (size_t r = 0; status != CELLAR_OK && r < n_requests; r++) {
        cellar_stored_request *request = requests[r];
        cellar_free(request->counts);
        cellar_free(request->keys);
        cellar_free(request->weights);
        request->counts = request->keys = NULL;
        request->weights = NULL;
    }
    return status;
}
