/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar exposure: how many people stand out, and what to do about it. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#include <cellar/anonymity.h>
#include <cellar/text.h>

#include "exposure.h"
#include "reader.h"
#include "terminal.h"

#define AT(member) offsetof(exposure_values, member)
static const cli_option exposure_options[] = {
    SECTION("What to look at"),
    TEXT("columns", "A,B,C", variables.by, "the columns, in a table or in records"),
    TEXT("shares", "P,P,...", shares,
         "the shares themselves, adding up to 1 give or take 1e-6 (shares)"),
    NUMBER("tight-example", "N", tight_example, 1, 0,
           "instead, N cells of the share of --threshold and one with the rest: Proposition 13 "
           "(shares)"),
    TEXT("threshold", "T,T,...", threshold,
         "at these thresholds; grids 1e-5..1/60 (shares, table, bound)"),
    TEXT("k", "K,K,...", k, "for groups of fewer than K people, at t = K/n"),
    TEXT("population", "N,N,...", population,
         "statistical exposure of so many other people, with --k (shares, table, select)"),
    SECTION("Of curves and groups"),
    FLAG("curve", curve, "every step of the exposure curve, or of the curve of bounds"),
    TEXT("delta", "D", delta,
         "the data is a sample: bands that hold with probability 1-D, for all thresholds at once"),
    TEXT("sensitive", "COLUMN", sensitive,
         "also diversity, closeness, disclosure and likeness of this column, with --k"),
    TEXT("diversity-c", "C", diversity_c, "c of recursive (c,l)-diversity"),
    NUMBER("diversity-l", "L", diversity_l, 1, CELLAR_DIVERSITY_L_MAX,
           "the share of --population people expected in groups of fewer than L sensitive values"),
    TEXT("closeness-t", "T", closeness_t,
         "with --diversity-l: also the share in groups farther than T from all"),
    NUMBER("groups", "N", groups, 0, 0, "list the N worst groups, 0 for all [20]"),
    CHOICE("worst-by",
           "size|distinct|entropy|closeness|ordered|hierarchical|disclosure|likeness|risk",
           worst_by, "what makes a group bad [size]"),
    TEXT("sample-weight", "COLUMN", sample_weight,
         "the records are a sample with these weights: also the risk of re-identification of each "
         "group and of all records, with --k"),
    SECTION("Of bounds"),
    CHOICE(
        "support", "declared|occurring", support,
        "the sizes of domains in Theorem 2: as declared, or of the values that occur [declared]"),
    TEXT("curve-excess", "E", curve_excess,
         "how far a step of the curve of bounds may lie above the bound, 0: a step for every k "
         "[0.001]"),
    NUMBER("max-nodes", "N", max_nodes, 1, 0, "cut the search for the least bound short [100000]"),
    SECTION("Of choices"),
    TEXT("exposure", "Q", exposure, "the share of people allowed to stand out (select, suppress)"),
    CHOICE("measure", "known|bounded|estimated|independent", measure,
           "exposure itself, its bound from single columns, statistical exposure, or what single "
           "columns make likely if they are independent [known]"),
    TEXT("tolerance", "T", tolerance,
         "independent: the share of people about whom nothing is assumed; required"),
    MANY("weight", "COLUMN=W", weight, "how useful a column is [1]; may be repeated"),
    TEXT("must", "A,B", must, "columns that must be chosen"),
    TEXT("must-not", "A,B", must_not, "columns that must not"),
    NUMBER("runners-up", "N", runners_up, 0, 1000, "report so many of the next best sets [3]"),
    TEXT("hide", "H", hide,
         "suppress: of the redactions in a column at most this share may come from the rules, "
         "others are random; 1: none are"),
    NUMBER("max-evaluations", "N", max_evaluations, 1, 0,
           "cut the search short after so many exposures"),
    SECTION("Records"),
    MANY("where", "CONDITION", where,
         "only rows that meet it: 'sex=F', 'age>=18'; may be repeated"),
    MANY("missing-as", "[VAR=]HOW", variables.missing_as,
         "what to do with a row whose column is missing: drop it, let it be a level, or a wildcard "
         "that matches everything (groups only); needed when there are any; may be repeated, for "
         "all columns and for one"),
    MANY("domain", "VAR=FILE", variables.domain,
         "declare the categories with a code list; may be repeated"),
    CLI_RECODE_OPTIONS(AT(variables)),
    CLI_READER_OPTIONS(AT(reader)),
    SECTION("Writing it"),
    OUTPUT(path, "write to a file that only you can read [standard output]"),
    FLAG("force", force, "replace an existing file"),
    FLAG("json", json, "print JSON"),
    CHOICE("csv", "results|list", csv,
           "print CSV: the results, or what is listed after them (groups, additions, rules)"),
    SECTION("Other"),
};

static const char *const exposure_examples[] = {
    "cellar exposure table people.csv --columns region,sex,age --k 2,5,10 --missing-as level",
    "cellar exposure table table.json --columns region,sex --k 5 --sensitive diagnosis",
    ("cellar exposure table sample.csv --columns region,sex,age --k 3 --sample-weight w "
     "--worst-by risk"),
    "cellar exposure bound people.csv --columns region,sex,age --curve",
    "cellar exposure select people.csv --columns region,sex,age,occupation --k 5 --exposure 0.01",
    "cellar exposure suppress people.csv --columns region,sex --k 5 --exposure 0.01 --hide 0.5",
    "cellar exposure shares --shares 0.5,0.3,0.2 --population 1000 --k 5",
    NULL};

static const cli_command exposure_command = {
    "exposure",
    "shares|table|bound|select|suppress [FILE] [options]",
    "Shows how many people share their values with few others: exactly (table), from single "
    "columns "
    "alone (bound), for other people from the same shares (--population); which columns can be "
    "published "
    "together (select) and which values to redact (suppress). FILE is a table with counts, or "
    "records. What it prints is an assessment: computed from true counts, and confidential.",
    exposure_options,
    sizeof exposure_options / sizeof exposure_options[0],
    exposure_examples};

/* ---- parts ------------------------------------------------------------------ */

typedef struct exposure_part {
    const char *name;
    int (*run)(const exposure_values *values, const char *path, exposure_answer *answer);
} exposure_part;

static int run_shares(const exposure_values *values, const char *path, exposure_answer *answer)
{
    (void) path;
    return exposure_run_shares(values, answer);
}

static const exposure_part parts[] = {{"shares", run_shares},
                                      {"table", exposure_run_table},
                                      {"bound", exposure_run_bound},
                                      {"select", exposure_run_select},
                                      {"suppress", exposure_run_suppress}};
enum { N_PARTS = sizeof parts / sizeof parts[0] };

static int exposure_find(const cli_words *words, const exposure_part **part)
{
    const char *names[N_PARTS + 1] = {NULL}, *nearest;
    if (words->n == 0)
        return cli_usage("exposure: say shares, table, bound, select or suppress");
    for (size_t i = 0; i < N_PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(parts[i].name, words->items[0]) == 0)
            *part = &parts[i];
    }
    nearest = cellar_nearest_word(words->items[0], names);
    if (*part == NULL && nearest != NULL)
        return cli_usage("exposure: unknown part '%s'; did you mean '%s'?", words->items[0],
                         nearest);
    if (*part == NULL)
        return cli_usage("exposure: unknown part '%s'; it is shares, table, bound, select or "
                         "suppress",
                         words->items[0]);
    if ((*part)->run == run_shares && words->n > 1)
        return cli_usage("exposure shares reads no file");
    if ((*part)->run != run_shares && words->n != 2)
        return cli_usage("exposure %s needs one file: a table with counts, or records",
                         words->items[0]);
    return CLI_GO_ON;
}

/* Which options belong to which parts; those not named here belong to all. */
enum {
    OF_SHARES = 1,
    OF_TABLE = 2,
    OF_BOUND = 4,
    OF_SELECT = 8,
    OF_SUPPRESS = 16,
    OF_FILES = OF_TABLE | OF_BOUND | OF_SELECT | OF_SUPPRESS
};

static const cli_place option_places[] = {{"columns", OF_FILES},
                                          {"shares", OF_SHARES},
                                          {"tight-example", OF_SHARES},
                                          {"threshold", OF_SHARES | OF_TABLE | OF_BOUND},
                                          {"population", OF_SHARES | OF_TABLE | OF_SELECT},
                                          {"curve", OF_TABLE | OF_BOUND},
                                          {"delta", OF_TABLE},
                                          {"sensitive", OF_TABLE},
                                          {"diversity-c", OF_TABLE},
                                          {"diversity-l", OF_TABLE},
                                          {"closeness-t", OF_TABLE},
                                          {"groups", OF_TABLE},
                                          {"worst-by", OF_TABLE},
                                          {"sample-weight", OF_TABLE},
                                          {"support", OF_BOUND},
                                          {"curve-excess", OF_BOUND},
                                          {"max-nodes", OF_BOUND},
                                          {"exposure", OF_SELECT | OF_SUPPRESS},
                                          {"measure", OF_SELECT},
                                          {"tolerance", OF_SELECT},
                                          {"weight", OF_SELECT},
                                          {"must", OF_SELECT},
                                          {"must-not", OF_SELECT},
                                          {"runners-up", OF_SELECT},
                                          {"hide", OF_SUPPRESS},
                                          {"max-evaluations", OF_SELECT | OF_SUPPRESS},
                                          {"where", OF_FILES},
                                          {"missing-as", OF_FILES},
                                          {"domain", OF_FILES},
                                          {"recode", OF_FILES},
                                          {"bottom", OF_FILES},
                                          {"top", OF_FILES},
                                          {"band", OF_FILES},
                                          {"band-origin", OF_FILES},
                                          {"band-closed", OF_FILES},
                                          {"delimiter", OF_FILES},
                                          {"no-header", OF_FILES},
                                          {"encoding", OF_FILES},
                                          {"bad-rows", OF_FILES},
                                          {"missing", OF_FILES}};

static int exposure_check_places(const exposure_values *values, const exposure_part *part)
{
    const char *names[N_PARTS];
    for (size_t i = 0; i < N_PARTS; i++)
        names[i] = parts[i].name;
    return cli_options_check_places(&exposure_command, values, option_places,
                                    sizeof option_places / sizeof option_places[0], names,
                                    (size_t) (part - parts));
}

static int exposure_check(const exposure_values *values, const exposure_part *part)
{
    int own = 1 << (part - parts), result = exposure_check_places(values, part);
    if (result != CLI_GO_ON)
        return result;
    if (values->json && values->csv > 0)
        return cli_usage("exposure: --json or --csv, not both");
    if (values->csv == EXPOSURE_CSV_LIST && (own & (OF_SHARES | OF_BOUND)) != 0)
        return cli_usage("exposure %s lists nothing after its results: say --csv results",
                         part->name);
    if (exposure_says_missing(values, "wildcard") && own != OF_TABLE)
        return cli_usage("exposure %s: --missing-as wildcard is for the groups of a table; say "
                         "level or drop",
                         part->name);
    return CLI_GO_ON;
}

/* ---- writing ---------------------------------------------------------------- */

static void exposure_write_json(const char *part, const exposure_answer *answer,
                                cellar_output *output)
{
    cli_json json = {output, 0, 0};
    cli_json_begin(&json, NULL, '{');
    cli_json_text(&json, "assessment", part);
    cli_json_truth(&json, "confidential", strcmp(part, "shares") != 0);
    cli_results_json_header(&answer->header, &json);
    cli_results_json(&answer->results, &json, "results");
    if (answer->groups_key != NULL)
        cli_results_json(&answer->groups, &json, answer->groups_key);
    cli_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < answer->notes.n; i++)
        cli_json_text(&json, NULL, answer->notes.items[i]);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

enum { DETAILS_BYTES = 128 };

/* Of the measures of a sensitive column, those that a table of groups leaves to --csv and --json:
 * it shows how many values a group has, and what the groups are ordered by, or else how far they
 * are from all people. */
static const char *exposure_details(const exposure_values *values, char out[DETAILS_BYTES])
{
    static const char *const shown[] = {[CELLAR_ORDER_ENTROPY] = "entropy_l",
                                        [CELLAR_ORDER_CLOSENESS] = "t_equal",
                                        [CELLAR_ORDER_ORDERED] = "t_ordered",
                                        [CELLAR_ORDER_HIERARCHICAL] = "t_hierarchical",
                                        [CELLAR_ORDER_DISCLOSURE] = "delta_disclosure",
                                        [CELLAR_ORDER_LIKENESS] = "beta_likeness",
                                        [CELLAR_ORDER_RISK] = NULL};
    static const char *const measures[] = {
        "entropy_l",        "t_equal",       "t_ordered",     "t_hierarchical",
        "delta_disclosure", "beta_likeness", "beta_enhanced", NULL};
    const char *own = values->worst_by > 0 ? shown[values->worst_by - 1] : NULL;
    snprintf(out, DETAILS_BYTES, "measure");
    for (size_t i = 0; measures[i] != NULL; i++)
        if (strcmp(measures[i], own != NULL ? own : "t_equal") != 0)
            snprintf(out + strlen(out), DETAILS_BYTES - strlen(out), ",%s", measures[i]);
    return out;
}

static void exposure_write_people(const exposure_values *values, const char *part,
                                  const exposure_answer *answer, cellar_output *output)
{
    char details[DETAILS_BYTES];
    if (strcmp(part, "shares") != 0)
        cellar_output_string(output, "Confidential: an assessment of true counts\n\n");
    cli_results_people(&answer->header, NULL, output);
    cellar_output_string(output, answer->header.n > 0 ? "\n" : "");
    cli_results_people(&answer->results, NULL, output);
    if (answer->groups.n > 0) {
        cellar_output_printf(output, "\n%s\n", answer->groups_key);
        cli_results_people(&answer->groups, exposure_details(values, details), output);
        if (values->sensitive != NULL)
            cellar_output_string(output, "(all measures of the groups: --csv list, --json)\n");
    }
    for (size_t i = 0; i < answer->notes.n; i++)
        cellar_output_printf(output, "%s%s\n", i == 0 ? "\n" : "", answer->notes.items[i]);
}

static void exposure_write(const exposure_values *values, const char *part,
                           const exposure_answer *answer, cellar_output *output)
{
    if (values->json)
        exposure_write_json(part, answer, output);
    else if (values->csv == EXPOSURE_CSV_RESULTS)
        cli_results_csv(&answer->results, output);
    else if (values->csv == EXPOSURE_CSV_LIST && answer->groups.n > 0)
        cli_results_csv(&answer->groups, output);
    else if (values->csv == EXPOSURE_CSV_LIST)
        cellar_output_printf(output, "%s\n", answer->groups_columns);
    else
        exposure_write_people(values, part, answer, output);
}

static int exposure_run(const exposure_values *values, const exposure_part *part, const char *path)
{
    cellar_output_options how = cellar_output_options_default();
    how.replace = values->force;
    exposure_answer answer = {0};
    cellar_output *output;
    int result = cli_answer_open(values->path, &how, &output);

    if (result == CLI_GO_ON)
        result = part->run(values, path, &answer);
    if (result == CLI_GO_ON)
        exposure_write(values, part->name, &answer, output);
    result = cli_answer_close(output, result);
    cli_results_clear(&answer.header);
    cli_results_clear(&answer.results);
    cli_results_clear(&answer.groups);
    cli_words_clear(&answer.notes);
    return result;
}

int cli_exposure(int argc, char **argv)
{
    exposure_values values = {.variables.missing_wildcard = 1};
    cli_words words = {0};
    const exposure_part *part = NULL;
    int result = cli_options_parse(&exposure_command, argc, argv, &values, &words);

    if (result == CLI_GO_ON)
        result = exposure_find(&words, &part);
    if (result == CLI_GO_ON)
        result = exposure_check(&values, part);
    if (result == CLI_GO_ON && words.n > 1)
        result = cli_reader_spare(words.items[1], values.path);
    if (result == CLI_GO_ON)
        result = exposure_run(&values, part, words.n > 1 ? words.items[1] : NULL);
    cli_words_clear(&words);
    cli_options_clear(&exposure_command, &values);
    return result;
}
