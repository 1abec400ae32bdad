/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From data frames and files to tables of true counts. */
#include "routines.h"

/* ---- code lists and recode maps ------------------------------------------------ */

SEXP cellar_r_read_codelist(SEXP path, SEXP mark)
{
    SEXP handle = PROTECT(glue_new(GLUE_CODELIST));
    const char *name = glue_utf8(path);
    const char *depth = mark == R_NilValue ? NULL : glue_utf8(mark);
    cellar_codelist *list = NULL;
    cellar_error err;
    const cellar_status status = depth != NULL ? cellar_codelist_read_hrc(name, depth, &list, &err)
                                               : cellar_codelist_read(name, &list, &err);
    glue_put(handle, list);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_parse_codelist(SEXP name, SEXP bytes)
{
    SEXP handle = PROTECT(glue_new(GLUE_CODELIST));
    const char *title = glue_utf8(name), *text = glue_utf8(bytes);
    cellar_codelist *list = NULL;
    cellar_error err;
    const cellar_status status = cellar_codelist_parse(title, text, strlen(text), &list, &err);
    glue_put(handle, list);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_parse_recode_map(SEXP name, SEXP bytes)
{
    SEXP handle = PROTECT(glue_new(GLUE_RECODE_MAP));
    const char *title = glue_utf8(name), *text = glue_utf8(bytes);
    cellar_recode_map *map = NULL;
    cellar_error err;
    const cellar_status status = cellar_recode_map_parse(title, text, strlen(text), &map, &err);
    glue_put(handle, map);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

/* ---- what to count ---------------------------------------------------------------- */

static void read_variable(SEXP given, cellar_variable_spec *out)
{
    *out = cellar_variable_spec_default();
    out->name = glue_text(given, "name");
    out->column = glue_needed_text(given, "column");
    out->codelist = glue_object(given, "codelist", GLUE_CODELIST);
    out->domain_public = (int) glue_whole(given, "domain_public", 0);
    out->level = (size_t) glue_whole(given, "level", 0);
    out->missing_policy = (cellar_missing_policy) glue_whole(given, "missing", 0);
    out->recode.map = glue_object(given, "map", GLUE_RECODE_MAP);
    out->recode.bottom = glue_text(given, "bottom");
    out->recode.top = glue_text(given, "top");
    out->recode.band_width = glue_text(given, "band");
    out->recode.band_origin = glue_text(given, "band_origin");
    out->recode.band_closed_right = (int) glue_whole(given, "band_closed_right", 0);
}

static void read_variables(SEXP list, cellar_tabulate_spec *spec)
{
    const R_xlen_t n = XLENGTH(list);
    cellar_variable_spec *variables;
    if (n > CELLAR_MAX_VARIABLES)
        Rf_error("a table has at most %d variables", CELLAR_MAX_VARIABLES);
    variables = (cellar_variable_spec *) R_alloc((size_t) n + 1, sizeof *variables);
    for (R_xlen_t v = 0; v < n; v++)
        read_variable(VECTOR_ELT(list, v), &variables[v]);
    spec->variables = variables;
    spec->n_variables = (size_t) n;
}

/* Each margin is a vector of positions from 1. */
static void read_margins(SEXP given, cellar_margins *out)
{
    SEXP list = glue_member(given, "margins");
    uint64_t *masks;
    out->all = (int) glue_whole(given, "all_margins", 0);
    out->hierarchies = (uint64_t) glue_whole(given, "hierarchies", 0);
    if (list == R_NilValue)
        return;
    masks = (uint64_t *) R_alloc((size_t) XLENGTH(list) + 1, sizeof *masks);
    for (R_xlen_t m = 0; m < XLENGTH(list); m++) {
        SEXP kept = VECTOR_ELT(list, m);
        masks[m] = 0;
        if (TYPEOF(kept) != INTSXP)
            Rf_error("a margin has positions of variables");
        for (R_xlen_t i = 0; i < XLENGTH(kept); i++)
            if (INTEGER(kept)[i] >= 1 && INTEGER(kept)[i] <= CELLAR_MAX_VARIABLES)
                masks[m] |= UINT64_C(1) << (INTEGER(kept)[i] - 1);
    }
    out->masks = masks;
    out->n_masks = (size_t) XLENGTH(list);
}

cellar_tabulate_spec glue_spec(SEXP given, unsigned char *secret)
{
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    const cellar_key *key = glue_object(given, "key", GLUE_KEY);
    const char *delimiter = glue_text(given, "delimiter");
    spec.reader = cellar_reader_options_default();
    spec.path = glue_text(given, "path");
    spec.reader.count_column = glue_text(given, "count");
    spec.reader.rows_are_records = (int) glue_whole(given, "rows_are_records", 0);
    if (delimiter != NULL)
        spec.reader.delimiter = delimiter[0];
    spec.reader.encoding = (cellar_encoding) glue_whole(given, "encoding", 0);
    read_variables(glue_member(given, "variables"), &spec);
    read_margins(given, &spec.margins);
    spec.missing = glue_texts(given, "missing", &spec.n_missing);
    spec.missing_policy = (cellar_missing_policy) glue_whole(given, "missing_as", 0);
    spec.where = glue_texts(given, "where", &spec.n_where);
    spec.weight_column = glue_text(given, "weight");
    spec.max_weight = (uint64_t) glue_whole(given, "max_weight", 0);
    spec.unit_column = glue_text(given, "unit");
    spec.max_per_unit = (uint64_t) glue_whole(given, "max_per_unit", 0);
    spec.record_key_column = glue_text(given, "record_key");
    spec.record_id_column = glue_text(given, "record_id");
    spec.key_range = (uint64_t) glue_whole(given, "key_range", 0);
    spec.structural_zeros_path = glue_text(given, "structural_zeros");
    spec.n_threads = (int) glue_whole(given, "threads", 0);
    spec.progress = glue_progress();
    if (key != NULL) {
        cellar_key_secret(key, CELLAR_KEY_RECORDS, secret);
        spec.record_secret = secret;
    }
    return spec;
}

/* ---- counting ---------------------------------------------------------------------- */

void glue_wipe(unsigned char *secret)
{
    volatile unsigned char *bytes = secret; /* not optimised away */
    for (size_t i = 0; i < CELLAR_KEY_SECRET_BYTES; i++)
        bytes[i] = 0;
}

/* The columns are read before the secret is there: an R error could not wipe it. */
SEXP cellar_r_tabulate_frame(SEXP given, SEXP columns, SEXP n_rows)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE));
    const cellar_frame frame = glue_frame(columns, n_rows);
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    const cellar_tabulate_spec spec = glue_spec(given, secret);
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err;
    const cellar_status status = cellar_tabulate_columns(&spec, &frame, &table, &report, &err);
    glue_wipe(secret);
    glue_frame_clear(&frame);
    glue_put(handle, table);
    if (status == CELLAR_OK)
        glue_put_report(handle, &report);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_tabulate_stream(SEXP given, SEXP stream)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE));
    struct ArrowArrayStream *rows = glue_arrow_stream(stream);
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    const cellar_tabulate_spec spec = glue_spec(given, secret);
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err;
    const cellar_status status = cellar_tabulate_stream(&spec, rows, &table, &report, &err);
    glue_wipe(secret);
    glue_put(handle, table);
    if (status == CELLAR_OK)
        glue_put_report(handle, &report);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_tabulate_file(SEXP given)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE));
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    const cellar_tabulate_spec spec = glue_spec(given, secret);
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err;
    const cellar_status status = cellar_tabulate(&spec, &table, &report, &err);
    glue_wipe(secret);
    glue_put(handle, table);
    if (status == CELLAR_OK)
        glue_put_report(handle, &report);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

/* ---- tables -------------------------------------------------------------------------- */

SEXP cellar_r_read_table(SEXP path)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE));
    const char *name = glue_utf8(path);
    cellar_table *table = NULL;
    cellar_error err;
    const cellar_status status = cellar_table_read(name, NULL, &table, &err);
    glue_put(handle, table);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

SEXP cellar_r_write_table(SEXP handle, SEXP path, SEXP options)
{
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    const char *name = glue_utf8(path);
    cellar_output_options how = cellar_output_options_default();
    cellar_table_write_options write = cellar_table_write_options_default();
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status;
    how.replace = (int) glue_whole(options, "replace", 0);
    write.zeros = (int) glue_whole(options, "zeros", 0);
    write.format = cellar_table_format_of_path(name);
    status = cellar_output_open(name, &how, &output, &err);
    if (status == CELLAR_OK) {
        status = cellar_table_write(table, &write, output, &err);
        if (status == CELLAR_OK)
            status = cellar_output_commit(output, &err);
        else
            cellar_output_discard(output);
    }
    return status == CELLAR_OK ? R_NilValue : glue_fail(status, &err);
}

SEXP cellar_r_merge_tables(SEXP list)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE));
    const size_t n = (size_t) XLENGTH(list);
    const cellar_table **tables = (const cellar_table **) R_alloc(n + 1, sizeof *tables);
    cellar_table *merged = NULL;
    cellar_error err;
    cellar_status status;
    for (size_t i = 0; i < n; i++)
        tables[i] = glue_get(VECTOR_ELT(list, (R_xlen_t) i), GLUE_TABLE);
    status = cellar_table_merge(tables, n, &merged, &err);
    glue_put(handle, merged);
    UNPROTECT(1);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}

/* Variables with domain and codes; nothing that was counted. */
SEXP cellar_r_table_shape(SEXP handle)
{
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    return glue_shape(cellar_table_schema(table));
}

static uint64_t cell_index(const void *table, size_t i)
{
    return cellar_table_cell(table, i).index;
}

/* The stored cells as columns: a factor for each variable, the count, the weighted sum where there
 * is one. Confidential. */
SEXP cellar_r_true_counts(SEXP handle)
{
    const cellar_table *table = glue_get(handle, GLUE_TABLE);
    const cellar_schema *schema = cellar_table_schema(table);
    const size_t n_variables = cellar_schema_n_variables(schema), n = cellar_table_n_cells(table);
    const int is_weighted = cellar_table_is_weighted(table);
    SEXP list = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) n_variables + 1 + is_weighted));
    SEXP counts = Rf_allocVector(REALSXP, (R_xlen_t) n), weights;
    SET_VECTOR_ELT(list, (R_xlen_t) n_variables, counts);
    for (size_t i = 0; i < n; i++)
        REAL(counts)[i] = (double) cellar_table_cell(table, i).count;
    if (is_weighted) {
        weights = Rf_allocVector(REALSXP, (R_xlen_t) n);
        SET_VECTOR_ELT(list, (R_xlen_t) n_variables + 1, weights);
        for (size_t i = 0; i < n; i++)
            REAL(weights)[i] = cellar_table_cell(table, i).weighted;
    }
    for (size_t v = 0; v < n_variables; v++)
        SET_VECTOR_ELT(list, (R_xlen_t) v, glue_factor(schema, v, table, n, cell_index));
    UNPROTECT(1);
    return list;
}

/* What became of the rows, or NULL. Confidential. */
SEXP cellar_r_row_report(SEXP handle)
{
    static const char *const names[] = {"read",      "bad",     "filtered", "missing",
                                        "over_unit", "counted", NULL};
    const cellar_row_report *report = glue_report(handle);
    SEXP list;
    if (report == NULL)
        return R_NilValue;
    list = PROTECT(glue_list(names));
    SET_VECTOR_ELT(list, 0, glue_number((double) report->n_read));
    SET_VECTOR_ELT(list, 1, glue_number((double) report->n_bad));
    SET_VECTOR_ELT(list, 2, glue_number((double) report->n_filtered));
    SET_VECTOR_ELT(list, 3, glue_number((double) report->n_missing));
    SET_VECTOR_ELT(list, 4, glue_number((double) report->n_over_unit));
    SET_VECTOR_ELT(list, 5, glue_number((double) report->n_counted));
    UNPROTECT(1);
    return list;
}
