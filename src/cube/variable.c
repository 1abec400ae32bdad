/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cube/variable.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"

/* The code that stands for a leaf at a level. */
static size_t code_at(const cellar_codelist *list, size_t leaf, size_t level, int with_levels)
{
    const size_t code = cellar_codelist_leaf(list, leaf);
    return with_levels ? cellar_codelist_above(list, code, level) : code;
}

static cellar_status count_levels(cube_variable *v, int with_levels, cellar_error *err)
{
    const size_t n_leaves = cellar_codelist_n_leaves(v->codelist);
    if (n_leaves == 0 || n_leaves >= UINT32_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' has no category", v->name);
    v->axis.n[0] = 1;
    v->axis.n_levels = with_levels ? cellar_codelist_n_levels(v->codelist) : 1;
    if (v->axis.n_levels > CUBE_LEVELS_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the hierarchy of variable '%.200s' has more than %d levels", v->name,
                           CUBE_LEVELS_MAX);
    return CELLAR_OK;
}

/* Numbers the nodes of one level: leaves in their order, inner nodes in that of the list. `node_of`
 * has the number of each code of the level, else CUBE_NO_SPACE. */
static int number_nodes(cube_variable *v, size_t level, int with_levels, uint32_t *node_of)
{
    const size_t n_codes = cellar_codelist_n_codes(v->codelist);
    const size_t n_leaves = cellar_codelist_n_leaves(v->codelist);
    uint32_t n = 0;
    memset(node_of, 0xff, n_codes * sizeof *node_of);
    for (size_t leaf = 0; leaf < n_leaves; leaf++)
        node_of[code_at(v->codelist, leaf, level, with_levels)] = 0;
    v->code[level] = cellar_alloc(n_leaves, sizeof *v->code[level]);
    if (v->code[level] == NULL)
        return 0;
    for (size_t code = 0; code < n_codes; code++)
        if (node_of[code] != CUBE_NO_SPACE) {
            v->code[level][n] = code;
            node_of[code] = n++;
        }
    v->axis.n[level] = n;
    return 1;
}

/* Links the nodes of a level with those above, whose numbers are in `above`. */
static int link_nodes(cube_variable *v, size_t level, int with_levels, const uint32_t *node_of,
                      const uint32_t *above, uint32_t *n_children)
{
    const size_t n = v->axis.n[level], n_above = v->axis.n[level - 1];
    int is_even = 1;
    v->parent[level] = cellar_alloc(n, sizeof *v->parent[level]);
    if (v->parent[level] == NULL)
        return 0;
    for (size_t leaf = 0; leaf < cellar_codelist_n_leaves(v->codelist); leaf++)
        v->parent[level][node_of[code_at(v->codelist, leaf, level, with_levels)]] =
            above[code_at(v->codelist, leaf, level - 1, with_levels)];
    memset(n_children, 0, n_above * sizeof *n_children);
    for (size_t node = 0; node < n; node++)
        n_children[v->parent[level][node]]++;
    for (size_t node = 1; node < n_above; node++)
        is_even &= n_children[node] == n_children[0];
    v->axis.parent[level] = v->parent[level];
    if (is_even)
        return 1;
    v->share[level] = cellar_alloc(n, sizeof *v->share[level]);
    if (v->share[level] == NULL)
        return 0;
    for (size_t node = 0; node < n; node++)
        v->share[level][node] = 1.0 / n_children[v->parent[level][node]];
    v->axis.share[level] = v->share[level];
    return 1;
}

static int build_levels(cube_variable *v, int with_levels)
{
    const size_t n_codes = cellar_codelist_n_codes(v->codelist);
    uint32_t *room = cellar_alloc(3 * n_codes, sizeof *room);
    uint32_t *here, *above, *n_children;
    int ok = 1;
    if (room == NULL)
        return 0;
    here = room;
    above = room + n_codes;
    n_children = room + 2 * n_codes;
    for (size_t level = 1; ok && level <= v->axis.n_levels; level++) {
        uint32_t *swap = above;
        above = here;
        here = swap;
        ok = number_nodes(v, level, with_levels, here) &&
             (level == 1 || link_nodes(v, level, with_levels, here, above, n_children));
    }
    cellar_free(room);
    return ok;
}

cellar_status cellar_cube_variable_init(cube_variable *variable, const char *name,
                                        cellar_domain domain, const cellar_codelist *codelist,
                                        int with_levels, cellar_error *err)
{
    const size_t length = strlen(name);
    cellar_status status = CELLAR_OK;
    *variable = (cube_variable){.domain = domain, .codelist = cellar_codelist_retain(codelist)};
    variable->name = cellar_alloc(length + 1, 1);
    if (variable->name == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a variable"));
    memcpy(variable->name, name, length);
    CELLAR_TRY(count_levels(variable, with_levels, err));
    if (!build_levels(variable, with_levels))
        CELLAR_TRY(cellar_fail_memory(err, "a variable"));
out:
    if (status != CELLAR_OK)
        cellar_cube_variable_clear(variable);
    return status;
}

void cellar_cube_variable_clear(cube_variable *variable)
{
    cellar_free(variable->name);
    cellar_codelist_free(variable->codelist);
    for (size_t level = 0; level <= CUBE_LEVELS_MAX; level++) {
        cellar_free(variable->code[level]);
        cellar_free(variable->parent[level]);
        cellar_free(variable->share[level]);
    }
    *variable = (cube_variable){0};
}

uint32_t cellar_cube_variable_find(const cube_variable *variable, size_t level, const char *code)
{
    const size_t found = cellar_codelist_find(variable->codelist, code, strlen(code));
    for (uint32_t node = 0; found != CELLAR_NO_CODE && node < variable->axis.n[level]; node++)
        if (variable->code[level][node] == found)
            return node;
    return CUBE_NO_SPACE;
}

const char *cellar_cube_variable_code(const cube_variable *variable, size_t level, uint32_t node)
{
    return cellar_codelist_code(variable->codelist, variable->code[level][node]);
}

cellar_status cellar_cube_variable_list(const cube_variable *variable, size_t level,
                                        cellar_codelist **out, cellar_error *err)
{
    cellar_codelist *list = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (variable->axis.n_levels == 1) {
        *out = cellar_codelist_retain(variable->codelist);
        return CELLAR_OK;
    }
    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (uint32_t node = 0; node < variable->axis.n[level]; node++) {
        const size_t code = variable->code[level][node];
        CELLAR_TRY(cellar_codelist_add(list, cellar_codelist_code(variable->codelist, code),
                                       cellar_codelist_label(variable->codelist, code, 0), NULL,
                                       CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}
