/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms completed so that they can be compared at the same epsilon and delta. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/certificate.h>

#include "utility.h"

double utility_certified_delta(const char *spec, const char *epsilon)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_error err;
    double delta = NAN;

    options.epsilons = &epsilon;
    options.n_epsilons = 1;
    if (cellar_mechanism_create(spec, &mechanism, &err) == CELLAR_OK) {
        const cellar_certify_part part = {mechanism, 1};
        if (cellar_certify(&part, 1, &options, &certificate, &err) == CELLAR_OK)
            delta = cellar_certificate_point(certificate, 0).delta;
    }
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return delta;
}

/* ---- kernels, whose alpha decides ------------------------------------------------ */

/* Candidates with three digits, from 0.01 on. */
enum { DIGITS = 900, N_ALPHAS = 8 * DIGITS };

static int has_alpha(const char *spec)
{
    static const char *const names[] = {"poisson", "negbin", "pig", "sichel", "delaporte", "gamma"};
    size_t length = strcspn(spec, ":");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncmp(spec, names[i], length) == 0)
            return strstr(spec, "alpha=") == NULL;
    return 0;
}

/* The spec with an alpha, and without the epsilon that it is compared at. */
static void write_alpha(const char *spec, int index, char *out, size_t size)
{
    const char *parameters = spec + strcspn(spec, ":");
    int exponent = index / DIGITS - 4, n;
    double alpha = (100 + index % DIGITS) * pow(10, exponent);
    n = snprintf(out, size, "%.*s:alpha=%.*f", (int) (parameters - spec), spec,
                 exponent < 0 ? -exponent : 0, alpha);
    while (*parameters != '\0' && n > 0 && (size_t) n < size) {
        size_t length = strcspn(++parameters, ",");
        if (length > 0 && strncmp(parameters, "epsilon=", 8) != 0)
            n += snprintf(out + n, size - (size_t) n, ",%.*s", (int) length, parameters);
        parameters += length;
    }
}

/* The smallest alpha whose delta is proven to be at most `delta`: it falls as alpha grows. */
static int find_alpha(const char *spec, const char *epsilon, double delta, char *out, size_t size)
{
    int low = -1, high = DIGITS; /* large alphas take long to prove: from below */
    write_alpha(spec, high, out, size);
    while (!(utility_certified_delta(out, epsilon) <= delta)) {
        low = high;
        high += DIGITS / 2;
        if (high >= N_ALPHAS)
            return cli_usage("utility: '%.60s' has no alpha below 1000000 with this delta, or "
                             "lacks another parameter",
                             spec);
        write_alpha(spec, high, out, size);
    }
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        write_alpha(spec, middle, out, size);
        if (utility_certified_delta(out, epsilon) <= delta)
            high = middle;
        else
            low = middle;
    }
    write_alpha(spec, high, out, size);
    return CLI_GO_ON;
}

int utility_complete(const char *spec, const char *epsilon, const char *delta, char *out,
                     size_t size)
{
    char *end;
    double value = strtod(delta, &end);
    cellar_error err;
    cellar_status status;
    if (has_alpha(spec) && epsilon != NULL && *end == '\0' && value > 0 && value < 1)
        return find_alpha(spec, epsilon, value, out, size);
    status = cellar_utility_equal_delta(spec, delta, out, size, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_usage("utility: %s", err.message);
}
