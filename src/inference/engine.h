/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A likelihood ratio test that is run again and again: on the table, and on simulated ones. */
#ifndef CELLAR_INFERENCE_ENGINE_H
#define CELLAR_INFERENCE_ENGINE_H

#include "inference/fit.h"
#include "inference/noisy.h"

/* The two models on a table of some shape. One thread's. */
typedef struct cellar_engine {
    const cellar_noisy *noisy; /* the shape and the structural zeros; not the numbers */
    cellar_likelihood *likelihood;
    cellar_fitter *inner, *outer; /* outer NULL: saturated */
    const cellar_model *inner_model, *outer_model;
    cellar_observation **observations;
} cellar_engine;

typedef struct cellar_ratio {
    double statistic; /* twice the logarithm of the ratio of maximised likelihoods; at least 0 */
    double df;        /* NAN unless asked for */
    cellar_maximum inner, outer;
} cellar_ratio;

/* `channel` need not be the table's own: the naive test has the channel without noise. Keeps all
 * its arguments; clear it in every case. */
cellar_status cellar_engine_init(cellar_engine *engine, const cellar_noisy *noisy,
                                 const cellar_channel *channel, const cellar_model *inner,
                                 const cellar_model *outer, cellar_error *err);
void cellar_engine_clear(cellar_engine *engine);

/* Simulated tables are maximised as the released one is: of tables with wide noise some 1 % have
 * other maxima, and one start would make their statistics too large. */
enum { CELLAR_STARTS = 2 };

/* Tests `numbers`. `n_starts` as in fit.h. */
cellar_status cellar_engine_run(cellar_engine *engine, const int64_t *numbers, int n_starts,
                                int with_df, cellar_ratio *out, cellar_error *err);

/* Tables drawn from `means` through the table's channel, tested: the share of statistics of at
 * least `observed`, the observed one counted among them. */
typedef struct cellar_bootstrap {
    const cellar_noisy *noisy;
    const cellar_model *inner, *outer;
    const double *means;
    uint64_t n_replicates, seed;
    int n_threads;
    cellar_progress progress;
    double observed;

    double p_value; /* the answers */
    size_t n_failed;
} cellar_bootstrap;

cellar_status cellar_bootstrap_run(cellar_bootstrap *asked, cellar_error *err);

#endif
