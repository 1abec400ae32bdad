/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer of a database that somebody else asked, as a CSV file with a header: "DIALECT:FILE".
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

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

/* "o", "c1", "c2", ..., "n", "ws", "ks", "m". */
static const char *name_of(const sql_request *r, size_t column, char room[24])
{
    static const char *const others[] = {"n", "ws", "ks", "m"};
    const size_t n_others = 2 + (size_t) r->has_weights + (size_t) r->has_keys;
    const size_t n_variables = r->n_columns - 1 - n_others;
    size_t other = column - n_variables - 1;
    if (column == 0)
        return "o";
    if (column <= n_variables) {
        snprintf(room, 24, "c%zu", column);
        return room;
    }
    if (other >= 1 && !r->has_weights)
        other++;
    if (other >= 2 && !r->has_keys)
        other++;
    return others[other];
}

/* Some databases write names in capitals. */
static cellar_status check_header(const sql_request *r, const cellar_csv *csv, cellar_error *err)
{
    char room[24];
    if (csv->n_columns != r->n_columns)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: the answer has other columns: expected %zu, o to m as the question "
                           "names them, with commas between",
                           csv->name, r->n_columns);
    for (size_t i = 0; i < r->n_columns; i++)
        if (strcasecmp(csv->header[i], name_of(r, i, room)) != 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the answer has other columns: expected '%s' as number %zu",
                               csv->name, name_of(r, i, room), i + 1);
    return CELLAR_OK;
}

static cellar_status take_rows(const sql_request *r, cellar_csv *csv, cellar_error *err)
{
    const char **fields = cellar_alloc(r->n_columns, sizeof *fields);
    cellar_text *texts = cellar_alloc(r->n_columns, sizeof *texts);
    cellar_status status = CELLAR_OK;
    int found = 1, is_empty = 1;
    if (fields == NULL || texts == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an answer"));
    CELLAR_TRY(cellar_csv_read_header(csv, err));
    CELLAR_TRY(check_header(r, csv, err));
    while (found) {
        CELLAR_TRY(cellar_csv_next(csv, &found, err));
        if (found)
            CELLAR_TRY(take_row(r, csv, texts, fields, err));
        is_empty &= !found;
    }
    if (is_empty) /* no row says how many there are */
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "%s: the answer has no rows: it was cut off, or the table is empty; "
                             "leave answers of empty tables out",
                             csv->name);
out:
    for (size_t i = 0; texts != NULL && i < r->n_columns; i++)
        cellar_text_clear(&texts[i]);
    cellar_free(texts);
    cellar_free(fields);
    return status;
}

cellar_status sql_read_answer(const sql_request *r, const char *name, const char *bytes,
                              size_t length, cellar_error *err)
{
    cellar_csv csv = {0};
    cellar_status status;
    cellar_csv_init(&csv, name, bytes, length, ',');
    status = take_rows(r, &csv, err);
    cellar_csv_clear(&csv);
    return status;
}

cellar_status sql_run_answer(const sql_request *r, cellar_error *err)
{
    const char *path = strchr(r->place, ':') + 1;
    char *bytes = NULL;
    size_t length = 0;
    cellar_status status = cellar_file_read(path, ANSWER_BYTES_MAX, &bytes, &length, err);
    if (status != CELLAR_OK)
        return status;
    status = sql_read_answer(r, path, bytes, length, err);
    cellar_free(bytes);
    return status;
}
