/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar infer. */
#ifndef CELLAR_CLI_INFER_H
#define CELLAR_CLI_INFER_H

#include <cellar/cube_inference.h>
#include <cellar/inference.h>
#include <cellar/interval.h>
#include <cellar/output.h>

#include "json_out.h"
#include "options.h"
#include "results.h"

typedef struct infer_values {
    /* tests of tables */
    const char *rows, *columns, *model, *against, *confidence;
    int reference, cells, association, pooled;
    cli_number replicates, seed, threads;
    /* binomial */
    const char *released, *null, *alternative, *level, *critical, *mechanism;
    cli_number trials;
    int negatives;
    /* interval */
    const char *const *others; /* further releases of the same people */
    size_t n_others;
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

/* A table for tests, and the release or the cube it is from. */
typedef struct infer_source {
    cellar_release *release; /* or NULL */
    cellar_cube *cube;       /* or NULL */
    cellar_noisy *noisy;
    int is_pooled; /* asked for: cells are estimated from all values of the release */
} infer_source;

/* Reads a release or a cube and makes the table of the variables named (none: all of a release);
 * of a cube "region^1" is a level of a variable. Clear it in every case. */
int infer_read(const char *path, const cli_words *names, infer_source *source);
void infer_source_clear(infer_source *source);
/* What was released and how, in the header. */
void infer_describe_source(const infer_source *source, infer_answer *answer);

/* What a set of cells is compared with, as infer interval is asked. */
typedef struct infer_question {
    const char *of, *other;
    cellar_comparison comparison;
    cellar_interval_options options;
} infer_question;

extern const char *const infer_comparisons[]; /* the measure, by cellar_comparison */
/* Names the sets of a finding in the list. */
void infer_add_sets(const infer_question *q, infer_answer *answer);
/* The answer of a cube. */
int infer_run_cube_interval(const infer_values *values, const infer_question *q, const char *path,
                            infer_answer *answer);

#endif
