/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The value labels of a column by its name. */
#include <string.h>

#include "base/error.h"
#include "data/statfile.h"

static cellar_status labels_find_column(const char *path, const cellar_reader_options *options,
                                        const char *column, size_t *index, cellar_error *err)
{
    char **names;
    size_t n_names, i = 0;
    cellar_status status = cellar_statfile_columns(path, options, &names, &n_names, err);

    if (status != CELLAR_OK)
        return status;
    while (i < n_names && strcmp(names[i], column) != 0)
        i++;
    *index = i;
    if (i == n_names)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: the file has no column '%s'", path, column);
    cellar_columns_free(names, n_names);
    return status;
}

cellar_status cellar_codelist_from_labels(const char *path, const cellar_reader_options *options,
                                          const char *column, cellar_codelist **out,
                                          cellar_error *err)
{
    cellar_reader_options how = options != NULL ? *options : (cellar_reader_options){0};
    size_t index = 0;
    cellar_status status;

    *out = NULL;
    if (how.format == CELLAR_DATA_AUTO)
        how.format = cellar_statfile_format(path);
    if (how.format == CELLAR_DATA_TEXT)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: a text file has no value labels; SPSS and Stata files do", path);
    status = labels_find_column(path, &how, column, &index, err);
    if (status == CELLAR_OK)
        status = cellar_statfile_labels(path, &how, &index, 1, out, err);
    if (status == CELLAR_OK && *out == NULL)
        status =
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: column '%s' has no value labels", path, column);
    return status;
}
