/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a release, for the files of this layer. */
#ifndef CELLAR_RELEASE_RELEASE_H
#define CELLAR_RELEASE_RELEASE_H

#include <jansson.h>

#include <cellar/release.h>

#include "table/build.h"
#include "table/formats/format.h"

/* What is said about the numbers. Strings lie in the description. */
typedef struct cellar_release_facts {
    const char *mechanism, *unit, *total_epsilon, *key_id, *date, *ledger;
    cellar_verdict verdict;
    const char *delta; /* that is charged; NULL: none, or not known */
    uint32_t revision;
    cellar_negatives negatives;
    cellar_neighbours neighbours;
    int64_t threshold;
    cellar_below below;
    cellar_noise_source noise;
    cellar_parameter_choice choice;
    uint64_t cells_per_record, max_per_unit;
    int is_weighted;     /* numbers are weighted sums, not counts */
    uint64_t max_weight; /* of a record; 1 without weights */
    cellar_protection_level level;
} cellar_release_facts;

struct cellar_release {
    cellar_schema *schema;
    cellar_cells cells; /* released numbers are two's complement in `count`; no weights or keys */
    json_t *description;
    char *description_text, *certificate_text, *guarantee_text;
    cellar_release_facts facts;
};

/* Makes a release of listed cells in canonical order and a description, which is checked: every
 * fact must be there. Retains `schema` and `description`; takes `cells` in every case. `name` is
 * the file in messages, or NULL. On failure *out is NULL. */
cellar_status cellar_release_create(const cellar_schema *schema, cellar_cells *cells,
                                    json_t *description, const char *name, cellar_release **out,
                                    cellar_error *err);

/* The release in the bytes of a file, whose format the source's options say; `beside` is the text
 * of FILE.cellar.json, which only CSV has. On failure *out is NULL. */
cellar_status cellar_release_parse(const cellar_source *source, const char *beside, size_t length,
                                   cellar_release **out, cellar_error *err);

#endif
