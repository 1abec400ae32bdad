/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs a piece of work with its first allocation failing, then its second, and so on for all. */
#ifndef CELLAR_TESTS_FAIL_EVERY_H
#define CELLAR_TESTS_FAIL_EVERY_H

#include <cellar/status.h>

#include "base/memory.h"
#include "check.h"

/* The work under test: does all its job from nothing, frees all it made whatever happens, and
 * returns the status of the first call that failed. */
typedef cellar_status fail_scenario(void *context, cellar_error *err);

/* The scenario must succeed untouched; with any one allocation failing it must answer
 * CELLAR_ERR_MEMORY and a message. Leaks are AddressSanitizer's to find. In builds without
 * CELLAR_FAIL_ALLOCATION only the untouched run happens. Answers the number of allocations. */
static inline uint64_t check_fail_every(fail_scenario *scenario, void *context)
{
    cellar_error err = {""};
    uint64_t n_allocations = 0;

    assert_int_equal(scenario(context, &err), CELLAR_OK);
#ifdef CELLAR_FAIL_ALLOCATION
    cellar_memory_fail_after(-1);
    assert_int_equal(scenario(context, &err), CELLAR_OK);
    n_allocations = cellar_memory_fail_after(-1);
    for (uint64_t n = 0; n < n_allocations; n++) {
        cellar_status status;
        err.message[0] = '\0';
        cellar_memory_fail_after((int64_t) n);
        status = scenario(context, &err);
        if (cellar_memory_fail_after(-1) <= n && status == CELLAR_OK)
            continue; /* threads shared the work otherwise and asked less often */
        if (status != CELLAR_ERR_MEMORY || err.message[0] == '\0')
            fail_msg("allocation %llu of %llu failed, and the answer was %s: '%s'",
                     (unsigned long long) n + 1, (unsigned long long) n_allocations,
                     cellar_status_name(status), err.message);
    }
#endif
    return n_allocations;
}

#endif
