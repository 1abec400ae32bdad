/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people are told about a release or an estimate, from its description: for formats that they
 * read themselves. */
#ifndef CELLAR_RELEASE_FILES_STATEMENTS_H
#define CELLAR_RELEASE_FILES_STATEMENTS_H

#include <jansson.h>

#include "table/formats/sheet.h"

/* `description` is a json_t: that of a release, or that of an estimate with its sources. */
void cellar_statements(const void *description, cellar_sheet_listener *hear, void *context);

#endif
