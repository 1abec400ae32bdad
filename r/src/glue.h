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

/* Kind, what frees it, what it is called, how to get another one in this process. */
#define GLUE_KINDS(X)                                                                              \
    X(CODELIST, cellar_codelist_free, "code list", "name it again")                                \
    X(RECODE_MAP, cellar_recode_map_free, "recode map", "name it again")                           \
    X(TABLE, cellar_table_free, "true table", "count it again, or read it with read_table()")      \
    X(QUESTION, cellar_sql_free, "question", "ask it again")                                       \
    X(ANSWER, cellar_sql_answer_free, "answer", "ask for it again")                                \
    X(RELEASE, cellar_release_free, "release",                                                     \
      "read it from the file of write_release() with read_release()")                              \
    X(KEY, cellar_key_free, "key", "read it again with read_key()")                                \
    X(MECHANISM, cellar_mechanism_free, "mechanism", "make it again")                              \
    X(CERTIFICATE, cellar_certificate_free, "certificate", "make it again")                        \
    X(LEDGER, cellar_ledger_close, "ledger", "open it again")                                      \
    X(NOISY, cellar_noisy_free, "table of released values", "make it again")                       \
    X(TEST, cellar_loglinear_free, "test", "make it again")                                        \
    X(MATRIX, cellar_matrix_free, "matrix", "make or read it again")                               \
    X(FIT, cellar_adjustment_free, "fit", "make it again")                                         \
    X(ROUNDING, cellar_rounding_free, "rounded fit", "make it again")                              \
    X(ESTIMATE, cellar_estimate_free, "estimate", "make it again, or read its file")               \
    X(GROUPS, cellar_groups_free, "set of groups", "make it again")                                \
    X(CURVE, cellar_exposure_curve_free, "curve", "make it again")                                 \
    X(UTILITY, cellar_utility_free, "assessment", "make it again")                                 \
    X(CUBE, cellar_cube_close, "cube", "open it again with cube()")                                \
    X(DESIGN, cellar_cube_design_free, "design", "make it again")                                  \
    X(PLAN, cellar_plan_free, "plan", "read it again")                                             \
    X(FIGURES, cellar_plan_figures_free, "set of figures", "check the plan again")                 \
    X(COMPARISON, cellar_plan_comparison_free, "comparison", "compare again")                      \
    X(PROFILES, cellar_profiles_free, "set of profiles", "make it again")                          \
    X(SELECTION, cellar_selection_free, "selection", "make it again")                              \
    X(SUPPRESSION, cellar_suppression_free, "suppression", "make it again")                        \
    X(SYNTHESIS, cellar_synthesis_free, "set of records", "make it again")

typedef enum glue_kind {
#define GLUE_KIND(name, free, words, again) GLUE_##name,
    GLUE_KINDS(GLUE_KIND)
#undef GLUE_KIND
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
/* An R error where it is NULL or absent. */
const char *glue_needed_text(SEXP list, const char *name);
/* Any number of them, and how many. */
const char **glue_texts(SEXP list, const char *name, size_t *n);
/* A whole number within 53 bits. */
int64_t glue_whole(SEXP list, const char *name, int64_t otherwise);
double glue_real(SEXP list, const char *name, double otherwise);
/* The object of a handle; NULL: the member is NULL or absent. */
void *glue_object(SEXP list, const char *name, glue_kind kind);
/* Variables of a schema by their names: positions, and how many. */
const size_t *glue_variables(const cellar_schema *schema, SEXP list, const char *name, size_t *n);
/* A text of an argument itself, not NA. */
const char *glue_utf8(SEXP text);

/* ---- values for R ----------------------------------------------------------------- */

/* A text, NA for NULL. */
SEXP glue_string(const char *text);
/* A list to be filled: names is NULL-terminated. Protect it. */
SEXP glue_list(const char *const *names);
/* A number as R has it; whole ones from 2^53 on are rounded. */
SEXP glue_number(double value);
/* Puts a column of n rows into a list, and answers where to write it. */
double *glue_reals(SEXP list, R_xlen_t at, size_t n);
int *glue_flags(SEXP list, R_xlen_t at, size_t n);
SEXP glue_words(SEXP list, R_xlen_t at, size_t n);
/* Writes into such a column of texts; NULL is NA. */
void glue_set_word(SEXP words, size_t i, const char *text);

/* The variables of a schema, as a list of lists (name, domain, codes, leaves: how many). */
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
