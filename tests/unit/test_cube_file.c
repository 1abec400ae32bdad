/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes in files: what is written is read, and what was changed is found out. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "check.h"
#include "cube/file.h"
#include "fail_every.h"
#include "scratch.h"
#include "splitmix.h"

static const char REGIONS[] = "code,parent,label\n"
                              "north,,North\nsouth,,South\n"
                              "n1,north,N one\nn2,north,N two\n"
                              "s1,south,S one\ns2,south,S two\ns3,south,S three\n";
static const char SEXES[] = "code,label\nf,female\nm,male\n";

static cellar_status add_variable(cube_variable *out, const char *name, const char *list,
                                  cellar_error *err)
{
    cellar_codelist *codes = NULL;
    cellar_status status = cellar_codelist_parse(name, list, strlen(list), &codes, err);
    if (status == CELLAR_OK)
        status = cellar_cube_variable_init(out, name, CELLAR_DOMAIN_DECLARED, codes, 1, err);
    cellar_codelist_free(codes);
    return status;
}

/* Region (two levels, not balanced) by sex, everything measured. */
static cellar_status make_cube(cellar_cube **out, cellar_error *err)
{
    cube_variable variables[2] = {{0}};
    cube_axis axes[2];
    cube_space *tables = NULL;
    size_t n_tables = 0;
    uint64_t seed = 1;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    status = add_variable(&variables[0], "region", REGIONS, err);
    if (status == CELLAR_OK)
        status = add_variable(&variables[1], "sex", SEXES, err);
    axes[0] = variables[0].axis;
    axes[1] = variables[1].axis;
    if (status == CELLAR_OK)
        status = cellar_cube_tables_up_to(axes, 2, 2, &tables, &n_tables, err);
    if (status == CELLAR_OK)
        status = cellar_cube_create(variables, 2, tables, n_tables, out, err);
    for (uint32_t t = 0; status == CELLAR_OK && t < (*out)->lattice.n; t++)
        status = cellar_cube_plan_measure(*out, t, "discrete-gaussian:sigma=2", 4, err);
    if (status == CELLAR_OK)
        status = cellar_cube_settle(*out, err);
    if (status == CELLAR_OK)
        status = cellar_cube_measured_alloc(*out, err);
    for (uint32_t t = 0; status == CELLAR_OK && t < (*out)->lattice.n; t++)
        for (size_t i = 0; i < (size_t) (*out)->lattice.n_cells[t]; i++)
            cellar_cube_measured_room(*out, t)[i] = (int64_t) (next_random(&seed) % 1000) - 100;
    if (status == CELLAR_OK)
        status = cellar_cube_estimate_all(*out, err);
    if (status == CELLAR_OK)
        status = cellar_cube_describe(
            *out, json_pack("{s:{s:s}}", "certificate", "verdict", "holds"), err);
    for (size_t v = 0; v < 2; v++)
        cellar_cube_variable_clear(&variables[v]);
    cellar_free(tables);
    if (status != CELLAR_OK) {
        cellar_cube_close(*out);
        *out = NULL;
    }
    return status;
}

static cellar_status write_cube(const char *path, cellar_error *err)
{
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    const cellar_output_options options = {.replace = 1};
    cellar_status status = make_cube(&cube, err);
    if (status == CELLAR_OK)
        status = cellar_output_open(path, &options, &output, err);
    if (status == CELLAR_OK)
        status = cellar_cube_write(cube, output, err);
    if (status == CELLAR_OK)
        status = cellar_output_commit(output, err);
    else
        cellar_output_discard(output);
    cellar_cube_close(cube);
    return status;
}

static void what_is_written_is_read(void **state)
{
    const char *path = scratch_path(*state, "a.cube");
    cellar_cube *made = NULL, *read = NULL;
    cellar_cube_table_info info;
    cellar_error err;
    assert_int_equal(make_cube(&made, &err), CELLAR_OK);
    assert_int_equal(write_cube(path, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_open(path, &read, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_verify(read, path, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_n_tables(read), 6);
    assert_int_equal(cellar_cube_n_levels(read, 0), 2);
    assert_int_equal(cellar_cube_n_categories(read, 0, 1), 2);
    assert_int_equal(cellar_cube_n_categories(read, 0, 2), 5);
    for (uint32_t t = 0; t < made->lattice.n; t++) {
        const size_t bytes = (size_t) made->lattice.n_cells[t] * sizeof(int64_t);
        assert_memory_equal(made->tables[t].values, read->tables[t].values, bytes);
        assert_memory_equal(made->tables[t].measured, read->tables[t].measured, bytes);
    }
    assert_int_equal(cellar_cube_table_at(read, 5, &info, &err), CELLAR_OK);
    assert_string_equal(info.name, "region x sex");
    assert_true(info.sd > 0 && info.sd < 2); /* pooled: better than its own measurement */
    assert_string_equal(cellar_cube_description(read), "{\"certificate\":{\"verdict\":\"holds\"}}");
    cellar_cube_close(made);
    cellar_cube_close(read);
}

/* Whatever byte of the values is changed is found out; a changed heading does no harm. */
static void every_changed_byte_is_found(void **state)
{
    const char *path = scratch_path(*state, "b.cube");
    char *bytes = NULL;
    int64_t *copy;
    size_t length;
    cube_file_start start;
    cellar_error err;
    assert_int_equal(write_cube(path, &err), CELLAR_OK);
    assert_int_equal(cellar_file_read(path, 1 << 20, &bytes, &length, &err), CELLAR_OK);
    memcpy(&start, bytes, sizeof start);
    copy = cellar_alloc(length, 1);
    assert_non_null(copy);
    for (size_t i = 0; i < length; i++) {
        cellar_cube *cube = NULL;
        cellar_status status;
        memcpy(copy, bytes, length);
        ((char *) copy)[i] ^= 1;
        status = cellar_cube_parse("changed", copy, length, &cube, &err);
        if (status == CELLAR_OK)
            status = cellar_cube_verify(cube, "changed", &err);
        if (i >= start.values_start)
            assert_int_equal(status, CELLAR_ERR_INPUT);
        cellar_cube_close(cube);
    }
    for (size_t n = 0; n < length; n += 7) {
        cellar_cube *cube = NULL;
        memcpy(copy, bytes, n);
        assert_int_not_equal(cellar_cube_parse("cut", copy, n, &cube, &err), CELLAR_OK);
    }
    cellar_free(copy);
    cellar_free(bytes);
}

static cellar_status scenario(void *context, cellar_error *err)
{
    const char *path = context;
    cellar_cube *cube = NULL;
    cellar_status status = write_cube(path, err);
    if (status == CELLAR_OK)
        status = cellar_cube_open(path, &cube, err);
    if (status == CELLAR_OK)
        status = cellar_cube_verify(cube, path, err);
    cellar_cube_close(cube);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    scratch_path(*state, "c.cube");
    check_fail_every(scenario, ((scratch *) *state)->path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
