/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/describe.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/codelist_build.h"
#include "data/coder.h"
#include "data/scan.h"

enum { DEFAULT_MAX_LEVELS = 100000 };

typedef struct described_column {
    char *name;
    cellar_codelist *levels; /* the missing level included, where there is one */
    uint64_t *n_rows;        /* of each level */
    size_t missing_level;    /* or CELLAR_NO_CODE */
    const char *suspect;     /* one of the levels, or NULL */
    int truncated, is_number, is_integer;
} described_column;

struct cellar_description {
    cellar_row_report rows;
    described_column *columns;
    size_t n_columns;
};

/* While reading: how often each code occurred, for each lane and column. */
typedef struct code_counts {
    uint64_t *n;
    size_t size;
} code_counts;

typedef struct describing {
    cellar_scan *scan;
    cellar_coder **coders;
    cellar_codelist **labels;
    cellar_scan_use *uses;
    size_t n_columns;
    code_counts *counts; /* lane by lane */
    uint64_t *n_counted; /* of each lane */
    int n_lanes;
} describing;

/* ---- reading --------------------------------------------------------------- */

static int counts_reserve(code_counts *counts, size_t size)
{
    size_t grown = size + size / 2;
    uint64_t *n;
    if (size <= counts->size)
        return 1;
    n = cellar_alloc(grown, sizeof *n);
    if (n == NULL)
        return 0;
    if (counts->size > 0)
        memcpy(n, counts->n, counts->size * sizeof *n);
    cellar_free(counts->n);
    counts->n = n;
    counts->size = grown;
    return 1;
}

static cellar_status describe_batch(void *context, int lane, cellar_batch *batch, cellar_error *err)
{
    describing *d = context;
    const uint64_t *of_row = cellar_batch_counts(batch);
    size_t n = cellar_batch_n_rows(batch);
    for (size_t c = 0; c < d->n_columns; c++) {
        code_counts *counts = &d->counts[(size_t) lane * d->n_columns + c];
        const int32_t *codes = cellar_batch_codes(batch, c);
        int32_t largest = 0;
        for (size_t row = 0; row < n; row++)
            largest = codes[row] > largest ? codes[row] : largest;
        if (!counts_reserve(counts, (size_t) largest + 1))
            return cellar_fail_memory(err, "the levels of a column");
        for (size_t row = 0; row < n; row++)
            counts->n[codes[row]] += of_row != NULL ? of_row[row] : 1;
    }
    d->n_counted[lane] += cellar_counts_sum(of_row, n);
    return CELLAR_OK;
}

static cellar_status describing_labels(describing *d, cellar_error *err)
{
    cellar_status status;
    size_t *columns = cellar_alloc(d->n_columns, sizeof *columns);

    if (columns == NULL)
        return cellar_fail_memory(err, "a description");
    for (size_t c = 0; c < d->n_columns; c++)
        columns[c] = d->uses[c].column;
    status = cellar_scan_labels(d->scan, columns, d->n_columns, d->labels, err);
    cellar_free(columns);
    return status;
}

static cellar_status describing_columns(describing *d, const cellar_describe_spec *spec,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;

    d->n_columns = spec->columns != NULL ? spec->n_columns : cellar_scan_n_columns(d->scan);
    d->coders = cellar_alloc(d->n_columns, sizeof *d->coders);
    d->labels = cellar_alloc(d->n_columns, sizeof *d->labels);
    d->uses = cellar_alloc(d->n_columns, sizeof *d->uses);
    if (d->coders == NULL || d->labels == NULL || d->uses == NULL) {
        status = cellar_fail_memory(err, "a description");
        goto out;
    }
    for (size_t c = 0; c < d->n_columns; c++) {
        d->uses[c].column = c;
        if (spec->columns != NULL)
            CELLAR_TRY(cellar_scan_find_column(d->scan, spec->columns[c], &d->uses[c].column, err));
    }
    CELLAR_TRY(describing_labels(d, err));
    for (size_t c = 0; c < d->n_columns; c++) {
        cellar_coder_spec coder = {.encoding = cellar_scan_encoding(d->scan),
                                   .missing = spec->missing,
                                   .n_missing = spec->n_missing,
                                   .missing_policy = CELLAR_MISSING_LEVEL,
                                   .max_levels = spec->max_levels > 0 ? spec->max_levels
                                                                      : DEFAULT_MAX_LEVELS};
        coder.labels = d->labels[c];
        coder.variable = cellar_scan_column(d->scan, d->uses[c].column);
        CELLAR_TRY(cellar_coder_create(&coder, &d->coders[c], err));
        d->uses[c].coder = d->coders[c];
    }
out:
    return status;
}

static cellar_status describing_read(describing *d, const cellar_describe_spec *spec,
                                     cellar_row_report *rows, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan_options options = {.n_lanes = spec->n_threads, .progress = spec->progress};

    d->n_lanes = cellar_scan_n_lanes(d->scan, &options);
    d->counts = cellar_alloc((size_t) d->n_lanes * d->n_columns, sizeof *d->counts);
    d->n_counted = cellar_alloc((size_t) d->n_lanes, sizeof *d->n_counted);
    if (d->counts == NULL || d->n_counted == NULL)
        return cellar_fail_memory(err, "a description");
    CELLAR_TRY(
        cellar_scan_run(d->scan, d->uses, d->n_columns, describe_batch, d, &options, rows, err));
    for (int lane = 0; lane < d->n_lanes; lane++)
        rows->n_counted += d->n_counted[lane];
out:
    return status;
}

static void describing_clear(describing *d)
{
    for (size_t c = 0; d->coders != NULL && c < d->n_columns; c++)
        cellar_coder_free(d->coders[c]);
    for (size_t c = 0; d->labels != NULL && c < d->n_columns; c++)
        cellar_codelist_free(d->labels[c]);
    for (size_t i = 0; d->counts != NULL && i < (size_t) d->n_lanes * d->n_columns; i++)
        cellar_free(d->counts[i].n);
    cellar_free(d->coders);
    cellar_free(d->labels);
    cellar_free(d->uses);
    cellar_free(d->counts);
    cellar_free(d->n_counted);
    cellar_scan_close(d->scan);
}

/* ---- what was read ---------------------------------------------------------- */

static uint64_t describing_count(const describing *d, size_t column, size_t code)
{
    uint64_t n = 0;
    for (int lane = 0; lane < d->n_lanes; lane++) {
        const code_counts *counts = &d->counts[(size_t) lane * d->n_columns + column];
        n += code < counts->size ? counts->n[code] : 0;
    }
    return n;
}

/* How SAS, Stata, R, Python and databases write a missing value in text. */
static int level_means_missing(const char *level)
{
    static const char *const words[] = {".",   "NA",   "N/A",  "#N/A", "NaN",
                                        "nan", "NULL", "null", "?",    "-"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(level, words[i]) == 0)
            return 1;
    return 0;
}

static void column_classify(described_column *column)
{
    size_t n = cellar_codelist_n_leaves(column->levels);
    column->missing_level = CELLAR_NO_CODE;
    column->is_number = column->is_integer = 1;
    for (size_t i = 0; i < n; i++) {
        const char *level = cellar_codelist_code(column->levels, i);
        cellar_int128 value;
        int64_t integer;
        if (cellar_codelist_role(column->levels, i) == CELLAR_CODE_UNKNOWN) {
            column->missing_level = i;
            continue;
        }
        if (column->suspect == NULL && level_means_missing(level))
            column->suspect = level;
        column->is_number &= cellar_parse_decimal(level, strlen(level), 18, &value, NULL);
        column->is_integer &= cellar_parse_i64(level, strlen(level), &integer);
    }
    if (n == (size_t) (column->missing_level != CELLAR_NO_CODE))
        column->is_number = column->is_integer = 0; /* nothing is known of an empty column */
}

static cellar_status column_fill(const describing *d, size_t c, size_t max_levels,
                                 described_column *column, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *name = cellar_coder_variable(d->coders[c]);
    uint32_t *leaf_of = NULL;
    size_t n;

    column->name = cellar_alloc(strlen(name) + 1, 1);
    CELLAR_TRY(cellar_coder_domain(d->coders[c], &column->levels, &leaf_of, err));
    n = cellar_codelist_n_leaves(column->levels);
    column->n_rows = cellar_alloc(n, sizeof *column->n_rows);
    if (column->name == NULL || column->n_rows == NULL) {
        status = cellar_fail_memory(err, "a description");
        goto out;
    }
    memcpy(column->name, name, strlen(name));
    for (size_t code = 0; code < n; code++)
        column->n_rows[leaf_of[code]] = describing_count(d, c, code);
    column->truncated = describing_count(d, c, max_levels + 1) > 0;
    column_classify(column);
out:
    cellar_free(leaf_of);
    return status;
}

cellar_describe_spec cellar_describe_spec_default(void)
{
    return (cellar_describe_spec){.max_levels = DEFAULT_MAX_LEVELS};
}

cellar_status cellar_describe(const cellar_describe_spec *spec, cellar_description **out,
                              cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    describing d = {0};
    size_t max_levels = spec->max_levels > 0 ? spec->max_levels : DEFAULT_MAX_LEVELS;
    cellar_description *description = cellar_alloc(1, sizeof *description);

    *out = NULL;
    if (description == NULL)
        return cellar_fail_memory(err, "a description");
    CELLAR_TRY(cellar_scan_open(spec->path, &spec->reader, &d.scan, err));
    CELLAR_TRY(describing_columns(&d, spec, err));
    CELLAR_TRY(describing_read(&d, spec, &description->rows, err));
    description->columns = cellar_alloc(d.n_columns, sizeof *description->columns);
    if (description->columns == NULL) {
        status = cellar_fail_memory(err, "a description");
        goto out;
    }
    description->n_columns = d.n_columns;
    for (size_t c = 0; c < d.n_columns; c++)
        CELLAR_TRY(column_fill(&d, c, max_levels, &description->columns[c], err));
    *out = description;
    description = NULL;
out:
    cellar_description_free(description);
    describing_clear(&d);
    return status;
}

void cellar_description_free(cellar_description *description)
{
    if (description == NULL)
        return;
    for (size_t c = 0; description->columns != NULL && c < description->n_columns; c++) {
        cellar_free(description->columns[c].name);
        cellar_free(description->columns[c].n_rows);
        cellar_codelist_free(description->columns[c].levels);
    }
    cellar_free(description->columns);
    cellar_free(description);
}

/* ---- questions -------------------------------------------------------------- */

cellar_row_report cellar_description_rows(const cellar_description *description)
{
    return description->rows;
}

size_t cellar_description_n_columns(const cellar_description *description)
{
    return description->n_columns;
}

/* The missing level, where there is one, is the last: levels keep their numbers without it. */
static size_t column_n_levels(const described_column *column)
{
    return cellar_codelist_n_leaves(column->levels) - (column->missing_level != CELLAR_NO_CODE);
}

cellar_column_description cellar_description_column(const cellar_description *description,
                                                    size_t column)
{
    const described_column *c = &description->columns[column];
    size_t n = column_n_levels(c);
    int have_range = n > 0 && !c->truncated;
    return (cellar_column_description){
        .name = c->name,
        .n_levels = n,
        .levels_truncated = c->truncated,
        .n_missing = c->missing_level != CELLAR_NO_CODE ? c->n_rows[c->missing_level] : 0,
        .is_number = c->is_number,
        .is_integer = c->is_integer,
        .suspect = c->suspect,
        .lowest = have_range ? cellar_codelist_code(c->levels, 0) : NULL,
        .highest = have_range ? cellar_codelist_code(c->levels, n - 1) : NULL};
}

const char *cellar_description_level(const cellar_description *description, size_t column,
                                     size_t level, uint64_t *n_rows)
{
    const described_column *c = &description->columns[column];
    if (n_rows != NULL)
        *n_rows = c->n_rows[level];
    return cellar_codelist_code(c->levels, level);
}

cellar_status cellar_codelist_from_description(const cellar_description *description, size_t column,
                                               cellar_codelist **out, cellar_error *err)
{
    const described_column *c = &description->columns[column];
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;

    *out = NULL;
    if (c->truncated)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "column '%.200s' has too many levels for a code list", c->name);
    CELLAR_TRY(cellar_codelist_create(&list, err));
    for (size_t i = 0; i < cellar_codelist_n_leaves(c->levels); i++) {
        const char *code = cellar_codelist_code(c->levels, i);
        const char *label = cellar_codelist_label(c->levels, i, 0);
        CELLAR_TRY(cellar_codelist_add(list, code, strcmp(label, code) == 0 ? NULL : label, NULL,
                                       cellar_codelist_role(c->levels, i), err));
    }
    list->reviewer = ""; /* a draft */
    CELLAR_TRY(cellar_codelist_finish(list, err));
    *out = list;
    list = NULL;
out:
    cellar_codelist_free(list);
    return status;
}
