/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The columns of data, whatever kind they are of. */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "data/scan_lanes.h"
#include "data/statfile.h"

size_t cellar_scan_n_columns(const cellar_scan *scan)
{
    if (scan->stored != NULL)
        return scan->stored->n_variables;
    if (scan->frame != NULL)
        return frame_source_n_columns(scan->frame);
    if (scan->parquet != NULL)
        return scan->parquet->n_columns;
    return scan->chunks != NULL ? cellar_chunks_n_columns(scan->chunks) : scan->n_columns;
}

const char *cellar_scan_column(const cellar_scan *scan, size_t column)
{
    if (scan->stored != NULL)
        return scan->stored->variables[column].spec.name;
    if (scan->frame != NULL)
        return frame_source_column(scan->frame, column);
    if (scan->parquet != NULL)
        return scan->parquet->columns[column].name;
    return scan->chunks != NULL ? cellar_chunks_column(scan->chunks, column)
                                : scan->columns[column];
}

char scan_suspect_delimiter(const cellar_scan *scan)
{
    const char *found = NULL;
    if (scan->chunks != NULL && cellar_scan_n_columns(scan) == 1)
        found = strpbrk(cellar_scan_column(scan, 0), ",;\t|");
    return found != NULL ? *found : '\0';
}

/* Only text files are refused as soon as two columns share a name. */
static cellar_status check_single(const cellar_scan *scan, size_t column, cellar_error *err)
{
    const char *name = cellar_scan_column(scan, column);
    for (size_t other = column + 1; other < cellar_scan_n_columns(scan); other++)
        if (strcmp(cellar_scan_column(scan, other), name) == 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: columns %zu and %zu have the same name, '%.200s'", scan->path,
                               column + 1, other + 1, name);
    return CELLAR_OK;
}

cellar_status cellar_scan_find_column(const cellar_scan *scan, const char *name, size_t *column,
                                      cellar_error *err)
{
    size_t n = cellar_scan_n_columns(scan);
    const char **names, *nearest;
    size_t place = 0;
    const char suspect = scan_suspect_delimiter(scan);

    for (*column = 0; *column < n; ++*column)
        if (strcmp(cellar_scan_column(scan, *column), name) == 0)
            return check_single(scan, *column, err);
    names = cellar_alloc(n + 1, sizeof *names);
    if (names == NULL)
        return cellar_fail_memory(err, "the names of columns");
    for (size_t i = 0; i < n; i++)
        names[i] = cellar_scan_column(scan, i);
    nearest = cellar_nearest_word(name, names);
    while (nearest != NULL && names[place] != nearest)
        place++;
    cellar_free(names);
    if (suspect != '\0') {
        const char quoted[] = {'\'', suspect, '\'', '\0'};
        const char *shown = suspect == '\t' ? "tab" : quoted;
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "%s: has no column '%.200s': it has one column, with %s in its name; say "
            "--delimiter %s if that separates the columns (in a plan data.delimiter)",
            scan->path, name, shown, shown);
    }
    /* Its number, not its name: in a file without a header the first record stands there. */
    if (nearest != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: has no column '%.200s'; the name of column %zu is close to it",
                           scan->path, name, place + 1);
    return cellar_fail(
        err, CELLAR_ERR_ARGUMENT,
        "%s: has no column '%.200s' among its %zu column%s; cellar describe lists them", scan->path,
        name, n, n == 1 ? "" : "s");
}

cellar_status cellar_scan_labels(const cellar_scan *scan, const size_t *columns, size_t n_columns,
                                 cellar_codelist **lists, cellar_error *err)
{
    for (size_t i = 0; i < n_columns; i++)
        lists[i] = NULL;
    if (scan->chunks != NULL || scan->stored != NULL || scan->frame != NULL ||
        scan->parquet != NULL)
        return CELLAR_OK;
    return cellar_statfile_labels(scan->path, &scan->options, columns, n_columns, lists, err);
}

cellar_status cellar_scan_variable(const cellar_scan *scan, const cellar_variable_spec *variable,
                                   cellar_coder_spec *coder, size_t *column, cellar_codelist **held,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (scan->stored != NULL)
        return cellar_stored_find_variable(scan->stored, variable, coder, column, held, err);
    coder->encoding = cellar_scan_encoding(scan);
    coder->recode = &variable->recode;
    coder->codelist = variable->codelist;
    coder->level = variable->level;
    *held = NULL;
    CELLAR_TRY(cellar_scan_find_column(scan, variable->column, column, err));
    if (variable->codelist == NULL)
        CELLAR_TRY(cellar_scan_labels(scan, column, 1, held, err));
    coder->labels = *held;
out:
    return status;
}

cellar_status cellar_scan_condition(const cellar_scan *scan, const cellar_condition *condition,
                                    size_t *column, cellar_error *err)
{
    if (scan->stored != NULL)
        return cellar_stored_find_condition(scan->stored, condition, column, err);
    return cellar_scan_find_column(scan, cellar_condition_column(condition), column, err);
}

cellar_status cellar_scan_number(const cellar_scan *scan, cellar_stored_beside kind,
                                 const char *name, size_t *column, cellar_error *err)
{
    if (scan->stored != NULL)
        return cellar_stored_find_number(scan->stored, kind, name, column, err);
    return cellar_scan_find_column(scan, name, column, err);
}

const cellar_stored_file *cellar_scan_stored(const cellar_scan *scan)
{
    return scan->stored;
}

cellar_encoding cellar_scan_encoding(const cellar_scan *scan)
{
    return scan->chunks != NULL ? scan->options.encoding : CELLAR_ENCODING_UTF8;
}

cellar_status cellar_columns_read(const char *path, const cellar_reader_options *options,
                                  char ***names, size_t *n_names, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_scan *scan = NULL;
    size_t n = 0;

    *names = NULL;
    *n_names = 0;
    CELLAR_TRY(cellar_scan_open(path, options, &scan, err));
    *names = cellar_alloc(cellar_scan_n_columns(scan), sizeof **names);
    for (; *names != NULL && n < cellar_scan_n_columns(scan); n++) {
        const char *name = cellar_scan_column(scan, n);
        (*names)[n] = cellar_alloc(strlen(name) + 1, 1);
        if ((*names)[n] == NULL)
            break;
        memcpy((*names)[n], name, strlen(name));
    }
    if (n < cellar_scan_n_columns(scan)) {
        cellar_columns_free(*names, n);
        *names = NULL;
        status = cellar_fail_memory(err, "the names of columns");
        goto out;
    }
    *n_names = n;
out:
    cellar_scan_close(scan);
    return status;
}
