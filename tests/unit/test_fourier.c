/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Fourier transform against sums in balls, within its stated error. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "fail_every.h"
#include "math/flint.h"
#include "math/fourier.h"

enum { LONGEST = 4096 };

/* Numbers of all sizes, some of them zero. */
static double number(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1442695040888963407u;
    if (*random >> 61 == 0)
        return 0;
    return ((double) (*random >> 40) / (double) (1 << 24) - 0.25) *
           exp2(-(double) (*random >> 20 & 31));
}

static double distance(const acb_t exact, double re, double im)
{
    double x = arf_get_d(arb_midref(acb_realref(exact)), ARF_RND_NEAR) - re;
    double y = arf_get_d(arb_midref(acb_imagref(exact)), ARF_RND_NEAR) - im;
    return hypot(x, y);
}

static void check_length(size_t n, uint64_t random)
{
    static double re[LONGEST], im[LONGEST / 2 + 1], x[LONGEST];
    acb_ptr in = _acb_vec_init((slong) n), out = _acb_vec_init((slong) n);
    cellar_fourier *f = NULL;
    double sum = 0, worst = 0, spectrum = 0;
    cellar_error err;
    assert_int_equal(cellar_fourier_create(n, &f, &err), CELLAR_OK);
    for (size_t j = 0; j < n; j++) {
        x[j] = re[j] = number(&random);
        sum += fabs(x[j]);
        acb_set_d(in + j, x[j]);
    }
    acb_dft(out, in, (slong) n, 128);
    cellar_fourier_forward(f, re, im);
    for (size_t m = 0; m <= n / 2; m++) {
        worst = fmax(worst, distance(out + m, re[m], im[m]));
        spectrum += (m == 0 || m == n / 2 ? 1 : 2) * hypot(re[m], im[m]);
    }
    assert_true(worst <= cellar_fourier_error(n) * sum);
    assert_true(worst > 0 || n < 64);
    cellar_fourier_backward(f, re, im);
    for (size_t j = 0; j < n; j++)
        if (fabs(re[j] / (double) n - x[j]) >
            cellar_fourier_error(n) * (spectrum / (double) n + sum))
            fail_msg("length %zu: x[%zu] = %.17g came back as %.17g", n, j, x[j],
                     re[j] / (double) n);
    cellar_fourier_free(f);
    _acb_vec_clear(in, (slong) n);
    _acb_vec_clear(out, (slong) n);
}

static void test_within_error(void **state)
{
    (void) state;
    for (size_t n = 4; n <= LONGEST; n *= 2)
        check_length(n, n);
}

/* Longer than what is done at once: a single number has a spectrum of size one everywhere. */
static void test_long(void **state)
{
    enum { N = 1 << 15, AT = 12345 };
    static double re[N], im[N / 2 + 1];
    cellar_fourier *f = NULL;
    cellar_error err;
    (void) state;
    memset(re, 0, sizeof re);
    re[AT] = 1;
    assert_int_equal(cellar_fourier_create(N, &f, &err), CELLAR_OK);
    cellar_fourier_forward(f, re, im);
    for (size_t m = 0; m <= N / 2; m++) {
        double angle = -2 * M_PI * (double) (AT * m % N) / N;
        assert_true(hypot(re[m] - cos(angle), im[m] - sin(angle)) <= cellar_fourier_error(N));
    }
    cellar_fourier_backward(f, re, im);
    for (size_t j = 0; j < N; j++)
        assert_true(fabs(re[j] / N - (j == AT)) <= 2 * cellar_fourier_error(N));
    cellar_fourier_free(f);
}

static cellar_status create_scenario(void *context, cellar_error *err)
{
    cellar_fourier *f = NULL;
    cellar_status status = cellar_fourier_create(*(size_t *) context, &f, err);
    cellar_fourier_free(f);
    return status;
}

static void test_fail_every(void **state)
{
    size_t n = 64;
    (void) state;
    check_fail_every(create_scenario, &n);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_within_error),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_fail_every),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
