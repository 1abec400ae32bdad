/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows that stand for several records. */
#include "base/error.h"
#include "data/batch.h"
#include "data/counts.h"

static void batch_move_row(cellar_batch *batch, size_t from, size_t to)
{
    for (size_t u = 0; u < batch->run->n_uses; u++)
        if (batch->codes[u] != NULL)
            batch->codes[u][to] = batch->codes[u][from];
    batch->split_of[to] = batch->all_counted ? (uint32_t) from : batch->split_of[from];
}

/* Reads what each row stands for, and closes the gaps of rows that stand for nobody or cannot be
 * read. */
cellar_status batch_count(cellar_batch *batch, cellar_error *err)
{
    const size_t use = batch->run->count_use;
    size_t kept = 0;
    for (size_t row = 0; row < batch->n_rows; row++) {
        size_t length, split = batch->all_counted ? row : batch->split_of[row];
        const char *text = batch_slice(batch, use, split, &length);
        uint64_t count;
        if (!cellar_count_parse(text, length, &count)) {
            batch_bad_row(batch, batch_line(batch, split), batch->run->count_column,
                          "expected the number of records that the row stands for, a whole number "
                          "of at least 0");
            continue;
        }
        batch->n_records += count;
        if (batch->n_records > cellar_count_limit)
            return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                               "%s: column '%.200s': the rows stand for more than 2^52 records",
                               batch->run->file, batch->run->count_column);
        if (count == 0)
            continue;
        batch_move_row(batch, row, kept);
        batch->counts[kept++] = count;
    }
    batch->n_rows = kept;
    batch->all_counted = 0;
    return CELLAR_OK;
}

/* The records of the rows left, where equal rows were counted. */
void batch_take_counts(cellar_batch *batch)
{
    for (size_t row = 0; row < batch->n_rows; row++)
        batch->counts[row] = batch->n_records_of[batch->all_counted ? row : batch->split_of[row]];
}

/* Whether a column called n holds nothing but positive whole numbers; one other value settles it.
 */
void batch_suspect(cellar_batch *batch)
{
    scan_run *run = batch->run;
    int innocent;
    pthread_mutex_lock(&run->lock);
    innocent = run->suspect_is_innocent;
    pthread_mutex_unlock(&run->lock);
    for (size_t split = 0; !innocent && split < batch->n_split; split++) {
        size_t length;
        const char *text = batch_slice(batch, run->suspect_use, split, &length);
        uint64_t count;
        innocent = !cellar_count_parse(text, length, &count) || count == 0;
    }
    if (innocent) {
        pthread_mutex_lock(&run->lock);
        run->suspect_is_innocent = 1;
        pthread_mutex_unlock(&run->lock);
    }
}
