/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whole numbers in few bits, as Parquet packs them. */
#ifndef CELLAR_DATA_PARQUET_BITS_H
#define CELLAR_DATA_PARQUET_BITS_H

#include <stddef.h>
#include <stdint.h>

/* Runs of one value, and values of `width` bits side by side, in turn. */
typedef struct parquet_runs {
    const unsigned char *at, *end;
    unsigned width; /* at most 32 */
    uint64_t left;  /* values of the present run */
    int is_packed;
    uint32_t value; /* that it repeats */
    unsigned bit;   /* of the packed values: where in *at the next one begins */
} parquet_runs;

/* The next n values; 0 when the bytes end before. */
int parquet_runs_next(parquet_runs *runs, uint32_t *out, size_t n);

/* Numbers as differences (DELTA_BINARY_PACKED). Answers where the bytes behind them begin; NULL
 * when they are damaged or the numbers are not exactly n. */
const unsigned char *parquet_deltas(const unsigned char *at, const unsigned char *end, size_t n,
                                    int64_t *out);

#endif
