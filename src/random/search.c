/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random/search.h"

#include "base/error.h"
#include "base/memory.h"

enum { SEARCH_BITS = 64, SEARCH_CHUNK = 64 };

/* ---- the table ------------------------------------------------------------- */

/* floor(2^64 midpoint) where the enclosure is tight enough; 0 when it is not. */
static int search_cut(const arb_t ball, uint64_t *cut)
{
    mag_t radius;
    arf_t scaled;
    fmpz_t whole;
    int tight;

    mag_init(radius);
    mag_mul_2exp_si(radius, arb_radref(ball), SEARCH_BITS + 2);
    tight = mag_cmp_2exp_si(radius, 0) <= 0;
    mag_clear(radius);
    if (!tight)
        return 0;
    arf_init(scaled);
    fmpz_init(whole);
    arf_mul_2exp_si(scaled, arb_midref(ball), SEARCH_BITS);
    arf_get_fmpz(whole, scaled, ARF_RND_FLOOR);
    if (fmpz_sgn(whole) <= 0)
        *cut = 0;
    else
        *cut = fmpz_bits(whole) > SEARCH_BITS ? UINT64_MAX : fmpz_get_ui(whole);
    fmpz_clear(whole);
    arf_clear(scaled);
    return 1;
}

/* The cuts first..first+n-1 of a law. */
static void search_prove(const cellar_law *law, size_t first, size_t n, uint64_t *cuts)
{
    arb_ptr t = _arb_vec_init((slong) n);
    size_t n_proven = 0;
    for (int64_t bits = SEARCH_BITS + 32; n_proven < n; bits *= 2) {
        law->cdf_balls(law->context, (int64_t) (first + n_proven), n - n_proven, bits,
                       t + n_proven);
        while (n_proven < n && search_cut(t + n_proven, &cuts[n_proven]))
            n_proven++;
        CELLAR_ASSERT(bits < 1 << 20);
    }
    _arb_vec_clear(t, (slong) n);
}

/* Adds as many cuts as there are, at first 64; *done when the last one needed is among them. */
static cellar_status search_grow(cellar_search_table *table, int *done, cellar_error *err)
{
    size_t old = table->n_cuts, n = old == 0 ? SEARCH_CHUNK : old;
    uint64_t *cuts;

    if (table->law.last != INT64_MAX && (uint64_t) table->law.last - old <= n) {
        n = (size_t) table->law.last - old; /* P(Y <= last) = 1 is no cut */
        *done = 1;
    }
    cuts = cellar_realloc(table->cuts, old + n, sizeof *cuts);
    if (cuts == NULL)
        return cellar_fail_memory(err, "a sampler");
    table->cuts = cuts;
    search_prove(&table->law, old, n, cuts + old);
    while (table->n_cuts < old + n)
        if (cuts[table->n_cuts++] == UINT64_MAX) { /* no bits are above it */
            *done = 1;
            break;
        }
    return CELLAR_OK;
}

cellar_status cellar_search_table_init(cellar_search_table *out, cellar_law law, size_t n_max,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int done = 0;

    *out = (cellar_search_table){.law = law};
    while (!done && status == CELLAR_OK) {
        status = search_grow(out, &done, err);
        if (status == CELLAR_OK && out->n_cuts > n_max)
            status = cellar_fail(
                err, CELLAR_ERR_ARGUMENT,
                "this noise takes too many values to be drawn: it needs more than %zu thresholds",
                n_max);
    }
    if (status != CELLAR_OK)
        cellar_search_table_clear(out);
    return status;
}

void cellar_search_table_clear(cellar_search_table *table)
{
    cellar_free(table->cuts);
    *table = (cellar_search_table){0};
}

/* ---- drawing --------------------------------------------------------------- */

/* The bits are too near to a cut: the exact law decides, with as many more as it takes. */
static cellar_status search_resolve(cellar_search *search, const cellar_search_table *table,
                                    uint64_t bits, int64_t *value, cellar_error *err)
{
    cellar_status status;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, bits);
    status = cellar_law_draw(&table->law, prefix, SEARCH_BITS, search->rng, value, err);
    fmpz_clear(prefix);
    return status;
}

cellar_status cellar_search_draw(cellar_search *search, const cellar_search_table *table,
                                 int64_t *value, cellar_error *err)
{
    const uint64_t *cuts = table->cuts;
    size_t first = 0, last = table->n_cuts;
    uint64_t bits;

    if (search->n_left == 0) {
        cellar_status status =
            cellar_rng_bytes(search->rng, search->bits, sizeof search->bits, err);
        if (status != CELLAR_OK)
            return status;
        search->n_left = sizeof search->bits / sizeof *search->bits;
    }
    bits = search->bits[--search->n_left];
    while (first < last) {
        size_t middle = first + (last - first) / 2;
        if (cuts[middle] < bits)
            first = middle + 1;
        else
            last = middle;
    }
    *value = (int64_t) first;
    if ((first < table->n_cuts && cuts[first] - bits <= 1) ||
        (first > 0 && bits - cuts[first - 1] <= 1))
        return search_resolve(search, table, bits, value, err);
    return CELLAR_OK;
}

void cellar_search_clear(cellar_search *search)
{
    cellar_wipe(search, sizeof *search);
}
