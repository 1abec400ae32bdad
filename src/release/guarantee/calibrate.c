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

/* The candidates are the decimals of four digits from 0.001 to 10000, which the mechanisms allow:
 * candidate i is (1000 + i mod 9000) 10^(i div 9000 - 6). */
enum { PER_DECADE = 9000, N_CANDIDATES = 7 * PER_DECADE + 1, FIRST_DIGITS = 1000, DECIMALS = 6 };

typedef struct calibration {
    const char *name;
    cellar_question question;
    const char *delta;
    const char *total_epsilon;
} calibration;

/* "name:sigma=12.34", without trailing zeros. */
static void calibration_spec(const calibration *c, size_t candidate, char out[64])
{
    size_t digits = FIRST_DIGITS + candidate % PER_DECADE, decade = candidate / PER_DECADE;
    int n = snprintf(out, 64, "%.30s:sigma=%.*f", c->name, DECIMALS,
                     (double) digits * pow(10, (double) decade - DECIMALS));
    while (out[n - 1] == '0')
        out[--n] = '\0';
    if (out[n - 1] == '.')
        out[--n] = '\0';
}

/* The first candidate that is at least x. */
static size_t calibration_candidate(double x)
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

/* Where the search begins: sqrt(2 ln(1.25/delta)) / epsilon (Dwork and Roth 2014, Appendix A) times
 * the sensitivity of all cells together. Only the time depends on it. */
static size_t calibration_guess(const calibration *c)
{
    const cellar_certify_options *o = &c->question.options;
    const double sides = o->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE ? 2 : 1;
    const double sensitivity =
        sqrt((double) o->n_cells * sides) * (double) o->max_per_unit * (double) o->max_weight;
    return calibration_candidate(sensitivity * sqrt(2 * log(1.25 / strtod(c->delta, NULL))) /
                                 strtod(c->total_epsilon, NULL));
}

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

/* CELLAR_ERR_RULE: the candidate exceeds the total. */
static cellar_status calibration_try(const calibration *c, size_t candidate, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_mechanism *mechanism = NULL;
    cellar_certificate *certificate = NULL;
    cellar_certify_part part = {.times = 1};
    char spec[64];

    calibration_spec(c, candidate, spec);
    CELLAR_TRY(cellar_mechanism_create(spec, &mechanism, err));
    part.mechanism = mechanism;
    CELLAR_TRY(cellar_certify(&part, 1, &c->question.options, &certificate, err));
    CELLAR_TRY(cellar_calibrate_check(certificate, c->total_epsilon, err));
out:
    cellar_certificate_free(certificate);
    cellar_mechanism_free(mechanism);
    return status;
}

cellar_status cellar_protect_calibrate(const char *name, const cellar_table *table,
                                       const cellar_protect_options *options, char out[64],
                                       cellar_error *err)
{
    const cellar_release_facts facts = cellar_protection_facts(
        options, cellar_schema_cells_per_record(cellar_table_schema(table)));
    calibration c = {
        .name = name, .delta = options->delta, .total_epsilon = options->total_epsilon};
    size_t low = 0, high; /* high keeps the total, once it was tried */
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
    high = calibration_guess(&c);
    status = calibration_try(&c, high, err);
    if (status == CELLAR_ERR_RULE) {
        low = high + 1;
        high = N_CANDIDATES - 1;
        status = calibration_try(&c, high, err);
    }
    if (status == CELLAR_ERR_RULE)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "%s: no sigma up to 10000 keeps epsilon %.40s at delta %.40s for all cells "
            "together; allow more (--total-epsilon, --delta) or tabulate fewer "
            "margins",
            name, options->total_epsilon, options->delta);
    while (status == CELLAR_OK && low < high) {
        size_t middle = low + (high - low) / 2;
        status = calibration_try(&c, middle, err);
        if (status == CELLAR_OK)
            high = middle;
        else if (status == CELLAR_ERR_RULE) {
            low = middle + 1;
            status = CELLAR_OK;
        }
    }
    if (status == CELLAR_OK)
        calibration_spec(&c, high, out);
    return status;
}
