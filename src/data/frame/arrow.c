/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrow's schemas and arrays as columns. Producers are not trusted: all that they state is looked
 * at before it is used. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/frame/frame.h"

/* ---- formats ----------------------------------------------------------------- */

typedef struct known_format {
    const char *format;
    frame_type type;
    unsigned width;
    int is_unsigned;
} known_format;

static const known_format known_formats[] = {
    {"n", FRAME_NULLS, 0, 0},    {"b", FRAME_BOOLS, 0, 0},    {"c", FRAME_INTEGERS, 1, 0},
    {"C", FRAME_INTEGERS, 1, 1}, {"s", FRAME_INTEGERS, 2, 0}, {"S", FRAME_INTEGERS, 2, 1},
    {"i", FRAME_INTEGERS, 4, 0}, {"I", FRAME_INTEGERS, 4, 1}, {"l", FRAME_INTEGERS, 8, 0},
    {"L", FRAME_INTEGERS, 8, 1}, {"f", FRAME_FLOATS, 4, 0},   {"g", FRAME_FLOATS, 8, 0},
    {"u", FRAME_TEXTS, 4, 0},    {"U", FRAME_TEXTS, 8, 0},    {"vu", FRAME_VIEWS, 16, 0},
};

/* Types that are refused, by the beginning of their format. */
static const char *const refused_formats[][2] = {
    {"+r", "run-end encoded values"},
    {"+s", "records within records"},
    {"+l", "lists"},
    {"+L", "lists"},
    {"+v", "lists"},
    {"+w", "lists"},
    {"+m", "maps"},
    {"+u", "unions"},
    {"e", "half floats"},
    {"z", "binary values"},
    {"Z", "binary values"},
    {"vz", "binary values"},
    {"w", "binary values"},
    {"td", "dates"},
    {"tt", "times"},
    {"ts", "timestamps"},
    {"tD", "durations"},
    {"ti", "intervals of time"},
};

static int begins_with(const char *text, const char *beginning)
{
    return strncmp(text, beginning, strlen(beginning)) == 0;
}

/* The next number of a list such as "19,10,256", and whether one was there. */
static int read_number(const char **text, long *out)
{
    char *end;
    *out = strtol(*text, &end, 10);
    if (end == *text)
        return 0;
    *text = *end == ',' ? end + 1 : end;
    return 1;
}

/* "d:19,10" or "d:19,10,256": precision, scale, bits [128]. */
static int read_decimal(const char *format, frame_layout *layout)
{
    const char *text = format + 2;
    long precision, scale, bits = 128;
    if (!read_number(&text, &precision) || !read_number(&text, &scale) ||
        (*text != '\0' && !read_number(&text, &bits)) || *text != '\0' || precision < 1 ||
        precision > 76 || scale < -76 || scale > 76 ||
        (bits != 32 && bits != 64 && bits != 128 && bits != 256))
        return 0;
    layout->type = FRAME_DECIMALS;
    layout->width = (unsigned) bits / 8;
    layout->scale = (int) scale;
    return 1;
}

static void read_format(const char *format, frame_layout *layout)
{
    const char *what = "values of a type that is not known";
    for (size_t i = 0; i < sizeof known_formats / sizeof *known_formats; i++)
        if (strcmp(known_formats[i].format, format) == 0) {
            layout->type = known_formats[i].type;
            layout->width = known_formats[i].width;
            layout->is_unsigned = known_formats[i].is_unsigned;
            return;
        }
    if (begins_with(format, "d:") && read_decimal(format, layout))
        return;
    for (size_t i = 0; i < sizeof refused_formats / sizeof *refused_formats; i++)
        if (begins_with(format, refused_formats[i][0])) {
            what = refused_formats[i][1];
            break;
        }
    snprintf(layout->refusal, sizeof layout->refusal,
             "holds %s (Arrow format '%.20s'); make it a column of texts or numbers", what, format);
}

/* ---- schemas ----------------------------------------------------------------- */

static cellar_status read_column(const struct ArrowSchema *schema, frame_layout *layout,
                                 cellar_error *err)
{
    const char *name = schema->name != NULL ? schema->name : "";
    const size_t length = strlen(name);
    layout->name = cellar_alloc(length + 1, 1);
    if (layout->name == NULL)
        return cellar_fail_memory(err, "the names of columns");
    memcpy(layout->name, name, length);
    read_format(schema->format != NULL ? schema->format : "", layout);
    if (schema->dictionary == NULL)
        return CELLAR_OK;
    layout->levels = cellar_alloc(1, sizeof *layout->levels);
    if (layout->levels == NULL)
        return cellar_fail_memory(err, "the names of columns");
    layout->is_dictionary = 1;
    if (layout->refusal[0] == '\0' && layout->type != FRAME_INTEGERS)
        snprintf(layout->refusal, sizeof layout->refusal,
                 "has a dictionary, but its numbers are no integers");
    if (schema->dictionary->dictionary != NULL)
        snprintf(layout->refusal, sizeof layout->refusal, "has a dictionary within a dictionary");
    read_format(schema->dictionary->format != NULL ? schema->dictionary->format : "",
                layout->levels);
    if (layout->refusal[0] == '\0')
        memcpy(layout->refusal, layout->levels->refusal, sizeof layout->refusal);
    return CELLAR_OK;
}

cellar_status frame_read_schema(const struct ArrowSchema *schema, const char *file,
                                size_t max_columns, frame_layout **layouts, size_t *n,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *n = 0;
    if (schema->format == NULL || strcmp(schema->format, "+s") != 0 || schema->dictionary != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: the stream is not one of records (Arrow format '%.20s', not '+s')",
                           file, schema->format != NULL ? schema->format : "");
    if (schema->n_children < 1 || (uint64_t) schema->n_children > max_columns ||
        schema->children == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: expected 1 to %zu columns, the stream states %lld", file,
                           max_columns, (long long) schema->n_children);
    *layouts = cellar_alloc((size_t) schema->n_children, sizeof **layouts);
    if (*layouts == NULL)
        return cellar_fail_memory(err, "the names of columns");
    *n = (size_t) schema->n_children;
    for (size_t c = 0; c < *n; c++) {
        if (schema->children[c] == NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column %zu has no schema", file, c + 1);
        CELLAR_TRY(read_column(schema->children[c], &(*layouts)[c], err));
    }
out:
    return status;
}

/* ---- arrays ------------------------------------------------------------------ */

/* Buffers that a type has, the validity bitmap included; views have more. */
static int64_t n_buffers_of(frame_type type)
{
    switch (type) {
    case FRAME_NULLS:
        return 0;
    case FRAME_TEXTS:
        return 3;
    default:
        return 2;
    }
}

/* After the values of views stand any number of buffers, then one with their sizes. */
static const char *use_views(const struct ArrowArray *array, frame_column *column)
{
    column->buffers = array->buffers + 2;
    column->n_buffers = (size_t) array->n_buffers - 3;
    column->buffer_sizes = array->buffers[array->n_buffers - 1];
    return column->n_buffers > 0 && column->buffer_sizes == NULL ? "its views have no sizes" : NULL;
}

/* NULL, or what is wrong with an array that has to hold `n` values after the first `skipped`. */
static const char *use_array(const struct ArrowArray *array, const frame_layout *layout,
                             uint64_t skipped, uint64_t n, frame_column *column)
{
    const int64_t n_buffers = n_buffers_of(layout->type);
    const int is_views = layout->type == FRAME_VIEWS;
    uint64_t end;

    *column = (frame_column){.type = layout->type,
                             .width = layout->width,
                             .is_unsigned = layout->is_unsigned,
                             .scale = layout->scale,
                             .n = n};
    if (array == NULL || array->release == NULL)
        return "it has no values";
    if (array->length < 0 || array->offset < 0 ||
        __builtin_add_overflow((uint64_t) array->length, (uint64_t) array->offset, &end) ||
        end > INT64_MAX / 32)
        return "its length is impossible";
    if ((uint64_t) array->length < skipped || (uint64_t) array->length - skipped < n)
        return "it has fewer values than the batch has rows";
    if (is_views ? array->n_buffers < 3 : array->n_buffers != n_buffers)
        return "it has not the buffers of its type";
    column->offset = (uint64_t) array->offset + skipped;
    if (n == 0 || layout->type == FRAME_NULLS)
        return NULL;
    if (array->buffers == NULL || array->buffers[1] == NULL)
        return "it has no buffer of values";
    column->validity = array->null_count != 0 ? array->buffers[0] : NULL;
    column->values = array->buffers[1];
    if (layout->type == FRAME_TEXTS)
        column->bytes = array->buffers[2];
    return is_views ? use_views(array, column) : NULL;
}

static const char *use_dictionary(const struct ArrowArray *array, const frame_layout *layout,
                                  frame_column *column)
{
    const struct ArrowArray *levels = array->dictionary;
    if (levels == NULL || levels->length < 0)
        return "it has no dictionary";
    return use_array(levels, layout->levels, 0, (uint64_t) levels->length, column->levels);
}

/* A record that is null as a whole says nothing about its columns. */
static int has_null_record(const struct ArrowArray *array)
{
    const uint8_t *bits = array->n_buffers > 0 && array->buffers != NULL ? array->buffers[0] : NULL;
    if (bits == NULL || array->null_count == 0)
        return 0;
    for (uint64_t row = 0; row < (uint64_t) array->length; row++) {
        const uint64_t at = (uint64_t) array->offset + row;
        if ((bits[at / 8] >> at % 8 & 1) == 0)
            return 1;
    }
    return 0;
}

cellar_status frame_read_array(const struct ArrowArray *array, const frame_layout *layouts,
                               size_t n_columns, const unsigned char *is_used, const char *file,
                               frame_column *columns, uint64_t *n_rows, cellar_error *err)
{
    uint64_t end;
    *n_rows = 0;
    if (array->length < 0 || array->offset < 0 || array->n_children < 0 ||
        (uint64_t) array->n_children != n_columns || array->children == NULL ||
        __builtin_add_overflow((uint64_t) array->length, (uint64_t) array->offset, &end) ||
        end > INT64_MAX / 32)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: a batch of the stream has not the columns of its schema", file);
    if (has_null_record(array))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: a record of the stream is null", file);
    for (size_t c = 0; c < n_columns; c++) {
        const struct ArrowArray *child = array->children[c];
        const char *fault;
        if (!is_used[c])
            continue;
        fault = use_array(child, &layouts[c], (uint64_t) array->offset, (uint64_t) array->length,
                          &columns[c]);
        if (fault == NULL && layouts[c].is_dictionary) {
            columns[c].levels = cellar_alloc(1, sizeof *columns[c].levels);
            if (columns[c].levels == NULL)
                return cellar_fail_memory(err, "a dictionary");
            fault = use_dictionary(child, &layouts[c], &columns[c]);
        }
        if (fault != NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: column '%.200s': %s", file,
                               layouts[c].name, fault);
    }
    *n_rows = (uint64_t) array->length;
    return CELLAR_OK;
}
