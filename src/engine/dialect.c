/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/dialect.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

/* What a number looks like, as cellar_parse_decimal() reads it, blanks around it allowed. */
#define PLAIN_NUMBER "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)"
#define NUMBER_LIKE "^[ \t]*" PLAIN_NUMBER "([eE][+-]?[0-9]+)?[ \t]*$"
/* Regular expressions of some engines let $ match before a last line feed: [^-+.0-9] finds it. */
#define PLAIN_PATTERN "^" PLAIN_NUMBER "$"
#define TRIMMED_SQLITE "trim(@, ' ' || char(9))"

static const sql_dialect dialects[CELLAR_SQL_N_DIALECTS] = {
    /* Numbers of at most 28 characters without a positive exponent fit the 127 bits of a file's. */
    [CELLAR_SQL_POSTGRESQL] = {.name = "postgresql",
                               .is_tested = 1,
                               .quote = '"',
                               .name_bytes = 63,
                               .literal = SQL_E,
                               .settings = "SET LOCAL client_encoding = 'UTF8'; "
                                           "SET LOCAL DateStyle = 'ISO, YMD'; "
                                           "SET LOCAL IntervalStyle = 'postgres'; "
                                           "SET LOCAL bytea_output = 'hex'; "
                                           "SET LOCAL extra_float_digits = 1",
                               .text = "CAST(@ AS text) COLLATE \"C\"",
                               .trim = "btrim(@, E' \\t')",
                               .is_number =
                                   "length(@) <= 28 AND @ ~ '^" PLAIN_NUMBER "([eE]-[0-9]{1,2})?$'",
                               .looks_like_number = "@ ~ '" NUMBER_LIKE "'",
                               .number = "CAST(@ AS numeric)",
                               .bound = "@",
                               .weight = "round(@, 9)",
                               .weight_sum = "CAST(sum(@) AS text)",
                               .is_key = "@ ~ '^[0-9]+$'",
                               .key = "CAST(@ AS numeric)",
                               .key_sum = "CAST(sum(@) AS text)",
                               .decimal_key = "(@ * 1000000000000000000)",
                               .digits = 28,
                               .has_windows = 1,
                               .fence = " OFFSET 0"},
    /* Numbers are doubles: decimals of up to 15 digits keep their order there. Weights are counted
     * in billionths below 2^53, keys are added up in two halves. Names stand in `, for what stands
     * in " and names no column is a text. */
    [CELLAR_SQL_SQLITE] =
        {.name = "sqlite",
         .is_tested = 1,
         .quote = '`',
         .literal = SQL_QUOTED,
         .text = "CAST(@ AS TEXT)",
         .trim = TRIMMED_SQLITE,
         .is_number = "length(replace(ltrim(@, '+-'), '.', '')) <= 15 AND @ GLOB '*[0-9]*' AND "
                      "substr(@, 1, 1) GLOB '[-+.0-9]' AND substr(@, 2) NOT GLOB '*[^.0-9]*' AND "
                      "@ NOT GLOB '*.*.*' AND instr(@, char(0)) = 0",
         .looks_like_number = "@ GLOB '*[0-9]*' AND " TRIMMED_SQLITE " GLOB '[-+.0-9]*' AND "
                              "substr(" TRIMMED_SQLITE ", 2) NOT GLOB '*[^-+.0-9eE]*' AND "
                              "(@ GLOB '*[eE]*' OR substr(@, 2) NOT GLOB '*[-+]*')",
         .number = "CAST(@ AS REAL)",
         .bound = "@",
         .weight = "CAST(round(@ * 1000000000.0) AS INTEGER)",
         .weight_fits =
             "wx < 9000000 AND (instr(wt1, '.') = 0 OR length(wt1) - instr(wt1, '.') <= 9)",
         .weight_sum = "CAST(sum(@) AS TEXT)",
         .weight_scale = 9,
         .is_key = "@ <> '' AND length(@) <= 18 AND @ NOT GLOB '*[^0-9]*' AND "
                   "instr(@, char(0)) = 0",
         .key = "CAST(@ AS INTEGER)",
         .key_sum = "sum(@ / 4294967296) || ':' || sum(@ % 4294967296)",
         .digits = 15,
         .has_windows = 1,
         .fence = " LIMIT -1"},
    /* Literals are hexadecimal, so that no mode of the server changes what they mean. */
    [CELLAR_SQL_MARIADB] =
        {.name = "mariadb",
         .is_tested = 1,
         .quote = '`',
         .literal = SQL_HEX,
         .settings = "SET sql_mode = ''", /* one of them pads CHAR(n) */
         .text = "CAST(CONVERT(@ USING utf8mb4) AS BINARY)",
         .trim = "trim(BOTH X'09' FROM trim(BOTH X'20' FROM @))",
         .is_number = "length(@) <= 18 AND CONVERT(@ USING utf8mb4) REGEXP '" PLAIN_PATTERN
                      "' AND CONVERT(@ USING utf8mb4) NOT REGEXP '[^-+.0-9]'",
         .looks_like_number = "CONVERT(@ USING utf8mb4) REGEXP '" NUMBER_LIKE "'",
         .number = "CAST(CONVERT(@ USING utf8mb4) AS DECIMAL(65,18))",
         .bound = "@",
         .weight = "round(@, 9)",
         .weight_sum = "CAST(sum(@) AS CHAR)",
         .is_key = "length(@) <= 60 AND CONVERT(@ USING utf8mb4) REGEXP '^[0-9]+$' AND "
                   "CONVERT(@ USING utf8mb4) NOT REGEXP '[^0-9]'",
         .key = "CAST(CONVERT(@ USING utf8mb4) AS DECIMAL(65,0))",
         .key_sum = "CAST(sum(@) AS CHAR)",
         .decimal_key = "(@ * 1000000000000000000)",
         .digits = 18,
         .has_windows = 1},
    [CELLAR_SQL_DUCKDB] = {.name = "duckdb",
                           .is_tested = 1,
                           .quote = '"',
                           .literal = SQL_QUOTED,
                           .text = "CAST(@ AS VARCHAR)",
                           .trim = "trim(@, ' ' || chr(9))",
                           .is_number =
                               "length(@) <= 18 AND regexp_full_match(@, '" PLAIN_NUMBER "')",
                           .looks_like_number = "regexp_full_match(@, '" NUMBER_LIKE "')",
                           .number = "TRY_CAST(@ AS DECIMAL(38,18))",
                           .bound = "@",
                           .weight = "CAST(@ AS DECIMAL(38,9))",
                           .weight_sum = "CAST(sum(@) AS VARCHAR)",
                           .is_key = "length(@) <= 30 AND regexp_full_match(@, '[0-9]+')",
                           .key = "TRY_CAST(@ AS HUGEINT)",
                           .key_sum = "CAST(sum(@) AS VARCHAR)",
                           .decimal_key = "CAST(CAST(@ AS DECIMAL(19,18)) * 1000000000000000000 "
                                          "AS HUGEINT)",
                           .digits = 18,
                           .has_windows = 1},
    [CELLAR_SQL_CLICKHOUSE] =
        {.name = "clickhouse",
         .is_tested = 1,
         .quote = '`',
         .literal = SQL_ESCAPED,
         .text = "toString(@)",
         .trim = "replaceRegexpAll(@, '^[ \t]+|[ \t]+$', '')",
         .is_number = "length(@) <= 18 AND match(@, '" PLAIN_PATTERN "')",
         .looks_like_number = "match(@, '" NUMBER_LIKE "')",
         .number =
             "toDecimal128(if(length(@) <= 18 AND match(@, '" PLAIN_PATTERN "'), @, '0'), 18)",
         .bound = "toDecimal128('@', 18)",
         .weight = "toDecimal128(@, 9)",
         .weight_fits = "position(wt1, '.') = 0 OR length(wt1) - position(wt1, '.') <= 9",
         .weight_sum = "toString(sum(@))",
         .is_key = "length(@) <= 20 AND match(@, '^[0-9]+$')",
         .key = "toDecimal128(if(length(@) <= 20 AND match(@, '^[0-9]+$'), @, '0'), 0)",
         .key_sum = "toString(sum(@))",
         .digits = 18},
    [CELLAR_SQL_SPARK] = {.name = "spark",
                          .quote = '`',
                          .literal = SQL_ESCAPED,
                          .text = "CAST(@ AS STRING)",
                          .trim = "trim(@)",
                          .is_number = "length(@) <= 18 AND @ RLIKE '" PLAIN_PATTERN
                                       "' AND NOT @ RLIKE '[^-+.0-9]'",
                          .looks_like_number = "@ RLIKE '" NUMBER_LIKE "'",
                          .number = "CAST(@ AS DECIMAL(38,18))",
                          .bound = "@",
                          .weight = "round(@, 9)",
                          .weight_sum = "CAST(sum(@) AS STRING)",
                          .is_key = "length(@) <= 30 AND @ RLIKE '^[0-9]+$' AND "
                                    "NOT @ RLIKE '[^0-9]'",
                          .key = "CAST(@ AS DECIMAL(38,0))",
                          .key_sum = "CAST(sum(@) AS STRING)",
                          .decimal_key = "(@ * 1000000000000000000)",
                          .digits = 18,
                          .has_windows = 1},
    [CELLAR_SQL_BIGQUERY] = {.name = "bigquery",
                             .quote = '`',
                             .literal = SQL_ESCAPED,
                             .text = "CAST(@ AS STRING)",
                             .trim = "trim(@, ' \t')",
                             .is_number =
                                 "length(@) <= 30 AND REGEXP_CONTAINS(@, '" PLAIN_PATTERN "')",
                             .looks_like_number = "REGEXP_CONTAINS(@, '" NUMBER_LIKE "')",
                             .number = "CAST(@ AS BIGNUMERIC)",
                             .bound = "BIGNUMERIC '@'",
                             .weight = "round(@, 9)",
                             .weight_sum = "CAST(sum(@) AS STRING)",
                             .is_key = "length(@) <= 30 AND REGEXP_CONTAINS(@, '^[0-9]+$')",
                             .key = "CAST(@ AS BIGNUMERIC)",
                             .key_sum = "CAST(sum(@) AS STRING)",
                             .decimal_key = "(@ * 1000000000000000000)",
                             .digits = 30,
                             .has_windows = 1},
    [CELLAR_SQL_SNOWFLAKE] = {.name = "snowflake",
                              .quote = '"',
                              .literal = SQL_ESCAPED,
                              .text = "CAST(@ AS VARCHAR)",
                              .trim = "trim(@, ' \t')",
                              .is_number = "length(@) <= 18 AND REGEXP_LIKE(@, '" PLAIN_NUMBER "')",
                              .looks_like_number = "REGEXP_LIKE(@, '" NUMBER_LIKE "')",
                              .number = "TRY_TO_DECIMAL(@, 38, 18)",
                              .bound = "@",
                              .weight = "round(@, 9)",
                              .weight_sum = "CAST(sum(@) AS VARCHAR)",
                              .is_key = "length(@) <= 30 AND REGEXP_LIKE(@, '[0-9]+')",
                              .key = "TO_DECIMAL(@, 38, 0)",
                              .key_sum = "CAST(sum(@) AS VARCHAR)",
                              .decimal_key = "(@ * 1000000000000000000)",
                              .digits = 18,
                              .has_windows = 1},
    [CELLAR_SQL_TRINO] = {.name = "trino",
                          .quote = '"',
                          .literal = SQL_QUOTED,
                          .text = "CAST(@ AS VARCHAR)",
                          .trim = "trim(@)",
                          .is_number = "length(@) <= 18 AND regexp_like(@, '" PLAIN_PATTERN
                                       "') AND NOT regexp_like(@, '[^-+.0-9]')",
                          .looks_like_number = "regexp_like(@, '" NUMBER_LIKE "')",
                          .number = "TRY_CAST(@ AS DECIMAL(38,18))",
                          .bound = "DECIMAL '@'",
                          .weight = "round(@, 9)",
                          .weight_sum = "CAST(sum(@) AS VARCHAR)",
                          .is_key = "length(@) <= 30 AND regexp_like(@, '^[0-9]+$') AND "
                                    "NOT regexp_like(@, '[^0-9]')",
                          .key = "TRY_CAST(@ AS DECIMAL(38,0))",
                          .key_sum = "CAST(sum(@) AS VARCHAR)",
                          .decimal_key = "(@ * 1000000000000000000)",
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

int cellar_sql_dialect_find(const char *name, cellar_sql_dialect *out)
{
    for (size_t d = 0; name != NULL && d < CELLAR_SQL_N_DIALECTS; d++)
        if (strncasecmp(name, dialects[d].name, strlen(dialects[d].name)) == 0) {
            *out = (cellar_sql_dialect) d;
            return 1;
        }
    return 0;
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
        if (name[i] == dialect->quote)
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
            cellar_text_add_char(out, dialect->literal == SQL_ESCAPED ? '\\' : '\'');
        else if (*text == '\\' && dialect->literal != SQL_QUOTED)
            cellar_text_add_char(out, '\\');
        cellar_text_add_char(out, *text);
    }
    cellar_text_add_char(out, '\'');
}

cellar_status sql_add_bound(const sql_dialect *dialect, cellar_text *out, const char *decimal,
                            cellar_error *err)
{
    if (strlen(decimal) > (size_t) dialect->digits)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                           "%s compares numbers of at most %d digits: '%.60s' is longer",
                           dialect->name, dialect->digits, decimal);
    sql_add_form(out, dialect->bound, decimal);
    return CELLAR_OK;
}
