/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Upper bounds are nowhere rounded down, nor lower ones up, from the sums in a certificate to the
 * decimals that are printed. What is told is compared with exact rationals. */
#include "certify_specs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/output.h"
#include "base/text.h"
#include "math/flint.h"
#include "math/rational.h"
#include "privacy/certificate.h"
#include "splitmix.h"

static cellar_error err;

/* ---- rationals ---------------------------------------------------------------------- */

static void parse(const char *text, fmpq_t out)
{
    if (!cellar_rational_parse(text, strlen(text), out))
        fail_msg("'%s' is no decimal", text);
}

/* The rational that a double stands for: a decimal of at most 12 digits where it is the nearest
 * double of one, which is how a parameter such as 0.1 is kept; else the double itself. */
static void meant(double value, fmpq_t out)
{
    char text[40];
    snprintf(text, sizeof text, "%.12g", value);
    if (strtod(text, NULL) == value)
        parse(text, out);
    else
        cellar_rational_set_double(out, value);
}

static void check_at_least(const char *what, const fmpq_t told, const fmpq_t bound)
{
    if (fmpq_cmp(told, bound) < 0)
        fail_msg("%s: %.20g is below the bound %.20g", what, fmpq_get_d(told), fmpq_get_d(bound));
}

/* value >= bound, and by no more than a relative 1e-9 */
static void check_just_above(const char *what, double value, const fmpq_t bound)
{
    fmpq_t told;
    fmpq_init(told);
    meant(value, told);
    check_at_least(what, told, bound);
    if (value > fmpq_get_d(bound) * (1 + 1e-9))
        fail_msg("%s: %.17g is far above the bound %.17g", what, value, fmpq_get_d(bound));
    fmpq_clear(told);
}

/* ---- sums in certificates ------------------------------------------------------------ */

static void test_sums_of_exact_epsilons(void **state)
{
    static const struct {
        const char *specs[3];
        size_t n;
        uint64_t n_cells;
        cellar_neighbours neighbours;
        int parallel;
        const char *want;
    } cases[] = {
        {{"laplace:epsilon=0.1"}, 1, 3, CELLAR_NEIGHBOURS_ADD_REMOVE, 0, "0.3"},
        {{"laplace:epsilon=0.1"}, 1, 3, CELLAR_NEIGHBOURS_SUBSTITUTE, 0, "0.6"},
        {{"laplace:epsilon=0.1", "discrete-laplace:epsilon=0.2", "laplace:epsilon=0.4"},
         3,
         1,
         CELLAR_NEIGHBOURS_ADD_REMOVE,
         0,
         "0.7"},
        {{"laplace:epsilon=0.1", "discrete-laplace:epsilon=0.7", "laplace:epsilon=0.4"},
         3,
         1,
         CELLAR_NEIGHBOURS_ADD_REMOVE,
         1,
         "0.7"},
        /* doubles near these lie below and above */
        {{"laplace:epsilon=1.234567890123456789012"},
         1,
         1,
         CELLAR_NEIGHBOURS_ADD_REMOVE,
         0,
         "1.234567890123456789012"},
        {{"laplace:epsilon=0.333333333333333333"},
         1,
         3,
         CELLAR_NEIGHBOURS_ADD_REMOVE,
         0,
         "0.999999999999999999"},
        {{"laplace:epsilon=0.1000000000000000012", "laplace:epsilon=0.9"},
         2,
         1,
         CELLAR_NEIGHBOURS_ADD_REMOVE,
         0,
         "1.0000000000000000012"},
        {{"laplace:epsilon=1.0000000000000003", "laplace:epsilon=1.0000000000000003"},
         2,
         7,
         CELLAR_NEIGHBOURS_SUBSTITUTE,
         1,
         "14.0000000000000042"},
    };
    fmpq_t want, lower;
    (void) state;
    fmpq_init(want);
    fmpq_init(lower);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_certify_options options = cellar_certify_options_default();
        cellar_certificate *c;
        options.n_cells = cases[i].n_cells;
        options.neighbours = cases[i].neighbours;
        options.parallel = cases[i].parallel;
        assert_int_equal(certify_specs(cases[i].specs, cases[i].n, &options, &c, &err), CELLAR_OK);
        parse(cases[i].want, want);
        assert_string_equal(cellar_certificate_pure_exact(c), cases[i].want);
        check_just_above(cases[i].want, cellar_certificate_pure_epsilon(c), want);
        check_just_above(cases[i].want, cellar_certificate_composition(c).tight.epsilon, want);
        meant(cellar_certificate_composition(c).lower, lower);
        check_at_least("the lower bound", want, lower);
        cellar_certificate_free(c);
    }
    fmpq_clear(want);
    fmpq_clear(lower);
}

static double pure_of(const char *spec)
{
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *c = certify_spec(spec, &options);
    const double pure = cellar_certificate_pure_epsilon(c);
    assert_null(cellar_certificate_pure_exact(c));
    cellar_certificate_free(c);
    return pure;
}

/* Where each summand is a double rounded up, so is their sum. */
static void test_sums_of_rounded_epsilons(void **state)
{
    static const char *const specs[] = {"hellinger:epsilon=0.5", "hellinger:epsilon=0.7",
                                        "hellinger:epsilon=1.1"};
    fmpq_t sum, one;
    (void) state;
    fmpq_init(sum);
    fmpq_init(one);
    for (uint64_t n_cells = 1; n_cells <= 7; n_cells++) {
        cellar_certify_options options = cellar_certify_options_default();
        cellar_certificate *c;
        options.n_cells = n_cells;
        fmpq_zero(sum);
        for (size_t i = 0; i < 3; i++) {
            cellar_rational_set_double(one, pure_of(specs[i]));
            fmpq_mul_ui(one, one, n_cells);
            fmpq_add(sum, sum, one);
            c = certify_spec(specs[i], &options);
            check_just_above(specs[i], cellar_certificate_pure_epsilon(c), one);
            cellar_certificate_free(c);
        }
        assert_int_equal(certify_specs(specs, 3, &options, &c, &err), CELLAR_OK);
        check_just_above("a sum", cellar_certificate_pure_epsilon(c), sum);
        cellar_certificate_free(c);
    }
    fmpq_clear(sum);
    fmpq_clear(one);
}

/* 1 - (1 - u)^k of k cells that have infinite loss with probability u each; at an epsilon beyond
 * all finite losses delta is that, too. */
static void test_infinite_mass(void **state)
{
    static const char spec[] = "truncated-laplace:epsilon=0.5,m=10";
    static const char *const far[] = {"200"};
    cellar_certify_options options = cellar_certify_options_default();
    cellar_certificate *c = certify_spec(spec, &options);
    fmpq_t finite, want;
    (void) state;
    fmpq_init(finite);
    fmpq_init(want);
    cellar_rational_set_double(want, cellar_certificate_infinite(c));
    fmpq_sub_ui(finite, want, 1);
    fmpq_neg(finite, finite);
    cellar_certificate_free(c);
    options.epsilons = far;
    options.n_epsilons = 1;
    for (uint64_t k = 2; k <= 5; k++) {
        options.n_cells = k;
        c = certify_spec(spec, &options);
        fmpq_pow_si(want, finite, (slong) k);
        fmpq_sub_ui(want, want, 1);
        fmpq_neg(want, want);
        check_just_above("infinite loss", cellar_certificate_infinite(c), want);
        /* the mass of one cell was rounded up before, and is not when cells are composed */
        assert_true(cellar_certificate_point(c, 0).delta >= fmpq_get_d(want) * (1 - 1e-11));
        cellar_certificate_free(c);
    }
    fmpq_clear(finite);
    fmpq_clear(want);
}

static void test_rho(void **state)
{
    static const char *const epsilons[] = {"0.1", "0.2", "0.3", "0.7", "1.1", "1.234567890123456"};
    fmpq_t want, told;
    (void) state;
    fmpq_init(want);
    fmpq_init(told);
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        cellar_certify_options options = cellar_certify_options_default();
        char spec[64];
        cellar_certificate *c;
        double rho;
        snprintf(spec, sizeof spec, "discrete-gaussian:sigma=%s", epsilons[i]);
        options.n_cells = 3;
        c = certify_spec(spec, &options);
        parse(epsilons[i], want); /* 3 / (2 sigma^2) */
        fmpq_mul(want, want, want);
        fmpq_mul_ui(want, want, 2);
        fmpq_set_ui(told, 3, 1);
        fmpq_div(want, told, want);
        rho = cellar_certificate_composition(c).rho;
        cellar_rational_set_double(told, rho);
        check_at_least(spec, told, want);
        assert_true(rho <= fmpq_get_d(want) * (1 + 1e-12));
        cellar_certificate_free(c);
    }
    fmpq_clear(want);
    fmpq_clear(told);
}

/* ---- delta and epsilon ----------------------------------------------------------------- */

/* A certificate of some cells, at one epsilon or one delta (the other is NULL). */
static cellar_certificate *at_one(const char *spec, uint64_t n_cells, uint64_t per_unit,
                                  const char *epsilon, const char *delta)
{
    cellar_certify_options options = cellar_certify_options_default();
    options.n_cells = n_cells;
    options.max_per_unit = per_unit;
    options.epsilons = &epsilon;
    options.n_epsilons = epsilon != NULL;
    options.deltas = &delta;
    options.n_deltas = delta != NULL;
    return certify_spec(spec, &options);
}

static double delta_at(const char *spec, uint64_t per_unit, const char *epsilon)
{
    cellar_certificate *c = at_one(spec, 1, per_unit, epsilon, NULL);
    const double delta = cellar_certificate_point(c, 0).delta;
    cellar_certificate_free(c);
    return delta;
}

/* Basic composition: n cells at a share of epsilon, or of delta, each. */
static void test_basic_sums(void **state)
{
    static const char spec[] = "discrete-gaussian:sigma=5";
    cellar_certificate *c;
    cellar_epsilon_at one;
    fmpq_t want;
    (void) state;
    fmpq_init(want);
    c = at_one(spec, 3, 1, "0.3", NULL);
    cellar_rational_set_double(want, delta_at(spec, 1, "0.1"));
    fmpq_mul_ui(want, want, 3);
    check_just_above("basic delta", cellar_certificate_composition(c).basic.delta, want);
    cellar_certificate_free(c);
    c = at_one(spec, 1, 1, NULL, "0.0001");
    one = cellar_certificate_epsilon_at(c, 0);
    assert_true(one.lower >= one.epsilon * (1 - 1e-12));
    cellar_rational_set_double(want, one.lower);
    fmpq_mul_ui(want, want, 3);
    cellar_certificate_free(c);
    c = at_one(spec, 3, 1, NULL, "0.0003");
    check_just_above("basic epsilon", cellar_certificate_composition(c).basic.epsilon, want);
    cellar_certificate_free(c);
    fmpq_clear(want);
}

/* A chain of m changes has delta(epsilon / m) times the sum of e^{i epsilon / m}, i < m. */
static void test_group_factor(void **state)
{
    static const char spec[] = "hellinger:epsilon=0.5";
    const double one = delta_at(spec, 1, "0.1"), group = delta_at(spec, 3, "0.3");
    const double want = one * (1 + exp(0.1) + exp(0.2));
    (void) state;
    assert_true(group >= want * (1 - 1e-13));
    assert_true(group <= want * (1 + 1e-9));
}

/* Discrete normal noise of deviation 1 about 0 and about 1, with a common factor. */
static long double weight(int64_t b)
{
    return expl(-(long double) (b * b) / 2);
}

/* delta of k = 1 or 2 cells, value by value. */
static double delta_by_values(int k, long double epsilon)
{
    enum { MOST = 60 };
    const long double factor = expl(epsilon);
    long double all = 0, delta = 0;
    for (int64_t b = -MOST; b <= MOST; b++)
        all += weight(b);
    for (int64_t b = -MOST; b <= MOST; b++)
        for (int64_t a = k == 1 ? 0 : -MOST; a <= (k == 1 ? 0 : MOST); a++) {
            const long double p = weight(b) / all * (k == 1 ? 1 : weight(a) / all);
            const long double q = weight(b - 1) / all * (k == 1 ? 1 : weight(a - 1) / all);
            delta += fmaxl(0, p - factor * q);
        }
    return (double) delta;
}

/* One cell and two, down to a delta so small that what is left out of a distribution would show. */
static void test_delta_is_not_below_the_sum(void **state)
{
    static const char *const epsilons[] = {"0.25", "1.5", "3", "6", "8.5", "10.5"};
    (void) state;
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++)
        for (int k = 1; k <= 2; k++) {
            const double want = delta_by_values(k, strtold(epsilons[i], NULL));
            cellar_certificate *c =
                at_one("discrete-gaussian:sigma=1", (uint64_t) k, 1, epsilons[i], NULL);
            const cellar_profile_point point = cellar_certificate_point(c, 0);
            if (point.delta < want * (1 - 1e-12) || point.delta > want * (1 + 1e-3) ||
                point.delta_lower > want * (1 + 1e-12))
                fail_msg("%d cells, epsilon %s: %.17g is told, %.17g is true", k, epsilons[i],
                         point.delta, want);
            cellar_certificate_free(c);
        }
}

/* delta at the epsilon that is told is no more than what was asked for. */
static void test_epsilon_keeps_delta(void **state)
{
    static const char *const deltas[] = {"0.1", "0.03", "0.001", "1e-9", "1e-12"};
    (void) state;
    for (size_t i = 0; i < sizeof deltas / sizeof *deltas; i++) {
        cellar_certificate *c = at_one("discrete-gaussian:sigma=1", 1, 1, NULL, deltas[i]);
        const double epsilon = cellar_certificate_epsilon_at(c, 0).epsilon;
        assert_true(delta_by_values(1, epsilon) <= strtod(deltas[i], NULL) * (1 + 1e-12));
        cellar_certificate_free(c);
    }
}

/* ---- what is printed --------------------------------------------------------------------- */

/* A double in [0, 1) with all its bits, times a power of ten down to 1e-12. */
static double any_value(uint64_t *random)
{
    const double unit = (double) (next_random(random) >> 11) * 0x1p-53;
    return unit * pow(10, -(double) (next_random(random) % 13));
}

static void collect(void *context, const void *bytes, size_t length)
{
    cellar_text_add(context, bytes, length);
}

typedef enum form { JSON, WORDS } form;

static char *written(const cellar_certificate *c, form how, cellar_text *text)
{
    cellar_output *output;
    assert_int_equal(cellar_output_open("-", NULL, &output, &err), CELLAR_OK);
    cellar_output_listen(output, collect, text);
    if (how == JSON)
        assert_int_equal(cellar_certificate_write_json(c, output, &err), CELLAR_OK);
    else
        cellar_certificate_write(c, 1, output);
    cellar_output_discard(output);
    assert_int_equal(text->failed, 0);
    return text->bytes;
}

/* The decimal that follows `name`, wherever that is next; moves *at behind it. */
static void next_decimal(const char **at, const char *name, fmpq_t out)
{
    const char *found = strstr(*at, name);
    char text[64];
    size_t length;
    if (found == NULL)
        fail_msg("there is no '%s' in: %s", name, *at);
    found += strlen(name);
    if (strncmp(found, "at most ", 8) == 0)
        found += 8;
    length = strspn(found, "0123456789.e-+");
    assert_true(length > 0 && length < sizeof text);
    memcpy(text, found, length);
    text[length] = '\0';
    parse(text, out);
    *at = found + length;
}

static void check_next(const char **at, const char *name, double value, int is_up)
{
    fmpq_t told, bound;
    fmpq_init(told);
    fmpq_init(bound);
    next_decimal(at, name, told);
    cellar_rational_set_double(bound, value);
    if (is_up)
        check_at_least(name, told, bound);
    else
        check_at_least(name, bound, told);
    fmpq_clear(told);
    fmpq_clear(bound);
}

/* A certificate with numbers that nobody computed. */
static cellar_certificate *any_certificate(uint64_t *random)
{
    cellar_certificate *c = at_one("discrete-gaussian:sigma=1", 2, 1, "1", "0.1");
    c->pure = any_value(random);
    c->infinite = any_value(random);
    c->points[0].delta = any_value(random);
    c->points[0].delta_lower = any_value(random);
    c->points[0].delta_probabilistic = any_value(random);
    c->points[0].probabilistic_is_bound = 0; /* or "at most" would stand before it */
    c->points[0].delta_published = any_value(random);
    c->epsilons[0].epsilon = any_value(random);
    c->epsilons[0].lower = any_value(random);
    c->composition.basic = (cellar_guarantee){any_value(random), any_value(random)};
    c->composition.advanced = (cellar_guarantee){any_value(random), any_value(random)};
    c->composition.tight = (cellar_guarantee){any_value(random), any_value(random)};
    c->composition.lower = any_value(random);
    c->composition.is_tight = 1;
    c->composition.rho = any_value(random);
    return c;
}

static void check_guarantee(const char **at, const char *epsilon, const char *delta,
                            const cellar_guarantee *g)
{
    check_next(at, epsilon, g->epsilon, 1);
    check_next(at, delta, g->delta, 1);
}

static void check_json(const cellar_certificate *c, const char *at)
{
    check_next(&at, "\"pure_epsilon\":", c->pure, 1);
    check_next(&at, "\"infinite_loss\":", c->infinite, 1);
    check_next(&at, "\"delta\":", c->points[0].delta, 1);
    check_next(&at, "\"delta_lower\":", c->points[0].delta_lower, 0);
    check_next(&at, "\"delta_probabilistic\":", c->points[0].delta_probabilistic, 1);
    check_next(&at, "\"delta_published\":", c->points[0].delta_published, 1);
    at = strstr(at, "\"epsilon_at\"");
    check_next(&at, "\"epsilon\":", c->epsilons[0].epsilon, 1);
    check_next(&at, "\"lower\":", c->epsilons[0].lower, 0);
    check_guarantee(&at, "\"epsilon\":", "\"delta\":", &c->composition.basic);
    check_guarantee(&at, "\"epsilon\":", "\"delta\":", &c->composition.advanced);
    check_guarantee(&at, "\"epsilon\":", "\"delta\":", &c->composition.tight);
    check_next(&at, "\"lower\":", c->composition.lower, 0);
    check_next(&at, "\"rho\":", c->composition.rho, 1);
}

static void check_words(const cellar_certificate *c, const char *at)
{
    check_next(&at, "pure epsilon      ", c->pure, 1);
    check_next(&at, "infinite loss     ", c->infinite, 1);
    check_next(&at, "delta ", c->points[0].delta, 1);
    check_next(&at, "probabilistic ", c->points[0].delta_probabilistic, 1);
    check_next(&at, "published ", c->points[0].delta_published, 1);
    check_next(&at, "epsilon ", c->epsilons[0].epsilon, 1);
    check_next(&at, "not below ", c->epsilons[0].lower, 0);
    check_guarantee(&at, "epsilon ", "delta ", &c->composition.basic);
    check_guarantee(&at, "epsilon ", "delta ", &c->composition.advanced);
    check_guarantee(&at, "epsilon ", "delta ", &c->composition.tight);
    check_next(&at, "lower bound     epsilon ", c->composition.lower, 0);
    check_next(&at, "rho (zCDP)        ", c->composition.rho, 1);
}

static void test_json_and_words(void **state)
{
    uint64_t random = 17;
    (void) state;
    for (int i = 0; i < 100; i++) {
        cellar_certificate *c = any_certificate(&random);
        cellar_text json = {0}, words = {0};
        check_json(c, written(c, JSON, &json));
        check_words(c, written(c, WORDS, &words));
        cellar_text_clear(&json);
        cellar_text_clear(&words);
        cellar_certificate_free(c);
    }
}

/* "a probability of 73.2 % instead of 50 %" */
static void test_percentages(void **state)
{
    static const double epsilons[] = {0, 0.01, 0.1, 0.5, 1, 2, 5, 10};
    fmpq_t told, bound;
    (void) state;
    fmpq_init(told);
    fmpq_init(bound);
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++) {
        cellar_certificate *c = at_one("discrete-gaussian:sigma=1", 1, 1, "1", NULL);
        cellar_text words = {0};
        const char *at;
        c->pure = epsilons[i];
        at = written(c, WORDS, &words);
        next_decimal(&at, "probability of ", told);
        cellar_rational_set_double(bound, 100 / (1 + exp(-epsilons[i])));
        check_at_least("percent", told, bound);
        assert_true(fmpq_get_d(told) < fmpq_get_d(bound) + 0.1);
        cellar_text_clear(&words);
        cellar_certificate_free(c);
    }
    fmpq_clear(told);
    fmpq_clear(bound);
}

static void test_texts_of_bounds(void **state)
{
    uint64_t random = 4;
    char text[32];
    fmpq_t told, bound;
    (void) state;
    fmpq_init(told);
    fmpq_init(bound);
    for (int i = 0; i < 10000; i++) {
        const double value = any_value(&random) * (i % 2 ? 1 : 1e6);
        cellar_rational_set_double(bound, value);
        parse(cellar_bound_text(value, text), told);
        check_at_least("six digits", told, bound);
        parse(cellar_upper_text(value, text), told);
        check_at_least("ten digits", told, bound);
        parse(cellar_lower_text(value, text), told);
        check_at_least("ten digits of a lower bound", bound, told);
    }
    fmpq_clear(told);
    fmpq_clear(bound);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_of_exact_epsilons),
        cmocka_unit_test(test_sums_of_rounded_epsilons),
        cmocka_unit_test(test_infinite_mass),
        cmocka_unit_test(test_rho),
        cmocka_unit_test(test_basic_sums),
        cmocka_unit_test(test_group_factor),
        cmocka_unit_test(test_delta_is_not_below_the_sum),
        cmocka_unit_test(test_epsilon_keeps_delta),
        cmocka_unit_test(test_json_and_words),
        cmocka_unit_test(test_percentages),
        cmocka_unit_test(test_texts_of_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
