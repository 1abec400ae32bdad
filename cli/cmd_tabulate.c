/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar tabulate: from records to a table. */
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/key.h>
#include <cellar/sql.h>
#include <cellar/tabulate.h>

#include "json_out.h"
#include "reader.h"
#include "records.h"
#include "table_out.h"
#include "terminal.h"
#include "variables.h"

typedef struct tabulate_values {
    cli_variable_options variables;
    cli_reader reader;
    cli_table_options table;
    int json;
    cli_words where, from;
    cli_record_options records;
    const char *weight, *unit, *margins, *hierarchy, *structural_zeros, *order_by;
    cli_number max_per_unit, max_weight;
    int dialect, for_store; /* of sql */
} tabulate_values;

#define AT(member) offsetof(tabulate_values, member)
/* clang-format off */
/* What is counted, of a file or of a table of a database. */
#define COUNTING_OPTIONS                                                                           \
    SECTION("What to count"),                                                                      \
    TEXT("by", "A,B,C", variables.by,                                                              \
         "the columns to count by; a name with a comma goes in double quotes"),                    \
    MANY("where", "CONDITION", where,                                                              \
         "count only rows that meet it: 'sex=F', 'region=1|2', 'status!=x', 'age>=18'; may be "    \
         "repeated"),                                                                              \
    MANY("missing-as", "[VAR=]HOW", variables.missing_as,                                          \
         "what to do with a row whose variable is missing: drop it, or count it in a level of its " \
         "own; needed when there are any; may be repeated, for all variables and for one"),        \
    TEXT("weight", "COLUMN", weight, "also add up this column, beside the plain count"),           \
    NUMBER("max-weight", "W", max_weight, 1, CELLAR_WEIGHT_BOUND_MAX,                              \
           "weights above W count as W; a bound that is public, without which sums cannot be "     \
           "protected"),                                                                           \
    TEXT("unit", "COLUMN", unit, "records with the same value belong to one person or household"), \
    NUMBER("max-per-unit", "M", max_per_unit, 1, 0, "count only the first M records of a unit"),   \
    CLI_RECORD_OPTIONS(AT(records)),                                                               \
    SECTION("Categories"),                                                                         \
    CLI_DOMAIN_OPTIONS(AT(variables)),                                                             \
    MANY("level", "VAR=N", variables.level,                                                        \
         "count a level of the hierarchy of its code list, 1 for the top [finest]"),               \
    CLI_RECODE_OPTIONS(AT(variables))
/* clang-format on */

static const cli_option tabulate_options[] = {
    COUNTING_OPTIONS,
    SECTION("Counting in a database"),
    MANY("from", "PLACE", from,
         "FILE is a table of this database, which does the counting: sqlite:FILE, "
         "postgresql:CONNINFO, odbc:DATASOURCE, clickhouse:URL or, asked elsewhere, "
         "answer:DIALECT:FILE; repeat it for shards"),
    TEXT("order-by", "A,B", order_by,
         "with --from and --unit: the columns that say which records of a unit come first"),
    SECTION("Margins"),
    TEXT("margins", "WHICH", margins,
         "all, none, or a list such as 'a*b,a,total' of the margins to add [none]"),
    TEXT("hierarchy", "A,B", hierarchy, "add the upper levels of these variables' code lists"),
    TEXT("structural-zeros", "FILE", structural_zeros, "rules for cells that cannot occur"),
    CLI_READER_OPTIONS(AT(reader)),
    SECTION("Writing the table"),
    OUTPUT(table.path, "write to a file that only you can read [standard output]"),
    FLAG("force", table.force, "replace an existing file"),
    CHOICE(
        "format", "csv|json|px|sdmx|csvw", table.format,
        "CSV, JSON-stat, PC-Axis, SDMX-CSV, or CSV with a CSVW description [by the file's ending]"),
    FLAG("zeros", table.zeros, "write cells without records too (csv, sdmx)"),
    FLAG("sparse", table.sparse, "write only the cells that hold something (json)"),
    FLAG("neutralise-formulas", table.neutralise_formulas,
         "make labels harmless that a spreadsheet would compute (csv)"),
    CLI_ABOUT_OPTIONS(AT(table.about)),
    NUMBER("limit", "N", table.limit, 0, 0,
           "show the first N cells in aligned columns, 0 for all [40 on a terminal]"),
    FLAG("json", json, "print a summary as JSON; the table goes to -o only"),
    SECTION("Other"),
};

static const char *const tabulate_examples[] = {
    "cellar tabulate people.csv --by region,sex,age --band age=5 --missing-as drop",
    "cellar tabulate people.csv --by region,sex --domain codelists --margins all -o true.json",
    "cellar tabulate visits.csv --by clinic --unit patient --max-per-unit 3",
    "cellar tabulate people --from sqlite:people.db --by sex --domain codelists", NULL};

static const cli_command tabulate_command = {
    "tabulate",
    "FILE --by A,B,C [options]",
    "Counts the records of FILE (CSV, gzip too; SPSS, Stata, SAS; Parquet; a store; - is standard "
    "input) "
    "into a table. True counts are confidential: files are written with mode 0600. With --from the "
    "records stay in their database, and only cells leave it; 'cellar sql' shows the question.",
    tabulate_options,
    sizeof tabulate_options / sizeof tabulate_options[0],
    tabulate_examples};

static const cli_option sql_options[] = {
    SECTION("The database"),
    CHOICE("dialect", "postgresql|sqlite|mariadb|duckdb|clickhouse|spark|bigquery|snowflake|trino",
           dialect, "whose SQL to write; required"),
    TEXT("order-by", "A,B", order_by,
         "with --unit: the columns that say which records of a unit come first"),
    FLAG("for-store", for_store,
         "the question of 'store build --from', which keeps missing values; --by has its columns"),
    COUNTING_OPTIONS,
    CLI_READER_OPTIONS(AT(reader)),
    SECTION("Other"),
};

static const char *const sql_examples[] = {
    "cellar sql people --dialect postgresql --by region,sex --domain codelists",
    "cellar sql census.people --dialect duckdb --by age --bottom age=15 --top age=75 --band age=5",
    NULL};

static const cli_command sql_command = {
    "sql",
    "TABLE --dialect NAME --by A,B,C [options]",
    "Prints the question that 'tabulate --from' asks a database: one SELECT whose answer has a row "
    "for each cell, and one for each reason why records do not count. Categories are declared. "
    "The SQL of postgresql, sqlite, mariadb, duckdb and clickhouse is compared with 'tabulate' by "
    "tests; that of the others is syntax only: a parser reads it, and nothing ran it.",
    sql_options,
    sizeof sql_options / sizeof sql_options[0],
    sql_examples};

/* ---- from options to the library's terms ---------------------------------- */

/* The library's terms, and the memory they point to. */
typedef struct tabulate_run {
    cellar_tabulate_spec spec;
    cli_variables variables;
    uint64_t *masks;
    cli_table_out out;
    cellar_sql_source source;
    cli_words order_by;
    unsigned char secret[CELLAR_KEY_SECRET_BYTES]; /* for record keys; wiped */
} tabulate_run;

/* "a*b" as a mask; "total", where no variable has that name, is the grand total. */
static int tabulate_margin(const cli_variables *variables, const char *text, uint64_t *mask)
{
    cli_words names = {0};
    int result = CLI_GO_ON;
    *mask = 0;
    if (strcmp(text, "total") == 0 && cli_words_find(&variables->names, text) == (size_t) -1)
        return CLI_GO_ON;
    cli_words_split(&names, text, '*', 1);
    for (size_t i = 0; i < names.n && result == CLI_GO_ON; i++) {
        size_t variable = cli_variables_find(variables, "margins", names.items[i]);
        if (variable == (size_t) -1)
            result = CLI_USAGE;
        else
            *mask |= (uint64_t) 1 << variable;
    }
    cli_words_clear(&names);
    return result;
}

static int tabulate_margins(const char *text, tabulate_run *run)
{
    cli_words parts = {0};
    int result = CLI_GO_ON;
    cellar_margins *margins = &run->spec.margins;

    if (text == NULL || strcmp(text, "none") == 0)
        return CLI_GO_ON;
    if (strcmp(text, "all") == 0) {
        margins->all = 1;
        return CLI_GO_ON;
    }
    if (!cli_words_split(&parts, text, ',', 0))
        result = cli_usage("--margins: a quote is not closed");
    run->masks = cli_alloc(parts.n, sizeof *run->masks);
    for (size_t i = 0; i < parts.n && result == CLI_GO_ON; i++)
        result = tabulate_margin(&run->variables, parts.items[i], &run->masks[i]);
    margins->masks = run->masks;
    margins->n_masks = parts.n;
    cli_words_clear(&parts);
    return result;
}

static int tabulate_hierarchy(const char *text, tabulate_run *run)
{
    cli_words names = {0};
    int result = CLI_GO_ON;
    if (text == NULL)
        return CLI_GO_ON;
    if (!cli_words_split(&names, text, ',', 1))
        result = cli_usage("--hierarchy: a quote is not closed");
    for (size_t i = 0; i < names.n && result == CLI_GO_ON; i++) {
        size_t variable = cli_variables_find(&run->variables, "hierarchy", names.items[i]);
        if (variable == (size_t) -1)
            result = CLI_USAGE;
        else if (run->variables.sources[variable].codelist == NULL ||
                 cellar_codelist_n_hierarchies(run->variables.sources[variable].codelist) == 0)
            result = cli_usage("--hierarchy: variable '%s' needs a --domain with parents",
                               names.items[i]);
        else
            run->spec.margins.hierarchies |= (uint64_t) 1 << variable;
    }
    cli_words_clear(&names);
    return result;
}

static int tabulate_check(const tabulate_values *values, const cli_words *files)
{
    if (files->n == 0)
        return cli_usage("tabulate: name the data file (- is standard input)");
    if (files->n > 1)
        return cli_usage("tabulate takes one file, and '%s' is a second", files->items[1]);
    if (values->variables.by == NULL)
        return cli_usage("tabulate: say what to count by: --by A,B,C");
    if ((values->unit != NULL) != values->max_per_unit.given)
        return cli_usage("--unit and --max-per-unit need each other");
    if (values->max_weight.given && values->weight == NULL)
        return cli_usage("--max-weight needs --weight");
    return CLI_GO_ON;
}

/* What is counted: all but margins and the output. */
static int tabulate_spec(const tabulate_values *values, const char *path, tabulate_run *run)
{
    cellar_tabulate_spec *spec = &run->spec;
    int result;

    *spec = cellar_tabulate_spec_default();
    spec->path = path;
    spec->missing = cli_words_items(&values->reader.missing);
    spec->n_missing = values->reader.missing.n;
    spec->where = cli_words_items(&values->where);
    spec->n_where = values->where.n;
    spec->weight_column = values->weight;
    spec->max_weight = values->max_weight.value;
    spec->unit_column = values->unit;
    spec->max_per_unit = values->max_per_unit.value;
    spec->structural_zeros_path = values->structural_zeros;
    spec->n_threads = (int) values->reader.threads.value;

    result = cli_reader_options(&values->reader, &spec->reader);
    if (result == CLI_GO_ON)
        result = cli_records_read(&values->records, spec, run->secret);
    if (result == CLI_GO_ON)
        result = cli_variables_read(&values->variables, path, &spec->reader, &run->variables);
    spec->variables = run->variables.specs;
    spec->missing_policy = run->variables.missing_policy;
    spec->n_variables = run->variables.names.n;
    run->source = cellar_sql_source_default();
    run->source.table = path;
    if (values->order_by != NULL && !cli_words_split(&run->order_by, values->order_by, ',', 1))
        result = cli_usage("--order-by: a quote is not closed");
    run->source.keep_missing = values->for_store;
    run->source.order_by = cli_words_items(&run->order_by);
    run->source.n_order_by = run->order_by.n;
    return result;
}

static int tabulate_prepare(const tabulate_values *values, const char *path, tabulate_run *run)
{
    int result = tabulate_spec(values, path, run);
    if (result == CLI_GO_ON)
        result = tabulate_margins(values->margins, run);
    if (result == CLI_GO_ON)
        result = tabulate_hierarchy(values->hierarchy, run);
    if (result == CLI_GO_ON && values->from.n == 0)
        result = cli_reader_spare(path, values->table.path);
    if (result == CLI_GO_ON)
        result = cli_table_out_open(&values->table, !values->json, &run->out);
    return result;
}

/* ---- what is said about the result ---------------------------------------- */

static void tabulate_warn_observed(const cellar_schema *schema)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (cellar_schema_domain(schema, v) == CELLAR_DOMAIN_OBSERVED)
            cli_message(
                cellar_schema_reviewer(schema, v) != NULL
                    ? "variable '%s': its code list is a draft from the data that nobody has "
                      "reviewed: no guarantee can be given; write a name after reviewed-by: in its "
                      "first line, or assert it with --domain-public"
                    : "variable '%s': domain observed: no guarantee can be given; declare it with "
                      "--domain, or assert it with --domain-public",
                cellar_schema_variable(schema, v));
}

static void tabulate_json_variables(cli_json *json, const cellar_schema *schema)
{
    cli_json_begin(json, "variables", '[');
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        size_t n_leaves = cellar_schema_n_leaves(schema, v);
        cli_json_begin(json, NULL, '{');
        cli_json_text(json, "name", cellar_schema_variable(schema, v));
        cli_json_text(json, "domain", cellar_domain_name(cellar_schema_domain(schema, v)));
        cli_json_count(json, "categories", n_leaves);
        cli_json_count(json, "aggregates", cellar_schema_n_categories(schema, v) - n_leaves);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static cellar_status tabulate_json(const cellar_table *table, const cellar_row_report *rows,
                                   const tabulate_values *values, cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(table);
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    cli_json_begin(&json, NULL, '{');
    cli_json_truth(&json, "confidential", 1);
    cli_reader_json(&json, rows);
    tabulate_json_variables(&json, schema);
    cli_json_count(&json, "cells", cellar_table_n_cells(table));
    cli_json_count(&json, "possible_cells", cellar_schema_n_possible(schema));
    cli_json_count(&json, "cells_per_record", cellar_schema_cells_per_record(schema));
    cli_json_truth(&json, "weighted", cellar_table_is_weighted(table));
    cli_json_count(&json, "max_weight", cellar_table_max_weight(table));
    cli_json_count(&json, "key_range", cellar_table_key_range(table));
    cli_json_text(&json, "output", values->table.path);
    cli_json_end(&json, '}');
    return cellar_output_commit(json.output, err);
}

static int tabulate_run_it(const tabulate_values *values, tabulate_run *run)
{
    cellar_table *table = NULL;
    cellar_row_report rows;
    cellar_error err;
    cellar_status status;

    run->spec.progress = cli_progress_begin();
    status = values->from.n > 0
                 ? cellar_tabulate_at(&run->spec, &run->source, cli_words_items(&values->from),
                                      values->from.n, &table, &rows, &err)
                 : cellar_tabulate(&run->spec, &table, &rows, &err);
    cli_progress_end();
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    cli_reader_report(run->spec.path, &rows);
    tabulate_warn_observed(cellar_table_schema(table));
    status = cli_table_out_write(&run->out, table, &err);
    if (status == CELLAR_OK && values->json)
        status = tabulate_json(table, &rows, values, &err);
    cellar_table_free(table);
    return cli_exit(status, &err);
}

static void tabulate_clear(tabulate_run *run)
{
    cli_table_out_clear(&run->out);
    cli_variables_clear(&run->variables);
    cli_words_clear(&run->order_by);
    free(run->masks);
    explicit_bzero(run->secret, sizeof run->secret);
}

int cli_sql(int argc, char **argv)
{
    tabulate_values values = {0};
    cli_words files = {0};
    tabulate_run run = {0};
    cellar_error err;
    char *sql = NULL;
    int result = cli_options_parse(&sql_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON && files.n != 1)
        result = cli_usage("sql: name the table of the database, and no other");
    if (result == CLI_GO_ON && values.dialect == 0)
        result = cli_usage("sql: say whose SQL to write: --dialect postgresql");
    if (result == CLI_GO_ON)
        result = tabulate_check(&values, &files);
    if (result == CLI_GO_ON)
        result = tabulate_spec(&values, files.items[0], &run);
    if (result == CLI_GO_ON) {
        const cellar_status status = cellar_sql_write(
            &run.spec, &run.source, (cellar_sql_dialect) (values.dialect - 1), &sql, &err);
        if (status == CELLAR_OK)
            puts(sql);
        result = cli_exit(status, &err);
    }
    cellar_sql_free(sql);
    tabulate_clear(&run);
    cli_words_clear(&files);
    cli_options_clear(&sql_command, &values);
    return result;
}

int cli_tabulate(int argc, char **argv)
{
    tabulate_values values = {0};
    cli_words files = {0};
    tabulate_run run = {0};
    int result = cli_options_parse(&tabulate_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = tabulate_check(&values, &files);
    if (result == CLI_GO_ON)
        result = tabulate_prepare(&values, files.items[0], &run);
    if (result == CLI_GO_ON)
        result = tabulate_run_it(&values, &run);
    tabulate_clear(&run);
    cli_words_clear(&files);
    cli_options_clear(&tabulate_command, &values);
    return result;
}
