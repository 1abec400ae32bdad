/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases in files. A release never travels without its certificate: inside the file where the
 * format has a place for it (JSON-stat, PC-Axis), else beside it as FILE.cellar.json. */
#ifndef CELLAR_RELEASE_FILE_H
#define CELLAR_RELEASE_FILE_H

#include <cellar/release.h>
#include <cellar/table_file.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_release_file cellar_release_file;

/* Refuses what writing a release of this table in the format of `options` would refuse, before
 * anything is paid or drawn: names that the format needs for itself, too many zeros. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_release_file_check(const cellar_table *table, cellar_below below,
                          const cellar_table_write_options *options, cellar_error *err);

/* Opens what will hold a release or an estimate (cellar/estimate.h), so that a name that is taken
 * is known before anything is drawn. CSV, SDMX-CSV, CSVW, ODS and XLSX are several files: the data,
 * FILE.cellar.json, and for CSVW the description FILE-metadata.json; "-" (standard output) is for
 * JSON-stat and PC-Axis. The format is that of `options`, or that of the file's ending. `options`
 * may be NULL; its strings outlive the file. With `replace` existing files are replaced. On failure
 * *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_release_file_open(const char *path, const cellar_table_write_options *options, int replace,
                         cellar_release_file **out, cellar_error *err);

/* Writes the release and lets the files appear, readable by all, what goes along first. Refuses a
 * simulation (CELLAR_ERR_RULE). Once per file; discard it afterwards in every case. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_file_write(cellar_release_file *file,
                                                                    const cellar_release *release,
                                                                    cellar_error *err)
    CELLAR_NONNULL(2);
CELLAR_API void cellar_release_file_discard(cellar_release_file *file); /* NULL is fine */

/* Reads a release in CSV, JSON-stat or PC-Axis, by the file's ending unless `format` says it.
 * Refuses a table of true counts, a file without certificate or description, one whose values are
 * not those the description was written for, and a simulation. On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_release_read(const char *path,
                                                              cellar_table_format format,
                                                              cellar_release **out,
                                                              cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
