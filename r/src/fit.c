/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables that add, from releases whose totals do not; and estimates as data frames. */
#include "routines.h"

static cellar_status compute(const cellar_release *const *releases, size_t n, SEXP given,
                             cellar_adjustment **fit, cellar_rounding **rounding,
                             cellar_estimate **estimate, cellar_error *err)
{
    cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_rounding_options rounding_options = cellar_rounding_options_default();
    const cellar_official official = (cellar_official) glue_whole(given, "official", 0);
    const int with_errors = (int) glue_whole(given, "sd", 0);
    cellar_status status;
    options.margins.all = (int) glue_whole(given, "all_margins", 0);
    options.max_cells = (uint64_t) glue_whole(given, "max_cells", (int64_t) options.max_cells);
    options.progress = glue_progress();
    rounding_options.max_move = glue_real(given, "max_move", rounding_options.max_move);
    status = cellar_adjustment_create(releases, n, &options, fit, err);
    if (status == CELLAR_OK)
        status = cellar_rounding_create(*fit, &rounding_options, rounding, err);
    return status == CELLAR_OK ? cellar_estimate_from_fit(*fit, *rounding, releases, n, official,
                                                          with_errors, estimate, err)
                               : status;
}

static uint64_t estimated_index(const void *estimate, size_t i)
{
    return cellar_estimate_cell(estimate, i).index;
}

/* The variables' names, then columns: the variables, estimate, se, fitted, observed. What the
 * estimate does not have is NULL. `fit` is NULL for estimates from elsewhere. */
static SEXP cells_of(const cellar_estimate *estimate, const cellar_adjustment *fit)
{
    const cellar_schema *schema = cellar_estimate_schema(estimate);
    const size_t n = cellar_estimate_n_cells(estimate),
                 n_variables = cellar_schema_n_variables(schema);
    const R_xlen_t values = (R_xlen_t) n_variables;
    const int has_errors = cellar_estimate_has_errors(estimate),
              has_whole = cellar_estimate_has_whole(estimate);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, values + 4));
    double *found = glue_reals(list, values, n),
           *errors = has_errors ? glue_reals(list, values + 1, n) : NULL,
           *whole = has_whole ? glue_reals(list, values + 2, n) : NULL,
           *observed = fit != NULL ? glue_reals(list, values + 3, n) : NULL;
    for (size_t v = 0; v < n_variables; v++)
        SET_VECTOR_ELT(list, (R_xlen_t) v, glue_factor(schema, v, estimate, n, estimated_index));
    for (size_t i = 0; i < n; i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        found[i] = cell.value;
        if (has_errors)
            errors[i] = cell.se;
        if (has_whole)
            whole[i] = (double) cell.whole;
        if (fit != NULL)
            observed[i] = cellar_adjustment_observed(fit, cell.index);
    }
    UNPROTECT(1);
    return list;
}

SEXP glue_estimate(SEXP handle, const cellar_adjustment *fit)
{
    static const char *const names[] = {"handle", "variables",   "cells",
                                        "method", "description", NULL};
    const cellar_estimate *estimate = glue_get(handle, GLUE_ESTIMATE);
    SEXP list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, handle);
    SET_VECTOR_ELT(list, 1, glue_shape(cellar_estimate_schema(estimate)));
    SET_VECTOR_ELT(list, 2, cells_of(estimate, fit));
    SET_VECTOR_ELT(list, 3, glue_string(cellar_estimate_method(estimate)));
    SET_VECTOR_ELT(list, 4, glue_string(cellar_estimate_description(estimate)));
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_fit(SEXP handles, SEXP given)
{
    SEXP estimate_handle = PROTECT(glue_new(GLUE_ESTIMATE)),
         fit_handle = PROTECT(glue_new(GLUE_FIT)),
         rounding_handle = PROTECT(glue_new(GLUE_ROUNDING)), list;
    const size_t n = (size_t) XLENGTH(handles);
    const cellar_release **releases = (const cellar_release **) R_alloc(n + 1, sizeof *releases);
    cellar_adjustment *fit = NULL;
    cellar_rounding *rounding = NULL;
    cellar_estimate *estimate = NULL;
    cellar_error err;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        releases[i] = glue_get(VECTOR_ELT(handles, (R_xlen_t) i), GLUE_RELEASE);
    status = compute(releases, n, given, &fit, &rounding, &estimate, &err);
    glue_put(fit_handle, fit);
    glue_put(rounding_handle, rounding);
    glue_put(estimate_handle, estimate);
    list = status == CELLAR_OK ? glue_estimate(estimate_handle, fit) : glue_fail(status, &err);
    UNPROTECT(3);
    return list;
}

SEXP cellar_r_read_estimate(SEXP path)
{
    SEXP handle = PROTECT(glue_new(GLUE_ESTIMATE)), list;
    const char *name = glue_utf8(path);
    cellar_estimate *estimate = NULL;
    cellar_error err;
    const cellar_status status = cellar_estimate_read(name, CELLAR_TABLE_AUTO, &estimate, &err);
    glue_put(handle, estimate);
    list = status == CELLAR_OK ? glue_estimate(handle, NULL) : glue_fail(status, &err);
    UNPROTECT(1);
    return list;
}

SEXP cellar_r_write_estimate(SEXP handle, SEXP path, SEXP options)
{
    const cellar_estimate *estimate = glue_get(handle, GLUE_ESTIMATE);
    const char *name = glue_utf8(path);
    cellar_table_write_options write = cellar_table_write_options_default();
    const int replace = (int) glue_whole(options, "replace", 0);
    const cellar_estimate_view view = (cellar_estimate_view) glue_whole(options, "whole", 0);
    cellar_release_file *file = NULL;
    cellar_error err;
    cellar_status status;
    write.format = cellar_table_format_of_path(name);
    write.zeros = 1;
    write.title = glue_text(options, "title");
    write.source = glue_text(options, "source");
    write.note = glue_text(options, "note");
    status = cellar_release_file_open(name, &write, replace, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_estimate_write(estimate, view, file, &err);
    cellar_release_file_discard(file);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}
