/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cap means for the population behind a sample: the formula against enumeration, and what is
 * refused. */
#include <math.h>

#include <cellar/mechanism.h>
#include <cellar/sampling.h>

#include "ledger_place.h"

static cellar_ledger *with_cap(scratch *place, const char *epsilon, const char *delta,
                               cellar_neighbours neighbours)
{
    cellar_ledger *ledger = fresh(place);
    cellar_ledger_dataset dataset = dataset_named("survey");
    dataset.neighbours = neighbours;
    dataset.cap = amounts_of(epsilon, delta, NULL);
    CHECK_OK(cellar_ledger_add_dataset(ledger, &dataset, &err));
    return ledger;
}

static cellar_mechanism *mechanism_of(const char *spec)
{
    cellar_mechanism *mechanism;
    CHECK_OK(cellar_mechanism_create(spec, &mechanism, &err));
    return mechanism;
}

static cellar_sampling of_persons(double rate)
{
    cellar_sampling sampling = cellar_sampling_default();
    sampling.rate = rate;
    sampling.unit = "person";
    return sampling;
}

/* Ten releases of epsilon 0.5 of a sample with q = 0.1: not ten times ln(1 + 0.1 (e^0.5 - 1)), but
 * what ten releases together have. A population of one person and the empty one; the person is in
 * the sample with probability q, and in all ten releases then. The likeliest outcome for the person
 * has every release above the count. */
static void ten_releases(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = with_cap(place, "5", "0", CELLAR_NEIGHBOURS_ADD_REMOVE);
    cellar_sampling sampling = of_persons(0.1);
    cellar_mechanism *m = mechanism_of("discrete-laplace:epsilon=0.5");
    cellar_amplified found;
    double with = pow(cellar_mechanism_pmf(m, 1, 3), 10), without;
    without = pow(cellar_mechanism_pmf(m, 0, 3), 10);
    CHECK_OK(cellar_ledger_amplify(ledger, "survey", &sampling, &found, &err));
    assert_true(fabs(found.epsilon - 2.756) < 5e-4);
    assert_true(fabs(found.epsilon - log((0.9 * without + 0.1 * with) / without)) < 1e-9);
    assert_true(10 * log1p(0.1 * expm1(0.5)) < 0.64); /* the sum that does not hold */
    assert_true(found.delta == 0);
    cellar_mechanism_free(m);
    cellar_ledger_close(ledger);
}

/* Without replacement, one of three people drawn and one of them substituted: the sampled count of
 * a property with noise, all outcomes. The largest excess at the amplified epsilon is at most the
 * amplified delta, and would not be at an epsilon smaller by a fifth. */
static void without_replacement(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = with_cap(place, "1", "0", CELLAR_NEIGHBOURS_SUBSTITUTE);
    cellar_sampling sampling = of_persons(1.0 / 3);
    cellar_mechanism *m = mechanism_of("discrete-laplace:epsilon=1");
    cellar_amplified found;
    double excess = 0, excess_below = 0;
    sampling.scheme = CELLAR_SAMPLING_WITHOUT_REPLACEMENT;
    CHECK_OK(cellar_ledger_amplify(ledger, "survey", &sampling, &found, &err));
    for (int64_t b = -60; b <= 60; b++) {
        double one = cellar_mechanism_pmf(m, 1, b), none = cellar_mechanism_pmf(m, 0, b);
        double with = one / 3 + 2 * none / 3; /* (yes, no, no) against (no, no, no) */
        excess += fmax(0, with - exp(found.epsilon) * none);
        excess_below += fmax(0, with - exp(0.8 * found.epsilon) * none);
    }
    assert_true(excess < 1e-12 && excess_below > 1e-3);
    cellar_mechanism_free(m);
    cellar_ledger_close(ledger);
}

static void check_refused(const cellar_ledger *ledger, const cellar_sampling *sampling)
{
    cellar_amplified found;
    assert_int_equal(cellar_ledger_amplify(ledger, "survey", sampling, &found, &err),
                     CELLAR_ERR_RULE);
    assert_true(err.message[0] != '\0' && isnan(found.epsilon));
}

static void what_is_refused(void **state)
{
    scratch *place = *state;
    cellar_ledger *ledger = with_cap(place, "1", "1e-6", CELLAR_NEIGHBOURS_ADD_REMOVE);
    cellar_sampling sampling = of_persons(0.1);
    cellar_amplified found;
    CHECK_OK(cellar_ledger_amplify(ledger, "survey", &sampling, &found, &err));
    assert_true(found.delta >= 1e-7 && found.delta < 1.0001e-7);
    sampling.unit = "household";
    check_refused(ledger, &sampling);
    sampling = of_persons(0.1);
    sampling.is_panel = 1;
    check_refused(ledger, &sampling);
    sampling = of_persons(0.1);
    sampling.has_calibrated_weights = 1;
    check_refused(ledger, &sampling);
    sampling = of_persons(0.1);
    sampling.scheme = CELLAR_SAMPLING_WITHOUT_REPLACEMENT;
    check_refused(ledger, &sampling);
    sampling = of_persons(1.5);
    assert_int_equal(cellar_ledger_amplify(ledger, "survey", &sampling, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    sampling = of_persons(0.1);
    CHECK_OK(
        cellar_ledger_enter(ledger, "survey", "1", CELLAR_UNCHARGED_INVARIANT, "its size", &err));
    check_refused(ledger, &sampling);
    assert_non_null(cellar_sampling_assumption(CELLAR_SAMPLING_POISSON, 4));
    assert_null(cellar_sampling_assumption(CELLAR_SAMPLING_POISSON, 5));
    cellar_ledger_close(ledger);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ten_releases, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(without_replacement, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
