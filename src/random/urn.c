/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/urn.h"

#include "base/error.h"
#include "base/memory.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t WEIGHT_MAX = UINT64_C(1) << 62;

/* Lemire, "Fast random integer generation in an interval", 2019: of the 2^64 products, those whose
 * low half is below 2^64 mod bound are drawn again, which leaves as many for every value. */
cellar_status cellar_uniform_below(cellar_rng *rng, uint64_t bound, uint64_t *value,
                                   cellar_error *err)
{
    uint64_t surplus = (0 - bound) % bound, bits;
    wide product;
    do {
        cellar_status status = cellar_rng_bytes(rng, &bits, sizeof bits, err);
        if (status != CELLAR_OK)
            return status;
        product = (wide) bits * bound;
    } while ((uint64_t) product < surplus);
    *value = (uint64_t) (product >> 64);
    cellar_wipe(&bits, sizeof bits);
    return CELLAR_OK;
}

/* ends[k] = weights[0] + ... + weights[k] */
static cellar_status urn_ends(const uint64_t *weights, size_t n, uint64_t added, size_t n_draws,
                              uint64_t *ends, cellar_error *err)
{
    wide all = (wide) added * n_draws;
    uint64_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        all += weights[k];
        if (all >= WEIGHT_MAX)
            return cellar_fail(
                err, CELLAR_ERR_ARGUMENT,
                "the weights of the urn exceed 2^62: give alpha with fewer decimals");
        ends[k] = sum += weights[k];
    }
    return CELLAR_OK;
}

/* The first k with u < ends[k], in as many steps for every u. */
static size_t urn_find(const uint64_t *ends, size_t n, uint64_t u)
{
    size_t first = 0;
    while (n > 1) {
        size_t half = n / 2;
        first += ends[first + half - 1] <= u ? half : 0;
        n -= half;
    }
    return first;
}

/* A draw is of a colour the urn began with, or a copy of an earlier draw (Blackwell and MacQueen
 * 1973): no weight is ever changed. */
cellar_status cellar_urn_draw(const uint64_t *weights, size_t n_colours, uint64_t added,
                              size_t n_draws, cellar_rng *rng, int64_t *n_drawn, cellar_error *err)
{
    uint64_t *ends = cellar_alloc(n_colours, sizeof *ends), begun, u;
    uint32_t *draws = cellar_alloc(n_draws + 1, sizeof *draws);
    cellar_status status = CELLAR_OK;

    CELLAR_ASSERT(n_colours > 0 && n_colours - 1 <= UINT32_MAX && added > 0);
    if (ends == NULL || draws == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an urn"));
    CELLAR_TRY(urn_ends(weights, n_colours, added, n_draws, ends, err));
    begun = ends[n_colours - 1];
    CELLAR_ASSERT(begun > 0);
    for (size_t i = 0; i < n_draws; i++) {
        int is_copy;
        uint32_t found, copy;
        CELLAR_TRY(cellar_uniform_below(rng, begun + added * i, &u, err));
        is_copy = u >= begun;
        copy = draws[is_copy ? (u - begun) / added : 0];
        found = (uint32_t) urn_find(ends, n_colours, is_copy ? 0 : u);
        draws[i] = is_copy ? copy : found;
        n_drawn[draws[i]]++;
    }
out:
    if (draws != NULL)
        cellar_wipe(draws, n_draws * sizeof *draws);
    if (ends != NULL)
        cellar_wipe(ends, n_colours * sizeof *ends);
    cellar_free(draws);
    cellar_free(ends);
    return status;
}
