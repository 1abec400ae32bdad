/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With X the noise and Z standard normal, Y = X + s Z has a smooth distribution whose
 * characteristic function is below e^(-s^2 t^2 / 2). On a circle of circumference L,
 *     P(|Y| <= x) = 2x/L + (2/pi) sum over j >= 1 of sin(j d x) phi_Y(j d) / j,    d = 2 pi / L,
 * exactly, and L is 40 standard deviations, so that what is wound around does not matter (below
 * 1e-14 for x up to 17 of them, even for one discrete Laplace noise). Where s |Z| <= k s,
 *     |X| > x + k s implies |Y| > x,
 * so that limits of Y, with k s added, are limits of X whatever the lattice of its values. */
#define MATHLIB_STANDALONE
#include "inference/weighted_noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <Rmath.h>

#include <cellar/mechanism.h>

#include "base/error.h"
#include "base/memory.h"

static const double SMOOTHING = 2.5e-3;  /* s, in standard deviations of X */
static const double CIRCUMFERENCE = 40;  /* L, likewise */
static const double SMOOTHED_AWAY = 7.5; /* s t at which Y's function is below 1e-12 */
static const double NEGLIGIBLE = 33;     /* e^-33 = 5e-15 */
static const double SHARE = 0.005;       /* of a tail, for |Z| > k */

/* ---- one noise -------------------------------------------------------------------- */

/* Sums of terms e^(-k^2 / 2 sigma^2) need few of them below this, and few of the dual sum above. */
static const double NARROW = 0.36;
enum { N_DIRECT = 7, N_DUAL = 2 };

/* ln of the sum over k of e^(-k^2 / 2 v) cos(k t), directly. */
static double gaussian_direct(double v, double t)
{
    double sum = 1;
    for (int k = 1; k <= N_DIRECT; k++)
        sum += 2 * exp(-k * k / (2 * v)) * cos(k * t);
    return log(fmax(sum, 1e-300));
}

/* The same but for a constant by Poisson's summation formula: the sum over m of
 * e^(-v (t - 2 pi m)^2 / 2), with t reduced to 0..pi. */
static double gaussian_dual(double v, double t)
{
    double sum = 1;
    for (int m = 1; m <= N_DUAL; m++) {
        const double near = 2 * M_PI * m * v * (M_PI * m - t), far = near + 4 * M_PI * m * v * t;
        sum += near < NEGLIGIBLE ? exp(-near) : 0;
        sum += far < NEGLIGIBLE ? exp(-far) : 0;
    }
    return -v * t * t / 2 + (sum > 1 ? log(sum) : 0);
}

static double gaussian_log(double v, double t)
{
    t = fabs(t - 2 * M_PI * rint(t / (2 * M_PI)));
    return v < NARROW ? gaussian_direct(v, t) : gaussian_dual(v, t);
}

double cellar_noise_wave_log(const cellar_noise_wave *wave, double t)
{
    const double p = wave->scale, s = sin(t / 2);
    return wave->is_gaussian ? gaussian_log(wave->scale, t) - wave->log_norm
                             : -log1p(4 * p * s * s / ((1 - p) * (1 - p)));
}

cellar_status cellar_noise_wave_init(cellar_noise_wave *wave, const char *spec, cellar_error *err)
{
    cellar_mechanism *mechanism = NULL;
    cellar_status status = cellar_mechanism_create(spec, &mechanism, err);
    const char *name = status == CELLAR_OK ? cellar_mechanism_name(mechanism) : "";
    *wave = (cellar_noise_wave){.is_gaussian = strcmp(name, "discrete-gaussian") == 0};
    if (status == CELLAR_OK && !wave->is_gaussian && strcmp(name, "discrete-laplace") != 0)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "intervals of a cube know discrete Gaussian and discrete Laplace "
                             "noise, not %s",
                             name);
    if (status == CELLAR_OK) {
        const double parameter = cellar_mechanism_parameter_value(mechanism, 0);
        cellar_moments moments;
        wave->scale = wave->is_gaussian ? parameter * parameter : exp(-parameter);
        wave->log_norm = wave->is_gaussian ? gaussian_log(wave->scale, 0) : 0;
        cellar_mechanism_moments(mechanism, 0, CELLAR_NEGATIVES_KEEP, &moments);
        wave->variance = moments.variance;
    }
    cellar_mechanism_free(mechanism);
    return status;
}

/* ---- the sum ------------------------------------------------------------------------ */

/* A term of the series that is not negligible. */
typedef struct ripple {
    double t;    /* j d */
    double size; /* phi_Y(j d) / j */
} ripple;

struct cellar_weighted_noise {
    double sd, smoothing, circumference;
    ripple *ripples;
    size_t n;
};

static double term_variance(const cellar_noise_term *term)
{
    return term->n * term->weight * term->weight * term->wave->variance;
}

static int by_variance(const void *left, const void *right)
{
    const double a = term_variance(left), b = term_variance(right);
    return (a < b) - (a > b);
}

/* ln phi_Y(t), or something below -NEGLIGIBLE as soon as the largest terms show it. */
static double log_smoothed(const cellar_noise_term *terms, size_t n, double smoothing, double t)
{
    double sum = -smoothing * smoothing * t * t / 2;
    for (size_t i = 0; i < n && sum > -NEGLIGIBLE; i++)
        sum += terms[i].n * cellar_noise_wave_log(terms[i].wave, terms[i].weight * t);
    return sum;
}

static int find_ripples(cellar_weighted_noise *noise, const cellar_noise_term *terms, size_t n)
{
    const double step = 2 * M_PI / noise->circumference;
    const double last = SMOOTHED_AWAY / noise->smoothing / step;
    size_t room = 0;
    for (double j = 1; j < last; j++) {
        const double value = log_smoothed(terms, n, noise->smoothing, j * step);
        if (value <= -NEGLIGIBLE)
            continue;
        if (!cellar_grow(&noise->ripples, &room, noise->n + 1, sizeof *noise->ripples))
            return 0;
        noise->ripples[noise->n++] = (ripple){j * step, exp(value) / j};
    }
    return 1;
}

cellar_status cellar_weighted_noise_create(cellar_noise_term *terms, size_t n,
                                           cellar_weighted_noise **out, cellar_error *err)
{
    cellar_weighted_noise *noise = cellar_alloc(1, sizeof *noise);
    double variance = 0;
    *out = NULL;
    if (noise == NULL)
        return cellar_fail_memory(err, "the distribution of a sum");
    if (n > 0)
        qsort(terms, n, sizeof *terms, by_variance);
    for (size_t i = n; i-- > 0;)
        variance += term_variance(&terms[i]);
    noise->sd = sqrt(variance);
    noise->smoothing = SMOOTHING * noise->sd;
    noise->circumference = CIRCUMFERENCE * noise->sd;
    if (noise->sd > 0 && !find_ripples(noise, terms, n)) {
        cellar_weighted_noise_free(noise);
        return cellar_fail_memory(err, "the distribution of a sum");
    }
    *out = noise;
    return CELLAR_OK;
}

void cellar_weighted_noise_free(cellar_weighted_noise *noise)
{
    if (noise == NULL)
        return;
    cellar_free(noise->ripples);
    cellar_free(noise);
}

double cellar_weighted_noise_sd(const cellar_weighted_noise *noise)
{
    return noise->sd;
}

/* P(|Y| > x). */
static double smoothed_outside(const cellar_weighted_noise *noise, double x)
{
    double sum = 0;
    if (x <= 0)
        return 1;
    if (x >= noise->circumference / 2)
        return 0;
    for (size_t i = noise->n; i-- > 0;)
        sum += sin(noise->ripples[i].t * x) * noise->ripples[i].size;
    return fmin(1, fmax(0, 1 - 2 * x / noise->circumference - M_2_PI * sum));
}

double cellar_weighted_noise_outside(const cellar_weighted_noise *noise, double x)
{
    double rest, shift;
    if (!(noise->sd > 0))
        return x <= 0;
    rest = SHARE * fmax(CELLAR_SMALLEST_TAIL, smoothed_outside(noise, x));
    shift = qnorm(rest / 2, 0, 1, 0, 0) * noise->smoothing;
    return fmin(1, smoothed_outside(noise, x - shift) + rest);
}

/* The x at which P(|Y| > x) is `tail`, from above: halves of the interval in turn with chords of
 * the logarithm, which is close to a line or a parabola. */
static double smoothed_width(const cellar_weighted_noise *noise, double tail)
{
    double low = 0, high = noise->circumference / 2, at_low = 0, at_high = log(1e-16);
    const double want = log(tail);
    for (int i = 0; i < 100 && high - low > 1e-7 * noise->sd; i++) {
        const double chord = low + (high - low) * (want - at_low) / (at_high - at_low);
        const double middle = i % 2 == 0 && chord > low && chord < high ? chord : (low + high) / 2;
        const double there = log(fmax(1e-16, smoothed_outside(noise, middle)));
        if (there > want) {
            low = middle;
            at_low = there;
        } else {
            high = middle;
            at_high = there;
        }
    }
    return high;
}

double cellar_weighted_noise_width(const cellar_weighted_noise *noise, double tail)
{
    const double rest = SHARE * tail;
    if (!(noise->sd > 0))
        return 0;
    return smoothed_width(noise, tail - rest) + qnorm(rest / 2, 0, 1, 0, 0) * noise->smoothing;
}
