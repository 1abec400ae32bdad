/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Dense counting uses one byte for each possible cell and lane: small tables of bytes stay in the
 * processor's caches, and a byte that wraps around is noted in a map. Codes that appear for the
 * first time may not fit the layout; then all lanes pause and the cells are laid out anew. */
#include "table/counting/accumulate.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/cellmap.h"

enum {
    DENSE_LIMIT = 1 << 25, /* possible cells: 32 MiB of counters a lane */
    WRAPS_KEPT = 64,       /* cells whose counters wrapped, noted together */
    BLOCK_ROWS = 256       /* rows whose keys are computed, and their counters fetched, at a time */
};
static const uint64_t index_limit = (uint64_t) 1 << 63;

typedef struct accumulator_lane {
    uint8_t *counters; /* dense only */
    cellar_cellmap_scratch scratch;
    uint64_t *keys;
    size_t keys_capacity;
} accumulator_lane;

struct cellar_accumulator {
    cellar_accumulator_spec spec;
    pthread_rwlock_t layout_lock; /* held for reading while adding, for writing while laying out */
    size_t *radix;
    uint64_t *stride;
    uint64_t n_indices;
    int dense;
    accumulator_lane *lanes;
    cellar_cellmap *map; /* sparse: the cells; dense: multiples of 256 of wrapped counters */
};

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_accumulator_create(const cellar_accumulator_spec *spec,
                                        cellar_accumulator **out, cellar_error *err)
{
    cellar_accumulator *a = cellar_alloc(1, sizeof *a);
    *out = NULL;
    if (a == NULL)
        return cellar_fail_memory(err, "counters");
    a->spec = *spec;
    if (a->spec.dense_limit == 0)
        a->spec.dense_limit = DENSE_LIMIT;
    pthread_rwlock_init(&a->layout_lock, NULL);
    a->radix = cellar_alloc(spec->n_variables, sizeof *a->radix);
    a->stride = cellar_alloc(spec->n_variables, sizeof *a->stride);
    a->lanes = cellar_alloc((size_t) spec->n_lanes, sizeof *a->lanes);
    a->map = cellar_cellmap_create(spec->weighted, spec->key_range);
    if (a->radix == NULL || a->stride == NULL || a->lanes == NULL || a->map == NULL) {
        cellar_accumulator_free(a);
        return cellar_fail_memory(err, "counters");
    }
    /* counts, weights and keys are too large for a counter of every possible cell */
    a->dense = !spec->counted && !spec->weighted && spec->key_range == 0;
    *out = a;
    return CELLAR_OK;
}

void cellar_accumulator_free(cellar_accumulator *a)
{
    if (a == NULL)
        return;
    for (int i = 0; a->lanes != NULL && i < a->spec.n_lanes; i++) {
        cellar_free(a->lanes[i].counters);
        cellar_free(a->lanes[i].keys);
        cellar_cellmap_scratch_clear(&a->lanes[i].scratch);
    }
    cellar_free(a->lanes);
    cellar_free(a->radix);
    cellar_free(a->stride);
    cellar_cellmap_free(a->map);
    pthread_rwlock_destroy(&a->layout_lock);
    cellar_free(a);
}

size_t cellar_accumulator_n_cells(const cellar_accumulator *a)
{
    return a->dense ? 0 : cellar_cellmap_n(a->map);
}

/* ---- layout ---------------------------------------------------------------- */

typedef struct layout {
    size_t radix[CELLAR_MAX_VARIABLES];
    uint64_t stride[CELLAR_MAX_VARIABLES];
    uint64_t n_indices;
} layout;

static int layout_fits(const cellar_accumulator *a, const size_t *n_codes)
{
    for (size_t v = 0; v < a->spec.n_variables; v++)
        if (n_codes[v] > a->radix[v])
            return 0;
    return 1;
}

/* The last variable runs fastest. 0 when there are too many possible cells. */
static int layout_strides(layout *l, size_t n_variables)
{
    l->n_indices = 1;
    for (size_t v = n_variables; v-- > 0;) {
        l->stride[v] = l->n_indices;
        if (__builtin_mul_overflow(l->n_indices, (uint64_t) l->radix[v], &l->n_indices) ||
            l->n_indices >= index_limit)
            return 0;
    }
    return 1;
}

/* Grown radices with a little room to spare, as long as that does not make the table too large. */
static cellar_status layout_plan(const cellar_accumulator *a, const size_t *n_codes, layout *l,
                                 cellar_error *err)
{
    size_t n = a->spec.n_variables;
    for (int spare = 1; spare >= 0; spare--) {
        for (size_t v = 0; v < n; v++) {
            size_t grown = n_codes[v] + (spare && a->radix[v] > 0 ? n_codes[v] / 16 + 1 : 0);
            l->radix[v] = n_codes[v] > a->radix[v] ? grown : a->radix[v];
            if (l->radix[v] == 0)
                l->radix[v] = 1;
        }
        if (layout_strides(l, n))
            return CELLAR_OK;
    }
    return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                       "the variables have more than 2^63 combinations; cross fewer of them");
}

static uint64_t relaid_key(const cellar_accumulator *a, const layout *l, uint64_t key)
{
    uint64_t moved = 0;
    for (size_t v = 0; v < a->spec.n_variables; v++)
        moved += key / a->stride[v] % a->radix[v] * l->stride[v];
    return moved;
}

/* A new map with the entries of the old one under their new keys. */
static int relay_map(cellar_accumulator *a, const layout *l)
{
    cellar_cellmap *moved = cellar_cellmap_create(a->spec.weighted, a->spec.key_range);
    cellar_cellmap_entry entry;
    uint64_t cursor = 0;
    if (moved == NULL)
        return 0;
    while (cellar_cellmap_next(a->map, &cursor, &entry)) {
        entry.key = relaid_key(a, l, entry.key);
        if (!cellar_cellmap_add_entry(moved, &entry)) {
            cellar_cellmap_free(moved);
            return 0;
        }
    }
    cellar_cellmap_free(a->map);
    a->map = moved;
    return 1;
}

/* Moves a lane's counters to the new layout, or (when `sparse`) into the map. */
static int relay_counters(cellar_accumulator *a, accumulator_lane *lane, const layout *l,
                          int sparse)
{
    uint8_t *counters = NULL;
    if (!sparse) {
        counters = cellar_alloc((size_t) l->n_indices, 1);
        if (counters == NULL)
            return 0;
    }
    for (uint64_t key = 0; lane->counters != NULL && key < a->n_indices; key++) {
        cellar_cellmap_entry entry = {.count = lane->counters[key]};
        if (entry.count == 0)
            continue;
        entry.key = relaid_key(a, l, key);
        if (!sparse)
            counters[entry.key] = lane->counters[key];
        else if (!cellar_cellmap_add_entry(a->map, &entry))
            return 0;
    }
    cellar_free(lane->counters);
    lane->counters = counters;
    return 1;
}

/* Called with the layout lock held for writing. */
static cellar_status accumulator_lay_out(cellar_accumulator *a, const size_t *n_codes,
                                         cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    layout l;
    int sparse, ok;

    if (layout_fits(a, n_codes))
        return CELLAR_OK; /* another lane was faster */
    CELLAR_TRY(layout_plan(a, n_codes, &l, err));
    sparse = l.n_indices > a->spec.dense_limit;
    ok = a->n_indices == 0 || relay_map(a, &l);
    for (int i = 0; ok && a->dense && i < a->spec.n_lanes; i++)
        ok = relay_counters(a, &a->lanes[i], &l, sparse);
    if (!ok)
        return cellar_fail_memory(err, "counters");
    a->dense &= !sparse;
    memcpy(a->radix, l.radix, a->spec.n_variables * sizeof *a->radix);
    memcpy(a->stride, l.stride, a->spec.n_variables * sizeof *a->stride);
    a->n_indices = l.n_indices;
out:
    return status;
}

/* ---- adding ---------------------------------------------------------------- */

/* keys[i] += codes[i] * stride. The same loop twice: compilers need to be told that a processor
 * multiplies eight numbers at once. */
#define ADD_SCALED_LOOP                                                                            \
    for (size_t i = 0; i < n; i++)                                                                 \
        keys[i] += (uint32_t) codes[i] * stride;

static void add_scaled_plain(uint32_t *restrict keys, const int32_t *restrict codes,
                             uint32_t stride, size_t n)
{
    ADD_SCALED_LOOP
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void
add_scaled_avx2(uint32_t *restrict keys, const int32_t *restrict codes, uint32_t stride, size_t n)
{
    ADD_SCALED_LOOP
}
#endif

static void add_scaled(uint32_t *keys, const int32_t *codes, uint32_t stride, size_t n)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        add_scaled_avx2(keys, codes, stride, n);
        return;
    }
#endif
    add_scaled_plain(keys, codes, stride, n);
}

/* Cells whose counters wrapped around. */
typedef struct wraps {
    uint64_t keys[WRAPS_KEPT];
    size_t n;
} wraps;

static int wraps_flush(wraps *w, cellar_accumulator *a, accumulator_lane *lane)
{
    const size_t n = w->n;
    w->n = 0;
    return n == 0 || cellar_cellmap_add(a->map, w->keys, n, 256, NULL, NULL, NULL, &lane->scratch);
}

/* Counts a block of rows. */
static int dense_add(cellar_accumulator *a, accumulator_lane *lane, const uint32_t *keys, size_t n,
                     wraps *w)
{
    uint8_t *counters = lane->counters;
    for (size_t i = 0; i < n; i++)
        __builtin_prefetch(&counters[keys[i]], 1);
    for (size_t i = 0; i < n; i++)
        if (__builtin_expect(++counters[keys[i]] == 0, 0)) {
            w->keys[w->n++] = keys[i];
            if (w->n == WRAPS_KEPT && !wraps_flush(w, a, lane))
                return 0;
        }
    return 1;
}

static cellar_status accumulator_count_dense(cellar_accumulator *a, accumulator_lane *lane,
                                             const cellar_coded_rows *rows, cellar_error *err)
{
    uint32_t keys[BLOCK_ROWS]; /* dense tables have fewer than 2^32 cells */
    wraps wrapped = {.n = 0};
    int ok = 1;

    for (size_t first = 0; ok && first < rows->n; first += BLOCK_ROWS) {
        size_t n = rows->n - first < BLOCK_ROWS ? rows->n - first : BLOCK_ROWS;
        memset(keys, 0, n * sizeof *keys);
        for (size_t v = 0; v < a->spec.n_variables; v++)
            add_scaled(keys, rows->codes[v] + first, (uint32_t) a->stride[v], n);
        ok = dense_add(a, lane, keys, n, &wrapped);
    }
    return ok && wraps_flush(&wrapped, a, lane) ? CELLAR_OK : cellar_fail_memory(err, "counters");
}

static cellar_status accumulator_count_sparse(cellar_accumulator *a, accumulator_lane *lane,
                                              const cellar_coded_rows *rows, cellar_error *err)
{
    if (!cellar_grow(&lane->keys, &lane->keys_capacity, rows->n, sizeof *lane->keys))
        return cellar_fail_memory(err, "counters");
    memset(lane->keys, 0, rows->n * sizeof *lane->keys);
    for (size_t v = 0; v < a->spec.n_variables; v++) {
        const int32_t *codes = rows->codes[v];
        const uint64_t stride = a->stride[v];
        for (size_t i = 0; i < rows->n; i++)
            lane->keys[i] += (uint64_t) (uint32_t) codes[i] * stride;
    }
    if (!cellar_cellmap_add(a->map, lane->keys, rows->n, 1, rows->counts, rows->weights,
                            rows->record_keys, &lane->scratch))
        return cellar_fail_memory(err, "counters");
    return CELLAR_OK;
}

cellar_status cellar_accumulator_add(cellar_accumulator *a, int lane, const cellar_coded_rows *rows,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    if (rows->n == 0)
        return CELLAR_OK;
    pthread_rwlock_rdlock(&a->layout_lock);
    while (status == CELLAR_OK && !layout_fits(a, rows->n_codes)) {
        pthread_rwlock_unlock(&a->layout_lock);
        pthread_rwlock_wrlock(&a->layout_lock);
        status = accumulator_lay_out(a, rows->n_codes, err);
        pthread_rwlock_unlock(&a->layout_lock);
        pthread_rwlock_rdlock(&a->layout_lock);
    }
    if (status == CELLAR_OK)
        status = (a->dense ? accumulator_count_dense : accumulator_count_sparse)(a, &a->lanes[lane],
                                                                                 rows, err);
    pthread_rwlock_unlock(&a->layout_lock);
    return status;
}

/* ---- the cells ------------------------------------------------------------- */

typedef struct cell_writer {
    cellar_cells *cells;
    size_t capacity;
    int weighted, keyed;
} cell_writer;

static int writer_reserve(cell_writer *w)
{
    cellar_cells *c = w->cells;
    size_t index_capacity = w->capacity, count_capacity = w->capacity,
           weight_capacity = w->capacity, key_capacity = w->capacity;
    if (c->n < w->capacity)
        return 1;
    if (!cellar_grow(&c->index, &index_capacity, c->n + 1, sizeof *c->index) ||
        !cellar_grow(&c->count, &count_capacity, c->n + 1, sizeof *c->count) ||
        (w->weighted && !cellar_grow(&c->weight, &weight_capacity, c->n + 1, sizeof *c->weight)) ||
        (w->keyed && !cellar_grow(&c->key, &key_capacity, c->n + 1, sizeof *c->key)))
        return 0;
    w->capacity = index_capacity;
    return 1;
}

static int writer_add(cell_writer *w, uint64_t index, const cellar_cellmap_entry *entry)
{
    if (!writer_reserve(w))
        return 0;
    w->cells->index[w->cells->n] = index;
    w->cells->count[w->cells->n] = entry->count;
    if (w->weighted)
        w->cells->weight[w->cells->n] = entry->weight;
    if (w->keyed)
        w->cells->key[w->cells->n] = entry->record_key;
    w->cells->n++;
    return 1;
}

typedef struct final_index {
    const uint32_t *const *leaf_of;
    const size_t *n_codes;
    const uint64_t *stride;
} final_index;

static uint64_t index_of_key(const cellar_accumulator *a, const final_index *f, uint64_t key,
                             size_t n_variables)
{
    uint64_t index = 0;
    for (size_t v = 0; v < n_variables; v++) {
        uint64_t code = key / a->stride[v] % a->radix[v];
        /* codes that fit the layout but were never given out have no cells */
        if (code < f->n_codes[v])
            index += f->leaf_of[v][code] * f->stride[v];
    }
    return index;
}

/* What the counters of one byte could not hold, in the order of the keys. */
typedef struct wrapped_counts {
    cellar_cellmap_entry *entries;
    size_t n, next;
} wrapped_counts;

static int entry_compare(const void *a, const void *b)
{
    const cellar_cellmap_entry *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* A counter that wrapped to exactly zero in every lane would be passed over: it gets a one, which
 * its entry gives back. */
static int wrapped_collect(cellar_accumulator *a, wrapped_counts *wrapped)
{
    uint64_t cursor = 0;
    wrapped->entries = cellar_alloc(cellar_cellmap_n(a->map) + 1, sizeof *wrapped->entries);
    if (wrapped->entries == NULL)
        return 0;
    while (cellar_cellmap_next(a->map, &cursor, &wrapped->entries[wrapped->n])) {
        cellar_cellmap_entry *entry = &wrapped->entries[wrapped->n++];
        uint8_t any = 0;
        for (int i = 0; i < a->spec.n_lanes; i++)
            any |= a->lanes[i].counters[entry->key];
        if (any == 0) {
            a->lanes[0].counters[entry->key] = 1;
            entry->count--;
        }
    }
    qsort(wrapped->entries, wrapped->n, sizeof *wrapped->entries, entry_compare);
    return 1;
}

/* Eight neighbouring counters of all lanes at once: a byte that is not zero marks a cell. */
static uint64_t eight_counters(const cellar_accumulator *a, uint64_t key)
{
    size_t n = a->n_indices - key < 8 ? (size_t) (a->n_indices - key) : 8;
    uint64_t any = 0;
    for (int i = 0; i < a->spec.n_lanes; i++) {
        uint64_t eight = 0;
        if (n == 8)
            memcpy(&eight, a->lanes[i].counters + key, 8);
        else
            memcpy(&eight, a->lanes[i].counters + key, n);
        any |= eight;
    }
    return any;
}

static uint64_t dense_count(const cellar_accumulator *a, uint64_t key, wrapped_counts *wrapped)
{
    uint64_t count = 0;
    for (int i = 0; i < a->spec.n_lanes; i++)
        count += a->lanes[i].counters[key];
    while (wrapped->next < wrapped->n && wrapped->entries[wrapped->next].key < key)
        wrapped->next++;
    if (wrapped->next < wrapped->n && wrapped->entries[wrapped->next].key == key)
        count += wrapped->entries[wrapped->next].count;
    return count;
}

/* Walks the counters in order. Keys that differ in the last variable only share a base, which is
 * worked out once. */
static int dense_cells(cellar_accumulator *a, const final_index *f, cell_writer *w)
{
    size_t last = a->spec.n_variables - 1;
    const uint64_t run = a->radix[last];
    uint64_t start = 0, end = 0, base = 0;
    wrapped_counts wrapped = {0};
    int ok = wrapped_collect(a, &wrapped);

    for (uint64_t block = 0; ok && block < a->n_indices; block += 8) {
        uint64_t any = eight_counters(a, block);
        while (ok && any != 0) {
            unsigned byte = (unsigned) __builtin_ctzll(any) / 8;
            uint64_t key = block + byte;
            cellar_cellmap_entry entry = {.count = dense_count(a, key, &wrapped)};
            any &= ~((uint64_t) 0xff << (8 * byte));
            if (key >= end) {
                start = key / run * run;
                end = start + run;
                base = index_of_key(a, f, start, last);
            }
            ok = writer_add(w, base + f->leaf_of[last][key - start] * f->stride[last], &entry);
        }
    }
    cellar_free(wrapped.entries);
    return ok;
}

static int sparse_cells(const cellar_accumulator *a, const final_index *f, cell_writer *w)
{
    cellar_cellmap_entry entry;
    uint64_t cursor = 0;
    while (cellar_cellmap_next(a->map, &cursor, &entry))
        if (!writer_add(w, index_of_key(a, f, entry.key, a->spec.n_variables), &entry))
            return 0;
    return 1;
}

cellar_status cellar_accumulator_cells(cellar_accumulator *a, const uint32_t *const *leaf_of,
                                       const size_t *n_codes, const uint64_t *stride,
                                       cellar_cells *cells, cellar_error *err)
{
    final_index f = {leaf_of, n_codes, stride};
    cell_writer w = {.cells = cells, .weighted = a->spec.weighted, .keyed = a->spec.key_range > 0};
    int ok;

    *cells = (cellar_cells){0};
    ok = writer_reserve(&w); /* an empty table, too, has weights and keys, of none */
    if (ok && a->n_indices > 0)
        ok = a->dense ? dense_cells(a, &f, &w) : sparse_cells(a, &f, &w);
    if (!ok) {
        cellar_cells_clear(cells);
        return cellar_fail_memory(err, "the cells of a table");
    }
    return CELLAR_OK;
}
