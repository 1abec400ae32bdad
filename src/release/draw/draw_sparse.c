/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All cells of all margins stand in one long row; whether each is listed as a zero would be is a
 * run of independent trials, of which only the successes are visited. A success on a cell that
 * holds records, or on a structural zero, means nothing and is dropped: trials are independent, so
 * dropping some leaves the others as they are. Gaps have no memory, so lanes take a part each. */
#include "release/draw/draw.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { SPARSE_REPORT = 1 << 16, SPARSE_BLOCK = 1 << 15 };

/* The row of all cells: margin after margin, each in canonical order. */
typedef struct sparse_row {
    const cellar_schema *schema;
    size_t n_margins;
    uint64_t *starts; /* n_margins + 1 */
} sparse_row;

typedef struct sparse_lane {
    cells_builder hits;
    cellar_search search;
} sparse_lane;

typedef struct sparse_work {
    cellar_draw *draw;
    sparse_row row;
    sparse_lane *lanes;
    int n_lanes;
} sparse_work;

static uint32_t sparse_radix(const cellar_schema *schema, size_t v)
{
    return schema->axes[v].n_leaves + schema->axes[v].n_inner;
}

static cellar_status sparse_row_init(sparse_row *row, const cellar_schema *schema,
                                     cellar_error *err)
{
    row->schema = schema;
    row->n_margins = schema->n_margins;
    row->starts = cellar_alloc(row->n_margins + 1, sizeof *row->starts);
    if (row->starts == NULL)
        return cellar_fail_memory(err, "a release");
    for (size_t m = 0; m < row->n_margins; m++) {
        uint64_t n = 1; /* no overflow: the schema has fewer than 2^63 indices */
        for (size_t v = 0; v < schema->n_variables; v++)
            if (schema->margins[m] >> v & 1)
                n *= sparse_radix(schema, v);
        row->starts[m + 1] = row->starts[m] + n;
    }
    return CELLAR_OK;
}

/* The cell at a place of the row. `margin` is where the search begins and ends. */
static uint64_t sparse_index(const sparse_row *row, uint64_t place, size_t *margin)
{
    const cellar_schema *schema = row->schema;
    uint64_t rest, index = 0;
    while (place >= row->starts[*margin + 1])
        ++*margin;
    rest = place - row->starts[*margin];
    for (size_t v = schema->n_variables; v-- > 0;) {
        const schema_axis *axis = &schema->axes[v];
        if (schema->margins[*margin] >> v & 1) {
            uint64_t above = schema_quotient(rest, sparse_radix(schema, v));
            index += (rest - above * sparse_radix(schema, v)) * axis->stride;
            rest = above;
        } else {
            index += (uint64_t) (axis->n_categories - 1) * axis->stride;
        }
    }
    return index;
}

/* 0 when the cell has a draw of its own, for it holds records, or is a structural zero. */
static int sparse_is_zero(const cellar_table *table, uint64_t index)
{
    cellar_cell cell = cellar_table_at(table, index);
    return cell.count == 0 && cell.status == CELLAR_CELL_NORMAL;
}

static cellar_status sparse_add_hit(cellar_draw *draw, sparse_lane *lane, uint64_t index,
                                    cellar_error *err)
{
    cellar_cells *hits = &lane->hits.cells;
    int64_t released;
    cellar_status status = cellar_zeros_draw(draw->zeros, &lane->search, &released, err);
    if (status == CELLAR_OK)
        status = cellar_cells_reserve(&lane->hits, hits, 1, err);
    if (status != CELLAR_OK)
        return status;
    hits->index[hits->n] = index;
    hits->count[hits->n++] = (uint64_t) released;
    return CELLAR_OK;
}

static cellar_status sparse_lane_run(void *context, int lane_number, cellar_error *err)
{
    sparse_work *work = context;
    cellar_draw *draw = work->draw;
    sparse_lane *lane = &work->lanes[lane_number];
    uint64_t n = work->row.starts[work->row.n_margins], share = n / (uint64_t) work->n_lanes;
    uint64_t place = share * (uint64_t) lane_number, gap;
    uint64_t end = lane_number + 1 == work->n_lanes ? n : place + share;
    size_t margin = 0, n_hits = 0;
    cellar_status status = CELLAR_OK;

    lane->search.rng = draw->rngs[lane_number];
    for (;; place++) {
        uint64_t index;
        CELLAR_TRY(cellar_zeros_skip(draw->zeros, &lane->search, &gap, err));
        if (gap >= end - place)
            break;
        place += gap;
        index = sparse_index(&work->row, place, &margin);
        if (sparse_is_zero(draw->table, index))
            CELLAR_TRY(sparse_add_hit(draw, lane, index, err));
        if (lane_number == 0 && ++n_hits % SPARSE_REPORT == 0)
            CELLAR_TRY(cellar_draw_report(draw, (double) place / (double) end, err));
    }
out:
    cellar_search_clear(&lane->search);
    cellar_draw_leave(lane_number);
    return status;
}

/* The cells that hold records, each with its own law. */
static cellar_status sparse_draw_counts(cellar_draw *draw, cellar_error *err)
{
    const cellar_table *table = draw->table;
    int64_t *values = cellar_alloc(SPARSE_BLOCK, sizeof *values);
    cellar_cells *out = &draw->out.cells;
    cellar_status status = CELLAR_OK;

    if (values == NULL)
        return cellar_fail_memory(err, "a release");
    CELLAR_TRY(cellar_cells_reserve(&draw->out, out, table->cells.n, err));
    for (size_t first = 0; first < table->cells.n; first += SPARSE_BLOCK) {
        size_t n = table->cells.n - first < SPARSE_BLOCK ? table->cells.n - first : SPARSE_BLOCK;
        for (size_t i = 0; i < n; i++)
            values[i] = (int64_t) table->cells.count[first + i];
        CELLAR_TRY(
            cellar_mechanism_sample_many(draw->mechanism, values, n, draw->rngs[0], values, err));
        for (size_t i = 0; i < n; i++) {
            out->index[out->n] = table_index(table, first + i);
            out->count[out->n] = (uint64_t) values[i];
            out->n += (size_t) (cellar_listing_has(&draw->listing, values[i]) &
                                (table->cells.count[first + i] != 0));
        }
    }
out:
    cellar_wipe(values, SPARSE_BLOCK * sizeof *values);
    cellar_free(values);
    return status;
}

cellar_status cellar_draw_sparse(cellar_draw *draw, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    sparse_work work = {.draw = draw, .n_lanes = cellar_pool_n_lanes(draw->pool)};
    const cellar_schema *schema = draw->table->schema;

    work.lanes = cellar_alloc((size_t) work.n_lanes, sizeof *work.lanes);
    if (work.lanes == NULL)
        return cellar_fail_memory(err, "a release");
    CELLAR_TRY(sparse_row_init(&work.row, schema, err));
    CELLAR_TRY(sparse_draw_counts(draw, err));
    CELLAR_TRY(cellar_pool_run(draw->pool, sparse_lane_run, &work, err));
    for (int i = 0; i < work.n_lanes; i++)
        CELLAR_TRY(cellar_cells_append(&draw->out, &work.lanes[i].hits.cells, err));
    CELLAR_TRY(cellar_cells_sort(&draw->out.cells, schema->n_indices, 0, err));
    draw->out.capacity = draw->out.cells.n;
out:
    for (int i = 0; i < work.n_lanes; i++)
        cellar_cells_clear(&work.lanes[i].hits.cells);
    cellar_free(work.lanes);
    cellar_free(work.row.starts);
    return status;
}
