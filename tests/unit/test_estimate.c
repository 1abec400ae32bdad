/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Estimates: fixed-point values that add, in memory and in every format that is read back. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/table_file.h>

#include "base/output.h"
#include "fail_every.h"
#include "release/estimate/estimate.h"
#include "scratch.h"
#include "small_table.h"

static const small_table shape = {.n_variables = 2,
                                  .sizes = {2, 3},
                                  .rules = "x = c1 & y = c2\n",
                                  .domain = CELLAR_DOMAIN_DECLARED,
                                  .margins = {.all = 1}};
enum { N_INDICES = 12, N_CELLS = 11 };

static cellar_error err;

/* In millionths; the cell (c1, c2) is impossible. */
static const int64_t values[N_INDICES] = {1500000, -250000, 0,       1250000, 7000001, 2,
                                          0,       7000003, 8500001, -249998, 0,       8250003};
static const int64_t errors[N_INDICES] = {1, 2000000, 0, 4, CELLAR_SHEET_NO_ERROR, 6, 0, 8,
                                          9, 1,       2, 3};
static const int64_t whole[N_INDICES] = {1, 0, 0, 1, 7, 0, 0, 7, 8, 0, 0, 8};

static cellar_estimate *made(int with_errors, int with_whole)
{
    cellar_estimate *estimate = NULL;
    cellar_schema *base = small_schema(&shape), *schema = NULL;
    const cellar_margins all = {.all = 1};
    json_t *computed = json_pack("{s:s}", "method", "made up");
    json_t *sources = json_pack("[{s:s, s:s, s:{s:s}}]", "ledger", "charge 7 of people",
                                "protection", "guarantee", "certificate", "verdict", "holds");
    cellar_estimate_parts parts = {.value = values,
                                   .se = with_errors ? errors : NULL,
                                   .whole = with_whole ? whole : NULL,
                                   .decimals = 6,
                                   .computed = computed,
                                   .sources = sources};
    assert_int_equal(cellar_schema_expand(base, &all, &schema, &err), CELLAR_OK);
    parts.schema = schema;
    if (cellar_estimate_create(&parts, &estimate, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_schema_free(base);
    cellar_schema_free(schema);
    json_decref(computed);
    json_decref(sources);
    return estimate;
}

static void test_it_answers_what_it_was_made_of(void **state)
{
    (void) state;
    cellar_estimate *estimate = made(1, 1);
    assert_int_equal(cellar_schema_n_indices(cellar_estimate_schema(estimate)), N_INDICES);
    assert_int_equal(cellar_estimate_n_cells(estimate), N_CELLS);
    assert_int_equal(cellar_estimate_decimals(estimate), 6);
    assert_int_equal(cellar_estimate_has_errors(estimate), 1);
    assert_int_equal(cellar_estimate_has_whole(estimate), 1);
    assert_string_equal(cellar_estimate_method(estimate), "made up");
    assert_int_equal(cellar_estimate_n_sources(estimate), 1);
    assert_int_equal(cellar_estimate_level(estimate), CELLAR_LEVEL_GUARANTEE);
    assert_non_null(strstr(cellar_estimate_description(estimate), "charge 7 of people"));
    for (uint64_t i = 0; i < N_INDICES; i++) {
        const cellar_estimated_cell cell = cellar_estimate_at(estimate, i);
        assert_int_equal(cell.index, i);
        assert_true(cell.value == (double) values[i] / 1e6);
        assert_true(errors[i] < 0 ? isnan(cell.se) : cell.se == (double) errors[i] / 1e6);
        assert_int_equal(cell.whole, whole[i]);
        assert_int_equal(cell.status, i == 6 ? CELLAR_CELL_STRUCTURAL_ZERO : CELLAR_CELL_NORMAL);
    }
    cellar_estimate_free(estimate);
}

/* What doubles cannot hold, and what says nothing about its origin, is refused. */
static void test_what_cannot_be_an_estimate_is_refused(void **state)
{
    (void) state;
    int64_t large[N_INDICES] = {[3] = (INT64_C(1) << 53) + 1};
    cellar_estimate *one = made(0, 0), *out;
    json_t *empty = json_object(), *none = json_array();
    json_t *computed = json_object_get(one->description, "computed");
    json_t *sources = json_object_get(one->description, "sources");
    json_t *bare = json_pack("[{s:s}]", "protection", "guarantee");
    cellar_estimate_parts parts = {.schema = one->schema,
                                   .value = large,
                                   .decimals = 6,
                                   .computed = computed,
                                   .sources = sources};
    assert_int_equal(cellar_estimate_create(&parts, &out, &err), CELLAR_ERR_OVERFLOW);
    parts.value = values;
    parts.computed = empty;
    assert_int_equal(cellar_estimate_create(&parts, &out, &err), CELLAR_ERR_INPUT);
    parts.computed = computed;
    parts.sources = none;
    assert_int_equal(cellar_estimate_create(&parts, &out, &err), CELLAR_ERR_INPUT);
    parts.sources = bare;
    assert_int_equal(cellar_estimate_create(&parts, &out, &err), CELLAR_ERR_INPUT);
    assert_null(out);
    json_decref(empty);
    json_decref(none);
    json_decref(bare);
    cellar_estimate_free(one);
}

static cellar_status write_to(const cellar_estimate *estimate, cellar_estimate_view view,
                              const cellar_table_write_options *options, const char *path,
                              cellar_error *e)
{
    cellar_release_file *file = NULL;
    cellar_status status = cellar_release_file_open(path, options, 1, &file, e);
    if (status == CELLAR_OK)
        status = cellar_estimate_write(estimate, view, file, e);
    cellar_release_file_discard(file);
    return status;
}

static void check_same(const cellar_estimate *a, const cellar_estimate *b)
{
    assert_int_equal(cellar_estimate_n_cells(a), cellar_estimate_n_cells(b));
    assert_int_equal(cellar_estimate_has_errors(a), cellar_estimate_has_errors(b));
    assert_string_equal(cellar_estimate_description(a), cellar_estimate_description(b));
    for (size_t i = 0; i < cellar_estimate_n_cells(a); i++) {
        const cellar_estimated_cell one = cellar_estimate_cell(a, i),
                                    two = cellar_estimate_cell(b, i);
        assert_int_equal(one.index, two.index);
        assert_true(one.value == two.value);
        assert_true(one.se == two.se || (isnan(one.se) && isnan(two.se)));
    }
}

static void test_files_read_back(void **state)
{
    static const struct {
        const char *name;
        cellar_table_write_options options;
    } files[] = {{"e.csv", {0}},  {"z.csv", {.zeros = 1}},
                 {"e.json", {0}}, {"s.json", {.sparse = 1}},
                 {"e.px", {0}},   {"x.csv", {.format = CELLAR_TABLE_SDMX}}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        for (int with_errors = 0; with_errors < 2; with_errors++) {
            const char *path = scratch_path(*state, files[i].name);
            cellar_estimate *estimate = made(with_errors, 1), *back = NULL;
            cellar_release *release;
            cellar_table *table;
            assert_int_equal(
                write_to(estimate, CELLAR_ESTIMATE_VALUES, &files[i].options, path, &err),
                CELLAR_OK);
            if (cellar_estimate_read(path, CELLAR_TABLE_AUTO, &back, &err) != CELLAR_OK)
                fail_msg("%s", err.message);
            check_same(estimate, back);
            assert_int_equal(cellar_estimate_decimals(back), 6);
            assert_int_equal(cellar_release_read(path, CELLAR_TABLE_AUTO, &release, &err),
                             CELLAR_ERR_INPUT);
            assert_non_null(strstr(err.message, "is an estimate"));
            assert_int_equal(cellar_table_read(path, NULL, &table, &err), CELLAR_ERR_INPUT);
            assert_non_null(strstr(err.message, files[i].options.format == CELLAR_TABLE_SDMX
                                                    ? "is SDMX-CSV"
                                                    : "is an estimate"));
            cellar_estimate_free(back);
            cellar_estimate_free(estimate);
        }
}

/* A file of whole numbers is an estimate, too: its values are the whole numbers. */
static void test_whole_numbers_read_back(void **state)
{
    static const char *const names[] = {"w.csv", "w.json", "w.px"};
    cellar_estimate *estimate = made(1, 1), *without = made(1, 0), *back;
    for (size_t i = 0; i < 3; i++) {
        const char *path = scratch_path(*state, names[i]);
        assert_int_equal(write_to(estimate, CELLAR_ESTIMATE_WHOLE, NULL, path, &err), CELLAR_OK);
        if (cellar_estimate_read(path, CELLAR_TABLE_AUTO, &back, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        assert_int_equal(cellar_estimate_decimals(back), 0);
        assert_int_equal(cellar_estimate_has_errors(back), 0);
        for (uint64_t k = 0; k < N_INDICES; k++)
            assert_true(cellar_estimate_at(back, k).value == (double) whole[k]);
        cellar_estimate_free(back);
        assert_int_equal(write_to(without, CELLAR_ESTIMATE_WHOLE, NULL, path, &err),
                         CELLAR_ERR_ARGUMENT);
    }
    cellar_estimate_free(without);
    cellar_estimate_free(estimate);
}

/* Writes a file again with one text in place of another. */
static void edit(scratch *place, const char *name, const char *from, const char *to)
{
    static char text[1 << 16];
    FILE *file = fopen(scratch_path(place, name), "r");
    assert_non_null(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = '\0';
    fclose(file);
    char *at = strstr(text, from);
    assert_non_null(at);
    file = fopen(scratch_path(place, name), "w");
    assert_non_null(file);
    fprintf(file, "%.*s%s%s", (int) (at - text), text, to, at + strlen(from));
    fclose(file);
}

static void test_changed_files_are_refused(void **state)
{
    static const struct {
        const char *name, *from, *to, *message;
    } changes[] = {
        {"e.json", "7.000001", "7.000002", "digests differ"},
        {"e.json", "1.5,0.000001", "1.5,0.000002", "digests differ"},
        {"e.json", "1.5,0.000001", "1.5,-1", "cannot be negative"},
        {"e.json", "1.5,0.000001", "\"a\",0.000001", "expected a number"},
        {"e.json", "\"measure\"],", "\"what\"],", "dimension 'what'"},
        {"e.json", "\"standard_errors\":true", "\"standard_errors\":false", "dimensions"},
        {"e.json", "\"decimals\":6", "\"decimals\":10", "from 0 to 9"},
        {"e.json", "\"method\"", "\"mothed\"", "expected 'computed' with a 'method'"},
        {"e.px", "7.000001", "7.000002", "digests differ"},
        {"e.px", "7.000001", "7.0000015", "stated decimals"},
        {"e.px", "0.000001", "-1", "cannot be negative"},
        {"e.csv", "7.000001", "7.000002", "digests differ"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        cellar_estimate *estimate = made(1, 0), *back = NULL;
        const char *path = scratch_path(*state, changes[i].name);
        assert_int_equal(write_to(estimate, CELLAR_ESTIMATE_VALUES, NULL, path, &err), CELLAR_OK);
        edit(*state, changes[i].name, changes[i].from, changes[i].to);
        assert_int_equal(cellar_estimate_read(path, CELLAR_TABLE_AUTO, &back, &err),
                         CELLAR_ERR_INPUT);
        if (strstr(err.message, changes[i].message) == NULL)
            fail_msg("%zu: %s", i, err.message);
        assert_null(back);
        cellar_estimate_free(estimate);
    }
}

/* Formats that are only written: values and standard errors are data in each. */
static void test_other_formats_show_errors(void **state)
{
    static const cellar_table_write_options sdmx = {.format = CELLAR_TABLE_SDMX},
                                            csvw = {.format = CELLAR_TABLE_CSVW};
    cellar_estimate *estimate = made(1, 0);
    assert_int_equal(
        write_to(estimate, CELLAR_ESTIMATE_VALUES, &sdmx, scratch_path(*state, "sdmx.csv"), &err),
        CELLAR_OK);
    scratch_says(*state, "sdmx.csv", ",OBS_VALUE,STANDARD_ERROR,OBS_STATUS,CONF_STATUS\n");
    scratch_says(*state, "sdmx.csv", ",c0,c1,-0.25,2,A,F\n");
    scratch_says(*state, "sdmx.csv", ",c1,c0,7.000001,,A,F\n");
    assert_int_equal(
        write_to(estimate, CELLAR_ESTIMATE_VALUES, &csvw, scratch_path(*state, "w.csv"), &err),
        CELLAR_OK);
    scratch_says(*state, "w.csv", "x,y,estimate,se\nc0,c0,1.5,0.000001\n");
    scratch_says(*state, "w.csv-metadata.json", "\"titles\": \"se\"");
    cellar_estimate_free(estimate);
}

typedef struct round_trip {
    const cellar_estimate *like;
    char csv[400], json[400], px[400];
} round_trip;

static cellar_status scenario(void *context, cellar_error *e)
{
    const round_trip *trip = context;
    const char *const paths[] = {trip->csv, trip->json, trip->px};
    const json_t *description = trip->like->description;
    const cellar_estimate_parts parts = {.schema = trip->like->schema,
                                         .value = values,
                                         .se = errors,
                                         .whole = whole,
                                         .decimals = 6,
                                         .computed = json_object_get(description, "computed"),
                                         .sources = json_object_get(description, "sources")};
    cellar_estimate *estimate = NULL;
    cellar_status status = cellar_estimate_create(&parts, &estimate, e);
    for (size_t i = 0; i < 3 && status == CELLAR_OK; i++) {
        cellar_estimate *back = NULL;
        status = write_to(estimate, CELLAR_ESTIMATE_VALUES, NULL, paths[i], e);
        if (status == CELLAR_OK)
            status = cellar_estimate_read(paths[i], CELLAR_TABLE_AUTO, &back, e);
        cellar_estimate_free(back);
    }
    cellar_estimate_free(estimate);
    return status;
}

static void test_memory_may_end_anywhere(void **state)
{
    cellar_estimate *like = made(1, 1);
    round_trip trip = {.like = like};
    snprintf(trip.csv, sizeof trip.csv, "%s", scratch_path(*state, "f.csv"));
    snprintf(trip.json, sizeof trip.json, "%s", scratch_path(*state, "f.json"));
    snprintf(trip.px, sizeof trip.px, "%s", scratch_path(*state, "f.px"));
    check_fail_every(scenario, &trip);
    cellar_estimate_free(like);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_answers_what_it_was_made_of),
        cmocka_unit_test(test_what_cannot_be_an_estimate_is_refused),
        IN_SCRATCH(test_files_read_back),
        IN_SCRATCH(test_whole_numbers_read_back),
        IN_SCRATCH(test_changed_files_are_refused),
        IN_SCRATCH(test_other_formats_show_errors),
        IN_SCRATCH(test_memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
