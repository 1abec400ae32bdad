/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where values come from: a cube, or a folder of releases that may grow. */
#ifndef CELLAR_SERVE_SOURCE_H
#define CELLAR_SERVE_SOURCE_H

#include "serve/answer.h"

/* A part of a question that lies in one canonical table: every pick of a side has the same level.
 */
typedef struct serve_cut {
    const serve_dataset *dataset;
    serve_table table;
    const serve_side *sides; /* those of the question, with the picks of these levels only */
    size_t n_sides;
} serve_cut;

/* What a source knows about one canonical table before it is asked for. */
typedef struct serve_status {
    int exists;   /* 1: it can be answered now */
    int is_exact; /* 1: from that very table; 0: added up from a finer one, with a larger error */
    serve_table from; /* the canonical table it is answered from */
    double sd; /* of the noise of a cell as it would be answered: the largest; NAN: unknown */
    const char *mechanism; /* of a cell; NULL: several, as in a cube */
} serve_status;

typedef struct serve_source_ops {
    /* Fills *out; a table that cannot be answered has exists = 0, which is no failure. */
    cellar_status (*status)(const serve_source *source, const serve_dataset *dataset,
                            const serve_table *table, serve_status *out, cellar_error *err);
    /* The values of a cut in the order of its sides, the last fastest; only when it exists. */
    cellar_status (*ask)(const serve_source *source, const serve_cut *cut, serve_value *out,
                         cellar_error *err);
    /* Tables that exist and come nearest to `table`, at most `room` of them: what to ask instead.
     */
    size_t (*nearest)(const serve_source *source, const serve_dataset *dataset,
                      const serve_table *table, serve_table *out, size_t room);
    /* The certificate that covers the answer of a table, a JSON object. */
    const char *(*certificate)(const serve_source *source, const serve_dataset *dataset,
                               const serve_table *table);
    void (*close)(serve_source *source);
} serve_source_ops;

struct serve_source {
    const serve_source_ops *ops; /* first member of each */
    int decimals;                /* of its values */
};

/* A cube file; `dataset` gets its variables from it (dataset_cube.c). */
cellar_status serve_source_open_cube(const char *path, serve_source **out, cellar_error *err);
/* A folder of releases. New files are seen when serve_source_refresh() is called: the vault adds
 * them. A file that cannot be read or whose certificate does not hold is refused. */
cellar_status serve_source_open_releases(const char *folder, serve_source **out, cellar_error *err);
cellar_status serve_source_refresh(serve_source *source, cellar_error *err);
void serve_source_close(serve_source *source); /* NULL is fine */

#endif
