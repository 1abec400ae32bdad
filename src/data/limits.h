/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much of a data file may be held at once; what the caller did not decide has these defaults.
 */
#ifndef CELLAR_DATA_LIMITS_H
#define CELLAR_DATA_LIMITS_H

#include <stdint.h>

#include <cellar/microdata.h>

enum { CELLAR_DEFAULT_MAX_COLUMNS = 100000, CELLAR_DEFAULT_MAX_ROW_MIB = 4 };

static inline size_t cellar_limit_columns(const cellar_reader_options *options)
{
    return options->max_columns > 0 ? options->max_columns : CELLAR_DEFAULT_MAX_COLUMNS;
}

static inline size_t cellar_limit_row_bytes(const cellar_reader_options *options)
{
    size_t mib = options->max_row_mib > 0 ? options->max_row_mib : CELLAR_DEFAULT_MAX_ROW_MIB;
    return (mib < CELLAR_MAX_ROW_MIB ? mib : CELLAR_MAX_ROW_MIB) << 20;
}

/* What reading an SPSS, Stata or SAS file of that size may take: its texts may be held as a whole.
 */
static inline uint64_t cellar_limit_reader_bytes(const cellar_reader_options *options,
                                                 int64_t file_bytes)
{
    const uint64_t least = (uint64_t) 256 << 20, most = (uint64_t) 4 << 30;
    if (options->reader_memory_mib > 0)
        return (uint64_t) options->reader_memory_mib << 20;
    return (uint64_t) file_bytes < (most - least) / 8 ? least + 8 * (uint64_t) file_bytes : most;
}

#define cellar_fail_columns(err, file, max_columns)                                                \
    cellar_fail((err), CELLAR_ERR_MEMORY,                                                          \
                "%s: the file has more than %zu columns; --max-columns raises that limit", (file), \
                (size_t) (max_columns))

#endif
