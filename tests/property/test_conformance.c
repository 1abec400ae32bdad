/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every mechanism owes, asked of every mechanism in the registry. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/ball.h"
#include "math/rational.h"
#include "mechanism/mechanism.h"
#include "specs.h"
#include "make_mechanism.h"

enum { N_SPECS = sizeof conformance_specs / sizeof *conformance_specs };
static const int64_t COUNTS[] = {0, 1, 2, 7, 1000};
enum { N_COUNTS = sizeof COUNTS / sizeof *COUNTS };

static cellar_error err;

#define CHECK(condition, m, count, ...)                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf(__VA_ARGS__);                                                                   \
            fail_msg("%s, count %lld: %s", cellar_mechanism_spec(m), (long long) (count),          \
                     #condition);                                                                  \
        }                                                                                          \
    } while (0)

typedef void law_check(const cellar_mechanism *m, int64_t count);

static void for_every_law(law_check *check)
{
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(conformance_specs[i].spec);
        for (size_t c = 0; c < N_COUNTS; c++)
            check(m, COUNTS[c]);
        cellar_mechanism_free(m);
    }
}

static double relative(double got, double want)
{
    return got == want ? 0 : fabs(got - want) / fmax(fabs(got), fabs(want));
}

/* ---- the doubles among themselves ------------------------------------------- */

/* Probabilities sum to one; the distribution function is the running sum from below, survival the
 * one from above, each accurate where it is small. */
static void check_sums(const cellar_mechanism *m, int64_t count)
{
    int64_t low, high, n;
    double *from_below, sum = 0;
    cellar_mechanism_support(m, count, 1e-40, &low, &high);
    n = high - low + 1;
    from_below = test_malloc((size_t) n * sizeof *from_below);
    for (int64_t b = low; b <= high; b++)
        from_below[b - low] = sum += cellar_mechanism_pmf(m, count, b);
    CHECK(fabs(sum - 1) < 1e-12, m, count, "sum %.17g\n", sum);
    sum = 0;
    for (int64_t b = high; b >= low; b--) {
        double cdf = cellar_mechanism_cdf(m, count, b);
        double survival = cellar_mechanism_survival(m, count, b), want = from_below[b - low];
        CHECK(fabs(cdf - want) < 1e-12, m, count, "cdf(%lld) %.17g\n", (long long) b, cdf);
        CHECK(want < 1e-28 || relative(cdf, want) < 1e-11, m, count, "cdf(%lld) %.17g not %.17g\n",
              (long long) b, cdf, want);
        CHECK(sum < 1e-28 || relative(survival, sum) < 1e-11, m, count,
              "survival(%lld) %.17g not %.17g\n", (long long) b, survival, sum);
        sum += cellar_mechanism_pmf(m, count, b);
    }
    CHECK(cellar_mechanism_cdf(m, count, INT64_MAX) == 1, m, count, "the end\n");
    CHECK(cellar_mechanism_survival(m, count, INT64_MAX) == 0, m, count, "the end\n");
    CHECK(relative(cellar_mechanism_presence(m, count), cellar_mechanism_survival(m, count, 0)) ==
              0,
          m, count, "presence\n");
    test_free(from_below);
}

static void test_probabilities_sum_to_one(void **state)
{
    (void) state;
    for_every_law(check_sums);
}

static void check_support(const cellar_mechanism *m, int64_t count)
{
    static const double tails[] = {0.5, 1e-3, 1e-9, 1e-100};
    for (size_t i = 0; i < 4; i++) {
        int64_t low, high;
        double outside;
        cellar_mechanism_support(m, count, tails[i], &low, &high);
        outside =
            cellar_mechanism_cdf(m, count, low - 1) + cellar_mechanism_survival(m, count, high);
        CHECK(low <= high && outside <= tails[i], m, count, "%g outside, not %g\n", outside,
              tails[i]);
    }
}

static void test_support_leaves_out_what_it_says(void **state)
{
    (void) state;
    for_every_law(check_support);
}

/* Moments against plain sums of the released number, negatives kept or set to zero. */
static void check_moments(const cellar_mechanism *m, int64_t count)
{
    for (int negatives = CELLAR_NEGATIVES_KEEP; negatives <= CELLAR_NEGATIVES_ZERO; negatives++) {
        double mean = 0, square = 0, entropy = 0, zero = 0;
        cellar_moments got;
        int64_t low, high;
        cellar_mechanism_support(m, count, 1e-25, &low, &high);
        for (int64_t b = low; b <= high; b++) {
            double p = cellar_mechanism_pmf(m, count, b);
            double released = b < 0 && negatives == CELLAR_NEGATIVES_ZERO ? 0 : (double) b;
            mean += released * p;
            square += (released - (double) count) * (released - (double) count) * p;
            if (negatives == CELLAR_NEGATIVES_ZERO && b <= 0)
                zero += p;
            else if (p > 0)
                entropy -= p * log(p);
        }
        entropy -= zero > 0 ? zero * log(zero) : 0;
        cellar_mechanism_moments(m, count, (cellar_negatives) negatives, &got);
        CHECK(fabs(got.mean - mean) <= 1e-10 * (1 + fabs(mean)), m, count, "mean %.17g not %.17g\n",
              got.mean, mean);
        square -= (mean - (double) count) * (mean - (double) count);
        CHECK(fabs(got.variance - square) <= 1e-9 * (1e-12 + square), m, count,
              "variance %.17g not %.17g\n", got.variance, square);
        CHECK(fabs(got.entropy - entropy) <= 1e-10 * entropy + 1e-14, m, count,
              "entropy %.17g not %.17g\n", got.entropy, entropy);
        CHECK(got.presence == cellar_mechanism_presence(m, count), m, count, "presence\n");
    }
}

static void test_moments_agree(void **state)
{
    (void) state;
    for_every_law(check_moments);
}

/* ---- the doubles and the balls ----------------------------------------------- */

/* Within 1e-12 of every number of the ball, which is itself narrower than that. */
static void check_in_ball(const cellar_mechanism *m, int64_t count, int64_t b, double value,
                          const arb_t ball, const char *what)
{
    double low = cellar_ball_lower(ball), high = cellar_ball_upper(ball);
    CHECK(relative(value, low) < 1e-12 && relative(value, high) < 1e-12, m, count,
          "%s(%lld) = %.17g, proven %.17g..%.17g\n", what, (long long) b, value, low, high);
}

static void check_balls(const cellar_mechanism *m, int64_t count)
{
    int64_t low, high, step;
    arb_t ball;
    arb_init(ball);
    cellar_mechanism_support(m, count, 1e-298, &low, &high);
    step = (high - low) / 60 + 1;
    for (int64_t b = low; b <= high; b += step) {
        double p = cellar_mechanism_pmf(m, count, b);
        double log_p = cellar_mechanism_log_pmf(m, count, b);
        if (p < 1e-299)
            continue;
        CHECK(relative(p, exp(log_p)) == 0, m, count, "pmf\n");
        cellar_mechanism_pmf_ball(m, count, b, 80, ball);
        check_in_ball(m, count, b, p, ball, "pmf");
        if (m->ops->survival_ball == NULL || cellar_mechanism_survival(m, count, b) < 1e-299)
            continue;
        m->ops->survival_ball(m, count, b, 80, ball);
        check_in_ball(m, count, b, cellar_mechanism_survival(m, count, b), ball, "survival");
    }
    cellar_mechanism_support(m, count, 0, &low, &high);
    if (low != INT64_MIN) {
        cellar_mechanism_pmf_ball(m, count, low - 1, 80, ball);
        CHECK(arb_is_zero(ball), m, count, "below the support\n");
        CHECK(cellar_mechanism_log_pmf(m, count, low - 1) == -INFINITY, m, count, "below\n");
    }
    arb_clear(ball);
}

static void test_doubles_lie_in_the_balls_far_into_both_tails(void **state)
{
    (void) state;
    for_every_law(check_balls);
}

/* ---- the sampler --------------------------------------------------------------- */

static void draw(const cellar_mechanism *m, uint64_t seed, const int64_t *counts, size_t n,
                 int64_t *released)
{
    cellar_rng *rng;
    assert_int_equal(cellar_rng_create_seeded(seed, 0, &rng, &err), CELLAR_OK);
    if (cellar_mechanism_sample_many(m, counts, n, rng, released, &err) != CELLAR_OK)
        fail_msg("%s: %s", cellar_mechanism_spec(m), err.message);
    cellar_rng_free(rng);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
    return (x > y) - (x < y);
}

/* False alarm: 1e-9 per law (DKW), below 1e-7 for all of at most 100. Power: a distribution
 * function wrong by more than 2 x 0.0073 somewhere escapes with chance 1e-9. The seed is fixed. */
static void check_sampler(const cellar_mechanism *m, int64_t count)
{
    enum { N = 200000 };
    double limit = sqrt(log(2 / 1e-9) / (2.0 * N)), worst = 0;
    int64_t *numbers;
    if (count != 0 && count != 7)
        return;
    numbers = test_malloc(N * sizeof *numbers);
    for (size_t i = 0; i < N; i++)
        numbers[i] = count;
    draw(m, 20211, numbers, N, numbers);
    qsort(numbers, N, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < N; i++)
        if (i + 1 == N || numbers[i] != numbers[i + 1]) {
            double gap = fabs((double) (i + 1) / N - cellar_mechanism_cdf(m, count, numbers[i]));
            worst = gap > worst ? gap : worst;
        }
    CHECK(worst < limit, m, count, "gap %g, limit %g\n", worst, limit);
    CHECK(cellar_mechanism_pmf(m, count, numbers[0]) > 0, m, count, "off the support\n");
    test_free(numbers);
}

static void test_sampler_follows_the_law(void **state)
{
    (void) state;
    for_every_law(check_sampler);
}

static uint64_t hash_draws(const cellar_mechanism *m)
{
    enum { N = 5000 };
    static int64_t numbers[N];
    uint64_t hash = UINT64_C(14695981039346656037);
    for (int64_t i = 0; i < N; i++)
        numbers[i] = i % 100;
    draw(m, 1, numbers, N, numbers);
    for (size_t i = 0; i < N; i++)
        for (int shift = 0; shift < 64; shift += 8)
            hash = (hash ^ (((uint64_t) numbers[i] >> shift) & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

static void test_draws_never_change(void **state)
{
    int n_wrong = 0;
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(conformance_specs[i].spec);
        uint64_t hash = hash_draws(m);
        if (hash != conformance_specs[i].draws) {
            printf("    {\"%s\", UINT64_C(0x%016llx)},\n", conformance_specs[i].spec,
                   (unsigned long long) hash);
            n_wrong++;
        }
        cellar_mechanism_free(m);
    }
    assert_int_equal(n_wrong, 0);
}

/* ---- the registry and the domains ------------------------------------------------ */

static void test_every_registered_mechanism_is_asked(void **state)
{
    (void) state;
    for (size_t k = 0; cellar_mechanism_registry[k] != NULL; k++) {
        const char *name = cellar_mechanism_registry[k]->name;
        size_t n = 0, length = strlen(name);
        for (size_t i = 0; i < N_SPECS; i++)
            n += strncmp(conformance_specs[i].spec, name, length) == 0 &&
                 (conformance_specs[i].spec[length] == ':' ||
                  conformance_specs[i].spec[length] == 0);
        if (n == 0)
            fail_msg("%s: add a spec to tests/property/specs.h", name);
        assert_true(cellar_mechanism_registry[k]->revision >= 1);
    }
}

/* The spec of `m` with one value replaced is refused, and the message names the bound. */
static void check_refused(const cellar_mechanism *m, const char *parameter, const char *value,
                          const char *bound)
{
    char spec[2048];
    size_t used = (size_t) snprintf(spec, sizeof spec, "%s", m->ops->name);
    cellar_mechanism *other;
    for (size_t i = 0; i < m->parameters.n; i++) {
        const cellar_parameter *p = &m->parameters.items[i];
        if (!p->is_derived)
            used += (size_t) snprintf(spec + used, sizeof spec - used, "%c%s=%s", i ? ',' : ':',
                                      p->name, strcmp(p->name, parameter) == 0 ? value : p->text);
    }
    if (cellar_mechanism_create(spec, &other, &err) != CELLAR_ERR_ARGUMENT)
        fail_msg("%s is accepted", spec);
    if (strstr(err.message, bound) == NULL || strstr(err.message, parameter) == NULL)
        fail_msg("%s: '%s' does not name %s", spec, err.message, bound);
}

/* A thousandth below (or above) a decimal, as a decimal. */
static void beyond(const char *bound, int up, char *out, size_t size)
{
    cellar_text text = {0};
    fmpq_t value, step;
    fmpq_init(value);
    fmpq_init(step);
    assert_true(cellar_rational_parse(bound, strlen(bound), value));
    fmpq_set_si(step, 1, 1000);
    if (!fmpq_is_zero(value))
        fmpq_mul(step, step, value);
    fmpq_abs(step, step);
    if (up)
        fmpq_add(value, value, step);
    else
        fmpq_sub(value, value, step);
    cellar_rational_add(&text, value);
    snprintf(out, size, "%s", text.bytes);
    cellar_text_clear(&text);
    fmpq_clear(value);
    fmpq_clear(step);
}

static void test_parameters_outside_their_domain_are_refused(void **state)
{
    char value[600];
    (void) state;
    for (size_t i = 0; i < N_SPECS; i++) {
        cellar_mechanism *m = make(conformance_specs[i].spec);
        for (const cellar_parameter_rule *r = m->ops->parameters; r->name != NULL; r++) {
            const cellar_parameter *p = cellar_parameter_find(&m->parameters, r->name);
            if (p == NULL || p->is_derived)
                continue;
            if (r->kind == CELLAR_PARAMETER_WORD) {
                if (r->words != NULL)
                    check_refused(m, r->name, "nonsense", r->words[0]);
                continue;
            }
            if (r->above != NULL)
                check_refused(m, r->name, r->above, r->above);
            if (r->below != NULL)
                check_refused(m, r->name, r->below, r->below);
            if (r->kind == CELLAR_PARAMETER_INTEGER) {
                check_refused(m, r->name, "2.5", "whole number");
                continue;
            }
            if (r->at_least != NULL) {
                beyond(r->at_least, 0, value, sizeof value);
                check_refused(m, r->name, value, "must be >= ");
            }
            if (r->at_most != NULL) {
                beyond(r->at_most, 1, value, sizeof value);
                check_refused(m, r->name, value, r->at_most);
            }
        }
        cellar_mechanism_free(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_registered_mechanism_is_asked),
        cmocka_unit_test(test_probabilities_sum_to_one),
        cmocka_unit_test(test_support_leaves_out_what_it_says),
        cmocka_unit_test(test_moments_agree),
        cmocka_unit_test(test_doubles_lie_in_the_balls_far_into_both_tails),
        cmocka_unit_test(test_sampler_follows_the_law),
        cmocka_unit_test(test_draws_never_change),
        cmocka_unit_test(test_parameters_outside_their_domain_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
