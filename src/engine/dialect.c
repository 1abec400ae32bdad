/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/dialect.h"

#include <string.h>

/* What a number looks like, as cellar_parse_decimal() reads it, blanks around it allowed. */
#define NUMBER_LIKE "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
#define NUMBER_PATTERN "^[ \t]*" NUMBER_LIKE "[ \t]*$"

static const sql_dialect dialects[CELLAR_SQL_N_DIALECTS] = {
    [CELLAR_SQL_POSTGRESQL] = {.name = "postgresql",
                               .is_tested = 1,
                               .quote = '"',
                               .literal = SQL_E,
                               .text = "CAST(@ AS text) COLLATE \"C\"",
                               .is_number = "@ ~ E'^[ \\\\t]*" NUMBER_LIKE "[ \\\\t]*$'",
                               .number = "CAST(btrim(@, E' \\t') AS numeric)",
                               .weight = "round(@, 9)",
                               .weight_sum = "sum(@)",
                               .is_key = "@ ~ '^[0-9]+$'",
                               .key = "CAST(@ AS numeric)",
                               .key_sum = "sum(@)",
                               .decimal_key = "(@ * 1000000000000000000)",
                               .digits = 1000,
                               .has_windows = 1,
                               .fence = " OFFSET 0"},
    /* Numbers are doubles: decimals of up to 15 digits keep their order there, longer ones are no
     * numbers. Weights are counted in billionths, keys are added up in two halves. */
    [CELLAR_SQL_SQLITE] = {.name = "sqlite",
                           .is_tested = 1,
                           .quote = '"',
                           .literal = SQL_QUOTED,
                           .text = "CAST(@ AS TEXT)",
                           .is_number =
                               "length(trim(@, ' ' || char(9))) <= 16 AND "
                               "trim(@, ' ' || char(9)) GLOB '*[0-9]*' AND "
                               "substr(trim(@, ' ' || char(9)), 1, 1) GLOB '[-+.0-9]' AND "
                               "substr(trim(@, ' ' || char(9)), 2) NOT GLOB '*[^.0-9]*' AND "
                               "@ NOT GLOB '*.*.*'",
                           .number = "CAST(trim(@, ' ' || char(9)) AS REAL)",
                           .weight = "CAST(round(@ * 1000000000.0) AS INTEGER)",
                           .weight_sum = "sum(@)",
                           .weight_scale = 9,
                           .is_key = "@ <> '' AND length(@) <= 18 AND @ NOT GLOB '*[^0-9]*'",
                           .key = "CAST(@ AS INTEGER)",
                           .key_sum = "sum(@ / 4294967296) || ':' || sum(@ % 4294967296)",
                           .digits = 15,
                           .has_windows = 1,
                           .fence = " LIMIT -1"},
    [CELLAR_SQL_MARIADB] = {.name = "mariadb",
                            .quote = '`',
                            .literal = SQL_HEX,
                            .text = "CAST(CONVERT(CAST(@ AS CHAR) USING utf8mb4) AS BINARY)",
                            .is_number = "CONVERT(@ USING utf8mb4) REGEXP '^[ \\\\t]*" NUMBER_LIKE
                                         "[ \\\\t]*$'",
                            .number = "CAST(trim(BOTH '\\t' FROM trim(CONVERT(@ USING utf8mb4))) "
                                      "AS DECIMAL(65,18))",
                            .weight = "round(@, 9)",
                            .weight_sum = "sum(@)",
                            .is_key = "CONVERT(@ USING utf8mb4) REGEXP '^[0-9]+$'",
                            .key = "CAST(CONVERT(@ USING utf8mb4) AS DECIMAL(65,0))",
                            .key_sum = "sum(@)",
                            .decimal_key = "round(@ * 1000000000000000000)",
                            .digits = 18,
                            .has_windows = 1},
    [CELLAR_SQL_DUCKDB] = {.name = "duckdb",
                           .quote = '"',
                           .literal = SQL_QUOTED,
                           .text = "CAST(@ AS VARCHAR)",
                           .is_number = "regexp_full_match(@, '" NUMBER_PATTERN "')",
                           .number = "TRY_CAST(trim(@, ' ' || chr(9)) AS DECIMAL(38,18))",
                           .weight = "CAST(@ AS DECIMAL(38,9))",
                           .weight_sum = "sum(@)",
                           .is_key = "regexp_full_match(@, '^[0-9]+$')",
                           .key = "CAST(@ AS HUGEINT)",
                           .key_sum = "sum(@)",
                           .decimal_key = "CAST(CAST(@ AS DECIMAL(19,18)) * 1000000000000000000 "
                                          "AS HUGEINT)",
                           .digits = 18,
                           .has_windows = 1},
    [CELLAR_SQL_CLICKHOUSE] = {.name = "clickhouse",
                               .quote = '`',
                               .literal = SQL_ESCAPED,
                               .text = "toString(@)",
                               .is_number = "match(@, '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)$')",
                               .number = "toDecimal128(if(match(@, '^[+-]?([0-9]+[.]?[0-9]*|"
                                         "[.][0-9]+)$'), @, '0'), 18)",
                               .weight = "toDecimal128(@, 9)",
                               .weight_sum = "sum(@)",
                               .is_key = "match(@, '^[0-9]+$')",
                               .key = "toDecimal128(if(match(@, '^[0-9]+$'), @, '0'), 0)",
                               .key_sum = "sum(@)",
                               .digits = 18},
    [CELLAR_SQL_SPARK] = {.name = "spark",
                          .quote = '`',
                          .literal = SQL_ESCAPED,
                          .text = "CAST(@ AS STRING)",
                          .is_number = "@ RLIKE '" NUMBER_PATTERN "'",
                          .number = "CAST(trim(@) AS DECIMAL(38,18))",
                          .weight = "round(@, 9)",
                          .weight_sum = "sum(@)",
                          .is_key = "@ RLIKE '^[0-9]+$'",
                          .key = "CAST(@ AS DECIMAL(38,0))",
                          .key_sum = "sum(@)",
                          .decimal_key = "round(@ * 1000000000000000000)",
                          .digits = 18,
                          .has_windows = 1},
    [CELLAR_SQL_BIGQUERY] = {.name = "bigquery",
                             .quote = '`',
                             .literal = SQL_ESCAPED,
                             .text = "CAST(@ AS STRING)",
                             .is_number = "REGEXP_CONTAINS(@, '" NUMBER_PATTERN "')",
                             .number = "CAST(trim(@) AS BIGNUMERIC)",
                             .weight = "round(@, 9)",
                             .weight_sum = "sum(@)",
                             .is_key = "REGEXP_CONTAINS(@, '^[0-9]+$')",
                             .key = "CAST(@ AS BIGNUMERIC)",
                             .key_sum = "sum(@)",
                             .decimal_key = "(@ * 1000000000000000000)",
                             .digits = 38,
                             .has_windows = 1},
    [CELLAR_SQL_SNOWFLAKE] = {.name = "snowflake",
                              .quote = '"',
                              .literal = SQL_ESCAPED,
                              .text = "CAST(@ AS VARCHAR)",
                              .is_number = "REGEXP_LIKE(@, '" NUMBER_PATTERN "')",
                              .number = "TRY_TO_DECIMAL(trim(@), 38, 18)",
                              .weight = "round(@, 9)",
                              .weight_sum = "sum(@)",
                              .is_key = "REGEXP_LIKE(@, '^[0-9]+$')",
                              .key = "TO_DECIMAL(@, 38, 0)",
                              .key_sum = "sum(@)",
                              .decimal_key = "round(@ * 1000000000000000000)",
                              .digits = 18,
                              .has_windows = 1},
    [CELLAR_SQL_TRINO] = {.name = "trino",
                          .quote = '"',
                          .literal = SQL_QUOTED,
                          .text = "CAST(@ AS VARCHAR)",
                          .is_number = "regexp_like(@, '" NUMBER_PATTERN "')",
                          .number = "TRY_CAST(trim(@) AS DECIMAL(38,18))",
                          .weight = "round(@, 9)",
                          .weight_sum = "sum(@)",
                          .is_key = "regexp_like(@, '^[0-9]+$')",
                          .key = "CAST(@ AS DECIMAL(38,0))",
                          .key_sum = "sum(@)",
                          .decimal_key = "round(@ * 1000000000000000000)",
                          .digits = 18,
                          .has_windows = 1},
};

const sql_dialect *sql_dialect_of(cellar_sql_dialect dialect)
{
    return &dialects[dialect];
}

const char *cellar_sql_dialect_name(cellar_sql_dialect dialect)
{
    return dialect < CELLAR_SQL_N_DIALECTS ? dialects[dialect].name : NULL;
}

int cellar_sql_dialect_is_tested(cellar_sql_dialect dialect)
{
    return dialects[dialect].is_tested;
}

void sql_add_form(cellar_text *out, const char *form, const char *about)
{
    for (; *form != '\0'; form++) {
        if (*form == '@')
            cellar_text_add_string(out, about);
        else
            cellar_text_add_char(out, *form);
    }
}

void sql_add_name(const sql_dialect *dialect, cellar_text *out, const char *name, size_t length)
{
    cellar_text_add_char(out, dialect->quote);
    for (size_t i = 0; i < length; i++) {
        if (name[i] == dialect->quote || (dialect->literal == SQL_ESCAPED && name[i] == '\\'))
            cellar_text_add_char(out, name[i]);
        cellar_text_add_char(out, name[i]);
    }
    cellar_text_add_char(out, dialect->quote);
}

static void add_hex(cellar_text *out, const char *text)
{
    cellar_text_add_string(out, "X'");
    for (; *text != '\0'; text++)
        cellar_text_printf(out, "%02X", (unsigned) (unsigned char) *text);
    cellar_text_add_char(out, '\'');
}

void sql_add_literal(const sql_dialect *dialect, cellar_text *out, const char *text)
{
    if (dialect->literal == SQL_HEX) {
        add_hex(out, text);
        return;
    }
    cellar_text_add_string(out, dialect->literal == SQL_E ? "E'" : "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            cellar_text_add_char(out, dialect->literal == SQL_QUOTED ? '\'' : '\\');
        else if (*text == '\\' && dialect->literal != SQL_QUOTED)
            cellar_text_add_char(out, '\\');
        cellar_text_add_char(out, *text);
    }
    cellar_text_add_char(out, '\'');
}
