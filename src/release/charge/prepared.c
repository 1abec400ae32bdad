/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/charge/prepared.h"

#include "base/error.h"
#include "base/memory.h"

void cellar_prepared_free(cellar_prepared *prepared)
{
    if (prepared == NULL)
        return;
    if (prepared->clear != NULL)
        prepared->clear(prepared);
    json_decref(prepared->description);
    cellar_protection_clear(&prepared->protection);
    cellar_free(prepared);
}

cellar_status cellar_prepared_lower(cellar_prepared *prepared, cellar_protection_level level,
                                    cellar_error *err)
{
    if (level <= prepared->protection.facts.level)
        return CELLAR_OK;
    prepared->protection.facts.level = level;
    return json_object_set_new(prepared->description, "protection",
                               json_string(cellar_protection_level_name(level))) == 0
               ? CELLAR_OK
               : cellar_fail_memory(err, "the description of a release");
}

const char *cellar_prepared_mechanism(const cellar_prepared *prepared)
{
    return prepared->protection.facts.mechanism;
}

const cellar_certificate *cellar_prepared_certificate(const cellar_prepared *prepared)
{
    return prepared->protection.certificate;
}

int cellar_prepared_shows_total(const cellar_prepared *prepared)
{
    return prepared->shows_total;
}

cellar_status cellar_prepared_forecast(const cellar_prepared *prepared, cellar_forecast *out,
                                       cellar_error *err)
{
    if (prepared->forecast == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s does not draw each cell by itself: there is no forecast",
                           cellar_prepared_mechanism(prepared));
    return prepared->forecast(prepared, out, err);
}

cellar_status cellar_prepared_draw(cellar_prepared *prepared, const char *stamp,
                                   cellar_release **out, cellar_error *err)
{
    const cellar_protection *protection = &prepared->protection;
    json_t *description = json_copy(prepared->description);
    cells_builder listed = {0};
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (description == NULL ||
        (stamp != NULL && json_object_set_new(description, "ledger", json_string(stamp)) != 0))
        CELLAR_TRY(cellar_fail_memory(err, "the description of a release"));
    CELLAR_TRY(prepared->draw(prepared, &listed, err));
    CELLAR_TRY(cellar_protection_add_marks(protection->table, &listed, err));
    CELLAR_TRY(
        cellar_release_create(protection->schema, &listed.cells, description, NULL, out, err));
out:
    json_decref(description);
    cellar_cells_clear(&listed.cells);
    return status;
}

cellar_status cellar_prepared_finish(cellar_status status, cellar_prepared *prepared,
                                     cellar_release **out, cellar_error *err)
{
    *out = NULL;
    if (status == CELLAR_OK)
        status = cellar_prepared_draw(prepared, NULL, out, err);
    cellar_prepared_free(prepared);
    return status;
}
