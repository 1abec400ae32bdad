/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "utility/margins.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

/* A margin of more cells is left out, and so is what would make all of them hold more. */
#define MARGIN_MAX_CELLS (UINT64_C(1) << 22)
#define MARGINS_MAX_CELLS (UINT64_C(1) << 25)

/* ---- which there are ---------------------------------------------------------------- */

/* Adds the margin of `ways` variables, unless it is too large. */
static cellar_status margins_add(utility_margins *margins, size_t *capacity,
                                 const utility_frame *frame, const size_t *variables, size_t ways,
                                 cellar_error *err)
{
    utility_margin margin = {.n_ways = ways, .first = margins->n_cells};
    uint64_t n = 1;
    for (size_t k = 0; k < ways; k++) {
        margin.variables[k] = variables[k];
        n = n > MARGIN_MAX_CELLS ? n : n * frame->radix[variables[k]];
    }
    if (n > MARGIN_MAX_CELLS || margins->n_cells + n > MARGINS_MAX_CELLS) {
        margins->n_left_out++;
        return CELLAR_OK;
    }
    if (!cellar_grow(&margins->items, capacity, margins->n + 1, sizeof *margins->items))
        return cellar_fail_memory(err, "margins");
    margin.n_cells = (size_t) n;
    margins->n_cells += (size_t) n;
    margins->items[margins->n++] = margin;
    return CELLAR_OK;
}

/* All sets of `ways` variables, in lexicographic order. */
static cellar_status margins_list(utility_margins *margins, size_t *capacity,
                                  const utility_frame *frame, size_t ways, cellar_error *err)
{
    size_t chosen[UTILITY_MAX_WAYS] = {0, 1, 2}, n = frame->n_variables;
    while (ways <= n) {
        size_t k = ways;
        cellar_status status = margins_add(margins, capacity, frame, chosen, ways, err);
        if (status != CELLAR_OK)
            return status;
        while (k > 0 && chosen[k - 1] == n - ways + k - 1)
            k--;
        if (k == 0)
            break;
        for (chosen[k - 1]++; k < ways; k++)
            chosen[k] = chosen[k - 1] + 1;
    }
    return CELLAR_OK;
}

cellar_status cellar_utility_margins_init(utility_margins *margins, const utility_frame *frame,
                                          size_t max_ways, cellar_error *err)
{
    size_t capacity = 0;
    cellar_status status = CELLAR_OK;
    *margins = (utility_margins){0};
    for (size_t ways = 1; ways <= max_ways && status == CELLAR_OK; ways++)
        status = margins_list(margins, &capacity, frame, ways, err);
    if (status != CELLAR_OK)
        return status;
    margins->original = cellar_alloc(margins->n_cells, sizeof *margins->original);
    if (margins->original == NULL)
        return cellar_fail_memory(err, "margins");
    cellar_utility_margins_sum(margins, frame, &frame->original, margins->original);
    return CELLAR_OK;
}

void cellar_utility_margins_clear(utility_margins *margins)
{
    if (margins->original != NULL)
        cellar_wipe(margins->original, margins->n_cells * sizeof *margins->original);
    cellar_free(margins->original);
    cellar_free(margins->items);
    *margins = (utility_margins){0};
}

/* ---- sums ------------------------------------------------------------------------------ */

static size_t margin_cell(const utility_margin *margin, const utility_frame *frame,
                          const uint32_t *leaves)
{
    size_t cell = 0;
    for (size_t k = 0; k < margin->n_ways; k++)
        cell = cell * frame->radix[margin->variables[k]] + leaves[margin->variables[k]];
    return margin->first + cell;
}

void cellar_utility_margins_sum(const utility_margins *margins, const utility_frame *frame,
                                const utility_cells *cells, double *sums)
{
    uint32_t leaves[CELLAR_MAX_VARIABLES];
    memset(sums, 0, margins->n_cells * sizeof *sums);
    for (size_t i = 0; i < cells->n; i++) {
        utility_leaves(frame, cells->index[i], leaves);
        for (size_t m = 0; m < margins->n; m++)
            sums[margin_cell(&margins->items[m], frame, leaves)] += (double) cells->value[i];
    }
}

double cellar_utility_total_variation(const utility_margin *margin, const double *original,
                                      const double *released)
{
    const double *a = original + margin->first, *b = released + margin->first;
    double total_a = 0, total_b = 0, sum = 0;
    for (size_t i = 0; i < margin->n_cells; i++) {
        total_a += a[i];
        total_b += fmax(b[i], 0);
    }
    if (!(total_a > 0) || !(total_b > 0))
        return NAN;
    for (size_t i = 0; i < margin->n_cells; i++)
        sum += fabs(a[i] / total_a - fmax(b[i], 0) / total_b);
    return sum / 2;
}

double cellar_utility_margin_square(const utility_margin *margin, const double *original,
                                    const double *released)
{
    double sum = 0;
    for (size_t i = margin->first; i < margin->first + margin->n_cells; i++)
        sum += (released[i] - original[i]) * (released[i] - original[i]);
    return sum / (double) margin->n_cells;
}

/* ---- expectations ------------------------------------------------------------------------- */

static double moments_variance(const utility_moments *moments)
{
    return moments->square - moments->bias * moments->bias;
}

/* Starts as if all cells were zeros, and puts each count in its place. */
static void margins_fill(const utility_margins *margins, const utility_frame *frame,
                         const utility_expectations *expectations, double *bias, double *variance)
{
    const utility_moments *zero = &expectations->moments[0]; /* counts ascend */
    uint32_t leaves[CELLAR_MAX_VARIABLES];
    for (size_t m = 0; m < margins->n; m++) {
        const utility_margin *margin = &margins->items[m];
        double n = (double) frame->n_leaves / (double) margin->n_cells;
        for (size_t i = margin->first; i < margin->first + margin->n_cells; i++) {
            bias[i] = n * zero->bias;
            variance[i] = n * moments_variance(zero);
        }
    }
    for (size_t i = 0; i < frame->original.n; i++) {
        const utility_moments *own =
            &expectations->moments[cellar_utility_find(expectations, frame->original.value[i])];
        utility_leaves(frame, frame->original.index[i], leaves);
        for (size_t m = 0; m < margins->n; m++) {
            size_t cell = margin_cell(&margins->items[m], frame, leaves);
            bias[cell] += own->bias - zero->bias;
            variance[cell] += moments_variance(own) - moments_variance(zero);
        }
    }
}

cellar_status cellar_utility_margins_expect(const utility_margins *margins,
                                            const utility_frame *frame,
                                            const utility_expectations *expectations, double *out,
                                            cellar_error *err)
{
    double *bias, *variance;
    int known = expectations->exists && frame->n_cells == frame->n_leaves;
    for (size_t m = 0; m < margins->n; m++)
        out[m] = NAN;
    if (!known)
        return CELLAR_OK;
    bias = cellar_alloc(margins->n_cells, sizeof *bias);
    variance = cellar_alloc(margins->n_cells, sizeof *variance);
    if (bias != NULL && variance != NULL) {
        margins_fill(margins, frame, expectations, bias, variance);
        for (size_t m = 0; m < margins->n; m++) {
            const utility_margin *margin = &margins->items[m];
            out[m] = 0;
            for (size_t i = margin->first; i < margin->first + margin->n_cells; i++)
                out[m] += bias[i] * bias[i] + variance[i];
            out[m] /= (double) margin->n_cells;
        }
    }
    known = bias != NULL && variance != NULL;
    cellar_free(bias);
    cellar_free(variance);
    return known ? CELLAR_OK : cellar_fail_memory(err, "margins");
}
