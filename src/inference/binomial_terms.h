/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood of a probability p when a ~ Binomial(n, p) was released as x: the sum over a of
 * C(n, a) p^a (1-p)^(n-a) P(x | a), over the counts that matter. */
#ifndef CELLAR_INFERENCE_BINOMIAL_TERMS_H
#define CELLAR_INFERENCE_BINOMIAL_TERMS_H

#include "inference/channel.h"

typedef struct cellar_binomial_terms {
    int64_t n; /* trials */
    cellar_channel channel;
    int is_additive;     /* log-concave weights: the likelihood has one peak */
    double *log_choose;  /* of 0..n */
    double *log_q;       /* additive: of |noise|, as far as it was asked for */
    double *log_weights; /* others: of each count, for the number below */
    int64_t number;      /* that was turned to, and the counts that may have become it */
    int64_t first, last;
} cellar_binomial_terms;

/* Clear it in every case. */
cellar_status cellar_binomial_terms_init(cellar_binomial_terms *terms, uint64_t n_trials,
                                         const cellar_channel *channel, cellar_error *err);
void cellar_binomial_terms_clear(cellar_binomial_terms *terms);

/* Turns to a released number. */
void cellar_binomial_terms_turn(cellar_binomial_terms *terms, int64_t number);
/* ln of the likelihood at p. */
double cellar_binomial_terms_at(const cellar_binomial_terms *terms, double p);
/* Its maximum over p. */
double cellar_binomial_terms_peak(const cellar_binomial_terms *terms, double *p);

#endif
