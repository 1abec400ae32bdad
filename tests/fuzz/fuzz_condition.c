/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A condition, and after the first line end the value it is asked about. */
#include <stdint.h>
#include <string.h>

#include "base/memory.h"
#include "data/condition.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_condition *condition;
    char *text = cellar_alloc(size + 1, 1), *value;

    if (text == NULL)
        return 0;
    if (size > 0)
        memcpy(text, data, size);
    value = strchr(text, '\n');
    if (value != NULL)
        *value++ = '\0';
    else
        value = text + strlen(text);
    if (cellar_condition_parse(text, &condition, NULL) == CELLAR_OK) {
        cellar_condition_column(condition);
        cellar_condition_holds(condition, value, strlen(value));
        cellar_condition_free(condition);
    }
    cellar_free(text);
    return 0;
}
