/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/law_row.h"

#include <math.h>

#include "base/memory.h"
#include "math/work.h"
#include "mechanism/kernels/kernel.h"

enum {
    ROOM_FIRST = 128,
    SUM_STEP = 4,         /* error of one addition */
    FROM_ZERO_MAX = 1024, /* distributions of smaller mean are run through from zero on */
};
static const double UNIT = 0x1.001p-106;  /* covers products of errors */
static const double TOO_SMALL = 0x1p-400; /* numbers below may come as 0 (math/run.h) */
static const double END = 0x1p-700;

void cellar_law_row_clear(cellar_law_row *row)
{
    cellar_free(row->p);
    cellar_free(row->below);
    cellar_free(row->above);
    *row = (cellar_law_row){0};
}

/* ---- making --------------------------------------------------------------------------- */

/* A number on the rising side with b P(b) below 2^-380, by long doubles, itself not too small to be
 * told; 0 when there is none or the distribution is short. */
static int64_t row_start(const cellar_kernel *k, int64_t count)
{
    const long double mean = cellar_kernel_mean(k, count);
    if (mean < FROM_ZERO_MAX || !k->law->run_anywhere)
        return 0;
    return cellar_kernel_low_number(k, count, (int64_t) mean, 380);
}

/* Relative, of a number; the double of a double-double is off by one rounding more. */
static double row_slack(const cellar_law_row *row)
{
    return row->run.error * UNIT + 0x1p-50;
}

/* P(< b) <= b P(b) on the rising side of a unimodal distribution, which two numbers prove. */
static int row_bound_before(cellar_law_row *row)
{
    double slack = row_slack(row);
    if (row->first == 0)
        return 1;
    row->before = (double) row->first * row->p[0].high * (1 + slack);
    return row->p[0].high * (1 + slack) < row->p[1].high * (1 - slack);
}

static int row_grow(cellar_law_row *row, size_t n)
{
    size_t room = row->room == 0 ? ROOM_FIRST : row->room;
    cellar_dword *p, *below;
    while (room < n)
        room *= 2;
    if (room == row->room)
        return 1;
    p = cellar_realloc(row->p, room, sizeof *p);
    if (p != NULL)
        row->p = p;
    below = cellar_realloc(row->below, room, sizeof *below);
    if (below != NULL)
        row->below = below;
    if (p != NULL && below != NULL)
        row->room = room;
    else
        cellar_work_note_memory();
    return p != NULL && below != NULL;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Goes on to n numbers in all, and an eighth more, or to twice as many as there are: it may end
 * before. What has fallen below the end is dropped with all that follows, so that what is kept
 * stays in the range in which double-doubles are right. */
static int row_extend(cellar_law_row *row, size_t n)
{
    const size_t from = row->n, wanted = least(n + n / 8, CELLAR_LAW_ROW_MAX);
    const size_t to = least(wanted, from > 0 ? 2 * from : ROOM_FIRST);
    cellar_dword sum = from > 0 ? row->below[from - 1] : (cellar_dword){0};
    if (row->has_ended || to <= from || cellar_work_is_over() || !row_grow(row, wanted))
        return 0;
    cellar_work_add((double) (to - from));
    cellar_run_next(&row->run, to - from, row->p + from);
    if (!(row->run.error < 0x1p50))
        return 0;
    for (; row->n < to && !row->has_ended; row->n++) {
        cellar_dword p = row->p[row->n];
        row->has_ended = row->n > 0 && p.high < END && p.high < row->p[row->n - 1].high;
        if (row->has_ended)
            break;
        row->untold += p.high > 0 ? 0 : TOO_SMALL * (1 + 0x1p-30);
        row->below[row->n] = sum = cellar_dword_add(sum, p);
    }
    return from > 0 || row_bound_before(row);
}

int cellar_kernel_law_row(const cellar_mechanism *m, int64_t count, cellar_law_row *out)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    *out = (cellar_law_row){.k = k, .count = count};
    if (k->law->run == NULL)
        return 0;
    out->first = row_start(k, count);
    if (k->law->run(k, count, out->first, &out->run, NULL) == CELLAR_OK &&
        row_extend(out, ROOM_FIRST))
        return 1;
    cellar_law_row_clear(out);
    return 0;
}

static int row_has(const cellar_law_row *row, int64_t b)
{
    return b >= row->first && b < row->first + (int64_t) row->n;
}

int cellar_law_row_reach(cellar_law_row *row, int64_t b)
{
    if (b < row->first || b - row->first >= CELLAR_LAW_ROW_MAX)
        return 0;
    while (!row_has(row, b))
        if (!row_extend(row, (size_t) (b - row->first) + 1))
            return 0;
    return 1;
}

/* A geometric series bounds it. The bound of ratios is a long double, so it is given some room. */
double cellar_law_row_rest(const cellar_law_row *row, int64_t b, double p)
{
    double r = (double) row->k->law->ratio_bound(row->k, row->count, b) * (1 + 1e-12);
    return r < 1 ? p * (r / (1 - r)) * (1 + 1e-12) : INFINITY;
}

static int row_bound_after(const cellar_law_row *row, double *after)
{
    int64_t last = row->first + (int64_t) row->n - 1;
    *after = cellar_law_row_rest(row, last, row->p[row->n - 1].high * (1 + row_slack(row)));
    return isfinite(*after);
}

/* 1 when the last number is that small, beyond the mode. */
static int row_is_small(const cellar_law_row *row, int bits)
{
    double last = row->p[row->n - 1].high;
    return row->has_ended ||
           (last < ldexp(1, -bits) && row->n > 1 && last < row->p[row->n - 2].high);
}

/* Takes room for all numbers down to 2^-bits, as far as they are known to reach. */
static int row_reserve(cellar_law_row *row, int bits)
{
    int64_t low, high;
    cellar_kernel_support(&row->k->base, row->count, ldexp(1, -bits), &low, &high);
    return high - row->first >= CELLAR_LAW_ROW_MAX ||
           row_grow(row, (size_t) (high - row->first) + 1);
}

int cellar_law_row_finish(cellar_law_row *row, int bits)
{
    cellar_dword sum = {0}, *above;
    double after;
    if (!row_is_small(row, bits) && !row_reserve(row, bits))
        return 0;
    while (!row_is_small(row, bits))
        if (!row_extend(row, row->n + row->n / 4))
            return 0;
    if (!row_bound_after(row, &after))
        return 0;
    above = cellar_realloc(row->above, row->n, sizeof *above);
    if (above == NULL) {
        cellar_work_note_memory();
        return 0;
    }
    row->above = above;
    row->after = after;
    row->n_above = row->n;
    cellar_work_add((double) row->n / 4);
    for (size_t i = row->n; i-- > 0;)
        above[i] = sum = cellar_dword_add(sum, row->p[i]);
    return 1;
}

/* ---- asking ------------------------------------------------------------------------------ */

/* x, right to the row's error, with up to `more` on top of it. */
static void row_ball(const cellar_law_row *row, cellar_dword x, double more, arb_t out)
{
    double error = (row->run.error + SUM_STEP * (double) (row->n + 1)) * 1.001 * UNIT;
    cellar_dword_ball(x, x.high * error + more, out);
}

void cellar_law_row_pmf(const cellar_law_row *row, int64_t b, arb_t out)
{
    cellar_dword p = row->p[b - row->first];
    row_ball(row, p, p.high > 0 ? 0 : TOO_SMALL, out);
}

void cellar_law_row_below(const cellar_law_row *row, int64_t b, arb_t out)
{
    row_ball(row, row->below[b - row->first], row->before + row->untold, out);
}

/* Numbers come as 0 before all others only. */
void cellar_law_row_above(const cellar_law_row *row, int64_t b, arb_t out)
{
    size_t i = (size_t) (b - row->first);
    row_ball(row, row->above[i], row->after + (row->p[i].high > 0 ? 0 : row->untold), out);
}
