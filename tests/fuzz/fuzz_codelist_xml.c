/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A code list out of XML that reads must survive as one of ours; with and without a choice. */
#include "data/codelist_xml.h"
#include "fuzz_codelist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_codelist *list;
    cellar_codelist_is_xml((const char *) data, size);
    if (cellar_codelist_parse_xml("fuzz", (const char *) data, size, NULL, &list, NULL) ==
        CELLAR_OK)
        fuzz_codelist(list);
    if (cellar_codelist_parse_xml("fuzz", (const char *) data, size, "A", &list, NULL) == CELLAR_OK)
        fuzz_codelist(list);
    return 0;
}
