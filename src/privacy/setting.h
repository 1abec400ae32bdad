/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The mechanisms of a certificate, how a unit meets them, and the curve delta(epsilon) of them all
 * together, between a lower and an upper bound. */
#ifndef CELLAR_PRIVACY_SETTING_H
#define CELLAR_PRIVACY_SETTING_H

#include "privacy/certificate.h"
#include "privacy/tight.h"

typedef struct cellar_setting {
    const cellar_certify_part *parts;
    size_t n;
    const cellar_certify_options *options;
    cellar_one_cell *cells; /* one for each part */
    uint64_t group;         /* the length of the chain: records of a unit that are changed one after
                               the other, or 1 when one change covers them all (setting.c) */
} cellar_setting;

/* Keeps its arguments. On failure there is nothing to clear. */
cellar_status cellar_setting_init(cellar_setting *s, const cellar_certify_part *parts, size_t n,
                                  const cellar_certify_options *options, cellar_error *err);
void cellar_setting_clear(cellar_setting *s);

/* Changed cells that one record meets in part i, and in all. */
double cellar_setting_cells_of(const cellar_setting *s, size_t i);
double cellar_setting_n_cells(const cellar_setting *s);
/* 1: one cell of one mechanism changes. */
int cellar_setting_is_single(const cellar_setting *s);
/* 1: each mechanism has one pair of counts that dominates all others, so that composition needs no
 * envelope and its lower bound can meet the upper one. */
int cellar_setting_composes(const cellar_setting *s);

/* ---- the curve (curve.c) ---- */

/* What is known of delta at one epsilon, or of epsilon at one delta. */
typedef struct cellar_curve_point {
    cellar_bounds bounds;
    double basic;       /* the sum of the cells' own, at equal shares */
    cellar_worst worst; /* of delta: of the part that costs most, at its equal share of epsilon */
} cellar_curve_point;

/* epsilon >= 0, and delta in (0, 1); `upper` is INFINITY when no epsilon has that delta. */
cellar_status cellar_curve_delta(cellar_setting *s, const fmpq_t epsilon, cellar_curve_point *out,
                                 cellar_error *err);
cellar_status cellar_curve_epsilon(cellar_setting *s, double delta, cellar_curve_point *out,
                                   cellar_error *err);
/* P(|loss| > epsilon): exact of one cell, else bounded by delta. */
cellar_status cellar_curve_violation(cellar_setting *s, const fmpq_t epsilon, cellar_bounds *out,
                                     cellar_error *err);
/* Advanced composition, from the cells' own epsilons. */
double cellar_curve_advanced_epsilon(cellar_setting *s, double delta);

#endif
