/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is computed from true counts, risk and utility: confidential. */
#include "glue.h"

#include <math.h>
#include <string.h>

/* ---- risk ----------------------------------------------------------------------- */

typedef struct risk_asked {
    size_t known[CELLAR_MAX_VARIABLES], sensitive[CELLAR_MAX_VARIABLES];
    size_t n_known, n_sensitive, n_mechanisms, n_prior;
    const char **specs;
    const char *size;
    double *prior;
    cellar_size_model model;
    cellar_risk_options options;
} risk_asked;

static int risk_asked_init(PyObject *dict, risk_asked *a)
{
    int failed = 0;
    memset(a, 0, sizeof *a);
    a->options = cellar_risk_options_default();
    a->options.progress = glue_progress();
    a->n_known = glue_positions(dict, "known", a->known, &failed);
    a->n_sensitive = glue_positions(dict, "sensitive", a->sensitive, &failed);
    a->specs = glue_texts(dict, "mechanisms", &a->n_mechanisms, &failed);
    a->prior = glue_reals(dict, "prior", &a->n_prior, &failed);
    a->size = glue_text(dict, "size", &failed);
    a->options.measure = (cellar_risk_measure) glue_choice(dict, "measure", &failed);
    a->options.method = (cellar_risk_method) glue_choice(dict, "method", &failed);
    a->options.average = (cellar_risk_average) glue_choice(dict, "average", &failed);
    a->options.zeros_stay = glue_flag(dict, "zeros_stay", &failed);
    a->options.copies = glue_whole(dict, "copies", 500, &failed);
    a->options.seed = glue_whole(dict, "seed", 1, &failed);
    a->options.n_threads = glue_threads(dict, &failed);
    return !failed && !PyErr_Occurred();
}

static void risk_asked_clear(risk_asked *a)
{
    PyMem_Free((void *) a->specs);
    PyMem_Free(a->prior);
}

/* A size model with parameters, or fitted to the groups where only its name is given. */
static cellar_status size_model(const cellar_groups *groups, const char *text,
                                cellar_size_model *out, cellar_error *err)
{
    cellar_hyper_fit fit;
    for (int family = 0; family < 2; family++)
        for (int zeros = 0; zeros < 3; zeros++) {
            const cellar_size_model model = {(cellar_size_family) family, (cellar_size_zeros) zeros,
                                             0, 0, 0};
            if (strcmp(text, cellar_size_model_name(&model)) == 0)
                return cellar_size_fit(groups, model.family, model.zeros, out, &fit, err);
        }
    return cellar_size_model_parse(text, out, err);
}

/* Prior and size model, fitted where the measure needs them and none was given. */
static cellar_status hyper(const cellar_groups *groups, risk_asked *a, cellar_error *err)
{
    const cellar_risk_measure measure = a->options.measure;
    const int has_prior = measure == CELLAR_RISK_SHRINKAGE || measure == CELLAR_RISK_GLOBAL;
    const int has_size = measure == CELLAR_RISK_GLOBAL || measure == CELLAR_RISK_GLOBAL_FIXED;
    const size_t n = cellar_groups_n_values(groups);
    cellar_hyper_fit fit;
    cellar_status status = CELLAR_OK;

    if (has_prior && a->prior != NULL && a->n_prior != n) {
        PyOS_snprintf(err->message, sizeof err->message, "the prior has %zu numbers for %zu values",
                      a->n_prior, n);
        return CELLAR_ERR_ARGUMENT;
    }
    if (has_prior && a->prior == NULL) {
        a->prior = PyMem_Calloc(n + 1, sizeof *a->prior);
        if (a->prior == NULL) {
            PyOS_snprintf(err->message, sizeof err->message, "not enough memory for a prior");
            return CELLAR_ERR_MEMORY;
        }
        status = cellar_prior_fit(groups, a->prior, &fit, err);
    }
    if (has_prior)
        a->options.prior = a->prior;
    if (status == CELLAR_OK && has_size) {
        status = size_model(groups, a->size != NULL ? a->size : "zero-truncated-poisson", &a->model,
                            err);
        a->options.model = &a->model;
    }
    return status;
}

static PyObject *summary_of(const cellar_mechanism *mechanism, const cellar_risk_summary *s)
{
    PyObject *scenarios = PyList_New(0), *quantiles = PyList_New(0);
    for (size_t i = 0; i < CELLAR_RISK_N_SCENARIOS; i++)
        glue_append(&scenarios, glue_known(s->mean.scenario[i]));
    for (size_t i = 0; i < CELLAR_RISK_N_QUANTILES; i++)
        glue_append(&quantiles,
                    Py_BuildValue("(dd)", cellar_risk_quantile_level(i), s->quantiles[i]));
    return Py_BuildValue("{s:s,s:d,s:N,s:N,s:N,s:N,s:N,s:N,s:d,s:N,s:d,s:d,s:N}", "mechanism",
                         cellar_mechanism_spec(mechanism), "value", s->mean.value, "scenarios",
                         scenarios, "claim", glue_known(s->mean.claim), "right",
                         glue_known(s->mean.right), "false_claim", glue_known(s->mean.false_claim),
                         "precision", glue_known(s->mean.precision), "quantiles", quantiles,
                         "maximum", s->maximum, "sd", glue_known(s->sd), "original", s->original,
                         "baseline", s->baseline, "difference", glue_known(s->difference));
}

static cellar_status assess(const cellar_table *table, risk_asked *a, cellar_groups **groups,
                            cellar_mechanism **mechanisms, cellar_risk_summary *found,
                            cellar_error *err)
{
    cellar_status status = cellar_groups_create(table, a->known, a->n_known, a->sensitive,
                                                a->n_sensitive, groups, err);
    for (size_t i = 0; status == CELLAR_OK && i < a->n_mechanisms; i++)
        status = cellar_mechanism_create(a->specs[i], &mechanisms[i], err);
    if (status == CELLAR_OK)
        status = hyper(*groups, a, err);
    if (status == CELLAR_OK)
        status = cellar_risk_assess(*groups, (const cellar_mechanism *const *) mechanisms,
                                    a->n_mechanisms, &a->options, found, err);
    return status;
}

/* risk(table, asked) -> a dict for each mechanism */
static PyObject *risk(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict, *list = NULL;
    const cellar_table *table;
    cellar_groups *groups = NULL;
    cellar_mechanism **mechanisms = NULL;
    cellar_risk_summary *found = NULL;
    cellar_error err;
    cellar_status status;
    risk_asked a;

    if (!PyArg_ParseTuple(args, "OO", &handle, &dict))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL || !risk_asked_init(dict, &a))
        return NULL;
    mechanisms = PyMem_Calloc(a.n_mechanisms + 1, sizeof(cellar_mechanism *));
    found = PyMem_Calloc(a.n_mechanisms + 1, sizeof *found);
    if (mechanisms == NULL || found == NULL)
        PyErr_NoMemory();
    else {
        status = assess(table, &a, &groups, mechanisms, found, &err);
        list = status == CELLAR_OK ? PyList_New(0) : glue_fail(module, status, &err);
        for (size_t i = 0; list != NULL && i < a.n_mechanisms; i++)
            glue_append(&list, summary_of(mechanisms[i], &found[i]));
        for (size_t i = 0; i < a.n_mechanisms; i++)
            cellar_mechanism_free(mechanisms[i]);
    }
    PyMem_Free(mechanisms);
    PyMem_Free(found);
    cellar_groups_free(groups);
    risk_asked_clear(&a);
    return list;
}

/* ---- the most exposed groups ------------------------------------------------------ */

typedef struct ranking {
    const cellar_schema *schema;
    const risk_asked *asked;
    PyObject *list;
    size_t n, most;
} ranking;

static int add_group(void *context, const cellar_exposed_group *group)
{
    ranking *r = context;
    PyObject *codes = PyList_New(0);
    for (size_t v = 0; codes != NULL && v < r->asked->n_known; v++)
        glue_append(&codes, PyUnicode_FromString(cellar_schema_code(r->schema, r->asked->known[v],
                                                                    group->categories[v])));
    glue_append(&r->list, codes == NULL
                              ? NULL
                              : Py_BuildValue("(NKnd)", codes, (unsigned long long) group->size,
                                              (Py_ssize_t) group->n_present, group->value));
    r->n++;
    return r->list == NULL || r->n == r->most;
}

/* exposed(table, asked, most) -> [(codes, size, values present, local risk)], the worst first */
static PyObject *exposed(PyObject *module, PyObject *args)
{
    PyObject *handle, *dict;
    unsigned long long most;
    const cellar_table *table;
    cellar_groups *groups = NULL;
    cellar_mechanism *mechanism = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    ranking r = {0};
    risk_asked a;

    if (!PyArg_ParseTuple(args, "OOK", &handle, &dict, &most))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    if (table == NULL || !risk_asked_init(dict, &a))
        return NULL;
    r = (ranking){cellar_table_schema(table), &a, PyList_New(0), 0, (size_t) most};
    status =
        cellar_groups_create(table, a.known, a.n_known, a.sensitive, a.n_sensitive, &groups, &err);
    if (status == CELLAR_OK)
        status = cellar_mechanism_create(a.n_mechanisms > 0 ? a.specs[0] : "", &mechanism, &err);
    if (status == CELLAR_OK && r.list != NULL && most > 0)
        status = cellar_risk_rank(groups, mechanism, a.options.zeros_stay, add_group, &r, &err);
    if (status != CELLAR_OK && status != CELLAR_ERR_CANCELLED) {
        Py_CLEAR(r.list);
        glue_fail(module, status, &err);
    }
    cellar_mechanism_free(mechanism);
    cellar_groups_free(groups);
    risk_asked_clear(&a);
    return r.list;
}

/* ---- utility ---------------------------------------------------------------------- */

static PyObject *result_of(const cellar_utility_result *r)
{
    return Py_BuildValue("{s:s,s:z,s:L,s:O,s:L,s:K,s:K,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N,s:N}",
                         "measure", r->measure, "variables", r->variables, "count",
                         (long long) r->count, "above", r->is_above ? Py_True : Py_False, "radius",
                         (long long) r->radius, "cells", (unsigned long long) r->cells, "copies",
                         (unsigned long long) r->copies, "original", glue_known(r->original),
                         "mean", glue_known(r->mean), "sd", glue_known(r->sd), "expected",
                         glue_known(r->expected), "minimum", glue_known(r->minimum), "quartile_1",
                         glue_known(r->quartile_1), "median", glue_known(r->median), "quartile_3",
                         glue_known(r->quartile_3), "maximum", glue_known(r->maximum));
}

static PyObject *distance_of(const cellar_utility_distance *d)
{
    PyObject *quantiles = PyList_New(0);
    for (size_t i = 0; i < CELLAR_UTILITY_N_DISTANCE_LEVELS; i++)
        glue_append(&quantiles, Py_BuildValue("(dN)", cellar_utility_distance_level(i),
                                              glue_known(d->quantiles[i])));
    return Py_BuildValue("{s:s,s:O,s:K,s:N,s:N}", "measure", d->measure, "all",
                         d->is_all ? Py_True : Py_False, "cells", (unsigned long long) d->n, "mean",
                         glue_known(d->mean), "quantiles", quantiles);
}

static PyObject *utility_of(const cellar_utility *u)
{
    const cellar_association a = cellar_utility_original(u);
    PyObject *results = PyList_New(0), *distances = PyList_New(0), *notes = PyList_New(0);
    for (size_t i = 0; i < cellar_utility_n_results(u); i++)
        glue_append(&results, result_of(cellar_utility_result_at(u, i)));
    for (size_t i = 0; i < cellar_utility_n_distances(u); i++)
        glue_append(&distances, distance_of(cellar_utility_distance_at(u, i)));
    for (size_t i = 0; i < cellar_utility_n_notes(u); i++)
        glue_append(&notes, PyUnicode_FromString(cellar_utility_note(u, i)));
    return Py_BuildValue(
        "{s:s,s:K,s:K,s:N,s:N,s:N,s:N,s:N,s:N,s:N}", "mechanism", cellar_utility_mechanism(u),
        "copies", (unsigned long long) cellar_utility_n_copies(u), "cells",
        (unsigned long long) cellar_utility_n_cells(u), "chi_square", glue_known(a.chi_square),
        "df", glue_known(a.df), "cramers_v", glue_known(a.cramers_v), "p_value",
        glue_known(a.p_chi_square), "results", results, "distances", distances, "notes", notes);
}

static cellar_status compare(const cellar_table *table, const char *spec,
                             const cellar_release *release, const char *path,
                             const cellar_utility_options *options, cellar_utility **out,
                             cellar_error *err)
{
    if (release != NULL)
        return cellar_utility_compare(table, release, options, out, err);
    return path != NULL ? cellar_utility_compare_file(table, path, NULL, options, out, err)
                        : cellar_utility_assess(table, spec, options, out, err);
}

/* utility(table, mechanism or None, release or None, file or None, options) */
static PyObject *utility(PyObject *module, PyObject *args)
{
    PyObject *handle, *released, *dict, *result;
    const char *spec, *path, *negatives;
    const cellar_table *table;
    const cellar_release *release;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *found = NULL;
    cellar_error err;
    cellar_status status;
    int failed = 0;

    if (!PyArg_ParseTuple(args, "OzOzO", &handle, &spec, &released, &path, &dict))
        return NULL;
    table = glue_object(handle, HANDLE_TABLE, 0);
    release = glue_object(released, HANDLE_RELEASE, 1);
    negatives = glue_text(dict, "negatives", &failed);
    if (negatives != NULL && !cellar_negatives_find(negatives, &options.negatives))
        PyErr_SetString(PyExc_ValueError, "negatives is keep or zero");
    options.progress = glue_progress();
    options.threshold = glue_number(dict, "threshold", 0, &failed);
    options.copies = glue_whole(dict, "copies", 100, &failed);
    options.seed = glue_whole(dict, "seed", 1, &failed);
    options.max_ways = (size_t) glue_whole(dict, "max_ways", 3, &failed);
    options.n_threads = glue_threads(dict, &failed);
    if (table == NULL || failed || PyErr_Occurred())
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = compare(table, spec, release, path, &options, &found, &err);
    Py_END_ALLOW_THREADS result =
        status == CELLAR_OK ? utility_of(found) : glue_fail(module, status, &err);
    cellar_utility_free(found);
    return result;
}

PyMethodDef glue_assess_methods[] = {
    {"risk", risk, METH_VARARGS, "Risks of a table: confidential."},
    {"exposed", exposed, METH_VARARGS, "The most exposed groups: confidential."},
    {"utility", utility, METH_VARARGS, "What analysts lose: confidential."},
    {NULL, NULL, 0, NULL},
};
