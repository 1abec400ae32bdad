/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The multinomial-Dirichlet mechanism: all cells of a table are released together, with a total
 * that is chosen. Given counts a, shares are Dirichlet(a + alpha) and the released counts
 * multinomial with these shares. */
#ifndef CELLAR_DIRICHLET_H
#define CELLAR_DIRICHLET_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/random.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_dirichlet cellar_dirichlet; /* immutable; threads may share one */

/* Reads "multinomial-dirichlet:alpha=A[,total=n,cells=K]". On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_dirichlet_create(const char *spec,
                                                                  cellar_dirichlet **out,
                                                                  cellar_error *err);
CELLAR_API void cellar_dirichlet_free(cellar_dirichlet *dirichlet); /* NULL is fine */

CELLAR_API const char *cellar_dirichlet_spec(const cellar_dirichlet *dirichlet)
    CELLAR_NONNULL(1); /* canonical */
/* Changes when any released value would. */
CELLAR_API uint32_t cellar_dirichlet_revision(const cellar_dirichlet *dirichlet);
/* What is added to every count. */
CELLAR_API double cellar_dirichlet_alpha(const cellar_dirichlet *dirichlet) CELLAR_NONNULL(1);
/* The total and the number of cells of the spec; -1 when it has none. */
CELLAR_API int64_t cellar_dirichlet_total(const cellar_dirichlet *dirichlet);
CELLAR_API int64_t cellar_dirichlet_n_cells(const cellar_dirichlet *dirichlet);

/* Natural log of P(released | counts), n cells; -INFINITY when a released count is negative. The
 * total is that of `released`. */
CELLAR_API double cellar_dirichlet_log_pmf(const cellar_dirichlet *dirichlet, const int64_t *counts,
                                           const int64_t *released, size_t n);

/* Draws the n cells' released counts, which sum to `total`, with exactly the stated distribution.
 * `released` must not be `counts`. Fails with CELLAR_ERR_ARGUMENT when total or n contradict the
 * spec. On failure `released` is zeroed. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_dirichlet_sample(const cellar_dirichlet *dirichlet,
                                                                  const int64_t *counts, size_t n,
                                                                  int64_t total, cellar_rng *rng,
                                                                  int64_t *released,
                                                                  cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
