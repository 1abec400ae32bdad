/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a database that somebody else asked, as a CSV file with a header: "DIALECT:FILE".
 */
#include <string.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "engine/executor.h"

static const size_t ANSWER_BYTES_MAX = (size_t) 1 << 34;

cellar_status sql_find_answer(const char *place, cellar_sql_dialect *dialect, cellar_error *err)
{
    const size_t n = strcspn(place, ":");
    for (int d = 0; place[n] == ':' && d < CELLAR_SQL_N_DIALECTS; d++) {
        const char *name = cellar_sql_dialect_name((cellar_sql_dialect) d);
        if (strlen(name) == n && strncmp(place, name, n) == 0) {
            *dialect = (cellar_sql_dialect) d;
            return CELLAR_OK;
        }
    }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "expected an answer such as answer:duckdb:FILE.csv, with the dialect of "
                       "cellar sql --dialect");
}

/* An empty field is NULL. */
static cellar_status take_row(const sql_request *r, const cellar_csv *csv, cellar_text *texts,
                              const char **fields, cellar_error *err)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        const cellar_csv_field *field = &csv->fields[i];
        cellar_text_reset(&texts[i]);
        cellar_text_add(&texts[i], field->bytes, field->length);
        if (texts[i].failed)
            return cellar_fail_memory(err, "an answer");
        fields[i] = field->length > 0 ? texts[i].bytes : NULL;
    }
    return r->sink(r->context, fields, err);
}

static cellar_status take_rows(const sql_request *r, cellar_csv *csv, cellar_error *err)
{
    const char **fields = cellar_alloc(r->n_columns, sizeof *fields);
    cellar_text *texts = cellar_alloc(r->n_columns, sizeof *texts);
    cellar_status status = CELLAR_OK;
    int found = 1;
    if (fields == NULL || texts == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(cellar_csv_read_header(csv, err));
    if (csv->n_columns != r->n_columns)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: the answer has other columns", r->shown));
    while (found) {
        CELLAR_TRY(cellar_csv_next(csv, &found, err));
        if (found)
            CELLAR_TRY(take_row(r, csv, texts, fields, err));
    }
out:
    for (size_t i = 0; texts != NULL && i < r->n_columns; i++)
        cellar_text_clear(&texts[i]);
    cellar_free(texts);
    cellar_free(fields);
    return status;
}

cellar_status sql_run_answer(const sql_request *r, cellar_error *err)
{
    const char *path = strchr(r->place, ':') + 1;
    cellar_csv csv = {0};
    char *bytes = NULL;
    size_t length = 0;
    cellar_status status = cellar_file_read(path, ANSWER_BYTES_MAX, &bytes, &length, err);
    if (status != CELLAR_OK)
        return status;
    cellar_csv_init(&csv, path, bytes, length, ',');
    status = take_rows(r, &csv, err);
    cellar_csv_clear(&csv);
    cellar_free(bytes);
    return status;
}
