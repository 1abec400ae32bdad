/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Exponential tilts of privacy losses: under which one a question is about typical sums, and how
 * far the sum then strays. */
#ifndef CELLAR_PRIVACY_COMPOSE_TILT_H
#define CELLAR_PRIVACY_COMPOSE_TILT_H

#include "privacy/pld.h"

/* A loss distribution that is met `times` times. */
typedef struct cellar_part {
    const cellar_pld *pld;
    uint64_t times;
} cellar_part;

/* K(theta) = ln E e^{theta loss} and its first two derivatives. */
typedef struct cellar_cumulants {
    double value, mean, variance;
} cellar_cumulants;

cellar_cumulants cellar_pld_cumulants(const cellar_pld *pld, double theta);

typedef struct cellar_tilt {
    double theta;
    double below, above; /* further tilts, by which the ends of the window are found */
    double width;        /* of the window, of the parts it was found for */
    double log_bound;    /* ln of no less than P(sum > epsilon) of these; 0 when not asked for */
} cellar_tilt;

/* For the tail beyond `epsilon`, or (epsilon NAN) where delta is about `delta`; theta is at most
 * `most`. Any tilt gives right bounds for any parts, this one gives close ones for those that are
 * about like these. */
cellar_tilt cellar_tilt_find(const cellar_part *parts, size_t n_parts, double epsilon, double delta,
                             double most);

/* The sums that are not unlikely under a tilt. */
typedef struct cellar_window {
    double log_k;     /* K of all parts */
    double low, high; /* ends */
    double outside;   /* no less than the tilted mass beyond either */
} cellar_window;

cellar_window cellar_tilt_window(const cellar_tilt *tilt, const cellar_part *parts, size_t n_parts);

#endif
