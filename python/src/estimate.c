/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is computed from releases alone: fits, tables of estimates, synthetic records. Public. */
#include "glue.h"

#include <math.h>

/* ---- fits -------------------------------------------------------------------------- */

/* The releases of a list, to be freed with PyMem_Free(). */
static const cellar_release **releases_of(PyObject *list, size_t *n)
{
    const Py_ssize_t size = PyList_Size(list);
    const cellar_release **releases =
        size >= 0 ? PyMem_Calloc((size_t) size + 1, sizeof *releases) : NULL;
    for (Py_ssize_t i = 0; releases != NULL && i < size; i++) {
        releases[i] = glue_object(PyList_GetItem(list, i), HANDLE_RELEASE, 0);
        if (releases[i] == NULL) {
            PyMem_Free((void *) releases);
            return NULL;
        }
    }
    *n = size > 0 ? (size_t) size : 0;
    return releases;
}

typedef struct fit_found {
    cellar_adjustment *fit;
    cellar_rounding *rounding;
    cellar_estimate *estimate;
} fit_found;

static cellar_status fit_run(const cellar_release *const *releases, size_t n, int all_margins,
                             int official, int errors, double max_move, fit_found *found,
                             cellar_error *err)
{
    cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_rounding_options rounding = cellar_rounding_options_default();
    cellar_status status;
    options.margins.all = all_margins;
    rounding.max_move = max_move;
    status = cellar_adjustment_create(releases, n, &options, &found->fit, err);
    if (status == CELLAR_OK)
        status = cellar_rounding_create(found->fit, &rounding, &found->rounding, err);
    return status != CELLAR_OK ? status
                               : cellar_estimate_from_fit(found->fit, found->rounding, releases, n,
                                                          (cellar_official) official, errors,
                                                          &found->estimate, err);
}

/* fit(releases, all margins, official, errors, max_move) ->
 * (estimate, total, whole total, proof, variances are exact) */
static PyObject *fit(PyObject *module, PyObject *args)
{
    PyObject *list, *made = NULL;
    int all_margins, official, errors;
    double max_move;
    const cellar_release **releases;
    size_t n;
    fit_found found = {0};
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Opipd", &list, &all_margins, &official, &errors, &max_move))
        return NULL;
    releases = releases_of(list, &n);
    if (releases == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status =
        fit_run(releases, n, all_margins, official, errors, max_move, &found, &err);
    Py_END_ALLOW_THREADS made = status == CELLAR_OK
                                    ? glue_handle(module, HANDLE_ESTIMATE, found.estimate)
                                    : glue_fail(module, status, &err);
    if (made != NULL)
        made = Py_BuildValue("(NdLsO)", made, cellar_adjustment_total(found.fit),
                             (long long) cellar_rounding_total(found.rounding),
                             cellar_rounding_proof_name(cellar_rounding_proof_of(found.rounding)),
                             cellar_adjustment_is_estimated(found.fit) ? Py_False : Py_True);
    cellar_rounding_free(found.rounding);
    cellar_adjustment_free(found.fit);
    PyMem_Free((void *) releases);
    return made;
}

/* ---- tables of estimates ------------------------------------------------------------- */

static PyObject *read_estimate(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_estimate *estimate = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_estimate_read(path, CELLAR_TABLE_AUTO, &estimate, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_ESTIMATE, estimate)
                               : glue_fail(module, status, &err);
}

static PyObject *write_estimate(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *path;
    int whole, replace;
    const cellar_estimate *estimate;
    cellar_table_write_options options = cellar_table_write_options_default();
    cellar_release_file *file = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ospp", &handle, &path, &whole, &replace))
        return NULL;
    estimate = glue_object(handle, HANDLE_ESTIMATE, 0);
    if (estimate == NULL)
        return NULL;
    options.format = cellar_table_format_of_path(path);
    options.zeros = 1;
    status = cellar_release_file_open(path, &options, replace, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_estimate_write(
            estimate, whole ? CELLAR_ESTIMATE_WHOLE : CELLAR_ESTIMATE_VALUES, file, &err);
    cellar_release_file_discard(file);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

static PyObject *estimate_shape(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_estimate *estimate;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    estimate = glue_object(handle, HANDLE_ESTIMATE, 0);
    return estimate != NULL ? glue_shape(cellar_estimate_schema(estimate)) : NULL;
}

/* (method, description, has errors, has whole numbers) */
static PyObject *estimate_about(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_estimate *estimate;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    estimate = glue_object(handle, HANDLE_ESTIMATE, 0);
    return estimate == NULL
               ? NULL
               : Py_BuildValue("(ssOO)", cellar_estimate_method(estimate),
                               cellar_estimate_description(estimate),
                               cellar_estimate_has_errors(estimate) ? Py_True : Py_False,
                               cellar_estimate_has_whole(estimate) ? Py_True : Py_False);
}

/* Rows: codes, then estimate, standard error and whole number (None where there is none). */
static PyObject *estimate_rows(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_estimate *estimate;
    const cellar_schema *schema;
    Py_ssize_t n;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    estimate = glue_object(handle, HANDLE_ESTIMATE, 0);
    if (estimate == NULL)
        return NULL;
    schema = cellar_estimate_schema(estimate);
    n = (Py_ssize_t) cellar_schema_n_variables(schema);
    list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cellar_estimate_n_cells(estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        PyObject *row = glue_row(schema, cell.index, 3);
        if (row != NULL) {
            PyTuple_SetItem(row, n, PyFloat_FromDouble(cell.value));
            PyTuple_SetItem(
                row, n + 1,
                glue_known(cellar_estimate_has_errors(estimate) ? cell.se : (double) NAN));
            PyTuple_SetItem(row, n + 2,
                            cellar_estimate_has_whole(estimate) ? PyLong_FromLongLong(cell.whole)
                                                                : Py_NewRef(Py_None));
        }
        glue_append(&list, row);
    }
    return list;
}

static PyObject *estimate_stream(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_estimate *estimate;
    struct ArrowArrayStream stream;
    cellar_error err;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    estimate = glue_object(handle, HANDLE_ESTIMATE, 0);
    return estimate == NULL ? NULL
                            : glue_stream(module, cellar_estimate_stream(estimate, &stream, &err),
                                          &stream, &err);
}

/* ---- synthetic records ----------------------------------------------------------------- */

static cellar_status from_cube(const cellar_cube *cube, unsigned long long n_records,
                               cellar_synthesis **out, cellar_error *err)
{
    cellar_synthesis_model_options options = cellar_synthesis_model_options_default();
    cellar_synthesis_model *model = NULL;
    cellar_status status;
    options.n_records = n_records;
    status = cellar_synthesis_model_create(cube, &options, &model, err);
    if (status == CELLAR_OK)
        status = cellar_synthesis_draw(model, NULL, out, err);
    cellar_synthesis_model_free(model);
    return status;
}

/* synthesize(release, estimate, cube, ignore margins, number of records): one of the first three */
static PyObject *synthesize(PyObject *module, PyObject *args)
{
    PyObject *release, *estimate, *cube;
    int ignore_margins;
    unsigned long long n_records;
    const cellar_release *from;
    const cellar_estimate *fitted;
    const cellar_cube *whole;
    cellar_synthesis_options options = cellar_synthesis_options_default();
    cellar_synthesis *made = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "OOOpK", &release, &estimate, &cube, &ignore_margins, &n_records))
        return NULL;
    from = glue_object(release, HANDLE_RELEASE, 1);
    fitted = glue_object(estimate, HANDLE_ESTIMATE, 1);
    whole = glue_object(cube, HANDLE_CUBE, from != NULL || fitted != NULL);
    if (PyErr_Occurred())
        return NULL;
    options.ignore_margins = ignore_margins;
    Py_BEGIN_ALLOW_THREADS status =
        from != NULL     ? cellar_synthesis_from_release(from, &options, &made, &err)
        : fitted != NULL ? cellar_synthesis_from_estimate(fitted, &options, &made, &err)
                         : from_cube(whole, n_records, &made, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK ? glue_handle(module, HANDLE_SYNTHESIS, made)
                                                    : glue_fail(module, status, &err);
}

/* (number of records, description, [(variable, codes)], [(category, ..., number of records)]) */
static PyObject *synthetic_records(PyObject *module, PyObject *args)
{
    PyObject *handle, *variables, *rows;
    const cellar_synthesis *s;
    size_t n;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    s = glue_object(handle, HANDLE_SYNTHESIS, 0);
    if (s == NULL)
        return NULL;
    n = cellar_synthesis_n_variables(s);
    variables = PyList_New(0);
    for (size_t v = 0; variables != NULL && v < n; v++) {
        PyObject *codes = PyList_New(0);
        for (size_t c = 0; codes != NULL && c < cellar_synthesis_n_categories(s, v); c++)
            glue_append(&codes, PyUnicode_FromString(cellar_synthesis_code(s, v, c)));
        glue_append(&variables,
                    codes == NULL ? NULL
                                  : Py_BuildValue("(sN)", cellar_synthesis_variable(s, v), codes));
    }
    rows = PyList_New(0);
    for (size_t i = 0; rows != NULL && i < cellar_synthesis_n_combinations(s); i++) {
        uint64_t times;
        const uint32_t *categories = cellar_synthesis_combination(s, i, &times);
        PyObject *row = PyTuple_New((Py_ssize_t) n + 1);
        for (size_t v = 0; row != NULL && v < n; v++)
            PyTuple_SetItem(row, (Py_ssize_t) v, PyLong_FromUnsignedLong(categories[v]));
        if (row != NULL)
            PyTuple_SetItem(row, (Py_ssize_t) n, PyLong_FromUnsignedLongLong(times));
        glue_append(&rows, row);
    }
    return Py_BuildValue("(KsNN)", (unsigned long long) cellar_synthesis_n_records(s),
                         cellar_synthesis_description(s), variables, rows);
}

/* write_synthetic(records, path, count column or None, shuffle, replace) */
static PyObject *write_synthetic(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *path;
    const cellar_synthesis *s;
    cellar_synthesis_write_options options = cellar_synthesis_write_options_default();
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Oszpp", &handle, &path, &options.count_column, &options.shuffle,
                          &options.replace))
        return NULL;
    s = glue_object(handle, HANDLE_SYNTHESIS, 0);
    if (s == NULL)
        return NULL;
    status = cellar_synthesis_write(s, path, &options, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

PyMethodDef glue_estimate_methods[] = {
    {"fit", fit, METH_VARARGS, "One table that adds up, from releases."},
    {"read_estimate", read_estimate, METH_VARARGS, "A table of estimates from its file."},
    {"write_estimate", write_estimate, METH_VARARGS, "A table of estimates into a file."},
    {"estimate_shape", estimate_shape, METH_VARARGS, "Its variables."},
    {"estimate_about", estimate_about, METH_VARARGS, "How it was computed."},
    {"estimate_rows", estimate_rows, METH_VARARGS, "Its cells."},
    {"estimate_stream", estimate_stream, METH_VARARGS, "Its cells as an Arrow stream."},
    {"synthesize", synthesize, METH_VARARGS, "Synthetic records."},
    {"synthetic_records", synthetic_records, METH_VARARGS, "What they are."},
    {"write_synthetic", write_synthetic, METH_VARARGS, "Synthetic records into a file."},
    {NULL, NULL, 0, NULL},
};
