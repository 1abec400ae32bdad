/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A hierarchy of tau-Argus that reads must survive as a code list. */
#include "fuzz_codelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_codelist *list;
    if (cellar_codelist_parse_hrc("fuzz", (const char *) data, size, "@", &list, NULL) == CELLAR_OK)
        fuzz_codelist(list);
    return 0;
}
