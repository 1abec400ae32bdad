/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Odds ratios by the profile of the likelihood. The other cells of a saturated model do not
 * matter, so four cells are all there is: means that multiply, but for the odds ratio as an offset
 * of one of them. */
#include <cellar/inference.h>

#include <math.h>

#include "base/error.h"
#include "inference/chi_square.h"
#include "inference/fit.h"
#include "inference/noisy.h"

enum { HALVINGS = 60 };
static const double FARTHEST = 24; /* from the estimate, in ln(odds ratio): beyond is infinite */

typedef struct profile {
    cellar_likelihood *likelihood;
    cellar_fitter *fitter;
    cellar_observation *cells[4];
    double saturated, allowed; /* the largest likelihood, and how far twice it may fall */
} profile;

static cellar_status profile_init(profile *p, const cellar_channel *channel,
                                  const int64_t numbers[4], double confidence, cellar_error *err)
{
    static const size_t two_by_two[] = {2, 2};
    uint64_t generators[] = {1, 2};
    const cellar_model independence = {generators, 2};
    cellar_status status = CELLAR_OK;
    p->allowed = cellar_chi_square_quantile(1 - confidence, 1);
    CELLAR_TRY(cellar_likelihood_create(channel, &p->likelihood, err));
    CELLAR_TRY(cellar_fitter_create(&independence, two_by_two, 2, &p->fitter, err));
    for (size_t i = 0; i < 4; i++)
        CELLAR_TRY(cellar_likelihood_observe(p->likelihood, numbers[i], &p->cells[i], err));
out:
    return status;
}

static void profile_clear(profile *p)
{
    cellar_fitter_free(p->fitter);
    cellar_likelihood_free(p->likelihood);
}

/* How much lower than allowed the likelihood is at an odds ratio of e^psi; negative: not. */
static cellar_status profile_at(profile *p, double psi, double *excess, cellar_error *err)
{
    const double offset[4] = {psi, 0, 0, 0};
    cellar_maximum fit;
    cellar_status status = cellar_fitter_run(p->fitter, p->cells, offset, 1, &fit, err);
    *excess = 2 * (p->saturated - fit.log_likelihood) - p->allowed;
    return status;
}

/* The end of the interval on one side of `psi`, which lies within. */
static cellar_status profile_end(profile *p, double psi, double side, double *end,
                                 cellar_error *err)
{
    double in = psi, out = psi, step = 0.5, excess = -1;
    cellar_status status = CELLAR_OK;
    while (excess <= 0 && fabs(out - psi) < FARTHEST && status == CELLAR_OK) {
        in = out;
        out += side * step;
        step *= 2;
        status = profile_at(p, out, &excess, err);
    }
    *end = side * INFINITY;
    for (int i = 0; excess > 0 && i < HALVINGS && fabs(out - in) > 1e-9 && status == CELLAR_OK;
         i++) {
        double middle = (in + out) / 2, here;
        status = profile_at(p, middle, &here, err);
        if (here > 0)
            out = middle;
        else
            in = middle;
        *end = middle;
    }
    return status;
}

static cellar_status profile_run(profile *p, cellar_interval_estimate *out, cellar_error *err)
{
    cellar_peak peaks[4];
    double psi, low, high, logs[4];
    cellar_status status = CELLAR_OK;
    p->saturated = 0;
    for (size_t i = 0; i < 4; i++) {
        CELLAR_TRY(cellar_observation_peak(p->cells[i], &peaks[i], err));
        p->saturated += peaks[i].log_likelihood;
        logs[i] = log(fmax(peaks[i].mean, 1e-3)); /* a place to start from within the interval */
        if (cellar_observation_is_empty(p->cells[i]))
            logs[i] = log(0.5);
    }
    out->value = peaks[0].mean * peaks[3].mean / (peaks[1].mean * peaks[2].mean);
    psi = logs[0] + logs[3] - logs[1] - logs[2];
    CELLAR_TRY(profile_end(p, psi, -1, &low, err));
    CELLAR_TRY(profile_end(p, psi, 1, &high, err));
    out->low = exp(low);
    out->high = exp(high);
out:
    return status;
}

/* B. Woolf's interval, as if nothing had been done to the numbers. */
static cellar_interval_estimate naive_odds_ratio(const int64_t numbers[4], double confidence)
{
    double x[4], add = 0, log_ratio, sd, z = cellar_normal_quantile((1 - confidence) / 2);
    for (size_t i = 0; i < 4; i++)
        add = numbers[i] <= 0 ? 0.5 : add;
    for (size_t i = 0; i < 4; i++)
        x[i] = fmax((double) numbers[i], 0) + add;
    log_ratio = log(x[0]) + log(x[3]) - log(x[1]) - log(x[2]);
    sd = sqrt(1 / x[0] + 1 / x[1] + 1 / x[2] + 1 / x[3]);
    return (cellar_interval_estimate){exp(log_ratio), exp(log_ratio - z * sd),
                                      exp(log_ratio + z * sd)};
}

static int some_certainly_empty(const profile *p)
{
    for (size_t i = 0; i < 4; i++)
        if (cellar_observation_is_empty(p->cells[i]))
            return 1; /* a certain zero: the ratio is not estimable from both sides */
    return 0;
}

cellar_status cellar_odds_ratio(const cellar_noisy *noisy, const size_t rows[2],
                                const size_t columns[2], double confidence,
                                cellar_interval_estimate *aware, cellar_interval_estimate *naive,
                                cellar_error *err)
{
    cellar_status status = cellar_noisy_check_two_way(noisy, err);
    profile p = {.likelihood = NULL};
    int64_t numbers[4];

    *aware = *naive = (cellar_interval_estimate){NAN, 0, INFINITY};
    if (status == CELLAR_OK)
        status = cellar_noisy_check_independent(
            noisy, "the profile of the likelihood of four cells does not know", err);
    if (status != CELLAR_OK)
        return status;
    if (!(confidence > 0) || !(confidence < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "confidence lies between 0 and 1, got %g",
                           confidence);
    for (size_t i = 0; i < 4; i++) {
        size_t cell = rows[i / 2] * noisy->n_levels[1] + columns[i % 2];
        if (rows[i / 2] >= noisy->n_levels[0] || columns[i % 2] >= noisy->n_levels[1])
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "no such row or column");
        if (noisy->structural[cell])
            return CELLAR_OK; /* there is no such ratio */
        numbers[i] = noisy->released[cell];
    }
    *naive = naive_odds_ratio(numbers, confidence);
    CELLAR_TRY(profile_init(&p, &noisy->channel, numbers, confidence, err));
    if (!some_certainly_empty(&p))
        CELLAR_TRY(profile_run(&p, aware, err));
out:
    profile_clear(&p);
    return status;
}
