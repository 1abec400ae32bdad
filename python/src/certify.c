/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates and mechanisms, without any data. */
#include "glue.h"

static PyObject *points_of(const cellar_certificate *certificate)
{
    const size_t n = cellar_certificate_n_points(certificate);
    PyObject *list = PyList_New((Py_ssize_t) n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        const cellar_profile_point p = cellar_certificate_point(certificate, i);
        PyObject *point = Py_BuildValue("(ddd)", p.epsilon, p.delta, p.delta_lower);
        if (point == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t) i, point);
    }
    return list;
}

static PyObject *epsilons_of(const cellar_certificate *certificate)
{
    const size_t n = cellar_certificate_n_epsilons(certificate);
    PyObject *list = PyList_New((Py_ssize_t) n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        const cellar_epsilon_at e = cellar_certificate_epsilon_at(certificate, i);
        PyObject *point = Py_BuildValue("(ddd)", e.delta, e.epsilon, e.lower);
        if (point == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t) i, point);
    }
    return list;
}

static PyObject *warnings_of(const cellar_certificate *certificate)
{
    PyObject *list = PyList_New(0);
    const char *warning;
    for (size_t i = 0; list != NULL && (warning = cellar_certificate_warning(certificate, i));
         i++) {
        PyObject *text = PyUnicode_FromString(warning);
        if (text == NULL || PyList_Append(list, text) < 0)
            Py_CLEAR(list);
        Py_XDECREF(text);
    }
    return list;
}

PyObject *glue_certificate(const cellar_certificate *certificate)
{
    const cellar_composition all = cellar_certificate_composition(certificate);
    return Py_BuildValue(
        "(szdzdNNN)", cellar_verdict_name(cellar_certificate_verdict(certificate)),
        cellar_certificate_reason(certificate), cellar_certificate_pure_epsilon(certificate),
        cellar_certificate_pure_exact(certificate), all.rho, points_of(certificate),
        epsilons_of(certificate), warnings_of(certificate));
}

static int read_options(PyObject *dict, cellar_certify_options *out, const char ***epsilons,
                        const char ***deltas)
{
    int failed = 0;
    const char *negatives = glue_text(dict, "negatives", &failed);
    const char *neighbours = glue_text(dict, "neighbours", &failed);
    *out = cellar_certify_options_default();
    if (negatives != NULL && !cellar_negatives_find(negatives, &out->negatives)) {
        PyErr_SetString(PyExc_ValueError, "negatives is keep or zero");
        failed = 1;
    }
    if (neighbours != NULL && !cellar_neighbours_find(neighbours, &out->neighbours)) {
        PyErr_SetString(PyExc_ValueError, "neighbours is add-remove or substitute");
        failed = 1;
    }
    out->n_cells = glue_whole(dict, "cells", 1, &failed);
    out->max_per_unit = glue_whole(dict, "per_unit", 1, &failed);
    out->max_weight = glue_whole(dict, "max_weight", 1, &failed);
    out->population = glue_whole(dict, "population", 0, &failed);
    out->unit = glue_text(dict, "unit", &failed);
    *epsilons = glue_texts(dict, "epsilons", &out->n_epsilons, &failed);
    *deltas = glue_texts(dict, "deltas", &out->n_deltas, &failed);
    out->epsilons = *epsilons;
    out->deltas = *deltas;
    return !failed && !PyErr_Occurred();
}

static PyObject *certify(PyObject *module, PyObject *args)
{
    const char *spec, **epsilons = NULL, **deltas = NULL;
    PyObject *dict, *result = NULL;
    cellar_certify_options options;
    if (!PyArg_ParseTuple(args, "sO", &spec, &dict))
        return NULL;
    if (read_options(dict, &options, &epsilons, &deltas)) {
        cellar_mechanism *mechanism = NULL;
        cellar_certificate *certificate = NULL;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status = cellar_mechanism_create(spec, &mechanism, &err);
        if (status == CELLAR_OK) {
            const cellar_certify_part part = {mechanism, 1};
            status = cellar_certify(&part, 1, &options, &certificate, &err);
        }
        Py_END_ALLOW_THREADS result =
            status == CELLAR_OK ? glue_certificate(certificate) : glue_fail(module, status, &err);
        cellar_certificate_free(certificate);
        cellar_mechanism_free(mechanism);
    }
    PyMem_Free((void *) epsilons);
    PyMem_Free((void *) deltas);
    return result;
}

/* membership(spec, options, level) -> power */
static PyObject *membership(PyObject *module, PyObject *args)
{
    const char *spec, **epsilons = NULL, **deltas = NULL;
    double level, power = 0;
    PyObject *dict, *result = NULL;
    cellar_certify_options options;
    if (!PyArg_ParseTuple(args, "sOd", &spec, &dict, &level))
        return NULL;
    if (read_options(dict, &options, &epsilons, &deltas)) {
        cellar_mechanism *m = NULL;
        cellar_error err;
        cellar_status status;
        Py_BEGIN_ALLOW_THREADS status = cellar_mechanism_create(spec, &m, &err);
        if (status == CELLAR_OK) {
            const cellar_certify_part part = {m, 1};
            status = cellar_membership_power(&part, 1, &options, level, &power, &err);
        }
        Py_END_ALLOW_THREADS result =
            status == CELLAR_OK ? PyFloat_FromDouble(power) : glue_fail(module, status, &err);
        cellar_mechanism_free(m);
    }
    PyMem_Free((void *) epsilons);
    PyMem_Free((void *) deltas);
    return result;
}

/* The canonical spec, then mean, variance, entropy and presence at a count. */
static PyObject *mechanism(PyObject *module, PyObject *args)
{
    const char *spec, *negatives;
    long long count;
    cellar_mechanism *m = NULL;
    cellar_negatives how = CELLAR_NEGATIVES_KEEP;
    cellar_moments moments;
    cellar_error err;
    cellar_status status;
    PyObject *result;
    if (!PyArg_ParseTuple(args, "sLs", &spec, &count, &negatives))
        return NULL;
    if (!cellar_negatives_find(negatives, &how)) {
        PyErr_SetString(PyExc_ValueError, "negatives is keep or zero");
        return NULL;
    }
    status = cellar_mechanism_create(spec, &m, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    cellar_mechanism_moments(m, count, how, &moments);
    result = Py_BuildValue("(sdddd)", cellar_mechanism_spec(m), moments.mean, moments.variance,
                           moments.entropy, moments.presence);
    cellar_mechanism_free(m);
    return result;
}

static PyObject *pmf(PyObject *module, PyObject *args)
{
    const char *spec;
    long long count, first, last;
    cellar_mechanism *m = NULL;
    cellar_error err;
    cellar_status status;
    PyObject *list;
    if (!PyArg_ParseTuple(args, "sLLL", &spec, &count, &first, &last))
        return NULL;
    if (last < first || (unsigned long long) last - (unsigned long long) first > 10000000) {
        PyErr_SetString(PyExc_ValueError, "ask for 1 to 10000000 values, in order");
        return NULL;
    }
    status = cellar_mechanism_create(spec, &m, &err);
    if (status != CELLAR_OK)
        return glue_fail(module, status, &err);
    list = PyList_New((Py_ssize_t) (last - first + 1));
    for (long long value = first; list != NULL && value <= last; value++)
        PyList_SetItem(list, (Py_ssize_t) (value - first),
                       PyFloat_FromDouble(cellar_mechanism_pmf(m, count, value)));
    cellar_mechanism_free(m);
    return list;
}

PyMethodDef glue_certify_methods[] = {
    {"certify", certify, METH_VARARGS, "The certificate of a mechanism."},
    {"membership", membership, METH_VARARGS, "The power that no attacker's test exceeds."},
    {"mechanism", mechanism, METH_VARARGS, "A mechanism at a count."},
    {"pmf", pmf, METH_VARARGS, "Probabilities of released values."},
    {NULL, NULL, 0, NULL},
};
