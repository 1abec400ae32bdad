/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer binomial. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "infer.h"

static int binomial_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0')
        return cli_usage("--released: a whole number, got '%s'", text);
    return CLI_GO_ON;
}

static int binomial_options(const infer_values *values, cellar_binomial_spec *spec,
                            int64_t *released)
{
    int result;
    *spec = cellar_binomial_spec_default();
    if (values->released == NULL || !values->trials.given || values->null == NULL ||
        values->mechanism == NULL)
        return cli_usage("infer binomial needs --released x --trials N --null p --mechanism SPEC");
    spec->n_trials = values->trials.value;
    spec->mechanism = values->mechanism;
    spec->negatives = values->negatives == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    result = binomial_number(values->released, released);
    if (result == CLI_GO_ON)
        result = infer_real("null", values->null, NAN, &spec->null);
    if (result == CLI_GO_ON)
        result = infer_real("alternative", values->alternative, NAN, &spec->alternative);
    if (result == CLI_GO_ON)
        result = infer_real("critical", values->critical, NAN, &spec->critical);
    if (result == CLI_GO_ON)
        result = infer_real("level", values->level, 0.05, &spec->level);
    if (result == CLI_GO_ON && spec->critical < 0) /* the library allows it: it always rejects */
        return cli_usage("--critical: the statistic is never below 0, nor is what it must exceed");
    return result;
}

static void add_test(cli_results *tests, const char *name, const cellar_binomial_test *test)
{
    cli_results_begin(tests, name);
    cli_results_real(tests, "statistic", test->statistic);
    cli_results_real(tests, "p_value", test->p_value);
    cli_results_real(tests, "exact_p_value", test->exact_p_value);
    cli_results_real(tests, "estimate", test->estimate);
}

static void add_design(cli_results *list, const char *test, const char *reference, double critical,
                       double level, double power)
{
    cli_results_begin(list, test);
    cli_results_text(list, "reference", reference);
    cli_results_real(list, "rejects_above", critical);
    cli_results_real(list, "level", level);
    cli_results_real(list, "power", power);
}

int infer_run_binomial(const infer_values *values, infer_answer *answer)
{
    cellar_binomial_spec spec;
    cellar_binomial found;
    int64_t released;
    cellar_error err;
    cellar_status status;
    double chi_square = NAN;
    int result = binomial_options(values, &spec, &released);

    if (result != CLI_GO_ON)
        return result;
    status = cellar_binomial_run(&spec, released, &found, &err);
    if (status != CELLAR_OK)
        return cli_exit(status, &err);
    chi_square = found.chi_square_critical;
    cli_results_begin(&answer->header, "binomial");
    cli_results_text(&answer->header, "mechanism", values->mechanism);
    cli_results_real(&answer->header, "released", (double) released);
    cli_results_count(&answer->header, "trials", spec.n_trials);
    cli_results_real(&answer->header, "null", spec.null);
    cli_results_real(&answer->header, "alternative", spec.alternative);
    add_test(&answer->tests, "aware", &found.aware);
    add_test(&answer->tests, "naive", &found.naive);
    answer->list_key = "designs";
    add_design(&answer->list, "aware", "exact", found.critical_value, found.exact_level,
               found.power);
    add_design(&answer->list, "aware", "chi-square", chi_square, found.chi_square_level,
               found.chi_square_power);
    add_design(&answer->list, "naive", "chi-square", chi_square, found.naive_level,
               found.naive_power);
    if (isnan(found.exact_level))
        infer_note(answer, "Too many values may have been released to enumerate them all: there is "
                           "the chi-square reference only.");
    else
        infer_note(answer,
                   "Levels, powers and exact p-values are sums over every value that can be "
                   "released.");
    if (!isnan(found.exact_level) && isnan(spec.critical))
        infer_note(answer, "The exact critical value is the one whose level is nearest.");
    infer_note_population(answer);
    return CLI_GO_ON;
}
