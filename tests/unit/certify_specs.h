/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates from specs, each met once. */
#ifndef CELLAR_TESTS_CERTIFY_SPECS_H
#define CELLAR_TESTS_CERTIFY_SPECS_H

#include <cellar/certificate.h>

#include "make_mechanism.h"

enum { CERTIFY_SPECS_MAX = 16 };

static inline cellar_status certify_specs(const char *const *specs, size_t n,
                                          const cellar_certify_options *options,
                                          cellar_certificate **out, cellar_error *err)
{
    cellar_mechanism *mechanisms[CERTIFY_SPECS_MAX] = {0};
    cellar_certify_part parts[CERTIFY_SPECS_MAX];
    cellar_status status;
    assert_true(n <= CERTIFY_SPECS_MAX);
    for (size_t i = 0; i < n; i++) {
        mechanisms[i] = make(specs[i]);
        parts[i] = (cellar_certify_part){mechanisms[i], 1};
    }
    status = cellar_certify(parts, n, options, out, err);
    for (size_t i = 0; i < n; i++)
        cellar_mechanism_free(mechanisms[i]);
    return status;
}

/* The certificate of one mechanism; a refusal fails the test with the reason. */
static inline cellar_certificate *certify_spec(const char *spec,
                                               const cellar_certify_options *options)
{
    cellar_certificate *c = NULL;
    cellar_error err = {{0}};
    if (certify_specs(&spec, 1, options, &c, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    return c;
}

#endif
