/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files inside the library. */
#ifndef CELLAR_BASE_OUTPUT_H
#define CELLAR_BASE_OUTPUT_H

#include <cellar/output.h>

#include "base/text.h"

/* Adds all of `text`; one that ran out of memory fails the commit. */
void cellar_output_text(cellar_output *output, const cellar_text *text);

/* From now on `listener` hears all bytes that are added (NULL: nobody does). */
typedef void cellar_output_listener(void *context, const void *bytes, size_t length);
void cellar_output_listen(cellar_output *output, cellar_output_listener *listener, void *context);

#endif
