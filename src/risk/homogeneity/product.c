/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/product.h"

#include "base/error.h"
#include "base/memory.h"

void cellar_lane_table_init(cellar_lane_table *table, const cellar_presence *const *presences,
                            size_t n_presences)
{
    for (size_t lane = 0; lane < CELLAR_LANES; lane++) {
        const cellar_presence *p = presences[lane < n_presences ? lane : n_presences - 1];
        for (uint64_t count = 0; count <= CELLAR_PRODUCT_MAX; count++) {
            table->absent[count][lane] = presence_absent(p, count);
            table->present[count][lane] = presence_present(p, count);
        }
    }
}

LANES_INLINE int lanes_any_above(const cellar_lanes *x, double bound)
{
    int any = 0;
    for (int lane = 0; lane < CELLAR_LANES; lane++)
        any |= (*x)[lane] > bound;
    return any;
}

/* ---- factors ------------------------------------------------------------------------------- */

int cellar_factor_init(cellar_factor *f, const double *base, const cellar_lane_table *table,
                       size_t degree, double floor)
{
    CELLAR_ASSERT(degree <= CELLAR_PRODUCT_MAX);
    *f = (cellar_factor){.degree = degree};
    f->absent = cellar_alloc_pages(3 * (degree + 1) * sizeof *f->absent);
    if (f->absent == NULL)
        return 0;
    f->shown = f->absent + degree + 1;
    f->right = f->shown + degree + 1;
    f->stray = base[0] * table->present[0];
    for (size_t j = 0; j <= degree; j++) {
        f->absent[j] = base[j] * table->absent[j];
        f->shown[j] = base[j] * table->present[j];
        f->right[j] = (double) j * f->shown[j];
        if (j > 0 && lanes_any_above(&f->absent[j], floor)) {
            f->absent_first = f->absent_end == 0 ? j : f->absent_first;
            f->absent_end = j + 1;
        }
        if (j > 0 && lanes_any_above(&f->shown[j], floor)) {
            f->shown_first = f->shown_end == 0 ? j : f->shown_first;
            f->shown_end = j + 1;
        }
    }
    return 1;
}

void cellar_factor_clear(cellar_factor *f)
{
    cellar_free(f->absent);
    *f = (cellar_factor){0};
}

/* ---- products: life cycle -------------------------------------------------------------------- */

int cellar_product_reserve(cellar_product *product, size_t degree)
{
    size_t row = degree + 1;
    cellar_lanes *next;

    CELLAR_ASSERT(degree <= CELLAR_PRODUCT_MAX);
    if (product->memory == NULL || product->capacity < degree) {
        cellar_free(product->memory);
        product->memory = cellar_alloc_pages((size_t) 3 * PRODUCT_N_KINDS * row * sizeof *next);
        if (product->memory == NULL)
            return 0;
        product->capacity = degree;
    }
    product->degree = degree;
    next = product->memory;
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++, next += 3 * row) {
        product->single[kind] = next;
        product->several[kind] = next + row;
        product->all[kind] = next + 2 * row;
    }
    return 1;
}

int cellar_product_init(cellar_product *product, size_t degree, double floor)
{
    if (!cellar_product_reserve(product, degree))
        return 0;
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++)
        product->none[kind] = (cellar_lanes){0};
    product->none[PRODUCT_EMPTY] += 1;
    product->first = product->end = 1;
    product->floor = floor;
    return 1;
}

void cellar_product_clear(cellar_product *product)
{
    cellar_free(product->memory);
    *product = (cellar_product){0};
}

/* ---- the kernel, for the processor at hand ------------------------------------------------- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* sum over j of all[n-j] times factor[j], in all kinds; both counts are positive. */
LANES_INLINE void cross_terms(const cellar_product *in, const cellar_factor *f, size_t n,
                              cellar_lanes sum[PRODUCT_N_KINDS])
{
    const cellar_lanes *empty = in->all[PRODUCT_EMPTY], *shown = in->all[PRODUCT_SHOWN];
    const cellar_lanes *right = in->all[PRODUCT_RIGHT], *stray = in->all[PRODUCT_STRAY];
    cellar_lanes e = {0}, s = {0}, r = {0}, t = {0};
    size_t first = n >= in->end ? n - in->end + 1 : 1;
    size_t end = n > in->first ? n - in->first + 1 : 1;
    size_t j;

    for (j = most(first, f->absent_first); j < least(end, f->absent_end); j++) {
        cellar_lanes absent = f->absent[j];
        e += empty[n - j] * absent;
        s += shown[n - j] * absent;
        r += right[n - j] * absent;
        t += stray[n - j] * absent;
    }
    for (j = most(first, f->shown_first); j < least(end, f->shown_end); j++) {
        s += empty[n - j] * f->shown[j];
        r += empty[n - j] * f->right[j];
    }
    sum[PRODUCT_EMPTY] = e;
    sum[PRODUCT_SHOWN] = s;
    sum[PRODUCT_RIGHT] = r;
    sum[PRODUCT_STRAY] = t;
}

/* ---- products ------------------------------------------------------------------------------ */

/* A coefficient times the factor's term of count 0. */
LANES_INLINE void product_keep(const cellar_lanes in[PRODUCT_N_KINDS], const cellar_factor *f,
                               cellar_lanes out[PRODUCT_N_KINDS])
{
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++)
        out[kind] = in[kind] * f->absent[0];
    out[PRODUCT_STRAY] += in[PRODUCT_EMPTY] * f->stray;
}

/* A coefficient of a product; outside of its window there is none. */
LANES_INLINE void product_at(const cellar_product *in, cellar_lanes *const rows[PRODUCT_N_KINDS],
                             size_t i, cellar_lanes out[PRODUCT_N_KINDS])
{
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++)
        out[kind] = i >= in->first && i < in->end ? rows[kind][i] : (cellar_lanes){0};
}

/* Coefficient i of `in` times the factor. */
LANES_INLINE void product_coefficient(const cellar_product *in, const cellar_factor *f, size_t i,
                                      cellar_product *out)
{
    cellar_lanes old[PRODUCT_N_KINDS], kept[PRODUCT_N_KINDS], crossed[PRODUCT_N_KINDS];

    product_at(in, in->single, i, old);
    product_keep(old, f, kept);
    kept[PRODUCT_EMPTY] += in->none[PRODUCT_EMPTY] * f->absent[i];
    kept[PRODUCT_SHOWN] += in->none[PRODUCT_EMPTY] * f->shown[i];
    kept[PRODUCT_RIGHT] += in->none[PRODUCT_EMPTY] * f->right[i];
    kept[PRODUCT_STRAY] += in->none[PRODUCT_STRAY] * f->absent[i];
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++)
        out->single[kind][i] = kept[kind];
    product_at(in, in->several, i, old);
    product_keep(old, f, kept);
    cross_terms(in, f, i, crossed);
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++) {
        out->several[kind][i] = kept[kind] + crossed[kind];
        out->all[kind][i] = out->single[kind][i] + out->several[kind][i];
    }
}

LANES_INLINE void multiply_body(const cellar_product *in, const cellar_factor *f,
                                cellar_product *out)
{
    size_t last = in->end - 1 + most(f->shown_end, f->absent_end);

    out->floor = in->floor;
    out->first = out->end = 1;
    for (size_t i = 1; i <= least(out->degree, last); i++) {
        product_coefficient(in, f, i, out);
        if (lanes_any_above(&out->all[PRODUCT_EMPTY][i], in->floor) ||
            lanes_any_above(&out->all[PRODUCT_SHOWN][i], in->floor) ||
            lanes_any_above(&out->all[PRODUCT_STRAY][i], in->floor)) {
            out->first = out->end == 1 ? i : out->first;
            out->end = i + 1;
        }
    }
    product_keep(in->none, f, out->none);
}

LANES_INLINE void last_body(const cellar_product *in, const cellar_factor *f, size_t n,
                            cellar_lanes out[PRODUCT_N_KINDS])
{
    cellar_lanes old[PRODUCT_N_KINDS], crossed[PRODUCT_N_KINDS];
    product_at(in, in->several, n, old);
    product_keep(old, f, out);
    cross_terms(in, f, n, crossed);
    for (int kind = 0; kind < PRODUCT_N_KINDS; kind++)
        out[kind] += crossed[kind];
}

/* ---- for the processor at hand ------------------------------------------------------------- */

typedef void multiply_way(const cellar_product *, const cellar_factor *, cellar_product *);
typedef void last_way(const cellar_product *, const cellar_factor *, size_t, cellar_lanes *);

static void multiply_plain(const cellar_product *in, const cellar_factor *f, cellar_product *out)
{
    multiply_body(in, f, out);
}

static void last_plain(const cellar_product *in, const cellar_factor *f, size_t n,
                       cellar_lanes *out)
{
    last_body(in, f, n, out);
}

#if defined(__x86_64__)
LANES_AVX2 static void multiply_avx2(const cellar_product *in, const cellar_factor *f,
                                     cellar_product *out)
{
    multiply_body(in, f, out);
}

LANES_AVX2 static void last_avx2(const cellar_product *in, const cellar_factor *f, size_t n,
                                 cellar_lanes *out)
{
    last_body(in, f, n, out);
}

LANES_AVX512 static void multiply_avx512(const cellar_product *in, const cellar_factor *f,
                                         cellar_product *out)
{
    multiply_body(in, f, out);
}

LANES_AVX512 static void last_avx512(const cellar_product *in, const cellar_factor *f, size_t n,
                                     cellar_lanes *out)
{
    last_body(in, f, n, out);
}

static multiply_way *const multiply_ways[] = {multiply_plain, multiply_avx2, multiply_avx512};
static last_way *const last_ways[] = {last_plain, last_avx2, last_avx512};
#else
static multiply_way *const multiply_ways[] = {multiply_plain};
static last_way *const last_ways[] = {last_plain};
#endif

void cellar_product_multiply(const cellar_product *in, const cellar_factor *f, cellar_product *out)
{
    CELLAR_ASSERT(out->degree <= in->degree && out->degree <= f->degree);
    multiply_ways[lanes_way()](in, f, out);
}

void cellar_product_last(const cellar_product *in, const cellar_factor *f, size_t n,
                         cellar_lanes out[PRODUCT_N_KINDS])
{
    CELLAR_ASSERT(n >= 1 && n <= in->degree && n <= f->degree);
    last_ways[lanes_way()](in, f, n, out);
}
