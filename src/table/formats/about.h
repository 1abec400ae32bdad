/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What people say about a table: title, source, note, units, date, names in databases, and which
 * variables are time or place. Formats show as much of it as they can; `about` of Cellar's own
 * object keeps all of it, so that it survives a format that has no place for it. */
#ifndef CELLAR_TABLE_FORMATS_ABOUT_H
#define CELLAR_TABLE_FORMATS_ABOUT_H

#include <jansson.h>

#include "table/formats/format.h"

#define CELLAR_ABOUT_CONFIDENTIAL "Confidential: true counts, not for publication."

/* 1 for 2026-11-18, 2026-11-18T10:00 and 2026-11-18T10:00:00, with or without Z after a time. */
int cellar_about_is_date(const char *text);
/* Refuses a date that is none, and a role of a variable that the table does not have. */
cellar_status cellar_about_check(const cellar_table_write_options *options,
                                 const cellar_schema *schema, cellar_error *err);

/* Adds the member `about` to the object, unless there is nothing to say. 0 when memory ends. */
int cellar_about_add(const cellar_table_write_options *options, json_t *extension);

/* What a file says about its table, and what kind of table it holds. {0} is empty. */
typedef struct cellar_about {
    cellar_sheet_kind kind;
    json_t *said; /* as `about` has it */
    cellar_variable_role roles[CELLAR_MAX_VARIABLES];
    size_t n_roles;
} cellar_about;

/* Reads it from Cellar's own object, or from what others wrote. The format of the source is
 * decided; `beside` is the text of FILE.cellar.json, or NULL. Clear *out in every case. */
cellar_status cellar_about_read(const cellar_source *source, const char *beside, size_t length,
                                cellar_about *out, cellar_error *err);
void cellar_about_clear(cellar_about *about);

/* Gives the options what they do not say themselves; they borrow it. */
void cellar_about_fill(const cellar_about *about, cellar_table_write_options *options);

#endif
