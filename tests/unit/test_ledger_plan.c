/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The figure for a history that was fixed in advance, against certificates of the same parts. */
#include "ledger_place.h"

#include <math.h>
#include <string.h>

#include <cellar/certificate.h>

/* Of `n` parts of one mechanism each, by the certificate. */
static double certified(const char *const *specs, size_t n, cellar_neighbours neighbours,
                        uint64_t cells, uint64_t per_unit, uint64_t weight, const char *delta)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanisms[16];
    cellar_certify_part parts[16];
    cellar_certificate *certificate;
    double epsilon;
    options.n_cells = cells;
    options.max_per_unit = per_unit;
    options.max_weight = weight;
    options.deltas = &delta;
    options.n_deltas = 1;
    if (neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE)
        options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    for (size_t i = 0; i < n; i++) {
        CHECK_OK(cellar_mechanism_create(specs[i], &mechanisms[i], &err));
        parts[i] = (cellar_certify_part){mechanisms[i], 1};
    }
    CHECK_OK(cellar_certify(parts, n, &options, &certificate, &err));
    epsilon = cellar_certificate_epsilon_at(certificate, 0).epsilon;
    cellar_certificate_free(certificate);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
    return epsilon;
}

/* A dataset of its own on which each spec is charged once. */
static cellar_nonadaptive charged(cellar_ledger *ledger, const char *name,
                                  cellar_neighbours neighbours, const char *const *specs, size_t n,
                                  uint64_t cells, uint64_t per_unit, uint64_t weight,
                                  const char *delta)
{
    cellar_ledger_dataset dataset = dataset_named(name);
    cellar_nonadaptive figure;
    dataset.neighbours = neighbours;
    dataset.cap = amounts_of("1000", "0.0009", NULL);
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    for (size_t i = 0; i < n; i++) {
        char request[100];
        cellar_charge charge = charge_for(request, "10", "1e-12");
        cellar_charge_state before;
        snprintf(request, sizeof request, "%s %zu", name, i);
        charge.dataset = name;
        charge.neighbours = neighbours;
        charge.mechanism = specs[i];
        charge.n_cells = cells;
        charge.max_per_unit = per_unit;
        charge.max_weight = weight;
        CHECK_OK(cellar_ledger_charge(ledger, &charge, "/x", &before, &err));
    }
    CHECK_OK(cellar_ledger_nonadaptive(ledger, name, delta, &figure, &err));
    assert_int_equal(figure.n_charges, n);
    return figure;
}

static void test_it_is_the_certificate_of_a_plan(void **state)
{
    static const struct {
        cellar_neighbours neighbours;
        uint64_t cells, per_unit, weight;
        const char *specs[8];
    } cases[] = {
        {CELLAR_NEIGHBOURS_ADD_REMOVE,
         1,
         1,
         1,
         {"discrete-laplace:epsilon=0.1", "discrete-laplace:epsilon=0.1"}},
        {CELLAR_NEIGHBOURS_ADD_REMOVE,
         7,
         1,
         1,
         {"discrete-gaussian:sigma=9", "discrete-laplace:epsilon=0.3"}},
        {CELLAR_NEIGHBOURS_SUBSTITUTE,
         3,
         1,
         1,
         {"gaussian:sigma=12", "discrete-laplace:epsilon=0.2"}},
        {CELLAR_NEIGHBOURS_SUBSTITUTE,
         1,
         3,
         1,
         {"discrete-laplace:epsilon=0.1", "discrete-laplace:epsilon=0.5"}},
        {CELLAR_NEIGHBOURS_ADD_REMOVE,
         2,
         2,
         3,
         {"gaussian:sigma=40", "discrete-laplace:epsilon=0.1"}},
        {CELLAR_NEIGHBOURS_ADD_REMOVE, 2, 1, 1, {"poisson:alpha=3"}},
    };
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[16];
        size_t n = 0;
        double expected;
        cellar_nonadaptive figure;
        while (cases[i].specs[n] != NULL)
            n++;
        snprintf(name, sizeof name, "case %zu", i);
        figure = charged(ledger, name, cases[i].neighbours, cases[i].specs, n, cases[i].cells,
                         cases[i].per_unit, cases[i].weight, "1e-6");
        expected = certified(cases[i].specs, n, cases[i].neighbours, cases[i].cells,
                             cases[i].per_unit, cases[i].weight, "1e-6");
        expected = fmin(expected, 10 * (double) n); /* the basic sum of what was charged */
        assert_int_equal(figure.is_known, 1);
        assert_int_equal(figure.delta_atto, 1000000000000);
        if (fabs((double) figure.epsilon_nano / 1e9 - expected) > 1e-3)
            fail_msg("case %zu: %.9g, the certificate says %.9g", i,
                     (double) figure.epsilon_nano / 1e9, expected);
        assert_true(figure.lower <= (double) figure.epsilon_nano / 1e9);
    }
    cellar_ledger_close(ledger);
}

/* What cannot be composed costs what was charged; a delta below what it was charged proves
 * nothing. */
static void test_the_rest_is_added(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.5", "ptable:file=none.csv",
                                        "of a later version"};
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_nonadaptive figure;
    figure = charged(ledger, "mixed", CELLAR_NEIGHBOURS_ADD_REMOVE, specs, 3, 1, 1, 1, "1e-6");
    assert_int_equal(figure.is_known, 1);
    assert_true(figure.epsilon_nano > 20 * INT64_C(1000000000));
    assert_true(figure.epsilon_nano <= 20 * INT64_C(1000000000) + 500000000);
    assert_true(figure.lower == 0);
    CHECK_OK(cellar_ledger_nonadaptive(ledger, "mixed", "1e-13", &figure, &err));
    assert_int_equal(figure.is_known, 0);
    CHECK_OK(cellar_ledger_nonadaptive(ledger, "mixed", NULL, &figure, &err));
    assert_int_equal(figure.delta_atto, 900000000000000); /* of the cap */
    CHECK_OK(cellar_ledger_nonadaptive(ledger, "census", NULL, &figure, &err));
    assert_int_equal(figure.n_charges, 0);
    assert_int_equal(cellar_ledger_nonadaptive(ledger, "none", NULL, &figure, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_ledger_close(ledger);
}

/* Composition takes a coarser grid when memory ends: then the figure is larger, never smaller. */
static void test_memory_may_end(void **state)
{
    static const char *const specs[] = {"gaussian:sigma=12", "discrete-laplace:epsilon=0.5"};
    scratch *place = *state;
    cellar_ledger *ledger = fresh(place);
    cellar_nonadaptive figure =
        charged(ledger, "a plan", CELLAR_NEIGHBOURS_ADD_REMOVE, specs, 2, 1, 1, 1, "1e-6");
#ifdef CELLAR_FAIL_ALLOCATION
    for (int64_t n = 0; n < 80; n++) {
        cellar_nonadaptive starved;
        cellar_status status;
        cellar_memory_fail_after(n);
        status = cellar_ledger_nonadaptive(ledger, "a plan", "1e-6", &starved, &err);
        cellar_memory_fail_after(-1);
        if (status == CELLAR_OK)
            assert_true((double) starved.epsilon_nano >= figure.lower * 1e9);
        else
            assert_int_equal(status, CELLAR_ERR_MEMORY);
    }
#endif
    assert_int_equal(figure.is_known, 1);
    cellar_ledger_close(ledger);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_it_is_the_certificate_of_a_plan),
        TEST(test_the_rest_is_added),
        TEST(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
