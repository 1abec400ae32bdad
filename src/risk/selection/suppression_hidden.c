/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/selection/redaction.h"
#include "risk/selection/selection_search.h"
#include "risk/selection/suppressor.h"

/* Rules that redact m entries of a column are hidden by chance: everybody else redacts it with the
 * probability that makes the rules' share of its redactions `hide`, m (1-hide) / (hide (n-m)). That
 * loses m/hide entries. From m = hide n on it loses all n, and then the column is dropped:
 * everybody redacts it, no rule is needed, and a redaction tells nothing.
 *
 * Chance makes new rare rows and blurs old ones, so the expected exposure neither falls nor rises
 * as rules are added, and the search for rules alone does not help. Instead plans are looked at in
 * order of what they lose: the first that will do is the best, and where the search stops is a
 * lower bound for it. Good plans come first from sets of dropped columns and from rules alone for
 * various limits, without the rules that turn out not to be needed. */

enum { MAX_ITEMS = 64, MAX_POPS = 1000000 };

/* Rows tested by default, over all plans. */
static const double max_tests = 1e9;

/* Two losses that differ by less are the same. */
static const double loss_rounding = 1e-9;

typedef struct hider {
    suppressor *s;
    double people, hide, limit;
    double *chance;           /* by column, of the plan at hand */
    uint64_t *ruled;          /* by column: entries redacted by rule */
    double cost, after_rules; /* of the plan at hand */
    struct {
        unsigned char *kept, *dropped;
        double cost, after, after_rules;
    } best;
    double lower; /* every plan that will do loses at least this */
} hider;

/* ---- one plan --------------------------------------------------------------- */

/* What the plan loses; columns that rules would empty are dropped instead. */
static void hider_price(hider *h)
{
    suppressor *s = h->s;
    size_t n_columns = s->profiles->n_columns;
    memset(h->ruled, 0, n_columns * sizeof *h->ruled);
    for (size_t i = 0; i < s->n_pairs; i++)
        if (!s->kept[i])
            h->ruled[s->pairs[i].column] += s->pairs[i].n_people;
    for (size_t c = 0; c < n_columns; c++)
        if ((double) h->ruled[c] >= h->hide * h->people)
            s->dropped[c] = 1;
    for (size_t i = 0; i < s->n_pairs; i++)
        s->kept[i] |= s->dropped[s->pairs[i].column];
    h->cost = 0;
    for (size_t c = 0; c < n_columns; c++) {
        double m = s->dropped[c] ? 0 : (double) h->ruled[c];
        h->ruled[c] = (uint64_t) m;
        h->chance[c] = m * (1 - h->hide) / (h->hide * (h->people - m));
        h->cost += s->dropped[c] ? h->people : m / h->hide;
    }
}

/* The expected exposure of the plan at hand, NAN when it is too much to add up. */
static cellar_status hider_evaluate(hider *h, double *after, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_suppressor_exposure(h->s, &h->after_rules, err));
    CELLAR_TRY(cellar_redaction_expected(h->s->profiles, h->s->relabelled, h->chance,
                                         h->s->options->k, after, err));
out:
    return status;
}

static void hider_save(hider *h, double after)
{
    memcpy(h->best.kept, h->s->kept, h->s->n_pairs);
    memcpy(h->best.dropped, h->s->dropped, h->s->profiles->n_columns);
    h->best.cost = h->cost;
    h->best.after = after;
    h->best.after_rules = h->after_rules;
}

static void hider_recall(hider *h)
{
    memcpy(h->s->kept, h->best.kept, h->s->n_pairs);
    memcpy(h->s->dropped, h->best.dropped, h->s->profiles->n_columns);
    hider_price(h);
}

static int hider_is_cheaper(const hider *h, double cost)
{
    return cost < h->best.cost - loss_rounding * h->people;
}

/* Keeps the plan at hand if it will do and is the cheapest so far. */
static cellar_status hider_consider(hider *h, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    double after;
    hider_price(h);
    if (!hider_is_cheaper(h, h->cost) || suppressor_is_over(h->s))
        return CELLAR_OK;
    CELLAR_TRY(hider_evaluate(h, &after, err));
    if (after <= h->limit * (1 + 1e-12))
        hider_save(h, after);
out:
    return status;
}

/* ---- good plans ------------------------------------------------------------- */

static void hider_keep_columns(hider *h, uint64_t columns)
{
    memset(h->s->kept, 1, h->s->n_pairs);
    for (size_t c = 0; c < h->s->profiles->n_columns; c++)
        h->s->dropped[c] = (columns >> c & 1) == 0;
}

static cellar_status hider_columns_value(void *context, uint64_t set, double *value,
                                         cellar_error *err)
{
    hider_keep_columns(context, set);
    return cellar_suppressor_exposure(((hider *) context)->s, value, err);
}

/* As few dropped columns as possible, and no rules. With all of them dropped nobody is exposed. */
static cellar_status hider_drop(hider *h, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    suppressor *s = h->s;
    double weights[CELLAR_MAX_VARIABLES];
    cellar_selection_set best = {0};
    selection_result result = {.sets = &best};
    selection_problem problem = {.n_items = s->profiles->n_columns,
                                 .weights = weights,
                                 .limit = h->limit,
                                 .n_wanted = 1,
                                 .max_evaluations = (s->max_evaluations - s->n_evaluations) / 4 + 1,
                                 .value = hider_columns_value,
                                 .context = h,
                                 .progress = s->options->progress};

    hider_keep_columns(h, 0);
    hider_price(h);
    hider_save(h, 0);
    if (suppressor_is_over(s))
        return CELLAR_OK;
    for (size_t c = 0; c < s->profiles->n_columns; c++)
        weights[c] = 1;
    CELLAR_TRY(cellar_selection_search(&problem, &result, err));
    hider_keep_columns(h, best.columns);
    CELLAR_TRY(hider_consider(h, err));
out:
    return status;
}

/* Rules that would do alone, for limits around the one asked for. */
static cellar_status hider_rules(hider *h, double before, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    suppressor *s = h->s;
    const double limits[] = {h->limit,     0.5 * h->limit, 0.1 * h->limit, 0,
                             2 * h->limit, 0.5 * before,   0.25 * before,  0.75 * before};
    enum { N_LIMITS = sizeof limits / sizeof limits[0] };
    for (size_t i = 0; i < N_LIMITS && !suppressor_is_over(s); i++) {
        uint64_t share = (s->max_evaluations - s->n_evaluations) / 8 + 1;
        double gap;
        if (!(limits[i] < before))
            continue;
        memset(s->dropped, 0, s->profiles->n_columns);
        CELLAR_TRY(
            cellar_suppressor_choose(s, before, limits[i], s->n_evaluations + share, &gap, err));
        CELLAR_TRY(hider_consider(h, err));
    }
out:
    return status;
}

/* Leaves out what the best plan can do without: rules, the heaviest first, and dropped columns. */
static cellar_status hider_trim(hider *h, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    suppressor *s = h->s;
    double before = INFINITY;
    while (h->best.cost < before && !suppressor_is_over(s)) {
        before = h->best.cost;
        for (size_t i = 0; i < s->n_pairs + s->profiles->n_columns; i++) {
            hider_recall(h);
            if (i < s->n_pairs ? s->kept[i] : !s->dropped[i - s->n_pairs])
                continue;
            if (i < s->n_pairs)
                s->kept[i] = 1;
            else
                s->dropped[i - s->n_pairs] = 0;
            CELLAR_TRY(hider_consider(h, err));
        }
    }
out:
    return status;
}

/* ---- all plans, the cheapest first ------------------------------------------ */

/* A rule or a dropped column. */
typedef struct plan_item {
    double cost;
    size_t column, pair; /* pair: SIZE_MAX for a dropped column */
} plan_item;

/* A set of items whose last is `last`; the others come before it. */
typedef struct plan_node {
    double cost;
    uint64_t items;
    size_t last;
} plan_node;

/* People who are exposed, and the items that redact one of their entries. */
typedef struct plan_row {
    uint64_t items;
    double people;
} plan_row;

typedef struct plan_search {
    hider *h;
    plan_item items[MAX_ITEMS];
    size_t n_items;
    plan_node *heap; /* the cheapest on top */
    size_t n_heap, heap_capacity;
    plan_row *rows;
    size_t n_rows;
    double unknown; /* the least loss of a plan whose exposure could not be added up */
} plan_search;

static int item_compare(const void *a, const void *b)
{
    const plan_item *x = a, *y = b;
    if (x->cost != y->cost)
        return x->cost < y->cost ? -1 : 1;
    if (x->column != y->column)
        return x->column < y->column ? -1 : 1;
    return (x->pair > y->pair) - (x->pair < y->pair);
}

static int heap_push(plan_search *p, plan_node node)
{
    size_t at = p->n_heap;
    if (!cellar_grow(&p->heap, &p->heap_capacity, at + 1, sizeof *p->heap))
        return 0;
    p->n_heap++;
    for (; at > 0 && p->heap[(at - 1) / 2].cost > node.cost; at = (at - 1) / 2)
        p->heap[at] = p->heap[(at - 1) / 2];
    p->heap[at] = node;
    return 1;
}

static plan_node heap_pop(plan_search *p)
{
    plan_node top = p->heap[0], last = p->heap[--p->n_heap];
    size_t at = 0, child;
    for (; (child = 2 * at + 1) < p->n_heap; at = child) {
        if (child + 1 < p->n_heap && p->heap[child + 1].cost < p->heap[child].cost)
            child++;
        if (p->heap[child].cost >= last.cost)
            break;
        p->heap[at] = p->heap[child];
    }
    p->heap[at] = last;
    return top;
}

/* The sets that follow a set: with the next item as well, or instead of its last. Every set comes
 * once, and after cheaper ones. */
static int heap_follow(plan_search *p, plan_node node)
{
    size_t next = node.last + 1;
    double with = node.cost + (next < p->n_items ? p->items[next].cost : 0);
    if (next >= p->n_items)
        return 1;
    return heap_push(p, (plan_node){with, node.items | UINT64_C(1) << next, next}) &&
           heap_push(p,
                     (plan_node){with - p->items[node.last].cost,
                                 (node.items & ~(UINT64_C(1) << node.last)) | UINT64_C(1) << next,
                                 next});
}

/* Makes the set the plan at hand; 0 when a set that loses no more is the same plan: rules of a
 * column that is dropped are none. */
static int plan_take(plan_search *p, uint64_t items)
{
    suppressor *s = p->h->s;
    memset(s->kept, 1, s->n_pairs);
    memset(s->dropped, 0, s->profiles->n_columns);
    for (uint64_t rest = items; rest != 0; rest &= rest - 1) {
        const plan_item *item = &p->items[__builtin_ctzll(rest)];
        if (item->pair == SIZE_MAX)
            s->dropped[item->column] = 1;
        else
            s->kept[item->pair] = 0;
    }
    hider_price(p->h);
    for (uint64_t rest = items; rest != 0; rest &= rest - 1) {
        const plan_item *item = &p->items[__builtin_ctzll(rest)];
        if (item->pair != SIZE_MAX && s->dropped[item->column])
            return 0;
    }
    return 1;
}

/* Who was exposed stays so unless an entry of their own is redacted: 1 when too many do. */
static int plan_exposes(const plan_search *p, uint64_t items)
{
    const hider *h = p->h;
    double untouched = 0, stay = 1;
    for (size_t c = 0; c < h->s->profiles->n_columns; c++)
        stay *= h->s->dropped[c] ? 0 : 1 - h->chance[c];
    for (size_t i = 0; i < p->n_rows; i++)
        untouched += (p->rows[i].items & items) == 0 ? p->rows[i].people : 0;
    return untouched * stay > h->limit * h->people * (1 + 1e-9) + 1e-9;
}

/* Looks at a plan; *done when it will do. */
static cellar_status plan_visit(plan_search *p, const plan_node *node, int *done, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    hider *h = p->h;
    double after;
    if (!plan_take(p, node->items) || plan_exposes(p, node->items))
        return CELLAR_OK;
    CELLAR_TRY(hider_evaluate(h, &after, err));
    if (isnan(after))
        p->unknown = fmin(p->unknown, h->cost);
    *done = after <= h->limit * (1 + 1e-12);
    if (*done)
        hider_save(h, after);
out:
    return status;
}

static cellar_status plan_run(plan_search *p, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    hider *h = p->h;
    const cellar_progress *progress = &h->s->options->progress;
    const uint64_t allowed = (uint64_t) fmin(MAX_POPS, max_tests / (double) (p->n_rows + 1));
    double least = h->lower;
    int done = 0, cut = 0;

    if (!heap_push(p, (plan_node){p->items[0].cost, 1, 0}))
        return cellar_fail_memory(err, "plans of redactions");
    for (uint64_t pops = 0; p->n_heap > 0 && !done; pops++) {
        plan_node node = heap_pop(p);
        if (!hider_is_cheaper(h, node.cost)) {
            h->lower = h->best.cost;
            break;
        }
        if (node.cost > least - loss_rounding * h->people) {
            h->lower = fmax(h->lower, node.cost);
            cut = pops >= allowed || suppressor_is_over(h->s);
            if (cut)
                break;
            CELLAR_TRY(plan_visit(p, &node, &done, err));
        }
        cut = pops >= allowed;
        if (cut)
            break;
        if (!heap_follow(p, node)) {
            status = cellar_fail_memory(err, "plans of redactions");
            goto out;
        }
        if (progress->report != NULL && progress->report(progress->context, "choosing",
                                                         (double) pops / (double) allowed) != 0) {
            status = cellar_fail(err, CELLAR_ERR_CANCELLED, "the search was cancelled");
            goto out;
        }
    }
    if (p->n_heap == 0 && !done && !cut) /* nothing was left out */
        h->lower = h->best.cost;
    h->lower = fmin(h->lower, p->unknown);
out:
    return status;
}

static void plan_make(plan_search *p)
{
    const suppressor *s = p->h->s;
    for (size_t i = 0; i < s->n_pairs; i++)
        p->items[p->n_items++] =
            (plan_item){(double) s->pairs[i].n_people / p->h->hide, s->pairs[i].column, i};
    for (size_t c = 0; c < s->profiles->n_columns; c++)
        p->items[p->n_items++] = (plan_item){p->h->people, c, SIZE_MAX};
    qsort(p->items, p->n_items, sizeof *p->items, item_compare);
    for (size_t row = 0; row < s->profiles->n_rows; row++) {
        plan_row *out = &p->rows[p->n_rows];
        if (s->profiles->counts[row] >= s->options->k)
            continue;
        *out = (plan_row){0, (double) s->profiles->counts[row]};
        for (size_t i = 0; i < p->n_items; i++) {
            const plan_item *item = &p->items[i];
            if (item->pair == SIZE_MAX ||
                s->pairs[item->pair].level == s->profiles->levels[item->column][row])
                out->items |= UINT64_C(1) << i;
        }
        p->n_rows++;
    }
}

static cellar_status hider_enumerate(hider *h, cellar_error *err)
{
    cellar_status status;
    plan_search p = {.h = h, .unknown = INFINITY};
    if (h->s->n_pairs + h->s->profiles->n_columns > MAX_ITEMS)
        return CELLAR_OK;
    p.rows = cellar_alloc(h->s->profiles->n_rows, sizeof *p.rows);
    if (p.rows == NULL)
        return cellar_fail_memory(err, "plans of redactions");
    plan_make(&p);
    status = plan_run(&p, err);
    cellar_free(p.heap);
    cellar_free(p.rows);
    return status;
}

/* ---- all of it -------------------------------------------------------------- */

/* Of the E people exposed all but limit n must see an entry of theirs redacted, on average. Of the
 * m/hide redactions of a column at most m are of theirs by rule, and of the others, which hit
 * anybody, at most the share E/n: so a redaction is theirs with a chance of at most
 * hide + (1-hide) E/n. */
static double hider_least(const hider *h, double before)
{
    double needed = (before - h->limit) * h->people - 1e-6;
    return fmax(0, needed / (h->hide + (1 - h->hide) * before));
}

static cellar_status hider_run(hider *h, double before, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    h->lower = hider_least(h, before);
    CELLAR_TRY(hider_drop(h, err));
    CELLAR_TRY(hider_rules(h, before, err));
    CELLAR_TRY(hider_trim(h, err));
    CELLAR_TRY(hider_enumerate(h, err));
    hider_recall(h);
out:
    return status;
}

static void hider_tell(const hider *h, cellar_suppression_summary *summary)
{
    double gap = h->best.cost - h->lower;
    summary->lost_to_rules = 0;
    for (size_t c = 0; c < h->s->profiles->n_columns; c++) {
        summary->lost_to_rules += h->ruled[c];
        if (h->s->dropped[c])
            h->chance[c] = 1;
    }
    summary->lost_to_chance = h->best.cost - (double) summary->lost_to_rules;
    summary->after_rules = h->best.after_rules;
    summary->after = h->best.after;
    summary->met = 1;
    summary->gap = gap > 2 * loss_rounding * h->people ? gap : 0;
}

cellar_status cellar_suppressor_hide(suppressor *s, double before, double *chance,
                                     cellar_suppression_summary *summary, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_columns = s->profiles->n_columns;
    hider h = {.s = s,
               .people = (double) s->profiles->n_people,
               .hide = s->options->hide,
               .limit = s->options->exposure,
               .ruled = cellar_alloc(n_columns, sizeof *h.ruled),
               .best = {.kept = cellar_alloc(s->n_pairs, 1),
                        .dropped = cellar_alloc(n_columns, 1),
                        .cost = INFINITY}};
    h.chance = chance;
    if (h.ruled == NULL || h.best.kept == NULL || h.best.dropped == NULL) {
        status = cellar_fail_memory(err, "plans of redactions");
        goto out;
    }
    CELLAR_TRY(hider_run(&h, before, err));
    hider_tell(&h, summary);
out:
    cellar_free(h.best.dropped);
    cellar_free(h.best.kept);
    cellar_free(h.ruled);
    return status;
}
