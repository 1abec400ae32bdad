/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/counting/tabulation.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/decimal.h"
#include "data/recode_map.h"
#include "table/formats/extension.h"

enum { TABULATION_VERSION = 1 };

/* ---- words ----------------------------------------------------------------- */

static cellar_status tabulation_fail_memory(cellar_error *err)
{
    return cellar_fail_memory(err, "a description of the table");
}

/* Values that nobody can write in UTF-8 match no record: a slip, found here. */
static cellar_status tabulation_check_words(const char *what, const char *const *words, size_t n,
                                            cellar_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!cellar_utf8_valid(words[i], strlen(words[i])))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s number %zu is not valid UTF-8", what,
                               i + 1);
    return CELLAR_OK;
}

static int tabulation_compare(const void *left, const void *right)
{
    return strcmp(*(const char *const *) left, *(const char *const *) right);
}

/* The words, sorted, each once. NULL when memory ends. */
static json_t *tabulation_set(const char *const *words, size_t n)
{
    const char **sorted = cellar_alloc(n, sizeof *sorted);
    json_t *set = sorted != NULL ? json_array() : NULL;

    for (size_t i = 0; sorted != NULL && i < n; i++)
        sorted[i] = words[i];
    if (n > 0 && sorted != NULL)
        qsort(sorted, n, sizeof *sorted, tabulation_compare);
    for (size_t i = 0; set != NULL && i < n; i++)
        if ((i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0) &&
            json_array_append_new(set, json_string(sorted[i])) != 0) {
            json_decref(set);
            set = NULL;
        }
    cellar_free(sorted);
    return set;
}

/* A decimal by its value: 5, 5.0 and 05 are one. */
static json_t *tabulation_decimal(const char *text)
{
    cellar_decimal number = {0};
    cellar_text shortest = {0};
    int scale = cellar_decimal_scale(text);
    json_t *string = NULL;

    if (scale >= 0 && cellar_decimal_read(text, strlen(text), scale, &number))
        cellar_text_add_decimal(&shortest, number.floor, scale);
    if (shortest.bytes != NULL && !shortest.failed)
        string = json_string(shortest.bytes);
    cellar_text_clear(&shortest);
    return string;
}

/* ---- variables ------------------------------------------------------------- */

static json_t *tabulation_map(const cellar_codelist *pairs)
{
    json_t *map = json_object();
    for (size_t i = 0; map != NULL && i < cellar_codelist_n_codes(pairs); i++)
        if (json_object_set_new(map, cellar_codelist_code(pairs, i),
                                json_string(cellar_codelist_label(pairs, i, 0))) != 0) {
            json_decref(map);
            map = NULL;
        }
    return map;
}

static json_t *tabulation_band(const cellar_recode *recode)
{
    return json_pack("{s:o, s:o, s:s}", "width", tabulation_decimal(recode->band_width), "origin",
                     tabulation_decimal(recode->band_origin != NULL ? recode->band_origin : "0"),
                     "closed", recode->band_closed_right ? "right" : "left");
}

static const char *const missing_policies[] = {[CELLAR_MISSING_UNDECIDED] = "refused",
                                               [CELLAR_MISSING_DROP] = "drop",
                                               [CELLAR_MISSING_LEVEL] = "level"};

/* The column and the steps from its fields to categories. */
static json_t *tabulation_variable(const cellar_tabulate_spec *spec,
                                   const cellar_variable_spec *variable)
{
    const cellar_missing_policy policy = cellar_tabulation_policy(spec, variable);
    const cellar_recode *recode = &variable->recode;
    json_t *object = json_pack("{s:s}", "column", variable->column);
    int failed = object == NULL;

    if (policy != spec->missing_policy)
        failed |= json_object_set_new(object, "missing", json_string(missing_policies[policy]));
    if (recode->map != NULL)
        failed |= json_object_set_new(object, "map", tabulation_map(recode->map->pairs));
    if (recode->bottom != NULL)
        failed |= json_object_set_new(object, "bottom", tabulation_decimal(recode->bottom));
    if (recode->top != NULL)
        failed |= json_object_set_new(object, "top", tabulation_decimal(recode->top));
    if (recode->band_width != NULL)
        failed |= json_object_set_new(object, "band", tabulation_band(recode));
    if (variable->level > 0)
        failed |= json_object_set_new(object, "level", json_integer((json_int_t) variable->level));
    if (!failed)
        return object;
    json_decref(object);
    return NULL;
}

static json_t *tabulation_variables(const cellar_tabulate_spec *spec)
{
    json_t *variables = json_object();
    for (size_t v = 0; variables != NULL && v < spec->n_variables; v++) {
        const cellar_variable_spec *variable = &spec->variables[v];
        if (json_object_set_new(variables,
                                variable->name != NULL ? variable->name : variable->column,
                                tabulation_variable(spec, variable)) != 0) {
            json_decref(variables);
            variables = NULL;
        }
    }
    return variables;
}

/* ---- records --------------------------------------------------------------- */

/* The conditions in their normal form, each once: all of them must hold, so order says nothing. */
static json_t *tabulation_where(const cellar_condition *const *conditions, size_t n)
{
    cellar_text *texts = cellar_alloc(n, sizeof *texts);
    const char **words = cellar_alloc(n, sizeof *words);
    int failed = texts == NULL || words == NULL;
    json_t *where = NULL;

    for (size_t w = 0; !failed && w < n; w++) {
        cellar_condition_add_text(conditions[w], &texts[w]);
        words[w] = texts[w].bytes;
        failed = texts[w].failed;
    }
    if (!failed)
        where = tabulation_set(words, n);
    for (size_t w = 0; texts != NULL && w < n; w++)
        cellar_text_clear(&texts[w]);
    cellar_free(texts);
    cellar_free(words);
    return where;
}

static json_t *tabulation_missing(const cellar_tabulate_spec *spec)
{
    return json_pack("{s:s, s:o}", "as", missing_policies[spec->missing_policy], "values",
                     tabulation_set(spec->missing, spec->n_missing));
}

/* A column with a number that belongs to it; 0 stands for none. */
static json_t *tabulation_column(const char *member, const char *column, const char *about,
                                 uint64_t number)
{
    return number == 0 ? json_pack("{s:s}", member, column)
                       : json_pack("{s:s, s:I}", member, column, about, (json_int_t) number);
}

/* Which records count, and how much: what is not used is not mentioned. */
static int tabulation_add_records(const cellar_tabulate_spec *spec,
                                  const cellar_condition *const *conditions, json_t *object)
{
    int failed = json_object_set_new(object, "missing", tabulation_missing(spec));
    if (spec->n_where > 0)
        failed |= json_object_set_new(object, "where", tabulation_where(conditions, spec->n_where));
    if (spec->reader.count_column != NULL)
        failed |= json_object_set_new(object, "count",
                                      json_pack("{s:s}", "column", spec->reader.count_column));
    if (spec->weight_column != NULL)
        failed |= json_object_set_new(
            object, "weight",
            tabulation_column("column", spec->weight_column, "max", spec->max_weight));
    if (spec->unit_column != NULL)
        failed |= json_object_set_new(
            object, "unit",
            tabulation_column("column", spec->unit_column, "max_records", spec->max_per_unit));
    if (spec->record_key_column != NULL) /* a record without a key does not count */
        failed |= json_object_set_new(
            object, "record_key",
            tabulation_column("column", spec->record_key_column, "range", spec->key_range));
    if (spec->record_id_column != NULL)
        failed |= json_object_set_new(
            object, "record_key",
            tabulation_column("identifier", spec->record_id_column, "range", spec->key_range));
    if (spec->reader.bad_rows == CELLAR_BAD_ROWS_SKIP)
        failed |= json_object_set_new(object, "bad_rows", json_string("skip"));
    return !failed;
}

cellar_status cellar_tabulation_describe(const cellar_tabulate_spec *spec,
                                         const cellar_condition *const *conditions, char **out,
                                         cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    json_t *object = NULL;

    *out = NULL;
    CELLAR_TRY(tabulation_check_words("condition", spec->where, spec->n_where, err));
    CELLAR_TRY(tabulation_check_words("missing value", spec->missing, spec->n_missing, err));
    object = json_pack("{s:i, s:o}", "version", TABULATION_VERSION, "variables",
                       tabulation_variables(spec));
    if (object != NULL && tabulation_add_records(spec, conditions, object))
        *out = cellar_json_text(object, JSON_COMPACT | JSON_SORT_KEYS);
    if (*out == NULL)
        status = tabulation_fail_memory(err);
out:
    json_decref(object);
    return status;
}
