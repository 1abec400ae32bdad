/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference from releases whose values have independent noise of one distribution. A set of cells
 * is a sum of released values of one table; what two sets of the same table have in common has the
 * same noise, everything else noise of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/compare.h"
#include "serve/cut_make.h"
#include "serve/piece.h"
#include "serve/releases.h"

/* ---- cells of a released table ------------------------------------------------------ */

/* Which categories of the released table's level a side of a set takes; all when `side` is NULL.
 * The answer has a 1 for each that it does; NULL when memory ends. */
static unsigned char *taken(const serve_variable *variable, size_t level, const serve_pick *pick,
                            cellar_arena *arena)
{
    const size_t n = variable->levels[level - 1].n_categories;
    unsigned char *out = cellar_arena_alloc(arena, n, 1), *members = NULL;
    if (pick != NULL)
        members = cellar_arena_alloc(arena, variable->levels[pick->level - 1].n_categories, 1);
    if (out == NULL || (pick != NULL && members == NULL))
        return NULL;
    for (size_t i = 0; pick != NULL && i < pick->n_members; i++)
        members[pick->members[i]] = 1;
    for (size_t k = 0; k < n; k++) {
        size_t at = k;
        for (size_t l = level; pick != NULL && l > pick->level && at != SIZE_MAX; l--)
            at = variable->levels[l - 1].categories[at].parent;
        out[k] = pick == NULL || (at != SIZE_MAX && members[at]);
    }
    return out;
}

/* The pick of a set for a variable; NULL when it is summed out. */
static const serve_pick *pick_of(const serve_cut *set, size_t variable)
{
    for (size_t i = 0; i < set->n_sides; i++)
        if (set->sides[i].variable == variable)
            return &set->sides[i].picks[0];
    return NULL;
}

/* How many cells of a table both sets take (or one of them, with itself). */
static cellar_status count_common(const serve_cut *first, const serve_cut *second,
                                  const serve_table *table, cellar_arena *arena, double *out,
                                  cellar_error *err)
{
    const serve_dataset *dataset = first->dataset;
    *out = 1;
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const serve_variable *variable = &dataset->variables[v];
        const size_t level = table->levels[v];
        const unsigned char *one, *two;
        double n = 0;
        if (level == 0)
            continue;
        one = taken(variable, level, pick_of(first, v), arena);
        two = taken(variable, level, pick_of(second, v), arena);
        if (one == NULL || two == NULL)
            return cellar_fail_memory(err, "a comparison");
        for (size_t k = 0; k < variable->levels[level - 1].n_categories; k++)
            n += one[k] && two[k];
        *out *= n;
    }
    return CELLAR_OK;
}

/* ---- two sets -------------------------------------------------------------------------- */

/* A set, the release that answers it, and its value. */
typedef struct summed {
    const serve_cut *set;
    piece_file *file;
    serve_table from;
    double value, n_cells;
    cellar_noise_wave wave;
} summed;

static cellar_status fail_noise(cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "The noise of this table is not known well enough for this.");
}

/* The noise of a file whose values have it added. */
static cellar_status find_wave(const piece_file *file, cellar_noise_wave *out, cellar_error *err)
{
    cellar_status status = CELLAR_ERR_RULE;
    if (file != NULL && file->noise.kind == SERVE_NOISE_ADDED)
        status = cellar_noise_wave_init(out, cellar_release_mechanism(file->release), err);
    return status == CELLAR_ERR_RULE ? fail_noise(err) : status;
}

static cellar_status sum_up(const serve_source *source, const serve_cut *set, cellar_arena *arena,
                            summed *out, cellar_error *err)
{
    serve_value value;
    int is_exact;
    cellar_status status = CELLAR_OK;
    *out = (summed){.set = set};
    out->file = serve_releases_find(source, set->dataset, &set->table, &out->from, &is_exact);
    CELLAR_TRY(find_wave(out->file, &out->wave, err));
    CELLAR_TRY(piece_ask(out->file, &out->from, set, SERVE_TAIL, &value, err));
    if (isnan(value.count))
        return fail_noise(err);
    out->value = value.count;
    status = count_common(set, set, &out->from, arena, &out->n_cells, err);
out:
    return status;
}

/* The noise of one or two sums: what only the first has, only the second, and both. */
static cellar_status make_terms(const summed sums[2], size_t n, cellar_arena *arena,
                                cube_terms *out, cellar_error *err)
{
    const int is_same = n == 2 && sums[0].file == sums[1].file &&
                        memcmp(&sums[0].from, &sums[1].from, sizeof sums[0].from) == 0;
    cube_term *terms = cellar_arena_alloc(arena, 3, sizeof *terms);
    cellar_noise_wave *waves = cellar_arena_alloc(arena, 2, sizeof *waves);
    double common = 0;
    if (terms == NULL || waves == NULL)
        return cellar_fail_memory(err, "a comparison");
    if (is_same) {
        cellar_status status =
            count_common(sums[0].set, sums[1].set, &sums[0].from, arena, &common, err);
        if (status != CELLAR_OK)
            return status;
        if (common == sums[0].n_cells && common == sums[1].n_cells)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the two sets have the same cells");
    }
    *out = (cube_terms){.items = terms, .waves = waves};
    for (size_t i = 0; i < n; i++) {
        waves[i] = sums[i].wave;
        terms[out->n] = (cube_term){.table = (uint32_t) i, .n_cells = sums[i].n_cells - common};
        terms[out->n].weight[i] = 1;
        out->n += terms[out->n].n_cells > 0;
    }
    if (common > 0)
        terms[out->n++] = (cube_term){.n_cells = common, .weight = {1, 1}};
    return CELLAR_OK;
}

cellar_status serve_releases_compare(const serve_source *source, const serve_cut *first,
                                     cellar_comparison comparison, const serve_cut *second,
                                     double confidence, cellar_cube_finding *out, cellar_error *err)
{
    enum { ARENA_BYTES = 1 << 28 };
    cellar_arena *arena = cellar_arena_create(ARENA_BYTES);
    const size_t n = comparison == CELLAR_COMPARE_NONE ? 1 : 2;
    summed sums[2];
    double values[2] = {0, 0};
    cube_terms terms;
    cellar_status status = CELLAR_OK;
    if (arena == NULL)
        return cellar_fail_memory(err, "a comparison");
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(sum_up(source, i == 0 ? first : second, arena, &sums[i], err));
        values[i] = sums[i].value;
    }
    CELLAR_TRY(make_terms(sums, n, arena, &terms, err));
    CELLAR_TRY(cellar_compare_sums(&terms, values, comparison, 1 - confidence, out, err));
out:
    cellar_arena_free(arena);
    return status;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* The released values of a table as the tests take them. */
static cellar_status make_noisy(const piece_file *file, const serve_cut *cut,
                                const serve_value *values, size_t n, cellar_arena *arena,
                                cellar_noisy **out, cellar_error *err)
{
    cellar_noisy_spec spec = cellar_noisy_spec_default();
    size_t *n_levels = cellar_arena_alloc(arena, cut->n_sides, sizeof *n_levels);
    const char **names = cellar_arena_alloc(arena, cut->n_sides, sizeof *names);
    int64_t *released = cellar_arena_alloc(arena, n, sizeof *released);
    unsigned char *structural = cellar_arena_alloc(arena, n, 1);
    if (n_levels == NULL || names == NULL || released == NULL || structural == NULL)
        return cellar_fail_memory(err, "a test");
    for (size_t i = 0; i < cut->n_sides; i++) {
        n_levels[i] = cut->sides[i].n_picks;
        names[i] = cut->dataset->variables[cut->sides[i].variable].code;
    }
    for (size_t k = 0; k < n; k++) {
        structural[k] = values[k].status == CELLAR_CELL_STRUCTURAL_ZERO;
        if (isnan(values[k].count) && !structural[k])
            return fail_noise(err);
        released[k] = structural[k] ? 0 : (int64_t) llround(values[k].count);
    }
    spec.n_levels = n_levels;
    spec.n_variables = cut->n_sides;
    spec.names = names;
    spec.released = released;
    spec.structural = structural;
    spec.mechanism = cellar_release_mechanism(file->release);
    spec.negatives = file->noise.negatives;
    spec.threshold = file->noise.threshold;
    return cellar_noisy_create(&spec, out, err);
}

cellar_status serve_releases_noisy(const serve_source *source, const serve_dataset *dataset,
                                   const serve_table *table, int *needs_bootstrap,
                                   cellar_noisy **out, cellar_error *err)
{
    enum { ARENA_BYTES = 1 << 26 };
    cellar_arena *arena = cellar_arena_create(ARENA_BYTES);
    const size_t n = (size_t) serve_table_n_cells(dataset, table);
    serve_value *values = NULL;
    serve_cut cut;
    serve_table from;
    int is_exact;
    cellar_status status = CELLAR_OK;
    piece_file *file = serve_releases_find(source, dataset, table, &from, &is_exact);
    *out = NULL;
    *needs_bootstrap = 0;
    if (arena == NULL)
        return cellar_fail_memory(err, "a test");
    if (file == NULL || file->noise.kind == SERVE_NOISE_UNKNOWN)
        CELLAR_TRY(fail_noise(err));
    if (!is_exact)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                               "The test needs a table that was released itself, not sums of "
                               "others."));
    CELLAR_TRY(serve_cut_whole(dataset, table, arena, &cut, err));
    values = cellar_arena_alloc(arena, n, sizeof *values);
    if (values == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a test"));
    CELLAR_TRY(piece_ask(file, &from, &cut, SERVE_TAIL, values, err));
    CELLAR_TRY(make_noisy(file, &cut, values, n, arena, out, err));
out:
    cellar_arena_free(arena);
    return status;
}
