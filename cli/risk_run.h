/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar risk table. */
#ifndef CELLAR_CLI_RISK_RUN_H
#define CELLAR_CLI_RISK_RUN_H

#include "risk.h"

/* Everything that one run of the verb needs. */
typedef struct risk_table_run {
    const risk_values *values;
    const char *path;
    cli_words qid, sensitive;
    cellar_table *table; /* variables: quasi-identifiers, then sensitive ones */
    cellar_groups *groups;
    const char *target_name; /* the sensitive variable or variables of `groups` */
    cellar_risk_options options;
    double *prior;
    cellar_size_model model;
    risk_mechanisms mechanisms;
    int is_attribute; /* cellar risk attribute: not the homogeneity attack */
    int is_cell_key, is_dirichlet;
    int has_more; /* the file holds more than the table of the groups */
    int measures[CELLAR_RISK_N_MEASURES], methods[CELLAR_RISK_N_METHODS];
    size_t n_measures, n_methods;
    cellar_output *groups_out;
    risk_answer *answer;
} risk_table_run;

/* The prior and the size model that the measures asked for need: given, or fitted to the groups. */
int risk_run_hyper(risk_table_run *r);
/* The Bayesian attack on the groups of the sensitive variable (risk_attribute.c). */
int risk_run_attack(risk_table_run *r, size_t sensitive);
/* The answers for the groups: all measures, or the parameters that reach --target. */
int risk_run_measures(risk_table_run *r);
int risk_run_calibrate(risk_table_run *r);
/* All cells that can be: a joint mechanism draws them together. */
uint64_t risk_run_n_cells(const risk_table_run *r);

#endif
