/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The risk of a table: one measure, many mechanisms. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "risk/homogeneity/cell.h"
#include "risk/homogeneity/expected.h"
#include "risk/homogeneity/groups.h"
#include "risk/homogeneity/local.h"
#include "risk/homogeneity/published.h"
#include "risk/homogeneity/quantile.h"
#include "risk/homogeneity/simulate.h"
#include "risk/homogeneity/size_model.h"
#include "risk/homogeneity/threshold.h"

double cellar_risk_quantile_level(size_t index)
{
    static const double levels[CELLAR_RISK_N_QUANTILES] = {0.90, 0.95, 0.99};
    return levels[index];
}

typedef struct assess_work {
    const cellar_groups *groups;
    const cellar_risk_options *options;
    cellar_pool *pool;
    double *weights;         /* of each kind; they sum to one */
    double *homogeneous;     /* expected: of each kind */
    cellar_lanes *values;    /* [kind]: the lanes of the block being done */
    cellar_presence *blocks; /* of the lanes */
    const cellar_mechanism *const *mechanisms;
    size_t n_lanes;
} assess_work;

/* ---- kinds of groups, one by one ------------------------------------------------------------- */

/* The parts of a kind as the engine for one group wants them; room for all counts. */
typedef struct kind_room {
    double *weights;
    cellar_group_part *parts;
} kind_room;

static cellar_group kind_group(const assess_work *w, size_t kind, const cellar_presence *presence,
                               kind_room *room)
{
    const cellar_group_kind *k = &w->groups->kinds[kind];
    cellar_group group = {.presence = presence, .size = k->size};
    for (size_t i = 0; i < k->n_positive; i++)
        room->weights[i] = (double) w->groups->counts[k->first + i];
    cellar_group_set_parts(&group, room->parts, room->weights, k->n_positive);
    group.n_never = k->n_zeros;
    return group;
}

/* Sizes of groups that a prior is asked for: each once, as all groups of a size are alike. */
static cellar_status kind_shrinkage(const assess_work *w, size_t kind,
                                    const cellar_presence *presence, kind_room *room,
                                    cellar_risk *out, cellar_error *err)
{
    cellar_group group = {
        .presence = presence, .size = w->groups->kinds[kind].size, .has_prior = 1};
    cellar_group_set_parts(&group, room->parts, w->options->prior, w->groups->n_values);
    if (w->options->method == CELLAR_RISK_EXACT)
        return cellar_group_assess(&group, out, err);
    cellar_published_group(&group, w->options->method == CELLAR_RISK_PUBLISHED_2020, out);
    return CELLAR_OK;
}

/* The observed shares of a kind in groups of random size; values that cannot be are none. */
static cellar_status kind_global_fixed(const assess_work *w, size_t kind, size_t lane,
                                       kind_room *room, cellar_risk *out, cellar_error *err)
{
    const cellar_group_kind *k = &w->groups->kinds[kind];
    cellar_risk_cell cell = cellar_risk_cell_default();
    cell.n_values = k->n_positive + (size_t) k->n_zeros;
    cell.model = w->options->model;
    for (size_t i = 0; i < cell.n_values; i++)
        room->weights[i] =
            i < k->n_positive ? (double) w->groups->counts[k->first + i] / (double) k->size : 0;
    cell.shares = room->weights;
    return cellar_risk_cell_random(&cell, w->mechanisms[lane], CELLAR_RISK_GLOBAL_FIXED,
                                   w->options->method, out, err);
}

/* ---- a measure in one lane ------------------------------------------------------------------- */

typedef struct lane_result {
    cellar_risk *risks; /* of each kind */
    kind_room *rooms;   /* of each thread */
    const assess_work *work;
    const cellar_threshold *threshold;
    size_t lane;
} lane_result;

/* 1 when the kind before in order has the same answer as this one. */
static int kind_repeats(const assess_work *w, const size_t *order, size_t i)
{
    return i > 0 && w->groups->kinds[order[i]].size == w->groups->kinds[order[i - 1]].size;
}

static cellar_status lane_kind(const lane_result *r, size_t kind, kind_room *room,
                               cellar_error *err)
{
    const assess_work *w = r->work;
    const cellar_group_kind *k = &w->groups->kinds[kind];
    const cellar_presence *presence = &w->blocks[r->lane];
    cellar_group group;

    switch (w->options->measure) {
    case CELLAR_RISK_LOCAL:
        cellar_local(presence, w->groups->counts + k->first, k->n_positive, k->n_zeros,
                     &r->risks[kind]);
        return CELLAR_OK;
    case CELLAR_RISK_EXPECTED: /* exact is done in lanes */
        group = kind_group(w, kind, presence, room);
        cellar_published_group(&group, w->options->method == CELLAR_RISK_PUBLISHED_2020,
                               &r->risks[kind]);
        return CELLAR_OK;
    case CELLAR_RISK_GLOBAL_FIXED:
        return kind_global_fixed(w, kind, r->lane, room, &r->risks[kind], err);
    case CELLAR_RISK_HARD:
    case CELLAR_RISK_SOFT:
        return cellar_threshold_assess(r->threshold, w->options->measure,
                                       w->groups->counts + k->first, k->n_positive, k->n_zeros,
                                       &r->risks[kind], err);
    case CELLAR_RISK_SHRINKAGE:
    case CELLAR_RISK_GLOBAL:
        break;
    }
    return kind_shrinkage(w, kind, presence, room, &r->risks[kind], err);
}

static cellar_status lane_range(void *context, size_t first, size_t last, int thread,
                                cellar_error *err)
{
    const lane_result *r = context;
    cellar_status status = CELLAR_OK;
    for (size_t kind = first; kind < last && status == CELLAR_OK; kind++)
        status = lane_kind(r, kind, &r->rooms[thread], err);
    return status;
}

/* Shrinkage knows a group by its size alone: kinds are taken by size and answers repeated. */
typedef struct size_order {
    const cellar_groups *groups;
    size_t kind;
} size_order;

static int size_compare(const void *left, const void *right)
{
    const size_order *a = left, *b = right;
    uint64_t x = a->groups->kinds[a->kind].size, y = b->groups->kinds[b->kind].size;
    return (x > y) - (x < y);
}

static cellar_status lane_by_size(lane_result *r, cellar_error *err)
{
    const assess_work *w = r->work;
    size_t n = w->groups->n_kinds;
    cellar_status status = CELLAR_OK;
    size_order *sorted = cellar_alloc(n, sizeof *sorted);
    size_t *order = cellar_alloc(n, sizeof *order);

    if (sorted == NULL || order == NULL) {
        status = cellar_fail_memory(err, "the risk of groups");
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = (size_order){w->groups, i};
    qsort(sorted, n, sizeof *sorted, size_compare);
    for (size_t i = 0; i < n; i++)
        order[i] = sorted[i].kind;
    for (size_t i = 0; i < n; i++)
        if (kind_repeats(w, order, i))
            r->risks[order[i]] = r->risks[order[i - 1]];
        else
            CELLAR_TRY(lane_kind(r, order[i], &r->rooms[0], err));
out:
    cellar_free(sorted);
    cellar_free(order);
    return status;
}

/* The laws of all counts of the table, for guesses. */
static cellar_status lane_threshold(const assess_work *w, size_t lane, cellar_threshold **out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = 1, n_all = 1;
    uint64_t *counts;
    for (size_t i = 0; i < w->groups->n_kinds; i++)
        n_all += w->groups->kinds[i].n_positive;
    counts = cellar_alloc(n_all, sizeof *counts);
    if (counts == NULL)
        return cellar_fail_memory(err, "the risk of guesses");
    for (size_t i = 0; i < w->groups->n_kinds; i++)
        for (size_t k = 0; k < w->groups->kinds[i].n_positive; k++)
            counts[n++] = w->groups->counts[w->groups->kinds[i].first + k];
    qsort(counts, n_all, sizeof *counts, cellar_order_u64);
    n = 1;
    for (size_t i = 1; i < n_all; i++)
        if (counts[i] != counts[n - 1])
            counts[n++] = counts[i];
    status = cellar_threshold_create(w->mechanisms[lane], counts, n, out, err);
    cellar_free(counts);
    return status;
}

static cellar_status lane_assess(const assess_work *w, size_t lane, lane_result *r,
                                 cellar_risk *mean, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_threshold *threshold = NULL;
    cellar_risk_measure measure = w->options->measure;

    r->lane = lane;
    if (measure == CELLAR_RISK_HARD || measure == CELLAR_RISK_SOFT)
        CELLAR_TRY(lane_threshold(w, lane, &threshold, err));
    r->threshold = threshold;
    if (measure == CELLAR_RISK_SHRINKAGE)
        CELLAR_TRY(lane_by_size(r, err));
    else
        CELLAR_TRY(cellar_pool_for(w->pool, w->groups->n_kinds, 64, lane_range, r, err));
    *mean = (cellar_risk){0};
    for (size_t i = 0; i < w->groups->n_kinds; i++) {
        cellar_risk_add(mean, &r->risks[i], w->weights[i]);
        w->values[i][lane] = r->risks[i].value;
    }
out:
    cellar_threshold_free(threshold);
    return status;
}

/* ---- a block of lanes ------------------------------------------------------------------------ */

static cellar_status rooms_create(const assess_work *w, kind_room **out, cellar_error *err)
{
    int n = cellar_pool_n_lanes(w->pool);
    kind_room *rooms = cellar_alloc((size_t) n, sizeof *rooms);
    *out = rooms;
    for (int i = 0; i < n && rooms != NULL; i++) {
        rooms[i].weights = cellar_alloc(w->groups->n_values, sizeof *rooms[i].weights);
        rooms[i].parts = cellar_alloc(w->groups->n_values, sizeof *rooms[i].parts);
        if (rooms[i].weights == NULL || rooms[i].parts == NULL)
            return cellar_fail_memory(err, "the risk of groups");
    }
    return rooms != NULL ? CELLAR_OK : cellar_fail_memory(err, "the risk of groups");
}

static void rooms_free(const assess_work *w, kind_room *rooms)
{
    for (int i = 0; i < cellar_pool_n_lanes(w->pool) && rooms != NULL; i++) {
        cellar_free(rooms[i].weights);
        cellar_free(rooms[i].parts);
    }
    cellar_free(rooms);
}

static cellar_status block_one_by_one(const assess_work *w, cellar_risk *means, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    lane_result r = {.work = w};

    r.risks = cellar_alloc(w->groups->n_kinds, sizeof *r.risks);
    if (r.risks == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    CELLAR_TRY(rooms_create(w, &r.rooms, err));
    for (size_t lane = 0; lane < w->n_lanes; lane++)
        CELLAR_TRY(lane_assess(w, lane, &r, &means[lane], err));
out:
    rooms_free(w, r.rooms);
    cellar_free(r.risks);
    return status;
}

/* Global: the same for every group, so once is enough. */
static cellar_status block_global(const assess_work *w, cellar_risk *means, cellar_error *err)
{
    cellar_risk_cell cell = cellar_risk_cell_default();
    cellar_status status = CELLAR_OK;
    cell.n_values = w->groups->n_values;
    cell.model = w->options->model;
    cell.prior = w->options->prior;
    for (size_t lane = 0; lane < w->n_lanes; lane++) {
        CELLAR_TRY(cellar_risk_cell_assess(&cell, w->mechanisms[lane], CELLAR_RISK_GLOBAL,
                                           w->options->method, &means[lane], err));
        for (size_t i = 0; i < w->groups->n_kinds; i++)
            w->values[i][lane] = means[lane].value;
    }
out:
    return status;
}

static cellar_status block_assess(assess_work *w, cellar_risk *means, cellar_error *err)
{
    const cellar_presence *presences[CELLAR_LANES];
    uint64_t largest = 0;

    for (size_t i = 0; i < w->groups->n_kinds; i++)
        if (w->groups->kinds[i].size > largest)
            largest = w->groups->kinds[i].size;
    for (size_t lane = 0; lane < w->n_lanes; lane++) {
        cellar_presence_init(&w->blocks[lane], w->mechanisms[lane],
                             largest > CELLAR_PRODUCT_MAX ? largest + 1 : CELLAR_PRODUCT_MAX + 1);
        if (w->options->zeros_stay)
            cellar_presence_keep_zeros(&w->blocks[lane]);
        presences[lane] = &w->blocks[lane];
    }
    if (w->options->measure == CELLAR_RISK_GLOBAL)
        return block_global(w, means, err);
    if (w->options->measure == CELLAR_RISK_EXPECTED && w->options->method == CELLAR_RISK_EXACT) {
        cellar_expected run = {w->groups, w->homogeneous, w->weights, presences, w->n_lanes};
        return cellar_expected_run(&run, w->pool, w->values, means, err);
    }
    return block_one_by_one(w, means, err);
}

/* ---- the summary ----------------------------------------------------------------------------- */

void cellar_risk_frame(const cellar_groups *g, cellar_risk_average average,
                       cellar_risk_summary *out)
{
    int by_person = average == CELLAR_RISK_BY_PERSON;
    out->baseline = by_person ? g->value_records[g->top_value] / (double) g->n_records
                              : g->value_shares[g->top_value] / (double) g->n_groups;
    out->original = by_person ? (double) g->n_homogeneous_records / (double) g->n_records
                              : (double) g->n_homogeneous / (double) g->n_groups;
    out->difference = out->mean.precision - out->baseline;
}

typedef struct summary_work {
    const assess_work *work;
    const cellar_risk *means;
    cellar_risk_summary *out;
} summary_work;

static cellar_status summary_range(void *context, size_t first, size_t last, int thread,
                                   cellar_error *err)
{
    const summary_work *s = context;
    const assess_work *w = s->work;
    size_t n = w->groups->n_kinds;
    double *values = cellar_alloc(n, sizeof *values), levels[CELLAR_RISK_N_QUANTILES];
    cellar_weighted weighted = {values, w->weights, n};
    cellar_status status = CELLAR_OK;

    (void) thread;
    if (values == NULL)
        return cellar_fail_memory(err, "quantiles");
    for (size_t i = 0; i < CELLAR_RISK_N_QUANTILES; i++)
        levels[i] = cellar_risk_quantile_level(i);
    for (size_t lane = first; lane < last && status == CELLAR_OK; lane++) {
        cellar_risk_summary *out = &s->out[lane];
        for (size_t i = 0; i < n; i++)
            values[i] = w->values[i][lane];
        out->mean = s->means[lane];
        out->sd = NAN;
        cellar_risk_frame(w->groups, w->options->average, out);
        status = cellar_weighted_quantiles(&weighted, levels, CELLAR_RISK_N_QUANTILES,
                                           out->quantiles, &out->maximum, err);
    }
    cellar_free(values);
    return status;
}

static cellar_status block_summaries(const assess_work *w, const cellar_risk *means,
                                     cellar_risk_summary *out, cellar_error *err)
{
    summary_work s = {w, means, out};
    return cellar_pool_for(w->pool, w->n_lanes, 1, summary_range, &s, err);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static cellar_status assess_check(const cellar_groups *groups,
                                  const cellar_mechanism *const *mechanisms, size_t n,
                                  const cellar_risk_options *o, cellar_error *err)
{
    int is_global = o->measure == CELLAR_RISK_GLOBAL || o->measure == CELLAR_RISK_GLOBAL_FIXED;
    int is_given = o->measure == CELLAR_RISK_LOCAL || o->measure == CELLAR_RISK_HARD ||
                   o->measure == CELLAR_RISK_SOFT;
    double prior = 0;
    if ((o->measure == CELLAR_RISK_SHRINKAGE || o->measure == CELLAR_RISK_GLOBAL) &&
        o->prior == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s risk needs a prior",
                           cellar_risk_measure_name(o->measure));
    for (size_t i = 0; i < groups->n_values && o->prior != NULL; i++) {
        prior += o->prior[i];
        if (!(o->prior[i] >= 0) || !isfinite(o->prior[i]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a prior's parameters must not be negative");
    }
    if (o->prior != NULL && prior <= 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a prior needs a positive parameter");
    if (is_global && o->model == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s risk needs a size model",
                           cellar_risk_measure_name(o->measure));
    if (is_global && cellar_size_model_check(o->model, err) != CELLAR_OK)
        return CELLAR_ERR_ARGUMENT;
    if (o->zeros_stay &&
        (is_global || o->measure == CELLAR_RISK_HARD || o->measure == CELLAR_RISK_SOFT) &&
        o->method != CELLAR_RISK_SIMULATE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s risk of cell keys is not computed; hard and soft are simulated",
                           cellar_risk_measure_name(o->measure));
    if (o->method == CELLAR_RISK_SIMULATE && !is_given && o->measure != CELLAR_RISK_EXPECTED)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "copies of a table give its local, expected, hard or soft risk");
    if (o->method == CELLAR_RISK_SIMULATE && o->copies < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "simulate at least two copies");
    for (size_t i = 0;
         i < n && (o->method == CELLAR_RISK_PUBLISHED || o->method == CELLAR_RISK_PUBLISHED_2020);
         i++)
        if (is_given || !cellar_published_knows(mechanisms[i]))
            return cellar_fail(
                err, CELLAR_ERR_ARGUMENT, "the papers have no %s risk of mechanism %s",
                cellar_risk_measure_name(o->measure), cellar_mechanism_name(mechanisms[i]));
    return CELLAR_OK;
}

static cellar_status assess_init(assess_work *w, cellar_error *err)
{
    const cellar_groups *g = w->groups;
    w->weights = cellar_alloc(g->n_kinds, sizeof *w->weights);
    w->homogeneous = cellar_alloc(g->n_kinds, sizeof *w->homogeneous);
    w->values = cellar_alloc_pages(g->n_kinds * sizeof *w->values);
    w->blocks = cellar_alloc(CELLAR_LANES, sizeof *w->blocks);
    if (w->weights == NULL || w->homogeneous == NULL || w->values == NULL || w->blocks == NULL)
        return cellar_fail_memory(err, "the risk of groups");
    for (size_t i = 0; i < g->n_kinds; i++)
        w->weights[i] =
            w->options->average == CELLAR_RISK_BY_PERSON
                ? (double) g->kinds[i].times * (double) g->kinds[i].size / (double) g->n_records
                : (double) g->kinds[i].times / (double) g->n_groups;
    if (w->options->measure == CELLAR_RISK_EXPECTED)
        cellar_expected_homogeneous(g, w->homogeneous);
    return cellar_pool_create(w->options->n_threads, &w->pool, err);
}

static cellar_status assess_simulate(assess_work *w, size_t n, cellar_risk_summary *out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(cellar_simulate(w->groups, w->mechanisms[i], w->options, w->pool, w->weights,
                                   &out[i], err));
        cellar_risk_frame(w->groups, w->options->average, &out[i]);
    }
out:
    return status;
}

cellar_risk_options cellar_risk_options_default(void)
{
    return (cellar_risk_options){.measure = CELLAR_RISK_LOCAL,
                                 .method = CELLAR_RISK_EXACT,
                                 .average = CELLAR_RISK_BY_GROUP,
                                 .copies = 500,
                                 .seed = 1};
}

cellar_status cellar_risk_assess(const cellar_groups *groups,
                                 const cellar_mechanism *const *mechanisms, size_t n_mechanisms,
                                 const cellar_risk_options *options, cellar_risk_summary *out,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    assess_work w = {.groups = groups, .options = options, .mechanisms = mechanisms};

    CELLAR_TRY(assess_check(groups, mechanisms, n_mechanisms, options, err));
    CELLAR_TRY(assess_init(&w, err));
    if (options->method == CELLAR_RISK_SIMULATE) {
        CELLAR_TRY(assess_simulate(&w, n_mechanisms, out, err));
        goto out;
    }
    for (size_t first = 0; first < n_mechanisms; first += CELLAR_LANES) {
        cellar_risk means[CELLAR_LANES];
        if (options->progress.report != NULL &&
            options->progress.report(options->progress.context, "assessing",
                                     (double) first / (double) n_mechanisms)) {
            status = cellar_fail(err, CELLAR_ERR_CANCELLED, "the assessment was cancelled");
            goto out;
        }
        w.mechanisms = mechanisms + first;
        w.n_lanes = n_mechanisms - first < CELLAR_LANES ? n_mechanisms - first : CELLAR_LANES;
        CELLAR_TRY(block_assess(&w, means, err));
        CELLAR_TRY(block_summaries(&w, means, out + first, err));
    }
out:
    cellar_pool_free(w.pool);
    cellar_free(w.weights);
    cellar_free(w.homogeneous);
    cellar_free(w.values);
    cellar_free(w.blocks);
    return status;
}
