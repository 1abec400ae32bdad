/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists inside the library: they are shared, not copied. */
#ifndef CELLAR_DATA_CODELIST_H
#define CELLAR_DATA_CODELIST_H

#include <cellar/codelist.h>

#include "base/text.h"

/* One more owner of an immutable list; each owner calls cellar_codelist_free(). Thread-safe. */
cellar_codelist *cellar_codelist_retain(const cellar_codelist *list);

/* Adds the list in Cellar's format to `text`: what cellar_codelist_write() writes, and
 * cellar_codelist_parse() reads back. */
void cellar_codelist_add_text(const cellar_codelist *list, cellar_text *text);

#endif
