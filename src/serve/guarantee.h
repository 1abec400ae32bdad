/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a certificate promises, in a sentence, and the id that answers carry for it. */
#ifndef CELLAR_SERVE_GUARANTEE_H
#define CELLAR_SERVE_GUARANTEE_H

#include <jansson.h>

#include <cellar/amounts.h>
#include <cellar/terms.h>

#include "base/text.h"
#include "privacy/promise.h"

enum { SERVE_ID_TEXT = 33 };

/* The digest of bytes, in hexadecimal: of a certificate its id, of an answer its tag. */
void serve_digest(const void *bytes, size_t length, char out[SERVE_ID_TEXT]);

/* What a cap promises about all tables of a data set together, in numbers: for pages that say it in
 * a language of their own. A promise covers a "cube", a "pack" or a "budget". */
cellar_promise serve_promise_of_cap(const cellar_amounts *cap, cellar_neighbours neighbours);
/* A JSON object about one `unit`; NULL when nothing is promised, or memory ran out. */
json_t *serve_promise_json(const cellar_promise *promise, const char *unit);

/* Adds a sentence about what a cap promises for all tables that are ever drawn under it. `cap` is a
 * rho where it has one, else an epsilon and a delta. */
void serve_add_cap(const cellar_amounts *cap, const char *unit, cellar_neighbours neighbours,
                   cellar_text *out);

#endif
