/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of weights and runs of probabilities that are made at once, against those made one by one.
 */
#include "check.h"

#include <math.h>

#include "mechanism/noise/weighted.h"
#include "make_mechanism.h"

enum { BITS = 128, MORE = 256 };

/* Term by term, until terms have fallen by 2^-200. */
static void sum_plainly(const arb_t rate, int power, int64_t last, int64_t first, arb_t out)
{
    double about = arf_get_d(arb_midref(rate), ARF_RND_NEAR), from = (double) first;
    arb_t term;
    arb_init(term);
    arb_zero(out);
    for (int64_t k = first; k <= last; k++) {
        if (about * (pow((double) k, power) - pow(from, power)) > 200 * M_LN2)
            break;
        arb_mul_si(term, rate, -k, MORE);
        arb_mul_si(term, term, power == 2 ? k : 1, MORE);
        arb_exp(term, term, MORE);
        arb_add(out, out, term, MORE);
    }
    arb_mul_2exp_si(term, out, -180);
    arb_add_error(out, term);
    arb_clear(term);
}

static void check_sums(const arb_t rate, int power, int64_t last, int64_t first)
{
    enum { N = 2 };
    arb_ptr sums = _arb_vec_init(N);
    arb_t plain;
    arb_init(plain);
    cellar_weighted_sums(rate, power, last, first, N, BITS, sums);
    for (int64_t i = 0; i < N; i++) {
        sum_plainly(rate, power, last, first + i, plain);
        if (!arb_overlaps(sums + i, plain) || arb_rel_accuracy_bits(sums + i) < BITS)
            fail_msg("power %d, %d to %d: %ld bits, %.17g and not %.17g", power, (int) (first + i),
                     (int) last, (long) arb_rel_accuracy_bits(sums + i),
                     arf_get_d(arb_midref(sums + i), ARF_RND_NEAR),
                     arf_get_d(arb_midref(plain), ARF_RND_NEAR));
    }
    arb_clear(plain);
    _arb_vec_clear(sums, N);
}

/* From where the weights are largest to where they are below the smallest double, in laws that end
 * early, late and never. */
static void test_long_sums_are_the_sums(void **state)
{
    static const double widths[] = {3, 8, 17.3, 60, 311.7};
    static const double places[] = {0, 0.3, 2, 5.5, 12, 37};
    static const double ends[] = {0.3, 1, 4, 15, 40};
    arb_t rate;
    (void) state;
    arb_init(rate);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
            double width = widths[i];
            int64_t first = (int64_t) (places[j] * width);
            arb_set_d(rate, 0.5 / (width * width));
            check_sums(rate, 2, INT64_MAX, first);
            for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
                int64_t last = (int64_t) (ends[k] * width);
                if (last <= first)
                    continue;
                arb_set_d(rate, 0.5 / (width * width));
                check_sums(rate, 2, last, first);
                arb_set_d(rate, 1 / width);
                check_sums(rate, 1, last, first);
            }
        }
    arb_clear(rate);
}

static void check_run(const cellar_mechanism *m, int64_t count, int64_t first, size_t n)
{
    arb_ptr run = _arb_vec_init((slong) n);
    arb_t one;
    arb_init(one);
    m->ops->pmf_balls(m, count, first, n, BITS, run);
    for (size_t i = 0; i < n; i++) {
        m->ops->pmf_ball(m, count, first + (int64_t) i, BITS, one);
        if (!arb_overlaps(run + i, one) || arb_rel_accuracy_bits(run + i) < BITS - 8)
            fail_msg("%s: P(%d | %d): %ld bits, %.17g and not %.17g", cellar_mechanism_spec(m),
                     (int) first + (int) i, (int) count, (long) arb_rel_accuracy_bits(run + i),
                     arf_get_d(arb_midref(run + i), ARF_RND_NEAR),
                     arf_get_d(arb_midref(one), ARF_RND_NEAR));
    }
    arb_clear(one);
    _arb_vec_clear(run, (slong) n);
}

static void test_runs_are_the_probabilities(void **state)
{
    static const char *const specs[] = {"laplace:epsilon=0.3",
                                        "discrete-laplace:epsilon=1",
                                        "gaussian:sigma=0.7",
                                        "gaussian:sigma=30",
                                        "discrete-gaussian:sigma=4.2",
                                        "truncated-laplace:epsilon=0.25,m=6",
                                        "truncated-normal:epsilon=1,m=17"};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_mechanism *m = make(specs[i]);
        check_run(m, 5, -20, 60); /* across the count */
        check_run(m, 5, -20, 20);
        check_run(m, 5, 5, 30);
        check_run(m, -3, 1, 7);
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_sums_are_the_sums),
        cmocka_unit_test(test_runs_are_the_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
