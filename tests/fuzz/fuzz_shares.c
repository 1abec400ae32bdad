/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shares between commas, and after the first line end a threshold. What is read must add up. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>

#include "base/memory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_SHARES = 64 };

static void shares_use(cellar_exposure_curve *curve, const char *threshold)
{
    cellar_exposure_pair pair = {.population = 100, .k = 3};
    uint64_t cutoff;
    double h = cellar_exposure_entropy(curve);
    if (!(fabs(h - cellar_exposure_integral(curve)) <= 1e-9 * (1 + h)))
        abort();
    if (cellar_exposure_cutoff(curve, threshold, &cutoff, NULL) == CELLAR_OK &&
        !(cellar_exposure_value(curve, cutoff) <= 1 + 1e-6))
        abort();
    if (cellar_exposure_statistical(curve, &pair, 1, 1, NULL) == CELLAR_OK &&
        !(pair.value >= 0 && pair.value <= 1 + 1e-6))
        abort();
    cellar_exposure_curve_free(curve);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *shares[MAX_SHARES];
    cellar_exposure_curve *curve;
    char *text = cellar_alloc(size + 1, 1), *threshold, *next;
    size_t n = 0;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    threshold = strchr(text, '\n');
    if (threshold != NULL)
        *threshold++ = '\0';
    else
        threshold = text + strlen(text);
    for (char *share = text; share != NULL && n < MAX_SHARES; share = next) {
        next = strchr(share, ',');
        if (next != NULL)
            *next++ = '\0';
        shares[n++] = share;
    }
    if (cellar_exposure_curve_from_shares(shares, n, &curve, NULL) == CELLAR_OK)
        shares_use(curve, threshold);
    if (cellar_exposure_curve_create_tight(threshold, n, &curve, NULL) == CELLAR_OK)
        shares_use(curve, threshold);
    cellar_free(text);
    return 0;
}
