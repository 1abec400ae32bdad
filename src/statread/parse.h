/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An open SPSS, Stata or SAS file and ReadStat's parsers over it. ReadStat is not to be trusted
 * with hostile files, so all of this runs in the program cellar-statread, which can do nothing but
 * read the one file and answer; tests and fuzzers call it directly. Messages do not name the file.
 */
#ifndef CELLAR_STATREAD_PARSE_H
#define CELLAR_STATREAD_PARSE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <readstat.h>

#include "base/text.h"
#include "data/statfile.h"

typedef struct cellar_statfile {
    cellar_data_format format;
    int fd; /* -1: all of the bytes are in `buffer`, and are the caller's */
    int64_t size, position, furthest;
    const unsigned char *buffer; /* holds [buffer_start, buffer_start + n_buffer) of the file */
    unsigned char *owned_buffer;
    int64_t buffer_start;
    size_t n_buffer;
    int read_errno; /* of a read that failed, else 0 */
    int cut;        /* a read got some of what it asked for, but not all */
    /* Called whenever bytes have been read that are further in the file; may be NULL. */
    void (*advance)(void *context, int64_t furthest);
    void *advance_context;
} cellar_statfile;

/* Over an open regular file, which stays the caller's. On failure there is nothing to close. */
cellar_status cellar_statfile_open(int fd, cellar_data_format format, cellar_statfile *file,
                                   cellar_error *err);
/* The same over bytes in memory, for tests and fuzzers; nothing to close. */
void cellar_statfile_open_memory(const void *bytes, size_t length, cellar_data_format format,
                                 cellar_statfile *file);
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

/* Names of the columns, in order; free with cellar_columns_free(). */
cellar_status cellar_statfile_list_columns(cellar_statfile *file, char ***names, size_t *n_names,
                                           cellar_error *err);
/* As cellar_statfile_read(). */
cellar_status cellar_statfile_read_rows(cellar_statfile *file, const size_t *columns,
                                        size_t n_columns, cellar_row_callback *row, void *context,
                                        cellar_error *err);
/* Calls label(context, column, code, label) for the value labels of the columns asked for, one
 * column after the other (`column` counts those), in the order of the values; `label` may be "". */
typedef cellar_status cellar_label_callback(void *context, size_t column, const char *code,
                                            const char *label, cellar_error *err);
cellar_status cellar_statfile_list_labels(cellar_statfile *file, const size_t *columns,
                                          size_t n_columns, cellar_label_callback *label,
                                          void *context, cellar_error *err);

#endif
