/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure: the curve beside the tabulation it needs, statistical exposure of many cells, and
 * bounds from large columns.
 * usage: bench_exposure CENSUS.csv */
#include "harness.h"

#include <math.h>
#include <string.h>

#include <cellar/exposure.h>
#include <cellar/tabulate.h>

enum { N_CELLS = 3500000, N_PAIRS = 50, N_COLUMNS = 8, N_LEVELS = 100000 };

static void bench_fail(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "bench_exposure: %s\n", err->message);
    exit(1);
}

/* ---- the curve -------------------------------------------------------------- */

typedef struct curve_bench {
    const char *path;
    int with_curve;
} curve_bench;

static void run_curve(void *context)
{
    static const char *const columns[] = {"area", "sex", "age", "occupation", "industry"};
    static const size_t all[] = {0, 1, 2, 3, 4};
    const curve_bench *bench = context;
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_variable_spec variables[5] = {{0}};
    cellar_table *table;
    cellar_exposure_curve *curve;
    cellar_error err;

    for (size_t v = 0; v < 5; v++)
        variables[v].column = columns[v];
    spec.path = bench->path;
    spec.variables = variables;
    spec.n_variables = 5;
    bench_fail(cellar_tabulate(&spec, &table, NULL, &err), &err);
    if (bench->with_curve) {
        bench_fail(cellar_exposure_curve_create(table, all, 5, &curve, &err), &err);
        cellar_exposure_curve_free(curve);
    }
    cellar_table_free(table);
}

/* ---- statistical exposure --------------------------------------------------- */

typedef struct statistical_bench {
    const uint64_t *counts;
    uint64_t total;
} statistical_bench;

static void run_statistical(void *context)
{
    const statistical_bench *bench = context;
    cellar_exposure_pair pairs[N_PAIRS];
    cellar_exposure_curve *curve;
    cellar_error err;

    for (size_t i = 0; i < N_PAIRS; i++)
        pairs[i] = (cellar_exposure_pair){.population = bench->total / (1 + i % 10),
                                          .k = 2 + 3 * (i / 10)};
    bench_fail(cellar_exposure_curve_from_counts(bench->counts, N_CELLS, 0, &curve, &err), &err);
    bench_fail(cellar_exposure_statistical(curve, pairs, N_PAIRS, 0, &err), &err);
    cellar_exposure_curve_free(curve);
}

/* Counts with a long tail, from a generator of its own. */
static uint64_t *make_counts(uint64_t *total)
{
    uint64_t *counts = malloc(N_CELLS * sizeof *counts), state = 1;
    *total = 0;
    for (size_t i = 0; counts != NULL && i < N_CELLS; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        counts[i] = 1 + (uint64_t) pow(1 - (double) (state >> 11) * 0x1p-53, -0.8);
        *total += counts[i];
    }
    return counts;
}

/* ---- bounds ----------------------------------------------------------------- */

static void run_bounds(void *context)
{
    cellar_exposure_bound bounds[2];
    cellar_error err;
    bench_fail(cellar_exposure_bounds(context, N_COLUMNS, 1e-20, NULL, bounds, &err), &err);
}

static void bench_bounds(void)
{
    cellar_exposure_curve *curves[N_COLUMNS];
    uint64_t *counts = malloc(N_LEVELS * sizeof *counts);
    cellar_error err;
    for (size_t j = 0; counts != NULL && j < N_COLUMNS; j++) {
        for (size_t v = 0; v < N_LEVELS; v++)
            counts[v] = UINT64_C(10000000000) * (v == 0 ? 1000 : 1) / (v + j + 1);
        bench_fail(cellar_exposure_curve_from_counts(counts, N_LEVELS, 0, &curves[j], &err), &err);
    }
    bench_row("bounds from 8 columns of 100,000 values, one threshold",
              bench_median(run_bounds, curves), "s", "exact, in seconds");
    for (size_t j = 0; j < N_COLUMNS; j++)
        cellar_exposure_curve_free(curves[j]);
    free(counts);
}

int main(int argc, char **argv)
{
    curve_bench plain = {argc > 1 ? argv[1] : "", 0}, with = {plain.path, 1};
    statistical_bench cells;
    double tabulation, curve;

    if (argc != 2) {
        fprintf(stderr, "usage: bench_exposure CENSUS.csv\n");
        return 2;
    }
    tabulation = bench_median(run_curve, &plain);
    curve = bench_median(run_curve, &with);
    bench_row("tabulation of five columns", tabulation, "s", "");
    bench_row("tabulation and exposure curve", curve, "s", "");
    bench_row("  ratio", curve / tabulation, "", "goal: 1.3");
    cells.counts = make_counts(&cells.total);
    bench_row("statistical exposure, 3.5 M cells, 50 pairs (n,k)",
              bench_median(run_statistical, &cells), "s", "goal: 1");
    bench_bounds();
    free((void *) cells.counts);
    return 0;
}
