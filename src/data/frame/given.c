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
    if (given->make_codes != NULL)
        return given->kind == CELLAR_COLUMN_CODES ? NULL : "only codes are made";
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

/* 0 when memory ends. */
static int take_levels(const cellar_column *given, const char *const *levels, size_t n,
                       frame_column *column)
{
    column->levels = cellar_alloc(1, sizeof *column->levels);
    if (column->levels == NULL)
        return 0;
    *column->levels = (frame_column){.type = FRAME_POINTERS, .n = n, .values = levels};
    column->first_code = given->first_code;
    return 1;
}

static int make_codes(const cellar_column *given, uint64_t first, uint64_t n, frame_column *column)
{
    const char *const *levels = NULL;
    size_t n_levels = 0;
    column->made = cellar_alloc((size_t) n, sizeof *column->made);
    if (column->made == NULL ||
        !given->make_codes(given->context, first, (size_t) n, column->made, &levels, &n_levels))
        return 0;
    column->width = sizeof *column->made;
    column->is_unsigned = 1;
    column->values = column->made;
    column->levels_stay = 1;
    if (column->is_missing != NULL)
        column->is_missing += first;
    return take_levels(given, levels, n_levels, column);
}

static int take_column(const cellar_column *given, uint64_t first, uint64_t n, frame_column *column)
{
    *column =
        (frame_column){.type = type_of(given->kind),
                       .width = given->value_bytes,
                       .is_unsigned = given->is_unsigned,
                       .n = n,
                       .values = given->values,
                       .is_missing = given->is_missing,
                       .has_missing = given->has_missing && type_of(given->kind) == FRAME_INTEGERS,
                       .missing = given->missing};
    if (given->make_codes != NULL)
        return make_codes(given, first, n, column);
    column->offset = first;
    return given->kind != CELLAR_COLUMN_CODES ||
           take_levels(given, given->levels, given->n_levels, column);
}

cellar_status frame_read_given(const cellar_frame *frame, const char *file, frame_layout **layouts,
                               cellar_error *err)
{
    *layouts = cellar_alloc(frame->n_columns, sizeof **layouts);
    if (*layouts == NULL)
        return cellar_fail_memory(err, "a data frame");
    for (size_t c = 0; c < frame->n_columns; c++) {
        const cellar_column *given = &frame->columns[c];
        const char *fault = fault_of(given, frame->n_rows);
        size_t length;
        if (fault != NULL)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: column %zu: %s", file, c + 1, fault);
        length = strlen(given->name);
        (*layouts)[c].name = cellar_alloc(length + 1, 1);
        if ((*layouts)[c].name == NULL)
            return cellar_fail_memory(err, "a data frame");
        memcpy((*layouts)[c].name, given->name, length);
    }
    return CELLAR_OK;
}

cellar_status frame_take_given(const cellar_frame *frame, const unsigned char *is_used,
                               uint64_t first, uint64_t n, frame_column *columns, cellar_error *err)
{
    for (size_t c = 0; c < frame->n_columns; c++)
        if (is_used[c] && !take_column(&frame->columns[c], first, n, &columns[c]))
            return cellar_fail_memory(err, "a data frame");
    return CELLAR_OK;
}

void frame_free_columns(frame_column *columns, size_t n)
{
    for (size_t c = 0; columns != NULL && c < n; c++) {
        cellar_free(columns[c].levels);
        cellar_free(columns[c].made);
    }
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
