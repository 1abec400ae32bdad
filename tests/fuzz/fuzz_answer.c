/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers of databases: any bytes in the place of a file give a message, or cells that hold as many
 * records as were counted.
 *
 * The first byte of an input says what was asked; the rest is the file. */
#include <stdint.h>
#include <string.h>

#include <cellar/codelist.h>

#include "base/error.h"
#include "base/memory.h"
#include "engine/executor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    WITH_WEIGHTS = 1,
    WITH_KEYS = 2,
    DECIMAL_KEYS = 4,
    FOR_STORE = 8,
    CLICKHOUSE = 16,
    SKIP = 32
};

static const cellar_codelist *code_list(void)
{
    static const char codes[] = "code\na\nb\nc\n";
    static cellar_codelist *list;
    if (list == NULL)
        CELLAR_ASSERT(cellar_codelist_parse("codes", codes, strlen(codes), &list, NULL) ==
                      CELLAR_OK);
    return list;
}

static cellar_status take_row(void *answer, const char *const *fields, cellar_error *err)
{
    return cellar_sql_answer_add(answer, "fuzz", fields, err);
}

static void check_cells(cellar_sql_answer *answer)
{
    cellar_counted_cells cells;
    cellar_row_report rows;
    uint64_t n = 0;
    if (cellar_sql_answer_cells(answer, &cells, &rows, NULL) != CELLAR_OK)
        return;
    for (size_t i = 0; i < cells.n; i++) {
        n += cells.counts[i];
        for (size_t v = 0; v < 2; v++)
            CELLAR_ASSERT(cells.leaves[v][i] < 3 || cells.leaves[v][i] == CELLAR_LEAF_MISSING);
    }
    CELLAR_ASSERT(n == rows.n_counted && rows.n_read == rows.n_counted + rows.n_filtered +
                                                            rows.n_missing + rows.n_over_unit +
                                                            rows.n_bad);
}

static void check_table(cellar_sql_answer *answer)
{
    cellar_table *table = NULL;
    cellar_row_report rows;
    cellar_error err = {""};
    const cellar_status status = cellar_sql_answer_table(answer, &table, &rows, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (table != NULL));
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        CELLAR_ASSERT(cellar_table_n_records(table) == rows.n_counted);
    cellar_table_free(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int asked = size > 0 ? data[0] : 0;
    const cellar_variable_spec variables[2] = {{.column = "a", .codelist = code_list()},
                                               {.column = "b", .codelist = code_list()}};
    const char *const where[] = {"a!=c"};
    cellar_sql_source source = cellar_sql_source_default();
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_sql_answer *answer = NULL;
    sql_request request = {.shown = "fuzz", .sink = take_row};
    cellar_error err = {""};
    cellar_status status;
    spec.variables = variables;
    spec.n_variables = 2;
    spec.where = where;
    spec.n_where = 1;
    spec.missing_policy = CELLAR_MISSING_DROP;
    spec.weight_column = asked & WITH_WEIGHTS ? "w" : NULL;
    spec.record_key_column = asked & WITH_KEYS ? "k" : NULL;
    spec.key_range = (asked & WITH_KEYS) && !(asked & DECIMAL_KEYS) ? 256 : 0;
    spec.reader.bad_rows = asked & SKIP ? CELLAR_BAD_ROWS_SKIP : CELLAR_BAD_ROWS_ERROR;
    source.table = "people";
    source.keep_missing = (asked & FOR_STORE) != 0;
    CELLAR_ASSERT(
        cellar_sql_answer_create(&spec, &source,
                                 asked & CLICKHOUSE ? CELLAR_SQL_CLICKHOUSE : CELLAR_SQL_POSTGRESQL,
                                 &answer, &err) == CELLAR_OK);
    request.context = answer;
    request.n_columns = cellar_sql_answer_n_columns(answer);
    request.has_weights = spec.weight_column != NULL;
    request.has_keys = spec.record_key_column != NULL;
    status = sql_read_answer(&request, "fuzz.csv", (const char *) data + (size > 0),
                             size - (size > 0), &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK) {
        check_cells(answer);
        check_table(answer);
    }
    cellar_sql_answer_free(answer);
    return 0;
}
