/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From databases to tables: R asks the connection, the library writes the question and reads the
 * answer. */
#include "routines.h"

/* The name of the first dialect that one of these names of a driver begins with; NULL: of none. */
SEXP cellar_r_find_dialect(SEXP names)
{
    cellar_sql_dialect dialect;
    for (R_xlen_t i = 0; i < XLENGTH(names); i++)
        if (cellar_sql_dialect_find(Rf_translateCharUTF8(STRING_ELT(names, i)), &dialect))
            return glue_string(cellar_sql_dialect_name(dialect));
    return R_NilValue;
}

/* A piece of an answer: columns of texts. */
static cellar_status add_piece(cellar_sql_answer *answer, const char *name, SEXP columns,
                               cellar_error *err)
{
    const R_xlen_t n_columns = (R_xlen_t) cellar_sql_answer_n_columns(answer);
    const R_xlen_t n_rows = XLENGTH(columns) > 0 ? XLENGTH(VECTOR_ELT(columns, 0)) : 0;
    const char **fields = (const char **) R_alloc((size_t) n_columns, sizeof *fields);
    cellar_status status = CELLAR_OK;
    if (XLENGTH(columns) != n_columns) {
        snprintf(err->message, sizeof err->message, "%s: the answer has other columns", name);
        return CELLAR_ERR_INPUT;
    }
    for (R_xlen_t i = 0; i < n_rows && status == CELLAR_OK; i++) {
        for (R_xlen_t c = 0; c < n_columns; c++) {
            SEXP field = STRING_ELT(VECTOR_ELT(columns, c), i);
            fields[c] = field == NA_STRING ? NULL : CHAR(field);
        }
        status = cellar_sql_answer_add(answer, name, fields, err);
    }
    return status;
}

/* fetch(sql) answers a list of columns of texts, as many rows as it likes, or NULL at the end. */
static cellar_status add_pieces(cellar_sql_answer *answer, const char *name, SEXP fetch, SEXP sql,
                                cellar_error *err)
{
    SEXP call = PROTECT(Rf_lang2(fetch, sql)), piece;
    cellar_status status = CELLAR_OK;
    while (status == CELLAR_OK && (piece = Rf_eval(call, R_BaseEnv)) != R_NilValue) {
        const void *mark = vmaxget();
        PROTECT(piece);
        status = add_piece(answer, name, piece, err);
        UNPROTECT(1);
        vmaxset(mark);
    }
    UNPROTECT(1);
    return status;
}

SEXP cellar_r_tabulate_database(SEXP given, SEXP place, SEXP fetch)
{
    SEXP handle = PROTECT(glue_new(GLUE_TABLE)), question = PROTECT(glue_new(GLUE_QUESTION));
    SEXP held = PROTECT(glue_new(GLUE_ANSWER)), text;
    cellar_sql_source source = cellar_sql_source_default();
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    cellar_tabulate_spec spec;
    cellar_sql_dialect dialect = CELLAR_SQL_N_DIALECTS;
    char *sql = NULL;
    cellar_sql_answer *answer = NULL;
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err;
    cellar_status status;
    source.table = glue_needed_text(place, "table");
    source.order_by = glue_texts(place, "order_by", &source.n_order_by);
    if (!cellar_sql_dialect_find(glue_needed_text(place, "dialect"), &dialect))
        Rf_error("expected a dialect");
    spec = glue_spec(given, secret);
    status = cellar_sql_write(&spec, &source, dialect, &sql, &err);
    glue_wipe(secret); /* a question that would need it was refused */
    spec.record_secret = NULL;
    glue_put(question, sql);
    if (status == CELLAR_OK)
        status = cellar_sql_answer_create(&spec, &source, dialect, &answer, &err);
    glue_put(held, answer);
    if (status == CELLAR_OK) {
        text = PROTECT(glue_string(sql));
        status = add_pieces(answer, cellar_sql_dialect_name(dialect), fetch, text, &err);
        UNPROTECT(1);
    }
    if (status == CELLAR_OK)
        status = cellar_sql_answer_table(answer, &table, &report, &err);
    glue_put(handle, table);
    if (status == CELLAR_OK)
        glue_put_report(handle, &report);
    glue_close(held); /* it holds true counts, and points at what ends here */
    UNPROTECT(3);
    return status == CELLAR_OK ? handle : glue_fail(status, &err);
}
