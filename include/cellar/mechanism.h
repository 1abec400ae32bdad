/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms: P(released | count), made from a spec such as "discrete-laplace:epsilon=1". */
#ifndef CELLAR_MECHANISM_H
#define CELLAR_MECHANISM_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/random.h>
#include <cellar/status.h>
#include <cellar/terms.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_mechanism cellar_mechanism; /* immutable; threads may share one */

typedef struct cellar_moments {
    double presence; /* P(released >= 1) */
    double mean;
    double variance;
    double entropy; /* in nats */
} cellar_moments;

/* ---- life cycle ------------------------------------------------------------ */

/* Reads `name:key=value,...`; parameters are kept as the exact rationals of the decimals typed.
 * A name, key or value that is not allowed is refused with what is (CELLAR_ERR_ARGUMENT).
 * On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_mechanism_create(const char *spec,
                                                                  cellar_mechanism **out,
                                                                  cellar_error *err);
CELLAR_API void cellar_mechanism_free(cellar_mechanism *mechanism); /* NULL is fine */

/* ---- what it is ------------------------------------------------------------ */

/* The name, such as "discrete-laplace". */
CELLAR_API const char *cellar_mechanism_name(const cellar_mechanism *mechanism) CELLAR_NONNULL(1);
/* Changes when any released value would. */
CELLAR_API uint32_t cellar_mechanism_revision(const cellar_mechanism *mechanism) CELLAR_NONNULL(1);
/* The one spelling of the spec: given parameters in a fixed order, numbers in lowest terms. */
CELLAR_API const char *cellar_mechanism_spec(const cellar_mechanism *mechanism) CELLAR_NONNULL(1);

/* Parameters, given first, then derived (such as the sigma of a calibration). */
CELLAR_API size_t cellar_mechanism_n_parameters(const cellar_mechanism *mechanism)
    CELLAR_NONNULL(1);
CELLAR_API const char *cellar_mechanism_parameter_name(const cellar_mechanism *mechanism,
                                                       size_t index);
/* The exact decimal, or the word. */
CELLAR_API const char *cellar_mechanism_parameter_text(const cellar_mechanism *mechanism,
                                                       size_t index);
/* The nearest double; NAN for a word. */
CELLAR_API double cellar_mechanism_parameter_value(const cellar_mechanism *mechanism, size_t index);
CELLAR_API int cellar_mechanism_parameter_is_derived(const cellar_mechanism *mechanism,
                                                     size_t index);

/* All known mechanisms, in the order of the documentation, at the end those that draw all cells of
 * a table together (cellar/dirichlet.h); NULL beyond the last. */
CELLAR_API const char *cellar_mechanism_known_name(size_t index);
CELLAR_API const char *cellar_mechanism_known_summary(size_t index);

/* ---- specs as text ----------------------------------------------------------- */

/* 1 when this is a spec of the mechanism of that name. */
CELLAR_API int cellar_mechanism_spec_is(const char *spec, const char *name) CELLAR_NONNULL(1, 2);
/* Writes `spec` with the parameter key=value added at its end into `out` of `size` bytes. The spec
 * need not be complete: nothing but its text is looked at, and a key that it has already is refused
 * when a mechanism is made of it. CELLAR_ERR_ARGUMENT when the result does not fit. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_mechanism_spec_add(const char *spec,
                                                                    const char *key,
                                                                    const char *value, char *out,
                                                                    size_t size, cellar_error *err);
/* The same without the parameter `key`, if it is there. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_mechanism_spec_remove(const char *spec,
                                                                       const char *key, char *out,
                                                                       size_t size,
                                                                       cellar_error *err);

/* ---- its distribution --------------------------------------------------------------- */
/* Doubles, accurate to 1e-12 relative in both tails down to 1e-300. */

/* Natural logarithm of P(released | count); -INFINITY off the support. */
CELLAR_API double cellar_mechanism_log_pmf(const cellar_mechanism *mechanism, int64_t count,
                                           int64_t released) CELLAR_NONNULL(1);
CELLAR_API double cellar_mechanism_pmf(const cellar_mechanism *mechanism, int64_t count,
                                       int64_t released) CELLAR_NONNULL(1);
/* P(released | count) of the number after negatives were kept or set to zero. */
CELLAR_API double cellar_mechanism_released_pmf(const cellar_mechanism *mechanism, int64_t count,
                                                int64_t released, cellar_negatives negatives);
/* P(at most `released` | count), and P(more than `released` | count). */
CELLAR_API double cellar_mechanism_cdf(const cellar_mechanism *mechanism, int64_t count,
                                       int64_t released) CELLAR_NONNULL(1);
CELLAR_API double cellar_mechanism_survival(const cellar_mechanism *mechanism, int64_t count,
                                            int64_t released) CELLAR_NONNULL(1);
/* P(released >= 1 | count). */
CELLAR_API double cellar_mechanism_presence(const cellar_mechanism *mechanism, int64_t count);
/* Moments of the released value, after negatives were kept or set to zero. */
CELLAR_API void cellar_mechanism_moments(const cellar_mechanism *mechanism, int64_t count,
                                         cellar_negatives negatives, cellar_moments *out);
/* An interval outside which the mass is at most `tail` (0: the whole support, as far as it is
 * finite and fits; its ends are otherwise INT64_MIN and INT64_MAX). */
CELLAR_API void cellar_mechanism_support(const cellar_mechanism *mechanism, int64_t count,
                                         double tail, int64_t *low, int64_t *high)
    CELLAR_NONNULL(1);

/* ---- drawing --------------------------------------------------------------- */

/* Draws one released value for each of `n` counts (non-negative, at most 2^62), independently,
 * with exactly the stated distribution; negatives are kept. `released` may be `counts`. Randomness
 * comes from `rng` only: the same bits give the same numbers on every machine. The first call
 * prepares the sampler, whatever n is: threads that draw side by side share it. On failure
 * `released` is zeroed. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_mechanism_sample_many(
    const cellar_mechanism *mechanism, const int64_t *counts, size_t n, cellar_rng *rng,
    int64_t *released, cellar_error *err) CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
