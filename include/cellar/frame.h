/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data frames: columns in memory, and the structs of the Arrow C data and stream interfaces.
 *
 * Arrow's interface does not say how long a buffer is (but for string views). So whatever a
 * producer states that can be checked is checked, and a producer that lies about the length of its
 * buffers cannot be caught by anybody. */
#ifndef CELLAR_FRAME_H
#define CELLAR_FRAME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- columns of codes, numbers or texts, counted where they lie ---- */

typedef enum cellar_column_kind {
    CELLAR_COLUMN_CODES,    /* integers that are numbers of `levels` */
    CELLAR_COLUMN_INTEGERS, /* integers that are values */
    CELLAR_COLUMN_FLOATS,   /* float or double; NaN is missing */
    CELLAR_COLUMN_TEXTS     /* const char *, in UTF-8; NULL is missing */
} cellar_column_kind;

/* Writes the codes of rows [first, first + n) and sets *levels to all levels so far: those of
 * earlier rows keep their codes, and every array stays in memory until the library's call returns.
 * Called on the thread of that call, for the rows in their order. 0: memory ended. */
typedef int cellar_make_codes(void *context, uint64_t first, size_t n, uint32_t *codes,
                              const char *const **levels, size_t *n_levels);

/* One column. A zeroed struct with name, kind, value_bytes and values is a good one (codes have
 * levels, too). All memory stays the caller's, and unchanged until the call returns. */
typedef struct cellar_column {
    const char *name;
    cellar_column_kind kind;
    unsigned value_bytes;      /* of a value: 1, 2, 4, 8; floats 4, 8; of texts it is not read */
    int is_unsigned;           /* integers and codes */
    const void *values;        /* one for each row, one after the other */
    int has_missing;           /* integers and codes: 1: the value `missing` is a missing value */
    int64_t missing;           /* R: INT32_MIN; pandas: -1 */
    const uint8_t *is_missing; /* a byte for each row, not 0: the value is missing; or NULL */
    const char *const *levels; /* codes: their texts in UTF-8; NULL and "" are missing values */
    size_t n_levels;
    int64_t first_code; /* codes: the code of levels[0]; R's is 1 */
    /* Codes: NULL, or what makes them when their rows' turn comes, so that never all of them are in
     * memory; values, value_bytes and levels are not read then. */
    cellar_make_codes *make_codes;
    void *context;
} cellar_column;

typedef struct cellar_frame {
    const cellar_column *columns;
    size_t n_columns;
    uint64_t n_rows;
} cellar_frame;

/* ---- Arrow, under the names that the interface gives ---- */

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

/* What a column is. `release` is NULL once it was called. */
struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

/* Its values. */
struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Batches of rows, one after the other; the functions answer 0 or an errno. */
struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

#ifdef __cplusplus
}
#endif

#endif
