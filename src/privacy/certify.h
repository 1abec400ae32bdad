/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The steps from mechanisms and what is known about their use to a certificate. */
#ifndef CELLAR_PRIVACY_CERTIFY_H
#define CELLAR_PRIVACY_CERTIFY_H

#include "privacy/setting.h"

enum { CELLAR_CERTIFY_PARTS_MAX = 4096, CELLAR_CERTIFY_SHIFT_MAX = 1000000 };

cellar_status cellar_certify_check_options(const cellar_certify_options *options,
                                           cellar_error *err);
/* Read exact decimals: a finite epsilon of at least 0, where delta(0) is the distance in total
 * variation; and a delta in [0, 1), where 0 asks for pure epsilon. */
cellar_status cellar_certify_read_epsilon(const char *text, fmpq_t out, cellar_error *err);
cellar_status cellar_certify_read_delta(const char *text, fmpq_t out, cellar_error *err);

/* Steps that fill in a certificate. */
cellar_status cellar_certify_pure(cellar_setting *s, cellar_certificate *c, cellar_error *err);
cellar_status cellar_certify_infinite(cellar_setting *s, cellar_certificate *c, cellar_error *err);
void cellar_certify_rho(const cellar_setting *s, cellar_certificate *c);
/* What rho proves about points and epsilons that were found, where that is less: the only bound
 * when the work of a composition was too much. */
void cellar_certify_by_rho(cellar_certificate *c);
cellar_status cellar_certify_judge(const cellar_setting *s, cellar_certificate *c,
                                   cellar_error *err);

#endif
