/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Key files: any bytes give a key with an id, or a message. */
#include "fuzz_file.h"

#include <string.h>

#include <cellar/key.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH_BYTES];
    cellar_key *key;
    cellar_error err = {""};
    cellar_status status;

    fuzz_file(data, size, path);
    status = cellar_key_read(path, &key, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        CELLAR_ASSERT(strlen(cellar_key_id(key)) == 16);
    cellar_key_free(key);
    unlink(path);
    return 0;
}
