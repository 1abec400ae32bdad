/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A greedy cover. The widest table that nothing covers yet is counted, and grows: each time by the
 * variable that covers most of the others, as long as there are few possible cells. */
#include "table/counting/cover.h"

#include "base/error.h"
#include "base/memory.h"

typedef struct covering {
    const cellar_tabulate_set *wanted;
    const size_t *n_categories;
    uint64_t cells_most;
    uint64_t *mask; /* of the variables of each wanted table */
    size_t *open;   /* wanted tables that nothing covers yet, those of more variables first */
    size_t n_open;
} covering;

static uint64_t mask_of(const cellar_tabulate_set *set)
{
    uint64_t mask = 0;
    for (size_t k = 0; k < set->n; k++)
        mask |= UINT64_C(1) << set->variables[k];
    return mask;
}

/* By the number of variables, downwards; in their order among equals. */
static void sort_open(covering *c, size_t n_wanted)
{
    size_t start[CELLAR_MAX_VARIABLES + 2] = {0};
    for (size_t s = 0; s < n_wanted; s++)
        start[CELLAR_MAX_VARIABLES + 1 - c->wanted[s].n]++;
    for (size_t k = 0, sum = 0; k < CELLAR_MAX_VARIABLES + 2; k++) {
        const size_t here = start[k];
        start[k] = sum;
        sum += here;
    }
    for (size_t s = 0; s < n_wanted; s++)
        c->open[start[CELLAR_MAX_VARIABLES + 1 - c->wanted[s].n]++] = s;
    c->n_open = n_wanted;
}

/* Possible cells; more than the most when some number of categories is not known. */
static uint64_t cells_of(const covering *c, const cellar_tabulate_set *set)
{
    uint64_t n = 1;
    for (size_t k = 0; k < set->n; k++) {
        const size_t categories = c->n_categories[set->variables[k]];
        if (categories == 0 || n > c->cells_most)
            return UINT64_MAX;
        n *= categories < c->cells_most ? categories : c->cells_most + 1;
    }
    return n;
}

/* The variable to add to a table of n cells, or CELLAR_MAX_VARIABLES. Of those that cover equally
 * many it has the fewest categories. */
static size_t best_addition(const covering *c, uint64_t mask, uint64_t n_cells)
{
    size_t covers[CELLAR_MAX_VARIABLES] = {0}, best = CELLAR_MAX_VARIABLES;
    for (size_t i = 0; i < c->n_open; i++) {
        const uint64_t missing = c->mask[c->open[i]] & ~mask;
        if (missing != 0 && (missing & (missing - 1)) == 0)
            covers[__builtin_ctzll(missing)]++;
    }
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++) {
        if (covers[v] == 0 || c->n_categories[v] == 0 ||
            c->n_categories[v] > c->cells_most / n_cells)
            continue;
        if (best == CELLAR_MAX_VARIABLES || covers[v] > covers[best] ||
            (covers[v] == covers[best] && c->n_categories[v] < c->n_categories[best]))
            best = v;
    }
    return best;
}

static cellar_tabulate_set grow(const covering *c, cellar_tabulate_set set)
{
    uint64_t n_cells = cells_of(c, &set);
    while (n_cells <= c->cells_most) {
        const size_t v = best_addition(c, mask_of(&set), n_cells);
        if (v == CELLAR_MAX_VARIABLES)
            break;
        set.variables[set.n++] = (uint8_t) v;
        n_cells *= c->n_categories[v];
    }
    return set;
}

/* Takes what the last counted table covers from the open ones. */
static void close_covered(covering *c, cellar_cover *cover)
{
    const uint64_t mask = mask_of(&cover->counted[cover->n_counted - 1]);
    size_t kept = 0;
    for (size_t i = 0; i < c->n_open; i++)
        if ((c->mask[c->open[i]] & ~mask) == 0)
            cover->source[c->open[i]] = cover->n_counted - 1;
        else
            c->open[kept++] = c->open[i];
    c->n_open = kept;
}

cellar_status cellar_cover_init(cellar_cover *cover, const cellar_tabulate_set *wanted,
                                size_t n_wanted, const size_t *n_categories, uint64_t cells_most,
                                cellar_error *err)
{
    covering c = {.wanted = wanted, .n_categories = n_categories, .cells_most = cells_most};
    cellar_status status = CELLAR_OK;
    *cover = (cellar_cover){.counted = cellar_alloc(n_wanted, sizeof *cover->counted),
                            .source = cellar_alloc(n_wanted, sizeof *cover->source)};
    c.mask = cellar_alloc(n_wanted, sizeof *c.mask);
    c.open = cellar_alloc(n_wanted, sizeof *c.open);
    if (cover->counted == NULL || cover->source == NULL || c.mask == NULL || c.open == NULL) {
        cellar_cover_clear(cover);
        status = cellar_fail_memory(err, "a tabulation");
        goto out;
    }
    for (size_t s = 0; s < n_wanted; s++)
        c.mask[s] = mask_of(&wanted[s]);
    sort_open(&c, n_wanted);
    while (c.n_open > 0) {
        cover->counted[cover->n_counted++] = grow(&c, wanted[c.open[0]]);
        close_covered(&c, cover);
    }
out:
    cellar_free(c.mask);
    cellar_free(c.open);
    return status;
}

void cellar_cover_clear(cellar_cover *cover)
{
    cellar_free(cover->counted);
    cellar_free(cover->source);
    *cover = (cellar_cover){0};
}
