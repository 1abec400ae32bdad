/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The lines of a manifest. */
#ifndef CELLAR_RELEASE_FILES_MANIFEST_H
#define CELLAR_RELEASE_FILES_MANIFEST_H

#include <cellar/manifest.h>

#include "base/text.h"

enum { CELLAR_MANIFEST_LIMIT = 1 << 26 }; /* bytes of a manifest */

/* Reads FOLDER/manifest.sha256, having compared the folder with it. `shared` refuses files that
 * only their owner may read. *lines is freed with cellar_free(). */
cellar_status cellar_manifest_read(const char *folder, int shared, char **lines, size_t *length,
                                   size_t *n_files, cellar_error *err);

/* Reads every file of a manifest's lines and adds what it finds. Refuses what must not be
 * published, releases that are not sound, and files of no known kind, unless `allowed` names them;
 * those are added to `used`. */
cellar_status cellar_manifest_inspect(const char *folder, const char *lines, const char *allowed,
                                      cellar_text *used, cellar_manifest_findings *out,
                                      cellar_error *err);
/* 1 when a file of that name is in the lines. */
int cellar_manifest_lists(const char *lines, const char *name);
/* Names of files, as they are signed: lines "file NAME". */
void cellar_manifest_name(cellar_text *names, const char *name);
int cellar_manifest_names(const char *names, const char *name);
/* The acceptances that such a folder needs. */
unsigned cellar_manifest_needs(const cellar_manifest_findings *findings);

/* FOLDER/NAME, to be freed with cellar_free(); NULL when memory ends. */
char *cellar_manifest_path(const char *folder, const char *name);

#endif
