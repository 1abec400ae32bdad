/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the records of a file to a store: lanes parse and code, and one after the other packs. */
#include <cellar/store.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/codelist.h"
#include "data/record_key.h"
#include "data/scan.h"
#include "store/heading.h"
#include "store/writer.h"
#include "table/counting/lane.h"
#include "table/counting/tabulation.h"

typedef struct building {
    const cellar_tabulate_spec *spec;
    cellar_scan *scan;
    cellar_stored_file heading; /* what the file will say of itself */
    size_t n_variables, n_coders, n_uses;
    cellar_codelist **held;
    cellar_condition **conditions;
    cellar_coder **coders; /* of the variables, then of the conditions */
    cellar_scan_use *uses; /* the same, then weight, record key and unit */
    cellar_admission admission;
    cellar_lane lane;
    uint32_t *rows; /* of a batch: those that are stored */
    size_t rows_capacity, sort_column;
    store_writer writer;
} building;

/* ---- what to read --------------------------------------------------------------- */

static cellar_status check_spec(const cellar_tabulate_spec *spec, cellar_error *err)
{
    if (spec->n_variables == 0 || spec->n_variables > STORED_VARIABLES_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a store has 1 to %d variables, not %zu",
                           STORED_VARIABLES_MAX, spec->n_variables);
    if (spec->reader.count_column != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a store holds records: a row that stands for several is none");
    for (size_t v = 0; v < spec->n_variables; v++)
        if (spec->variables[v].level > 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a store holds the finest categories; tables choose levels");
    if (spec->max_weight > 0 || spec->max_per_unit > 0 || spec->max_cells > 0 ||
        spec->structural_zeros_path != NULL || spec->margins.all || spec->margins.n_masks > 0 ||
        spec->margins.hierarchies != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "bounds, margins and structural zeros belong to tables, not to a store");
    if ((spec->record_id_column != NULL) != (spec->record_secret != NULL) ||
        (spec->record_id_column != NULL && spec->record_key_column != NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "record keys are either read, or derived from an identifier and a "
                           "secret");
    return CELLAR_OK;
}

static cellar_status allocate(building *b, cellar_error *err)
{
    const size_t n = b->spec->n_variables, n_coders = n + b->spec->n_where;
    cellar_stored_file *h = &b->heading;
    h->arena = cellar_arena_create(SIZE_MAX / 2);
    b->held = cellar_alloc(n, sizeof *b->held);
    b->conditions = cellar_alloc(b->spec->n_where, sizeof *b->conditions);
    b->coders = cellar_alloc(n_coders, sizeof *b->coders);
    b->uses = cellar_alloc(n_coders + 3, sizeof *b->uses);
    if (h->arena == NULL || b->held == NULL || b->conditions == NULL || b->coders == NULL ||
        b->uses == NULL)
        return cellar_fail_memory(err, "a store");
    h->n_columns = CELLAR_STORED_N_BESIDE + n;
    h->variables = cellar_arena_alloc(h->arena, n, sizeof *h->variables);
    h->columns = cellar_arena_alloc(h->arena, h->n_columns, sizeof *h->columns);
    if (h->variables == NULL || h->columns == NULL)
        return cellar_fail_memory(err, "a store");
    b->n_variables = h->n_variables = n;
    return CELLAR_OK;
}

static cellar_status add_use(building *b, size_t column, const cellar_coder_spec *coder,
                             cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan_use *use = &b->uses[b->n_uses];
    use->column = column;
    if (coder != NULL) {
        CELLAR_TRY(cellar_coder_create(coder, &b->coders[b->n_coders], err));
        use->coder = b->coders[b->n_coders++];
    }
    b->n_uses++;
out:
    return status;
}

/* Tables would ask in vain for missing values as a level. */
static cellar_status check_level(cellar_coder_spec coder, cellar_missing_policy policy,
                                 cellar_error *err)
{
    cellar_coder *tried = NULL;
    cellar_status status;
    coder.missing_policy = policy;
    status = cellar_coder_create(&coder, &tried, err);
    cellar_coder_free(tried);
    return status;
}

static cellar_status add_variable(building *b, size_t v, cellar_error *err)
{
    const cellar_variable_spec *variable = &b->spec->variables[v];
    cellar_stored_variable *stored = &b->heading.variables[v];
    cellar_coder_spec coder = {.missing = b->spec->missing,
                               .n_missing = b->spec->n_missing,
                               .missing_policy = CELLAR_MISSING_DROP};
    cellar_status status = CELLAR_OK;
    size_t column = 0;

    stored->spec = *variable;
    if (variable->name == NULL)
        stored->spec.name = variable->column;
    coder.variable = stored->spec.name;
    for (size_t other = 0; other < v; other++)
        if (strcmp(b->heading.variables[other].spec.name, stored->spec.name) == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' is named twice",
                               stored->spec.name);
    CELLAR_TRY(cellar_scan_variable(b->scan, variable, &coder, &column, &b->held[v], err));
    CELLAR_TRY(check_level(coder, cellar_tabulation_policy(b->spec, variable), err));
    CELLAR_TRY(add_use(b, column, &coder, err));
    stored->domain = variable->codelist != NULL                   ? CELLAR_STORED_DECLARED
                     : cellar_coder_is_declared(b->uses[v].coder) ? CELLAR_STORED_IMPLIED
                                                                  : CELLAR_STORED_OBSERVED;
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
    CELLAR_TRY(add_use(b, column, &coder, err));
out:
    return status;
}

/* ---- columns ---------------------------------------------------------------------- */

/* How many bytes a variable takes: known in advance where its domain is. */
static cellar_status lay_out_variable(building *b, size_t v, cellar_error *err)
{
    cellar_stored_variable *variable = &b->heading.variables[v];
    cellar_stored_column *column = &b->heading.columns[CELLAR_STORED_N_BESIDE + v];
    const size_t n = cellar_coder_n_codes(b->uses[v].coder);
    const int is_observed = variable->domain == CELLAR_STORED_OBSERVED;
    if (n > STORED_CODES_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%.200s': a store holds up to %d categories of a variable; "
                           "band or recode it",
                           variable->spec.name, STORED_CODES_MAX);
    *column = (cellar_stored_column){.name = variable->spec.name,
                                     .width = is_observed || n > UINT8_MAX ? 2 : 1,
                                     .least = 1, /* until a missing value is met */
                                     .limit = is_observed ? STORED_CODES_MAX + 1 : n + 1};
    return CELLAR_OK;
}

static cellar_status add_beside(building *b, cellar_stored_beside kind, const char *column,
                                uint64_t limit, size_t *use, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t found = 0;
    if (column == NULL)
        return CELLAR_OK;
    *use = b->n_uses;
    CELLAR_TRY(cellar_scan_number(b->scan, kind, column, &found, err));
    CELLAR_TRY(add_use(b, found, NULL, err));
    b->heading.columns[kind] = (cellar_stored_column){
        .name = column, .width = cellar_stored_beside_width(kind), .limit = limit};
out:
    return status;
}

static cellar_status add_numbers(building *b, cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_admission *admission = &b->admission;
    cellar_stored_file *h = &b->heading;
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

/* By which variable rows are to be grouped. Where they have units, the order of the data decides
 * which records of a unit count, and is kept. */
static cellar_status find_sort(building *b, const char *sort_by, cellar_error *err)
{
    cellar_stored_file *h = &b->heading;
    size_t v = 0;
    if (sort_by == NULL)
        return CELLAR_OK;
    while (v < h->n_variables && strcmp(h->variables[v].spec.name, sort_by) != 0)
        v++;
    if (v == h->n_variables)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "rows are to be sorted by '%.200s', which is no variable of the store",
                           sort_by);
    b->sort_column = CELLAR_STORED_N_BESIDE + v;
    h->sorted_by = sort_by;
    if (b->spec->unit_column != NULL)
        h->columns[CELLAR_STORED_ORDER] = (cellar_stored_column){
            .name = "order of the data", .width = cellar_stored_beside_width(CELLAR_STORED_ORDER)};
    return CELLAR_OK;
}

static cellar_status prepare(building *b, const char *sort_by, cellar_output *output,
                             cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(check_spec(spec, err));
    CELLAR_TRY(cellar_scan_open(spec->path, &spec->reader, &b->scan, err));
    if (cellar_scan_stored(b->scan) != NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is a store already", spec->path);
    CELLAR_TRY(allocate(b, err));
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(add_variable(b, v, err));
    for (size_t w = 0; w < spec->n_where; w++)
        CELLAR_TRY(add_condition(b, w, err));
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(lay_out_variable(b, v, err));
    CELLAR_TRY(add_numbers(b, err));
    CELLAR_TRY(find_sort(b, sort_by, err));
    cellar_stored_lay_out(b->heading.columns, b->heading.n_columns, &b->heading.group_bytes);
    CELLAR_TRY(cellar_store_writer_init(&b->writer, b->heading.columns, b->heading.n_columns,
                                        sort_by != NULL, output, err));
out:
    return status;
}

/* ---- packing ------------------------------------------------------------------------ */

/* Values of one column of rows first .. first + n - 1 of those picked. 0: a code does not fit. */
static int pack_variable(building *b, size_t v, const cellar_batch *batch, size_t first, size_t n)
{
    const size_t place = CELLAR_STORED_N_BESIDE + v;
    cellar_stored_column *column = &b->heading.columns[place];
    const int32_t *codes = cellar_batch_codes(batch, v);
    void *to = cellar_store_writer_at(&b->writer, place);
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
    const cellar_stored_column *columns = b->heading.columns;
    uint64_t *keys = cellar_store_writer_at(&b->writer, CELLAR_STORED_KEY);
    uint64_t *weights = cellar_store_writer_at(&b->writer, CELLAR_STORED_WEIGHT);
    uint32_t *units = cellar_store_writer_at(&b->writer, CELLAR_STORED_UNIT);
    for (size_t i = 0; i < n; i++) {
        if (columns[CELLAR_STORED_KEY].width > 0)
            keys[i] = b->lane.record_keys[first + i];
        if (columns[CELLAR_STORED_WEIGHT].width > 0)
            weights[i] = (uint64_t) b->lane.weights[first + i];
        if (columns[CELLAR_STORED_UNIT].width > 0)
            units[i] = (uint32_t) b->lane.unit_numbers[first + i];
    }
}

static cellar_status fail_categories(const building *b, size_t v, cellar_error *err)
{
    return cellar_fail(
        err, CELLAR_ERR_INPUT,
        "%s: variable '%.200s': more than %d categories were observed; leave it out, or band or "
        "recode it",
        b->spec->path, b->heading.variables[v].spec.name, STORED_CODES_MAX);
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
    if (n_picked > STORED_ROWS_MAX - b->writer.n_rows)
        return cellar_fail(err, CELLAR_ERR_MEMORY, "a store holds up to %u records",
                           (unsigned) STORED_ROWS_MAX);
    for (size_t first = 0, n; first < n_picked; first += n) {
        n = n_picked - first;
        if (n > cellar_store_writer_room(&b->writer))
            n = cellar_store_writer_room(&b->writer);
        for (size_t v = 0; v < b->n_variables; v++)
            if (!pack_variable(b, v, batch, first, n))
                return fail_categories(b, v, err);
        pack_numbers(b, first, n);
        CELLAR_TRY(cellar_store_writer_advance(&b->writer, n, err));
    }
out:
    return status;
}

/* ---- the heading ---------------------------------------------------------------------- */

/* An observed domain in the order of its codes, in which it was met. */
static cellar_status observed_list(const cellar_codelist *sorted, const uint32_t *leaf_of,
                                   cellar_codelist **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_codelist_create(out, err));
    for (size_t c = 0; c < cellar_codelist_n_leaves(sorted); c++) {
        const size_t code = cellar_codelist_leaf(sorted, leaf_of[c]);
        const char *text = cellar_codelist_code(sorted, code);
        const char *label = cellar_codelist_label(sorted, code, 0);
        CELLAR_TRY(cellar_codelist_add(*out, text, strcmp(label, text) != 0 ? label : NULL, NULL,
                                       CELLAR_CODE_PLAIN, err));
    }
    CELLAR_TRY(cellar_codelist_finish(*out, err));
out:
    return status;
}

static cellar_status find_list(building *b, size_t v, cellar_error *err)
{
    cellar_stored_variable *variable = &b->heading.variables[v];
    cellar_codelist *list = NULL;
    uint32_t *leaf_of = NULL;
    cellar_status status = CELLAR_OK;

    if (cellar_coder_n_codes(b->coders[v]) == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: no row was stored, so variable '%.200s' has no category; declare "
                           "its domain",
                           b->spec->path, variable->spec.name);
    if (cellar_coder_n_codes(b->coders[v]) > STORED_CODES_MAX)
        return fail_categories(b, v, err);
    CELLAR_TRY(cellar_coder_domain(b->coders[v], &list, &leaf_of, err));
    if (variable->domain == CELLAR_STORED_OBSERVED)
        CELLAR_TRY(observed_list(list, leaf_of, &variable->list, err));
    else
        variable->list = cellar_codelist_retain(list);
    variable->n_codes = (uint32_t) cellar_codelist_n_leaves(variable->list);
out:
    cellar_codelist_free(list);
    cellar_free(leaf_of);
    return status;
}

static cellar_status finish(building *b, const cellar_row_report *report, cellar_error *err)
{
    const cellar_tabulate_spec *spec = b->spec;
    cellar_stored_file *h = &b->heading;
    cellar_status status = CELLAR_OK;

    for (size_t v = 0; v < b->n_variables; v++)
        CELLAR_TRY(find_list(b, v, err));
    h->n_rows = b->writer.n_rows;
    h->columns[CELLAR_STORED_UNIT].limit =
        b->admission.units != NULL ? cellar_units_n(b->admission.units) : 0;
    h->missing = (const char **) spec->missing;
    h->n_missing = spec->n_missing;
    h->missing_policy = spec->missing_policy;
    h->where = (const char **) spec->where;
    h->n_where = spec->n_where;
    h->bad_rows = spec->reader.bad_rows;
    h->report.n_bad = report->n_bad;
    h->report.n_filtered = report->n_filtered;
    CELLAR_TRY(cellar_store_writer_finish(&b->writer, b->sort_column, err));
    CELLAR_TRY(cellar_store_write_heading(&b->writer, h, err));
out:
    return status;
}

/* ---- all of it ------------------------------------------------------------------------ */

static void clear(building *b)
{
    for (size_t v = 0; v < b->n_variables; v++)
        cellar_codelist_free(b->heading.variables[v].list);
    for (size_t i = 0; i < b->n_coders; i++)
        cellar_coder_free(b->coders[i]);
    for (size_t v = 0; b->held != NULL && v < b->spec->n_variables; v++)
        cellar_codelist_free(b->held[v]);
    for (size_t w = 0; b->conditions != NULL && w < b->spec->n_where; w++)
        cellar_condition_free(b->conditions[w]);
    cellar_units_free(b->admission.units);
    cellar_lane_clear(&b->lane);
    cellar_store_writer_clear(&b->writer);
    cellar_arena_free(b->heading.arena);
    cellar_free(b->held);
    cellar_free(b->conditions);
    cellar_free(b->coders);
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
    CELLAR_TRY(finish(&b, &rows, err));
    rows.n_counted = b.writer.n_rows;
    if (report != NULL)
        *report = rows;
out:
    clear(&b);
    return status;
}
