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
    const char *shares, *threshold, *k, *population, *delta;
    cli_variable_options variables; /* `by` holds --columns */
    cli_words where;
    int missing_as;
    const char *sensitive, *diversity_c;
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

/* What --missing-as says, from 1. */
enum { EXPOSURE_MISSING_DROP = 1, EXPOSURE_MISSING_LEVEL, EXPOSURE_MISSING_WILDCARD };

typedef struct exposure_answer {
    cli_results header; /* one result: facts about the data */
    cli_results results;
    cli_results groups; /* listings: groups, sets, rules */
    const char *groups_key;
    cli_words notes;
} exposure_answer;

void exposure_note(exposure_answer *answer, const char *text);
/* What exposure does not bound: said in every answer. */
void exposure_note_disclosure(exposure_answer *answer);

/* A table of the columns of --columns and, if asked for, --sensitive (last), from a table file or
 * from records. Answers CLI_GO_ON, or an exit code after a message; so in all below. Free the table
 * in every case. */
int exposure_read_table(const exposure_values *values, const char *path, cellar_table **table);
/* The same as profiles, without --sensitive. */
int exposure_read_profiles(const exposure_values *values, const char *path,
                           cellar_profiles **profiles);

/* The parts of the verb. */
int exposure_run_shares(const exposure_values *values, exposure_answer *answer);
int exposure_run_table(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_bound(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_select(const exposure_values *values, const char *path, exposure_answer *answer);
int exposure_run_suppress(const exposure_values *values, const char *path, exposure_answer *answer);

#endif
