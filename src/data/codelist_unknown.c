/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A code for missing values, where a list has none. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist_build.h"

static int list_has_unknown(const cellar_codelist *list)
{
    for (size_t i = 0; i < cellar_codelist_n_codes(list); i++)
        if (cellar_codelist_role(list, i) == CELLAR_CODE_UNKNOWN)
            return 1;
    return 0;
}

cellar_status cellar_codelist_with_unknown(const cellar_codelist *list, cellar_codelist **out,
                                           cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_codelist *copy = NULL;
    char name[32] = "missing";

    *out = NULL;
    if (list_has_unknown(list)) {
        *out = cellar_codelist_retain(list);
        return CELLAR_OK;
    }
    if (cellar_codelist_n_hierarchies(list) > 0 || cellar_codelist_n_languages(list) > 1)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a code for missing values is added to flat lists of one language only");
    for (int n = 2; cellar_codelist_find(list, name, strlen(name)) != CELLAR_NO_CODE; n++)
        snprintf(name, sizeof name, "missing_%d", n);
    CELLAR_TRY(cellar_codelist_create(&copy, err));
    for (size_t i = 0; i < cellar_codelist_n_codes(list); i++) {
        const char *code = cellar_codelist_code(list, i);
        const char *label =
            cellar_codelist_n_languages(list) > 0 ? cellar_codelist_label(list, i, 0) : code;
        CELLAR_TRY(cellar_codelist_add(copy, code, strcmp(label, code) == 0 ? NULL : label, NULL,
                                       cellar_codelist_role(list, i), err));
    }
    CELLAR_TRY(cellar_codelist_add(copy, name, NULL, NULL, CELLAR_CODE_UNKNOWN, err));
    if (list->reviewer != NULL) /* what was drafted stays a draft */
        copy->reviewer = cellar_arena_copy(copy->arena, list->reviewer, strlen(list->reviewer));
    if (list->reviewer != NULL && copy->reviewer == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a code list"));
    CELLAR_TRY(cellar_codelist_finish(copy, err));
    *out = copy;
    copy = NULL;
out:
    cellar_codelist_free(copy);
    return status;
}
