/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counting where the data live: a tabulation as one SQL question, and the answer as a table. Only
 * cells leave the database: categories, counts, sums of weights and of record keys. */
#ifndef CELLAR_SQL_H
#define CELLAR_SQL_H

#include <cellar/columns.h>
#include <cellar/tabulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cellar_sql_dialect {
    CELLAR_SQL_POSTGRESQL,
    CELLAR_SQL_SQLITE,
    CELLAR_SQL_MARIADB,
    CELLAR_SQL_DUCKDB,
    CELLAR_SQL_CLICKHOUSE,
    CELLAR_SQL_SPARK,
    CELLAR_SQL_BIGQUERY,
    CELLAR_SQL_SNOWFLAKE,
    CELLAR_SQL_TRINO,
    CELLAR_SQL_N_DIALECTS
} cellar_sql_dialect;

/* "postgresql", ...; NULL beyond the last. */
CELLAR_API const char *cellar_sql_dialect_name(cellar_sql_dialect dialect);
/* The dialect of a database by what drivers call it: "PostgreSQL", "SQLite", "Spark SQL". Answers 1
 * and sets *out, or 0 when the name begins with none of the dialects' (NULL included). */
CELLAR_API int cellar_sql_dialect_find(const char *name, cellar_sql_dialect *out);
/* 1 when its answers are compared with cellar_tabulate() by tests; 0: its syntax was written by the
 * manual of the engine, and nothing was run. */
CELLAR_API int cellar_sql_dialect_is_tested(cellar_sql_dialect dialect);

/* Where the records are. Start from cellar_sql_source_default(). */
typedef struct cellar_sql_source {
    const char *table; /* "people" or "schema.people"; a part with a point in it in double quotes */
    const char *const *order_by; /* columns: which records of a unit come first; needed where the
                                    spec bounds the records of units, and then without ties */
    size_t n_order_by;
    /* One table of several that are counted of the same records (cellar_tabulate_many()): positions
     * of its variables in the spec; rows with a missing value in any variable do not count. NULL:
     * all variables. */
    const cellar_tabulate_set *set;
    /* 1: for cellar_store_build_from_cells(). A missing value is a category of its own, whatever
     * the spec does with it, and what only single records have is refused: weights, units, record
     * keys. The answer has cells then, and no table. */
    int keep_missing;
} cellar_sql_source;

CELLAR_API cellar_sql_source cellar_sql_source_default(void); /* no table yet */

/* Writes the question of `spec`, whose `path` and `reader` but for `bad_rows` are not read. Domains
 * are declared, or implied by the recode; bands lie between a bottom and a top. What cannot be
 * asked of the database is refused with the reason (CELLAR_ERR_UNSUPPORTED): record keys that would
 * be derived from a secret, columns of counts. Free *sql with cellar_sql_free(). On failure it is
 * NULL.
 *
 * The answer has a column `o` (0 for cells that count; below 0 for rows that do not, and why), a
 * column c1, c2, ... for each variable (the leaf of its domain; -2: missing), the number of records
 * `n`, and where they are asked for `ws` and `ks`, sums of weights and of keys as texts; last `m`,
 * how many rows the answer has, by which an answer is found out that was cut off (0: the database
 * cannot say). Its rows are in no order. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_write(const cellar_tabulate_spec *spec,
                                                           const cellar_sql_source *source,
                                                           cellar_sql_dialect dialect, char **sql,
                                                           cellar_error *err) CELLAR_NONNULL(1, 2);
CELLAR_API void cellar_sql_free(char *sql); /* NULL is fine */

/* The answer, as it comes: give each row, then take the table. */
typedef struct cellar_sql_answer cellar_sql_answer;
/* `spec`, `source` and what they point at outlive the answer. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_answer_create(
    const cellar_tabulate_spec *spec, const cellar_sql_source *source, cellar_sql_dialect dialect,
    cellar_sql_answer **out, cellar_error *err) CELLAR_NONNULL(1, 2);
CELLAR_API void cellar_sql_answer_free(cellar_sql_answer *answer); /* NULL is fine */
/* How many columns a row has. */
CELLAR_API size_t cellar_sql_answer_n_columns(const cellar_sql_answer *answer) CELLAR_NONNULL(1);
/* One row as texts, in the order of the question; `source` names the database in messages, and each
 * of several databases has its own name. A row that says that a value cannot be counted is an error
 * (CELLAR_ERR_INPUT), as in a file. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_answer_add(cellar_sql_answer *answer,
                                                                const char *source,
                                                                const char *const *fields,
                                                                cellar_error *err)
    CELLAR_NONNULL(1, 3);
/* The table of all rows that were given, as cellar_tabulate() would make it of the records. Once.
 * `report` may be NULL. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_answer_table(cellar_sql_answer *answer,
                                                                  cellar_table **out,
                                                                  cellar_row_report *report,
                                                                  cellar_error *err)
    CELLAR_NONNULL(1);

/* The cells of all rows that were given, instead of a table; several databases may have the same.
 * They live as long as the answer. `report` may be NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_answer_cells(cellar_sql_answer *answer,
                                                                  cellar_counted_cells *out,
                                                                  cellar_row_report *report,
                                                                  cellar_error *err)
    CELLAR_NONNULL(1, 2);

/* Asks databases and makes the table. A place is "sqlite:FILE", "postgresql:CONNINFO" (as libpq
 * reads it), "odbc:DATASOURCE" (or a connection string; what a driver calls its database decides
 * the dialect), "clickhouse:URL" or "answer:DIALECT:FILE", the rows of an answer that was asked for
 * elsewhere, as CSV with a header; passwords stay in files and variables of the drivers. Several
 * places are shards, whose records add up: all are asked at once, and all must answer; units may
 * not be spread over them. The table is the one that cellar_tabulate() makes of the records in a
 * file. `report` may be NULL. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_tabulate_at(const cellar_tabulate_spec *spec, const cellar_sql_source *source,
                   const char *const *places, size_t n_places, cellar_table **out,
                   cellar_row_report *report, cellar_error *err) CELLAR_NONNULL(1, 2, 3);

/* The same, and the whole answer. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_ask(const cellar_tabulate_spec *spec,
                                                         const cellar_sql_source *source,
                                                         const char *const *places, size_t n_places,
                                                         cellar_sql_answer **out, cellar_error *err)
    CELLAR_NONNULL(1, 2, 3);

/* Refuses reports of two questions (CELLAR_ERR_INPUT) between which the table of the database has
 * visibly changed: it has other numbers of rows. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_sql_check_rows(const cellar_row_report *a,
                                                                const cellar_row_report *b,
                                                                cellar_error *err)
    CELLAR_NONNULL(1, 2);

/* Asks for many tables, one after the other: those of cellar_tabulate_many(), and refused where
 * that refuses. A table of the database that has other numbers of rows from one question to the
 * next is refused (CELLAR_ERR_INPUT). On failure all of `out` are NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_tabulate_many_at(
    const cellar_tabulate_spec *spec, const cellar_sql_source *source, const char *const *places,
    size_t n_places, const cellar_tabulate_set *sets, size_t n_sets, cellar_table **out,
    cellar_error *err) CELLAR_NONNULL(1, 2, 3, 5);

#ifdef __cplusplus
}
#endif

#endif
