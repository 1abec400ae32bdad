/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exact arithmetic with the epsilon of a mechanism: shares of a total, and the total of shares. */
#include "release/guarantee/share.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"

enum { SHARE_DIGITS = 15 };

/* The parameter that adds up from cell to cell; NULL when the mechanism has none by itself. */
static const cellar_parameter *share_epsilon(const cellar_mechanism *mechanism)
{
    const cellar_parameter *epsilon = cellar_parameter_find(&mechanism->parameters, "epsilon");
    const cellar_parameter *delta = cellar_parameter_find(&mechanism->parameters, "delta");
    return delta == NULL ? epsilon : NULL;
}

static void share_total(const cellar_parameter *epsilon, uint64_t n_parts, fmpq_t out)
{
    fmpz_t parts;
    fmpz_init_set_ui(parts, n_parts);
    fmpq_mul_fmpz(out, epsilon->value, parts);
    fmpz_clear(parts);
}

/* Writes a rational into a caller's buffer. */
static cellar_status share_write(const fmpq_t value, char *out, size_t size, cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;
    cellar_rational_add(&text, value);
    if (text.failed)
        status = cellar_fail_memory(err, "a number");
    else if (text.length >= size)
        status = cellar_fail(err, CELLAR_ERR_OVERFLOW, "epsilon has too many digits");
    else
        memcpy(out, text.bytes, text.length + 1);
    cellar_text_clear(&text);
    return status;
}

cellar_status cellar_share_total(const cellar_mechanism *mechanism, uint64_t n_parts, char *out,
                                 size_t size, cellar_error *err)
{
    const cellar_parameter *epsilon = share_epsilon(mechanism);
    cellar_status status;
    fmpq_t total;

    out[0] = '\0';
    if (epsilon == NULL)
        return CELLAR_OK;
    fmpq_init(total);
    share_total(epsilon, n_parts, total);
    status = share_write(total, out, size, err);
    fmpq_clear(total);
    return status;
}

cellar_status cellar_share_parse(const char *text, fmpq_t out, cellar_error *err)
{
    if (!cellar_rational_parse(text, strlen(text), out) || fmpq_sgn(out) <= 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the total epsilon has to be a decimal number above 0, not '%.40s'",
                           text);
    return CELLAR_OK;
}

cellar_status cellar_share_check(const cellar_mechanism *mechanism, uint64_t n_parts,
                                 const char *total_epsilon, const char *delta, cellar_error *err)
{
    const cellar_parameter *epsilon = share_epsilon(mechanism);
    cellar_status status = CELLAR_OK;
    fmpq_t total, spent;

    if (epsilon == NULL && delta != NULL)
        return CELLAR_OK; /* the certificate decides */
    if (epsilon == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s has no epsilon of its own that could be split over cells: say at "
                           "which delta all cells together keep the total (--delta 1e-6), or give "
                           "its parameters for one cell (--per-cell)",
                           mechanism->ops->name);
    fmpq_init(total);
    fmpq_init(spent);
    CELLAR_TRY(cellar_share_parse(total_epsilon, total, err));
    share_total(epsilon, n_parts, spent);
    if (fmpq_cmp(spent, total) > 0)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "epsilon=%s for each of %llu cells exceeds the total of %.40s",
                             epsilon->text, (unsigned long long) n_parts, total_epsilon);
out:
    fmpq_clear(total);
    fmpq_clear(spent);
    return status;
}

/* The largest decimal of SHARE_DIGITS digits that is not above a positive rational. */
static void share_round_down(fmpq_t value)
{
    fmpz_t ten, whole, limit;
    fmpq_t scale, unit;

    fmpz_init_set_ui(ten, 10);
    fmpz_init(whole);
    fmpz_init(limit);
    fmpq_init(scale);
    fmpq_init(unit);
    fmpq_one(scale);
    fmpz_set_ui(fmpq_numref(unit), 10);
    fmpz_one(fmpq_denref(unit));
    fmpz_pow_ui(limit, ten, SHARE_DIGITS - 1);
    for (;;) { /* scale = 10^k with 10^14 <= value scale; k = 0 for large ones */
        fmpq_t scaled;
        int enough;
        fmpq_init(scaled);
        fmpq_mul(scaled, value, scale);
        fmpz_fdiv_q(whole, fmpq_numref(scaled), fmpq_denref(scaled));
        fmpq_clear(scaled);
        enough = fmpz_cmp(whole, limit) >= 0;
        if (enough)
            break;
        fmpq_mul(scale, scale, unit);
    }
    fmpq_div_fmpz(value, scale, whole); /* 1 / value */
    fmpq_inv(value, value);
    fmpq_clear(unit);
    fmpq_clear(scale);
    fmpz_clear(limit);
    fmpz_clear(whole);
    fmpz_clear(ten);
}

cellar_status cellar_share_part(const char *total, const fmpq_t part, char out[64],
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t share;

    out[0] = '\0';
    fmpq_init(share);
    CELLAR_TRY(cellar_share_parse(total, share, err));
    fmpq_mul(share, share, part);
    share_round_down(share);
    CELLAR_TRY(share_write(share, out, 64, err));
out:
    fmpq_clear(share);
    return status;
}

cellar_status cellar_protect_share(const char *total_epsilon, uint64_t n_parts, char out[64],
                                   cellar_error *err)
{
    cellar_status status;
    fmpq_t part;

    out[0] = '\0';
    if (n_parts == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "nothing to split the total epsilon over");
    fmpq_init(part);
    fmpz_one(fmpq_numref(part));
    fmpz_set_ui(fmpq_denref(part), n_parts);
    status = cellar_share_part(total_epsilon, part, out, err);
    fmpq_clear(part);
    return status;
}

int cellar_share_is_by_certificate(const cellar_mechanism *mechanism)
{
    return share_epsilon(mechanism) == NULL;
}
