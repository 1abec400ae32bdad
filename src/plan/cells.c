/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is expected of the cells of one table, margin by margin and level by level. */
#include "plan/figures.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "plan/summands.h"
#include "release/guarantee/share.h"
#include "table/table.h"

enum { GROUPS_MAX = 1 << 16, STRUCTURAL_VISITED_MAX = 1 << 24, SUMMED_VARIABLES_MAX = 6 };

/* Cells whose kept variables are `mask`, those of `inner` at an upper level. */
typedef struct group {
    uint64_t mask, inner;
    uint64_t n_full; /* cells with a count */
    double sum_variance;
    cellar_plan_cells cells;
} group;

typedef struct filling {
    plan_figures *figures;
    const plan_piece *piece;
    const cellar_table *numbers;
    const cellar_schema *schema;
    plan_law law;
    group *groups;
    size_t n, capacity;
    double rows, n_records; /* rows listed; records, 0 without counts */
} filling;

/* ---- the groups --------------------------------------------------------------------------- */

static uint64_t group_n_cells(const cellar_schema *schema, uint64_t mask, uint64_t inner)
{
    uint64_t n = 1;
    for (size_t v = 0; v < schema->n_variables; v++)
        if (mask >> v & 1)
            n *= inner >> v & 1 ? schema->axes[v].n_inner : schema->axes[v].n_leaves;
    return n;
}

static cellar_status group_add(filling *f, uint64_t mask, uint64_t inner, cellar_error *err)
{
    uint64_t n_cells = group_n_cells(f->schema, mask, inner);
    if (n_cells == 0)
        return CELLAR_OK;
    if (f->n >= GROUPS_MAX || !cellar_grow(&f->groups, &f->capacity, f->n + 1, sizeof *f->groups))
        return cellar_fail_memory(err, "the margins of a table");
    f->groups[f->n++] = (group){
        .mask = mask,
        .inner = inner,
        .cells = {.n_cells = n_cells,
                  .is_inner = inner == 0 && mask == cellar_schema_full_mask(f->schema->n_variables),
                  .sd_low = INFINITY}};
    return CELLAR_OK;
}

/* Every margin, largest first, with every choice of variables at an upper level. */
static cellar_status groups_make(filling *f, cellar_error *err)
{
    uint64_t upper = 0;
    for (size_t v = 0; v < f->schema->n_variables; v++)
        if (f->schema->axes[v].n_inner > 0)
            upper |= UINT64_C(1) << v;
    for (size_t m = f->schema->n_margins; m-- > 0;) {
        uint64_t mask = f->schema->margins[m], inner = 0;
        do { /* all subsets of mask & upper, the empty one first */
            cellar_status status = group_add(f, mask, inner, err);
            if (status != CELLAR_OK)
                return status;
            inner = (inner - (mask & upper)) & mask & upper;
        } while (inner != 0);
    }
    return CELLAR_OK;
}

static group *group_of(filling *f, uint64_t index)
{
    uint64_t mask = 0, inner = 0;
    for (size_t v = 0; v < f->schema->n_variables; v++) {
        const schema_axis *axis = &f->schema->axes[v];
        uint32_t category = schema_category(f->schema, v, index);
        if (category < axis->n_leaves + axis->n_inner)
            mask |= UINT64_C(1) << v;
        if (category >= axis->n_leaves && category < axis->n_leaves + axis->n_inner)
            inner |= UINT64_C(1) << v;
    }
    for (size_t g = 0; g < f->n; g++)
        if (f->groups[g].mask == mask && f->groups[g].inner == inner)
            return &f->groups[g];
    return NULL;
}

static void groups_count_structural(filling *f)
{
    if (f->schema->structural == NULL || f->schema->n_indices > STRUCTURAL_VISITED_MAX)
        return;
    for (uint64_t index = 0; index < f->schema->n_indices; index++) {
        group *g = cellar_schema_is_structural_zero(f->schema, index) ? group_of(f, index) : NULL;
        if (g != NULL)
            g->cells.n_structural++;
    }
}

/* ---- what is expected ----------------------------------------------------------------------- */

/* Adds `times` cells of one count. */
static void group_meet(filling *f, group *g, int64_t count, double times)
{
    plan_moments m = cellar_plan_law_at(&f->law, count);
    double sd = sqrt(m.variance);
    cellar_plan_cells *cells = &g->cells;
    if (times <= 0)
        return;
    cells->sd_low = fmin(cells->sd_low, sd);
    cells->sd_high = fmax(cells->sd_high, sd);
    if (fabs(m.bias) > fabs(cells->bias))
        cells->bias = m.bias;
    cells->sum_bias += times * m.bias;
    g->sum_variance += times * m.variance;
    f->rows += times * m.listed;
    if (!cells->is_inner && fabs(m.bias) > sd * (1 + 1e-9) + 1e-9)
        cells->is_biased = 1;
}

static void groups_meet_counts(filling *f)
{
    const cellar_cells *cells = &f->numbers->cells;
    for (size_t i = 0; i < cells->n; i++) {
        group *g = cells->count[i] > 0 ? group_of(f, table_index(f->numbers, i)) : NULL;
        if (g == NULL)
            continue;
        g->n_full++;
        group_meet(f, g, (int64_t) cells->count[i], 1);
    }
}

/* Where the total is released itself, nobody needs to add it up. */
static void groups_finish(filling *f)
{
    double false_positive = cellar_plan_law_false_positive(&f->law);
    int has_total = f->schema->margins[0] == 0;
    for (size_t i = 0; i < f->n; i++) {
        group *g = &f->groups[i];
        double n_zeros = (double) (g->cells.n_cells - g->n_full - g->cells.n_structural);
        group_meet(f, g, 0, n_zeros);
        g->cells.false_positives = n_zeros * false_positive;
        g->cells.sum_sd = sqrt(g->sum_variance);
        if (!has_total && fabs(g->cells.sum_bias) > g->cells.sum_sd * (1 + 1e-9) + 1e-9)
            g->cells.is_biased = 1;
        if (isinf(g->cells.sd_low)) /* nothing but structural zeros */
            g->cells.sd_low = 0;
    }
}

/* ---- margins that users add up ------------------------------------------------------------ */

static uint64_t summed_per_cell(const cellar_schema *schema, uint64_t from, uint64_t to)
{
    return group_n_cells(schema, from & ~to, 0);
}

static cellar_status group_add_summed(filling *f, size_t from, uint64_t mask, cellar_error *err)
{
    const plan_summands summed = cellar_plan_summands(f->schema, f->groups[from].mask, mask);
    const cellar_plan_cells cells = f->groups[from].cells;
    cellar_status status = group_add(f, mask, 0, err);
    cellar_plan_cells *made = &f->groups[f->n - 1].cells;
    if (status != CELLAR_OK)
        return status;
    made->is_summed = 1;
    made->n_structural = made->n_cells - (uint64_t) summed.n_cells;
    made->sd_low = cells.sd_low * sqrt(summed.least);
    made->sd_high = cells.sd_high * sqrt(summed.most);
    made->bias = summed.n_cells > 0 ? cells.sum_bias / summed.n_cells : 0;
    made->sum_bias = cells.sum_bias;
    made->sum_sd = cells.sum_sd;
    return CELLAR_OK;
}

/* A margin that is not released is added up from the released one with the fewest summands. */
static cellar_status groups_add_summed(filling *f, cellar_error *err)
{
    size_t n_released = f->n, n_variables = f->schema->n_variables;
    cellar_status status = CELLAR_OK;
    if (n_variables > SUMMED_VARIABLES_MAX)
        return CELLAR_OK;
    for (uint64_t mask = cellar_schema_full_mask(n_variables) + 1;
         mask-- > 0 && status == CELLAR_OK;) {
        size_t best = n_released;
        for (size_t g = 0; g < n_released; g++)
            if (f->groups[g].inner == 0 && (f->groups[g].mask & mask) == mask &&
                (best == n_released || summed_per_cell(f->schema, f->groups[g].mask, mask) <
                                           summed_per_cell(f->schema, f->groups[best].mask, mask)))
                best = g;
        if (best < n_released && f->groups[best].mask != mask)
            status = group_add_summed(f, best, mask, err);
    }
    return status;
}

/* ---- the table ---------------------------------------------------------------------------- */

static cellar_status group_name(filling *f, group *g, cellar_error *err)
{
    cellar_text text = {0};
    const char *separator = "";
    if (g->mask == 0)
        cellar_text_add_string(&text, "total");
    for (size_t v = 0; v < f->schema->n_variables; v++)
        if (g->mask >> v & 1) {
            cellar_text_printf(&text, "%s%s%s", separator, f->schema->axes[v].name,
                               g->inner >> v & 1 ? "^" : "");
            separator = "*";
        }
    g->cells.margin =
        text.failed ? NULL : cellar_arena_copy(f->figures->arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return g->cells.margin != NULL ? CELLAR_OK : cellar_fail_memory(err, "the margins of a table");
}

/* About how long a line of the long CSV is. */
static double line_bytes(const filling *f)
{
    double bytes = 1 + 1 + log10(1 + f->n_records / (double) f->schema->n_possible);
    for (size_t v = 0; v < f->schema->n_variables; v++) {
        double length = 0;
        for (size_t c = 0; c < f->schema->axes[v].n_categories; c++)
            length += (double) strlen(cellar_schema_code(f->schema, v, c));
        bytes += 1 + length / (double) f->schema->axes[v].n_categories;
    }
    return bytes;
}

static double table_bytes(const filling *f, double rows)
{
    const plan_list *formats = &f->figures->work.plan->outputs.formats;
    double lines =
        f->figures->work.plan->outputs.zeros == PLAN_YES ? (double) f->schema->n_possible : rows;
    double bytes = 0;
    if (formats->n == 0 || cellar_plan_has_text(formats, "csv") ||
        cellar_plan_has_text(formats, "csvw") || cellar_plan_has_text(formats, "sdmx"))
        bytes += lines * line_bytes(f);
    bytes += (double) f->schema->n_indices * 3 *
             (cellar_plan_has_text(formats, "json") + cellar_plan_has_text(formats, "px"));
    bytes +=
        (double) f->schema->n_possible * /* compressed, as a large table was */
        (5 * cellar_plan_has_text(formats, "ods") + 19 * cellar_plan_has_text(formats, "xlsx"));
    return bytes;
}

static cellar_status table_finish(filling *f, cellar_plan_table *out, cellar_error *err)
{
    cellar_plan_cells *cells;
    char total[80];
    uint64_t n_parts = f->piece->d * f->figures->work.per_unit * f->figures->work.max_weight *
                       f->figures->work.n_sides;
    cellar_status status = CELLAR_OK;
    cells = cellar_arena_alloc(f->figures->arena, f->n, sizeof *cells);
    if (cells == NULL)
        return cellar_fail_memory(err, "the margins of a table");
    CELLAR_TRY(cellar_share_total(f->piece->mechanism, n_parts, total, sizeof total, err));
    *out = (cellar_plan_table){.name = f->piece->table->name,
                               .mechanism = cellar_mechanism_spec(f->piece->mechanism),
                               .cells_per_record = f->piece->d,
                               .n_cells = f->piece->n_cells,
                               .n_structural = f->piece->n_structural,
                               .rows = f->rows,
                               .bytes = table_bytes(f, f->rows),
                               .cells = cells,
                               .n_cells_groups = f->n};
    if (total[0] != '\0') {
        out->epsilon = cellar_arena_copy(f->figures->arena, total, strlen(total));
        if (out->epsilon == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "a number"));
    }
    for (size_t i = 0; i < f->n; i++) {
        CELLAR_TRY(group_name(f, &f->groups[i], err));
        cells[i] = f->groups[i].cells;
        out->false_positives += cells[i].false_positives;
    }
out:
    return status;
}

cellar_status cellar_plan_figure_table(plan_figures *figures, size_t t, cellar_plan_table *out,
                                       int without_counts, cellar_error *err)
{
    const cellar_plan *plan = figures->work.plan;
    const plan_piece *piece = &figures->work.pieces[t];
    filling f = {.figures = figures, .piece = piece, .numbers = piece->counts};
    cellar_table *rounded = NULL;
    cellar_status status = CELLAR_OK;

    f.schema = cellar_table_schema(piece->counts);
    if (cellar_table_is_weighted(piece->counts) && cellar_table_max_weight(piece->counts) > 0) {
        CELLAR_TRY(cellar_table_round_weights(piece->counts, &rounded, err));
        f.numbers = rounded;
    }
    CELLAR_TRY(cellar_plan_law_init(&f.law, piece->mechanism, (cellar_negatives) plan->negatives,
                                    plan->threshold, err));
    CELLAR_TRY(groups_make(&f, err));
    groups_count_structural(&f);
    if (!without_counts) {
        f.n_records = (double) cellar_table_n_records(f.numbers);
        groups_meet_counts(&f);
    }
    groups_finish(&f);
    CELLAR_TRY(groups_add_summed(&f, err));
    CELLAR_TRY(table_finish(&f, out, err));
out:
    cellar_plan_law_clear(&f.law);
    cellar_free(f.groups);
    cellar_table_free(rounded);
    return status;
}
