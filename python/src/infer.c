/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What released values say about counts: intervals, and tests that know the noise. */
#include "glue.h"

#include <math.h>

/* ---- intervals ---------------------------------------------------------------------- */

/* The releases of a list of handles, to be freed with PyMem_Free(); NULL: an exception is set. */
static const cellar_release **releases_of(PyObject *list, size_t *n)
{
    const Py_ssize_t size = PyList_Size(list);
    const cellar_release **releases;
    if (size < 0)
        return NULL;
    releases = PyMem_Calloc((size_t) size + 1, sizeof *releases);
    if (releases == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t i = 0; releases != NULL && i < size; i++) {
        releases[i] = glue_object(PyList_GetItem(list, i), HANDLE_RELEASE, 0);
        if (releases[i] == NULL) {
            PyMem_Free((void *) releases);
            return NULL;
        }
    }
    *n = (size_t) size;
    return releases;
}

/* From all values of the releases together where that is wanted and can be done; of one release
 * else from those of one margin. */
static cellar_status find_interval(const cellar_release **releases, size_t n, const char *of,
                                   cellar_comparison comparison, const char *other,
                                   const cellar_interval_options *options, int *pooled,
                                   cellar_interval *out, cellar_error *err)
{
    const int can_pool =
        comparison == CELLAR_COMPARE_NONE || comparison == CELLAR_COMPARE_DIFFERENCE;
    const int wanted = *pooled && can_pool;
    cellar_interval fitted;
    cellar_status status =
        cellar_release_interval(releases[0], of, comparison, other, options, out, err);
    *pooled = 0;
    if (status != CELLAR_OK || !wanted)
        return status;
    status = cellar_interval_fitted(releases, n, of, other, options, &fitted, err);
    if (status == CELLAR_ERR_RULE && n == 1)
        return CELLAR_OK;
    if (status != CELLAR_OK)
        return status;
    fitted.naive = out->naive;
    *out = fitted;
    *pooled = 1;
    return status;
}

/* release_interval(releases, of, comparison, other, target, prior, confidence, pooled): the
 * interval, and whether it is pooled */
static PyObject *release_interval(PyObject *module, PyObject *args)
{
    PyObject *list;
    const char *of, *other;
    int comparison, target, prior, pooled;
    size_t n;
    const cellar_release **releases;
    cellar_interval_options options = cellar_interval_options_default();
    cellar_interval found;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Osiziidp", &list, &of, &comparison, &other, &target, &prior,
                          &options.confidence, &pooled))
        return NULL;
    releases = releases_of(list, &n);
    if (releases == NULL)
        return NULL;
    options.target = (cellar_interval_target) target;
    options.prior = (cellar_prior) prior;
    Py_BEGIN_ALLOW_THREADS status = find_interval(releases, n, of, (cellar_comparison) comparison,
                                                  other, &options, &pooled, &found, &err);
    Py_END_ALLOW_THREADS PyMem_Free((void *) releases);
    return status == CELLAR_OK
               ? Py_BuildValue("(dddddOO)", found.estimate, found.low, found.high, found.confidence,
                               found.naive, found.conservative ? Py_True : Py_False,
                               pooled ? Py_True : Py_False)
               : glue_fail(module, status, &err);
}

/* ---- tests ---------------------------------------------------------------------------- */

/* What is tested, and how. */
typedef struct test_asked {
    const char *model, *against;
    cellar_test_options options;
    double confidence;
    int with_association;
} test_asked;

static int test_asked_init(PyObject *dict, test_asked *a)
{
    int failed = 0;
    a->options = cellar_test_options_default();
    a->options.progress = glue_progress();
    a->model = glue_needed_text(dict, "model", &failed);
    a->against = glue_text(dict, "against", &failed);
    a->options.reference = (cellar_reference) glue_choice(dict, "reference", &failed);
    a->options.n_replicates = glue_whole(dict, "replicates", 999, &failed);
    a->options.seed = glue_whole(dict, "seed", 1, &failed);
    a->options.with_residuals = glue_flag(dict, "residuals", &failed);
    a->options.n_threads = glue_threads(dict, &failed);
    a->confidence = glue_real(dict, "confidence", 0.95, &failed);
    a->with_association = glue_flag(dict, "association", &failed);
    return !failed;
}

/* The table that is tested: variables of a release by position, or of a cube by name. */
static cellar_status noisy_of(PyObject *release, PyObject *cube, PyObject *dict, cellar_noisy **out,
                              int *failed, cellar_error *err)
{
    size_t positions[CELLAR_MAX_VARIABLES], n;
    cellar_cube_side sides[CELLAR_MAX_VARIABLES] = {0};
    const cellar_release *from = glue_object(release, HANDLE_RELEASE, 1);
    const cellar_cube *whole = glue_object(cube, HANDLE_CUBE, 1);
    const char **names;
    cellar_status status;

    if (from != NULL) {
        n = glue_positions(dict, "variables", positions, failed);
        return *failed ? CELLAR_OK : cellar_noisy_from_release(from, positions, n, out, err);
    }
    names = glue_texts(dict, "names", &n, failed);
    if (whole == NULL || *failed || n > CELLAR_MAX_VARIABLES) {
        PyMem_Free((void *) names);
        *failed = 1;
        return CELLAR_OK;
    }
    for (size_t i = 0; i < n; i++)
        sides[i].variable = names[i];
    status = cellar_noisy_from_cube(whole, sides, n, out, err);
    PyMem_Free((void *) names);
    return status;
}

static PyObject *test_of(cellar_test t)
{
    return Py_BuildValue("{s:d,s:N,s:d,s:d,s:d,s:d}", "statistic", t.statistic, "pearson",
                         glue_known(t.pearson), "df", t.df, "p_value", t.p_value,
                         "chi_square_p_value", t.chi_square_p_value, "total", t.total);
}

static PyObject *cells_of(const cellar_noisy *noisy, const cellar_loglinear *test)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < cellar_noisy_n_cells(noisy); i++) {
        const cellar_loglinear_cell cell = cellar_loglinear_cell_at(test, i);
        PyObject *codes = PyList_New(0);
        size_t left = cellar_noisy_n_cells(noisy), at = i;
        for (size_t v = 0; codes != NULL && v < cellar_noisy_n_variables(noisy); v++) {
            left /= cellar_noisy_n_levels(noisy, v); /* the last variable runs fastest */
            glue_append(&codes, PyUnicode_FromString(cellar_noisy_code(noisy, v, at / left)));
            at %= left;
        }
        glue_append(&list, codes == NULL
                               ? NULL
                               : Py_BuildValue("(NLdN)", codes,
                                               (long long) cellar_noisy_released(noisy, i),
                                               cell.expected, glue_known(cell.residual)));
    }
    return list;
}

static PyObject *interval_of(cellar_interval_estimate e)
{
    return Py_BuildValue("(ddd)", e.value, e.low, e.high);
}

/* Cramer's V, and the odds ratios against the levels with the largest totals. */
static PyObject *association_of(PyObject *module, const cellar_noisy *noisy, const test_asked *a)
{
    const size_t row = cellar_noisy_largest_level(noisy, 0);
    const size_t column = cellar_noisy_largest_level(noisy, 1);
    cellar_interval_estimate v, aware, naive;
    double naive_v;
    PyObject *list = PyList_New(0);
    cellar_error err;
    cellar_status status = cellar_cramers_v(noisy, a->confidence, &a->options, &v, &naive_v, &err);
    for (size_t r = 0; status == CELLAR_OK && r < cellar_noisy_n_levels(noisy, 0); r++)
        for (size_t c = 0; status == CELLAR_OK && c < cellar_noisy_n_levels(noisy, 1); c++) {
            if (r == row || c == column)
                continue;
            status =
                cellar_odds_ratio(noisy, (const size_t[2]){r, row}, (const size_t[2]){c, column},
                                  a->confidence, &aware, &naive, &err);
            if (status == CELLAR_OK)
                glue_append(&list, Py_BuildValue("(ssssNN)", cellar_noisy_code(noisy, 0, r),
                                                 cellar_noisy_code(noisy, 0, row),
                                                 cellar_noisy_code(noisy, 1, c),
                                                 cellar_noisy_code(noisy, 1, column),
                                                 interval_of(aware), interval_of(naive)));
        }
    if (status == CELLAR_OK)
        return Py_BuildValue("(NdN)", interval_of(v), naive_v, list);
    Py_XDECREF(list);
    return glue_fail(module, status, &err);
}

/* test(release or None, cube or None, asked) */
static PyObject *test(PyObject *module, PyObject *args)
{
    PyObject *release, *cube, *dict, *association = Py_None, *result = NULL;
    cellar_noisy *noisy = NULL;
    cellar_loglinear *found = NULL;
    cellar_error err;
    cellar_status status;
    test_asked a;
    int failed = 0;

    if (!PyArg_ParseTuple(args, "OOO", &release, &cube, &dict) || !test_asked_init(dict, &a))
        return NULL;
    status = noisy_of(release, cube, dict, &noisy, &failed, &err);
    if (status == CELLAR_OK && !failed) {
        Py_BEGIN_ALLOW_THREADS status =
            cellar_loglinear_create(noisy, a.model, a.against, &a.options, &found, &err);
        Py_END_ALLOW_THREADS
    }
    if (failed && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected a release or a cube, and its variables");
    else if (status != CELLAR_OK)
        glue_fail(module, status, &err);
    else if (!failed && a.with_association)
        association = association_of(module, noisy, &a);
    if (found != NULL && association != NULL && !PyErr_Occurred()) {
        const cellar_test_quality q = cellar_loglinear_quality(found);
        result =
            Py_BuildValue("{s:N,s:N,s:N,s:O,s:d,s:d,s:K,s:O,s:O}", "aware",
                          test_of(cellar_loglinear_aware(found)), "naive",
                          test_of(cellar_loglinear_naive(found)), "cells", cells_of(noisy, found),
                          "converged", q.converged && q.same_from_all_starts ? Py_True : Py_False,
                          "smallest_expected", q.smallest_expected, "information", q.information,
                          "failed", (unsigned long long) q.n_failed, "chi_square_is_off",
                          q.chi_square_is_off ? Py_True : Py_False, "association", association);
    }
    if (association != Py_None)
        Py_XDECREF(association);
    cellar_loglinear_free(found);
    cellar_noisy_free(noisy);
    return result;
}

static PyObject *binomial_of(cellar_binomial_test t)
{
    return Py_BuildValue("(ddNd)", t.statistic, t.p_value, glue_known(t.exact_p_value), t.estimate);
}

/* binomial(released, options) */
static PyObject *binomial(PyObject *module, PyObject *args)
{
    PyObject *dict;
    long long released;
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    const char *negatives;
    cellar_binomial found;
    cellar_error err;
    cellar_status status;
    int failed = 0;
    if (!PyArg_ParseTuple(args, "LO", &released, &dict))
        return NULL;
    spec.n_trials = glue_whole(dict, "trials", 0, &failed);
    spec.null = glue_real(dict, "null", NAN, &failed);
    spec.alternative = glue_real(dict, "alternative", NAN, &failed);
    spec.level = glue_real(dict, "level", 0.05, &failed);
    spec.mechanism = glue_needed_text(dict, "mechanism", &failed);
    negatives = glue_text(dict, "negatives", &failed);
    if (negatives != NULL && !cellar_negatives_find(negatives, &spec.negatives))
        PyErr_SetString(PyExc_ValueError, "negatives is keep or zero");
    if (failed || PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_binomial_run(&spec, released, &found, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK
        ? Py_BuildValue("{s:N,s:N,s:N,s:N,s:N}", "aware", binomial_of(found.aware), "naive",
                        binomial_of(found.naive), "critical_value",
                        glue_known(found.critical_value), "level", glue_known(found.exact_level),
                        "power", glue_known(found.power))
        : glue_fail(module, status, &err);
}

PyMethodDef glue_infer_methods[] = {
    {"release_interval", release_interval, METH_VARARGS, "An interval."},
    {"test", test, METH_VARARGS, "A log-linear model of a released table."},
    {"binomial", binomial, METH_VARARGS, "One released value of known trials."},
    {NULL, NULL, 0, NULL},
};
