/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/condition.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/decimal.h"

#define CONDITION_MAX_BYTES ((size_t) 1 << 24)
#define CONDITION_EXPECTED                                                                         \
    "expected COLUMN=VALUE|VALUE, COLUMN!=VALUE or COLUMN followed by <, <=, > or >= and a number"

typedef enum condition_sign {
    CONDITION_EQUAL,
    CONDITION_NOT_EQUAL,
    CONDITION_LESS,
    CONDITION_LESS_EQUAL,
    CONDITION_GREATER,
    CONDITION_GREATER_EQUAL
} condition_sign;

typedef struct condition_value {
    const char *text;
    size_t length;
} condition_value;

struct cellar_condition {
    cellar_arena *arena;
    const char *column;
    condition_sign sign;
    condition_value *values; /* sorted */
    size_t n_values, capacity;
    int scale; /* of the bound after an order sign */
    cellar_int128 bound;
};

/* ---- parsing --------------------------------------------------------------- */

static int condition_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static const char *condition_skip_blanks(const char *cursor)
{
    while (condition_is_blank(*cursor))
        cursor++;
    return cursor;
}

static cellar_status condition_fail(const char *text, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "condition '%.100s': %s", text, what);
}

/* Reads a word up to one of `stops` or the end; blanks around it do not count. In double quotes it
 * may hold anything, a quote doubled. */
static cellar_status condition_read_word(cellar_condition *condition, const char *text,
                                         const char **cursor, const char *stops,
                                         condition_value *out, cellar_error *err)
{
    const char *p = condition_skip_blanks(*cursor), *end;
    char *word;

    if (*p != '"') {
        end = p + strcspn(p, stops);
        *cursor = end;
        while (end > p && condition_is_blank(end[-1]))
            end--;
        out->length = (size_t) (end - p);
        out->text = cellar_arena_copy(condition->arena, p, out->length);
        if (out->length == 0)
            return condition_fail(text, CONDITION_EXPECTED " (write \"\" for an empty value)", err);
        return out->text != NULL ? CELLAR_OK : cellar_fail_memory(err, "a condition");
    }
    word = cellar_arena_alloc(condition->arena, strlen(p), 1);
    if (word == NULL)
        return cellar_fail_memory(err, "a condition");
    out->text = word;
    for (p++; *p != '\0' && (*p != '"' || p[1] == '"'); p++) {
        p += *p == '"';
        *word++ = *p;
    }
    if (*p != '"')
        return condition_fail(text, "a quote is never closed", err);
    out->length = (size_t) (word - out->text);
    *cursor = condition_skip_blanks(p + 1);
    if (**cursor != '\0' && strchr(stops, **cursor) == NULL)
        return condition_fail(text, "text after a closing quote", err);
    return CELLAR_OK;
}

/* Longer signs first: one may begin with another. */
static const struct {
    const char *text;
    condition_sign sign;
} condition_signs[] = {{"!=", CONDITION_NOT_EQUAL},     {"<=", CONDITION_LESS_EQUAL},
                       {">=", CONDITION_GREATER_EQUAL}, {"=", CONDITION_EQUAL},
                       {"<", CONDITION_LESS},           {">", CONDITION_GREATER}};

static const char *condition_sign_text(condition_sign sign)
{
    size_t i = 0;
    while (condition_signs[i].sign != sign)
        i++;
    return condition_signs[i].text;
}

static cellar_status condition_read_sign(const char *text, const char **cursor, condition_sign *out,
                                         cellar_error *err)
{
    for (size_t i = 0; i < sizeof condition_signs / sizeof *condition_signs; i++) {
        size_t length = strlen(condition_signs[i].text);
        if (strncmp(*cursor, condition_signs[i].text, length) == 0) {
            *cursor += length;
            if (**cursor != '\0' && strchr("=<>!", **cursor) != NULL)
                return condition_fail(text,
                                      "two signs in a row; put a value that begins with a sign in "
                                      "double quotes",
                                      err);
            *out = condition_signs[i].sign;
            return CELLAR_OK;
        }
    }
    return condition_fail(text, CONDITION_EXPECTED, err);
}

static int condition_value_compare(const void *left, const void *right)
{
    const condition_value *a = left, *b = right;
    size_t common = a->length < b->length ? a->length : b->length;
    int order = common > 0 ? memcmp(a->text, b->text, common) : 0;
    return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

static cellar_status condition_read_values(cellar_condition *condition, const char *text,
                                           const char *cursor, cellar_error *err)
{
    for (;;) {
        condition_value value;
        cellar_status status = condition_read_word(condition, text, &cursor, "|", &value, err);
        if (status != CELLAR_OK)
            return status;
        if (!cellar_grow(&condition->values, &condition->capacity, condition->n_values + 1,
                         sizeof *condition->values))
            return cellar_fail_memory(err, "a condition");
        condition->values[condition->n_values++] = value;
        if (*cursor == '\0')
            break;
        cursor++;
    }
    qsort(condition->values, condition->n_values, sizeof *condition->values,
          condition_value_compare);
    return CELLAR_OK;
}

/* The bound of an order sign, on the coarsest grid that holds it. */
static cellar_status condition_read_bound(cellar_condition *condition, const char *text,
                                          cellar_error *err)
{
    const condition_value *value = &condition->values[0];
    cellar_decimal number;

    condition->scale = condition->n_values == 1 ? cellar_decimal_scale(value->text) : -1;
    if (condition->scale < 0 ||
        !cellar_decimal_read(value->text, value->length, condition->scale, &number))
        return condition_fail(text, "after an order sign, expected one number", err);
    condition->bound = number.floor;
    return CELLAR_OK;
}

cellar_status cellar_condition_parse(const char *text, cellar_condition **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_condition *condition = cellar_alloc(1, sizeof *condition);
    const char *cursor = text;
    condition_value column;

    *out = NULL;
    if (condition == NULL ||
        (condition->arena = cellar_arena_create(CONDITION_MAX_BYTES)) == NULL) {
        status = cellar_fail_memory(err, "a condition");
        goto out;
    }
    CELLAR_TRY(condition_read_word(condition, text, &cursor, "=!<>", &column, err));
    if (column.length == 0) {
        status = condition_fail(text, CONDITION_EXPECTED, err);
        goto out;
    }
    condition->column = column.text;
    CELLAR_TRY(condition_read_sign(text, &cursor, &condition->sign, err));
    CELLAR_TRY(condition_read_values(condition, text, cursor, err));
    if (condition->sign >= CONDITION_LESS)
        CELLAR_TRY(condition_read_bound(condition, text, err));
    *out = condition;
    condition = NULL;
out:
    cellar_condition_free(condition);
    return status;
}

void cellar_condition_free(cellar_condition *condition)
{
    if (condition == NULL)
        return;
    cellar_arena_free(condition->arena);
    cellar_free(condition->values);
    cellar_free(condition);
}

const char *cellar_condition_column(const cellar_condition *condition)
{
    return condition->column;
}

const char *cellar_condition_order(const cellar_condition *condition)
{
    return condition->sign >= CONDITION_LESS ? condition_sign_text(condition->sign) : NULL;
}

void cellar_condition_add_bound(const cellar_condition *condition, cellar_text *text)
{
    cellar_text_add_decimal(text, condition->bound, condition->scale);
}

size_t cellar_condition_n_values(const cellar_condition *condition)
{
    return condition->n_values;
}

const char *cellar_condition_value(const cellar_condition *condition, size_t i)
{
    return condition->values[i].text;
}

int cellar_condition_excludes(const cellar_condition *condition)
{
    return condition->sign == CONDITION_NOT_EQUAL;
}

/* ---- the normal form ------------------------------------------------------- */

void cellar_condition_add_text(const cellar_condition *condition, cellar_text *text)
{
    const condition_value *values = condition->values;

    cellar_text_add_quoted(text, condition->column, strlen(condition->column));
    cellar_text_add_string(text, condition_sign_text(condition->sign));
    if (condition->sign >= CONDITION_LESS) {
        cellar_condition_add_bound(condition, text);
        return;
    }
    for (size_t i = 0; i < condition->n_values; i++) {
        if (i > 0 && condition_value_compare(&values[i - 1], &values[i]) == 0)
            continue;
        if (i > 0)
            cellar_text_add_char(text, '|');
        cellar_text_add_quoted(text, values[i].text, values[i].length);
    }
}

/* ---- evaluation ------------------------------------------------------------ */

static int condition_is_listed(const cellar_condition *condition, const char *text, size_t length)
{
    condition_value key = {.text = text, .length = length};
    return bsearch(&key, condition->values, condition->n_values, sizeof key,
                   condition_value_compare) != NULL;
}

int cellar_condition_holds(const cellar_condition *condition, const char *text, size_t length)
{
    cellar_decimal number;
    int order;

    if (condition->sign == CONDITION_EQUAL)
        return condition_is_listed(condition, text, length);
    if (condition->sign == CONDITION_NOT_EQUAL)
        return !condition_is_listed(condition, text, length);
    if (!cellar_decimal_read(text, length, condition->scale, &number))
        return 0;
    order = cellar_decimal_compare(&number, condition->bound);
    switch (condition->sign) {
    case CONDITION_LESS:
        return order < 0;
    case CONDITION_LESS_EQUAL:
        return order <= 0;
    case CONDITION_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}
