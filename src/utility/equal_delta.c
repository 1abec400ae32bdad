/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms side by side at the same epsilon and delta (Rinott and others, section 5.6.2). */
#include <cellar/utility.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mechanism/mechanism.h"

#define EQUAL_MAX_M (INT64_C(1) << 30)

/* The delta of noise cut off at m, at its own epsilon: q(m). */
static cellar_status equal_try(const char *spec, int64_t m, char *out, size_t size, double *delta,
                               cellar_error *err)
{
    cellar_mechanism *mechanism = NULL;
    char text[32];
    cellar_status status;
    snprintf(text, sizeof text, "%" PRId64, m);
    status = cellar_mechanism_spec_add(spec, "m", text, out, size, err);
    if (status == CELLAR_OK)
        status = cellar_mechanism_create(out, &mechanism, err);
    if (status == CELLAR_OK)
        *delta = cellar_mechanism_pmf(mechanism, 0, m);
    cellar_mechanism_free(mechanism);
    return status;
}

/* The smallest m, by doubling and halving: q(m) falls with m. */
static cellar_status equal_truncate(const char *spec, double delta, char *out, size_t size,
                                    cellar_error *err)
{
    int64_t low = 0, high = 1;
    double at;
    cellar_status status = equal_try(spec, high, out, size, &at, err);
    while (status == CELLAR_OK && at > delta && high < EQUAL_MAX_M) {
        low = high;
        high *= 2;
        status = equal_try(spec, high, out, size, &at, err);
    }
    while (status == CELLAR_OK && high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        status = equal_try(spec, middle, out, size, &at, err);
        if (at > delta)
            low = middle;
        else
            high = middle;
    }
    return status == CELLAR_OK ? equal_try(spec, high, out, size, &at, err) : status;
}

static int equal_is(const char *spec, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strncmp(spec, *names, strlen(*names)) == 0 && spec[strlen(*names)] == ':')
            return 1;
    return 0;
}

cellar_status cellar_utility_equal_delta(const char *spec, const char *delta, char *out,
                                         size_t size, cellar_error *err)
{
    static const char *const truncated[] = {"truncated-laplace", "truncated-normal", NULL};
    static const char *const calibrated[] = {"gaussian", "discrete-gaussian", NULL};
    static const char *const pure[] = {"laplace", "discrete-laplace", "hellinger", NULL};
    char *end;
    double value = strtod(delta, &end);

    if (*end != '\0' || !(value > 0) || !(value < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "delta lies between 0 and 1, not '%.40s'",
                           delta);
    if (equal_is(spec, truncated))
        return equal_truncate(spec, value, out, size, err);
    if (equal_is(spec, calibrated))
        return cellar_mechanism_spec_add(spec, "delta", delta, out, size, err);
    if (!equal_is(spec, pure))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "'%.60s' has no parameter that a delta decides; give its parameters",
                           spec);
    if (strlen(spec) >= size)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the spec of a mechanism is too long");
    memcpy(out, spec, strlen(spec) + 1);
    return CELLAR_OK;
}
