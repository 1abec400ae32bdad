/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/compose_transform.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/work.h"

static const double UNIT = 0x1p-53;      /* rounding of one operation */
static const double STEPS_PER_CELL = 10; /* of work */

static double complex multiply(double complex a, double complex b)
{
    return creal(a) * creal(b) - cimag(a) * cimag(b) +
           I * (creal(a) * cimag(b) + cimag(a) * creal(b));
}

static double size_of(double complex z)
{
    return sqrt(creal(z) * creal(z) + cimag(z) * cimag(z));
}

/* z^times by squaring; relative error at most 2 sqrt(5) times units. */
static double complex power(double complex z, uint64_t times)
{
    double complex result = 1;
    for (; times > 0; times >>= 1) {
        if (times & 1)
            result = multiply(result, z);
        z = multiply(z, z);
    }
    return result;
}

void cellar_transform_clear(cellar_transform *t)
{
    cellar_fourier_free(t->fourier);
    cellar_free(t->real);
    cellar_free(t->imaginary);
    cellar_free(t->product);
    cellar_free(t->error);
}

cellar_status cellar_transform_init(cellar_transform *t, size_t n, cellar_error *err)
{
    *t = (cellar_transform){.n = n};
    if (cellar_work_is_over())
        return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                           "composing these privacy losses exceeds the limit of work");
    cellar_work_add(STEPS_PER_CELL * (double) n);
    t->real = cellar_alloc(n, sizeof *t->real);
    t->imaginary = cellar_alloc(n / 2 + 1, sizeof *t->imaginary);
    t->product = cellar_alloc(n / 2 + 1, sizeof *t->product);
    t->error = cellar_alloc(n / 2 + 1, sizeof *t->error);
    if (t->real == NULL || t->imaginary == NULL || t->product == NULL || t->error == NULL)
        return cellar_fail_memory(err, "a Fourier transform");
    for (size_t m = 0; m <= n / 2; m++)
        t->product[m] = 1;
    return cellar_fourier_create(n, &t->fourier, err);
}

/* Multiplies the product by the transform of `real` (non-negative, of sum about 1) to the power
 * `times`. With e the error of a coefficient z, that of z^k is at most k e (|z| + e)^(k-1). Most
 * powers of a wide distribution are nothing: those below e^-NOTHING are taken for 0, and count as
 * errors. */
void cellar_transform_multiply(cellar_transform *t, uint64_t times)
{
    static const double NOTHING = 92;
    double unit = 1.01 * cellar_fourier_error(t->n), k = (double) times;
    double nothing = exp(-NOTHING / k) * (1 - 1e-12) - unit;
    cellar_work_add(STEPS_PER_CELL * (double) t->n);
    cellar_fourier_forward(t->fourier, t->real, t->imaginary);
    for (size_t m = 0; m <= t->n / 2; m++) {
        double complex part = t->real[m] + I * t->imaginary[m];
        double size = size_of(part), before = size_of(t->product[m]), bound, own;
        if (size < nothing) {
            t->error[m] = (before + t->error[m]) * 1.01 * exp(-NOTHING) + 1e-300;
            t->product[m] = 0;
            continue;
        }
        size += unit;
        bound = times > 1 ? exp((k - 1) * log(size)) * 1.01 : 1;
        own = bound * k * (unit + 6 * UNIT * size);
        t->product[m] = multiply(t->product[m], power(part, times));
        t->error[m] = t->error[m] * bound * size + own * (before + t->error[m]) + 1e-300;
    }
}

double cellar_transform_finish(cellar_transform *t)
{
    double error = 0, mass = 0, n = (double) t->n;
    for (size_t m = 0; m <= t->n / 2; m++) {
        double weight = m == 0 || m == t->n / 2 ? 1 : 2;
        error += weight * t->error[m];
        mass += weight * (size_of(t->product[m]) + t->error[m]);
        t->real[m] = creal(t->product[m]);
        t->imaginary[m] = cimag(t->product[m]);
    }
    cellar_fourier_backward(t->fourier, t->real, t->imaginary);
    return 1.01 * (error + cellar_fourier_error(t->n) * mass) / n;
}
