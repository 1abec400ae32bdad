/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/counting/lane.h"

#include "base/error.h"
#include "base/memory.h"
#include "data/record_key.h"

enum { ROW_COUNTS, ROW_REJECTED, ROW_OVER_UNIT, ROW_NO_MEMORY };

/* The key of a row, derived or read. 0: the row was rejected. */
static int lane_key(const cellar_admission *a, cellar_batch *batch, size_t row, uint64_t *key)
{
    const cellar_tabulate_spec *spec = a->spec;
    size_t length;
    const char *text = cellar_batch_text(batch, a->key_use, row, &length);

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

/* The weight (of all records that the row stands for) and key of a row go to position `n` of the
 * lane's arrays. The unit comes last, so that a row which is no good does not use up a place of its
 * unit. */
static int lane_admit(const cellar_admission *a, cellar_lane *lane, cellar_batch *batch, size_t row,
                      uint64_t count, size_t n)
{
    const cellar_tabulate_spec *spec = a->spec;
    size_t length;
    const char *text;

    if (spec->weight_column != NULL) {
        text = cellar_batch_text(batch, a->weight_use, row, &length);
        if (!cellar_parse_decimal(text, length, CELLAR_WEIGHT_SCALE, &lane->weights[n], NULL) ||
            lane->weights[n] < 0) {
            cellar_batch_reject(batch, spec->weight_column, row,
                                "expected a weight, a decimal number of at least 0");
            return ROW_REJECTED;
        }
        if (a->largest_weight > 0 && lane->weights[n] > a->largest_weight)
            lane->weights[n] = a->largest_weight;
        if (count > 1 &&
            __builtin_mul_overflow(lane->weights[n], (cellar_int128) count, &lane->weights[n])) {
            cellar_batch_reject(batch, spec->weight_column, row,
                                "the weight times the number of records is too large");
            return ROW_REJECTED;
        }
    }
    if (a->key_range > 0 && !lane_key(a, batch, row, &lane->record_keys[n]))
        return ROW_REJECTED;
    if (a->units != NULL) {
        int admitted;
        text = cellar_batch_text(batch, a->unit_use, row, &length);
        if (length == 0) {
            cellar_batch_reject(batch, spec->unit_column, row, "the unit is missing");
            return ROW_REJECTED;
        }
        admitted = cellar_units_admit(a->units, text, length);
        if (admitted <= 0)
            return admitted < 0 ? ROW_NO_MEMORY : ROW_OVER_UNIT;
    }
    return ROW_COUNTS;
}

static int lane_reserve(const cellar_admission *a, cellar_lane *lane, size_t n)
{
    int ok = 1;
    for (size_t v = 0; ok && v < a->spec->n_variables; v++)
        ok = cellar_grow(&lane->kept[v], &lane->kept_capacity[v], n, sizeof *lane->kept[v]);
    if (ok && a->spec->reader.count_column != NULL)
        ok = cellar_grow(&lane->counts, &lane->counts_capacity, n, sizeof *lane->counts);
    if (ok && a->spec->weight_column != NULL)
        ok = cellar_grow(&lane->weights, &lane->weights_capacity, n, sizeof *lane->weights);
    if (ok && a->key_range > 0)
        ok = cellar_grow(&lane->record_keys, &lane->keys_capacity, n, sizeof *lane->record_keys);
    return ok;
}

cellar_status cellar_lane_pick(cellar_lane *lane, const cellar_admission *a, cellar_batch *batch,
                               cellar_coded_rows *rows, cellar_error *err)
{
    size_t n = 0;
    if (!lane_reserve(a, lane, rows->n))
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t row = 0; row < rows->n; row++)
        switch (lane_admit(a, lane, batch, row, rows->counts != NULL ? rows->counts[row] : 1, n)) {
        case ROW_COUNTS:
            if (rows->counts != NULL)
                lane->counts[n] = rows->counts[row];
            for (size_t v = 0; v < a->spec->n_variables; v++)
                lane->kept[v][n] = lane->codes[v][row];
            n++;
            break;
        case ROW_OVER_UNIT:
            lane->n_over_unit++;
            break;
        case ROW_NO_MEMORY:
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
}
