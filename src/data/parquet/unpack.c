/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/parquet/unpack.h"

#include <limits.h>
#include <string.h>

#include <brotli/decode.h>
#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

/* Several members in a row are one page. */
static int unpack_gzip(const unsigned char *in, size_t in_length, unsigned char *out,
                       size_t out_length)
{
    z_stream stream = {.next_in = (unsigned char *) in, .avail_in = (uInt) in_length};
    int result;
    stream.next_out = out;
    stream.avail_out = (uInt) out_length;
    if (in_length > UINT_MAX || out_length > UINT_MAX ||
        inflateInit2(&stream, 15 + 32) != Z_OK) /* gzip or zlib, by the first bytes */
        return 0;
    result = inflate(&stream, Z_FINISH);
    while (result == Z_STREAM_END && stream.avail_in > 0 && inflateReset(&stream) == Z_OK)
        result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return result == Z_STREAM_END && stream.avail_out == 0;
}

static int unpack_lz4(const unsigned char *in, size_t in_length, unsigned char *out,
                      size_t out_length)
{
    return in_length <= INT_MAX && out_length <= INT_MAX &&
           LZ4_decompress_safe((const char *) in, (char *) out, (int) in_length,
                               (int) out_length) == (int) out_length;
}

static size_t big_endian(const unsigned char *in)
{
    return (size_t) in[0] << 24 | (size_t) in[1] << 16 | (size_t) in[2] << 8 | in[3];
}

/* Blocks with both lengths before them, as Hadoop wrote them. */
static int unpack_lz4_framed(const unsigned char *in, size_t in_length, unsigned char *out,
                             size_t out_length)
{
    while (in_length >= 8) {
        const size_t whole = big_endian(in), packed = big_endian(in + 4);
        in += 8;
        in_length -= 8;
        if (packed > in_length || whole > out_length || !unpack_lz4(in, packed, out, whole))
            return 0;
        in += packed;
        in_length -= packed;
        out += whole;
        out_length -= whole;
    }
    return in_length == 0 && out_length == 0;
}

int parquet_unpack(parquet_codec codec, const unsigned char *in, size_t in_length,
                   unsigned char *out, size_t out_length)
{
    size_t length = out_length;
    if (in_length == 0 && out_length == 0) /* no value is there, and nothing was packed */
        return 1;
    switch (codec) {
    case PARQUET_PLAIN:
        if (in_length == out_length && in_length > 0)
            memcpy(out, in, in_length);
        return in_length == out_length;
    case PARQUET_SNAPPY:
        return snappy_uncompress((const char *) in, in_length, (char *) out, &length) ==
                   SNAPPY_OK &&
               length == out_length;
    case PARQUET_GZIP:
        return unpack_gzip(in, in_length, out, out_length);
    case PARQUET_BROTLI:
        return BrotliDecoderDecompress(in_length, in, &length, out) ==
                   BROTLI_DECODER_RESULT_SUCCESS &&
               length == out_length;
    case PARQUET_LZ4_FRAMED: /* some programs left the lengths out */
        return unpack_lz4_framed(in, in_length, out, out_length) ||
               unpack_lz4(in, in_length, out, out_length);
    case PARQUET_ZSTD:
        return ZSTD_decompress(out, out_length, in, in_length) == out_length;
    case PARQUET_LZ4:
        return unpack_lz4(in, in_length, out, out_length);
    default:
        return 0;
    }
}
