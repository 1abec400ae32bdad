/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Groups are sorted by their ascending counts, so those that begin alike are neighbours: the
 * product of the beginning is made once and shared, and the largest count, which comes last, needs
 * one coefficient only. As Poisson weights of a count do not depend on the size of the group, the
 * sharing reaches across sizes. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/expected_work.h"

/* The beginnings that the present group shares with the next, and the factors met so far. */
typedef struct products_worker {
    cellar_product *stack; /* stack[d]: the first d counts; n_stack of them are allocated */
    size_t n_stack, depth;
    cellar_factor factors[CELLAR_PRODUCT_MAX + 1];
} products_worker;

typedef struct products {
    cellar_expected_work *w;
    cellar_expected_sums *chunks;
    products_worker *workers;
    int n_workers;
} products;

/* ---- shared beginnings --------------------------------------------------- */

static int kind_begins_like(const cellar_expected_work *w, size_t index, size_t other, size_t depth)
{
    return w->run->groups->kinds[index].n_positive > depth &&
           memcmp(cellar_expected_counts(w, index), cellar_expected_counts(w, other),
                  depth * sizeof(uint64_t)) == 0;
}

static const cellar_factor *worker_factor(const cellar_expected_work *w, products_worker *worker,
                                          uint64_t count)
{
    cellar_factor *factor = &worker->factors[count];
    if (factor->absent == NULL &&
        !cellar_factor_init(factor, w->poisson[count], w->table, w->degree, w->floor))
        return NULL;
    return factor;
}

/* Makes the product of the first depth counts of a kind, as far as the kinds up to `last` that
 * begin alike will need it. */
static int worker_push(const cellar_expected_work *w, products_worker *worker, size_t index,
                       size_t last, size_t depth)
{
    const cellar_factor *factor =
        worker_factor(w, worker, cellar_expected_counts(w, index)[depth - 1]);
    size_t degree = 0;

    for (size_t i = index; i < last && kind_begins_like(w, i, index, depth); i++)
        if (cellar_expected_is_small(w, i) && w->run->groups->kinds[i].size > degree)
            degree = (size_t) w->run->groups->kinds[i].size;
    if (worker->n_stack <= depth) {
        size_t n_stack = 2 * depth + 8;
        cellar_product *stack = cellar_realloc(worker->stack, n_stack, sizeof *stack);
        if (stack == NULL)
            return 0;
        memset(stack + worker->n_stack, 0, (n_stack - worker->n_stack) * sizeof *stack);
        worker->stack = stack;
        worker->n_stack = n_stack;
    }
    if (factor == NULL || !cellar_product_reserve(&worker->stack[depth], degree))
        return 0;
    cellar_product_multiply(&worker->stack[depth - 1], factor, &worker->stack[depth]);
    worker->depth = depth;
    return 1;
}

/* A small group: its beginning from the stack, its largest count at the end. `before` is the
 * kind the stack was made for, or `index` itself when there is none. */
static cellar_status products_small(const cellar_expected_work *w, products_worker *worker,
                                    size_t index, size_t before, size_t last,
                                    cellar_expected_sums *sums, cellar_error *err)
{
    const cellar_group_kind *kind = &w->run->groups->kinds[index];
    const uint64_t *counts = cellar_expected_counts(w, index),
                   *old = cellar_expected_counts(w, before);
    const cellar_factor *factor = worker_factor(w, worker, counts[kind->n_positive - 1]);
    size_t depth = 0, prefix = kind->n_positive - 1;
    cellar_lanes at[PRODUCT_N_KINDS];

    while (before != index && depth < prefix && depth < worker->depth &&
           counts[depth] == old[depth])
        depth++;
    while (depth > 0 && worker->stack[depth].degree < kind->size)
        depth--;
    worker->depth = depth;
    while (depth < prefix)
        if (!worker_push(w, worker, index, last, ++depth))
            return cellar_fail_memory(err, "the risk of groups");
    if (factor == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    cellar_product_last(&worker->stack[prefix], factor, (size_t) kind->size, at);
    cellar_expected_add(w, index, at, sums);
    return CELLAR_OK;
}

/* ---- chunks -------------------------------------------------------------- */

static cellar_status products_chunk(void *context, size_t first, size_t last, int lane,
                                    cellar_error *err)
{
    products *p = context;
    size_t n_kinds = p->w->run->groups->n_kinds;
    cellar_status status = CELLAR_OK;

    for (size_t chunk = first; chunk < last && status == CELLAR_OK; chunk++) {
        size_t begin = chunk * EXPECTED_CHUNK, end = begin + EXPECTED_CHUNK, before = SIZE_MAX;
        cellar_expected_sums sums = {0};
        end = end < n_kinds ? end : n_kinds;
        for (size_t i = begin; i < end && status == CELLAR_OK; i++) {
            if (!cellar_expected_is_small(p->w, i)) {
                status = cellar_expected_add_rest(p->w, i, &sums, err);
                continue;
            }
            status = products_small(p->w, &p->workers[lane], i, before == SIZE_MAX ? i : before,
                                    end, &sums, err);
            before = i;
        }
        p->chunks[chunk] = sums;
    }
    return status;
}

static cellar_status products_init(products *p, size_t n_chunks, cellar_error *err)
{
    p->n_workers = cellar_pool_n_lanes(p->w->pool);
    p->workers = cellar_alloc((size_t) p->n_workers, sizeof *p->workers);
    p->chunks = cellar_alloc_pages(n_chunks * sizeof *p->chunks);
    if (p->workers == NULL || p->chunks == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    for (int i = 0; i < p->n_workers; i++) {
        products_worker *worker = &p->workers[i];
        worker->stack = cellar_alloc(1, sizeof *worker->stack);
        worker->n_stack = 1;
        if (worker->stack == NULL || !cellar_product_init(worker->stack, p->w->degree, p->w->floor))
            return cellar_fail_memory(err, "the risk of groups");
    }
    return CELLAR_OK;
}

static void products_clear(products *p)
{
    for (int i = 0; i < p->n_workers && p->workers != NULL; i++) {
        for (size_t d = 0; d < p->workers[i].n_stack && p->workers[i].stack != NULL; d++)
            cellar_product_clear(&p->workers[i].stack[d]);
        for (size_t c = 0; c <= CELLAR_PRODUCT_MAX; c++)
            cellar_factor_clear(&p->workers[i].factors[c]);
        cellar_free(p->workers[i].stack);
    }
    cellar_free(p->workers);
    cellar_free(p->chunks);
}

cellar_status cellar_expected_products(cellar_expected_work *w, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_chunks = (w->run->groups->n_kinds + EXPECTED_CHUNK - 1) / EXPECTED_CHUNK;
    products p = {.w = w};

    CELLAR_TRY(products_init(&p, n_chunks, err));
    CELLAR_TRY(cellar_pool_for(w->pool, n_chunks, 1, products_chunk, &p, err));
    cellar_expected_sum(w, p.chunks, n_chunks);
out:
    products_clear(&p);
    return status;
}
