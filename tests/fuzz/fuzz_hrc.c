/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hierarchy of tau-Argus that reads must survive as a code list. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_codelist *list, *back;
    cellar_text once = {0}, twice = {0};

    if (cellar_codelist_parse_hrc("fuzz", (const char *) data, size, "@", &list, NULL) != CELLAR_OK)
        return 0;
    cellar_codelist_add_text(list, &once);
    CELLAR_ASSERT(cellar_codelist_parse("fuzz", once.bytes, once.length, &back, NULL) == CELLAR_OK);
    cellar_codelist_add_text(back, &twice);
    CELLAR_ASSERT(strcmp(once.bytes, twice.bytes) == 0);
    cellar_text_clear(&once);
    cellar_text_clear(&twice);
    cellar_codelist_free(list);
    cellar_codelist_free(back);
    return 0;
}
