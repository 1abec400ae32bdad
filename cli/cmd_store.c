/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar store: records as small codes in one file that other verbs read. */
#include "verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/key.h>
#include <cellar/sql.h>
#include <cellar/store.h>
#include <cellar/text.h>

#include "json_out.h"
#include "reader.h"
#include "records.h"
#include "terminal.h"
#include "variables.h"

typedef struct store_values {
    cli_variable_options variables;
    cli_reader reader;
    cli_record_options records;
    cli_words where, from;
    const char *weight, *unit, *sort_by, *path;
    int force, json;
} store_values;

#define AT(member) offsetof(store_values, member)
static const cli_option store_options[] = {
    SECTION("What to store"),
    TEXT("columns", "A,B,C", variables.by,
         "build: the columns that tables can be made of [all that have no other use]"),
    MANY("where", "CONDITION", where, "build: store only rows that meet it; may be repeated"),
    MANY("missing-as", "[VAR=]HOW", variables.missing_as,
         "build: what tables do by default with a row whose variable is missing: drop it, or count "
         "it in a level of its own; may be repeated"),
    TEXT("weight", "COLUMN", weight, "build: store this column as the weight of a record"),
    TEXT("unit", "COLUMN", unit,
         "build: number the persons or households that this column identifies"),
    CLI_RECORD_OPTIONS(AT(records)),
    TEXT("sort-by", "VAR", sort_by,
         "build: group the rows by a variable, such as the finest geography; needs memory for all "
         "of them"),
    MANY("from", "PLACE", from,
         "build: FILE is a table of this database, which is asked for the cells of all --columns: "
         "sqlite:FILE, postgresql:CONNINFO, odbc:DATASOURCE, clickhouse:URL or "
         "answer:DIALECT:FILE; repeat it for shards"),
    SECTION("Categories"),
    CLI_DOMAIN_OPTIONS(AT(variables)),
    CLI_RECODE_OPTIONS(AT(variables)),
    CLI_READER_OPTIONS(AT(reader)),
    SECTION("Other"),
    OUTPUT(path, "build: the store, which only you can read"),
    FLAG("force", force, "build: replace an existing file"),
    FLAG("json", json, "print JSON"),
};

static const char *const store_examples[] = {
    "cellar store build people.csv --domain codelists --sort-by region -o people.store",
    "cellar store build people --from odbc:census --columns sex,age --domain codelists -o p.store",
    "cellar store show people.store",
    "cellar store verify people.store",
    "cellar tabulate people.store --by region,sex --margins all",
    NULL};

static const cli_command store_command = {
    "store",
    "build|show|verify FILE [options]",
    "build codes the records of FILE (CSV, gzip too; SPSS, Stata, SAS) into a store: one or two "
    "bytes for each category, and numbers for weights, units and record keys. Every verb that "
    "reads records reads the store in their place, with the same results, only faster. With --from "
    "a database is asked for cells, and each becomes as many equal records. show lists "
    "what a store holds; verify compares every block with its checksum. A store is as confidential "
    "as the records.",
    store_options,
    sizeof store_options / sizeof store_options[0],
    store_examples};

/* ---- build ------------------------------------------------------------------------ */

/* The library's terms, and the memory they point to. */
typedef struct store_run {
    cellar_tabulate_spec spec;
    cli_variables variables;
    cli_words columns;
    unsigned char secret[CELLAR_KEY_SECRET_BYTES]; /* for record keys; wiped */
} store_run;

/* All columns but those that are stored as numbers. */
static int store_all_columns(const store_values *values, const char *path, store_run *run)
{
    const char *const used[] = {values->weight, values->unit, values->records.record_key,
                                values->records.record_id};
    char **names;
    size_t n;
    cellar_error err;
    cellar_status status = cellar_columns_read(path, &run->spec.reader, &names, &n, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    for (size_t i = 0; i < n; i++) {
        int is_free = 1;
        for (size_t k = 0; k < sizeof used / sizeof *used; k++)
            is_free &= used[k] == NULL || strcmp(used[k], names[i]) != 0;
        if (is_free)
            cli_words_add(&run->columns, names[i], strlen(names[i]));
    }
    cellar_columns_free(names, n);
    return CLI_GO_ON;
}

static int store_variables(const store_values *values, const char *path, store_run *run)
{
    int result;
    if (values->variables.by != NULL)
        result = cli_variables_split("columns", values->variables.by, &run->columns);
    else if (values->from.n > 0)
        result = cli_usage("store build: with --from say which columns to store: --columns A,B,C");
    else
        result = store_all_columns(values, path, run);
    if (result == CLI_GO_ON)
        result = cli_variables_read_names(&values->variables, "columns", &run->columns, path,
                                          &run->spec.reader, &run->variables);
    run->spec.variables = run->variables.specs;
    run->spec.n_variables = run->variables.names.n;
    run->spec.missing_policy = run->variables.missing_policy;
    return result;
}

static int store_prepare(const store_values *values, const char *path, store_run *run)
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
    spec->unit_column = values->unit;
    spec->n_threads = (int) values->reader.threads.value;
    result = cli_reader_options(&values->reader, &spec->reader);
    if (result == CLI_GO_ON)
        result = cli_records_read(&values->records, spec, run->secret);
    if (result == CLI_GO_ON && values->from.n == 0)
        result = cli_reader_spare(path, values->path);
    if (result == CLI_GO_ON)
        result = store_variables(values, path, run);
    return result;
}

/* Only cells leave a database; records are made of them here. */
static cellar_status store_ask(const store_values *values, const store_run *run,
                               cellar_sql_answer **answer, cellar_error *err)
{
    cellar_sql_source source = cellar_sql_source_default();
    source.table = run->spec.path;
    source.keep_missing = 1;
    return cellar_sql_ask(&run->spec, &source, cli_words_items(&values->from), values->from.n,
                          answer, err);
}

static cellar_status store_write_answer(const store_values *values, const store_run *run,
                                        cellar_output *output, cellar_row_report *rows,
                                        cellar_error *err)
{
    cellar_sql_answer *answer = NULL;
    cellar_counted_cells cells;
    cellar_status status = store_ask(values, run, &answer, err);
    if (status == CELLAR_OK)
        status = cellar_sql_answer_cells(answer, &cells, rows, err);
    if (status == CELLAR_OK)
        status =
            cellar_store_build_from_cells(&run->spec, &cells, values->sort_by, output, rows, err);
    cellar_sql_answer_free(answer);
    return status;
}

static cellar_status store_write(const store_values *values, store_run *run,
                                 cellar_row_report *rows, cellar_error *err)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_status status;
    how.replace = values->force;
    status = cellar_output_open(values->path, &how, &output, err);
    if (status != CELLAR_OK)
        return status;
    run->spec.progress = cli_progress_begin();
    status = values->from.n > 0
                 ? store_write_answer(values, run, output, rows, err)
                 : cellar_store_build(&run->spec, values->sort_by, output, rows, err);
    cli_progress_end();
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
    return status;
}

static void store_report(const char *path, const cellar_row_report *rows)
{
    cli_message("%s: %" PRIu64 " row%s read, %" PRIu64 " stored", path, rows->n_read,
                rows->n_read == 1 ? "" : "s", rows->n_counted);
    cli_reader_suspect(path, rows);
}

static int store_build(const char *path, const store_values *values)
{
    store_run run = {0};
    cellar_row_report rows = {0};
    cellar_error err = {""};
    int result;
    if (values->path == NULL || strcmp(values->path, "-") == 0)
        return cli_usage("store build: name the file to write with -o FILE");
    result = store_prepare(values, path, &run);
    if (result == CLI_GO_ON) {
        cellar_status status = store_write(values, &run, &rows, &err);
        result = cli_exit(status, &err);
        if (status == CELLAR_OK)
            store_report(path, &rows);
    }
    cli_variables_clear(&run.variables);
    cli_words_clear(&run.columns);
    explicit_bzero(run.secret, sizeof run.secret);
    return result;
}

/* ---- show, verify ------------------------------------------------------------------ */

static void store_json(const cellar_store *store, cellar_output *output)
{
    const cellar_store_facts facts = cellar_store_about(store);
    cli_json json = {.output = output};
    cli_json_begin(&json, NULL, '{');
    cli_json_truth(&json, "confidential", 1);
    cli_json_count(&json, "records", facts.n_rows);
    cli_json_count(&json, "bytes", facts.size_bytes);
    cli_json_text(&json, "record_key", facts.key);
    cli_json_count(&json, "key_range", facts.key_range);
    cli_json_text(&json, "weight", facts.weight);
    cli_json_text(&json, "unit", facts.unit);
    cli_json_count(&json, "units", facts.n_units);
    cli_json_text(&json, "sorted_by", facts.sorted_by);
    cli_json_begin(&json, "variables", '[');
    for (size_t v = 0; v < facts.n_variables; v++) {
        const cellar_store_variable variable = cellar_store_variable_at(store, v);
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "name", variable.name);
        cli_json_text(&json, "column", variable.column);
        cli_json_count(&json, "categories", cellar_codelist_n_leaves(variable.codelist));
        cli_json_text(&json, "domain", cellar_domain_name(variable.domain));
        cli_json_count(&json, "bytes", variable.n_bytes);
        cli_json_truth(&json, "missing", variable.has_missing);
        cli_json_truth(&json, "recoded", variable.is_recoded);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void store_list_fact(cli_grid *list, const char *what, const char *text)
{
    if (text == NULL)
        return;
    cli_grid_add(list, what);
    cli_grid_add(list, text);
}

static void store_text(const cellar_store *store, cellar_output *output)
{
    static const char *const head[] = {"variable", "categories", "domain", "bytes", "missing"};
    const cellar_store_facts facts = cellar_store_about(store);
    cli_grid list = {.n_columns = 2, .is_list = 1}, grid = {.n_columns = 5};
    cellar_output_string(output, "Confidential: records of people\n\n");
    cli_grid_add(&list, "records");
    cli_grid_add_count(&list, facts.n_rows);
    cli_grid_add(&list, "bytes");
    cli_grid_add_count(&list, facts.size_bytes);
    store_list_fact(&list, "record keys", facts.key);
    store_list_fact(&list, "weights", facts.weight);
    store_list_fact(&list, "units", facts.unit);
    store_list_fact(&list, "sorted by", facts.sorted_by);
    cli_grid_write(&list, 0, output);
    cellar_output_string(output, "\n");
    for (size_t i = 0; i < grid.n_columns; i++)
        cli_grid_add(&grid, head[i]);
    for (size_t v = 0; v < facts.n_variables; v++) {
        const cellar_store_variable variable = cellar_store_variable_at(store, v);
        cli_grid_add(&grid, variable.name);
        cli_grid_add_count(&grid, cellar_codelist_n_leaves(variable.codelist));
        cli_grid_add(&grid, cellar_domain_name(variable.domain));
        cli_grid_add_count(&grid, variable.n_bytes);
        cli_grid_add(&grid, variable.has_missing ? "yes" : "no");
    }
    cli_grid_write(&grid, 2 | 8, output);
    cli_grid_clear(&list);
    cli_grid_clear(&grid);
}

static int store_show(const char *path, const store_values *values)
{
    cellar_store *store = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status = cellar_store_open(path, &store, &err);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &output, &err);
    if (status == CELLAR_OK) {
        (values->json ? store_json : store_text)(store, output);
        status = cellar_output_commit(output, &err);
    }
    cellar_store_close(store);
    return cli_exit(status, &err);
}

static int store_verify(const char *path, const store_values *values)
{
    cellar_store *store = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    size_t n_blocks = 0;
    cellar_status status = cellar_store_open(path, &store, &err);
    if (status == CELLAR_OK)
        status = cellar_store_verify(store, (int) values->reader.threads.value, &n_blocks, &err);
    cellar_store_close(store);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &output, &err);
    if (status == CELLAR_OK && values->json) {
        cli_json json = {.output = output};
        cli_json_begin(&json, NULL, '{');
        cli_json_truth(&json, "whole", 1);
        cli_json_count(&json, "blocks", n_blocks);
        cli_json_end(&json, '}');
    } else if (status == CELLAR_OK)
        cellar_output_printf(output, "%zu block%s, each as it was written\n", n_blocks,
                             n_blocks == 1 ? "" : "s");
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, &err);
    return cli_exit(status, &err);
}

/* ---- the verb ---------------------------------------------------------------------- */

static const struct store_action {
    const char *name;
    int (*run)(const char *path, const store_values *values);
} store_actions[] = {{"build", store_build}, {"show", store_show}, {"verify", store_verify}};
static const char *const action_names[] = {"build", "show", "verify", NULL};
enum {
    N_ACTIONS = sizeof store_actions / sizeof store_actions[0],
    BUILD = 1,
    SHOW = 2,
    VERIFY = 4
};

/* Every option but these belongs to build. */
static int store_check_places(const store_values *values, size_t action)
{
    enum { N_OPTIONS = sizeof store_options / sizeof store_options[0] };
    cli_place places[N_OPTIONS];
    size_t n = 0;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const char *name = store_options[i].name;
        if (store_options[i].kind == CLI_SECTION || strcmp(name, "json") == 0)
            continue;
        places[n++] = (cli_place){name, strcmp(name, "threads") == 0 ? BUILD | VERIFY : BUILD};
    }
    return cli_options_check_places(&store_command, values, places, n, action_names, action);
}

static int store_run_action(const cli_words *words, const store_values *values)
{
    const char *nearest;
    for (size_t i = 0; i < N_ACTIONS; i++)
        if (strcmp(words->items[0], store_actions[i].name) == 0) {
            int result = store_check_places(values, i);
            if (result == CLI_GO_ON && values->json && i == 0)
                result = cli_usage("store build: --json is for show and verify");
            return result == CLI_GO_ON ? store_actions[i].run(words->items[1], values) : result;
        }
    nearest = cellar_nearest_word(words->items[0], action_names);
    if (nearest != NULL)
        return cli_usage("store: there is no '%s'; did you mean '%s'?", words->items[0], nearest);
    return cli_usage("store: say what to do, such as build, not '%s'", words->items[0]);
}

int cli_store(int argc, char **argv)
{
    store_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&store_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage("store needs what to do and a file: store build DATA -o FILE.store, "
                           "store show FILE.store");
    if (result == CLI_GO_ON)
        result = store_run_action(&words, &values);
    cli_words_clear(&words);
    cli_options_clear(&store_command, &values);
    return result;
}
