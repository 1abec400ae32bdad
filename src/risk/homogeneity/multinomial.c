/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/multinomial.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

/* The distribution function inverted from the mode outwards: about as many steps as the law is
 * wide. Right up to the rounding of the probabilities, which a simulation does not notice. */
static uint64_t binomial_invert(uint64_t n, double share, double u)
{
    uint64_t low = (uint64_t) (share * ((double) n + 1)), high;
    double odds = share / (1 - share), below, above;

    low = low > n ? n : low;
    high = low;
    below = above = dbinom((double) low, (double) n, share, 0);
    u -= below;
    while (u > 0 && (low > 0 || high < n)) {
        if (high < n) {
            above *= odds * (double) (n - high) / (double) (high + 1);
            high++;
            if ((u -= above) <= 0)
                return high;
        }
        if (low > 0) {
            below *= (double) low / (odds * (double) (n - low + 1));
            low--;
            if ((u -= below) <= 0)
                return low;
        }
        if (below + above < 1e-300)
            break;
    }
    return low;
}

cellar_status cellar_multinomial_draw(const uint64_t *counts, size_t n_values, uint64_t size,
                                      cellar_rng *rng, int64_t *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t left = size, weight = size;

    for (size_t k = 0; k < n_values; k++) {
        uint64_t bits = 0, drawn = left;
        if (counts[k] < weight && left > 0) {
            status = cellar_rng_bytes(rng, &bits, sizeof bits, err);
            if (status != CELLAR_OK)
                return status;
            drawn = binomial_invert(left, (double) counts[k] / (double) weight,
                                    ((double) (bits >> 11) + 0.5) * 0x1p-53);
        }
        out[k] = (int64_t) drawn;
        left -= drawn;
        weight -= counts[k];
    }
    return status;
}
