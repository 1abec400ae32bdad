/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Risk depends on a group only through its sorted counts: equal groups are put together. */
#include "risk/homogeneity/groups.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"
#include "risk/homogeneity/cell.h"
#include "table/schema/schema.h"

/* ---- collecting rows ---------------------------------------------------------------------- */

/* Groups as they come: each a kind of its own until they are sorted. */
typedef struct collector {
    cellar_groups *groups;
    size_t n_counts, counts_capacity, kinds_capacity, categories_capacity, values_capacity;
    cellar_error *err;
} collector;

static cellar_status collector_init(collector *c, size_t n_values, cellar_error *err)
{
    *c = (collector){.err = err};
    if (n_values < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a sensitive variable has at least two values");
    c->groups = cellar_alloc(1, sizeof *c->groups);
    if (c->groups == NULL)
        return cellar_fail_memory(err, "groups");
    c->groups->n_values = n_values;
    c->groups->value_records = cellar_alloc(2 * n_values, sizeof *c->groups->value_records);
    if (c->groups->value_records == NULL)
        return cellar_fail_memory(err, "groups");
    c->groups->value_shares = c->groups->value_records + n_values;
    return CELLAR_OK;
}

/* Adds a positive count of a value to the group being collected. */
static cellar_status collector_count(collector *c, cellar_group_kind *group, size_t value,
                                     uint64_t count)
{
    cellar_groups *g = c->groups;
    if (!cellar_grow(&g->counts, &c->counts_capacity, c->n_counts + 1, sizeof *g->counts) ||
        !cellar_grow(&g->value_counts, &c->values_capacity, g->n_value_counts + 1,
                     sizeof *g->value_counts))
        return cellar_fail_memory(c->err, "groups");
    if (group->times > 0)
        g->value_counts[g->n_value_counts++] =
            (cellar_value_count){count, group->times, (uint32_t) value};
    g->counts[c->n_counts++] = count;
    g->value_records[value] += (double) count * (double) group->times;
    group->n_positive++;
    if (count > CELLAR_RISK_MAX_SIZE || (group->size += count) > CELLAR_RISK_MAX_SIZE)
        return cellar_fail(c->err, CELLAR_ERR_OVERFLOW, "a group has more than 2^53 members");
    return CELLAR_OK;
}

/* Takes in a group whose counts were added; one without members is forgotten. */
static cellar_status collector_end(collector *c, cellar_group_kind *group, uint64_t n_values)
{
    cellar_groups *g = c->groups;
    if (group->n_positive == 0 || group->times == 0) {
        c->n_counts = group->first;
        return CELLAR_OK;
    }
    if (!cellar_grow(&g->kinds, &c->kinds_capacity, g->n_kinds + 1, sizeof *g->kinds))
        return cellar_fail_memory(c->err, "groups");
    group->n_zeros = n_values - group->n_positive;
    g->kinds[g->n_kinds++] = *group;
    g->n_groups += group->times;
    g->n_records += group->times * group->size;
    if (group->n_positive == 1) {
        g->n_homogeneous += group->times;
        g->n_homogeneous_records += group->times * group->size;
    }
    return CELLAR_OK;
}

/* ---- sorting --------------------------------------------------------------------------------- */

static int kind_compare(const cellar_groups *g, const cellar_group_kind *a,
                        const cellar_group_kind *b)
{
    size_t n = a->n_positive < b->n_positive ? a->n_positive : b->n_positive;
    for (size_t i = 0; i < n; i++) {
        uint64_t x = g->counts[a->first + i], y = g->counts[b->first + i];
        if (x != y)
            return x < y ? -1 : 1;
    }
    if (a->n_positive != b->n_positive)
        return a->n_positive < b->n_positive ? -1 : 1;
    return (a->n_zeros > b->n_zeros) - (a->n_zeros < b->n_zeros);
}

typedef struct kind_place {
    const cellar_groups *groups;
    uint32_t row;
} kind_place;

static int place_order(const void *left, const void *right)
{
    const kind_place *a = left, *b = right;
    int order = kind_compare(a->groups, &a->groups->kinds[a->row], &b->groups->kinds[b->row]);
    return order != 0 ? order : (a->row > b->row) - (a->row < b->row);
}

/* Sorts the counts of each group and the groups, and puts equal ones together. */
static cellar_status groups_collapse(cellar_groups *g, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_rows = g->n_kinds, n_kinds = 0;
    kind_place *places = NULL;
    cellar_group_kind *kinds = NULL;

    if (n_rows > UINT32_MAX)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "more than 2^32 groups");
    for (size_t i = 0; i < n_rows; i++)
        qsort(g->counts + g->kinds[i].first, g->kinds[i].n_positive, sizeof *g->counts,
              cellar_order_u64);
    places = cellar_alloc(n_rows, sizeof *places);
    kinds = cellar_alloc(n_rows, sizeof *kinds);
    g->row_kind = cellar_alloc(n_rows, sizeof *g->row_kind);
    if (places == NULL || kinds == NULL || g->row_kind == NULL) {
        status = cellar_fail_memory(err, "groups");
        goto out;
    }
    for (size_t i = 0; i < n_rows; i++)
        places[i] = (kind_place){g, (uint32_t) i};
    qsort(places, n_rows, sizeof *places, place_order);
    for (size_t i = 0; i < n_rows; i++) {
        const cellar_group_kind *here = &g->kinds[places[i].row];
        if (n_kinds > 0 && kind_compare(g, &kinds[n_kinds - 1], here) == 0)
            kinds[n_kinds - 1].times += here->times;
        else
            kinds[n_kinds++] = *here;
        g->row_kind[places[i].row] = (uint32_t) (n_kinds - 1);
    }
    cellar_free(g->kinds);
    g->kinds = kinds;
    kinds = NULL;
    g->n_kinds = n_kinds;
    g->n_rows = n_rows;
out:
    cellar_free(places);
    cellar_free(kinds);
    return status;
}

static int value_count_order(const void *left, const void *right)
{
    const cellar_value_count *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->count > b->count) - (a->count < b->count);
}

static void groups_merge_value_counts(cellar_groups *g)
{
    size_t n = 0;
    qsort(g->value_counts, g->n_value_counts, sizeof *g->value_counts, value_count_order);
    for (size_t i = 0; i < g->n_value_counts; i++)
        if (n > 0 && value_count_order(&g->value_counts[n - 1], &g->value_counts[i]) == 0)
            g->value_counts[n - 1].times += g->value_counts[i].times;
        else
            g->value_counts[n++] = g->value_counts[i];
    g->n_value_counts = n;
}

static cellar_status groups_finish(cellar_groups *g, cellar_error *err)
{
    if (g->n_groups == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "the table has no group with a record");
    for (size_t k = 1; k < g->n_values; k++)
        if (g->value_records[k] > g->value_records[g->top_value])
            g->top_value = k;
    groups_merge_value_counts(g);
    return groups_collapse(g, err);
}

/* ---- from counts -------------------------------------------------------------------------- */

cellar_status cellar_groups_from_counts(const uint64_t *counts, size_t n_rows, size_t n_values,
                                        const uint64_t *times, cellar_groups **out,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    collector c = {0};

    *out = NULL;
    CELLAR_TRY(collector_init(&c, n_values, err));
    for (size_t row = 0; row < n_rows; row++, counts += n_values) {
        cellar_group_kind group = {.first = c.n_counts, .times = times != NULL ? times[row] : 1};
        for (size_t k = 0; k < n_values; k++)
            if (counts[k] > 0)
                CELLAR_TRY(collector_count(&c, &group, k, counts[k]));
        CELLAR_TRY(collector_end(&c, &group, n_values));
        for (size_t k = 0; k < n_values && group.size > 0; k++)
            c.groups->value_shares[k] +=
                (double) counts[k] / (double) group.size * (double) group.times;
    }
    CELLAR_TRY(groups_finish(c.groups, err));
    *out = c.groups;
    c.groups = NULL;
out:
    cellar_groups_free(c.groups);
    return status;
}

/* ---- from a table ------------------------------------------------------------------------- */

/* The table reduced to quasi-identifiers, then sensitive variables: the cells of a group are
 * neighbours. */
typedef struct group_walk {
    collector c;
    const cellar_schema *schema;
    const cellar_table *table;
    size_t n_qid;
    uint64_t n_values; /* of indices in a group */
} group_walk;

/* A value's number among the leaves of the sensitive variables. */
static size_t walk_value(const group_walk *w, const uint32_t *categories)
{
    size_t value = 0;
    for (size_t v = w->n_qid; v < w->schema->n_variables; v++)
        value = value * cellar_schema_n_leaves(w->schema, v) + categories[v];
    return value;
}

/* How many of a group's values are possible; structural zeros are never perturbed. */
static uint64_t walk_n_possible(const group_walk *w, uint32_t *categories)
{
    uint64_t n = 0;
    if (w->schema->structural == NULL)
        return w->n_values;
    for (uint64_t value = 0; value < w->n_values; value++) {
        uint64_t rest = value;
        for (size_t v = w->schema->n_variables; v-- > w->n_qid;) {
            categories[v] = (uint32_t) (rest % cellar_schema_n_leaves(w->schema, v));
            rest /= cellar_schema_n_leaves(w->schema, v);
        }
        n += !cellar_schema_is_structural_zero(w->schema,
                                               cellar_schema_index(w->schema, categories));
    }
    return n;
}

static cellar_status walk_keep_categories(group_walk *w, const uint32_t *categories)
{
    cellar_groups *g = w->c.groups;
    size_t n = (g->n_kinds - 1) * w->n_qid;
    if (!cellar_grow(&g->categories, &w->c.categories_capacity, n + w->n_qid + 1,
                     sizeof *g->categories))
        return cellar_fail_memory(w->c.err, "groups");
    memcpy(g->categories + n, categories, w->n_qid * sizeof *categories);
    return CELLAR_OK;
}

/* How a group's values agree in each sensitive variable. */
typedef struct walk_agreement {
    uint32_t first[CELLAR_MAX_VARIABLES];
    int is_started;
    uint64_t differs; /* bit v: two members differ in variable v */
} walk_agreement;

static void walk_agree(const group_walk *w, const uint32_t *categories, walk_agreement *a)
{
    for (size_t v = w->n_qid; v < w->schema->n_variables; v++) {
        if (!a->is_started)
            a->first[v] = categories[v];
        else if (a->first[v] != categories[v])
            a->differs |= UINT64_C(1) << v;
    }
    a->is_started = 1;
}

static int walk_is_partial(const group_walk *w, const walk_agreement *a)
{
    size_t n_differ = (size_t) __builtin_popcountll(a->differs);
    return n_differ > 0 && n_differ < w->schema->n_variables - w->n_qid;
}

/* The cells from `position` on that lie in one group; answers where the next begins. */
static cellar_status walk_group(group_walk *w, size_t *position)
{
    cellar_status status = CELLAR_OK;
    uint32_t first[CELLAR_MAX_VARIABLES], here[CELLAR_MAX_VARIABLES];
    cellar_group_kind group = {.first = w->c.n_counts, .times = 1};
    size_t begin = *position, i, n_before = w->c.groups->n_kinds;
    walk_agreement agreement = {0};

    cellar_schema_categories(w->schema, cellar_table_cell(w->table, begin).index, first);
    for (i = begin; i < cellar_table_n_cells(w->table); i++) {
        cellar_cell cell = cellar_table_cell(w->table, i);
        cellar_schema_categories(w->schema, cell.index, here);
        if (memcmp(first, here, w->n_qid * sizeof *here) != 0)
            break;
        if (cell.count == 0)
            continue;
        walk_agree(w, here, &agreement);
        CELLAR_TRY(collector_count(&w->c, &group, walk_value(w, here), cell.count));
    }
    *position = i;
    CELLAR_TRY(collector_end(&w->c, &group, walk_n_possible(w, first)));
    if (w->c.groups->n_kinds == n_before)
        goto out;
    w->c.groups->n_partial += (uint64_t) walk_is_partial(w, &agreement);
    CELLAR_TRY(walk_keep_categories(w, first));
    for (size_t k = begin; k < i; k++) {
        cellar_cell cell = cellar_table_cell(w->table, k);
        cellar_schema_categories(w->schema, cell.index, here);
        w->c.groups->value_shares[walk_value(w, here)] += (double) cell.count / (double) group.size;
    }
out:
    return status;
}

static cellar_status walk_all(group_walk *w)
{
    cellar_status status = CELLAR_OK;
    double n_possible = 1;
    for (size_t position = 0; position < cellar_table_n_cells(w->table);)
        CELLAR_TRY(walk_group(w, &position));
    for (size_t v = 0; v < w->n_qid; v++)
        n_possible *= (double) cellar_schema_n_leaves(w->schema, v);
    if (n_possible < 0x1p63 && n_possible >= (double) w->c.groups->n_groups)
        w->c.groups->n_empty = (uint64_t) n_possible - w->c.groups->n_groups;
    w->c.groups->n_qid = w->n_qid;
    CELLAR_TRY(groups_finish(w->c.groups, w->c.err));
out:
    return status;
}

cellar_status cellar_groups_create(const cellar_table *table, const size_t *qid, size_t n_qid,
                                   const size_t *sensitive, size_t n_sensitive, cellar_groups **out,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t kept[CELLAR_MAX_VARIABLES] = {0};
    cellar_table *reduced = NULL;
    group_walk w = {.n_qid = n_qid, .n_values = 1};

    *out = NULL;
    if (n_sensitive == 0 || n_qid + n_sensitive > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "name at least one sensitive variable");
    for (size_t k = 0; k < n_qid + n_sensitive; k++)
        kept[k] = k < n_qid ? qid[k] : sensitive[k - n_qid];
    CELLAR_TRY(cellar_table_create_margin(table, kept, n_qid + n_sensitive, &reduced, err));
    w.table = reduced;
    w.schema = cellar_table_schema(reduced);
    for (size_t v = n_qid; v < n_qid + n_sensitive; v++)
        if (__builtin_mul_overflow(w.n_values, cellar_schema_n_leaves(w.schema, v), &w.n_values) ||
            w.n_values > 100000000) {
            status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                 "the sensitive variables have too many combinations together");
            goto out;
        }
    CELLAR_TRY(collector_init(&w.c, (size_t) w.n_values, err));
    w.c.err = err;
    CELLAR_TRY(walk_all(&w));
    *out = w.c.groups;
    w.c.groups = NULL;
out:
    cellar_groups_free(w.c.groups);
    cellar_table_free(reduced);
    return status;
}

/* ---- life cycle and queries --------------------------------------------------------------- */

void cellar_groups_free(cellar_groups *g)
{
    if (g == NULL)
        return;
    cellar_free(g->counts);
    cellar_free(g->kinds);
    cellar_free(g->value_records);
    cellar_free(g->value_counts);
    cellar_free(g->row_kind);
    cellar_free(g->categories);
    cellar_free(g);
}

size_t cellar_groups_n_values(const cellar_groups *groups)
{
    return groups->n_values;
}

uint64_t cellar_groups_n_groups(const cellar_groups *groups)
{
    return groups->n_groups;
}

uint64_t cellar_groups_n_homogeneous(const cellar_groups *groups)
{
    return groups->n_homogeneous;
}

uint64_t cellar_groups_n_records(const cellar_groups *groups)
{
    return groups->n_records;
}

size_t cellar_groups_n_distinct(const cellar_groups *groups)
{
    return groups->n_kinds;
}

uint64_t cellar_groups_n_partial(const cellar_groups *groups)
{
    return groups->n_partial;
}

uint64_t cellar_groups_n_empty(const cellar_groups *groups)
{
    return groups->n_empty;
}
