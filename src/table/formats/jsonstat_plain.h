/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The values of a dataset where they are written as Cellar writes them: [3,0,null,12] or
 * {"5":3,"9":1}, whole numbers without blanks, perhaps a line feed behind a comma. A JSON parser
 * makes an object of each number, which takes most of the time that a large table needs; here they
 * are read at once. */
#ifndef CELLAR_TABLE_FORMATS_JSONSTAT_PLAIN_H
#define CELLAR_TABLE_FORMATS_JSONSTAT_PLAIN_H

#include "table/formats/jsonstat.h"

/* What stands between the brackets of the member `value` of the outermost object: its place in the
 * text, and its entries, ascending, to be freed by the caller. */
typedef struct cellar_jsonstat_plain {
    size_t begin, end;
    cellar_jsonstat_entry *entries; /* NULL: the values are not plain */
    size_t n;
} cellar_jsonstat_plain;

/* The text need not be JSON. CELLAR_ERR_MEMORY is the only failure. */
cellar_status cellar_jsonstat_read_plain(const char *bytes, size_t length,
                                         cellar_jsonstat_plain *out, cellar_error *err);
/* Parses the text as if nothing stood between those brackets. NULL: it is no JSON. */
json_t *cellar_jsonstat_parse_around(const char *bytes, size_t length,
                                     const cellar_jsonstat_plain *plain, json_error_t *where);

#endif
