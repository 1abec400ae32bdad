/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/stored/heading.h"

#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "base/text.h"

typedef struct heading {
    cellar_stored_file *file;
    cellar_error *err;
} heading;

static cellar_status fail_heading(const heading *h, const char *what)
{
    return cellar_fail(h->err, CELLAR_ERR_INPUT, "%s: the store is damaged: %s", h->file->name,
                       what);
}

static cellar_status fail_memory(const heading *h)
{
    return cellar_fail_memory(h->err, "a store");
}

unsigned cellar_stored_beside_width(cellar_stored_beside beside)
{
    return beside == CELLAR_STORED_KEY || beside == CELLAR_STORED_WEIGHT ? 8 : 4;
}

/* ---- members ------------------------------------------------------------------ */

/* A text, kept in the arena. An absent one stays NULL where that is allowed. */
static cellar_status read_text(const heading *h, const json_t *object, const char *key,
                               int is_required, const char **out)
{
    const json_t *value = json_object_get(object, key);
    *out = NULL;
    if (value == NULL && !is_required)
        return CELLAR_OK;
    if (!json_is_string(value) ||
        memchr(json_string_value(value), '\0', json_string_length(value)) != NULL)
        return fail_heading(h, "a text of its heading is missing");
    *out = cellar_arena_copy(h->file->arena, json_string_value(value), json_string_length(value));
    return *out != NULL ? CELLAR_OK : fail_memory(h);
}

/* A whole number from `least` to `most`. */
static cellar_status read_number(const heading *h, const json_t *object, const char *key,
                                 uint64_t least, uint64_t most, uint64_t *out)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return fail_heading(h, "a number of its heading is missing");
    *out = (uint64_t) json_integer_value(value);
    return *out >= least && *out <= most
               ? CELLAR_OK
               : fail_heading(h, "a number of its heading is out of range");
}

static cellar_status read_word(const heading *h, const json_t *object, const char *key,
                               const char *const *words, unsigned *out)
{
    const char *word = json_string_value(json_object_get(object, key));
    for (*out = 0; word != NULL && words[*out] != NULL; ++*out)
        if (strcmp(word, words[*out]) == 0)
            return CELLAR_OK;
    return fail_heading(h, "a word of its heading is missing or unknown");
}

static cellar_status read_texts(const heading *h, const json_t *object, const char *key,
                                const char ***out, size_t *n)
{
    const json_t *list = json_object_get(object, key);
    *n = 0;
    if (!json_is_array(list))
        return fail_heading(h, "a list of its heading is missing");
    *out = cellar_arena_alloc(h->file->arena, json_array_size(list), sizeof **out);
    if (*out == NULL)
        return fail_memory(h);
    for (; *n < json_array_size(list); ++*n) {
        const char *word = json_string_value(json_array_get(list, *n));
        if (word == NULL)
            return fail_heading(h, "a list of its heading holds something else than text");
        (*out)[*n] = cellar_arena_copy(h->file->arena, word, strlen(word));
        if ((*out)[*n] == NULL)
            return fail_memory(h);
    }
    return CELLAR_OK;
}

/* ---- variables ------------------------------------------------------------------ */

static cellar_status read_recode(const heading *h, const json_t *object, cellar_recode *recode)
{
    cellar_status status = CELLAR_OK;
    cellar_recode_map *map = NULL;
    const char *text;
    if (object == NULL)
        return CELLAR_OK;
    CELLAR_TRY(read_text(h, object, "map", 0, &text));
    if (text != NULL)
        CELLAR_TRY(cellar_recode_map_parse(h->file->name, text, strlen(text), &map, h->err));
    recode->map = map;
    CELLAR_TRY(read_text(h, object, "bottom", 0, &recode->bottom));
    CELLAR_TRY(read_text(h, object, "top", 0, &recode->top));
    CELLAR_TRY(read_text(h, object, "band", 0, &recode->band_width));
    CELLAR_TRY(read_text(h, object, "band_origin", 0, &recode->band_origin));
    recode->band_closed_right = json_is_true(json_object_get(object, "band_closed_right"));
out:
    return status;
}

static cellar_status read_list(const heading *h, const json_t *object, cellar_stored_variable *out)
{
    const json_t *text = json_object_get(object, "codelist");
    cellar_status status = CELLAR_OK;
    if (!json_is_string(text))
        return fail_heading(h, "a variable has no code list");
    CELLAR_TRY(cellar_codelist_parse(h->file->name, json_string_value(text),
                                     json_string_length(text), &out->list, h->err));
    if (cellar_codelist_n_leaves(out->list) == 0 ||
        cellar_codelist_n_leaves(out->list) > STORED_CODES_MAX)
        return fail_heading(h, "a variable has no categories, or too many");
    out->n_codes = (uint32_t) cellar_codelist_n_leaves(out->list);
out:
    return status;
}

static cellar_status read_variable(const heading *h, const json_t *object, size_t v)
{
    static const char *const domains[] = STORED_DOMAIN_WORDS, *const policies[] =
                                                                  STORED_POLICY_WORDS;
    cellar_stored_variable *variable = &h->file->variables[v];
    cellar_stored_column *column = &h->file->columns[CELLAR_STORED_N_BESIDE + v];
    cellar_status status = CELLAR_OK;
    unsigned word;
    uint64_t width;

    CELLAR_TRY(read_text(h, object, "name", 1, &variable->spec.name));
    CELLAR_TRY(read_text(h, object, "column", 1, &variable->spec.column));
    CELLAR_TRY(read_word(h, object, "domain", domains, &word));
    variable->domain = (cellar_stored_domain) word;
    CELLAR_TRY(read_word(h, object, "missing_as", policies, &word));
    variable->spec.missing_policy = (cellar_missing_policy) word;
    variable->spec.domain_public = json_is_true(json_object_get(object, "public"));
    CELLAR_TRY(read_recode(h, json_object_get(object, "recode"), &variable->spec.recode));
    CELLAR_TRY(read_list(h, object, variable));
    CELLAR_TRY(read_number(h, object, "width", variable->n_codes > UINT8_MAX ? 2 : 1, 2, &width));
    *column = (cellar_stored_column){.name = variable->spec.name,
                                     .width = (unsigned) width,
                                     .least = !json_is_true(json_object_get(object, "missing")),
                                     .limit = (uint64_t) variable->n_codes + 1};
    for (size_t other = 0; other < v; other++)
        if (strcmp(h->file->variables[other].spec.name, variable->spec.name) == 0)
            return fail_heading(h, "two of its variables have the same name");
out:
    return status;
}

static cellar_status read_variables(const heading *h, const json_t *list)
{
    const size_t n = json_array_size(list);
    cellar_stored_file *file = h->file;
    cellar_status status = CELLAR_OK;
    if (n == 0 || n > STORED_VARIABLES_MAX)
        return fail_heading(h, "it has no variables, or too many");
    file->n_columns = CELLAR_STORED_N_BESIDE + n;
    file->variables = cellar_arena_alloc(file->arena, n, sizeof *file->variables);
    file->columns = cellar_arena_alloc(file->arena, file->n_columns, sizeof *file->columns);
    if (file->variables == NULL || file->columns == NULL)
        return fail_memory(h);
    file->n_variables = n;
    for (size_t v = 0; v < n; v++)
        CELLAR_TRY(read_variable(h, json_array_get(list, v), v));
out:
    return status;
}

/* ---- beside them ------------------------------------------------------------------ */

static cellar_status read_key_range(const heading *h, const json_t *object)
{
    const char *range;
    cellar_status status = read_text(h, object, "range", 1, &range);
    if (status == CELLAR_OK &&
        (!cellar_parse_u64(range, strlen(range), &h->file->key_range) || h->file->key_range == 0))
        return fail_heading(h, "the range of its record keys is no number");
    h->file->key_is_derived = json_is_true(json_object_get(object, "derived"));
    h->file->key_is_decimal = json_is_true(json_object_get(object, "decimal"));
    return status;
}

static cellar_status read_beside(const heading *h, const json_t *root)
{
    static const char *const words[] = STORED_BESIDE_WORDS;
    cellar_stored_file *file = h->file;
    cellar_status status = CELLAR_OK;
    for (unsigned b = 0; b < CELLAR_STORED_N_BESIDE; b++) {
        const json_t *object = json_object_get(root, words[b]);
        if (object == NULL)
            continue;
        CELLAR_TRY(read_text(h, object, "column", 1, &file->columns[b].name));
        file->columns[b].width = cellar_stored_beside_width((cellar_stored_beside) b);
        if (b == CELLAR_STORED_KEY) {
            CELLAR_TRY(read_key_range(h, object));
            file->columns[b].limit = file->key_range;
        } else if (b == CELLAR_STORED_UNIT)
            CELLAR_TRY(read_number(h, object, "units", file->n_rows > 0, STORED_ROWS_MAX,
                                   &file->columns[b].limit));
        else if (b == CELLAR_STORED_ORDER)
            file->columns[b].limit = file->n_rows;
    }
out:
    return status;
}

/* Which rows of the data are stored, and which values of them were missing. */
static cellar_status read_origin(const heading *h, const json_t *root)
{
    static const char *const policies[] = STORED_POLICY_WORDS;
    cellar_stored_file *file = h->file;
    const json_t *rows = json_object_get(root, "not_stored");
    cellar_status status = CELLAR_OK;
    unsigned word;
    CELLAR_TRY(read_word(h, root, "missing_as", policies, &word));
    file->missing_policy = (cellar_missing_policy) word;
    CELLAR_TRY(read_texts(h, root, "missing", &file->missing, &file->n_missing));
    CELLAR_TRY(read_texts(h, root, "where", &file->where, &file->n_where));
    CELLAR_TRY(read_text(h, root, "sorted_by", 0, &file->sorted_by));
    if (json_is_true(json_object_get(root, "skip_bad_rows")))
        file->bad_rows = CELLAR_BAD_ROWS_SKIP;
    CELLAR_TRY(read_number(h, rows, "bad", 0, UINT64_MAX, &file->report.n_bad));
    CELLAR_TRY(read_number(h, rows, "filtered", 0, UINT64_MAX, &file->report.n_filtered));
    file->report.n_read = file->report.n_bad + file->report.n_filtered;
out:
    return status;
}

cellar_status cellar_stored_read_heading(cellar_stored_file *file, const char *text, size_t length,
                                         cellar_error *err)
{
    const heading h = {file, err};
    json_error_t ignored;
    json_t *document = json_loadb(text, length, JSON_REJECT_DUPLICATES, &ignored);
    const json_t *root = json_object_get(document, "cellar");
    const char *kind = json_string_value(json_object_get(root, "kind"));
    cellar_status status = CELLAR_OK;

    if (kind == NULL || strcmp(kind, "store") != 0) {
        status = fail_heading(&h, "its heading is not that of a store");
        goto out;
    }
    CELLAR_TRY(read_number(&h, root, "rows", 0, STORED_ROWS_MAX, &file->n_rows));
    CELLAR_TRY(read_variables(&h, json_object_get(root, "variables")));
    CELLAR_TRY(read_beside(&h, root));
    CELLAR_TRY(read_origin(&h, root));
out:
    json_decref(document);
    return status;
}
