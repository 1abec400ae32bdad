/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a cube: variables, tables, precisions, measured and estimated values. */
#ifndef CELLAR_CUBE_CUBE_H
#define CELLAR_CUBE_CUBE_H

#include <jansson.h>

#include <cellar/cube.h>

#include "base/output.h"
#include "cube/lattice.h"
#include "cube/reconstruct.h"
#include "cube/variable.h"

enum { CUBE_DIGEST_TEXT = 65 };

/* What stands for a mechanism where a table is published as it was counted. */
#define CUBE_EXACT "exact"

/* One table of the lattice, by its number. */
typedef struct cube_measure {
    char *mechanism; /* the spec, or CUBE_EXACT; NULL: the table is not measured */
    double variance; /* of its noise; 0: none */
    const int64_t *measured, *values;
    char digest[CUBE_DIGEST_TEXT]; /* of both, as they lie in the file */
} cube_measure;

struct cellar_cube {
    cube_variable *variables;
    size_t n_variables;
    cube_lattice lattice;
    cube_measure *tables;
    double *w, *tau; /* precisions of tables and of interactions */
    int decimals;
    json_t *description; /* certificate included */
    char *description_text;
    /* What holds the values: memory of our own, or a mapped file. */
    cube_values estimates;
    int64_t *measured;
    void *map;
    size_t map_length;
    char *path; /* of the file it was opened from, for messages; may be NULL */
};

static inline const char *cube_name(const cellar_cube *cube)
{
    return cube->path != NULL ? cube->path : "the cube";
}

/* A cube of these variables (taken, cleared in every case) and tables, nothing measured yet. On
 * failure *out is NULL. */
cellar_status cellar_cube_create(cube_variable *variables, size_t n_variables,
                                 const cube_space *tables, size_t n_tables, cellar_cube **out,
                                 cellar_error *err);
/* Says that a table is measured with this mechanism; variance 0: without noise. */
cellar_status cellar_cube_plan_measure(cellar_cube *cube, uint32_t table, const char *mechanism,
                                       double variance, cellar_error *err);
/* Computes w and tau once all measures are planned. CELLAR_ERR_ARGUMENT when some table is measured
 * by nothing. */
cellar_status cellar_cube_settle(cellar_cube *cube, cellar_error *err);
/* Room for measured values, to be filled in; then the estimates of all tables. */
cellar_status cellar_cube_measured_alloc(cellar_cube *cube, cellar_error *err);
int64_t *cellar_cube_measured_room(cellar_cube *cube, uint32_t table);
cellar_status cellar_cube_estimate_all(cellar_cube *cube, cellar_error *err);
/* Keeps a description, an object with a member `certificate`; takes the reference. */
cellar_status cellar_cube_describe(cellar_cube *cube, json_t *description, cellar_error *err);

/* Writes the file of a cube that has estimates and a description. */
cellar_status cellar_cube_write(cellar_cube *cube, cellar_output *output, cellar_error *err);
/* Reads one from memory, which outlives it; `name` is the file in messages. */
cellar_status cellar_cube_parse(const char *name, const void *bytes, size_t length,
                                cellar_cube **out, cellar_error *err);

/* The schema of a table: the nodes of each variable at its level; that of the total has a variable
 * of one category. On failure *out is NULL. */
cellar_status cellar_cube_table_schema(const cellar_cube *cube, uint32_t table, cellar_schema **out,
                                       cellar_error *err);

/* A table in words: "region x sex", "total"; an upper level is marked: "region^1". */
void cellar_cube_table_name(const cellar_cube *cube, uint32_t table, cellar_text *out);
/* The digest of what the file has of a table; compares it with the recorded one. */
cellar_status cellar_cube_check_table(const cellar_cube *cube, uint32_t table, const char *name,
                                      cellar_error *err);

#endif
