/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans, pages and synthetic records. */
#include "routines.h"

/* ---- plans --------------------------------------------------------------------------- */

SEXP cellar_r_plan(SEXP path)
{
    static const char *const names[] = {"title", "tables", "folder", "cube", NULL};
    SEXP handle = PROTECT(glue_new(GLUE_PLAN)), list, tables;
    const char *name = glue_utf8(path);
    cellar_plan *plan = NULL;
    cellar_error err;
    const cellar_status status = cellar_plan_read(name, &plan, &err);
    size_t n;
    glue_put(handle, plan);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    n = cellar_plan_n_tables(plan);
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(cellar_plan_title(plan)));
    tables = glue_words(list, 1, n);
    for (size_t t = 0; t < n; t++)
        glue_set_word(tables, t, cellar_plan_table_name(plan, t));
    SET_VECTOR_ELT(list, 2, glue_string(cellar_plan_folder(plan)));
    SET_VECTOR_ELT(list, 3, glue_string(cellar_plan_cube_file(plan)));
    UNPROTECT(2);
    return list;
}

static SEXP words_of(const char *const *words, size_t n)
{
    SEXP texts = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n));
    for (size_t i = 0; i < n; i++)
        glue_set_word(texts, i, words[i]);
    UNPROTECT(1);
    return texts;
}

/* One row for each margin of each table. */
static SEXP margins_of(const cellar_plan_figures *figures)
{
    static const char *const names[] = {"table",  "margin",  "cells", "mechanism",
                                        "sd_low", "sd_high", "bias",  "false_positives",
                                        "summed", NULL};
    size_t n = 0, at = 0;
    SEXP list = PROTECT(glue_list(names)), table, margin, mechanism;
    double *columns[5];
    int *summed;
    for (size_t t = 0; t < figures->n_tables; t++)
        n += figures->tables[t].n_cells_groups;
    table = glue_words(list, 0, n);
    margin = glue_words(list, 1, n);
    columns[0] = glue_reals(list, 2, n);
    mechanism = glue_words(list, 3, n);
    for (R_xlen_t c = 1; c < 5; c++)
        columns[c] = glue_reals(list, c + 3, n);
    summed = glue_flags(list, 8, n);
    for (size_t t = 0; t < figures->n_tables; t++)
        for (size_t i = 0; i < figures->tables[t].n_cells_groups; i++, at++) {
            const cellar_plan_cells *cells = &figures->tables[t].cells[i];
            glue_set_word(table, at, figures->tables[t].name);
            glue_set_word(margin, at, cells->margin);
            glue_set_word(mechanism, at, figures->tables[t].mechanism);
            columns[0][at] = (double) cells->n_cells;
            columns[1][at] = cells->sd_low;
            columns[2][at] = cells->sd_high;
            columns[3][at] = cells->bias;
            columns[4][at] = cells->false_positives;
            summed[at] = cells->is_summed;
        }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_plan_check(SEXP path, SEXP given)
{
    static const char *const names[] = {
        "margins",      "verdict",  "pure_epsilon", "cells_per_record",
        "confidential", "refusals", "remarks",      NULL};
    SEXP plan_handle = PROTECT(glue_new(GLUE_PLAN)), handle = PROTECT(glue_new(GLUE_FIGURES)), list;
    const char *name = glue_utf8(path);
    cellar_plan_options options = cellar_plan_options_default();
    cellar_plan *plan = NULL;
    cellar_plan_figures *figures = NULL;
    cellar_error err;
    cellar_status status;
    options.without_counts = (int) glue_whole(given, "without_counts", 0);
    options.n_threads = (int) glue_whole(given, "threads", 0);
    options.progress = glue_progress();
    status = cellar_plan_read(name, &plan, &err);
    if (status == CELLAR_OK)
        status = cellar_plan_check(plan, &options, &figures, &err);
    glue_put(plan_handle, plan);
    glue_put(handle, figures);
    if (status != CELLAR_OK) {
        UNPROTECT(2);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, margins_of(figures));
    SET_VECTOR_ELT(
        list, 1,
        glue_string(cellar_verdict_name(cellar_certificate_verdict(figures->certificate))));
    SET_VECTOR_ELT(list, 2, glue_number(cellar_certificate_pure_epsilon(figures->certificate)));
    SET_VECTOR_ELT(list, 3, glue_number((double) figures->cells_per_record));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(figures->is_confidential));
    SET_VECTOR_ELT(list, 5, words_of(figures->refusals, figures->n_refusals));
    SET_VECTOR_ELT(list, 6, words_of(figures->remarks, figures->n_remarks));
    glue_close(handle); /* before the plan */
    UNPROTECT(3);
    return list;
}

/* Ways to spend the budget: what they are, and the standard deviations of a cell of each target. */
static SEXP comparison_of(const cellar_plan_comparison *c)
{
    static const char *const names[] = {"budget",      "unit",   "table", "margin", "cells",
                                        "weight",      "name",   "about", "loss",   "sd",
                                        "recommended", "reason", NULL};
    const size_t n = c->n_targets, n_ways = c->n_strategies;
    SEXP list = PROTECT(glue_list(names)), table, margin, name, about;
    double *cells, *weight, *loss, *sd;
    SET_VECTOR_ELT(list, 0, glue_string(c->budget));
    SET_VECTOR_ELT(list, 1, glue_string(c->is_rho ? "rho" : "epsilon"));
    table = glue_words(list, 2, n);
    margin = glue_words(list, 3, n);
    cells = glue_reals(list, 4, n);
    weight = glue_reals(list, 5, n);
    name = glue_words(list, 6, n_ways);
    about = glue_words(list, 7, n_ways);
    loss = glue_reals(list, 8, n_ways);
    sd = glue_reals(list, 9, n * n_ways);
    for (size_t t = 0; t < n; t++) {
        glue_set_word(table, t, c->targets[t].table);
        glue_set_word(margin, t, c->targets[t].margin);
        cells[t] = (double) c->targets[t].n_cells;
        weight[t] = c->targets[t].weight;
    }
    for (size_t i = 0; i < n_ways; i++) {
        const cellar_plan_strategy *s = &c->strategies[i];
        glue_set_word(name, i, s->name);
        glue_set_word(about, i, s->about);
        loss[i] = s->is_possible ? s->loss : NA_REAL;
        for (size_t t = 0; t < n; t++)
            sd[i * n + t] = s->is_possible ? s->sd[t] : NA_REAL;
    }
    SET_VECTOR_ELT(list, 10, glue_string(c->strategies[c->recommended].name));
    SET_VECTOR_ELT(list, 11, glue_string(c->reason));
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_plan_compare(SEXP path, SEXP given)
{
    SEXP handle = PROTECT(glue_new(GLUE_PLAN)), held = PROTECT(glue_new(GLUE_COMPARISON)), list;
    const char *name = glue_utf8(path);
    cellar_plan_options options = cellar_plan_options_default();
    cellar_plan *plan = NULL;
    cellar_plan_comparison *comparison = NULL;
    cellar_error err;
    cellar_status status;
    options.n_threads = (int) glue_whole(given, "threads", 0);
    options.progress = glue_progress();
    status = cellar_plan_read(name, &plan, &err);
    if (status == CELLAR_OK)
        status = cellar_plan_compare(plan, &options, &comparison, &err);
    glue_put(handle, plan);
    glue_put(held, comparison);
    list = status == CELLAR_OK ? comparison_of(comparison) : glue_fail(status, &err);
    UNPROTECT(2);
    return list;
}

SEXP cellar_r_plan_run(SEXP path, SEXP given)
{
    static const char *const names[] = {"folder", "new", "stamp", NULL};
    SEXP handle = PROTECT(glue_new(GLUE_PLAN)), list;
    const char *name = glue_utf8(path);
    cellar_plan_run_options options = cellar_plan_run_options_default();
    cellar_plan_run_result result;
    cellar_plan *plan = NULL;
    cellar_error err;
    cellar_status status;
    options.date = glue_text(given, "date");
    options.n_threads = (int) glue_whole(given, "threads", 0);
    options.progress = glue_progress();
    options.extra = cellar_report_pack; /* the page for the public is part of a pack */
    status = cellar_plan_read(name, &plan, &err);
    if (status == CELLAR_OK)
        status = cellar_plan_run(plan, &options, &result, &err);
    glue_put(handle, plan);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_string(cellar_plan_folder(plan)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarLogical(result.is_new));
    SET_VECTOR_ELT(list, 2, glue_string(result.is_charged ? result.stamp : NULL));
    UNPROTECT(2);
    return list;
}

/* ---- pages ------------------------------------------------------------------------------ */

static cellar_report_options report_options(SEXP given)
{
    cellar_report_options out = cellar_report_options_default();
    out.title = glue_text(given, "title");
    out.replace = (int) glue_whole(given, "replace", 0);
    out.charts = glue_text(given, "charts");
    out.max_rows = (uint64_t) glue_whole(given, "max_rows", (int64_t) out.max_rows);
    out.progress = glue_progress();
    return out;
}

/* Releases, each under its name. */
SEXP cellar_r_report_public(SEXP handles, SEXP path, SEXP given)
{
    const size_t n = (size_t) XLENGTH(handles);
    const char *name = glue_utf8(path);
    const cellar_release **releases = (const cellar_release **) R_alloc(n + 1, sizeof *releases);
    cellar_report_options options = report_options(given);
    size_t n_names;
    const char **titles = glue_texts(given, "names", &n_names);
    cellar_error err;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        releases[i] = glue_get(VECTOR_ELT(handles, (R_xlen_t) i), GLUE_RELEASE);
    options.names = n_names == n ? titles : NULL;
    status = cellar_report_public(releases, n, &options, name, &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

SEXP cellar_r_report_cube(SEXP handle, SEXP path, SEXP given)
{
    const cellar_cube *cube = glue_get(handle, GLUE_CUBE);
    const char *name = glue_utf8(path);
    cellar_report_options options = report_options(given);
    cellar_error err;
    size_t n;
    cellar_status status;
    options.names = glue_texts(given, "names", &n);
    status = cellar_report_cube(cube, NULL, 0, &options, name, &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

SEXP cellar_r_report_committee(SEXP handle, SEXP path, SEXP given)
{
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    const char *name = glue_utf8(path);
    const cellar_report_options options = report_options(given);
    cellar_committee_options committee = cellar_committee_options_default();
    cellar_error err;
    cellar_status status;
    committee.qid = glue_variables(cellar_table_schema(table), given, "known", &committee.n_qid);
    committee.sensitive =
        glue_variables(cellar_table_schema(table), given, "sensitive", &committee.n_sensitive);
    committee.mechanisms = glue_texts(given, "mechanisms", &committee.n_mechanisms);
    committee.epsilons = glue_texts(given, "epsilons", &committee.n_epsilons);
    committee.release = glue_object(given, "release", GLUE_RELEASE);
    (void) cellar_negatives_find(glue_text(given, "negatives"), &committee.negatives);
    committee.copies = (uint64_t) glue_whole(given, "copies", (int64_t) committee.copies);
    committee.seed = (uint64_t) glue_whole(given, "seed", (int64_t) committee.seed);
    status = cellar_report_committee(table, &committee, &options, name, &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

/* ---- synthetic records --------------------------------------------------------------------- */

static cellar_status from_cube(const cellar_cube *cube, uint64_t n_records, cellar_synthesis **out,
                               cellar_error *err)
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

/* A factor for each variable, a row for each record. */
static SEXP records_of(const cellar_synthesis *synthesis)
{
    const size_t n_variables = cellar_synthesis_n_variables(synthesis),
                 n = (size_t) cellar_synthesis_n_records(synthesis);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n_variables)), names, class;
    names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n_variables));
    class = PROTECT(glue_string("factor"));
    for (size_t v = 0; v < n_variables; v++) {
        const size_t n_codes = cellar_synthesis_n_categories(synthesis, v);
        SEXP factor = Rf_allocVector(INTSXP, (R_xlen_t) n), levels;
        size_t at = 0;
        SET_VECTOR_ELT(list, (R_xlen_t) v, factor);
        glue_set_word(names, v, cellar_synthesis_variable(synthesis, v));
        for (size_t i = 0; i < cellar_synthesis_n_combinations(synthesis); i++) {
            uint64_t times;
            const uint32_t *categories = cellar_synthesis_combination(synthesis, i, &times);
            for (; times > 0; times--)
                INTEGER(factor)[at++] = (int) categories[v] + 1;
        }
        levels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) n_codes));
        for (size_t c = 0; c < n_codes; c++)
            glue_set_word(levels, c, cellar_synthesis_code(synthesis, v, c));
        Rf_setAttrib(factor, R_LevelsSymbol, levels);
        Rf_classgets(factor, class);
        UNPROTECT(1);
    }
    Rf_setAttrib(list, R_NamesSymbol, names);
    UNPROTECT(3);
    return list;
}

/* `kind` says what `handle` is: "release", "estimate" or "cube". */
SEXP cellar_r_synthesize(SEXP handle, SEXP kind, SEXP given)
{
    static const char *const names[] = {"handle", "records", "description", NULL};
    SEXP synthesis_handle = PROTECT(glue_new(GLUE_SYNTHESIS)), list;
    const char *what = glue_utf8(kind);
    const uint64_t n_records = (uint64_t) glue_whole(given, "records", 0);
    cellar_synthesis_options options = cellar_synthesis_options_default();
    cellar_synthesis *synthesis = NULL;
    cellar_error err;
    cellar_status status;
    options.ignore_margins = (int) glue_whole(given, "ignore_margins", 0);
    if (strcmp(what, "cube") == 0)
        status = from_cube(glue_get(handle, GLUE_CUBE), n_records, &synthesis, &err);
    else if (strcmp(what, "estimate") == 0)
        status = cellar_synthesis_from_estimate(glue_get(handle, GLUE_ESTIMATE), &options,
                                                &synthesis, &err);
    else
        status = cellar_synthesis_from_release(glue_get(handle, GLUE_RELEASE), &options, &synthesis,
                                               &err);
    glue_put(synthesis_handle, synthesis);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, synthesis_handle);
    SET_VECTOR_ELT(list, 1, records_of(synthesis));
    SET_VECTOR_ELT(list, 2, glue_string(cellar_synthesis_description(synthesis)));
    UNPROTECT(2);
    return list;
}

SEXP cellar_r_write_synthesis(SEXP handle, SEXP path, SEXP given)
{
    const cellar_synthesis *synthesis = glue_get(handle, GLUE_SYNTHESIS);
    const char *name = glue_utf8(path);
    cellar_synthesis_write_options options = cellar_synthesis_write_options_default();
    cellar_error err;
    cellar_status status;
    options.labels = (int) glue_whole(given, "labels", 0);
    options.count_column = glue_text(given, "count");
    options.shuffle = (int) glue_whole(given, "shuffle", 0);
    options.replace = (int) glue_whole(given, "replace", 0);
    status = cellar_synthesis_write(synthesis, name, &options, &err);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}
