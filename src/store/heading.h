/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The end of a store's file. */
#ifndef CELLAR_STORE_HEADING_H
#define CELLAR_STORE_HEADING_H

#include "data/stored/heading.h"
#include "store/writer.h"

/* Writes the heading of `file`, of which all that it says of itself is set, and the tail. */
cellar_status cellar_store_write_heading(const store_writer *writer, const cellar_stored_file *file,
                                         cellar_error *err);

#endif
