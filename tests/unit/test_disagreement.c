/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two ways to delta that disagree: no certificate is given. */
#include "check.h"

#include <string.h>

#include <cellar/certificate.h>

#include "mechanism/mechanism.h"
#include "mechanism/registry.h"
#include "make_mechanism.h"
#include "wrong_tails.h"

/* The laws of kernels in double-words, with sums that are too small. */
static int wrong_row(const cellar_mechanism *m, int64_t count, cellar_law_row *out)
{
    int is_made = cellar_kernel_law_row(m, count, out);
    for (size_t i = 0; is_made && i < out->n; i++)
        out->below[i] = cellar_dword_mul(out->below[i], (cellar_dword){1 - 0x1p-10, 0});
    return is_made;
}

static cellar_status certify_some(const cellar_mechanism *const *mechanisms, size_t n,
                                  uint64_t n_cells, size_t n_epsilons)
{
    static const char *const epsilons[] = {"0.01", "0.02", "4"};
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_error err;
    cellar_status status;
    options.n_cells = n_cells;
    options.epsilons = epsilons + 3 - n_epsilons;
    options.n_epsilons = n_epsilons;
    status = cellar_certify(mechanisms, n, &options, &c, &err);
    assert_true(status == CELLAR_OK || strstr(err.message, "disagree") != NULL);
    assert_true((status == CELLAR_OK) == (c != NULL));
    cellar_certificate_free(c);
    return status;
}

/* Whichever of the epsilons, cells or mechanisms is wrong. */
static void test_routes_that_disagree_are_refused(void **state)
{
    cellar_mechanism *m = make("discrete-gaussian:sigma=2"),
                     *broken = make(cellar_mechanism_spec(m));
    const cellar_mechanism_ops *right = m->ops;
    cellar_mechanism_ops wrong = *right;
    const cellar_mechanism *good[] = {m, m}, *bad[] = {m, broken};
    (void) state;
    wrong.survival_ball = wrong_survival;
    broken->ops = &wrong;
    for (uint64_t cells = 1; cells <= 2; cells++) {
        assert_int_equal(certify_some(good, 1, cells, 3), CELLAR_OK);
        assert_int_equal(certify_some(bad + 1, 1, cells, 3), CELLAR_ERR_RULE);
    }
    assert_int_equal(certify_some(good, 2, 1, 1), CELLAR_OK);
    assert_int_equal(certify_some(bad, 2, 1, 1), CELLAR_ERR_RULE);
    broken->ops = right;
    cellar_mechanism_free(broken);
    cellar_mechanism_free(m);
}

/* Double-words against balls, of kernels whose ratios are monotone or not. */
static void test_wrong_rows_are_refused(void **state)
{
    static const char *const kernels[] = {"poisson:alpha=1", "negbin:alpha=0.5,sigma=0.3",
                                          "pig:alpha=1,sigma=0.2", "sichel:alpha=1,sigma=0.3,nu=2"};
    (void) state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        cellar_mechanism *m = make(kernels[i]);
        const cellar_mechanism *list[] = {m};
        const cellar_mechanism_ops *right = m->ops;
        cellar_mechanism_ops wrong = *right;
        assert_int_equal(certify_some(list, 1, 1, 2), CELLAR_OK);
        wrong.law_row = wrong_row;
        m->ops = &wrong;
        if (certify_some(list, 1, 1, 2) != CELLAR_ERR_RULE)
            fail_msg("%s: nobody noticed", kernels[i]);
        m->ops = right;
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes_that_disagree_are_refused),
        cmocka_unit_test(test_wrong_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
