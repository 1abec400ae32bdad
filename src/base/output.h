/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Output files inside the library. */
#ifndef CELLAR_BASE_OUTPUT_H
#define CELLAR_BASE_OUTPUT_H

#include <cellar/output.h>

#include "base/text.h"

/* Adds all of `text`; one that ran out of memory fails the commit. */
void cellar_output_text(cellar_output *output, const cellar_text *text);

#endif
