/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A file of a release as canonical tables. One release holds several: its inner cells, its margins,
 * and upper levels of its hierarchies, each with noise of its own. */
#ifndef CELLAR_SERVE_PIECE_H
#define CELLAR_SERVE_PIECE_H

#include <cellar/release.h>

#include "cube/lattice.h"
#include "serve/guarantee.h"
#include "serve/noise.h"
#include "serve/source.h"

/* How a variable of the release is one of the data set. */
typedef struct piece_side {
    size_t variable;                           /* of the data set */
    uint32_t total;                            /* its category for everybody; UINT32_MAX: none */
    uint32_t *categories[CUBE_LEVELS_MAX + 1]; /* of each level that it has all of, by position;
                                                  else NULL; no level 0 */
} piece_side;

typedef struct piece_file {
    char *name; /* of the file in its folder */
    cellar_release *release;
    serve_noise noise;
    char *guarantee, *origin;
    char id[SERVE_ID_TEXT]; /* of the certificate */
    piece_side *sides;      /* NULL: not fitted to the data set yet */
    size_t n_sides;
    serve_table *tables; /* that it holds */
    size_t n_tables;
} piece_file;

/* Reads a release and computes its certificate again. On failure *out is NULL. */
cellar_status piece_file_read(const char *folder, const char *name, piece_file **out,
                              cellar_error *err);
void piece_file_free(piece_file *file); /* NULL is fine */

/* Finds out which canonical tables of a data set the file holds. CELLAR_ERR_INPUT when its
 * variables or categories are others. */
cellar_status piece_file_fit(piece_file *file, const serve_dataset *dataset, cellar_error *err);

/* The values of a cut, added up from the cells of a table of the file that lies above it; each
 * interval misses with probability at most `tail`. */
cellar_status piece_ask(piece_file *file, const serve_table *table, const serve_cut *cut,
                        double tail, serve_value *out, cellar_error *err);

#endif
