/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The column store: records as small codes in a file that is mapped, not read. Confidential, like
 * the records. Every function that reads microdata reads a store by its path; here are building
 * one, looking at it, and many questions to one that stays open. */
#ifndef CELLAR_STORE_H
#define CELLAR_STORE_H

#include <cellar/columns.h>
#include <cellar/output.h>
#include <cellar/tabulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- building ---- */

/* Codes the records of `data` and writes them to `output`, which the caller opens (mode 0600) and
 * commits. Of `data` counts what says which records there are and what their variables are: path,
 * reader, variables (up to 4,096, with up to 65,535 categories), missing values, conditions, and
 * the columns of weights, units and record keys or identifiers; what says how to count must be
 * empty. Records with missing values are kept, and each table decides about them; where
 * it does not, the policies of `data` do. `sort_by` names a variable by which rows are
 * grouped, and takes memory for all of them; NULL keeps their order, and little memory. The store
 * holds codes and numbers, none of the fields they were made of. `report` may be NULL. On failure
 * discard the output. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_store_build(const cellar_tabulate_spec *data,
                                                             const char *sort_by,
                                                             cellar_output *output,
                                                             cellar_row_report *report,
                                                             cellar_error *err);

/* The same of records that were counted elsewhere (cellar_sql_answer_cells()): writes each cell as
 * so many equal records, in the order of their categories. Domains are declared (or implied by the
 * recode), and `data->path` is not read. Cells hold no weights, units or record keys of single
 * records: refused (CELLAR_ERR_UNSUPPORTED). `rows` is what was read and left out elsewhere. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_store_build_from_cells(
    const cellar_tabulate_spec *data, const cellar_counted_cells *cells, const char *sort_by,
    cellar_output *output, const cellar_row_report *rows, cellar_error *err)
    CELLAR_NONNULL(1, 2, 4, 5);

/* ---- looking at one ---- */

typedef struct cellar_store cellar_store;

/* Maps the file and checks its heading. Blocks of records are compared with their checksums when
 * they are first used. A store is never changed, so that threads can share it. On failure *out is
 * NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_store_open(const char *path, cellar_store **out,
                                                            cellar_error *err);
CELLAR_API void cellar_store_close(cellar_store *store); /* NULL is fine */

/* What a store holds. Its texts live as long as the store. */
typedef struct cellar_store_facts {
    uint64_t n_rows, size_bytes;
    size_t n_variables;
    const char *key, *weight, *unit; /* columns that they were made of; NULL: there are none */
    uint64_t key_range, n_units;
    const char *sorted_by; /* a variable; NULL: rows are in the order of the data */
} cellar_store_facts;
CELLAR_API cellar_store_facts cellar_store_about(const cellar_store *store) CELLAR_NONNULL(1);

typedef struct cellar_store_variable {
    const char *name, *column;
    const cellar_codelist *codelist; /* its leaves are the categories */
    cellar_domain domain;
    unsigned n_bytes; /* of a code */
    int has_missing;
    int is_recoded; /* categories are not the values of the column */
} cellar_store_variable;
CELLAR_API cellar_store_variable cellar_store_variable_at(const cellar_store *store,
                                                          size_t variable) CELLAR_NONNULL(1);

/* Compares every block with its checksum, and every value with what its column can hold. *n_blocks
 * (may be NULL) is how many there are. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_store_verify(const cellar_store *store,
                                                              int n_threads, size_t *n_blocks,
                                                              cellar_error *err);

/* ---- questions ---- */

typedef struct cellar_store_answer {
    cellar_status status;
    cellar_error error;  /* of a question that failed */
    cellar_table *table; /* NULL where it failed; free it with cellar_table_free() */
    cellar_row_report rows;
} cellar_store_answer;

/* Answers n questions: each table is the one that cellar_tabulate() makes of its spec and the path
 * of the store. Path, reader, threads and progress of the specs are not looked at. Tables of few
 * possible cells are counted together, in one pass over the store, so that many questions asked at
 * once take less than one after the other; one that fails does not hinder the others. Several
 * threads may ask one store at the same time. `answers` has room for n of them. */
CELLAR_API void cellar_store_tabulate(const cellar_store *store,
                                      const cellar_tabulate_spec *questions, size_t n,
                                      int n_threads, cellar_store_answer *answers)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
