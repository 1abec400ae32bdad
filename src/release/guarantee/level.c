/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "release/guarantee/level.h"

#include <math.h>
#include <string.h>

#include <cellar/certificate.h>

#include "base/error.h"

/* A number that tells of one record so often protects nobody. Certainty alone would not do: a
 * matrix that changes one count in a million is no protection, either. */
static const double LEVEL_REVEALED = 0.95;
#define LEVEL_TEXT(number) #number
#define LEVEL_TEXT_OF(number) LEVEL_TEXT(number)
#define LARGEST_TEXT LEVEL_TEXT_OF(CELLAR_LARGEST_EPSILON)

/* Guarantees with a larger delta are not compared with the largest epsilon. */
static const double LEVEL_DELTA = 1e-6;

static const struct {
    const char *name, *stamp;
    unsigned needs;
} levels[] = {
    [CELLAR_LEVEL_GUARANTEE] = {"guarantee", NULL, 0},
    [CELLAR_LEVEL_LARGE_EPSILON] = {"large-epsilon",
                                    "Large epsilon, accepted: the epsilon of everything released "
                                    "together is above 10, and so weak a guarantee says little.",
                                    CELLAR_ACCEPT_LARGE_EPSILON},
    [CELLAR_LEVEL_NO_GUARANTEE] = {"no-guarantee",
                                   "No guarantee: with a delta of 1e-6 no epsilon bounds what "
                                   "these values reveal about one unit.",
                                   0},
    [CELLAR_LEVEL_NO_PROTECTION] =
        {"no-protection",
         "No protection, accepted: these values reveal about one unit what true counts reveal.",
         CELLAR_ACCEPT_NO_PROTECTION},
};

/* ---- words ------------------------------------------------------------------- */

const char *cellar_protection_level_name(cellar_protection_level level)
{
    return levels[level].name;
}

const char *cellar_protection_level_stamp(cellar_protection_level level)
{
    return levels[level].stamp;
}

unsigned cellar_protection_level_needs(cellar_protection_level level)
{
    return levels[level].needs;
}

int cellar_level_find(const char *name, cellar_protection_level *out)
{
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        if (name != NULL && strcmp(levels[i].name, name) == 0) {
            *out = (cellar_protection_level) i;
            return 1;
        }
    return 0;
}

const char *cellar_acceptance_name(cellar_acceptance acceptance)
{
    switch (acceptance) {
    case CELLAR_ACCEPT_NO_PROTECTION:
        return "no-protection";
    case CELLAR_ACCEPT_LARGE_EPSILON:
        return "large-epsilon";
    case CELLAR_ACCEPT_UNACCOUNTED:
        return "unaccounted";
    }
    return NULL;
}

unsigned cellar_acceptance_find(const char *name)
{
    for (unsigned one = 1; one <= CELLAR_ACCEPT_UNACCOUNTED; one *= 2)
        if (strcmp(cellar_acceptance_name((cellar_acceptance) one), name) == 0)
            return one;
    return 0;
}

/* ---- judging ------------------------------------------------------------------ */

/* The smallest epsilon proved with delta 0 or a delta that small; INFINITY: none is. */
static double level_epsilon(const json_t *certificate)
{
    const json_t *pure = json_object_get(certificate, "pure_epsilon"), *one;
    double least = json_is_number(pure) ? json_number_value(pure) : INFINITY;
    size_t i;
    json_array_foreach(json_object_get(certificate, "epsilon_at"), i, one)
    {
        const json_t *epsilon = json_object_get(one, "epsilon");
        if (json_is_number(epsilon) &&
            json_number_value(json_object_get(one, "delta")) <= LEVEL_DELTA)
            least = fmin(least, json_number_value(epsilon));
    }
    return least;
}

/* The largest probability that one number tells whether one record is there: delta of one cell at
 * the largest epsilon, where nobody could doubt any more. Of cell keys it is the probability that
 * a difference of two numbers tells it. */
static cellar_status level_revealed(const json_t *certificate, const cellar_mechanism *mechanism,
                                    uint64_t max_weight, double *out, cellar_error *err)
{
    static const char *const largest[] = {LARGEST_TEXT};
    const json_t *difference = json_object_get(certificate, "difference");
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *one = NULL;
    cellar_error why;
    cellar_status status;

    *out = json_number_value(
        json_is_number(difference) ? difference : json_object_get(certificate, "infinite_loss"));
    if (mechanism == NULL)
        return CELLAR_OK;
    options.max_weight = max_weight;
    options.epsilons = largest;
    options.n_epsilons = 1;
    status = cellar_certify(&(cellar_certify_part){mechanism, 1}, 1, &options, &one, &why);
    if (status == CELLAR_ERR_MEMORY)
        return cellar_fail_memory(err, "a certificate");
    if (status == CELLAR_OK)
        *out = cellar_certificate_point(one, 0).delta;
    cellar_certificate_free(one);
    return CELLAR_OK;
}

cellar_status cellar_level_of(const json_t *certificate, const cellar_mechanism *mechanism,
                              uint64_t max_weight, cellar_protection_level *out, cellar_error *err)
{
    const double epsilon = level_epsilon(certificate);
    double revealed = 0;
    cellar_status status = CELLAR_OK;

    if (!isfinite(epsilon))
        status = level_revealed(certificate, mechanism, max_weight, &revealed, err);
    *out = epsilon <= CELLAR_LARGEST_EPSILON ? CELLAR_LEVEL_GUARANTEE
           : isfinite(epsilon)               ? CELLAR_LEVEL_LARGE_EPSILON
           : revealed < LEVEL_REVEALED       ? CELLAR_LEVEL_NO_GUARANTEE
                                             : CELLAR_LEVEL_NO_PROTECTION;
    return status;
}

cellar_status cellar_level_pass(cellar_protection_level level, const char *spec, unsigned accepted,
                                cellar_error *err)
{
    const unsigned needs = levels[level].needs;
    if ((needs & ~accepted) == 0)
        return CELLAR_OK;
    if (level == CELLAR_LEVEL_NO_PROTECTION)
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "no protection: what %s releases shows whether a record is there, as "
            "true counts do; if that is meant, accept it (--accept no-protection, in a "
            "plan accept: [no-protection])",
            spec);
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "large epsilon: %s leaves an epsilon above %d for all that is released "
                       "together; if that is meant, accept it (--accept large-epsilon, in a plan "
                       "accept: [large-epsilon])",
                       spec, CELLAR_LARGEST_EPSILON);
}
