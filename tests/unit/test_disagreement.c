/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two ways to delta that disagree: no certificate is given. */
#include "check.h"

#include <string.h>

#include <cellar/certificate.h>

#include "mechanism/mechanism.h"
#include "mechanism/registry.h"
#include "make_mechanism.h"
#include "wrong_tails.h"

static cellar_status certify_some(const cellar_mechanism *m, size_t n_epsilons)
{
    static const char *const epsilons[] = {"0.01", "0.02", "4"};
    cellar_certify_options options = cellar_certify_options_default();
    const cellar_certify_part part = {m, 1};
    cellar_certificate *c = NULL;
    cellar_error err;
    cellar_status status;
    options.epsilons = epsilons + 3 - n_epsilons;
    options.n_epsilons = n_epsilons;
    status = cellar_certify(&part, 1, &options, &c, &err);
    assert_true(status == CELLAR_OK || strstr(err.message, "disagree") != NULL);
    assert_true((status == CELLAR_OK) == (c != NULL));
    cellar_certificate_free(c);
    return status;
}

/* Where one cell changes both ways are gone, at the first epsilons. */
static void test_routes_that_disagree_are_refused(void **state)
{
    cellar_mechanism *m = make("discrete-gaussian:sigma=2"),
                     *broken = make(cellar_mechanism_spec(m));
    const cellar_mechanism_ops *right = m->ops;
    cellar_mechanism_ops wrong = *right;
    (void) state;
    wrong.survival_ball = wrong_survival;
    broken->ops = &wrong;
    assert_int_equal(certify_some(m, 3), CELLAR_OK);
    assert_int_equal(certify_some(broken, 3), CELLAR_ERR_RULE);
    broken->ops = right;
    cellar_mechanism_free(broken);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes_that_disagree_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
