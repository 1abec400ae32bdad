/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/coding.h"

#include <string.h>

#include "base/error.h"
#include "data/decimal.h"
#include "data/recode_map.h"

enum { BANDS_MAX = 10000 };

/* ---- asking the coder --------------------------------------------------------------- */

/* What becomes of a value; *out failed where memory ended. */
static int32_t resolve(const sql_coding *c, const char *text, cellar_text *out)
{
    const int32_t code = cellar_coder_resolve(c->coder, text, strlen(text));
    if (code == CELLAR_OUTCOME_NO_MEMORY)
        out->failed = 1;
    return code;
}

static int is_missing(const sql_coding *c, const char *text)
{
    for (size_t i = 0; i < c->n_missing; i++)
        if (strcmp(c->missing[i], text) == 0)
            return 1;
    return text[0] == '\0';
}

/* No list names this one: codes have no control characters. */
static const char nameless[] = "\x01 no such value \x01";

/* ---- values by name -------------------------------------------------------------------- */

static void add_when(const sql_coding *c, cellar_text *out, const char *value, int32_t other)
{
    const int32_t code = resolve(c, value, out);
    if (is_missing(c, value) || code == other)
        return;
    cellar_text_printf(out, " WHEN %s = ", c->text);
    sql_add_literal(c->dialect, out, value);
    cellar_text_printf(out, " THEN %d", (int) code);
}

/* What becomes of each value with a name, and of all others, of which `stranger` is one. */
static void add_names(const sql_coding *c, const cellar_codelist *names, const char *stranger,
                      cellar_text *out)
{
    const int32_t other = resolve(c, stranger, out);
    for (size_t i = 0; i < cellar_codelist_n_codes(names); i++)
        add_when(c, out, cellar_codelist_code(names, i), other);
    cellar_text_printf(out, " ELSE %d", (int) other);
}

/* ---- bounds ------------------------------------------------------------------------------ */

/* Bounds as multiples of 10^-scale. */
typedef struct bounds {
    int scale;
    cellar_int128 bottom, top, width, origin;
} bounds;

static int read_bound(const char *text, int scale, cellar_int128 *out)
{
    cellar_decimal number;
    if (text == NULL)
        return 1;
    if (!cellar_decimal_read(text, strlen(text), scale, &number))
        return 0;
    *out = number.floor;
    return 1;
}

/* The coder has read the same texts, so that none of this fails. */
static int read_bounds(const cellar_recode *r, bounds *out)
{
    const char *const texts[] = {r->bottom, r->top, r->band_width, r->band_origin};
    *out = (bounds){0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i] != NULL && cellar_decimal_scale(texts[i]) > out->scale)
            out->scale = cellar_decimal_scale(texts[i]);
    return read_bound(r->bottom, out->scale, &out->bottom) &&
           read_bound(r->top, out->scale, &out->top) &&
           read_bound(r->band_width, out->scale, &out->width) &&
           read_bound(r->band_origin, out->scale, &out->origin);
}

/* " WHEN number < bound THEN what becomes of `value` * 10^-scale". */
static cellar_status add_bound(const sql_coding *c, cellar_text *out, const char *sign,
                               cellar_int128 bound, int scale, cellar_int128 value, int value_scale,
                               cellar_error *err)
{
    cellar_text limit = {0}, text = {0};
    cellar_status status = CELLAR_OK;
    cellar_text_add_decimal(&limit, bound, scale);
    cellar_text_add_decimal(&text, value, value_scale);
    if (limit.failed || text.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    cellar_text_printf(out, " WHEN %s %s ", c->number, sign);
    CELLAR_TRY(sql_add_bound(c->dialect, out, limit.bytes, err));
    cellar_text_printf(out, " THEN %d", (int) resolve(c, text.bytes, out));
out:
    cellar_text_clear(&limit);
    cellar_text_clear(&text);
    return status;
}

/* The bands between bottom and top, upwards: each ends at an edge, and a number in its middle says
 * what it becomes. */
static cellar_status add_bands(const sql_coding *c, const bounds *b, cellar_text *out,
                               cellar_error *err)
{
    const char *sign = c->variable->recode.band_closed_right ? "<=" : "<";
    cellar_int128 low = b->bottom, high, j = (b->bottom - b->origin) / b->width - 2;
    cellar_status status = CELLAR_OK;
    size_t n = 0;
    while (b->origin + j * b->width <= b->bottom)
        j++;
    for (; low < b->top; low = high, j++) {
        high = b->origin + j * b->width;
        if (high > b->top)
            high = b->top;
        if (++n > BANDS_MAX)
            return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                               "variable '%.200s': a database is asked for at most %d bands",
                               cellar_coder_variable(c->coder), BANDS_MAX);
        CELLAR_TRY(add_bound(c, out, high < b->top ? sign : "<", high, b->scale, 5 * (low + high),
                             b->scale + 1, err));
    }
out:
    return status;
}

/* Numbers between bottom and top stay as they are written; one of them that no list names lies an
 * odd part of a unit below the top, or above the bottom. */
static cellar_status add_between(const sql_coding *c, const bounds *b, const cellar_codelist *codes,
                                 cellar_text *out, cellar_error *err)
{
    enum { ODD_SCALE = 6, ODD_UNIT = 1000000, ODD_PART = 314159 };
    cellar_text stranger = {0};
    cellar_text_add_decimal(&stranger,
                            c->variable->recode.top != NULL ? b->top * ODD_UNIT - ODD_PART
                                                            : b->bottom * ODD_UNIT + ODD_PART,
                            b->scale + ODD_SCALE);
    if (stranger.failed)
        return cellar_fail_memory(err, "a question");
    add_names(c, codes, stranger.bytes, out);
    cellar_text_clear(&stranger);
    return CELLAR_OK;
}

static cellar_status add_numbers(const sql_coding *c, const cellar_codelist *codes,
                                 cellar_text *out, cellar_error *err)
{
    const cellar_recode *r = &c->variable->recode;
    cellar_status status = CELLAR_OK;
    bounds b;
    if (!read_bounds(r, &b))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "variable '%.200s': its bounds are too large",
                           cellar_coder_variable(c->coder));
    if (r->band_width != NULL && (r->bottom == NULL || r->top == NULL))
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "variable '%.200s': bands that a database counts lie between a bottom "
                           "and a top (--bottom, --top)",
                           cellar_coder_variable(c->coder));
    cellar_text_printf(out, " WHEN %s IS NULL THEN %d", c->number, (int) CELLAR_OUTCOME_NOT_NUMBER);
    if (r->bottom != NULL)
        CELLAR_TRY(add_bound(c, out, "<=", b.bottom, b.scale, b.bottom, b.scale, err));
    if (r->top != NULL)
        CELLAR_TRY(add_bound(c, out, ">=", b.top, b.scale, b.top, b.scale, err));
    CELLAR_TRY(r->band_width == NULL ? add_between(c, &b, codes, out, err)
                                     : add_bands(c, &b, out, err));
out:
    return status;
}

/* ---- a variable --------------------------------------------------------------------------- */

int sql_coding_needs_number(const cellar_variable_spec *variable)
{
    const cellar_recode *r = &variable->recode;
    return r->map == NULL && (r->bottom != NULL || r->top != NULL || r->band_width != NULL);
}

void sql_add_missing(const sql_dialect *dialect, cellar_text *out, const char *text,
                     const char *const *missing, size_t n_missing)
{
    cellar_text_printf(out, "%s IS NULL OR %s = ", text, text);
    sql_add_literal(dialect, out, "");
    for (size_t i = 0; i < n_missing; i++) {
        cellar_text_printf(out, " OR %s = ", text);
        sql_add_literal(dialect, out, missing[i]);
    }
}

cellar_status sql_coding_add(const sql_coding *c, cellar_text *out, cellar_error *err)
{
    const cellar_recode_map *map = c->variable->recode.map;
    const cellar_codelist *codes = c->variable->codelist;
    cellar_status status = CELLAR_OK;
    if (!cellar_coder_is_declared(c->coder))
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "variable '%.200s': a database is asked for declared categories only; "
                           "name a code list (--domain), or a bottom, a top and a band",
                           cellar_coder_variable(c->coder));
    cellar_text_add_string(out, "CASE WHEN ");
    sql_add_missing(c->dialect, out, c->text, c->missing, c->n_missing);
    cellar_text_printf(out, " THEN %d", (int) resolve(c, "", out));
    if (sql_coding_needs_number(c->variable))
        status = add_numbers(c, codes, out, err);
    else
        add_names(c, map != NULL ? map->pairs : codes, nameless, out);
    cellar_text_add_string(out, " END");
    return status;
}

/* ---- conditions ---------------------------------------------------------------------------- */

static cellar_status add_order(const sql_dialect *dialect, cellar_text *out,
                               const cellar_condition *condition, const char *number,
                               cellar_error *err)
{
    cellar_text bound = {0};
    cellar_status status = CELLAR_OK;
    cellar_condition_add_bound(condition, &bound);
    if (bound.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    cellar_text_printf(out, " THEN 0 WHEN %s %s ", number, cellar_condition_order(condition));
    CELLAR_TRY(sql_add_bound(dialect, out, bound.bytes, err));
    cellar_text_add_string(out, " THEN 1 ELSE 0 END");
out:
    cellar_text_clear(&bound);
    return status;
}

cellar_status sql_add_condition(const sql_dialect *dialect, cellar_text *out,
                                const cellar_condition *condition, const char *text,
                                const char *number, cellar_error *err)
{
    cellar_text_add_string(out, "CASE WHEN ");
    sql_add_missing(dialect, out, text, NULL, 0);
    if (cellar_condition_order(condition) != NULL)
        return add_order(dialect, out, condition, number, err);
    cellar_text_printf(out, " THEN 0 WHEN %s IN (", text);
    for (size_t i = 0; i < cellar_condition_n_values(condition); i++) {
        if (i > 0)
            cellar_text_add_string(out, ", ");
        sql_add_literal(dialect, out, cellar_condition_value(condition, i));
    }
    cellar_text_printf(out, ") THEN %d ELSE %d END", !cellar_condition_excludes(condition),
                       cellar_condition_excludes(condition));
    return CELLAR_OK;
}
