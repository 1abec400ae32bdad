/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists as options take them: decimals and grids, whole numbers and ranges, single numbers. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lists.h"
#include "message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cli_words decimals = {0};
    uint64_t *counts = NULL;
    size_t n = 0;
    double number;
    char *text = calloc(size + 1, 1);

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    if (cli_list_decimals("list", text, &decimals) == CLI_GO_ON)
        for (size_t i = 0; i < decimals.n; i++)
            if (!isfinite(strtod(decimals.items[i], NULL)))
                abort();
    if (cli_list_counts("list", text, 1, &counts, &n) == CLI_GO_ON)
        for (size_t i = 0; i < n; i++)
            if (counts[i] < 1)
                abort();
    if (cli_list_real("list", text, &number) == CLI_GO_ON && !isfinite(number))
        abort();
    cli_words_clear(&decimals);
    free(counts);
    free(text);
    return 0;
}
