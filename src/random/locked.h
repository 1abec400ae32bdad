/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory for secrets: page-aligned, locked, out of core dumps, zeroed in a forked child. */
#ifndef CELLAR_RANDOM_LOCKED_H
#define CELLAR_RANDOM_LOCKED_H

#include <stddef.h>

/* Zeroed memory of at least `size` bytes on a page boundary, or NULL. Locking is tried and may be
 * refused by a limit. *wiped_on_fork says whether a child finds zeros here (if not, compare
 * process ids). */
void *cellar_locked_alloc(size_t size, int *wiped_on_fork);
void cellar_locked_free(void *memory, size_t size); /* wipes; NULL is fine */

#endif
