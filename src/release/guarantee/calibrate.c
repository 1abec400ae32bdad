/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sigma of Gaussian noise for a total epsilon and a delta, found by asking for certificates. */
#include "release/guarantee/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/rational.h"
#include "release/guarantee/certify.h"
#include "release/guarantee/share.h"

/* ---- the search ---------------------------------------------------------------------------- */

/* Candidate i is (1000 + i mod 9000) 10^(i div 9000 - 6). */
enum { PER_DECADE = 9000, N_CANDIDATES = 7 * PER_DECADE + 1, FIRST_DIGITS = 1000, DECIMALS = 6 };

/* "12.34", without trailing zeros. */
static void candidate_text(size_t candidate, char out[CELLAR_SIGMA_TEXT])
{
    size_t digits = FIRST_DIGITS + candidate % PER_DECADE, decade = candidate / PER_DECADE;
    int n = snprintf(out, CELLAR_SIGMA_TEXT, "%.*f", DECIMALS,
                     (double) digits * pow(10, (double) decade - DECIMALS));
    while (out[n - 1] == '0')
        out[--n] = '\0';
    if (out[n - 1] == '.')
        out[--n] = '\0';
}

/* The first candidate that is at least x. */
static size_t candidate_from(double x)
{
    double decade, digits;
    if (!(x > 0.001))
        return 0;
    if (!(x < 10000))
        return N_CANDIDATES - 1;
    decade = floor(log10(x)) + 3;
    digits = ceil(x * pow(10, DECIMALS - decade)); /* rounding may lead one candidate away */
    return (size_t) fmax(0, decade * PER_DECADE + digits - FIRST_DIGITS);
}

/* It begins at sqrt(2 ln(1.25/delta)) / epsilon (Dwork and Roth 2014, Appendix A) times the
 * sensitivity. */
cellar_status cellar_calibrate_sigma(double sensitivity, const char *epsilon, const char *delta,
                                     cellar_calibrate_try *attempt, void *context,
                                     char out[CELLAR_SIGMA_TEXT], cellar_error *err)
{
    size_t low = 0, high = candidate_from(sensitivity * sqrt(2 * log(1.25 / strtod(delta, NULL))) /
                                          strtod(epsilon, NULL));
    cellar_status status;

    candidate_text(high, out);
    status = attempt(context, out, err);
    if (status == CELLAR_ERR_RULE && high < N_CANDIDATES - 1) {
        low = high + 1;
        high = N_CANDIDATES - 1;
        candidate_text(high, out);
        status = attempt(context, out, err);
    }
    while (status == CELLAR_OK && low < high) { /* high keeps the total */
        size_t middle = low + (high - low) / 2;
        candidate_text(middle, out);
        status = attempt(context, out, err);
        if (status == CELLAR_OK)
            high = middle;
        else if (status == CELLAR_ERR_RULE) {
            low = middle + 1;
            status = CELLAR_OK;
        }
    }
    if (status == CELLAR_OK)
        candidate_text(high, out);
    return status;
}

/* ---- one table ----------------------------------------------------------------------------- */

cellar_status cellar_calibrate_check(const cellar_certificate *certificate,
                                     const char *total_epsilon, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_epsilon_at found;
    fmpq_t total, reached;

    if (certificate == NULL || cellar_certificate_n_epsilons(certificate) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "no certificate could be computed, so nothing shows that the total "
                           "epsilon of %.40s is kept",
                           total_epsilon);
    found = cellar_certificate_epsilon_at(certificate, 0);
    fmpq_init(total);
    fmpq_init(reached);
    CELLAR_TRY(cellar_share_parse(total_epsilon, total, err));
    if (isfinite(found.epsilon))
        cellar_rational_set_double(reached, found.epsilon);
    if (!isfinite(found.epsilon) || fmpq_cmp(reached, total) > 0)
        status =
            cellar_fail(err, CELLAR_ERR_RULE,
                        "all cells together have epsilon %.6g at delta %g, which exceeds the "
                        "total of %.40s; leave sigma out of the spec, and the smallest one that "
                        "keeps the total is found",
                        found.epsilon, found.delta, total_epsilon);
out:
    fmpq_clear(total);
    fmpq_clear(reached);
    return status;
}

typedef struct calibration {
    const char *name;
    cellar_question question;
    const char *delta;
    const char *total_epsilon;
} calibration;

static cellar_status calibration_try(void *context, const char *sigma, cellar_error *err)
{
    const calibration *c = context;
    cellar_status status = CELLAR_OK;
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_certify_part part = {.times = 1};
    char spec[64];

    snprintf(spec, sizeof spec, "%.30s:sigma=%s", c->name, sigma);
    CELLAR_TRY(cellar_mechanism_create(spec, &mechanism, err));
    part.mechanism = mechanism;
    CELLAR_TRY(cellar_certify(&part, 1, &c->question.options, &certificate, err));
    CELLAR_TRY(cellar_calibrate_check(certificate, c->total_epsilon, err));
out:
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return status;
}

static double calibration_sensitivity(const cellar_certify_options *o)
{
    const double sides = o->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    return sqrt((double) o->n_cells * sides) * (double) o->max_per_unit * (double) o->max_weight;
}

cellar_status cellar_protect_calibrate(const char *name, const cellar_table *table,
                                       const cellar_protect_options *options, char out[64],
                                       cellar_error *err)
{
    const cellar_release_facts facts = cellar_protection_facts(
        options, cellar_schema_cells_per_record(cellar_table_schema(table)));
    calibration c = {
        .name = name, .delta = options->delta, .total_epsilon = options->total_epsilon};
    char sigma[CELLAR_SIGMA_TEXT];
    cellar_status status;

    out[0] = '\0';
    if (options->total_epsilon == NULL || options->delta == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s has no pure epsilon: its sigma follows from a total epsilon and a "
                           "delta (--total-epsilon 1 --delta 1e-6)",
                           name);
    cellar_question_init(&c.question, &facts);
    c.question.options.deltas = &c.delta;
    c.question.options.n_deltas = 1;
    c.question.options.n_epsilons = 0;
    status = cellar_calibrate_sigma(calibration_sensitivity(&c.question.options), c.total_epsilon,
                                    c.delta, calibration_try, &c, sigma, err);
    if (status == CELLAR_ERR_RULE)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "%s: no sigma up to 10000 keeps epsilon %.40s at delta %.40s for all cells "
            "together; allow more (--total-epsilon, --delta) or tabulate fewer "
            "margins",
            name, options->total_epsilon, options->delta);
    if (status == CELLAR_OK)
        snprintf(out, 64, "%.30s:sigma=%s", name, sigma);
    return status;
}

/* ---- a spec and a total -----------------------------------------------------------------------
 */

/* How many cells by one a unit can change, as the total is split over them; 0: too many. */
static uint64_t count_parts(const cellar_table *table, const cellar_protect_options *options)
{
    const uint64_t weight = options->max_weight > 0 ? options->max_weight : 1;
    uint64_t n = cellar_schema_cells_per_record(cellar_table_schema(table));
    if (__builtin_mul_overflow(n, options->max_per_unit, &n) ||
        __builtin_mul_overflow(n, weight, &n) ||
        (options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE && /* out of a cell, into another */
         __builtin_mul_overflow(n, 2, &n)))
        return 0;
    return n;
}

cellar_status cellar_protect_complete_spec(const cellar_table *table, const char *spec,
                                           const cellar_protect_options *options, char *out,
                                           size_t size, cellar_error *err)
{
    const int is_gaussian = cellar_mechanism_spec_is(spec, "gaussian") ||
                            cellar_mechanism_spec_is(spec, "discrete-gaussian");
    const char *total = options->total_epsilon;
    char found[64];
    cellar_status status = CELLAR_OK;

    out[0] = '\0';
    if (total != NULL && strstr(spec, "epsilon=") == NULL && !is_gaussian) {
        const uint64_t n_parts = count_parts(table, options);
        if (n_parts == 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a unit has too many records or weights");
        CELLAR_TRY(cellar_protect_share(total, n_parts, found, err));
        CELLAR_TRY(cellar_mechanism_spec_add(spec, "epsilon", found, out, size, err));
        goto out;
    }
    if (total != NULL && is_gaussian && strchr(spec, ':') == NULL) {
        CELLAR_TRY(cellar_protect_calibrate(spec, table, options, found, err));
        spec = found;
    }
    if (strlen(spec) >= size)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the mechanism is longer than %zu bytes",
                           size - 1);
    memcpy(out, spec, strlen(spec) + 1);
out:
    return status;
}
