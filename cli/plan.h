/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar plan. */
#ifndef CELLAR_CLI_PLAN_H
#define CELLAR_CLI_PLAN_H

#include <cellar/plan.h>

#include "options.h"

typedef struct plan_values {
    cli_words from;
    int without_counts, json;
    cli_number threads;
    const char *date;
} plan_values;

/* Tells what a plan will do; exit 3 when something refuses it. */
int cli_plan_check(const cellar_plan *plan, const plan_values *values);

/* Sets strategies side by side. */
int cli_plan_compare(const cellar_plan *plan, const plan_values *values);

/* Runs it; exit 3 when a budget or a rule refused. */
int cli_plan_run(const cellar_plan *plan, const plan_values *values);

/* A number for people: four digits, and all digits before the point of a large one. */
enum { CLI_PLAN_NUMBER = 32 };
const char *cli_plan_number(double number, char text[CLI_PLAN_NUMBER]);

/* The options of the library's calls. */
cellar_plan_options cli_plan_options(const plan_values *values);

#endif
