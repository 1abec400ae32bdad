/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists inside the library: they are shared, not copied. */
#ifndef CELLAR_DATA_CODELIST_H
#define CELLAR_DATA_CODELIST_H

#include <stdint.h>

#include <cellar/codelist.h>

#include "base/text.h"

/* One more owner of an immutable list; each owner calls cellar_codelist_free(). Thread-safe. */
cellar_codelist *cellar_codelist_retain(const cellar_codelist *list);

/* Adds the list in Cellar's format to `text`: what cellar_codelist_write() writes, and
 * cellar_codelist_parse() reads back. */
void cellar_codelist_add_text(const cellar_codelist *list, cellar_text *text);

/* How many codes there are from the top of the first hierarchy (its total left out) down to a code.
 */
size_t cellar_codelist_depth(const cellar_codelist *list, size_t code_index);
/* The code at that level on the way down; the code itself if it lies less deep. */
size_t cellar_codelist_above(const cellar_codelist *list, size_t code_index, size_t level);
/* How deep the deepest leaf lies. */
size_t cellar_codelist_n_levels(const cellar_codelist *list);
/* The codes of a level as a list of their own, with their labels, and for each leaf of `list` which
 * of them it lies under. Free both, the array with cellar_free(). On failure both are NULL. */
cellar_status cellar_codelist_level(const cellar_codelist *list, size_t level,
                                    cellar_codelist **out, uint32_t **leaf_at, cellar_error *err);

#endif
