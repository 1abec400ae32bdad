/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/anonymity.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "risk/anonymity/anonymity_measures.h"
#include "risk/anonymity/anonymity_wildcard.h"
#include "risk/anonymity/sample_risk.h"
#include "table/build.h"

#define MAX_RECORDS (UINT64_C(1) << 55)

struct cellar_anonymity {
    cellar_anonymity_summary summary;
    anonymity_groups groups;
    cellar_anonymity_group *list; /* worst first */
};

cellar_anonymity_options cellar_anonymity_options_default(void)
{
    return (cellar_anonymity_options){.recursive_c = NAN};
}

/* ---- collecting groups ------------------------------------------------------ */

typedef struct group_builder {
    anonymity_groups *groups;
    size_t categories_capacity, counts_capacity;
} group_builder;

static int builder_add(void *context, const uint32_t *group, const uint64_t *counts,
                       size_t n_values)
{
    group_builder *builder = context;
    anonymity_groups *groups = builder->groups;
    if (!cellar_grow(&groups->categories, &builder->categories_capacity,
                     (groups->n + 1) * groups->n_qid, sizeof *groups->categories) ||
        !cellar_grow(&groups->counts, &builder->counts_capacity, (groups->n + 1) * n_values,
                     sizeof *groups->counts))
        return 1;
    memcpy(groups->categories + groups->n * groups->n_qid, group,
           groups->n_qid * sizeof *groups->categories);
    memcpy(groups->counts + groups->n * n_values, counts, n_values * sizeof *groups->counts);
    groups->n++;
    return 0;
}

/* Without a sensitive variable a group has one number, its size. */
static cellar_status groups_from_margin(const cellar_table *table, const size_t *qid,
                                        group_builder *builder, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_table *margin = NULL;
    uint32_t categories[CELLAR_MAX_VARIABLES];

    CELLAR_TRY(cellar_table_create_margin(table, qid, builder->groups->n_qid, &margin, err));
    for (size_t i = 0; i < cellar_table_n_cells(margin); i++) {
        cellar_cell cell = cellar_table_cell(margin, i);
        if (cell.count == 0)
            continue;
        cellar_schema_categories(cellar_table_schema(margin), cell.index, categories);
        if (builder_add(builder, categories, &cell.count, 1)) {
            status = cellar_fail_memory(err, "groups");
            goto out;
        }
    }
out:
    cellar_table_free(margin);
    return status;
}

static cellar_status groups_collect(const cellar_table *table, const size_t *qid, size_t n_qid,
                                    const cellar_anonymity_options *options,
                                    anonymity_groups *groups, cellar_error *err)
{
    group_builder builder = {.groups = groups};
    cellar_status status;

    groups->n_qid = n_qid;
    groups->n_values = 1;
    if (!options->has_sensitive)
        return groups_from_margin(table, qid, &builder, err);
    groups->n_values = cellar_schema_n_leaves(cellar_table_schema(table), options->sensitive);
    status = cellar_table_groups(table, qid, n_qid, options->sensitive, builder_add, &builder, err);
    return status == CELLAR_ERR_CANCELLED ? cellar_fail_memory(err, "groups") : status;
}

/* ---- matching --------------------------------------------------------------- */

/* The categories that match every value; UINT32_MAX is none. */
static void groups_wildcards(const size_t *categories, size_t n_qid, uint32_t *wildcards)
{
    for (size_t c = 0; c < n_qid; c++)
        wildcards[c] = categories[c] == CELLAR_NO_CODE ? UINT32_MAX : (uint32_t) categories[c];
}

/* The counts that the measures look at: the group's own (NULL), or those of all that match. */
static cellar_status groups_match(const anonymity_groups *groups, const uint32_t *wildcards,
                                  uint64_t **matches, cellar_error *err)
{
    *matches = NULL;
    if (wildcards == NULL)
        return CELLAR_OK;
    *matches = cellar_alloc(groups->n * groups->n_values, sizeof **matches);
    if (*matches == NULL)
        return cellar_fail_memory(err, "matching groups");
    return cellar_anonymity_match(groups, wildcards, *matches, err);
}

/* ---- measuring -------------------------------------------------------------- */

static uint64_t groups_sum(const uint64_t *counts, size_t n)
{
    uint64_t sum = 0;
    for (size_t s = 0; s < n; s++)
        sum += counts[s];
    return sum;
}

static void summary_add(cellar_anonymity_summary *summary, const cellar_anonymity_group *group,
                        uint64_t k)
{
    cellar_anonymity_group *worst = &summary->worst;
    int first = summary->n_groups++ == 0;
    summary->n_records += group->size;
    summary->n_uniques += group->n_matches == 1 ? group->size : 0;
    summary->expected += (double) group->size * group->risk;
    if (group->n_matches < k) {
        summary->groups_below++;
        summary->records_below += group->size;
    }
    if (first) {
        *worst = *group;
        worst->categories = NULL;
    }
    if (group->size < worst->size)
        worst->size = group->size;
    if (group->n_matches < worst->n_matches)
        worst->n_matches = group->n_matches;
    if (group->n_distinct < worst->n_distinct)
        worst->n_distinct = group->n_distinct;
    if (group->recursive_l < worst->recursive_l)
        worst->recursive_l = group->recursive_l;
    worst->entropy_l = fmin(worst->entropy_l, group->entropy_l);
    worst->t_equal = fmax(worst->t_equal, group->t_equal);
    worst->t_ordered = fmax(worst->t_ordered, group->t_ordered);
    worst->t_hierarchical = fmax(worst->t_hierarchical, group->t_hierarchical);
    worst->delta = fmax(worst->delta, group->delta);
    worst->population = fmin(worst->population, group->population);
    worst->risk = fmax(worst->risk, group->risk);
    worst->beta = fmax(worst->beta, group->beta);
    worst->enhanced &= group->enhanced;
    summary->k = worst->n_matches;
}

/* The counts of the whole table by sensitive value, and room to work in. */
static cellar_status whole_make(const cellar_table *table, const cellar_anonymity_options *options,
                                const anonymity_groups *groups, uint64_t *counts,
                                sensitive_whole *whole, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_values = groups->n_values;

    CELLAR_TRY(cellar_sensitive_tree_make(
        cellar_schema_codelist(cellar_table_schema(table), options->sensitive), &whole->tree, err));
    for (size_t g = 0; g < groups->n; g++)
        for (size_t s = 0; s < n_values; s++)
            counts[s] += groups->counts[g * n_values + s];
    whole->n_values = n_values;
    whole->counts = counts;
    whole->total = groups_sum(counts, n_values);
    whole->recursive_c = options->recursive_c;
    whole->sorted = cellar_alloc(n_values, sizeof *whole->sorted);
    whole->net = cellar_alloc(whole->tree.n_nodes, sizeof(cellar_int128));
    if (whole->sorted == NULL || whole->net == NULL)
        status = cellar_fail_memory(err, "anonymity");
    else if (whole->total >= MAX_RECORDS)
        status = cellar_fail(err, CELLAR_ERR_OVERFLOW, "anonymity: there are too many records");
out:
    return status;
}

static cellar_status anonymity_measure(cellar_anonymity *anonymity, const cellar_table *table,
                                       const size_t *qid, const cellar_anonymity_options *options,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const anonymity_groups *groups = &anonymity->groups;
    size_t n_values = groups->n_values;
    uint64_t *matches = NULL, *counts = cellar_alloc(n_values, sizeof *counts);
    uint32_t wildcards[CELLAR_MAX_VARIABLES];
    cellar_table *margin = NULL;
    sensitive_whole whole = {0};

    anonymity->list = cellar_alloc(groups->n, sizeof *anonymity->list);
    if (counts == NULL || anonymity->list == NULL) {
        status = cellar_fail_memory(err, "anonymity");
        goto out;
    }
    if (options->wildcards != NULL)
        groups_wildcards(options->wildcards, groups->n_qid, wildcards);
    CELLAR_TRY(groups_match(groups, options->wildcards != NULL ? wildcards : NULL, &matches, err));
    if (options->has_sensitive)
        CELLAR_TRY(whole_make(table, options, groups, counts, &whole, err));
    for (size_t g = 0; g < groups->n; g++) {
        const uint64_t *own = groups->counts + g * n_values;
        const uint64_t *seen = matches != NULL ? matches + g * n_values : own;
        cellar_anonymity_group *group = &anonymity->list[g];
        group->categories = groups->categories + g * groups->n_qid;
        group->size = groups_sum(own, n_values);
        group->n_matches = groups_sum(seen, n_values);
        group->population = group->risk = NAN;
        if (options->has_sensitive)
            cellar_anonymity_measure(&whole, seen, group);
    }
    if (cellar_table_is_weighted(table)) {
        CELLAR_TRY(cellar_table_create_margin(table, qid, groups->n_qid, &margin, err));
        CELLAR_TRY(cellar_anonymity_weigh(
            groups, margin, options->wildcards != NULL ? wildcards : NULL, anonymity->list, err));
    }
    for (size_t g = 0; g < groups->n; g++)
        summary_add(&anonymity->summary, &anonymity->list[g], options->k);
out:
    cellar_table_free(margin);
    cellar_sensitive_tree_clear(&whole.tree);
    cellar_free(whole.net);
    cellar_free(whole.sorted);
    cellar_free(matches);
    cellar_free(counts);
    return status;
}

/* ---- worst first ------------------------------------------------------------ */

/* How good a group is by a measure: small is bad. */
static double group_rank(const cellar_anonymity_group *group, cellar_anonymity_order order)
{
    switch (order) {
    case CELLAR_ORDER_DISTINCT:
        return (double) group->n_distinct;
    case CELLAR_ORDER_ENTROPY:
        return group->entropy_l;
    case CELLAR_ORDER_CLOSENESS:
        return -group->t_equal;
    case CELLAR_ORDER_ORDERED:
        return -group->t_ordered;
    case CELLAR_ORDER_HIERARCHICAL:
        return -group->t_hierarchical;
    case CELLAR_ORDER_DISCLOSURE:
        return -group->delta;
    case CELLAR_ORDER_LIKENESS:
        return -group->beta;
    case CELLAR_ORDER_RISK:
        return -group->risk;
    case CELLAR_ORDER_SIZE:
        break;
    }
    return (double) group->n_matches;
}

static int group_compare(const void *a, const void *b, void *context)
{
    const cellar_anonymity_group *x = a, *y = b;
    cellar_anonymity_order order = *(const cellar_anonymity_order *) context;
    double rank_x = group_rank(x, order), rank_y = group_rank(y, order);
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    if (x->n_matches != y->n_matches)
        return x->n_matches < y->n_matches ? -1 : 1;
    return (x->categories > y->categories) - (x->categories < y->categories);
}

cellar_status cellar_anonymity_create(const cellar_table *table, const size_t *qid, size_t n_qid,
                                      const cellar_anonymity_options *options,
                                      cellar_anonymity **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_anonymity *anonymity = NULL;
    cellar_anonymity_order order = options->order;

    *out = NULL;
    if (order == CELLAR_ORDER_RISK ? !cellar_table_is_weighted(table) : !options->has_sensitive)
        order = CELLAR_ORDER_SIZE;
    if (options->k == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "anonymity needs a k of at least 1");
    if (options->recursive_c <= 0) /* NAN is fine */
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "c of recursive diversity must be above 0");
    if (n_qid == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "anonymity needs a quasi-identifier");
    if (options->has_sensitive &&
        options->sensitive >= cellar_schema_n_variables(cellar_table_schema(table)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table has no such sensitive variable");
    anonymity = cellar_alloc(1, sizeof *anonymity);
    if (anonymity == NULL)
        return cellar_fail_memory(err, "anonymity");
    CELLAR_TRY(groups_collect(table, qid, n_qid, options, &anonymity->groups, err));
    if (anonymity->groups.n == 0) {
        status = cellar_fail(err, CELLAR_ERR_INPUT, "anonymity needs at least one record");
        goto out;
    }
    CELLAR_TRY(anonymity_measure(anonymity, table, qid, options, err));
    qsort_r(anonymity->list, anonymity->groups.n, sizeof *anonymity->list, group_compare, &order);
    *out = anonymity;
    anonymity = NULL;
out:
    cellar_anonymity_free(anonymity);
    return status;
}

void cellar_anonymity_free(cellar_anonymity *anonymity)
{
    if (anonymity == NULL)
        return;
    cellar_free(anonymity->list);
    cellar_free(anonymity->groups.categories);
    cellar_free(anonymity->groups.counts);
    cellar_free(anonymity);
}

cellar_anonymity_summary cellar_anonymity_summarise(const cellar_anonymity *anonymity)
{
    return anonymity->summary;
}

cellar_anonymity_group cellar_anonymity_group_at(const cellar_anonymity *anonymity, size_t position)
{
    return anonymity->list[position];
}
