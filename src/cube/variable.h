/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A variable of a universe: its code list as levels of nodes. */
#ifndef CELLAR_CUBE_VARIABLE_H
#define CELLAR_CUBE_VARIABLE_H

#include <cellar/codelist.h>
#include <cellar/table.h>

#include "cube/lattice.h"

typedef struct cube_variable {
    char *name;
    cellar_domain domain;
    cellar_codelist *codelist;         /* retained */
    cube_axis axis;                    /* points into the arrays below */
    size_t *code[CUBE_LEVELS_MAX + 1]; /* of each node of a level of at least 1 */
    uint32_t *parent[CUBE_LEVELS_MAX + 1];
    double *share[CUBE_LEVELS_MAX + 1]; /* NULL where all nodes have equally many children */
} cube_variable;

/* Takes the leaves of the list as categories and, with `with_levels`, the levels of its first
 * hierarchy above them. A category that lies less deep than others stands for itself at the levels
 * it lacks. Keeps a reference to the list. On failure there is nothing to clear. */
cellar_status cellar_cube_variable_init(cube_variable *variable, const char *name,
                                        cellar_domain domain, const cellar_codelist *codelist,
                                        int with_levels, cellar_error *err);
void cellar_cube_variable_clear(cube_variable *variable); /* {0} is fine */

/* The node of a level that a code is, or CUBE_NO_SPACE. */
uint32_t cellar_cube_variable_find(const cube_variable *variable, size_t level, const char *code);

/* The code of a node. */
const char *cellar_cube_variable_code(const cube_variable *variable, size_t level, uint32_t node);

/* The nodes of a level as a code list of their own, with their labels. On failure *out is NULL. */
cellar_status cellar_cube_variable_list(const cube_variable *variable, size_t level,
                                        cellar_codelist **out, cellar_error *err);

#endif
