/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/tabulate.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/counting/tabulate_run.h"

cellar_tabulate_spec cellar_tabulate_spec_default(void)
{
    return (cellar_tabulate_spec){0};
}

/* ---- counting -------------------------------------------------------------- */

/* Counts rows, which hold all variables, for one table. */
static cellar_status count_set(tabulation *t, int lane_number, size_t s, cellar_coded_rows rows,
                               cellar_error *err)
{
    const cellar_tabulate_set *set = &t->sets[s];
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

cellar_status cellar_tabulation_check_size(const tabulation *t, size_t n_cells, cellar_error *err)
{
    return t->spec->max_cells == 0 || n_cells <= t->spec->max_cells
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_RULE, "the table has more than %llu cells",
                             (unsigned long long) t->spec->max_cells);
}

static cellar_status count_batch(void *context, int lane_number, cellar_batch *batch,
                                 cellar_error *err)
{
    tabulation *t = context;
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
    for (size_t s = 0; s < t->n_sets; s++) {
        CELLAR_TRY(count_set(t, lane_number, s, rows, err));
        CELLAR_TRY(
            cellar_tabulation_check_size(t, cellar_accumulator_n_cells(t->accumulators[s]), err));
    }
out:
    return status;
}

cellar_scan_options cellar_tabulation_options(const tabulation *t)
{
    return (cellar_scan_options){.n_lanes = t->spec->n_threads,
                                 .in_order = t->admission.units != NULL,
                                 .progress = t->spec->progress};
}

cellar_status cellar_tabulation_count(tabulation *t, cellar_row_report *report, cellar_error *err)
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
    t->accumulators = cellar_alloc(t->n_sets, sizeof *t->accumulators);
    if (t->lanes == NULL || t->accumulators == NULL)
        return cellar_fail_memory(err, "a tabulation");
    for (size_t s = 0; s < t->n_sets; s++) {
        counters.n_variables = t->sets[s].n;
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

/* ---- all of it -------------------------------------------------------------- */

static cellar_status tabulate_sets(const cellar_tabulate_spec *spec,
                                   const cellar_tabulate_set *sets, size_t n_sets,
                                   cellar_table **out, cellar_row_report *report, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_row_report counted = {0};
    tabulation t;

    CELLAR_TRY(cellar_tabulation_prepare(&t, spec, sets, n_sets, NULL, err));
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

cellar_status cellar_tabulate(const cellar_tabulate_spec *spec, cellar_table **out,
                              cellar_row_report *report, cellar_error *err)
{
    const cellar_tabulate_set all = cellar_tabulate_set_all(spec->n_variables);
    *out = NULL;
    return tabulate_sets(spec, &all, 1, out, report, err);
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
    status = tabulate_sets(spec, sets, n_sets, out, report, err);
    for (size_t s = 0; status != CELLAR_OK && s < n_sets; s++) {
        cellar_table_free(out[s]);
        out[s] = NULL;
    }
    return status;
}
