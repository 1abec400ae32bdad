/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer: tests and intervals that know the noise. */
#include "verbs.h"

#include <string.h>

#include <cellar/text.h>

#include "infer.h"

#define AT(member) offsetof(infer_values, member)
static const cli_option infer_options[] = {
    {CLI_SECTION, "Tests of a released table (independence, loglinear)", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "rows", "VAR", "independence: the variable in the rows", AT(rows), 0, 0, 0},
    {CLI_TEXT, "columns", "VAR",
     "independence: the variable in the columns; loglinear and interval: the variables of the "
     "table, comma-separated [all]",
     AT(columns), 0, 0, 0},
    {CLI_TEXT, "model", "MODEL", "loglinear: the model tested, such as 'a*b + c'", AT(model), 0, 0,
     0},
    {CLI_TEXT, "against", "MODEL", "loglinear: the larger model it is tested against [saturated]",
     AT(against), 0, 0, 0},
    {CLI_CHOICE, "reference", "chi-square|bootstrap",
     "what the statistic is compared with; bootstrap draws tables from the model, noise included "
     "[chi-square]",
     AT(reference), 0, 0, 0},
    {CLI_NUMBER, "replicates", "B", "tables of the bootstrap [999; in a study 199]", AT(replicates),
     0, 2, 100000000},
    {CLI_NUMBER, "seed", "S", "of everything simulated [1]", AT(seed), 0, 0, 0},
    {CLI_FLAG, "cells", NULL, "list expected counts and standardised residuals", AT(cells), 0, 0,
     0},
    {CLI_FLAG, "association", NULL, "independence: list Cramer's V and odds ratios with intervals",
     AT(association), 0, 0, 0},
    {CLI_TEXT, "confidence", "C", "of intervals [0.95]", AT(confidence), 0, 0, 0},
    {CLI_SECTION, "Intervals (interval)", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "of", "SET", "the cells summed, such as 'sex=F; region=1,2'; '' is everything",
     AT(of), 0, 0, 0},
    {CLI_TEXT, "minus", "SET", "the difference from these", AT(minus), 0, 0, 0},
    {CLI_TEXT, "over", "SET", "the ratio to these", AT(over), 0, 0, 0},
    {CLI_TEXT, "within", "SET", "the proportion among these", AT(within), 0, 0, 0},
    {CLI_FLAG, "every-cell", NULL, "each cell of the table instead", AT(every_cell), 0, 0, 0},
    {CLI_FLAG, "simultaneous", NULL, "with --every-cell: all intervals hold together",
     AT(simultaneous), 0, 0, 0},
    {CLI_CHOICE, "target", "table|population",
     "the counts of the table, or the means behind them, with sampling [table]", AT(target), 0, 0,
     0},
    {CLI_CHOICE, "prior", "uniform|reciprocal",
     "a Bayesian interval: counts are equally likely before, or as 1/(count + 1)", AT(prior), 0, 0,
     0},
    {CLI_SECTION, "One number of N trials (binomial)", NULL, NULL, 0, 0, 0, 0},
    {CLI_TEXT, "released", "X", "the released number", AT(released), 0, 0, 0},
    {CLI_NUMBER, "trials", "N", "how many were asked, which is known", AT(trials), 0, 1, 1000000},
    {CLI_TEXT, "null", "P", "the probability tested", AT(null), 0, 0, 0},
    {CLI_TEXT, "alternative", "P", "compute the power there", AT(alternative), 0, 0, 0},
    {CLI_TEXT, "level", "A", "binomial, study: of the test [0.05]", AT(level), 0, 0, 0},
    {CLI_TEXT, "critical", "C", "reject above this value [that whose level is nearest]",
     AT(critical), 0, 0, 0},
    {CLI_TEXT, "mechanism", "SPEC", "binomial, study: how numbers are released", AT(mechanism), 0,
     0, 0},
    {CLI_CHOICE, "negatives", "keep|zero", "what became of numbers below zero [keep]",
     AT(negatives), 0, 0, 0},
    {CLI_SECTION, "Level and power by simulation (study)", NULL, NULL, 0, 0, 0, 0},
    {CLI_FLAG, "table-3", NULL, "the published study: four mechanisms, independent and dependent",
     AT(table_3), 0, 0, 0},
    {CLI_NUMBER, "tables", "T", "simulated per setting [1000]", AT(tables), 0, 2, 100000000},
    {CLI_NUMBER, "n-rows", "R", "rows of a table [10]", AT(n_rows), 0, 2, 1000},
    {CLI_NUMBER, "n-columns", "C", "columns of a table [10]", AT(n_columns), 0, 2, 1000},
    {CLI_TEXT, "eta", "E", "ln of a mean without effects [4]", AT(eta), 0, 0, 0},
    {CLI_TEXT, "spread", "S", "effects are uniform within +-S [0.5]", AT(spread), 0, 0, 0},
    {CLI_TEXT, "dependence", "D", "times an effect of each cell [0; with --table-3 0.307 to 0.333]",
     AT(dependence), 0, 0, 0},
    {CLI_FLAG, "fixed-effects", NULL, "draw the effects once, not for every table",
     AT(fixed_effects), 0, 0, 0},
    {CLI_SECTION, "Running and writing", NULL, NULL, 0, 0, 0, 0},
    {CLI_NUMBER, "threads", "N", "use so many processors; the result is the same [all]",
     AT(threads), 0, 1, 1024},
    {CLI_TEXT, "output", "FILE", "write to a file [standard output]", AT(path), 'o', 0, 0},
    {CLI_FLAG, "force", NULL, "replace an existing file", AT(force), 0, 0, 0},
    {CLI_FLAG, "json", NULL, "print JSON", AT(json), 0, 0, 0},
    {CLI_SECTION, "Other", NULL, NULL, 0, 0, 0, 0},
};

static const char *const infer_examples[] = {
    "cellar infer independence release.json --rows region --columns health",
    "cellar infer independence release.json --rows region --columns health --reference bootstrap",
    "cellar infer loglinear release.json --model 'sex*age + region' --against 'sex*age + "
    "sex*region'",
    "cellar infer interval release.json --of 'sex=F' --within ''",
    "cellar infer interval release.json --every-cell --simultaneous --prior uniform",
    "cellar infer study --table-3",
    "cellar infer binomial --released 45 --trials 80 --null 0.5 --mechanism "
    "truncated-laplace:epsilon=0.5,m=5",
    "cellar infer binomial --released 45 --trials 80 --null 0.7 --alternative 0.5 --critical "
    "3.361 --mechanism truncated-laplace:epsilon=0.5,m=5",
    NULL};

static const cli_command infer_command = {
    "infer",
    "independence|loglinear|interval|binomial|study [RELEASE] [options]",
    "Tests and intervals from released numbers that reckon with the noise, which a release "
    "carries with it; the naive result, which takes the numbers for counts, stands beside each.",
    infer_options,
    sizeof infer_options / sizeof infer_options[0],
    infer_examples};

/* ---- parts ------------------------------------------------------------------ */

typedef struct infer_part {
    const char *name;
    int n_files;
    int (*run)(const infer_values *values, const char *path, infer_answer *answer);
} infer_part;

static int run_binomial(const infer_values *values, const char *path, infer_answer *answer)
{
    (void) path;
    return infer_run_binomial(values, answer);
}

static int run_study(const infer_values *values, const char *path, infer_answer *answer)
{
    (void) path;
    return infer_run_study(values, answer);
}

static const infer_part parts[] = {{"independence", 1, infer_run_independence},
                                   {"loglinear", 1, infer_run_loglinear},
                                   {"interval", 1, infer_run_interval},
                                   {"binomial", 0, run_binomial},
                                   {"study", 0, run_study}};
enum { N_PARTS = sizeof parts / sizeof parts[0] };

enum {
    OF_INDEPENDENCE = 1,
    OF_LOGLINEAR = 2,
    OF_INTERVAL = 4,
    OF_BINOMIAL = 8,
    OF_STUDY = 16,
    OF_TESTS = OF_INDEPENDENCE | OF_LOGLINEAR,
    OF_MADE_UP = OF_BINOMIAL | OF_STUDY
};

static const cli_place places[] = {{"rows", OF_INDEPENDENCE},
                                   {"columns", OF_TESTS | OF_INTERVAL},
                                   {"model", OF_LOGLINEAR},
                                   {"against", OF_LOGLINEAR},
                                   {"reference", OF_TESTS | OF_STUDY},
                                   {"replicates", OF_TESTS | OF_STUDY},
                                   {"seed", OF_TESTS | OF_STUDY},
                                   {"cells", OF_TESTS},
                                   {"association", OF_INDEPENDENCE},
                                   {"confidence", OF_TESTS | OF_INTERVAL},
                                   {"of", OF_INTERVAL},
                                   {"minus", OF_INTERVAL},
                                   {"over", OF_INTERVAL},
                                   {"within", OF_INTERVAL},
                                   {"every-cell", OF_INTERVAL},
                                   {"simultaneous", OF_INTERVAL},
                                   {"target", OF_INTERVAL},
                                   {"prior", OF_INTERVAL},
                                   {"released", OF_BINOMIAL},
                                   {"trials", OF_BINOMIAL},
                                   {"null", OF_BINOMIAL},
                                   {"alternative", OF_BINOMIAL},
                                   {"level", OF_MADE_UP},
                                   {"critical", OF_BINOMIAL},
                                   {"mechanism", OF_MADE_UP},
                                   {"negatives", OF_MADE_UP},
                                   {"table-3", OF_STUDY},
                                   {"tables", OF_STUDY},
                                   {"n-rows", OF_STUDY},
                                   {"n-columns", OF_STUDY},
                                   {"eta", OF_STUDY},
                                   {"spread", OF_STUDY},
                                   {"dependence", OF_STUDY},
                                   {"fixed-effects", OF_STUDY}};

static int infer_check_places(const infer_values *values, const infer_part *part)
{
    const char *names[N_PARTS];
    for (size_t i = 0; i < N_PARTS; i++)
        names[i] = parts[i].name;
    return cli_options_check_places(&infer_command, values, places,
                                    sizeof places / sizeof places[0], names,
                                    (size_t) (part - parts));
}

static int infer_find(const cli_words *words, const infer_part **part)
{
    const char *names[N_PARTS + 1] = {NULL}, *nearest;
    if (words->n == 0)
        return cli_usage("infer: say what: %s", infer_command.arguments);
    for (size_t i = 0; i < N_PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(parts[i].name, words->items[0]) == 0)
            *part = &parts[i];
    }
    nearest = cellar_nearest_word(words->items[0], names);
    if (*part == NULL && nearest != NULL)
        return cli_usage("infer: unknown part '%s'; did you mean '%s'?", words->items[0], nearest);
    if (*part == NULL)
        return cli_usage("infer: unknown part '%s'; it is %s", words->items[0],
                         infer_command.arguments);
    if ((*part)->n_files == 0 && words->n > 1)
        return cli_usage("infer %s reads no file", words->items[0]);
    if ((*part)->n_files == 1 && words->n != 2)
        return cli_usage("infer %s needs one file: a release", words->items[0]);
    return CLI_GO_ON;
}

/* ---- writing ---------------------------------------------------------------- */

static void infer_write_json(const char *part, const infer_answer *answer, cellar_output *output)
{
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "inference", part);
    cli_results_json_header(&answer->header, &json);
    for (size_t i = 0; i < answer->tests.n; i++) {
        cli_results one = {&answer->tests.items[i], 1, 1};
        cli_json_begin(&json, answer->tests.items[i].fields[0].text, '{');
        cli_results_json_header(&one, &json);
        cli_json_end(&json, '}');
    }
    if (answer->list_key != NULL)
        cli_results_json(&answer->list, &json, answer->list_key);
    cli_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < answer->notes.n; i++)
        cli_json_text(&json, NULL, answer->notes.items[i]);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void infer_write_people(const infer_answer *answer, cellar_output *output)
{
    cli_results_people(&answer->header, output);
    cellar_output_string(output, "\n");
    cli_results_people(&answer->tests, output);
    if (answer->list.n > 0) {
        cellar_output_printf(output, "%s%s\n", answer->tests.n > 0 ? "\n" : "", answer->list_key);
        cli_results_people(&answer->list, output);
    }
    for (size_t i = 0; i < answer->notes.n; i++)
        cellar_output_printf(output, "%s%s\n", i == 0 ? "\n" : "", answer->notes.items[i]);
}

static int infer_run(const infer_values *values, const infer_part *part, const char *path)
{
    const cellar_output_options how = {.replace = values->force, .shared = 1};
    infer_answer answer = {0};
    cellar_output *output;
    int result = cli_answer_open(values->path, &how, &output);

    if (result == CLI_GO_ON)
        result = part->run(values, path, &answer);
    if (result == CLI_GO_ON && values->json)
        infer_write_json(part->name, &answer, output);
    else if (result == CLI_GO_ON)
        infer_write_people(&answer, output);
    result = cli_answer_close(output, result);
    cli_results_clear(&answer.header);
    cli_results_clear(&answer.tests);
    cli_results_clear(&answer.list);
    cli_words_clear(&answer.notes);
    return result;
}

int cli_infer(int argc, char **argv)
{
    infer_values values = {0};
    cli_words words = {0};
    const infer_part *part = NULL;
    int result = cli_options_parse(&infer_command, argc, argv, &values, &words);

    if (result == CLI_GO_ON)
        result = infer_find(&words, &part);
    if (result == CLI_GO_ON)
        result = infer_check_places(&values, part);
    if (result == CLI_GO_ON)
        result = infer_run(&values, part, words.n > 1 ? words.items[1] : NULL);
    cli_words_clear(&words);
    cli_options_clear(&infer_command, &values);
    return result;
}
