/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A bound for Delaporte counts: the two parts told one by one. b is a post-processing of (X, Y)
 * (facts_delaporte.c), and both of these are ordered (facts_kernels.c), so their product is, and it
 * tells no less of larger shifts. X and Y have monotone ratios: for each y, losses above epsilon
 * are those of x >= x(y), which falls as y grows.
 *
 * All is done in doubles, by sums and products of positive numbers, of which the last in a row of n
 * is right to 8n units: ROUNDING covers n < 2^20. */
#include <math.h>

#include "base/memory.h"
#include "math/special.h"
#include "mechanism/facts_delaporte.h"

static const double ROUNDING = 1e-9, EPSILON_MAX = 500;

/* A Poisson law over first .. first + n - 1, and its sums: no less than P(>= x) and P(<= x). */
typedef struct poisson_row {
    double *above, *below;
} poisson_row;

typedef struct poisson_rows {
    int64_t first;
    size_t n;
    poisson_row of[2];
    double *room;
} poisson_rows;

static void row_fill(poisson_row *row, double mean, int64_t first, size_t n)
{
    size_t mode = mean > (double) first ? (size_t) (mean - (double) first) : 0;
    double x, low, high;
    mode = mode < n ? mode : n - 1;
    row->above[mode] = (double) expl(cellar_log_poisson(first + (int64_t) mode, mean));
    for (size_t i = mode + 1; i < n; i++)
        row->above[i] = row->above[i - 1] * mean / (double) (first + (int64_t) i);
    for (size_t i = mode; i > 0; i--)
        row->above[i - 1] = row->above[i] * (double) (first + (int64_t) i) / mean;
    x = (double) first; /* what lies outside, by a geometric series */
    low = x > 0 ? row->above[0] * x / (mean - x) : 0;
    x += (double) n;
    high = row->above[n - 1] * mean / (x - mean);
    row->below[0] = low + row->above[0];
    for (size_t i = 1; i < n; i++)
        row->below[i] = row->below[i - 1] + row->above[i];
    row->above[n - 1] += high;
    for (size_t i = n - 1; i > 0; i--)
        row->above[i - 1] += row->above[i];
}

/* 0 when they are too long. */
static int rows_init(poisson_rows *rows, const cellar_delaporte_setting *d)
{
    const double widths = 40, most = 1 << 17;
    double low = fmax(0, floor(d->a[0] - widths * sqrt(d->a[0]) - widths));
    double high = ceil(d->a[1] + widths * sqrt(d->a[1]) + 5 * widths);
    if (high - low > most)
        return 0;
    rows->first = (int64_t) low;
    rows->n = (size_t) (high - low);
    rows->room = cellar_alloc(4 * rows->n, sizeof *rows->room);
    if (rows->room == NULL)
        return 0;
    for (int i = 0; i < 2; i++) {
        rows->of[i].above = rows->room + 2 * (size_t) i * rows->n;
        rows->of[i].below = rows->of[i].above + rows->n;
        row_fill(&rows->of[i], d->a[i], rows->first, rows->n);
    }
    return 1;
}

/* P(X >= x) of a law where `upper`, and P(X < x). */
static double rows_beyond(const poisson_rows *rows, int next, int upper, double x)
{
    const poisson_row *row = &rows->of[next];
    double i = x - (double) rows->first;
    if (upper)
        return i <= 0 ? 1 : row->above[i < (double) rows->n ? (size_t) i : rows->n - 1];
    return i < 1 ? (x < 1 ? 0 : row->below[0])
                 : row->below[i <= (double) rows->n ? (size_t) i - 1 : rows->n - 1];
}

/* Y = y, y + 1, ..., and what of it lies in a range. */
typedef struct nbi_walk {
    const cellar_delaporte_setting *d;
    int64_t y;
    double q[2], mass[2]; /* of the smaller count and of the larger one */
    double sum[2];        /* of the last range */
} nbi_walk;

/* Up to `end`, or not quite so far. */
static void walk_to(nbi_walk *w, double end)
{
    enum { AT_MOST = 256 };
    const double least = 1e-300; /* what is less counts as 0 */
    double low = w->mass[0], high = w->mass[1], sum_low = 0, sum_high = 0;
    for (int i = 0; i < AT_MOST && (i == 0 || (double) w->y <= end); i++) {
        double y = (double) w->y++, ratio = (y + w->d->r) / (y + 1);
        sum_low += low;
        sum_high += high;
        low *= w->q[0] * ratio;
        high *= w->q[1] * ratio;
    }
    w->sum[0] = sum_low;
    w->sum[1] = sum_high;
    w->mass[0] = low > least ? low : 0;
    w->mass[1] = high > least ? high : 0;
}

/* delta of the pair, with P that of the larger count or of the smaller one. */
static double told_apart(const cellar_delaporte_setting *d, const poisson_rows *rows, int larger,
                         double epsilon)
{
    const double y_most = 1 << 17, enough = 1e-7, tiny = 1e-290, c = exp(epsilon);
    double t = 1 / (d->k * d->mean), step, level, sum = 0, size = 0, rest;
    double log_zero = d->r * log1p(d->k * d->s * t / (1 + t));
    double beta = d->k * (d->mean + (larger ? d->s : 0));
    nbi_walk w = {.d = d, .q = {cellar_delaporte_share(t), cellar_delaporte_next(d, t, d->s)}};
    step = log(w.q[1] / w.q[0]);
    level = (larger ? epsilon : -epsilon) + d->nu * d->s + log_zero;
    w.mass[0] = exp(-d->r * log1p(1 / t));
    w.mass[1] = exp(-d->r * log1p(1 / t) - log_zero);
    do { /* x > z, or x < z: the same x for all y of a range */
        double z = (level - (double) w.y * step) / d->tau, x = larger ? floor(z) + 1 : ceil(z), p;
        int is_over = !larger && z < -ROUNDING;
        walk_to(&w, (level - (x - 1) * d->tau) / step);
        p = w.sum[larger] * rows_beyond(rows, larger, larger, x);
        sum += fmax(p - c * w.sum[!larger] * rows_beyond(rows, !larger, larger, x), 0);
        /* the next x may have been taken for one that is not above, and the last y for the next */
        size += w.sum[larger] * rows_beyond(rows, larger, larger, larger ? x - 1 : x + 1);
        rest = is_over ? 0 : w.mass[larger] * (1 + beta); /* geometric */
    } while (rest > enough * sum && (double) w.y < y_most);
    return (sum + rest) * (1 + enough) + size * ROUNDING + c * tiny;
}

double cellar_delaporte_told_apart(const cellar_mechanism *m, int64_t from, int64_t shift,
                                   double epsilon)
{
    cellar_delaporte_setting d = cellar_delaporte_setting_of(m, from, shift);
    poisson_rows rows;
    double bound;
    if (!(epsilon >= 0) || !rows_init(&rows, &d))
        return 1;
    epsilon = fmin(epsilon, EPSILON_MAX);
    bound = fmax(told_apart(&d, &rows, 1, epsilon), told_apart(&d, &rows, 0, epsilon));
    cellar_free(rows.room);
    return fmin(bound, 1);
}
