/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where values come from: a cube, or a folder of releases that may grow. */
#ifndef CELLAR_SERVE_SOURCE_H
#define CELLAR_SERVE_SOURCE_H

#include <cellar/cube_inference.h>

#include "serve/answer.h"
#include "serve/guarantee.h"

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

/* Texts live in the arena that is passed, or as long as the source. */
typedef struct serve_cover {
    const char *certificate; /* a JSON object */
    const char *id;          /* its digest, in hexadecimal */
    const char *guarantee;   /* a sentence: what is promised, or that nothing is */
    cellar_promise promise;  /* about all tables together; of a cube */
    const char *origin;      /* a sentence */
    int is_immutable;        /* 1: asked again, the table has the same values */
} serve_cover;

typedef struct serve_source_ops {
    /* Fills *out; a table that cannot be answered has exists = 0, which is no failure. */
    cellar_status (*status)(const serve_source *source, const serve_dataset *dataset,
                            const serve_table *table, serve_status *out, cellar_error *err);
    /* The values of a cut in the order of its sides, the last fastest; only when it exists. Each
     * interval misses with probability at most `tail`. */
    cellar_status (*ask)(const serve_source *source, const serve_cut *cut, double tail,
                         serve_value *out, cellar_error *err);
    /* Tables that exist and come nearest to `table`, at most `room` of them: what to ask instead.
     */
    size_t (*nearest)(const serve_source *source, const serve_dataset *dataset,
                      const serve_table *table, serve_table *out, size_t room);
    /* What covers the answer of a table that exists, and where it comes from. */
    cellar_status (*describe)(const serve_source *source, const serve_dataset *dataset,
                              const serve_table *table, cellar_arena *arena, serve_cover *out,
                              cellar_error *err);
    /* The certificate with that id, a JSON object; *out is NULL when the source has none. */
    cellar_status (*certificate)(const serve_source *source, const serve_dataset *dataset,
                                 const char *id, cellar_arena *arena, const char **out,
                                 cellar_error *err);
    /* Inference from tables that exist; NULL: the source cannot. A set of cells is a cut whose
     * sides have one pick each: the cells of its members, added up. */
    cellar_status (*compare)(const serve_source *source, const serve_cut *first,
                             cellar_comparison comparison, const serve_cut *second,
                             double confidence, cellar_cube_finding *out, cellar_error *err);
    /* A whole table for tests; *needs_bootstrap is 1 when no other reference is known. */
    cellar_status (*noisy)(const serve_source *source, const serve_dataset *dataset,
                           const serve_table *table, int *needs_bootstrap, cellar_noisy **out,
                           cellar_error *err);
    /* Looks for what was added since; NULL when nothing can be. Answers go on meanwhile. */
    cellar_status (*refresh)(serve_source *source, const serve_dataset *dataset, cellar_error *err);
    void (*close)(serve_source *source);
} serve_source_ops;

struct serve_source {
    const serve_source_ops *ops;    /* first member of each */
    int decimals[SERVE_N_CONTENTS]; /* as in an answer */
    int shown_decimals[SERVE_N_CONTENTS];
};

/* A cube. Takes it, in every case. `name` stands for the file in messages. */
cellar_status serve_source_of_cube(cellar_cube *cube, const char *name, serve_source **out,
                                   cellar_error *err);
/* Looks for what was added since: releases of a vault. */
cellar_status serve_source_refresh(serve_source *source, const serve_dataset *dataset,
                                   cellar_error *err);
void serve_source_close(serve_source *source); /* NULL is fine */

/* ---- for sources -------------------------------------------------------------------------------
 */

/* Puts `candidate` into a list of tables, the one with the most variables first and among those the
 * most detailed; the last falls out of a list that is full. */
void serve_nearest_add(const serve_dataset *dataset, const serve_table *candidate, serve_table *out,
                       size_t room, size_t *n);

#endif
