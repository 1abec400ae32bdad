/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unbiased random rounding to multiples of a base: a count that lies r above a multiple goes up
 * with probability r/base, else down. */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/registry.h"
#include "random/secret.h"
#include "random/thresholds.h"

enum { BLOCK = 512 };

typedef struct rounding {
    cellar_mechanism base;
    uint64_t unit; /* the base */
} rounding;

static uint64_t unit_of(const cellar_mechanism *m)
{
    return ((const rounding *) m)->unit;
}

/* P(released | count) = part / unit. */
static uint64_t round_part(const cellar_mechanism *m, int64_t count, int64_t released)
{
    uint64_t unit = unit_of(m), up = (uint64_t) count % unit;
    int64_t floor = count - (int64_t) up;
    if (released == floor)
        return unit - up;
    return up > 0 && released == floor + (int64_t) unit ? up : 0;
}

static double round_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    uint64_t part = round_part(m, count, released), unit = unit_of(m);
    if (part == 0)
        return -INFINITY;
    return 2 * part > unit ? log1p(-(double) (unit - part) / (double) unit)
                           : log((double) part / (double) unit);
}

static void round_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released, int64_t bits,
                           arb_t out)
{
    arb_set_ui(out, round_part(m, count, released));
    arb_div_ui(out, out, unit_of(m), bits);
}

static void round_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                          int64_t *high)
{
    uint64_t unit = unit_of(m), up = (uint64_t) count % unit;
    (void) tail;
    *low = count - (int64_t) up;
    *high = up > 0 ? *low + (int64_t) unit : *low;
}

/* ---- drawing ------------------------------------------------------------------ */

/* Stays down while u < (unit - up) / unit. */
typedef struct residue {
    uint64_t unit, up;
} residue;

static void residue_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits,
                              arb_ptr out)
{
    const residue *r = context;
    for (size_t i = 0; i < n; i++) {
        arb_set_ui(out + i, first + (int64_t) i == 0 ? r->unit - r->up : r->unit);
        arb_div_ui(out + i, out + i, r->unit, bits);
    }
}

/* The top 64 bits of u did not decide. */
static cellar_status round_resolve(uint64_t unit, uint64_t up, uint64_t bits, cellar_rng *rng,
                                   int64_t *steps, cellar_error *err)
{
    residue r = {unit, up};
    cellar_law law = {residue_cdf_balls, &r, 1};
    cellar_status status;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, bits);
    status = cellar_law_draw(&law, prefix, 64, rng, steps, err);
    fmpz_clear(prefix);
    return status;
}

/* The product of 64 bits and the base, high half and low half. As base < 2^32, u base is in
 * [high, high + 1) once low + base does not carry: then u base >= base - up can be told. */
static uint64_t product_high(uint64_t bits, uint64_t unit, uint64_t *low)
{
    uint64_t bottom = (bits & UINT32_MAX) * unit, top = (bits >> 32) * unit + (bottom >> 32);
    *low = top << 32 | (bottom & UINT32_MAX);
    return top >> 32;
}

static cellar_status round_block(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                 cellar_rng *rng, int64_t *released, cellar_error *err)
{
    uint64_t bits[BLOCK], unit = unit_of(m), low;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_rng_bytes(rng, bits, n * sizeof *bits, err));
    for (size_t i = 0; i < n; i++) {
        uint64_t count = (uint64_t) counts[i], up = count % unit;
        int64_t steps = (int64_t) (product_high(bits[i], unit, &low) >= unit - up);
        /* the bits that follow may lift u base to the next whole number */
        int open = low > UINT64_MAX - unit;
        CELLAR_DECLASSIFY(open);
        if (open)
            CELLAR_TRY(round_resolve(unit, up, bits[i], rng, &steps, err));
        released[i] = (int64_t) (count - up) + steps * (int64_t) unit;
    }
out:
    cellar_wipe(bits, sizeof bits);
    return status;
}

static cellar_status round_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                       cellar_rng *rng, int64_t *released, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i += BLOCK)
        CELLAR_TRY(
            round_block(m, counts + i, n - i < BLOCK ? n - i : BLOCK, rng, released + i, err));
out:
    return status;
}

static cellar_status round_init(cellar_mechanism *m, cellar_error *err)
{
    const cellar_parameter *base = cellar_parameter_find(&m->parameters, "base");
    (void) err;
    ((rounding *) m)->unit = fmpz_get_ui(fmpq_numref(base->value));
    return CELLAR_OK;
}

/* ---- what certificates rest on -------------------------------------------------- */

static int round_period(const cellar_mechanism *m, int64_t *from, int64_t *period)
{
    *from = 0;
    *period = (int64_t) unit_of(m);
    return 1;
}

static int64_t round_step(const cellar_mechanism *m)
{
    return (int64_t) unit_of(m);
}

/* The chance to go up changes by 1/base with each step of the count, so that the distributions of
 * neighbours differ by at most shift/base in total variation, which bounds delta for every epsilon.
 * For very large bases, whose counts are not looked at one by one. */
static double round_bound(const cellar_mechanism *m, int64_t from, int64_t shift, double epsilon)
{
    (void) from;
    (void) epsilon;
    return fmin(1, (double) shift / (double) unit_of(m) * (1 + 0x1p-50));
}

static const cellar_facts round_facts = {
    .period = round_period,
    .step = round_step,
    .bound = round_bound,
};

static const cellar_parameter_rule round_parameters[] = {
    {.name = "base",
     .kind = CELLAR_PARAMETER_INTEGER,
     .required = 1,
     .at_least = "1",
     .at_most = "1000000000"},
    {0},
};

const cellar_mechanism_ops cellar_round_ops = {
    .name = "round",
    .revision = 1,
    .summary = "unbiased random rounding to a base",
    .size = sizeof(rounding),
    .parameters = round_parameters,
    .init = round_init,
    .log_pmf = round_log_pmf,
    .pmf_ball = round_pmf_ball,
    .support = round_support,
    .sample_many = round_sample_many,
    .facts = &round_facts,
};
