/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An open SPSS, Stata or SAS file and ReadStat's parsers over it; what statfile.h stands on. */
#ifndef CELLAR_DATA_STATFILE_PARSE_H
#define CELLAR_DATA_STATFILE_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <readstat.h>

#include "base/text.h"
#include "data/statfile.h"

typedef struct cellar_statfile {
    const char *name; /* the caller's */
    cellar_data_format format;
    int fd; /* -1: all of the bytes are in `buffer`, and are the caller's */
    int64_t size, position;
    const unsigned char *buffer; /* holds [buffer_start, buffer_start + n_buffer) of the file */
    unsigned char *owned_buffer;
    int64_t buffer_start;
    size_t n_buffer;
    int read_errno;        /* of a read that failed, else 0 */
    int cut;               /* a read got some of what it asked for, but not all */
    double *fraction_done; /* kept up to date while reading; may be NULL */
} cellar_statfile;

/* Opens a regular file; `path` must outlive it. On failure there is nothing to close. */
cellar_status cellar_statfile_open(const char *path, cellar_data_format format,
                                   cellar_statfile *file, cellar_error *err);
/* The same over bytes in memory, for tests and fuzzers; nothing to close. */
void cellar_statfile_open_memory(const char *name, const void *bytes, size_t length,
                                 cellar_data_format format, cellar_statfile *file);
void cellar_statfile_close(cellar_statfile *file);

/* One run of a parser. Contexts given to it begin with this; a handler that fails sets `status`
 * (and the message of `err`) and answers READSTAT_HANDLER_ABORT; as ReadStat overhears some of
 * these answers, a handler does nothing once `status` is set. */
typedef struct cellar_statfile_run {
    cellar_statfile *file;
    cellar_error *err;
    cellar_status status;
    int encoding_known; /* the file says which encoding its text is in */
    int64_t n_rows;     /* as the file says, -1 when it does not */
    size_t name_bytes;  /* a label set's name has at most as many, and need not end with NUL */
} cellar_statfile_run;

/* Only the handlers `variable`, `value` and `value_label` are used. `run` is the context's first
 * member, zeroed but for `file` and `err`. */
cellar_status cellar_statfile_parse(cellar_statfile_run *run, const readstat_callbacks_t *handlers);

/* Replaces `out` by the text as UTF-8 without trailing blanks. Text in no known encoding that is
 * not UTF-8 is taken as Windows-1252. `what` names the text in messages. */
cellar_status cellar_statfile_text(const cellar_statfile_run *run, const char *text, size_t length,
                                   const char *what, cellar_text *out);
/* Replaces `out` by the value as statfile.h describes; missing values are the caller's matter. */
cellar_status cellar_statfile_value_text(const cellar_statfile_run *run, readstat_value_t value,
                                         const char *what, cellar_text *out);
/* Adds the shortest decimal that reads back as the same double (or float, when `single`). */
void cellar_statfile_add_number(cellar_text *out, double number, int single);

/* The work of statfile.h over an open file. */
cellar_status cellar_statfile_list_columns(cellar_statfile *file, char ***names, size_t *n_names,
                                           cellar_error *err);
cellar_status cellar_statfile_read_rows(cellar_statfile *file, const size_t *columns,
                                        size_t n_columns, cellar_row_callback *row, void *context,
                                        cellar_error *err);
cellar_status cellar_statfile_list_labels(cellar_statfile *file, size_t column,
                                          cellar_codelist **out, cellar_error *err);

#endif
