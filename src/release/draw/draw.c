/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/draw/draw.h"

#include "base/error.h"
#include "math/flint.h"

int cellar_draw_has(const cellar_draw *draw, uint64_t index)
{
    const cellar_table *table = draw->table;
    return cellar_schema_has_cell(table->schema, index) &&
           !cellar_schema_is_structural_zero(table->schema, index) &&
           (table->cells.status == NULL ||
            cellar_table_at(table, index).status != CELLAR_CELL_STRUCTURAL_ZERO);
}

size_t cellar_draw_position(const cellar_table *table, uint64_t index)
{
    if (table->cells.index == NULL)
        return index < table->cells.n ? (size_t) index : table->cells.n;
    return cellar_cells_position(&table->cells, index);
}

void cellar_draw_leave(int lane)
{
    if (lane != 0) /* that one is the caller's own thread */
        flint_cleanup();
}

cellar_status cellar_draw_report(const cellar_draw *draw, double fraction, cellar_error *err)
{
    if (draw->progress.report == NULL ||
        draw->progress.report(draw->progress.context, "protecting", fraction) == 0)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_CANCELLED, "cancelled; nothing was released");
}
