/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The remedy of a refused table: merging the categories of one variable along its hierarchy, level
 * by level, or leaving a variable out, whichever passes first. Found by trying: the interior is
 * added up anew with every leaf in the place of its ancestor. */
#include "plan/rules.h"

#include <string.h>

#include "base/error.h"
#include "plan/figures.h"
#include "table/table.h"

enum { LEVELS_MAX = 16 };

/* The ancestor of a leaf `up` steps above, or the highest below the total. */
static size_t ancestor(const cellar_codelist *list, size_t code, size_t up)
{
    for (; up > 0; up--) {
        size_t parent = cellar_codelist_parent(list, 0, code);
        if (parent == CELLAR_NO_CODE || cellar_codelist_role(list, parent) == CELLAR_CODE_TOTAL)
            break;
        code = parent;
    }
    return code;
}

/* The list of the categories `up` steps above the leaves; *n tells how many there are. */
static cellar_status merged_list(const cellar_codelist *list, size_t up, cellar_codelist **out,
                                 size_t *n, cellar_error *err)
{
    cellar_codelist *merged = NULL;
    cellar_status status = CELLAR_OK;
    *out = NULL;
    *n = 0;
    CELLAR_TRY(cellar_codelist_create(&merged, err));
    for (size_t leaf = 0; leaf < cellar_codelist_n_leaves(list); leaf++) {
        size_t code = ancestor(list, cellar_codelist_leaf(list, leaf), up);
        int is_new = 1;
        for (size_t before = 0; before < leaf && is_new; before++)
            is_new = ancestor(list, cellar_codelist_leaf(list, before), up) != code;
        if (!is_new)
            continue;
        CELLAR_TRY(cellar_codelist_add(merged, cellar_codelist_code(list, code), NULL, NULL,
                                       CELLAR_CODE_PLAIN, err));
        ++*n;
    }
    CELLAR_TRY(cellar_codelist_finish(merged, err));
    *out = merged;
    merged = NULL;
out:
    cellar_codelist_free(merged);
    return status;
}

/* ---- the table with merged categories ------------------------------------------------------- */

static cellar_status merged_schema(const cellar_schema *schema, size_t variable,
                                   const cellar_codelist *merged, cellar_schema **out,
                                   cellar_error *err)
{
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES];
    for (size_t v = 0; v < schema->n_variables; v++)
        defs[v] = (cellar_schema_variable_def){schema->axes[v].name, schema->axes[v].domain,
                                               v == variable ? merged : schema->axes[v].codelist};
    return cellar_schema_create(defs, schema->n_variables, NULL, out, err);
}

/* The interior cells of `table` by their index in `to`. */
static cellar_status merged_cells(const cellar_table *table, size_t variable, size_t up,
                                  const cellar_schema *to, cellar_cells *out, cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(table);
    const cellar_codelist *from = schema->axes[variable].codelist;
    uint32_t categories[CELLAR_MAX_VARIABLES];
    out->index = cellar_alloc(cellar_table_n_cells(table), sizeof *out->index);
    out->count = cellar_alloc(cellar_table_n_cells(table), sizeof *out->count);
    if (out->index == NULL || out->count == NULL)
        return cellar_fail_memory(err, "a table");
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        const char *code;
        if (cell.count == 0 || !cellar_schema_is_interior(schema, cell.index))
            continue;
        cellar_schema_categories(schema, cell.index, categories);
        code = cellar_codelist_code(
            from, ancestor(from, cellar_codelist_leaf(from, categories[variable]), up));
        categories[variable] = (uint32_t) cellar_schema_find_code(to, variable, code, strlen(code));
        out->index[out->n] = cellar_schema_index(to, categories);
        out->count[out->n++] = cell.count;
    }
    return CELLAR_OK;
}

static cellar_status merged_table(const cellar_table *table, size_t variable, size_t up,
                                  const cellar_codelist *merged, const cellar_margins *wanted,
                                  cellar_table **out, cellar_error *err)
{
    cellar_margins margins = *wanted;
    cellar_schema *schema = NULL;
    cellar_table *interior = NULL;
    cellar_cells cells = {0};
    cellar_status status = CELLAR_OK;
    *out = NULL;
    margins.hierarchies &= ~(UINT64_C(1) << variable);
    CELLAR_TRY(merged_schema(cellar_table_schema(table), variable, merged, &schema, err));
    CELLAR_TRY(merged_cells(table, variable, up, schema, &cells, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &cells, 0, &interior, err));
    CELLAR_TRY(cellar_table_create_expanded(interior, &margins, out, err));
out:
    cellar_cells_clear(&cells);
    cellar_table_free(interior);
    cellar_schema_free(schema);
    return status;
}

/* ---- trying --------------------------------------------------------------------------------- */

/* "N, S and 3 more" */
static void add_codes(const cellar_codelist *list, cellar_text *out)
{
    size_t n = cellar_codelist_n_codes(list), shown = n > 4 ? 3 : n;
    for (size_t i = 0; i < shown; i++)
        cellar_text_printf(out, "%s%.40s", i > 0 ? ", " : "", cellar_codelist_code(list, i));
    if (n > shown)
        cellar_text_printf(out, " and %zu more", n - shown);
}

static cellar_status try_merging(const plan_figures *figures, const plan_rule *rule, size_t t,
                                 size_t variable, size_t up, cellar_text *out, cellar_error *err)
{
    const plan_piece *piece = &figures->work.pieces[t];
    const schema_axis *axis = &cellar_table_schema(piece->counts)->axes[variable];
    cellar_codelist *below = NULL, *merged = NULL;
    cellar_table *table = NULL;
    size_t n_below, n;
    int breaks = 1;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(merged_list(axis->codelist, up - 1, &below, &n_below, err));
    CELLAR_TRY(merged_list(axis->codelist, up, &merged, &n, err));
    if (n == n_below)
        goto out; /* nothing above */
    CELLAR_TRY(
        merged_table(piece->counts, variable, up, merged, &piece->table->wanted, &table, err));
    CELLAR_TRY(
        cellar_plan_table_breaks(figures->work.plan, rule, table, piece->mechanism, &breaks, err));
    if (!breaks) {
        cellar_text_printf(out, "merging the categories of '%s' along its hierarchy into ",
                           axis->name);
        add_codes(merged, out);
        cellar_text_add_string(out, " would pass");
    }
out:
    cellar_table_free(table);
    cellar_codelist_free(merged);
    cellar_codelist_free(below);
    return status;
}

static cellar_status try_without(const plan_figures *figures, const plan_rule *rule, size_t t,
                                 size_t variable, cellar_text *out, cellar_error *err)
{
    const plan_piece *piece = &figures->work.pieces[t];
    const cellar_schema *schema = cellar_table_schema(piece->counts);
    const char *name = schema->axes[variable].name;
    size_t kept[CELLAR_MAX_VARIABLES], n = 0;
    cellar_table *table = NULL;
    int breaks = 1;
    cellar_status status = CELLAR_OK;
    if (schema->n_variables == 1 || cellar_plan_has_text(&rule->sensitive, name) ||
        cellar_plan_has_text(&rule->qid, name))
        return CELLAR_OK;
    for (size_t v = 0; v < schema->n_variables; v++)
        if (v != variable)
            kept[n++] = v;
    CELLAR_TRY(cellar_table_create_margin(piece->counts, kept, n, &table, err));
    CELLAR_TRY(
        cellar_plan_table_breaks(figures->work.plan, rule, table, piece->mechanism, &breaks, err));
    if (!breaks)
        cellar_text_printf(out, "leaving out '%s' would pass", name);
out:
    cellar_table_free(table);
    return status;
}

cellar_status cellar_plan_find_remedy(const plan_figures *figures, const plan_rule *rule, size_t t,
                                      cellar_text *out, cellar_error *err)
{
    const cellar_schema *schema = cellar_table_schema(figures->work.pieces[t].counts);
    cellar_status status = CELLAR_OK;
    for (size_t up = 1; up <= LEVELS_MAX; up++)
        for (size_t v = 0; v < schema->n_variables && out->length == 0; v++)
            if (cellar_codelist_n_hierarchies(schema->axes[v].codelist) > 0)
                CELLAR_TRY(try_merging(figures, rule, t, v, up, out, err));
    for (size_t v = 0; v < schema->n_variables && out->length == 0; v++)
        CELLAR_TRY(try_without(figures, rule, t, v, out, err));
    if (out->failed)
        status = cellar_fail_memory(err, "a rule");
out:
    return status;
}
