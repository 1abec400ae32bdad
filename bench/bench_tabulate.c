/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a CSV file in the page cache to the complete list of cells.
 *
 *   bench_tabulate census FILE      five columns, against the floor, with and without code lists
 *   bench_tabulate wide FILE        six columns, 10^12 possible cells
 *
 * The floor is a scan by two threads that only finds the field separators of the same file, that
 * is, writes down where they are. */
#include <cellar/cellar.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "../tests/unit/arrow_sample.h"
#include "harness.h"

enum { MAX_COLUMNS = 6, FLOOR_BYTES = 1 << 18 };

/* ---- the floor -------------------------------------------------------------- */

typedef struct floor_work {
    const char *path;
    int n_threads;
    _Atomic int64_t next;
    _Atomic uint64_t n_separators;
} floor_work;

#if defined(__x86_64__)
__attribute__((target("avx2,bmi,popcnt")))
#endif
static size_t
find_separators(const char *text, size_t length, uint32_t *positions)
{
    size_t n = 0, i = 0;
#if defined(__x86_64__)
    const __m256i comma = _mm256_set1_epi8(','), newline = _mm256_set1_epi8('\n');
    for (; i + 32 <= length; i += 32) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *) (const void *) (text + i));
        __m256i hits =
            _mm256_or_si256(_mm256_cmpeq_epi8(bytes, comma), _mm256_cmpeq_epi8(bytes, newline));
        unsigned mask = (unsigned) _mm256_movemask_epi8(hits);
        for (; mask != 0; mask &= mask - 1)
            positions[n++] = (uint32_t) i + (uint32_t) __builtin_ctz(mask);
    }
#endif
    for (; i < length; i++)
        if (text[i] == ',' || text[i] == '\n')
            positions[n++] = (uint32_t) i;
    return n;
}

static void *floor_thread(void *context)
{
    floor_work *work = context;
    char *buffer = aligned_alloc(4096, FLOOR_BYTES);
    uint32_t *positions = aligned_alloc(4096, FLOOR_BYTES * sizeof *positions);
    int fd = open(work->path, O_RDONLY | O_CLOEXEC);
    ssize_t got = 1;
    while (buffer != NULL && positions != NULL && fd >= 0 && got > 0) {
        got = pread(fd, buffer, FLOOR_BYTES, atomic_fetch_add(&work->next, FLOOR_BYTES));
        if (got > 0)
            atomic_fetch_add(&work->n_separators, find_separators(buffer, (size_t) got, positions));
    }
    if (fd >= 0)
        close(fd);
    free(positions);
    free(buffer);
    return NULL;
}

static void floor_scan(void *context)
{
    floor_work *work = context;
    pthread_t threads[64];
    work->next = 0;
    work->n_separators = 0;
    for (int i = 0; i < work->n_threads; i++)
        pthread_create(&threads[i], NULL, floor_thread, work);
    for (int i = 0; i < work->n_threads; i++)
        pthread_join(threads[i], NULL);
}

/* ---- tabulation -------------------------------------------------------------- */

typedef struct tabulate_work {
    cellar_tabulate_spec spec;
    cellar_variable_spec variables[MAX_COLUMNS];
    size_t n_cells;
} tabulate_work;

static void tabulate(void *context)
{
    tabulate_work *work = context;
    cellar_table *table = NULL;
    cellar_error err;
    if (cellar_tabulate(&work->spec, &table, NULL, &err) != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    work->n_cells = cellar_table_n_cells(table);
    cellar_table_free(table);
}

static void tabulate_by(tabulate_work *work, const char *path, const char *const *columns, size_t n)
{
    work->spec = cellar_tabulate_spec_default();
    work->spec.path = path;
    work->spec.variables = work->variables;
    work->spec.n_variables = n;
    for (size_t i = 0; i < n; i++)
        work->variables[i] = (cellar_variable_spec){.column = columns[i]};
}

/* Code lists as a custodian would declare them: drafted once, outside the measurement. */
static void declare_domains(tabulate_work *work, const char *path)
{
    cellar_describe_spec spec = cellar_describe_spec_default();
    cellar_description *description = NULL;
    cellar_error err;
    spec.path = path;
    if (cellar_describe(&spec, &description, &err) != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    for (size_t i = 0; i < work->spec.n_variables; i++) {
        cellar_codelist *list = NULL; /* lives until the program ends */
        if (cellar_codelist_from_description(description, i, &list, &err) != CELLAR_OK)
            exit(1);
        work->variables[i].codelist = list;
    }
    cellar_description_free(description);
}

/* ---- the same rows as an Arrow stream of strings ------------------------------- */

typedef struct arrow_work {
    cellar_tabulate_spec *spec;
    sample_batch batch;
    size_t n_columns;
} arrow_work;

static void tabulate_stream(void *context)
{
    arrow_work *work = context;
    sample_stream sample = {
        .batches = &work->batch, .n_batches = 1, .n_columns = work->n_columns, .fails_at = -1};
    struct ArrowArrayStream stream = sample_open(&sample);
    cellar_table *table = NULL;
    cellar_error err;
    if (cellar_tabulate_stream(work->spec, &stream, &table, NULL, &err) != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        exit(1);
    }
    cellar_table_free(table);
}

/* Reads a file without quotation marks, whose columns are those of the table in this order, into
 * one batch that lives until the program ends. */
static void read_strings(const char *path, const char *const *columns, size_t n, arrow_work *work)
{
    enum { ROWS_MAX = 1 << 24, BYTES_MAX = 1 << 28 };
    FILE *file = fopen(path, "r");
    char *bytes[MAX_COLUMNS], line[1024];
    int32_t *ends[MAX_COLUMNS];
    size_t row = 0;
    for (size_t c = 0; c < n; c++) { /* memory that is not touched costs nothing */
        bytes[c] = malloc(BYTES_MAX);
        ends[c] = calloc(ROWS_MAX + 1, sizeof *ends[c]);
        if (file == NULL || bytes[c] == NULL || ends[c] == NULL)
            exit(1);
    }
    if (fgets(line, sizeof line, file) == NULL)
        exit(1);
    for (; row < ROWS_MAX && fgets(line, sizeof line, file) != NULL; row++) {
        const char *field = line;
        for (size_t c = 0; c < n; c++) {
            const size_t length = strcspn(field, ",\n");
            memcpy(bytes[c] + ends[c][row], field, length);
            ends[c][row + 1] = ends[c][row] + (int32_t) length;
            field += length + 1;
        }
    }
    fclose(file);
    work->n_columns = n;
    work->batch.n_rows = (int64_t) row;
    for (size_t c = 0; c < n; c++)
        work->batch.columns[c] = (sample_column){.name = columns[c],
                                                 .format = "u",
                                                 .buffers = {NULL, ends[c], bytes[c]},
                                                 .n_buffers = 3};
}

/* Processor time as well: the clock on the wall knows about other work. */
static void bench_arrow(tabulate_work *file, const char *path, const char *const *columns)
{
    arrow_work work = {.spec = &file->spec};
    double of_file[2], of_strings[2];
    read_strings(path, columns, file->spec.n_variables, &work);
    of_file[0] = bench_median(tabulate, file);
    of_strings[0] = bench_median(tabulate_stream, &work);
    of_file[1] = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, tabulate, file);
    of_strings[1] = bench_median_by(CLOCK_PROCESS_CPUTIME_ID, tabulate_stream, &work);
    bench_row("Arrow strings, two threads", of_strings[0], "s", "");
    bench_row("Arrow strings, of the processor", of_strings[1], "s", "");
    bench_row("file / Arrow strings", of_file[0] / of_strings[0], "times", "goal: at least 1");
    bench_row("file / Arrow strings, of the processor", of_file[1] / of_strings[1], "times", "");
}

static void bench_census(const char *path)
{
    static const char *const columns[] = {"area", "sex", "age", "occupation", "industry"};
    floor_work scan = {.path = path, .n_threads = 2};
    tabulate_work work;
    double floor, one, two, declared;

    tabulate_by(&work, path, columns, 5);
    floor = bench_median(floor_scan, &scan);
    work.spec.n_threads = 2;
    two = bench_median(tabulate, &work);
    bench_row("peak memory, two threads", bench_peak_mib(), "MiB", "goal: below 100");
    bench_arrow(&work, path, columns);
    declare_domains(&work, path);
    declared = bench_median(tabulate, &work);
    work.spec.n_threads = 1;
    one = bench_median(tabulate, &work);
    bench_row("floor: separators only, two threads", floor, "s", "");
    bench_row("domains observed, two threads", two, "s", "");
    bench_row("domains declared, two threads", declared, "s", "");
    bench_row("domains declared, one thread", one, "s", "");
    bench_row("observed / floor", two / floor, "times", "goal: at most 4");
    bench_row("declared / floor", declared / floor, "times", "goal: at most 4");
    bench_row("one thread / two threads", one / declared, "times", "goal: at least 1.7");
    printf("  %zu cells\n", work.n_cells);
}

static void bench_wide(const char *path)
{
    static const char *const columns[] = {"a", "b", "c", "d", "e", "f"};
    tabulate_work work;
    tabulate_by(&work, path, columns, 6);
    work.spec.n_threads = 2;
    bench_row("10^12 possible cells, two threads", bench_median(tabulate, &work), "s", "");
    bench_row("peak memory", bench_peak_mib(), "MiB", "");
    printf("  %zu cells\n", work.n_cells);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "census") == 0)
        bench_census(argv[2]);
    else if (argc == 3 && strcmp(argv[1], "wide") == 0)
        bench_wide(argv[2]);
    else {
        fputs("usage: bench_tabulate census|wide FILE\n", stderr);
        return 2;
    }
    return 0;
}
