/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The binomial test with noise, by enumeration of every number that can be released. */
#include <cellar/inference.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/channel.h"
#include "inference/chi_square.h"
#include "math/special.h"

enum { TRIALS_MAX = 1000000, ENUMERATED_MAX = 3000, GRID = 64, CLIMBS = 60 };
static const double NUMBER_TAIL = 1e-17, TIE = 1e-9;

typedef struct binomial {
    int64_t n; /* trials */
    cellar_channel channel;
    double *log_choose; /* of 0..n */
    int64_t low, high;  /* the numbers that may be released */
    int is_additive;    /* log-concave weights: the likelihood has one peak */
} binomial;

cellar_binomial_spec cellar_binomial_spec_default(void)
{
    return (cellar_binomial_spec){.null = NAN, .alternative = NAN, .level = 0.05, .critical = NAN};
}

/* ---- the likelihood ---------------------------------------------------------------- */

/* The counts between which a number is not impossible, as far as it matters. */
typedef struct terms {
    int64_t first, last;
    const double *log_choose;
    double *log_weights; /* of first..last */
} terms;

static cellar_status terms_init(const binomial *b, int64_t released, terms *t, cellar_error *err)
{
    t->first = 0;
    t->last = b->n;
    t->log_choose = b->log_choose;
    t->log_weights = cellar_alloc((size_t) b->n + 1, sizeof *t->log_weights);
    if (t->log_weights == NULL)
        return cellar_fail_memory(err, "the binomial test");
    for (int64_t a = 0; a <= b->n; a++)
        t->log_weights[a] = cellar_channel_log_pmf(&b->channel, a, released);
    while (t->first < t->last && t->log_weights[t->first] == -INFINITY)
        t->first++;
    while (t->last > t->first && t->log_weights[t->last] == -INFINITY)
        t->last--;
    return CELLAR_OK;
}

/* ln of the likelihood at p, and E[a|x] in *mean. */
static double terms_at(const terms *t, int64_t n, double p, double *mean)
{
    double log_p = log(p), log_q = log1p(-p), largest = -INFINITY, sum = 0, moment = 0;
    *mean = 0;
    for (int64_t a = t->first; a <= t->last; a++) {
        double term = t->log_weights[a] + t->log_choose[a] + (a > 0 ? (double) a * log_p : 0) +
                      (a < n ? (double) (n - a) * log_q : 0);
        if (term <= largest - 50)
            continue;
        if (term > largest) { /* rescale */
            double shrink = exp(largest - term);
            sum *= shrink;
            moment *= shrink;
            largest = term;
        }
        sum += exp(term - largest);
        moment += (double) a * exp(term - largest);
    }
    if (!(sum > 0))
        return -INFINITY;
    *mean = moment / sum;
    return largest + log(sum);
}

/* The place of a grid with the largest likelihood. */
static double terms_look(const terms *t, int64_t n)
{
    double best = -INFINITY, best_p = 0, mean;
    for (int i = 0; i <= GRID; i++) {
        double p = (double) i / GRID, value = terms_at(t, n, p, &mean);
        if (value > best) {
            best = value;
            best_p = p;
        }
    }
    return best_p;
}

/* The maximum over p, by bisection on E[a|x] - np, whose sign tells the slope; where there may be
 * several peaks, after a look at a grid. */
static double terms_peak(const terms *t, const binomial *b, double *p_out)
{
    double low = 0, high = 1, mean, best, value;
    *p_out = 0;
    best = terms_at(t, b->n, 0, &mean);
    value = terms_at(t, b->n, 1, &mean);
    if (value > best) {
        best = value;
        *p_out = 1;
    }
    if (!b->is_additive) {
        double seen = terms_look(t, b->n);
        low = fmax(0, seen - 1.0 / GRID);
        high = fmin(1, seen + 1.0 / GRID);
    }
    for (int i = 0; i < CLIMBS && high - low > 1e-13; i++) {
        double p = low + (high - low) / 2;
        value = terms_at(t, b->n, p, &mean);
        if (value > best) {
            best = value;
            *p_out = p;
        }
        if (mean > (double) b->n * p)
            low = p;
        else
            high = p;
    }
    return best;
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

static cellar_status binomial_look(const binomial *b, const cellar_binomial_spec *spec,
                                   int64_t released, outcome *out, cellar_error *err)
{
    terms t;
    double mean, best, unused;
    cellar_status status = terms_init(b, released, &t, err);
    if (status != CELLAR_OK)
        return status;
    out->log_null = terms_at(&t, b->n, spec->null, &mean);
    out->log_other = isnan(spec->alternative) ? NAN : terms_at(&t, b->n, spec->alternative, &mean);
    best = terms_peak(&t, b, &out->estimate);
    cellar_free(t.log_weights);
    out->aware = fmax(0, 2 * (best - out->log_null));
    out->naive = naive_statistic(b->n, released, spec->null, &unused);
    return CELLAR_OK;
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

static cellar_status binomial_init(binomial *b, const cellar_binomial_spec *spec,
                                   cellar_mechanism *mechanism, cellar_error *err)
{
    int64_t unused;
    b->n = (int64_t) spec->n_trials;
    b->channel = (cellar_channel){mechanism, spec->negatives, 0, NULL};
    b->is_additive = cellar_channel_is_additive(&b->channel);
    b->log_choose = cellar_alloc((size_t) b->n + 1, sizeof *b->log_choose);
    if (b->log_choose == NULL)
        return cellar_fail_memory(err, "the binomial test");
    for (int64_t a = 1; a <= b->n; a++)
        b->log_choose[a] = b->log_choose[a - 1] + log((double) (b->n - a + 1)) - log((double) a);
    cellar_mechanism_support(mechanism, 0, NUMBER_TAIL, &b->low, &unused);
    cellar_mechanism_support(mechanism, b->n, NUMBER_TAIL, &unused, &b->high);
    if (spec->negatives == CELLAR_NEGATIVES_ZERO && b->low < 0)
        b->low = 0;
    return CELLAR_OK;
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

static cellar_status binomial_enumerate(const binomial *b, const cellar_binomial_spec *spec,
                                        cellar_binomial *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = (size_t) (b->high - b->low + 1);
    outcome *all = cellar_alloc(n, sizeof *all);
    if (all == NULL)
        return cellar_fail_memory(err, "the binomial test");
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(binomial_look(b, spec, b->low + (int64_t) i, &all[i], err));
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
out:
    cellar_free(all);
    return status;
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
    CELLAR_TRY(binomial_init(&b, spec, mechanism, err));
    CELLAR_TRY(binomial_look(&b, spec, released, &seen, err));
    if (!(seen.log_null > -INFINITY)) {
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "the number %" PRId64 " cannot have been released by %s for %" PRIu64
                             " trials",
                             released, cellar_mechanism_spec(mechanism), spec->n_trials);
        goto out;
    }
    out->aware.statistic = seen.aware;
    out->aware.estimate = seen.estimate;
    out->aware.p_value = cellar_chi_square_tail(seen.aware, 1);
    out->naive.statistic = naive_statistic(b.n, released, spec->null, &out->naive.estimate);
    out->naive.p_value = cellar_chi_square_tail(out->naive.statistic, 1);
    if (b.n <= ENUMERATED_MAX && b.high - b.low <= 4 * (int64_t) ENUMERATED_MAX)
        CELLAR_TRY(binomial_enumerate(&b, spec, out, err));
    else
        binomial_leave_out(spec, out);
out:
    cellar_free(b.log_choose);
    cellar_mechanism_free(mechanism);
    return status;
}
