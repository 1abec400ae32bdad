/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SHA-256 of what was released, so that a description fits one set of numbers only. */
#ifndef CELLAR_RELEASE_FILES_DIGEST_H
#define CELLAR_RELEASE_FILES_DIGEST_H

#include "table/build.h"

enum { CELLAR_DIGEST_TEXT = 65 }; /* 64 hexadecimal digits */

typedef struct cellar_digest cellar_digest;

cellar_status cellar_digest_create(cellar_digest **out, cellar_error *err);
void cellar_digest_free(cellar_digest *digest); /* NULL is fine */
/* Adds bytes; `context` is the digest, so that it can listen to an output. */
void cellar_digest_add(void *context, const void *bytes, size_t length);
cellar_status cellar_digest_finish(cellar_digest *digest, char out[CELLAR_DIGEST_TEXT],
                                   cellar_error *err);

/* The digest of listed cells, a line "INDEX VALUE" for each, or "INDEX VALUE ERROR" when the keys
 * hold standard errors; structural zeros have the value 0. */
cellar_status cellar_digest_cells(const cellar_cells *cells, char out[CELLAR_DIGEST_TEXT],
                                  cellar_error *err);

#endif
