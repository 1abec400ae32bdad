/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder with releases of regions by sexes, and sites that serve it. */
#ifndef CELLAR_TESTS_SERVE_RELEASED_H
#define CELLAR_TESTS_SERVE_RELEASED_H

#include <cellar/release_file.h>

#include "make_mechanism.h"
#include "serve_place.h"
#include "table/build.h"
#include "table/table.h"

#define CONFIG(more)                                                                               \
    SERVE_PLACE_SITE "datasets:\n"                                                                 \
                     "  - id: people\n"                                                            \
                     "    kind: releases\n"                                                        \
                     "    folder: .\n"                                                             \
                     "    population: country\n"                                                   \
                     "    title: People\n"                                                         \
                     "    period: 2026\n" more
#define WITH_LEVELS                                                                                \
    "    variables:\n      - {name: region, codelist: region.list, hierarchy: yes}\n"

/* ---- releases ----------------------------------------------------------------------------------
 */

typedef struct made {
    const char *spec;
    cellar_negatives negatives;
    int64_t threshold;
    cellar_below below;
    cellar_margins margins;
} made;

static inline cellar_codelist *list_of(const char *text)
{
    cellar_codelist *list = NULL;
    assert_int_equal(cellar_codelist_parse("list", text, strlen(text), &list, NULL), CELLAR_OK);
    return list;
}

/* Regions by sexes: the count of cell i is 20 i. */
static inline cellar_table *table_of(const cellar_margins *margins)
{
    cellar_codelist *regions = list_of(CUBE_SAMPLE_REGIONS), *sexes = list_of(CUBE_SAMPLE_SEXES);
    const cellar_schema_variable_def defs[] = {{"region", CELLAR_DOMAIN_DECLARED, regions},
                                               {"sex", CELLAR_DOMAIN_DECLARED, sexes}};
    cellar_schema *schema = NULL;
    cellar_cells cells = {.n = 10};
    cellar_table *inner = NULL, *table = NULL;
    assert_int_equal(cellar_schema_create(defs, 2, NULL, &schema, NULL), CELLAR_OK);
    cells.index = cellar_alloc(cells.n, sizeof *cells.index);
    cells.count = cellar_alloc(cells.n, sizeof *cells.count);
    for (size_t i = 0; i < cells.n; i++) {
        cells.index[i] = i;
        cells.count[i] = 20 * i;
    }
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &inner, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_create_expanded(inner, margins, &table, NULL), CELLAR_OK);
    cellar_table_free(inner);
    cellar_schema_free(schema);
    cellar_codelist_free(regions);
    cellar_codelist_free(sexes);
    return table;
}

static inline cellar_release *release_into(scratch *place, const char *name, const made *how)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_table *table = table_of(&how->margins);
    cellar_mechanism *mechanism = make(how->spec);
    cellar_release *release = NULL;
    cellar_release_file *file = NULL;
    cellar_error err = {""};
    options.negatives = how->negatives;
    options.threshold = how->threshold;
    options.below = how->below;
    options.per_cell = 1;
    options.date = "2026-07-01";
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK ||
        cellar_release_file_open(scratch_path(place, name), NULL, 1, &file, &err) != CELLAR_OK ||
        cellar_release_file_write(file, release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_release_file_discard(file);
    cellar_mechanism_free(mechanism);
    cellar_table_free(table);
    return release;
}

static inline int clear_place(void **state)
{
    scratch_walk(*state, 1);
    scratch_write(*state, "region.list", CUBE_SAMPLE_REGIONS);
    return 0;
}

static inline cellar_site *open_site(scratch *place, const char *text)
{
    cellar_site *site = NULL;
    cellar_error err = {""};
    scratch_write(place, "site.yaml", text);
    if (cellar_site_open(scratch_path(place, "site.yaml"), NULL, &site, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return site;
}

#endif
