/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes: opened, asked, planned and built. */
#include "routines.h"

#include <math.h>

/* ---- opening ------------------------------------------------------------------------ */

SEXP cellar_r_open_cube(SEXP path, SEXP verify)
{
    SEXP handle = PROTECT(glue_new(GLUE_CUBE));
    const char *name = glue_utf8(path);
    const int verifies = Rf_asLogical(verify) == TRUE;
    cellar_cube *cube = NULL;
    cellar_error err;
    cellar_status status = cellar_cube_open(name, &cube, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_recertify(cube, name, &err);
    if (status == CELLAR_OK && verifies)
        status = cellar_cube_verify(cube, name, &err);
    glue_put(handle, cube);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

/* name, variables, cells, mechanism, exact, sd of each table. */
static SEXP tables_of(const cellar_cube *cube, cellar_status *status, cellar_error *err)
{
    static const char *const names[] = {"name",  "variables", "cells", "mechanism",
                                        "exact", "sd",        NULL};
    const size_t n = cellar_cube_n_tables(cube);
    SEXP list = PROTECT(glue_list(names)), name = glue_words(list, 0, n),
         mechanism = glue_words(list, 3, n);
    double *variables = glue_reals(list, 1, n), *cells = glue_reals(list, 2, n),
           *sd = glue_reals(list, 5, n);
    int *exact = glue_flags(list, 4, n);
    *status = CELLAR_OK;
    for (size_t t = 0; t < n && *status == CELLAR_OK; t++) {
        cellar_cube_table_info info;
        *status = cellar_cube_table_at(cube, t, &info, err);
        if (*status != CELLAR_OK)
            break;
        glue_set_word(name, t, info.name);
        glue_set_word(mechanism, t, info.mechanism);
        variables[t] = (double) info.n_variables;
        cells[t] = (double) info.n_cells;
        exact[t] = info.is_exact;
        sd[t] = info.sd;
    }
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_cube_facts(SEXP handle)
{
    static const char *const names[] = {"description", "variables", "levels", "tables", NULL};
    const cellar_cube *cube = glue_get(handle, GLUE_CUBE);
    const size_t n = cellar_cube_n_variables(cube);
    SEXP list = PROTECT(glue_list(names)), variables;
    double *levels;
    cellar_error err;
    cellar_status status;
    SET_VECTOR_ELT(list, 0, glue_string(cellar_cube_description(cube)));
    variables = glue_words(list, 1, n);
    levels = glue_reals(list, 2, n);
    for (size_t v = 0; v < n; v++) {
        glue_set_word(variables, v, cellar_cube_variable(cube, v));
        levels[v] = (double) cellar_cube_n_levels(cube, v);
    }
    SET_VECTOR_ELT(list, 3, tables_of(cube, &status, &err));
    UNPROTECT(1);
    return status == CELLAR_OK ? list : glue_fail(status, &err);
}

/* ---- asking --------------------------------------------------------------------------- */

/* list(code = codes, ...): groups of categories. */
static const cellar_cube_group *read_groups(SEXP given, size_t *n)
{
    SEXP names = Rf_getAttrib(given, R_NamesSymbol);
    cellar_cube_group *groups;
    *n = given == R_NilValue ? 0 : (size_t) XLENGTH(given);
    groups = (cellar_cube_group *) R_alloc(*n + 1, sizeof *groups);
    for (size_t i = 0; i < *n; i++) {
        const char *code = Rf_translateCharUTF8(STRING_ELT(names, (R_xlen_t) i));
        groups[i] = (cellar_cube_group){.code = code};
        groups[i].codes = glue_texts(given, code, &groups[i].n_codes);
    }
    return groups;
}

/* A list of sides: list(variable, level, only, groups). */
static cellar_cube_question read_question(SEXP given)
{
    SEXP sides = glue_member(given, "sides");
    const size_t n = (size_t) XLENGTH(sides);
    cellar_cube_side *read = (cellar_cube_side *) R_alloc(n + 1, sizeof *read);
    for (size_t i = 0; i < n; i++) {
        SEXP side = VECTOR_ELT(sides, (R_xlen_t) i);
        memset(&read[i], 0, sizeof read[i]);
        read[i].variable = glue_needed_text(side, "variable");
        read[i].level = (size_t) glue_whole(side, "level", 0);
        read[i].codes = glue_texts(side, "only", &read[i].n_codes);
        read[i].groups = read_groups(glue_member(side, "groups"), &read[i].n_groups);
        if (read[i].n_groups == 0)
            read[i].groups = NULL;
    }
    return (cellar_cube_question){
        .sides = read, .n_sides = n, .margins = (int) glue_whole(given, "margins", 0)};
}

/* The estimate as fit.c shows it, and half the widths of intervals where a confidence is given. */
SEXP cellar_r_cube_table(SEXP handle, SEXP given)
{
    static const char *const names[] = {"estimate", "half_widths", NULL};
    SEXP estimate_handle = PROTECT(glue_new(GLUE_ESTIMATE)), list;
    const cellar_cube *cube = glue_get(handle, GLUE_CUBE);
    const cellar_cube_question question = read_question(given);
    const double confidence = glue_real(given, "confidence", NAN);
    const int simultaneous = (int) glue_whole(given, "simultaneous", 0),
              whole = (int) glue_whole(given, "whole", 0);
    cellar_estimate *estimate = NULL;
    cellar_error err;
    cellar_status status = whole ? cellar_cube_ask_whole(cube, &question, &estimate, &err)
                                 : cellar_cube_ask(cube, &question, &estimate, &err);
    glue_put(estimate_handle, estimate);
    if (status != CELLAR_OK) {
        UNPROTECT(1);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_estimate(estimate_handle, NULL));
    if (!isnan(confidence)) {
        const size_t n = cellar_estimate_n_cells(estimate);
        double *widths = glue_reals(list, 1, n);
        status =
            cellar_cube_half_widths(cube, &question, confidence, simultaneous, widths, n, &err);
    }
    UNPROTECT(2);
    return status == CELLAR_OK ? list : glue_fail(status, &err);
}

static cellar_status compare(const cellar_cube *cube, const char *of, cellar_comparison comparison,
                             const char *other, double confidence, cellar_cube_finding *out,
                             cellar_error *err)
{
    cellar_cube_sum *sum = NULL, *with = NULL;
    cellar_status status = cellar_cube_sum_parse(cube, of, &sum, err);
    if (status == CELLAR_OK && other != NULL)
        status = cellar_cube_sum_parse(cube, other, &with, err);
    if (status == CELLAR_OK)
        status = cellar_cube_compare(cube, sum, comparison, with, confidence, out, err);
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(with);
    return status;
}

SEXP cellar_r_cube_interval(SEXP handle, SEXP given)
{
    static const char *const names[] = {"estimate", "low",          "high", "se",
                                        "p_value",  "undetermined", NULL};
    const cellar_cube *cube = glue_get(handle, GLUE_CUBE);
    const char *of = glue_text(given, "of"), *other = glue_text(given, "other");
    const cellar_comparison comparison = (cellar_comparison) glue_whole(given, "comparison", 0);
    const double confidence = glue_real(given, "confidence", 0.95);
    cellar_cube_finding found;
    cellar_error err;
    const cellar_status status = compare(cube, of, comparison, other, confidence, &found, &err);
    SEXP list;
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number(found.estimate));
    SET_VECTOR_ELT(list, 1, glue_number(found.low));
    SET_VECTOR_ELT(list, 2, glue_number(found.high));
    SET_VECTOR_ELT(list, 3, glue_number(found.se));
    SET_VECTOR_ELT(list, 4, glue_number(found.p_value));
    SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(found.is_undetermined));
    UNPROTECT(1);
    return list;
}

/* ---- planning and building ---------------------------------------------------------------- */

static SEXP design_tables(const cellar_cube_design *design)
{
    static const char *const names[] = {"name", "cells",          "mechanism", "exact",
                                        "sd",   "independent_sd", NULL};
    const size_t n = cellar_cube_design_n_tables(design);
    SEXP list = PROTECT(glue_list(names)), name = glue_words(list, 0, n),
         mechanism = glue_words(list, 2, n);
    double *cells = glue_reals(list, 1, n), *sd = glue_reals(list, 4, n),
           *independent = glue_reals(list, 5, n);
    int *exact = glue_flags(list, 3, n);
    for (size_t t = 0; t < n; t++) {
        const cellar_cube_design_table table = cellar_cube_design_table_at(design, t);
        glue_set_word(name, t, table.name);
        glue_set_word(mechanism, t, table.mechanism);
        cells[t] = (double) table.n_cells;
        exact[t] = table.is_exact;
        sd[t] = table.sd;
        independent[t] = table.independent_sd;
    }
    UNPROTECT(1);
    return list;
}

/* Needs no data; with `builds` counts them, charges the ledger, draws and writes the cube. */
SEXP cellar_r_cube_plan(SEXP path, SEXP builds, SEXP given)
{
    static const char *const names[] = {"tables", "measured", "verdict", "loss_to_bound",
                                        "file",   "new",      "stamp",   NULL};
    SEXP plan_handle = PROTECT(glue_new(GLUE_PLAN)), design_handle = PROTECT(glue_new(GLUE_DESIGN)),
         list;
    const char *name = glue_utf8(path);
    const int is_built = Rf_asLogical(builds) == TRUE;
    cellar_cube_build_options options = cellar_cube_build_options_default();
    cellar_cube_build_result result = {0, 0, ""};
    cellar_plan *plan = NULL;
    cellar_cube_design *design = NULL;
    cellar_error err;
    cellar_status status;
    options.date = glue_text(given, "date");
    options.n_threads = (int) glue_whole(given, "threads", 0);
    options.progress = glue_progress();
    status = cellar_plan_read(name, &plan, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_design_create(plan, &design, &err);
    if (status == CELLAR_OK && is_built)
        status = cellar_cube_build(design, &options, &result, &err);
    glue_put(design_handle, design); /* the collector frees it before the plan, see below */
    glue_put(plan_handle, plan);
    if (status != CELLAR_OK) {
        glue_close(design_handle);
        UNPROTECT(2);
        return glue_fail(status, &err);
    }
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, design_tables(design));
    SET_VECTOR_ELT(list, 1, glue_number((double) cellar_cube_design_n_measured(design)));
    SET_VECTOR_ELT(list, 2,
                   glue_string(cellar_verdict_name(
                       cellar_certificate_verdict(cellar_cube_design_certificate(design)))));
    SET_VECTOR_ELT(list, 3, glue_number(cellar_cube_design_loss_to_bound(design)));
    SET_VECTOR_ELT(list, 4, glue_string(cellar_plan_cube_file(plan)));
    SET_VECTOR_ELT(list, 5, Rf_ScalarLogical(result.is_new));
    SET_VECTOR_ELT(list, 6, glue_string(result.is_charged ? result.stamp : NULL));
    glue_close(design_handle);
    UNPROTECT(3);
    return list;
}
