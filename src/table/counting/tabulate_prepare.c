/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a tabulation reads: columns, how their fields become categories, and which rows count. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "data/condition.h"
#include "data/record_key.h"
#include "data/units.h"
#include "table/counting/stored.h"
#include "table/counting/tabulate_run.h"
#include "table/counting/tabulation.h"
#include "table/structural/structural.h"

static const char *variable_name(const cellar_variable_spec *variable)
{
    return variable->name != NULL ? variable->name : variable->column;
}

static cellar_status check_spec(const cellar_tabulate_spec *spec, cellar_error *err)
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

static cellar_status add_variable(tabulation *t, size_t v, cellar_error *err)
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

static cellar_status add_condition(tabulation *t, size_t w, cellar_error *err)
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
static cellar_status add_raw(tabulation *t, cellar_stored_beside kind, const char *column,
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
static cellar_status prepare_admission(tabulation *t, cellar_error *err)
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

cellar_status cellar_tabulation_prepare(tabulation *t, const cellar_tabulate_spec *spec,
                                        const cellar_tabulate_set *sets, size_t n_sets,
                                        cellar_stored_file *stored, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = spec->n_variables + spec->n_where;

    *t = (tabulation){.spec = spec, .admission = {.spec = spec}, .sets = sets, .n_sets = n_sets};
    CELLAR_TRY(check_spec(spec, err));
    if (stored != NULL)
        CELLAR_TRY(cellar_scan_open_stored(stored, &spec->reader, &t->scan, err));
    else
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

void cellar_tabulation_clear(tabulation *t)
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
    for (size_t s = 0; t->accumulators != NULL && s < t->n_sets; s++)
        cellar_accumulator_free(t->accumulators[s]);
    cellar_free(t->accumulators);
    cellar_units_free(t->admission.units);
    cellar_structural_rules_free(t->rules);
    cellar_scan_close(t->scan);
}
