/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/cube_sum.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"
#include "cube/contrast.h"
#include "inference/set_text.h"

/* ---- life cycle ------------------------------------------------------------------ */

void cellar_cube_sum_free(cellar_cube_sum *sum)
{
    if (sum == NULL)
        return;
    for (size_t v = 0; sum->inside != NULL && v < sum->n_variables; v++)
        cellar_free(sum->inside[v]);
    for (size_t k = 0; k < CUBE_ORDER_MAX; k++)
        cellar_free(sum->weights[k]);
    cellar_free(sum->inside);
    cellar_free(sum);
}

static cellar_cube_sum *sum_alloc(const cellar_cube *cube)
{
    cellar_cube_sum *sum = cellar_alloc(1, sizeof *sum);
    if (sum == NULL)
        return NULL;
    sum->n_variables = cube->n_variables;
    sum->inside = cellar_alloc(cube->n_variables, sizeof *sum->inside);
    if (sum->inside == NULL) {
        cellar_cube_sum_free(sum);
        return NULL;
    }
    return sum;
}

/* ---- categories -------------------------------------------------------------------- */

static cellar_status find_variable(const cellar_cube *cube, const char *name, size_t *out,
                                   cellar_error *err)
{
    for (*out = 0; *out < cube->n_variables; (*out)++)
        if (strcmp(cube->variables[*out].name, name) == 0)
            return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the cube has no variable '%.100s'", name);
}

/* Begins the categories of a variable, none yet. */
static cellar_status name_variable(cellar_cube_sum *sum, const cellar_cube *cube, size_t variable,
                                   cellar_error *err)
{
    const cube_axis *axis = &cube->variables[variable].axis;
    if (sum->inside[variable] != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' is named twice",
                           cube->variables[variable].name);
    sum->inside[variable] = cellar_alloc(axis->n[axis->n_levels], 1);
    return sum->inside[variable] != NULL ? CELLAR_OK : cellar_fail_memory(err, "a set of cells");
}

/* Adds all categories below a node. */
static void add_node(cellar_cube_sum *sum, const cellar_cube *cube, size_t variable, size_t level,
                     uint32_t node)
{
    const cube_axis *axis = &cube->variables[variable].axis;
    for (uint32_t leaf = 0; leaf < axis->n[axis->n_levels]; leaf++) {
        uint32_t path[CUBE_LEVELS_MAX + 1];
        cellar_cube_path_up(axis, axis->n_levels, leaf, path);
        if (path[level] == node)
            sum->inside[variable][leaf] = 1;
    }
}

/* A code of a level, or (0) of the finest level that has it. */
static cellar_status add_code(cellar_cube_sum *sum, const cellar_cube *cube, size_t variable,
                              size_t level, const char *code, cellar_error *err)
{
    const cube_variable *v = &cube->variables[variable];
    const size_t first = level > 0 ? level : v->axis.n_levels, last = level > 0 ? level : 1;
    for (size_t c = first; c >= last; c--) {
        const uint32_t node = cellar_cube_variable_find(v, c, code);
        if (node != CUBE_NO_SPACE) {
            add_node(sum, cube, variable, c, node);
            return CELLAR_OK;
        }
    }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' has no code '%.100s'", v->name,
                       code);
}

/* ---- the table ------------------------------------------------------------------------ */

/* 1 when each node of the level lies wholly inside or outside; `node_inside` says which. */
static int level_has(const cube_axis *axis, size_t level, const unsigned char *inside,
                     unsigned char *node_inside)
{
    enum { NOT_SEEN = 2 };
    memset(node_inside, NOT_SEEN, axis->n[level]);
    for (uint32_t leaf = 0; leaf < axis->n[axis->n_levels]; leaf++) {
        uint32_t path[CUBE_LEVELS_MAX + 1];
        unsigned char *known;
        cellar_cube_path_up(axis, axis->n_levels, leaf, path);
        known = &node_inside[path[level]];
        if (*known == NOT_SEEN)
            *known = inside[leaf];
        else if (*known != inside[leaf])
            return 0;
    }
    return 1;
}

/* One side of the question for the table of the set: the nodes inside as one group. */
typedef struct grouped_side {
    cellar_cube_group group;
    const char **codes;
} grouped_side;

static cellar_status group_side(const cellar_cube *cube, size_t variable,
                                const unsigned char *inside, grouped_side *out,
                                cellar_cube_side *side, cellar_error *err)
{
    const cube_variable *v = &cube->variables[variable];
    const size_t n_leaves = v->axis.n[v->axis.n_levels];
    unsigned char *node_inside = cellar_alloc(n_leaves, 1);
    size_t level = 0;
    out->codes = cellar_alloc(n_leaves, sizeof *out->codes);
    if (node_inside == NULL || out->codes == NULL) {
        cellar_free(node_inside);
        return cellar_fail_memory(err, "a set of cells");
    }
    while (!level_has(&v->axis, level, inside, node_inside))
        level++;
    out->group = (cellar_cube_group){.code = v->name, .codes = out->codes};
    for (uint32_t node = 0; level > 0 && node < v->axis.n[level]; node++)
        if (node_inside[node])
            out->codes[out->group.n_codes++] = cellar_cube_variable_code(v, level, node);
    *side = (cellar_cube_side){
        .variable = v->name, .level = level, .groups = &out->group, .n_groups = 1};
    cellar_free(node_inside);
    return CELLAR_OK;
}

/* What the question has found. */
static cellar_status take_answer(cellar_cube_sum *sum, const cube_asking *a, cellar_error *err)
{
    const cube_space *space = &a->cube->lattice.spaces[a->table];
    int64_t value;
    sum->table = a->table;
    for (size_t k = 0; k < space->order; k++) {
        const uint32_t n = a->cube->variables[space->variable[k]].axis.n[space->level[k]];
        sum->weights[k] = cellar_alloc(n, sizeof *sum->weights[k]);
        if (sum->weights[k] == NULL)
            return cellar_fail_memory(err, "a set of cells");
        cellar_cube_pick_weights(&a->picks[k], 0, n, sum->weights[k]);
    }
    if (!cellar_cube_picks_values(a->cube, a->table, a->picks, &value))
        return cellar_fail(err, CELLAR_ERR_INPUT, "the cube: values are too large to be counts");
    sum->value = (double) value / pow(10, a->cube->decimals);
    return CELLAR_OK;
}

/* Asks the cube for the table of the variables that are restricted. */
static cellar_status find_table(cellar_cube_sum *sum, const cellar_cube *cube, cellar_error *err)
{
    grouped_side *groups = cellar_alloc(cube->n_variables, sizeof *groups);
    cellar_cube_side *sides = cellar_alloc(cube->n_variables, sizeof *sides);
    cellar_cube_question question = {.sides = sides};
    cube_asking a = {.cube = cube, .question = &question};
    cellar_status status = CELLAR_OK;
    if (groups == NULL || sides == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a set of cells"));
    for (size_t v = 0; v < cube->n_variables; v++)
        if (sum->inside[v] != NULL) {
            cellar_cube_side *side = &sides[question.n_sides];
            CELLAR_TRY(group_side(cube, v, sum->inside[v], &groups[v], side, err));
            question.n_sides += side->level > 0; /* level 0: every category */
        }
    CELLAR_TRY(cellar_cube_asking_open(&a, err));
    CELLAR_TRY(take_answer(sum, &a, err));
out:
    cellar_cube_asking_close(&a);
    for (size_t v = 0; groups != NULL && v < cube->n_variables; v++)
        cellar_free(groups[v].codes);
    cellar_free(groups);
    cellar_free(sides);
    return status;
}

/* ---- making ------------------------------------------------------------------------------ */

typedef struct naming {
    cellar_cube_sum *sum;
    const cellar_cube *cube;
    size_t variable; /* the latest one */
} naming;

static cellar_status naming_variable(void *context, const char *name, cellar_error *err)
{
    naming *n = context;
    cellar_status status = find_variable(n->cube, name, &n->variable, err);
    return status == CELLAR_OK ? name_variable(n->sum, n->cube, n->variable, err) : status;
}

static cellar_status naming_code(void *context, const char *code, cellar_error *err)
{
    naming *n = context;
    return add_code(n->sum, n->cube, n->variable, 0, code, err);
}

cellar_status cellar_cube_sum_parse(const cellar_cube *cube, const char *text,
                                    cellar_cube_sum **out, cellar_error *err)
{
    naming n = {.sum = sum_alloc(cube), .cube = cube};
    const cellar_set_reader reader = {&n, naming_variable, naming_code};
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (n.sum == NULL)
        return cellar_fail_memory(err, "a set of cells");
    CELLAR_TRY(cellar_set_text_read(text, &reader, err));
    CELLAR_TRY(find_table(n.sum, cube, err));
    *out = n.sum;
    n.sum = NULL;
out:
    cellar_cube_sum_free(n.sum);
    return status;
}

static cellar_status add_side(cellar_cube_sum *sum, const cellar_cube *cube,
                              const cellar_cube_side *side, cellar_error *err)
{
    size_t variable;
    cellar_status status = find_variable(cube, side->variable, &variable, err);
    if (status == CELLAR_OK)
        status = name_variable(sum, cube, variable, err);
    if (status == CELLAR_OK && side->level > cube->variables[variable].axis.n_levels)
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' has no level %zu",
                             side->variable, side->level);
    if (status == CELLAR_OK && side->n_codes == 0)
        add_node(sum, cube, variable, 0, 0);
    for (size_t k = 0; status == CELLAR_OK && k < side->n_codes; k++)
        status = add_code(sum, cube, variable, side->level, side->codes[k], err);
    return status;
}

cellar_status cellar_cube_sum_create(const cellar_cube *cube, const cellar_cube_side *sides,
                                     size_t n_sides, cellar_cube_sum **out, cellar_error *err)
{
    cellar_cube_sum *sum = sum_alloc(cube);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (sum == NULL)
        return cellar_fail_memory(err, "a set of cells");
    for (size_t i = 0; i < n_sides; i++)
        CELLAR_TRY(add_side(sum, cube, &sides[i], err));
    CELLAR_TRY(find_table(sum, cube, err));
    *out = sum;
    sum = NULL;
out:
    cellar_cube_sum_free(sum);
    return status;
}

/* ---- asking --------------------------------------------------------------------------------- */

cube_functional cellar_cube_sum_functional(const cellar_cube_sum *sum)
{
    cube_functional functional = {.table = sum->table};
    for (size_t k = 0; k < CUBE_ORDER_MAX; k++)
        functional.weights[k] = sum->weights[k];
    return functional;
}

int cellar_cube_sum_is_within(const cellar_cube *cube, const cellar_cube_sum *part,
                              const cellar_cube_sum *whole)
{
    for (size_t v = 0; v < cube->n_variables; v++) {
        const cube_axis *axis = &cube->variables[v].axis;
        for (uint32_t leaf = 0; leaf < axis->n[axis->n_levels]; leaf++)
            if (whole->inside[v] != NULL && !whole->inside[v][leaf] &&
                (part->inside[v] == NULL || part->inside[v][leaf]))
                return 0;
    }
    return 1;
}

cellar_status cellar_cube_sum_covariance(const cellar_cube *cube, const cellar_cube_sum *sum,
                                         const cellar_cube_sum *other, double *out,
                                         cellar_error *err)
{
    const cube_functional both[2] = {cellar_cube_sum_functional(sum),
                                     cellar_cube_sum_functional(other)};
    cube_terms terms = {0};
    cellar_status status = cellar_cube_terms_init(&terms, cube, both, 2, err);
    *out = status == CELLAR_OK ? cellar_cube_terms_covariance(&terms, 0, 1) : NAN;
    cellar_cube_terms_clear(&terms);
    return status;
}
