/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions for other people: the worst margins are never better than the true ones, and the bound
 * that is signed is above the statistical exposure that the population has. */
#include "collection.h"

#include <math.h>

#include <cellar/exposure.h>

#include "fail_every.h"
#include "protocol/decision.h"
#include "protocol/estimate.h"

static cellar_error err;

static uint64_t state = 7;
static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (state >> 11) * 0x1p-53;
}

/* Q+(t) as the bounds read it: the `below` of the first step that is not below t. */
static double worst_at(const cellar_exposure_curve *curve, double t)
{
    for (size_t i = 0; i < cellar_exposure_n_steps(curve); i++)
        if ((double) cellar_exposure_step_at(curve, i).count >= t * 1e18)
            return (double) cellar_exposure_step_at(curve, i).below / 1e18;
    return 1;
}

static void test_the_worst_curve_is_never_too_low(void **unused)
{
    enum { N_VALUES = 6, N = 1000 };
    (void) unused;
    for (int trial = 0; trial < 300; trial++) {
        uint64_t counts[N_VALUES] = {0};
        double radius = 0.05 * uniform(), shares[N_VALUES];
        share_range ranges[N_VALUES];
        cellar_exposure_curve *curve;
        for (int i = 0; i < N; i++) /* skewed: some values hardly ever occur */
            counts[(int) (N_VALUES * pow(uniform(), 3))]++;
        for (int v = 0; v < N_VALUES; v++)
            ranges[v] = estimate_range((double) counts[v] / N, radius);
        assert_int_equal(estimate_worst_curve(ranges, N_VALUES, &curve, &err), CELLAR_OK);
        for (int v = 0; v < N_VALUES; v++)
            shares[v] = fmax(0, (double) counts[v] / N + radius * (2 * uniform() - 1));
        for (int j = 0; j < 50; j++) {
            double t = uniform() * uniform(), exposure = 0;
            for (int v = 0; v < N_VALUES; v++)
                exposure += shares[v] < t ? shares[v] : 0;
            assert_true(fmin(1, exposure) <= worst_at(curve, t) + 1e-12);
        }
        cellar_exposure_curve_free(curve);
    }
}

/* Of so many draws with probability t, at most k-2 come: that chance is what was asked for. */
static void test_the_threshold_is_the_smallest(void **unused)
{
    double t = estimate_threshold(500, 5, 0.03), chance = 0, term = pow(1 - t, 499);
    (void) unused;
    for (int i = 0; i <= 3; i++) {
        chance += term;
        term *= (499.0 - i) / (i + 1) * t / (1 - t);
    }
    assert_true(fabs(chance - 0.03) < 1e-12);
    assert_true(estimate_threshold(500, 1, 0.03) < 1e-20); /* nobody is in a group below one */
}

/* Three columns of two values; the joint distribution is the population's. */
static const double joint[8] = {0.25, 0.05, 0.1, 0.1, 0.05, 0.15, 0.1, 0.2};

static cellar_invitation *invite(cellar_collect_keys *const *keys, cellar_codelist *codes,
                                 const char *delta)
{
    const cellar_collect_column columns[] = {{"a", codes}, {"b", codes}, {"c", codes}};
    cellar_invitation_spec spec = {.title = "t",
                                   .n_people = 1000,
                                   .k = 5,
                                   .exposure = "0.3",
                                   .population = 500,
                                   .delta = delta,
                                   .columns = columns,
                                   .n_columns = 3};
    cellar_invitation *invitation;
    spec.shuffler = *cellar_collect_keys_identity(keys[2]);
    spec.analyst = *cellar_collect_keys_identity(keys[3]);
    (void) (cellar_invitation_create(&spec, keys[1], &invitation, &err) == CELLAR_OK);
    return invitation;
}

/* The exact statistical exposure of the released columns, from the shares of the population. */
static double true_exposure(const cellar_decision *decision)
{
    double shares[8] = {0};
    char texts[8][32];
    const char *pointers[8];
    size_t n = 0;
    cellar_exposure_curve *curve;
    cellar_exposure_pair pair = {.population = 500, .k = 5};
    for (size_t cell = 0; cell < 8; cell++) {
        size_t kept = 0;
        for (size_t i = 0; i < cellar_decision_n_columns(decision); i++)
            kept |= cell & (size_t) 1 << cellar_decision_column(decision, i);
        shares[kept] += joint[cell];
    }
    for (size_t cell = 0; cell < 8; cell++)
        if (shares[cell] > 0) {
            snprintf(texts[n], sizeof texts[n], "%.12f", shares[cell]);
            pointers[n] = texts[n];
            n++;
        }
    assert_int_equal(cellar_exposure_curve_from_shares(pointers, n, &curve, &err), CELLAR_OK);
    assert_int_equal(cellar_exposure_statistical(curve, &pair, 1, 1, &err), CELLAR_OK);
    cellar_exposure_curve_free(curve);
    return pair.value;
}

static cellar_collect_margins *sample(size_t n)
{
    cellar_collect_margins *margins = cellar_alloc(1, sizeof *margins);
    margins->counts = cellar_alloc(3, sizeof *margins->counts);
    margins->n_columns = 3;
    margins->n_people = n;
    for (size_t c = 0; c < 3; c++)
        margins->counts[c] = cellar_alloc(2, sizeof *margins->counts[c]);
    for (size_t i = 0; i < n; i++) {
        double u = uniform();
        size_t cell = 0;
        while (cell < 7 && u >= joint[cell])
            u -= joint[cell++];
        for (size_t c = 0; c < 3; c++)
            margins->counts[c][cell >> c & 1]++;
    }
    return margins;
}

static void test_the_signed_bound_is_above_the_truth(void **unused)
{
    scratch *place;
    cellar_collect_keys *keys[4];
    cellar_codelist *codes = numbered_list("c", 2);
    cellar_invitation *invitation;
    size_t n_useful = 0;
    (void) unused;
    assert_int_equal(scratch_setup((void **) &place), 0);
    for (int role = 1; role <= 3; role++)
        keys[role] = collection_keys(place, (cellar_collect_role) role);
    assert_null(invite(keys, codes, "0")); /* certain it never is */
    assert_null(invite(keys, codes, NULL));
    invitation = invite(keys, codes, "0.01");
    assert_non_null(invitation);
    assert_int_equal(cellar_invitation_population(invitation), 500);
    for (int trial = 0; trial < 40; trial++) {
        cellar_collect_margins *margins = sample(20000);
        cellar_decision *decision;
        assert_int_equal(cellar_decision_create(margins, invitation, keys[1], &decision, &err),
                         CELLAR_OK);
        assert_true(cellar_decision_bound(decision) <= 0.3);
        if (cellar_decision_n_columns(decision) > 0)
            assert_true(true_exposure(decision) <= cellar_decision_bound(decision));
        n_useful += cellar_decision_n_columns(decision) >= 2;
        assert_non_null(strstr(cellar_decision_text(decision, NULL), "other people"));
        cellar_decision_free(decision);
        cellar_collect_margins_free(margins);
    }
    assert_int_equal(n_useful, 40);
    cellar_invitation_free(invitation);
    cellar_codelist_free(codes);
    for (int role = 1; role <= 3; role++)
        cellar_collect_keys_free(keys[role]);
    assert_int_equal(scratch_teardown((void **) &place), 0);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    share_range ranges[] = {estimate_range(0.3, 0.1), estimate_range(0, 0.1),
                            estimate_range(0.7, 0.1)};
    cellar_exposure_curve *curve = NULL;
    cellar_status status = estimate_worst_curve(ranges, 3, &curve, e);
    (void) context;
    cellar_exposure_curve_free(curve);
    return status;
}

static void test_memory_may_end(void **unused)
{
    (void) unused;
    check_fail_every(scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_worst_curve_is_never_too_low),
        cmocka_unit_test(test_the_threshold_is_the_smallest),
        cmocka_unit_test(test_the_signed_bound_is_above_the_truth),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
