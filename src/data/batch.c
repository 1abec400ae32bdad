/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* A cache is a copy of what the coder knows; beyond so many texts it starts afresh, so that columns
 * of ever new values cost no more memory. */
enum { CACHE_LIMIT = 1 << 18 };

/* ---- what the lanes share -------------------------------------------------- */

void run_init(scan_run *run)
{
    pthread_mutex_init(&run->lock, NULL);
    pthread_cond_init(&run->turn, NULL);
}

void run_clear(scan_run *run)
{
    cellar_free(run->lines);
    pthread_cond_destroy(&run->turn);
    pthread_mutex_destroy(&run->lock);
}

int run_is_over(scan_run *run, uint64_t sequence)
{
    int over;
    pthread_mutex_lock(&run->lock);
    over = run->stopped || (run->fault.found && sequence > run->fault.sequence);
    pthread_mutex_unlock(&run->lock);
    return over;
}

void run_stop(scan_run *run)
{
    pthread_mutex_lock(&run->lock);
    run->stopped = 1;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
}

cellar_status run_finish_chunk(scan_run *run, uint64_t sequence, uint64_t n_lines,
                               cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    pthread_mutex_lock(&run->lock);
    if (cellar_grow(&run->lines, &run->lines_capacity, sequence + 1, sizeof *run->lines)) {
        while (run->n_lines <= sequence)
            run->lines[run->n_lines++] = 0;
        run->lines[sequence] = n_lines;
    } else {
        status = cellar_fail_memory(err, "line numbers");
        run->stopped = 1;
    }
    if (run->next_in_order <= sequence)
        run->next_in_order = sequence + 1;
    pthread_cond_broadcast(&run->turn);
    pthread_mutex_unlock(&run->lock);
    return status;
}

void run_add_report(scan_run *run, const cellar_row_report *report)
{
    pthread_mutex_lock(&run->lock);
    run->report.n_read += report->n_read;
    run->report.n_bad += report->n_bad;
    run->report.n_filtered += report->n_filtered;
    run->report.n_missing += report->n_missing;
    run->report.n_over_unit += report->n_over_unit;
    pthread_mutex_unlock(&run->lock);
}

cellar_status run_result(scan_run *run, uint64_t lines_before, cellar_error *err)
{
    uint64_t line = lines_before + run->fault.line + 1;
    if (!run->fault.found)
        return CELLAR_OK;
    for (uint64_t i = 0; i < run->fault.sequence && i < run->n_lines; i++)
        line += run->lines[i];
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%s%" PRIu64 ": %s", run->file,
                       run->rows_not_lines ? " row " : "", line, run->fault.message);
}

/* Waits until all chunks before this one are done. */
static void run_wait_for_turn(scan_run *run, uint64_t sequence)
{
    pthread_mutex_lock(&run->lock);
    while (run->next_in_order < sequence && !run->stopped)
        pthread_cond_wait(&run->turn, &run->lock);
    pthread_mutex_unlock(&run->lock);
}

static void run_note_fault(scan_run *run, uint64_t sequence, uint64_t line, const char *column,
                           const char *why)
{
    scan_fault *fault = &run->fault;
    pthread_mutex_lock(&run->lock);
    if (!fault->found || sequence < fault->sequence ||
        (sequence == fault->sequence && line < fault->line)) {
        fault->found = 1;
        fault->sequence = sequence;
        fault->line = line;
        if (column != NULL)
            snprintf(fault->message, sizeof fault->message, "column '%.200s': %s", column, why);
        else
            snprintf(fault->message, sizeof fault->message, "%s", why);
    }
    pthread_mutex_unlock(&run->lock);
}

/* ---- a lane's batch -------------------------------------------------------- */

cellar_status batch_init(cellar_batch *batch, scan_run *run, int lane, cellar_error *err)
{
    size_t n = run->n_uses;
    *batch = (cellar_batch){.run = run, .lane = lane};
    batch->slices = cellar_alloc(n, sizeof *batch->slices);
    batch->codes = cellar_alloc(n, sizeof *batch->codes);
    batch->cache = cellar_alloc(n, sizeof *batch->cache);
    if (batch->slices == NULL || batch->codes == NULL || batch->cache == NULL)
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t u = 0; u < n; u++)
        if (run->uses[u].coder != NULL && !cellar_dictionary_init(&batch->cache[u]))
            return cellar_fail_memory(err, "a dictionary");
    return CELLAR_OK;
}

void batch_clear(cellar_batch *batch)
{
    if (batch->run == NULL)
        return;
    for (size_t u = 0; u < batch->run->n_uses; u++) {
        if (batch->codes != NULL)
            cellar_free(batch->codes[u]);
        if (batch->cache != NULL)
            cellar_dictionary_clear(&batch->cache[u]);
    }
    cellar_free(batch->slices);
    cellar_free(batch->codes);
    cellar_free(batch->cache);
    cellar_free(batch->split_of);
    cellar_free(batch->counts);
    *batch = (cellar_batch){0};
}

static cellar_status batch_reserve(cellar_batch *batch, cellar_error *err)
{
    size_t capacity = batch->n_split + batch->n_split / 8;
    if (batch->n_split <= batch->code_capacity)
        return CELLAR_OK;
    batch->code_capacity = 0;
    for (size_t u = 0; u < batch->run->n_uses; u++) {
        cellar_free(batch->codes[u]);
        batch->codes[u] = NULL;
        if (batch->run->uses[u].coder == NULL)
            continue;
        batch->codes[u] = cellar_alloc(capacity, sizeof **batch->codes);
        if (batch->codes[u] == NULL)
            return cellar_fail_memory(err, "a batch of rows");
    }
    cellar_free(batch->split_of);
    batch->split_of = cellar_alloc(capacity, sizeof *batch->split_of);
    if (batch->split_of == NULL)
        return cellar_fail_memory(err, "a batch of rows");
    if (batch->run->count_use < batch->run->n_uses || batch->n_records_of != NULL) {
        cellar_free(batch->counts);
        batch->counts = cellar_alloc(capacity, sizeof *batch->counts);
        if (batch->counts == NULL)
            return cellar_fail_memory(err, "a batch of rows");
    }
    batch->code_capacity = capacity;
    return CELLAR_OK;
}

void batch_bad_row(cellar_batch *batch, uint64_t line, const char *column, const char *why)
{
    batch->report.n_bad++;
    if (batch->run->bad_rows == CELLAR_BAD_ROWS_ERROR)
        run_note_fault(batch->run, batch->sequence, line, column, why);
}

uint64_t batch_line(const cellar_batch *batch, size_t split)
{
    return batch->line_of != NULL ? batch->line_of[split] : split;
}

const char *batch_slice(const cellar_batch *batch, size_t use, size_t split, size_t *length)
{
    const cellar_slices *slices = &batch->slices[use];
    const uint32_t *mark = slices->marks + split * slices->stride;
    uint32_t begin = mark[0] + 1, end = mark[1];
    if (slices->may_end_in_cr && end > begin && batch->text[end - 1] == '\r')
        end--;
    *length = end - begin;
    return batch->text + begin;
}

/* ---- coding ---------------------------------------------------------------- */

/* A text the lane has not met: the coder knows, or learns. */
static int32_t batch_learn(cellar_batch *batch, size_t use, const char *text, size_t length)
{
    cellar_dictionary *cache = &batch->cache[use];
    int32_t code = cellar_coder_resolve(batch->run->uses[use].coder, text, length);
    if (cellar_dictionary_n(cache) >= CACHE_LIMIT && !cellar_dictionary_reset(cache))
        return CELLAR_OUTCOME_NO_MEMORY;
    if (!cellar_dictionary_add(cache, text, length, code))
        return CELLAR_OUTCOME_NO_MEMORY;
    return code;
}

int32_t batch_resolve(cellar_batch *batch, size_t use, cellar_text *text)
{
    const size_t length = text->length;
    int32_t code;
    cellar_text_printf(text, "%*s", DICTIONARY_INLINE, ""); /* readable bytes for the lookup */
    if (text->failed)
        return CELLAR_OUTCOME_NO_MEMORY;
    code = cellar_dictionary_find(&batch->cache[use], text->bytes, length);
    return code != CELLAR_CODE_ABSENT ? code : batch_learn(batch, use, text->bytes, length);
}

/* One column after the other, so that its dictionary stays in the nearest cache. Answers a negative
 * number if any code is negative. */
static int32_t batch_code_use(cellar_batch *batch, size_t use)
{
    int32_t *codes = batch->codes[use], any = 0;

    if (batch->stored != NULL)
        return scan_stored_codes(batch->stored, use, codes);
    if (batch->frame != NULL && scan_frame_is_coded(batch->frame, use))
        return scan_frame_codes(batch->frame, batch, use, codes);
    batch->slices[use].text = batch->text;
    batch->slices[use].n = batch->n_split;
    for (size_t row = 0;; row++) {
        size_t length;
        const char *text;
        row =
            cellar_dictionary_find_many(&batch->cache[use], &batch->slices[use], row, codes, &any);
        if (row == batch->n_split) {
            cellar_dictionary_settle(&batch->cache[use]);
            return any;
        }
        text = batch_slice(batch, use, row, &length);
        codes[row] = batch_learn(batch, use, text, length);
        any |= codes[row];
    }
}

/* What becomes of a row with outcomes among its codes: a filter comes first, then what is wrong
 * (the first use in order tells), then what is missing. 0: it is counted. */
static int32_t batch_outcome(const cellar_batch *batch, size_t row, size_t *use)
{
    int32_t outcome = 0;
    int filtered = 0;
    for (size_t u = 0; u < batch->run->n_uses; u++) {
        int32_t code = batch->run->uses[u].coder != NULL ? batch->codes[u][row] : 0;
        if (code == CELLAR_OUTCOME_NO_MEMORY)
            return code; /* whatever else: the answer is not known */
        filtered |= code == CELLAR_OUTCOME_FILTERED;
        if (code == CELLAR_OUTCOME_MISSING && batch->run->options->keep_missing)
            continue;
        if (code < 0 && (outcome == 0 || outcome == CELLAR_OUTCOME_MISSING)) {
            outcome = code;
            *use = u;
        }
    }
    return filtered ? CELLAR_OUTCOME_FILTERED : outcome;
}

/* Closes the gaps of rows that are not counted. */
static cellar_status batch_sift(cellar_batch *batch, cellar_error *err)
{
    size_t n_uses = batch->run->n_uses, kept = 0;
    for (size_t row = 0; row < batch->n_split; row++) {
        const uint64_t n = batch->n_records_of != NULL ? batch->n_records_of[row] : 1;
        size_t use = 0;
        int32_t outcome = batch_outcome(batch, row, &use);
        if (outcome == CELLAR_OUTCOME_NO_MEMORY)
            return cellar_fail_memory(err, "a dictionary");
        if (outcome == CELLAR_OUTCOME_FILTERED)
            batch->report.n_filtered += n;
        else if (outcome == CELLAR_OUTCOME_MISSING)
            batch->report.n_missing += n;
        else if (outcome < 0) {
            batch_bad_row(batch, batch_line(batch, row),
                          cellar_coder_variable(batch->run->uses[use].coder),
                          outcome == CELLAR_OUTCOME_ENCODING && batch->frame != NULL
                              ? "the text is not valid UTF-8"
                              : cellar_outcome_text(outcome));
            batch->report.n_bad += n - 1;
        } else {
            for (size_t u = 0; u < n_uses; u++)
                if (batch->codes[u] != NULL)
                    batch->codes[u][kept] = batch->codes[u][row];
            batch->split_of[kept++] = (uint32_t) row;
        }
    }
    batch->n_rows = kept;
    return CELLAR_OK;
}

/* ---- delivery ---------------------------------------------------------------- */

cellar_status batch_deliver(cellar_batch *batch, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int32_t any = 0;

    CELLAR_TRY(batch_reserve(batch, err));
    for (size_t u = 0; batch->n_split > 0 && u < batch->run->n_uses; u++)
        if (batch->run->uses[u].coder != NULL)
            any |= batch_code_use(batch, u);
    batch->n_rows = batch->n_split;
    batch->all_counted = any >= 0;
    if (any < 0)
        CELLAR_TRY(batch_sift(batch, err));
    if (batch->n_records_of != NULL)
        batch_take_counts(batch);
    else if (batch->counts != NULL)
        CELLAR_TRY(batch_count(batch, err));
    if (batch->run->suspect_use < batch->run->n_uses)
        batch_suspect(batch);
    if (batch->run->options->in_order)
        run_wait_for_turn(batch->run, batch->sequence);
    if (run_is_over(batch->run, batch->sequence))
        return CELLAR_OK;
    if (batch->n_rows > 0)
        CELLAR_TRY(batch->run->sink(batch->run->context, batch->lane, batch, err));
out:
    return status;
}

/* ---- what a sink sees ------------------------------------------------------ */

size_t cellar_batch_n_rows(const cellar_batch *batch)
{
    return batch->n_rows;
}

const int32_t *cellar_batch_codes(const cellar_batch *batch, size_t use)
{
    return batch->codes[use];
}

const char *cellar_batch_text(const cellar_batch *batch, size_t use, size_t row, size_t *length)
{
    return batch_slice(batch, use, batch->all_counted ? row : batch->split_of[row], length);
}

cellar_stored_weights cellar_batch_weight(const cellar_batch *batch, size_t use, size_t row,
                                          cellar_int128 *weight)
{
    if (batch->stored == NULL)
        return CELLAR_WEIGHTS_TEXT;
    return scan_stored_weight(batch->stored, use, batch->all_counted ? row : batch->split_of[row],
                              weight)
               ? CELLAR_WEIGHTS_SUMMED
               : CELLAR_WEIGHTS_NUMBER;
}

int cellar_batch_number(const cellar_batch *batch, size_t use, size_t row, uint64_t *number)
{
    if (batch->stored == NULL)
        return 0;
    *number =
        scan_stored_number(batch->stored, use, batch->all_counted ? row : batch->split_of[row]);
    return 1;
}

int cellar_batch_units_are_bounded(const cellar_batch *batch)
{
    return batch->n_records_of != NULL;
}

const uint64_t *cellar_batch_counts(const cellar_batch *batch)
{
    return batch->counts;
}

uint64_t cellar_counts_sum(const uint64_t *counts, size_t n)
{
    uint64_t sum = counts == NULL ? n : 0;
    for (size_t i = 0; counts != NULL && i < n; i++)
        sum += counts[i];
    return sum;
}

void cellar_batch_reject(cellar_batch *batch, const char *column, size_t row, const char *why)
{
    size_t split = batch->all_counted ? row : batch->split_of[row];
    batch_bad_row(batch, batch_line(batch, split), column, why);
}
