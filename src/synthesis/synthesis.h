/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of synthetic records. */
#ifndef CELLAR_SYNTHESIS_SYNTHESIS_H
#define CELLAR_SYNTHESIS_SYNTHESIS_H

#include <jansson.h>

#include <cellar/synthesis.h>

#include "table/build.h"

/* A column of the records: a variable of a schema, whose leaves are its categories. */
typedef struct synthesis_column {
    cellar_schema *schema; /* retained */
    size_t variable;       /* in it */
} synthesis_column;

struct cellar_synthesis {
    synthesis_column *columns;
    size_t n_columns;
    uint32_t *categories; /* of combination k: from k * n_columns on; combinations ascend */
    uint64_t *counts;     /* of each; at least 1 */
    size_t n_combinations;
    uint64_t n_records;
    json_t *description;
    char *description_text;
};

/* Empty records with these columns (schemas are retained) and room for so many combinations. On
 * failure *out is NULL. */
cellar_status cellar_synthesis_create(const synthesis_column *columns, size_t n_columns,
                                      size_t n_combinations, cellar_synthesis **out,
                                      cellar_error *err);
/* Says how they were made: `facts` (an object with a text `method`, taken) joins the statement, the
 * variables and `sources` (an array of descriptions, taken). */
cellar_status cellar_synthesis_describe(cellar_synthesis *synthesis, json_t *facts, json_t *sources,
                                        cellar_error *err);

/* ---- files ------------------------------------------------------------------------ */

typedef struct cellar_records_file cellar_records_file; /* text, perhaps compressed */

/* Opens PATH and PATH.synthetic.json. On failure *out is NULL. */
cellar_status cellar_records_file_open(const char *path, int replace, cellar_records_file **out,
                                       cellar_error *err);
void cellar_records_file_discard(cellar_records_file *file); /* NULL is fine */
char cellar_records_file_delimiter(const cellar_records_file *file);
/* Adds text to the records and empties it; a text that has failed stays as it is. */
cellar_status cellar_records_file_add(cellar_records_file *file, cellar_text *text,
                                      cellar_error *err);
/* Lets both files appear, `description` (which gains the digest of the records) first. Discard the
 * file afterwards in every case. */
cellar_status cellar_records_file_commit(cellar_records_file *file, const json_t *description,
                                         cellar_error *err);

#endif
