/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of counts when every count had a weight before: integers, so sums are exact. */
#include <inttypes.h>
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/interval_parts.h"
#include "inference/sum_law.h"

enum { HALVINGS = 60 };
static const double WINDOW_TAIL = 1e-12;
static const int64_t WINDOW_MAX = INT64_C(1) << 22;

/* The posterior of a count: weights of first, first + 1, ..., and their running sums. */
typedef struct posterior {
    int64_t first;
    size_t n;
    double *weights, *below; /* below[i]: P(count < first + i) */
} posterior;

static void posterior_clear(posterior *p)
{
    cellar_free(p->weights);
    cellar_free(p->below);
}

/* Of the count behind one number. */
static cellar_status posterior_one(posterior *p, const cellar_reading *r, cellar_prior prior,
                                   cellar_error *err)
{
    double low, high, largest = -INFINITY, total = 0;
    cellar_interval_count(r, WINDOW_TAIL, &low, &high);
    if (!(high - low < (double) WINDOW_MAX))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "too many counts are possible for a posterior");
    p->first = (int64_t) low;
    p->n = (size_t) (high - low) + 1;
    p->weights = cellar_alloc(p->n, sizeof *p->weights);
    if (p->weights == NULL)
        return cellar_fail_memory(err, "a posterior");
    for (size_t i = 0; i < p->n; i++) {
        int64_t count = p->first + (int64_t) i;
        p->weights[i] = cellar_channel_log_pmf(&r->channel, count, r->number);
        if (prior == CELLAR_PRIOR_RECIPROCAL)
            p->weights[i] -= log1p((double) count);
        largest = fmax(largest, p->weights[i]);
    }
    for (size_t i = 0; i < p->n; i++)
        total += p->weights[i] = exp(p->weights[i] - largest);
    if (!(total > 0))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "the released value %" PRId64 " cannot have been released by %s",
                           r->number, cellar_mechanism_spec(r->channel.mechanism));
    if (!cellar_channel_is_additive(&r->channel) &&
        p->weights[p->n - 1] * (double) p->n > 1e-4 * total &&
        cellar_channel_log_pmf(&r->channel, (int64_t) high + 1, r->number) > -INFINITY)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the posterior does not settle: too large counts remain as likely under "
                           "this prior");
    for (size_t i = 0; i < p->n; i++)
        p->weights[i] /= total;
    return CELLAR_OK;
}

/* Of a sum of counts that each have the prior, independently. */
static cellar_status posterior_sum(posterior *p, const cellar_reading *r, cellar_prior prior,
                                   cellar_error *err)
{
    cellar_sum_law sum = {0};
    cellar_status status = cellar_sum_law_init_nothing(&sum, err);
    for (size_t i = 0, j; i < r->n_parts && status == CELLAR_OK; i = j) {
        const cellar_reading cell = {.number = r->parts[i], .channel = r->channel};
        posterior one = {0};
        cellar_sum_law law;
        for (j = i; j < r->n_parts && r->parts[j] == r->parts[i]; j++)
            ;
        status = posterior_one(&one, &cell, prior, err);
        law = (cellar_sum_law){one.first, one.n, one.weights};
        if (status == CELLAR_OK)
            status = cellar_sum_law_add(&sum, &law, j - i, err);
        else
            posterior_clear(&one);
    }
    *p = (posterior){.first = sum.first, .n = sum.n, .weights = sum.pmf};
    return status;
}

static cellar_status posterior_init(posterior *p, const cellar_reading *r, cellar_prior prior,
                                    cellar_error *err)
{
    cellar_status status =
        r->is_of_parts ? posterior_sum(p, r, prior, err) : posterior_one(p, r, prior, err);
    if (status != CELLAR_OK)
        return status;
    p->below = cellar_alloc(p->n + 1, sizeof *p->below);
    if (p->below == NULL)
        return cellar_fail_memory(err, "a posterior");
    for (size_t i = 0; i < p->n; i++)
        p->below[i + 1] = p->below[i] + p->weights[i];
    return CELLAR_OK;
}

/* The shortest run of counts with the mass, the likeliest among equally short ones, and the mean.
 */
static void posterior_shortest(const posterior *p, double mass, cellar_interval_estimate *out)
{
    size_t best = p->n + 1, at = 0;
    double mean = 0, most = 0;
    for (size_t i = 0, j = 0; i < p->n; i++) {
        while (j < p->n && p->below[j] - p->below[i] < mass - 1e-12)
            j++;
        if (p->below[j] - p->below[i] < mass - 1e-12)
            break;
        if (j - i < best || (j - i == best && p->below[j] - p->below[i] > most + 1e-12)) {
            best = j - i;
            at = i;
            most = p->below[j] - p->below[i];
        }
    }
    for (size_t i = 0; i < p->n; i++)
        mean += (double) (p->first + (int64_t) i) * p->weights[i];
    out->value = mean;
    out->low = (double) (p->first + (int64_t) at);
    out->high = out->low + (double) (best > 0 ? best - 1 : 0);
}

/* P(count >= k). */
static double posterior_from(const posterior *p, double k)
{
    double i = k - (double) p->first;
    if (i <= 0)
        return 1;
    return i >= (double) p->n ? 0 : 1 - p->below[(size_t) i];
}

/* P(a - b <= d). */
static double difference_cdf(const posterior *a, const posterior *b, double d)
{
    double sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += a->weights[i] * posterior_from(b, (double) (a->first + (int64_t) i) - floor(d));
    return sum;
}

/* P(a/(a+b) <= share), given that one of the two is positive. */
static double share_cdf(const posterior *a, const posterior *b, double share)
{
    double sum = 0, both = 0;
    if (a->first == 0 && b->first == 0)
        both = a->weights[0] * b->weights[0];
    for (size_t i = 0; i < a->n; i++) {
        double count = (double) (a->first + (int64_t) i), least = 1;
        if (count > 0)
            least = share > 0 ? ceil(count * (1 - share) / share - 1e-9) : INFINITY;
        sum += a->weights[i] * (least < INFINITY ? posterior_from(b, least) : 0);
    }
    return both < 1 ? sum / (1 - both) : NAN;
}

typedef double pair_cdf(const posterior *a, const posterior *b, double value);

/* The smallest value at which the distribution function reaches `mass`. */
static double pair_quantile(pair_cdf *cdf, const posterior *a, const posterior *b, double mass,
                            double low, double high)
{
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;
        if (cdf(a, b, middle) >= mass)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void pair_run(const posterior *a, const posterior *b, cellar_comparison comparison,
                     double confidence, cellar_interval_estimate *out)
{
    double tail = (1 - confidence) / 2, low = 0, high = 1;
    pair_cdf *cdf = share_cdf;
    if (comparison == CELLAR_COMPARE_DIFFERENCE) {
        cdf = difference_cdf;
        low = (double) (a->first - b->first) - (double) b->n - 1;
        high = (double) (a->first - b->first) + (double) a->n;
    }
    out->low = cdf(a, b, low) >= tail ? low : pair_quantile(cdf, a, b, tail, low, high);
    out->high = pair_quantile(cdf, a, b, 1 - tail, low, high);
    out->value = pair_quantile(cdf, a, b, 0.5, low, high); /* the median */
    if (comparison == CELLAR_COMPARE_DIFFERENCE) {         /* steps at whole numbers */
        out->low = floor(out->low + 1e-6);
        out->high = floor(out->high + 1e-6);
        out->value = floor(out->value + 1e-6);
    }
}

cellar_status cellar_interval_bayes(const cellar_reading *a, const cellar_reading *b,
                                    cellar_comparison comparison, cellar_prior prior,
                                    double confidence, cellar_interval_estimate *out,
                                    cellar_error *err)
{
    posterior first = {0}, second = {0};
    cellar_status status = posterior_init(&first, a, prior, err);
    if (status == CELLAR_OK && b != NULL)
        status = posterior_init(&second, b, prior, err);
    if (status == CELLAR_OK && b == NULL)
        posterior_shortest(&first, confidence, out);
    else if (status == CELLAR_OK)
        pair_run(&first, &second, comparison, confidence, out);
    posterior_clear(&first);
    posterior_clear(&second);
    return status;
}
