/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/released.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "serve/cut_make.h"
#include "serve/rules_parts.h"
#include "serve/source.h"
#include "serve/suggest.h"

enum { PART_CELLS = 1 << 16 }; /* asked of the source at once */

/* ---- measuring ----------------------------------------------------------------- */

void serve_tally_add(serve_tally *tally, const serve_rules *rules, const serve_value *values,
                     size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double value = values[i].count;
        if (values[i].status == CELLAR_CELL_STRUCTURAL_ZERO ||
            values[i].status == CELLAR_CELL_SUPPRESSED || isnan(value))
            continue;
        tally->total += value;
        value = value > 0 ? floor(value + 0.5) : 0;
        tally->n_cells++;
        tally->n_nonzero += value != 0;
        for (size_t r = 0; r < rules->n; r++)
            if (rules->items[r].kind == SERVE_RULE_SHARE)
                tally->n_met[r] += value >= (double) rules->items[r].first &&
                                   value <= (double) rules->items[r].last;
    }
}

static int tally_breaks(const serve_tally *tally, const serve_rule *rule, double n_met)
{
    if (rule->kind == SERVE_RULE_TOTAL)
        return tally->total < (double) rule->limit;
    return n_met > rule->share * (rule->of_nonzero ? tally->n_nonzero : tally->n_cells);
}

size_t serve_tally_judge(const serve_tally *tally, const serve_dataset *dataset,
                         const serve_table *table)
{
    const serve_rules *rules = dataset->rules;
    for (size_t r = 0; r < rules->n; r++)
        if (serve_rule_is_released(rules->items[r].kind) &&
            serve_table_has(dataset, table, &rules->items[r].when) &&
            tally_breaks(tally, &rules->items[r], tally->n_met[r]))
            return r;
    return SIZE_MAX;
}

/* ---- asking for a whole table ---------------------------------------------------- */

/* A walk over a table in parts: the first sides have one category each, the others all. */
typedef struct walk {
    serve_cut whole, cut; /* the table, and the part where the walk is */
    serve_side sides[CELLAR_MAX_VARIABLES];
    size_t n_single; /* sides with one category at a time */
    size_t n_cells;  /* of a part */
} walk;

static cellar_status walk_begin(walk *w, const serve_dataset *dataset, const serve_table *table,
                                cellar_arena *arena, cellar_error *err)
{
    cellar_status status;
    *w = (walk){.n_cells = 1};
    status = serve_cut_whole(dataset, table, arena, &w->whole, err);
    w->cut = w->whole;
    w->cut.sides = w->sides;
    if (status != CELLAR_OK)
        return status;
    w->n_single = w->whole.n_sides;
    while (w->n_single > 0 && w->n_cells * w->whole.sides[w->n_single - 1].n_picks <= PART_CELLS)
        w->n_cells *= w->whole.sides[--w->n_single].n_picks;
    for (size_t i = 0; i < w->whole.n_sides; i++) {
        w->sides[i] = w->whole.sides[i];
        if (i < w->n_single)
            w->sides[i].n_picks = 1;
    }
    return CELLAR_OK;
}

/* 0 after the last part. */
static int walk_next(walk *w)
{
    for (size_t i = w->n_single; i-- > 0;) {
        if (++w->sides[i].picks < w->whole.sides[i].picks + w->whole.sides[i].n_picks)
            return 1;
        w->sides[i].picks = w->whole.sides[i].picks;
    }
    return 0;
}

static cellar_status measure(const serve_dataset *dataset, const serve_table *table,
                             serve_tally *tally, cellar_arena *arena, cellar_error *err)
{
    walk w;
    serve_value *values = NULL;
    cellar_status status = CELLAR_OK;
    tally->n_met = cellar_arena_alloc(arena, dataset->rules->n, sizeof *tally->n_met);
    if (tally->n_met == NULL)
        return cellar_fail_memory(err, "rules on released values");
    CELLAR_TRY(walk_begin(&w, dataset, table, arena, err));
    values = cellar_alloc(w.n_cells, sizeof *values);
    if (values == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "rules on released values"));
    do {
        CELLAR_TRY(dataset->source->ops->ask(dataset->source, &w.cut, SERVE_TAIL, values, err));
        serve_tally_add(tally, dataset->rules, values, w.n_cells);
    } while (walk_next(&w));
out:
    cellar_free(values);
    return status;
}

/* ---- verdicts ------------------------------------------------------------------- */

/* 1 when the table was judged before, answered from the same one. */
static int recall(serve_verdicts *verdicts, const serve_table *table, const serve_table *from,
                  const serve_rule **broken)
{
    int is_known = 0;
    pthread_mutex_lock(&verdicts->lock);
    for (size_t i = 0; i < verdicts->n && !is_known; i++)
        if (memcmp(&verdicts->items[i].table, table, sizeof *table) == 0 &&
            memcmp(&verdicts->items[i].from, from, sizeof *from) == 0) {
            *broken = verdicts->items[i].broken;
            is_known = 1;
        }
    pthread_mutex_unlock(&verdicts->lock);
    return is_known;
}

static void remember(serve_verdicts *verdicts, const serve_table *table, const serve_table *from,
                     const serve_rule *broken)
{
    pthread_mutex_lock(&verdicts->lock);
    verdicts->items[verdicts->next].table = *table;
    verdicts->items[verdicts->next].from = *from;
    verdicts->items[verdicts->next].broken = broken;
    verdicts->next = (verdicts->next + 1) % SERVE_VERDICTS;
    if (verdicts->n < SERVE_VERDICTS)
        verdicts->n++;
    pthread_mutex_unlock(&verdicts->lock);
}

static cellar_status judge(const serve_dataset *dataset, const serve_table *table,
                           const serve_rule **broken, cellar_error *err)
{
    enum { ARENA_BYTES = 1 << 28 };
    cellar_arena *arena = cellar_arena_create(ARENA_BYTES);
    serve_tally tally = {0};
    size_t number;
    cellar_status status = CELLAR_OK;
    if (arena == NULL)
        return cellar_fail_memory(err, "rules on released values");
    CELLAR_TRY(measure(dataset, table, &tally, arena, err));
    number = serve_tally_judge(&tally, dataset, table);
    *broken = number != SIZE_MAX ? &dataset->rules->items[number] : NULL;
out:
    cellar_arena_free(arena);
    return status;
}

static cellar_status find_broken(const serve_dataset *dataset, const serve_table *table,
                                 const serve_rule **broken, cellar_error *err)
{
    serve_verdicts *verdicts = dataset->rules != NULL ? dataset->rules->verdicts : NULL;
    serve_status known;
    cellar_status status = CELLAR_OK;
    *broken = NULL;
    if (verdicts == NULL)
        return CELLAR_OK;
    CELLAR_TRY(dataset->source->ops->status(dataset->source, dataset, table, &known, err));
    if (recall(verdicts, table, &known.from, broken))
        return CELLAR_OK;
    CELLAR_TRY(judge(dataset, table, broken, err));
    remember(verdicts, table, &known.from, *broken);
out:
    return status;
}

cellar_status serve_released_passes(const serve_dataset *dataset, const serve_table *table,
                                    int *out, cellar_error *err)
{
    const serve_rule *broken;
    cellar_status status = find_broken(dataset, table, &broken, err);
    *out = status == CELLAR_OK && broken == NULL;
    return status;
}

cellar_status serve_rules_judge_released(const serve_dataset *dataset, const serve_table *table,
                                         cellar_arena *arena, serve_verdict *out, cellar_error *err)
{
    const serve_rule *broken;
    cellar_status status = find_broken(dataset, table, &broken, err);
    *out = (serve_verdict){.is_allowed = 1};
    if (status != CELLAR_OK || broken == NULL)
        return status;
    status = serve_rule_refuse(dataset, broken, table, arena, out, err);
    return status == CELLAR_OK
               ? serve_suggest(dataset, table, SERVE_SUGGEST_ANY, arena, &out->refusal, err)
               : status;
}
