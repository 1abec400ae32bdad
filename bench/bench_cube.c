/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes.
 *
 *   bench_cube count FILE          all tables of at most three of the columns of a CSV file
 *   bench_cube estimate N LEVELS   all tables of at most three of N variables, from measured ones
 *   bench_cube table CUBE          one table of three variables of a cube
 *   bench_cube plan UNIVERSE       which tables to measure, with which noise
 *
 * Reconstruction is measured from inside (cube/reconstruct.h): building a cube does more than
 * that. */
#include <cellar/cellar.h>
#include <string.h>

#include "cube/contrast.h"
#include "cube/precision.h"
#include "cube/reconstruct.h"
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
    bench_row("the same, processor time", bench_median_by(CLOCK_PROCESS_CPUTIME_ID, count, &work),
              "s", "");
    bench_row("peak memory", bench_peak_mib(), "MiB", "");
    printf("  %zu tables, %zu cells\n", work.n_sets, work.n_cells);
}

/* ---- reconstruction --------------------------------------------------------------- */

typedef struct estimate_work {
    cube_axis axes[CELLAR_MAX_VARIABLES];
    cube_lattice lattice;
    double *w, *tau, *variance;
    cube_values measured, estimates, copy;
    cellar_error err;
} estimate_work;

/* Everything is measured with the same noise; values are those of a seeded generator. */
static void make_measured(estimate_work *work, size_t n_variables, uint32_t n_levels)
{
    cube_space *tables = NULL;
    size_t n_tables;
    uint64_t x = 1;
    for (size_t v = 0; v < n_variables; v++)
        work->axes[v] = (cube_axis){.n_levels = 1, .n = {1, n_levels}};
    check(cellar_cube_tables_up_to(work->axes, n_variables, 3, &tables, &n_tables, &work->err),
          &work->err);
    check(cellar_cube_lattice_init(&work->lattice, work->axes, n_variables, tables, n_tables,
                                   &work->err),
          &work->err);
    check(cellar_cube_values_init(&work->measured, &work->lattice, &work->err), &work->err);
    check(cellar_cube_values_init(&work->estimates, &work->lattice, &work->err), &work->err);
    check(cellar_cube_values_init(&work->copy, &work->lattice, &work->err), &work->err);
    work->w = calloc(work->lattice.n, sizeof *work->w);
    work->tau = calloc(work->lattice.n, sizeof *work->tau);
    work->variance = calloc(work->lattice.n, sizeof *work->variance);
    for (size_t t = 0; t < work->lattice.n; t++)
        work->w[t] = 1;
    for (size_t i = 0; i < work->measured.n_cells; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        work->measured.cells[i] = (int64_t) (x >> 54);
    }
    cellar_cube_evaluate(&work->lattice, work->w, work->tau, work->variance);
}

static void copy(void *context)
{
    estimate_work *work = context;
    memcpy(work->copy.cells, work->measured.cells,
           work->measured.n_cells * sizeof *work->measured.cells);
}

static void estimate(void *context)
{
    estimate_work *work = context;
    check(cellar_cube_reconstruct(&work->lattice, work->w, work->tau,
                                  (const int64_t *const *) work->measured.tables, CUBE_DECIMALS,
                                  &work->estimates, &work->err),
          &work->err);
}

static void bench_estimate(size_t n_variables, uint32_t n_levels)
{
    static estimate_work work;
    double seconds, floor;
    make_measured(&work, n_variables, n_levels);
    printf("  %zu tables, %zu measured cells, %.0f MiB\n", work.lattice.n, work.measured.n_cells,
           (double) work.measured.n_cells * sizeof(int64_t) / 1048576);
    floor = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, copy, &work);
    seconds = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, estimate, &work);
    bench_row("copying the measured cells", floor, "s", "");
    bench_row("estimating all tables", seconds, "s", "goal: seconds");
    bench_row("estimating / copying", seconds / floor, "times", "");
    bench_row("peak memory / measured cells, the copy included",
              bench_peak_mib() * 1048576 /
                  ((double) work.measured.n_cells * sizeof *work.measured.cells),
              "times", "goal: a small multiple");
}

/* ---- one table of a cube ------------------------------------------------------------ */

typedef struct ask_work {
    const char *path;
    cellar_cube *cube;
    cellar_cube_side sides[3];
    int margins;
    cellar_error err;
} ask_work;

static void open_cube(void *context)
{
    ask_work *work = context;
    cellar_cube_close(work->cube);
    work->cube = NULL;
    check(cellar_cube_open(work->path, &work->cube, &work->err), &work->err);
}

static void ask(void *context)
{
    ask_work *work = context;
    const cellar_cube_question question = {work->sides, 3, work->margins};
    cellar_estimate *estimate = NULL;
    check(cellar_cube_ask(work->cube, &question, &estimate, &work->err), &work->err);
    cellar_estimate_free(estimate);
}

static void bench_ask(const char *path)
{
    static ask_work work;
    work.path = path;
    bench_row("opening a cube", 1000 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, open_cube, &work),
              "ms", "");
    for (size_t i = 0; i < 3; i++)
        work.sides[i].variable = cellar_cube_variable(work.cube, 3 * i);
    bench_row("a table of three variables, with standard errors",
              1000 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, ask, &work), "ms",
              "goal: milliseconds");
    work.margins = 1;
    bench_row("the same with all totals",
              1000 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, ask, &work), "ms", "");
}

/* ---- planning ------------------------------------------------------------------------- */

typedef struct plan_work_item {
    const cellar_plan *plan;
    cellar_cube_design *design;
    cellar_error err;
} plan_work_item;

static void design(void *context)
{
    plan_work_item *work = context;
    cellar_cube_design_free(work->design);
    work->design = NULL;
    check(cellar_cube_design_create(work->plan, &work->design, &work->err), &work->err);
}

static void bench_plan(const char *path)
{
    static plan_work_item work;
    cellar_plan *plan = NULL;
    check(cellar_plan_read(path, &plan, &work.err), &work.err);
    work.plan = plan;
    bench_row("planning", bench_median_by(CLOCK_PROCESS_CPUTIME_ID, design, &work), "s",
              "goal: seconds");
    bench_row("loss above the proven least",
              100 * (cellar_cube_design_loss_to_bound(work.design) - 1), "%", "goal: at most 1");
    bench_row("loss / least of all Gaussian matrix mechanisms",
              cellar_cube_design_loss_to_optimum(work.design), "times", "");
    printf("  %zu tables, %zu measured\n", cellar_cube_design_n_tables(work.design),
           cellar_cube_design_n_measured(work.design));
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "count") == 0)
        bench_count(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "table") == 0)
        bench_ask(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "plan") == 0)
        bench_plan(argv[2]);
    else if (argc == 4 && strcmp(argv[1], "estimate") == 0)
        bench_estimate(strtoul(argv[2], NULL, 10), (uint32_t) strtoul(argv[3], NULL, 10));
    else {
        fputs("usage: bench_cube count FILE | estimate VARIABLES LEVELS | table CUBE | plan "
              "UNIVERSE\n",
              stderr);
        return 2;
    }
    return 0;
}
