/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A read-only view of values in cells: all that the writers of files know of what they write. */
#ifndef CELLAR_TABLE_FORMATS_SHEET_H
#define CELLAR_TABLE_FORMATS_SHEET_H

#include <cellar/table.h>

#include "base/text.h"

/* True counts; released values; whole numbers computed from these so that they add; estimates
 * computed from these. The last two are both estimates (cellar/estimate.h). */
typedef enum cellar_sheet_kind {
    CELLAR_SHEET_TABLE,
    CELLAR_SHEET_RELEASE,
    CELLAR_SHEET_FIT,
    CELLAR_SHEET_ESTIMATE
} cellar_sheet_kind;

enum { CELLAR_SHEET_MAX_DECIMALS = 9 };
#define CELLAR_SHEET_NO_ERROR INT64_C(-1) /* a standard error that is not known */
/* The name of the standard errors: a column, or a category of the dimension `measure`. */
#define CELLAR_SHEET_ERROR_NAME "se"
#define CELLAR_SHEET_MEASURE_NAME "measure"

/* One cell. `value` is the count, the released value or the estimate in units of the sheet. In a
 * sheet that is not confidential a suppressed or unavailable cell has no value, whatever stands
 * here: see cellar_sheet_shows(). */
typedef struct cellar_sheet_cell {
    uint64_t index;
    int64_t value;
    int64_t se;           /* in the same units, or CELLAR_SHEET_NO_ERROR; only with errors */
    cellar_int128 weight; /* units of 1e-9; only in a weighted sheet */
    uint64_t key;         /* only in a keyed sheet */
    cellar_cell_status status;
} cellar_sheet_cell;

/* Hears what people are told about the values: "Protection", and a text (NULL: memory has ended).
 */
typedef void cellar_sheet_listener(void *context, const char *name, const char *text);

/* The view borrows everything it points to. Stored cells come in canonical order; a cell that is
 * not stored is a structural zero when the schema says so, else what `absent` says. */
typedef struct cellar_sheet {
    const cellar_schema *schema;
    cellar_sheet_kind kind;
    int confidential;
    int weighted, keyed;
    int decimals;        /* values and errors are in units of 10^-decimals; 0 but for estimates */
    int with_errors;     /* every cell has a standard error */
    uint64_t key_range;  /* the modulus of the keys; 0: 2^64 */
    uint64_t max_weight; /* the bound of the weights; 0: none */
    const char *tabulation; /* what was counted, a JSON object; or NULL */
    const char *stamp;      /* a sentence about its values that the file shows; or NULL */
    const char *attachment; /* a JSON object whose members join `extension.cellar`; or NULL */
    /* Says what `statements` hold, the guarantee first; NULL: there is nothing to say. */
    void (*state)(const void *statements, cellar_sheet_listener *hear, void *context);
    const void *statements;
    cellar_cell_status absent; /* of cells that are not stored: NORMAL (a zero) or SUPPRESSED */
    size_t n_cells;
    const void *source;
    cellar_sheet_cell (*cell)(const void *source, size_t position);
} cellar_sheet;

/* The view of a table of true counts: confidential, always. Fails with CELLAR_ERR_OVERFLOW when a
 * count does not fit into 63 bits. The table must outlive the view. */
cellar_status cellar_sheet_of_table(const cellar_table *table, cellar_sheet *out,
                                    cellar_error *err);

const char *cellar_sheet_kind_name(cellar_sheet_kind kind); /* "table", "release", "fit", ... */
const char *
cellar_sheet_value_name(cellar_sheet_kind kind); /* "count", "released", "fitted", ... */

/* 1 when the number of the cell may be written: always in a confidential sheet, else unless the
 * cell is suppressed or not available. */
int cellar_sheet_shows(const cellar_sheet *sheet, const cellar_sheet_cell *cell);
/* 1 when some stored cell has a status, or a structural zero will be among the cells walked. */
int cellar_sheet_has_status(const cellar_sheet *sheet, int with_zeros);
/* What a format of rows walks: the stored cells, or all when zeros are asked for or a cell that is
 * not stored is no zero, which a reader would take it for. */
int cellar_sheet_lists_all(const cellar_sheet *sheet, int zeros);
/* Bit v: the cells hold the inner nodes of variable v's hierarchies. */
uint64_t cellar_sheet_hierarchies(const cellar_sheet *sheet);
/* The name of a status in files ("suppressed"); "" for a normal cell. */
const char *cellar_cell_status_name(cellar_cell_status status);
/* The status of that name; 0 when there is none. An empty name is a normal cell. */
int cellar_cell_status_find(const char *name, size_t length, cellar_cell_status *out);

/* Which cells a walk visits. */
typedef enum cellar_sheet_extent {
    CELLAR_SHEET_STORED, /* cells with a value or a status */
    CELLAR_SHEET_CELLS,  /* every cell of the table */
    CELLAR_SHEET_INDICES /* every index, those outside the margins too: the full grid */
} cellar_sheet_extent;

/* A walk in canonical order. Set it up with cellar_sheet_walk_init(). */
typedef struct cellar_sheet_walk {
    const cellar_sheet *sheet;
    cellar_sheet_extent extent;
    uint64_t next_index, n_indices;
    size_t position;
    int structural;                            /* the schema knows structural zeros */
    cellar_sheet_cell cell;                    /* where the walk is */
    int in_table;                              /* 0: an index outside the margins */
    uint32_t categories[CELLAR_MAX_VARIABLES]; /* of the cell */
} cellar_sheet_walk;

/* Fails when the extent is so large (10^10 indices) that no file should hold it. */
cellar_status cellar_sheet_walk_init(cellar_sheet_walk *walk, const cellar_sheet *sheet,
                                     cellar_sheet_extent extent, cellar_error *err);
int cellar_sheet_walk_next(cellar_sheet_walk *walk); /* 0 at the end */

/* Add the value of a cell, and its standard error if it is known. */
void cellar_sheet_add_value(const cellar_sheet *sheet, const cellar_sheet_cell *cell,
                            cellar_text *text);
void cellar_sheet_add_error(const cellar_sheet *sheet, const cellar_sheet_cell *cell,
                            cellar_text *text);

/* Adds the decimal digits of a number: faster than printf. */
void cellar_text_add_i64(cellar_text *text, int64_t value);
void cellar_text_add_u64(cellar_text *text, uint64_t value);

#endif
