/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/counting/collapse.h"

#include "base/error.h"
#include "table/table.h"

/* The index in the wanted table of cells that differ in the last variable only begins at a base,
 * which is worked out once. */
typedef struct collapse_run {
    const cellar_collapse_axis *axes;
    size_t n_axes;
    uint64_t start, end, base;
} collapse_run;

static uint64_t collapse_index(collapse_run *run, uint64_t index)
{
    const cellar_collapse_axis *last = &run->axes[run->n_axes - 1];
    if (index < run->start || index >= run->end) {
        uint64_t rest = index / last->n;
        run->start = rest * last->n;
        run->end = run->start + last->n;
        run->base = 0;
        for (size_t k = run->n_axes - 1; k-- > 0;) {
            run->base += rest % run->axes[k].n * run->axes[k].stride;
            rest /= run->axes[k].n;
        }
    }
    return run->base + (index - run->start) * last->stride;
}

cellar_status cellar_cells_collapse(const cellar_cells *cells, const cellar_collapse_axis *axes,
                                    size_t n_axes, uint64_t n_indices, uint64_t key_range,
                                    cellar_cells *out, cellar_error *err)
{
    /* a place for every possible cell, unless these are many more than the cells */
    const int is_dense = n_indices / 4 <= cells->n;
    collapse_run run = {.axes = axes, .n_axes = n_axes};
    cellar_status status =
        cellar_cells_create_like(cells, is_dense ? (size_t) n_indices : cells->n, out, err);
    for (size_t i = 0; status == CELLAR_OK && i < out->n; i++)
        out->index[i] = i;
    for (size_t i = 0; status == CELLAR_OK && i < cells->n; i++) {
        const uint64_t index = collapse_index(&run, cells->index[i]);
        const size_t place = is_dense ? (size_t) index : i;
        out->index[place] = index;
        if (!cells_add(out, place, cells, i, key_range))
            status = cellar_fail(err, CELLAR_ERR_OVERFLOW, "a sum of counts is too large");
    }
    return status;
}
