/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The posterior of a value given a group's released counts.
 *
 * Counts c of a group of n members are Dirichlet-multinomial before: proportional to
 * prod_k (alpha_k)_{c_k} / c_k! where they sum to n, with (a)_c = a (a + 1) ... (a + c - 1). Given
 * the released values r they are proportional to prod_k f_k(c_k), f_k(c) = (alpha_k)_c / c! P(r_k |
 * c). A random member has value k with the probability E[c_k | r] / n, a coefficient of a product
 * of power series:
 *
 *     [x^n] (sum_c c f_k(c) x^c) prod_{j != k} f_j(x)  over  n [x^n] prod_j f_j(x).
 *
 * All terms are positive. Where the coefficient asked for lies in the tail of the product every
 * f_k(c) is multiplied by e^(theta c), which changes nothing as the sum of counts is fixed; theta
 * is such that the counts have the sum n on average (exponential tilting). */
#include "risk/attribute/posterior.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* What is left out of a series, relative to its largest term, in logarithms. */
static const double NEGLIGIBLE = -36;
/* A coefficient below this part of the product is in its tail. */
static const double TAIL = 1e-6;

/* ---- memory ----------------------------------------------------------------------------- */

cellar_status cellar_belief_init(cellar_belief *b, const cellar_mechanism *mechanism,
                                 cellar_negatives negatives, const double *prior, size_t n_values,
                                 uint64_t size_max, cellar_error *err)
{
    double total = 0;
    *b = (cellar_belief){.mechanism = mechanism,
                         .negatives = negatives,
                         .prior = prior,
                         .n_values = n_values,
                         .size_max = size_max};
    if (n_values < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a sensitive value has an alternative: give "
                           "two counts or more");
    for (size_t k = 0; k < n_values; k++) {
        if (!(prior[k] >= 0) || isinf(prior[k]))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "numbers of a prior are not negative, got %g", prior[k]);
        total += prior[k];
    }
    if (!(total > 0) || isinf(total))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a prior needs a number above 0");
    if (size_max > CELLAR_ATTRIBUTE_SIZE_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "attribute inference is computed for groups of up to %d members",
                           CELLAR_ATTRIBUTE_SIZE_MAX);
    const size_t length = (size_t) size_max + 1;
    b->memory = cellar_alloc(3 * n_values + 3, length * sizeof *b->memory);
    b->counts = cellar_alloc(n_values, sizeof *b->counts);
    b->before = cellar_alloc(n_values + 1, sizeof *b->before);
    if (b->memory == NULL || b->counts == NULL || b->before == NULL)
        return cellar_fail_memory(err, "a group");
    for (size_t k = 0; k < n_values; k++)
        b->counts[k].p = b->memory + k * length;
    for (size_t k = 0; k <= n_values; k++)
        b->before[k].p = b->memory + (n_values + k) * length;
    b->after.p = b->memory + (2 * n_values + 1) * length;
    b->next.p = b->memory + (2 * n_values + 2) * length;
    b->logs = b->memory + (2 * n_values + 3) * length;
    return CELLAR_OK;
}

void cellar_belief_clear(cellar_belief *b)
{
    cellar_free(b->memory);
    cellar_free(b->counts);
    cellar_free(b->before);
}

/* ---- the weights of one count ------------------------------------------------------------- */

static double *logs_of(const cellar_belief *b, size_t k)
{
    return b->logs + k * ((size_t) b->size_max + 1);
}

/* Natural logarithms of (alpha)_c / c! P(released | c), each c over total^c, which the fixed sum
 * makes a constant: a large prior loses no digits. */
static void fill_logs(const cellar_belief *b, size_t k, double total, size_t size, int64_t released)
{
    double rising = 0;
    double *p = logs_of(b, k);
    for (size_t c = 0; c <= size; c++) {
        p[c] = rising + log(cellar_mechanism_released_pmf(b->mechanism, (int64_t) c, released,
                                                          b->negatives));
        rising += log((b->prior[k] + (double) c) / total / (double) (c + 1));
    }
}

/* The mean of a count when its weights are tilted by theta; NAN when all are zero. */
static double tilted_mean(const double *logs, size_t size, double theta)
{
    double largest = -INFINITY, sum = 0, first = 0;
    for (size_t c = 0; c <= size; c++)
        largest = fmax(largest, logs[c] + theta * (double) c);
    for (size_t c = 0; c <= size; c++) {
        const double weight = exp(logs[c] + theta * (double) c - largest);
        sum += weight;
        first += weight * (double) c;
    }
    return first / sum;
}

static double tilted_sum(const cellar_belief *b, size_t size, double theta)
{
    double mean = 0;
    for (size_t k = 0; k < b->n_values; k++)
        mean += tilted_mean(logs_of(b, k), size, theta);
    return mean;
}

/* theta at which the counts sum to `size` on average, nearly: the sum grows with theta. */
static double find_tilt(const cellar_belief *b, size_t size)
{
    double low = -1, high = 1;
    while (low > -600 && tilted_sum(b, size, low) > (double) size)
        low *= 2;
    while (high < 600 && tilted_sum(b, size, high) < (double) size)
        high *= 2;
    for (int i = 0; i < 30; i++) {
        const double middle = low + (high - low) / 2, sum = tilted_sum(b, size, middle);
        if (fabs(sum - (double) size) < 0.1)
            return middle;
        if (sum < (double) size)
            low = middle;
        else
            high = middle;
    }
    return low + (high - low) / 2;
}

/* The tilted weights of a count, the largest 1, without those that are negligible. Answers their
 * sum. */
static double tilt(const double *logs, size_t size, double theta, belief_series *out)
{
    double largest = -INFINITY, sum = 0;
    for (size_t c = 0; c <= size; c++)
        largest = fmax(largest, logs[c] + theta * (double) c);
    out->low = 1; /* an empty series, until a count can have been released so */
    out->high = 0;
    if (largest == -INFINITY)
        return 0;
    for (size_t c = 0; c <= size; c++) {
        const double log_weight = logs[c] + theta * (double) c - largest;
        out->p[c] = log_weight < NEGLIGIBLE ? 0 : exp(log_weight);
        if (out->p[c] > 0) {
            out->low = sum > 0 ? out->low : c;
            out->high = c;
            sum += out->p[c];
        }
    }
    return sum;
}

/* ---- products -------------------------------------------------------------------------------- */

/* out = a times b up to x^size. */
static void multiply(const belief_series *a, const belief_series *b, size_t size,
                     belief_series *out)
{
    const double *restrict right = b->p;
    double *restrict sums = out->p;
    out->low = a->low + b->low;
    out->high = a->high + b->high < size ? a->high + b->high : size;
    if (out->low > out->high)
        return;
    memset(sums + out->low, 0, (out->high - out->low + 1) * sizeof *sums);
    for (size_t i = a->low; i <= a->high && i <= size; i++) {
        const double factor = a->p[i];
        const size_t last = b->high < size - i ? b->high : size - i;
        for (size_t j = b->low; j <= last; j++)
            sums[i + j] += factor * right[j];
    }
}

/* The coefficient of x^size in a times b, each term of b times its count. */
static double counted_coefficient(const belief_series *a, const belief_series *b, size_t size)
{
    double sum = 0;
    for (size_t j = b->low; j <= b->high && j <= size; j++)
        if (size - j >= a->low && size - j <= a->high)
            sum += a->p[size - j] * b->p[j] * (double) j;
    return sum;
}

static void set_one(belief_series *s)
{
    s->low = s->high = 0;
    s->p[0] = 1;
}

/* The products of the tilted weights of the first values. Answers 0 when the coefficient asked for
 * is in the tail of the last one. */
static int multiply_all(cellar_belief *b, size_t n, double theta)
{
    const belief_series *all = &b->before[b->n_values];
    double whole = 1;
    set_one(&b->before[0]);
    for (size_t k = 0; k < b->n_values; k++) {
        whole *= tilt(logs_of(b, k), n, theta, &b->counts[k]);
        multiply(&b->before[k], &b->counts[k], n, &b->before[k + 1]);
    }
    return n >= all->low && n <= all->high && all->p[n] > TAIL * whole;
}

cellar_status cellar_belief_update(cellar_belief *b, uint64_t size, const int64_t *released,
                                   double *posterior, cellar_error *err)
{
    const size_t n = (size_t) size;
    double total = 0, sum = 0;
    CELLAR_ASSERT(size > 0 && size <= b->size_max);
    for (size_t k = 0; k < b->n_values; k++)
        total += b->prior[k];
    for (size_t k = 0; k < b->n_values; k++)
        fill_logs(b, k, total, n, released[k]);
    if (!multiply_all(b, n, 0))
        multiply_all(b, n, find_tilt(b, n));
    set_one(&b->after);
    for (size_t k = b->n_values; k-- > 0;) {
        belief_series swap;
        multiply(&b->before[k], &b->after, n, &b->next);
        posterior[k] = counted_coefficient(&b->next, &b->counts[k], n);
        sum += posterior[k];
        multiply(&b->after, &b->counts[k], n, &b->next);
        swap = b->after;
        b->after = b->next;
        b->next = swap;
    }
    if (!(sum > 0))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "no group of this size can be released like this under the prior");
    for (size_t k = 0; k < b->n_values; k++)
        posterior[k] /= sum;
    return CELLAR_OK;
}
