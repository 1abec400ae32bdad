/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From databases to tables: Python asks the connection, the library writes the question and reads
 * the answer. */
#include "glue.h"

#include <string.h>

/* The name of the dialect that a driver's name begins with, or None. */
static PyObject *find_dialect(PyObject *module, PyObject *args)
{
    const char *name;
    cellar_sql_dialect dialect;
    (void) module;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    if (!cellar_sql_dialect_find(name, &dialect))
        return Py_NewRef(Py_None);
    return PyUnicode_FromString(cellar_sql_dialect_name(dialect));
}

/* {"table", "order_by": list, "dialect"}; the names of `order_by` are to be freed. */
typedef struct place {
    cellar_sql_source source;
    const char **order_by;
    cellar_sql_dialect dialect;
} place;

static int place_init(PyObject *dict, place *p)
{
    int failed = 0;
    *p = (place){.source = cellar_sql_source_default()};
    p->source.table = glue_needed_text(dict, "table", &failed);
    p->order_by = glue_texts(dict, "order_by", &p->source.n_order_by, &failed);
    p->source.order_by = p->order_by;
    if (!failed && !cellar_sql_dialect_find(glue_text(dict, "dialect", &failed), &p->dialect)) {
        PyErr_SetString(PyExc_ValueError, "expected a dialect");
        failed = 1;
    }
    return !failed;
}

/* ---- the answer ------------------------------------------------------------------- */

typedef struct reading {
    PyObject *module;
    cellar_sql_answer *answer;
    const char *name;    /* of the database in messages */
    const char **fields; /* room for a row */
    Py_ssize_t n;
} reading;

/* A row is a tuple of texts and None. 0: an exception is set. */
static int add_row(const reading *r, PyObject *row)
{
    cellar_error err;
    cellar_status status;
    if (!PyTuple_Check(row) || PyTuple_Size(row) != r->n) {
        PyErr_Format(PyExc_ValueError, "%s: the answer has other columns", r->name);
        return 0;
    }
    for (Py_ssize_t i = 0; i < r->n; i++) {
        PyObject *field = PyTuple_GetItem(row, i);
        r->fields[i] = field != Py_None ? PyUnicode_AsUTF8AndSize(field, NULL) : NULL;
        if (PyErr_Occurred())
            return 0;
    }
    status = cellar_sql_answer_add(r->answer, r->name, r->fields, &err);
    if (status != CELLAR_OK)
        glue_fail(r->module, status, &err);
    return status == CELLAR_OK;
}

static int add_piece(const reading *r, PyObject *rows)
{
    const Py_ssize_t n = PyList_Size(rows);
    for (Py_ssize_t i = 0; i < n; i++)
        if (!add_row(r, PyList_GetItem(rows, i)))
            return 0;
    return n >= 0;
}

/* ask(sql) answers an iterator over pieces, which are lists of rows. */
static int add_pieces(const reading *r, PyObject *ask, const char *sql)
{
    PyObject *pieces = PyObject_CallFunction(ask, "s", sql), *piece;
    int is_ok = pieces != NULL;
    while (is_ok && (piece = PyIter_Next(pieces)) != NULL) {
        is_ok = add_piece(r, piece);
        Py_DECREF(piece);
    }
    Py_XDECREF(pieces);
    return is_ok && !PyErr_Occurred();
}

static PyObject *take_answer(reading *r, const glue_spec *a, const place *p, PyObject *ask,
                             const char *sql)
{
    PyObject *result = NULL;
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err;
    cellar_status status =
        cellar_sql_answer_create(&a->spec, &p->source, p->dialect, &r->answer, &err);
    if (status != CELLAR_OK)
        return glue_fail(r->module, status, &err);
    r->n = (Py_ssize_t) cellar_sql_answer_n_columns(r->answer);
    r->fields = PyMem_Calloc((size_t) r->n, sizeof *r->fields);
    if (r->fields == NULL)
        PyErr_NoMemory();
    else if (add_pieces(r, ask, sql)) {
        status = cellar_sql_answer_table(r->answer, &table, &report, &err);
        result = glue_counted(r->module, status, table, &report, &err);
    }
    PyMem_Free((void *) r->fields);
    cellar_sql_answer_free(r->answer);
    return result;
}

static PyObject *tabulate_database(PyObject *module, PyObject *args)
{
    PyObject *dict, *where, *ask, *result = NULL;
    glue_spec a;
    place p = {0};
    if (!PyArg_ParseTuple(args, "OOO", &dict, &where, &ask))
        return NULL;
    if (glue_spec_init(dict, &a) && place_init(where, &p)) {
        reading r = {.module = module, .name = cellar_sql_dialect_name(p.dialect)};
        char *sql = NULL;
        cellar_error err;
        const cellar_status status = cellar_sql_write(&a.spec, &p.source, p.dialect, &sql, &err);
        result = status == CELLAR_OK ? take_answer(&r, &a, &p, ask, sql)
                                     : glue_fail(module, status, &err);
        cellar_sql_free(sql);
    }
    PyMem_Free((void *) p.order_by);
    glue_spec_clear(&a);
    return result;
}

PyMethodDef glue_database_methods[] = {
    {"find_dialect", find_dialect, METH_VARARGS, "The dialect of a database by a name of it."},
    {"tabulate_database", tabulate_database, METH_VARARGS, "Asks a database and counts."},
    {NULL, NULL, 0, NULL},
};
