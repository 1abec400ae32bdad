/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Partial tables of one spec, added up. */
#include <string.h>

#include <cellar/columns.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/tabulation.h"
#include "table/table.h"

/* What is added up. */
typedef struct parts {
    const cellar_table *const *tables;
    const char *const *names; /* of their files, or NULL */
    size_t n;
    cellar_cells like; /* the arrays that some table's cells have */
} parts;

static cellar_status fail_part(const parts *p, size_t k, const char *what, cellar_error *err)
{
    return p->names != NULL
               ? cellar_fail(err, CELLAR_ERR_RULE, "%s: the partial table %s", p->names[k], what)
               : cellar_fail(err, CELLAR_ERR_RULE, "partial table %zu %s", k + 1, what);
}

/* The description sorts variables and codes; cells are numbered in their order. */
static int have_same_order(const cellar_schema *a, const cellar_schema *b)
{
    if (cellar_schema_n_variables(a) != cellar_schema_n_variables(b) ||
        cellar_schema_n_indices(a) != cellar_schema_n_indices(b))
        return 0;
    for (size_t v = 0; v < cellar_schema_n_variables(a); v++) {
        const size_t n = cellar_schema_n_categories(a, v);
        if (n != cellar_schema_n_categories(b, v) ||
            strcmp(cellar_schema_variable(a, v), cellar_schema_variable(b, v)) != 0)
            return 0;
        for (size_t c = 0; c < n; c++)
            if (strcmp(cellar_schema_code(a, v, c), cellar_schema_code(b, v, c)) != 0)
                return 0;
    }
    return 1;
}

/* A code with another label may stand for something else: the list is of another version. */
static int have_same_labels(const cellar_schema *a, const cellar_schema *b)
{
    const size_t n = cellar_schema_n_languages(a);
    if (n != cellar_schema_n_languages(b))
        return 0;
    for (size_t v = 0; v < cellar_schema_n_variables(a); v++)
        for (size_t c = 0; c < cellar_schema_n_categories(a, v); c++)
            for (size_t l = 0; l < n; l++)
                if (strcmp(cellar_schema_label(a, v, c, l), cellar_schema_label(b, v, c, l)) != 0)
                    return 0;
    return 1;
}

static cellar_status check_domains(const cellar_schema *schema, cellar_error *err)
{
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        if (cellar_schema_domain(schema, v) != CELLAR_DOMAIN_DECLARED &&
            cellar_schema_domain(schema, v) != CELLAR_DOMAIN_DRAFTED)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "variable '%.200s': partial tables are added up over declared "
                               "domains: give it a code list",
                               cellar_schema_variable(schema, v));
    return CELLAR_OK;
}

static cellar_status check_stated(const parts *p, size_t k, cellar_error *err)
{
    return p->tables[k]->tabulation != NULL ? CELLAR_OK
                                            : fail_part(p, k, "does not say what was counted", err);
}

/* A file may state weights that it does not hold. A table without cells has no arrays. */
static cellar_status check_arrays(const parts *p, size_t k, cellar_error *err)
{
    const cellar_cells *cells = &p->tables[k]->cells;
    if (cells->n > 0 && ((p->like.weight != NULL && cells->weight == NULL) ||
                         (p->like.key != NULL && cells->key == NULL)))
        return fail_part(p, k, "lacks the weights or the record keys that others have", err);
    return CELLAR_OK;
}

/* Whether table number `k` says the same as the first, whose description is `first`. */
static cellar_status check_same(const parts *p, size_t k, const char *first, cellar_error *err)
{
    const cellar_table *const *tables = p->tables;
    cellar_status status = CELLAR_OK;
    char *text = NULL;
    int is_same;
    CELLAR_TRY(check_stated(p, k, err));
    CELLAR_TRY(cellar_table_describe(tables[k], &text, err));
    is_same = strcmp(text, first) == 0 && have_same_order(tables[0]->schema, tables[k]->schema) &&
              tables[0]->key_range == tables[k]->key_range &&
              tables[0]->max_weight == tables[k]->max_weight;
    if (!is_same)
        status = fail_part(p, k,
                           "was not counted like the first one: variables, codes, conditions, "
                           "weights and keys must be the same",
                           err);
    else if (!have_same_labels(tables[0]->schema, tables[k]->schema))
        status = fail_part(p, k,
                           "has other labels for the same codes than the first one: the code lists "
                           "must be of one version",
                           err);
out:
    cellar_free(text);
    return status;
}

static cellar_status check_all(const parts *p, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    char *first = NULL;
    CELLAR_TRY(check_stated(p, 0, err));
    CELLAR_TRY(check_domains(p->tables[0]->schema, err));
    CELLAR_TRY(cellar_table_describe(p->tables[0], &first, err));
    for (size_t k = 1; k < p->n; k++)
        CELLAR_TRY(check_same(p, k, first, err));
    for (size_t k = 0; k < p->n; k++)
        CELLAR_TRY(check_arrays(p, k, err));
out:
    cellar_free(first);
    return status;
}

/* ---- adding up --------------------------------------------------------------- */

static cellar_cells find_arrays(const cellar_table *const *tables, size_t n)
{
    cellar_cells like = {0};
    for (size_t k = 0; k < n; k++) {
        const cellar_cells *cells = &tables[k]->cells;
        like.weight = cells->weight != NULL ? cells->weight : like.weight;
        like.key = cells->key != NULL ? cells->key : like.key;
        like.status = cells->status != NULL ? cells->status : like.status;
    }
    return like;
}

/* A table's next cell. */
typedef struct table_head {
    uint64_t index; /* UINT64_MAX: there is none left */
    size_t position;
} table_head;

static uint64_t index_at(const cellar_table *table, size_t position)
{
    return position < table->cells.n ? table_index(table, position) : UINT64_MAX;
}

/* Adds the sum over the tables of the cell at *index; *index is then that of the next cell. */
static cellar_status add_cell(const cellar_table *const *tables, size_t n, table_head *heads,
                              uint64_t *index, cellar_cells *all, cellar_error *err)
{
    const size_t to = all->n;
    uint64_t least = UINT64_MAX;
    for (size_t k = 0; k < n; k++) {
        table_head *head = &heads[k];
        if (head->index == *index) {
            const cellar_cells *cells = &tables[k]->cells;
            if (all->n == to)
                cells_copy(all, all->n++, cells, head->position);
            else if (!cells_add(all, to, cells, head->position, tables[0]->key_range))
                return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a sum of counts is too large");
            head->index = index_at(tables[k], ++head->position);
        }
        if (head->index < least)
            least = head->index;
    }
    *index = least;
    return CELLAR_OK;
}

/* Cells of tables stand in the order of their indices, and so do their sums. */
static cellar_status add_up(const parts *p, cells_builder *all, cellar_error *err)
{
    const cellar_table *const *tables = p->tables;
    const size_t n = p->n;
    table_head *heads = cellar_alloc(n, sizeof *heads);
    cellar_status status = CELLAR_OK;
    uint64_t index = UINT64_MAX;
    if (heads == NULL)
        return cellar_fail_memory(err, "partial tables");
    for (size_t k = 0; k < n; k++) {
        heads[k] = (table_head){.index = index_at(tables[k], 0)};
        index = heads[k].index < index ? heads[k].index : index;
    }
    CELLAR_TRY(cellar_cells_reserve(all, &p->like, tables[0]->cells.n, err));
    while (index != UINT64_MAX) {
        CELLAR_TRY(cellar_cells_reserve(all, &p->like, 1, err));
        CELLAR_TRY(add_cell(tables, n, heads, &index, &all->cells, err));
    }
out:
    cellar_free(heads);
    return status;
}

cellar_status cellar_table_merge(const cellar_table *const *tables, size_t n_tables,
                                 cellar_table **out, cellar_error *err)
{
    return cellar_table_merge_named(tables, NULL, n_tables, out, err);
}

cellar_status cellar_table_merge_named(const cellar_table *const *tables, const char *const *names,
                                       size_t n_tables, cellar_table **out, cellar_error *err)
{
    const parts p = {tables, names, n_tables, find_arrays(tables, n_tables)};
    cells_builder all = {0};
    cellar_table *merged = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (n_tables == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no partial table to add up");
    CELLAR_TRY(check_all(&p, err));
    CELLAR_TRY(add_up(&p, &all, err));
    CELLAR_TRY(
        cellar_table_from_cells(tables[0]->schema, &all.cells, tables[0]->key_range, &merged, err));
    CELLAR_TRY(cellar_table_inherit(&merged, tables[0], err));
    *out = merged;
    merged = NULL;
out:
    cellar_table_free(merged);
    cellar_cells_clear(&all.cells);
    return status;
}
