/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns and the rows of a file. */
#include "statread/parse.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ReadStat answers NULL for an empty name. */
static const char *statfile_variable_name(const readstat_variable_t *variable)
{
    const char *name = readstat_variable_get_name(variable);
    return name != NULL ? name : "";
}

/* ---- columns -------------------------------------------------------------- */

typedef struct statfile_columns {
    cellar_statfile_run run;
    char **names;
    size_t n_names, capacity;
    cellar_text text;
} statfile_columns;

static int columns_on_variable(int index, readstat_variable_t *variable, const char *label_set,
                               void *context)
{
    statfile_columns *columns = context;
    cellar_statfile_run *run = &columns->run;
    const char *name;
    char *copy;

    (void) index;
    (void) label_set;
    if (run->status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    name = statfile_variable_name(variable);
    run->status =
        cellar_statfile_text(run, name, strlen(name), "the name of a column", &columns->text);
    if (run->status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    copy = cellar_alloc(columns->text.length + 1, 1);
    if (copy == NULL || !cellar_grow(&columns->names, &columns->capacity, columns->n_names + 1,
                                     sizeof *columns->names)) {
        cellar_free(copy);
        run->status = cellar_fail_memory(run->err, "the file");
        return READSTAT_HANDLER_ABORT;
    }
    if (columns->text.length > 0)
        memcpy(copy, columns->text.bytes, columns->text.length);
    columns->names[columns->n_names++] = copy;
    return READSTAT_HANDLER_OK;
}

cellar_status cellar_statfile_list_columns(cellar_statfile *file, char ***names, size_t *n_names,
                                           cellar_error *err)
{
    static const readstat_callbacks_t handlers = {.variable = columns_on_variable};
    statfile_columns columns = {.run = {.file = file, .err = err}};
    cellar_status status = cellar_statfile_parse(&columns.run, &handlers);

    if (status == CELLAR_OK && columns.n_names == 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT, "the file has no columns");
    cellar_text_clear(&columns.text);
    if (status != CELLAR_OK) {
        cellar_columns_free(columns.names, columns.n_names);
        columns.names = NULL;
        columns.n_names = 0;
    }
    *names = columns.names;
    *n_names = columns.n_names;
    return status;
}

/* ---- rows ----------------------------------------------------------------- */

/* A column that is asked for, once however often it is asked for. */
typedef struct statfile_slot {
    cellar_text text;
    int missing;
} statfile_slot;

typedef struct statfile_rows {
    cellar_statfile_run run;
    size_t *slot_of; /* by variable: its slot + 1, 0 when not wanted */
    size_t n_slot_of;
    statfile_slot *slots;
    size_t n_slots, n_known, n_filled; /* n_known: slots whose variable the file has */
    const size_t *columns;
    cellar_field *fields;
    size_t n_columns;
    uint64_t n_rows;
    cellar_row_callback *row;
    void *context;
} statfile_rows;

static int rows_on_variable(int index, readstat_variable_t *variable, const char *label_set,
                            void *context)
{
    statfile_rows *rows = context;
    (void) variable;
    (void) label_set;
    if (index < 0 || (size_t) index >= rows->n_slot_of || rows->slot_of[index] == 0)
        return READSTAT_HANDLER_SKIP_VARIABLE;
    rows->n_known++;
    return READSTAT_HANDLER_OK;
}

static cellar_status rows_emit(statfile_rows *rows)
{
    rows->n_filled = 0;
    for (size_t i = 0; i < rows->n_columns; i++) {
        const statfile_slot *slot = &rows->slots[rows->slot_of[rows->columns[i]] - 1];
        rows->fields[i] = (cellar_field){.text = slot->text.length > 0 ? slot->text.bytes : "",
                                         .length = slot->text.length,
                                         .missing = slot->missing};
    }
    return rows->row(rows->context, rows->fields, rows->n_rows++, rows->run.err);
}

static int rows_on_value(int row, readstat_variable_t *variable, readstat_value_t value,
                         void *context)
{
    statfile_rows *rows = context;
    cellar_statfile_run *run = &rows->run;
    int index = readstat_variable_get_index(variable);
    statfile_slot *slot;

    (void) row; /* an int: too small */
    if (run->status != CELLAR_OK)
        return READSTAT_HANDLER_ABORT;
    if (index < 0 || (size_t) index >= rows->n_slot_of || rows->slot_of[index] == 0)
        return READSTAT_HANDLER_OK;
    slot = &rows->slots[rows->slot_of[index] - 1];
    slot->missing = readstat_value_is_missing(value, variable) ||
                    (readstat_value_type_class(value) == READSTAT_TYPE_CLASS_NUMERIC &&
                     isnan(readstat_double_value(value)));
    cellar_text_reset(&slot->text);
    if (!slot->missing)
        run->status =
            cellar_statfile_value_text(run, value, statfile_variable_name(variable), &slot->text);
    if (run->status == CELLAR_OK && ++rows->n_filled == rows->n_slots)
        run->status = rows_emit(rows);
    return run->status == CELLAR_OK ? READSTAT_HANDLER_OK : READSTAT_HANDLER_ABORT;
}

static cellar_status rows_prepare(statfile_rows *rows)
{
    for (size_t i = 0; i < rows->n_columns; i++)
        if (rows->columns[i] >= rows->n_slot_of)
            rows->n_slot_of = rows->columns[i] + 1;
    if (rows->n_slot_of == 0)
        rows->n_slot_of = 1; /* no column is wanted: the first tells where rows end */
    rows->slot_of = cellar_alloc(rows->n_slot_of, sizeof *rows->slot_of);
    rows->slots = cellar_alloc(rows->n_columns + 1, sizeof *rows->slots);
    rows->fields = cellar_alloc(rows->n_columns, sizeof *rows->fields);
    if (rows->slot_of == NULL || rows->slots == NULL || rows->fields == NULL)
        return cellar_fail_memory(rows->run.err, "the file");
    for (size_t i = 0; i < rows->n_columns; i++)
        if (rows->slot_of[rows->columns[i]] == 0)
            rows->slot_of[rows->columns[i]] = ++rows->n_slots;
    if (rows->n_slots == 0)
        rows->slot_of[0] = ++rows->n_slots;
    return CELLAR_OK;
}

/* ReadStat takes some files that are cut between rows for complete. */
static cellar_status rows_check(const statfile_rows *rows)
{
    const cellar_statfile_run *run = &rows->run;
    if (rows->n_known < rows->n_slots)
        return cellar_fail(run->err, CELLAR_ERR_ARGUMENT, "the file has no column number %zu",
                           rows->n_slot_of);
    if (rows->n_filled > 0 || (run->n_rows >= 0 && (uint64_t) run->n_rows != rows->n_rows))
        return cellar_fail(run->err, CELLAR_ERR_INPUT,
                           "the number of rows is not what the file announces: it is cut "
                           "short or damaged");
    return CELLAR_OK;
}

cellar_status cellar_statfile_read_rows(cellar_statfile *file, const size_t *columns,
                                        size_t n_columns, cellar_row_callback *row, void *context,
                                        cellar_error *err)
{
    static const readstat_callbacks_t handlers = {.variable = rows_on_variable,
                                                  .value = rows_on_value};
    cellar_status status;
    statfile_rows rows = {.run = {.file = file, .err = err},
                          .columns = columns,
                          .n_columns = n_columns,
                          .row = row,
                          .context = context};

    CELLAR_TRY(rows_prepare(&rows));
    CELLAR_TRY(cellar_statfile_parse(&rows.run, &handlers));
    CELLAR_TRY(rows_check(&rows));
out:
    for (size_t i = 0; i < rows.n_slots; i++)
        cellar_text_clear(&rows.slots[i].text);
    cellar_free(rows.slots);
    cellar_free(rows.slot_of);
    cellar_free(rows.fields);
    return status;
}
