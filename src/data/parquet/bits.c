/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/parquet/bits.h"

#include <string.h>

/* Seven bits a byte, the lowest first. NULL when the bytes end. */
static const unsigned char *read_varint(const unsigned char *at, const unsigned char *end,
                                        uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && at != NULL && at < end; shift += 7) {
        *value |= (uint64_t) (*at & 0x7f) << shift;
        if (*at++ < 0x80)
            return at;
    }
    return NULL;
}

/* 8 bytes as a number, the lowest first; bytes beyond the end count as zeros. */
static uint64_t load(const unsigned char *at, const unsigned char *end)
{
    uint64_t word = 0;
    const size_t n = (size_t) (end - at);
    for (size_t i = 0; i < 8 && i < n; i++)
        word |= (uint64_t) at[i] << (8 * i);
    return word;
}

/* ---- runs ------------------------------------------------------------------------ */

static int begin_run(parquet_runs *r)
{
    uint64_t head;
    const unsigned bytes = (r->width + 7) / 8;
    r->at = read_varint(r->at, r->end, &head);
    if (r->at == NULL)
        return 0;
    r->is_packed = (int) (head & 1);
    if (r->is_packed) {
        const uint64_t n_groups = head >> 1; /* of eight values */
        if (n_groups > UINT32_MAX)
            return 0;
        r->left = 8 * n_groups;
        r->bit = 0;
        return r->left > 0;
    }
    if ((size_t) (r->end - r->at) < bytes)
        return 0;
    r->left = head >> 1;
    r->value = (uint32_t) (load(r->at, r->at + bytes) & (((uint64_t) 1 << r->width) - 1));
    r->at += bytes;
    return r->left > 0;
}

/* The last group may be cut off where its values are not needed. */
static int unpack(parquet_runs *r, uint32_t *out, size_t n)
{
    const uint64_t mask = ((uint64_t) 1 << r->width) - 1;
    const uint64_t n_bytes = (uint64_t) (r->end - r->at);
    uint64_t word, bit = r->bit;
    size_t i = 0;
    if (n_bytes * 8 < bit + (uint64_t) n * r->width)
        return 0;
    /* No value waits for the one before it but for where it begins. */
    for (; i < n && bit / 8 + sizeof word <= n_bytes; i++, bit += r->width) {
        memcpy(&word, r->at + bit / 8, sizeof word); /* of little-endian numbers */
        out[i] = (uint32_t) (word >> bit % 8 & mask);
    }
    for (; i < n; i++, bit += r->width)
        out[i] = (uint32_t) (load(r->at + bit / 8, r->end) >> bit % 8 & mask);
    r->at += bit / 8;
    r->bit = (unsigned) (bit % 8);
    return 1;
}

int parquet_runs_next(parquet_runs *r, uint32_t *out, size_t n)
{
    while (n > 0) {
        size_t some;
        if (r->left == 0 && !begin_run(r))
            return 0;
        some = r->left < n ? (size_t) r->left : n;
        if (r->is_packed && !unpack(r, out, some))
            return 0;
        for (size_t i = 0; !r->is_packed && i < some; i++)
            out[i] = r->value;
        r->left -= some;
        out += some;
        n -= some;
    }
    return 1;
}

/* ---- differences -------------------------------------------------------------------- */

static uint64_t zigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

/* A value of up to 64 bits that begins at a bit. */
static uint64_t bits_at(const unsigned char *at, const unsigned char *end, uint64_t bit,
                        unsigned width)
{
    const unsigned char *from = at + bit / 8;
    const unsigned shift = bit % 8;
    uint64_t value = load(from, end) >> shift;
    if (shift > 0 && end - from > 8)
        value |= (uint64_t) from[8] << (64 - shift);
    return width < 64 ? value & (((uint64_t) 1 << width) - 1) : value;
}

typedef struct delta_blocks {
    uint64_t block, n_minis, per_mini;
    uint64_t value; /* the last one; sums wrap around */
} delta_blocks;

/* One block: the least difference, the width of each part, the parts. */
static const unsigned char *read_block(delta_blocks *d, const unsigned char *at,
                                       const unsigned char *end, size_t n, int64_t *out)
{
    const unsigned char *widths;
    uint64_t least;
    size_t done = 0;
    at = read_varint(at, end, &least);
    if (at == NULL || (uint64_t) (end - at) < d->n_minis)
        return NULL;
    least = zigzag(least);
    widths = at;
    at += d->n_minis;
    for (uint64_t m = 0; m < d->n_minis && done < n; m++) {
        const unsigned width = widths[m];
        const uint64_t bytes = width * d->per_mini / 8;
        if (width > 64 || (uint64_t) (end - at) < bytes)
            return NULL;
        for (uint64_t i = 0; i < d->per_mini && done < n; i++) {
            d->value += least + bits_at(at, at + bytes, i * width, width);
            out[done++] = (int64_t) d->value;
        }
        at += bytes;
    }
    return at;
}

const unsigned char *parquet_deltas(const unsigned char *at, const unsigned char *end, size_t n,
                                    int64_t *out)
{
    delta_blocks d;
    uint64_t total, first;
    size_t done = 0;
    at = read_varint(at, end, &d.block);
    at = read_varint(at, end, &d.n_minis);
    at = read_varint(at, end, &total);
    at = read_varint(at, end, &first);
    if (at == NULL || total != n || d.block == 0 || d.block > 1 << 20 || d.n_minis == 0 ||
        d.n_minis > d.block || d.block % d.n_minis != 0)
        return NULL;
    d.per_mini = d.block / d.n_minis;
    d.value = zigzag(first);
    if (d.per_mini % 8 != 0)
        return NULL;
    if (n > 0)
        out[done++] = (int64_t) d.value;
    while (at != NULL && done < n) {
        const size_t some = n - done < d.block ? n - done : (size_t) d.block;
        at = read_block(&d, at, end, some, out + done);
        done += some;
    }
    return at;
}
