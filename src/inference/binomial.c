/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binomial test with noise, by enumeration of every number that can be released. */
#include <cellar/inference.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/binomial_terms.h"
#include "inference/chi_square.h"

enum { TRIALS_MAX = 1000000 };
static const double NUMBER_TAIL = 1e-17, TIE = 1e-9;
/* Terms that are summed for all numbers together: seconds. */
static const double WORK_MAX = 2e9;

typedef struct binomial {
    cellar_binomial_terms terms;
    int64_t low, high; /* numbers that may be released under the null or the alternative */
} binomial;

cellar_binomial_spec cellar_binomial_spec_default(void)
{
    return (cellar_binomial_spec){.null = NAN, .alternative = NAN, .level = 0.05, .critical = NAN};
}

/* ---- one number --------------------------------------------------------------------- */

typedef struct outcome {
    double aware, naive;        /* statistics */
    double estimate;            /* of p */
    double log_null, log_other; /* ln P(the number) */
} outcome;

static double naive_statistic(int64_t n, int64_t released, double null, double *estimate)
{
    double x = fmin(fmax((double) released, 0), (double) n), rest = (double) n - x;
    double statistic = 0;
    *estimate = n > 0 ? x / (double) n : NAN;
    if (x > 0)
        statistic += x * log(x / ((double) n * null));
    if (rest > 0)
        statistic += rest * log(rest / ((double) n * (1 - null)));
    return fmax(0, 2 * statistic);
}

static void binomial_look(binomial *b, const cellar_binomial_spec *spec, int64_t released,
                          outcome *out)
{
    double best, unused;
    cellar_binomial_terms_turn(&b->terms, released);
    out->log_null = cellar_binomial_terms_at(&b->terms, spec->null);
    out->log_other =
        isnan(spec->alternative) ? NAN : cellar_binomial_terms_at(&b->terms, spec->alternative);
    best = cellar_binomial_terms_peak(&b->terms, &out->estimate);
    out->aware = fmax(0, 2 * (best - out->log_null));
    out->naive = naive_statistic(b->terms.n, released, spec->null, &unused);
}

/* ---- all numbers ---------------------------------------------------------------------- */

static cellar_status binomial_check(const cellar_binomial_spec *spec, cellar_error *err)
{
    if (spec->n_trials == 0 || spec->n_trials > TRIALS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "trials are 1 to %d", TRIALS_MAX);
    if (!(spec->null > 0) || !(spec->null < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the null probability lies between 0 and 1, got %g", spec->null);
    if (!isnan(spec->alternative) && (!(spec->alternative >= 0) || !(spec->alternative <= 1)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the alternative is a probability from 0 to 1, got %g",
                           spec->alternative);
    if (!(spec->level > 0) || !(spec->level < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the level lies between 0 and 1, got %g",
                           spec->level);
    return CELLAR_OK;
}

/* Outside n p +- distance a count is less likely than 1e-30 (Bernstein's inequality). */
static double binomial_distance(double n, double p)
{
    const double t = 70;
    return t / 3 + sqrt(t * t / 9 + 2 * t * n * p * (1 - p)) + 1;
}

/* Numbers that matter: those from counts that may occur. */
static void binomial_range(binomial *b, const cellar_binomial_spec *spec)
{
    double n = (double) b->terms.n, p[2] = {spec->null, spec->alternative}, low = n, high = 0;
    const cellar_mechanism *mechanism = b->terms.channel.mechanism;
    int64_t unused;
    for (int i = 0; i < 2 && !isnan(p[i]); i++) {
        low = fmin(low, n * p[i] - binomial_distance(n, p[i]));
        high = fmax(high, n * p[i] + binomial_distance(n, p[i]));
    }
    cellar_mechanism_support(mechanism, (int64_t) fmax(0, low), NUMBER_TAIL, &b->low, &unused);
    cellar_mechanism_support(mechanism, (int64_t) fmin(n, high), NUMBER_TAIL, &unused, &b->high);
    if (spec->negatives == CELLAR_NEGATIVES_ZERO && b->low < 0)
        b->low = 0;
}

/* About how many terms an enumeration would sum. */
static double binomial_work(const binomial *b)
{
    double n = (double) b->terms.n, numbers = (double) b->high - (double) b->low + 1;
    int64_t low, high;
    if (!b->terms.is_additive)
        return numbers * (n + 1) * 80;
    cellar_mechanism_support(b->terms.channel.mechanism, 0, 1e-20, &low, &high);
    return numbers * (fmin(2 * (double) high, n) + 40) * 12;
}

static int by_statistic_descending(const void *left, const void *right)
{
    double a = ((const outcome *) left)->aware, b = ((const outcome *) right)->aware;
    return (a < b) - (a > b);
}

/* P(statistic > c) under the null and the alternative. */
typedef struct exceeding {
    double level, power;
} exceeding;

static exceeding exceed(const outcome *all, size_t n, double critical, int naive)
{
    exceeding e = {0, 0};
    for (size_t i = 0; i < n; i++)
        if ((naive ? all[i].naive : all[i].aware) > critical * (1 + TIE) + TIE) {
            e.level += exp(all[i].log_null);
            e.power += exp(all[i].log_other);
        }
    return e;
}

/* The critical value: among the values that the statistic takes, the one that is exceeded with a
 * probability nearest to the level. `all` is sorted, largest first. */
static double critical_nearest(const outcome *all, size_t n, double level)
{
    double above = 0, best = INFINITY, critical = 0;
    for (size_t i = 0, j; i < n; i = j) {
        if (fabs(above - level) < best) {
            best = fabs(above - level);
            critical = all[i].aware;
        }
        for (j = i; j < n && all[j].aware >= all[i].aware * (1 - TIE) - TIE; j++)
            above += exp(all[j].log_null);
    }
    return critical;
}

static void binomial_distribution(const outcome *all, size_t n, const cellar_binomial_spec *spec,
                                  cellar_binomial *out)
{
    double chi_square = cellar_chi_square_quantile(spec->level, 1);
    exceeding at, by_chi_square = exceed(all, n, chi_square, 0),
                  naive = exceed(all, n, chi_square, 1);
    out->critical_value =
        isnan(spec->critical) ? critical_nearest(all, n, spec->level) : spec->critical;
    at = exceed(all, n, out->critical_value, 0);
    out->chi_square_critical = chi_square;
    out->exact_level = at.level;
    out->power = at.power;
    out->chi_square_level = by_chi_square.level;
    out->chi_square_power = by_chi_square.power;
    out->naive_level = naive.level;
    out->naive_power = naive.power;
    if (isnan(spec->alternative))
        out->power = out->chi_square_power = out->naive_power = NAN;
}

/* Too many numbers to enumerate. */
static void binomial_leave_out(const cellar_binomial_spec *spec, cellar_binomial *out)
{
    out->chi_square_critical = cellar_chi_square_quantile(spec->level, 1);
    out->critical_value = out->exact_level = out->power = NAN;
    out->chi_square_level = out->chi_square_power = NAN;
    out->naive_level = out->naive_power = NAN;
    out->aware.exact_p_value = out->naive.exact_p_value = NAN;
}

static cellar_status binomial_enumerate(binomial *b, const cellar_binomial_spec *spec,
                                        cellar_binomial *out, cellar_error *err)
{
    size_t n = (size_t) (b->high - b->low + 1);
    outcome *all = cellar_alloc(n, sizeof *all);
    if (all == NULL)
        return cellar_fail_memory(err, "the binomial test");
    for (size_t i = 0; i < n; i++) {
        binomial_look(b, spec, b->low + (int64_t) i, &all[i]);
        if (all[i].log_null == -INFINITY) /* never released */
            all[i].aware = all[i].naive = 0;
    }
    for (size_t i = 0; i < n; i++) {
        double p = exp(all[i].log_null);
        if (all[i].aware >= out->aware.statistic * (1 - TIE) - TIE)
            out->aware.exact_p_value += p;
        if (all[i].naive >= out->naive.statistic * (1 - TIE) - TIE)
            out->naive.exact_p_value += p;
    }
    out->aware.exact_p_value = fmin(1, out->aware.exact_p_value);
    out->naive.exact_p_value = fmin(1, out->naive.exact_p_value);
    qsort(all, n, sizeof *all, by_statistic_descending);
    binomial_distribution(all, n, spec, out);
    cellar_free(all);
    return CELLAR_OK;
}

cellar_status cellar_binomial_run(const cellar_binomial_spec *spec, int64_t released,
                                  cellar_binomial *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_mechanism *mechanism = NULL;
    binomial b = {0};
    outcome seen;

    *out = (cellar_binomial){.naive_level = 0};
    CELLAR_TRY(binomial_check(spec, err));
    CELLAR_TRY(cellar_mechanism_create(spec->mechanism, &mechanism, err));
    CELLAR_TRY(cellar_binomial_terms_init(
        &b.terms, spec->n_trials, &(cellar_channel){mechanism, spec->negatives, 0, NULL}, err));
    binomial_look(&b, spec, released, &seen);
    if (!(seen.log_null > -INFINITY) ||
        (released < 0 && spec->negatives == CELLAR_NEGATIVES_ZERO)) {
        status =
            cellar_fail(err, CELLAR_ERR_INPUT,
                        "the released value %" PRId64
                        " cannot have been released by %s for %" PRIu64 " trials%s",
                        released, cellar_mechanism_spec(mechanism), spec->n_trials,
                        spec->negatives == CELLAR_NEGATIVES_ZERO ? ", negatives set to zero" : "");
        goto out;
    }
    out->aware.statistic = seen.aware;
    out->aware.estimate = seen.estimate;
    out->aware.p_value = cellar_chi_square_tail(seen.aware, 1);
    out->naive.statistic = naive_statistic(b.terms.n, released, spec->null, &out->naive.estimate);
    out->naive.p_value = cellar_chi_square_tail(out->naive.statistic, 1);
    binomial_range(&b, spec);
    if (binomial_work(&b) <= WORK_MAX)
        CELLAR_TRY(binomial_enumerate(&b, spec, out, err));
    else
        binomial_leave_out(spec, out);
out:
    cellar_binomial_terms_clear(&b.terms);
    cellar_mechanism_free(mechanism);
    return status;
}
