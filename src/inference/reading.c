/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/cell_set.h"
#include "inference/interval_parts.h"
#include "inference/noisy.h"

/* Laws of larger counts would take minutes. */
static const int64_t KERNEL_MAX = 100000000;

static int is_chosen(const cellar_cell_set *set, const cellar_cell_set *without, size_t cell)
{
    return set->has[cell] && (without == NULL || !without->has[cell]);
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;
    return (a > b) - (a < b);
}

/* Keeps the numbers themselves. */
static cellar_status reading_keep(cellar_reading *r, const cellar_noisy *noisy,
                                  const cellar_cell_set *set, const cellar_cell_set *without,
                                  size_t n, cellar_error *err)
{
    r->is_of_parts = 1;
    if (n == 0)
        return CELLAR_OK;
    r->parts = cellar_alloc(n, sizeof *r->parts);
    if (r->parts == NULL)
        return cellar_fail_memory(err, "a sum of cells");
    for (size_t i = 0; i < noisy->n_cells; i++)
        if (is_chosen(set, without, i))
            r->parts[r->n_parts++] = noisy->released[i];
    qsort(r->parts, r->n_parts, sizeof *r->parts, by_number);
    return CELLAR_OK;
}

/* Poisson(a + alpha) of n cells is Poisson(sum of a + n alpha). */
static cellar_status reading_close(cellar_reading *r, size_t n, cellar_error *err)
{
    double alpha = cellar_mechanism_parameter_value(r->channel.mechanism, 0);
    char spec[64];
    cellar_status status;
    snprintf(spec, sizeof spec, "poisson:alpha=%.15g", (double) n * alpha);
    status = cellar_mechanism_create(spec, &r->closed, err);
    r->channel.mechanism = r->closed;
    return status;
}

cellar_status cellar_reading_init(cellar_reading *r, const cellar_noisy *noisy,
                                  const cellar_cell_set *set, const cellar_cell_set *without,
                                  cellar_error *err)
{
    cellar_status status;
    size_t n = 0;
    *r = (cellar_reading){.channel = noisy->channel};
    for (size_t i = 0; i < noisy->n_cells; i++)
        if (is_chosen(set, without, i)) {
            if (__builtin_add_overflow(r->number, noisy->released[i], &r->number))
                return cellar_fail(err, CELLAR_ERR_INPUT,
                                   "the released values are too large to be summed");
            n++;
        }
    if (!cellar_channel_is_additive(&noisy->channel) && r->number > KERNEL_MAX)
        return cellar_fail(
            err, CELLAR_ERR_INPUT,
            "the distribution of %s is not summed for released values above %" PRId64,
            cellar_mechanism_name(noisy->mechanism), KERNEL_MAX);
    r->n_noises = n * noisy->n_summed;
    if (n == 1)
        return CELLAR_OK;
    if (cellar_channel_is_additive(&noisy->channel) &&
        !cellar_channel_is_clamped(&noisy->channel)) {
        status = cellar_noise_sum_create(noisy->mechanism, r->n_noises, &r->sum, err);
        r->channel.sum = r->sum;
        return status;
    }
    if (n > 0 && noisy->channel.threshold == 0 &&
        strcmp(cellar_mechanism_name(noisy->mechanism), "poisson") == 0)
        return reading_close(r, n, err);
    return reading_keep(r, noisy, set, without, n, err);
}

void cellar_reading_clear(cellar_reading *r)
{
    cellar_noise_sum_free(r->sum);
    cellar_mechanism_free(r->closed);
    cellar_free(r->parts);
}
