/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar risk: what was asked, and what is answered. */
#ifndef CELLAR_CLI_RISK_H
#define CELLAR_CLI_RISK_H

#include <cellar/risk.h>
#include <cellar/risk_fit.h>

#include "exposure.h"
#include "results.h"
#include "vary.h"

typedef struct risk_values {
    const char *mechanism, *epsilon;
    cli_words vary;
    const char *measure, *method;
    const char *counts, *size, *shares, *prior, *size_model; /* what-if */
    const char *qid, *sensitive;                             /* of a table */
    int sensitive_as, average, also_released;
    const char *groups, *target;
    cli_number copies, seed;
    const char *released; /* of attribute */
    int negatives;
    const char *level; /* of membership */
    cli_number cells;
    int neighbours;
    exposure_values read; /* how a table or records are read; also -o, --force, --json, --csv */
} risk_values;

typedef struct risk_answer {
    cli_results header; /* one result: facts about the data */
    cli_results results;
    cli_words notes;
} risk_answer;

void risk_note(risk_answer *answer, const char *format, ...) CELLAR_PRINTF(2, 3);

/* The mechanisms of --mechanism with every combination of --vary and --epsilon. */
typedef struct risk_mechanisms {
    cli_vary grid;
    cellar_mechanism **mechanisms; /* NULL: of a kind that is no mechanism of single cells */
    size_t n;
} risk_mechanisms;

/* Answers CLI_GO_ON, or an exit code after a message; so in all below. Clear in every case. */
int risk_mechanisms_read(const risk_values *values, int create, risk_mechanisms *out);
void risk_mechanisms_clear(risk_mechanisms *mechanisms);
/* The words of --measure and --method as numbers; *n of them. */
int risk_measures(const char *text, const int *allowed, int *out, size_t *n);
int risk_methods(const char *text, int *out, size_t *n);

/* "0.5,0.5" as numbers; free *out with free(). */
int risk_reals(const char *option, const char *text, double **out, size_t *n);

/* The fields that every risk has, and the probabilities of all scenarios. */
void risk_put(cli_results *results, const cellar_risk *risk);
void risk_put_scenarios(cli_results *results, const cellar_risk *risk);
/* The parameters of a mechanism, those that vary among them. */
void risk_put_mechanism(cli_results *results, const risk_mechanisms *mechanisms, size_t index);

int risk_run_membership(const risk_values *values, risk_answer *answer);
int risk_run_cell(const risk_values *values, risk_answer *answer);
/* The homogeneity attack on a table, or the Bayesian one. */
int risk_run_table(const risk_values *values, const char *path, int is_attribute,
                   risk_answer *answer);
/* The posterior of one released group. */
int risk_run_posterior(const risk_values *values, risk_answer *answer);

#endif
