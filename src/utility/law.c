/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells with the same count have the same law: each count of the table is summed once, zeros by
 * their number. What is left out of a sum has mass 1e-20, far below the last digit. */
#include "utility/law.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

static const double LAW_TAIL = 1e-20;
#define LAW_MAX_WIDTH (INT64_C(1) << 24)
#define LAW_MAX_TERMS (INT64_C(1) << 30) /* of all counts together */

/* ---- the law of a count ----------------------------------------------------------- */

/* 1 when the standard deviation tells so at once: to find where such a law ends may take long. */
static int law_is_wide(const cellar_mechanism *mechanism, int64_t count)
{
    double mean, variance;
    if (mechanism->ops->mean_variance == NULL)
        return 0;
    mechanism->ops->mean_variance(mechanism, count, &mean, &variance);
    return sqrt(variance) > (double) LAW_MAX_WIDTH;
}

/* Fills p with P(low..high | count); 0 when that is too wide. */
static int law_fill(utility_law *law, int64_t count, cellar_error *err, cellar_status *status)
{
    int64_t width;
    *status = CELLAR_OK;
    if (law_is_wide(law->mechanism, count))
        return 0;
    cellar_mechanism_support(law->mechanism, count, LAW_TAIL, &law->low, &law->high);
    if (__builtin_sub_overflow(law->high, law->low, &width) || width >= LAW_MAX_WIDTH)
        return 0;
    if (!cellar_grow(&law->p, &law->capacity, (size_t) width + 1, sizeof *law->p)) {
        *status = cellar_fail_memory(err, "the distribution of a mechanism");
        return 0;
    }
    for (int64_t i = 0; i <= width; i++)
        law->p[i] = cellar_mechanism_pmf(law->mechanism, count, law->low + i);
    return 1;
}

cellar_status cellar_utility_law_init(utility_law *law, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (law->mechanism != NULL && law->mechanism->ops->is_additive &&
        !law_fill(law, 0, err, &status))
        law->mechanism = NULL;
    return status;
}

void cellar_utility_law_clear(utility_law *law)
{
    cellar_free(law->p);
    *law = (utility_law){0};
}

cellar_status cellar_utility_law_row(utility_law *law, int64_t count, utility_row *out,
                                     cellar_error *err)
{
    static const double one = 1;
    cellar_status status = CELLAR_OK;
    int64_t shift = 0;

    *out = (utility_row){.count = count};
    if (law->mechanism == NULL)
        return CELLAR_OK;
    if (count == 0 && law->zeros_stay) {
        *out = (utility_row){.n = 1, .p = &one};
        return CELLAR_OK;
    }
    if (law->mechanism->ops->is_additive)
        shift = count;
    else if (!law_fill(law, count, err, &status))
        return status;
    *out = (utility_row){count, law->low + shift, (size_t) (law->high - law->low) + 1, law->p};
    return CELLAR_OK;
}

/* ---- sums --------------------------------------------------------------------------- */

static void moments_sum(const utility_law *law, const utility_row *row, const uint64_t *radii,
                        size_t n_radii, utility_moments *out, double *within)
{
    double count = (double) row->count, root = sqrt(count);
    for (size_t r = 0; r < n_radii; r++)
        within[r] = 0;
    for (size_t i = 0; i < row->n; i++) {
        int64_t released = utility_law_released(law, row->first + (int64_t) i);
        double p = row->p[i], away = (double) released - count, size = fabs(away);
        double roots = fabs(root - (released > 0 ? sqrt((double) released) : 0));
        out->bias += p * away;
        out->square += p * away * away;
        out->absolute += p * size;
        out->root += p * roots;
        out->root_square += p * roots * roots;
        *(released > 0 ? &out->positive : &out->not_positive) += p;
        for (size_t r = n_radii; r-- > 0 && size <= (double) radii[r];)
            within[r] += p;
    }
    if (utility_law_is_symmetric(law))
        out->bias = 0;
}

static int moments_order(const void *a, const void *b)
{
    int64_t x = ((const utility_moments *) a)->count, y = ((const utility_moments *) b)->count;
    return (x > y) - (x < y);
}

/* The different counts, ascending, with how many cells have each. */
static cellar_status expect_counts(const utility_frame *frame, const uint64_t *counts,
                                   size_t n_counts, utility_expectations *out, cellar_error *err)
{
    size_t n = frame->original.n + n_counts + 1, last = 0;
    out->moments = cellar_alloc(n, sizeof *out->moments);
    if (out->moments == NULL)
        return cellar_fail_memory(err, "counts");
    out->moments[0].times = (double) frame->n_cells - (double) frame->original.n;
    for (size_t i = 0; i < n_counts; i++)
        out->moments[1 + i].count = (int64_t) counts[i];
    for (size_t i = 0; i < frame->original.n; i++)
        out->moments[1 + n_counts + i] =
            (utility_moments){.count = frame->original.value[i], .times = 1};
    qsort(out->moments, n, sizeof *out->moments, moments_order);
    for (size_t i = 1; i < n; i++)
        if (out->moments[i].count == out->moments[last].count)
            out->moments[last].times += out->moments[i].times;
        else
            out->moments[++last] = out->moments[i];
    out->n = last + 1;
    return CELLAR_OK;
}

cellar_status cellar_utility_expect(utility_law *law, const utility_frame *frame,
                                    const uint64_t *counts, size_t n_counts, const uint64_t *radii,
                                    size_t n_radii, utility_expectations *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int64_t n_terms = 0;

    *out = (utility_expectations){.n_radii = n_radii};
    CELLAR_TRY(expect_counts(frame, counts, n_counts, out, err));
    out->within = cellar_alloc(out->n * n_radii, sizeof *out->within);
    if (out->within == NULL) {
        status = cellar_fail_memory(err, "counts");
        goto out;
    }
    for (size_t i = 0; i < out->n; i++) {
        utility_row row;
        CELLAR_TRY(cellar_utility_law_row(law, out->moments[i].count, &row, err));
        n_terms += (int64_t) row.n;
        if (row.n == 0 || n_terms > LAW_MAX_TERMS)
            goto out;
        moments_sum(law, &row, radii, n_radii, &out->moments[i], out->within + i * n_radii);
    }
    out->exists = 1;
out:
    return status;
}

void cellar_utility_expectations_clear(utility_expectations *expectations)
{
    cellar_free(expectations->moments);
    cellar_free(expectations->within);
    *expectations = (utility_expectations){0};
}

size_t cellar_utility_find(const utility_expectations *expectations, int64_t count)
{
    size_t low = 0, high = expectations->n - 1;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (expectations->moments[middle].count < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
