/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of independence. Empty cells have no term in G-square, and in chi-square they add up to
 * n - (expected numbers of the others): so only positive cells are visited. */
#include "utility/association.h"

#include <math.h>
#include <string.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

typedef struct association_sums {
    long double expected, chi_square, g_square;
} association_sums;

static void sums_add(association_sums *sums, double number, double expected)
{
    double away = number - expected;
    sums->expected += expected;
    sums->chi_square += (long double) away * away / expected;
    sums->g_square += 2.0L * number * logl((long double) number / expected);
}

static double upper_tail(double statistic, double df)
{
    return isfinite(statistic) && df > 0 ? pchisq(statistic, df, 0, 0) : NAN;
}

/* `fewest` is the smaller number of rows and columns, 0 when V is not defined. */
static void association_finish(const association_sums *sums, double total, double df, double fewest,
                               cellar_association *out)
{
    double chi = (double) (sums->chi_square + fmaxl(0, (long double) total - sums->expected));
    *out = (cellar_association){total, NAN, NAN, df, NAN, NAN, NAN};
    if (!(total > 0) || !(df > 0))
        return;
    out->chi_square = chi;
    out->g_square = fmax(0, (double) sums->g_square);
    if (fewest > 1)
        out->cramers_v = sqrt(chi / (total * (fewest - 1)));
    out->p_chi_square = upper_tail(out->chi_square, df);
    out->p_g_square = upper_tail(out->g_square, df);
}

/* How many of n sums are positive. */
static double count_positive(const double *sums, size_t n)
{
    double positive = 0;
    for (size_t i = 0; i < n; i++)
        positive += sums[i] > 0;
    return positive;
}

size_t cellar_association_room(const utility_frame *frame)
{
    size_t room = 0;
    for (size_t v = 0; v < frame->n_variables; v++)
        room += frame->radix[v];
    return room;
}

/* One-way sums of positive numbers; answers their total. */
static double cells_sum(const utility_frame *frame, const utility_cells *cells, double *sums)
{
    uint32_t leaves[CELLAR_MAX_VARIABLES];
    double total = 0;
    memset(sums, 0, cellar_association_room(frame) * sizeof *sums);
    for (size_t i = 0; i < cells->n; i++) {
        double *axis = sums;
        if (cells->value[i] <= 0)
            continue;
        utility_leaves(frame, cells->index[i], leaves);
        total += (double) cells->value[i];
        for (size_t v = 0; v < frame->n_variables; axis += frame->radix[v++])
            axis[leaves[v]] += (double) cells->value[i];
    }
    return total;
}

void cellar_association_of_cells(const utility_frame *frame, const utility_cells *cells,
                                 double *sums, cellar_association *out)
{
    double total = cells_sum(frame, cells, sums), n_cells = 1, n_free = 0, fewest = INFINITY;
    uint32_t leaves[CELLAR_MAX_VARIABLES];
    const double *axis = sums;
    association_sums s = {0};

    for (size_t v = 0; v < frame->n_variables; axis += frame->radix[v++]) {
        double n = count_positive(axis, frame->radix[v]);
        n_cells *= n;
        n_free += n - 1;
        fewest = fmin(fewest, n);
    }
    for (size_t i = 0; i < cells->n; i++) {
        double expected = total;
        if (cells->value[i] <= 0)
            continue;
        utility_leaves(frame, cells->index[i], leaves);
        axis = sums;
        for (size_t v = 0; v < frame->n_variables; axis += frame->radix[v++])
            expected *= axis[leaves[v]] / total;
        sums_add(&s, (double) cells->value[i], expected);
    }
    association_finish(&s, total, n_cells - 1 - n_free, frame->n_variables == 2 ? fewest : 0, out);
}

void cellar_association_of_pair(const double *table, size_t n_rows, size_t n_columns, double *sums,
                                cellar_association *out)
{
    double *rows = sums, *columns = sums + n_rows, total = 0, r, c;
    association_sums s = {0};
    memset(sums, 0, (n_rows + n_columns) * sizeof *sums);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < n_columns; j++) {
            double number = fmax(table[i * n_columns + j], 0);
            rows[i] += number;
            columns[j] += number;
            total += number;
        }
    for (size_t i = 0; i < n_rows; i++)
        for (size_t j = 0; j < n_columns; j++)
            if (table[i * n_columns + j] > 0)
                sums_add(&s, table[i * n_columns + j], rows[i] * (columns[j] / total));
    r = count_positive(rows, n_rows);
    c = count_positive(columns, n_columns);
    association_finish(&s, total, (r - 1) * (c - 1), fmin(r, c), out);
}
