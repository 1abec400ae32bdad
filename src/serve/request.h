/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decoding of what a client sent: path, query, languages. All of it is hostile. */
#ifndef CELLAR_SERVE_REQUEST_H
#define CELLAR_SERVE_REQUEST_H

#include "serve/routes.h"

enum { SERVE_SEGMENTS_MAX = 16, SERVE_PARAMETERS_MAX = 512 };

/* Fills segments and parameters of a call. 0 after *wrong got a sentence, or NULL when memory
 * ended.
 */
int serve_call_decode(const cellar_request *request, serve_call *call, const char **wrong);

/* The language of the site that an Accept-Language asks for most, the default otherwise. */
size_t serve_language_accepted(const cellar_site *site, const char *accepted);
/* By its tag, without regard to case; SIZE_MAX when the site has none. */
size_t serve_language_find(const cellar_site *site, const char *tag, size_t length);

#endif
