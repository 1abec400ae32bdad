/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/circle.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"

#define ALIAS 1e-12      /* of the whole, that aliases may add to a coefficient */
#define NEGLIGIBLE 1e-22 /* of the counts of a factor */
#define LEAST                                                                                      \
    1e-140 /* an absence below it is taken for it: what it multiplies is nothing anyhow            \
            */

void cellar_circle_init(cellar_circle *circle, size_t degree)
{
    double n = (double) degree, norm = 1 / dpois(n, n, 0);
    size_t turn = 16;

    CELLAR_ASSERT(degree <= CELLAR_PRODUCT_MAX);
    while (norm * dpois(n + (double) turn, n, 0) > ALIAS ||
           (turn <= degree && norm * dpois(n - (double) turn, n, 0) > ALIAS))
        turn += 2;
    CELLAR_ASSERT(turn <= CELLAR_CIRCLE_MAX);
    circle->n_turn = turn;
    circle->n_points = turn / 2 + 1;
    for (size_t i = 0; i < turn; i++) {
        circle->cosine[i] = cospi(2 * (double) i / (double) turn);
        circle->sine[i] = sinpi(2 * (double) i / (double) turn);
    }
}

/* ---- factors --------------------------------------------------------------------------------- */

/* Replaces a sum by its quotient with the absence, whose square is `norm`. */
static void point_divide(cellar_lanes value[2], const cellar_lanes by[2], const cellar_lanes *norm)
{
    cellar_lanes real = (value[0] * by[0] + value[1] * by[1]) / *norm;
    value[1] = (value[1] * by[0] - value[0] * by[1]) / *norm;
    value[0] = real;
}

static void point_finish(cellar_circle_point *point, const cellar_lanes *stray)
{
    cellar_lanes norm;
    for (int lane = 0; lane < CELLAR_LANES; lane++)
        if (hypot(point->product[0][lane], point->product[1][lane]) < LEAST) {
            point->product[0][lane] = LEAST;
            point->product[1][lane] = 0;
        }
    norm = point->product[0] * point->product[0] + point->product[1] * point->product[1];
    point->stray[0] = *stray;
    point->stray[1] = (cellar_lanes){0};
    point_divide(point->shown, point->product, &norm);
    point_divide(point->right, point->product, &norm);
    point_divide(point->stray, point->product, &norm);
}

LANES_INLINE void factor_body(const cellar_circle *circle, const double *base, size_t degree,
                              const cellar_lane_table *table, cellar_circle_point *out)
{
    size_t first = 0;

    while (first < degree && base[first] < NEGLIGIBLE)
        first++;
    while (degree > first && base[degree] < NEGLIGIBLE)
        degree--;
    for (size_t i = 0; i < circle->n_points; i++) {
        cellar_lanes product[2] = {{0}, {0}}, shown[2] = {{0}, {0}}, right[2] = {{0}, {0}};
        size_t turn = i * first % circle->n_turn;
        for (size_t j = first; j <= degree; j++) {
            double real = base[j] * circle->cosine[turn], imaginary = base[j] * circle->sine[turn];
            cellar_lanes present = table->present[j];
            turn += i;
            turn -= turn >= circle->n_turn ? circle->n_turn : 0;
            product[0] += real * table->absent[j];
            product[1] += imaginary * table->absent[j];
            if (j == 0)
                continue;
            shown[0] += real * present;
            shown[1] += imaginary * present;
            right[0] += (double) j * real * present;
            right[1] += (double) j * imaginary * present;
        }
        for (int k = 0; k < 2; k++) {
            out[i].product[k] = product[k];
            out[i].shown[k] = shown[k];
            out[i].right[k] = right[k];
        }
    }
}

/* ---- products -------------------------------------------------------------------------------- */

LANES_INLINE void multiply_body(const cellar_circle *circle, const cellar_circle_point *a,
                                const cellar_circle_point *b, cellar_circle_point *out)
{
    for (size_t i = 0; i < circle->n_points; i++) {
        const cellar_lanes *x = a[i].product, *y = b[i].product;
        out[i].product[0] = x[0] * y[0] - x[1] * y[1];
        out[i].product[1] = x[0] * y[1] + x[1] * y[0];
        for (int k = 0; k < 2; k++) {
            out[i].shown[k] = a[i].shown[k] + b[i].shown[k];
            out[i].right[k] = a[i].right[k] + b[i].right[k];
            out[i].stray[k] = a[i].stray[k] + b[i].stray[k];
        }
    }
}

/* The point `i` of a product: nothing of it goes through memory. */
LANES_INLINE void parts_at(const cellar_circle_point *const *parts, size_t n_parts, size_t i,
                           cellar_circle_point *out)
{
    cellar_circle_point at = parts[0][i];
    for (size_t p = 1; p < n_parts; p++) {
        const cellar_circle_point *b = &parts[p][i];
        cellar_lanes real = at.product[0] * b->product[0] - at.product[1] * b->product[1];
        at.product[1] = at.product[0] * b->product[1] + at.product[1] * b->product[0];
        at.product[0] = real;
        for (int k = 0; k < 2; k++) {
            at.shown[k] += b->shown[k];
            at.right[k] += b->right[k];
            at.stray[k] += b->stray[k];
        }
    }
    *out = at;
}

LANES_INLINE void coefficient_body(const cellar_circle *circle,
                                   const cellar_circle_point *const *parts, size_t n_parts,
                                   size_t n, cellar_lanes out[PRODUCT_N_KINDS],
                                   cellar_lanes *largest)
{
    cellar_lanes empty = {0}, shown = {0}, right = {0}, stray = {0};
    double scale = 1 / (double) circle->n_turn;
    size_t step = circle->n_turn - n % circle->n_turn, turn = 0;

    for (size_t i = 0; i < circle->n_points; i++) {
        double weight = i == 0 || i == circle->n_points - 1 ? scale : 2 * scale;
        double cosine = weight * circle->cosine[turn], sine = weight * circle->sine[turn];
        cellar_circle_point at;
        cellar_lanes u, v;
        parts_at(parts, n_parts, i, &at);
        if (i == 0)
            *largest = at.product[0] * at.shown[0];
        u = at.product[0] * cosine - at.product[1] * sine;
        v = at.product[0] * sine + at.product[1] * cosine;
        empty += u;
        shown += u * at.shown[0] - v * at.shown[1];
        right += u * at.right[0] - v * at.right[1];
        stray += u * at.stray[0] - v * at.stray[1];
        turn += step;
        turn -= turn >= circle->n_turn ? circle->n_turn : 0;
    }
    out[PRODUCT_EMPTY] = empty;
    out[PRODUCT_SHOWN] = shown;
    out[PRODUCT_RIGHT] = right;
    out[PRODUCT_STRAY] = stray;
}

/* ---- for the processor at hand --------------------------------------------------------------- */

typedef void factor_way(const cellar_circle *, const double *, size_t, const cellar_lane_table *,
                        cellar_circle_point *);
typedef void multiply_way(const cellar_circle *, const cellar_circle_point *,
                          const cellar_circle_point *, cellar_circle_point *);
typedef void coefficient_way(const cellar_circle *, const cellar_circle_point *const *, size_t,
                             size_t, cellar_lanes *, cellar_lanes *);

static void factor_plain(const cellar_circle *circle, const double *base, size_t degree,
                         const cellar_lane_table *table, cellar_circle_point *out)
{
    factor_body(circle, base, degree, table, out);
}

static void multiply_plain(const cellar_circle *circle, const cellar_circle_point *a,
                           const cellar_circle_point *b, cellar_circle_point *out)
{
    multiply_body(circle, a, b, out);
}

static void coefficient_plain(const cellar_circle *circle, const cellar_circle_point *const *parts,
                              size_t n_parts, size_t n, cellar_lanes *out, cellar_lanes *largest)
{
    coefficient_body(circle, parts, n_parts, n, out, largest);
}

#if defined(__x86_64__)
LANES_AVX2 static void factor_avx2(const cellar_circle *circle, const double *base, size_t degree,
                                   const cellar_lane_table *table, cellar_circle_point *out)
{
    factor_body(circle, base, degree, table, out);
}

LANES_AVX2 static void multiply_avx2(const cellar_circle *circle, const cellar_circle_point *a,
                                     const cellar_circle_point *b, cellar_circle_point *out)
{
    multiply_body(circle, a, b, out);
}

LANES_AVX2 static void coefficient_avx2(const cellar_circle *circle,
                                        const cellar_circle_point *const *parts, size_t n_parts,
                                        size_t n, cellar_lanes *out, cellar_lanes *largest)
{
    coefficient_body(circle, parts, n_parts, n, out, largest);
}

LANES_AVX512 static void factor_avx512(const cellar_circle *circle, const double *base,
                                       size_t degree, const cellar_lane_table *table,
                                       cellar_circle_point *out)
{
    factor_body(circle, base, degree, table, out);
}

LANES_AVX512 static void multiply_avx512(const cellar_circle *circle, const cellar_circle_point *a,
                                         const cellar_circle_point *b, cellar_circle_point *out)
{
    multiply_body(circle, a, b, out);
}

LANES_AVX512 static void coefficient_avx512(const cellar_circle *circle,
                                            const cellar_circle_point *const *parts, size_t n_parts,
                                            size_t n, cellar_lanes *out, cellar_lanes *largest)
{
    coefficient_body(circle, parts, n_parts, n, out, largest);
}

static factor_way *const factor_ways[] = {factor_plain, factor_avx2, factor_avx512};
static multiply_way *const multiply_ways[] = {multiply_plain, multiply_avx2, multiply_avx512};
static coefficient_way *const coefficient_ways[] = {coefficient_plain, coefficient_avx2,
                                                    coefficient_avx512};
#else
static factor_way *const factor_ways[] = {factor_plain};
static multiply_way *const multiply_ways[] = {multiply_plain};
static coefficient_way *const coefficient_ways[] = {coefficient_plain};
#endif

void cellar_circle_factor(const cellar_circle *circle, const double *base, size_t degree,
                          const cellar_lane_table *table, cellar_circle_point *out)
{
    cellar_lanes stray = base[0] * table->present[0];
    factor_ways[lanes_way()](circle, base, degree, table, out);
    for (size_t i = 0; i < circle->n_points; i++)
        point_finish(&out[i], &stray);
}

void cellar_circle_multiply(const cellar_circle *circle, const cellar_circle_point *a,
                            const cellar_circle_point *b, cellar_circle_point *out)
{
    multiply_ways[lanes_way()](circle, a, b, out);
}

void cellar_circle_coefficient(const cellar_circle *circle, const cellar_circle_point *const *parts,
                               size_t n_parts, size_t n, cellar_lanes out[PRODUCT_N_KINDS],
                               cellar_lanes *largest)
{
    coefficient_ways[lanes_way()](circle, parts, n_parts, n, out, largest);
}
