/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure, computed from true counts: confidential. */
#include "glue.h"

/* exposure(table, positions) -> (curve, total, cells, possible cells, entropy) */
static PyObject *exposure(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict, *made;
    const cellar_table *table;
    size_t positions[CELLAR_MAX_VARIABLES], n;
    cellar_exposure_curve *curve = NULL;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OO", &handle, &dict))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    n = glue_positions(dict, "variables", positions, &failed);
    if (table == NULL || failed)
        return NULL;
    status = cellar_exposure_curve_create(table, positions, n, &curve, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    made = glue_handle(module, HANDLE_CURVE, curve);
    return made == NULL
               ? NULL
               : Py_BuildValue("(NKKdd)", made, (unsigned long long) cellar_exposure_total(curve),
                               (unsigned long long) cellar_exposure_n_cells(curve),
                               cellar_exposure_n_possible(curve), cellar_exposure_entropy(curve));
}

/* exposure_at(curve, threshold) -> (cutoff, people, share) */
static PyObject *exposure_at(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const char *threshold;
    const cellar_exposure_curve *curve;
    uint64_t cutoff;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Os", &handle, &threshold))
        return NULL;
    curve = glue_object(handle, HANDLE_CURVE, 0);
    if (curve == NULL)
        return NULL;
    status = cellar_exposure_cutoff(curve, threshold, &cutoff, &err);
    return status != CELLAR_OK
               ? glue_fail(module, status, &err)
               : Py_BuildValue("(KKd)", (unsigned long long) cutoff,
                               (unsigned long long) cellar_exposure_below(curve, cutoff),
                               cellar_exposure_value(curve, cutoff));
}

/* exposure_below(curve, k) -> (people, share) */
static PyObject *exposure_below(PyObject *module, PyObject *args)
{
    PyObject *handle;
    unsigned long long cutoff;
    const cellar_exposure_curve *curve;
    (void) module;
    if (!PyArg_ParseTuple(args, "OK", &handle, &cutoff))
        return NULL;
    curve = glue_object(handle, HANDLE_CURVE, 0);
    return curve == NULL
               ? NULL
               : Py_BuildValue("(Kd)", (unsigned long long) cellar_exposure_below(curve, cutoff),
                               cellar_exposure_value(curve, cutoff));
}

/* exposure_steps(curve) -> [(count, cells, people below)] */
static PyObject *exposure_steps(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_exposure_curve *curve;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    curve = glue_object(handle, HANDLE_CURVE, 0);
    list = curve != NULL ? PyList_New(0) : NULL;
    for (size_t i = 0; list != NULL && i < cellar_exposure_n_steps(curve); i++) {
        const cellar_exposure_step s = cellar_exposure_step_at(curve, i);
        glue_append(&list,
                    Py_BuildValue("(KKK)", (unsigned long long) s.count,
                                  (unsigned long long) s.n_cells, (unsigned long long) s.below));
    }
    return list;
}

/* exposure_statistical(curve, population, k) */
static PyObject *exposure_statistical(PyObject *module, PyObject *args)
{
    PyObject *handle;
    unsigned long long population, k;
    const cellar_exposure_curve *curve;
    cellar_exposure_pair pair = {0};
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "OKK", &handle, &population, &k))
        return NULL;
    curve = glue_object(handle, HANDLE_CURVE, 0);
    if (curve == NULL)
        return NULL;
    pair.population = population;
    pair.k = k;
    status = cellar_exposure_statistical(curve, &pair, 1, 0, &err);
    return status == CELLAR_OK ? PyFloat_FromDouble(pair.value) : glue_fail(module, status, &err);
}

/* exposure_bounds([curve of a column, ...], threshold) -> (lower, [(theorem, value, gap), ...]) */
static PyObject *exposure_bounds(PyObject *module, PyObject *args)
{
    PyObject *list;
    double threshold;
    const cellar_exposure_curve *columns[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound bounds[2];
    cellar_error err;
    cellar_status status;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "Od", &list, &threshold))
        return NULL;
    n = PyList_Size(list);
    if (n < 1 || n > CELLAR_MAX_VARIABLES) {
        PyErr_SetString(PyExc_ValueError, "bounds come from 1 to 64 columns");
        return NULL;
    }
    for (Py_ssize_t i = 0; i < n; i++) {
        columns[i] = glue_object(PyList_GetItem(list, i), HANDLE_CURVE, 0);
        if (columns[i] == NULL)
            return NULL;
    }
    status = cellar_exposure_bounds(columns, (size_t) n, threshold, NULL, bounds, &err);
    return status != CELLAR_OK
               ? glue_fail(module, status, &err)
               : Py_BuildValue("(d[(idd)(idd)])",
                               cellar_exposure_lower_bound(columns, (size_t) n, threshold),
                               bounds[0].theorem, bounds[0].value, bounds[0].gap, bounds[1].theorem,
                               bounds[1].value, bounds[1].gap);
}

PyMethodDef glue_exposure_methods[] = {
    {"exposure", exposure, METH_VARARGS, "The curve of some variables: confidential."},
    {"exposure_at", exposure_at, METH_VARARGS, "Exposure at a threshold."},
    {"exposure_below", exposure_below, METH_VARARGS, "People in cells of fewer than k."},
    {"exposure_steps", exposure_steps, METH_VARARGS, "The whole curve."},
    {"exposure_statistical", exposure_statistical, METH_VARARGS, "Among other people."},
    {"exposure_bounds", exposure_bounds, METH_VARARGS, "From single columns alone."},
    {NULL, NULL, 0, NULL},
};
