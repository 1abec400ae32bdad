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

/* Gives a complete, synced file its name, as cellar_output_commit() does: the mode, the name (not
 * replacing one unless asked to), and the folder synced. `staged` lies in the same folder. On
 * failure it stays as it is. `options` may be NULL. */
cellar_status cellar_output_publish(const char *staged, const char *path,
                                    const cellar_output_options *options, cellar_error *err);

#endif
