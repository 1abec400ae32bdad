/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar risk: how likely a sensitive value is read off a released table. */
#include "verbs.h"

#include <stdio.h>
#include <string.h>

#include "risk.h"
#include "terminal.h"

#define AT(member) offsetof(risk_values, member)
static const cli_option risk_options[] = {
    SECTION("The release"),
    TEXT("mechanism", "SPEC", mechanism,
         "the mechanism, such as laplace:epsilon=1 (cellar mechanism)"),
    MANY("vary", "KEY=GRID", vary,
         "a parameter at several values: epsilon=0.01..100/50, or m=5,10; repeated: all "
         "combinations"),
    TEXT("epsilon", "GRID", epsilon, "short for --vary epsilon=GRID"),
    FLAG("also-released", also_released,
         "margins or other tables are published too: what is computed is then a lower bound"),
    SECTION("What to measure"),
    TEXT("measure", "A,B", measure,
         "local, expected, shrinkage, global, global_fixed, hard, soft, or all [cell: all that the "
         "arguments allow; table: local,expected]"),
    TEXT("method", "A,B", method,
         "exact, published, published-2020, simulate [cell: all but simulate; table: exact]"),
    TEXT("prior", "A,A,...", prior,
         "Dirichlet parameters of the shares; of a file also fit or moments [fit]"),
    TEXT("size-model", "MODEL", size_model,
         "poisson:lambda=L or negbin:r=R,lambda=L, with zero-truncated- or zero-inflated- before "
         "it; for a table the name alone is fitted [zero-truncated-poisson]"),
    NUMBER("copies", "R", copies, 2, 0, "simulate: so many copies [500; attribute: 10]"),
    NUMBER("seed", "S", seed, 0, 0, "simulate: the seed [1]"),
    SECTION("Of one group (cell)"),
    TEXT("counts", "N,N,...", counts, "the counts of the sensitive values"),
    TEXT("size", "N", size, "the number of members, with --shares or --prior"),
    TEXT("shares", "P,P,...", shares, "the shares of the sensitive values, adding up to 1"),
    SECTION("Of somebody whose group is released (attribute)"),
    TEXT("released", "N,N,...", released,
         "the released values of one group, with --size and --prior; else FILE is attacked"),
    CHOICE("negatives", "keep|zero", negatives,
           "what becomes of released values below zero [keep]"),
    SECTION("Of somebody who is in the data or not (membership)"),
    TEXT("level", "A,A,...", level, "the chance of a false alarm [0.01,0.05,0.1]"),
    NUMBER("cells", "D", cells, 1, 1000000, "released cells that one record touches [1]"),
    CHOICE("neighbours", "add-remove|substitute", neighbours,
           "whether somebody is there, or which of two [add-remove]"),
    SECTION("Of a table"),
    TEXT("qid", "A,B,C", qid, "the columns an attacker knows: they make the groups"),
    TEXT("sensitive", "Y,Z", sensitive, "the column or columns to be learnt"),
    CHOICE("sensitive-as", "joint|each|both", sensitive_as,
           "several sensitive columns together, one by one, or both [both]"),
    CHOICE("average", "group|person", average, "means over groups or over people [group]"),
    TEXT("target", "R", target,
         "find the values of the first --vary parameter with risk at most R, between the ends of "
         "its grid [epsilon=0.001..100]"),
    TEXT("groups", "FILE", groups, "also write the groups one by one, the most exposed first"),
    SECTION("Records"),
    MANY("where", "CONDITION", read.where,
         "only rows that meet it: 'sex=F', 'age>=18'; may be repeated"),
    MANY(
        "missing-as", "[VAR=]HOW", read.variables.missing_as,
        "what to do with a row whose column is missing: drop it, or let it be a level; needed when "
        "there are any; may be repeated, for all columns and for one"),
    MANY("domain", "VAR=FILE", read.variables.domain,
         "declare the categories with a code list; may be repeated"),
    CLI_RECODE_OPTIONS(AT(read.variables)),
    CLI_READER_OPTIONS(AT(read.reader)),
    SECTION("Writing it"),
    OUTPUT(read.path, "write to a file that only you can read [standard output]"),
    FLAG("force", read.force, "replace existing files"),
    FLAG("json", read.json, "print JSON"),
    FLAG("csv", read.csv, "print CSV"),
    SECTION("Other"),
};

static const char *const risk_examples[] = {
    "cellar risk cell --mechanism laplace:epsilon=1 --counts 3,0",
    "cellar risk cell --mechanism gaussian:sigma=2 --size 10 --shares 0.9,0.1",
    "cellar risk table people.csv --qid region,sex,age --sensitive diagnosis --mechanism laplace "
    "--epsilon 0.01..100/50",
    "cellar risk table table.json --qid region,sex --sensitive diagnosis --mechanism "
    "laplace:epsilon=1 --average person --groups exposed.csv",
    "cellar risk table people.csv --qid region,sex --sensitive diagnosis --mechanism laplace "
    "--target 0.3",
    "cellar risk attribute --mechanism discrete-laplace:epsilon=1 --released 4,-1,0 --size 5 "
    "--prior 1,1,1",
    "cellar risk attribute people.csv --qid region,sex --sensitive diagnosis --mechanism "
    "discrete-laplace --epsilon 0.1,1",
    "cellar risk membership --mechanism discrete-laplace --epsilon 0.1,1 --level 0.05",
    NULL};

static const cli_command risk_command = {
    "risk",
    "cell|table|attribute|membership [FILE] [options]",
    "Shows how likely it is that somebody who knows a person's group reads off the person's "
    "sensitive value from a released table (the homogeneity attack), exactly, for every mechanism: "
    "of one group without data (cell), or of all groups of FILE, a table with counts or records "
    "(table); what a Bayesian attacker with a prior makes of the released groups (attribute); or "
    "how well the best test decides whether somebody is in the data at all (membership). What it "
    "prints of a table is an assessment: computed from true counts, and "
    "confidential.",
    risk_options,
    sizeof risk_options / sizeof risk_options[0],
    risk_examples};

/* ---- writing ---------------------------------------------------------------------------- */

static void risk_write_json(const char *action, int is_table, const risk_answer *answer,
                            cellar_output *output)
{
    cli_json json = {output, 0, 0};
    char name[32];
    cli_json_begin(&json, NULL, '{');
    snprintf(name, sizeof name, "risk %s", action);
    cli_json_text(&json, "assessment", name);
    cli_json_truth(&json, "confidential", is_table);
    cli_results_json_header(&answer->header, &json);
    cli_results_json(&answer->results, &json, "results");
    cli_json_begin(&json, "notes", '[');
    for (size_t i = 0; i < answer->notes.n; i++)
        cli_json_text(&json, NULL, answer->notes.items[i]);
    cli_json_end(&json, ']');
    cli_json_end(&json, '}');
}

static void risk_write_people(const risk_values *values, int is_table, const risk_answer *answer,
                              cellar_output *output)
{
    static const char details[] = "scenario_1,scenario_8,false_claim,claim,quantile_0.9,"
                                  "quantile_0.95,quantile_0.99,difference,original";
    static const char varied[] = "mechanism,scenario_1,scenario_8,false_claim,claim,quantile_0.9,"
                                 "quantile_0.95,quantile_0.99,difference,original";
    int varies = values->vary.n > 0 || values->epsilon != NULL;
    if (is_table)
        cellar_output_string(output, "Confidential: an assessment of true counts\n\n");
    cli_results_people(&answer->header, "measure", output);
    cellar_output_string(output, answer->header.n > 0 ? "\n" : "");
    if (varies) /* what varies has a column: the spec need not be repeated in each row */
        cellar_output_printf(output, "mechanism %s\n", values->mechanism);
    cli_results_people(&answer->results, varies ? varied : details, output);
    for (size_t i = 0; i < answer->notes.n; i++)
        cellar_output_printf(output, "%s%s\n", i == 0 ? "\n" : "", answer->notes.items[i]);
}

static int risk_run(const risk_values *values, const char *action, const char *path)
{
    cellar_output_options how = cellar_output_options_default();
    how.replace = values->read.force;
    risk_answer answer = {0};
    cellar_output *output;
    int result = cli_answer_open(values->read.path, &how, &output);

    if (result == CLI_GO_ON && strcmp(action, "membership") == 0)
        result = risk_run_membership(values, &answer);
    else if (result == CLI_GO_ON && path != NULL)
        result = risk_run_table(values, path, strcmp(action, "attribute") == 0, &answer);
    else if (result == CLI_GO_ON)
        result = values->released != NULL ? risk_run_posterior(values, &answer)
                                          : risk_run_cell(values, &answer);
    if (result == CLI_GO_ON) {
        if (values->read.json)
            risk_write_json(action, path != NULL, &answer, output);
        else if (values->read.csv)
            cli_results_csv(&answer.results, output);
        else
            risk_write_people(values, path != NULL, &answer, output);
    }
    result = cli_answer_close(output, result);
    cli_results_clear(&answer.header);
    cli_results_clear(&answer.results);
    cli_words_clear(&answer.notes);
    return result;
}

/* ---- the verb ------------------------------------------------------------------------------ */

enum { RISK_CELL = 1, RISK_TABLE = 2, RISK_ATTRIBUTE = 4, RISK_MEMBERSHIP = 8 };
static const char *const risk_parts[] = {"cell", "table", "attribute", "membership"};
enum { N_PARTS = sizeof risk_parts / sizeof *risk_parts };

/* The options that some parts only know. */
static const cli_place risk_places[] = {
    {"measure", RISK_CELL | RISK_TABLE},
    {"method", RISK_CELL | RISK_TABLE},
    {"counts", RISK_CELL},
    {"size", RISK_CELL | RISK_ATTRIBUTE},
    {"shares", RISK_CELL},
    {"prior", RISK_CELL | RISK_TABLE | RISK_ATTRIBUTE},
    {"size-model", RISK_CELL | RISK_TABLE},
    {"copies", RISK_CELL | RISK_TABLE | RISK_ATTRIBUTE},
    {"seed", RISK_CELL | RISK_TABLE | RISK_ATTRIBUTE},
    {"released", RISK_ATTRIBUTE},
    {"negatives", RISK_ATTRIBUTE},
    {"level", RISK_MEMBERSHIP},
    {"cells", RISK_MEMBERSHIP},
    {"neighbours", RISK_MEMBERSHIP},
    {"qid", RISK_TABLE | RISK_ATTRIBUTE},
    {"sensitive", RISK_TABLE | RISK_ATTRIBUTE},
    {"sensitive-as", RISK_TABLE},
    {"average", RISK_TABLE},
    {"target", RISK_TABLE},
    {"groups", RISK_TABLE},
};

/* The Bayesian attack needs a file, or all of a group that is released. */
static int risk_check_attribute(const risk_values *values, const cli_words *words)
{
    if (words->n > 2 || (words->n == 2) == (values->released != NULL))
        return cli_usage("risk attribute needs one file, or --released N,N,... of one group");
    if (values->released != NULL && (values->size == NULL || values->prior == NULL))
        return cli_usage("risk attribute --released: say --size N and --prior A,A,...");
    if (values->released == NULL && values->size != NULL)
        return cli_usage("risk attribute: --size is for --released; a file has sizes");
    if (values->released != NULL && (values->qid != NULL || values->sensitive != NULL))
        return cli_usage("risk attribute: --qid and --sensitive are for a file");
    return CLI_GO_ON;
}

static int risk_check(const risk_values *values, const cli_words *words)
{
    size_t part = 0;
    int result;
    while (words->n > 0 && part < N_PARTS && strcmp(words->items[0], risk_parts[part]) != 0)
        part++;
    if (words->n == 0 || part == N_PARTS)
        return cli_usage("risk: say cell (one group, without data), table FILE, attribute or "
                         "membership");
    if ((1u << part & (RISK_CELL | RISK_MEMBERSHIP)) != 0 && words->n > 1)
        return cli_usage("risk %s reads no file", words->items[0]);
    result = cli_options_check_places(&risk_command, values, risk_places,
                                      sizeof risk_places / sizeof *risk_places, risk_parts, part);
    if (result != CLI_GO_ON)
        return result;
    if (1u << part == RISK_TABLE && words->n != 2)
        return cli_usage("risk table needs one file: a table with counts, or records");
    if (1u << part == RISK_ATTRIBUTE)
        result = risk_check_attribute(values, words);
    if (result != CLI_GO_ON)
        return result;
    if (values->mechanism == NULL)
        return cli_usage("risk: say which mechanism: --mechanism laplace:epsilon=1");
    if (values->groups != NULL && values->read.path != NULL &&
        strcmp(values->groups, values->read.path) == 0)
        return cli_usage("risk: --groups and --output are two files");
    if (values->read.json && values->read.csv)
        return cli_usage("risk: --json or --csv, not both");
    return CLI_GO_ON;
}

int cli_risk(int argc, char **argv)
{
    risk_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&risk_command, argc, argv, &values, &words);

    if (result == CLI_GO_ON)
        result = risk_check(&values, &words);
    if (result == CLI_GO_ON && words.n > 1)
        result = cli_reader_spare(words.items[1], values.read.path);
    if (result == CLI_GO_ON && words.n > 1)
        result = cli_reader_spare(words.items[1], values.groups);
    if (result == CLI_GO_ON)
        result = risk_run(&values, words.items[0], words.n > 1 ? words.items[1] : NULL);
    cli_words_clear(&words);
    cli_options_clear(&risk_command, &values);
    return result;
}
