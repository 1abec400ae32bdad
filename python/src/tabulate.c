/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From data frames and files to tables. */
#include "glue.h"

#include <string.h>

/* ---- code lists and recode maps ------------------------------------------------ */

static PyObject *read_codelist(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_codelist *list = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_codelist_read(path, &list, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_CODELIST, list)
                               : glue_fail(module, status, &err);
}

/* make_codelist({"codes": [...]}) */
static PyObject *make_codelist(PyObject *module, PyObject *args)
{
    PyObject *dict;
    int failed = 0;
    size_t n;
    const char **codes;
    cellar_codelist *list = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "O", &dict))
        return NULL;
    codes = glue_texts(dict, "codes", &n, &failed);
    if (failed) {
        PyMem_Free((void *) codes);
        return NULL;
    }
    status = cellar_codelist_create(&list, &err);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++)
        status = cellar_codelist_add(list, codes[i], NULL, NULL, CELLAR_CODE_PLAIN, &err);
    if (status == CELLAR_OK)
        status = cellar_codelist_finish(list, &err);
    PyMem_Free((void *) codes);
    if (status == CELLAR_OK)
        return glue_handle(module, HANDLE_CODELIST, list);
    cellar_codelist_free(list);
    return glue_fail(module, status, &err);
}

static PyObject *make_recode_map(PyObject *module, PyObject *args)
{
    const char *bytes;
    Py_ssize_t length;
    cellar_recode_map *map = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s#", &bytes, &length))
        return NULL;
    status = cellar_recode_map_parse("recode", bytes, (size_t) length, &map, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_RECODE_MAP, map)
                               : glue_fail(module, status, &err);
}

/* ---- columns --------------------------------------------------------------------- */

typedef struct held_columns {
    cellar_column *columns;
    Py_buffer *values, *masks;
    const char ***levels;
    size_t n;
} held_columns;

static void columns_clear(held_columns *held)
{
    for (size_t c = 0; c < held->n; c++) {
        PyBuffer_Release(&held->values[c]);
        PyBuffer_Release(&held->masks[c]);
        PyMem_Free((void *) held->levels[c]);
    }
    PyMem_Free(held->columns);
    PyMem_Free(held->values);
    PyMem_Free(held->masks);
    PyMem_Free((void *) held->levels);
}

/* The letter of a buffer's format decides; numbers lie in the order of this machine. */
static int set_kind(const Py_buffer *buffer, cellar_column *column)
{
    const char *format = buffer->format != NULL ? buffer->format : "B";
    const char letter = strlen(format) == 1 ? format[0] : '\0';
    column->value_bytes = (unsigned) buffer->itemsize;
    if (letter != '\0' && strchr("bhilq", letter) != NULL)
        column->kind = CELLAR_COLUMN_INTEGERS;
    else if (letter != '\0' && strchr("BHILQ?", letter) != NULL) {
        column->kind = CELLAR_COLUMN_INTEGERS;
        column->is_unsigned = 1;
    } else if (letter == 'f' || letter == 'd')
        column->kind = CELLAR_COLUMN_FLOATS;
    else
        return 0;
    return 1;
}

/* {"name", "values": buffer, "levels": list or None, "missing": int or None, "mask": buffer} */
static int read_column(PyObject *dict, held_columns *held, size_t c, unsigned long long n_rows)
{
    cellar_column *column = &held->columns[c];
    PyObject *values = glue_member(dict, "values"), *mask = glue_member(dict, "mask");
    int failed = 0;
    column->name = glue_text(dict, "name", &failed);
    if (values == NULL || PyObject_GetBuffer(values, &held->values[c], PyBUF_ND | PyBUF_FORMAT) < 0)
        return 0;
    if (!set_kind(&held->values[c], column) ||
        (unsigned long long) held->values[c].len / (column->value_bytes) != n_rows) {
        PyErr_SetString(PyExc_TypeError, "a column is one buffer of integers or floats");
        return 0;
    }
    column->values = held->values[c].buf;
    if (mask != NULL) {
        if (PyObject_GetBuffer(mask, &held->masks[c], PyBUF_SIMPLE) < 0)
            return 0;
        if ((unsigned long long) held->masks[c].len != n_rows) {
            PyErr_SetString(PyExc_TypeError, "a mask has a byte for each row");
            return 0;
        }
        column->is_missing = held->masks[c].buf;
    }
    column->has_missing = glue_member(dict, "missing") != NULL;
    column->missing = glue_number(dict, "missing", 0, &failed);
    if (glue_member(dict, "levels") != NULL) {
        held->levels[c] = glue_texts(dict, "levels", &column->n_levels, &failed);
        if (failed && PyErr_ExceptionMatches(PyExc_ValueError))
            PyErr_Format(PyExc_ValueError,
                         "column '%s' has a text that is no UTF-8 or holds a zero byte",
                         column->name);
        column->levels = held->levels[c];
        column->kind = CELLAR_COLUMN_CODES;
    }
    return !failed && !PyErr_Occurred();
}

static int read_columns(PyObject *list, unsigned long long n_rows, held_columns *held)
{
    const Py_ssize_t n = PyList_Size(list);
    if (n < 0)
        return 0;
    held->columns = PyMem_Calloc((size_t) n + 1, sizeof *held->columns);
    held->values = PyMem_Calloc((size_t) n + 1, sizeof *held->values);
    held->masks = PyMem_Calloc((size_t) n + 1, sizeof *held->masks);
    held->levels = PyMem_Calloc((size_t) n + 1, sizeof *held->levels);
    if (held->columns == NULL || held->values == NULL || held->masks == NULL ||
        held->levels == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    held->n = (size_t) n;
    for (size_t c = 0; c < held->n; c++)
        if (!read_column(PyList_GetItem(list, (Py_ssize_t) c), held, c, n_rows))
            return 0;
    return 1;
}

/* ---- counting --------------------------------------------------------------------- */

PyObject *glue_counted(PyObject *module, cellar_status status, cellar_table *table,
                       const cellar_row_report *report, const cellar_error *err)
{
    PyObject *handle;
    if (status != CELLAR_OK)
        return glue_fail(module, status, err);
    handle = glue_handle(module, HANDLE_TABLE, table);
    return handle == NULL ? NULL
                          : Py_BuildValue("(NKKKKKK)", handle, (unsigned long long) report->n_read,
                                          (unsigned long long) report->n_bad,
                                          (unsigned long long) report->n_filtered,
                                          (unsigned long long) report->n_missing,
                                          (unsigned long long) report->n_over_unit,
                                          (unsigned long long) report->n_counted);
}

static PyObject *tabulate_columns(PyObject *module, PyObject *args)
{
    PyObject *dict, *list, *result = NULL;
    unsigned long long n_rows;
    held_columns held = {0};
    glue_spec a;
    if (!PyArg_ParseTuple(args, "OOK", &dict, &list, &n_rows))
        return NULL;
    if (glue_spec_init(dict, &a) && read_columns(list, n_rows, &held)) {
        const cellar_frame frame = {.columns = held.columns, .n_columns = held.n, .n_rows = n_rows};
        cellar_table *table = NULL;
        cellar_row_report report;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status =
            cellar_tabulate_columns(&a.spec, &frame, &table, &report, &err);
        Py_END_ALLOW_THREADS result = glue_counted(module, status, table, &report, &err);
    }
    glue_spec_clear(&a);
    columns_clear(&held);
    return result;
}

static PyObject *tabulate_stream(PyObject *module, PyObject *args)
{
    PyObject *dict, *capsule, *result = NULL;
    struct ArrowArrayStream *stream;
    glue_spec a;
    if (!PyArg_ParseTuple(args, "OO", &dict, &capsule))
        return NULL;
    stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream == NULL)
        return NULL;
    if (glue_spec_init(dict, &a)) {
        cellar_table *table = NULL;
        cellar_row_report report;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status =
            cellar_tabulate_stream(&a.spec, stream, &table, &report, &err);
        Py_END_ALLOW_THREADS result = glue_counted(module, status, table, &report, &err);
    }
    glue_spec_clear(&a);
    return result;
}

static PyObject *tabulate_file(PyObject *module, PyObject *args)
{
    PyObject *dict, *result = NULL;
    glue_spec a;
    if (!PyArg_ParseTuple(args, "O", &dict))
        return NULL;
    if (glue_spec_init(dict, &a)) {
        cellar_table *table = NULL;
        cellar_row_report report;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status = cellar_tabulate(&a.spec, &table, &report, &err);
        Py_END_ALLOW_THREADS result = glue_counted(module, status, table, &report, &err);
    }
    glue_spec_clear(&a);
    return result;
}

/* ---- tables ------------------------------------------------------------------------ */

/* Variables with domain and codes; nothing that was counted. */
static PyObject *shape(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_table *table;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    return table != NULL ? glue_shape(cellar_table_schema(table)) : NULL;
}

static PyObject *release_shape(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_release *release;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    return release != NULL ? glue_shape(cellar_release_schema(release)) : NULL;
}

/* The stored cells: categories of each variable, then the count. Confidential. */
static PyObject *true_counts(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_table *table;
    const cellar_schema *schema;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL)
        return NULL;
    schema = cellar_table_schema(table);
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cellar_table_n_cells(table); i++) {
        const cellar_cell cell = cellar_table_cell(table, i);
        PyObject *row = glue_row(schema, cell.index, 1);
        if (row != NULL)
            PyTuple_SetItem(row, (Py_ssize_t) cellar_schema_n_variables(schema),
                            PyLong_FromUnsignedLongLong(cell.count));
        glue_append(&list, row);
    }
    return list;
}

static PyObject *read_table(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_table *table = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_table_read(path, NULL, &table, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_TABLE, table)
                               : glue_fail(module, status, &err);
}

static PyObject *write_table(PyObject *module, PyObject *args)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_table_write_options write = cellar_table_write_options_default();
    PyObject *handle;
    const char *path;
    const cellar_table *table;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ospp", &handle, &path, &write.zeros, &how.replace))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL)
        return NULL;
    write.format = cellar_table_format_of_path(path);
    status = cellar_output_open(path, &how, &output, &err);
    if (status == CELLAR_OK) {
        status = cellar_table_write(table, &write, output, &err);
        if (status == CELLAR_OK)
            status = cellar_output_commit(output, &err);
        else
            cellar_output_discard(output);
    }
    return status == CELLAR_OK ? Py_NewRef(Py_None) : glue_fail(module, status, &err);
}

static PyObject *merge_tables(PyObject *module, PyObject *args)
{
    PyObject *list;
    const cellar_table **tables;
    cellar_table *merged = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "O", &list))
        return NULL;
    n = PyList_Size(list);
    tables = n >= 0 ? PyMem_Calloc((size_t) n + 1, sizeof *tables) : NULL;
    if (tables == NULL)
        return n >= 0 ? PyErr_NoMemory() : NULL;
    for (Py_ssize_t i = 0; i < n; i++) {
        tables[i] = glue_object(PyList_GetItem(list, i), HANDLE_TABLE, 0);
        if (tables[i] == NULL) {
            PyMem_Free((void *) tables);
            return NULL;
        }
    }
    status = cellar_table_merge(tables, (size_t) n, &merged, &err);
    PyMem_Free((void *) tables);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_TABLE, merged)
                               : glue_fail(module, status, &err);
}

PyMethodDef glue_tabulate_methods[] = {
    {"read_codelist", read_codelist, METH_VARARGS, "A code list from a file."},
    {"make_codelist", make_codelist, METH_VARARGS, "A code list of these codes."},
    {"make_recode_map", make_recode_map, METH_VARARGS, "A recode map from CSV text."},
    {"tabulate_columns", tabulate_columns, METH_VARARGS, "Counts columns in memory."},
    {"tabulate_stream", tabulate_stream, METH_VARARGS, "Counts an Arrow stream."},
    {"tabulate_file", tabulate_file, METH_VARARGS, "Counts a file."},
    {"shape", shape, METH_VARARGS, "The variables of a table."},
    {"release_shape", release_shape, METH_VARARGS, "The variables of a release."},
    {"true_counts", true_counts, METH_VARARGS, "The true counts: confidential."},
    {"read_table", read_table, METH_VARARGS, "A table from a file."},
    {"write_table", write_table, METH_VARARGS, "Writes a table: confidential."},
    {"merge_tables", merge_tables, METH_VARARGS, "Partial tables added up."},
    {NULL, NULL, 0, NULL},
};
