/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Zip archives in memory: what a spreadsheet is packed in. The same files make the same bytes. */
#ifndef CELLAR_SERVE_ZIP_H
#define CELLAR_SERVE_ZIP_H

#include <stdint.h>

#include "base/text.h"

enum { SERVE_ZIP_MAX_FILES = 16 };

typedef struct serve_zip {
    cellar_text *out; /* what it grows in; the archive begins where the text ended */
    size_t start;
    size_t n_files;
    struct serve_zip_file {
        const char *name; /* outlives the archive */
        uint32_t crc, packed, plain, offset;
        unsigned method;
    } files[SERVE_ZIP_MAX_FILES];
} serve_zip;

void serve_zip_init(serve_zip *zip, cellar_text *out);
/* Adds a file, compressed. When memory ends, or the archive reaches 4 GiB, `out` has failed. */
void serve_zip_add(serve_zip *zip, const char *name, const cellar_text *content);
/* The same uncompressed, as the first file of an OpenDocument must be. */
void serve_zip_store(serve_zip *zip, const char *name, const cellar_text *content);
void serve_zip_end(serve_zip *zip);

#endif
