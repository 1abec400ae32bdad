/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rules that declare combinations of categories impossible. */
#ifndef CELLAR_TABLE_STRUCTURAL_STRUCTURAL_H
#define CELLAR_TABLE_STRUCTURAL_STRUCTURAL_H

#include <stddef.h>

#include "table/build.h"

/* Reads a rule file (docs/file-formats.md): one rule a line, conditions joined by " & ", each
 * "variable = code | code" or "variable != code | code"; # begins a comment; names and codes may
 * be quoted. A cell that meets all conditions of a rule is a structural zero. On failure *out is
 * NULL and the message names file, line and column. */
cellar_status cellar_structural_rules_read(const char *path, cellar_structural_rules **out,
                                           cellar_error *err);
cellar_status cellar_structural_rules_parse(const char *name, const char *bytes, size_t length,
                                            cellar_structural_rules **out, cellar_error *err);
void cellar_structural_rules_free(cellar_structural_rules *rules); /* NULL is fine */

#endif
