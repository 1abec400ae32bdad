/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A column store, mapped: records as small codes, with what they were made of (docs/file-formats.md
 * has the layout). Confidential, like the records. */
#ifndef CELLAR_DATA_STORED_FILE_H
#define CELLAR_DATA_STORED_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include <cellar/microdata.h>

#include "base/memory.h"
#include "data/coder.h"

#define STORED_MARK "CELLARSTOR\r\n" /* programs that take the file for text would change it */
enum {
    STORED_VERSION = 1,
    STORED_START = 4096,       /* where the first group begins */
    STORED_ALIGN = 64,         /* pieces of columns begin at multiples of it */
    STORED_GROUP_ROWS = 65536, /* rows of a group; the last has what is left */
    STORED_VARIABLES_MAX = 4096,
    STORED_CODES_MAX = 65535, /* of a variable; with the code of missing values two bytes hold it */
    STORED_DIGEST_BYTES = 32
};
#define STORED_ROWS_MAX UINT32_MAX

/* The first bytes of the file; a sentence for people follows, then zeros up to STORED_START. */
typedef struct stored_start {
    char mark[12];
    uint32_t version;
} stored_start;

/* The last bytes. The digest covers the start, the checksums and the heading. */
typedef struct stored_tail {
    uint64_t heading_at, heading_length;
    unsigned char digest[STORED_DIGEST_BYTES];
    char mark[12];
    uint32_t version;
} stored_tail;

/* Columns of numbers beside the variables. Any of them may be absent. */
typedef enum cellar_stored_beside {
    CELLAR_STORED_KEY,    /* 8 bytes: the key of the record, below the key range */
    CELLAR_STORED_WEIGHT, /* 8 bytes: its weight in units of 1e-9 */
    CELLAR_STORED_UNIT,   /* 4 bytes: the number of its unit */
    CELLAR_STORED_ORDER,  /* 4 bytes: where the first, second, ... row of the data is stored */
    CELLAR_STORED_N_BESIDE
} cellar_stored_beside;

/* A column as it lies in each group; variable v is column CELLAR_STORED_N_BESIDE + v. */
typedef struct cellar_stored_column {
    const char *name;
    unsigned width;         /* bytes a value; 0: there is no such column */
    uint64_t least, limit;  /* values are at least the one and below the other (0: any) */
    uint64_t offset, piece; /* in a full group: where it begins, and its bytes */
} cellar_stored_column;

typedef enum cellar_stored_domain {
    CELLAR_STORED_DECLARED, /* by a code list */
    CELLAR_STORED_IMPLIED,  /* by the recode */
    CELLAR_STORED_OBSERVED
} cellar_stored_domain;

/* Value c + 1 of its column is leaf c of `list`; 0 is a missing value. */
typedef struct cellar_stored_variable {
    cellar_variable_spec spec; /* what it was built from; a codelist of its own it has not */
    cellar_stored_domain domain;
    cellar_codelist *list;
    uint32_t n_codes;
} cellar_stored_variable;

typedef struct cellar_stored_file {
    _Atomic size_t n_owners;
    const char *name; /* for messages */
    const unsigned char *bytes;
    size_t length;
    int is_mapped;
    cellar_arena *arena; /* texts and arrays below */

    uint64_t n_rows;
    size_t n_groups, n_variables, n_columns;
    cellar_stored_variable *variables;
    cellar_stored_column *columns;
    uint64_t group_bytes;        /* of a full group */
    _Atomic uint8_t *is_checked; /* of each piece: it was compared with its checksum */

    /* How it was built. */
    uint64_t key_range; /* the modulus of the keys */
    int key_is_decimal; /* they were read as decimals in [0,1) */
    int key_is_derived; /* from identifiers in the column that the keys are named after */
    const char **missing, **where;
    size_t n_missing, n_where;
    cellar_missing_policy missing_policy;
    cellar_bad_rows bad_rows;
    const char *sorted_by;    /* a variable, or NULL */
    cellar_row_report report; /* of the rows that were read: those not stored */
} cellar_stored_file;

/* 1 when the bytes begin like a store. */
int cellar_stored_begins(const void *bytes, size_t length);
/* 1 when `path` is a plain file that does. Never fails. */
int cellar_stored_is(const char *path);

/* Maps the file and reads its heading; the records are compared with their checksums when they are
 * first used. On failure *out is NULL. */
cellar_status cellar_stored_open(const char *path, cellar_stored_file **out, cellar_error *err);
/* The same in memory, which outlives the store, for tests and fuzzers; these have no use for a
 * digest that every change breaks, and can have it ignored. The bytes begin at a multiple of 8. */
cellar_status cellar_stored_open_memory(const char *name, const void *bytes, size_t length,
                                        int ignore_digest, cellar_stored_file **out,
                                        cellar_error *err);
cellar_stored_file *cellar_stored_retain(cellar_stored_file *file);
void cellar_stored_close(cellar_stored_file *file); /* NULL is fine; drops one owner */

/* Gives each column its place in a group; *group_bytes is what a full group takes. */
void cellar_stored_lay_out(cellar_stored_column *columns, size_t n_columns, uint64_t *group_bytes);
/* The bytes of a piece with that many rows. */
static inline uint64_t cellar_stored_piece_bytes(const cellar_stored_column *column, uint64_t rows)
{
    return (rows * column->width + STORED_ALIGN - 1) / STORED_ALIGN * STORED_ALIGN;
}

size_t cellar_stored_group_rows(const cellar_stored_file *file, size_t group);
/* The values of a column in a group, compared with their checksum and limits at the first use;
 * thread-safe. */
cellar_status cellar_stored_piece(const cellar_stored_file *file, size_t group, size_t column,
                                  const void **values, cellar_error *err);
/* The same, compared again whatever was done before. */
cellar_status cellar_stored_check(const cellar_stored_file *file, size_t group, size_t column,
                                  const void **values, cellar_error *err);
/* One value of a piece. */
static inline uint64_t cellar_stored_value(const void *values, unsigned width, size_t row)
{
    switch (width) {
    case 1:
        return ((const uint8_t *) values)[row];
    case 2:
        return ((const uint16_t *) values)[row];
    case 4:
        return ((const uint32_t *) values)[row];
    default:
        return ((const uint64_t *) values)[row];
    }
}
/* The place of what callers see as a column: the variables, then what is beside them. */
static inline size_t cellar_stored_place(const cellar_stored_file *file, size_t column)
{
    return column < file->n_variables ? CELLAR_STORED_N_BESIDE + column
                                      : column - file->n_variables;
}
/* The text of a category; "" of a missing value. */
const char *cellar_stored_text(const cellar_stored_variable *variable, uint64_t value);

/* The checksum of a piece: accidents do not keep it, a forger could. */
uint64_t cellar_stored_sum(const void *bytes, size_t length);
/* The digest of start, checksums and heading. */
void cellar_stored_digest(const stored_start *start, const void *sums, size_t sums_length,
                          const void *heading, size_t heading_length,
                          unsigned char digest[STORED_DIGEST_BYTES]);

/* ---- the store as data ---- */

/* The stored variable (columns of the data are its variables) that answers to a variable of a
 * table: one made of the same column in the same way, else one of that name. Fills in what the
 * store knows better: recode, code list or labels, and the policy of missing values where the asker
 * has none. *held is a list to free. */
cellar_status cellar_stored_find_variable(const cellar_stored_file *file,
                                          const cellar_variable_spec *asked,
                                          cellar_coder_spec *coder, size_t *column,
                                          cellar_codelist **held, cellar_error *err);
/* The column that a condition is about. Refuses one whose values the store does not hold as they
 * were. */
cellar_status cellar_stored_find_condition(const cellar_stored_file *file,
                                           const cellar_condition *condition, size_t *column,
                                           cellar_error *err);
/* The numbers of that kind and name; columns after those of the variables. */
cellar_status cellar_stored_find_number(const cellar_stored_file *file, cellar_stored_beside kind,
                                        const char *name, size_t *column, cellar_error *err);
/* 1 when the recode changes nothing. */
int cellar_recode_is_plain(const cellar_recode *recode);

#endif
