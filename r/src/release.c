/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is read from releases, and their files. */
#include "routines.h"

#include <math.h>

SEXP cellar_r_read_release(SEXP path)
{
    SEXP handle = PROTECT(glue_new(GLUE_RELEASE));
    const char *name = glue_utf8(path);
    cellar_release *release = NULL;
    cellar_error err;
    const cellar_status status = cellar_release_read(name, CELLAR_TABLE_AUTO, &release, &err);
    glue_put(handle, release);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_write_release(SEXP handle, SEXP path, SEXP options)
{
    const cellar_release *release = glue_get(handle, GLUE_RELEASE);
    const char *name = glue_utf8(path);
    cellar_table_write_options write = cellar_table_write_options_default();
    const int replace = (int) glue_whole(options, "replace", 0);
    cellar_release_file *file = NULL;
    cellar_error err;
    cellar_status status;
    write.format = cellar_table_format_of_path(name);
    write.zeros = (int) glue_whole(options, "zeros", 0);
    write.title = glue_text(options, "title");
    write.source = glue_text(options, "source");
    write.note = glue_text(options, "note");
    write.units = glue_text(options, "units");
    write.updated = glue_text(options, "updated");
    status = cellar_release_file_open(name, &write, replace, &file, &err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, &err);
    cellar_release_file_discard(file);
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

/* What a release says about itself. */
SEXP cellar_r_release_facts(SEXP handle)
{
    static const char *const names[] = {"variables",   "mechanism", "verdict",     "total_epsilon",
                                        "noise",       "negatives", "unit",        "neighbours",
                                        "date",        "ledger",    "key",         "certificate",
                                        "description", "guarantee", "is_weighted", NULL};
    const cellar_release *release = glue_get(handle, GLUE_RELEASE);
    const char *texts[] = {cellar_release_mechanism(release),
                           cellar_verdict_name(cellar_release_verdict(release)),
                           cellar_release_total_epsilon(release),
                           cellar_noise_source_name(cellar_release_noise(release)),
                           cellar_negatives_name(cellar_release_negatives(release)),
                           cellar_release_unit(release),
                           cellar_neighbours_name(cellar_release_neighbours(release)),
                           cellar_release_date(release),
                           cellar_release_ledger(release),
                           cellar_release_key_id(release),
                           cellar_release_certificate(release),
                           cellar_release_description(release),
                           cellar_release_guarantee(release)};
    const R_xlen_t n = sizeof texts / sizeof *texts;
    SEXP list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_shape(cellar_release_schema(release)));
    for (R_xlen_t i = 0; i < n; i++)
        SET_VECTOR_ELT(list, i + 1, glue_string(texts[i]));
    SET_VECTOR_ELT(list, n + 1, Rf_ScalarLogical(cellar_release_is_weighted(release)));
    UNPROTECT(1);
    return list;
}

static uint64_t listed_index(const void *release, size_t i)
{
    return cellar_release_cell(release, i).index;
}

static uint64_t possible_index(const void *indices, size_t i)
{
    return ((const uint64_t *) indices)[i];
}

/* All cells of the table, by index; structural zeros that a rule declares are left out. */
static uint64_t *possible_cells(const cellar_schema *schema, size_t *n)
{
    const uint64_t n_indices = cellar_schema_n_indices(schema);
    uint64_t *indices;
    *n = 0;
    for (uint64_t i = 0; i < n_indices; i++)
        *n += cellar_schema_has_cell(schema, i) && !cellar_schema_is_structural_zero(schema, i);
    indices = (uint64_t *) R_alloc(*n + 1, sizeof *indices);
    *n = 0;
    for (uint64_t i = 0; i < n_indices; i++)
        if (cellar_schema_has_cell(schema, i) && !cellar_schema_is_structural_zero(schema, i))
            indices[(*n)++] = i;
    return indices;
}

/* A factor for each variable, then the released value: NA where it is suppressed. */
SEXP cellar_r_release_cells(SEXP handle, SEXP zeros)
{
    const cellar_release *release = glue_get(handle, GLUE_RELEASE);
    const cellar_schema *schema = cellar_release_schema(release);
    const size_t n_variables = cellar_schema_n_variables(schema);
    const int with_zeros = Rf_asLogical(zeros) == TRUE;
    size_t n = cellar_release_n_cells(release);
    uint64_t *indices = with_zeros ? possible_cells(schema, &n) : NULL;
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n_variables + 1));
    SEXP values = Rf_allocVector(REALSXP, (R_xlen_t) n);
    SET_VECTOR_ELT(list, (R_xlen_t) n_variables, values);
    for (size_t i = 0; i < n; i++) {
        const cellar_released_cell cell =
            with_zeros ? cellar_release_at(release, indices[i]) : cellar_release_cell(release, i);
        REAL(values)[i] = cell.status == CELLAR_CELL_SUPPRESSED ? NA_REAL : (double) cell.released;
    }
    for (size_t v = 0; v < n_variables; v++)
        SET_VECTOR_ELT(list, (R_xlen_t) v,
                       with_zeros ? glue_factor(schema, v, indices, n, possible_index)
                                  : glue_factor(schema, v, release, n, listed_index));
    UNPROTECT(1);
    return list;
}

/* One released value by a code for each variable; "" is the total. */
SEXP cellar_r_release_at(SEXP handle, SEXP given)
{
    const cellar_release *release = glue_get(handle, GLUE_RELEASE);
    size_t n;
    const char **codes = glue_texts(given, "codes", &n);
    uint64_t index = 0;
    cellar_error err;
    cellar_status status;
    cellar_released_cell cell;
    for (size_t i = 0; i < n; i++)
        if (codes[i][0] == '\0')
            codes[i] = NULL;
    status = cellar_schema_find_cell(cellar_release_schema(release), codes, n, &index, &err);
    if (status != CELLAR_OK)
        return glue_fail(status, &err);
    cell = cellar_release_at(release, index);
    return glue_number(cell.status == CELLAR_CELL_SUPPRESSED ? NA_REAL : (double) cell.released);
}
