/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Amounts: decimals and bounds become whole numbers, charges rounded up and caps down. */
#include "ledger/ledger.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { NANO_DIGITS = 9, ATTO_DIGITS = 18 };

static const uint64_t NANO = UINT64_C(1000000000);
static const uint64_t ATTO = UINT64_C(1000000000000000000);

/* text * 10^digits, rounded; 0 when that is no amount. */
static int amount_of_decimal(const char *text, int digits, int is_up, int64_t *out)
{
    cellar_int128 floor;
    int exact;
    if (text[0] == '-' || !cellar_parse_decimal_floor(text, strlen(text), digits, &floor, &exact) ||
        floor + (is_up && !exact) > INT64_MAX)
        return 0;
    *out = (int64_t) floor + (is_up && !exact);
    return 1;
}

/* ceil(value * scale), exactly: the 53 bits of a double times 60 of the scale fit in 128. */
static int amount_of_double(double value, uint64_t scale, int64_t *out)
{
    int exponent;
    cellar_uint128 product, whole;
    if (!(value >= 0) || value >= 9.3e18)
        return 0;
    product = (cellar_uint128) (uint64_t) ldexp(frexp(value, &exponent), 53) * scale;
    exponent = 53 - exponent; /* value * scale = product * 2^-exponent */
    if (exponent <= 0) {
        if (product >> (127 + exponent) != 0) /* exponent >= -11 here */
            return 0;
        whole = product << -exponent;
    } else if (exponent >= 128) {
        whole = product != 0;
    } else {
        whole = product >> exponent;
        whole += whole << exponent != product;
    }
    if (whole > INT64_MAX)
        return 0;
    *out = (int64_t) whole;
    return 1;
}

static cellar_status amount_refuse(const char *name, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "%s must be a finite decimal of at least 0 (and at most 9.2e%s)", name,
                       strcmp(name, "delta") == 0 ? "0" : "9");
}

static cellar_status amounts_read(const char *epsilon, const char *delta, const char *rho,
                                  int is_up, cellar_amounts *out, cellar_error *err)
{
    *out = (cellar_amounts){.rho_nano = CELLAR_NO_RHO};
    if (epsilon != NULL && !amount_of_decimal(epsilon, NANO_DIGITS, is_up, &out->epsilon_nano))
        return amount_refuse("epsilon", err);
    if (delta != NULL && !amount_of_decimal(delta, ATTO_DIGITS, is_up, &out->delta_atto))
        return amount_refuse("delta", err);
    if (rho != NULL && !amount_of_decimal(rho, NANO_DIGITS, is_up, &out->rho_nano))
        return amount_refuse("rho", err);
    return CELLAR_OK;
}

cellar_status cellar_amounts_parse(const char *epsilon, const char *delta, const char *rho,
                                   cellar_amounts *out, cellar_error *err)
{
    return amounts_read(epsilon, delta, rho, 1, out, err);
}

cellar_status cellar_amounts_parse_cap(const char *epsilon, const char *delta, const char *rho,
                                       cellar_amounts *out, cellar_error *err)
{
    return amounts_read(epsilon, delta, rho, 0, out, err);
}

cellar_status cellar_amounts_from_bounds(double epsilon, double delta, double rho,
                                         cellar_amounts *out, cellar_error *err)
{
    *out = (cellar_amounts){.rho_nano = CELLAR_NO_RHO};
    if (!amount_of_double(epsilon, NANO, &out->epsilon_nano))
        return amount_refuse("epsilon", err);
    if (!amount_of_double(delta, ATTO, &out->delta_atto))
        return amount_refuse("delta", err);
    if (!isnan(rho) && !amount_of_double(rho, NANO, &out->rho_nano))
        return amount_refuse("rho", err);
    return CELLAR_OK;
}

/* The decimal of value / 10^digits, without trailing zeros: at most 19 digits and a point. */
static void amount_text(int64_t value, int digits, char out[CELLAR_AMOUNT_TEXT])
{
    uint64_t scale = digits == NANO_DIGITS ? NANO : ATTO;
    uint64_t amount = value < 0 ? 0 : (uint64_t) value;
    size_t end = (size_t) snprintf(out, CELLAR_AMOUNT_TEXT, "%" PRIu64 ".%0*" PRIu64,
                                   amount / scale, digits, amount % scale);
    while (out[end - 1] == '0')
        end--;
    out[out[end - 1] == '.' ? end - 1 : end] = '\0';
}

void cellar_amount_text_nano(int64_t nano, char out[CELLAR_AMOUNT_TEXT])
{
    amount_text(nano, NANO_DIGITS, out);
}

void cellar_amount_text_atto(int64_t atto, char out[CELLAR_AMOUNT_TEXT])
{
    amount_text(atto, ATTO_DIGITS, out);
}

void cellar_ledger_cost_text(const cellar_amounts *amounts, int by_rho, char out[CELLAR_COST_TEXT])
{
    char a[CELLAR_AMOUNT_TEXT], b[CELLAR_AMOUNT_TEXT];
    cellar_amount_text_nano(by_rho ? amounts->rho_nano : amounts->epsilon_nano, a);
    cellar_amount_text_atto(amounts->delta_atto, b);
    if (by_rho)
        snprintf(out, CELLAR_COST_TEXT, "rho %s", a);
    else
        snprintf(out, CELLAR_COST_TEXT, "epsilon %s, delta %s", a, b);
}

/* A mechanism that is epsilon-DP is epsilon^2/2-zCDP (Bun and Steinke 2016, Proposition 1.4). */
cellar_status cellar_amounts_claim_rho(cellar_amounts *amounts, cellar_error *err)
{
    cellar_uint128 square =
        (cellar_uint128) (uint64_t) amounts->epsilon_nano * (uint64_t) amounts->epsilon_nano;
    cellar_uint128 half = 2 * (cellar_uint128) NANO; /* of a unit of rho */
    cellar_uint128 rho = (square + half - 1) / half;
    if (amounts->rho_nano != CELLAR_NO_RHO)
        return CELLAR_OK;
    if (amounts->delta_atto != 0)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "the dataset is accounted in rho, and none is proved for this mechanism");
    if (rho > INT64_MAX)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "epsilon is too large");
    amounts->rho_nano = (int64_t) rho;
    return CELLAR_OK;
}
