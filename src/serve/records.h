/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The records of a data set that a vault draws from: the levels of its variables, and counting a
 * canonical table. Counts are confidential; levels are public. */
#ifndef CELLAR_SERVE_RECORDS_H
#define CELLAR_SERVE_RECORDS_H

#include "cube/variable.h"
#include "serve/counter.h"
#include "serve/dataset.h"
#include "serve/drawn.h"

/* The variables as levels, each level with a code list of its own. */
typedef struct serve_axis {
    cube_variable variable;
    cellar_schema *domain;                       /* of the variable alone */
    cellar_codelist *lists[CUBE_LEVELS_MAX + 1]; /* of each level, from 1 */
    char *ids[CUBE_LEVELS_MAX + 1];              /* "region^1"; of the finest "region" */
} serve_axis;

typedef struct serve_axes {
    serve_axis *items;
    size_t n;
} serve_axes;

/* Makes the axes of what a configuration describes; no data are opened. Each variable needs
 * declared categories. Clear them in every case. */
cellar_status serve_axes_init(serve_axes *axes, const cellar_plan *records, cellar_error *err);
void serve_axes_clear(serve_axes *axes); /* {0} is fine */

/* Keys of records, for cell keys. */
typedef struct serve_record_keys {
    const char *column, *id_column; /* one of them, the other NULL */
    const unsigned char *secret;    /* with id_column */
    uint64_t range;                 /* 0: decimal keys */
} serve_record_keys;

/* Counts a canonical table of `records`, which `counter` has open; its variables are named like
 * their levels. The table names at least one variable. `keys` may be NULL. Several threads may
 * count at once. On failure *out is NULL, and the message may name files. */
cellar_status serve_records_count(const cellar_plan *records, serve_counter *counter,
                                  const serve_axes *axes, const serve_table *table,
                                  const serve_record_keys *keys, cellar_table **out,
                                  cellar_error *err);

#endif
