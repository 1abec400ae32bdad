/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zip archives: what a spreadsheet is packed in. The archive grows in memory, and a file goes into
 * it piece by piece. The same files make the same bytes. */
#ifndef CELLAR_TABLE_FORMATS_ZIP_H
#define CELLAR_TABLE_FORMATS_ZIP_H

#include <stdint.h>
#include <zlib.h>

#include <cellar/status.h>

#include "base/text.h"

enum { CELLAR_ZIP_MAX_FILES = 16 };

typedef struct cellar_zip {
    cellar_text *out; /* what it grows in; the archive begins where the text ended */
    size_t start;
    int too_large; /* a file or the archive reached 4 GiB */
    int is_open;   /* cellar_zip_begin() was called last */
    z_stream stream;
    size_t n_files;
    struct cellar_zip_file {
        const char *name; /* outlives the archive */
        uint32_t crc;
        uint64_t packed, plain, offset;
        unsigned method;
    } files[CELLAR_ZIP_MAX_FILES];
} cellar_zip;

void cellar_zip_init(cellar_zip *zip, cellar_text *out);

/* A file, compressed: begin, feed as often as there is something to add, finish in every case. What
 * fails is told by cellar_zip_end(). Feeding empties the text, of which it takes all. */
void cellar_zip_begin(cellar_zip *zip, const char *name);
void cellar_zip_feed(cellar_zip *zip, cellar_text *piece);
void cellar_zip_finish(cellar_zip *zip);
/* All three for a file of one piece, which is cleared. */
void cellar_zip_add(cellar_zip *zip, const char *name, cellar_text *content);
/* The same uncompressed, as the first file of an OpenDocument must be. */
void cellar_zip_store(cellar_zip *zip, const char *name, const char *content);

/* Ends the archive; fails when it is too large or memory has ended. */
cellar_status cellar_zip_end(cellar_zip *zip, cellar_error *err);

#endif
