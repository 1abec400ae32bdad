/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of some variables of a release. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/noisy_build.h"
#include "release/release.h"

static const uint64_t SUMMED_MAX = UINT64_C(1) << 26;

typedef struct source {
    const cellar_release *release;
    const cellar_schema *schema;
    size_t variables[CELLAR_MAX_VARIABLES]; /* of the table, in its order */
    size_t n;
    uint64_t mask; /* the same as bits */
} source;

/* Numbers that are no perturbed counts. (Fitted tables are no releases: reading refuses them.) */
static cellar_status source_check(const source *s, cellar_error *err)
{
    if (cellar_release_is_weighted(s->release))
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "the release holds weighted sums: weighted sums vary with the weights, which no "
            "released value shows, and a test that takes the sums for counts would be wrong");
    return CELLAR_OK;
}

static cellar_status source_choose(source *s, const size_t *variables, size_t n, cellar_error *err)
{
    size_t n_all = cellar_schema_n_variables(s->schema);
    s->n = variables != NULL ? n : n_all;
    if (s->n == 0 || s->n > n_all)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "choose 1 to %zu variables", n_all);
    for (size_t v = 0; v < s->n; v++) {
        size_t variable = variables != NULL ? variables[v] : v;
        if (variable >= n_all || s->mask >> variable & 1)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "variables are those of the release, each once");
        s->variables[v] = variable;
        s->mask |= UINT64_C(1) << variable;
    }
    return CELLAR_OK;
}

static int source_lists(const source *s, uint64_t mask)
{
    size_t n_margins;
    const uint64_t *margins = cellar_schema_margins(s->schema, &n_margins);
    for (size_t m = 0; m < n_margins; m++)
        if (margins[m] == mask)
            return 1;
    return 0;
}

static uint64_t source_everything(const source *s)
{
    size_t n = cellar_schema_n_variables(s->schema);
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/* Sets the categories of the chosen variables to those of a cell. */
static void cell_categories(const source *s, const cellar_noisy *noisy, size_t cell,
                            uint32_t *categories)
{
    for (size_t v = s->n; v-- > 0; cell /= noisy->n_levels[v])
        categories[s->variables[v]] = (uint32_t) (cell % noisy->n_levels[v]);
}

/* The numbers as they were released; other variables stand at their total. */
static void source_take(const source *s, cellar_noisy *noisy)
{
    uint32_t categories[CELLAR_MAX_VARIABLES];
    for (size_t v = 0; v < cellar_schema_n_variables(s->schema); v++)
        categories[v] = (uint32_t) cellar_schema_n_categories(s->schema, v) - 1;
    for (size_t i = 0; i < noisy->n_cells; i++) {
        uint64_t index;
        cellar_released_cell cell;
        cell_categories(s, noisy, i, categories);
        index = cellar_schema_index(s->schema, categories);
        cell = cellar_release_at(s->release, index);
        noisy->released[i] = cell.released;
        noisy->structural[i] = cell.status == CELLAR_CELL_STRUCTURAL_ZERO ||
                               cellar_schema_is_structural_zero(s->schema, index);
    }
}

/* Advances to the next combination of leaves; answers 0 after the last. */
static int next_leaves(const source *s, uint32_t *categories)
{
    for (size_t v = cellar_schema_n_variables(s->schema); v-- > 0;) {
        if (++categories[v] < cellar_schema_n_leaves(s->schema, v))
            return 1;
        categories[v] = 0;
    }
    return 0;
}

static size_t cell_of(const source *s, const cellar_noisy *noisy, const uint32_t *categories)
{
    size_t cell = 0;
    for (size_t v = 0; v < s->n; v++)
        cell = cell * noisy->n_levels[v] + categories[s->variables[v]];
    return cell;
}

static void source_add(const source *s, cellar_noisy *noisy, uint64_t *n_parts)
{
    uint32_t categories[CELLAR_MAX_VARIABLES] = {0};
    do {
        uint64_t index = cellar_schema_index(s->schema, categories);
        size_t cell = cell_of(s, noisy, categories);
        cellar_released_cell part = cellar_release_at(s->release, index);
        if (part.status == CELLAR_CELL_STRUCTURAL_ZERO ||
            cellar_schema_is_structural_zero(s->schema, index))
            continue;
        noisy->released[cell] += part.released;
        n_parts[cell]++;
    } while (next_leaves(s, categories));
}

/* Sums of cells, with the convolution of their noise. */
static cellar_status source_sum(const source *s, cellar_noisy *noisy, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t *n_parts = NULL, n = 0;
    if (cellar_channel_is_clamped(&noisy->channel))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the release has no margin of these variables, and small values were "
                           "set to zero, so that the distribution of a sum of cells is not known: "
                           "name all variables of a margin that was released");
    if (!cellar_channel_is_additive(&noisy->channel))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "the release has no margin of these variables, and the noise of %s "
                           "depends on the counts, so that the distribution of a sum of cells is "
                           "not known: name all variables of a margin that was released",
                           cellar_mechanism_name(noisy->mechanism));
    if (cellar_schema_n_indices(s->schema) > SUMMED_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "too many cells to sum");
    n_parts = cellar_alloc(noisy->n_cells, sizeof *n_parts);
    if (n_parts == NULL)
        return cellar_fail_memory(err, "the margin");
    source_add(s, noisy, n_parts);
    for (size_t i = 0; i < noisy->n_cells; i++) {
        noisy->structural[i] = n_parts[i] == 0;
        if (n_parts[i] == 0)
            continue;
        if (n > 0 && n_parts[i] != n) {
            status = cellar_fail(err, CELLAR_ERR_RULE,
                                 "structural zeros make the cells of this margin sums of different "
                                 "numbers of cells: name all variables of a released margin");
            goto out;
        }
        n = n_parts[i];
    }
    CELLAR_TRY(cellar_noise_sum_create(noisy->mechanism, n, &noisy->sum, err));
    noisy->n_summed = n;
    noisy->channel.sum = noisy->sum;
out:
    cellar_free(n_parts);
    return status;
}

static cellar_status noisy_fill(cellar_noisy *noisy, const source *s, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_levels[CELLAR_MAX_VARIABLES], n = 0;
    for (size_t v = 0; v < s->n; v++)
        n_levels[v] = cellar_schema_n_leaves(s->schema, s->variables[v]);
    CELLAR_TRY(cellar_noisy_shape(noisy, n_levels, s->n, err));
    for (size_t v = 0; v < s->n; v++) {
        size_t variable = s->variables[v];
        CELLAR_TRY(cellar_noisy_set_text(&noisy->names[v],
                                         cellar_schema_variable(s->schema, variable), err));
        for (size_t l = 0; l < n_levels[v]; l++)
            CELLAR_TRY(cellar_noisy_set_text(&noisy->codes[n++],
                                             cellar_schema_code(s->schema, variable, l), err));
    }
    CELLAR_TRY(cellar_noisy_set_channel(noisy, cellar_release_mechanism(s->release),
                                        cellar_release_negatives(s->release),
                                        cellar_release_threshold(s->release), err));
    if (cellar_mechanism_revision(noisy->mechanism) !=
        cellar_release_mechanism_revision(s->release)) {
        status = cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                             "the release was made by another revision of %s than this program has",
                             cellar_mechanism_name(noisy->mechanism));
        goto out;
    }
    if (s->mask == source_everything(s) || source_lists(s, s->mask))
        source_take(s, noisy);
    else
        CELLAR_TRY(source_sum(s, noisy, err));
out:
    return status;
}

cellar_status cellar_noisy_from_release(const cellar_release *release, const size_t *variables,
                                        size_t n, cellar_noisy **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    source s = {.release = release, .schema = cellar_release_schema(release)};
    cellar_noisy *noisy = NULL;

    *out = NULL;
    CELLAR_TRY(source_check(&s, err));
    CELLAR_TRY(source_choose(&s, variables, n, err));
    noisy = cellar_alloc(1, sizeof *noisy);
    if (noisy == NULL) {
        status = cellar_fail_memory(err, "the table");
        goto out;
    }
    CELLAR_TRY(noisy_fill(noisy, &s, err));
    noisy->suppresses = cellar_release_below(release) == CELLAR_BELOW_SUPPRESS;
    *out = noisy;
    noisy = NULL;
out:
    cellar_noisy_free(noisy);
    return status;
}
