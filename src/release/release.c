/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/release.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "privacy/promise.h"
#include "release/files/description.h"
#include "table/formats/extension.h"

/* ---- life cycle ------------------------------------------------------------ */

cellar_status cellar_release_create(const cellar_schema *schema, cellar_cells *cells,
                                    json_t *description, const char *name, cellar_release **out,
                                    cellar_error *err)
{
    const json_t *certificate = json_object_get(description, "certificate");
    cellar_status status = CELLAR_OK;
    cellar_release *release = cellar_alloc(1, sizeof *release);
    cellar_text guarantee = {0};

    *out = NULL;
    if (release == NULL) {
        cellar_cells_clear(cells);
        return cellar_fail_memory(err, "a release");
    }
    release->schema = cellar_schema_retain(schema);
    release->cells = *cells;
    *cells = (cellar_cells){0};
    release->description = json_incref(description);
    CELLAR_TRY(cellar_description_read(description, name, &release->facts, err));
    release->description_text = cellar_json_text(description, JSON_COMPACT);
    release->certificate_text = cellar_json_text(certificate, JSON_COMPACT);
    cellar_promise_add_terms("The released values", certificate, &guarantee);
    release->guarantee_text = guarantee.bytes;
    if (release->description_text == NULL || release->certificate_text == NULL ||
        guarantee.failed) {
        status = cellar_fail_memory(err, "a release");
        goto out;
    }
    *out = release;
    release = NULL;
out:
    cellar_release_free(release);
    return status;
}

void cellar_release_free(cellar_release *release)
{
    if (release == NULL)
        return;
    cellar_schema_free(release->schema);
    cellar_cells_clear(&release->cells);
    json_decref(release->description);
    cellar_free(release->description_text);
    cellar_free(release->certificate_text);
    cellar_free(release->guarantee_text);
    cellar_free(release);
}

/* ---- the numbers ----------------------------------------------------------- */

const cellar_schema *cellar_release_schema(const cellar_release *release)
{
    return release->schema;
}

size_t cellar_release_n_cells(const cellar_release *release)
{
    return release->cells.n;
}

cellar_released_cell cellar_release_cell(const cellar_release *release, size_t position)
{
    const cellar_cells *cells = &release->cells;
    CELLAR_ASSERT(position < cells->n);
    return (cellar_released_cell){.index = cells->index[position],
                                  .released = (int64_t) cells->count[position],
                                  .status = cells->status == NULL
                                                ? CELLAR_CELL_NORMAL
                                                : (cellar_cell_status) cells->status[position]};
}

cellar_released_cell cellar_release_at(const cellar_release *release, uint64_t index)
{
    const cellar_cells *cells = &release->cells;
    cellar_released_cell cell = {.index = index};
    size_t position = cellar_cells_position(cells, index);

    if (position < cells->n && cells->index[position] == index)
        return cellar_release_cell(release, position);
    if (cellar_schema_is_structural_zero(release->schema, index))
        cell.status = CELLAR_CELL_STRUCTURAL_ZERO;
    else if (release->facts.below == CELLAR_BELOW_SUPPRESS)
        cell.status = CELLAR_CELL_SUPPRESSED;
    return cell;
}

/* ---- how they were made ---------------------------------------------------- */

const char *cellar_release_mechanism(const cellar_release *release)
{
    return release->facts.mechanism;
}

uint32_t cellar_release_mechanism_revision(const cellar_release *release)
{
    return release->facts.revision;
}

cellar_negatives cellar_release_negatives(const cellar_release *release)
{
    return release->facts.negatives;
}

int64_t cellar_release_threshold(const cellar_release *release)
{
    return release->facts.threshold;
}

cellar_below cellar_release_below(const cellar_release *release)
{
    return release->facts.below;
}

cellar_noise_source cellar_release_noise(const cellar_release *release)
{
    return release->facts.noise;
}

const char *cellar_release_key_id(const cellar_release *release)
{
    return release->facts.key_id;
}

uint64_t cellar_release_cells_per_record(const cellar_release *release)
{
    return release->facts.cells_per_record;
}

const char *cellar_release_unit(const cellar_release *release)
{
    return release->facts.unit;
}

int cellar_release_is_weighted(const cellar_release *release)
{
    return release->facts.is_weighted;
}

uint64_t cellar_release_max_weight(const cellar_release *release)
{
    return release->facts.max_weight;
}

cellar_neighbours cellar_release_neighbours(const cellar_release *release)
{
    return release->facts.neighbours;
}

uint64_t cellar_release_max_per_unit(const cellar_release *release)
{
    return release->facts.max_per_unit;
}

const char *cellar_release_total_epsilon(const cellar_release *release)
{
    return release->facts.total_epsilon;
}

cellar_parameter_choice cellar_release_choice(const cellar_release *release)
{
    return release->facts.choice;
}

const char *cellar_release_date(const cellar_release *release)
{
    return release->facts.date;
}

const char *cellar_release_ledger(const cellar_release *release)
{
    return release->facts.ledger;
}

cellar_verdict cellar_release_verdict(const cellar_release *release)
{
    return release->facts.verdict;
}

cellar_protection_level cellar_release_level(const cellar_release *release)
{
    return release->facts.level;
}

const char *cellar_release_certificate(const cellar_release *release)
{
    return release->certificate_text;
}

const char *cellar_release_guarantee(const cellar_release *release)
{
    return release->guarantee_text;
}

const char *cellar_release_description(const cellar_release *release)
{
    return release->description_text;
}
