/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar utility: what was asked, and what is answered. */
#ifndef CELLAR_CLI_UTILITY_H
#define CELLAR_CLI_UTILITY_H

#include <cellar/output.h>
#include <cellar/utility.h>

#include "options.h"
#include "results.h"
#include "utility_risk.h"
#include "vary.h"

typedef struct utility_values {
    cli_words mechanism, vary, domain;
    const char *epsilon, *delta;
    int negatives;
    cli_number threshold, copies, seed, ways, top, threads;
    const char *counts, *within;
    const char *qid, *sensitive;
    const char *column;
    const char *path;
    int force, json, csv, propensity;
} utility_values;

/* A run of the verb. */
typedef struct utility_run {
    const utility_values *values;
    cellar_table *table;
    cellar_utility_options options;
    uint64_t *counts, *radii;
    cli_vary grid;
    utility_risk risk;
    cli_results header, original, results, spreads, distances, risks;
    cli_results measures, by_count, places; /* for a reader (utility_people.c) */
    cli_words notes;
} utility_run;

/* The delta of one cell at an epsilon, proven; NAN when there is none (utility_delta.c). */
double utility_certified_delta(const char *spec, const char *epsilon);
/* The spec with what it lacks to have at most this delta. Answers CLI_GO_ON, or an exit code after
 * a message. `size` leaves room for 128 characters more. */
int utility_complete(const char *spec, const char *epsilon, const char *delta, char *out,
                     size_t size);

/* Where in the grid a row belongs: mechanism, what varies, delta. */
void utility_put_place(const utility_run *run, size_t spec, const char *mechanism, double delta,
                       cli_results *results);
/* The few measures that a reader sees first; --json and --csv have all of them. Answers 1 when
 * tests are among them, which need the library's notes. */
int utility_put_people(utility_run *run, size_t spec, double delta, const cellar_utility *u);
void utility_write_people(const utility_run *run, cellar_output *output);
/* Adds what one place in the grid has; `point` is its risk, or NULL. */
void utility_put_answer(utility_run *run, size_t spec, double delta, const cellar_utility *u,
                        const utility_risk_point *point);
/* Writes everything in the way that was asked for. */
void utility_write(const utility_run *run, cellar_output *output);

#endif
