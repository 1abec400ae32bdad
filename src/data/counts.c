/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/counts.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/scan_lanes.h"

/* ---- numbers --------------------------------------------------------------- */

int cellar_count_parse(const char *text, size_t length, uint64_t *count)
{
    cellar_int128 value;
    int exact;
    if (cellar_parse_u64(text, length, count))
        return *count <= cellar_count_limit;
    if (length == 0 || text[0] == '-' || text[0] == '+' ||
        !cellar_parse_decimal(text, length, 0, &value, &exact) || !exact ||
        value > (cellar_int128) cellar_count_limit)
        return 0;
    *count = (uint64_t) value;
    return 1;
}

/* ---- names ----------------------------------------------------------------- */

static const char table_verbs[] = "'cellar protect', 'utility', 'exposure' and 'risk' read a table";
static const char release_verbs[] =
    "'cellar infer', 'fit', 'utility' and 'report --public' read a release";

/* Column names of R's as.data.frame(table), Stata's contract, SPSS's AGGREGATE, SDMX-CSV, SAS's
 * PROC FREQ, pandas, and of our own files. */
static int name_means_count(const char *name)
{
    static const char *const names[] = {"count", "released", "fitted",  "freq",     "frequency",
                                        "_freq", "_freq_",   "n_break", "obs_value"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(name, names[i]) == 0)
            return 1;
    return 0;
}

/* The verbs that read our own files with a value column of that name; "" for other names. */
static const char *name_reader(const char *name)
{
    if (strcmp(name, "count") == 0)
        return table_verbs;
    return strcmp(name, "released") == 0 || strcmp(name, "fitted") == 0 ? release_verbs : "";
}

static cellar_status counts_refuse_name(const char *path, const char *name, cellar_error *err)
{
    const char *reader = name_reader(name);
    return cellar_fail(
        err, CELLAR_ERR_INPUT,
        "%s:1: column '%.200s': does a row stand for that many records? Say --count "
        "%.200s, or --count none if every row is one record (in a plan data.count)%s%s",
        path, name, name, reader[0] != '\0' ? "; " : "", reader);
}

/* The same for callers that have options, and no files. */
static cellar_status counts_refuse_frame(const char *name, const char *column, cellar_error *err)
{
    return cellar_fail(
        err, CELLAR_ERR_INPUT,
        "%s: column '%.200s': does a row stand for that many records? Name it as the "
        "column of counts, or say that rows are records",
        name, column);
}

/* A release in CSV has its description beside it. */
static cellar_status counts_refuse_release(const char *path, cellar_error *err)
{
    static const char ending[] = ".cellar.json";
    const size_t length = strlen(path) + sizeof ending;
    char *beside = cellar_alloc(length, 1);
    struct stat ignored;
    int is_release;

    if (beside == NULL)
        return cellar_fail_memory(err, "the name of a file");
    snprintf(beside, length, "%s%s", path, ending);
    is_release = stat(beside, &ignored) == 0;
    cellar_free(beside);
    if (!is_release)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: is a release, not records, for its description %s%s is beside it; %s",
                       path, path, ending, release_verbs);
}

cellar_status cellar_counts_find(const cellar_scan *scan, const char *path,
                                 const cellar_reader_options *options, cellar_count_columns *out,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *out = (cellar_count_columns){CELLAR_NO_CODE, CELLAR_NO_CODE};
    if (scan->frame == NULL)
        CELLAR_TRY(counts_refuse_release(path, err));
    if (options->count_column != NULL) {
        CELLAR_TRY(cellar_scan_find_column(scan, options->count_column, &out->declared, err));
        return CELLAR_OK;
    }
    for (size_t c = 0; !options->rows_are_records && c < cellar_scan_n_columns(scan); c++) {
        const char *name = cellar_scan_column(scan, c);
        if (name_means_count(name))
            return scan->frame != NULL ? counts_refuse_frame(path, name, err)
                                       : counts_refuse_name(path, name, err);
        if (strcmp(name, "n") == 0 || strcmp(name, "N") == 0)
            out->suspected = c;
    }
out:
    return status;
}

/* ---- tables that are not CSV ------------------------------------------------ */

static int text_begins(const char *text, size_t length, const char *beginning)
{
    return length >= strlen(beginning) && memcmp(text, beginning, strlen(beginning)) == 0;
}

cellar_status cellar_counts_refuse_table(const char *name, const char *text, size_t length,
                                         cellar_error *err)
{
    const char *format = NULL;
    size_t at = 0;
    int is_json;
    while (at < length && (text[at] == ' ' || text[at] == '\r' || text[at] == '\n'))
        at++;
    is_json = at < length && (text[at] == '{' || text_begins(text + at, length - at, "[{"));
    if (is_json && memmem(text, length, "\"dimension\"", 11) == NULL &&
        memmem(text, length, "\"dataset\"", 9) == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s:1: is JSON; write its records as CSV, one row for each", name);
    if (is_json)
        format = "JSON-stat";
    else if (text_begins(text, length, "CHARSET=") || text_begins(text, length, "AXIS-VERSION="))
        format = "PC-Axis";
    if (format == NULL)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:1: is a table (%s), not records; %s, %s", name,
                       format, table_verbs, release_verbs);
}
