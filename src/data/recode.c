/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/recode.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "data/decimal.h"
#include "data/recode_map.h"

enum { RECODE_MAX_BANDS = 1000000 };

/* Band j lies between origin + j * width and origin + (j + 1) * width. All bounds are multiples of
 * 10^-scale, the coarsest grid that holds them, so that the values may be as large as possible. */
struct cellar_recoder {
    cellar_codelist *pairs; /* of the map; NULL when there is none */
    int has_bottom, has_top, has_bands, closed_right;
    int scale;
    cellar_int128 bottom, top, width, origin;
    char *variable;
};

/* ---- life cycle ------------------------------------------------------------ */

static cellar_status recoder_scale(cellar_recoder *recoder, const char *step, const char *text,
                                   cellar_error *err)
{
    int scale;

    if (text == NULL)
        return CELLAR_OK;
    scale = cellar_decimal_scale(text);
    if (scale < 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': %s '%.60s' is not a number with at most %d decimals",
                           recoder->variable, step, text, CELLAR_DECIMAL_MAX_SCALE);
    if (scale > recoder->scale)
        recoder->scale = scale;
    return CELLAR_OK;
}

static cellar_status recoder_bound(const cellar_recoder *recoder, const char *step,
                                   const char *text, cellar_int128 *out, cellar_error *err)
{
    cellar_decimal number;

    if (text == NULL)
        return CELLAR_OK;
    if (!cellar_decimal_read(text, strlen(text), recoder->scale, &number))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "variable '%s': %s '%.60s' is too large",
                           recoder->variable, step, text);
    *out = number.floor;
    return CELLAR_OK;
}

static cellar_status recoder_check(const cellar_recoder *recoder, const cellar_recode *recode,
                                   cellar_error *err)
{
    if (recode->band_origin != NULL && recode->band_width == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': the origin of bands needs a band width",
                           recoder->variable);
    if (recoder->has_bands && recoder->width <= 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%s': the band width must be > 0",
                           recoder->variable);
    if (recoder->has_bottom && recoder->has_top && recoder->bottom >= recoder->top)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': the bottom must lie below the top", recoder->variable);
    return CELLAR_OK;
}

static cellar_status recoder_compile(cellar_recoder *recoder, const cellar_recode *recode,
                                     cellar_error *err)
{
    const struct {
        const char *step, *text;
        cellar_int128 *bound;
    } bounds[] = {{"bottom", recode->bottom, &recoder->bottom},
                  {"top", recode->top, &recoder->top},
                  {"band width", recode->band_width, &recoder->width},
                  {"band origin", recode->band_origin, &recoder->origin}};
    enum { N_BOUNDS = sizeof bounds / sizeof *bounds };
    cellar_status status = CELLAR_OK;

    recoder->has_bottom = recode->bottom != NULL;
    recoder->has_top = recode->top != NULL;
    recoder->has_bands = recode->band_width != NULL;
    recoder->closed_right = recode->band_closed_right;
    if (recode->map != NULL)
        recoder->pairs = cellar_codelist_retain(recode->map->pairs);
    for (size_t i = 0; i < N_BOUNDS; i++)
        CELLAR_TRY(recoder_scale(recoder, bounds[i].step, bounds[i].text, err));
    for (size_t i = 0; i < N_BOUNDS; i++)
        CELLAR_TRY(recoder_bound(recoder, bounds[i].step, bounds[i].text, bounds[i].bound, err));
    CELLAR_TRY(recoder_check(recoder, recode, err));
out:
    return status;
}

cellar_status cellar_recoder_create(const cellar_recode *recode, const char *variable,
                                    cellar_recoder **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_recoder *recoder = cellar_alloc(1, sizeof *recoder);

    *out = NULL;
    if (recoder == NULL || (recoder->variable = cellar_alloc(strlen(variable) + 1, 1)) == NULL) {
        status = cellar_fail_memory(err, "a recode");
        goto out;
    }
    memcpy(recoder->variable, variable, strlen(variable));
    CELLAR_TRY(recoder_compile(recoder, recode, err));
    *out = recoder;
    recoder = NULL;
out:
    cellar_recoder_free(recoder);
    return status;
}

void cellar_recoder_free(cellar_recoder *recoder)
{
    if (recoder == NULL)
        return;
    cellar_codelist_free(recoder->pairs);
    cellar_free(recoder->variable);
    cellar_free(recoder);
}

/* ---- bands ----------------------------------------------------------------- */

/* floor(a / b) for b > 0; C's division rounds to zero. */
static cellar_int128 recode_floor_div(cellar_int128 a, cellar_int128 b)
{
    return a / b - (a % b < 0);
}

static cellar_int128 recode_ceil_div(cellar_int128 a, cellar_int128 b)
{
    return a / b + (a % b > 0);
}

/* The band of a number: floor((x - origin) / width), or one less than the ceiling of it when bands
 * are closed on the right. A number that is not on the grid lies strictly inside a band, for all
 * edges are on the grid, and there floor and ceiling agree about the band. 0 on overflow. */
static int recoder_band(const cellar_recoder *recoder, const cellar_decimal *number,
                        cellar_int128 *band)
{
    cellar_int128 offset;

    if (__builtin_sub_overflow(number->floor, recoder->origin, &offset))
        return 0;
    if (recoder->closed_right && number->exact)
        return !__builtin_sub_overflow(recode_ceil_div(offset, recoder->width), 1, band);
    *band = recode_floor_div(offset, recoder->width);
    return 1;
}

/* The code of a band: "[20,25)", "(20,25]", open where the bottom or the top cuts it. */
static int recoder_add_band(const cellar_recoder *recoder, cellar_int128 band, cellar_text *out)
{
    cellar_int128 low, high;
    int low_open = recoder->closed_right, high_open = !recoder->closed_right;

    if (__builtin_mul_overflow(band, recoder->width, &low) ||
        __builtin_add_overflow(low, recoder->origin, &low) ||
        __builtin_add_overflow(low, recoder->width, &high))
        return 0;
    if (recoder->has_bottom && low <= recoder->bottom) {
        low = recoder->bottom;
        low_open = 1;
    }
    if (recoder->has_top && high >= recoder->top) {
        high = recoder->top;
        high_open = 1;
    }
    cellar_text_add_char(out, low_open ? '(' : '[');
    cellar_text_add_decimal(out, low, recoder->scale);
    cellar_text_add_char(out, ',');
    cellar_text_add_decimal(out, high, recoder->scale);
    cellar_text_add_char(out, high_open ? ')' : ']');
    return 1;
}

static void recoder_add_limit(const cellar_recoder *recoder, const char *sign, cellar_int128 limit,
                              cellar_text *out)
{
    cellar_text_add_string(out, sign);
    cellar_text_add_decimal(out, limit, recoder->scale);
}

/* ---- applying -------------------------------------------------------------- */

static cellar_recoded recoder_apply_number(const cellar_recoder *recoder, const char *text,
                                           size_t length, cellar_text *out)
{
    cellar_decimal number;
    cellar_int128 band;

    if (!cellar_decimal_read(text, length, recoder->scale, &number))
        return CELLAR_RECODED_NOT_NUMBER;
    if (recoder->has_bottom && cellar_decimal_compare(&number, recoder->bottom) <= 0)
        recoder_add_limit(recoder, "<=", recoder->bottom, out);
    else if (recoder->has_top && cellar_decimal_compare(&number, recoder->top) >= 0)
        recoder_add_limit(recoder, ">=", recoder->top, out);
    else if (!recoder->has_bands)
        cellar_text_add(out, text, length);
    else if (!recoder_band(recoder, &number, &band) || !recoder_add_band(recoder, band, out))
        return CELLAR_RECODED_NOT_NUMBER;
    return CELLAR_RECODED;
}

cellar_recoded cellar_recoder_apply(const cellar_recoder *recoder, const char *text, size_t length,
                                    cellar_text *out)
{
    cellar_recoded result = CELLAR_RECODED;

    cellar_text_reset(out);
    if (recoder->pairs != NULL) {
        text = cellar_recode_pairs_find(recoder->pairs, text, length);
        if (text == NULL)
            return CELLAR_RECODED_UNMAPPED;
        length = strlen(text);
    }
    if (recoder->has_bottom || recoder->has_top || recoder->has_bands)
        result = recoder_apply_number(recoder, text, length, out);
    else
        cellar_text_add(out, text, length);
    return out->failed ? CELLAR_RECODED_NO_MEMORY : result;
}

/* ---- the domain ------------------------------------------------------------ */

static cellar_status recoder_add_category(cellar_codelist *list, const cellar_text *code,
                                          cellar_error *err)
{
    if (code->failed)
        return cellar_fail_memory(err, "the categories of a recode");
    return cellar_codelist_add(list, code->bytes, NULL, NULL, CELLAR_CODE_PLAIN, err);
}

/* From the band just above the bottom to the one just below the top. */
static cellar_status recoder_add_bands(const cellar_recoder *recoder, cellar_codelist *list,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text code = {0};
    cellar_int128 from, to, first, last;

    if (__builtin_sub_overflow(recoder->bottom, recoder->origin, &from) ||
        __builtin_sub_overflow(recoder->top, recoder->origin, &to))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "variable '%s': its bands are out of range",
                           recoder->variable);
    first = recode_floor_div(from, recoder->width);
    last = recode_ceil_div(to, recoder->width) - 1;
    if ((cellar_uint128) last - (cellar_uint128) first >= RECODE_MAX_BANDS)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%s': more than %d bands between bottom and top; widen them",
                           recoder->variable, RECODE_MAX_BANDS);
    recoder_add_limit(recoder, "<=", recoder->bottom, &code);
    CELLAR_TRY(recoder_add_category(list, &code, err));
    for (cellar_int128 band = first; band <= last; band++) {
        cellar_text_reset(&code);
        if (!recoder_add_band(recoder, band, &code)) {
            status = cellar_fail(err, CELLAR_ERR_OVERFLOW,
                                 "variable '%s': its bands are out of range", recoder->variable);
            goto out;
        }
        CELLAR_TRY(recoder_add_category(list, &code, err));
    }
    cellar_text_reset(&code);
    recoder_add_limit(recoder, ">=", recoder->top, &code);
    CELLAR_TRY(recoder_add_category(list, &code, err));
out:
    cellar_text_clear(&code);
    return status;
}

cellar_status cellar_recoder_domain(const cellar_recoder *recoder, cellar_codelist **out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;
    int is_banded = recoder->has_bottom && recoder->has_top && recoder->has_bands;
    int is_mapped =
        recoder->pairs != NULL && !recoder->has_bottom && !recoder->has_top && !recoder->has_bands;

    *out = NULL;
    if (!is_banded && !is_mapped)
        return CELLAR_OK;
    CELLAR_TRY(cellar_codelist_create(&list, err));
    CELLAR_TRY(is_banded ? recoder_add_bands(recoder, list, err)
                         : cellar_recode_pairs_add_targets(recoder->pairs, list, err));
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}
