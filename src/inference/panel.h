/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A panel: the terms of a cell's likelihood that matter for a range of means. */
#ifndef CELLAR_INFERENCE_PANEL_H
#define CELLAR_INFERENCE_PANEL_H

#include "inference/likelihood.h"

typedef struct cellar_panel {
    int index;
    double low, high;    /* means it serves: low <= mean < high */
    double middle;       /* coefficients are those of powers of mean / middle */
    int64_t first;       /* the count of coefficients[0] */
    int64_t anchor;      /* a count with a large term */
    double log_scale;    /* ln P_mean(anchor) + log_scale + ln(sum) - ... is the likelihood */
    double anchor_const; /* ln P_anchor(anchor) */
    size_t n;
    double coefficients[];
} cellar_panel;

/* Logarithms of P(released | count), remembered for noise that depends on the difference only. */
typedef struct cellar_weights {
    const cellar_channel *channel;
    double *log_q; /* of |noise| below n_known; NAN where not asked yet */
    int64_t n_known;
} cellar_weights;

double cellar_weights_log(cellar_weights *weights, int64_t count, int64_t released);

/* The panel that serves a mean. */
int cellar_panel_index(double mean);
cellar_status cellar_panel_create(cellar_weights *weights, int64_t released, int index,
                                  cellar_panel **out, cellar_error *err);
cellar_posterior cellar_panel_at(const cellar_panel *panel, double mean);

#endif
