/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heading of a store: JSON that says what its columns hold and what they were made of. */
#ifndef CELLAR_DATA_STORED_HEADING_H
#define CELLAR_DATA_STORED_HEADING_H

#include "data/stored/file.h"

/* The words of the heading, in the order of their enumerations. */
#define STORED_DOMAIN_WORDS                                                                        \
    {                                                                                              \
        "declared", "implied", "observed", NULL                                                    \
    }
#define STORED_POLICY_WORDS                                                                        \
    {                                                                                              \
        "undecided", "drop", "level", NULL                                                         \
    }
#define STORED_BESIDE_WORDS                                                                        \
    {                                                                                              \
        "key", "weight", "unit", "order", NULL                                                     \
    }

/* The bytes that a value of a column beside the variables takes. */
unsigned cellar_stored_beside_width(cellar_stored_beside beside);

/* Reads it into `file`, whose arena holds what it says; closing the file frees what was read, also
 * after a failure. */
cellar_status cellar_stored_read_heading(cellar_stored_file *file, const char *text, size_t length,
                                         cellar_error *err);

#endif
