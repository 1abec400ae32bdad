/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The gate in front of releases, and certificates computed again. */
#include "check.h"

#include <string.h>

#include <cellar/certificate.h>
#include <cellar/dirichlet.h>
#include <cellar/random.h>

#include "fail_every.h"
#include "release/release.h"
#include "release_samples.h"

static cellar_error err;

static cellar_protect_options unaware(void)
{
    cellar_protect_options options = keep();
    options.accept = 0;
    return options;
}

static void test_levels_of_mechanisms(void **state)
{
    static const struct {
        const char *spec;
        cellar_protection_level level;
    } cases[] = {
        {"identity", CELLAR_LEVEL_NO_PROTECTION},
        {"round:base=1", CELLAR_LEVEL_NO_PROTECTION},
        {"truncated-laplace:epsilon=13,m=1", CELLAR_LEVEL_NO_PROTECTION},
        {"round:base=2", CELLAR_LEVEL_NO_GUARANTEE},
        {"round:base=5", CELLAR_LEVEL_NO_GUARANTEE},
        {"truncated-normal:epsilon=1,m=5", CELLAR_LEVEL_NO_GUARANTEE},
        {"max-entropy:variance=1,m=2", CELLAR_LEVEL_NO_GUARANTEE},
        {"laplace:epsilon=10000", CELLAR_LEVEL_LARGE_EPSILON},
        {"discrete-laplace:epsilon=10.001", CELLAR_LEVEL_LARGE_EPSILON},
        {"gaussian:sigma=0.1", CELLAR_LEVEL_LARGE_EPSILON},
        {"discrete-gaussian:sigma=0.1", CELLAR_LEVEL_LARGE_EPSILON},
        {"poisson:alpha=0.1", CELLAR_LEVEL_LARGE_EPSILON},
        {"laplace:epsilon=10", CELLAR_LEVEL_GUARANTEE},
        {"gaussian:sigma=4", CELLAR_LEVEL_GUARANTEE},
        {"poisson:alpha=1", CELLAR_LEVEL_GUARANTEE},
        {"hellinger:epsilon=1", CELLAR_LEVEL_GUARANTEE},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned needs = cellar_protection_level_needs(cases[i].level);
        for (unsigned accept = 0; accept < 4; accept++) {
            const int passes = (needs & ~accept) == 0;
            cellar_protect_options options = unaware();
            cellar_release *release = NULL;
            cellar_status status;
            options.accept = accept;
            status = protect(&plain, cases[i].spec, &options, &release, &err);
            if (status != (passes ? CELLAR_OK : CELLAR_ERR_RULE))
                fail_msg("%s, accepting %u: %s", cases[i].spec, accept, err.message);
            if (passes && cellar_release_level(release) != cases[i].level)
                fail_msg("%s: %s", cases[i].spec,
                         cellar_protection_level_name(cellar_release_level(release)));
            cellar_release_free(release);
        }
    }
}

/* The whole release counts, not one cell of it. */
static void test_cells_and_sides_add_up(void **state)
{
    cellar_protect_options options = unaware();
    cellar_release *release = NULL;
    (void) state;
    assert_int_equal(protect(&plain, "laplace:epsilon=6", &options, &release, &err), CELLAR_OK);
    cellar_release_free(release);
    options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    assert_int_equal(protect(&plain, "laplace:epsilon=6", &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "accept large-epsilon"));
    options.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE;
    options.max_per_unit = 2;
    assert_int_equal(protect(&plain, "laplace:epsilon=6", &options, &release, &err),
                     CELLAR_ERR_RULE);
}

static void test_a_simulation_is_not_refused(void **state)
{
    cellar_protect_options options = unaware();
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make("identity");
    cellar_release *release = NULL;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(1, 0, &options.rng, &err), CELLAR_OK);
    assert_int_equal(cellar_release_protect(table, m, &options, &release, &err), CELLAR_OK);
    cellar_release_free(release);
    cellar_rng_free(options.rng);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

/* ln((n+A)/A) with n = 903 records and 12 cells of alpha 0.001: above 10. */
static void test_tables_drawn_together(void **state)
{
    static const char spec[] = "multinomial-dirichlet:alpha=0.001";
    cellar_protect_options options = unaware();
    cellar_table *table = small_table_create(&plain);
    cellar_prepared *prepared;
    cellar_release *release = NULL;
    int is_checked;
    (void) state;
    assert_int_equal(cellar_protect_prepare_dirichlet(table, spec, &options, &prepared, &err),
                     CELLAR_ERR_RULE);
    assert_null(prepared);
    assert_int_equal(cellar_release_protect_dirichlet(table, spec, &options, &release, &err),
                     CELLAR_ERR_RULE);
    options.accept = CELLAR_ACCEPT_LARGE_EPSILON;
    assert_int_equal(cellar_release_protect_dirichlet(table, spec, &options, &release, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_release_level(release), CELLAR_LEVEL_LARGE_EPSILON);
    assert_int_equal(cellar_release_recertify(release, "r", &is_checked, &err), CELLAR_OK);
    assert_int_equal(is_checked, 1);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* What was released says what can be computed, of every kind of mechanism; changed, it does not. */
static void test_certificates_are_computed_again(void **state)
{
    static const char *const specs[] = {"identity",
                                        "laplace:epsilon=1",
                                        "gaussian:sigma=4",
                                        "round:base=3",
                                        "poisson:alpha=1",
                                        "negbin:alpha=1,sigma=1",
                                        "truncated-laplace:epsilon=1,m=4",
                                        "max-entropy:variance=1,m=2"};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_protect_options options = keep();
        cellar_release *release = NULL;
        json_t *certificate;
        int is_checked = 0;
        options.threshold = i % 2 == 0 ? 5 : 0;
        options.negatives = i % 2 == 0 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
        options.max_per_unit = 1 + i % 2;
        assert_int_equal(protect(&plain, specs[i], &options, &release, &err), CELLAR_OK);
        if (cellar_release_recertify(release, "r", &is_checked, &err) != CELLAR_OK || !is_checked)
            fail_msg("%s: %s", specs[i], err.message);
        certificate = json_object_get(release->description, "certificate");
        json_object_set_new(certificate, "pure_epsilon", json_real(1e-3));
        assert_int_equal(cellar_release_recertify(release, "r", &is_checked, &err),
                         CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "r: its certificate is not that of its mechanism"));
        json_object_del(certificate, "profile");
        assert_int_equal(cellar_release_recertify(release, "r", &is_checked, &err),
                         CELLAR_ERR_INPUT);
        cellar_release_free(release);
    }
}

static void test_words(void **state)
{
    (void) state;
    for (unsigned one = 1; one <= CELLAR_ACCEPT_UNACCOUNTED; one *= 2)
        assert_int_equal(cellar_acceptance_find(cellar_acceptance_name((cellar_acceptance) one)),
                         one);
    assert_int_equal(cellar_acceptance_find("anything"), 0);
    assert_null(cellar_protection_level_stamp(CELLAR_LEVEL_GUARANTEE));
}

typedef struct making {
    cellar_table *table;
    const char *spec;
} making;

static cellar_status scenario(void *context, cellar_error *e)
{
    const making *what = context;
    cellar_protect_options options = unaware();
    cellar_mechanism *m = NULL;
    cellar_release *release = NULL;
    cellar_forecast forecast;
    int is_checked;
    cellar_status status = cellar_mechanism_create(what->spec, &m, e);
    if (status == CELLAR_OK)
        status = cellar_protect_forecast(what->table, m, &options, &forecast, e);
    if (status == CELLAR_OK)
        status = cellar_release_protect(what->table, m, &options, &release, e);
    if (status == CELLAR_OK)
        status = cellar_release_recertify(release, "r", &is_checked, e);
    cellar_release_free(release);
    cellar_mechanism_free(m);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    making what = {small_table_create(&plain), "round:base=3"};
    (void) state;
    check_fail_every(scenario, &what);
    cellar_table_free(what.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_of_mechanisms),
        cmocka_unit_test(test_cells_and_sides_add_up),
        cmocka_unit_test(test_a_simulation_is_not_refused),
        cmocka_unit_test(test_tables_drawn_together),
        cmocka_unit_test(test_certificates_are_computed_again),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
