/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A code list that reads must survive being written and read again. */
#include "fuzz_codelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_codelist *list;
    if (cellar_codelist_parse("fuzz", (const char *) data, size, &list, NULL) == CELLAR_OK)
        fuzz_codelist(list);
    return 0;
}
