/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/jsonstat.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "table/formats/jsonstat_plain.h"

static cellar_status jsonstat_fail(const cellar_source *source, const char *member,
                                   const char *expected, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: %s: expected %s", source->name, member,
                       expected);
}

void cellar_jsonstat_clear(cellar_jsonstat *file)
{
    json_decref(file->root);
    cellar_arena_free(file->arena);
    cellar_free(file->values);
    cellar_free(file->statuses);
    *file = (cellar_jsonstat){0};
}

/* The text without its plain values, or else all of it, which also says where it is wrong. */
static cellar_status jsonstat_load_root(const char *bytes, size_t length, cellar_jsonstat *file,
                                        json_error_t *where, cellar_error *err)
{
    cellar_jsonstat_plain plain;
    cellar_status status = cellar_jsonstat_read_plain(bytes, length, &plain, err);
    if (status != CELLAR_OK)
        return status;
    file->values = plain.entries;
    file->n_values = plain.n;
    if (plain.entries != NULL)
        file->root = cellar_jsonstat_parse_around(bytes, length, &plain, where);
    if (file->root != NULL ||
        (plain.entries != NULL && json_error_code(where) == json_error_out_of_memory))
        return CELLAR_OK;
    cellar_free(file->values);
    file->values = NULL;
    file->root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, where);
    return CELLAR_OK;
}

static cellar_status jsonstat_load(const cellar_source *source, cellar_jsonstat *file,
                                   cellar_error *err)
{
    const char *bytes = source->bytes, *class;
    size_t length = source->length;
    json_error_t where = {0};
    cellar_status status;

    if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) {
        bytes += 3;
        length -= 3;
    }
    status = jsonstat_load_root(bytes, length, file, &where, err);
    if (status != CELLAR_OK)
        return status;
    if (file->root == NULL && json_error_code(&where) == json_error_out_of_memory)
        return cellar_fail_memory(err, source->name);
    if (file->root == NULL) /* jansson's own text may quote the file, so only where is told */
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%d: column %d: not valid JSON", source->name,
                           where.line, where.column);
    class = json_string_value(json_object_get(file->root, "class"));
    if (class == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: has no class \"dataset\"; it is no JSON-stat 2.0", source->name);
    if (strcmp(class, "collection") == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: is a collection of datasets; give one of them", source->name);
    if (strcmp(class, "dataset") != 0)
        return jsonstat_fail(source, "class", "\"dataset\"", err);
    return CELLAR_OK;
}

/* ---- dimensions ------------------------------------------------------------ */

/* The codes in the order of `index`, an array of codes or an object from code to position. A
 * dimension of one category may have its label only. */
static int jsonstat_read_codes(const json_t *category, cellar_jsonstat_dimension *dimension)
{
    json_t *index = json_object_get(category, "index");
    json_t *labels = json_object_get(category, "label");
    const char *code;
    json_t *position;

    if (json_is_array(index) && json_array_size(index) == dimension->n) {
        for (size_t c = 0; c < dimension->n; c++)
            dimension->codes[c] = json_string_value(json_array_get(index, c));
    } else if (json_is_object(index) && json_object_size(index) == dimension->n) {
        json_object_foreach(index, code, position)
        {
            json_int_t at = json_is_integer(position) ? json_integer_value(position) : -1;
            if (at < 0 || (uint64_t) at >= dimension->n || dimension->codes[at] != NULL)
                return 0;
            dimension->codes[at] = code;
        }
    } else if (index == NULL && dimension->n == 1 && json_object_size(labels) == 1)
        dimension->codes[0] = json_object_iter_key(json_object_iter(labels));
    else
        return 0;
    for (size_t c = 0; c < dimension->n; c++) {
        if (dimension->codes[c] == NULL)
            return 0;
        dimension->labels[c] = json_string_value(json_object_get(labels, dimension->codes[c]));
    }
    return 1;
}

static cellar_status jsonstat_read_dimension(const cellar_source *source, cellar_jsonstat *file,
                                             size_t v, const json_t *id, const json_t *size,
                                             cellar_error *err)
{
    cellar_jsonstat_dimension *dimension = &file->dimensions[v];
    const json_t *object, *category;

    dimension->name = json_string_value(id);
    if (dimension->name == NULL)
        return jsonstat_fail(source, "id", "a list of at most 64 strings", err);
    if (!json_is_integer(size) || json_integer_value(size) < 1 ||
        json_integer_value(size) > (json_int_t) source->length)
        return jsonstat_fail(source, "size", "the number of categories of each dimension", err);
    dimension->n = (size_t) json_integer_value(size);
    if (__builtin_mul_overflow(file->n_indices, dimension->n, &file->n_indices))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "%s: size: too many possible cells",
                           source->name);
    dimension->codes = cellar_arena_alloc(file->arena, dimension->n, sizeof *dimension->codes);
    dimension->labels = cellar_arena_alloc(file->arena, dimension->n, sizeof *dimension->labels);
    if (dimension->codes == NULL || dimension->labels == NULL)
        return cellar_fail_memory(err, "the categories of a table");
    object = json_object_get(json_object_get(file->root, "dimension"), dimension->name);
    category = json_object_get(object, "category");
    if (!jsonstat_read_codes(category, dimension))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: dimension '%s': expected a category with an index of %zu codes",
                           source->name, dimension->name, dimension->n);
    return CELLAR_OK;
}

/* Roles are of no use to a table of counts, but several measures cannot be one. */
static cellar_status jsonstat_check_roles(const cellar_source *source, const cellar_jsonstat *file,
                                          cellar_error *err)
{
    const json_t *metric = json_object_get(json_object_get(file->root, "role"), "metric");
    for (size_t i = 0; i < json_array_size(metric); i++) {
        const char *name = json_string_value(json_array_get(metric, i));
        for (size_t v = 0; name != NULL && v < file->n_variables; v++)
            if (strcmp(name, file->dimensions[v].name) == 0 && file->dimensions[v].n > 1)
                return cellar_fail(err, CELLAR_ERR_INPUT,
                                   "%s: dimension '%s' holds several measures; give a dataset "
                                   "with one",
                                   source->name, name);
    }
    return CELLAR_OK;
}

static cellar_status jsonstat_read_dimensions(const cellar_source *source, cellar_jsonstat *file,
                                              cellar_error *err)
{
    const json_t *id = json_object_get(file->root, "id");
    const json_t *size = json_object_get(file->root, "size");
    cellar_status status;

    file->n_variables = json_array_size(id);
    file->n_indices = 1;
    if (!json_is_array(id) || file->n_variables > CELLAR_MAX_VARIABLES) {
        file->n_variables = 0;
        return jsonstat_fail(source, "id", "a list of at most 64 strings", err);
    }
    if (json_array_size(size) != file->n_variables)
        return jsonstat_fail(source, "size", "as many numbers as id has dimensions", err);
    for (size_t v = 0; v < file->n_variables; v++) {
        status = jsonstat_read_dimension(source, file, v, json_array_get(id, v),
                                         json_array_get(size, v), err);
        if (status != CELLAR_OK)
            return status;
    }
    /* Cellar's own dimensions are compared with what the extension states */
    return file->extension != NULL ? CELLAR_OK : jsonstat_check_roles(source, file, err);
}

/* ---- values and statuses --------------------------------------------------- */

static int jsonstat_compare_entries(const void *a, const void *b)
{
    const cellar_jsonstat_entry *x = a, *y = b;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Of an array or an object by index. */
static cellar_status jsonstat_list_entries(const cellar_source *source, json_t *from,
                                           const char *member, cellar_jsonstat_entry *entries,
                                           cellar_error *err)
{
    size_t i = 0;
    const char *key;
    json_t *value;
    if (json_is_array(from)) {
        json_array_foreach(from, i, value) entries[i] = (cellar_jsonstat_entry){i, value, 0};
        return CELLAR_OK;
    }
    json_object_foreach(from, key, value)
    {
        if (!cellar_parse_u64(key, strlen(key), &entries[i].index))
            return jsonstat_fail(source, member, "positions of cells as names", err);
        entries[i++].value = value;
    }
    qsort(entries, i, sizeof *entries, jsonstat_compare_entries);
    return CELLAR_OK;
}

/* An array over all cells, or an object by index, as entries in order; plain values are there
 * already. */
static cellar_status jsonstat_read_entries(const cellar_source *source, const cellar_jsonstat *file,
                                           const char *member, cellar_jsonstat_entry **entries,
                                           size_t *n_entries, cellar_error *err)
{
    json_t *from = json_object_get(file->root, member);
    cellar_status status = CELLAR_OK;
    size_t n = *n_entries;

    if (*entries == NULL) {
        n = json_is_array(from) ? json_array_size(from) : json_object_size(from);
        *entries = cellar_alloc(n, sizeof **entries);
        if (*entries == NULL)
            return cellar_fail_memory(err, "the cells of a table file");
        status = jsonstat_list_entries(source, from, member, *entries, err);
    }
    if (status != CELLAR_OK)
        return status;
    if (json_is_array(from) && n != file->n_indices)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: %s: %zu elements, but the sizes make %" PRIu64, source->name,
                           member, n, file->n_indices);
    if (n > 0 && (*entries)[n - 1].index >= file->n_indices)
        return jsonstat_fail(source, member, "positions of cells as names", err);
    for (size_t i = 1; i < n; i++)
        if ((*entries)[i - 1].index == (*entries)[i].index)
            return jsonstat_fail(source, member, "each position once", err);
    *n_entries = n;
    return CELLAR_OK;
}

cellar_status cellar_jsonstat_parse(const cellar_source *source, cellar_jsonstat *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const json_t *statuses, *values;

    *out = (cellar_jsonstat){0};
    out->arena = cellar_arena_create((size_t) 1 << 32);
    if (out->arena == NULL)
        return cellar_fail_memory(err, source->name);
    CELLAR_TRY(jsonstat_load(source, out, err));
    out->extension = json_object_get(json_object_get(out->root, "extension"), "cellar");
    CELLAR_TRY(jsonstat_read_dimensions(source, out, err));
    values = json_object_get(out->root, "value");
    statuses = json_object_get(out->root, "status");
    if (!json_is_array(values) && !json_is_object(values))
        return jsonstat_fail(source, "value", "an array or an object", err);
    /* A small file must not make us hold a large grid of missing cells. */
    if (out->extension == NULL && out->n_indices > 1000000 && out->n_indices / 16 > source->length)
        return cellar_fail(err, CELLAR_ERR_MEMORY,
                           "%s: mentions too few of its %" PRIu64 " possible cells", source->name,
                           out->n_indices);
    CELLAR_TRY(jsonstat_read_entries(source, out, "value", &out->values, &out->n_values, err));
    if (json_is_string(statuses))
        out->common_status = statuses;
    else if (json_is_array(statuses) && json_array_size(statuses) == 1 && out->n_indices > 1)
        out->common_status = json_array_get(statuses, 0);
    else if (json_is_array(statuses) || json_is_object(statuses))
        CELLAR_TRY(
            jsonstat_read_entries(source, out, "status", &out->statuses, &out->n_statuses, err));
    else if (statuses != NULL && !json_is_null(statuses))
        return jsonstat_fail(source, "status", "a string, an array or an object", err);
out:
    return status;
}

/* ---- cells ----------------------------------------------------------------- */

static const cellar_jsonstat_entry *jsonstat_take(const cellar_jsonstat_entry *entries, size_t n,
                                                  size_t *position, uint64_t index)
{
    const cellar_jsonstat_entry *entry;
    if (*position == n || entries[*position].index != index)
        return NULL;
    entry = &entries[(*position)++];
    return json_is_null(entry->value) ? NULL : entry;
}

static int jsonstat_go_to(const cellar_jsonstat *file, cellar_jsonstat_cursor *cursor,
                          uint64_t index)
{
    const cellar_jsonstat_entry *stated;
    if (index >= file->n_indices)
        return 0;
    cursor->started = 1;
    cursor->index = index;
    cursor->value = jsonstat_take(file->values, file->n_values, &cursor->value_position, index);
    stated = jsonstat_take(file->statuses, file->n_statuses, &cursor->status_position, index);
    cursor->status = stated != NULL ? stated->value : file->common_status;
    return 1;
}

int cellar_jsonstat_next(const cellar_jsonstat *file, cellar_jsonstat_cursor *cursor)
{
    return jsonstat_go_to(file, cursor, cursor->started ? cursor->index + 1 : 0);
}

int cellar_jsonstat_next_mentioned(const cellar_jsonstat *file, cellar_jsonstat_cursor *cursor)
{
    uint64_t next = UINT64_MAX;
    if (cursor->value_position < file->n_values)
        next = file->values[cursor->value_position].index;
    if (cursor->status_position < file->n_statuses &&
        file->statuses[cursor->status_position].index < next)
        next = file->statuses[cursor->status_position].index;
    return jsonstat_go_to(file, cursor, next);
}

/* Our own names, and the marks that statistical offices use (SDMX's CL_OBS_STATUS and Eurostat's
 * flags). 0 for any other: it does not change what a number is. */
static int jsonstat_find_status(const json_t *text, cellar_cell_status *out)
{
    static const struct {
        const char *mark;
        cellar_cell_status status;
    } marks[] = {
        {"Q", CELLAR_CELL_SUPPRESSED},      {"c", CELLAR_CELL_SUPPRESSED},
        {"U", CELLAR_CELL_UNRELIABLE},      {"u", CELLAR_CELL_UNRELIABLE},
        {"M", CELLAR_CELL_STRUCTURAL_ZERO}, {"z", CELLAR_CELL_STRUCTURAL_ZERO},
        {"O", CELLAR_CELL_NOT_AVAILABLE},   {"L", CELLAR_CELL_NOT_AVAILABLE},
        {":", CELLAR_CELL_NOT_AVAILABLE},   {"..", CELLAR_CELL_NOT_AVAILABLE},
    };
    const char *mark = json_string_value(text);

    if (mark == NULL || mark[0] == '\0')
        return 0;
    if (cellar_cell_status_find(mark, strlen(mark), out))
        return 1;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strcmp(marks[i].mark, mark) == 0) {
            *out = marks[i].status;
            return 1;
        }
    return 0;
}

static int jsonstat_whole(const cellar_jsonstat_entry *entry, int64_t *out)
{
    const json_t *value = entry->value;
    double real = json_real_value(value);
    if (value == NULL || json_is_integer(value)) {
        *out = value == NULL ? entry->whole : json_integer_value(value);
        return 1;
    }
    if (!json_is_real(value) || fabs(real) > 9007199254740992.0 || floor(real) != real)
        return 0;
    *out = (int64_t) real;
    return 1;
}

/* A number in units of 10^-decimals: the nearest one, which is exact below 2^53 units. */
static int jsonstat_decimal(const cellar_jsonstat_entry *entry, int decimals, int64_t *out)
{
    const json_t *value = entry->value;
    double units = value == NULL ? (double) entry->whole : json_number_value(value);
    for (int i = 0; i < decimals; i++)
        units *= 10;
    if ((value != NULL && !json_is_number(value)) || !(fabs(units) <= 9007199254740992.0))
        return 0;
    *out = (int64_t) nearbyint(units);
    return 1;
}

cellar_status cellar_jsonstat_cell(const cellar_source *source,
                                   const cellar_jsonstat_cursor *cursor, int decimals,
                                   cellar_sheet_cell *cell, int *stated, cellar_error *err)
{
    int has_status;

    *cell = (cellar_sheet_cell){.index = cursor->index};
    has_status = jsonstat_find_status(cursor->status, &cell->status);
    *stated = cursor->value != NULL || has_status;
    if (cursor->value == NULL)
        return CELLAR_OK;
    if (decimals > 0 ? !jsonstat_decimal(cursor->value, decimals, &cell->value)
                     : !jsonstat_whole(cursor->value, &cell->value))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: value %" PRIu64 ": expected a %s or null",
                           source->name, cursor->index, decimals > 0 ? "number" : "whole number");
    if (cell->value < 0 && source->kind == CELLAR_SHEET_TABLE)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: value %" PRIu64 ": a count cannot be negative", source->name,
                           cursor->index);
    if (cell->value != 0 && cell->status == CELLAR_CELL_STRUCTURAL_ZERO)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: value %" PRIu64 ": a structural zero has to be 0", source->name,
                           cursor->index);
    return CELLAR_OK;
}
