/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exposure: the curve beside the tabulation it needs, statistical exposure of many cells, bounds
 * from large columns, and the best of all sets of twenty columns.
 * usage: bench_exposure CENSUS.csv */
#include "harness.h"

#include <math.h>
#include <string.h>

#include <unistd.h>

#include <cellar/exposure.h>
#include <cellar/selection.h>
#include <cellar/tabulate.h>

enum { N_CELLS = 3500000, N_PAIRS = 50, N_COLUMNS = 8, N_LEVELS = 100000 };
enum { N_CANDIDATES = 20, N_PEOPLE = 50000 };

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

/* ---- a choice of columns ---------------------------------------------------- */

/* Independent columns of two to six levels, all alike: nothing helps a search. */
static void write_people(FILE *file)
{
    uint64_t state = 1;
    for (int c = 0; c < N_CANDIDATES; c++)
        fprintf(file, "v%d%c", c, c + 1 < N_CANDIDATES ? ',' : '\n');
    for (int r = 0; r < N_PEOPLE; r++)
        for (int c = 0; c < N_CANDIDATES; c++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            fprintf(file, "%d%c", (int) ((state >> 33) % (uint64_t) (2 + c % 5)),
                    c + 1 < N_CANDIDATES ? ',' : '\n');
        }
}

static cellar_profiles *make_profiles(void)
{
    char path[] = "/tmp/cellar-bench-XXXXXX", names[N_CANDIDATES][16];
    FILE *file = fdopen(mkstemp(path), "w");
    cellar_variable_spec variables[N_CANDIDATES] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_profiles *profiles;
    cellar_error err;
    if (file == NULL)
        exit(1);
    write_people(file);
    fclose(file);
    for (int c = 0; c < N_CANDIDATES; c++) {
        snprintf(names[c], sizeof names[c], "v%d", c);
        variables[c].column = names[c];
    }
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = N_CANDIDATES;
    bench_fail(cellar_profiles_read(&spec, &profiles, NULL, &err), &err);
    unlink(path);
    return profiles;
}

/* Once, by the clock on the wall and by the time of all processors. */
static void bench_selection(void)
{
    cellar_profiles *profiles = make_profiles();
    cellar_selection_options options = cellar_selection_options_default();
    cellar_selection *selection;
    cellar_error err;
    double wall = bench_now(), processors = bench_read(CLOCK_PROCESS_CPUTIME_ID);
    options.k = 5;
    options.exposure = 0.05;
    options.n_runners_up = 3;
    bench_fail(cellar_selection_create(profiles, &options, &selection, &err), &err);
    bench_row("best of all sets of 20 columns, 50,000 people", bench_now() - wall, "s",
              "exact, in seconds");
    bench_row("  processor time", bench_read(CLOCK_PROCESS_CPUTIME_ID) - processors, "s", "");
    bench_row("  exposures looked at", (double) cellar_selection_n_evaluations(selection), "", "");
    bench_row("  gap", cellar_selection_gap(selection), "", "");
    cellar_selection_free(selection);
    cellar_profiles_free(profiles);
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
    bench_selection();
    free((void *) cells.counts);
    return 0;
}
