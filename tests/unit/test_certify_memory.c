/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates when memory ends: each allocation that fails is an error, or the same numbers by
 * another way; never others. */
#include "check.h"

#include <math.h>

#include "base/memory.h"
#include "certify_specs.h"

#ifdef CELLAR_FAIL_ALLOCATION

typedef struct answer {
    double delta, lower, probabilistic, epsilon, pure;
    cellar_verdict verdict;
} answer;

static cellar_status ask(const cellar_mechanism *m, uint64_t cells, answer *out, cellar_error *err)
{
    static const char *const epsilons[] = {"0.5"}, *const deltas[] = {"1e-4"};
    const cellar_certify_part part = {m, 1};
    cellar_certify_options o = cellar_certify_options_default();
    cellar_certificate *c = NULL;
    cellar_status status;
    o.n_cells = cells;
    o.epsilons = epsilons;
    o.n_epsilons = 1;
    o.deltas = deltas;
    o.n_deltas = 1;
    o.effort = 0.01;
    status = cellar_certify(&part, 1, &o, &c, err);
    if (status == CELLAR_OK) {
        cellar_profile_point point = cellar_certificate_point(c, 0);
        *out = (answer){point.delta,
                        point.delta_lower,
                        point.delta_probabilistic,
                        cellar_certificate_epsilon_at(c, 0).epsilon,
                        cellar_certificate_pure_epsilon(c),
                        cellar_certificate_verdict(c)};
    }
    cellar_certificate_free(c);
    return status;
}

static int is_same(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-9 * fabs(b) + 1e-15;
}

static void check_mechanism(const char *spec, uint64_t cells)
{
    cellar_mechanism *m = make(spec);
    cellar_error err = {{0}};
    uint64_t n_allocations;
    answer right, got;
    cellar_memory_fail_after(-1);
    assert_int_equal(ask(m, cells, &right, &err), CELLAR_OK);
    n_allocations = cellar_memory_fail_after(-1);
    for (uint64_t n = 0; n < n_allocations; n += 1 + n / 8) {
        cellar_status status;
        cellar_memory_fail_after((int64_t) n);
        status = ask(m, cells, &got, &err);
        cellar_memory_fail_after(-1);
        if (status == CELLAR_OK
                ? !(is_same(got.delta, right.delta) && is_same(got.lower, right.lower) &&
                    is_same(got.probabilistic, right.probabilistic) &&
                    is_same(got.epsilon, right.epsilon) && is_same(got.pure, right.pure) &&
                    got.verdict == right.verdict)
                : status != CELLAR_ERR_MEMORY || err.message[0] == '\0')
            fail_msg("%s x %d, allocation %d of %d: %s, delta %.12g (%.12g), epsilon %.12g (%.12g)",
                     spec, (int) cells, (int) n + 1, (int) n_allocations,
                     cellar_status_name(status), got.delta, right.delta, got.epsilon,
                     right.epsilon);
    }
    cellar_mechanism_free(m);
}

static void test_never_others(void **state)
{
    static const char *const specs[] = {
        "discrete-laplace:epsilon=1",
        "gaussian:sigma=2",
        "truncated-laplace:epsilon=1,m=5",
        "poisson:alpha=3",
        "pig:alpha=5,sigma=0.2",
        "delaporte:alpha=3,sigma=1.3,nu=0.8",
        "hellinger:epsilon=6",
        "round:base=2",
    };
    (void) state;
    for (size_t i = 0; i < 2 * sizeof specs / sizeof *specs; i++)
        check_mechanism(specs[i / 2], i % 2 ? 3 : 1);
}

#else

static void test_never_others(void **state)
{
    (void) state;
    skip(); /* memory fails on purpose in the preset failalloc only */
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
