/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/draw/zeros.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
#include "mechanism/mechanism.h"

enum { ZEROS_CUTS_MAX = 1 << 22, ZEROS_BITS_MAX = 1 << 18 };

/* The listed numbers on one side of zero: first, first + step, first + 2 step, ... */
typedef struct zeros_side {
    const cellar_mechanism *mechanism;
    int64_t first;
    int step;     /* 1 or -1 */
    int64_t last; /* how many numbers follow the first; INT64_MAX: no end; -1: there is none */
    cellar_search_table table; /* of (number - first) / step, given the side */
} zeros_side;

struct cellar_zeros {
    zeros_side up, down;
    cellar_search_table is_down; /* of the side, given that the zero is listed: 0 up, 1 down */
    cellar_gaps *gaps;           /* NULL when no zero is ever listed */
    double probability;
};

/* ---- enclosures ------------------------------------------------------------ */

/* P(at least j steps beyond the first number) = P(first + j step or further out). */
static void side_tail(const zeros_side *side, int64_t j, int64_t bits, arb_t out)
{
    const cellar_mechanism *m = side->mechanism;
    int64_t x = side->first + side->step * j;
    arb_t term;

    if (m->ops->survival_ball != NULL) {
        m->ops->survival_ball(m, 0, side->step > 0 ? x - 1 : x, bits, out);
        if (side->step < 0) {
            arb_sub_ui(out, out, 1, bits);
            arb_neg(out, out);
        }
        return;
    }
    arb_init(term);
    arb_zero(out);
    if (side->last != INT64_MAX) { /* all that is left */
        for (int64_t i = j; i <= side->last; i++) {
            m->ops->pmf_ball(m, 0, side->first + side->step * i, bits, term);
            arb_add(out, out, term, bits);
        }
    } else { /* all that is not; the law begins at zero: see side_init() */
        for (int64_t b = 0; b < x; b++) {
            m->ops->pmf_ball(m, 0, b, bits, term);
            arb_add(out, out, term, bits);
        }
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
    }
    arb_clear(term);
}

/* P(the zero is listed on this side) to a relative error of 2^-bits. It is positive. */
static void side_mass(const zeros_side *side, int64_t bits, arb_t out)
{
    arb_zero(out);
    if (side->last < 0)
        return;
    for (int64_t work = bits + 32; work <= ZEROS_BITS_MAX; work *= 2) {
        side_tail(side, 0, work, out);
        if (arb_rel_accuracy_bits(out) >= bits)
            return;
    }
}

/* 1 - P(beyond j) / P(side), for one j or, term by term, for many. */
static void side_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const zeros_side *side = context;
    int64_t work = bits + 32;
    arb_t mass, term;

    arb_init(mass);
    arb_init(term);
    side_mass(side, work, mass);
    work += -arf_abs_bound_lt_2exp_si(arb_midref(mass)) + 32; /* a small mass divides */
    side_tail(side, first + 1, work, term);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && side->mechanism->ops->survival_ball != NULL) {
            side_tail(side, first + (int64_t) i + 1, work, term);
        } else if (i > 0) {
            arb_t p;
            arb_init(p);
            side->mechanism->ops->pmf_ball(
                side->mechanism, 0, side->first + side->step * (first + (int64_t) i), work, p);
            arb_sub(term, term, p, work);
            arb_clear(p);
        }
        arb_div(out + i, term, mass, work);
        arb_sub_ui(out + i, out + i, 1, work);
        arb_neg(out + i, out + i);
    }
    arb_clear(term);
    arb_clear(mass);
}

static void zeros_mass(const void *context, int64_t bits, arb_t out)
{
    const cellar_zeros *zeros = context;
    arb_t down;
    arb_init(down);
    side_mass(&zeros->up, bits + 8, out);
    side_mass(&zeros->down, bits + 8, down);
    arb_add(out, out, down, bits + 8);
    arb_clear(down);
}

/* P(up | listed). */
static void zeros_side_cdf(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const cellar_zeros *zeros = context;
    arb_t all;
    CELLAR_ASSERT(first == 0 && n <= 1);
    if (n == 0)
        return;
    arb_init(all);
    zeros_mass(zeros, bits + 8, all);
    side_mass(&zeros->up, bits + 8, out);
    arb_div(out, out, all, bits + 8);
    arb_clear(all);
}

/* ---- life cycle ------------------------------------------------------------ */

/* Where the listed numbers of a side end, by the mechanism's support. */
static cellar_status side_init(zeros_side *side, const cellar_mechanism *m, int64_t first, int step,
                               cellar_error *err)
{
    int64_t low, high;
    cellar_mechanism_support(m, 0, 0, &low, &high);
    *side = (zeros_side){.mechanism = m, .first = first, .step = step, .last = INT64_MAX};
    if (step > 0 && high != INT64_MAX)
        side->last = high < first ? -1 : high - first;
    if (step < 0 && low != INT64_MIN)
        side->last = low > first ? -1 : first - low;
    if (side->last == INT64_MAX && m->ops->survival_ball == NULL && low < 0)
        return cellar_fail(
            err, CELLAR_ERR_UNSUPPORTED,
            "%s: a large domain needs a proven bound on the tail of the noise, and there is none",
            m->ops->name);
    return CELLAR_OK;
}

static cellar_status side_prove(zeros_side *side, cellar_error *err)
{
    cellar_law law = {side_cdf_balls, side, side->last};
    if (side->last < 0)
        return CELLAR_OK;
    return cellar_search_table_init(&side->table, law, ZEROS_CUTS_MAX, err);
}

static cellar_status zeros_prove(cellar_zeros *zeros, cellar_error *err)
{
    cellar_law law = {zeros_side_cdf, zeros, 1};
    cellar_status status = CELLAR_OK;
    arb_t mass;

    if (zeros->up.last < 0 && zeros->down.last < 0)
        return CELLAR_OK;
    arb_init(mass);
    zeros_mass(zeros, 64, mass);
    zeros->probability = arf_get_d(arb_midref(mass), ARF_RND_NEAR);
    arb_clear(mass);
    CELLAR_TRY(side_prove(&zeros->up, err));
    CELLAR_TRY(side_prove(&zeros->down, err));
    if (zeros->up.last >= 0 && zeros->down.last >= 0)
        CELLAR_TRY(cellar_search_table_init(&zeros->is_down, law, 1, err));
    CELLAR_TRY(cellar_gaps_create(zeros_mass, zeros, &zeros->gaps, err));
out:
    return status;
}

cellar_status cellar_zeros_create(const cellar_mechanism *mechanism, cellar_listing listing,
                                  cellar_zeros **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_zeros *zeros = cellar_alloc(1, sizeof *zeros);
    int keeps = listing.negatives != CELLAR_NEGATIVES_ZERO;

    *out = NULL;
    if (zeros == NULL)
        return cellar_fail_memory(err, "a sampler");
    zeros->down.last = -1;
    CELLAR_TRY(side_init(&zeros->up, mechanism, keeps ? 1 : listing.threshold, 1, err));
    if (keeps)
        CELLAR_TRY(side_init(&zeros->down, mechanism, -1, -1, err));
    CELLAR_TRY(zeros_prove(zeros, err));
    *out = zeros;
    zeros = NULL;
out:
    cellar_zeros_free(zeros);
    return status;
}

void cellar_zeros_free(cellar_zeros *zeros)
{
    if (zeros == NULL)
        return;
    cellar_search_table_clear(&zeros->up.table);
    cellar_search_table_clear(&zeros->down.table);
    cellar_search_table_clear(&zeros->is_down);
    cellar_gaps_free(zeros->gaps);
    cellar_free(zeros);
}

/* ---- drawing --------------------------------------------------------------- */

double cellar_zeros_probability(const cellar_zeros *zeros)
{
    return zeros->probability;
}

cellar_status cellar_zeros_skip(const cellar_zeros *zeros, cellar_search *search, uint64_t *n_zeros,
                                cellar_error *err)
{
    *n_zeros = UINT64_MAX;
    return zeros->gaps == NULL ? CELLAR_OK : cellar_gaps_next(zeros->gaps, search, n_zeros, err);
}

cellar_status cellar_zeros_draw(const cellar_zeros *zeros, cellar_search *search, int64_t *released,
                                cellar_error *err)
{
    const zeros_side *side = zeros->up.last >= 0 ? &zeros->up : &zeros->down;
    cellar_status status;
    int64_t value = 0;

    if (zeros->up.last >= 0 && zeros->down.last >= 0) {
        status = cellar_search_draw(search, &zeros->is_down, &value, err);
        if (status != CELLAR_OK)
            return status;
        side = value == 0 ? &zeros->up : &zeros->down;
    }
    status = cellar_search_draw(search, &side->table, &value, err);
    *released = side->first + side->step * value;
    return status;
}
