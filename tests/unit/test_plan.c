/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Plans: what they may say, what is said when they may not, and the figures of those that may. */
#include "check.h"

#include <math.h>

#include "fail_every.h"
#include "plan/law.h"
#include "plan/plan.h"
#include "plan_place.h"

#define TABLE "tables:\n  - {name: one, by: [region, sex], margins: all}\n"
#define NOISE "mechanism: discrete-laplace\nbudget: {epsilon: 1}\n"

static cellar_error err;
static cellar_plan *checked; /* the plan of the last check(); figures point into it */

static const struct refused {
    const char *text, *message;
} refused[] = {
    {"", "plan.yaml:1: the plan is empty"},
    {"plan: 1\n\tx: 1\n", "plan.yaml:2: this is not YAML: "},
    {"plan: &a 1\n", "plan.yaml:1: a plan has no anchors ('&name')"},
    {"plan: 1\ndata: *a\n", "plan.yaml:2: a plan has no aliases ('*name')"},
    {"plan: !x 1\n", "plan.yaml:1: a plan has no tags ('!name')"},
    {"[[[[[[[[[[[[[[[[[[", "plan.yaml:1: nested deeper than any plan is"},
    {"- 1\n", "plan.yaml:1: the plan: expected 'name: value' lines"},
    {"plan: 1\nplan: 1\n", "plan.yaml:2: 'plan' is given twice"},
    {"plan: 1\n---\nplan: 1\n", "plan.yaml:2: a plan is one document; a second one begins here"},
    {"plan: 1\n? [a]\n: b\n", "plan.yaml:2: expected 'name: value'"},
    {"plan: 1\n", "plan.yaml:1: 'data' is missing"},
    {"plan: 1\ntabels: 1\n", "plan.yaml:2: there is no 'tabels' here; did you mean 'tables'?"},
    {"plan: 1\nunit:\n  nam: person\n", "plan.yaml:3: unit: there is no 'nam' here; did you mean "
                                        "'name'?"},
    {"plan: 1\ntables:\n  - name: a\n    by: [x]\n    epsilon: -1\n",
     "plan.yaml:5: tables[1].epsilon: expected a positive decimal"},
    {"plan: 1\nvariables:\n  - name: a\n  - name: b\n    hierarchy: maybe\n",
     "plan.yaml:5: variables[2].hierarchy: expected true or false"},
    {"plan: 1\nnegatives: drop\n", "plan.yaml:2: negatives: expected one of keep|zero"},
    {"plan: 1\nthreshold: 0\n", "plan.yaml:2: threshold: expected a whole number of at least 1"},
    {"plan: 1\ntables: one\n",
     "plan.yaml:2: tables: expected a list, each item beginning with '- '"},
    {"plan: 1\ntitle: \"a\\nb\"\n", "plan.yaml:2: title: expected a text of one line"},
    {"plan: 1\ndata: {file: x, delimiter: ab}\nvariables:\n  - name: a\ntables:\n"
     "  - {name: t, by: a}\nmechanism: laplace\nnegatives: keep\nparameter_choice: data\n",
     "plan.yaml:2: data.delimiter: expected one character (not a quote) or tab"},
    {PLAN_HEAD TABLE, "plan.yaml:10: tables[1]: no mechanism: give the plan one, or each table"},
    {PLAN_HEAD "tables:\n  - {name: one, by: [regoin]}\n" NOISE,
     "plan.yaml:10: tables[1].by: the plan has no variable 'regoin'; did you mean 'region'?"},
    {PLAN_HEAD "tables:\n  - {name: one, by: [region], margins: [sex]}\n" NOISE,
     "plan.yaml:10: tables[1].margins: the table has no variable 'sex'"},
    {PLAN_HEAD "tables:\n  - {name: ../one, by: [region]}\n" NOISE,
     "plan.yaml:10: tables[1].name: it becomes the name of a file"},
    {PLAN_HEAD "tables:\n  - {name: one, by: [sex], hierarchy: [sex]}\n" NOISE,
     "plan.yaml:10: tables[1].hierarchy: the codelist of 'sex' has no parents"},
    {PLAN_HEAD "tables:\n  - {name: one, by: [sex], epsilon: 1}\n" NOISE,
     "plan.yaml:10: tables[1]: the plan has a budget to split"},
    {PLAN_HEAD TABLE NOISE "threshold: 3\n",
     "plan.yaml:13: threshold: a threshold sets smaller values to zero"},
    {PLAN_HEAD TABLE NOISE "outputs: {folder: x, formats: [xls]}\n",
     "plan.yaml:13: outputs.formats: expected csv, json, px, sdmx, csvw, ods or xlsx, not 'xls'"},
    {PLAN_HEAD TABLE NOISE "rules:\n  - {evaluate: released}\n",
     "plan.yaml:14: rules[1]: expected one limit"},
    {PLAN_HEAD TABLE "mechanism: gaussian\nbudget: {rho: 1, delta: 1e-6}\n",
     "plan.yaml:12: budget.delta: a delta goes with an epsilon"},
    {PLAN_HEAD TABLE "mechanism: gaussian\nbudget: {epsilon: 1, delta: 1e-6}\n"
                     "ledger: {file: l, dataset: d, request: r, delta: 1e-9}\n",
     "plan.yaml:13: ledger.delta: the ledger is charged at the delta of the budget"},
    {PLAN_HEAD TABLE NOISE "accept: [everything]\n",
     "plan.yaml:13: accept: expected bias, delta, no-protection, large-epsilon or unaccounted"},
};

static void refuses_with_line_and_reason(void **state)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        cellar_plan *plan;
        assert_int_equal(plan_place_parse(*state, refused[i].text, &plan, &err), CELLAR_ERR_INPUT);
        assert_null(plan);
        if (strncmp(err.message, refused[i].message, strlen(refused[i].message)) != 0)
            fail_msg("expected '%s', not '%s'", refused[i].message, err.message);
    }
}

/* A map that could take forever is not read to its end. */
static void refuses_endless_maps(void **state)
{
    cellar_text text = {0};
    cellar_plan *plan;
    for (int i = 0; i < 300; i++)
        cellar_text_printf(&text, "key%d: 1\n", i);
    assert_false(text.failed);
    assert_int_equal(plan_place_parse(*state, text.bytes, &plan, &err), CELLAR_ERR_INPUT);
    assert_string_equal(err.message, "plan.yaml:257: more names than any plan has");
    cellar_text_clear(&text);
}

static cellar_plan_figures *check(scratch *place, const char *text, int without_counts)
{
    cellar_plan_options options = {.without_counts = without_counts, .n_threads = 1};
    cellar_plan_figures *figures = NULL;
    if (plan_place_parse(place, text, &checked, &err) != CELLAR_OK ||
        cellar_plan_check(checked, &options, &figures, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return figures;
}

static void forget(cellar_plan_figures *figures)
{
    cellar_plan_figures_free(figures);
    cellar_plan_free(checked);
    checked = NULL;
}

static void check_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g, not %.17g", found, expected);
}

/* region (N, S, Land) x sex with all margins: interior 1 + 1 inner, and so on: d = 2 2 + ... */
static void counts_d_and_splits(void **state)
{
    cellar_plan_figures *figures = check(*state, PLAN_HEAD TABLE NOISE, 0);
    const cellar_plan_table *table = &figures->tables[0];
    double epsilon = 1.0 / 6, e = exp(-epsilon), sd = sqrt(2 * e) / (1 - e);
    assert_int_equal(figures->cells_per_record, 6); /* (1 + 1) x (1 + total) x ... : 2+2+1+1 */
    assert_int_equal(table->n_cells, 6 + 3 + 2 + 1);
    assert_int_equal(table->n_cells_groups, 6);
    check_near(cellar_certificate_pure_epsilon(figures->certificate), 1);
    for (size_t i = 0; i < table->n_cells_groups; i++) {
        check_near(table->cells[i].sd_high / sd, 1);
        check_near(table->cells[i].bias, 0);
    }
    assert_string_equal(table->cells[0].margin, "region*sex");
    assert_string_equal(table->cells[1].margin, "region^*sex");
    assert_string_equal(table->cells[5].margin, "total");
    check_near(table->cells[0].false_positives, e / (1 + e)); /* one of four cells is empty */
    assert_int_equal(figures->n_refusals, 0);
    forget(figures);
}

/* The optimal split minimises the sum of w n var among splits of the same cost. */
static void splits_optimally(void **state)
{
    static const char text[] =
        PLAN_HEAD "tables:\n"
                  "  - {name: one, by: [region, sex], margins: all, weight: 4}\n"
                  "  - {name: two, by: [sex]}\n"
                  "mechanism: discrete-laplace\n"
                  "budget: {epsilon: 0.01, split: optimal}\n";
    cellar_plan_figures *figures = check(*state, text, 0);
    double x[2], n[2] = {12, 2}, w[2] = {4, 1}, d[2] = {6, 1};
    for (size_t t = 0; t < 2; t++)
        x[t] = strtod(strchr(figures->tables[t].mechanism, '=') + 1, NULL);
    check_near(d[0] * x[0] + d[1] * x[1], 0.01);
    for (int side = -1; side <= 1; side += 2) { /* move cost from one to the other */
        double step = side * 1e-5;
        double here = 0, there = 0;
        for (size_t t = 0; t < 2; t++) {
            double moved = x[t] + (t == 0 ? step : -step) / d[t];
            here += w[t] * n[t] / (x[t] * x[t]);
            there += w[t] * n[t] / (moved * moved);
        }
        assert_true(here < there);
    }
    forget(figures);
}

static void splits_rho(void **state)
{
    static const char text[] = PLAN_HEAD "tables:\n"
                                         "  - {name: one, by: [region, sex], margins: all}\n"
                                         "  - {name: two, by: [sex], weight: 3}\n"
                                         "mechanism: discrete-gaussian\n"
                                         "budget: {rho: 0.02, split: weights}\n"
                                         "neighbours: substitute\n";
    cellar_plan_figures *figures = check(*state, text, 0);
    double rho = cellar_certificate_composition(figures->certificate).rho;
    assert_true(rho <= 0.02 && rho > 0.0199);
    forget(figures);
}

/* Noise of continuous normal distributions has the epsilon and delta of one of them with the same
 * sum of d / sigma^2, and 4.224679 is the sigma of epsilon 1 at delta 1e-6 (Balle and Wang 2018,
 * computed apart with 30 digits). Rounded and discrete noise need slightly less, and sigmas have
 * four digits. */
static void finds_sigma(void **state)
{
    static const struct {
        const char *label, *how;
        double ratio; /* of the second sigma to the first */
    } cases[] = {
        {"even", "mechanism: discrete-gaussian\nbudget: {epsilon: 1, delta: 1e-6}\n", 1},
        {"weights", "mechanism: gaussian\nbudget: {epsilon: 1, delta: 1e-6, split: weights}\n",
         1.0 / 6},
        {"two units",
         "mechanism: gaussian\nbudget: {epsilon: 1, delta: 1e-6}\nneighbours: substitute\n", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        double sigma[2], sum = 0;
        snprintf(text, sizeof text,
                 "%stables:\n  - {name: one, by: [region, sex], margins: all, "
                 "hierarchy: none}\n  - {name: two, by: [sex], weight: 9}\n%s",
                 PLAN_HEAD, cases[i].how);
        cellar_plan_figures *figures = check(*state, text, 0);
        for (size_t t = 0; t < 2; t++) {
            const char *at = strstr(figures->tables[t].mechanism, "sigma=");
            assert_non_null(at);
            sigma[t] = strtod(at + strlen("sigma="), NULL);
            sum += (double) figures->tables[t].cells_per_record / (sigma[t] * sigma[t]);
        }
        if (i == 2)
            sum *= 2;
        if (1 / sqrt(sum) > 4.224679 * 1.0005 || 1 / sqrt(sum) < 4.224679 * 0.996)
            fail_msg("%s: sigma %g and %g", cases[i].label, sigma[0], sigma[1]);
        assert_true(fabs(sigma[1] / sigma[0] / cases[i].ratio - 1) < 1e-4);
        const cellar_guarantee tight = cellar_certificate_composition(figures->certificate).tight;
        assert_true(tight.delta == 1e-6 && tight.epsilon <= 1 && tight.epsilon > 0.999);
        forget(figures);
    }
}

#define ZEROED(epsilon)                                                                            \
    "plan: 1\ndata: {file: people.csv}\n"                                                          \
    "variables:\n"                                                                                 \
    "  - {name: region, codelist: region.csv}\n  - {name: sex, codelist: sex.csv}\n"               \
    "negatives: zero\nparameter_choice: data\n"                                                    \
    "tables:\n  - {name: one, by: [region, sex]}\n"                                                \
    "mechanism: discrete-laplace\nbudget: {epsilon: " epsilon "}\n"

static const struct biased {
    const char *text;
    int without_counts;
    size_t n_refusals, n_remarks; /* parameters from the data are one */
} biased[] = {
    {ZEROED("0.1"), 0, 1, 1},
    {ZEROED("0.1") "accept: [bias]\n", 0, 0, 2},
    {ZEROED("0.1"), 1, 0, 2},                 /* judged with true counts only */
    {ZEROED("2") "threshold: 12\n", 0, 1, 1}, /* what is cut off biases, too */
};

static void refuses_bias(void **state)
{
    for (size_t i = 0; i < sizeof biased / sizeof *biased; i++) {
        cellar_plan_figures *figures = check(*state, biased[i].text, biased[i].without_counts);
        assert_int_equal(figures->n_refusals, biased[i].n_refusals);
        assert_int_equal(figures->n_remarks, biased[i].n_remarks);
        if (figures->n_refusals > 0)
            assert_non_null(strstr(figures->refusals[0], "exceeds its standard deviation"));
        forget(figures);
    }
}

static void refuses_observed_domains(void **state)
{
    static const char text[] = "plan: 1\ndata: {file: people.csv}\nnegatives: keep\n"
                               "variables:\n  - {name: region}\n  - {name: sex, domain_public: "
                               "true}\nparameter_choice: advance\n" TABLE NOISE;
    cellar_plan_figures *figures = check(*state, text, 0);
    assert_int_equal(figures->n_refusals, 1);
    assert_non_null(strstr(figures->refusals[0], "'region'"));
    assert_int_equal(cellar_certificate_verdict(figures->certificate), CELLAR_VERDICT_FAILS);
    forget(figures);
}

/* Two tables that hold the same margin. */
static void remarks_on_repeats(void **state)
{
    static const char text[] = PLAN_HEAD "tables:\n"
                                         "  - {name: one, by: [region, sex], margins: [sex]}\n"
                                         "  - {name: two, by: [sex]}\n" NOISE;
    cellar_plan_figures *figures = check(*state, text, 0);
    assert_int_equal(figures->n_remarks, 2); /* and one on trust */
    assert_non_null(
        strstr(figures->remarks[0], "sex is released twice, by the tables one and two"));
    forget(figures);
}

/* Without counts nothing depends on the data. */
static void tells_nothing_without_counts(void **state)
{
    cellar_plan_figures *figures = check(*state, PLAN_HEAD TABLE NOISE, 1);
    double rows = figures->rows, false_positives = figures->false_positives;
    assert_false(figures->is_confidential);
    forget(figures);
    scratch_write(*state, "people.csv", "id,region,sex\n1,S,F\n");
    figures = check(*state, PLAN_HEAD TABLE NOISE, 1);
    check_near(figures->rows, rows);
    check_near(figures->false_positives, false_positives);
    forget(figures);
}

/* Moments against the plain sum over the law, for each kind of mechanism and listing. */
static void moments_are_those_of_the_law(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.5", "gaussian:sigma=3",
                                        "truncated-laplace:epsilon=1,m=4", "poisson:alpha=0.5",
                                        "round:base=3"};
    (void) state;
    for (size_t s = 0; s < sizeof specs / sizeof *specs; s++)
        for (uint64_t threshold = 0; threshold < 6; threshold += 5)
            for (int clamped = threshold > 0; clamped < 2; clamped++) {
                cellar_mechanism *mechanism;
                plan_law law;
                assert_int_equal(cellar_mechanism_create(specs[s], &mechanism, &err), CELLAR_OK);
                assert_int_equal(
                    cellar_plan_law_init(&law, mechanism,
                                         clamped ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP,
                                         threshold, &err),
                    CELLAR_OK);
                for (int64_t count = 0; count < 30; count += 3) {
                    plan_moments found = cellar_plan_law_at(&law, count);
                    double mean = 0, square = 0;
                    int64_t low, high;
                    cellar_mechanism_support(mechanism, count, 1e-17, &low, &high);
                    for (int64_t b = low; b <= high; b++) {
                        int64_t r = clamped && (b < 0 || b < (int64_t) threshold) ? 0 : b;
                        double p = cellar_mechanism_pmf(mechanism, count, b);
                        mean += p * (double) (r - count);
                        square += p * (double) (r - count) * (double) (r - count);
                    }
                    check_near(found.bias, mean);
                    check_near(found.variance, square - mean * mean);
                }
                cellar_plan_law_clear(&law);
                cellar_mechanism_free(mechanism);
            }
}

/* ---- strategies ------------------------------------------------------------------------------ */

/* A table of 10^4 cells whose two-way margins are wanted, at epsilon 1/100, where the noise is as
 * good as continuous: 14.1/epsilon added up, 8.5/epsilon alone, 21.2/epsilon of everything (Rinott
 * and others 2018, section 7). */
static void compares_as_published(void **state)
{
    static const char text[] =
        "plan: 1\ndata: {file: ten.csv}\nnegatives: keep\nparameter_choice: advance\n"
        "variables:\n"
        "  - {name: a, codelist: ten_codes.csv}\n  - {name: b, codelist: ten_codes.csv}\n"
        "  - {name: c, codelist: ten_codes.csv}\n  - {name: d, codelist: ten_codes.csv}\n"
        "tables:\n  - {name: t, by: [a, b, c, d], margins: [a*b, a*c, a*d, b*c, b*d, c*d]}\n"
        "mechanism: discrete-laplace\nbudget: {epsilon: 0.01}\n";
    static const double expected[3] = {14.142135, 8.485281, 21.213203};
    static const uint64_t d[5] = {1, 6, 15, 7, 7};
    cellar_plan_options options = {.n_threads = 1};
    cellar_plan_comparison *comparison;
    cellar_plan *plan;
    scratch_write(*state, "ten.csv", "a,b,c,d\n0,0,0,0\n");
    scratch_write(*state, "ten_codes.csv", "code\n0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    assert_int_equal(plan_place_parse(*state, text, &plan, &err), CELLAR_OK);
    assert_int_equal(cellar_plan_compare(plan, &options, &comparison, &err), CELLAR_OK);
    assert_int_equal(comparison->n_targets, 7);
    assert_int_equal(comparison->n_strategies, 6);
    for (size_t k = 0; k < 5; k++)
        assert_int_equal(comparison->strategies[k].cells_per_record, d[k]);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 7; i++) {
            double sd = comparison->strategies[k].sd[i] * 0.01;
            if (!comparison->targets[i].is_inner)
                assert_true(fabs(sd / expected[k] - 1) < 1e-4);
            else if (k == 1)
                assert_true(isnan(sd));
        }
    assert_string_equal(comparison->strategies[comparison->recommended].name, "inner");
    assert_non_null(strstr(comparison->reason, "margins alone have still less noise"));
    cellar_plan_comparison_free(comparison);
    cellar_plan_free(plan);
}

/* The optimal split is no worse than any other of the same list, and costs the same. */
static void compares_weights(void **state)
{
    static const char text[] =
        PLAN_HEAD "tables:\n"
                  "  - {name: one, by: [region, sex], margins: all, weight: 1}\n"
                  "  - {name: two, by: [sex], weight: 9}\n"
                  "mechanism: discrete-gaussian\nbudget: {rho: 0.01}\n";
    cellar_plan_options options = {.n_threads = 1};
    cellar_plan_comparison *comparison;
    cellar_plan *plan;
    const cellar_plan_strategy *s;
    assert_int_equal(plan_place_parse(*state, text, &plan, &err), CELLAR_OK);
    assert_int_equal(cellar_plan_compare(plan, &options, &comparison, &err), CELLAR_OK);
    s = comparison->strategies;
    assert_true(comparison->is_rho);
    assert_true(s[4].loss < s[3].loss);
    assert_int_equal(s[4].cells_per_record, s[3].cells_per_record);
    assert_true(s[5].is_possible && s[5].loss < s[4].loss);
    assert_true(s[4].sd[comparison->n_targets - 1] < s[3].sd[comparison->n_targets - 1]);
    cellar_plan_comparison_free(comparison);
    cellar_plan_free(plan);
}

static cellar_status compare_scenario(void *context, cellar_error *error)
{
    cellar_plan_options options = {.n_threads = 1};
    cellar_plan_comparison *comparison = NULL;
    cellar_plan *plan = NULL;
    cellar_status status =
        plan_place_parse(context,
                         PLAN_HEAD "tables:\n  - {name: one, by: [sex], margins: all, epsilon: "
                                   "0.5, structural_zeros: none.txt}\n"
                                   "mechanism: discrete-laplace\n",
                         &plan, error);
    if (status == CELLAR_OK)
        status = cellar_plan_compare(plan, &options, &comparison, error);
    cellar_plan_comparison_free(comparison);
    cellar_plan_free(plan);
    return status;
}

/* Only men of one region may say yes: of 8 cells 5 carry noise. */
static void write_impossible(scratch *place)
{
    scratch_write(place, "answer.csv", "code\nyes\nno\n");
    scratch_write(place, "zeros.txt", "answer = yes & sex = F\nanswer = yes & region = S\n");
}

static const cellar_plan_cells *find_cells(const cellar_plan_table *table, const char *margin)
{
    for (size_t i = 0; i < table->n_cells_groups; i++)
        if (strcmp(table->cells[i].margin, margin) == 0)
            return &table->cells[i];
    fail_msg("there is no %s", margin);
    return NULL;
}

/* Structural zeros have no noise, and sums have that of the others. The data are not there: with
 * declared domains nobody asks for them. */
static void structural_zeros_have_no_noise(void **state)
{
    static const char text[] = "plan: 1\n"
                               "data: {file: nowhere.csv}\n"
                               "variables:\n"
                               "  - {name: region, codelist: region.csv}\n"
                               "  - {name: sex, codelist: sex.csv}\n"
                               "  - {name: answer, codelist: answer.csv}\n"
                               "negatives: keep\nparameter_choice: advance\n"
                               "tables:\n"
                               "  - {name: one, by: [region, sex, answer], margins: [region], "
                               "structural_zeros: zeros.txt}\n"
                               "mechanism: discrete-laplace\nbudget: {epsilon: 0.02}\n";
    static const struct {
        const char *margin;
        uint64_t n_structural;
        double least, most, sum; /* summands of a cell, and of all of them */
    } expected[] = {{"region*sex*answer", 3, 1, 1, 5}, {"region", 0, 1, 1, 2},
                    {"sex*answer", 1, 1, 2, 5},        {"answer", 0, 1, 4, 5},
                    {"region*answer", 1, 1, 2, 5},     {"total", 0, 2, 2, 2}};
    const cellar_plan_table *table;
    cellar_plan_figures *figures;
    cellar_plan_comparison *comparison;
    double e = exp(-0.01), sd = sqrt(2 * e) / (1 - e);
    write_impossible(*state);
    figures = check(*state, text, 1);
    table = &figures->tables[0];
    assert_int_equal(table->n_cells, 10);
    assert_int_equal(table->n_structural, 3);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const cellar_plan_cells *cells = find_cells(table, expected[i].margin);
        assert_int_equal(cells->n_structural, expected[i].n_structural);
        check_near(cells->sd_low / sd, sqrt(expected[i].least));
        check_near(cells->sd_high / sd, sqrt(expected[i].most));
        check_near(cells->sum_sd / sd, sqrt(expected[i].sum));
    }
    assert_int_equal(cellar_plan_compare(checked, NULL, &comparison, &err), CELLAR_OK);
    assert_string_equal(comparison->targets[1].margin, "region");
    e = exp(-0.02);
    sd = sqrt(2 * e) / (1 - e); /* the interior alone, and 3 or 2 of its cells for a region */
    check_near(comparison->strategies[0].sd[1] / sd, sqrt(5.0 / 2));
    check_near(comparison->strategies[0].loss / (sd * sd), 5 + 5);
    assert_true(!comparison->strategies[5].is_possible && isnan(comparison->strategies[5].sd[0]));
    cellar_plan_comparison_free(comparison);
    forget(figures);
}

static cellar_status parse_scenario(void *context, cellar_error *error)
{
    static const char text[] =
        PLAN_HEAD "tables:\n  - {name: one, by: [region, sex], margins: [region, total]}\n" NOISE
                  "outputs: {folder: x, formats: [csv]}\n";
    cellar_plan *plan;
    cellar_status status = plan_place_parse(context, text, &plan, error);
    cellar_plan_free(plan);
    return status;
}

static cellar_status check_scenario(void *context, cellar_error *error)
{
    cellar_plan_options options = {.n_threads = 1};
    cellar_plan_figures *figures = NULL;
    cellar_plan *plan = NULL;
    cellar_status status = plan_place_parse(
        context,
        PLAN_HEAD "tables:\n  - {name: one, by: [region, sex], margins: [sex]}\n"
                  "  - {name: two, by: [sex], weight: 2}\n"
                  "mechanism: discrete-laplace\nbudget: {epsilon: 1, split: weights}\n",
        &plan, error);
    if (status == CELLAR_OK)
        status = cellar_plan_check(plan, &options, &figures, error);
    cellar_plan_figures_free(figures);
    cellar_plan_free(plan);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    scratch_write(*state, "none.txt", "sex = M\n");
    check_fail_every(parse_scenario, *state);
    check_fail_every(check_scenario, *state);
    check_fail_every(compare_scenario, *state);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, plan_place_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_PLACE(refuses_with_line_and_reason),
        IN_PLACE(refuses_endless_maps),
        IN_PLACE(counts_d_and_splits),
        IN_PLACE(splits_optimally),
        IN_PLACE(splits_rho),
        IN_PLACE(finds_sigma),
        IN_PLACE(refuses_bias),
        IN_PLACE(refuses_observed_domains),
        IN_PLACE(remarks_on_repeats),
        IN_PLACE(tells_nothing_without_counts),
        IN_PLACE(compares_as_published),
        IN_PLACE(compares_weights),
        IN_PLACE(structural_zeros_have_no_noise),
        IN_PLACE(every_allocation_may_fail),
        cmocka_unit_test(moments_are_those_of_the_law),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
