/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes.
 *
 *   bench_cube count FILE      all tables of at most three of the columns of a CSV file */
#include <cellar/cellar.h>
#include <string.h>

#include "harness.h"

enum { MAX_COLUMNS = 10, MAX_SETS = 1 << 10 };

static void check(cellar_status status, const cellar_error *err)
{
    if (status != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err->message);
        exit(1);
    }
}

/* ---- counting ------------------------------------------------------------------ */

typedef struct count_work {
    cellar_tabulate_spec spec;
    cellar_variable_spec variables[MAX_COLUMNS];
    cellar_tabulate_set sets[MAX_SETS];
    cellar_table *tables[MAX_SETS];
    size_t n_sets, n_cells;
} count_work;

/* Code lists as a custodian would declare them: drafted once, outside the measurement. */
static void declare_columns(count_work *work, const char *path)
{
    cellar_describe_spec spec = cellar_describe_spec_default();
    cellar_description *description = NULL;
    cellar_error err;
    spec.path = path;
    check(cellar_describe(&spec, &description, &err), &err);
    work->spec = cellar_tabulate_spec_default();
    work->spec.path = path;
    work->spec.variables = work->variables;
    work->spec.n_variables = cellar_description_n_columns(description);
    for (size_t i = 0; i < work->spec.n_variables; i++) {
        cellar_codelist *list =
            NULL; /* lives until the program ends, and so does the description */
        check(cellar_codelist_from_description(description, i, &list, &err), &err);
        work->variables[i] = (cellar_variable_spec){
            .column = cellar_description_column(description, i).name, .codelist = list};
    }
}

static void choose_sets(count_work *work, size_t from, cellar_tabulate_set set)
{
    for (size_t v = from; v < work->spec.n_variables; v++) {
        cellar_tabulate_set more = set;
        more.variables[more.n++] = (uint8_t) v;
        work->sets[work->n_sets++] = more;
        if (more.n < 3)
            choose_sets(work, v + 1, more);
    }
}

static void count(void *context)
{
    count_work *work = context;
    cellar_error err;
    check(cellar_tabulate_many(&work->spec, work->sets, work->n_sets, work->tables, NULL, &err),
          &err);
    work->n_cells = 0;
    for (size_t s = 0; s < work->n_sets; s++) {
        work->n_cells += cellar_table_n_cells(work->tables[s]);
        cellar_table_free(work->tables[s]);
    }
}

static void bench_count(const char *path)
{
    static count_work work;
    declare_columns(&work, path);
    choose_sets(&work, 0, (cellar_tabulate_set){0});
    work.spec.n_threads = 2;
    bench_row("all tables of at most three columns, two threads", bench_median(count, &work), "s",
              "");
    bench_row("peak memory", bench_peak_mib(), "MiB", "");
    printf("  %zu tables, %zu cells\n", work.n_sets, work.n_cells);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "count") == 0)
        bench_count(argv[2]);
    else {
        fputs("usage: bench_cube count FILE\n", stderr);
        return 2;
    }
    return 0;
}
