/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tables of a universe, from the total up, and which of them sum to which.
 *
 * A variable has levels: 0 is its total, the last its categories, those between the levels of its
 * hierarchy. A table crosses some variables, each at one of its levels; the table of no variable is
 * the total. Table C lies below table A when A summed gives C: every variable of C is in A, at that
 * level or a finer one.
 *
 * To every table C belongs an interaction r_C: what C says beyond the tables below it, each node
 * less the mean of its siblings along every variable. A table is the sum of the interactions of all
 * tables below it (itself included), each spread evenly over the finer cells. This is the
 * decomposition of Xiao, He, Zhang and Kifer (2023, "ResidualPlanner"), with levels. Where every
 * node of a level has equally many children (a balanced hierarchy) the estimates of different
 * interactions are uncorrelated, and the formulas of cube/precision.h are exact. */
#ifndef CELLAR_CUBE_LATTICE_H
#define CELLAR_CUBE_LATTICE_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/status.h>

/* Variables that one table may cross, and levels that a variable may have besides its total. */
enum { CUBE_ORDER_MAX = 8, CUBE_LEVELS_MAX = 8 };

/* How many nodes a variable has at each level: n[0] = 1, n[n_levels] its categories. */
typedef struct cube_axis {
    size_t n_levels;
    uint32_t n[CUBE_LEVELS_MAX + 1];
    /* Of each node of level c, the caller's: the node of level c - 1 above it (NULL of level 1),
     * and one over the number of its siblings, itself included (NULL: the same for all). */
    const uint32_t *parent[CUBE_LEVELS_MAX + 1];
    const double *share[CUBE_LEVELS_MAX + 1];
} cube_axis;

/* The node above a node of a level of at least 1. */
static inline uint32_t cube_axis_parent(const cube_axis *axis, size_t level, uint32_t node)
{
    return level == 1 ? 0 : axis->parent[level][node];
}

/* One over the number of its siblings. */
static inline double cube_axis_share(const cube_axis *axis, size_t level, uint32_t node)
{
    return axis->share[level] != NULL ? axis->share[level][node]
                                      : (double) axis->n[level - 1] / axis->n[level];
}

/* 1 when every node of each level has equally many children. */
static inline int cube_axis_is_balanced(const cube_axis *axis)
{
    int is = 1;
    for (size_t level = 1; level <= axis->n_levels; level++)
        is &= axis->share[level] == NULL;
    return is;
}

/* A table: variables in ascending order, each at a level of at least 1. What is not used is 0, so
 * that equal tables are equal bytes. */
typedef struct cube_space {
    uint8_t order;
    uint8_t variable[CUBE_ORDER_MAX], level[CUBE_ORDER_MAX];
} cube_space;

/* The level of a variable in a table; 0 when it is not in it. */
static inline uint8_t cube_space_level(const cube_space *space, uint8_t variable)
{
    for (size_t i = 0; i < space->order; i++)
        if (space->variable[i] == variable)
            return space->level[i];
    return 0;
}

#define CUBE_NO_SPACE UINT32_MAX

/* Immutable once made, but for what is exact. */
typedef struct cube_lattice {
    cube_axis *axes;
    size_t n_axes;
    cube_space *spaces; /* every table comes after those below it; the first is the total */
    size_t n;
    double *n_cells;    /* of each table */
    double *free_share; /* of each: the share of its cells that its interaction may choose freely,
                           p_C = product of (n_c - n_{c-1}) / n_c */
    /* below[start[A]] .. below[start[A + 1]]: the tables below A, itself included, and with each
     * how many cells of A one of its cells sums. */
    size_t *start;
    uint32_t *below;
    double *ratio;
    /* Of each table that is known without noise: the exact table that it is summed from, itself
     * maybe; CUBE_NO_SPACE: it has noise. */
    uint32_t *exact_from;
    uint32_t *slots; /* open addressing from a table to its number */
    size_t n_slots;
} cube_lattice;

/* The lattice of these tables and of all that lie below one of them. Refuses a table that crosses
 * too many variables, names one twice or out of order, or a level that is not there
 * (CELLAR_ERR_ARGUMENT), and more than 2^20 tables (CELLAR_ERR_RULE). On failure there is nothing
 * to clear. */
cellar_status cellar_cube_lattice_init(cube_lattice *lattice, const cube_axis *axes, size_t n_axes,
                                       const cube_space *tables, size_t n_tables,
                                       cellar_error *err);
void cellar_cube_lattice_clear(cube_lattice *lattice); /* {0} is fine */

/* Says that a table is known without noise, and with it all tables below. */
void cellar_cube_lattice_fix(cube_lattice *lattice, uint32_t table);
static inline int cube_is_exact(const cube_lattice *lattice, size_t table)
{
    return lattice->exact_from[table] != CUBE_NO_SPACE;
}

/* The number of a table, or CUBE_NO_SPACE. */
uint32_t cellar_cube_lattice_find(const cube_lattice *lattice, const cube_space *space);

/* Adds all tables of at most `order` of the n variables, each at every level, to a list that
 * grows. The caller frees *tables with cellar_free(). */
cellar_status cellar_cube_tables_up_to(const cube_axis *axes, size_t n_axes, size_t order,
                                       cube_space **tables, size_t *n_tables, cellar_error *err);

#endif
