/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A text file cut into pieces of whole rows that threads can work on side by side. */
#ifndef CELLAR_DATA_CHUNKS_H
#define CELLAR_DATA_CHUNKS_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/microdata.h>

#include "data/separators.h"
#include "data/stream.h"

/* One thread's piece: whole rows, each ended by a newline (the last one too, whatever the file
 * says), followed by CELLAR_TEXT_SLACK readable bytes. The bytes may be changed. */
typedef struct cellar_chunk {
    char *text;
    size_t length;
    uint64_t sequence; /* 0, 1, ... in the order of the file */
    char *buffer;      /* private: what `text` points into */
    size_t buffer_bytes, headroom_bytes;
} cellar_chunk;

typedef struct cellar_chunks cellar_chunks;

/* Takes over `stream`, reads the header (or the first row) and names the columns. `target_bytes`
 * is the usual size of a chunk; tests make it tiny. On failure *out is NULL and the stream is
 * closed. */
cellar_status cellar_chunks_open(cellar_stream *stream, const cellar_reader_options *options,
                                 char delimiter, size_t target_bytes, cellar_chunks **out,
                                 cellar_error *err);
void cellar_chunks_close(cellar_chunks *chunks); /* NULL is fine */

size_t cellar_chunks_n_columns(const cellar_chunks *chunks);
const char *cellar_chunks_column(const cellar_chunks *chunks, size_t column);
/* The number of lines before the first chunk (the header's). */
uint64_t cellar_chunks_lines_before(const cellar_chunks *chunks);

/* The next piece of the file; length 0 at its end. Thread-safe: one caller at a time reads, and
 * calls `progress`. Free the buffers with cellar_chunk_clear(). */
cellar_status cellar_chunks_next(cellar_chunks *chunks, cellar_chunk *chunk,
                                 const cellar_progress *progress, cellar_error *err);
void cellar_chunk_clear(cellar_chunk *chunk);

#endif
