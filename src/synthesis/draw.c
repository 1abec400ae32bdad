/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records from the model, one variable after the other.
 *
 * Records with the same categories of the given variables are a group. A group of m records gets
 * floor(m p) or one more of each category of share p; those that get one more are the ones that
 * groups before have given least, so that the category stays within a few records of its share in
 * all groups together. Groups come in a drawn order: a fixed one would tie the rounding to the
 * categories. Which records of a group get which category is drawn, too. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/urn.h"
#include "synthesis/model.h"

typedef struct candidate {
    double owed; /* what the category should have had so far, less what it has got */
    uint32_t category;
} candidate;

typedef struct drawing {
    const cellar_synthesis_model *model;
    cellar_rng *rng;
    const synthesis_factor *factor;
    size_t n, n_columns, n_groups;
    uint32_t n_categories;
    size_t *start;   /* of each group: where its records begin in `order` */
    uint32_t *order; /* the records, group by group */
    uint32_t *turn;  /* the groups in the order in which they are served */
    double *share;   /* of the categories in a group */
    double *owed;    /* by category */
    size_t *given;   /* by category: how many the group gets */
    candidate *candidates;
    uint32_t *out;
} drawing;

static cellar_status shuffle(uint32_t *items, size_t n, cellar_rng *rng, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = n; i > 1; i--) {
        uint64_t pick;
        uint32_t kept;
        CELLAR_TRY(cellar_uniform_below(rng, i, &pick, err));
        kept = items[pick];
        items[pick] = items[i - 1];
        items[i - 1] = kept;
    }
out:
    return status;
}

/* ---- groups ------------------------------------------------------------------------ */

static size_t group_of(const drawing *d, size_t record)
{
    const cube_space *given = &d->factor->given;
    size_t group = 0;
    for (size_t k = 0; k < given->order; k++)
        group = group * synthesis_n_categories(d->model, given->variable[k]) +
                d->out[record * d->n_columns + given->variable[k]];
    return group;
}

/* Sorts the records by group, and draws the order of records within groups and of groups. */
static cellar_status form_groups(drawing *d, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t g = 0; g <= d->n_groups; g++)
        d->start[g] = 0;
    for (size_t r = 0; r < d->n; r++)
        d->start[group_of(d, r) + 1]++;
    for (size_t g = 0; g < d->n_groups; g++)
        d->start[g + 1] += d->start[g];
    for (size_t r = d->n; r-- > 0;) /* start[g + 1] walks down to where group g begins */
        d->order[--d->start[group_of(d, r) + 1]] = (uint32_t) r;
    for (size_t g = 0; g < d->n_groups; g++)
        d->start[g] = d->start[g + 1];
    d->start[d->n_groups] = d->n;
    for (size_t g = 0; g < d->n_groups; g++) {
        d->turn[g] = (uint32_t) g;
        CELLAR_TRY(shuffle(d->order + d->start[g], d->start[g + 1] - d->start[g], d->rng, err));
    }
    CELLAR_TRY(shuffle(d->turn, d->n_groups, d->rng, err));
out:
    return status;
}

/* ---- shares --------------------------------------------------------------------------- */

/* The shares of the categories in a group; those of the variable alone where the group is empty in
 * the model. */
static void find_shares(drawing *d, size_t group)
{
    const cellar_synthesis_model *m = d->model;
    const cube_lattice *l = &m->cube->lattice;
    const cube_space *space = &l->spaces[d->factor->table];
    const double *table = m->positive[d->factor->table];
    size_t stride = 1, rest = group, first = 0, own = 1;
    double sum = 0;

    for (size_t k = space->order; k-- > 0;) {
        const uint32_t n = synthesis_n_categories(m, space->variable[k]);
        if (space->variable[k] == d->factor->variable) {
            own = stride;
        } else {
            first += rest % n * stride;
            rest /= n;
        }
        stride *= n;
    }
    for (size_t c = 0; c < d->n_categories; c++)
        sum += d->share[c] = table[first + c * own];
    if (!(sum > 0)) {
        const cube_space alone = synthesis_with(m, (cube_space){0}, d->factor->variable);
        const double *one = m->positive[cellar_cube_lattice_find(l, &alone)];
        sum = 0;
        for (size_t c = 0; c < d->n_categories; c++)
            sum += d->share[c] = one[c];
    }
    for (size_t c = 0; c < d->n_categories; c++)
        d->share[c] /= sum;
}

/* ---- rounding ---------------------------------------------------------------------------- */

static int owed_most_first(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    if (x->owed != y->owed)
        return x->owed > y->owed ? -1 : 1;
    return (x->category > y->category) - (x->category < y->category);
}

/* How many of the m records of a group each category gets. */
static void apportion(drawing *d, size_t m)
{
    size_t n_candidates = 0, left = m;
    for (uint32_t c = 0; c < d->n_categories; c++) {
        const double wanted = (double) m * d->share[c];
        const size_t whole = (size_t) fmin(floor(wanted), (double) left);
        d->given[c] = whole;
        d->owed[c] += wanted - (double) whole;
        left -= whole;
        if (d->share[c] > 0)
            d->candidates[n_candidates++] = (candidate){d->owed[c], c};
    }
    if (left == 0)
        return;
    CELLAR_ASSERT(n_candidates > 0); /* the shares add to 1 */
    qsort(d->candidates, n_candidates, sizeof *d->candidates, owed_most_first);
    for (size_t i = 0; left > 0; i = (i + 1) % n_candidates, left--) {
        d->given[d->candidates[i].category]++;
        d->owed[d->candidates[i].category]--;
    }
}

static void serve(drawing *d, size_t group)
{
    const uint32_t *record = d->order + d->start[group];
    const size_t m = d->start[group + 1] - d->start[group];
    if (m == 0)
        return;
    find_shares(d, group);
    apportion(d, m);
    for (uint32_t c = 0; c < d->n_categories; c++)
        for (size_t i = 0; i < d->given[c]; i++)
            d->out[*record++ * d->n_columns + d->factor->variable] = c;
}

/* Where each category's account begins: anywhere within half a record. */
static cellar_status open_accounts(drawing *d, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t c = 0; c < d->n_categories; c++) {
        uint64_t bits;
        CELLAR_TRY(cellar_uniform_below(d->rng, UINT64_C(1) << 53, &bits, err));
        d->owed[c] = ldexp((double) bits, -53) - 0.5;
    }
out:
    return status;
}

/* ---- the variables ----------------------------------------------------------------------- */

static cellar_status draw_factor(drawing *d, cellar_error *err)
{
    const cube_lattice *l = &d->model->cube->lattice;
    cellar_status status = CELLAR_OK;

    d->n_categories = synthesis_n_categories(d->model, d->factor->variable);
    d->n_groups = (size_t) l->n_cells[d->factor->table] / d->n_categories;
    d->start = cellar_alloc(d->n_groups + 1, sizeof *d->start);
    d->turn = cellar_alloc(d->n_groups, sizeof *d->turn);
    d->share = cellar_alloc(d->n_categories, sizeof *d->share);
    d->owed = cellar_alloc(d->n_categories, sizeof *d->owed);
    d->given = cellar_alloc(d->n_categories, sizeof *d->given);
    d->candidates = cellar_alloc(d->n_categories, sizeof *d->candidates);
    if (d->start == NULL || d->turn == NULL || d->share == NULL || d->owed == NULL ||
        d->given == NULL || d->candidates == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "groups of records"));
    CELLAR_TRY(form_groups(d, err));
    CELLAR_TRY(open_accounts(d, err));
    for (size_t g = 0; g < d->n_groups; g++)
        serve(d, d->turn[g]);
out:
    cellar_free(d->start);
    cellar_free(d->turn);
    cellar_free(d->share);
    cellar_free(d->owed);
    cellar_free(d->given);
    cellar_free(d->candidates);
    return status;
}

cellar_status cellar_synthesis_draw_records(const cellar_synthesis_model *model, cellar_rng *rng,
                                            uint32_t *out, cellar_error *err)
{
    drawing d = {.model = model,
                 .rng = rng,
                 .n = (size_t) model->n_records,
                 .n_columns = model->cube->n_variables};
    cellar_status status = CELLAR_OK;
    d.out = out;
    d.order = cellar_alloc(d.n, sizeof *d.order);
    if (d.order == NULL)
        return cellar_fail_memory(err, "the order of records");
    for (size_t f = 0; f < model->n_factors; f++) {
        d.factor = &model->factors[f];
        CELLAR_TRY(draw_factor(&d, err));
    }
out:
    cellar_free(d.order);
    return status;
}
