/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar synthesize of a cube: records of a model, and how well each table of the cube is met. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_out.h"
#include "synthesize.h"
#include "terminal.h"

typedef struct cube_run {
    const synthesize_values *values;
    cellar_cube *cube;
    cellar_synthesis_model *model;
    cellar_synthesis *records; /* the first set */
    cellar_synthesis_fit *fits;
    size_t n_fits;
    uint64_t n_sets;
    char **names; /* of the file of each set */
} cube_run;

/* ---- computing -------------------------------------------------------------------------- */

static cellar_status make_model(cube_run *run, const char *path, cellar_error *err)
{
    const synthesize_values *values = run->values;
    cellar_synthesis_model_options options = cellar_synthesis_model_options_default();
    cellar_status status = cellar_cube_open(path, &run->cube, err);
    if (values->records.given)
        options.n_records = values->records.value;
    if (values->max_records.given)
        options.max_records = values->max_records.value;
    if (values->max_table_cells.given)
        options.max_table_cells = values->max_table_cells.value;
    return status == CELLAR_OK
               ? cellar_synthesis_model_create(run->cube, &options, &run->model, err)
               : status;
}

/* people.csv.gz becomes people-2.csv.gz. */
static char *name_of_set(const char *path, uint64_t set)
{
    const size_t size = strlen(path) + 24;
    const char *csv = strstr(path, ".csv"), *end = csv != NULL ? csv : strstr(path, ".tsv");
    char *name = malloc(size);
    if (end == NULL)
        end = path + strlen(path);
    for (const char *next = end; next != NULL;
         next = strstr(next + 1, csv != NULL ? ".csv" : ".tsv"))
        end = next; /* the last one */
    if (name != NULL)
        snprintf(name, size, "%.*s-%" PRIu64 "%s", (int) (end - path), path, set, end);
    return name;
}

static cellar_status name_files(cube_run *run, cellar_error *err)
{
    const uint64_t n = run->n_sets;
    int is_short = (run->names = calloc(n, sizeof *run->names)) == NULL;
    for (uint64_t set = 0; set < n && !is_short; set++) {
        run->names[set] = run->values->sets.given ? name_of_set(run->values->path, set + 1)
                                                  : strdup(run->values->path);
        is_short = run->names[set] == NULL;
    }
    if (is_short)
        snprintf(err->message, sizeof err->message, "out of memory");
    return is_short ? CELLAR_ERR_MEMORY : CELLAR_OK;
}

static char *name_beside(const char *name)
{
    const size_t size = strlen(name) + sizeof ".synthetic.json";
    char *beside = malloc(size);
    if (beside != NULL)
        snprintf(beside, size, "%s.synthetic.json", name);
    return beside;
}

/* Several sets appear all or not at all: a name that is taken is found before the first is drawn
 * (the writer looks again). */
static cellar_status check_names(const cube_run *run, cellar_error *err)
{
    for (uint64_t set = 0; set < run->n_sets && !run->values->force; set++) {
        char *beside = name_beside(run->names[set]);
        const char *taken = access(run->names[set], F_OK) == 0            ? run->names[set]
                            : beside != NULL && access(beside, F_OK) == 0 ? beside
                                                                          : NULL;
        if (taken != NULL)
            snprintf(err->message, sizeof err->message,
                     "%.200s: exists already; choose another name or allow replacing it", taken);
        free(beside);
        if (taken != NULL)
            return CELLAR_ERR_EXISTS;
    }
    return CELLAR_OK;
}

static void remove_sets(const cube_run *run, uint64_t n)
{
    for (uint64_t set = 0; set < n; set++) {
        char *beside = name_beside(run->names[set]);
        unlink(run->names[set]);
        if (beside != NULL)
            unlink(beside);
        free(beside);
    }
}

static cellar_status draw_sets(cube_run *run, const cellar_synthesis_write_options *write,
                               cellar_error *err)
{
    cellar_status status = name_files(run, err);
    if (status == CELLAR_OK)
        status = check_names(run, err);
    for (uint64_t set = 0; set < run->n_sets && status == CELLAR_OK; set++) {
        cellar_synthesis *records = NULL;
        status = cellar_synthesis_draw(run->model, NULL, &records, err);
        if (status == CELLAR_OK)
            status = cellar_synthesis_write(records, run->names[set], write, err);
        if (set == 0)
            run->records = records;
        else
            cellar_synthesis_free(records);
        if (status != CELLAR_OK)
            remove_sets(run, set);
    }
    return status;
}

static int worst_first(const void *a, const void *b)
{
    const cellar_synthesis_fit *x = a, *y = b;
    const double p = x->sd > 0 ? x->difference / x->sd : 0;
    const double q = y->sd > 0 ? y->difference / y->sd : 0;
    if (p != q)
        return p > q ? -1 : 1;
    return strcmp(x->name, y->name);
}

static cellar_status compare(cube_run *run, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    run->n_fits = cellar_synthesis_model_n_tables(run->model);
    run->fits = calloc(run->n_fits, sizeof *run->fits);
    if (run->fits == NULL) {
        snprintf(err->message, sizeof err->message, "out of memory");
        return CELLAR_ERR_MEMORY;
    }
    for (size_t t = 0; t < run->n_fits && status == CELLAR_OK; t++)
        status = cellar_synthesis_compare(run->model, run->records, t, &run->fits[t], err);
    if (status == CELLAR_OK)
        qsort(run->fits, run->n_fits, sizeof *run->fits, worst_first);
    return status;
}

/* ---- showing ------------------------------------------------------------------------------ */

static void show_json(const cube_run *run, cellar_output *output)
{
    cli_json json = {.output = output};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "file", run->names[0]); /* records and tables are those of this set */
    cli_json_count(&json, "sets", run->n_sets);
    cli_json_begin(&json, "files", '[');
    for (uint64_t set = 0; set < run->n_sets; set++)
        cli_json_text(&json, NULL, run->names[set]);
    cli_json_end(&json, ']');
    cli_json_text(&json, "statement", CELLAR_SYNTHETIC_STATEMENT);
    cli_json_count(&json, "records", cellar_synthesis_n_records(run->records));
    cli_json_count(&json, "combinations", cellar_synthesis_n_combinations(run->records));
    cli_json_real(&json, "unmet", cellar_synthesis_model_unmet(run->model));
    cli_json_begin(&json, "model", '[');
    for (size_t f = 0; f < cellar_synthesis_model_n_factors(run->model); f++) {
        const cellar_synthesis_factor factor = cellar_synthesis_model_factor(run->model, f);
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "variable", factor.variable);
        cli_json_text(&json, "given", factor.given);
        cli_json_real(&json, "information", factor.information);
        cli_json_real(&json, "gain", factor.gain);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_begin(&json, "tables", '[');
    for (size_t t = 0; t < run->n_fits; t++) {
        const cellar_synthesis_fit *fit = &run->fits[t];
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "table", fit->name);
        cli_json_count(&json, "variables", fit->n_variables);
        cli_json_count(&json, "cells", fit->n_cells);
        cli_json_truth(&json, "in_model", fit->is_in_model);
        cli_json_real(&json, "sd", fit->sd);
        cli_json_real(&json, "difference", fit->difference);
        cli_json_real(&json, "largest", fit->largest);
        cli_json_end(&json, '}');
    }
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void show_model(const cube_run *run, cellar_output *output)
{
    cli_grid grid = {.n_columns = 3, .keeps_columns = 1};
    cli_grid_add(&grid, "variable");
    cli_grid_add(&grid, "given");
    cli_grid_add(&grid, "information");
    for (size_t f = 0; f < cellar_synthesis_model_n_factors(run->model); f++) {
        const cellar_synthesis_factor factor = cellar_synthesis_model_factor(run->model, f);
        cli_grid_add(&grid, factor.variable);
        cli_grid_add(&grid, factor.given[0] != '\0' ? factor.given : "-");
        cli_grid_add_number(&grid, factor.information);
    }
    cli_grid_write(&grid, UINT64_C(4), output);
    cli_grid_clear(&grid);
}

static void show_fits(const cube_run *run, cellar_output *output)
{
    const cli_number limit = run->values->limit;
    const uint64_t shown = !limit.given ? 10 : limit.value == 0 ? UINT64_MAX : limit.value;
    cli_grid grid = {.n_columns = 6, .keeps_columns = 1};
    static const char *const names[] = {"table", "cells",      "in model",
                                        "sd",    "difference", "largest"};
    for (size_t i = 0; i < 6; i++)
        cli_grid_add(&grid, names[i]);
    for (size_t t = 0; t < run->n_fits && t < shown; t++) {
        const cellar_synthesis_fit *fit = &run->fits[t];
        cli_grid_add(&grid, fit->name);
        cli_grid_add_count(&grid, fit->n_cells);
        cli_grid_add(&grid, fit->is_in_model ? "yes" : "no");
        cli_grid_add_number(&grid, fit->sd);
        cli_grid_add_number(&grid, fit->difference);
        cli_grid_add_number(&grid, fit->largest);
    }
    cli_grid_write(&grid, UINT64_C(2 + 8 + 16 + 32), output);
    if (run->n_fits > shown)
        cellar_output_string(output, "... (--limit 0 shows all tables)\n");
    cli_grid_clear(&grid);
}

static cellar_status show(const cube_run *run, cellar_error *err)
{
    cellar_output *output;
    const cellar_status status = cellar_output_open("-", NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    if (run->values->json) {
        show_json(run, output);
    } else {
        show_model(run, output);
        if (cellar_synthesis_model_unmet(run->model) > 0)
            cli_message("the tables of the model do not quite add to each other (they are up to "
                        "%.0f records away): the records meet them approximately",
                        cellar_synthesis_model_unmet(run->model));
        cellar_output_string(output, run->n_sets > 1 ? "\nTables of the first set beside"
                                                     : "\nTables of the records beside");
        cellar_output_string(output,
                             " those of the cube, the worst first "
                             "(difference: root mean square;\nthe noise of the cube alone makes it "
                             "about sd):\n");
        show_fits(run, output);
    }
    return cellar_output_commit(output, err);
}

int cli_synthesize_cube(const synthesize_values *values, const char *path,
                        const cellar_synthesis_write_options *write)
{
    cube_run run = {.values = values, .n_sets = values->sets.given ? values->sets.value : 1};
    cellar_error err;
    cellar_status status = make_model(&run, path, &err);
    if (status == CELLAR_OK)
        status = draw_sets(&run, write, &err);
    if (status == CELLAR_OK)
        status = compare(&run, &err);
    if (status == CELLAR_OK)
        status = show(&run, &err);
    if (status == CELLAR_OK)
        cli_message("%s: %" PRIu64 " synthetic records%s", values->path,
                    cellar_synthesis_n_records(run.records),
                    run.n_sets > 1 ? " in each set; the sets share the noise of the cube: take "
                                     "intervals from the cube (cellar infer interval)"
                                   : "");
    for (uint64_t set = 0; run.names != NULL && set < run.n_sets; set++)
        free(run.names[set]);
    free(run.names);
    free(run.fits);
    cellar_synthesis_free(run.records);
    cellar_synthesis_model_free(run.model);
    cellar_cube_close(run.cube);
    return cli_exit(status, &err);
}
