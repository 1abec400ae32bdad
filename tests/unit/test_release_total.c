/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A total epsilon for mechanisms that have none of their own. */
#include "check.h"

#include <stdlib.h>

#include <cellar/certificate.h>

#include "release_samples.h"

static double proven_epsilon(const char *spec, uint64_t n_cells, const char *delta)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_certify_part part = {.times = 1};
    double epsilon;
    options.n_cells = n_cells;
    options.deltas = &delta;
    options.n_deltas = 1;
    assert_int_equal(cellar_mechanism_create(spec, &mechanism, NULL), CELLAR_OK);
    part.mechanism = mechanism;
    assert_int_equal(cellar_certify(&part, 1, &options, &certificate, NULL), CELLAR_OK);
    epsilon = cellar_certificate_epsilon_at(certificate, 0).epsilon;
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return epsilon;
}

/* The smallest sigma of four digits that the certificate accepts, from both sides. */
static void a_total_and_a_delta_find_sigma(void **state)
{
    static const struct {
        const char *name, *total, *delta, *spec, *below;
    } cases[] = {
        {"gaussian", "1", "1e-6", "gaussian:sigma=8.446", "gaussian:sigma=8.445"},
        {"gaussian", "8", "1e-6", "gaussian:sigma=1.283", "gaussian:sigma=1.282"},
        {"discrete-gaussian", "0.5", "1e-9", "discrete-gaussian:sigma=21.35",
         "discrete-gaussian:sigma=21.34"},
    };
    small_table small = plain;
    cellar_table *table;
    cellar_protect_options options = keep();
    cellar_error err = {""};
    char spec[64];
    (void) state;
    small.margins.all = 1;
    table = small_table_create(&small);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.total_epsilon = cases[i].total;
        options.delta = cases[i].delta;
        assert_int_equal(cellar_protect_calibrate(cases[i].name, table, &options, spec, &err),
                         CELLAR_OK);
        assert_string_equal(spec, cases[i].spec);
        assert_true(proven_epsilon(spec, 4, cases[i].delta) <= strtod(cases[i].total, NULL));
        assert_true(proven_epsilon(cases[i].below, 4, cases[i].delta) >
                    strtod(cases[i].total, NULL));
    }
    options.total_epsilon = "1e-5";
    assert_int_equal(cellar_protect_calibrate("gaussian", table, &options, spec, &err),
                     CELLAR_ERR_RULE);
    options.delta = NULL;
    assert_int_equal(cellar_protect_calibrate("gaussian", table, &options, spec, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
}

/* The total becomes the share of a cell; a spec with parameters of its own stays as it is. */
static void a_spec_is_completed(void **state)
{
    static const struct {
        const char *spec, *total;
        cellar_neighbours neighbours;
        uint64_t per_unit, weight;
        const char *want;
    } cases[] = {
        {"laplace", "1", CELLAR_NEIGHBOURS_DEFAULT, 1, 0, "laplace:epsilon=0.25"},
        {"laplace", "1", CELLAR_NEIGHBOURS_SUBSTITUTE, 1, 0, "laplace:epsilon=0.125"},
        {"laplace", "1", CELLAR_NEIGHBOURS_ADD_REMOVE, 5, 2, "laplace:epsilon=0.025"},
        {"truncated-laplace:m=20", "1", CELLAR_NEIGHBOURS_DEFAULT, 1, 0,
         "truncated-laplace:m=20,epsilon=0.25"},
        {"laplace:epsilon=3", "1", CELLAR_NEIGHBOURS_DEFAULT, 1, 0, "laplace:epsilon=3"},
        {"laplace", NULL, CELLAR_NEIGHBOURS_DEFAULT, 1, 0, "laplace"},
        {"gaussian", "1", CELLAR_NEIGHBOURS_DEFAULT, 1, 0, "gaussian:sigma=8.446"},
        {"gaussian:sigma=2", "1", CELLAR_NEIGHBOURS_DEFAULT, 1, 0, "gaussian:sigma=2"},
    };
    small_table small = plain;
    cellar_table *table;
    cellar_protect_options options = keep();
    cellar_error err = {""};
    char spec[64];
    (void) state;
    small.margins.all = 1;
    table = small_table_create(&small);
    options.delta = "1e-6";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options.total_epsilon = cases[i].total;
        options.neighbours = cases[i].neighbours;
        options.max_per_unit = cases[i].per_unit;
        options.max_weight = cases[i].weight;
        assert_int_equal(
            cellar_protect_complete_spec(table, cases[i].spec, &options, spec, sizeof spec, &err),
            CELLAR_OK);
        assert_string_equal(spec, cases[i].want);
    }
    assert_int_equal(
        cellar_protect_complete_spec(table, "gaussian:sigma=2", &options, spec, 9, &err),
        CELLAR_ERR_ARGUMENT);
    options.max_per_unit = UINT64_MAX;
    assert_int_equal(
        cellar_protect_complete_spec(table, "laplace", &options, spec, sizeof spec, &err),
        CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
}

/* A sigma of one's own is judged by the certificate of all cells together. */
static void the_certificate_is_compared_with_the_total(void **state)
{
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_release *release = NULL;
    cellar_error err = {""};
    (void) state;
    small.margins.all = 1;
    options.total_epsilon = "1";
    options.delta = "1e-6";
    assert_int_equal(protect(&small, "gaussian:sigma=8.446", &options, &release, &err), CELLAR_OK);
    cellar_release_free(release);
    assert_int_equal(protect(&small, "gaussian:sigma=8.445", &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "exceeds the total of 1"));
    options.delta = NULL;
    assert_int_equal(protect(&small, "gaussian:sigma=8.446", &options, &release, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "--delta"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_total_and_a_delta_find_sigma),
        cmocka_unit_test(a_spec_is_completed),
        cmocka_unit_test(the_certificate_is_compared_with_the_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
