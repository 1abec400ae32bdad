/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of a column store, beside a loop that only reads the columns and increments.
 *
 *   bench_store make ROWS           the records as CSV, on standard output
 *   bench_store build STORE         a store of such records, from standard input
 *   bench_store count STORE         the figures, and a digest of each table for other programs
 *
 * Processor time is given beside elapsed time: it changes less on a machine with other work. */
#include <cellar/cellar.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"
#include "store_people.h"

enum { N_THREADS = 2, N_BY = 3 };

static void fail(const cellar_error *err)
{
    fprintf(stderr, "bench: %s\n", err->message);
    exit(1);
}

/* ---- the records ------------------------------------------------------------- */

static void make(uint64_t n_rows)
{
    static char buffer[1 << 16];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    for (unsigned c = 0; c < PEOPLE_COLUMNS; c++)
        printf("c%u,", c);
    puts("key");
    for (uint64_t row = 0; row < n_rows; row++) {
        for (unsigned c = 0; c < PEOPLE_COLUMNS; c++) {
            const unsigned value = people_value(row, c, n_rows);
            if (value >= 100)
                putchar_unlocked((int) ('0' + value / 100));
            if (value >= 10)
                putchar_unlocked((int) ('0' + value / 10 % 10));
            putchar_unlocked((int) ('0' + value % 10));
            putchar_unlocked(',');
        }
        printf("%llu\n", (unsigned long long) people_key(row));
    }
}

/* ---- the store ---------------------------------------------------------------- */

static cellar_codelist *numbers(unsigned n)
{
    cellar_codelist *list = NULL;
    cellar_error err;
    char code[16];
    if (cellar_codelist_create(&list, &err) != CELLAR_OK)
        fail(&err);
    for (unsigned i = 0; i < n; i++) {
        snprintf(code, sizeof code, "%u", i);
        if (cellar_codelist_add(list, code, NULL, NULL, CELLAR_CODE_PLAIN, &err) != CELLAR_OK)
            fail(&err);
    }
    if (cellar_codelist_finish(list, &err) != CELLAR_OK)
        fail(&err);
    return list;
}

static void build(const char *path)
{
    static char names[PEOPLE_COLUMNS][8];
    cellar_variable_spec variables[PEOPLE_COLUMNS];
    cellar_tabulate_spec data = cellar_tabulate_spec_default();
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_row_report rows;
    cellar_error err;
    const double start = bench_now();
    uint64_t bytes;

    for (unsigned c = 0; c < PEOPLE_COLUMNS; c++) {
        snprintf(names[c], sizeof names[c], "c%u", c);
        variables[c] = cellar_variable_spec_default();
        variables[c].column = names[c];
        variables[c].codelist = numbers(people_levels[c]); /* lives until the program ends */
    }
    data.path = "-";
    data.variables = variables;
    data.n_variables = PEOPLE_COLUMNS;
    data.record_key_column = "key";
    data.key_range = people_key_range;
    data.n_threads = N_THREADS;
    how.replace = 1;
    if (cellar_output_open(path, &how, &output, &err) != CELLAR_OK ||
        cellar_store_build(&data, NULL, output, &rows, &err) != CELLAR_OK)
        fail(&err);
    bytes = cellar_output_size_bytes(output);
    if (cellar_output_commit(output, &err) != CELLAR_OK)
        fail(&err);
    bench_row("building the store from a pipe", bench_now() - start, "s", "");
    bench_row("peak memory of that", bench_peak_mib(), "MiB", "");
    bench_row("bytes a record, 20 columns and a key", (double) bytes / (double) rows.n_counted, "",
              "");
    bench_row("the store at 60 million records",
              (double) bytes / (double) rows.n_counted * 6e7 / (1 << 30), "GiB",
              "goal: at most 1.8");
}

/* ---- the floor ------------------------------------------------------------------ */

typedef struct floor_work {
    unsigned by[N_BY];
    uint64_t n_rows;
    const uint8_t *columns[N_BY];
    const uint64_t *keys; /* NULL: only increments */
    size_t n_cells;
    uint32_t *counts[N_THREADS];
    uint64_t *sums[N_THREADS];
    int number; /* of the thread */
} floor_work;

static void *floor_lane(void *context)
{
    const floor_work *w = context;
    const uint64_t first = w->n_rows * (uint64_t) w->number / N_THREADS,
                   last = w->n_rows * (uint64_t) (w->number + 1) / N_THREADS;
    const unsigned outer = people_levels[w->by[1]] * people_levels[w->by[2]],
                   inner = people_levels[w->by[2]];
    const uint8_t *a = w->columns[0], *b = w->columns[1], *c = w->columns[2];
    uint32_t *counts = w->counts[w->number];
    uint64_t *sums = w->sums[w->number];
    memset(counts, 0, w->n_cells * sizeof *counts);
    for (uint64_t i = first; i < last; i++) {
        const unsigned cell = a[i] * outer + b[i] * inner + c[i];
        counts[cell]++;
        if (w->keys != NULL)
            sums[cell] += w->keys[i];
    }
    return NULL;
}

static void floor_count(void *context)
{
    floor_work lanes[N_THREADS];
    pthread_t threads[N_THREADS];
    for (int i = 0; i < N_THREADS; i++) {
        lanes[i] = *(const floor_work *) context;
        lanes[i].number = i;
        pthread_create(&threads[i], NULL, floor_lane, &lanes[i]);
    }
    for (int i = 0; i < N_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void *allocate(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (memory == NULL) {
        fputs("bench: not enough memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void floor_prepare(floor_work *w, const unsigned *by, uint64_t n_rows)
{
    uint64_t *keys = allocate(n_rows * sizeof *keys);
    *w = (floor_work){.n_rows = n_rows, .n_cells = 1};
    for (int k = 0; k < N_BY; k++) {
        uint8_t *column = allocate(n_rows);
        for (uint64_t row = 0; row < n_rows; row++)
            column[row] = (uint8_t) people_value(row, by[k], n_rows);
        w->by[k] = by[k];
        w->columns[k] = column;
        w->n_cells *= people_levels[by[k]];
    }
    for (uint64_t row = 0; row < n_rows; row++)
        keys[row] = people_key(row);
    w->keys = keys;
    for (int i = 0; i < N_THREADS; i++) {
        w->counts[i] = allocate(w->n_cells * sizeof **w->counts);
        w->sums[i] = allocate(w->n_cells * sizeof **w->sums);
    }
}

static void floor_clear(floor_work *w)
{
    free((void *) w->keys);
    for (int k = 0; k < N_BY; k++)
        free((void *) w->columns[k]);
    for (int i = 0; i < N_THREADS; i++) {
        free(w->counts[i]);
        free(w->sums[i]);
    }
}

/* ---- tables ------------------------------------------------------------------------ */

enum { MAX_QUESTIONS = 8 };

typedef struct store_work {
    const cellar_store *store;
    cellar_tabulate_spec specs[MAX_QUESTIONS];
    cellar_variable_spec variables[MAX_QUESTIONS][N_BY];
    char names[MAX_QUESTIONS][N_BY][8];
    size_t n;
    uint64_t digest, key_digest; /* of the last run: sums of squares */
} store_work;

static void store_ask(store_work *w, size_t q, const unsigned *by, int keyed)
{
    for (int k = 0; k < N_BY; k++) {
        snprintf(w->names[q][k], sizeof w->names[q][k], "c%u", by[k]);
        w->variables[q][k] = cellar_variable_spec_default();
        w->variables[q][k].column = w->names[q][k];
    }
    w->specs[q] = cellar_tabulate_spec_default();
    w->specs[q].variables = w->variables[q];
    w->specs[q].n_variables = N_BY;
    w->specs[q].record_key_column = keyed ? "key" : NULL;
}

static void store_count(void *context)
{
    store_work *w = context;
    static cellar_store_answer answers[MAX_QUESTIONS];
    cellar_store_tabulate(w->store, w->specs, w->n, N_THREADS, answers);
    w->digest = w->key_digest = 0;
    for (size_t q = 0; q < w->n; q++) {
        if (answers[q].status != CELLAR_OK)
            fail(&answers[q].error);
        for (size_t i = 0; i < cellar_table_n_cells(answers[q].table); i++) {
            const cellar_cell cell = cellar_table_cell(answers[q].table, i);
            w->digest += cell.count * cell.count;
            w->key_digest += cell.key;
        }
        cellar_table_free(answers[q].table);
    }
}

static void bench_pair(const char *what, store_work *store, floor_work *floor)
{
    const clockid_t processor = CLOCK_PROCESS_CPUTIME_ID;
    const double ours = bench_median(store_count, store), bare = bench_median(floor_count, floor);
    const double ours_cpu = bench_median_by(processor, store_count, store);
    const double bare_cpu = bench_median_by(processor, floor_count, floor);
    char label[80];
    snprintf(label, sizeof label, "%s", what);
    bench_row(label, 1e3 * ours, "ms", "");
    bench_row("  processor time", 1e3 * ours_cpu, "ms", "");
    bench_row("  the floor", 1e3 * bare, "ms", "");
    bench_row("  the floor, processor time", 1e3 * bare_cpu, "ms", "");
    bench_row("  ratio", ours / bare, "times", "goal: at most 4");
    bench_row("  ratio of processor times", ours_cpu / bare_cpu, "times", "goal: at most 4");
}

static void bench_table(const cellar_store *store, const unsigned *by, uint64_t n_rows)
{
    static store_work work;
    floor_work floor;
    const uint64_t *keys;
    char label[80];
    work.store = store;
    work.n = 1;
    floor_prepare(&floor, by, n_rows);
    keys = floor.keys;
    floor.keys = NULL;
    store_ask(&work, 0, by, 0);
    snprintf(label, sizeof label, "c%u*c%u*c%u, %zu cells", by[0], by[1], by[2], floor.n_cells);
    bench_pair(label, &work, &floor);
    printf("digest c%u,c%u,c%u %llu\n", by[0], by[1], by[2], (unsigned long long) work.digest);
    floor.keys = keys;
    store_ask(&work, 0, by, 1);
    snprintf(label, sizeof label, "c%u*c%u*c%u with cell keys", by[0], by[1], by[2]);
    bench_pair(label, &work, &floor);
    printf("key digest c%u,c%u,c%u %llu\n", by[0], by[1], by[2],
           (unsigned long long) work.key_digest);
    floor_clear(&floor);
}

static void count(const char *path)
{
    static const unsigned by[MAX_QUESTIONS][N_BY] = {{0, 2, 4},  {1, 3, 5},  {3, 6, 7},
                                                     {8, 9, 10}, {5, 6, 11}, {2, 12, 13},
                                                     {1, 4, 14}, {7, 9, 15}};
    static store_work all;
    cellar_store *store = NULL;
    cellar_error err;
    double start = bench_now(), together, apart = 0;
    uint64_t n_rows;

    if (cellar_store_open(path, &store, &err) != CELLAR_OK)
        fail(&err);
    n_rows = cellar_store_about(store).n_rows;
    bench_row("opening the store", 1e3 * (bench_now() - start), "ms", "");
    start = bench_now();
    if (cellar_store_verify(store, N_THREADS, NULL, &err) != CELLAR_OK)
        fail(&err);
    bench_row("verifying every block", 1e3 * (bench_now() - start), "ms", "");
    for (int q = 0; q < 3; q++)
        bench_table(store, by[q], n_rows);
    all.store = store;
    all.n = 1;
    for (size_t q = 0; q < MAX_QUESTIONS; q++) {
        store_ask(&all, 0, by[q], 0);
        apart += bench_median_by(CLOCK_PROCESS_CPUTIME_ID, store_count, &all);
    }
    all.n = MAX_QUESTIONS;
    for (size_t q = 0; q < MAX_QUESTIONS; q++)
        store_ask(&all, q, by[q], 0);
    together = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, store_count, &all);
    bench_row("eight tables one by one, processor time", 1e3 * apart, "ms", "");
    bench_row("eight tables in one pass, processor time", 1e3 * together, "ms", "");
    cellar_store_close(store);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0)
        make(strtoull(argv[2], NULL, 10));
    else if (argc == 3 && strcmp(argv[1], "build") == 0)
        build(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "count") == 0)
        count(argv[2]);
    else {
        fputs("usage: bench_store make ROWS | build STORE | count STORE\n", stderr);
        return 2;
    }
    return 0;
}
