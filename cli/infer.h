/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar infer. */
#ifndef CELLAR_CLI_INFER_H
#define CELLAR_CLI_INFER_H

#include <cellar/inference.h>
#include <cellar/output.h>

#include "json_out.h"
#include "options.h"
#include "results.h"

typedef struct infer_values {
    /* tests of tables */
    const char *rows, *columns, *model, *against, *confidence;
    int reference, cells, association;
    cli_number replicates, seed, threads;
    /* binomial */
    const char *released, *null, *alternative, *level, *critical, *mechanism;
    cli_number trials;
    int negatives;
    /* interval */
    const char *of, *minus, *over, *within;
    int target, prior, every_cell, simultaneous;
    /* study */
    const char *eta, *spread, *dependence;
    cli_number n_rows, n_columns, tables;
    int table_3, fixed_effects;
    /* writing */
    const char *path;
    int force, json;
} infer_values;

/* What a part found: for programs one object (header, its fields and groups), for people lines. */
typedef struct infer_answer {
    cli_results header;   /* one result: facts about the run */
    cli_results tests;    /* "aware" and "naive", by measure: objects of the JSON document */
    cli_results list;     /* what there are many of */
    const char *list_key; /* its key in JSON */
    cli_words notes;
} infer_answer;

/* Each answers CLI_GO_ON, or an exit code after a message. */
int infer_run_independence(const infer_values *values, const char *path, infer_answer *answer);
int infer_run_loglinear(const infer_values *values, const char *path, infer_answer *answer);
int infer_run_interval(const infer_values *values, const char *path, infer_answer *answer);
int infer_run_binomial(const infer_values *values, infer_answer *answer);
int infer_run_study(const infer_values *values, infer_answer *answer);

/* ---- shared by the parts ---- */

void infer_note(infer_answer *answer, const char *note);
/* The tests speak of what made the counts, which a census has too. */
void infer_note_population(infer_answer *answer);
/* A decimal, or `otherwise` when the option was not given. */
int infer_real(const char *option, const char *text, double otherwise, double *out);
/* Reads a release and makes the table of the variables named (none: all of them). */
int infer_read(const char *path, const cli_words *names, cellar_release **release,
               cellar_noisy **noisy);
/* What was released and how, in the header. */
void infer_tell_release(const cellar_release *release, const cellar_noisy *noisy,
                        infer_answer *answer);

#endif
