/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The budget of a participant: read, or refused with a reason; a limit that was set is read again,
 * and setting it loses nothing that was spent. */
#include "fuzz_collection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_collect_budget before, after;
    cellar_error err = {""};
    char path[FUZZ_PATH_BYTES];

    fuzz_file(data, size, path);
    if (cellar_collect_budget_read(path, &before, &err) != CELLAR_OK) {
        CELLAR_ASSERT(err.message[0] != '\0');
        CELLAR_ASSERT(cellar_collect_budget_limit(path, "2.5", &err) != CELLAR_OK);
    } else {
        CELLAR_ASSERT(cellar_collect_budget_limit(path, "2.5", &err) == CELLAR_OK);
        CELLAR_ASSERT(cellar_collect_budget_read(path, &after, &err) == CELLAR_OK);
        CELLAR_ASSERT(after.limit == 2.5 && after.spent == before.spent &&
                      after.n_randomised == before.n_randomised && after.n_exact == before.n_exact);
    }
    unlink(path);
    return 0;
}
