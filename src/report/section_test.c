/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How to test with released numbers: what goes wrong when noise is taken for data, an example from
 * the release itself, and what to type. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <cellar/inference.h>

#include "base/error.h"
#include "mechanism/mechanism.h"
#include "report/report.h"

enum { TEST_MAX_CELLS = 400, TEST_MAX_SUMMED = 4096, TEST_TRIALS = 100, TEST_REPLICATES = 199 };

/* ---- why ---------------------------------------------------------------------------- */

/* 1 when the noise is added: other laws take seconds to enumerate. */
static cellar_status test_is_additive(const char *spec, int *additive, cellar_error *err)
{
    cellar_mechanism *mechanism = NULL;
    const cellar_status status = cellar_mechanism_create(spec, &mechanism, err);
    *additive = status == CELLAR_OK && mechanism->ops->is_additive;
    cellar_mechanism_free(mechanism);
    return cellar_page_is_answer(status) ? CELLAR_OK : status;
}

/* 1 when a test that claims 5 % does not keep to it. */
static int test_is_off(double level)
{
    return level > 0.06; /* chi-square has 0.057 without any noise: counts are discrete */
}

/* False alarms of the two tests of a proportion, enumerated; *is_off becomes 1 where the aware one
 * with chi-square has too many. */
static cellar_status test_false_alarms(cellar_page *page, const cellar_release *release,
                                       int *is_off, cellar_error *err)
{
    cellar_binomial_spec spec = cellar_binomial_spec_default();
    cellar_binomial found;
    char text[3][24];
    spec.n_trials = TEST_TRIALS;
    spec.null = 0.5;
    spec.mechanism = cellar_release_mechanism(release);
    spec.negatives = cellar_release_negatives(release);
    const cellar_status status = cellar_binomial_run(&spec, TEST_TRIALS / 2, &found, err);
    if (status != CELLAR_OK)
        return cellar_page_is_answer(status) ? CELLAR_OK : status;
    if (isnan(found.naive_level) || isnan(found.chi_square_level))
        return CELLAR_OK;
    cellar_page_paragraph(
        page,
        "How much it matters: let each of %d people have a property with probability one half. A "
        "test of that probability at the level of 5 %% that takes the released value for the true "
        "count rejects it, although it is true, with probability %s; the test that takes the noise "
        "into account rejects it with probability %s when chi-square is its reference, and with "
        "probability %s when its reference is exact.",
        TEST_TRIALS, cellar_page_percent(found.naive_level, text[0]),
        cellar_page_percent(found.chi_square_level, text[1]),
        cellar_page_percent(found.exact_level, text[2]));
    if (test_is_off(found.chi_square_level))
        cellar_page_paragraph(
            page,
            "Here the chi-square reference is not accurate: use the exact reference (cellar infer "
            "binomial prints it as exact_p_value), and for tables --reference bootstrap.");
    *is_off |= test_is_off(found.chi_square_level);
    return CELLAR_OK;
}

/* ---- an example ------------------------------------------------------------------------ */

static void test_row(cellar_page *page, const char *name, double statistic, double df, double p)
{
    cellar_page_row_begin(page, "%s", name);
    cellar_page_number(page, "%.4g", statistic);
    cellar_page_number(page, "%.0f", df);
    cellar_page_share(page, fmax(p, DBL_MIN)); /* no p-value is 0 but by underflow */
    cellar_page_row_end(page);
}

static void test_tell(cellar_page *page, const cellar_noisy *noisy, const cellar_loglinear *test,
                      int is_bootstrap)
{
    static const char *const headings[] = {"test", "#statistic", "#degrees of freedom", "#p-value",
                                           NULL};
    const cellar_test aware = cellar_loglinear_aware(test), naive = cellar_loglinear_naive(test);
    const cellar_test_quality quality = cellar_loglinear_quality(test);
    cellar_text caption = {0};
    char share[24];
    cellar_text_printf(&caption, "Is %s independent of %s? Both tests, on these values",
                       cellar_noisy_variable(noisy, 0), cellar_noisy_variable(noisy, 1));
    page->out.failed |= caption.failed;
    cellar_page_table_begin(page, caption.failed ? "" : caption.bytes, headings);
    test_row(page,
             is_bootstrap ? "with the noise taken into account, bootstrap reference"
                          : "with the noise taken into account, chi-square reference",
             aware.statistic, aware.df, aware.p_value);
    test_row(page, "with the noise ignored (do not use this test)", naive.statistic, naive.df,
             naive.chi_square_p_value);
    cellar_page_table_end(page);
    cellar_text_clear(&caption);
    if (!quality.converged)
        cellar_page_remark(page, "small", "The maximisation did not converge: do not rely on it.");
    if (quality.chi_square_is_off)
        cellar_page_remark(page, "small",
                           "The noise leaves %s of the information and the model expects %.2g in "
                           "its smallest cell: chi-square is not a reference to rely on there.",
                           cellar_page_percent(quality.information, share),
                           quality.smallest_expected);
    if (is_bootstrap)
        cellar_page_remark(page, "small",
                           "The bootstrap drew %d seeded replicates: its smallest p-value is %.3g.",
                           TEST_REPLICATES, 1.0 / (TEST_REPLICATES + 1));
}

/* The number of cells of the table of the first two variables, 0 when it has too many. */
static int test_is_small(const cellar_schema *schema)
{
    double cells = 1, summed = 1;
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        *(v < 2 ? &cells : &summed) *= (double) cellar_schema_n_leaves(schema, v);
    return cells <= TEST_MAX_CELLS && summed <= TEST_MAX_SUMMED;
}

/* With the reference that suits: chi-square, or the bootstrap where that one is off. */
static cellar_status test_model(cellar_page *page, const cellar_noisy *noisy, const char *model,
                                int *is_off, cellar_error *err)
{
    cellar_test_options options = cellar_test_options_default();
    cellar_loglinear *test = NULL;
    cellar_status status;
    options.n_threads = 1;
    status = cellar_loglinear_create(noisy, model, NULL, &options, &test, err);
    if (status == CELLAR_OK && (*is_off || cellar_loglinear_quality(test).chi_square_is_off)) {
        *is_off = 1;
        cellar_loglinear_free(test);
        options.reference = CELLAR_REFERENCE_BOOTSTRAP;
        options.n_replicates = TEST_REPLICATES;
        status = cellar_loglinear_create(noisy, model, NULL, &options, &test, err);
    }
    if (status == CELLAR_OK)
        test_tell(page, noisy, test, *is_off);
    cellar_loglinear_free(test);
    return status;
}

static cellar_status test_run(cellar_page *page, const cellar_noisy *noisy, int *is_off,
                              cellar_error *err)
{
    cellar_text model = {0};
    cellar_status status;
    for (size_t v = 0; v < 2; v++) {
        cellar_text_add_string(&model, v == 0 ? "\"" : " + \"");
        for (const char *c = cellar_noisy_variable(noisy, v); *c != '\0'; c++) {
            cellar_text_add_char(&model, *c);
            if (*c == '"')
                cellar_text_add_char(&model, *c);
        }
        cellar_text_add_char(&model, '"');
    }
    status = model.failed ? cellar_fail_memory(err, "a model")
                          : test_model(page, noisy, model.bytes, is_off, err);
    cellar_text_clear(&model);
    return status;
}

static cellar_status test_example(cellar_page *page, const cellar_release *release, int *is_off,
                                  cellar_error *err)
{
    static const size_t variables[] = {0, 1};
    cellar_noisy *noisy = NULL;
    cellar_status status = cellar_noisy_from_release(release, variables, 2, &noisy, err);
    if (status == CELLAR_OK)
        status = test_run(page, noisy, is_off, err);
    cellar_noisy_free(noisy);
    if (status == CELLAR_OK || !cellar_page_is_answer(status))
        return status;
    if (err != NULL)
        cellar_page_remark(page, "small", "There is no example here: %s.", err->message);
    return CELLAR_OK;
}

/* ---- what to type ------------------------------------------------------------------------ */

/* A word as a shell takes it. */
static void test_shell_word(cellar_text *text, const char *word)
{
    cellar_text_add_char(text, '\'');
    for (; *word != '\0'; word++)
        if (*word == '\'')
            cellar_text_add_string(text, "'\\''");
        else
            cellar_text_add_char(text, *word);
    cellar_text_add_char(text, '\'');
}

static void test_commands(cellar_page *page, const cellar_release *release, const char *name,
                          int is_off)
{
    const cellar_schema *schema = cellar_release_schema(release);
    cellar_text line = {0};
    cellar_text_add_string(&line, "cellar infer interval ");
    test_shell_word(&line, name);
    cellar_text_add_string(&line, " --every-cell");
    if (cellar_schema_n_variables(schema) > 1) {
        cellar_text_add_string(&line, "\ncellar infer independence ");
        test_shell_word(&line, name);
        cellar_text_add_string(&line, " --rows ");
        test_shell_word(&line, cellar_schema_variable(schema, 0));
        cellar_text_add_string(&line, " --columns ");
        test_shell_word(&line, cellar_schema_variable(schema, 1));
        if (is_off)
            cellar_text_add_string(&line, " --reference bootstrap");
    }
    page->out.failed |= line.failed;
    cellar_page_command(page, "%s", line.failed ? "" : line.bytes);
    cellar_text_clear(&line);
}

cellar_status cellar_section_test(cellar_page *page, const cellar_release *release,
                                  const char *name, cellar_error *err)
{
    cellar_status status;
    int additive, is_off = 0;
    cellar_page_paragraph(page,
                          "Tests and intervals made for counts take the noise for a property of "
                          "the population: they can find differences that are not there. Use tests "
                          "and intervals that take the distribution of the noise into account.");
    if (!cellar_section_has_law(cellar_release_mechanism(release))) {
        cellar_page_paragraph(page, "For this mechanism there are no such tests and intervals: "
                                    "describe the values, and do not test with them.");
        return CELLAR_OK;
    }
    status = test_is_additive(cellar_release_mechanism(release), &additive, err);
    if (status == CELLAR_OK && additive && !cellar_release_is_weighted(release) &&
        cellar_release_threshold(release) == 0)
        status = test_false_alarms(page, release, &is_off, err);
    if (status == CELLAR_OK && cellar_schema_n_variables(cellar_release_schema(release)) > 1 &&
        test_is_small(cellar_release_schema(release)))
        status = test_example(page, release, &is_off, err);
    cellar_page_paragraph(page, "What to type:");
    test_commands(page, release, name, is_off);
    return status;
}
