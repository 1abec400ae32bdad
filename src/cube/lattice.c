/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/lattice.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { TABLES_MAX = 1 << 20 };

/* ---- a growing set of tables ------------------------------------------------- */

static size_t space_hash(const cube_space *space)
{
    uint64_t hash = 1469598103934665603u ^ space->order; /* FNV-1a */
    for (size_t i = 0; i < CUBE_ORDER_MAX; i++) {
        hash = (hash ^ space->variable[i]) * 1099511628211u;
        hash = (hash ^ space->level[i]) * 1099511628211u;
    }
    return (size_t) (hash ^ hash >> 32);
}

static int space_is_equal(const cube_space *a, const cube_space *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* The slot of the table, or the empty one where it belongs. */
static size_t slot_of(const cube_lattice *l, const cube_space *space)
{
    size_t slot = space_hash(space) & (l->n_slots - 1);
    while (l->slots[slot] != CUBE_NO_SPACE && !space_is_equal(&l->spaces[l->slots[slot]], space))
        slot = (slot + 1) & (l->n_slots - 1);
    return slot;
}

uint32_t cellar_cube_lattice_find(const cube_lattice *lattice, const cube_space *space)
{
    return lattice->slots[slot_of(lattice, space)];
}

/* Numbers all tables again in twice as many slots. */
static int slots_rebuild(cube_lattice *l, size_t n_slots)
{
    uint32_t *slots = cellar_alloc(n_slots, sizeof *slots);
    if (slots == NULL)
        return 0;
    cellar_free(l->slots);
    l->slots = slots;
    l->n_slots = n_slots;
    memset(slots, 0xff, n_slots * sizeof *slots);
    for (size_t i = 0; i < l->n; i++)
        slots[slot_of(l, &l->spaces[i])] = (uint32_t) i;
    return 1;
}

static cellar_status lattice_add(cube_lattice *l, size_t *capacity, const cube_space *space,
                                 cellar_error *err)
{
    if (cellar_cube_lattice_find(l, space) != CUBE_NO_SPACE)
        return CELLAR_OK;
    if (l->n == TABLES_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the universe has more than %d tables; allow fewer variables at a time",
                           TABLES_MAX);
    if (!cellar_grow(&l->spaces, capacity, l->n + 1, sizeof *l->spaces) ||
        (2 * l->n >= l->n_slots && !slots_rebuild(l, 2 * l->n_slots)))
        return cellar_fail_memory(err, "the tables of a universe");
    l->spaces[l->n] = *space;
    l->slots[slot_of(l, space)] = (uint32_t) l->n;
    l->n++;
    return CELLAR_OK;
}

/* ---- what lies below a table --------------------------------------------------- */

/* The tables below A one after the other: an odometer over the levels of its variables. */
typedef struct below_walk {
    const cube_space *top;
    uint8_t level[CUBE_ORDER_MAX];
    int is_done;
} below_walk;

static below_walk below_walk_of(const cube_space *top)
{
    return (below_walk){.top = top};
}

static cube_space below_walk_space(const below_walk *walk)
{
    cube_space space = {0};
    for (size_t i = 0; i < walk->top->order; i++)
        if (walk->level[i] > 0) {
            space.variable[space.order] = walk->top->variable[i];
            space.level[space.order++] = walk->level[i];
        }
    return space;
}

static void below_walk_step(below_walk *walk)
{
    for (size_t i = walk->top->order; i-- > 0;) {
        if (walk->level[i] < walk->top->level[i]) {
            walk->level[i]++;
            return;
        }
        walk->level[i] = 0;
    }
    walk->is_done = 1;
}

static double below_walk_ratio(const cube_lattice *l, const below_walk *walk)
{
    double ratio = 1;
    for (size_t i = 0; i < walk->top->order; i++) {
        const cube_axis *axis = &l->axes[walk->top->variable[i]];
        ratio *= (double) axis->n[walk->top->level[i]] / axis->n[walk->level[i]];
    }
    return ratio;
}

/* ---- building -------------------------------------------------------------------- */

static cellar_status space_check(const cube_lattice *l, const cube_space *space, cellar_error *err)
{
    if (space->order > CUBE_ORDER_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a table crosses at most %d variables",
                           CUBE_ORDER_MAX);
    for (size_t i = 0; i < space->order; i++)
        if (space->variable[i] >= l->n_axes || space->level[i] == 0 ||
            space->level[i] > l->axes[space->variable[i]].n_levels ||
            (i > 0 && space->variable[i] <= space->variable[i - 1]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a table names each of its variables once, at one of its levels");
    return CELLAR_OK;
}

/* Tables below are added first, so every table comes after all it sums to. */
static cellar_status lattice_close(cube_lattice *l, const cube_space *tables, size_t n_tables,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cube_space total = {0};
    size_t capacity = 0;
    if (!slots_rebuild(l, 64))
        return cellar_fail_memory(err, "the tables of a universe");
    CELLAR_TRY(lattice_add(l, &capacity, &total, err));
    for (size_t t = 0; t < n_tables; t++) {
        CELLAR_TRY(space_check(l, &tables[t], err));
        for (below_walk w = below_walk_of(&tables[t]); !w.is_done; below_walk_step(&w)) {
            const cube_space below = below_walk_space(&w);
            CELLAR_TRY(lattice_add(l, &capacity, &below, err));
        }
    }
out:
    return status;
}

static void lattice_measure(cube_lattice *l, size_t s)
{
    l->n_cells[s] = l->free_share[s] = 1;
    for (size_t i = 0; i < l->spaces[s].order; i++) {
        const cube_axis *axis = &l->axes[l->spaces[s].variable[i]];
        const double nodes = axis->n[l->spaces[s].level[i]];
        const double parents = axis->n[l->spaces[s].level[i] - 1];
        l->n_cells[s] *= nodes;
        l->free_share[s] *= (nodes - parents) / nodes;
    }
}

static cellar_status lattice_link(cube_lattice *l, cellar_error *err)
{
    size_t n_links = 0, n_room = 0, ratio_room = 0;
    l->start = cellar_alloc(l->n + 1, sizeof *l->start);
    l->n_cells = cellar_alloc(l->n, sizeof *l->n_cells);
    l->free_share = cellar_alloc(l->n, sizeof *l->free_share);
    l->exact_from = cellar_alloc(l->n, sizeof *l->exact_from);
    if (l->start == NULL || l->n_cells == NULL || l->free_share == NULL || l->exact_from == NULL)
        return cellar_fail_memory(err, "the tables of a universe");
    memset(l->exact_from, 0xff, l->n * sizeof *l->exact_from);
    for (size_t s = 0; s < l->n; s++) {
        lattice_measure(l, s);
        for (below_walk w = below_walk_of(&l->spaces[s]); !w.is_done; below_walk_step(&w)) {
            const cube_space below = below_walk_space(&w);
            if (!cellar_grow(&l->below, &n_room, n_links + 1, sizeof *l->below) ||
                !cellar_grow(&l->ratio, &ratio_room, n_links + 1, sizeof *l->ratio))
                return cellar_fail_memory(err, "the tables of a universe");
            l->below[n_links] = cellar_cube_lattice_find(l, &below);
            l->ratio[n_links++] = below_walk_ratio(l, &w);
        }
        l->start[s + 1] = n_links;
    }
    return CELLAR_OK;
}

cellar_status cellar_cube_lattice_init(cube_lattice *lattice, const cube_axis *axes, size_t n_axes,
                                       const cube_space *tables, size_t n_tables, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *lattice = (cube_lattice){.n_axes = n_axes};
    lattice->axes = cellar_alloc(n_axes, sizeof *axes);
    if (lattice->axes == NULL)
        return cellar_fail_memory(err, "the variables of a universe");
    memcpy(lattice->axes, axes, n_axes * sizeof *axes);
    CELLAR_TRY(lattice_close(lattice, tables, n_tables, err));
    CELLAR_TRY(lattice_link(lattice, err));
out:
    if (status != CELLAR_OK)
        cellar_cube_lattice_clear(lattice);
    return status;
}

void cellar_cube_lattice_clear(cube_lattice *lattice)
{
    cellar_free(lattice->axes);
    cellar_free(lattice->spaces);
    cellar_free(lattice->n_cells);
    cellar_free(lattice->free_share);
    cellar_free(lattice->start);
    cellar_free(lattice->below);
    cellar_free(lattice->ratio);
    cellar_free(lattice->exact_from);
    cellar_free(lattice->slots);
    *lattice = (cube_lattice){0};
}

void cellar_cube_lattice_fix(cube_lattice *l, uint32_t table)
{
    for (size_t k = l->start[table]; k < l->start[table + 1]; k++)
        if (!cube_is_exact(l, l->below[k]) || l->below[k] == table)
            l->exact_from[l->below[k]] = table;
}

/* ---- all tables of at most so many variables ------------------------------------- */

/* The next choice of variables and levels: finer, else the next variable, else shorter. */
static int next_table(const cube_axis *axes, size_t n_axes, size_t order, cube_space *space)
{
    size_t last;
    if (space->order < order &&
        (size_t) (space->order == 0 ? 0 : space->variable[space->order - 1] + 1) < n_axes) {
        space->variable[space->order] =
            (uint8_t) (space->order == 0 ? 0 : space->variable[space->order - 1] + 1);
        space->level[space->order++] = 1;
        return 1;
    }
    while (space->order > 0) {
        last = space->order - 1u;
        if (space->level[last] < axes[space->variable[last]].n_levels) {
            space->level[last]++;
            return 1;
        }
        if (space->variable[last] + 1u < n_axes) {
            space->variable[last]++;
            space->level[last] = 1;
            return 1;
        }
        space->variable[last] = space->level[last] = 0;
        space->order--;
    }
    return 0;
}

cellar_status cellar_cube_tables_up_to(const cube_axis *axes, size_t n_axes, size_t order,
                                       cube_space **tables, size_t *n_tables, cellar_error *err)
{
    cube_space space = {0};
    size_t capacity = 0;
    *tables = NULL;
    *n_tables = 0;
    do {
        if (*n_tables == TABLES_MAX)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the universe has more than %d tables; allow fewer variables at a "
                               "time",
                               TABLES_MAX);
        if (!cellar_grow(tables, &capacity, *n_tables + 1, sizeof **tables))
            return cellar_fail_memory(err, "the tables of a universe");
        (*tables)[(*n_tables)++] = space;
    } while (next_table(axes, n_axes, order, &space));
    return CELLAR_OK;
}
