/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/writer.h"

#include <string.h>

#include "base/error.h"

static const char notice[] =
    "\nConfidential: records of people, written by cellar store build. Keep it like the data.\n";

static cellar_status fail_memory(cellar_error *err)
{
    return cellar_fail_memory(err, "the rows of a store");
}

/* ---- life cycle -------------------------------------------------------------- */

static cellar_status new_group(store_writer *w, cellar_error *err)
{
    w->group = cellar_alloc_pages((size_t) w->group_bytes);
    if (w->group == NULL)
        return fail_memory(err);
    memset(w->group, 0, (size_t) w->group_bytes);
    w->n_in_group = 0;
    return CELLAR_OK;
}

cellar_status cellar_store_writer_init(store_writer *w, const cellar_stored_column *columns,
                                       size_t n_columns, int is_held, cellar_output *output,
                                       cellar_error *err)
{
    stored_start start = {.version = STORED_VERSION};
    static const unsigned char zeros[STORED_START - sizeof start - sizeof notice + 1];
    *w = (store_writer){
        .output = output, .columns = columns, .n_columns = n_columns, .is_held = is_held};
    for (size_t c = 0; c < n_columns; c++)
        w->group_bytes += columns[c].piece;
    memcpy(start.mark, STORED_MARK, sizeof start.mark);
    cellar_output_write(output, &start, sizeof start);
    cellar_output_write(output, notice, sizeof notice - 1);
    cellar_output_write(output, zeros, sizeof zeros);
    return new_group(w, err);
}

void cellar_store_writer_clear(store_writer *w)
{
    for (size_t g = 0; g < w->n_held; g++)
        cellar_free(w->held[g]);
    cellar_free(w->held);
    cellar_free(w->group);
    cellar_free(w->sums);
    *w = (store_writer){0};
}

/* ---- groups ------------------------------------------------------------------ */

/* Writes the first rows of a group: pieces of fewer rows are shorter. */
static cellar_status write_group(store_writer *w, const unsigned char *group, size_t n_rows,
                                 cellar_error *err)
{
    if (!cellar_grow(&w->sums, &w->sums_capacity, w->n_sums + w->n_columns, sizeof *w->sums))
        return fail_memory(err);
    for (size_t c = 0; c < w->n_columns; c++) {
        const size_t bytes = (size_t) cellar_stored_piece_bytes(&w->columns[c], n_rows);
        cellar_output_write(w->output, group + w->columns[c].offset, bytes);
        w->sums[w->n_sums++] = cellar_stored_sum(group + w->columns[c].offset, bytes);
    }
    return CELLAR_OK;
}

static cellar_status hold_group(store_writer *w, cellar_error *err)
{
    if (!cellar_grow(&w->held, &w->held_capacity, w->n_held + 1, sizeof *w->held))
        return fail_memory(err);
    w->held[w->n_held++] = w->group;
    w->group = NULL;
    return new_group(w, err);
}

cellar_status cellar_store_writer_advance(store_writer *w, size_t n, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    w->n_in_group += n;
    w->n_rows += n;
    if (w->n_in_group < STORED_GROUP_ROWS)
        return CELLAR_OK;
    if (w->is_held)
        return hold_group(w, err);
    CELLAR_TRY(write_group(w, w->group, STORED_GROUP_ROWS, err));
    w->n_in_group = 0;
out:
    return status;
}

/* ---- sorting ----------------------------------------------------------------- */

static uint64_t held_value(const store_writer *w, size_t column, uint64_t row)
{
    const cellar_stored_column *c = &w->columns[column];
    return cellar_stored_value(w->held[row / STORED_GROUP_ROWS] + c->offset, c->width,
                               (size_t) (row % STORED_GROUP_ROWS));
}

/* row_at[p]: the row that goes to place p, by counting values. */
static cellar_status sort_rows(const store_writer *w, size_t column, uint32_t **row_at,
                               cellar_error *err)
{
    const size_t n_values = (size_t) w->columns[column].limit;
    uint64_t *next = cellar_alloc(n_values + 1, sizeof *next);
    *row_at = cellar_alloc((size_t) w->n_rows, sizeof **row_at);
    if (next == NULL || *row_at == NULL) {
        cellar_free(next);
        return fail_memory(err);
    }
    for (uint64_t row = 0; row < w->n_rows; row++)
        next[held_value(w, column, row) + 1]++;
    for (size_t value = 1; value < n_values; value++)
        next[value] += next[value - 1];
    for (uint64_t row = 0; row < w->n_rows; row++)
        (*row_at)[next[held_value(w, column, row)]++] = (uint32_t) row;
    cellar_free(next);
    return CELLAR_OK;
}

static void note_places(store_writer *w, const uint32_t *row_at)
{
    const cellar_stored_column *order = &w->columns[CELLAR_STORED_ORDER];
    for (uint64_t place = 0; order->width > 0 && place < w->n_rows; place++) {
        uint32_t *places =
            (uint32_t *) (void *) (w->held[row_at[place] / STORED_GROUP_ROWS] + order->offset);
        places[row_at[place] % STORED_GROUP_ROWS] = (uint32_t) place;
    }
}

/* Takes the rows of one group from wherever they are held; the places stay where they are, one for
 * each row of the data. */
static void gather_group(store_writer *w, const uint32_t *row_at, uint64_t first, size_t n)
{
    for (size_t c = 0; c < w->n_columns; c++) {
        const size_t width = w->columns[c].width;
        unsigned char *to = w->group + w->columns[c].offset;
        memset(to, 0, (size_t) w->columns[c].piece);
        for (size_t i = 0; i < n; i++) {
            const uint64_t row = c == CELLAR_STORED_ORDER ? first + i : row_at[first + i];
            const unsigned char *from = w->held[row / STORED_GROUP_ROWS] + w->columns[c].offset +
                                        row % STORED_GROUP_ROWS * width;
            memcpy(to + i * width, from, width);
        }
    }
}

static cellar_status write_sorted(store_writer *w, size_t column, cellar_error *err)
{
    uint32_t *row_at = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(hold_group(w, err)); /* the last one, and a new one to gather into */
    CELLAR_TRY(sort_rows(w, column, &row_at, err));
    note_places(w, row_at);
    for (uint64_t first = 0; first < w->n_rows; first += STORED_GROUP_ROWS) {
        const uint64_t left = w->n_rows - first;
        const size_t n = left < STORED_GROUP_ROWS ? (size_t) left : STORED_GROUP_ROWS;
        gather_group(w, row_at, first, n);
        CELLAR_TRY(write_group(w, w->group, n, err));
    }
out:
    cellar_free(row_at);
    return status;
}

cellar_status cellar_store_writer_finish(store_writer *w, size_t sort_column, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (w->is_held)
        CELLAR_TRY(write_sorted(w, sort_column, err));
    else if (w->n_in_group > 0) {
        for (size_t c = 0; c < w->n_columns; c++) { /* what an earlier group left */
            const size_t used = w->columns[c].width * w->n_in_group;
            memset(w->group + w->columns[c].offset + used, 0, (size_t) w->columns[c].piece - used);
        }
        CELLAR_TRY(write_group(w, w->group, w->n_in_group, err));
    }
    cellar_output_write(w->output, w->sums, w->n_sums * sizeof *w->sums);
out:
    return status;
}
