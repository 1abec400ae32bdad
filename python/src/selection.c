/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which columns to publish together, and which values to redact. Confidential. */
#include "glue.h"

/* The profiles of the variables of a table; NULL: an exception is set. */
static cellar_profiles *profiles_of(PyObject *module, PyObject *handle, PyObject *dict)
{
    const cellar_table *table = glue_object(handle, HANDLE_TABLE, 0);
    size_t positions[CELLAR_MAX_VARIABLES], n;
    cellar_profiles *profiles = NULL;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    n = glue_positions(dict, "variables", positions, &failed);
    if (table == NULL || failed)
        return NULL;
    status = cellar_profiles_create(table, positions, n, &profiles, &err);
    if (status != CELLAR_OK)
        glue_fail(module, status, &err);
    return profiles;
}

/* The names of a set of columns. */
static PyObject *columns_of(const cellar_profiles *profiles, uint64_t mask)
{
    PyObject *list = PyList_New(0);
    for (size_t c = 0; list != NULL && c < cellar_profiles_n_columns(profiles); c++)
        if (mask >> c & 1)
            glue_append(&list, PyUnicode_FromString(cellar_profiles_column(profiles, c)));
    return list;
}

/* ---- columns ------------------------------------------------------------------------- */

static PyObject *selection_of(const cellar_profiles *profiles, const cellar_selection *selection)
{
    PyObject *sets = PyList_New(0), *additions = PyList_New(0);
    for (size_t i = 0; sets != NULL && i < cellar_selection_n_sets(selection); i++) {
        const cellar_selection_set set = cellar_selection_set_at(selection, i);
        PyObject *columns = columns_of(profiles, set.columns);
        glue_append(&sets, columns != NULL
                               ? Py_BuildValue("(Ndd)", columns, set.weight, set.exposure)
                               : NULL);
    }
    for (size_t c = 0; additions != NULL && c < cellar_profiles_n_columns(profiles); c++)
        glue_append(&additions, Py_BuildValue("(sN)", cellar_profiles_column(profiles, c),
                                              glue_known(cellar_selection_with(selection, c))));
    if (sets != NULL && additions != NULL)
        return Py_BuildValue("(NNd)", sets, additions, cellar_selection_gap(selection));
    Py_XDECREF(sets);
    Py_XDECREF(additions);
    return NULL;
}

static int read_selection(PyObject *dict, cellar_selection_options *out, double **weights)
{
    size_t n;
    int failed = 0;
    *out = cellar_selection_options_default();
    out->progress = glue_progress();
    out->measure = (cellar_selection_measure) glue_choice(dict, "measure", &failed);
    out->k = glue_whole(dict, "k", 0, &failed);
    out->exposure = glue_real(dict, "exposure", out->exposure, &failed);
    out->population = glue_whole(dict, "population", 0, &failed);
    out->tolerance = glue_real(dict, "tolerance", out->tolerance, &failed);
    out->must = glue_whole(dict, "must", 0, &failed);
    out->must_not = glue_whole(dict, "must_not", 0, &failed);
    out->n_runners_up = (size_t) glue_whole(dict, "runners_up", 3, &failed);
    out->n_threads = glue_threads(dict, &failed);
    *weights = glue_reals(dict, "weights", &n, &failed);
    out->weights = *weights;
    return !failed;
}

/* select_columns(table, asked) -> ([(columns, weight, exposure)], [(column, exposure)], gap) */
static PyObject *select_columns(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict, *result = NULL;
    cellar_selection_options options;
    double *weights = NULL;
    cellar_profiles *profiles;
    if (!PyArg_ParseTuple(args, "OO", &handle, &dict) ||
        (profiles = profiles_of(module, handle, dict)) == NULL)
        return NULL;
    if (read_selection(dict, &options, &weights)) {
        cellar_selection *selection = NULL;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status =
            cellar_selection_create(profiles, &options, &selection, &err);
        Py_END_ALLOW_THREADS result = status == CELLAR_OK ? selection_of(profiles, selection)
                                                          : glue_fail(module, status, &err);
        cellar_selection_free(selection);
    }
    PyMem_Free(weights);
    cellar_profiles_free(profiles);
    return result;
}

/* ---- values ---------------------------------------------------------------------------- */

static PyObject *suppression_of(const cellar_profiles *profiles, const cellar_suppression *found)
{
    const cellar_suppression_summary s = cellar_suppression_summarise(found);
    const size_t n = cellar_profiles_n_columns(profiles);
    const double entries = (double) cellar_profiles_n_people(profiles) * (double) n;
    PyObject *rules = PyList_New(0), *chances = PyList_New(0);
    for (size_t i = 0; rules != NULL && i < cellar_suppression_n_rules(found); i++) {
        const cellar_suppression_rule rule = cellar_suppression_rule_at(found, i);
        glue_append(&rules,
                    Py_BuildValue("(ss)", cellar_profiles_column(profiles, rule.column),
                                  cellar_profiles_level(profiles, rule.column, rule.level)));
    }
    for (size_t c = 0; chances != NULL && c < n; c++)
        glue_append(&chances, Py_BuildValue("(sd)", cellar_profiles_column(profiles, c),
                                            cellar_suppression_chance(found, c)));
    if (rules != NULL && chances != NULL)
        return Py_BuildValue("(NNdddddO)", rules, chances, s.before, s.after_rules, s.after,
                             entries > 0 ? (double) s.lost_to_rules / entries : 0.0,
                             entries > 0 ? s.lost_to_chance / entries : 0.0,
                             s.met ? Py_True : Py_False);
    Py_XDECREF(rules);
    Py_XDECREF(chances);
    return NULL;
}

/* suppress_values(table, asked) -> (rules, chances, before, after rules, after, shares lost, met)
 */
static PyObject *suppress_values(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict, *result = NULL;
    cellar_suppression_options options = cellar_suppression_options_default();
    cellar_suppression *found = NULL;
    cellar_profiles *profiles;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "OO", &handle, &dict) ||
        (profiles = profiles_of(module, handle, dict)) == NULL)
        return NULL;
    options.k = glue_whole(dict, "k", 0, &failed);
    options.exposure = glue_real(dict, "exposure", options.exposure, &failed);
    options.hide = glue_real(dict, "hide", options.hide, &failed);
    if (!failed) {
        Py_BEGIN_ALLOW_THREADS status = cellar_suppression_create(profiles, &options, &found, &err);
        Py_END_ALLOW_THREADS result =
            status == CELLAR_OK ? suppression_of(profiles, found) : glue_fail(module, status, &err);
    }
    cellar_suppression_free(found);
    cellar_profiles_free(profiles);
    return result;
}

PyMethodDef glue_selection_methods[] = {
    {"select_columns", select_columns, METH_VARARGS, "Columns to publish together."},
    {"suppress_values", suppress_values, METH_VARARGS, "Values to redact."},
    {NULL, NULL, 0, NULL},
};
