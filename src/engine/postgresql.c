/* SPDX-License-Identifier: GPL-3.0-or-later */
/* PostgreSQL through libpq, which is loaded when it is needed. Passwords come from its own files
 * and variables (~/.pgpass, PGPASSWORD, PGSERVICE); a password in the place is refused. */
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include <libpq-fe.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/executor.h"

enum { LOOK_UP_MS = 200 };

#define PG_FUNCTIONS(X)                                                                            \
    X(PQconnectStart)                                                                              \
    X(PQconnectPoll)                                                                               \
    X(PQstatus)                                                                                    \
    X(PQerrorMessage)                                                                              \
    X(PQfinish)                                                                                    \
    X(PQexec)                                                                                      \
    X(PQsendQuery)                                                                                 \
    X(PQsetSingleRowMode)                                                                          \
    X(PQsocket)                                                                                    \
    X(PQisBusy)                                                                                    \
    X(PQconsumeInput)                                                                              \
    X(PQgetResult)                                                                                 \
    X(PQresultStatus)                                                                              \
    X(PQresultErrorField)                                                                          \
    X(PQnfields)                                                                                   \
    X(PQntuples)                                                                                   \
    X(PQgetisnull)                                                                                 \
    X(PQgetvalue)                                                                                  \
    X(PQclear)                                                                                     \
    X(PQgetCancel)                                                                                 \
    X(PQcancel)                                                                                    \
    X(PQfreeCancel)                                                                                \
    X(PQconninfoParse)                                                                             \
    X(PQconninfoFree)                                                                              \
    X(PQsetNoticeReceiver)

#define PG_POINTER(name) __typeof__(name) *(name);
typedef struct pg_library {
    PG_FUNCTIONS(PG_POINTER)
} pg_library;

static cellar_status load(pg_library *pg, cellar_error *err)
{
    void *handle = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL); /* stays until the process ends */
    int is_whole = handle != NULL;
#define PG_FIND(name)                                                                              \
    if (is_whole) {                                                                                \
        *(void **) &pg->name = dlsym(handle, #name);                                               \
        is_whole = pg->name != NULL;                                                               \
    }
    PG_FUNCTIONS(PG_FIND)
    return is_whole ? CELLAR_OK
                    : cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                                  "PostgreSQL is asked through libpq, which cannot be loaded; "
                                  "install libpq5");
}

/* The first sentence that the library or the server said, without what was asked. */
static cellar_status fail(const pg_library *pg, const sql_request *r, const PGconn *connection,
                          cellar_error *err)
{
    const char *said = pg->PQerrorMessage(connection);
    return cellar_fail(err, CELLAR_ERR_IO, "%s: %.*s", r->shown, (int) strcspn(said, "\n"), said);
}

/* Whether no value of the data can stand in an error: it is about a place in the text of the
 * question, about rights, or about the server; and no function of a view raised it. */
static int may_be_shown(const pg_library *pg, const PGresult *result, const char *state)
{
    static const char *const about_the_server[] = {"08", "42501", "53", "57"};
    int may = pg->PQresultErrorField(result, PG_DIAG_STATEMENT_POSITION) != NULL;
    for (size_t i = 0; i < sizeof about_the_server / sizeof *about_the_server; i++)
        may |= strncmp(state, about_the_server[i], strlen(about_the_server[i])) == 0;
    return may && pg->PQresultErrorField(result, PG_DIAG_CONTEXT) == NULL;
}

/* An error that a value of the data caused may quote it: only its kind is shown then. */
static cellar_status fail_result(const pg_library *pg, const sql_request *r,
                                 const PGconn *connection, const PGresult *result,
                                 cellar_error *err)
{
    const char *state = pg->PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (state != NULL && !may_be_shown(pg, result, state))
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: %s (SQLSTATE %s)", r->shown,
                           strcmp(state, "22P05") == 0    ? SQL_NO_SUCH_CHARACTER
                           : strncmp(state, "40", 2) == 0 ? SQL_GIVEN_UP
                                                          : "a value of the data cannot be counted",
                           state);
    return fail(pg, r, connection, err);
}

/* What libpq would say of a place that it cannot read may quote a password. */
static cellar_status check_place(const pg_library *pg, const char *place, cellar_error *err)
{
    PQconninfoOption *options = pg->PQconninfoParse(place, NULL);
    int has_password = 0;
    if (options == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "expected a connection string of libpq, such as "
                           "'postgresql:host=HOST dbname=NAME' or postgresql://HOST/NAME");
    for (size_t i = 0; options[i].keyword != NULL; i++)
        has_password |= options[i].val != NULL && options[i].dispchar[0] == '*';
    pg->PQconninfoFree(options);
    return has_password ? cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                      "a password does not belong into a command line: keep it in "
                                      "~/.pgpass, a service file or PGPASSWORD")
                        : CELLAR_OK;
}

static cellar_status execute(const pg_library *pg, const sql_request *r, PGconn *connection,
                             const char *sql, cellar_error *err)
{
    PGresult *result = pg->PQexec(connection, sql);
    const cellar_status status =
        pg->PQresultStatus(result) == PGRES_COMMAND_OK ? CELLAR_OK : fail(pg, r, connection, err);
    pg->PQclear(result);
    return status;
}

/* Waits for the server, and looks up now and then whether anybody still wants the answer. */
static cellar_status wait_for(const pg_library *pg, const sql_request *r, PGconn *connection,
                              cellar_error *err)
{
    while (pg->PQisBusy(connection)) {
        struct pollfd wanted = {.fd = pg->PQsocket(connection), .events = POLLIN};
        const cellar_status status = sql_check_progress(r, err);
        if (status != CELLAR_OK)
            return status;
        if (poll(&wanted, 1, LOOK_UP_MS) < 0 && errno != EINTR)
            return cellar_fail_errno(err, r->shown, "wait for the answer");
        if (!pg->PQconsumeInput(connection))
            return fail(pg, r, connection, err);
    }
    return CELLAR_OK;
}

static void cancel(const pg_library *pg, PGconn *connection)
{
    char ignored[256];
    PGcancel *handle = pg->PQgetCancel(connection);
    if (handle != NULL)
        (void) pg->PQcancel(handle, ignored, sizeof ignored);
    pg->PQfreeCancel(handle);
}

static cellar_status take_row(const pg_library *pg, const sql_request *r, const PGresult *result,
                              const char **fields, cellar_error *err)
{
    if ((size_t) pg->PQnfields(result) != r->n_columns)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer has other columns", r->shown);
    for (size_t i = 0; i < r->n_columns; i++)
        fields[i] = pg->PQgetisnull(result, 0, (int) i) ? NULL : pg->PQgetvalue(result, 0, (int) i);
    return r->sink(r->context, fields, err);
}

static cellar_status take_rows(const pg_library *pg, const sql_request *r, PGconn *connection,
                               cellar_error *err)
{
    const char **fields = cellar_alloc(r->n_columns, sizeof *fields);
    cellar_status status = CELLAR_OK;
    int is_last = 0;
    if (fields == NULL)
        return cellar_fail_memory(err, "an answer");
    while (status == CELLAR_OK && !is_last) {
        PGresult *result = NULL;
        status = wait_for(pg, r, connection, err);
        if (status == CELLAR_OK)
            result = pg->PQgetResult(connection);
        if (status == CELLAR_OK && result == NULL)
            status = fail(pg, r, connection, err); /* it ended before the last row was announced */
        else if (result != NULL && pg->PQresultStatus(result) == PGRES_SINGLE_TUPLE)
            status = take_row(pg, r, result, fields, err);
        else if (result != NULL && pg->PQresultStatus(result) == PGRES_TUPLES_OK)
            is_last = 1;
        else if (result != NULL)
            status = fail_result(pg, r, connection, result, err);
        pg->PQclear(result);
    }
    if (status != CELLAR_OK)
        cancel(pg, connection);
    cellar_free(fields);
    return status;
}

/* libpq would print what functions of a view say, which may be values of the data. */
static void ignore_notice(void *context, const PGresult *notice)
{
    (void) context, (void) notice;
}

/* A server that does not answer can be left. */
static cellar_status connect_to(const pg_library *pg, const sql_request *r, const char *place,
                                PGconn **connection, cellar_error *err)
{
    PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
    cellar_status status = CELLAR_OK;
    *connection = pg->PQconnectStart(place);
    if (*connection == NULL)
        return cellar_fail_memory(err, "a connection");
    pg->PQsetNoticeReceiver(*connection, ignore_notice, NULL);
    while (pg->PQstatus(*connection) != CONNECTION_BAD && wanted != PGRES_POLLING_OK &&
           wanted != PGRES_POLLING_FAILED) {
        struct pollfd socket = {.fd = pg->PQsocket(*connection),
                                .events = wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT};
        status = sql_check_progress(r, err);
        if (status != CELLAR_OK)
            return status;
        if (poll(&socket, 1, LOOK_UP_MS) != 0)
            wanted = pg->PQconnectPoll(*connection);
    }
    return pg->PQstatus(*connection) == CONNECTION_OK ? CELLAR_OK : fail(pg, r, *connection, err);
}

cellar_status sql_run_postgresql(const sql_request *r, cellar_error *err)
{
    pg_library pg = {0};
    PGconn *connection = NULL;
    cellar_text place = {0};
    cellar_status status = CELLAR_OK;
    cellar_text_printf(&place, "%s%s", strncmp(r->place, "//", 2) == 0 ? "postgresql:" : "",
                       r->place);
    if (place.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a connection"));
    CELLAR_TRY(load(&pg, err));
    CELLAR_TRY(check_place(&pg, place.bytes, err));
    CELLAR_TRY(connect_to(&pg, r, place.bytes, &connection, err));
    /* One snapshot. */
    CELLAR_TRY(execute(&pg, r, connection,
                       "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", err));
    CELLAR_TRY(execute(&pg, r, connection, r->settings, err));
    if (!pg.PQsendQuery(connection, r->sql) || !pg.PQsetSingleRowMode(connection))
        CELLAR_TRY(fail(&pg, r, connection, err));
    CELLAR_TRY(take_rows(&pg, r, connection, err));
out:
    if (connection != NULL)
        pg.PQfinish(connection);
    cellar_text_clear(&place);
    return status;
}
