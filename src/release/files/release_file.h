/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of values that can be published, whatever computed them. */
#ifndef CELLAR_RELEASE_FILES_RELEASE_FILE_H
#define CELLAR_RELEASE_FILES_RELEASE_FILE_H

#include <jansson.h>

#include <cellar/release_file.h>

#include "table/formats/sheet.h"

/* cellar_release_file_open() for the file that cellar_ledger_spend() lets a release wait in: it
 * exists nowhere yet, stays the owner's alone until it has its name, and what is beside it has the
 * same endings. */
cellar_status cellar_release_file_stage(const char *staged_path,
                                        const cellar_table_write_options *options,
                                        cellar_release_file **out, cellar_error *err);

/* cellar_release_file_open() for a table of true counts, whose files are the owner's alone. */
cellar_status cellar_release_file_open_confidential(const char *path,
                                                    const cellar_table_write_options *options,
                                                    int replace, cellar_release_file **out,
                                                    cellar_error *err);

/* What stands beside a file in PATH.cellar.json, which must have the digest of the file's bytes.
 * *out is released with json_decref(); on failure it is NULL. */
cellar_status cellar_sidecar_read(const char *path, const char *bytes, size_t length, json_t **out,
                                  cellar_error *err);
/* All that such an object says about a release, without its cells: for formats that are only
 * written. Takes members out of `sidecar` that do not describe it. */
cellar_status cellar_sidecar_release(const char *path, json_t *sidecar, cellar_release **out,
                                     cellar_error *err);

/* Writes a sheet with what goes along and lets the files appear. Once per file. */
cellar_status cellar_release_file_put(cellar_release_file *file, const cellar_sheet *sheet,
                                      cellar_error *err);

#endif
