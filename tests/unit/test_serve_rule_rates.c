/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How often rules refuse when they judge released values instead of true counts: the numbers of
 * docs/table-builder-rules.md. Tables of 200 cells with Poisson counts, seeded. */
#include <math.h>
#include <stdio.h>

#include <cellar/mechanism.h>
#include <cellar/random.h>

#include "check.h"
#include "make_mechanism.h"
#include "serve/released.h"
#include "serve_small.h"
#include "splitmix.h"

enum { TABLES = 2000 / CHECK_SHARE, CELLS = 200, RULES = 3 };

static const char rules_text[] = "rules:\n"
                                 "- {name: ones, max_share: 0.25, values: 1, of: nonzero}\n"
                                 "- {name: small, max_share: 0.5, values: 1..2, of: nonzero}\n"
                                 "- {name: zeros, max_share: 0.5, values: 0}\n";

static double uniform(uint64_t *state)
{
    return (double) (next_random(state) >> 11) * 0x1p-53;
}

/* By inversion; the means are small. */
static int64_t poisson(uint64_t *state, double mean)
{
    double u = uniform(state), p = exp(-mean);
    int64_t k = 0;
    while (u >= p && k < 1000) {
        u -= p;
        p *= mean / (double) ++k;
    }
    return k;
}

/* 1 for each rule that refuses a table of these values. */
static void judge(const serve_rules *rules, const int64_t *values, int refused[RULES])
{
    double n_met[RULES] = {0};
    serve_tally tally = {.n_met = n_met};
    for (size_t i = 0; i < CELLS; i++)
        serve_tally_add(&tally, rules, &(serve_value){.count = (double) values[i]}, 1);
    refused[0] = n_met[0] > 0.25 * tally.n_nonzero;
    refused[1] = n_met[1] > 0.5 * tally.n_nonzero;
    refused[2] = n_met[2] > 0.5 * tally.n_cells;
}

/* Percentages of tables that each rule refuses: judged on counts, and on released values. */
static void simulate(const serve_rules *rules, double mean, const char *spec,
                     double on_counts[RULES], double on_released[RULES])
{
    cellar_mechanism *mechanism = make(spec);
    cellar_rng *rng = NULL;
    uint64_t seed = 1;
    assert_int_equal(cellar_rng_create_seeded(7, 0, &rng, NULL), CELLAR_OK);
    for (size_t r = 0; r < RULES; r++)
        on_counts[r] = on_released[r] = 0;
    for (size_t t = 0; t < TABLES; t++) {
        int64_t counts[CELLS], released[CELLS];
        int refused[RULES];
        for (size_t i = 0; i < CELLS; i++)
            counts[i] = poisson(&seed, mean);
        assert_int_equal(
            cellar_mechanism_sample_many(mechanism, counts, CELLS, rng, released, NULL), CELLAR_OK);
        judge(rules, counts, refused);
        for (size_t r = 0; r < RULES; r++)
            on_counts[r] += 100.0 * refused[r] / TABLES;
        judge(rules, released, refused);
        for (size_t r = 0; r < RULES; r++)
            on_released[r] += 100.0 * refused[r] / TABLES;
    }
    cellar_rng_free(rng);
    cellar_mechanism_free(mechanism);
}

static void test_rates(void **state)
{
    static const struct {
        double mean;
        const char *mechanism;
        double counts[RULES], released[RULES]; /* the page's */
    } rows[] = {
        {0.5, "discrete-laplace:epsilon=1", {100, 100, 100}, {100, 100, 81}},
        {0.5, "discrete-gaussian:sigma=3", {100, 100, 100}, {52, 36, 47}},
        {1, "discrete-laplace:epsilon=1", {100, 100, 0}, {100, 100, 0}},
        {1, "discrete-gaussian:sigma=3", {100, 100, 0}, {25, 8, 3}},
        {2, "discrete-laplace:epsilon=1", {96, 100, 0}, {61, 79, 0}},
        {2, "discrete-gaussian:sigma=3", {96, 100, 0}, {1, 0, 0}},
        {2.5, "discrete-laplace:epsilon=1", {19, 51, 0}, {5, 5, 0}},
        {2.5, "discrete-gaussian:sigma=3", {19, 51, 0}, {0, 0, 0}},
    };
    small_source source = {0};
    serve_dataset dataset = small_dataset(SERVE_CUBE, &source);
    cellar_arena *arena = cellar_arena_create(1 << 20);
    (void) state;
    assert_int_equal(
        small_rules(rules_text, sizeof rules_text - 1, &dataset, arena, &dataset.rules, NULL),
        CELLAR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double counts[RULES], released[RULES];
        simulate(dataset.rules, rows[i].mean, rows[i].mechanism, counts, released);
        printf("| %g | `%s` |", rows[i].mean, rows[i].mechanism);
        for (size_t r = 0; r < RULES; r++)
            printf(" %.0f → %.0f |", counts[r], released[r]);
        printf("\n");
        for (size_t r = 0; r < RULES && CHECK_SHARE == 1; r++)
            assert_true(fabs(counts[r] - rows[i].counts[r]) <= 0.5 &&
                        fabs(released[r] - rows[i].released[r]) <= 0.5);
    }
    cellar_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rates)};
    return cmocka_run_group_tests_name("serve_rule_rates", tests, NULL, NULL);
}
