/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A search downwards from the refused table, ring by ring: the tables that are so many steps
 * coarser. Only tables that cannot be answered are made coarser, so that what is found lies next
 * to the border of what is allowed. Of a ring that is too large a part is kept; the last ring is
 * the total, which the rules always allow. A vault does not draw the total: where nothing exists,
 * tables of one variable are what can be drawn. */
#include "serve/suggest.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "serve/price.h"
#include "serve/released.h"
#include "serve/rules.h"
#include "serve/source.h"

enum {
    RING_MAX = 256, /* tables of a ring that are made coarser */
    ASKED_MAX = 256 /* tables that the source is asked about */
};

typedef struct search {
    const serve_dataset *dataset;
    serve_suggest_scope scope;
    serve_table ring[RING_MAX];
    size_t n_ring;
    serve_table *below; /* the next ring: room for two steps in each variable of each table */
    size_t n_below;
    serve_table found[SERVE_SUGGESTIONS];
    size_t n_found, n_asked;
} search;

/* ---- one table ---------------------------------------------------------------- */

int serve_can_draw(const serve_dataset *dataset, const serve_table *table)
{
    return serve_kind_grows(dataset->kind) && serve_rules_allow(dataset, table) &&
           serve_find_obstacle(dataset, table) == NULL;
}

/* Whether the table can be answered, which the rules allow. */
static cellar_status can_answer(search *s, const serve_table *table, int *out, cellar_error *err)
{
    const serve_dataset *dataset = s->dataset;
    serve_status known;
    cellar_status status = CELLAR_OK;
    *out = 0;
    if (s->n_asked++ >= ASKED_MAX)
        return CELLAR_OK;
    CELLAR_TRY(dataset->source->ops->status(dataset->source, dataset, table, &known, err));
    if (known.exists)
        CELLAR_TRY(serve_released_passes(dataset, table, out, err));
    else
        *out = s->scope == SERVE_SUGGEST_ANY && serve_can_draw(dataset, table);
out:
    return status;
}

/* 1 when one that was found says as much as the table. */
static int is_below_found(const search *s, const serve_table *table)
{
    for (size_t i = 0; i < s->n_found; i++)
        if (serve_table_is_below(s->dataset, table, &s->found[i]))
            return 1;
    return 0;
}

static int is_above_found(const search *s, const serve_table *table)
{
    for (size_t i = 0; i < s->n_found; i++)
        if (serve_table_is_below(s->dataset, &s->found[i], table))
            return 1;
    return 0;
}

/* Keeps a table that can be answered; *is_kept says whether. */
static cellar_status consider(search *s, const serve_table *table, int *is_kept, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *is_kept = 0;
    if (s->n_found == SERVE_SUGGESTIONS || is_above_found(s, table) ||
        !serve_rules_allow(s->dataset, table))
        return CELLAR_OK;
    status = can_answer(s, table, is_kept, err);
    if (status == CELLAR_OK && *is_kept)
        s->found[s->n_found++] = *table;
    return status;
}

/* ---- rings --------------------------------------------------------------------- */

/* One level coarser; and without the variable, where its coarsest level is refused too. */
static void step(search *s, const serve_table *table)
{
    for (size_t v = 0; v < s->dataset->n_variables; v++) {
        serve_table next = *table;
        if (table->levels[v] == 0)
            continue;
        next.levels[v]--;
        s->below[s->n_below++] = next;
        next.levels[v] = 1;
        if (table->levels[v] < 2 || serve_rules_allow(s->dataset, &next))
            continue;
        next.levels[v] = 0;
        s->below[s->n_below++] = next;
    }
}

/* More variables first, then more cells. */
static int compare(const void *left, const void *right, void *context)
{
    const serve_dataset *dataset = ((const search *) context)->dataset;
    const serve_table *a = left, *b = right;
    size_t n = serve_table_n_variables(dataset, a), m = serve_table_n_variables(dataset, b);
    uint64_t cells = serve_table_n_cells(dataset, a), others = serve_table_n_cells(dataset, b);
    if (n != m)
        return n > m ? -1 : 1;
    if (cells != others)
        return cells > others ? -1 : 1;
    return memcmp(a, b, sizeof *a);
}

/* Goes to the next ring and considers its tables; those not kept are made coarser next. */
static cellar_status go_down(search *s, cellar_error *err)
{
    s->n_below = 0;
    for (size_t i = 0; i < s->n_ring; i++)
        step(s, &s->ring[i]);
    qsort_r(s->below, s->n_below, sizeof *s->below, compare, s);
    s->n_ring = 0;
    for (size_t i = 0; i < s->n_below; i++) {
        const serve_table *table = &s->below[i];
        int is_kept = 0;
        cellar_status status = CELLAR_OK;
        if ((i > 0 && memcmp(table, table - 1, sizeof *table) == 0) || is_below_found(s, table))
            continue;
        status = consider(s, table, &is_kept, err);
        if (status != CELLAR_OK)
            return status;
        if (!is_kept && s->n_ring < RING_MAX)
            s->ring[s->n_ring++] = *table;
    }
    return CELLAR_OK;
}

/* Tables beside: what the source names. */
static cellar_status look_beside(search *s, const serve_table *table, cellar_error *err)
{
    serve_table near[SERVE_SUGGESTIONS];
    const serve_source *source = s->dataset->source;
    size_t n = source->ops->nearest(source, s->dataset, table, near, SERVE_SUGGESTIONS);
    cellar_status status = CELLAR_OK;
    int is_kept;
    s->n_asked = 0;
    for (size_t i = 0; i < n && status == CELLAR_OK; i++)
        if (!is_below_found(s, &near[i]))
            status = consider(s, &near[i], &is_kept, err);
    return status;
}

/* One variable each, at its coarsest level: finer than what was asked for, as the total. */
static cellar_status look_above(search *s, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int is_kept;
    for (size_t v = 0; v < s->dataset->n_variables && status == CELLAR_OK; v++) {
        serve_table table = {{0}};
        table.levels[v] = 1;
        if (!s->dataset->variables[v].is_constant)
            status = consider(s, &table, &is_kept, err);
    }
    return status;
}

cellar_status serve_suggest(const serve_dataset *dataset, const serve_table *table,
                            serve_suggest_scope scope, cellar_arena *arena, serve_refusal *refusal,
                            cellar_error *err)
{
    serve_table *suggestions = cellar_arena_alloc(arena, SERVE_SUGGESTIONS, sizeof *suggestions);
    search *s = cellar_alloc(1, sizeof *s);
    cellar_status status = CELLAR_OK;
    if (s != NULL)
        s->below = cellar_alloc(dataset->n_variables * 2 * RING_MAX, sizeof *s->below);
    if (suggestions == NULL || s == NULL || s->below == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "suggestions"));
    s->dataset = dataset;
    s->scope = scope;
    s->ring[s->n_ring++] = *table;
    while (s->n_ring > 0 && s->n_found < SERVE_SUGGESTIONS)
        CELLAR_TRY(go_down(s, err));
    CELLAR_TRY(look_beside(s, table, err));
    if (s->n_found == 0)
        CELLAR_TRY(look_above(s, err));
    memcpy(suggestions, s->found, s->n_found * sizeof *suggestions);
    refusal->suggestions = suggestions;
    refusal->n_suggestions = s->n_found;
out:
    cellar_free(s != NULL ? s->below : NULL);
    cellar_free(s);
    return status;
}

cellar_status serve_rules_judge(const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    cellar_status status = serve_rules_check(dataset, table, arena, out, err);
    if (status == CELLAR_OK && !out->is_allowed)
        status = serve_suggest(dataset, table, SERVE_SUGGEST_ANY, arena, &out->refusal, err);
    return status;
}
