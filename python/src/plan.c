/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans: checking, comparing, running; and the cube of a plan. */
#include "glue.h"

static PyObject *read_plan(PyObject *module, PyObject *args)
{
    const char *path;
    cellar_plan *plan = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "s", &path))
        return NULL;
    status = cellar_plan_read(path, &plan, &err);
    return status == CELLAR_OK ? glue_handle(module, HANDLE_PLAN, plan)
                               : glue_fail(module, status, &err);
}

/* (title or None, [names of tables], folder or None, cube file or None) */
static PyObject *plan_about(PyObject *module, PyObject *args)
{
    PyObject *handle, *list;
    const cellar_plan *plan;
    (void) module;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    list = plan != NULL ? PyList_New(0) : NULL;
    for (size_t t = 0; list != NULL && t < cellar_plan_n_tables(plan); t++)
        glue_append(&list, PyUnicode_FromString(cellar_plan_table_name(plan, t)));
    return list == NULL ? NULL
                        : Py_BuildValue("(zNzz)", cellar_plan_title(plan), list,
                                        cellar_plan_folder(plan), cellar_plan_cube_file(plan));
}

static PyObject *texts_of(const char *const *texts, size_t n)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < n; i++)
        glue_append(&list, PyUnicode_FromString(texts[i]));
    return list;
}

/* ---- checking and comparing -------------------------------------------------------------- */

static PyObject *cells_of(const cellar_plan_table *table)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; i < table->n_cells_groups; i++) {
        const cellar_plan_cells *c = &table->cells[i];
        glue_append(&list,
                    Py_BuildValue("{s:s,s:O,s:O,s:K,s:d,s:d,s:d,s:d,s:d,s:d}", "margin", c->margin,
                                  "inner", c->is_inner ? Py_True : Py_False, "summed",
                                  c->is_summed ? Py_True : Py_False, "cells",
                                  (unsigned long long) c->n_cells, "sd_low", c->sd_low, "sd_high",
                                  c->sd_high, "bias", c->bias, "sum_bias", c->sum_bias, "sum_sd",
                                  c->sum_sd, "false_positives", c->false_positives));
    }
    return list;
}

static PyObject *figures_of(const cellar_plan_figures *f)
{
    PyObject *tables = PyList_New(0);
    for (size_t t = 0; t < f->n_tables; t++) {
        const cellar_plan_table *table = &f->tables[t];
        glue_append(&tables,
                    Py_BuildValue("{s:s,s:s,s:z,s:K,s:K,s:d,s:d,s:N}", "name", table->name,
                                  "mechanism", table->mechanism, "epsilon", table->epsilon,
                                  "cells_per_record", (unsigned long long) table->cells_per_record,
                                  "cells", (unsigned long long) table->n_cells, "rows", table->rows,
                                  "false_positives", table->false_positives, "margins",
                                  cells_of(table)));
    }
    return Py_BuildValue(
        "{s:N,s:K,s:K,s:O,s:N,s:N,s:N}", "tables", tables, "cells_per_record",
        (unsigned long long) f->cells_per_record, "cells", (unsigned long long) f->n_cells,
        "confidential", f->is_confidential ? Py_True : Py_False, "certificate",
        f->certificate != NULL ? glue_certificate(f->certificate) : Py_NewRef(Py_None), "refusals",
        texts_of(f->refusals, f->n_refusals), "remarks", texts_of(f->remarks, f->n_remarks));
}

/* check_plan(plan, without counts, threads) */
static PyObject *check_plan(PyObject *module, PyObject *args)
{
    PyObject *handle, *result;
    const cellar_plan *plan;
    cellar_plan_options options = cellar_plan_options_default();
    cellar_plan_figures *figures = NULL;
    cellar_error err;
    cellar_status status;
    options.progress = glue_progress();
    if (!PyArg_ParseTuple(args, "Opi", &handle, &options.without_counts, &options.n_threads))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    if (plan == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_plan_check(plan, &options, &figures, &err);
    Py_END_ALLOW_THREADS result =
        status == CELLAR_OK ? figures_of(figures) : glue_fail(module, status, &err);
    cellar_plan_figures_free(figures);
    return result;
}

static PyObject *comparison_of(const cellar_plan_comparison *c)
{
    PyObject *targets = PyList_New(0), *strategies = PyList_New(0);
    for (size_t t = 0; t < c->n_targets; t++)
        glue_append(&targets, Py_BuildValue("(ssKd)", c->targets[t].table, c->targets[t].margin,
                                            (unsigned long long) c->targets[t].n_cells,
                                            c->targets[t].weight));
    for (size_t i = 0; i < c->n_strategies; i++) {
        const cellar_plan_strategy *s = &c->strategies[i];
        PyObject *sd = PyList_New(0);
        for (size_t t = 0; t < c->n_targets; t++)
            glue_append(&sd, s->is_possible ? glue_known(s->sd[t]) : Py_NewRef(Py_None));
        glue_append(&strategies,
                    Py_BuildValue("{s:s,s:s,s:O,s:N,s:N,s:N}", "name", s->name, "about", s->about,
                                  "possible", s->is_possible ? Py_True : Py_False, "sd", sd, "loss",
                                  glue_known(s->loss), "margins_loss",
                                  glue_known(s->margins_loss)));
    }
    return Py_BuildValue("{s:s,s:s,s:N,s:N,s:n,s:s}", "budget", c->budget, "unit",
                         c->is_rho ? "rho" : "epsilon", "targets", targets, "strategies",
                         strategies, "recommended", (Py_ssize_t) c->recommended, "reason",
                         c->reason);
}

static PyObject *compare_plan(PyObject *module, PyObject *args)
{
    PyObject *handle, *result;
    const cellar_plan *plan;
    cellar_plan_options options = cellar_plan_options_default();
    cellar_plan_comparison *comparison = NULL;
    cellar_error err;
    cellar_status status;
    options.progress = glue_progress();
    if (!PyArg_ParseTuple(args, "Oi", &handle, &options.n_threads))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    if (plan == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_plan_compare(plan, &options, &comparison, &err);
    Py_END_ALLOW_THREADS result =
        status == CELLAR_OK ? comparison_of(comparison) : glue_fail(module, status, &err);
    cellar_plan_comparison_free(comparison);
    return result;
}

/* ---- running ------------------------------------------------------------------------------ */

/* run_plan(plan, date or None, threads) -> (drawn now, the charge or None) */
static PyObject *run_plan(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_plan *plan;
    cellar_plan_run_options options = cellar_plan_run_options_default();
    cellar_plan_run_result result;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ozi", &handle, &options.date, &options.n_threads))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    if (plan == NULL)
        return NULL;
    options.extra = cellar_report_pack;
    Py_BEGIN_ALLOW_THREADS status = cellar_plan_run(plan, &options, &result, &err);
    Py_END_ALLOW_THREADS return status == CELLAR_OK
        ? Py_BuildValue("(Oz)", result.is_new ? Py_True : Py_False,
                        result.is_charged ? result.stamp : NULL)
        : glue_fail(module, status, &err);
}

/* ---- cubes ---------------------------------------------------------------------------------- */

static PyObject *design_of(const cellar_cube_design *design)
{
    const cellar_certificate *together = cellar_cube_design_together(design);
    PyObject *tables = PyList_New(0);
    for (size_t t = 0; t < cellar_cube_design_n_tables(design); t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        glue_append(&tables, Py_BuildValue("(snKzOd)", table.name, (Py_ssize_t) table.n_variables,
                                           (unsigned long long) table.n_cells, table.mechanism,
                                           table.is_exact ? Py_True : Py_False, table.sd));
    }
    return Py_BuildValue("(NNNN)", tables, glue_certificate(cellar_cube_design_certificate(design)),
                         together != NULL ? glue_certificate(together) : Py_NewRef(Py_None),
                         glue_known(cellar_cube_design_loss_to_bound(design)));
}

/* design_cube(plan) -> (tables, certificate, that with the cube extended or None, loss to bound) */
static PyObject *design_cube(PyObject *module, PyObject *args)
{
    PyObject *handle, *result;
    const cellar_plan *plan;
    cellar_cube_design *design = NULL;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "O", &handle))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    if (plan == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_cube_design_create(plan, &design, &err);
    Py_END_ALLOW_THREADS result =
        status == CELLAR_OK ? design_of(design) : glue_fail(module, status, &err);
    cellar_cube_design_free(design);
    return result;
}

/* build_cube(plan, date or None, threads) -> (drawn now, the charge or None) */
static PyObject *build_cube(PyObject *module, PyObject *args)
{
    PyObject *handle;
    const cellar_plan *plan;
    cellar_cube_build_options options = cellar_cube_build_options_default();
    cellar_cube_design *design = NULL;
    cellar_cube_build_result result;
    cellar_error err;
    cellar_status status;
    if (!PyArg_ParseTuple(args, "Ozi", &handle, &options.date, &options.n_threads))
        return NULL;
    plan = glue_object(handle, HANDLE_PLAN, 0);
    if (plan == NULL)
        return NULL;
    Py_BEGIN_ALLOW_THREADS status = cellar_cube_design_create(plan, &design, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_build(design, &options, &result, &err);
    cellar_cube_design_free(design);
    Py_END_ALLOW_THREADS return status == CELLAR_OK
        ? Py_BuildValue("(Oz)", result.is_new ? Py_True : Py_False,
                        result.is_charged ? result.stamp : NULL)
        : glue_fail(module, status, &err);
}

PyMethodDef glue_plan_methods[] = {
    {"read_plan", read_plan, METH_VARARGS, "A plan from its file."},
    {"plan_about", plan_about, METH_VARARGS, "What a plan says of itself."},
    {"check_plan", check_plan, METH_VARARGS, "What a plan will do."},
    {"compare_plan", compare_plan, METH_VARARGS, "Other ways to spend its budget."},
    {"run_plan", run_plan, METH_VARARGS, "Releases its tables."},
    {"design_cube", design_cube, METH_VARARGS, "What its cube will be."},
    {"build_cube", build_cube, METH_VARARGS, "Builds its cube."},
    {NULL, NULL, 0, NULL},
};
