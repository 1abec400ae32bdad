/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cell keys: a cell's key (the sum of its records' keys modulo the key range) and its true count
 * choose the perturbation from a matrix. The same records always get the same perturbation. */
#ifndef CELLAR_CELL_KEY_H
#define CELLAR_CELL_KEY_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/export.h>
#include <cellar/matrix.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_cell_key cellar_cell_key; /* immutable; threads may share one */

/* Reads "cell-key:file=F[,boundary=below|at-most][,large=last|rotate]" for keys 0..key_range-1
 * (cellar_table_key_range()). A cell takes the first change of its row whose bound its key, as a
 * fraction of the range, is below (the default) or at most. A matrix made for a number of keys
 * wants that range, or decimal keys. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_cell_key_create(const char *spec,
                                                                 uint64_t key_range,
                                                                 cellar_cell_key **out,
                                                                 cellar_error *err);
CELLAR_API void cellar_cell_key_free(cellar_cell_key *cell_key); /* NULL is fine */

/* The canonical spec: the file without its folder, and the digest of the matrix. */
CELLAR_API const char *cellar_cell_key_spec(const cellar_cell_key *cell_key) CELLAR_NONNULL(1);
CELLAR_API uint32_t cellar_cell_key_revision(const cellar_cell_key *cell_key);
CELLAR_API const cellar_matrix *cellar_cell_key_matrix(const cellar_cell_key *cell_key)
    CELLAR_NONNULL(1);

/* released[i] = counts[i] + the change of (counts[i], keys[i]); a cell without records has no key
 * and is released as 0. Counts are non-negative and keys below the range; `released` may be
 * `counts`. */
CELLAR_API void cellar_cell_key_apply(const cellar_cell_key *cell_key, const int64_t *counts,
                                      const uint64_t *keys, size_t n, int64_t *released);

#ifdef __cplusplus
}
#endif

#endif
