/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/quantile.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Bins by exponent and leading bits: small risks differ by factors. 128 powers of two, 32 each. */
enum { N_BINS = 4096, BIN_SHIFT = 52 - 5, BIN_FIRST = (1023 - 128) << 5 };

typedef struct weighted_value {
    double value, weight;
} weighted_value;

static size_t bin_of(double value)
{
    uint64_t bits;
    if (!(value > 0x1p-128))
        return 0;
    memcpy(&bits, &value, sizeof bits);
    bits = (bits >> BIN_SHIFT) - BIN_FIRST;
    return bits < N_BINS ? (size_t) bits : N_BINS - 1;
}

static int value_order(const void *left, const void *right)
{
    const weighted_value *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

/* Within the bin that the quantile falls into, the values are sorted. */
static cellar_status quantile_in_bin(const cellar_weighted *w, size_t bin, double before,
                                     double wanted, double *out, cellar_error *err)
{
    size_t n = 0, k = 0;
    weighted_value *inside;
    for (size_t i = 0; i < w->n; i++)
        n += bin_of(w->values[i]) == bin;
    inside = cellar_alloc(n, sizeof *inside);
    if (inside == NULL)
        return cellar_fail_memory(err, "quantiles");
    for (size_t i = 0; i < w->n; i++)
        if (bin_of(w->values[i]) == bin)
            inside[k++] = (weighted_value){w->values[i], w->weights[i]};
    qsort(inside, n, sizeof *inside, value_order);
    for (k = 0; k + 1 < n && before + inside[k].weight < wanted; k++)
        before += inside[k].weight;
    *out = inside[k].value;
    cellar_free(inside);
    return CELLAR_OK;
}

cellar_status cellar_weighted_quantiles(const cellar_weighted *w, const double *levels,
                                        size_t n_levels, double *out, double *maximum,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double total = 0, before = 0, bins[N_BINS] = {0};
    size_t bin = 0;

    *maximum = 0;
    for (size_t i = 0; i < w->n; i++) {
        bins[bin_of(w->values[i])] += w->weights[i];
        *maximum = fmax(*maximum, w->values[i]);
        total += w->weights[i];
    }
    for (size_t i = 0; i < n_levels && status == CELLAR_OK; i++) {
        double wanted = levels[i] * total * (1 - 1e-12); /* sums in another order are as good */
        while (bin + 1 < N_BINS && before + bins[bin] < wanted)
            before += bins[bin++];
        while (bin > 0 && bins[bin] <= 0) /* rounding at the very end */
            before -= bins[--bin];
        status = quantile_in_bin(w, bin, before, wanted, &out[i], err);
    }
    return status;
}
