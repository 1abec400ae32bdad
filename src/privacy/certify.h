/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps from mechanisms and what is known about their use to a certificate. */
#ifndef CELLAR_PRIVACY_CERTIFY_H
#define CELLAR_PRIVACY_CERTIFY_H

#include "mechanism/mechanism.h"
#include "privacy/certificate.h"
#include "privacy/supremum.h"
#include "privacy/tight.h"

enum { CELLAR_CERTIFY_MECHANISMS_MAX = 256, CELLAR_CERTIFY_SHIFT_MAX = 1000000 };

/* Epsilons of one part of the first mechanism that were found before. */
enum { CELLAR_PARTS_KEPT = 32 };
typedef struct cellar_parts_found {
    double delta[CELLAR_PARTS_KEPT], epsilon[CELLAR_PARTS_KEPT];
    size_t n;
} cellar_parts_found;

/* The mechanisms of a certificate and how a unit meets them. */
typedef struct cellar_setting {
    const cellar_mechanism *const *mechanisms;
    size_t n;
    const cellar_certify_options *options;
    int64_t shift;  /* by how much a unit changes one cell */
    uint64_t group; /* records of a unit that are told apart one by one: group privacy [1] */
    cellar_certificate *c;
    cellar_pair_cache *cache;
    cellar_parts_found *found; /* or NULL */
    int64_t n_terms;           /* of second computations so far */
    int is_rough;              /* compositions are bounded on one coarse grid */
} cellar_setting;

cellar_status cellar_certify_check_options(const cellar_certify_options *options,
                                           cellar_error *err);
/* Read exact decimals: a finite epsilon of at least 0, where delta(0) is the distance in total
 * variation; and a delta in [0, 1), where 0 asks for pure epsilon. */
cellar_status cellar_certify_read_epsilon(const char *text, fmpq_t out, cellar_error *err);
cellar_status cellar_certify_read_delta(const char *text, fmpq_t out, cellar_error *err);

/* ---- one cell ---- */

cellar_reach cellar_setting_reach(const cellar_setting *s, size_t i);
/* The worst case of one cell of mechanism i, smaller weights than the largest included: of delta,
 * and of infinite loss. */
void cellar_setting_delta(const cellar_setting *s, size_t i, const fmpq_t epsilon,
                          cellar_worst *worst);
void cellar_setting_infinite(const cellar_setting *s, size_t i, cellar_worst *worst);
/* delta_p of one cell of the first mechanism; *bound is NAN where it is not known how to bound it.
 */
void cellar_setting_cell_violation(const cellar_setting *s, const fmpq_t epsilon,
                                   cellar_worst *worst);
/* The smallest epsilon at which one cell of mechanism i has at most this delta > 0: one that is
 * proved, and one below which it is proved that there is none, or 0. */
cellar_bounds cellar_setting_epsilon(const cellar_setting *s, size_t i, double delta);

/* ---- several cells ---- */

/* Parts that one unit meets in each mechanism, and in all. */
uint64_t cellar_setting_parts_each(const cellar_setting *s);
uint64_t cellar_setting_parts(const cellar_setting *s);
/* 1: one cell of one mechanism changes. */
int cellar_setting_is_single(const cellar_setting *s);
/* 1: each mechanism has a pair of counts that is worst everywhere, so that losses compose. */
int cellar_setting_composes(const cellar_setting *s);
/* 1: each has a dominating pair at least, if of no counts in particular. */
int cellar_setting_has_envelope(const cellar_setting *s);
/* 1: a change of one cell dominates every way to spread it over cells. */
int cellar_setting_spreads(const cellar_setting *s);

cellar_status cellar_setting_tight_delta(const cellar_setting *s, double epsilon,
                                         cellar_bounds *out, cellar_error *err);
cellar_status cellar_setting_tight_epsilon(const cellar_setting *s, double delta,
                                           cellar_bounds *out, cellar_error *err);
/* The upper bound is NAN where it is not known how to bound it. */
cellar_status cellar_setting_violation(const cellar_setting *s, double epsilon, cellar_bounds *out,
                                       cellar_error *err);
/* As cellar_setting_epsilon(), a bound that is close: quicker where laws go on for long. */
double cellar_setting_part_epsilon(const cellar_setting *s, size_t i, double delta);
double cellar_setting_basic_delta(const cellar_setting *s, const fmpq_t epsilon,
                                  cellar_worst *worst);
double cellar_setting_basic_epsilon(const cellar_setting *s, double delta);
double cellar_setting_advanced_epsilon(const cellar_setting *s, double delta);

/* `times` cells of mechanism i that change by `shift`, to or from the larger count. */
cellar_stake cellar_setting_stake(const cellar_setting *s, size_t i, int larger, int64_t shift,
                                  uint64_t times);
/* 1: there is nothing to say, which is no failure. */
int cellar_setting_is_too_wide(cellar_status status);

/* ---- units of several records ---- */

/* All ways in which the records of a unit can lie in cells, composed: bounds of delta at `epsilon`,
 * or (epsilon NAN) of epsilon at `delta`. Infinite, or 1, where there are too many ways, or these
 * take more than may be done. */
cellar_status cellar_setting_unit(const cellar_setting *s, double epsilon, double delta,
                                  cellar_bounds *out, cellar_error *err);

/* A chain of `group` changes, each with delta at epsilon / group, has delta times this at epsilon:
 * the sum of e^{i epsilon / group}, i < group. Rounded up. */
double cellar_setting_group_factor(const cellar_setting *s, double epsilon);
/* delta of everything at some epsilon: the least bound there is. */
cellar_status cellar_setting_delta_upper(const cellar_setting *s, double epsilon, double *out,
                                         cellar_error *err);
/* The epsilon of everything at some delta, `each` telling that of one record. */
typedef cellar_status (*cellar_epsilon_of)(const cellar_setting *s, double delta,
                                           cellar_bounds *out, cellar_error *err);
cellar_status cellar_setting_group_epsilon(const cellar_setting *s, double delta,
                                           cellar_epsilon_of each, cellar_bounds *out,
                                           cellar_error *err);
/* An epsilon at which delta is small enough, where no share of it does: the least one found as long
 * as there is work left, or INFINITY. */
cellar_status cellar_setting_group_search(const cellar_setting *s, double delta, double *out,
                                          cellar_error *err);
/* A bound on delta_p from delta, which holds whatever was done to the numbers; `delta_at` is what
 * is known of delta at `epsilon`. */
cellar_status cellar_setting_violation_bound(const cellar_setting *s, double epsilon,
                                             double delta_at, double *out, cellar_error *err);

/* ---- steps that fill in the certificate ---- */

cellar_status cellar_certify_pure(cellar_setting *s, cellar_error *err);
cellar_status cellar_certify_infinite(cellar_setting *s, cellar_error *err);
void cellar_certify_rho(cellar_setting *s);
cellar_status cellar_certify_judge(cellar_setting *s, cellar_error *err);

#endif
