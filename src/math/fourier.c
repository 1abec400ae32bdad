/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The error of a transform, u = 2^-53, in arithmetic that rounds to nearest (IEEE 754; fused
 * multiplications only help).
 *   Roots. e^{-2 pi i j/n} is the product of two entries of tables that are enclosed by balls and
 * rounded: each is off by at most sqrt(2) 2^-54 = 0.71 u, and a complex product by sqrt(5) u
 * (Brent, Percival and Zimmermann 2007), so a root is off by less than 3.7 u. Butterflies. At every
 * stage a number stands for the transform of some of the z_j, and is in absolute value at most the
 * sum S of theirs. If a and b, standing for different z_j with sums S_a and S_b, are off by at most
 * e S_a and e S_b, then a + wb is off by at most e S_a + e S_b + (3.7 + sqrt(5)) u S_b + u (S_a +
 * S_b) < (e + 7 u) (S_a + S_b), but for products of such terms, which the step from 7 to 12 covers
 * many times over. By induction log2(n) stages are off by at most 12 u log2(n) times the sum of all
 * |z_j|. */
#include "math/fourier.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/flint.h"

struct cellar_fourier {
    size_t n;
    /* e^{-2 pi i j / 2h}, j < h, for h = 1, 2, 4, ..., n/2 one after the other: those of h begin
     * at h - 1. */
    double *re, *im;
};

double cellar_fourier_error(size_t n)
{
    double stages = 1;
    for (; n > 1; n /= 2)
        stages++; /* one more than there are */
    return 24 * 0x1p-53 * stages;
}

/* e^{-2 pi i j/n} rounded from an enclosure. */
static void root_of_unity(size_t j, size_t n, double *re, double *im)
{
    enum { BITS = 80 };
    arb_t angle, sine, cosine;
    arb_init(angle);
    arb_init(sine);
    arb_init(cosine);
    arb_set_ui(angle, 2 * j);
    arb_div_ui(angle, angle, n, BITS); /* exact: n is a power of two */
    arb_sin_cos_pi(sine, cosine, angle, BITS);
    *re = arf_get_d(arb_midref(cosine), ARF_RND_NEAR);
    *im = -arf_get_d(arb_midref(sine), ARF_RND_NEAR);
    arb_clear(angle);
    arb_clear(sine);
    arb_clear(cosine);
}

/* The roots of the last stage as products w^(low) w^(high), and the others as every second of the
 * next. `table` has room for 4 sqrt(n) numbers. */
static void roots_fill(cellar_fourier *f, size_t n_low, double *table)
{
    size_t n = f->n, half = n / 2, n_high = half / n_low;
    double *low_re = table, *low_im = low_re + n_low;
    double *high_re = low_im + n_low, *high_im = high_re + n_high;
    double *re = f->re + half - 1, *im = f->im + half - 1;
    for (size_t j = 0; j < n_low; j++)
        root_of_unity(j, n, &low_re[j], &low_im[j]);
    for (size_t j = 0; j < n_high; j++)
        root_of_unity(j * n_low, n, &high_re[j], &high_im[j]);
    for (size_t j = 0; j < half; j++) {
        size_t low = j % n_low, high = j / n_low;
        re[j] = low_re[low] * high_re[high] - low_im[low] * high_im[high];
        im[j] = low_re[low] * high_im[high] + low_im[low] * high_re[high];
    }
    for (size_t h = half / 2; h > 0; h /= 2)
        for (size_t j = 0; j < h; j++) {
            f->re[h - 1 + j] = f->re[2 * h - 1 + 2 * j];
            f->im[h - 1 + j] = f->im[2 * h - 1 + 2 * j];
        }
}

cellar_status cellar_fourier_create(size_t n, cellar_fourier **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_fourier *f = cellar_alloc(1, sizeof *f);
    double *table = NULL;
    size_t n_low = 1;

    *out = NULL;
    CELLAR_ASSERT(n >= 4 && (n & (n - 1)) == 0);
    if (f == NULL)
        return cellar_fail_memory(err, "a Fourier transform");
    f->n = n;
    while (n_low * n_low < n / 2)
        n_low *= 2;
    f->re = cellar_alloc(n, sizeof *f->re);
    f->im = cellar_alloc(n, sizeof *f->im);
    table = cellar_alloc(2 * (n_low + n / 2 / n_low), sizeof *table);
    if (f->re == NULL || f->im == NULL || table == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a Fourier transform"));
    roots_fill(f, n_low, table);
    *out = f;
    f = NULL;
out:
    cellar_free(table);
    cellar_fourier_free(f);
    return status;
}

void cellar_fourier_free(cellar_fourier *f)
{
    if (f == NULL)
        return;
    cellar_free(f->re);
    cellar_free(f->im);
    cellar_free(f);
}

static void exchange(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts z_j where the bits of j read backwards. */
static void reverse_bits(size_t n, double *re, double *im)
{
    size_t reversed = 0;
    for (size_t j = 0; j + 1 < n; j++) {
        size_t bit = n / 2;
        if (j < reversed) {
            exchange(&re[j], &re[reversed]);
            exchange(&im[j], &im[reversed]);
        }
        for (; (reversed & bit) != 0; bit /= 2)
            reversed -= bit;
        reversed += bit;
    }
}

/* One stage: blocks of 2h become the transforms of their halves put together. */
static void stage(const cellar_fourier *f, size_t h, size_t n, double *re, double *im)
{
    const double *w_re = f->re + h - 1, *w_im = f->im + h - 1;
    for (size_t block = 0; block < n; block += 2 * h) {
        double *restrict a_re = re + block, *restrict b_re = a_re + h;
        double *restrict a_im = im + block, *restrict b_im = a_im + h;
        for (size_t j = 0; j < h; j++) {
            double x = w_re[j] * b_re[j] - w_im[j] * b_im[j];
            double y = w_re[j] * b_im[j] + w_im[j] * b_re[j];
            b_re[j] = a_re[j] - x;
            b_im[j] = a_im[j] - y;
            a_re[j] += x;
            a_im[j] += y;
        }
    }
}

/* Halves first while they do not fit into a cache. */
static void stages(const cellar_fourier *f, size_t n, double *re, double *im)
{
    enum { CACHED = 1 << 12 };
    size_t h = 1;
    if (n > CACHED) {
        h = n / 2;
        stages(f, h, re, im);
        stages(f, h, re + h, im + h);
    }
    for (; h < n; h *= 2)
        stage(f, h, n, re, im);
}

static void run(const cellar_fourier *f, size_t n, double *re, double *im)
{
    reverse_bits(n, re, im);
    stages(f, n, re, im);
}

/* With Z the transform of x_2j + i x_2j+1, those of the even and of the odd numbers are
 * E_m = (Z_m + conj Z_-m)/2 and O_m = (Z_m - conj Z_-m)/2i, and X_m = E_m + e^{-2 pi i m/n} O_m. */
void cellar_fourier_forward(const cellar_fourier *f, double *re, double *im)
{
    size_t half = f->n / 2;
    const double *w_re = f->re + half - 1, *w_im = f->im + half - 1;
    double first_re, first_im;
    for (size_t j = 0; j < half; j++) {
        im[j] = re[2 * j + 1];
        re[j] = re[2 * j];
    }
    run(f, half, re, im);
    first_re = re[0];
    first_im = im[0];
    for (size_t m = 1; m <= half / 2; m++) {
        size_t k = half - m; /* X_k comes out of the same two numbers */
        double e_re = (re[m] + re[k]) / 2, e_im = (im[m] - im[k]) / 2;
        double o_re = (im[m] + im[k]) / 2, o_im = (re[k] - re[m]) / 2;
        double x = w_re[m] * o_re - w_im[m] * o_im, y = w_re[m] * o_im + w_im[m] * o_re;
        re[m] = e_re + x;
        im[m] = e_im + y;
        re[k] = e_re - x;
        im[k] = y - e_im;
    }
    re[0] = first_re + first_im;
    re[half] = first_re - first_im;
    im[0] = im[half] = 0;
}

/* The other way: E_m = C_m + conj C_{n/2-m} and O_m = (C_m - conj C_{n/2-m}) e^{2 pi i m/n} are the
 * spectra of the even and of the odd numbers; the inverse transform of E + iO is that of its
 * conjugate, conjugated. */
void cellar_fourier_backward(const cellar_fourier *f, double *re, double *im)
{
    size_t half = f->n / 2;
    const double *w_re = f->re + half - 1, *w_im = f->im + half - 1;
    for (size_t m = 0; m <= half / 2; m++) {
        size_t k = half - m;
        double e_re = re[m] + re[k], e_im = im[m] - im[k];
        double d_re = re[m] - re[k], d_im = im[m] + im[k];
        double o_re = d_re * w_re[m % half] + d_im * w_im[m % half];
        double o_im = d_im * w_re[m % half] - d_re * w_im[m % half];
        re[m] = e_re - o_im;
        im[m] = -(e_im + o_re);
        re[k] = e_re + o_im; /* E_k = conj E_m, O_k = conj O_m */
        im[k] = e_im - o_re;
    }
    run(f, half, re, im);
    for (size_t j = half; j-- > 0;) {
        re[2 * j + 1] = -im[j];
        re[2 * j] = re[j];
    }
}
