/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A total epsilon for mechanisms that have no epsilon of their own. */
#ifndef CELLAR_RELEASE_GUARANTEE_CALIBRATE_H
#define CELLAR_RELEASE_GUARANTEE_CALIBRATE_H

#include <cellar/certificate.h>

/* Refuses (CELLAR_ERR_RULE) a certificate, or none, whose epsilon at its first delta exceeds the
 * total. */
cellar_status cellar_calibrate_check(const cellar_certificate *certificate,
                                     const char *total_epsilon, cellar_error *err);

enum { CELLAR_SIGMA_TEXT = 24 };

/* Whether noise of that sigma keeps the total: CELLAR_OK, or CELLAR_ERR_RULE when it exceeds it;
 * any other status ends the search. */
typedef cellar_status cellar_calibrate_try(void *context, const char *sigma, cellar_error *err);

/* Gaussian noise for a total: of the decimals of four digits from 0.001 to 10000, which the
 * mechanisms allow, the smallest that keeps epsilon at delta. `sensitivity` is that of all cells
 * together, in the Euclidean norm; only the time depends on it. CELLAR_ERR_RULE when no sigma does.
 */
cellar_status cellar_calibrate_sigma(double sensitivity, const char *epsilon, const char *delta,
                                     cellar_calibrate_try *attempt, void *context,
                                     char out[CELLAR_SIGMA_TEXT], cellar_error *err);

#endif
