/* SPDX-License-Identifier: GPL-3.0-or-later */
/* JSON-stat: any bytes give a sound table or a message. */
#include "fuzz_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_table(data, size, CELLAR_TABLE_JSONSTAT);
}
