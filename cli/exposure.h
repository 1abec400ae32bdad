/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar exposure: what was asked, what is read, what is answered. */
#ifndef CELLAR_CLI_EXPOSURE_H
#define CELLAR_CLI_EXPOSURE_H

#include <cellar/selection.h>
#include <cellar/table.h>

#include "options.h"
#include "reader.h"
#include "results.h"
#include "variables.h"

typedef struct exposure_values {
    const char *shares, *threshold, *k, *population, *delta, *tolerance;
    cli_number tight_example;
    const char *curve_excess;
    cli_variable_options variables; /* `by` holds --columns */
    cli_words where;
    const char *sensitive, *diversity_c, *closeness_t;
    cli_number diversity_l;
    const char *sample_weight;
    int curve, worst_by;
    cli_number groups;
    int support;
    cli_number max_nodes;
    int measure;
    const char *exposure, *must, *must_not;
    cli_words weight;
    cli_number runners_up, max_evaluations;
    const char *hide;
    cli_reader reader;
    const char *path;
    int force, json, csv;
} exposure_values;

/* What --measure says, from 1. */
enum {
    EXPOSURE_MEASURE_KNOWN = 1,
    EXPOSURE_MEASURE_BOUNDED,
    EXPOSURE_MEASURE_ESTIMATED,
    EXPOSURE_MEASURE_INDEPENDENT
};

/* What --csv says, from 1. */
enum { EXPOSURE_CSV_RESULTS = 1, EXPOSURE_CSV_LIST };

typedef struct exposure_answer {
    cli_results header; /* one result: facts about the data */
    cli_results results;
    cli_results groups; /* listings: groups, sets, rules */
    const char *groups_key;
    const char *groups_columns; /* NULL, or the columns of a CSV of no listings */
    cli_words notes;
} exposure_answer;

/* The numbers of the options, checked before any data are read. {0} is an empty one. */
typedef struct exposure_query {
    cli_words thresholds; /* as typed, above 0 and up to 1 */
    uint64_t *ks, *populations;
    size_t n_ks, n_populations;
    double delta;        /* NAN: no bands */
    double diversity_c;  /* NAN: none */
    double closeness_t;  /* NAN: none */
    double curve_excess; /* of a curve of bounds */
} exposure_query;

/* Answers CLI_GO_ON, or an exit code after a message; so in all below. Clear it in every case. */
int exposure_query_read(const exposure_values *values, exposure_query *query);
void exposure_query_clear(exposure_query *query);

/* What --missing-as says about a column: "drop", "level" or "wildcard"; NULL: nothing. */
const char *exposure_missing_as(const exposure_values *values, const char *column);
/* 1 when it says that word about any. */
int exposure_says_missing(const exposure_values *values, const char *word);
/* All that it says, in the header: "none declared", "level", "level, age=drop". */
void exposure_add_missing(const exposure_values *values, exposure_answer *answer);
/* With missing values as wildcards: how the last result took them, for results differ in that. */
void exposure_tell_missing(const exposure_values *values, const char *how, exposure_answer *answer);

/* The names of --columns, none empty and none twice. */
int exposure_columns(const exposure_values *values, cli_words *names);

void exposure_note(exposure_answer *answer, const char *text);
/* What exposure does not bound: said in every answer. */
void exposure_note_disclosure(exposure_answer *answer);

/* A table of the columns of --columns and, if asked for, --sensitive (last), from a table file or
 * from records. *has_more (NULL: not asked for) tells whether a table file holds more than that:
 * margins, upper levels or further variables. Free the table in every case. */
int exposure_read_table(const exposure_values *values, const char *path, cellar_table **table,
                        int *has_more);
/* The same as profiles, without --sensitive. */
int exposure_read_profiles(const exposure_values *values, const char *path,
                           cellar_profiles **profiles);

/* The groups of a table at each k, worst first; the first n_qid variables are the columns. */
int exposure_run_groups(const exposure_values *values, const exposure_query *query,
                        const cellar_table *table, size_t n_qid, exposure_answer *answer);
/* Whether the options about groups make sense together. */
int exposure_check_groups(const exposure_values *values);

/* The facts about profiles, in the header. */
void exposure_add_profiles(const exposure_values *values, const cellar_profiles *profiles,
                           exposure_answer *answer);

/* The parts of the verb. */
int exposure_run_shares(const exposure_values *values, exposure_answer *answer);
int exposure_run_table(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_bound(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_select(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_suppress(const exposure_values *values, const char *path, exposure_answer *answer);

#endif
