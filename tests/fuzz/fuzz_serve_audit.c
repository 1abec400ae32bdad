/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as an audit log. */
#include <stdint.h>

#include "serve/audit_chain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *file = size > 0 ? fmemopen((void *) (uintptr_t) data, size, "r") : NULL;
    audit_chain chain = {0};
    uint64_t n_bytes = 0;
    if (file == NULL)
        return 0;
    (void) audit_chain_read(&chain, "fuzz", file, &n_bytes, NULL, NULL, NULL);
    fclose(file);
    return 0;
}
