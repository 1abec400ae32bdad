/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SPSS, Stata and SAS files from hostile bytes, through ReadStat in this process; the first byte
 * picks the format. */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "statread/parse.h"

static cellar_status check_row(void *context, const cellar_field *fields, uint64_t row_index,
                               cellar_error *err)
{
    (void) context;
    for (int i = 0; i < 2; i++)
        CELLAR_ASSERT(cellar_utf8_valid(fields[i].text, fields[i].length));
    if (row_index > 10000)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "enough");
    return CELLAR_OK;
}

static cellar_status check_label(void *context, size_t column, const char *code, const char *label,
                                 cellar_error *err)
{
    (void) context;
    (void) err;
    CELLAR_ASSERT(column < 2 && code[0] != '\0');
    CELLAR_ASSERT(cellar_utf8_valid(code, strlen(code)));
    CELLAR_ASSERT(cellar_utf8_valid(label, strlen(label)));
    return CELLAR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t columns[] = {1, 0};
    cellar_statfile file;
    cellar_error err;
    char **names;
    size_t n_names;

    if (size == 0)
        return 0;
    cellar_statfile_open_memory(data + 1, size - 1,
                                (cellar_data_format) (CELLAR_DATA_SAV + data[0] % 5), &file);
    if (cellar_statfile_list_columns(&file, &names, &n_names, &err) == CELLAR_OK)
        cellar_columns_free(names, n_names);
    cellar_statfile_read_rows(&file, columns, 2, check_row, NULL, &err);
    cellar_statfile_list_labels(&file, columns, 2, check_label, NULL, &err);
    return 0;
}
