/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A store that is being built, of records or of cells: what it will say of itself, and the coders
 * that give its codes their meaning. */
#ifndef CELLAR_STORE_BUILDING_H
#define CELLAR_STORE_BUILDING_H

#include <cellar/store.h>

#include "store/writer.h"

typedef struct store_building {
    const cellar_tabulate_spec *spec;
    cellar_stored_file heading;
    cellar_coder **coders; /* of the variables; NULL before each is added */
    size_t sort_column;
    store_writer writer;
} store_building;

/* Checks `spec`, and makes room for its variables. Clear the building also after a failure. */
cellar_status cellar_store_building_init(store_building *building, const cellar_tabulate_spec *spec,
                                         cellar_error *err);
void cellar_store_building_clear(store_building *building);

/* Adds variable v, which `coder` codes; all but its name, the words for missing values and their
 * policy is set. */
cellar_status cellar_store_building_add(store_building *building, size_t v,
                                        cellar_coder_spec *coder, cellar_error *err);

/* By which variable rows are to be grouped (NULL: none). Where they have units, the order of the
 * data decides which records of a unit count, and is kept. */
cellar_status cellar_store_building_sort(store_building *building, const char *sort_by,
                                         cellar_error *err);
/* Begins the file, when all columns are there. `is_held`: rows wait in memory to be sorted. */
cellar_status cellar_store_building_begin(store_building *building, int is_held,
                                          cellar_output *output, cellar_error *err);

/* Variable v has more categories than a store can hold. */
cellar_status cellar_store_building_fail_categories(const store_building *building, size_t v,
                                                    cellar_error *err);

/* Writes what is left, and the heading. Of `report` counts what was not stored. */
cellar_status cellar_store_building_finish(store_building *building,
                                           const cellar_row_report *report, cellar_error *err);

#endif
