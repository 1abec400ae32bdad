/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Streams over hostile bytes, gzip among them: any way of cutting the reads gives the same bytes.
 */
#include <string.h>

#include "base/error.h"
#include "data/stream.h"

enum { ROOM = 1 << 16 };

static size_t drain(const uint8_t *data, size_t size, size_t step, char *out, cellar_status *status)
{
    cellar_stream *stream;
    cellar_error err;
    size_t n = 0, got = step;

    *status = cellar_stream_open_memory("memory", data, size, &stream, &err);
    while (*status == CELLAR_OK && got == step && n + step <= ROOM) {
        *status = cellar_stream_read(stream, out + n, step, &got, &err);
        CELLAR_ASSERT(got <= step);
        n += got;
    }
    cellar_stream_close(stream);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char whole[ROOM], pieces[ROOM];
    cellar_status whole_status, pieces_status;
    size_t n_whole = drain(data, size, ROOM, whole, &whole_status);
    size_t n_pieces =
        drain(data, size, size > 0 ? data[size - 1] % 64 + 1u : 1, pieces, &pieces_status);
    size_t n = n_whole < n_pieces ? n_whole : n_pieces;

    CELLAR_ASSERT(n == 0 || memcmp(whole, pieces, n) == 0);
    if (whole_status == CELLAR_OK && n_whole < ROOM)
        CELLAR_ASSERT(pieces_status == CELLAR_OK);
    return 0;
}
