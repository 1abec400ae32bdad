/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The codes of a schema as CSV fields, escaped once for millions of rows. */
#ifndef CELLAR_TABLE_FORMATS_CSV_FIELDS_H
#define CELLAR_TABLE_FORMATS_CSV_FIELDS_H

#include <cellar/output.h>
#include <cellar/table.h>

#include "base/text.h"

typedef struct cellar_csv_fields cellar_csv_fields;

cellar_status cellar_csv_fields_create(const cellar_schema *schema, int neutralise,
                                       cellar_csv_fields **out, cellar_error *err);
void cellar_csv_fields_free(cellar_csv_fields *fields); /* NULL is fine */

/* Adds the codes of a cell, a comma after each. */
void cellar_csv_fields_add(const cellar_csv_fields *fields, const uint32_t *categories,
                           cellar_text *row);

/* Adds one field. With `neutralise`, a field that a spreadsheet would take for a formula gets a
 * leading apostrophe (OWASP, "CSV Injection": = + - @ tabulator and carriage return). */
void cellar_csv_add_safe(cellar_text *row, const char *field, int neutralise);
/* The same between other delimiters than commas. */
void cellar_csv_add_between(cellar_text *row, const char *field, char delimiter, int neutralise);

/* Adds the name of a column that tells its bound, unless that is 0: "record_key:4096". */
void cellar_csv_add_bounded_name(cellar_text *row, const char *name, uint64_t bound);

/* Rows gather in a text and go out in pieces of about this size. A text that has failed stays as
 * it is. */
enum { CELLAR_CSV_FLUSH_BYTES = 1 << 16 };
void cellar_csv_flush(cellar_text *rows, cellar_output *output);

#endif
