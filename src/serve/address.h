/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Addresses of what the server answers. */
#ifndef CELLAR_SERVE_ADDRESS_H
#define CELLAR_SERVE_ADDRESS_H

#include "base/text.h"
#include "serve/dataset.h"

/* Adds a segment of a path or a value of a query, percent-encoded (RFC 3986: all but unreserved
 * characters). */
void serve_address_add(cellar_text *out, const char *part);

/* The name of a level among the code lists of all data sets: "census.region^1". */
void serve_codelist_add_id(cellar_text *out, const serve_dataset *dataset,
                           const serve_level *level);
/* The level of a variable with that name; "region^1" will do. NULL when there is none. */
const serve_level *serve_codelist_find(const serve_dataset *dataset, const serve_variable *variable,
                                       const char *id);

#endif
