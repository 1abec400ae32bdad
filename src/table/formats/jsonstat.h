/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A JSON-stat dataset taken apart: dimensions in order, values and statuses by index. */
#ifndef CELLAR_TABLE_FORMATS_JSONSTAT_H
#define CELLAR_TABLE_FORMATS_JSONSTAT_H

#include <jansson.h>

#include "base/memory.h"
#include "table/formats/format.h"

typedef struct cellar_jsonstat_dimension {
    const char *name;
    size_t n;
    const char **codes;
    const char **labels; /* NULL where the file has none */
} cellar_jsonstat_dimension;

/* What `value` or `status` says of an index. */
typedef struct cellar_jsonstat_entry {
    uint64_t index;
    const json_t *value; /* NULL: it is `whole` */
    int64_t whole;
} cellar_jsonstat_entry;

typedef struct cellar_jsonstat {
    json_t *root;            /* owns all strings; without values that are plain */
    cellar_arena *arena;     /* the lists of codes and labels */
    const json_t *extension; /* extension.cellar, or NULL in files of others */
    size_t n_variables;
    cellar_jsonstat_dimension dimensions[CELLAR_MAX_VARIABLES];
    uint64_t n_indices;
    cellar_jsonstat_entry *values, *statuses; /* ascending */
    size_t n_values, n_statuses;
    const json_t *common_status; /* one status for all cells, or NULL */
} cellar_jsonstat;

/* Fails with file, line and column when it is no JSON, and with the member's name when it is no
 * dataset. *out is to be cleared in every case. */
cellar_status cellar_jsonstat_parse(const cellar_source *source, cellar_jsonstat *out,
                                    cellar_error *err);
void cellar_jsonstat_clear(cellar_jsonstat *file);

/* A walk over the cells in order; {0} is before the first. `value` and `status` are NULL where the
 * file says nothing (or null). */
typedef struct cellar_jsonstat_cursor {
    uint64_t index;
    const cellar_jsonstat_entry *value;
    const json_t *status;
    size_t value_position, status_position;
    int started;
} cellar_jsonstat_cursor;

int cellar_jsonstat_next(const cellar_jsonstat *file, cellar_jsonstat_cursor *cursor);
/* The same over the cells that value or status mention. */
int cellar_jsonstat_next_mentioned(const cellar_jsonstat *file, cellar_jsonstat_cursor *cursor);

/* The cell at the cursor, its value in units of 10^-decimals. *stated is 0 when it has neither a
 * value nor a status we know. */
cellar_status cellar_jsonstat_cell(const cellar_source *source,
                                   const cellar_jsonstat_cursor *cursor, int decimals,
                                   cellar_sheet_cell *cell, int *stated, cellar_error *err);

#endif
