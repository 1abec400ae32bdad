/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a CSV file in the page cache to the release in memory, with all margins of five columns:
 *
 *   bench_protect FILE
 *
 * the job of the R package cellKey, and the same table with additive noise in every cell. */
#include <cellar/cellar.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"

enum { N_COLUMNS = 5, N_THREADS = 2 };
static const char *const columns[N_COLUMNS] = {"area", "sex", "age", "occupation", "industry"};
static const char matrix_path[] = "bench-matrix.csv", release_path[] = "bench-release.csv";

typedef struct protect_work {
    cellar_tabulate_spec tabulate;
    cellar_variable_spec variables[N_COLUMNS];
    cellar_protect_options options;
    cellar_mechanism *mechanism;
    cellar_key *key;
    char spec[128];
    cellar_table *table;
    cellar_release *release;
} protect_work;

static void check(cellar_status status, const cellar_error *err)
{
    if (status == CELLAR_OK)
        return;
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

static void make_table(void *context)
{
    protect_work *work = context;
    cellar_error err;
    cellar_table_free(work->table);
    check(cellar_tabulate(&work->tabulate, &work->table, NULL, &err), &err);
}

static void apply_keys(void *context)
{
    protect_work *work = context;
    cellar_error err;
    cellar_release_free(work->release);
    check(cellar_release_protect_cell_keys(work->table, work->spec, &work->options, &work->release,
                                           &err),
          &err);
}

static void add_noise(void *context)
{
    protect_work *work = context;
    cellar_error err;
    cellar_release_free(work->release);
    check(
        cellar_release_protect(work->table, work->mechanism, &work->options, &work->release, &err),
        &err);
}

static void whole_job(void *context)
{
    make_table(context);
    apply_keys(context);
}

static void write_release(void *context)
{
    protect_work *work = context;
    cellar_release_file *file = NULL;
    cellar_error err;
    check(cellar_release_file_open(release_path, NULL, 1, &file, &err), &err);
    check(cellar_release_file_write(file, work->release, &err), &err);
    cellar_release_file_discard(file);
}

static void forecast(void *context)
{
    protect_work *work = context;
    cellar_forecast told;
    cellar_error err;
    check(cellar_protect_forecast(work->table, work->mechanism, &work->options, &told, &err), &err);
}

typedef struct timing {
    double elapsed, processor;
} timing;

/* A row with the elapsed time, and the processor time of all threads beside it: on a machine that
 * does other things, too, the second is the one to believe. */
static timing report(const char *what, void (*work)(void *context), protect_work *context,
                     const char *goal)
{
    char beside[80];
    timing t = {bench_median(work, context),
                bench_median_by(CLOCK_PROCESS_CPUTIME_ID, work, context)};
    snprintf(beside, sizeof beside, "(%.3f s of processor time) %s", t.processor, goal);
    bench_row(what, t.elapsed, "s", beside);
    return t;
}

/* What the R package took for the same job on this kind of machine. */
static const double CELLKEY_SECONDS = 227;

static void report_whole_job(protect_work *work)
{
    timing t = report("file to release, cell keys", whole_job, work, "goal 1.13");
    printf("  %.0f times as fast as R cellKey's %.0f s; by processor time, as if on one core, %.0f "
           "(goal 200)\n",
           CELLKEY_SECONDS / t.elapsed, CELLKEY_SECONDS, CELLKEY_SECONDS / t.processor);
}

static void make_matrix(void)
{
    cellar_mechanism *design = NULL;
    cellar_output *output = NULL;
    cellar_output_options how = cellar_output_options_default();
    cellar_error err;
    how.replace = 1;
    check(cellar_mechanism_create("max-entropy:variance=2,m=5", &design, &err), &err);
    check(cellar_output_open(matrix_path, &how, &output, &err), &err);
    check(
        cellar_matrix_write(cellar_mechanism_matrix(design), CELLAR_MATRIX_PTABLE, 0, output, &err),
        &err);
    check(cellar_output_commit(output, &err), &err);
    cellar_mechanism_free(design);
}

int main(int argc, char **argv)
{
    protect_work work = {.tabulate = cellar_tabulate_spec_default(),
                         .options = cellar_protect_options_default()};
    cellar_error err;

    if (argc != 2) {
        fputs("usage: bench_protect FILE\n", stderr);
        return 2;
    }
    make_matrix();
    snprintf(work.spec, sizeof work.spec, "cell-key:file=%s", matrix_path);
    work.tabulate.path = argv[1];
    work.tabulate.variables = work.variables;
    work.tabulate.n_variables = N_COLUMNS;
    work.tabulate.record_key_column = "key";
    work.tabulate.margins.all = 1;
    work.tabulate.n_threads = work.options.n_threads = N_THREADS;
    for (size_t i = 0; i < N_COLUMNS; i++)
        work.variables[i] = (cellar_variable_spec){.column = columns[i], .domain_public = 1};
    work.options.negatives = CELLAR_NEGATIVES_ZERO;
    work.options.per_cell = 1;

    report_whole_job(&work);
    bench_row("peak memory so far", bench_peak_mib(), "MiB", "goal 1000");
    report("  of which tabulating with all margins", make_table, &work, "");
    report("  of which cell keys", apply_keys, &work, "");
    printf("  %zu of %llu possible cells stored, %zu listed\n", cellar_table_n_cells(work.table),
           (unsigned long long) cellar_schema_n_possible(cellar_table_schema(work.table)),
           cellar_release_n_cells(work.release));
    report("  writing it as CSV with its certificate, beside", write_release, &work, "");
    check(cellar_mechanism_create("discrete-laplace:epsilon=1", &work.mechanism, &err), &err);
    report("discrete-laplace on every cell instead", add_noise, &work, "");
    printf("  %zu listed\n", cellar_release_n_cells(work.release));
    report("  forecast", forecast, &work, "");
    cellar_mechanism_free(work.mechanism);
    cellar_release_free(work.release);
    cellar_table_free(work.table);
    remove(matrix_path);
    remove(release_path);
    remove("bench-release.csv.cellar.json");
    return 0;
}
