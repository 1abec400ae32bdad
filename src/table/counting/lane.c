/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/counting/lane.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/record_key.h"

/* The key of a row, derived or read. 0: the row was rejected. */
static int lane_key(const cellar_admission *a, cellar_batch *batch, size_t row, uint64_t *key)
{
    const cellar_tabulate_spec *spec = a->spec;
    size_t length;
    const char *text;

    if (cellar_batch_number(batch, a->key_use, row, key))
        return 1;
    text = cellar_batch_text(batch, a->key_use, row, &length);
    if (spec->record_id_column != NULL) {
        if (length == 0) {
            cellar_batch_reject(batch, spec->record_id_column, row, "the identifier is missing");
            return 0;
        }
        *key = cellar_record_key_derive(spec->record_secret, text, length, spec->key_range);
        return 1;
    }
    if (cellar_record_key_parse(text, length, spec->key_range, key))
        return 1;
    cellar_batch_reject(batch, spec->record_key_column, row,
                        spec->key_range > 0
                            ? "expected a record key, an integer below the key range"
                            : "expected a record key, a decimal in [0,1)");
    return 0;
}

/* The weight of all records that a row stands for. 0: the row was rejected. */
static int lane_weight(const cellar_admission *a, cellar_batch *batch, size_t row, uint64_t count,
                       cellar_int128 *weight)
{
    const char *column = a->spec->weight_column, *text;
    const cellar_stored_weights kind = cellar_batch_weight(batch, a->weight_use, row, weight);
    size_t length;

    if (kind == CELLAR_WEIGHTS_SUMMED)
        return 1;
    if (kind == CELLAR_WEIGHTS_TEXT) {
        text = cellar_batch_text(batch, a->weight_use, row, &length);
        if (!cellar_parse_decimal(text, length, CELLAR_WEIGHT_SCALE, weight, NULL) || *weight < 0) {
            cellar_batch_reject(batch, column, row,
                                "expected a weight, a decimal number of at least 0");
            return 0;
        }
    }
    if (a->largest_weight > 0 && *weight > a->largest_weight)
        *weight = a->largest_weight;
    if (count > 1 && __builtin_mul_overflow(*weight, (cellar_int128) count, weight)) {
        cellar_batch_reject(batch, column, row,
                            "the weight times the number of records is too large");
        return 0;
    }
    return 1;
}

/* Asks the unit of a row. */
static cellar_admitted lane_unit(const cellar_admission *a, cellar_batch *batch, size_t row,
                                 uint64_t *number)
{
    uint64_t stored;
    size_t length = sizeof stored;
    const char *text = (const char *) &stored;
    int admitted;

    if (!cellar_batch_number(batch, a->unit_use, row, &stored))
        text = cellar_batch_text(batch, a->unit_use, row, &length);
    if (length == 0) {
        cellar_batch_reject(batch, a->spec->unit_column, row, "the unit is missing");
        return CELLAR_ROW_REJECTED;
    }
    if (a->number_units)
        return cellar_units_number(a->units, text, length, number) ? CELLAR_ROW_COUNTS
                                                                   : CELLAR_ROW_NO_MEMORY;
    admitted = cellar_units_admit(a->units, text, length);
    if (admitted > 0)
        return CELLAR_ROW_COUNTS;
    return admitted < 0 ? CELLAR_ROW_NO_MEMORY : CELLAR_ROW_OVER_UNIT;
}

/* The unit comes last, so that a row which is no good does not use up a place of its unit. */
cellar_admitted cellar_lane_admit(const cellar_admission *a, cellar_lane *lane, cellar_batch *batch,
                                  size_t row, uint64_t count, size_t n)
{
    if (a->spec->weight_column != NULL && !lane_weight(a, batch, row, count, &lane->weights[n]))
        return CELLAR_ROW_REJECTED;
    if (a->key_range > 0 && !lane_key(a, batch, row, &lane->record_keys[n]))
        return CELLAR_ROW_REJECTED;
    return a->units != NULL && !cellar_batch_units_are_bounded(batch)
               ? lane_unit(a, batch, row, a->number_units ? &lane->unit_numbers[n] : NULL)
               : CELLAR_ROW_COUNTS;
}

int cellar_lane_reserve(const cellar_admission *a, cellar_lane *lane, size_t n)
{
    int ok = 1;
    if (a->spec->weight_column != NULL)
        ok = cellar_grow(&lane->weights, &lane->weights_capacity, n, sizeof *lane->weights);
    if (ok && a->key_range > 0)
        ok = cellar_grow(&lane->record_keys, &lane->keys_capacity, n, sizeof *lane->record_keys);
    if (ok && a->number_units)
        ok = cellar_grow(&lane->unit_numbers, &lane->units_capacity, n, sizeof *lane->unit_numbers);
    return ok;
}

static int lane_reserve_rows(const cellar_admission *a, cellar_lane *lane, size_t n, int counted)
{
    int ok = cellar_lane_reserve(a, lane, n);
    for (size_t v = 0; ok && v < a->spec->n_variables; v++)
        ok = cellar_grow(&lane->kept[v], &lane->kept_capacity[v], n, sizeof *lane->kept[v]);
    if (ok && counted)
        ok = cellar_grow(&lane->counts, &lane->counts_capacity, n, sizeof *lane->counts);
    return ok;
}

cellar_status cellar_lane_pick(cellar_lane *lane, const cellar_admission *a, cellar_batch *batch,
                               cellar_coded_rows *rows, cellar_error *err)
{
    size_t n = 0;
    if (!lane_reserve_rows(a, lane, rows->n, rows->counts != NULL))
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t row = 0; row < rows->n; row++)
        switch (cellar_lane_admit(a, lane, batch, row, rows->counts != NULL ? rows->counts[row] : 1,
                                  n)) {
        case CELLAR_ROW_COUNTS:
            if (rows->counts != NULL)
                lane->counts[n] = rows->counts[row];
            for (size_t v = 0; v < a->spec->n_variables; v++)
                lane->kept[v][n] = lane->codes[v][row];
            n++;
            break;
        case CELLAR_ROW_OVER_UNIT:
            lane->n_over_unit++;
            break;
        case CELLAR_ROW_NO_MEMORY:
            return cellar_fail_memory(err, "units");
        default:
            break;
        }
    for (size_t v = 0; v < a->spec->n_variables; v++)
        lane->codes[v] = lane->kept[v];
    rows->n = n;
    rows->counts = rows->counts != NULL ? lane->counts : NULL;
    rows->weights = a->spec->weight_column != NULL ? lane->weights : NULL;
    rows->record_keys = a->key_range > 0 ? lane->record_keys : NULL;
    return CELLAR_OK;
}

void cellar_lane_clear(cellar_lane *lane)
{
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++)
        cellar_free(lane->kept[v]);
    cellar_free(lane->counts);
    cellar_free(lane->weights);
    cellar_free(lane->record_keys);
    cellar_free(lane->unit_numbers);
}
