/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of numbers that may leave, whatever computed them. */
#ifndef CELLAR_RELEASE_RELEASE_FILE_H
#define CELLAR_RELEASE_RELEASE_FILE_H

#include <cellar/release_file.h>

#include "table/sheet.h"

/* Writes a sheet with what goes along and lets the files appear. Once per file. */
cellar_status cellar_release_file_put(cellar_release_file *file, const cellar_sheet *sheet,
                                      cellar_error *err);

#endif
