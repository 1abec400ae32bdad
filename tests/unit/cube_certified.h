/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small cube with the certificate of its tables. */
#ifndef CELLAR_TESTS_CUBE_CERTIFIED_H
#define CELLAR_TESTS_CUBE_CERTIFIED_H

#include "cube_sample.h"
#include "privacy/certificate.h"
#include "release/files/description.h"
#include "release/guarantee/certify.h"

/* Gives it the description that `cube build` would: with the certificate of its measured tables,
 * which all have this mechanism. */
static inline cellar_status cube_sample_certify(cellar_cube *cube, cellar_error *err)
{
    const cellar_release_facts facts = {.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE,
                                        .choice = CELLAR_CHOICE_IN_ADVANCE,
                                        .cells_per_record = 1,
                                        .max_per_unit = 1,
                                        .max_weight = 1,
                                        .unit = "person"};
    cellar_certify_part part = {.times = cube->lattice.n};
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_question question;
    cellar_status status = cellar_mechanism_create(cube->tables[0].mechanism, &mechanism, err);
    cellar_question_init(&question, &facts);
    part.mechanism = mechanism;
    if (status == CELLAR_OK)
        status = cellar_certify(&part, 1, &question.options, &certificate, err);
    if (status == CELLAR_OK)
        status = cellar_cube_describe(
            cube,
            json_pack("{s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:o}", "date", "2026-07-01", "unit",
                      "person", "neighbours", "add-remove", "max_per_unit", 1, "max_weight", 1,
                      "parameter_choice", cellar_parameter_choice_name(CELLAR_CHOICE_IN_ADVANCE),
                      "ledger", CELLAR_RELEASE_UNACCOUNTED, "protection",
                      cellar_protection_level_name(CELLAR_LEVEL_GUARANTEE), "certificate",
                      cellar_certificate_json(certificate)),
            err);
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return status;
}

#endif
