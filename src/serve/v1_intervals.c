/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals of the cells of a table, of any confidence, each or all together, and of the share that
 * each cell has in its row, its column or the whole:
 * GET /v1/tables/DATASET/TABLE/intervals, and /v1/datasets/DATASET/intervals of any selection. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inference/weighted_noise.h"
#include "serve/selection.h"
#include "serve/v1.h"

enum { SHARE_CELLS = 1000 }; /* whose intervals are searched for one by one: 2 ms each */

/* What is asked. */
typedef struct asked {
    double confidence, tail; /* of one interval: how often it misses */
    int is_simultaneous;
    const char *share;       /* "row", "column", "total"; NULL: values */
    serve_question question; /* cells */
    serve_question whole;    /* what they are shares of: the question without some of its sides */
    size_t side_of[CELLAR_MAX_VARIABLES]; /* of each side of the whole: that of the question */
} asked;

/* ---- reading -------------------------------------------------------------------------- */

static cellar_status read_options(const serve_call *call, asked *a, cellar_error *err)
{
    const char *confidence = serve_parameter_find(call, "confidence");
    const char *simultaneous = serve_parameter_find(call, "simultaneous");
    a->share = serve_parameter_find(call, "share");
    a->is_simultaneous = simultaneous != NULL && strcmp(simultaneous, "true") == 0;
    if (simultaneous != NULL && !a->is_simultaneous && strcmp(simultaneous, "false") != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "'simultaneous' is true or false.");
    if (a->share != NULL && strcmp(a->share, "row") != 0 && strcmp(a->share, "column") != 0 &&
        strcmp(a->share, "total") != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "'share' is row, column or total.");
    return v1_read_confidence(confidence != NULL ? strtod(confidence, NULL) : 0.95, &a->confidence,
                              err);
}

/* The question without the columns (share of a row), the rows, or all. */
static void make_whole(asked *a)
{
    const serve_question *q = &a->question;
    a->whole = (serve_question){
        .dataset = q->dataset, .language = q->language, .contents = {SERVE_COUNT}, .n_contents = 1};
    for (size_t i = 0; i < q->n_sides; i++) {
        const int is_row = i + (i >= q->contents_at) < q->n_stub;
        if (strcmp(a->share, is_row ? "row" : "column") == 0) {
            a->side_of[a->whole.n_sides] = i;
            a->whole.sides[a->whole.n_sides++] = q->sides[i];
        }
    }
}

/* `table` is NULL where the query has a selection; places are those of the query in both cases. */
static cellar_status read_question(const serve_call *call, const serve_dataset *dataset,
                                   const serve_table *table, asked *a, cellar_error *err)
{
    serve_choices *choices = cellar_arena_alloc(call->arena, 1, sizeof *choices);
    uint64_t n;
    cellar_status status = CELLAR_OK;
    if (choices == NULL)
        return cellar_fail_memory(err, "a request");
    CELLAR_TRY(serve_selection_of_query(call, choices, err));
    if (table != NULL) {
        const serve_codes stub = choices->stub, heading = choices->heading;
        serve_choices_of_table(dataset, table, choices);
        choices->stub = stub;
        choices->heading = heading;
    }
    CELLAR_TRY(
        serve_choices_question(dataset, choices, call->language, call->arena, &a->question, err));
    n = serve_question_n_cells(&a->question);
    a->tail = (1 - a->confidence) / (a->is_simultaneous ? (double) n : 1);
    if (a->tail < 2 * CELLAR_SMALLEST_TAIL)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "So many intervals cannot hold together with this confidence.");
    else if (a->share != NULL)
        make_whole(a);
out:
    return status;
}

/* ---- shares --------------------------------------------------------------------------------- */

/* A set of cells: one pick of each side. */
typedef struct cell_set {
    serve_cut cut;
    serve_side sides[CELLAR_MAX_VARIABLES];
} cell_set;

static void set_begin(cell_set *set, const serve_dataset *dataset)
{
    set->cut = (serve_cut){.dataset = dataset, .sides = set->sides};
}

static void set_add(cell_set *set, const serve_side *side, size_t pick)
{
    if (set->cut.dataset->variables[side->variable].is_constant)
        return;
    set->cut.table.levels[side->variable] = (unsigned char) side->picks[pick].level;
    set->sides[set->cut.n_sides++] = (serve_side){side->variable, &side->picks[pick], 1};
}

/* 1 when a pick takes every category of its level. */
static int is_everything(const serve_dataset *dataset, const serve_side *side, size_t pick)
{
    const serve_pick *p = &side->picks[pick];
    return p->n_members == dataset->variables[side->variable].levels[p->level - 1].n_categories;
}

/* Where no distribution of both together is known, and in large tables: each interval misses with
 * half the probability, so that the ratios between their ends hold with all of it, however the two
 * depend on each other (Bonferroni). */
static serve_value share_of_bounds(const serve_value *part, const serve_value *whole)
{
    serve_value share = {.count = part->count / whole->count, .low = NAN, .high = NAN};
    if (whole->count <= 0)
        share.count = NAN;
    if (whole->low > 0 && isfinite(part->low) && isfinite(part->high)) {
        const double low = fmax(0, part->low), high = fmax(0, part->high);
        share.low = fmin(1, low / whole->high);
        share.high = fmin(1, high / whole->low);
    }
    return share;
}

/* The share of one cell. `part` and `whole` are values with intervals of half the tail. */
static cellar_status find_share(const asked *a, size_t cell, size_t n_cells,
                                const serve_value *part, const serve_value *wholes,
                                serve_value *out, cellar_error *err)
{
    const serve_question *q = &a->question;
    const serve_source *source = q->dataset->source;
    size_t pick[CELLAR_MAX_VARIABLES], rest = cell, at = 0, kept = 0;
    cellar_cube_finding found;
    cell_set first, second;
    int is_whole = 1;
    cellar_status status = CELLAR_ERR_RULE;
    for (size_t i = q->n_sides; i-- > 0; rest /= q->sides[i].n_picks)
        pick[i] = rest % q->sides[i].n_picks;
    set_begin(&first, q->dataset);
    set_begin(&second, q->dataset);
    for (size_t i = 0; i < q->n_sides; i++) {
        set_add(&first, &q->sides[i], pick[i]);
        if (kept < a->whole.n_sides && a->side_of[kept] == i) {
            set_add(&second, &q->sides[i], pick[i]);
            at = at * q->sides[i].n_picks + pick[i];
            kept++;
        } else
            is_whole &= is_everything(q->dataset, &q->sides[i], pick[i]);
    }
    if (is_whole) {
        *out = (serve_value){.count = 1, .low = 1, .high = 1};
        return CELLAR_OK;
    }
    *out = share_of_bounds(part, &wholes[at]);
    if (source->ops->compare != NULL && n_cells <= SHARE_CELLS)
        status = source->ops->compare(source, &first.cut, CELLAR_COMPARE_PROPORTION, &second.cut,
                                      1 - a->tail, &found, err);
    if (status == CELLAR_OK)
        *out = (serve_value){.count = found.estimate, .low = found.low, .high = found.high};
    return status == CELLAR_ERR_RULE ? CELLAR_OK : status; /* noise that is not added */
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static void write_variables(const serve_question *question, cellar_text *out)
{
    serve_json_name(out, "variables");
    serve_json_open(out, '[');
    for (size_t i = 0; i < question->n_sides; i++) {
        const serve_side *side = &question->sides[i];
        serve_json_open(out, '{');
        serve_json_pair(out, "code", question->dataset->variables[side->variable].code);
        serve_json_name(out, "categories");
        serve_json_open(out, '[');
        for (size_t p = 0; p < side->n_picks; p++)
            serve_json_string(out, side->picks[p].code);
        serve_json_close(out, ']');
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
}

static void write_number(cellar_text *out, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.10g", number);
    serve_json_raw(out, isfinite(number) ? text : "null");
}

static void write_values(cellar_text *out, const serve_value *values, size_t n)
{
    static const char *const names[] = {"value", "low", "high"};
    for (size_t which = 0; which < 3; which++) {
        serve_json_name(out, names[which]);
        serve_json_open(out, '[');
        for (size_t k = 0; k < n; k++)
            write_number(out, which == 0   ? values[k].count
                              : which == 1 ? values[k].low
                                           : values[k].high);
        serve_json_close(out, ']');
    }
}

static void write_answer(const asked *a, const serve_answer *answer, cellar_text *out)
{
    serve_json_open(out, '{');
    serve_json_pair(out, "dataset", a->question.dataset->id);
    v1_number(out, "confidence", a->confidence);
    v1_bool(out, "simultaneous", a->is_simultaneous);
    serve_json_pair(out, "share", a->share);
    serve_json_pair(out, "note", SERVE_INTERVAL_NOTE);
    write_variables(&a->question, out);
    write_values(out, answer->values, answer->n_values);
    serve_json_close(out, '}');
}

/* ---- answering
 * ----------------------------------------------------------------------------------- */

static cellar_status answer_asked(const asked *a, serve_reply *reply, cellar_error *err)
{
    const double tail = a->share != NULL ? a->tail / 2 : a->tail;
    serve_answer cells = {0}, wholes = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_answer_question(&a->question, tail, &cells, err));
    if (a->share != NULL && !cells.is_refused)
        CELLAR_TRY(serve_answer_question(&a->whole, tail, &wholes, err));
    if (cells.is_refused || wholes.is_refused) {
        status = serve_reply_refusal(reply, a->question.dataset,
                                     cells.is_refused ? &cells.refusal : &wholes.refusal);
        goto out;
    }
    for (size_t k = 0; a->share != NULL && k < cells.n_values; k++) {
        const serve_value part = cells.values[k];
        CELLAR_TRY(find_share(a, k, cells.n_values, &part, wholes.values, &cells.values[k], err));
    }
    write_answer(a, &cells, &reply->body);
    reply->is_immutable = cells.is_immutable && (a->share == NULL || wholes.is_immutable);
    status = v1_finish(reply);
out:
    serve_answer_clear(&cells);
    serve_answer_clear(&wholes);
    return status;
}

cellar_status v1_intervals(cellar_site *site, const serve_call *call, serve_reply *reply,
                           cellar_error *err)
{
    const int is_table = strcmp(call->segments[0], "tables") == 0;
    asked *a = cellar_arena_alloc(call->arena, 1, sizeof *a);
    serve_table table;
    cellar_error why;
    cellar_status status = CELLAR_OK;
    const serve_dataset *dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    if (dataset == NULL)
        return status;
    if (a == NULL)
        return cellar_fail_memory(err, "a request");
    if (is_table && serve_table_parse(dataset, call->segments[2], &table, &why) != CELLAR_OK)
        return serve_reply_problem(reply, 404, "%s.", why.message);
    CELLAR_TRY(read_options(call, a, err));
    CELLAR_TRY(read_question(call, dataset, is_table ? &table : NULL, a, err));
    CELLAR_TRY(answer_asked(a, reply, err));
out:
    return status;
}
