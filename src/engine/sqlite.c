/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <sqlite3.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/executor.h"

enum { STEPS_BETWEEN_LOOKS = 1000000 };

static int wants_to_stop(void *context)
{
    return sql_check_progress(context, NULL) != CELLAR_OK;
}

static cellar_status fail(const sql_request *r, sqlite3 *db, int code, cellar_error *err)
{
    if (code == SQLITE_INTERRUPT)
        return sql_check_progress(r, err);
    return cellar_fail(err, code == SQLITE_NOMEM ? CELLAR_ERR_MEMORY : CELLAR_ERR_IO, "%s: %s",
                       r->shown, db != NULL ? sqlite3_errmsg(db) : sqlite3_errstr(code));
}

static cellar_status run(const sql_request *r, sqlite3 *db, cellar_error *err)
{
    const char **fields = cellar_alloc(r->n_columns, sizeof *fields);
    sqlite3_stmt *statement = NULL;
    cellar_status status = CELLAR_OK;
    int code;
    if (fields == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    code = sqlite3_prepare_v2(db, r->sql, -1, &statement, NULL);
    if (code != SQLITE_OK)
        CELLAR_TRY(fail(r, db, code, err));
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) {
        for (size_t i = 0; i < r->n_columns; i++)
            fields[i] = (const char *) sqlite3_column_text(statement, (int) i);
        CELLAR_TRY(r->sink(r->context, fields, err));
    }
    if (code != SQLITE_DONE) /* what the database says by now may quote a value of the data */
        status = fail(r, NULL, code, err);
out:
    sqlite3_finalize(statement);
    cellar_free(fields);
    return status;
}

cellar_status sql_run_sqlite(const sql_request *r, cellar_error *err)
{
    sqlite3 *db = NULL;
    cellar_status status;
    int code = sqlite3_open_v2(r->place, &db, SQLITE_OPEN_READONLY, NULL);
    if (code == SQLITE_OK) /* views of a file that somebody else made call no harmful functions */
        code = sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    if (code == SQLITE_OK) /* what is sorted is confidential: no temporary file holds it */
        code = sqlite3_exec(db, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        status = fail(r, db, code, err);
    } else {
        sqlite3_progress_handler(db, STEPS_BETWEEN_LOOKS, wants_to_stop, (void *) r);
        status = run(r, db, err);
    }
    sqlite3_close(db);
    return status;
}
