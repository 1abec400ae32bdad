/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "mechanism/kernels/kernel_cells.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/run.h"

enum {
    CHUNK = 256,         /* probabilities made at a time */
    START_BITS = 104,    /* what lies before the start is less likely than 2^-104 */
    SUM_STEP = 4,        /* error of one addition */
    RUN_ERROR = 1 << 20, /* errors beyond this are worth a new start */
};

/* A running sum of probabilities and bounds of its error. Each chunk is summed by itself before it
 * is added, so that no probability passes through more than CHUNK + n/CHUNK additions. */
typedef struct running_sum {
    cellar_dword before, chunk; /* the chunks before this one, and this one so far */
    double n_chunks;
    double worst;        /* the largest error of a probability so far */
    double start;        /* 2^64 times a bound of what lies before the start */
    int64_t b;           /* of the next probability */
    int is_done, is_bad; /* the last threshold is all ones; the start is no good */
} running_sum;

/* ---- one threshold ----------------------------------------------------------- */

/* T with T < 2^64 t <= T + 1 for every t in (0, 1] within `error` units of 2^-64 of x 2^-64, less
 * 2^63; 0 when they differ. Only x's whole part and what is left of it matter: the first is exact,
 * the second is rounded once or twice. */
static int cell_of_sum(cellar_dword x, double error, int64_t *out)
{
    double whole = x.high < 0x1p53 ? (double) (int64_t) x.high : x.high; /* floor() */
    double rest = (x.high - whole) + x.low, carry = (double) (int64_t) rest;
    double part;
    uint64_t cell;

    carry -= carry > rest;
    part = rest - carry;
    error += 0x1p-50;
    if (whole >= 0x1p64) {
        cell = carry < 0 ? (uint64_t) (int64_t) carry : UINT64_MAX; /* modulo 2^64 */
        part = carry < 0 ? part : 0.5;                              /* beyond one: all ones */
    } else {
        cell = (uint64_t) whole + (uint64_t) (int64_t) carry;
    }
    *out = (int64_t) (cell ^ (UINT64_C(1) << 63));
    if (!(error < 0.25))
        return 0;
    return (part > error || cell == 0) && (part < 1 - error || cell == UINT64_MAX);
}

/* ---- the list ------------------------------------------------------------------ */

static cellar_status cells_add(cellar_kernel_cells *cells, int64_t b, int64_t cell,
                               cellar_error *err)
{
    if (cells->n == cells->n_room) {
        size_t n_room = cells->n_room == 0 ? CHUNK : 2 * cells->n_room;
        int64_t *list = cellar_realloc(cells->list, n_room, sizeof *list);
        if (list == NULL)
            return cellar_fail_memory(err, "the thresholds of a sampler");
        cells->list = list;
        cells->n_room = n_room;
    }
    if (cells->n == 1 && cell == INT64_MIN) /* all zeros again: only the last one is kept */
        cells->n = 0;
    if (cells->n == 0)
        cells->first = b;
    cells->list[cells->n++] = cell;
    return CELLAR_OK;
}

/* Adds the thresholds of one chunk of probabilities. */
static cellar_status cells_extend(cellar_kernel_cells *cells, const cellar_law *law,
                                  running_sum *sum, const cellar_dword *p, double error,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double units;

    sum->worst = error > sum->worst ? error : sum->worst;
    units = (sum->worst + SUM_STEP * (CHUNK + sum->n_chunks + 1)) * 0x1.001p-106;
    sum->chunk = (cellar_dword){0};
    for (size_t i = 0; i < CHUNK && !sum->is_done; i++, sum->b++) {
        cellar_dword x;
        int64_t cell;
        sum->chunk = cellar_dword_add(sum->chunk, p[i]);
        x = cellar_dword_scale(cellar_dword_add(sum->before, sum->chunk), 0x1p64);
        if (!cell_of_sum(x, units * x.high + sum->start, &cell)) {
            cellar_inverse_prove(law, sum->b, 1, &cell);
            cells->n_by_balls++;
        }
        CELLAR_TRY(cells_add(cells, sum->b, cell, err));
        sum->is_done = cell == INT64_MAX;
    }
    sum->before = cellar_dword_add(sum->before, sum->chunk);
    sum->n_chunks++;
out:
    return status;
}

/* ---- where to start ------------------------------------------------------------- */

/* The largest b up to the count with b P(b) at most 2^-START_BITS, roughly; 0 when there is none.
 */
static int64_t start_of(const cellar_kernel *k, int64_t count)
{
    if (count <= k->law->run_from_zero)
        return 0;
    return cellar_kernel_low_number(k, count, count, START_BITS);
}

/* P(< b) <= b P(b) on the rising side of a unimodal distribution, given P(b) and P(b + 1). */
static void sum_start(running_sum *sum, int64_t b, const cellar_dword *p, double error)
{
    double slack = error * 0x1.001p-106;
    *sum = (running_sum){.b = b};
    if (b > 0) {
        sum->is_bad = !(p[0].high * (1 + slack + 0x1p-50) < p[1].high * (1 - slack));
        sum->start = (double) b * p[0].high * (1 + slack + 0x1p-50) * 0x1p64;
        sum->is_bad |= !(sum->start < 0x1p-20);
    }
}

/* The next chunk of probabilities. A long run is started anew from balls now and then. */
static cellar_status run_chunk(const cellar_kernel *k, int64_t count, int64_t b, cellar_run *run,
                               cellar_dword *p, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (k->law->run_anywhere && run->error > RUN_ERROR && run->error < INFINITY) {
        *run = (cellar_run){0};
        status = k->law->run(k, count, b, run, err);
    }
    if (status == CELLAR_OK)
        cellar_run_next(run, CHUNK, p);
    return status;
}

cellar_status cellar_kernel_cells_make(const cellar_kernel *k, int64_t count, const cellar_law *law,
                                       size_t n_max, cellar_kernel_cells *out, int *found,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_dword p[CHUNK];
    cellar_run run = {0};
    running_sum sum;
    int64_t start;

    *out = (cellar_kernel_cells){0};
    *found = 0;
    if (k->law->run == NULL)
        return CELLAR_OK;
    start = start_of(k, count);
    CELLAR_TRY(k->law->run(k, count, start, &run, err));
    cellar_run_next(&run, CHUNK, p);
    sum_start(&sum, start, p, run.error);
    while (run.error < 0x1p40 && !sum.is_bad && out->n <= n_max) {
        CELLAR_TRY(cells_extend(out, law, &sum, p, run.error, err));
        if (sum.is_done)
            break;
        CELLAR_TRY(run_chunk(k, count, sum.b, &run, p, err));
    }
    *found = sum.is_done;
out:
    if (status != CELLAR_OK || !*found)
        cellar_kernel_cells_clear(out);
    return status;
}

void cellar_kernel_cells_clear(cellar_kernel_cells *cells)
{
    cellar_free(cells->list);
    *cells = (cellar_kernel_cells){0};
}
