/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text inside XML and HTML. */
#ifndef CELLAR_BASE_MARKUP_H
#define CELLAR_BASE_MARKUP_H

#include "base/text.h"

/* Adds `string` (NULL: nothing) so that it stays text wherever it stands, in content or in a quoted
 * attribute. Labels are hostile: what is not well-formed UTF-8, and control characters, which XML
 * forbids, become U+FFFD. */
void cellar_markup_add(cellar_text *text, const char *string);

#endif
