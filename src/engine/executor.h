/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Databases that are asked: each executor sends one question and hands the rows of the answer on.
 */
#ifndef CELLAR_ENGINE_EXECUTOR_H
#define CELLAR_ENGINE_EXECUTOR_H

#include <cellar/sql.h>

/* Codes and names go to the database in its own encoding. */
#define SQL_NO_SUCH_CHARACTER                                                                      \
    "the question, or a value, has a character that the encoding of the database does not have"

/* Class 40 of SQLSTATE: a replica catches up, or two wait for each other. */
#define SQL_GIVEN_UP "the server gave the question up for the work of others; ask again"

/* Receives one row as texts; a field may be NULL. */
typedef cellar_status sql_row_sink(void *context, const char *const *fields, cellar_error *err);

typedef struct sql_request {
    const char *place;    /* what stands behind the colon of "postgresql:…" */
    const char *shown;    /* names the database in messages: never a password */
    const char *settings; /* a statement to run before, in the same transaction; NULL: none */
    const char *sql;
    size_t n_columns; /* of a row */
    int has_weights, has_keys;
    const cellar_progress *progress;
    sql_row_sink *sink;
    void *context;
} sql_request;

/* Each asks inside one read-only transaction, and holds one row at a time. */
cellar_status sql_run_sqlite(const sql_request *request, cellar_error *err);
cellar_status sql_run_postgresql(const sql_request *request, cellar_error *err);

/* Of a data source with a driver; asked before, its kind decides the dialect. */
cellar_status sql_run_odbc(const sql_request *request, cellar_error *err);
cellar_status sql_find_odbc(const char *place, cellar_sql_dialect *dialect, cellar_error *err);
/* Has no transactions: what one query sees is its snapshot. */
cellar_status sql_run_clickhouse(const sql_request *request, cellar_error *err);

/* Of an answer that was asked for elsewhere: no database is asked. */
cellar_status sql_run_answer(const sql_request *request, cellar_error *err);
/* The same of bytes that are at hand; `name` is that of the file, for messages. */
cellar_status sql_read_answer(const sql_request *request, const char *name, const char *bytes,
                              size_t length, cellar_error *err);
cellar_status sql_find_answer(const char *place, cellar_sql_dialect *dialect, cellar_error *err);

/* CELLAR_ERR_CANCELLED when the caller wants to stop. */
cellar_status sql_check_progress(const sql_request *request, cellar_error *err);

#endif
