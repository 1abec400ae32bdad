/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "terminal.h"

enum { PEOPLE_CELLS = 40 }; /* about what a screen holds */

static int table_out_ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), n = strlen(ending);
    return length > n && strcmp(path + length - n, ending) == 0;
}

/* --format, else the ending of the name, else CSV on standard output. */
static int table_out_format(const cli_table_options *options, cellar_table_format *format)
{
    if (options->format > 0)
        *format = (cellar_table_format) (CELLAR_TABLE_AUTO + options->format);
    else if (options->path == NULL || strcmp(options->path, "-") == 0 ||
             table_out_ends_in(options->path, ".csv"))
        *format = CELLAR_TABLE_CSV;
    else if (table_out_ends_in(options->path, ".json"))
        *format = CELLAR_TABLE_JSONSTAT;
    else if (table_out_ends_in(options->path, ".px"))
        *format = CELLAR_TABLE_PX;
    else if (cellar_table_format_of_path(options->path) != CELLAR_TABLE_AUTO)
        return cli_usage("%s: true counts are not written as a spreadsheet, which is made to be "
                         "passed on; say -o FILE.csv, FILE.json or FILE.px",
                         options->path);
    else
        return cli_usage(
            "%s: the name does not show the format; say --format csv|json|px|sdmx|csvw",
            options->path);
    return CLI_GO_ON;
}

static int table_out_check(const cli_table_options *options, cellar_table_format format)
{
    int to_stdout = options->path == NULL || strcmp(options->path, "-") == 0;
    if (format == CELLAR_TABLE_CSVW && to_stdout)
        return cli_usage("--format csvw writes a CSV and its description: name the CSV with -o");
    if (options->sparse && format != CELLAR_TABLE_JSONSTAT)
        return cli_usage("--sparse belongs to --format json");
    if (options->zeros && (format == CELLAR_TABLE_PX || format == CELLAR_TABLE_JSONSTAT))
        return cli_usage("--zeros belongs to csv and sdmx; json and px have the zeros anyway");
    if (options->neutralise_formulas && format != CELLAR_TABLE_CSV && format != CELLAR_TABLE_CSVW)
        return cli_usage("--neutralise-formulas belongs to csv");
    if (options->limit.given && !to_stdout)
        return cli_usage("--limit is for the table on standard output, not for a file");
    return CLI_GO_ON;
}

/* Opens table.csv and, for CSVW, table.csv-metadata.json, where the standard says it lies. */
static cellar_status table_out_open_files(const char *path, int force, cli_table_out *out,
                                          cellar_error *err)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_status status;
    size_t size = strlen(path) + sizeof "-metadata.json";
    how.replace = force;
    status = cellar_output_open(path, &how, &out->output, err);
    if (status != CELLAR_OK || out->write.format != CELLAR_TABLE_CSVW)
        return status;
    out->description_path = cli_alloc(size, 1);
    snprintf(out->description_path, size, "%s-metadata.json", path);
    return cellar_output_open(out->description_path, &how, &out->description, err);
}

int cli_table_out_open(const cli_table_options *options, int to_stdout, cli_table_out *out)
{
    const char *path = options->path != NULL ? options->path : "-", *slash = strrchr(path, '/');
    cellar_status status;
    cellar_error err;
    int result;

    *out = (cli_table_out){0};
    if (options->path != NULL && strcmp(path, "-") == 0 && !to_stdout)
        return cli_usage("--json and the table cannot both go to standard output");
    result = table_out_format(options, &out->write.format);
    if (result == CLI_GO_ON)
        result = table_out_check(options, out->write.format);
    if (result != CLI_GO_ON)
        return result;
    out->write.zeros = options->zeros;
    out->write.sparse = options->sparse;
    out->write.neutralise_formulas = options->neutralise_formulas;
    result = cli_about_options(&options->about, &out->roles, &out->write);
    if (result != CLI_GO_ON)
        return result;
    out->write.csv_name = slash != NULL ? slash + 1 : path;
    out->limit = options->limit.given ? options->limit.value : PEOPLE_CELLS;
    out->for_people = options->limit.given ||
                      (options->path == NULL && options->format == 0 && cli_stdout_is_terminal());
    if (options->path == NULL && !to_stdout)
        return CLI_GO_ON;
    status = table_out_open_files(path, options->force, out, &err);
    return status != CELLAR_OK ? cli_exit(status, &err) : CLI_GO_ON;
}

/* ---- for people ----------------------------------------------------------- */

static void table_out_add_cell(cli_grid *grid, const cellar_table *table, cellar_cell cell)
{
    const cellar_schema *schema = cellar_table_schema(table);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    char weighted[64];

    cellar_schema_categories(schema, cell.index, categories);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cli_grid_add(grid, cellar_schema_code(schema, v, categories[v]));
    cli_grid_add_count(grid, cell.count);
    if (cellar_table_is_weighted(table)) {
        snprintf(weighted, sizeof weighted, "%.10g", cell.weighted);
        cli_grid_add(grid, weighted);
    }
}

static void table_out_people(const cli_table_out *out, const cellar_table *table)
{
    const cellar_schema *schema = cellar_table_schema(table);
    size_t n_variables = cellar_schema_n_variables(schema), n_cells = cellar_table_n_cells(table);
    size_t n_shown = out->limit > 0 && out->limit < n_cells ? (size_t) out->limit : n_cells;
    int weighted = cellar_table_is_weighted(table);
    cli_grid grid = {.n_columns = n_variables + 1 + (size_t) weighted, .keeps_columns = 1};

    for (size_t v = 0; v < n_variables; v++)
        cli_grid_add(&grid, cellar_schema_variable(schema, v));
    cli_grid_add(&grid, "count");
    if (weighted)
        cli_grid_add(&grid, "weighted");
    for (size_t i = 0; i < n_shown; i++)
        table_out_add_cell(&grid, table, cellar_table_cell(table, i));
    cli_grid_write(&grid, n_variables < 63 ? (uint64_t) 3 << n_variables : 0, out->output);
    if (n_shown < n_cells)
        cellar_output_printf(out->output, "... and %zu more cell%s (-o FILE writes them all)\n",
                             n_cells - n_shown, n_cells - n_shown == 1 ? "" : "s");
    cli_grid_clear(&grid);
}

/* ---- files ---------------------------------------------------------------- */

cellar_status cli_table_out_write(cli_table_out *out, const cellar_table *table, cellar_error *err)
{
    cellar_table_write_options write = out->write;
    cellar_output *output = out->output, *description = out->description;
    cellar_status status = CELLAR_OK;

    if (output == NULL)
        return CELLAR_OK;
    if (description != NULL) {
        status = cellar_table_write(table, &write, description, err);
        write.format = CELLAR_TABLE_CSV;
    }
    if (out->for_people)
        table_out_people(out, table);
    else if (status == CELLAR_OK)
        status = cellar_table_write(table, &write, output, err);
    if (status == CELLAR_OK) {
        out->output = NULL;
        status = cellar_output_commit(output, err);
    }
    if (status == CELLAR_OK && description != NULL) {
        out->description = NULL;
        status = cellar_output_commit(description, err);
    }
    return status;
}

void cli_table_out_clear(cli_table_out *out)
{
    cellar_output_discard(out->output);
    cellar_output_discard(out->description);
    free(out->description_path);
    cli_roles_clear(&out->roles);
    *out = (cli_table_out){0};
}
