/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store of cells is the store of the records that were counted. */
#include "store_sample.h"

#include "fail_every.h"

enum { N_CELLS = 5, N_MISSING = 70000 };
#define NONE CELLAR_LEAF_MISSING

/* Records of regions (of which four are leaves, and one for missing values) and bands of ages. */
typedef struct sample {
    cellar_codelist *regions;
    cellar_variable_spec variables[2];
    cellar_tabulate_spec spec;
    const uint32_t *leaves[2];
    cellar_counted_cells cells;
    cellar_row_report rows;
} sample;

/* Two cells are the same, as of two shards; one takes more than a block of the file. */
static const uint32_t regions[N_CELLS] = {3, 0, NONE, 3, 1}, ages[N_CELLS] = {1, 2, 0, 1, NONE};
static const uint64_t counts[N_CELLS] = {2, 5, N_MISSING, 1, 4};

static void setup_sample(sample *s)
{
    cellar_error err;
    *s = (sample){.leaves = {regions, ages}, .rows = {.n_read = 70015, .n_filtered = 3}};
    assert_int_equal(
        cellar_codelist_parse("regions", store_regions, strlen(store_regions), &s->regions, &err),
        CELLAR_OK);
    s->variables[0] = (cellar_variable_spec){.column = "region", .codelist = s->regions};
    s->variables[1] = (cellar_variable_spec){
        .column = "age", .recode = {.bottom = "9", .top = "80", .band_width = "10"}};
    s->spec = cellar_tabulate_spec_default();
    s->spec.path = "people";
    s->spec.variables = s->variables;
    s->spec.n_variables = 2;
    s->cells = (cellar_counted_cells){.n = N_CELLS, .leaves = s->leaves, .counts = counts};
}

static cellar_status build(const sample *s, const char *sort_by, const char *path,
                           cellar_error *err)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_status status;
    how.replace = 1;
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = cellar_store_build_from_cells(&s->spec, &s->cells, sort_by, output, &s->rows, err);
    if (status == CELLAR_OK)
        return cellar_output_commit(output, err);
    cellar_output_discard(output);
    return status;
}

/* The numbers of records by region, the last for missing values if they are a level. */
static void check_regions(const sample *s, const char *path, cellar_missing_policy policy,
                          const uint64_t expected[5])
{
    cellar_tabulate_spec asked = s->spec;
    uint64_t counted[5] = {0};
    cellar_row_report rows;
    cellar_table *table = NULL;
    cellar_error err;
    asked.path = path;
    asked.n_variables = 1;
    asked.missing_policy = policy;
    if (cellar_tabulate(&asked, &table, &rows, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < cellar_table_n_cells(table); i++)
        counted[cellar_table_cell(table, i).index] = cellar_table_cell(table, i).count;
    assert_memory_equal(counted, expected, sizeof counted);
    assert_int_equal(rows.n_read, N_MISSING + 15);
    assert_int_equal(rows.n_filtered, 3);
    assert_int_equal(rows.n_missing, policy == CELLAR_MISSING_DROP ? N_MISSING : 0);
    cellar_table_free(table);
}

static void test_records_of_cells(void **state)
{
    static const uint64_t dropped[5] = {5, 4, 0, 3, 0}, kept[5] = {5, 4, 0, 3, N_MISSING};
    const char *path = scratch_path(*state, "cells.store");
    cellar_store *store = NULL;
    cellar_error err = {""};
    sample s;
    setup_sample(&s);
    assert_int_equal(build(&s, NULL, path, &err), CELLAR_OK);
    check_regions(&s, path, CELLAR_MISSING_DROP, dropped);
    check_regions(&s, path, CELLAR_MISSING_LEVEL, kept);
    assert_int_equal(cellar_store_open(path, &store, &err), CELLAR_OK);
    assert_int_equal(cellar_store_about(store).n_rows, N_MISSING + 12);
    assert_int_equal(cellar_store_variable_at(store, 1).domain, CELLAR_DOMAIN_DECLARED);
    assert_int_equal(cellar_store_verify(store, 1, NULL, &err), CELLAR_OK);
    cellar_store_close(store);
    cellar_codelist_free(s.regions);
}

static void read_all(const char *path, char *bytes, size_t room, size_t *n)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    *n = fread(bytes, 1, room, file);
    fclose(file);
}

/* Servers answer in any order. */
static void test_order_of_cells(void **state)
{
    static const uint32_t regions_back[] = {1, 3, NONE, 0, 3}, ages_back[] = {NONE, 1, 0, 2, 1};
    static const uint64_t counts_back[] = {4, 1, N_MISSING, 5, 2};
    static char first[300000], second[300000];
    const char *path = scratch_path(*state, "order.store");
    size_t n, m;
    cellar_error err;
    sample s;
    setup_sample(&s);
    for (int sorted = 0; sorted < 2; sorted++) {
        s.leaves[0] = regions;
        s.leaves[1] = ages;
        s.cells.counts = counts;
        assert_int_equal(build(&s, sorted ? "age" : NULL, path, &err), CELLAR_OK);
        read_all(path, first, sizeof first, &n);
        s.leaves[0] = regions_back;
        s.leaves[1] = ages_back;
        s.cells.counts = counts_back;
        assert_int_equal(build(&s, sorted ? "age" : NULL, path, &err), CELLAR_OK);
        read_all(path, second, sizeof second, &m);
        assert_int_equal(n, m);
        assert_true(n < sizeof first);
        assert_memory_equal(first, second, n);
    }
    cellar_codelist_free(s.regions);
}

static void check_refused(const sample *s, const char *sort_by, const char *path, const char *words)
{
    cellar_error err = {""};
    assert_int_not_equal(build(s, sort_by, path, &err), CELLAR_OK);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_refusals(void **state)
{
    static const uint32_t beyond[N_CELLS] = {0, 0, 0, 5, 0};
    static const uint64_t too_many[N_CELLS] = {1, UINT32_MAX, 1, 1, 1};
    static const char *const where[] = {"age>>3"};
    const char *path = scratch_path(*state, "never.store");
    sample s;
    setup_sample(&s);
    check_refused(&s, "nothing", path, "no variable of the store");
    s.spec.weight_column = "w";
    check_refused(&s, NULL, path, "no weights");
    s.spec.weight_column = NULL;
    s.spec.unit_column = "u";
    check_refused(&s, NULL, path, "no weights");
    s.spec.unit_column = NULL;
    s.spec.where = where;
    s.spec.n_where = 1;
    check_refused(&s, NULL, path, "condition 'age>>3'");
    s.spec.n_where = 0;
    s.leaves[0] = beyond;
    check_refused(&s, NULL, path, "cell 4: variable 'region' has 5 leaves");
    s.leaves[0] = regions;
    s.cells.counts = too_many;
    check_refused(&s, NULL, path, "up to 4294967295 records");
    s.variables[0].codelist = NULL;
    check_refused(&s, NULL, path, "need declared categories");
    cellar_codelist_free(s.regions);
}

typedef struct scenario {
    sample s;
    const char *path;
} scenario;

static cellar_status build_scenario(void *context, cellar_error *err)
{
    const scenario *c = context;
    return build(&c->s, "region", c->path, err);
}

static void test_memory(void **state)
{
    scenario c = {.path = scratch_path(*state, "memory.store")};
    setup_sample(&c.s);
    check_fail_every(build_scenario, &c);
    cellar_codelist_free(c.s.regions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_of_cells),
        cmocka_unit_test(test_order_of_cells),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("store_cells", tests, scratch_setup, scratch_teardown);
}
