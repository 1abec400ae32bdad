/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cuts that no question makes: whole tables, and sets of cells. */
#ifndef CELLAR_SERVE_CUT_MAKE_H
#define CELLAR_SERVE_CUT_MAKE_H

#include <jansson.h>

#include "serve/source.h"

/* All cells of a table: sides in the order of the data set, picks in that of the categories. All of
 * it lives in the arena. */
cellar_status serve_cut_whole(const serve_dataset *dataset, const serve_table *table,
                              cellar_arena *arena, serve_cut *out, cellar_error *err);

/* A set of cells from {"region^1": ["north", "south"], "sex": "F"}: of each level the categories
 * that are added up; variables that are not named are summed out. CELLAR_ERR_INPUT says what is
 * wrong. */
cellar_status serve_cut_of_set(const serve_dataset *dataset, const json_t *set, cellar_arena *arena,
                               serve_cut *out, cellar_error *err);

#endif
