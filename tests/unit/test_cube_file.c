/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes in files: what is written is read, and what was changed is found out. */
#include <string.h>

#include "base/file.h"
#include "base/memory.h"
#include "check.h"
#include "cube/file.h"
#include "cube_certified.h"
#include "fail_every.h"
#include "scratch.h"

static cellar_status write_cube(const char *path, cellar_error *err)
{
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    const cellar_output_options options = {.replace = 1};
    cellar_status status = cube_sample("discrete-gaussian:sigma=2", 4, &cube, err);
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
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &made, &err), CELLAR_OK);
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

/* Categories that were drafted from the data and reviewed are as good as declared ones to readers.
 */
static void drafted_categories_are_read(void **state)
{
    const char *path = scratch_path(*state, "d.cube");
    const cellar_output_options options = {.replace = 1};
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    cellar_error err;
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &cube, &err), CELLAR_OK);
    for (int is_public = 1; is_public >= 0; is_public--) {
        cellar_cube *read = NULL;
        cube->variables[0].domain = is_public ? CELLAR_DOMAIN_DRAFTED : CELLAR_DOMAIN_OBSERVED;
        assert_int_equal(cellar_output_open(path, &options, &output, &err), CELLAR_OK);
        assert_int_equal(cellar_cube_write(cube, output, &err), CELLAR_OK);
        assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
        assert_int_equal(cellar_cube_open(path, &read, &err),
                         is_public ? CELLAR_OK : CELLAR_ERR_INPUT);
        cellar_cube_close(read);
    }
    cellar_cube_close(cube);
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

/* The same cube with one member of its description or of a table replaced. */
static cellar_status recertify_with(const char *place, const char *member, json_t *value)
{
    cellar_cube *cube = NULL;
    cellar_error err;
    json_t *description;
    cellar_status status;
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &cube, &err), CELLAR_OK);
    assert_int_equal(cube_sample_certify(cube, &err), CELLAR_OK);
    description = json_deep_copy(cube->description);
    if (member != NULL)
        json_object_set_new(place != NULL ? json_object_get(description, place) : description,
                            member, value);
    assert_int_equal(cellar_cube_describe(cube, description, &err), CELLAR_OK);
    status = cellar_cube_recertify(cube, "a.cube", &err);
    cellar_cube_close(cube);
    return status;
}

/* A certificate may claim less than the measured tables give, and nothing more. */
static void certificates_are_computed_again(void **state)
{
    cellar_cube *cube = NULL;
    cellar_error err;
    const json_t *certificate;
    double epsilon;
    (void) state;
    assert_int_equal(cube_sample("discrete-gaussian:sigma=2", 4, &cube, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_recertify(cube, "a.cube", &err), CELLAR_ERR_INPUT);
    assert_int_equal(cube_sample_certify(cube, &err), CELLAR_OK);
    certificate = json_object_get(cube->description, "certificate");
    epsilon = json_number_value(
        json_object_get(json_array_get(json_object_get(certificate, "epsilon_at"), 0), "epsilon"));
    assert_true(epsilon > 4 && epsilon < 12); /* rho = 6 / 8: epsilon at 1e-6 is about 6.5 */
    /* a smaller noise than the certificate knows, then a variance that is not that of the noise */
    cellar_free(cube->tables[3].mechanism);
    assert_int_equal(cellar_cube_plan_measure(cube, 3, "discrete-gaussian:sigma=1", 1, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_cube_recertify(cube, "a.cube", &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "'mechanisms'"));
    cellar_free(cube->tables[3].mechanism);
    assert_int_equal(cellar_cube_plan_measure(cube, 3, "discrete-gaussian:sigma=2", 3.9, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_cube_recertify(cube, "a.cube", &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "variance"));
    /* an exact table that the certificate does not name */
    cellar_free(cube->tables[3].mechanism);
    assert_int_equal(cellar_cube_plan_measure(cube, 3, CUBE_EXACT, 0, &err), CELLAR_OK);
    assert_int_equal(cellar_cube_recertify(cube, "a.cube", &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "'invariants'"));
    cellar_cube_close(cube);
    assert_int_equal(recertify_with(NULL, NULL, NULL), CELLAR_OK);
    assert_int_equal(recertify_with("certificate", "verdict", json_string("fails")), CELLAR_OK);
    assert_int_equal(recertify_with("certificate", "pure_epsilon", json_real(1)), CELLAR_ERR_INPUT);
    assert_int_equal(recertify_with("certificate", "invariants", json_pack("[s]", "total")),
                     CELLAR_ERR_INPUT);
    assert_int_equal(recertify_with(NULL, "max_per_unit", json_integer(2)), CELLAR_ERR_INPUT);
    assert_int_equal(recertify_with(NULL, "neighbours", json_string("substitute")),
                     CELLAR_ERR_INPUT);
    assert_int_equal(recertify_with(NULL, "neighbours", json_string("?")), CELLAR_ERR_INPUT);
    assert_int_equal(recertify_with(NULL, "protection", json_integer(1)), CELLAR_ERR_INPUT);
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
        cmocka_unit_test(drafted_categories_are_read),
        cmocka_unit_test(every_changed_byte_is_found),
        cmocka_unit_test(certificates_are_computed_again),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
