/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From tables to releases, and what is read from these. */
#include "glue.h"

#include <string.h>

/* ---- keys ---------------------------------------------------------------------- */

static PyObject *read_key(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_key_read(path, &key, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_KEY, key)
                               : glue_fail(module, status, &err);
}

static PyObject *create_key(PyObject *module, PyObject *args)
{
    const char *path, *edition;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "sz", &path, &edition))
        return NULL;
    status = cellar_key_create(path, edition, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

static PyObject *key_id(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_key *key;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    key = glue_object(handle, HANDLE_KEY, 0);
    return key != NULL ? PyUnicode_FromString(cellar_key_id(key)) : NULL;
}

/* ---- options -------------------------------------------------------------------- */

/* A word that has to be one of a few. */
static void check_word(int is_known, const char *name, const char *word, int *failed)
{
    if (word == NULL || is_known)
        return;
    PyErr_Format(PyExc_ValueError, "%s cannot be '%s'", name, word);
    *failed = 1;
}

unsigned glue_accepted(PyObject *dict, int *failed)
{
    size_t n;
    const char **words = glue_texts(dict, "accept", &n, failed);
    unsigned accepted = 0;
    for (size_t i = 0; !*failed && i < n; i++) {
        check_word(cellar_acceptance_find(words[i]) != 0, "accept", words[i], failed);
        accepted |= cellar_acceptance_find(words[i]);
    }
    PyMem_Free((void *) words);
    return accepted;
}

static int read_options(PyObject *dict, cellar_protect_options *out)
{
    int failed = 0;
    const char *negatives = glue_text(dict, "negatives", &failed);
    const char *neighbours = glue_text(dict, "neighbours", &failed);
    const char *below = glue_text(dict, "below", &failed);

    *out = cellar_protect_options_default();
    out->progress = glue_progress();
    check_word(cellar_negatives_find(negatives, &out->negatives), "negatives", negatives, &failed);
    check_word(cellar_neighbours_find(neighbours, &out->neighbours), "neighbours", neighbours,
               &failed);
    out->choice = (cellar_parameter_choice) glue_choice(dict, "chosen", &failed);
    check_word(below == NULL || strcmp(below, "zero") == 0 || strcmp(below, "suppress") == 0,
               "below", below, &failed);
    if (below != NULL && strcmp(below, "suppress") == 0)
        out->below = CELLAR_BELOW_SUPPRESS;
    out->accept = glue_accepted(dict, &failed);
    out->threshold = glue_number(dict, "threshold", 0, &failed);
    out->max_cells = glue_whole(dict, "max_cells", out->max_cells, &failed);
    out->per_cell = glue_flag(dict, "per_cell", &failed);
    out->total_epsilon = glue_text(dict, "total_epsilon", &failed);
    out->domain_public = glue_flag(dict, "domain_public", &failed);
    out->unit = glue_text(dict, "unit", &failed);
    out->max_per_unit = glue_whole(dict, "per_unit", 1, &failed);
    out->max_weight = glue_whole(dict, "max_weight", 0, &failed);
    out->date = glue_text(dict, "date", &failed);
    out->delta = glue_text(dict, "delta", &failed);
    out->edition = glue_text(dict, "edition", &failed);
    out->dataset = glue_text(dict, "dataset", &failed);
    out->key = glue_object(PyDict_GetItemString(dict, "key"), HANDLE_KEY, 1);
    out->n_threads = glue_threads(dict, &failed);
    return !failed && !PyErr_Occurred();
}

/* ---- drawing --------------------------------------------------------------------- */

/* Who pays, and where the release appears. */
typedef struct purse {
    const char *ledger, *ledger_key;
    cellar_payment payment;
    cellar_charged_file file;
} purse;

static int read_purse(PyObject *dict, purse *out)
{
    int failed = 0;
    *out = (purse){.payment = cellar_payment_default(), .file = cellar_charged_file_default()};
    out->ledger = glue_text(dict, "ledger", &failed);
    out->ledger_key = glue_text(dict, "ledger_key", &failed);
    out->payment.dataset = glue_text(dict, "dataset", &failed);
    out->payment.request = glue_text(dict, "request", &failed);
    out->payment.edition = glue_text(dict, "edition", &failed);
    out->payment.analyst = glue_text(dict, "analyst", &failed);
    out->payment.accept_delta = glue_flag(dict, "accept_delta", &failed);
    out->file.path = glue_text(dict, "output", &failed);
    if (out->ledger != NULL && (out->file.path == NULL || out->ledger_key == NULL)) {
        PyErr_SetString(PyExc_ValueError,
                        "a charged release needs ledger_key and output: the file is its record");
        failed = 1;
    }
    return !failed;
}

static cellar_status draw(const cellar_table *table, const char *spec,
                          const cellar_protect_options *options, const purse *p,
                          cellar_release **out, cellar_error *err)
{
    cellar_ledger *ledger = NULL;
    cellar_status status = CELLAR_OK;
    if (p->ledger != NULL)
        status = cellar_ledger_open_file(p->ledger, p->ledger_key, &ledger, err);
    if (status == CELLAR_OK)
        status = cellar_protect_spec(table, spec, options, ledger, &p->payment, &p->file, out, err);
    cellar_ledger_close(ledger);
    return status;
}

static PyObject *protect(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    const char *spec;
    const cellar_table *table;
    cellar_protect_options options;
    cellar_release *release = NULL;
    cellar_error err;
    cellar_status status;
    purse p;

    if (!PyArg_ParseTuple(args, "OsO", &handle, &spec, &dict))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL || !read_options(dict, &options) || !read_purse(dict, &p))
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = draw(table, spec, &options, &p, &release, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK ? glue_handle(module, HANDLE_RELEASE, release)
                                                    : glue_fail(module, status, &err);
}

/* ---- releases --------------------------------------------------------------------- */

static PyObject *read_release(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_release *release = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_RELEASE, release)
                               : glue_fail(module, status, &err);
}

static PyObject *write_release(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *path;
    int zeros, replace;
    const cellar_release *release;
    cellar_table_write_options options = cellar_table_write_options_default();
    cellar_release_file *file = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ospp", &handle, &path, &zeros, &replace))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    if (release == NULL)
        return NULL;
    options.format = cellar_table_format_of_path(path);
    options.zeros = zeros;
    status = cellar_release_file_open(path, &options, replace, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, &err);
    cellar_release_file_discard(file);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

/* Texts that a release says of itself. */
static PyObject *release_texts(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_release *release;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    return release == NULL
               ? NULL
               : Py_BuildValue("(ssssss)", cellar_release_mechanism(release),
                               cellar_verdict_name(cellar_release_verdict(release)),
                               cellar_release_ledger(release), cellar_release_certificate(release),
                               cellar_release_description(release),
                               cellar_release_guarantee(release));
}

/* Rows: codes of each variable, then the released value (None: suppressed). */
static PyObject *release_rows(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_release *release;
    const cellar_schema *schema;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    if (release == NULL)
        return NULL;
    schema = cellar_release_schema(release);
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cellar_release_n_cells(release); i++) {
        const cellar_released_cell cell = cellar_release_cell(release, i);
        PyObject *row = glue_row(schema, cell.index, 1);
        if (row != NULL)
            PyTuple_SetItem(row, (Py_ssize_t) cellar_schema_n_variables(schema),
                            cell.status == CELLAR_CELL_SUPPRESSED
                                ? Py_NewRef(Py_None)
                                : PyLong_FromLongLong(cell.released));
        glue_append(&list, row);
    }
    return list;
}

static PyObject *release_stream(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_release *release;
    struct ArrowArrayStream stream;
    cellar_error err;
    int zeros;
    if (!PyArg_ParseTuple(args, "Op", &handle, &zeros))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    return release == NULL
               ? NULL
               : glue_stream(module, cellar_release_stream(release, zeros, &stream, &err), &stream,
                             &err);
}

static PyObject *release_at(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    const cellar_release *release;
    const char **codes;
    size_t n;
    int failed = 0;
    uint64_t index;
    cellar_error err;
    cellar_status status;
    cellar_released_cell cell;
    if (!PyArg_ParseTuple(args, "OO", &handle, &dict))
        return NULL;
    release = glue_object(handle, HANDLE_RELEASE, 0);
    codes = glue_texts(dict, "codes", &n, &failed);
    if (release == NULL || failed) {
        PyMem_Free((void *) codes);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        if (codes[i][0] == '\0')
            codes[i] = NULL; /* the total */
    status = cellar_schema_find_cell(cellar_release_schema(release), codes, n, &index, &err);
    PyMem_Free((void *) codes);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    cell = cellar_release_at(release, index);
    return cell.status == CELLAR_CELL_SUPPRESSED ? Py_NewRef(Py_None)
                                                 : PyLong_FromLongLong(cell.released);
}

PyMethodDef glue_protect_methods[] = {
    {"read_key", read_key, METH_VARARGS, "A key from its file."},
    {"create_key", create_key, METH_VARARGS, "A new key file."},
    {"key_id", key_id, METH_VARARGS, "The public name of a key."},
    {"protect", protect, METH_VARARGS, "Draws a release."},
    {"read_release", read_release, METH_VARARGS, "A release from a file."},
    {"write_release", write_release, METH_VARARGS, "A release into a file."},
    {"release_texts", release_texts, METH_VARARGS, "What a release says of itself."},
    {"release_rows", release_rows, METH_VARARGS, "The listed cells."},
    {"release_stream", release_stream, METH_VARARGS, "The cells as an Arrow stream."},
    {"release_at", release_at, METH_VARARGS, "One released value by its codes."},
    {NULL, NULL, 0, NULL},
};
