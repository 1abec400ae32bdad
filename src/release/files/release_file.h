/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of numbers that may leave, whatever computed them. */
#ifndef CELLAR_RELEASE_FILES_RELEASE_FILE_H
#define CELLAR_RELEASE_FILES_RELEASE_FILE_H

#include <cellar/release_file.h>

#include "table/formats/sheet.h"

/* cellar_release_file_open() for the file that cellar_ledger_spend() lets a release wait in: it
 * exists nowhere yet, stays the owner's alone until it has its name, and what is beside it has the
 * same endings. */
cellar_status cellar_release_file_stage(const char *staged_path,
                                        const cellar_table_write_options *options,
                                        cellar_release_file **out, cellar_error *err);

/* Writes a sheet with what goes along and lets the files appear. Once per file. */
cellar_status cellar_release_file_put(cellar_release_file *file, const cellar_sheet *sheet,
                                      cellar_error *err);

#endif
