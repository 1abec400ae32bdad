/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Cellar knows of a table and other programs do not: `extension.cellar` in JSON-stat, a note
 * in px. With it a file reads back exactly. */
#ifndef CELLAR_TABLE_FORMATS_EXTENSION_H
#define CELLAR_TABLE_FORMATS_EXTENSION_H

#include <jansson.h>

#include "table/formats/format.h"

/* How the file around it holds the cells. */
typedef struct cellar_extension_layout {
    int sparse;   /* only stored cells are in the file; to be told to other programs */
    int statuses; /* statuses of cells that show a number stand here, for the file cannot say */
} cellar_extension_layout;

/* A JSON value as text, or NULL when memory ends; free it with cellar_free(). */
char *cellar_json_text(const json_t *json, size_t flags);

/* The object of a sheet; the caller drops the reference. On failure *out is NULL. */
cellar_status cellar_extension_create(const cellar_sheet *sheet,
                                      const cellar_extension_layout *layout, json_t **out,
                                      cellar_error *err);

/* Refuses what is not of the source's kind (a source of estimates may be a fit), then gives
 * `loaded` the schema that the object states, and the decimals and whether there are standard
 * errors; a code list of the source's options replaces the stated one. */
cellar_status cellar_extension_begin(const cellar_source *source, const json_t *extension,
                                     cellar_loaded *loaded, cellar_error *err);
/* Adds a cell to those of `loaded`; they come in canonical order. Zeros without a status (but not
 * those of an estimate, which have errors) and structural zeros that the rules know need not be
 * stored and are not. Fails when the schema has
 * no such cell. */
cellar_status cellar_extension_add_cell(const cellar_source *source, cellar_loaded *loaded,
                                        const cellar_sheet_cell *cell, cellar_error *err);
/* Gives the cells the weights, keys and statuses that the object holds, and `loaded` its key range
 * and, for a release, the object's text. */
cellar_status cellar_extension_finish(const cellar_source *source, const json_t *extension,
                                      cellar_loaded *loaded, cellar_error *err);

#endif
