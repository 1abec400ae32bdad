/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON written straight into a text, and JSON read with limits. */
#ifndef CELLAR_SERVE_JSON_H
#define CELLAR_SERVE_JSON_H

#include <jansson.h>

#include <cellar/status.h>

#include "base/text.h"

/* ---- writing ---------------------------------------------------------------- */

/* Each call adds one piece, and a comma before it where one is due: after anything but an opening
 * bracket or a name. */
void serve_json_open(cellar_text *out, char bracket);  /* '{' or '[' */
void serve_json_close(cellar_text *out, char bracket); /* '}' or ']' */
void serve_json_name(cellar_text *out, const char *name);
/* NULL becomes null. Bytes that are no UTF-8 become U+FFFD. */
void serve_json_string(cellar_text *out, const char *string);
void serve_json_integer(cellar_text *out, int64_t value);
void serve_json_bool(cellar_text *out, int value);
/* A piece that is JSON already. */
void serve_json_raw(cellar_text *out, const char *json);
/* A name and a string. */
void serve_json_pair(cellar_text *out, const char *name, const char *string);

/* ---- reading ---------------------------------------------------------------- */

enum { SERVE_JSON_MAX_BYTES = 65536, SERVE_JSON_MAX_DEPTH = 16 };

/* Reads a body: one JSON value in UTF-8 of limited size and depth, no name twice in an object. A
 * body that is none is CELLAR_ERR_INPUT, with one sentence. Release *out with json_decref(). */
cellar_status serve_json_read(const char *bytes, size_t length, json_t **out, cellar_error *err);

#endif
