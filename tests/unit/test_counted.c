/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cells counted elsewhere, partial tables, and what leaves as a stream: each against the table or
 * release it must be equal to. */
#include "scratch.h"

#include <math.h>

#include <cellar/arrow.h>
#include <cellar/columns.h>
#include <cellar/interval.h>
#include <cellar/mechanism.h>
#include <cellar/random.h>
#include <cellar/release.h>
#include <cellar/table_file.h>

#include "fail_every.h"
#include "splitmix.h"

enum { N_ROWS = 3000, N_AREAS = 4, N_SEXES = 2, N_CELLS = N_AREAS * N_SEXES };

static const char *const areas[] = {"a", "b", "c", "d"}, *const sexes[] = {"f", "m"};

typedef struct sample {
    cellar_codelist *lists[2];
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec;
    uint8_t area[N_ROWS], sex[N_ROWS];
    int32_t weight[N_ROWS], key[N_ROWS];
} sample;

static cellar_codelist *list_of(const char *const *codes, size_t n)
{
    cellar_codelist *list = NULL;
    assert_int_equal(cellar_codelist_create(&list, NULL), CELLAR_OK);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(cellar_codelist_add(list, codes[i], NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                         CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(list, NULL), CELLAR_OK);
    return list;
}

static sample *make_sample(void)
{
    sample *s = calloc(1, sizeof *s);
    uint64_t seed = 9;
    s->lists[0] = list_of(areas, N_AREAS);
    s->lists[1] = list_of(sexes, N_SEXES);
    s->variables[0] = (cellar_variable_spec){.column = "area", .codelist = s->lists[0]};
    s->variables[1] = (cellar_variable_spec){.column = "sex", .codelist = s->lists[1]};
    s->spec = (cellar_tabulate_spec){.variables = s->variables,
                                     .n_variables = 2,
                                     .weight_column = "weight",
                                     .record_key_column = "key",
                                     .key_range = 256,
                                     .margins = {.all = 1},
                                     .n_threads = 1};
    for (size_t i = 0; i < N_ROWS; i++) {
        const uint64_t x = next_random(&seed);
        s->area[i] = x % 5 % N_AREAS;
        s->sex[i] = x / 8 % N_SEXES;
        s->weight[i] = (int32_t) (x / 64 % 10);
        s->key[i] = (int32_t) (x / 1024 % 256);
    }
    return s;
}

static void free_sample(sample *s)
{
    cellar_codelist_free(s->lists[0]);
    cellar_codelist_free(s->lists[1]);
    free(s);
}

/* The table of rows [first, first + n). */
static cellar_table *count_rows(const sample *s, size_t first, size_t n)
{
    const cellar_column columns[] = {{.name = "area",
                                      .kind = CELLAR_COLUMN_CODES,
                                      .value_bytes = 1,
                                      .is_unsigned = 1,
                                      .values = s->area + first,
                                      .levels = areas,
                                      .n_levels = N_AREAS},
                                     {.name = "sex",
                                      .kind = CELLAR_COLUMN_CODES,
                                      .value_bytes = 1,
                                      .is_unsigned = 1,
                                      .values = s->sex + first,
                                      .levels = sexes,
                                      .n_levels = N_SEXES},
                                     {.name = "weight",
                                      .kind = CELLAR_COLUMN_INTEGERS,
                                      .value_bytes = 4,
                                      .values = s->weight + first},
                                     {.name = "key",
                                      .kind = CELLAR_COLUMN_INTEGERS,
                                      .value_bytes = 4,
                                      .values = s->key + first}};
    const cellar_frame frame = {.columns = columns, .n_columns = 4, .n_rows = n};
    cellar_table *table = NULL;
    cellar_error err = {""};
    if (cellar_tabulate_columns(&s->spec, &frame, &table, NULL, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

static void expect_equal(const cellar_table *a, const cellar_table *b)
{
    assert_string_equal(cellar_table_tabulation(a), cellar_table_tabulation(b));
    assert_int_equal(cellar_table_n_records(a), cellar_table_n_records(b));
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    for (size_t i = 0; i < cellar_table_n_cells(a); i++) {
        const cellar_cell x = cellar_table_cell(a, i), y = cellar_table_cell(b, i);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.key, y.key);
        assert_true(x.weighted == y.weighted);
    }
}

/* ---- cells --------------------------------------------------------------------- */

/* The inner cells, as a database would send them, each in two halves. */
typedef struct cells {
    uint32_t leaves[2][2 * N_CELLS];
    const uint32_t *pointers[2];
    uint64_t counts[2 * N_CELLS], keys[2 * N_CELLS];
    char weights[2 * N_CELLS][16];
    const char *texts[2 * N_CELLS];
    cellar_counted_cells given;
} cells;

static void group_rows(const sample *s, cells *c)
{
    int64_t weights[2 * N_CELLS] = {0};
    memset(c, 0, sizeof *c);
    for (size_t i = 0; i < N_ROWS; i++) {
        const size_t at = (size_t) (s->area[i] * N_SEXES + s->sex[i]) + i % 2 * N_CELLS;
        c->counts[at]++;
        c->keys[at] = (c->keys[at] + (uint64_t) s->key[i]) % 256;
        weights[at] += s->weight[i];
    }
    for (size_t at = 0; at < 2 * (size_t) N_CELLS; at++) {
        c->leaves[0][at] = (uint32_t) (at % N_CELLS / N_SEXES);
        c->leaves[1][at] = (uint32_t) (at % N_SEXES);
        snprintf(c->weights[at], sizeof c->weights[at], "%d.0", (int) weights[at]);
        c->texts[at] = c->weights[at];
    }
    c->pointers[0] = c->leaves[0];
    c->pointers[1] = c->leaves[1];
    c->given = (cellar_counted_cells){.n = 2 * (size_t) N_CELLS,
                                      .leaves = c->pointers,
                                      .counts = c->counts,
                                      .weights = c->texts,
                                      .keys = c->keys};
}

static void test_cells_make_the_table_of_their_records(void **state)
{
    sample *s = make_sample();
    cellar_table *want = count_rows(s, 0, N_ROWS), *table = NULL;
    cellar_error err = {""};
    cells c;
    (void) state;
    group_rows(s, &c);
    if (cellar_table_create_from_cells(&s->spec, &c.given, &table, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    expect_equal(table, want);
    cellar_table_free(table);
    cellar_table_free(want);

    c.leaves[0][0] = N_AREAS;
    assert_int_equal(cellar_table_create_from_cells(&s->spec, &c.given, &table, &err),
                     CELLAR_ERR_INPUT);
    c.leaves[0][0] = 0;
    c.texts[1] = "1.0000000001";
    assert_int_equal(cellar_table_create_from_cells(&s->spec, &c.given, &table, &err),
                     CELLAR_ERR_INPUT);
    c.texts[1] = "1";
    c.keys[1] = 256;
    assert_int_equal(cellar_table_create_from_cells(&s->spec, &c.given, &table, &err),
                     CELLAR_ERR_INPUT);
    c.given.keys = NULL;
    assert_int_equal(cellar_table_create_from_cells(&s->spec, &c.given, &table, &err),
                     CELLAR_ERR_ARGUMENT);
    s->variables[0].codelist = NULL;
    c.given.keys = c.keys;
    assert_int_equal(cellar_table_create_from_cells(&s->spec, &c.given, &table, &err),
                     CELLAR_ERR_RULE);
    free_sample(s);
}

/* ---- partial tables ------------------------------------------------------------ */

static void test_partial_tables_add_up(void **state)
{
    sample *s = make_sample();
    cellar_table *want = count_rows(s, 0, N_ROWS), *merged = NULL;
    cellar_table *parts[] = {count_rows(s, 0, 1), count_rows(s, 1, 1999),
                             count_rows(s, 2000, N_ROWS - 2000)};
    cellar_error err = {""};
    (void) state;
    if (cellar_table_merge((const cellar_table *const *) parts, 3, &merged, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    expect_equal(merged, want);
    cellar_table_free(merged);
    assert_int_equal(cellar_table_merge((const cellar_table *const *) parts, 0, &merged, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_table_free(parts[2]);
    s->spec.max_weight = 5;
    parts[2] = count_rows(s, 2000, N_ROWS - 2000);
    assert_int_equal(cellar_table_merge((const cellar_table *const *) parts, 3, &merged, &err),
                     CELLAR_ERR_RULE);
    assert_null(merged);
    s->spec.max_weight = 0;
    s->variables[1].codelist = NULL; /* observed */
    cellar_table_free(parts[0]);
    parts[0] = count_rows(s, 0, 1000);
    assert_int_equal(cellar_table_merge((const cellar_table *const *) parts, 1, &merged, &err),
                     CELLAR_ERR_RULE);
    for (size_t i = 0; i < 3; i++)
        cellar_table_free(parts[i]);
    cellar_table_free(want);
    free_sample(s);
}

/* ---- releases out ---------------------------------------------------------------- */

static cellar_release *protect_sample(void)
{
    sample *s = make_sample();
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *mechanism = NULL;
    cellar_release *release = NULL;
    cellar_table *table;
    cellar_error err = {""};
    s->spec.weight_column = s->spec.record_key_column = NULL;
    s->spec.key_range = 0;
    table = count_rows(s, 0, N_ROWS);
    options.negatives = CELLAR_NEGATIVES_KEEP;
    options.per_cell = 1;
    if (cellar_mechanism_create("discrete-laplace:epsilon=0.5", &mechanism, &err) != CELLAR_OK ||
        cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    free_sample(s);
    return release;
}

static void expect_rows(const cellar_release *release, int zeros, int64_t n_rows)
{
    const cellar_schema *schema = cellar_release_schema(release);
    struct ArrowArrayStream stream;
    struct ArrowSchema types;
    struct ArrowArray rows, end;
    assert_int_equal(cellar_release_stream(release, zeros, &stream, NULL), CELLAR_OK);
    assert_int_equal(stream.get_schema(&stream, &types), 0);
    assert_int_equal(stream.get_next(&stream, &rows), 0);
    assert_int_equal(stream.get_next(&stream, &end), 0);
    stream.release(&stream); /* what it gave lives on */
    assert_null(end.release);
    assert_string_equal(types.format, "+s");
    assert_int_equal(types.n_children, 4);
    assert_string_equal(types.children[0]->name, "area");
    assert_string_equal(types.children[0]->dictionary->format, "u");
    assert_string_equal(types.children[2]->name, "released");
    assert_int_equal(rows.length, n_rows);
    for (int64_t row = 0; row < rows.length; row++) {
        const char *codes[2];
        char texts[2][8] = {"", ""};
        uint64_t index;
        for (int v = 0; v < 2; v++) {
            const struct ArrowArray *levels = rows.children[v]->dictionary;
            const int32_t level = ((const int32_t *) rows.children[v]->buffers[1])[row];
            const int32_t *ends = levels->buffers[1];
            memcpy(texts[v], (const char *) levels->buffers[2] + ends[level],
                   (size_t) (ends[level + 1] - ends[level]));
            codes[v] = strcmp(texts[v], "_T") == 0 ? NULL : texts[v];
        }
        assert_int_equal(cellar_schema_find_cell(schema, codes, 2, &index, NULL), CELLAR_OK);
        assert_int_equal(((const int64_t *) rows.children[2]->buffers[1])[row],
                         cellar_release_at(release, index).released);
    }
    types.release(&types);
    rows.release(&rows);
    assert_null(rows.release);
}

static void test_a_release_leaves_as_rows(void **state)
{
    cellar_release *release = protect_sample();
    const char *unknown[] = {"a", "x"};
    uint64_t index;
    (void) state;
    expect_rows(release, 0, (int64_t) cellar_release_n_cells(release));
    expect_rows(release, 1, (N_AREAS + 1) * (N_SEXES + 1));
    assert_int_equal(
        cellar_schema_find_cell(cellar_release_schema(release), unknown, 2, &index, NULL),
        CELLAR_ERR_ARGUMENT);
    cellar_release_free(release);
}

static void test_an_interval_by_names(void **state)
{
    cellar_release *release = protect_sample();
    const cellar_interval_options options = cellar_interval_options_default();
    const char *codes[] = {"b", "f"};
    cellar_interval found;
    uint64_t index;
    cellar_error err = {""};
    (void) state;
    if (cellar_release_interval(release, "area=b; sex=f", CELLAR_COMPARE_NONE, NULL, &options,
                                &found, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(
        cellar_schema_find_cell(cellar_release_schema(release), codes, 2, &index, NULL), CELLAR_OK);
    assert_true(found.naive == (double) cellar_release_at(release, index).released);
    /* noise of epsilon 0.5 stays within 5 with probability 0.938, within 6 with 0.962 */
    assert_true(found.high - found.naive == 6 && found.naive - found.low == 6);
    assert_int_equal(cellar_release_interval(release, "area=z", CELLAR_COMPARE_NONE, NULL, &options,
                                             &found, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_release_free(release);
}

static cellar_status stream_release(void *context, cellar_error *err)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema types;
    struct ArrowArray rows;
    cellar_status status = cellar_release_stream(context, 1, &stream, err);
    if (status != CELLAR_OK)
        return status;
    if (stream.get_schema(&stream, &types) != 0)
        status = CELLAR_ERR_MEMORY;
    else
        types.release(&types);
    if (status == CELLAR_OK && stream.get_next(&stream, &rows) != 0)
        status = CELLAR_ERR_MEMORY;
    else if (status == CELLAR_OK)
        rows.release(&rows);
    if (status != CELLAR_OK)
        snprintf(err->message, sizeof err->message, "%s", stream.get_last_error(&stream));
    stream.release(&stream);
    return status;
}

static cellar_status merge_and_gather(void *context, cellar_error *err)
{
    const sample *s = context;
    cellar_table *first = NULL, *merged = NULL;
    const cellar_table *parts[2];
    cellar_status status;
    cells c;
    group_rows(s, &c);
    status = cellar_table_create_from_cells(&s->spec, &c.given, &first, err);
    parts[0] = parts[1] = first;
    if (status == CELLAR_OK)
        status = cellar_table_merge(parts, 2, &merged, err);
    cellar_table_free(first);
    cellar_table_free(merged);
    return status;
}

static void write_part(const char *path, cellar_table *table)
{
    cellar_table_write_options how = cellar_table_write_options_default();
    cellar_output *output = NULL;
    how.format = CELLAR_TABLE_JSONSTAT;
    assert_int_equal(cellar_output_open(path, NULL, &output, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_write(table, &how, output, NULL), CELLAR_OK);
    assert_int_equal(cellar_output_commit(output, NULL), CELLAR_OK);
    cellar_table_free(table);
}

static cellar_status merge_files(void *context, cellar_error *err)
{
    cellar_table *merged = NULL;
    const cellar_status status = cellar_table_merge_files(context, 2, NULL, 1, &merged, err);
    if (status == CELLAR_OK)
        assert_int_equal(cellar_table_n_records(merged), N_ROWS);
    cellar_table_free(merged);
    return status;
}

static void test_files_are_merged(void **state)
{
    char first[400], second[400];
    const char *const missing[] = {first, "nothing.json", "neither.json"},
                      *paths[] = {first, second};
    sample *s = make_sample();
    cellar_table *want = count_rows(s, 0, N_ROWS), *merged = NULL;
    cellar_error err = {""};
    snprintf(first, sizeof first, "%s", scratch_path(*state, "first.json"));
    snprintf(second, sizeof second, "%s", scratch_path(*state, "second.json"));
    write_part(first, count_rows(s, 0, 1000));
    write_part(second, count_rows(s, 1000, N_ROWS - 1000));
    assert_int_equal(cellar_table_merge_files(paths, 2, NULL, 2, &merged, &err), CELLAR_OK);
    expect_equal(merged, want);
    cellar_table_free(merged);
    for (int threads = 1; threads <= 3; threads++) { /* the first fault is the one that is named */
        assert_int_equal(cellar_table_merge_files(missing, 3, NULL, threads, &merged, &err),
                         CELLAR_ERR_IO);
        assert_null(merged);
        assert_non_null(strstr(err.message, "nothing.json"));
    }
    assert_int_equal(cellar_table_merge_files(paths, 0, NULL, 1, &merged, &err),
                     CELLAR_ERR_ARGUMENT);
    check_fail_every(merge_files, paths);
    cellar_table_free(want);
    free_sample(s);
}

static void test_every_allocation_may_fail(void **state)
{
    cellar_release *release = protect_sample();
    sample *s = make_sample();
    (void) state;
    check_fail_every(stream_release, release);
    check_fail_every(merge_and_gather, s);
    cellar_release_free(release);
    free_sample(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_make_the_table_of_their_records),
        cmocka_unit_test(test_partial_tables_add_up),
        cmocka_unit_test(test_a_release_leaves_as_rows),
        cmocka_unit_test(test_an_interval_by_names),
        cmocka_unit_test_setup_teardown(test_files_are_merged, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
