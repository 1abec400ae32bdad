/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/tabulate.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/record_key.h"
#include "data/units.h"
#include "table/counting/stored.h"
#include "table/counting/tabulate.h"
#include "table/counting/tabulation.h"
#include "table/structural/structural.h"

cellar_tabulate_spec cellar_tabulate_spec_default(void)
{
    return (cellar_tabulate_spec){0};
}

/* ---- what to read ---------------------------------------------------------- */

static const char *variable_name(const cellar_variable_spec *variable)
{
    return variable->name != NULL ? variable->name : variable->column;
}

cellar_status cellar_tabulation_check(const cellar_tabulate_spec *spec, cellar_error *err)
{
    if (spec->n_variables == 0 || spec->n_variables > CELLAR_MAX_VARIABLES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a table has 1 to %d variables, not %zu",
                           CELLAR_MAX_VARIABLES, spec->n_variables);
    if (spec->max_weight > 0 && spec->weight_column == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound on weights needs weights");
    if (spec->max_weight > CELLAR_WEIGHT_BOUND_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a bound on weights is at most %d",
                           CELLAR_WEIGHT_BOUND_MAX);
    for (size_t i = 0; i < spec->n_variables; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(variable_name(&spec->variables[i]), variable_name(&spec->variables[j])) == 0)
                return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' is named twice",
                                   variable_name(&spec->variables[i]));
    if ((spec->record_id_column != NULL) != (spec->record_secret != NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "record keys are derived from an identifier and a secret: name both");
    if (spec->record_id_column != NULL && spec->record_key_column != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "record keys are either read or derived, not both");
    if ((spec->unit_column != NULL) != (spec->max_per_unit > 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a unit needs both its column and the number of records it may have");
    if (spec->reader.count_column != NULL && spec->unit_column != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a row that stands for several records is no record of one unit: bound "
                           "the records of each unit before they are counted (--count and --unit "
                           "exclude each other)");
    if (spec->reader.count_column != NULL &&
        (spec->record_key_column != NULL || spec->record_id_column != NULL))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a row that stands for several records has no key of each of them: cell "
                           "keys need the records themselves (--count excludes --record-key and "
                           "--record-id)");
    return CELLAR_OK;
}

static cellar_status add_variable(cellar_tabulation *t, size_t v, cellar_error *err)
{
    const cellar_variable_spec *variable = &t->spec->variables[v];
    cellar_scan_use *use = &t->uses[t->n_uses];
    cellar_coder_spec coder = {.variable = variable_name(variable),
                               .missing = t->spec->missing,
                               .n_missing = t->spec->n_missing,
                               .missing_policy = cellar_tabulation_policy(t->spec, variable)};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_scan_variable(t->scan, variable, &coder, &use->column, &t->held[v], err));
    CELLAR_TRY(cellar_coder_create(&coder, &t->coders[t->n_coders], err));
    use->coder = t->coders[t->n_coders++];
    t->n_uses++;
out:
    return status;
}

static cellar_status add_condition(cellar_tabulation *t, size_t w, cellar_error *err)
{
    cellar_scan_use *use = &t->uses[t->n_uses];
    cellar_coder_spec coder = {.encoding = cellar_scan_encoding(t->scan)};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_condition_parse(t->spec->where[w], &t->conditions[w], err));
    coder.condition = t->conditions[w];
    coder.variable = cellar_condition_column(coder.condition);
    CELLAR_TRY(cellar_scan_condition(t->scan, coder.condition, &use->column, err));
    CELLAR_TRY(cellar_coder_create(&coder, &t->coders[t->n_coders], err));
    use->coder = t->coders[t->n_coders++];
    t->n_uses++;
out:
    return status;
}

/* A column read as it stands; `column` may be NULL. */
static cellar_status add_raw(cellar_tabulation *t, cellar_stored_beside kind, const char *column,
                             size_t *use, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (column == NULL)
        return CELLAR_OK;
    *use = t->n_uses;
    CELLAR_TRY(cellar_scan_number(t->scan, kind, column, &t->uses[*use].column, err));
    t->n_uses++;
out:
    return status;
}

/* The columns that decide which rows count, and how much. */
static cellar_status prepare_admission(cellar_tabulation *t, cellar_error *err)
{
    const cellar_tabulate_spec *spec = t->spec;
    cellar_admission *admission = &t->admission;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(add_raw(t, CELLAR_STORED_WEIGHT, spec->weight_column, &admission->weight_use, err));
    CELLAR_TRY(
        add_raw(t, CELLAR_STORED_KEY,
                spec->record_id_column != NULL ? spec->record_id_column : spec->record_key_column,
                &admission->key_use, err));
    CELLAR_TRY(add_raw(t, CELLAR_STORED_UNIT, spec->unit_column, &admission->unit_use, err));
    if (spec->record_key_column != NULL || spec->record_id_column != NULL)
        admission->key_range = spec->key_range > 0 ? spec->key_range : CELLAR_DECIMAL_KEY_RANGE;
    if (cellar_scan_stored(t->scan) != NULL)
        CELLAR_TRY(cellar_stored_admission(cellar_scan_stored(t->scan), spec, admission, err));
    admission->largest_weight = (cellar_int128) spec->max_weight * CELLAR_WEIGHT_UNIT;
    if (spec->weight_column != NULL)
        t->uses[admission->weight_use].largest = spec->max_weight * CELLAR_WEIGHT_UNIT;
    if (spec->unit_column != NULL) {
        t->uses[admission->unit_use].largest = spec->max_per_unit;
        admission->units = cellar_units_create(spec->max_per_unit);
        if (admission->units == NULL)
            status = cellar_fail_memory(err, "units");
    }
out:
    return status;
}

cellar_status cellar_tabulation_prepare(cellar_tabulation *t, const cellar_tabulate_spec *spec,
                                        const cellar_tabulate_set *sets, size_t n_sets,
                                        cellar_scan *scan, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = spec->n_variables + spec->n_where;

    *t = (cellar_tabulation){
        .spec = spec, .scan = scan, .admission = {.spec = spec}, .sets = sets, .n_sets = n_sets};
    CELLAR_TRY(cellar_tabulation_check(spec, err));
    if (scan == NULL)
        CELLAR_TRY(cellar_scan_open(spec->path, &spec->reader, &t->scan, err));
    t->conditions = cellar_alloc(spec->n_where, sizeof *t->conditions);
    t->coders = cellar_alloc(n, sizeof *t->coders);
    t->uses = cellar_alloc(n + 3, sizeof *t->uses);
    if (t->conditions == NULL || t->coders == NULL || t->uses == NULL) {
        status = cellar_fail_memory(err, "a tabulation");
        goto out;
    }
    for (size_t v = 0; v < spec->n_variables; v++)
        CELLAR_TRY(add_variable(t, v, err));
    for (size_t w = 0; w < spec->n_where; w++)
        CELLAR_TRY(add_condition(t, w, err));
    CELLAR_TRY(prepare_admission(t, err));
    if (spec->structural_zeros_path != NULL)
        CELLAR_TRY(cellar_structural_rules_read(spec->structural_zeros_path, &t->rules, err));
out:
    return status;
}

/* ---- counting -------------------------------------------------------------- */

/* Counters of a byte each that stay in the second-level cache beside the rows. */
enum { COVER_CELLS = 1 << 17 };

/* Chooses the tables to count: those that are wanted, or fewer that have more variables. A limit on
 * cells holds for what is counted, too. */
static cellar_status tabulation_cover(cellar_tabulation *t, cellar_error *err)
{
    const uint64_t limit = t->spec->max_cells;
    size_t n_categories[CELLAR_MAX_VARIABLES] = {0};
    for (size_t v = 0; v < t->spec->n_variables; v++)
        if (cellar_coder_is_declared(t->coders[v]))
            n_categories[v] = cellar_coder_n_codes(t->coders[v]);
    return cellar_cover_init(&t->cover, t->sets, t->n_sets, n_categories,
                             limit > 0 && limit < COVER_CELLS ? limit : COVER_CELLS, err);
}

/* Counts rows, which hold all variables, for one table. */
static cellar_status count_set(cellar_tabulation *t, int lane_number, size_t s,
                               cellar_coded_rows rows, cellar_error *err)
{
    const cellar_tabulate_set *set = &t->cover.counted[s];
    const int32_t *codes[CELLAR_MAX_VARIABLES];
    size_t n_codes[CELLAR_MAX_VARIABLES];
    for (size_t k = 0; k < set->n; k++) {
        codes[k] = rows.codes[set->variables[k]];
        n_codes[k] = rows.n_codes[set->variables[k]];
    }
    rows.codes = codes;
    rows.n_codes = n_codes;
    return cellar_accumulator_add(t->accumulators[s], lane_number, &rows, err);
}

cellar_status cellar_tabulation_check_size(const cellar_tabulation *t, size_t n_cells,
                                           cellar_error *err)
{
    return t->spec->max_cells == 0 || n_cells <= t->spec->max_cells
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_RULE, "the table has more than %llu cells",
                             (unsigned long long) t->spec->max_cells);
}

static cellar_status count_batch(void *context, int lane_number, cellar_batch *batch,
                                 cellar_error *err)
{
    cellar_tabulation *t = context;
    cellar_lane *lane = &t->lanes[lane_number];
    cellar_coded_rows rows = {.n = cellar_batch_n_rows(batch),
                              .codes = lane->codes,
                              .n_codes = lane->n_codes,
                              .counts = cellar_batch_counts(batch)};
    cellar_status status = CELLAR_OK;

    for (size_t v = 0; v < t->spec->n_variables; v++) {
        lane->codes[v] = cellar_batch_codes(batch, v);
        lane->n_codes[v] = cellar_coder_n_codes(t->coders[v]);
    }
    if (t->spec->weight_column != NULL || t->admission.key_range > 0 || t->admission.units != NULL)
        CELLAR_TRY(cellar_lane_pick(lane, &t->admission, batch, &rows, err));
    lane->n_counted += cellar_counts_sum(rows.counts, rows.n);
    for (size_t s = 0; s < t->cover.n_counted; s++) {
        CELLAR_TRY(count_set(t, lane_number, s, rows, err));
        CELLAR_TRY(
            cellar_tabulation_check_size(t, cellar_accumulator_n_cells(t->accumulators[s]), err));
    }
out:
    return status;
}

cellar_scan_options cellar_tabulation_options(const cellar_tabulation *t)
{
    return (cellar_scan_options){.n_lanes = t->spec->n_threads,
                                 .in_order = t->admission.units != NULL,
                                 .progress = t->spec->progress};
}

cellar_status cellar_tabulation_count(cellar_tabulation *t, cellar_row_report *report,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_scan_options options = cellar_tabulation_options(t);
    cellar_stored_request ignored;
    cellar_accumulator_spec counters = {
        .counted = t->spec->reader.count_column != NULL ||
                   cellar_scan_counts_first(t->scan, t->uses, t->n_uses, &options, &ignored),
        .weighted = t->spec->weight_column != NULL,
        .key_range = t->admission.key_range};

    t->n_lanes = counters.n_lanes = cellar_scan_n_lanes(t->scan, &options);
    t->lanes = cellar_alloc((size_t) t->n_lanes, sizeof *t->lanes);
    CELLAR_TRY(tabulation_cover(t, err));
    t->accumulators = cellar_alloc(t->cover.n_counted, sizeof *t->accumulators);
    if (t->lanes == NULL || t->accumulators == NULL)
        return cellar_fail_memory(err, "a tabulation");
    for (size_t s = 0; s < t->cover.n_counted; s++) {
        counters.n_variables = t->cover.counted[s].n;
        CELLAR_TRY(cellar_accumulator_create(&counters, &t->accumulators[s], err));
    }
    CELLAR_TRY(cellar_scan_run(t->scan, t->uses, t->n_uses, count_batch, t, &options, report, err));
    for (int i = 0; i < t->n_lanes; i++) {
        report->n_counted += t->lanes[i].n_counted;
        report->n_over_unit += t->lanes[i].n_over_unit;
    }
out:
    return status;
}

void cellar_tabulation_clear(cellar_tabulation *t)
{
    for (size_t i = 0; i < t->n_coders; i++)
        cellar_coder_free(t->coders[i]);
    for (size_t w = 0; t->conditions != NULL && w < t->spec->n_where; w++)
        cellar_condition_free(t->conditions[w]);
    for (size_t v = 0; v < CELLAR_MAX_VARIABLES; v++) {
        cellar_codelist_free(t->held[v]);
        cellar_codelist_free(t->domains[v]);
        cellar_free(t->leaf_of[v]);
    }
    for (int i = 0; t->lanes != NULL && i < t->n_lanes; i++)
        cellar_lane_clear(&t->lanes[i]);
    cellar_free(t->lanes);
    cellar_free(t->conditions);
    cellar_free(t->coders);
    cellar_free(t->uses);
    for (size_t s = 0; t->accumulators != NULL && s < t->cover.n_counted; s++)
        cellar_accumulator_free(t->accumulators[s]);
    cellar_free(t->accumulators);
    cellar_cover_clear(&t->cover);
    cellar_units_free(t->admission.units);
    cellar_structural_rules_free(t->rules);
    cellar_scan_close(t->scan);
}

static cellar_status tabulate_sets(const cellar_tabulate_spec *spec, cellar_scan *scan,
                                   const cellar_tabulate_set *sets, size_t n_sets,
                                   cellar_table **out, cellar_row_report *report, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_tabulation t;
    cellar_row_report counted = {0};

    CELLAR_TRY(cellar_tabulation_prepare(&t, spec, sets, n_sets, scan, err));
    CELLAR_TRY(cellar_tabulation_count(&t, &counted, err));
    CELLAR_TRY(cellar_tabulation_tables(&t, out, err));
    if (report != NULL)
        *report = counted;
out:
    cellar_tabulation_clear(&t);
    return status;
}

cellar_tabulate_set cellar_tabulate_set_all(size_t n_variables)
{
    cellar_tabulate_set all = {.n = n_variables};
    for (size_t v = 0; v < n_variables && v < CELLAR_MAX_VARIABLES; v++)
        all.variables[v] = (uint8_t) v;
    return all;
}

cellar_status cellar_tabulation_run(const cellar_tabulate_spec *spec, cellar_scan *scan,
                                    cellar_table **out, cellar_row_report *report,
                                    cellar_error *err)
{
    const cellar_tabulate_set all = cellar_tabulate_set_all(spec->n_variables);
    *out = NULL;
    return tabulate_sets(spec, scan, &all, 1, out, report, err);
}

cellar_status cellar_tabulate(const cellar_tabulate_spec *spec, cellar_table **out,
                              cellar_row_report *report, cellar_error *err)
{
    return cellar_tabulation_run(spec, NULL, out, report, err);
}

cellar_status cellar_tabulate_many(const cellar_tabulate_spec *spec,
                                   const cellar_tabulate_set *sets, size_t n_sets,
                                   cellar_table **out, cellar_row_report *report, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    memset(out, 0, n_sets * sizeof *out);
    for (size_t s = 0; s < n_sets; s++) {
        int is_good = sets[s].n > 0 && sets[s].n <= CELLAR_MAX_VARIABLES;
        for (size_t k = 0; is_good && k < sets[s].n; k++)
            is_good = sets[s].variables[k] < spec->n_variables;
        if (!is_good)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a table has 1 to %d of the variables that are counted",
                               CELLAR_MAX_VARIABLES);
    }
    if (spec->structural_zeros_path != NULL || spec->margins.n_masks > 0 ||
        spec->margins.hierarchies != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "structural zeros, single margins and hierarchies are for one table");
    status = tabulate_sets(spec, NULL, sets, n_sets, out, report, err);
    for (size_t s = 0; status != CELLAR_OK && s < n_sets; s++) {
        cellar_table_free(out[s]);
        out[s] = NULL;
    }
    return status;
}
