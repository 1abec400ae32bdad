/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hierarchical log-linear models, named by their generators: 'a*b + c'. */
#ifndef CELLAR_INFERENCE_MODEL_H
#define CELLAR_INFERENCE_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

/* Each generator is a set of variables (bit v: variable v) whose interaction the model holds, with
 * all below it. No generator lies within another. None at all: one mean for every cell. */
typedef struct cellar_model {
    uint64_t *generators;
    size_t n_generators;
} cellar_model;

/* Reads 'a*b + c' with the names of the variables, in double quotes where they hold other
 * characters than letters, digits, '_', '.' and '-'; "1" is the model without variables. What lies
 * within another generator is dropped. Clear it with cellar_model_clear(), which is fine after a
 * failure. */
cellar_status cellar_model_parse(const char *text, const char *const *names, size_t n_names,
                                 cellar_model *out, cellar_error *err);
void cellar_model_clear(cellar_model *model);

/* 1 when every interaction of `inner` is one of `outer`. */
int cellar_model_is_within(const cellar_model *inner, const cellar_model *outer);

/* The number of parameters of a complete table, the constant included: the sum of
 * prod(levels - 1) over all sets of variables within some generator. */
double cellar_model_n_parameters(const cellar_model *model, const size_t *n_levels,
                                 size_t n_variables);

#endif
