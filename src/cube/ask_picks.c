/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which nodes a question picks of each variable of its table. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"

static cellar_status find_node(const cube_asking *a, size_t side, const char *code, uint32_t *out,
                               cellar_error *err)
{
    const cube_variable *v = &a->cube->variables[a->variable[side]];
    *out = cellar_cube_variable_find(v, a->level[side], code);
    return *out != CUBE_NO_SPACE
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "variable '%.200s' has no category '%.200s' at level %zu", v->name,
                             code, a->level[side]);
}

/* 1 when no node is in two picks. */
static int is_disjoint(const cube_picks *picks, uint32_t n_nodes, unsigned char *seen)
{
    memset(seen, 0, n_nodes);
    for (size_t k = 0; k < picks->n_nodes; k++)
        if (seen[picks->nodes[k]]++ > 0)
            return 0;
    return 1;
}

/* Whole numbers of groups that overlap could contradict each other. */
static cellar_status check_disjoint(const cube_asking *a, size_t side, const cube_picks *picks,
                                    cellar_error *err)
{
    const cube_variable *v = &a->cube->variables[a->variable[side]];
    unsigned char *seen = cellar_alloc(v->axis.n[a->level[side]], 1);
    cellar_status status = CELLAR_OK;
    if (seen == NULL)
        return cellar_fail_memory(err, "a table of a cube");
    if (!is_disjoint(picks, v->axis.n[a->level[side]], seen))
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "two groups of variable '%.200s' share a category: whole numbers of "
                             "them could contradict each other",
                             v->name);
    cellar_free(seen);
    return status;
}

/* The total: all nodes together. */
static cellar_status pick_total(const cube_asking *a, size_t side, cube_picks *picks,
                                cellar_error *err)
{
    const cube_variable *v = &a->cube->variables[a->variable[side]];
    const uint32_t n = v->axis.n[a->level[side]];
    unsigned char *seen = cellar_alloc(n, 1);
    int ok = seen != NULL;
    const int whole = ok && picks->n_nodes == n && is_disjoint(picks, n, seen);
    cellar_free(seen);
    if (ok && !whole)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "totals of variable '%.200s' need all its categories, each once: what "
                           "is shown would not add up to them",
                           v->name);
    ok = ok && cellar_cube_picks_begin(picks);
    for (uint32_t node = 0; ok && node < n; node++)
        ok = cellar_cube_picks_add(picks, node);
    return ok ? CELLAR_OK : cellar_fail_memory(err, "a table of a cube");
}

static cellar_status pick_groups(const cube_asking *a, size_t i, cube_picks *picks,
                                 cellar_error *err)
{
    const cellar_cube_side *side = &a->question->sides[i];
    for (size_t g = 0; g < side->n_groups; g++) {
        if (!cellar_cube_picks_begin(picks))
            return cellar_fail_memory(err, "a table of a cube");
        for (size_t k = 0; k < side->groups[g].n_codes; k++) {
            uint32_t node;
            cellar_status status = find_node(a, i, side->groups[g].codes[k], &node, err);
            if (status != CELLAR_OK)
                return status;
            for (size_t j = picks->start[g]; j < picks->n_nodes; j++)
                if (picks->nodes[j] == node)
                    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                       "group '%.200s' names category '%.200s' twice",
                                       side->groups[g].code, side->groups[g].codes[k]);
            if (!cellar_cube_picks_add(picks, node))
                return cellar_fail_memory(err, "a table of a cube");
        }
        if (side->groups[g].n_codes == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "group '%.200s' has no category",
                               side->groups[g].code);
    }
    return CELLAR_OK;
}

/* The named categories, in the order of the code list. */
static cellar_status pick_codes(const cube_asking *a, size_t i, cube_picks *picks,
                                cellar_error *err)
{
    const cellar_cube_side *side = &a->question->sides[i];
    const uint32_t n = a->cube->variables[a->variable[i]].axis.n[a->level[i]];
    unsigned char *wanted = cellar_alloc(n, 1);
    cellar_status status = CELLAR_OK;
    if (wanted == NULL)
        return cellar_fail_memory(err, "a table of a cube");
    for (size_t k = 0; k < side->n_codes; k++) {
        uint32_t node;
        CELLAR_TRY(find_node(a, i, side->codes[k], &node, err));
        wanted[node] = 1;
    }
    for (uint32_t node = 0; node < n; node++)
        if (wanted[node] &&
            (!cellar_cube_picks_begin(picks) || !cellar_cube_picks_add(picks, node)))
            CELLAR_TRY(cellar_fail_memory(err, "a table of a cube"));
out:
    cellar_free(wanted);
    return status;
}

cellar_status cellar_cube_pick_side(cube_asking *a, size_t k, cellar_error *err)
{
    const size_t i = a->side_of[k];
    const cellar_cube_side *side = &a->question->sides[i];
    cellar_status status = CELLAR_OK;
    if (side->n_groups > 0 && side->n_codes > 0)
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                             "variable '%.200s' has groups and a choice of categories (only): "
                             "name what is wanted in the groups alone",
                             side->variable);
    else if (side->n_groups > 0)
        status = pick_groups(a, i, &a->picks[k], err);
    else if (side->n_codes > 0)
        status = pick_codes(a, i, &a->picks[k], err);
    else if (!cellar_cube_picks_all(&a->picks[k],
                                    a->cube->variables[a->variable[i]].axis.n[a->level[i]]))
        status = cellar_fail_memory(err, "a table of a cube");
    if (status == CELLAR_OK && a->is_whole)
        status = check_disjoint(a, i, &a->picks[k], err);
    if (status == CELLAR_OK && a->question->margins)
        status = pick_total(a, i, &a->picks[k], err);
    return status;
}
