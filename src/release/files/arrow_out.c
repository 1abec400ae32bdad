/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The producer's side of the Arrow interface. A consumer may move any part out of its parent and
 * release it later, so that every part owns what it points at. */
#include "release/files/arrow_out.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- rows -------------------------------------------------------------------- */

arrow_rows *arrow_rows_create(size_t n_columns, int64_t n_rows)
{
    arrow_rows *rows = cellar_alloc(1, sizeof *rows);
    if (rows == NULL)
        return NULL;
    rows->n_owners = 1;
    rows->n_rows = n_rows;
    rows->columns = cellar_alloc(n_columns, sizeof *rows->columns);
    if (rows->columns == NULL) {
        cellar_free(rows);
        return NULL;
    }
    rows->n_columns = n_columns;
    return rows;
}

void arrow_rows_drop(arrow_rows *rows)
{
    if (rows == NULL || atomic_fetch_sub(&rows->n_owners, 1) > 1)
        return;
    for (size_t c = 0; c < rows->n_columns; c++) {
        arrow_column *column = &rows->columns[c];
        cellar_free(column->name);
        cellar_free(column->values);
        cellar_free(column->validity);
        cellar_free(column->level_ends);
        cellar_text_clear(&column->levels);
    }
    cellar_free(rows->columns);
    cellar_free(rows);
}

static arrow_rows *rows_retain(arrow_rows *rows)
{
    atomic_fetch_add(&rows->n_owners, 1);
    return rows;
}

int arrow_rows_begin(arrow_rows *rows, size_t c, const char *name, const char *format, size_t size)
{
    arrow_column *column = &rows->columns[c];
    const size_t length = strlen(name);
    column->format = format;
    column->name = cellar_alloc(length + 1, 1);
    column->values = cellar_alloc((size_t) rows->n_rows, size);
    if (column->name == NULL || column->values == NULL)
        return 0;
    memcpy(column->name, name, length);
    return 1;
}

int arrow_rows_add_level(arrow_rows *rows, size_t c, const char *text)
{
    arrow_column *column = &rows->columns[c];
    int32_t *ends = cellar_realloc(column->level_ends, (size_t) column->n_levels + 2, sizeof *ends);
    if (ends == NULL)
        return 0;
    column->level_ends = ends;
    ends[0] = 0;
    cellar_text_add_string(&column->levels, text);
    if (column->levels.failed || column->levels.length > INT32_MAX)
        return 0;
    ends[++column->n_levels] = (int32_t) column->levels.length;
    return 1;
}

int arrow_rows_set_null(arrow_rows *rows, size_t c, int64_t row)
{
    arrow_column *column = &rows->columns[c];
    const size_t n_bytes = (size_t) (rows->n_rows + 7) / 8;
    if (column->validity == NULL) {
        column->validity = cellar_alloc(n_bytes, 1);
        if (column->validity == NULL)
            return 0;
        memset(column->validity, 0xff, n_bytes);
    }
    column->validity[row / 8] &= (uint8_t) ~(1u << row % 8);
    column->n_nulls++;
    return 1;
}

/* ---- schemas ----------------------------------------------------------------- */

static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children != NULL && i < schema->n_children; i++) {
        if (schema->children[i] != NULL && schema->children[i]->release != NULL)
            schema->children[i]->release(schema->children[i]);
        cellar_free(schema->children[i]);
    }
    cellar_free(schema->children);
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    cellar_free(schema->dictionary);
    arrow_rows_drop(schema->private_data);
    schema->release = NULL;
}

static struct ArrowSchema schema_of(arrow_rows *rows, const char *format, const char *name)
{
    return (struct ArrowSchema){.format = format,
                                .name = name,
                                .release = schema_release,
                                .private_data = rows_retain(rows)};
}

static int fill_schema(arrow_rows *rows, size_t c, struct ArrowSchema *out)
{
    const arrow_column *column = &rows->columns[c];
    *out = schema_of(rows, column->format, column->name);
    out->flags = ARROW_FLAG_NULLABLE;
    if (column->level_ends == NULL)
        return 1;
    out->dictionary = cellar_alloc(1, sizeof *out->dictionary);
    if (out->dictionary == NULL)
        return 0;
    *out->dictionary = schema_of(rows, "u", "");
    return 1;
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    arrow_rows *rows = stream->private_data;
    struct ArrowSchema schema = schema_of(rows, "+s", "");
    int ok;
    schema.children = cellar_alloc(rows->n_columns, sizeof *schema.children);
    schema.n_children = (int64_t) rows->n_columns;
    ok = schema.children != NULL;
    for (size_t c = 0; ok && c < rows->n_columns; c++) {
        schema.children[c] = cellar_alloc(1, sizeof *schema.children[c]);
        ok = schema.children[c] != NULL && fill_schema(rows, c, schema.children[c]);
    }
    if (!ok)
        schema_release(&schema);
    else
        *out = schema;
    return ok ? 0 : ENOMEM;
}

/* ---- arrays ------------------------------------------------------------------ */

static void array_release(struct ArrowArray *array)
{
    for (int64_t i = 0; array->children != NULL && i < array->n_children; i++) {
        if (array->children[i] != NULL && array->children[i]->release != NULL)
            array->children[i]->release(array->children[i]);
        cellar_free(array->children[i]);
    }
    cellar_free(array->children);
    if (array->dictionary != NULL && array->dictionary->release != NULL)
        array->dictionary->release(array->dictionary);
    cellar_free(array->dictionary);
    cellar_free(array->buffers);
    arrow_rows_drop(array->private_data);
    array->release = NULL;
}

/* 0 when memory ends; the array is to be released in every case. */
static int begin_array(arrow_rows *rows, int64_t length, int64_t n_buffers, struct ArrowArray *out)
{
    *out = (struct ArrowArray){.length = length,
                               .n_buffers = n_buffers,
                               .release = array_release,
                               .private_data = rows_retain(rows)};
    out->buffers = cellar_alloc((size_t) n_buffers, sizeof *out->buffers);
    return out->buffers != NULL;
}

static int fill_array(arrow_rows *rows, size_t c, struct ArrowArray *out)
{
    const arrow_column *column = &rows->columns[c];
    if (!begin_array(rows, rows->n_rows, 2, out))
        return 0;
    out->null_count = column->n_nulls;
    out->buffers[0] = column->validity;
    out->buffers[1] = column->values;
    if (column->level_ends == NULL)
        return 1;
    out->dictionary = cellar_alloc(1, sizeof *out->dictionary);
    if (out->dictionary == NULL || !begin_array(rows, column->n_levels, 3, out->dictionary))
        return 0;
    out->dictionary->buffers[1] = column->level_ends;
    out->dictionary->buffers[2] = column->levels.bytes;
    return 1;
}

static int make_batch(arrow_rows *rows, struct ArrowArray *out)
{
    struct ArrowArray batch;
    int ok = begin_array(rows, rows->n_rows, 1, &batch);
    batch.children = cellar_alloc(rows->n_columns, sizeof *batch.children);
    batch.n_children = (int64_t) rows->n_columns;
    ok = ok && batch.children != NULL;
    for (size_t c = 0; ok && c < rows->n_columns; c++) {
        batch.children[c] = cellar_alloc(1, sizeof *batch.children[c]);
        ok = batch.children[c] != NULL && fill_array(rows, c, batch.children[c]);
    }
    if (!ok)
        array_release(&batch);
    else
        *out = batch;
    return ok ? 0 : ENOMEM;
}

/* ---- the stream ---------------------------------------------------------------- */

static int stream_get_nothing(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    (void) stream;
    *out = (struct ArrowArray){.release = NULL};
    return 0;
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    const int code = make_batch(stream->private_data, out);
    if (code == 0)
        stream->get_next = stream_get_nothing;
    return code;
}

static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
    (void) stream;
    return "not enough memory for a batch of rows";
}

static void stream_release(struct ArrowArrayStream *stream)
{
    arrow_rows_drop(stream->private_data);
    stream->release = NULL;
}

cellar_status arrow_rows_stream(arrow_rows *rows, struct ArrowArrayStream *out, cellar_error *err)
{
    if (rows == NULL)
        return cellar_fail_memory(err, "a stream");
    *out = (struct ArrowArrayStream){.get_schema = stream_get_schema,
                                     .get_next = stream_get_next,
                                     .get_last_error = stream_get_last_error,
                                     .release = stream_release,
                                     .private_data = rows};
    return CELLAR_OK;
}
