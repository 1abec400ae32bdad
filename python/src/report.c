/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages that people read, and matrices of transition probabilities. */
#include "glue.h"

/* ---- pages ------------------------------------------------------------------------------ */

static int read_options(PyObject *dict, cellar_report_options *out)
{
    int failed = 0;
    *out = cellar_report_options_default();
    out->title = glue_text(dict, "title", &failed);
    out->max_rows = glue_whole(dict, "max_rows", 200, &failed);
    out->replace = glue_flag(dict, "replace", &failed);
    return !failed;
}

/* report([releases], [names], path, options) */
static PyObject *report(PyObject *module, PyObject *args)
{
    PyObject *list, *dict;
    const char *path, **names = NULL;
    const cellar_release **releases;
    cellar_report_options options;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    size_t n_names = 0;
    Py_ssize_t n;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OsO", &list, &path, &dict) || !read_options(dict, &options))
        return NULL;
    n = PyList_Size(list);
    releases = n >= 0 ? PyMem_Calloc((size_t) n + 1, sizeof *releases) : NULL;
    names = glue_texts(dict, "names", &n_names, &failed);
    for (Py_ssize_t i = 0; releases != NULL && i < n; i++) {
        releases[i] = glue_object(PyList_GetItem(list, i), HANDLE_RELEASE, 0);
        failed |= releases[i] == NULL;
    }
    if (releases != NULL && !failed) {
        options.names = n_names == (size_t) n ? names : NULL;
        status = cellar_report_public(releases, (size_t) n, &options, path, &err);
        if (status != CELLAR_OK)
            glue_fail(module, status, &err);
    }
    PyMem_Free((void *) releases);
    PyMem_Free((void *) names);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* report_cube(cube, path, options) */
static PyObject *report_cube(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    const char *path;
    const cellar_cube *cube;
    cellar_report_options options;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "OsO", &handle, &path, &dict) || !read_options(dict, &options))
        return NULL;
    cube = glue_object(handle, HANDLE_CUBE, 0);
    if (cube == NULL)
        return NULL;
    status = cellar_report_cube(cube, NULL, 0, &options, path, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

/* report_committee(table, release or None, path, options): confidential */
static PyObject *report_committee(PyObject *module, PyObject *args)
{
    PyObject *handle, *released, *dict;
    const char *path, **mechanisms, *negatives;
    const cellar_table *table;
    size_t known[CELLAR_MAX_VARIABLES], sensitive[CELLAR_MAX_VARIABLES];
    cellar_committee_options committee = cellar_committee_options_default();
    cellar_report_options options;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OOsO", &handle, &released, &path, &dict) ||
        !read_options(dict, &options))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    committee.release = glue_object(released, HANDLE_RELEASE, 1);
    committee.n_qid = glue_positions(dict, "known", known, &failed);
    committee.n_sensitive = glue_positions(dict, "sensitive", sensitive, &failed);
    committee.copies = glue_whole(dict, "copies", 30, &failed);
    committee.seed = glue_whole(dict, "seed", 1, &failed);
    negatives = glue_text(dict, "negatives", &failed);
    if (negatives != NULL && !cellar_negatives_find(negatives, &committee.negatives))
        PyErr_SetString(PyExc_ValueError, "negatives is keep or zero");
    mechanisms = glue_texts(dict, "mechanisms", &committee.n_mechanisms, &failed);
    committee.qid = known;
    committee.sensitive = sensitive;
    committee.mechanisms = mechanisms;
    if (table != NULL && !failed && !PyErr_Occurred()) {
        Py_BEGIN_ALLOW_THREADS status =
            cellar_report_committee(table, &committee, &options, path, &err);
        Py_END_ALLOW_THREADS if (status != CELLAR_OK) glue_fail(module, status, &err);
    }
    PyMem_Free((void *) mechanisms);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

/* ---- matrices ---------------------------------------------------------------------------- */

static PyObject *read_matrix(PyObject *module, PyObject *args)
{
    const char *path;
    int large;
    cellar_matrix *matrix = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "si", &path, &large))
        return NULL;
    status = cellar_matrix_read(path, (cellar_matrix_large) large, &matrix, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_MATRIX, matrix)
                               : glue_fail(module, status, &err);
}

static PyObject *row_of(const cellar_matrix *matrix, size_t r)
{
    cellar_matrix_row row;
    PyObject *changes = PyList_New(0);
    cellar_matrix_row_at(matrix, r, &row);
    for (size_t i = 0; i < row.n_changes; i++)
        glue_append(&changes, Py_BuildValue("(Ld)", (long long) cellar_matrix_change(matrix, r, i),
                                            cellar_matrix_probability(matrix, r, i)));
    return Py_BuildValue("(KddddN)", (unsigned long long) row.count, row.bias, row.variance,
                         row.entropy, row.stay, changes);
}

static PyObject *matrix_of(const cellar_matrix *matrix)
{
    uint64_t count;
    int64_t never;
    PyObject *rows = PyList_New(0), *forbidden = PyList_New(0);
    for (size_t r = 0; r < cellar_matrix_n_rows(matrix); r++)
        glue_append(&rows, row_of(matrix, r));
    for (size_t i = 0; (never = cellar_matrix_forbidden(matrix, i)) >= 0; i++)
        glue_append(&forbidden, PyLong_FromLongLong(never));
    return Py_BuildValue("(sKNdN)", cellar_matrix_digest(matrix),
                         (unsigned long long) cellar_matrix_n_keys(matrix), forbidden,
                         cellar_matrix_difference(matrix, &count), rows);
}

/* The matrix of a design (its spec), or one that was read (a handle). */
static cellar_status matrix_from(const char *spec, const cellar_matrix *read,
                                 cellar_mechanism **mechanism, const cellar_matrix **out,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *out = read;
    if (read == NULL)
        status = cellar_mechanism_create(spec, mechanism, err);
    if (status == CELLAR_OK && read == NULL)
        *out = cellar_mechanism_matrix(*mechanism);
    if (status == CELLAR_OK && *out == NULL) {
        PyOS_snprintf(err->message, sizeof err->message, "'%.60s' has no matrix", spec);
        status = CELLAR_ERR_ARGUMENT;
    }
    return status;
}

/* matrix(spec or None, handle or None) ->
 * (digest, keys, forbidden, difference, [(count, bias, variance, entropy, stay, changes)]) */
static PyObject *matrix(PyObject *module, PyObject *args)
{
    PyObject *handle, *result;
    const char *spec;
    cellar_mechanism *mechanism = NULL;
    const cellar_matrix *found, *read;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "zO", &spec, &handle))
        return NULL;
    read = glue_object(handle, HANDLE_MATRIX, spec != NULL);
    if (read == NULL && spec == NULL)
        return NULL;
    status = matrix_from(spec, read, &mechanism, &found, &err);
    result = status == CELLAR_OK ? matrix_of(found) : glue_fail(module, status, &err);
    cellar_mechanism_free(mechanism);
    return result;
}

/* write_matrix(spec or None, handle or None, path, layout, keys, replace) */
static PyObject *write_matrix(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *spec, *path;
    int layout, replace;
    unsigned long long keys;
    cellar_mechanism *mechanism = NULL;
    cellar_matrix *rounded = NULL;
    const cellar_matrix *found, *read;
    cellar_output_options options = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "zOsiKp", &spec, &handle, &path, &layout, &keys, &replace))
        return NULL;
    read = glue_object(handle, HANDLE_MATRIX, spec != NULL);
    if (read == NULL && spec == NULL)
        return NULL;
    options.replace = replace;
    status = matrix_from(spec, read, &mechanism, &found, &err);
    if (status == CELLAR_OK && keys > 0 && keys != cellar_matrix_n_keys(found)) {
        status = cellar_matrix_create_rounded(found, keys, &rounded, &err);
        found = rounded;
    }
    if (status == CELLAR_OK)
        status = cellar_output_open(path, &options, &output, &err);
    if (status == CELLAR_OK)
        status = cellar_matrix_write(found, (cellar_matrix_layout) layout, 0, output, &err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    else
        cellar_output_discard(output);
    cellar_matrix_free(rounded);
    cellar_mechanism_free(mechanism);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    Py_RETURN_NONE;
}

PyMethodDef glue_report_methods[] = {
    {"report", report, METH_VARARGS, "The page about releases."},
    {"report_cube", report_cube, METH_VARARGS, "The page about a cube."},
    {"report_committee", report_committee, METH_VARARGS, "A page for a committee: confidential."},
    {"read_matrix", read_matrix, METH_VARARGS, "A matrix from its file."},
    {"matrix", matrix, METH_VARARGS, "What a matrix does."},
    {"write_matrix", write_matrix, METH_VARARGS, "A matrix into a file."},
    {NULL, NULL, 0, NULL},
};
