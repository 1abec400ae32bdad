/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/tilted.h"

#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/memory.h"

/* Terms below this part of the largest are left out, but never among the first counts: laws with
 * gaps, such as rounding, have them there. */
#define NEGLIGIBLE 1e-24
enum { ALWAYS_KEPT = 64, RESYNC = 256 };

static double tilted_factor(const cellar_presence *presence, uint64_t count, int shown)
{
    if (!shown)
        return presence_absent(presence, count);
    return count == 0 ? 0 : presence_present(presence, count);
}

/* P(j) / P(j - 1) of the counts alone. */
static double count_law_ratio(const cellar_count_law *law, uint64_t j)
{
    double k = (double) j;
    return law->is_power ? law->theta * (k - 1 + law->alpha) / k : law->mean / k;
}

static double count_law_log(const cellar_count_law *law, uint64_t j)
{
    double k = (double) j;
    if (!law->is_power)
        return dpois(k, law->mean, 1);
    return j == 0 ? 0 : k * log(law->theta) - log(k) - lbeta(k, law->alpha);
}

/* The count at which the terms stop growing, by bisection on the ratio of neighbours; presence and
 * absence change so slowly beside the law of a large count that there is one such count. */
static uint64_t tilted_mode(const cellar_presence *presence, const cellar_count_law *law, int shown,
                            uint64_t most)
{
    uint64_t low = (uint64_t) shown, high = most + 1;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        double here = tilted_factor(presence, middle, shown) * count_law_ratio(law, middle);
        if (here >= tilted_factor(presence, middle - 1, shown) && here > 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int tilted_put(cellar_tilted *law, size_t position, double weight)
{
    if (!cellar_grow(&law->weights, &law->capacity, position + 1, sizeof *law->weights))
        return 0;
    law->weights[position] = weight;
    return 1;
}

/* Weights relative to that of `start`, from there down. They come out in reverse and are turned. */
static int tilted_down(cellar_tilted *t, const cellar_presence *presence,
                       const cellar_count_law *law, int shown, uint64_t start, double *largest)
{
    double plain = 1;
    t->n = 0;
    for (uint64_t j = start;; j--) {
        double weight = plain * tilted_factor(presence, j, shown);
        if (!tilted_put(t, t->n, weight))
            return 0;
        t->n++;
        t->low = j;
        *largest = fmax(*largest, weight);
        if (j == (uint64_t) shown || (weight <= NEGLIGIBLE * *largest && j > ALWAYS_KEPT))
            break;
        plain /= count_law_ratio(law, j);
    }
    for (size_t i = 0; i < t->n / 2; i++) {
        double swap = t->weights[i];
        t->weights[i] = t->weights[t->n - 1 - i];
        t->weights[t->n - 1 - i] = swap;
    }
    return 1;
}

static int tilted_up(cellar_tilted *t, const cellar_presence *presence, const cellar_count_law *law,
                     int shown, uint64_t start, uint64_t most, double *largest)
{
    double plain = 1;
    for (uint64_t j = start + 1; j <= most; j++) {
        double factor = tilted_factor(presence, j, shown);
        double weight = (plain *= count_law_ratio(law, j)) * factor;
        if (factor <= 0 && j >= ALWAYS_KEPT)
            break;
        if (!tilted_put(t, t->n, weight))
            return 0;
        t->n++;
        *largest = fmax(*largest, weight);
        if (weight <= NEGLIGIBLE * *largest && (j >= ALWAYS_KEPT || plain < 1e-300))
            break;
    }
    return 1;
}

static void tilted_normalise(cellar_tilted *law)
{
    double sum = 0, first = 0, second = 0;
    for (size_t i = 0; i < law->n; i++) {
        sum += law->weights[i];
        first += law->weights[i] * (double) i;
    }
    first /= sum;
    for (size_t i = 0; i < law->n; i++) {
        double away = (double) i - first;
        law->weights[i] /= sum;
        second += law->weights[i] * away * away;
    }
    law->mean = (double) law->low + first;
    law->variance = second;
    law->log_sum += log(sum);
}

int cellar_tilted_make(cellar_tilted *law, const cellar_presence *presence,
                       const cellar_count_law *counts, int shown, uint64_t most)
{
    uint64_t start = tilted_mode(presence, counts, shown, most);
    double largest = 0;

    if (!tilted_down(law, presence, counts, shown, start, &largest) ||
        !tilted_up(law, presence, counts, shown, start, most, &largest))
        return 0;
    law->log_sum = count_law_log(counts, start);
    law->mean = (double) start;
    law->variance = 0;
    if (largest > 0)
        tilted_normalise(law);
    else
        law->log_sum = -INFINITY;
    return 1;
}

void cellar_tilted_clear(cellar_tilted *law)
{
    cellar_free(law->weights);
    *law = (cellar_tilted){0};
}

double complex cellar_tilted_turn(const cellar_tilted *law, double angle, uint64_t centre,
                                  double complex *times)
{
    double step_real = cos(angle), step_imaginary = sin(angle), real = 1, imaginary = 0;
    double sum_real = 0, sum_imaginary = 0, times_real = 0, times_imaginary = 0;
    double offset = (double) law->low - (double) centre;

    for (size_t i = 0; i < law->n; i++) {
        double turned_real, turned_imaginary, next;
        if (i % RESYNC == 0) { /* so that rounding does not pile up in the turning */
            real = cos(angle * (offset + (double) i));
            imaginary = sin(angle * (offset + (double) i));
        }
        turned_real = law->weights[i] * real;
        turned_imaginary = law->weights[i] * imaginary;
        sum_real += turned_real;
        sum_imaginary += turned_imaginary;
        times_real += (double) i * turned_real;
        times_imaginary += (double) i * turned_imaginary;
        next = real * step_real - imaginary * step_imaginary;
        imaginary = real * step_imaginary + imaginary * step_real;
        real = next;
    }
    if (times != NULL)
        *times = times_real + (double) law->low * sum_real +
                 I * (times_imaginary + (double) law->low * sum_imaginary);
    return sum_real + I * sum_imaginary;
}
