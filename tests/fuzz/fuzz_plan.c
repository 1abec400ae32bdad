/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a plan; the files it names are not opened. */
#include <stdint.h>

#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_plan *plan;
    if (cellar_plan_parse_text("fuzz", NULL, (const char *) data, size, &plan, NULL) == CELLAR_OK)
        cellar_plan_free(plan);
    return 0;
}
