/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Membership inference: how well the best of all tests decides whether somebody is in the data. */
#ifndef CELLAR_MEMBERSHIP_H
#define CELLAR_MEMBERSHIP_H

#include <stddef.h>

#include <cellar/certificate.h>
#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The attacker knows everything but whether one unit is there (add-remove) or which of two it is
 * (substitute), and tests that from the release. Answers in *power a number that the power of no
 * test exceeds whose level (the chance of a false alarm) is `level`, between 0 and 1: the least
 * that the guarantees (epsilon, delta) of the mechanisms together allow on a grid of epsilons. The
 * options are those of a certificate but for its epsilons and deltas. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_membership_power(
    const cellar_certify_part *parts, size_t n, const cellar_certify_options *options, double level,
    double *power, cellar_error *err) CELLAR_NONNULL(1, 3, 5);

#ifdef __cplusplus
}
#endif

#endif
