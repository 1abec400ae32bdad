/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of the glue share: library objects in external pointers, values out of lists.
 *
 * Errors and memory: every library object lies in an external pointer that was made before it, and
 * texts and arrays come from R_alloc(), so that R's collector frees all of them whatever happens.
 * An R error may thus leave a function at any line but within a library call, and the library calls
 * nothing of R. What the library refuses is an ordinary value (glue_fail) that ask() raises in R.
 */
#ifndef CELLAR_R_GLUE_H
#define CELLAR_R_GLUE_H

#include <stdint.h>

#define R_NO_REMAP
#define STRICT_R_HEADERS
#include <R.h>
#include <Rinternals.h>

#include <cellar/cellar.h>

/* ---- library objects ----------------------------------------------------------- */

typedef enum glue_kind {
    GLUE_CODELIST,
    GLUE_RECODE_MAP,
    GLUE_TABLE,
    GLUE_RELEASE,
    GLUE_KEY,
    GLUE_MECHANISM,
    GLUE_CERTIFICATE,
    GLUE_PREPARED,
    GLUE_LEDGER,
    GLUE_N_KINDS
} glue_kind;

/* An external pointer for an object of that kind, still empty: protect it before the object is
 * made. Saved to a file it holds nothing. */
SEXP glue_new(glue_kind kind);
/* Takes over `object`, which may be NULL. */
void glue_put(SEXP handle, void *object);
/* The object. An R error where `handle` is something else, was saved and loaded, or is a key of
 * another process. */
void *glue_get(SEXP handle, glue_kind kind);
/* The same; NULL for R's NULL. */
void *glue_get_if(SEXP handle, glue_kind kind);
/* Frees the object now: a ledger's lock should not wait for the collector. */
void glue_close(SEXP handle);
/* What became of the rows, kept beside a table that was counted here. NULL: there is none. */
cellar_row_report *glue_report(SEXP handle);
void glue_put_report(SEXP handle, const cellar_row_report *report);

/* What a routine answers when the library refuses: ask() makes an R error of it. */
SEXP glue_fail(cellar_status status, const cellar_error *err);

/* ---- values out of lists ---------------------------------------------------------- */

/* The member of that name, or R's NULL. */
SEXP glue_member(SEXP list, const char *name);
/* A text in UTF-8, valid until .Call() returns. NULL: the member is NULL or absent. */
const char *glue_text(SEXP list, const char *name);
/* Any number of them, and how many. */
const char **glue_texts(SEXP list, const char *name, size_t *n);
/* A whole number within 53 bits. */
int64_t glue_whole(SEXP list, const char *name, int64_t otherwise);
double glue_real(SEXP list, const char *name, double otherwise);
/* The object of a handle; NULL: the member is NULL or absent. */
void *glue_object(SEXP list, const char *name, glue_kind kind);
/* A text of an argument itself, not NA. */
const char *glue_utf8(SEXP text);

/* ---- values for R ----------------------------------------------------------------- */

/* A text, NA for NULL. */
SEXP glue_string(const char *text);
/* A list to be filled: names is NULL-terminated. Protect it. */
SEXP glue_list(const char *const *names);
/* A 64-bit number as R has it; 2^53 and beyond are rounded. */
SEXP glue_number(double value);

/* frame.c: the variables of a schema, as a list of lists (name, domain, codes). */
SEXP glue_shape(const cellar_schema *schema);
/* A variable of some cells as a factor, whose levels are all its categories. `index` answers the
 * index of the i-th cell. */
typedef uint64_t glue_index(const void *cells, size_t i);
SEXP glue_factor(const cellar_schema *schema, size_t variable, const void *cells, size_t n,
                 glue_index *index);

/* ---- work that can be interrupted --------------------------------------------------- */

/* Ends with CELLAR_ERR_CANCELLED when the user presses Ctrl-C. */
cellar_progress glue_progress(void);

#endif
