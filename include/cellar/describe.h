/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is in a data file, before anything is counted. Confidential, like all that is computed
 * from records. */
#ifndef CELLAR_DESCRIBE_H
#define CELLAR_DESCRIBE_H

#include <cellar/microdata.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cellar_description cellar_description;

/* What to describe. Start from cellar_describe_spec_default(). */
typedef struct cellar_describe_spec {
    const char *path;
    cellar_reader_options reader;
    const char *const *columns; /* NULL: all */
    size_t n_columns;
    const char *const *missing; /* strings that mean missing, besides the empty one */
    size_t n_missing;
    size_t
        max_levels; /* stop listing the levels of a column beyond this many [100000, also when 0] */
    int n_threads;  /* 0: one per processor */
    cellar_progress progress;
} cellar_describe_spec;

/* No path yet; all columns, with up to 100,000 levels each. */
CELLAR_API cellar_describe_spec cellar_describe_spec_default(void);

/* What one column holds. `n_levels` is exact unless `levels_truncated`. */
typedef struct cellar_column_description {
    const char *name;
    size_t n_levels; /* distinct values, missing ones not counted */
    int levels_truncated;
    uint64_t n_missing;
    int is_number;                /* every value is a decimal */
    int is_integer;               /* every value is an integer */
    const char *lowest, *highest; /* in the order of cellar's categories; NULL when there is none,
                                     or not all levels are known */
    const char *suspect; /* a level that often means missing ("NA", "."), though it was not declared
                            so; NULL: there is none */
} cellar_column_description;

/* Reads the file and describes its columns. Free *out with cellar_description_free(). On failure
 * it is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_describe(const cellar_describe_spec *spec,
                                                          cellar_description **out,
                                                          cellar_error *err) CELLAR_NONNULL(1);
CELLAR_API void cellar_description_free(cellar_description *description); /* NULL is fine */
/* What became of the rows, and what each column holds. */
CELLAR_API cellar_row_report cellar_description_rows(const cellar_description *description)
    CELLAR_NONNULL(1);
CELLAR_API size_t cellar_description_n_columns(const cellar_description *description)
    CELLAR_NONNULL(1);
CELLAR_API cellar_column_description
cellar_description_column(const cellar_description *description, size_t column);
/* The k-th level of a column, in order, and how many records hold it. */
CELLAR_API const char *cellar_description_level(const cellar_description *description,
                                                size_t column, size_t level, uint64_t *n_rows)
    CELLAR_NONNULL(1);
/* A draft code list of a column's levels for a person to review, with a code of the role unknown
 * where values are missing. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_codelist_from_description(
    const cellar_description *description, size_t column, cellar_codelist **out, cellar_error *err)
    CELLAR_NONNULL(1);

#ifdef __cplusplus
}
#endif

#endif
