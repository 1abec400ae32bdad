/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/estimate/estimate.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "release/guarantee/level.h"
#include "table/formats/extension.h"
#include "table/schema/schema.h"

static const int64_t ESTIMATE_MOST_UNITS = INT64_C(1) << 53;

double cellar_estimate_units(double value, int decimals)
{
    for (int i = 0; i < decimals; i++)
        value *= 10;
    return nearbyint(value);
}

/* ---- making ---------------------------------------------------------------- */

static cellar_status estimate_fail_description(const char *name, const char *expected,
                                               cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: not the description of an estimate: expected %s",
                       name != NULL ? name : "estimate", expected);
}

/* The level of protection of one source. */
static cellar_status estimate_check_source(const json_t *source, const char *name,
                                           cellar_protection_level *level, cellar_error *err)
{
    const json_t *certificate = json_object_get(source, "certificate");
    if (!json_is_string(json_object_get(certificate, "verdict")))
        return estimate_fail_description(name, "a certificate in each of its sources", err);
    if (json_object_get(source, "protection") == NULL) /* of an early version: the certificate's */
        return cellar_level_of(certificate, NULL, 1, level, err);
    if (!cellar_level_find(json_string_value(json_object_get(source, "protection")), level))
        return estimate_fail_description(name, "a level of protection in each of its sources", err);
    return CELLAR_OK;
}

/* Checks what is said about an estimate and keeps it. */
static cellar_status estimate_describe(cellar_estimate *estimate, json_t *computed, json_t *sources,
                                       const char *name, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (!json_is_string(json_object_get(computed, "method")))
        return estimate_fail_description(name, "'computed' with a 'method'", err);
    if (json_array_size(sources) == 0)
        return estimate_fail_description(name, "'sources' with the description of a release", err);
    for (size_t i = 0; i < json_array_size(sources); i++) {
        cellar_protection_level level = CELLAR_LEVEL_GUARANTEE;
        CELLAR_TRY(estimate_check_source(json_array_get(sources, i), name, &level, err));
        estimate->level = level > estimate->level ? level : estimate->level;
    }
    estimate->description = json_pack("{s:O, s:O}", "computed", computed, "sources", sources);
    estimate->description_text = estimate->description != NULL
                                     ? cellar_json_text(estimate->description, JSON_COMPACT)
                                     : NULL;
    if (estimate->description_text == NULL)
        status = cellar_fail_memory(err, "an estimate");
out:
    return status;
}

static int estimate_fits(int64_t units)
{
    return units <= ESTIMATE_MOST_UNITS && units >= -ESTIMATE_MOST_UNITS;
}

static cellar_status estimate_fill(cellar_estimate *estimate, const cellar_estimate_parts *parts,
                                   size_t n, cellar_error *err)
{
    const cellar_schema *schema = parts->schema;
    cellar_cells *cells = &estimate->cells;
    cells->index = cellar_alloc(n, sizeof *cells->index);
    cells->count = cellar_alloc(n, sizeof *cells->count);
    if (parts->se != NULL)
        cells->key = cellar_alloc(n, sizeof *cells->key);
    if (parts->whole != NULL)
        estimate->whole = cellar_alloc(n, sizeof *estimate->whole);
    if (cells->index == NULL || cells->count == NULL || (parts->se != NULL && cells->key == NULL) ||
        (parts->whole != NULL && estimate->whole == NULL))
        return cellar_fail_memory(err, "an estimate");
    for (uint64_t index = 0; index < schema->n_indices; index++) {
        if (!cellar_schema_has_cell(schema, index) ||
            cellar_schema_is_structural_zero(schema, index))
            continue;
        if (!estimate_fits(parts->value[index]) ||
            (parts->se != NULL && !estimate_fits(parts->se[index])))
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "an estimate is too large for %d decimals",
                               parts->decimals);
        cells->index[cells->n] = index;
        cells->count[cells->n] = (uint64_t) parts->value[index];
        if (parts->se != NULL)
            cells->key[cells->n] = (uint64_t) parts->se[index];
        if (parts->whole != NULL)
            estimate->whole[cells->n] = parts->whole[index];
        cells->n++;
    }
    return CELLAR_OK;
}

cellar_status cellar_estimate_create(const cellar_estimate_parts *parts, cellar_estimate **out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = 0;
    cellar_estimate *estimate = cellar_alloc(1, sizeof *estimate);

    *out = NULL;
    CELLAR_ASSERT(parts->decimals >= 0 && parts->decimals <= CELLAR_SHEET_MAX_DECIMALS);
    if (estimate == NULL || parts->computed == NULL || parts->sources == NULL) {
        status = cellar_fail_memory(err, "an estimate");
        goto out;
    }
    for (uint64_t index = 0; index < parts->schema->n_indices; index++)
        n += (size_t) cellar_schema_has_cell(parts->schema, index);
    estimate->schema = cellar_schema_retain(parts->schema);
    estimate->decimals = parts->decimals;
    CELLAR_TRY(estimate_fill(estimate, parts, n, err));
    CELLAR_TRY(estimate_describe(estimate, parts->computed, parts->sources, NULL, err));
    *out = estimate;
    estimate = NULL;
out:
    cellar_estimate_free(estimate);
    return status;
}

cellar_status cellar_estimate_of_numbers(const char *name, cellar_numbers *numbers,
                                         cellar_estimate **out, cellar_error *err)
{
    cellar_loaded *loaded = &numbers->loaded;
    cellar_status status = CELLAR_OK;
    cellar_estimate *estimate = cellar_alloc(1, sizeof *estimate);

    *out = NULL;
    if (estimate == NULL)
        return cellar_fail_memory(err, "an estimate");
    estimate->schema = cellar_schema_retain(loaded->schema);
    estimate->cells = loaded->built.cells;
    loaded->built = (cells_builder){0};
    estimate->decimals = loaded->decimals;
    for (size_t i = 0; i < estimate->cells.n; i++)
        if (!estimate_fits((int64_t) estimate->cells.count[i]))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: a value is too large", name));
    CELLAR_TRY(estimate_describe(estimate, json_object_get(numbers->description, "computed"),
                                 json_object_get(numbers->description, "sources"), name, err));
    *out = estimate;
    estimate = NULL;
out:
    cellar_estimate_free(estimate);
    return status;
}

void cellar_estimate_free(cellar_estimate *estimate)
{
    if (estimate == NULL)
        return;
    cellar_schema_free(estimate->schema);
    cellar_cells_clear(&estimate->cells);
    cellar_free(estimate->whole);
    json_decref(estimate->description);
    cellar_free(estimate->description_text);
    cellar_free(estimate);
}

/* ---- the values ------------------------------------------------------------ */

const cellar_schema *cellar_estimate_schema(const cellar_estimate *estimate)
{
    return estimate->schema;
}

size_t cellar_estimate_n_cells(const cellar_estimate *estimate)
{
    return estimate->cells.n;
}

static double estimate_real(const cellar_estimate *estimate, uint64_t units)
{
    double unit = 1;
    for (int i = 0; i < estimate->decimals; i++)
        unit *= 10;
    return (double) (int64_t) units / unit;
}

cellar_estimated_cell cellar_estimate_cell(const cellar_estimate *estimate, size_t position)
{
    const cellar_cells *cells = &estimate->cells;
    CELLAR_ASSERT(position < cells->n);
    const int known = cells->key != NULL && (int64_t) cells->key[position] != CELLAR_SHEET_NO_ERROR;
    return (cellar_estimated_cell){
        .index = cells->index[position],
        .value = estimate_real(estimate, cells->count[position]),
        .se = known ? estimate_real(estimate, cells->key[position]) : NAN,
        .whole = estimate->whole != NULL ? estimate->whole[position] : 0,
        .status = cells->status != NULL ? (cellar_cell_status) cells->status[position]
                                        : CELLAR_CELL_NORMAL};
}

cellar_estimated_cell cellar_estimate_at(const cellar_estimate *estimate, uint64_t index)
{
    const size_t position = cellar_cells_position(&estimate->cells, index);
    cellar_estimated_cell cell = {.index = index};
    if (position < estimate->cells.n && estimate->cells.index[position] == index)
        return cellar_estimate_cell(estimate, position);
    if (cellar_schema_is_structural_zero(estimate->schema, index))
        cell.status = CELLAR_CELL_STRUCTURAL_ZERO;
    return cell;
}

int cellar_estimate_decimals(const cellar_estimate *estimate)
{
    return estimate->decimals;
}

int cellar_estimate_has_errors(const cellar_estimate *estimate)
{
    return estimate->cells.key != NULL;
}

int cellar_estimate_has_whole(const cellar_estimate *estimate)
{
    return estimate->whole != NULL;
}

/* ---- where they come from -------------------------------------------------- */

const char *cellar_estimate_method(const cellar_estimate *estimate)
{
    return json_string_value(
        json_object_get(json_object_get(estimate->description, "computed"), "method"));
}

size_t cellar_estimate_n_sources(const cellar_estimate *estimate)
{
    return json_array_size(json_object_get(estimate->description, "sources"));
}

cellar_protection_level cellar_estimate_level(const cellar_estimate *estimate)
{
    return estimate->level;
}

const char *cellar_estimate_description(const cellar_estimate *estimate)
{
    return estimate->description_text;
}
