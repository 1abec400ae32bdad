/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzzers of code lists share: a list that reads survives being written and read again. */
#ifndef CELLAR_TESTS_FUZZ_CODELIST_H
#define CELLAR_TESTS_FUZZ_CODELIST_H

#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Frees the list. */
static inline void fuzz_codelist(cellar_codelist *list)
{
    cellar_codelist *back;
    cellar_text once = {0}, twice = {0};
    cellar_codelist_add_text(list, &once);
    CELLAR_ASSERT(cellar_codelist_parse("fuzz", once.bytes, once.length, &back, NULL) == CELLAR_OK);
    cellar_codelist_add_text(back, &twice);
    CELLAR_ASSERT(strcmp(once.bytes, twice.bytes) == 0);
    cellar_text_clear(&once);
    cellar_text_clear(&twice);
    cellar_codelist_free(list);
    cellar_codelist_free(back);
}

#endif
