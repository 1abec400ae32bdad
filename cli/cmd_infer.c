/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar infer: tests and intervals that know the noise. */
#include "verbs.h"

#include <string.h>

#include <cellar/text.h>

#include "infer.h"

#define AT(member) offsetof(infer_values, member)
static const cli_option infer_options[] = {
    SECTION("Tests of a released table (independence, loglinear)"),
    TEXT("rows", "VAR", rows, "independence: the variable in the rows"),
    TEXT("columns", "VAR", columns,
         "independence: the variable in the columns; loglinear and interval: the variables of the "
         "table, comma-separated [all]; of a cube region^1 is a level"),
    TEXT("model", "MODEL", model, "loglinear: the model tested, such as 'a*b + c'"),
    TEXT("against", "MODEL", against,
         "loglinear: the larger model it is tested against [saturated]"),
    CHOICE("reference", "chi-square|bootstrap", reference,
           "what the statistic is compared with; bootstrap draws tables from the model, noise "
           "included [chi-square; of a cube bootstrap]"),
    NUMBER("replicates", "B", replicates, 2, 100000000,
           "tables of the bootstrap [999; in a study 199]"),
    NUMBER("seed", "S", seed, 0, 0, "of everything simulated [1]"),
    FLAG("pooled", pooled,
         "estimate each cell from inner cells and margins together; compares by bootstrap"),
    FLAG("cells", cells, "list expected counts and standardised residuals"),
    FLAG("association", association,
         "independence: list Cramer's V and odds ratios with intervals"),
    TEXT("confidence", "C", confidence, "of intervals [0.95]"),
    SECTION("Intervals (interval)"),
    TEXT("of", "SET", of, "the cells summed, such as 'sex=F; region=1,2'; '' is everything"),
    TEXT("minus", "SET", minus, "the difference from these"),
    TEXT("over", "SET", over, "the ratio to these"),
    TEXT("within", "SET", within, "the proportion among these"),
    FLAG("every-cell", every_cell, "each cell of the table instead"),
    FLAG("simultaneous", simultaneous, "with --every-cell: all intervals hold together"),
    CHOICE("target", "table|population", target,
           "the counts of the table, or the means behind them, with sampling [table]"),
    CHOICE("prior", "uniform|reciprocal", prior,
           "a Bayesian interval: counts are equally likely before, or as 1/(count + 1)"),
    SECTION("One released value of N trials (binomial)"),
    TEXT("released", "X", released, "the released value"),
    NUMBER("trials", "N", trials, 1, 1000000, "how many were asked, which is known"),
    TEXT("null", "P", null, "the probability tested"),
    TEXT("alternative", "P", alternative, "compute the power there"),
    TEXT("level", "A", level, "binomial, study: of the test [0.05]"),
    TEXT("critical", "C", critical, "reject above this value [that whose level is nearest]"),
    TEXT("mechanism", "SPEC", mechanism, "binomial, study: how values are released"),
    CHOICE("negatives", "keep|zero", negatives, "what became of values below zero [keep]"),
    SECTION("Level and power by simulation (study)"),
    FLAG("table-3", table_3, "the published study: four mechanisms, independent and dependent"),
    NUMBER("tables", "T", tables, 2, 100000000, "simulated per setting [1000]"),
    NUMBER("n-rows", "R", n_rows, 2, 1000, "rows of a table [10]"),
    NUMBER("n-columns", "C", n_columns, 2, 1000, "columns of a table [10]"),
    TEXT("eta", "E", eta, "ln of a mean without effects [4]"),
    TEXT("spread", "S", spread, "effects are uniform within +-S [0.5]"),
    TEXT("dependence", "D", dependence,
         "times an effect of each cell [0; with --table-3 0.307 to 0.333]"),
    FLAG("fixed-effects", fixed_effects, "draw the effects once, not for every table"),
    SECTION("Running and writing"),
    NUMBER("threads", "N", threads, 1, 1024,
           "use so many processors; the result is the same [all]"),
    OUTPUT(path, "write to a file [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    SECTION("Other"),
};

static const char *const infer_examples[] = {
    "cellar infer independence release.json --rows region --columns diagnosis",
    "cellar infer independence release.json --rows region --columns diagnosis --reference "
    "bootstrap",
    "cellar infer loglinear release.json --model 'sex*age + region' --against 'sex*age + "
    "sex*region'",
    "cellar infer interval release.json --of 'sex=F' --within ''",
    "cellar infer interval release.json --every-cell --simultaneous --prior uniform",
    "cellar infer interval cells.json margins.csv --of 'sex=F'",
    "cellar infer interval country.cube --of 'region=Border; sex=F' --minus 'region=Border; sex=M'",
    "cellar infer study --table-3",
    "cellar infer binomial --released 45 --trials 80 --null 0.5 --mechanism "
    "truncated-laplace:epsilon=0.5,m=5",
    "cellar infer binomial --released 45 --trials 80 --null 0.7 --alternative 0.5 --critical "
    "3.361 --mechanism truncated-laplace:epsilon=0.5,m=5",
    NULL};

static const cli_command infer_command = {
    "infer",
    "independence|loglinear|interval|binomial|study [RELEASE|CUBE] [options]",
    "Tests and intervals from released values that reckon with the noise, which a release or a "
    "cube "
    "carries with it; the naive result, which takes the values for counts, stands beside each.",
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
                                   {"pooled", OF_TESTS},
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
    if ((*part)->run == infer_run_interval ? words->n < 2 : (*part)->n_files == 1 && words->n != 2)
        return cli_usage("infer %s needs %s file: a release or a cube", words->items[0],
                         (*part)->run == infer_run_interval ? "a" : "one");
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
    cli_results_people(&answer->header, "iterations", output);
    cellar_output_string(output, "\n");
    cli_results_people(&answer->tests, "chi_square_p_value,pearson", output);
    if (answer->list.n > 0) {
        cellar_output_printf(output, "%s%s\n", answer->tests.n > 0 ? "\n" : "", answer->list_key);
        cli_results_people(
            &answer->list,
            "naive.low,naive.high,numbers_summed,rejected_se,statistic_se,p_value_se", output);
    }
    for (size_t i = 0; i < answer->notes.n; i++)
        cellar_output_printf(output, "%s%s\n", i == 0 ? "\n" : "", answer->notes.items[i]);
}

static int infer_run(const infer_values *values, const infer_part *part, const char *path)
{
    cellar_output_options how = cellar_output_options_default();
    how.replace = values->force;
    how.shared = 1;
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
    if (result == CLI_GO_ON && words.n > 2) {
        values.others = (const char *const *) words.items + 2;
        values.n_others = words.n - 2;
    }
    if (result == CLI_GO_ON)
        result = infer_run(&values, part, words.n > 1 ? words.items[1] : NULL);
    cli_words_clear(&words);
    cli_options_clear(&infer_command, &values);
    return result;
}
