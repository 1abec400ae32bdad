/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the records of a file to a store: lanes parse and code, and one after the other packs. */
#include <cellar/store.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/record_key.h"
#include "data/scan.h"
#include "data/stored/heading.h"
#include "store/building.h"
#include "table/counting/lane.h"

typedef struct building {
    const cellar_tabulate_spec *spec;
    store_building to;
    cellar_scan *scan;
    size_t n_uses;
    cellar_codelist **held;
    cellar_condition **conditions;
    cellar_coder **filters; /* of the conditions */
    cellar_scan_use *uses;  /* of variables, conditions, then weight, record key and unit */
    cellar_admission admission;
    cellar_lane lane;
    uint32_t *rows; /* of a batch: those that are stored */
    size_t rows_capacity;
} building;

/* ---- what to read --------------------------------------------------------------- */

static cellar_status check_keys(const cellar_tabulate_spec *spec, cellar_error *err)
{
    if ((spec->record_id_column != NULL) == (spec->record_secret != NULL) &&
        (spec->record_id_column == NULL || spec->record_key_column == NULL))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "record keys are either read, or derived from an identifier and a secret");
}

static cellar_status allocate(building *b, cellar_error *err)
{
    const size_t n = b->spec->n_variables, n_where = b->spec->n_where;
    b->held = cellar_alloc(n, sizeof *b->held);
    b->conditions = cellar_alloc(n_where, sizeof *b->conditions);
    b->filters = cellar_alloc(n_where, sizeof *b->filters);
    b->uses = cellar_alloc(n + n_where + 3, sizeof *b->uses);
    if (b->held == NULL || b->conditions == NULL || b->filters == NULL || b->uses == NULL)
        return cellar_fail_memory(err, "a store");
    return CELLAR_OK;
}

static void add_use(building *b, size_t column, cellar_coder *coder)
{
    b->uses[b->n_uses++] = (cellar_scan_use){.column = column, .coder = coder};
}

static cellar_status add_variable(building *b, size_t v, cellar_error *err)
{
    cellar_coder_spec coder = {0};
    cellar_status status = CELLAR_OK;
    size_t column = 0;
    CELLAR_TRY(
        cellar_scan_variable(b->scan, &b->spec->variables[v], &coder, &column, &b->held[v], err));
    CELLAR_TRY(cellar_store_building_add(&b->to, v, &coder, err));
    add_use(b, column, b->to.coders[v]);
out:
    return status;
}

static cellar_status add_condition(building *b, size_t w, cellar_error *err)
{
    cellar_coder_spec coder = {.encoding = cellar_scan_encoding(b->scan)};
    cellar_status status = CELLAR_OK;
    size_t column = 0;
    CELLAR_TRY(cellar_condition_parse(b->spec->where[w], &b->conditions[w], err));
    coder.condition = b->conditions[w];
    coder.variable = cellar_condition_column(coder.condition);
    CELLAR_TRY(cellar_scan_condition(b->scan, coder.condition, &column, err));
    CELLAR_TRY(cellar_coder_create(&coder, &b->filters[w], err));
    add_use(b, column, b->filters[w]);
out:
    return status;
}

/* ---- columns ---------------------------------------------------------------------- */

static cellar_status add_beside(building *b, cellar_stored_beside kind, const char *column,
                                uint64_t limit, size_t *use, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t found = 0;
    if (column == NULL)
        return CELLAR_OK;
    *use = b->n_uses;
    CELLAR_TRY(cellar_scan_number(b->scan, kind, column, &found, err));
    add_use(b, found, NULL);
    b->to.heading.columns[kind] = (cellar_stored_column){
        .name = column, .width = cellar_stored_beside_width(kind), .limit = limit};
out:
    return status;
}

static cellar_status add_numbers(building *b, cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_admission *admission = &b->admission;
    cellar_stored_file *h = &b->to.heading;
    const char *key =
        spec->record_id_column != NULL ? spec->record_id_column : spec->record_key_column;
    cellar_status status = CELLAR_OK;

    *admission = (cellar_admission){.spec = spec};
    h->key_is_derived = spec->record_id_column != NULL;
    h->key_is_decimal = spec->key_range == 0;
    h->key_range = spec->key_range > 0 ? spec->key_range : CELLAR_DECIMAL_KEY_RANGE;
    if (key != NULL)
        admission->key_range = h->key_range;
    CELLAR_TRY(
        add_beside(b, CELLAR_STORED_WEIGHT, spec->weight_column, 0, &admission->weight_use, err));
    CELLAR_TRY(add_beside(b, CELLAR_STORED_KEY, key, h->key_range, &admission->key_use, err));
    CELLAR_TRY(add_beside(b, CELLAR_STORED_UNIT, spec->unit_column, 0, &admission->unit_use, err));
    if (spec->unit_column != NULL) {
        admission->number_units = 1;
        admission->units = cellar_units_create(0);
        if (admission->units == NULL)
            return cellar_fail_memory(err, "units");
    }
out:
    return status;
}

static cellar_status prepare(building *b, const char *sort_by, cellar_output *output,
                             cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_store_building_init(&b->to, spec, err));
    CELLAR_TRY(check_keys(spec, err));
    CELLAR_TRY(cellar_scan_open(spec->path, &spec->reader, &b->scan, err));
    if (cellar_scan_stored(b->scan) != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is a store already", spec->path);
    CELLAR_TRY(allocate(b, err));
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(add_variable(b, v, err));
    for (size_t w = 0; w < spec->n_where; w++)
        CELLAR_TRY(add_condition(b, w, err));
    CELLAR_TRY(add_numbers(b, err));
    CELLAR_TRY(cellar_store_building_sort(&b->to, sort_by, err));
    CELLAR_TRY(cellar_store_building_begin(&b->to, sort_by != NULL, output, err));
out:
    return status;
}

/* ---- packing ------------------------------------------------------------------------ */

/* Values of one column of rows first .. first + n - 1 of those picked. 0: a code does not fit. */
static int pack_variable(building *b, size_t v, const cellar_batch *batch, size_t first, size_t n)
{
    const size_t place = CELLAR_STORED_N_BESIDE + v;
    cellar_stored_column *column = &b->to.heading.columns[place];
    const int32_t *codes = cellar_batch_codes(batch, v);
    void *to = cellar_store_writer_at(&b->to.writer, place);
    for (size_t i = 0; i < n; i++) {
        const int32_t code = codes[b->rows[first + i]];
        const uint64_t value = code < 0 ? 0 : (uint64_t) code + 1;
        if (value >= column->limit)
            return 0;
        if (value == 0)
            column->least = 0;
        if (column->width == 1)
            ((uint8_t *) to)[i] = (uint8_t) value;
        else
            ((uint16_t *) to)[i] = (uint16_t) value;
    }
    return 1;
}

static void pack_numbers(building *b, size_t first, size_t n)
{
    const cellar_stored_column *columns = b->to.heading.columns;
    uint64_t *keys = cellar_store_writer_at(&b->to.writer, CELLAR_STORED_KEY);
    uint64_t *weights = cellar_store_writer_at(&b->to.writer, CELLAR_STORED_WEIGHT);
    uint32_t *units = cellar_store_writer_at(&b->to.writer, CELLAR_STORED_UNIT);
    for (size_t i = 0; i < n; i++) {
        if (columns[CELLAR_STORED_KEY].width > 0)
            keys[i] = b->lane.record_keys[first + i];
        if (columns[CELLAR_STORED_WEIGHT].width > 0)
            weights[i] = (uint64_t) b->lane.weights[first + i];
        if (columns[CELLAR_STORED_UNIT].width > 0)
            units[i] = (uint32_t) b->lane.unit_numbers[first + i];
    }
}

/* The rows of a batch whose weight, key and unit are good. */
static cellar_status pick_rows(building *b, cellar_batch *batch, size_t *n_picked,
                               cellar_error *err)
{
    const size_t n = cellar_batch_n_rows(batch);
    size_t picked = 0;
    if (!cellar_grow(&b->rows, &b->rows_capacity, n, sizeof *b->rows) ||
        !cellar_lane_reserve(&b->admission, &b->lane, n))
        return cellar_fail_memory(err, "a batch of rows");
    for (size_t row = 0; row < n; row++) {
        cellar_admitted admitted =
            cellar_lane_admit(&b->admission, &b->lane, batch, row, 1, picked);
        if (admitted == CELLAR_ROW_NO_MEMORY)
            return cellar_fail_memory(err, "units");
        if (admitted == CELLAR_ROW_COUNTS && b->spec->weight_column != NULL &&
            b->lane.weights[picked] > UINT64_MAX) {
            cellar_batch_reject(batch, b->spec->weight_column, row,
                                "the weight is larger than a store holds, 18446744073");
            admitted = CELLAR_ROW_REJECTED;
        }
        b->rows[picked] = (uint32_t) row;
        picked += admitted == CELLAR_ROW_COUNTS;
    }
    *n_picked = picked;
    return CELLAR_OK;
}

static cellar_status pack_batch(void *context, int lane, cellar_batch *batch, cellar_error *err)
{
    building *b = context;
    cellar_status status = CELLAR_OK;
    size_t n_picked = 0;

    (void) lane; /* batches come one after the other */
    CELLAR_TRY(pick_rows(b, batch, &n_picked, err));
    if (n_picked > STORED_ROWS_MAX - b->to.writer.n_rows)
        return cellar_fail(err, CELLAR_ERR_MEMORY, "a store holds up to %u records",
                           (unsigned) STORED_ROWS_MAX);
    for (size_t first = 0, n; first < n_picked; first += n) {
        n = n_picked - first;
        if (n > cellar_store_writer_room(&b->to.writer))
            n = cellar_store_writer_room(&b->to.writer);
        for (size_t v = 0; v < b->to.heading.n_variables; v++)
            if (!pack_variable(b, v, batch, first, n))
                return cellar_store_building_fail_categories(&b->to, v, err);
        pack_numbers(b, first, n);
        CELLAR_TRY(cellar_store_writer_advance(&b->to.writer, n, err));
    }
out:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------ */

static void clear(building *b)
{
    const cellar_tabulate_spec *spec = b->spec;
    for (size_t w = 0; w < spec->n_where; w++) {
        if (b->filters != NULL)
            cellar_coder_free(b->filters[w]);
        if (b->conditions != NULL)
            cellar_condition_free(b->conditions[w]);
    }
    cellar_store_building_clear(&b->to);
    for (size_t v = 0; b->held != NULL && v < spec->n_variables; v++)
        cellar_codelist_free(b->held[v]);
    cellar_units_free(b->admission.units);
    cellar_lane_clear(&b->lane);
    cellar_free(b->held);
    cellar_free(b->conditions);
    cellar_free(b->filters);
    cellar_free(b->uses);
    cellar_free(b->rows);
    cellar_scan_close(b->scan);
}

cellar_status cellar_store_build(const cellar_tabulate_spec *data, const char *sort_by,
                                 cellar_output *output, cellar_row_report *report,
                                 cellar_error *err)
{
    building b = {.spec = data};
    const cellar_scan_options options = {
        .n_lanes = data->n_threads, .in_order = 1, .keep_missing = 1, .progress = data->progress};
    cellar_row_report rows = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(prepare(&b, sort_by, output, err));
    CELLAR_TRY(cellar_scan_run(b.scan, b.uses, b.n_uses, pack_batch, &b, &options, &rows, err));
    if (b.admission.units != NULL)
        b.to.heading.columns[CELLAR_STORED_UNIT].limit = cellar_units_n(b.admission.units);
    CELLAR_TRY(cellar_store_building_finish(&b.to, &rows, err));
    rows.n_counted = b.to.writer.n_rows;
    if (report != NULL)
        *report = rows;
out:
    clear(&b);
    return status;
}
