/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Units of two records: whichever cells they lie in, what sums over all released numbers find is no
 * more than what is certified, which says that it is a bound. */
#include "check.h"
#include "make_mechanism.h"

#include <math.h>
#include <stdlib.h>

#include <cellar/certificate.h>
#include <cellar/mechanism.h>

enum { NUMBERS = 90 };

static double certified(const cellar_mechanism *m, const char *epsilon)
{
    const cellar_certify_part part = {m, 1};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_error err = {{0}};
    double delta;
    o.max_per_unit = 2;
    o.epsilons = &epsilon;
    o.n_epsilons = 1;
    if (cellar_certify(&part, 1, &o, &c, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    delta = cellar_certificate_point(c, 0).delta;
    assert_true(cellar_certificate_point(c, 0).delta_lower <= delta);
    assert_false(cellar_certificate_composition(c).is_tight);
    cellar_certificate_free(c);
    return delta;
}

/* delta of two cells that change from the first counts to the second. */
static double enumerated(const cellar_mechanism *m, const int64_t from[2], const int64_t to[2],
                         double epsilon)
{
    double sum = 0, factor = exp(epsilon), p[2][NUMBERS], q[2][NUMBERS];
    for (int cell = 0; cell < 2; cell++)
        for (int64_t b = 0; b < NUMBERS; b++) {
            p[cell][b] = cellar_mechanism_pmf(m, from[cell], b);
            q[cell][b] = cellar_mechanism_pmf(m, to[cell], b);
        }
    for (int b = 0; b < NUMBERS; b++)
        for (int c = 0; c < NUMBERS; c++)
            sum += fmax(0, p[0][b] * p[1][c] - factor * q[0][b] * q[1][c]);
    return sum;
}

static void check_unit(const char *spec, const char *epsilon)
{
    cellar_mechanism *m = make(spec);
    double bound = certified(m, epsilon), worst = 0;
    for (int64_t a = 0; a < 3; a++)
        for (int64_t b = 0; b < 3; b++)
            for (int way = 0; way < 4; way++) {
                const int64_t less[2] = {a, b}, more[2] = {a + 1 + way / 2, b + 1 - way / 2};
                worst = fmax(worst, enumerated(m, way % 2 ? less : more, way % 2 ? more : less,
                                               strtod(epsilon, NULL)));
            }
    if (worst > bound * (1 + 1e-9) + 1e-9 || bound > 1)
        fail_msg("%s at %s: found %.12g, certified %.12g", spec, epsilon, worst, bound);
    cellar_mechanism_free(m);
}

static void test_two_records(void **state)
{
    static const char *const kernels[] = {"negbin:alpha=1,sigma=0.3", "negbin:alpha=0.2,sigma=1",
                                          "pig:alpha=0.6,sigma=0.4", "round:base=3",
                                          "sichel:alpha=2,sigma=0.2,nu=1"};
    (void) state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        check_unit(kernels[i], "0.7");
        check_unit(kernels[i], "2");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
