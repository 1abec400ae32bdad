/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar describe: what a data file holds, before anything is counted. */
#include "verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/describe.h>
#include <cellar/text.h>

#include "json_out.h"
#include "reader.h"
#include "terminal.h"

typedef struct describe_values {
    const char *columns, *by, *path;
    cli_number levels, max_levels;
    cli_words write_codelist;
    int force, json;
    cli_reader reader;
} describe_values;

#define AT(member) offsetof(describe_values, member)
static const cli_option describe_options[] = {
    SECTION("What to look at"),
    TEXT("columns", "A,B,C", columns, "only these columns [all, or those of --by]"),
    TEXT("by", "A,B,C", by, "also the number of possible cells of a table of these columns"),
    NUMBER("levels", "N", levels, 0, 0, "list the first N levels of each column, 0 for all"),
    NUMBER("max-levels", "N", max_levels, 1, 0,
           "stop counting the levels of a column beyond N [100000]"),
    MANY("write-codelist", "VAR[=FILE]", write_codelist,
         "draft a code list of a column for you to review, from its value labels if it has some, "
         "else from its levels [VAR.csv]; may be repeated"),
    CLI_READER_OPTIONS(AT(reader)),
    SECTION("Writing the description"),
    OUTPUT(path, "write to a file that only you can read [standard output]"),
    FLAG("force", force, "replace existing files"),
    FLAG("json", json, "print JSON"),
    SECTION("Other"),
};

static const char *const describe_examples[] = {
    "cellar describe people.csv", "cellar describe people.csv --by region,sex,age --json",
    "cellar describe people.csv --write-codelist occupation=occupation.csv", NULL};

static const cli_command describe_command = {
    "describe",
    "FILE [options]",
    "Shows the columns of FILE: their type, levels, missing values and range. What it prints is "
    "computed from records, so it is confidential.",
    describe_options,
    sizeof describe_options / sizeof describe_options[0],
    describe_examples};

/* ---- the size of a table -------------------------------------------------- */

/* The product of the levels of the columns of --by. `at_least`: some column was truncated. */
typedef struct describe_size {
    uint64_t n_possible;
    int overflow, at_least;
} describe_size;

static size_t describe_find(const cellar_description *description, const char *name)
{
    for (size_t c = 0; c < cellar_description_n_columns(description); c++)
        if (strcmp(cellar_description_column(description, c).name, name) == 0)
            return c;
    return (size_t) -1;
}

static int describe_cells(const cellar_description *description, const cli_words *by,
                          describe_size *size)
{
    *size = (describe_size){.n_possible = 1};
    for (size_t i = 0; i < by->n; i++) {
        size_t c = describe_find(description, by->items[i]);
        cellar_column_description column;
        if (c == (size_t) -1)
            return cli_usage("--by: '%s' is not among the --columns", by->items[i]);
        column = cellar_description_column(description, c);
        size->at_least |= column.levels_truncated;
        size->overflow |=
            __builtin_mul_overflow(size->n_possible, (uint64_t) column.n_levels, &size->n_possible);
    }
    return CLI_GO_ON;
}

/* ---- for people ----------------------------------------------------------- */

static const char *describe_type(const cellar_column_description *column)
{
    if (column->n_levels == 0)
        return "empty";
    return column->is_integer ? "integer" : column->is_number ? "number" : "text";
}

/* An end of the range, unless levels beyond the limit were never looked at. */
static const char *describe_end(const cellar_column_description *column, const char *end)
{
    return column->levels_truncated ? NULL : end;
}

static void describe_write_levels(const cellar_description *description, size_t c, uint64_t limit,
                                  cellar_output *output)
{
    cellar_column_description column = cellar_description_column(description, c);
    size_t n = limit > 0 && limit < column.n_levels ? (size_t) limit : column.n_levels;
    cli_grid grid = {.n_columns = 2};

    cli_grid_add(&grid, column.name);
    cli_grid_add(&grid, cellar_description_rows(description).is_aggregated ? "records" : "rows");
    for (size_t level = 0; level < n; level++) {
        uint64_t n_rows;
        const char *text = cellar_description_level(description, c, level, &n_rows);
        cli_grid_add(&grid, text);
        cli_grid_add_count(&grid, n_rows);
    }
    cellar_output_string(output, "\n");
    cli_grid_write(&grid, 2, output);
    if (n < column.n_levels)
        cellar_output_printf(output, "... and %zu more level%s\n", column.n_levels - n,
                             column.n_levels - n == 1 ? "" : "s");
    cli_grid_clear(&grid);
}

static void describe_write_columns(const cellar_description *description, cellar_output *output)
{
    static const char *const head[] = {"column", "type", "levels", "missing", "lowest", "highest"};
    cli_grid grid = {.n_columns = sizeof head / sizeof head[0]};
    cellar_output_string(output, "Confidential: an assessment of the records\n\n");
    for (size_t i = 0; i < grid.n_columns; i++)
        cli_grid_add(&grid, head[i]);
    for (size_t c = 0; c < cellar_description_n_columns(description); c++) {
        cellar_column_description column = cellar_description_column(description, c);
        char levels[32];
        snprintf(levels, sizeof levels, "%s%zu", column.levels_truncated ? ">=" : "",
                 column.n_levels);
        cli_grid_add(&grid, column.name);
        cli_grid_add(&grid, describe_type(&column));
        cli_grid_add(&grid, levels);
        cli_grid_add_count(&grid, column.n_missing);
        cli_grid_add(&grid, describe_end(&column, column.lowest));
        cli_grid_add(&grid, describe_end(&column, column.highest));
    }
    cli_grid_write(&grid, 1 << 2 | 1 << 3, output);
    cli_grid_clear(&grid);
}

/* What to write where values are missing, or may be. */
static void describe_write_missing(const cellar_description *description, cellar_output *output)
{
    size_t n_missing = 0, n = cellar_description_n_columns(description);
    for (size_t c = 0; c < n; c++)
        n_missing += cellar_description_column(description, c).n_missing > 0;
    if (n_missing > 0)
        cellar_output_printf(
            output,
            "values are missing in %zu column%s: to count by one, say --missing-as "
            "drop or level (--missing-as VARIABLE=level for one of several)\n",
            n_missing, n_missing == 1 ? "" : "s");
    for (size_t c = 0; c < n; c++) {
        cellar_column_description column = cellar_description_column(description, c);
        if (column.suspect != NULL)
            cellar_output_printf(
                output, "column '%s' holds '%s': if that means missing, say --missing '%s'\n",
                column.name, column.suspect, column.suspect);
    }
}

static void describe_write_people(const cellar_description *description,
                                  const describe_values *values, const describe_size *size,
                                  cellar_output *output)
{
    cellar_row_report rows = cellar_description_rows(description);
    describe_write_columns(description, output);
    cellar_output_printf(output, "\n%" PRIu64 " row%s", rows.n_read, rows.n_read == 1 ? "" : "s");
    if (rows.is_aggregated)
        cellar_output_printf(output, " that stand for %" PRIu64 " record%s", rows.n_counted,
                             rows.n_counted == 1 ? "" : "s");
    if (rows.n_bad > 0)
        cellar_output_printf(output, ", %" PRIu64 " skipped because they cannot be read",
                             rows.n_bad);
    cellar_output_string(output, "\n");
    if (values->by != NULL && size->overflow)
        cellar_output_printf(output, "possible cells of %s: 2^64 or more\n", values->by);
    else if (values->by != NULL)
        cellar_output_printf(output, "possible cells of %s: %s%" PRIu64 "\n", values->by,
                             size->at_least ? "at least " : "", size->n_possible);
    describe_write_missing(description, output);
    for (size_t c = 0; values->levels.given && c < cellar_description_n_columns(description); c++)
        describe_write_levels(description, c, values->levels.value, output);
}

/* ---- for programs --------------------------------------------------------- */

static void describe_json_levels(cli_json *json, const cellar_description *description, size_t c,
                                 uint64_t limit)
{
    size_t n_levels = cellar_description_column(description, c).n_levels;
    cli_json_begin(json, "values", '[');
    for (size_t level = 0; level < n_levels && (limit == 0 || level < limit); level++) {
        uint64_t n_rows;
        const char *text = cellar_description_level(description, c, level, &n_rows);
        cli_json_begin(json, NULL, '{');
        cli_json_text(json, "value", text);
        cli_json_count(json, "rows", n_rows);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void describe_json_column(cli_json *json, const cellar_description *description, size_t c,
                                 const cli_number *levels)
{
    cellar_column_description column = cellar_description_column(description, c);
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "name", column.name);
    cli_json_text(json, "type", describe_type(&column));
    cli_json_count(json, "levels", column.n_levels);
    cli_json_truth(json, "levels_truncated", column.levels_truncated);
    cli_json_count(json, "missing", column.n_missing);
    cli_json_text(json, "suspect", column.suspect);
    cli_json_text(json, "lowest", describe_end(&column, column.lowest));
    cli_json_text(json, "highest", describe_end(&column, column.highest));
    if (levels->given)
        describe_json_levels(json, description, c, levels->value);
    cli_json_end(json, '}');
}

static void describe_write_json(const cellar_description *description,
                                const describe_values *values, const describe_size *size,
                                cellar_output *output)
{
    cellar_row_report rows = cellar_description_rows(description);
    cli_json json = {.output = output};
    cli_json_begin(&json, NULL, '{');
    cli_json_truth(&json, "confidential", 1);
    cli_reader_json(&json, &rows);
    cli_json_begin(&json, "columns", '[');
    for (size_t c = 0; c < cellar_description_n_columns(description); c++)
        describe_json_column(&json, description, c, &values->levels);
    cli_json_end(&json, ']');
    if (values->by != NULL && size->overflow)
        cli_json_null(&json, "possible_cells");
    else if (values->by != NULL)
        cli_json_count(&json, "possible_cells", size->n_possible);
    if (values->by != NULL)
        cli_json_truth(&json, "possible_cells_exact", !size->overflow && !size->at_least);
    cli_json_end(&json, '}');
}

/* ---- code lists ----------------------------------------------------------- */

/* VAR or VAR=FILE: the column, and the path (to be freed). */
static size_t describe_codelist_target(const cellar_description *description, const char *text,
                                       char **path)
{
    size_t found = (size_t) -1, found_length = 0;
    for (size_t c = 0; c < cellar_description_n_columns(description); c++) {
        const char *name = cellar_description_column(description, c).name;
        size_t length = strlen(name);
        if (strncmp(text, name, length) == 0 && (text[length] == '=' || text[length] == '\0') &&
            length >= found_length) {
            found = c;
            found_length = length;
        }
    }
    if (found == (size_t) -1) {
        cli_message("--write-codelist: '%s' names no column; say COLUMN or COLUMN=FILE", text);
        return found;
    }
    if (text[found_length] == '\0' && strchr(text, '/') != NULL) {
        cli_message("--write-codelist: '%s' is no name for a file; say '%s=FILE'", text, text);
        return (size_t) -1;
    }
    *path = cli_alloc(strlen(text) + sizeof ".csv", 1);
    if (text[found_length] == '=')
        memcpy(*path, text + found_length + 1, strlen(text + found_length + 1));
    else
        snprintf(*path, strlen(text) + sizeof ".csv", "%s.csv", text);
    return found;
}

static cellar_status describe_make_codelist(const cellar_description *description, size_t column,
                                            const cellar_describe_spec *spec, int *from_labels,
                                            cellar_codelist **list, cellar_error *err)
{
    const char *name = cellar_description_column(description, column).name;
    *from_labels =
        strcmp(spec->path, "-") != 0 &&
        cellar_codelist_from_labels(spec->path, &spec->reader, name, list, NULL) == CELLAR_OK;
    if (!*from_labels)
        return cellar_codelist_from_description(description, column, list, err);
    if (cellar_description_column(description, column).n_missing > 0) {
        cellar_codelist *labels = *list;
        cellar_status status = cellar_codelist_with_unknown(labels, list, err);
        cellar_codelist_free(labels);
        return status;
    }
    return CELLAR_OK;
}

static int describe_write_codelist(const cellar_description *description, const char *text,
                                   const cellar_describe_spec *spec, int force)
{
    cellar_output_options how = cellar_output_options_default();
    char *path = NULL;
    size_t column = describe_codelist_target(description, text, &path);
    cellar_codelist *list = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    cellar_status status;
    int from_labels = 0;

    how.replace = force;
    if (column == (size_t) -1 || cli_reader_spare(spec->path, path) != CLI_GO_ON) {
        free(path);
        return CLI_USAGE;
    }
    status = describe_make_codelist(description, column, spec, &from_labels, &list, &err);
    if (status == CELLAR_OK)
        status = cellar_output_open(path, &how, &output, &err);
    if (status == CELLAR_OK) {
        cellar_codelist_write(list, output);
        status = cellar_output_commit(output, &err);
    }
    if (status == CELLAR_OK)
        cli_message(from_labels ? "%s: a draft read off the value labels; review it before you "
                                  "declare it public"
                                : "%s: a draft read off the data, which no release accepts before "
                                  "somebody has reviewed it and signed its first line",
                    path);
    cellar_codelist_free(list);
    free(path);
    return status != CELLAR_OK ? cli_exit(status, &err) : CLI_GO_ON;
}

/* ---- the run -------------------------------------------------------------- */

/* Everything that follows from a description: drafts of code lists, then the page itself. */
static int describe_tell(const cellar_description *description, const describe_values *values,
                         const cellar_describe_spec *spec, const cli_words *by,
                         cellar_output *output)
{
    describe_size size;
    int result = describe_cells(description, by, &size);
    for (size_t i = 0; i < values->write_codelist.n && result == CLI_GO_ON; i++)
        result = describe_write_codelist(description, values->write_codelist.items[i], spec,
                                         values->force);
    if (result == CLI_GO_ON && values->json)
        describe_write_json(description, values, &size, output);
    else if (result == CLI_GO_ON)
        describe_write_people(description, values, &size, output);
    return result;
}

static int describe_run(const describe_values *values, cellar_describe_spec *spec,
                        const cli_words *by)
{
    cellar_output_options how = cellar_output_options_default();
    const char *path = values->path != NULL ? values->path : "-";
    cellar_output *output = NULL; /* opened first: reading may take long */
    cellar_description *description = NULL;
    cellar_error err;
    cellar_status status;
    int result = CLI_GO_ON;

    how.replace = values->force;
    status = cellar_output_open(path, &how, &output, &err);
    if (status == CELLAR_OK) {
        spec->progress = cli_progress_begin();
        status = cellar_describe(spec, &description, &err);
        cli_progress_end();
    }
    if (status == CELLAR_OK) {
        const cellar_row_report rows = cellar_description_rows(description);
        cli_reader_suspect(spec->path, &rows);
        result = describe_tell(description, values, spec, by, output);
    }
    if (status == CELLAR_OK && result == CLI_GO_ON) {
        status = cellar_output_commit(output, &err);
        output = NULL;
    }
    cellar_output_discard(output);
    cellar_description_free(description);
    return result == CLI_GO_ON ? cli_exit(status, &err) : result;
}

static int describe_prepare(const describe_values *values, const cli_words *files,
                            cellar_describe_spec *spec, cli_words *columns, cli_words *by)
{
    if (files->n == 0)
        return cli_usage("describe: name the data file (- is standard input)");
    if (files->n > 1)
        return cli_usage("describe takes one file, and '%s' is a second", files->items[1]);
    if (cli_reader_spare(files->items[0], values->path) != CLI_GO_ON)
        return CLI_USAGE;
    if (values->by != NULL && !cli_words_split(by, values->by, ',', 1))
        return cli_usage("--by: a quote is not closed");
    if (values->columns != NULL && !cli_words_split(columns, values->columns, ',', 1))
        return cli_usage("--columns: a quote is not closed");
    spec->path = files->items[0];
    if (values->columns != NULL || values->by != NULL) {
        const cli_words *chosen = values->columns != NULL ? columns : by;
        spec->columns = cli_words_items(chosen);
        spec->n_columns = chosen->n;
    }
    spec->missing = cli_words_items(&values->reader.missing);
    spec->n_missing = values->reader.missing.n;
    spec->max_levels = (size_t) values->max_levels.value;
    spec->n_threads = (int) values->reader.threads.value;
    return cli_reader_options(&values->reader, &spec->reader);
}

int cli_describe(int argc, char **argv)
{
    describe_values values = {0};
    cli_words files = {0}, columns = {0}, by = {0};
    cellar_describe_spec spec = cellar_describe_spec_default();
    int result = cli_options_parse(&describe_command, argc, argv, &values, &files);

    if (result == CLI_GO_ON)
        result = describe_prepare(&values, &files, &spec, &columns, &by);
    if (result == CLI_GO_ON)
        result = describe_run(&values, &spec, &by);
    cli_words_clear(&by);
    cli_words_clear(&columns);
    cli_words_clear(&files);
    cli_options_clear(&describe_command, &values);
    return result;
}
