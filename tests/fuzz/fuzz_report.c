/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pages: whatever a release's description says, its certificate told is a well-formed page. The
 * bytes are a certificate in JSON; whatever they hold stands as labels as well. */
#include <stdint.h>

#include "../unit/page_check.h"
#include "base/error.h"
#include "base/memory.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const headings[] = {"#", "label", NULL};
    json_t *certificate = json_loadb((const char *) data, size, JSON_DECODE_ANY, NULL);
    char *label = cellar_alloc(size + 1, 1);
    cellar_page page = {.confidential = (int) (size & 1)};

    CELLAR_ASSERT(label != NULL);
    if (size > 0)
        memcpy(label, data, size);
    cellar_page_begin(&page, label);
    cellar_section_guarantee(&page, certificate, 1 + size % 3);
    cellar_section_certificate(&page, certificate, (int) (size % 2));
    cellar_page_table_begin(&page, label, headings);
    cellar_page_row_begin(&page, "%s", label);
    cellar_page_cell(&page, "%s", label);
    cellar_page_row_end(&page);
    cellar_page_table_end(&page);
    cellar_page_command(&page, "%s", label);
    cellar_page_end(&page);
    CELLAR_ASSERT(!page.out.failed && page_problem(page.out.bytes) == NULL);
    cellar_page_clear(&page);
    cellar_free(label);
    json_decref(certificate);
    return 0;
}
