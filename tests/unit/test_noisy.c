/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a release that inference reads. */
#include "inference_check.h"

#include "small_table.h"

static cellar_release *make_release(const small_table *small, cellar_negatives negatives)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_table *table = small_table_create(small);
    cellar_mechanism *mechanism = NULL;
    cellar_release *release = NULL;
    cellar_rng *rng = NULL;
    cellar_error err = {""};
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = negatives;
    options.per_cell = 1;
    options.max_weight = small->max_weight > 0 ? small->max_weight : options.max_weight;
    assert_int_equal(cellar_rng_create_seeded(5, 0, &rng, NULL), CELLAR_OK);
    options.rng = rng;
    assert_int_equal(cellar_mechanism_create("discrete-laplace:epsilon=1", &mechanism, NULL),
                     CELLAR_OK);
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return release;
}

/* Without margins the cells are summed, with them the released margin is taken. */
static void test_margins_of_a_release(void **state)
{
    static const size_t z_x[] = {2, 0};
    small_table small = {.n_variables = 3,
                         .sizes = {2, 3, 2},
                         .domain = CELLAR_DOMAIN_DECLARED,
                         .n_cells = 3,
                         .index = {0, 5, 11},
                         .count = {30, 20, 40}};
    cellar_release *release = make_release(&small, CELLAR_NEGATIVES_KEEP);
    cellar_noisy *noisy = NULL;
    int64_t sum = 0;
    (void) state;
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_OK);
    assert_string_equal(cellar_noisy_variable(noisy, 0), "z");
    assert_string_equal(cellar_noisy_code(noisy, 1, 1), "c1");
    assert_int_equal(cellar_noisy_n_summed(noisy), 3);
    for (uint64_t y = 0; y < 3; y++) /* x = 0, z = 1 */
        sum += cellar_release_at(release, 2 * y + 1).released;
    assert_int_equal(cellar_noisy_released(noisy, 2), sum);
    cellar_noisy_free(noisy);
    cellar_release_free(release);

    release = make_release(&small, CELLAR_NEGATIVES_ZERO);
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_ERR_RULE);
    assert_null(noisy);
    assert_int_equal(cellar_noisy_from_release(release, NULL, 0, &noisy, NULL), CELLAR_OK);
    assert_int_equal(cellar_noisy_n_cells(noisy), 12);
    cellar_noisy_free(noisy);
    cellar_release_free(release);

    small.margins.all = 1;
    release = make_release(&small, CELLAR_NEGATIVES_ZERO);
    assert_int_equal(cellar_noisy_from_release(release, z_x, 2, &noisy, NULL), CELLAR_OK);
    assert_int_equal(cellar_noisy_n_summed(noisy), 1);
    assert_true(cellar_noisy_released(noisy, 0) > 20); /* 30 in truth, one noise */
    cellar_noisy_free(noisy);
    cellar_release_free(release);
}

static void test_weighted_releases(void **state)
{
    const small_table small = {.n_variables = 2,
                               .sizes = {2, 2},
                               .domain = CELLAR_DOMAIN_DECLARED,
                               .n_cells = 2,
                               .index = {0, 3},
                               .count = {3, 4},
                               .with_weights = 1,
                               .max_weight = 2};
    cellar_release *release = make_release(&small, CELLAR_NEGATIVES_KEEP);
    cellar_noisy *noisy = NULL;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(cellar_noisy_from_release(release, NULL, 0, &noisy, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "weighted"));
    cellar_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_margins_of_a_release),
        cmocka_unit_test(test_weighted_releases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
