/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The expected risk of very many different groups. Those of about the same size take the same
 * points of the circle and the same factors; those that begin alike follow each other and share the
 * product of their beginnings. */
#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/circle.h"
#include "risk/homogeneity/expected_work.h"

/* Groups from one limit to the next go together. */
static const size_t limits[] = {12, 24, 40, 64, 96, 128, 192, 256, 400, CELLAR_PRODUCT_MAX};
enum {
    N_BUCKETS = sizeof limits / sizeof limits[0],
    FEW_KINDS = 8192 /* too few large groups to pay for factors of their own */
};

/* The products of the first counts of the present group: of d counts in products[d]. The first is
 * a factor itself; the others lie in `rooms`. */
typedef struct circle_worker {
    const cellar_circle_point *products[CELLAR_PRODUCT_MAX + 1];
    cellar_circle_point *rooms[CELLAR_PRODUCT_MAX + 1];
    size_t depth; /* how many are made */
    const cellar_circle_point
        *parts[CELLAR_PRODUCT_MAX + 1]; /* what the present group consists of */
} circle_worker;

typedef struct circles {
    cellar_expected_work *w;
    uint32_t *order;             /* small kinds, bucket after bucket, sorted in each */
    size_t first[N_BUCKETS + 1]; /* of each bucket in `order` */
    size_t bucket;               /* the present one */
    size_t degree;               /* its largest size */
    cellar_circle circle;
    size_t n_counts;
    uint32_t counts[CELLAR_PRODUCT_MAX]; /* that occur in it */
    cellar_circle_point *points;         /* of their factors, one after the other */
    const cellar_circle_point *factors[CELLAR_PRODUCT_MAX + 1]; /* by count */
    circle_worker *workers;
    cellar_expected_sums *chunks;
} circles;

/* ---- one group ----------------------------------------------------------- */

/* Takes off what counts with one positive value add to the coefficients. */
LANES_INLINE void several_body(const cellar_expected_work *w, size_t index,
                               cellar_lanes at[PRODUCT_N_KINDS])
{
    const cellar_group_kind *kind = &w->run->groups->kinds[index];
    double base = w->run->homogeneous[index] / w->norms[kind->size];
    double others = (double) kind->n_positive - 1;
    const cellar_lanes *powers = w->absent_powers + kind->n_positive - 1;
    cellar_lanes shown = base * w->table->present[kind->size] * powers[0];
    cellar_lanes absent = base * w->table->absent[kind->size] * powers[-1];

    at[PRODUCT_EMPTY] -= absent * w->table->absent[0];
    at[PRODUCT_SHOWN] -= shown;
    at[PRODUCT_RIGHT] -= (double) kind->size * shown;
    at[PRODUCT_STRAY] -= others * absent * w->table->present[0];
    for (int k = 0; k < PRODUCT_N_KINDS; k++)
        at[k] = (cellar_lanes) ((cellar_lanes_bits) at[k] & (at[k] > 0)); /* not below 0 */
}

typedef void several_way(const cellar_expected_work *, size_t, cellar_lanes *);

static void several_plain(const cellar_expected_work *w, size_t index, cellar_lanes *at)
{
    several_body(w, index, at);
}

#if defined(__x86_64__)
LANES_AVX2 static void several_avx2(const cellar_expected_work *w, size_t index, cellar_lanes *at)
{
    several_body(w, index, at);
}

LANES_AVX512 static void several_avx512(const cellar_expected_work *w, size_t index,
                                        cellar_lanes *at)
{
    several_body(w, index, at);
}

static several_way *const several_ways[] = {several_plain, several_avx2, several_avx512};
#else
static several_way *const several_ways[] = {several_plain};
#endif

/* Makes the product of the first `depth` counts from that of one fewer. */
static int circle_push(circles *c, circle_worker *worker, const uint64_t *counts, size_t depth)
{
    const cellar_circle_point *factor = c->factors[counts[depth - 1]];
    if (depth == 1) {
        worker->products[depth] = factor;
        return 1;
    }
    if (worker->rooms[depth] == NULL)
        worker->rooms[depth] = cellar_alloc_pages(c->circle.n_points * sizeof *factor);
    if (worker->rooms[depth] == NULL)
        return 0;
    cellar_circle_multiply(&c->circle, worker->products[depth - 1], factor, worker->rooms[depth]);
    worker->products[depth] = worker->rooms[depth];
    return 1;
}

/* How many first counts, short of the last of either, two groups have in common. */
static size_t common_beginning(const circles *c, size_t kind, size_t other)
{
    const cellar_group_kind *kinds = c->w->run->groups->kinds;
    const uint64_t *a = cellar_expected_counts(c->w, kind);
    const uint64_t *b = cellar_expected_counts(c->w, other);
    size_t n = kinds[kind].n_positive, depth = 0;

    n = (n < kinds[other].n_positive ? n : kinds[other].n_positive) - 1;
    while (depth < n && a[depth] == b[depth])
        depth++;
    return depth;
}

/* A group that has `shared` first counts in common with the next: their product is made for both.
 * `known` of them it had in common with the one before. */
static cellar_status circle_group(circles *c, circle_worker *worker, size_t index, size_t known,
                                  size_t shared, cellar_expected_sums *sums, cellar_error *err)
{
    const cellar_group_kind *kind = &c->w->run->groups->kinds[index];
    const uint64_t *counts = cellar_expected_counts(c->w, index);
    size_t depth = known < worker->depth ? known : worker->depth, n_parts = 0;
    cellar_lanes at[PRODUCT_N_KINDS], largest;

    while (depth < shared)
        if (!circle_push(c, worker, counts, ++depth))
            return cellar_fail_memory(err, "the risk of groups");
    worker->depth = depth;
    if (depth > 0)
        worker->parts[n_parts++] = worker->products[depth];
    while (depth < kind->n_positive)
        worker->parts[n_parts++] = c->factors[counts[depth++]];
    cellar_circle_coefficient(&c->circle, worker->parts, n_parts, (size_t) kind->size, at,
                              &largest);
    sums->at[SUM_LARGEST] += c->w->run->weights[index] * c->w->norms[kind->size] *
                             c->w->absent_powers[kind->n_zeros] * largest;
    several_ways[lanes_way()](c->w, index, at);
    cellar_expected_add(c->w, index, at, sums);
    return CELLAR_OK;
}

/* ---- a bucket ------------------------------------------------------------ */

static cellar_status circle_chunk(void *context, size_t first, size_t last, int lane,
                                  cellar_error *err)
{
    circles *c = context;
    size_t begin = c->first[c->bucket], end = c->first[c->bucket + 1];
    cellar_status status = CELLAR_OK;

    for (size_t chunk = first; chunk < last && status == CELLAR_OK; chunk++) {
        size_t from = begin + chunk * EXPECTED_CHUNK, to = from + EXPECTED_CHUNK, known = 0;
        cellar_expected_sums sums = {0};
        to = to < end ? to : end;
        c->workers[lane].depth = 0;
        for (size_t i = from; i < to && status == CELLAR_OK; i++) {
            size_t shared = i + 1 < to ? common_beginning(c, c->order[i], c->order[i + 1]) : 0;
            status = circle_group(c, &c->workers[lane], c->order[i], known, shared, &sums, err);
            known = shared;
        }
        c->chunks[chunk] = sums;
    }
    return status;
}

static cellar_status circle_factors(void *context, size_t first, size_t last, int lane,
                                    cellar_error *err)
{
    circles *c = context;
    (void) lane;
    (void) err;
    for (size_t i = first; i < last; i++)
        cellar_circle_factor(&c->circle, c->w->poisson[c->counts[i]], c->degree, c->w->table,
                             c->points + i * c->circle.n_points);
    return CELLAR_OK;
}

/* The counts that occur in the bucket, and its largest group. */
static void bucket_survey(circles *c)
{
    unsigned char occurs[CELLAR_PRODUCT_MAX + 1] = {0};
    const cellar_group_kind *kinds = c->w->run->groups->kinds;

    c->degree = 0;
    for (size_t i = c->first[c->bucket]; i < c->first[c->bucket + 1]; i++) {
        const uint64_t *counts = cellar_expected_counts(c->w, c->order[i]);
        for (size_t k = 0; k < kinds[c->order[i]].n_positive; k++)
            occurs[counts[k]] = 1;
        if (kinds[c->order[i]].size > c->degree)
            c->degree = (size_t) kinds[c->order[i]].size;
    }
    c->n_counts = 0;
    for (uint32_t count = 1; count <= CELLAR_PRODUCT_MAX; count++)
        if (occurs[count])
            c->counts[c->n_counts++] = count;
}

static void bucket_clear(circles *c)
{
    for (int i = 0; i < cellar_pool_n_lanes(c->w->pool); i++)
        for (size_t d = 0; d <= CELLAR_PRODUCT_MAX; d++) {
            cellar_free(c->workers[i].rooms[d]);
            c->workers[i].rooms[d] = NULL;
        }
    cellar_free(c->points);
    c->points = NULL;
}

static cellar_status bucket_run(circles *c, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = c->first[c->bucket + 1] - c->first[c->bucket];
    size_t n_chunks = (n + EXPECTED_CHUNK - 1) / EXPECTED_CHUNK;

    if (n == 0)
        return CELLAR_OK;
    bucket_survey(c);
    cellar_circle_init(&c->circle, c->degree);
    c->points = cellar_alloc_pages(c->n_counts * c->circle.n_points * sizeof *c->points);
    if (c->points == NULL) {
        status = cellar_fail_memory(err, "the risk of groups");
        goto out;
    }
    for (size_t i = 0; i < c->n_counts; i++)
        c->factors[c->counts[i]] = c->points + i * c->circle.n_points;
    CELLAR_TRY(cellar_pool_for(c->w->pool, c->n_counts, 1, circle_factors, c, err));
    CELLAR_TRY(cellar_pool_for(c->w->pool, n_chunks, 1, circle_chunk, c, err));
    cellar_expected_sum(c->w, c->chunks, n_chunks);
out:
    bucket_clear(c);
    return status;
}

/* ---- the whole ----------------------------------------------------------- */

static size_t bucket_of(uint64_t size)
{
    size_t bucket = 0;
    while (size > limits[bucket])
        bucket++;
    return bucket;
}

/* Where the groups of each bucket go: few large ones join those of the next bucket. */
static void buckets_join(size_t *n_kinds, size_t *joined)
{
    for (size_t b = N_BUCKETS; b-- > 0;) {
        joined[b] = b;
        if (limits[b] < 128 || b + 1 == N_BUCKETS || n_kinds[joined[b + 1]] == 0 ||
            n_kinds[b] >= FEW_KINDS)
            continue;
        joined[b] = joined[b + 1];
        n_kinds[joined[b]] += n_kinds[b];
        n_kinds[b] = 0;
    }
}

/* Kinds by bucket, in their order. */
static void circles_order(circles *c)
{
    size_t next[N_BUCKETS], joined[N_BUCKETS], n_in[N_BUCKETS] = {0};
    size_t n_kinds = c->w->run->groups->n_kinds;
    const cellar_group_kind *kinds = c->w->run->groups->kinds;

    for (size_t i = 0; i < n_kinds; i++)
        if (cellar_expected_is_small(c->w, i))
            n_in[bucket_of(kinds[i].size)]++;
    buckets_join(n_in, joined);
    for (size_t b = 0; b < N_BUCKETS; b++) {
        next[b] = c->first[b];
        c->first[b + 1] = c->first[b] + n_in[b];
    }
    for (size_t i = 0; i < n_kinds; i++)
        if (cellar_expected_is_small(c->w, i))
            c->order[next[joined[bucket_of(kinds[i].size)]]++] = (uint32_t) i;
}

/* Homogeneous and large groups, which no bucket has. */
static cellar_status circles_rest(void *context, size_t first, size_t last, int lane,
                                  cellar_error *err)
{
    circles *c = context;
    size_t n_kinds = c->w->run->groups->n_kinds;
    cellar_status status = CELLAR_OK;
    (void) lane;
    for (size_t chunk = first; chunk < last; chunk++) {
        size_t begin = chunk * EXPECTED_CHUNK, end = begin + EXPECTED_CHUNK;
        cellar_expected_sums sums = {0};
        for (size_t i = begin; i < end && i < n_kinds; i++)
            if (!cellar_expected_is_small(c->w, i))
                CELLAR_TRY(cellar_expected_add_rest(c->w, i, &sums, err));
        c->chunks[chunk] = sums;
    }
out:
    return status;
}

cellar_status cellar_expected_circles(cellar_expected_work *w, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_kinds = w->run->groups->n_kinds;
    size_t n_chunks = (n_kinds + EXPECTED_CHUNK - 1) / EXPECTED_CHUNK;
    circles *c = cellar_alloc(1, sizeof *c);

    if (c == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    c->w = w;
    c->order = cellar_alloc(n_kinds, sizeof *c->order);
    c->workers = cellar_alloc((size_t) cellar_pool_n_lanes(w->pool), sizeof *c->workers);
    c->chunks = cellar_alloc_pages(n_chunks * sizeof *c->chunks);
    if (c->order == NULL || c->workers == NULL || c->chunks == NULL) {
        status = cellar_fail_memory(err, "the risk of groups");
        goto out;
    }
    circles_order(c);
    for (c->bucket = 0; c->bucket < N_BUCKETS; c->bucket++)
        CELLAR_TRY(bucket_run(c, err));
    CELLAR_TRY(cellar_pool_for(w->pool, n_chunks, 1, circles_rest, c, err));
    cellar_expected_sum(w, c->chunks, n_chunks);
out:
    cellar_free(c->order);
    cellar_free(c->workers);
    cellar_free(c->chunks);
    cellar_free(c);
    return status;
}
