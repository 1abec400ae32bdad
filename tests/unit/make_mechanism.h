/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A mechanism from its spec; a spec that is refused fails the test with the reason. */
#ifndef CELLAR_TESTS_MAKE_MECHANISM_H
#define CELLAR_TESTS_MAKE_MECHANISM_H

#include "check.h"

#include <cellar/mechanism.h>

static inline cellar_mechanism *make(const char *spec)
{
    cellar_mechanism *m = NULL;
    cellar_error err;
    if (cellar_mechanism_create(spec, &m, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    return m;
}

#endif
