/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selections as PxWebApi 2 writes them: in a query, and in JSON. */
#ifndef CELLAR_SERVE_SELECTION_H
#define CELLAR_SERVE_SELECTION_H

#include <jansson.h>

#include "serve/choices.h"
#include "serve/routes.h"

/* valuecodes[V]=..., codelist[V]=..., stub=..., heading=... of a call. */
cellar_status serve_selection_of_query(const serve_call *call, serve_choices *out,
                                       cellar_error *err);
/* {"selection": [{"variableCode", "codelist", "valueCodes"}], "placement": {"stub", "heading"}}.
 * Texts are copied into the arena. */
cellar_status serve_selection_of_json(const json_t *object, cellar_arena *arena, serve_choices *out,
                                      cellar_error *err);
/* The strings of an array; a member that is missing or null has none. `name` is in messages. */
cellar_status serve_strings_of_json(const json_t *array, const char *name, cellar_arena *arena,
                                    serve_codes *out, cellar_error *err);

/* Adds the members `selection` and `placement` of what a question asks for, every expression as
 * the codes that it stands for. */
void serve_selection_add(const serve_question *question, cellar_text *out);

#endif
