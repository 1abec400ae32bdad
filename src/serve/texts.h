/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts in several languages. */
#ifndef CELLAR_SERVE_TEXTS_H
#define CELLAR_SERVE_TEXTS_H

#include "plan/schema.h"
#include "serve/dataset.h"

typedef struct serve_languages {
    const char *const *tags; /* "en", "sv"; the first is the default */
    size_t n;
} serve_languages;

/* The same text in every language; .in is NULL when memory ends. Does not copy `text`. */
serve_texts serve_texts_same(const serve_languages *languages, const char *text,
                             cellar_arena *arena);

/* A text, or a map from languages of the site to texts. A NULL node leaves *out alone. */
cellar_status serve_texts_read(plan_reading *reading, const plan_node *node,
                               const serve_languages *languages, serve_texts *out);

#endif
