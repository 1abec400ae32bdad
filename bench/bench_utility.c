/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Utility of a census table: exact expectations, and copies beside the drawing they need.
 * usage: bench_utility CENSUS.csv */
#include "harness.h"

#include <cellar/mechanism.h>
#include <cellar/random.h>
#include <cellar/tabulate.h>
#include <cellar/utility.h>

static const char spec[] = "discrete-laplace:epsilon=1";
enum { N_COPIES = 4 };

static void bench_fail(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "bench_utility: %s\n", err->message);
    exit(1);
}

typedef struct utility_bench {
    const cellar_table *table;
    cellar_utility_options options;
    const cellar_mechanism *mechanism;
    int64_t *cells; /* zeros, as many as the table has cells */
    size_t n_cells;
} utility_bench;

static void run_assess(void *context)
{
    const utility_bench *bench = context;
    cellar_utility *utility;
    cellar_error err;
    bench_fail(cellar_utility_assess(bench->table, spec, &bench->options, &utility, &err), &err);
    cellar_utility_free(utility);
}

/* The baseline: as many draws, and nothing else. */
static void run_draw(void *context)
{
    const utility_bench *bench = context;
    cellar_rng *rng;
    cellar_error err;
    bench_fail(cellar_rng_create_seeded(1, 0, &rng, &err), &err);
    for (int copy = 0; copy < N_COPIES; copy++) {
        for (size_t i = 0; i < bench->n_cells; i++)
            bench->cells[i] = 0;
        bench_fail(cellar_mechanism_sample_many(bench->mechanism, bench->cells, bench->n_cells, rng,
                                                bench->cells, &err),
                   &err);
    }
    cellar_rng_free(rng);
}

static cellar_table *read_table(const char *path)
{
    static const char *const columns[] = {"area", "sex", "age", "occupation", "industry"};
    cellar_tabulate_spec how = cellar_tabulate_spec_default();
    cellar_variable_spec variables[5] = {{0}};
    cellar_table *table;
    cellar_error err;
    for (size_t v = 0; v < 5; v++)
        variables[v].column = columns[v];
    how.path = path;
    how.variables = variables;
    how.n_variables = 5;
    bench_fail(cellar_tabulate(&how, &table, NULL, &err), &err);
    return table;
}

int main(int argc, char **argv)
{
    utility_bench bench = {.options = cellar_utility_options_default()};
    cellar_mechanism *mechanism;
    cellar_table *table;
    cellar_error err;
    double exact, copies, draws;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_utility CENSUS.csv\n");
        return 2;
    }
    table = read_table(argv[1]);
    bench_fail(cellar_mechanism_create(spec, &mechanism, &err), &err);
    bench.table = table;
    bench.mechanism = mechanism;
    bench.n_cells = (size_t) cellar_schema_n_possible(cellar_table_schema(table));
    bench.cells = calloc(bench.n_cells, sizeof *bench.cells);
    if (bench.cells == NULL)
        return 1;
    bench.options.n_threads = 1;
    bench.options.copies = 0;
    exact = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, run_assess, &bench);
    bench.options.copies = N_COPIES;
    copies = (bench_median_by(CLOCK_PROCESS_CPUTIME_ID, run_assess, &bench) - exact) / N_COPIES;
    draws = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, run_draw, &bench) / N_COPIES;
    bench_row("all exact expectations", exact, "s", "");
    bench_row("a copy: drawn, compared, 25 margins, 10 tests", copies, "s", "");
    bench_row("drawing alone, the baseline of a copy", draws, "s", "");
    bench_row("a copy against drawing alone", copies / draws, "x", "");
    bench_row("expectations against 1000 copies", 1000 * copies / exact, "x faster", "");
    free(bench.cells);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return 0;
}
