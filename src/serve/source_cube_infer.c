/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts as the library asks a cube: variables, levels and codes by their names. */
#include "serve/source_cube.h"

#include "base/error.h"
#include "base/memory.h"
#include "cube/variable.h"

enum { ARENA_BYTES = 1 << 28 };

static const serve_level *level_of(const serve_cut *cut, size_t side)
{
    const size_t v = cut->sides[side].variable;
    return &cut->dataset->variables[v].levels[cut->table.levels[v] - 1];
}

static const char *const *codes_of(const serve_level *level, const serve_pick *pick,
                                   cellar_arena *arena)
{
    const char **codes = cellar_arena_alloc(arena, pick->n_members, sizeof *codes);
    for (size_t k = 0; codes != NULL && k < pick->n_members; k++)
        codes[k] = level->categories[pick->members[k]].code;
    return codes;
}

/* The sides of a cut: with `as_groups` each pick is a group, else the only pick gives the codes. */
static cellar_status make_sides(const serve_cut *cut, int as_groups, cellar_arena *arena,
                                cellar_cube_side sides[CUBE_ORDER_MAX], cellar_error *err)
{
    if (cut->n_sides > CUBE_ORDER_MAX)
        return cellar_fail(err, CELLAR_ERR_RULE, "a table crosses at most %d variables",
                           CUBE_ORDER_MAX);
    for (size_t i = 0; i < cut->n_sides; i++) {
        const serve_side *side = &cut->sides[i];
        const serve_level *level = level_of(cut, i);
        cellar_cube_group *groups = cellar_arena_alloc(arena, side->n_picks, sizeof *groups);
        for (size_t p = 0; groups != NULL && p < side->n_picks; p++) {
            groups[p] = (cellar_cube_group){.code = side->picks[p].code,
                                            .codes = codes_of(level, &side->picks[p], arena),
                                            .n_codes = side->picks[p].n_members};
            if (groups[p].codes == NULL)
                groups = NULL;
        }
        if (groups == NULL)
            return cellar_fail_memory(err, "a table of a cube");
        sides[i] = (cellar_cube_side){.variable = cut->dataset->variables[side->variable].code,
                                      .level = cut->table.levels[side->variable]};
        if (as_groups) {
            sides[i].groups = groups;
            sides[i].n_groups = side->n_picks;
        } else {
            sides[i].codes = groups[0].codes;
            sides[i].n_codes = groups[0].n_codes;
        }
    }
    return CELLAR_OK;
}

static cellar_status make_sum(const cellar_cube *cube, const serve_cut *cut, cellar_arena *arena,
                              cellar_cube_sum **out, cellar_error *err)
{
    cellar_cube_side sides[CUBE_ORDER_MAX] = {{0}};
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (cut != NULL)
        status = make_sides(cut, 0, arena, sides, err);
    return status == CELLAR_OK && cut != NULL
               ? cellar_cube_sum_create(cube, sides, cut->n_sides, out, err)
               : status;
}

cellar_status serve_cube_compare(const cellar_cube *cube, const serve_cut *first,
                                 cellar_comparison comparison, const serve_cut *second,
                                 double confidence, cellar_cube_finding *out, cellar_error *err)
{
    cellar_arena *arena = cellar_arena_create(ARENA_BYTES);
    cellar_cube_sum *sum = NULL, *other = NULL;
    cellar_status status = CELLAR_OK;
    if (arena == NULL)
        return cellar_fail_memory(err, "a comparison");
    CELLAR_TRY(make_sum(cube, first, arena, &sum, err));
    CELLAR_TRY(make_sum(cube, second, arena, &other, err));
    CELLAR_TRY(cellar_cube_compare(cube, sum, comparison, other, confidence, out, err));
out:
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(other);
    cellar_arena_free(arena);
    return status;
}

cellar_status serve_cube_widths(const cellar_cube *cube, const serve_cut *cut, double tail,
                                double *out, size_t n, cellar_error *err)
{
    cellar_cube_side sides[CUBE_ORDER_MAX] = {{0}};
    cellar_cube_question question = {.sides = sides, .n_sides = cut->n_sides};
    cellar_arena *arena = cellar_arena_create(ARENA_BYTES);
    cellar_status status = CELLAR_OK;
    if (arena == NULL)
        return cellar_fail_memory(err, "the intervals of a table");
    CELLAR_TRY(make_sides(cut, 1, arena, sides, err));
    CELLAR_TRY(cellar_cube_half_widths(cube, &question, 1 - tail, 0, out, n, err));
out:
    cellar_arena_free(arena);
    return status;
}

cellar_status serve_cube_noisy(const cellar_cube *cube, const serve_dataset *dataset,
                               const serve_table *table, cellar_noisy **out, cellar_error *err)
{
    cellar_cube_side sides[CUBE_ORDER_MAX] = {{0}};
    size_t n = 0;
    for (size_t v = 0; v < dataset->n_variables && n < CUBE_ORDER_MAX; v++)
        if (table->levels[v] > 0)
            sides[n++] = (cellar_cube_side){.variable = dataset->variables[v].code,
                                            .level = table->levels[v]};
    return cellar_noisy_from_cube(cube, sides, n, out, err);
}
