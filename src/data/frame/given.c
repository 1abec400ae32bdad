/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data frames in memory as columns. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/frame/frame.h"

static int is_integer_width(unsigned bytes)
{
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* NULL, or what the caller got wrong. */
static const char *fault_of(const cellar_column *given, uint64_t n_rows)
{
    const int is_integers =
        given->kind == CELLAR_COLUMN_CODES || given->kind == CELLAR_COLUMN_INTEGERS;
    if (given->name == NULL)
        return "it has no name";
    if (given->values == NULL && n_rows > 0)
        return "it has no values";
    if (is_integers && !is_integer_width(given->value_bytes))
        return "integers have 1, 2, 4 or 8 bytes";
    if (given->kind == CELLAR_COLUMN_FLOATS && given->value_bytes != sizeof(float) &&
        given->value_bytes != sizeof(double))
        return "floats have 4 or 8 bytes";
    if (given->kind == CELLAR_COLUMN_CODES && given->levels == NULL && given->n_levels > 0)
        return "it has no levels";
    return is_integers || given->kind == CELLAR_COLUMN_FLOATS || given->kind == CELLAR_COLUMN_TEXTS
               ? NULL
               : "its kind is not known";
}

static frame_type type_of(cellar_column_kind kind)
{
    if (kind == CELLAR_COLUMN_TEXTS)
        return FRAME_POINTERS;
    return kind == CELLAR_COLUMN_FLOATS ? FRAME_FLOATS : FRAME_INTEGERS;
}

static int use_column(const cellar_column *given, uint64_t n_rows, frame_column *column)
{
    *column =
        (frame_column){.type = type_of(given->kind),
                       .width = given->value_bytes,
                       .is_unsigned = given->is_unsigned,
                       .n = n_rows,
                       .values = given->values,
                       .is_missing = given->is_missing,
                       .has_missing = given->has_missing && type_of(given->kind) == FRAME_INTEGERS,
                       .missing = given->missing,
                       .first_code = given->first_code};
    if (given->kind != CELLAR_COLUMN_CODES)
        return 1;
    column->levels = cellar_alloc(1, sizeof *column->levels);
    if (column->levels == NULL)
        return 0;
    *column->levels =
        (frame_column){.type = FRAME_POINTERS, .n = given->n_levels, .values = given->levels};
    return 1;
}

cellar_status frame_read_given(const cellar_frame *frame, const char *file, frame_layout **layouts,
                               frame_column **columns, cellar_error *err)
{
    *layouts = cellar_alloc(frame->n_columns, sizeof **layouts);
    *columns = cellar_alloc(frame->n_columns, sizeof **columns);
    if (*layouts == NULL || *columns == NULL)
        return cellar_fail_memory(err, "a data frame");
    for (size_t c = 0; c < frame->n_columns; c++) {
        const cellar_column *given = &frame->columns[c];
        const char *fault = fault_of(given, frame->n_rows);
        size_t length;
        if (fault != NULL)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: column %zu: %s", file, c + 1, fault);
        length = strlen(given->name);
        (*layouts)[c].name = cellar_alloc(length + 1, 1);
        if ((*layouts)[c].name == NULL || !use_column(given, frame->n_rows, &(*columns)[c]))
            return cellar_fail_memory(err, "a data frame");
        memcpy((*layouts)[c].name, given->name, length);
    }
    return CELLAR_OK;
}

void frame_free_columns(frame_column *columns, size_t n)
{
    for (size_t c = 0; columns != NULL && c < n; c++)
        cellar_free(columns[c].levels);
    cellar_free(columns);
}

void frame_free_layouts(frame_layout *layouts, size_t n)
{
    for (size_t c = 0; layouts != NULL && c < n; c++) {
        cellar_free(layouts[c].name);
        cellar_free(layouts[c].levels);
    }
    cellar_free(layouts);
}
