/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A cell by the names of its categories. */
#include <string.h>

#include <cellar/columns.h>

#include "base/error.h"

static size_t find_total(const cellar_schema *schema, size_t variable)
{
    for (size_t c = cellar_schema_n_categories(schema, variable); c-- > 0;)
        if (cellar_schema_role(schema, variable, c) == CELLAR_CODE_TOTAL)
            return c;
    return CELLAR_NO_CODE;
}

cellar_status cellar_schema_find_cell(const cellar_schema *schema, const char *const *codes,
                                      size_t n_codes, uint64_t *index, cellar_error *err)
{
    const size_t n = cellar_schema_n_variables(schema);
    uint32_t categories[CELLAR_MAX_VARIABLES];
    if (n_codes != n)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a cell has a code in each of the %zu variables, not %zu", n, n_codes);
    for (size_t v = 0; v < n; v++) {
        const size_t found = codes[v] == NULL
                                 ? find_total(schema, v)
                                 : cellar_schema_find_code(schema, v, codes[v], strlen(codes[v]));
        if (found == CELLAR_NO_CODE)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' has no %s%.200s%s",
                               cellar_schema_variable(schema, v),
                               codes[v] == NULL ? "total" : "code '",
                               codes[v] == NULL ? "" : codes[v], codes[v] == NULL ? "" : "'");
        categories[v] = (uint32_t) found;
    }
    *index = cellar_schema_index(schema, categories);
    if (!cellar_schema_has_cell(schema, *index))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the table does not hold that margin");
    return CELLAR_OK;
}
