/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Amounts of privacy budget: what a release costs, and what may be spent. */
#ifndef CELLAR_AMOUNTS_H
#define CELLAR_AMOUNTS_H

#include <stdint.h>

#include <cellar/certificate.h>
#include <cellar/export.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a release costs, rounded up once and never again, or a cap, rounded down. Whole numbers:
 * epsilon and rho in units of 1e-9, delta in units of 1e-18. */
typedef struct cellar_amounts {
    int64_t epsilon_nano;
    int64_t delta_atto;
    int64_t rho_nano; /* zero-concentrated; CELLAR_NO_RHO: none is claimed */
} cellar_amounts;

#define CELLAR_NO_RHO (-1)

/* The amount of a decimal such as "0.5" or "1e-9", rounded up. NULL reads as 0 (rho: none).
 * Fails when a text is no decimal of at least 0 that fits. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_amounts_parse(const char *epsilon,
                                                               const char *delta, const char *rho,
                                                               cellar_amounts *out,
                                                               cellar_error *err);
/* The same of a cap, rounded down: no more may be spent than the decimals say. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_amounts_parse_cap(const char *epsilon,
                                                                   const char *delta,
                                                                   const char *rho,
                                                                   cellar_amounts *out,
                                                                   cellar_error *err);
/* What a release costs with the bounds of a certificate, rounded up; NAN rho: none. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_amounts_from_bounds(double epsilon, double delta,
                                                                     double rho,
                                                                     cellar_amounts *out,
                                                                     cellar_error *err)
    CELLAR_NONNULL(4);
/* What a release costs that this certificate is about: its pure epsilon where there is one, else
 * the epsilon at `delta`, which must be the first delta it was asked about (NULL: none), and its
 * rho. One without a guarantee is refused (CELLAR_ERR_RULE). */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_amounts_from_certificate(const cellar_certificate *certificate, const char *delta,
                                cellar_amounts *out, cellar_error *err);
/* "0.5"; exact. `out` has room for CELLAR_AMOUNT_TEXT bytes. */
enum { CELLAR_AMOUNT_TEXT = 32 };
CELLAR_API void cellar_amount_text_nano(int64_t nano, char out[CELLAR_AMOUNT_TEXT]);
CELLAR_API void cellar_amount_text_atto(int64_t atto, char out[CELLAR_AMOUNT_TEXT]);

#ifdef __cplusplus
}
#endif

#endif
