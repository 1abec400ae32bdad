/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tails of the generalised inverse Gaussian law against closed forms, Bessel functions and Arb's
 * own integration. */
#include "check.h"

#include <math.h>

#include "math/flint.h"
#include "math/gig.h"

enum { BITS = 128 };

/* The integral from low on, or to high where that is finite. */
static int integral(double order, double rate, double low, double high, int64_t bits, arb_t out)
{
    arb_t nu, w;
    arf_t from, to;
    int is_known;
    arb_init(nu);
    arb_init(w);
    arf_init(from);
    arf_init(to);
    arb_set_d(nu, order);
    arb_set_d(w, rate);
    arf_set_d(from, low);
    arf_set_d(to, high);
    is_known = cellar_gig_integral(nu, w, from, to, bits, out);
    arb_clear(nu);
    arb_clear(w);
    arf_clear(from);
    arf_clear(to);
    return is_known;
}

/* Of order -1/2 and 1/2, times sqrt(rate / 2 pi) and that with the sign of the second term changed:
 * Q((v - 1) sqrt(rate / v)) -+ e^{2 rate} Q((v + 1) sqrt(rate / v)), Q the normal upper tail. */
static void half_tail(int sign, double rate, double v, arb_t out)
{
    const int64_t bits = 4 * BITS;
    arb_t root, other, w;
    arb_init(root);
    arb_init(other);
    arb_init(w);
    arb_set_d(w, rate);
    arb_set_d(root, v);
    arb_div(root, w, root, bits);
    arb_mul_2exp_si(root, root, -1);
    arb_sqrt(root, root, bits);
    arb_set_d(out, v);
    arb_sub_ui(out, out, 1, bits);
    arb_mul(out, out, root, bits);
    arb_hypgeom_erfc(out, out, bits);
    arb_set_d(other, v);
    arb_add_ui(other, other, 1, bits);
    arb_mul(other, other, root, bits);
    arb_hypgeom_erfc(other, other, bits);
    arb_mul_2exp_si(root, w, 1);
    arb_exp(root, root, bits);
    arb_mul(other, other, root, bits);
    if (sign < 0)
        arb_neg(other, other);
    arb_add(out, out, other, bits);
    arb_const_pi(root, bits); /* sqrt(2 pi / rate) / 2 */
    arb_div(root, root, w, bits);
    arb_mul_2exp_si(root, root, -1);
    arb_sqrt(root, root, bits);
    arb_mul(out, out, root, bits);
    arb_clear(root);
    arb_clear(other);
    arb_clear(w);
}

static void test_half_orders(void **state)
{
    static const double rates[] = {0.01, 0.3, 1, 17, 400, 1e4};
    static const double places[] = {1e-3, 0.05, 0.5, 0.98, 1, 1.03, 1.3, 3, 20, 500, 3e4};
    arb_t found, expected;
    (void) state;
    arb_init(found);
    arb_init(expected);
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        for (size_t j = 0; j < sizeof places / sizeof *places; j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                if (rates[i] * places[j] > 2e6 || rates[i] / places[j] > 1.5e4)
                    continue;
                assert_true(integral(0.5 * sign, rates[i], places[j], INFINITY, BITS, found));
                half_tail(sign, rates[i], places[j], expected);
                assert_true(arb_overlaps(found, expected));
                assert_true(arb_rel_accuracy_bits(found) >= BITS - 24);
            }
    arb_clear(found);
    arb_clear(expected);
}

/* e^{nu x - w (cosh x - 1)}, of x. */
static int integrand(acb_ptr out, const acb_t x, void *param, slong order, slong bits)
{
    const double *law = param;
    acb_t part;
    (void) order;
    acb_init(part);
    acb_cosh(out, x, bits);
    acb_sub_ui(out, out, 1, bits);
    acb_set_d(part, -law[1]);
    acb_mul(out, out, part, bits);
    acb_set_d(part, law[0]);
    acb_addmul(out, part, x, bits);
    acb_exp(out, out, bits);
    acb_clear(part);
    return 0;
}

static void integrate(double order, double rate, double low, double high, arb_t out)
{
    double law[] = {order, rate};
    acb_t from, to, value;
    mag_t tolerance;
    acb_init(from);
    acb_init(to);
    acb_init(value);
    mag_init(tolerance);
    acb_set_d(from, low);
    acb_log(from, from, BITS);
    acb_set_d(to, high);
    acb_log(to, to, BITS);
    mag_zero(tolerance);
    assert_int_equal(acb_calc_integrate(value, integrand, law, from, to, 80, tolerance, NULL, BITS),
                     ARB_CALC_SUCCESS);
    arb_set(out, acb_realref(value));
    acb_clear(from);
    acb_clear(to);
    acb_clear(value);
    mag_clear(tolerance);
}

static void test_any_order(void **state)
{
    static const double orders[] = {-20, -3.3, -0.5, 0, 0.884, 7, 20};
    static const double rates[] = {0.01, 0.7, 60};
    arb_t found, expected;
    (void) state;
    arb_init(found);
    arb_init(expected);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++)
            for (double low = 0.04; low < 100; low *= 5) {
                assert_true(integral(orders[i], rates[j], low, 3 * low, 80, found));
                integrate(orders[i], rates[j], low, 3 * low, expected);
                assert_true(arb_overlaps(found, expected));
                assert_true(arb_rel_accuracy_bits(found) >= 60);
                assert_true(arb_rel_accuracy_bits(expected) >= 50);
            }
    arb_clear(found);
    arb_clear(expected);
}

/* From next to nothing on it is 2 e^rate K_order(rate), and parts make the whole. */
static void test_whole(void **state)
{
    static const double orders[] = {-20, -1.25, 0, 2, 13.5};
    static const double rates[] = {0.05, 2, 1000};
    arb_t found, rest, expected, order, rate;
    (void) state;
    arb_init(found);
    arb_init(rest);
    arb_init(expected);
    arb_init(order);
    arb_init(rate);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (size_t j = 0; j < sizeof rates / sizeof *rates; j++) {
            double low = rates[j] / (rates[j] + 500 + 12 * sqrt(rates[j] * 100)), high = 1 / low;
            assert_true(integral(orders[i], rates[j], low, INFINITY, 80, found));
            arb_set_d(order, orders[i]);
            arb_set_d(rate, rates[j]);
            arb_hypgeom_bessel_k_scaled(expected, order, rate, 200);
            arb_mul_2exp_si(expected, expected, 1);
            arb_sub(expected, expected, found, 200);
            arb_div(expected, expected, found, 200); /* what lies below */
            arb_add_error_2exp_si(expected, -75);
            assert_true(arb_contains_zero(expected));
            assert_true(integral(orders[i], rates[j], low, high, 80, expected));
            assert_true(integral(orders[i], rates[j], high, INFINITY, 80, rest));
            arb_add(expected, expected, rest, 200);
            assert_true(arb_overlaps(found, expected));
        }
    arb_clear(found);
    arb_clear(rest);
    arb_clear(expected);
    arb_clear(order);
    arb_clear(rate);
}

static void test_ends(void **state)
{
    arb_t found;
    (void) state;
    arb_init(found);
    assert_true(integral(1, 1, 2, 2, BITS, found) && arb_is_zero(found));
    assert_false(integral(1, 100, 1e15, INFINITY, BITS, found)); /* doubles do not tell it */
    arb_clear(found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_orders),
        cmocka_unit_test(test_any_order),
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
