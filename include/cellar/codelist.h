/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists: the declared categories of a variable, their order, labels and hierarchies. */
#ifndef CELLAR_CODELIST_H
#define CELLAR_CODELIST_H

#include <stddef.h>

#include <cellar/export.h>
#include <cellar/output.h>
#include <cellar/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a code stands for. A plain code is an ordinary category; `total` names the margin of the
 * variable; `unknown` and `not applicable` are categories like any other, but known to be such;
 * `other` receives every value outside the list (at most one). */
typedef enum cellar_code_role {
    CELLAR_CODE_PLAIN,
    CELLAR_CODE_TOTAL,
    CELLAR_CODE_UNKNOWN,
    CELLAR_CODE_NOT_APPLICABLE,
    CELLAR_CODE_OTHER
} cellar_code_role;

#define CELLAR_NO_CODE ((size_t) -1)

/* Immutable once built. Codes keep the order of the list (its `order` column, else the file). */
typedef struct cellar_codelist cellar_codelist;

/* Reads a code list in Cellar's format (docs/file-formats.md): CSV with a header holding `code`
 * and optionally `parent` (or several `parent:HIERARCHY`), `order`, `label` (and `label@LANGUAGE`),
 * `role` (total, unknown, not-applicable, other). A draft says so in a line before the header. Or
 * reads one from XML: a Codelist of an SDMX-ML structure message (2.1, 3.0), the categories of a
 * variable of a DDI code book (2.5); where the file has several, `path` is FILE#NAME. On failure
 * *out is NULL and the message names file, line and column. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_read(const char *path,
                                                               cellar_codelist **out,
                                                               cellar_error *err);

/* Reads a hierarchy in the layout of tau-Argus (.hrc): one code a line, its depth shown by how
 * often it begins with `mark` (usually "@"). Inner nodes become aggregate codes. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_read_hrc(const char *path,
                                                                   const char *mark,
                                                                   cellar_codelist **out,
                                                                   cellar_error *err);

/* The same from bytes in memory; `name` stands for the file in messages. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_parse(const char *name, const char *bytes,
                                                                size_t length,
                                                                cellar_codelist **out,
                                                                cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_parse_hrc(const char *name,
                                                                    const char *bytes,
                                                                    size_t length, const char *mark,
                                                                    cellar_codelist **out,
                                                                    cellar_error *err);

/* Builds one in memory: create, add codes in order, finish. `parent` is a code of the first
 * hierarchy or NULL and may be added later. finish() checks that codes are unique, parents exist
 * and hierarchies have no cycles; before it only add() and free() may be called. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_create(cellar_codelist **out,
                                                                 cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_add(cellar_codelist *list,
                                                              const char *code, const char *label,
                                                              const char *parent,
                                                              cellar_code_role role,
                                                              cellar_error *err) CELLAR_NONNULL(1);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_finish(cellar_codelist *list,
                                                                 cellar_error *err)
    CELLAR_NONNULL(1);
CELLAR_API void cellar_codelist_free(cellar_codelist *list); /* NULL is fine */

/* The list with a code for missing values at its end (`missing`, role unknown), or as it is where
 * it has such a code. Lists with hierarchies or several languages are refused
 * (CELLAR_ERR_ARGUMENT). Free it with cellar_codelist_free(). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_with_unknown(const cellar_codelist *list,
                                                                       cellar_codelist **out,
                                                                       cellar_error *err)
    CELLAR_NONNULL(1);

/* The codes, aggregates included, in their order: how many, the text, the role. */
CELLAR_API size_t cellar_codelist_n_codes(const cellar_codelist *list) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_codelist_code(const cellar_codelist *list, size_t code_index);
CELLAR_API cellar_code_role cellar_codelist_role(const cellar_codelist *list, size_t code_index);
/* The position of a code, or CELLAR_NO_CODE. `length` bytes, no NUL needed. */
CELLAR_API size_t cellar_codelist_find(const cellar_codelist *list, const char *code,
                                       size_t length);
/* 1 for a code that data may hold: it has no children and is not the total. */
CELLAR_API int cellar_codelist_is_leaf(const cellar_codelist *list, size_t code_index);
CELLAR_API size_t cellar_codelist_n_leaves(const cellar_codelist *list) CELLAR_NONNULL(1);
/* The code that is the k-th leaf, and which leaf a code is (CELLAR_NO_CODE for an aggregate). */
CELLAR_API size_t cellar_codelist_leaf(const cellar_codelist *list, size_t leaf_index)
    CELLAR_NONNULL(1);
CELLAR_API size_t cellar_codelist_leaf_of(const cellar_codelist *list, size_t code_index)
    CELLAR_NONNULL(1);

/* The languages of its labels. */
CELLAR_API size_t cellar_codelist_n_languages(const cellar_codelist *list) CELLAR_NONNULL(1);
/* The language tag; "" is the label without a language. */
CELLAR_API const char *cellar_codelist_language(const cellar_codelist *list, size_t language_index)
    CELLAR_NONNULL(1);
/* The label in a language, the code itself where none is given. */
CELLAR_API const char *cellar_codelist_label(const cellar_codelist *list, size_t code_index,
                                             size_t language_index) CELLAR_NONNULL(1);

/* Its hierarchies, by name. */
CELLAR_API size_t cellar_codelist_n_hierarchies(const cellar_codelist *list) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_codelist_hierarchy(const cellar_codelist *list, size_t hierarchy)
    CELLAR_NONNULL(1);
/* The parent of a code in a hierarchy, or CELLAR_NO_CODE at its top. */
CELLAR_API size_t cellar_codelist_parent(const cellar_codelist *list, size_t hierarchy,
                                         size_t code_index) CELLAR_NONNULL(1);

/* NULL when the list is no draft. A list that was drafted from the data names who reviewed it; ""
 * as long as nobody has: its categories then are as good as read off the data. */
CELLAR_API const char *cellar_codelist_reviewer(const cellar_codelist *list);

/* Writes the list in Cellar's format; reading it back gives the same list. */
CELLAR_API void cellar_codelist_write(const cellar_codelist *list, cellar_output *output);

#ifdef __cplusplus
}
#endif

#endif
