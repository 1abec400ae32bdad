/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specs: what is read, how it is spelled back, and what is said about those that are refused. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/mechanism.h>

#include "draw_three.h"
#include "fail_every.h"

static cellar_error err;

static void test_specs_have_one_spelling(void **state)
{
    static const struct {
        const char *spec, *want;
    } cases[] = {
        {"identity", "identity"},
        {"identity:", "identity"},
        {"laplace:epsilon=1", "laplace:epsilon=1"},
        {"laplace:epsilon=1.000", "laplace:epsilon=1"},
        {"laplace:epsilon=+0.10", "laplace:epsilon=0.1"},
        {"laplace:epsilon=1e-3", "laplace:epsilon=0.001"},
        {"laplace:epsilon=12.5E1", "laplace:epsilon=125"},
        {"laplace:epsilon=.5", "laplace:epsilon=0.5"},
        {"discrete-laplace:epsilon=0.123456789012345678901234567890",
         "discrete-laplace:epsilon=0.12345678901234567890123456789"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m;
        if (cellar_mechanism_create(cases[i].spec, &m, &err) != CELLAR_OK)
            fail_msg("%s: %s", cases[i].spec, err.message);
        assert_string_equal(cellar_mechanism_spec(m), cases[i].want);
        cellar_mechanism_free(m);
    }
}

static void test_refusals_say_what_is_allowed(void **state)
{
    static const struct {
        const char *spec, *message;
    } cases[] = {
        {"", "there is no mechanism ''"},
        {"laplce:epsilon=1", "did you mean 'laplace'?"},
        {"laplace", "laplace needs the parameter epsilon"},
        {"laplace:epsilom=1", "did you mean 'epsilon'?"},
        {"laplace:sigma=1", "it has epsilon"},
        {"identity:epsilon=1", "it has no parameters"},
        {"laplace:epsilon=0", "epsilon must be >= 0.000001, got 0"},
        {"laplace:epsilon=-1", "epsilon must be >= 0.000001, got -1"},
        {"laplace:epsilon=1e5", "epsilon must be <= 10000, got 100000"},
        {"laplace:epsilon=nan", "epsilon must be a number such as 0.5 or 1e-6, got 'nan'"},
        {"laplace:epsilon=0x1", "must be a number"},
        {"laplace:epsilon=1e999999", "must be a number"},
        {"laplace:epsilon=1 ", "must be a number"},
        {"laplace:epsilon=", "expected key=value, got 'epsilon='"},
        {"laplace:epsilon", "expected key=value, got 'epsilon'"},
        {"laplace:epsilon=1,", "nothing follows the last comma"},
        {"laplace:epsilon=1,epsilon=1", "epsilon is given twice"},
        {"laplace:,epsilon=1", "expected key=value, got ''"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = (cellar_mechanism *) &err;
        assert_int_equal(cellar_mechanism_create(cases[i].spec, &m, &err), CELLAR_ERR_ARGUMENT);
        assert_null(m);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("'%s': want '%s', got '%s'", cases[i].spec, cases[i].message, err.message);
    }
}

static void test_parameters_are_told(void **state)
{
    cellar_mechanism *m;
    (void) state;
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=0.1", &m, &err), CELLAR_OK);
    assert_string_equal(cellar_mechanism_name(m), "laplace");
    assert_int_equal(cellar_mechanism_n_parameters(m), 1);
    assert_string_equal(cellar_mechanism_parameter_name(m, 0), "epsilon");
    assert_string_equal(cellar_mechanism_parameter_text(m, 0), "0.1");
    assert_true(cellar_mechanism_parameter_value(m, 0) == 0.1);
    assert_int_equal(cellar_mechanism_parameter_is_derived(m, 0), 0);
    cellar_mechanism_free(m);
    cellar_mechanism_free(NULL);
}

static void test_known_mechanisms_are_listed(void **state)
{
    size_t n = 0;
    (void) state;
    while (cellar_mechanism_known_name(n) != NULL) {
        assert_true(strlen(cellar_mechanism_known_summary(n)) > 0);
        for (size_t i = 0; i < n; i++)
            assert_string_not_equal(cellar_mechanism_known_name(i), cellar_mechanism_known_name(n));
        n++;
    }
    assert_string_equal(cellar_mechanism_known_name(n - 1), "multinomial-dirichlet");
    assert_null(cellar_mechanism_known_name(n + 5));
}

/* One predicate has one noise, in whatever order and however often cells are asked for. */
static void test_keyed_noise_repeats_itself(void **state)
{
    static const unsigned char key[CELLAR_RNG_KEY_BYTES] = {7};
    enum { N = 300 };
    int64_t first[N], again[N], n_zero = 0;
    cellar_mechanism *m;
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_mechanism_create("discrete-laplace:epsilon=0.5", &m, &err), CELLAR_OK);
    cellar_rng_scope scope = {"edition", cellar_mechanism_spec(m), cellar_mechanism_revision(m)};
    assert_int_equal(cellar_rng_create_keyed(key, &scope, &rng, &err), CELLAR_OK);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < N; k++) {
            uint32_t cell = pass == 0 ? k : N - 1 - k;
            int64_t count = cell, *out = pass == 0 ? &first[cell] : &again[cell];
            assert_int_equal(cellar_rng_select(rng, &cell, sizeof cell, &err), CELLAR_OK);
            assert_int_equal(cellar_mechanism_sample_many(m, &count, 1, rng, out, &err), CELLAR_OK);
        }
    assert_memory_equal(first, again, sizeof first);
    for (int64_t i = 0; i < N; i++)
        n_zero += first[i] == i;
    /* P(noise = 0) = 0.245: Bin(300, 0.245) leaves 30..120 with chance below 1e-9 */
    assert_in_range(n_zero, 30, 120);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
}

static void test_memory_may_end(void **state)
{
    static char laplace[] = "discrete-laplace:epsilon=0.1",
                gaussian[] = "discrete-gaussian:sigma=1",
                calibrated[] = "gaussian:epsilon=1,delta=0.01";
    (void) state;
    check_fail_every(draw_three, laplace);
    check_fail_every(draw_three, gaussian);
    check_fail_every(draw_three, calibrated);
}

/* ---- specs as text ------------------------------------------------------------------------- */

static void test_specs_as_text(void **state)
{
    static const struct {
        const char *spec, *key, *without, *with;
    } cases[] = {
        {"laplace", "epsilon", "laplace", "laplace:epsilon=2"},
        {"laplace:epsilon=1", "epsilon", "laplace", "laplace:epsilon=2"},
        {"negbin:alpha=1,sigma=3", "alpha", "negbin:sigma=3", "negbin:sigma=3,alpha=2"},
        {"negbin:alpha=1,sigma=3", "sigma", "negbin:alpha=1", "negbin:alpha=1,sigma=2"},
        {"a:mm=1,m=4,mmm=5", "m", "a:mm=1,mmm=5", "a:mm=1,mmm=5,m=2"},
        {"a:key", "key", "a:key", "a:key,key=2"}, /* no value: not that parameter */
    };
    char without[64], with[64];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(cellar_mechanism_spec_remove(cases[i].spec, cases[i].key, without,
                                                      sizeof without, NULL),
                         CELLAR_OK);
        assert_string_equal(without, cases[i].without);
        assert_int_equal(
            cellar_mechanism_spec_add(without, cases[i].key, "2", with, sizeof with, NULL),
            CELLAR_OK);
        assert_string_equal(with, cases[i].with);
    }
    assert_int_equal(cellar_mechanism_spec_add("a", "b", "c", with, 6, NULL), CELLAR_OK);
    assert_int_equal(cellar_mechanism_spec_add("a", "b", "c", with, 5, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_mechanism_spec_remove("abc", "b", with, 3, NULL), CELLAR_ERR_ARGUMENT);
}

/* ---- terms ---------------------------------------------------------------------------------- */

/* Every name leads back to its value; what nobody chose has no name to choose it by. */
static void test_terms(void **state)
{
    cellar_neighbours neighbours = CELLAR_NEIGHBOURS_DEFAULT;
    cellar_negatives negatives = CELLAR_NEGATIVES_UNDECIDED;
    cellar_domain domain;
    cellar_parameter_choice choice;
    (void) state;
    for (int i = CELLAR_NEIGHBOURS_ADD_REMOVE; i <= CELLAR_NEIGHBOURS_SUBSTITUTE; i++) {
        const char *name = cellar_neighbours_name((cellar_neighbours) i);
        assert_true(cellar_neighbours_find(name, &neighbours) && (int) neighbours == i);
    }
    for (int i = CELLAR_NEGATIVES_KEEP; i <= CELLAR_NEGATIVES_ZERO; i++) {
        const char *name = cellar_negatives_name((cellar_negatives) i);
        assert_true(cellar_negatives_find(name, &negatives) && (int) negatives == i);
    }
    for (int i = CELLAR_DOMAIN_OBSERVED; i <= CELLAR_DOMAIN_DECLARED; i++)
        assert_true(cellar_domain_find(cellar_domain_name((cellar_domain) i), &domain) &&
                    (int) domain == i);
    for (int i = CELLAR_CHOICE_UNSTATED; i <= CELLAR_CHOICE_CONFIDENTIAL_DATA; i++) {
        const char *name = cellar_parameter_choice_name((cellar_parameter_choice) i);
        assert_true(cellar_parameter_choice_find(name, &choice) && (int) choice == i);
    }
    assert_false(cellar_neighbours_find("default", &neighbours));
    assert_false(cellar_negatives_find("undecided", &negatives));
    assert_false(cellar_negatives_find(NULL, &negatives));
    assert_false(cellar_domain_find("", &domain));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specs_as_text),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_specs_have_one_spelling),
        cmocka_unit_test(test_refusals_say_what_is_allowed),
        cmocka_unit_test(test_parameters_are_told),
        cmocka_unit_test(test_known_mechanisms_are_listed),
        cmocka_unit_test(test_keyed_noise_repeats_itself),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
