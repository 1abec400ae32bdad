/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of fields and types are those of parquet.thrift, version 2.11 of the format. */
#include "data/parquet/footer.h"

#include <string.h>

#include <cellar/text.h>

#include "base/error.h"
#include "data/parquet/thrift.h"

enum { LEAVES_MAX = 100000, SCHEMA_DEPTH_MAX = 64, DECIMAL_SCALE_MAX = 38 };

/* One element of the schema: a leaf, or a group of the elements that follow. */
typedef struct element {
    const char *name;
    size_t name_length;
    int64_t physical, width, repetition, n_children, converted, scale;
    int logical; /* number of the union's field; 0: none */
    int is_unsigned;
    int64_t logical_scale; /* of a decimal, and the digits of a second; -1: not said */
} element;

/* ---- the schema ---------------------------------------------------------------- */

enum { IS_REQUIRED, IS_OPTIONAL, IS_REPEATED };
enum {
    LOGICAL_STRING = 1,
    LOGICAL_ENUM = 4,
    LOGICAL_DECIMAL = 5,
    LOGICAL_DATE = 6,
    LOGICAL_TIME = 7,
    LOGICAL_TIMESTAMP = 8,
    LOGICAL_INTEGER = 10,
    LOGICAL_NULL = 11,
    LOGICAL_JSON = 12
};
enum {
    CONVERTED_TEXT = 0,
    CONVERTED_ENUM = 4,
    CONVERTED_DECIMAL = 5,
    CONVERTED_DATE = 6,
    CONVERTED_TIME_MILLIS = 7,
    CONVERTED_TIME_MICROS = 8,
    CONVERTED_TIMESTAMP_MILLIS = 9,
    CONVERTED_TIMESTAMP_MICROS = 10,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14,
    CONVERTED_INT_8 = 15,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19
};

/* The unit of a time is a union, too: 1 for thousandths, 2 for millionths, 3 for billionths. */
static int64_t read_unit(thrift_fields unit)
{
    int64_t digits = -1;
    while (thrift_next(&unit)) {
        digits = 3 * (int64_t) unit.id;
        thrift_skip(&unit);
    }
    return digits;
}

static void read_logical_type(thrift_fields type, element *out)
{
    while (thrift_next(&type)) {
        thrift_fields inner = thrift_struct(&type);
        out->logical = type.id;
        while (thrift_next(&inner)) {
            if (type.id == LOGICAL_DECIMAL && inner.id == 1)
                out->logical_scale = thrift_integer(&inner);
            else if ((type.id == LOGICAL_TIME || type.id == LOGICAL_TIMESTAMP) && inner.id == 2)
                out->logical_scale = read_unit(thrift_struct(&inner));
            else if (type.id == LOGICAL_INTEGER && inner.id == 2)
                out->is_unsigned = !thrift_bool(&inner);
            else
                thrift_skip(&inner);
        }
    }
}

static element read_element(thrift_reader *reader)
{
    element e = {.physical = -1, .converted = -1, .logical_scale = -1};
    thrift_fields f = thrift_begin(reader);
    while (thrift_next(&f))
        switch (f.id) {
        case 1:
            e.physical = thrift_integer(&f);
            break;
        case 2:
            e.width = thrift_integer(&f);
            break;
        case 3:
            e.repetition = thrift_integer(&f);
            break;
        case 4:
            e.name = thrift_binary(&f, &e.name_length);
            break;
        case 5:
            e.n_children = thrift_integer(&f);
            break;
        case 6:
            e.converted = thrift_integer(&f);
            break;
        case 7:
            e.scale = thrift_integer(&f);
            break;
        case 10:
            read_logical_type(thrift_struct(&f), &e);
            break;
        default:
            thrift_skip(&f);
        }
    return e;
}

/* What a leaf means: by its logical type, else by the older converted type. */
static parquet_meaning meaning_of(const element *e, int *scale)
{
    *scale = (int) e->logical_scale;
    switch (e->logical) {
    case 0:
        break;
    case LOGICAL_STRING:
    case LOGICAL_ENUM:
    case LOGICAL_JSON:
    case LOGICAL_NULL:
        return PARQUET_AS_IS;
    case LOGICAL_INTEGER:
        return e->is_unsigned ? PARQUET_UNSIGNED : PARQUET_AS_IS;
    case LOGICAL_DECIMAL:
        return PARQUET_DECIMAL;
    case LOGICAL_DATE:
        return PARQUET_DATE;
    case LOGICAL_TIME:
        return PARQUET_TIME;
    case LOGICAL_TIMESTAMP:
        return PARQUET_TIMESTAMP;
    default:
        return PARQUET_UNREADABLE;
    }
    *scale =
        (int) (e->converted == CONVERTED_DECIMAL ? e->scale
               : e->converted == CONVERTED_TIME_MILLIS || e->converted == CONVERTED_TIMESTAMP_MILLIS
                   ? 3
                   : 6);
    if (e->converted >= CONVERTED_UINT_8 && e->converted <= CONVERTED_UINT_64)
        return PARQUET_UNSIGNED;
    if (e->converted >= CONVERTED_INT_8 && e->converted <= CONVERTED_INT_64)
        return PARQUET_AS_IS;
    switch (e->converted) {
    case -1:
    case CONVERTED_TEXT:
    case CONVERTED_ENUM:
    case CONVERTED_JSON:
        return PARQUET_AS_IS;
    case CONVERTED_DECIMAL:
        return PARQUET_DECIMAL;
    case CONVERTED_DATE:
        return PARQUET_DATE;
    case CONVERTED_TIME_MILLIS:
    case CONVERTED_TIME_MICROS:
        return PARQUET_TIME;
    case CONVERTED_TIMESTAMP_MILLIS:
    case CONVERTED_TIMESTAMP_MICROS:
        return PARQUET_TIMESTAMP;
    default:
        return PARQUET_UNREADABLE;
    }
}

/* Times are whole numbers, decimals whole numbers or bytes; what is neither is a damaged file. */
static int fits(const parquet_column *c)
{
    const int is_int = c->physical == PARQUET_INT32 || c->physical == PARQUET_INT64;
    switch (c->meaning) {
    case PARQUET_UNSIGNED:
        return is_int;
    case PARQUET_DATE:
        return c->physical == PARQUET_INT32;
    case PARQUET_TIME:
    case PARQUET_TIMESTAMP:
        return is_int && (c->scale == 3 || c->scale == 6 || c->scale == 9);
    case PARQUET_DECIMAL:
        return (is_int || c->physical == PARQUET_BYTES || c->physical == PARQUET_FIXED) &&
               c->scale >= 0 && c->scale <= DECIMAL_SCALE_MAX;
    default:
        return 1;
    }
}

static int make_column(const element *e, size_t leaf, parquet_column *out)
{
    if (e->physical < 0 || e->physical >= PARQUET_N_PHYSICAL || e->repetition < 0 ||
        e->repetition > IS_REPEATED)
        return 0;
    out->physical = (parquet_physical) e->physical;
    out->meaning = meaning_of(e, &out->scale);
    if (e->repetition == IS_REPEATED) {
        out->meaning = PARQUET_UNREADABLE;
    } else if (out->physical == PARQUET_INT96 && out->meaning == PARQUET_AS_IS) {
        out->meaning = PARQUET_TIMESTAMP; /* as older programs write it */
        out->scale = 9;
    } else if (!fits(out)) {
        return 0;
    }
    if (out->physical == PARQUET_FIXED) {
        if (e->width < 1 || e->width > 1 << 20)
            return 0;
        out->width = (unsigned) e->width;
    }
    out->is_optional = e->repetition == IS_OPTIONAL;
    out->leaf = leaf;
    return 1;
}

/* What is left of the groups around an element. */
typedef struct schema_walk {
    int64_t left[SCHEMA_DEPTH_MAX];
    size_t depth; /* 1: elements of the root */
} schema_walk;

static void walk_up(schema_walk *w)
{
    while (w->depth > 0 && w->left[w->depth - 1] == 0)
        w->depth--;
}

/* Elements come depth first. Those of the root are the columns; all leaves have chunks. */
static int walk(schema_walk *w, const element *e, parquet_file *file)
{
    if (w->depth == 0)
        return 0;
    w->left[w->depth - 1]--;
    if (w->depth == 1) {
        parquet_column *column = &file->columns[file->n_columns++];
        column->name =
            cellar_arena_copy(file->arena, e->name != NULL ? e->name : "", e->name_length);
        column->meaning = PARQUET_UNREADABLE;
        if (e->n_children == 0 && !make_column(e, file->n_leaves, column))
            return 0;
    }
    if (e->n_children == 0) {
        file->n_leaves++;
    } else {
        if (e->n_children < 0 || w->depth == SCHEMA_DEPTH_MAX)
            return 0;
        w->left[w->depth++] = e->n_children;
    }
    walk_up(w);
    return file->n_leaves <= LEAVES_MAX;
}

static cellar_status read_schema(parquet_file *file, thrift_fields *f, cellar_error *err)
{
    const size_t n = thrift_structs(f);
    schema_walk w = {.depth = 1};
    if (n > 0 && file->columns == NULL) {
        const element root = read_element(f->reader);
        w.left[0] = root.n_children;
        file->columns = cellar_arena_alloc(file->arena, n, sizeof *file->columns);
        if (file->columns == NULL)
            return cellar_fail_memory(err, "the columns of a Parquet file");
    }
    walk_up(&w);
    for (size_t i = 1; i < n && !f->reader->failed; i++) {
        const element e = read_element(f->reader);
        if (!cellar_utf8_valid(e.name != NULL ? e.name : "", e.name_length) || !walk(&w, &e, file))
            return parquet_fail(file, "its schema", err);
    }
    return w.depth == 0 && file->n_columns > 0 ? CELLAR_OK : parquet_fail(file, "its schema", err);
}

/* ---- row groups ---------------------------------------------------------------- */

static void read_chunk_facts(thrift_fields f, parquet_chunk *out)
{
    int64_t first = -1, dictionary = -1, length = 0, codec = 0;
    while (thrift_next(&f))
        switch (f.id) {
        case 1:
            out->physical = (int) thrift_integer(&f);
            break;
        case 4:
            codec = thrift_integer(&f);
            break;
        case 5:
            out->n_values = (uint64_t) thrift_integer(&f);
            break;
        case 7:
            length = thrift_integer(&f);
            break;
        case 9:
            first = thrift_integer(&f);
            break;
        case 11:
            dictionary = thrift_integer(&f);
            break;
        default:
            thrift_skip(&f);
        }
    if (dictionary > 0 && dictionary < first)
        first = dictionary;
    if (first < 0 || length < 0 || codec < 0 || codec >= PARQUET_N_CODECS)
        out->physical = -1;
    out->offset = (uint64_t) first;
    out->length = (uint64_t) length;
    out->codec = (parquet_codec) codec;
}

static parquet_chunk read_chunk(thrift_reader *reader)
{
    parquet_chunk chunk = {.physical = -1};
    int is_elsewhere = 0;
    thrift_fields f = thrift_begin(reader);
    while (thrift_next(&f)) {
        if (f.id == 3) {
            read_chunk_facts(thrift_struct(&f), &chunk);
            continue;
        }
        is_elsewhere |= f.id == 1 || f.id == 8; /* the path of another file; encryption */
        thrift_skip(&f);
    }
    if (is_elsewhere)
        chunk.physical = -1;
    return chunk;
}

static cellar_status read_group(parquet_file *file, thrift_reader *reader, parquet_group *out,
                                cellar_error *err)
{
    int64_t n_rows = -1;
    thrift_fields f = thrift_begin(reader);
    while (thrift_next(&f)) {
        if (f.id == 1) {
            const size_t n = thrift_structs(&f);
            if (n != file->n_leaves || out->chunks != NULL)
                return parquet_fail(file, "a row group without some columns", err);
            out->chunks = cellar_arena_alloc(file->arena, n, sizeof *out->chunks);
            if (out->chunks == NULL)
                return cellar_fail_memory(err, "the row groups of a Parquet file");
            for (size_t i = 0; i < n; i++)
                out->chunks[i] = read_chunk(reader);
        } else if (f.id == 3) {
            n_rows = thrift_integer(&f);
        } else {
            thrift_skip(&f);
        }
    }
    if (out->chunks == NULL || n_rows < 0 || n_rows > UINT32_MAX)
        return parquet_fail(file, "a row group", err);
    out->n_rows = (uint64_t) n_rows;
    file->n_rows += out->n_rows;
    return CELLAR_OK;
}

static cellar_status read_groups(parquet_file *file, thrift_fields *f, cellar_error *err)
{
    const size_t n = thrift_structs(f);
    cellar_status status = CELLAR_OK;
    if (file->columns == NULL || file->groups != NULL)
        return parquet_fail(file, "row groups before its schema", err);
    file->groups = cellar_arena_alloc(file->arena, n, sizeof *file->groups);
    if (file->groups == NULL)
        return cellar_fail_memory(err, "the row groups of a Parquet file");
    while (status == CELLAR_OK && file->n_groups < n && !f->reader->failed)
        status = read_group(file, f->reader, &file->groups[file->n_groups++], err);
    return status;
}

cellar_status parquet_read_footer(parquet_file *file, const unsigned char *bytes, size_t length,
                                  cellar_error *err)
{
    thrift_reader reader = {.at = bytes, .end = bytes + length};
    thrift_fields f = thrift_begin(&reader);
    int64_t n_rows = -1;
    cellar_status status = CELLAR_OK;
    while (status == CELLAR_OK && thrift_next(&f)) {
        if (f.id == 2)
            status = read_schema(file, &f, err);
        else if (f.id == 3)
            n_rows = thrift_integer(&f);
        else if (f.id == 4)
            status = read_groups(file, &f, err);
        else
            thrift_skip(&f);
    }
    if (status == CELLAR_OK &&
        (reader.failed || file->groups == NULL || n_rows < 0 || (uint64_t) n_rows != file->n_rows))
        status = parquet_fail(file, "its footer", err);
    for (size_t c = 0; status == CELLAR_OK && c < file->n_columns; c++)
        if (file->columns[c].name == NULL)
            status = cellar_fail_memory(err, "the columns of a Parquet file");
    return status;
}
