/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The risk of re-identification in a sample: by itself, and of weighted tables. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/anonymity.h>
#include <cellar/tabulate.h>

#include "fail_every.h"
#include "scratch.h"

static cellar_error err;

/* Sums of C(h-1, f-1) p^f q^(h-f) / h over h, added up with 60 digits. */
static void sums_of_the_distribution(void **state)
{
    static const struct {
        uint64_t sample;
        double population, risk;
    } cases[] = {
        {1, 1.0001, 0.99995000333308337},    {1, 2, 0.69314718055994529},
        {1, 1000, 0.0069146699489310683},    {2, 3, 0.37813956756734246},
        {2, 5000, 0.00039890721458477648},   {3, 108, 0.013552968371742417},
        {5, 9.999, 0.10982366196222815},     {5, 10.001, 0.1098040342676125},
        {31, 40, 0.025178227118267251},      {31, 3100, 0.00033321847281531975},
        {32, 3200, 0.00032247319235670417},  {33, 66, 0.015380978352418436},
        {100, 100.5, 0.0099507389399319333}, {1000, 50000, 2.0019618833309438e-05},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double risk = cellar_reidentification_risk(cases[i].sample, cases[i].population);
        if (!(fabs(risk / cases[i].risk - 1) < 1e-11))
            fail_msg("%d of %g: %.17g", (int) cases[i].sample, cases[i].population, risk);
    }
    assert_true(cellar_reidentification_risk(4, 4) == 0.25);
    assert_true(cellar_reidentification_risk(4, 3.5) == 0.25); /* weights below 1 */
    assert_true(isnan(cellar_reidentification_risk(0, 7)));
}

/* At least 1/population (Jensen), at most 1/sample, and less the more people there are. */
static void bounds(void **state)
{
    (void) state;
    for (uint64_t f = 1; f <= 100; f++) {
        double before = 1 / (double) f;
        for (int step = 1; step <= 50; step++) {
            double population = (double) f * pow(1.37, step);
            double risk = cellar_reidentification_risk(f, population);
            assert_true(risk >= 1 / population * (1 - 1e-12));
            assert_true(risk < before);
            before = risk;
        }
    }
}

/* ---- weighted tables ---------------------------------------------------------------- */

static cellar_table *sample(scratch *place, const char *csv, cellar_error *e)
{
    static const cellar_variable_spec variables[] = {
        {.column = "A"}, {.column = "B"}, {.column = "C"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table *table = NULL;
    scratch_write(place, "sample.csv", csv);
    spec.path = scratch_path(place, "sample.csv");
    spec.variables = variables;
    spec.n_variables = 3;
    spec.weight_column = "w";
    spec.missing_policy = CELLAR_MISSING_LEVEL;
    spec.n_threads = 1;
    if (cellar_tabulate(&spec, &table, NULL, e) != CELLAR_OK)
        fail_msg("%s", e->message);
    return table;
}

static void find_missing(const cellar_table *table, size_t wildcards[3])
{
    for (size_t c = 0; c < 3; c++)
        wildcards[c] = cellar_schema_find_missing(cellar_table_schema(table), c);
}

static cellar_anonymity *measure(const cellar_table *table, int with_wildcards,
                                 cellar_anonymity_order order)
{
    static const size_t qid[] = {0, 1, 2};
    size_t wildcards[3];
    cellar_anonymity_options options = cellar_anonymity_options_default();
    cellar_anonymity *anonymity;
    options.k = 2;
    find_missing(table, wildcards);
    options.wildcards = with_wildcards ? wildcards : NULL;
    options.order = order;
    if (cellar_anonymity_create(table, qid, 3, &options, &anonymity, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return anonymity;
}

/* The data of sdcMicro's own tests of indivRisk(method = "exact"), whose values these are. */
static void published_by_sdcmicro(void **state)
{
    static const struct {
        uint64_t fk;
        double population, risk;
    } want[] = {{1, 17, 0.17707583},
                {1, 45.5, 0.08579129},
                {1, 123.5, 0.03931625},
                {2, 100, 0.01877883},
                {3, 108, 0.01355297}};
    cellar_table *table = sample(*state,
                                 "A,B,C,w\n2,3,1,18\n3,3,3,45.5\n2,3,1,39\n2,3,2,17\n3,3,1,92\n"
                                 "3,3,1,8\n1,4,1,123.5\n2,3,1,51\n",
                                 &err);
    cellar_anonymity *anonymity = measure(table, 0, CELLAR_ORDER_RISK);
    cellar_anonymity_summary summary = cellar_anonymity_summarise(anonymity);
    double sum = 0;
    assert_int_equal(summary.n_groups, 5);
    for (size_t g = 0; g < 5; g++) {
        cellar_anonymity_group group = cellar_anonymity_group_at(anonymity, g);
        assert_int_equal(group.n_matches, want[g].fk);
        assert_true(group.population == want[g].population);
        assert_true(fabs(group.risk - want[g].risk) < 1e-8);
        sum += (double) group.size * want[g].risk;
    }
    assert_true(fabs(summary.expected - sum) < 1e-7);
    assert_int_equal(summary.n_uniques, 3);
    assert_true(fabs(summary.worst.risk - want[0].risk) < 1e-8);
    cellar_anonymity_free(anonymity);
    cellar_table_free(table);
}

/* The same with missing values, which match everything: fk and Fk add up over matching groups. */
static void published_by_sdcmicro_with_missing_values(void **state)
{
    static const struct {
        uint64_t size, fk;
        double risk;
    } want[] = {{1, 1, 0.085791288}, {1, 1, 0.039316254}, {1, 2, 0.032466112}, {1, 3, 0.013552968},
                {1, 4, 0.010504889}, {2, 3, 0.009756889}, {1, 5, 0.005962551}};
    cellar_table *table = sample(*state,
                                 "A,B,C,w\n2,3,1,18\n3,3,3,45.5\n2,3,,39\n2,3,2,17\n3,3,1,92\n"
                                 "3,3,1,8\n1,4,,123.5\n,3,1,51\n",
                                 &err);
    cellar_anonymity *anonymity = measure(table, 1, CELLAR_ORDER_RISK);
    assert_int_equal(cellar_anonymity_summarise(anonymity).n_groups, 7);
    for (size_t g = 0; g < 7; g++) {
        cellar_anonymity_group group = cellar_anonymity_group_at(anonymity, g);
        assert_int_equal(group.size, want[g].size);
        assert_int_equal(group.n_matches, want[g].fk);
        assert_true(fabs(group.risk - want[g].risk) < 1e-8);
    }
    cellar_anonymity_free(anonymity);
    cellar_table_free(table);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    static const size_t qid[] = {0, 1, 2};
    cellar_anonymity_options options = cellar_anonymity_options_default();
    cellar_anonymity *anonymity = NULL;
    cellar_status status;
    size_t wildcards[3];
    find_missing(context, wildcards);
    options.k = 2;
    options.wildcards = wildcards;
    status = cellar_anonymity_create(context, qid, 3, &options, &anonymity, e);
    cellar_anonymity_free(anonymity);
    return status;
}

static void memory_may_end(void **state)
{
    cellar_table *table = sample(*state, "A,B,C,w\n2,3,1,18\n3,,3,45.5\n2,3,,39\n", &err);
    check_fail_every(scenario, table);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_the_distribution),
        cmocka_unit_test(bounds),
        cmocka_unit_test_setup_teardown(published_by_sdcmicro, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(published_by_sdcmicro_with_missing_values, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(memory_may_end, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
