/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Databases that have an ODBC driver, through unixODBC, which is loaded when it is needed. What
 * kind of database it is says its driver. Passwords come from ~/.odbc.ini or the driver's own
 * files; one in the place is refused. */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <sql.h>
#include <sqlext.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "engine/executor.h"

enum { FIELD_BYTES = 256 };
#define LOGIN_SECONDS 30UL

#define ODBC_FUNCTIONS(X)                                                                          \
    X(SQLAllocHandle)                                                                              \
    X(SQLFreeHandle)                                                                               \
    X(SQLSetEnvAttr)                                                                               \
    X(SQLSetConnectAttr)                                                                           \
    X(SQLSetStmtAttr)                                                                              \
    X(SQLDriverConnect)                                                                            \
    X(SQLDisconnect)                                                                               \
    X(SQLGetInfo)                                                                                  \
    X(SQLExecDirect)                                                                               \
    X(SQLCancel)                                                                                   \
    X(SQLMoreResults)                                                                              \
    X(SQLFreeStmt)                                                                                 \
    X(SQLEndTran)                                                                                  \
    X(SQLNumResultCols)                                                                            \
    X(SQLFetch)                                                                                    \
    X(SQLGetData)                                                                                  \
    X(SQLGetDiagRec)

#define ODBC_POINTER(name) __typeof__(name) *(name);
typedef struct odbc {
    ODBC_FUNCTIONS(ODBC_POINTER)
    const char *shown;
    SQLHENV environment;
    SQLHDBC connection;
    SQLHSTMT statement;
    int is_connected;
} odbc;

static cellar_status load(odbc *o, cellar_error *err)
{
    void *handle = dlopen("libodbc.so.2", RTLD_NOW | RTLD_LOCAL); /* stays until the process ends */
    int is_whole = handle != NULL;
#define ODBC_FIND(name)                                                                            \
    if (is_whole) {                                                                                \
        *(void **) &o->name = dlsym(handle, #name);                                                \
        is_whole = o->name != NULL;                                                                \
    }
    ODBC_FUNCTIONS(ODBC_FIND)
    return is_whole ? CELLAR_OK
                    : cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                                  "ODBC drivers are asked through unixODBC, which cannot be "
                                  "loaded; install libodbc2");
}

/* What a SQLSTATE says, in words of our own: those of the server may be about a value of the data,
 * for a function of a view can raise whatever it likes. */
static const char *meaning_of(const char *state)
{
    static const char *const meanings[][2] = {
        {"42S02", "there is no such table"},
        {"42P01", "there is no such table"},
        {"42S22", "there is no such column"},
        {"42703", "there is no such column"},
        {"22P05", SQL_NO_SUCH_CHARACTER},
        {"40", SQL_GIVEN_UP},
        {"42", "the question is not understood or not allowed"},
        {"08", "the connection broke"},
        {"53", "the server has no room"},
        {"57", "the server ended the question"}};
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strncmp(state, meanings[i][0], strlen(meanings[i][0])) == 0)
            return meanings[i][1];
    return "the question failed";
}

/* What the driver says about a connection, which has seen no data. */
static cellar_status fail(const odbc *o, SQLSMALLINT type, SQLHANDLE handle, cellar_error *err)
{
    SQLCHAR state[8] = "", said[512] = "";
    SQLINTEGER code;
    SQLSMALLINT length;
    o->SQLGetDiagRec(type, handle, 1, state, &code, said, sizeof said, &length);
    if (type == SQL_HANDLE_STMT)
        return cellar_fail(err, CELLAR_ERR_IO, "%s: %s (SQLSTATE %.5s)", o->shown,
                           meaning_of((const char *) state), (const char *) state);
    return cellar_fail(err, CELLAR_ERR_IO, "%s: %.*s", o->shown,
                       (int) strcspn((const char *) said, "\r\n"), (const char *) said);
}

/* Whether a word of a connection string is about a password: PWD, Password, sslpwd, AccessToken. */
static int is_secret(const char *word, size_t length)
{
    static const char *const parts[] = {"pwd", "pass", "secret", "token"};
    for (size_t at = 0; at < length; at++)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            const size_t n = strlen(parts[i]);
            if (n <= length - at && strncasecmp(word + at, parts[i], n) == 0)
                return 1;
        }
    return 0;
}

/* A place is a connection string, or the name of a data source. */
static cellar_status check_place(const char *place, cellar_error *err)
{
    for (const char *at = place, *equals; (equals = strchr(at, '=')) != NULL; at = equals + 1) {
        const char *word = equals; /* back to where it begins, wherever quotes and braces stand */
        while (word > at && word[-1] != ';')
            word--;
        if (is_secret(word, (size_t) (equals - word)))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a password does not belong into a command line: keep it in "
                               "~/.odbc.ini or a file of the driver");
    }
    return CELLAR_OK;
}

static cellar_status begin(odbc *o, const char *place, cellar_error *err)
{
    cellar_text text = {0};
    cellar_status status = CELLAR_OK;
    SQLRETURN code;
    CELLAR_TRY(check_place(place, err));
    CELLAR_TRY(load(o, err));
    cellar_text_printf(&text, "%s%s", strchr(place, '=') == NULL ? "DSN=" : "", place);
    if (text.failed ||
        !SQL_SUCCEEDED(o->SQLAllocHandle(SQL_HANDLE_ENV, SQL_NULL_HANDLE, &o->environment)))
        CELLAR_TRY(cellar_fail_memory(err, "a connection"));
    o->SQLSetEnvAttr(o->environment, SQL_ATTR_ODBC_VERSION, (SQLPOINTER) SQL_OV_ODBC3, 0);
    if (!SQL_SUCCEEDED(o->SQLAllocHandle(SQL_HANDLE_DBC, o->environment, &o->connection)))
        CELLAR_TRY(cellar_fail_memory(err, "a connection"));
    o->SQLSetConnectAttr(o->connection, SQL_ATTR_LOGIN_TIMEOUT, (SQLPOINTER) LOGIN_SECONDS, 0);
    o->SQLSetConnectAttr(o->connection, SQL_ATTR_ACCESS_MODE, (SQLPOINTER) SQL_MODE_READ_ONLY, 0);
    o->SQLSetConnectAttr(o->connection, SQL_ATTR_AUTOCOMMIT, (SQLPOINTER) SQL_AUTOCOMMIT_OFF, 0);
    code = o->SQLDriverConnect(o->connection, NULL, (SQLCHAR *) text.bytes, SQL_NTS, NULL, 0, NULL,
                               SQL_DRIVER_NOPROMPT);
    o->is_connected = SQL_SUCCEEDED(code);
    if (!o->is_connected)
        CELLAR_TRY(fail(o, SQL_HANDLE_DBC, o->connection, err));
out:
    cellar_text_clear(&text);
    return status;
}

static void end(odbc *o)
{
    if (o->statement != NULL)
        o->SQLFreeHandle(SQL_HANDLE_STMT, o->statement);
    if (o->is_connected) {
        o->SQLEndTran(SQL_HANDLE_DBC, o->connection, SQL_ROLLBACK);
        o->SQLDisconnect(o->connection);
    }
    if (o->connection != NULL)
        o->SQLFreeHandle(SQL_HANDLE_DBC, o->connection);
    if (o->environment != NULL)
        o->SQLFreeHandle(SQL_HANDLE_ENV, o->environment);
}

cellar_status sql_find_odbc(const char *place, cellar_sql_dialect *dialect, cellar_error *err)
{
    odbc o = {.shown = "odbc"};
    char name[64] = "";
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(begin(&o, place, err));
    if (!SQL_SUCCEEDED(
            o.SQLGetInfo(o.connection, SQL_DBMS_NAME, name, (SQLSMALLINT) sizeof name, NULL)))
        CELLAR_TRY(fail(&o, SQL_HANDLE_DBC, o.connection, err));
    if (!cellar_sql_dialect_find(name, dialect))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                               "odbc: the driver calls its database '%.60s', whose SQL is not "
                               "known here",
                               name));
out:
    end(&o);
    return status;
}

/* ---- a question that can be cancelled -------------------------------------------------- */

/* SQLExecDirect() returns when the database has counted; meanwhile another thread looks up now and
 * then whether anybody still wants the answer. */
typedef struct watch {
    const odbc *o;
    const sql_request *request;
    pthread_mutex_t lock;
    pthread_cond_t is_over;
    int over;
} watch;

static void *watch_it(void *context)
{
    watch *w = context;
    struct timespec until;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->is_over, &w->lock, &until);
        if (!w->over && sql_check_progress(w->request, NULL) != CELLAR_OK)
            w->o->SQLCancel(w->o->statement);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static cellar_status execute(const odbc *o, const sql_request *r, cellar_error *err)
{
    watch w = {.o = o,
               .request = r,
               .lock = PTHREAD_MUTEX_INITIALIZER,
               .is_over = PTHREAD_COND_INITIALIZER};
    pthread_t watcher;
    cellar_status status;
    SQLRETURN code;
    if (pthread_create(&watcher, NULL, watch_it, &w) != 0)
        return cellar_fail_memory(err, "a thread");
    code = o->SQLExecDirect(o->statement, (SQLCHAR *) r->sql, SQL_NTS);
    pthread_mutex_lock(&w.lock);
    w.over = 1;
    pthread_cond_signal(&w.is_over);
    pthread_mutex_unlock(&w.lock);
    pthread_join(watcher, NULL);
    pthread_cond_destroy(&w.is_over);
    pthread_mutex_destroy(&w.lock);
    status = sql_check_progress(r, err);
    if (status != CELLAR_OK)
        return status;
    return SQL_SUCCEEDED(code) ? CELLAR_OK : fail(o, SQL_HANDLE_STMT, o->statement, err);
}

static cellar_status set(const odbc *o, const char *settings, cellar_error *err)
{
    if (settings == NULL)
        return CELLAR_OK;
    if (!SQL_SUCCEEDED(o->SQLExecDirect(o->statement, (SQLCHAR *) settings, SQL_NTS)))
        return fail(o, SQL_HANDLE_STMT, o->statement, err);
    while (SQL_SUCCEEDED(o->SQLMoreResults(o->statement))) /* one for each setting */
        continue;
    o->SQLFreeStmt(o->statement, SQL_CLOSE);
    return CELLAR_OK;
}

/* Fields of an answer are whole and decimal numbers, which are short. */
static cellar_status take_rows(const odbc *o, const sql_request *r, cellar_error *err)
{
    const char **fields = cellar_alloc(r->n_columns, sizeof *fields);
    char *bytes = cellar_alloc(r->n_columns, FIELD_BYTES);
    cellar_status status = CELLAR_OK;
    SQLRETURN code = SQL_SUCCESS;
    if (fields == NULL || bytes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    while (SQL_SUCCEEDED(code = o->SQLFetch(o->statement))) {
        for (size_t i = 0; i < r->n_columns; i++) {
            SQLLEN length = 0;
            code = o->SQLGetData(o->statement, (SQLUSMALLINT) (i + 1), SQL_C_CHAR,
                                 bytes + i * FIELD_BYTES, FIELD_BYTES, &length);
            if (!SQL_SUCCEEDED(code))
                CELLAR_TRY(fail(o, SQL_HANDLE_STMT, o->statement, err));
            fields[i] = length == SQL_NULL_DATA ? NULL : bytes + i * FIELD_BYTES;
        }
        CELLAR_TRY(r->sink(r->context, fields, err));
        CELLAR_TRY(sql_check_progress(r, err));
    }
    if (code != SQL_NO_DATA)
        CELLAR_TRY(fail(o, SQL_HANDLE_STMT, o->statement, err));
out:
    cellar_free(fields);
    cellar_free(bytes);
    return status;
}

cellar_status sql_run_odbc(const sql_request *r, cellar_error *err)
{
    odbc o = {.shown = r->shown};
    cellar_status status = CELLAR_OK;
    SQLSMALLINT n_columns = 0;
    CELLAR_TRY(begin(&o, r->place, err));
    if (!SQL_SUCCEEDED(o.SQLAllocHandle(SQL_HANDLE_STMT, o.connection, &o.statement)))
        CELLAR_TRY(cellar_fail_memory(err, "a question"));
    o.SQLSetStmtAttr(o.statement, SQL_ATTR_NOSCAN, (SQLPOINTER) SQL_NOSCAN_ON, 0);
    CELLAR_TRY(set(&o, r->settings, err));
    CELLAR_TRY(execute(&o, r, err));
    o.SQLNumResultCols(o.statement, &n_columns);
    if ((size_t) n_columns != r->n_columns)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer has other columns", r->shown));
    CELLAR_TRY(take_rows(&o, r, err));
out:
    end(&o);
    return status;
}
