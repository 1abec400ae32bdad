/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the groups of a store one after the other, with a checksum for each piece. */
#ifndef CELLAR_STORE_WRITER_H
#define CELLAR_STORE_WRITER_H

#include <cellar/output.h>

#include "data/stored/file.h"

typedef struct store_writer {
    cellar_output *output;
    const cellar_stored_column *columns;
    size_t n_columns;
    uint64_t group_bytes;
    unsigned char *group; /* being filled, laid out as a full one */
    size_t n_in_group;
    uint64_t n_rows;
    uint64_t *sums; /* of the pieces written */
    size_t n_sums, sums_capacity;
    int is_held;          /* 1: groups wait in memory until they are sorted */
    unsigned char **held; /* full groups, then perhaps one that is not */
    size_t n_held, held_capacity;
} store_writer;

/* Begins the file. The columns, laid out, outlive the writer. Clear it also after a failure. */
cellar_status cellar_store_writer_init(store_writer *writer, const cellar_stored_column *columns,
                                       size_t n_columns, int is_held, cellar_output *output,
                                       cellar_error *err);
void cellar_store_writer_clear(store_writer *writer);

/* How many rows can be filled in before the next advance, at least one. */
static inline size_t cellar_store_writer_room(const store_writer *writer)
{
    return STORED_GROUP_ROWS - writer->n_in_group;
}
/* Where a column of these rows lies. */
static inline void *cellar_store_writer_at(const store_writer *writer, size_t column)
{
    const cellar_stored_column *c = &writer->columns[column];
    return writer->group + c->offset + (size_t) c->width * writer->n_in_group;
}
cellar_status cellar_store_writer_advance(store_writer *writer, size_t n, cellar_error *err);

/* Writes what is left: of held groups all rows, in the order of a column's values (rows with the
 * same value keep theirs), and in the column CELLAR_STORED_ORDER, if there is one, where each went.
 * Then the checksums. */
cellar_status cellar_store_writer_finish(store_writer *writer, size_t sort_column,
                                         cellar_error *err);

#endif
