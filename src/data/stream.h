/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bytes of a data file in order: a file, standard input, and either of them gzipped. */
#ifndef CELLAR_DATA_STREAM_H
#define CELLAR_DATA_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

typedef struct cellar_stream cellar_stream;

/* Opens `path` ("-": standard input) and looks at its first bytes: gzip is unpacked on the way
 * (several members in a row too). On failure *out is NULL. */
cellar_status cellar_stream_open(const char *path, cellar_stream **out, cellar_error *err);
/* The same over bytes in memory, which must outlive the stream: for tests and fuzzers. */
cellar_status cellar_stream_open_memory(const char *name, const void *bytes, size_t length,
                                        cellar_stream **out, cellar_error *err);
void cellar_stream_close(cellar_stream *stream); /* NULL is fine */

/* Fills `buffer` with up to `size` bytes; *got < size only at the end of the file. Plain files are
 * read straight into `buffer` (page-aligned ones fastest). A cut or corrupt gzip is an error. */
cellar_status cellar_stream_read(cellar_stream *stream, void *buffer, size_t size, size_t *got,
                                 cellar_error *err);

const char *cellar_stream_name(const cellar_stream *stream); /* for messages */
/* The fraction of the file consumed, 0 to 1, or -1 when its size is unknown. */
double cellar_stream_fraction(const cellar_stream *stream);

#endif
