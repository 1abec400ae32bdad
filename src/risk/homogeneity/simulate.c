/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/simulate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/flint.h"
#include "risk/homogeneity/group.h"
#include "risk/homogeneity/multinomial.h"
#include "risk/homogeneity/quantile.h"

enum {
    PIECE_CELLS = 1 << 15, /* drawn at once: they stay in the cache */
    STREAM_CELLS = 1 << 20 /* drawn from one stream: making one takes a while */
};
#define KIND_UNIT 0x1p-30 /* successes of a kind are added as whole numbers, in any order */

/* Kinds are cut into pieces of about so many cells; a kind with many groups may span several. */
typedef struct piece {
    size_t kind;
    uint64_t done; /* groups of that kind in earlier pieces */
    size_t n_groups;
    size_t n_cells;
} piece;

struct attacked_group;
typedef struct simulation {
    const cellar_groups *groups;
    const cellar_mechanism *mechanism;
    const cellar_risk_options *options;
    const double *weights;
    piece *pieces;
    size_t n_pieces;
    size_t n_jobs;       /* pieces of all copies */
    size_t per_stream;   /* jobs of one stream: depends on the groups alone */
    uint64_t *kind_sums; /* [thread][kind]: groups attacked with success, in KIND_UNIT */
    cellar_risk *copies; /* [copy * n_pieces + piece] */
    int64_t *cells;      /* [thread]: PIECE_CELLS + one group, twice */
    size_t n_cells;      /* of one thread's room */
    void (*attack)(const struct attacked_group *group, cellar_risk *out);
    int has_scenarios; /* the attack claims a value or none: local and expected */
} simulation;

/* ---- cutting ------------------------------------------------------------- */

static size_t kind_n_cells(const cellar_group_kind *kind)
{
    return kind->n_positive + (size_t) kind->n_zeros;
}

/* A piece runs over groups from (kind, done) on until it has enough cells. */
static size_t piece_make(const cellar_groups *g, size_t *kind, uint64_t *done, piece *out)
{
    *out = (piece){.kind = *kind, .done = *done};
    while (*kind < g->n_kinds && out->n_cells < PIECE_CELLS) {
        size_t width = kind_n_cells(&g->kinds[*kind]);
        uint64_t room = (PIECE_CELLS - out->n_cells) / width + 1;
        uint64_t left = g->kinds[*kind].times - *done, take = left < room ? left : room;
        out->n_groups += (size_t) take;
        out->n_cells += (size_t) take * width;
        *done += take;
        if (*done == g->kinds[*kind].times) {
            ++*kind;
            *done = 0;
        }
    }
    return out->n_cells;
}

static cellar_status simulation_cut(simulation *s, cellar_error *err)
{
    size_t kind = 0, capacity = 0;
    uint64_t done = 0;
    while (kind < s->groups->n_kinds) {
        size_t n_cells;
        if (!cellar_grow(&s->pieces, &capacity, s->n_pieces + 1, sizeof *s->pieces))
            return cellar_fail_memory(err, "simulated copies");
        n_cells = piece_make(s->groups, &kind, &done, &s->pieces[s->n_pieces++]);
        if (n_cells > s->n_cells)
            s->n_cells = n_cells;
    }
    return CELLAR_OK;
}

/* ---- attacking ----------------------------------------------------------- */

/* A group's released numbers beside its true ones, attacked as the measure says. */
typedef struct attacked_group {
    const int64_t *released, *truth;
    size_t n_cells;
    double size;
} attacked_group;

static void attack_claim(const attacked_group *g, cellar_risk *out)
{
    size_t n_shown = 0, shown = 0, n_true = 0;
    int scenario, is_one;
    for (size_t i = 0; i < g->n_cells; i++) {
        int present = g->released[i] > 0;
        n_shown += (size_t) present;
        shown = present ? i : shown;
        n_true += (size_t) (g->truth[i] > 0);
    }
    is_one = n_true == 1;
    if (n_shown == 1)
        scenario = g->truth[shown] > 0 ? (is_one ? 1 : 8) : (is_one ? 2 : 7);
    else
        scenario = n_shown == 0 ? (is_one ? 4 : 6) : (is_one ? 3 : 5);
    out->scenario[scenario - 1] += 1;
    if (n_shown == 1)
        out->right += (double) g->truth[shown] / g->size;
}

static void attack_hard(const attacked_group *g, cellar_risk *out)
{
    int64_t most = 0;
    double n_most = 0, members = 0;
    for (size_t i = 0; i < g->n_cells; i++) {
        if (g->released[i] > most) {
            most = g->released[i];
            n_most = members = 0;
        }
        if (g->released[i] == most && most > 0) {
            n_most++;
            members += (double) g->truth[i];
        }
    }
    if (n_most > 0) {
        out->claim += 1;
        out->right += members / n_most / g->size;
    }
}

static void attack_soft(const attacked_group *g, cellar_risk *out)
{
    double sum = 0, hit = 0;
    for (size_t i = 0; i < g->n_cells; i++) {
        double number = g->released[i] > 0 ? (double) g->released[i] : 0;
        sum += number;
        hit += number * (double) g->truth[i];
    }
    if (sum > 0) {
        out->claim += 1;
        out->right += hit / sum / g->size;
    }
}

/* ---- pieces of copies ---------------------------------------------------- */

/* The true counts of a piece: those of the table, or for the expected risk drawn with its shares.
 */
static cellar_status piece_fill(const simulation *s, const piece *p, cellar_rng *rng,
                                int64_t *cells, cellar_error *err)
{
    size_t kind = p->kind;
    uint64_t done = p->done;
    cellar_status status = CELLAR_OK;
    for (size_t left = p->n_groups; left > 0 && status == CELLAR_OK; left--) {
        const cellar_group_kind *k = &s->groups->kinds[kind];
        const uint64_t *counts = s->groups->counts + k->first;
        if (s->options->measure == CELLAR_RISK_EXPECTED)
            status = cellar_multinomial_draw(counts, k->n_positive, k->size, rng, cells, err);
        for (size_t i = 0; i < k->n_positive && s->options->measure != CELLAR_RISK_EXPECTED; i++)
            cells[i] = (int64_t) counts[i];
        memset(cells + k->n_positive, 0, (size_t) k->n_zeros * sizeof *cells);
        cells += kind_n_cells(k);
        if (++done == k->times) {
            kind++;
            done = 0;
        }
    }
    return status;
}

/* The groups' weighted sums, and for each kind how often it was attacked with success. */
static void piece_attack(const simulation *s, const piece *p, const int64_t *truth,
                         const int64_t *released, uint64_t *kind_sums, cellar_risk *out)
{
    size_t kind = p->kind, left = p->n_groups;
    uint64_t done = p->done;
    *out = (cellar_risk){0};
    while (left > 0) {
        const cellar_group_kind *k = &s->groups->kinds[kind];
        uint64_t here = k->times - done < left ? k->times - done : left;
        attacked_group g = {released, truth, kind_n_cells(k), (double) k->size};
        double weight = s->weights[kind] / (double) k->times, success;
        cellar_risk sum = {0};
        for (uint64_t i = 0; i < here; i++, g.released += g.n_cells, g.truth += g.n_cells)
            s->attack(&g, &sum);
        released = g.released;
        truth = g.truth;
        success = s->has_scenarios ? sum.scenario[0] + sum.scenario[7] : sum.right;
        for (int i = 0; i < CELLAR_RISK_N_SCENARIOS; i++)
            out->scenario[i] += weight * sum.scenario[i];
        out->claim += weight * sum.claim;
        out->right += weight * sum.right;
        kind_sums[kind] += (uint64_t) (success / KIND_UNIT);
        left -= (size_t) here;
        kind++;
        done = 0;
    }
}

static cellar_status simulation_job(simulation *s, size_t job, int thread, cellar_rng *rng,
                                    cellar_error *err)
{
    const piece *p = &s->pieces[job % s->n_pieces];
    int64_t *cells = s->cells + 2 * s->n_cells * (size_t) thread, *released = cells + s->n_cells;
    cellar_status status = piece_fill(s, p, rng, cells, err);

    if (status == CELLAR_OK)
        status = cellar_mechanism_sample_many(s->mechanism, cells, p->n_cells, rng, released, err);
    for (size_t i = 0; i < p->n_cells && s->options->zeros_stay && status == CELLAR_OK; i++)
        released[i] = cells[i] == 0 ? 0 : released[i];
    if (status == CELLAR_OK)
        piece_attack(s, p, cells, released, s->kind_sums + (size_t) thread * s->groups->n_kinds,
                     &s->copies[job]);
    return status;
}

static cellar_status simulation_range(void *context, size_t first, size_t last, int thread,
                                      cellar_error *err)
{
    simulation *s = context;
    cellar_status status = CELLAR_OK;

    for (size_t stream = first; stream < last && status == CELLAR_OK; stream++) {
        size_t begin = stream * s->per_stream, end = begin + s->per_stream;
        cellar_rng *rng = NULL;
        status = cellar_rng_create_seeded(s->options->seed, stream, &rng, err);
        for (size_t job = begin; job < end && job < s->n_jobs && status == CELLAR_OK; job++)
            status = simulation_job(s, job, thread, rng, err);
        cellar_rng_free(rng);
    }
    return status;
}

/* Samplers prove their thresholds when first needed, with numbers that Arb keeps for each thread:
 * threads that end must give them back. */
static cellar_status simulation_forget(void *context, int thread, cellar_error *err)
{
    (void) context;
    (void) err;
    if (thread > 0)
        flint_cleanup();
    return CELLAR_OK;
}

/* ---- the answer ---------------------------------------------------------- */

/* The value of one copy, and all it adds to the mean. */
static double copy_value(const simulation *s, size_t copy, cellar_risk *mean)
{
    double value = 0;
    for (size_t i = 0; i < s->n_pieces; i++) {
        const cellar_risk *piece_sum = &s->copies[copy * s->n_pieces + i];
        for (int k = 0; k < CELLAR_RISK_N_SCENARIOS; k++)
            mean->scenario[k] += piece_sum->scenario[k];
        mean->claim += piece_sum->claim;
        mean->right += piece_sum->right;
        value +=
            s->has_scenarios ? piece_sum->scenario[0] + piece_sum->scenario[7] : piece_sum->right;
    }
    return value;
}

static void simulation_mean(const simulation *s, cellar_risk_summary *out)
{
    double copies = (double) s->options->copies, sum = 0, squares = 0, mean;
    cellar_risk *risk = &out->mean;
    *risk = (cellar_risk){0};
    for (size_t copy = 0; copy < s->options->copies; copy++) {
        double value = copy_value(s, copy, risk), away;
        away = value - (copy == 0 ? value : sum / (double) copy);
        squares += copy == 0 ? 0 : away * away * (double) copy / ((double) copy + 1);
        sum += value;
    }
    mean = sum / copies;
    out->sd = sqrt(squares / (copies - 1));
    risk->right /= copies;
    risk->claim /= copies;
    for (int k = 0; k < CELLAR_RISK_N_SCENARIOS; k++)
        risk->scenario[k] = s->has_scenarios ? risk->scenario[k] / copies : NAN;
    if (s->has_scenarios)
        risk->claim = risk->scenario[0] + risk->scenario[1] + risk->scenario[6] + risk->scenario[7];
    risk->value = mean;
    risk->false_claim = risk->claim - risk->right;
    risk->precision = risk->claim > 0 ? risk->right / risk->claim : NAN;
}

static cellar_status simulation_quantiles(const simulation *s, size_t n_threads,
                                          cellar_risk_summary *out, cellar_error *err)
{
    double levels[CELLAR_RISK_N_QUANTILES];
    size_t n = s->groups->n_kinds;
    double *risks = cellar_alloc(n, sizeof *risks);
    cellar_weighted values = {risks, s->weights, n};
    cellar_status status;

    if (risks == NULL)
        return cellar_fail_memory(err, "simulated copies");
    for (size_t i = 0; i < n; i++) {
        uint64_t sum = 0;
        for (size_t t = 0; t < n_threads; t++)
            sum += s->kind_sums[t * n + i];
        risks[i] = (double) sum * KIND_UNIT /
                   ((double) s->groups->kinds[i].times * (double) s->options->copies);
    }
    for (size_t i = 0; i < CELLAR_RISK_N_QUANTILES; i++)
        levels[i] = cellar_risk_quantile_level(i);
    status = cellar_weighted_quantiles(&values, levels, CELLAR_RISK_N_QUANTILES, out->quantiles,
                                       &out->maximum, err);
    cellar_free(risks);
    return status;
}

cellar_status cellar_simulate(const cellar_groups *groups, const cellar_mechanism *mechanism,
                              const cellar_risk_options *options, cellar_pool *pool,
                              const double *weights, cellar_risk_summary *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    simulation s = {
        .groups = groups, .mechanism = mechanism, .options = options, .weights = weights};
    size_t n_threads = (size_t) cellar_pool_n_lanes(pool);

    s.has_scenarios = options->measure != CELLAR_RISK_HARD && options->measure != CELLAR_RISK_SOFT;
    s.attack = s.has_scenarios                        ? attack_claim
               : options->measure == CELLAR_RISK_HARD ? attack_hard
                                                      : attack_soft;
    CELLAR_TRY(simulation_cut(&s, err));
    if (__builtin_mul_overflow(s.n_pieces, options->copies, &s.n_jobs)) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "so many copies cannot be simulated");
        goto out;
    }
    s.kind_sums = cellar_alloc(n_threads * groups->n_kinds, sizeof *s.kind_sums);
    s.copies = cellar_alloc(s.n_jobs, sizeof *s.copies);
    s.cells = cellar_alloc(n_threads * 2 * s.n_cells, sizeof *s.cells);
    if (s.kind_sums == NULL || s.copies == NULL || s.cells == NULL) {
        status = cellar_fail_memory(err, "simulated copies");
        goto out;
    }
    s.per_stream = STREAM_CELLS / s.n_cells + 1;
    status = cellar_pool_for(pool, (s.n_jobs + s.per_stream - 1) / s.per_stream, 1,
                             simulation_range, &s, err);
    cellar_pool_run(pool, simulation_forget, NULL, NULL);
    if (status != CELLAR_OK)
        goto out;
    simulation_mean(&s, out);
    CELLAR_TRY(simulation_quantiles(&s, n_threads, out, err));
out:
    cellar_free(s.pieces);
    cellar_free(s.kind_sums);
    cellar_free(s.copies);
    cellar_free(s.cells);
    return status;
}
