/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What somebody gives as the identity of a role: read, or refused with a reason. */
#include "fuzz_collection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_collect_identity identity;
    cellar_error err = {""};
    char path[FUZZ_PATH_BYTES];
    int n_read = 0;

    fuzz_file(data, size, path);
    for (int role = 1; role <= 3; role++) {
        err.message[0] = '\0';
        if (cellar_collect_identity_read(path, (cellar_collect_role) role, &identity, &err) ==
            CELLAR_OK)
            n_read++;
        else
            CELLAR_ASSERT(err.message[0] != '\0');
    }
    CELLAR_ASSERT(n_read <= 1); /* of one role only */
    unlink(path);
    return 0;
}
