/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code lists that tests need and are not about. */
#ifndef CELLAR_TESTS_CODE_LISTS_H
#define CELLAR_TESTS_CODE_LISTS_H

#include <stdio.h>
#include <string.h>

#include <cellar/codelist.h>

#include "check.h"

/* From the text of a file. */
static inline cellar_codelist *parse_list(const char *text)
{
    cellar_codelist *list = NULL;
    assert_int_equal(cellar_codelist_parse("list", text, strlen(text), &list, NULL), CELLAR_OK);
    return list;
}

/* `n` codes: the letter, if any, and 0, 1, ... */
static inline cellar_codelist *numbered_list(const char *letter, size_t n)
{
    cellar_codelist *list = NULL;
    assert_int_equal(cellar_codelist_create(&list, NULL), CELLAR_OK);
    for (size_t i = 0; i < n; i++) {
        char code[32];
        snprintf(code, sizeof code, "%s%zu", letter, i);
        assert_int_equal(cellar_codelist_add(list, code, NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                         CELLAR_OK);
    }
    assert_int_equal(cellar_codelist_finish(list, NULL), CELLAR_OK);
    return list;
}

#endif
