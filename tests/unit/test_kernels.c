/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The laws of kernels against proven balls and published values, and their exact sampler. */
#include "check.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "fail_every.h"
#include "math/ball.h"
#include "mechanism/mechanism.h"
#include "random/histogram.h"
#include "random/inverse.h"
#include "random/rng.h"
#include "make_mechanism.h"

static cellar_error err;

static const char *const specs[] = {
    "hellinger:epsilon=3",
    "hellinger:epsilon=40",
    "poisson:alpha=0.1",
    "poisson:alpha=1",
    "negbin:alpha=0.5,sigma=0.3",
    "negbin:alpha=0.01,sigma=20",
    "pig:alpha=0.5,sigma=0.3",
    "sichel:alpha=0.5,sigma=0.4,nu=-0.5",
    "sichel:alpha=0.5,sigma=2,nu=-3.3",
    "sichel:alpha=2,sigma=0.01,nu=4",
    "delaporte:alpha=0.5,sigma=0.4,nu=0.3",
    "delaporte:alpha=0.01,sigma=3,nu=0.9",
};
enum { N_SPECS = sizeof specs / sizeof *specs };

/* |ln p - ln ball| */
static double log_error(const arb_t ball, double log_p)
{
    arb_t difference, x;
    double error;
    arb_init(difference);
    arb_init(x);
    arb_set_d(x, log_p);
    arb_log(difference, ball, 160);
    arb_sub(difference, difference, x, 160);
    arb_abs(difference, difference);
    error = cellar_ball_upper(difference);
    arb_clear(x);
    arb_clear(difference);
    return error;
}

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance * fabs(want)))
        fail_msg("%s: got %.17g, want %.17g", what, got, want);
}

static void test_doubles_lie_in_the_balls(void **state)
{
    static const int64_t counts[] = {0, 1, 7, 60, 1000, 1000000};
    arb_t ball;
    (void) state;
    arb_init(ball);
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        int slow = strncmp(specs[s], "delaporte", 9) == 0; /* a ball takes as many steps as b */
        for (size_t i = 0; i < 6; i++) {
            int64_t low, high, a = counts[i];
            cellar_mechanism_support(m, a, 1e-290, &low, &high);
            for (int64_t j = 0; j <= 8; j++) {
                int64_t b = j <= 4 ? low + (a - low) * j / 4 : a + (high - a) * (j - 4) / 4;
                double log_p = cellar_mechanism_log_pmf(m, a, b);
                if (slow && (i == 5 ? j != 4 : i == 4 && j % 4 != 0))
                    continue;
                cellar_mechanism_pmf_ball(m, a, b, 100, ball);
                if (!(log_error(ball, log_p) < 1e-12))
                    fail_msg("%s: P(%lld | %lld): error %g", specs[s], (long long) b, (long long) a,
                             log_error(ball, log_p));
            }
        }
        cellar_mechanism_free(m);
    }
    arb_clear(ball);
}

static void test_tails_lie_in_the_balls(void **state)
{
    arb_t ball;
    (void) state;
    arb_init(ball);
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (int64_t a = 0; a < 50; a += 24) {
            int64_t low, high;
            cellar_mechanism_support(m, a, 1e-60, &low, &high);
            for (int64_t j = 0; j <= 4; j++) {
                int64_t b = low + (high - low) * j / 5;
                double above = cellar_mechanism_survival(m, a, b);
                m->ops->survival_ball(m, a, b, 300, ball);
                assert_true(cellar_ball_contains_near(ball, above, 1e-12));
                arb_sub_ui(ball, ball, 1, 300);
                arb_neg(ball, ball);
                assert_true(cellar_ball_contains_near(ball, cellar_mechanism_cdf(m, a, b), 1e-12));
            }
        }
        cellar_mechanism_free(m);
    }
    arb_clear(ball);
}

static void test_moments_agree_with_sums(void **state)
{
    static const int64_t counts[] = {0, 1, 5, 200};
    (void) state;
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t i = 0; i < 4; i++) {
            cellar_moments got, want;
            cellar_mechanism_moments(m, counts[i], CELLAR_NEGATIVES_KEEP, &got);
            cellar_mechanism_moments_by_sum(m, counts[i], CELLAR_NEGATIVES_KEEP, &want);
            near(got.mean, want.mean, 1e-11, specs[s]);
            near(got.variance, want.variance, 1e-9, specs[s]);
            near(got.entropy, want.entropy, 1e-11, specs[s]);
            near(got.presence, -expm1(cellar_mechanism_log_pmf(m, counts[i], 0)), 1e-10, specs[s]);
        }
        cellar_mechanism_free(m);
    }
}

/* Computed independently with fifty digits. */
static void test_known_values(void **state)
{
    static const struct {
        const char *spec;
        int64_t count, released;
        double want;
    } cases[] = {
        {"hellinger:epsilon=1", 0, 0, 1 / 8.5940553435543505},
        {"poisson:alpha=0.1", 3, 8, 0.0095292809933856888871},
        {"negbin:alpha=0.5,sigma=0.3", 3, 8, 0.030868303146769386252},
        {"pig:alpha=0.5,sigma=0.3", 0, 0, 0.62672250191353078227},
        {"pig:alpha=0.5,sigma=0.3", 3, 8, 0.028626714123961528471},
        {"sichel:alpha=0.5,sigma=0.4,nu=-0.5", 3, 1, 0.16727188487303337071},
        {"sichel:alpha=0.5,sigma=0.4,nu=-0.5", 3, 8, 0.028806050532783233455},
        {"delaporte:alpha=0.5,sigma=0.4,nu=0.3", 0, 2, 0.076471934991245169957},
        {"delaporte:alpha=0.5,sigma=0.4,nu=0.3", 3, 8, 0.027690140766940618158},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        near(cellar_mechanism_pmf(m, cases[i].count, cases[i].released), cases[i].want, 1e-14,
             cases[i].spec);
        cellar_mechanism_free(m);
    }
}

/* False alarm: 1e-9 a law (DKW), 4e-8 for this test of at most 40. Power: a distribution function
 * wrong by more than 2 x 0.0104 escapes with chance 1e-9. The seed is fixed. */
static void test_sampler_follows_the_law(void **state)
{
    enum { N = 100000 / CHECK_SHARE, FAR = 500 };
    static size_t n_of[FAR + 1];
    static const int64_t counts[] = {0, 3, 40};
    int64_t *count = cellar_alloc(N, sizeof *count), *released = cellar_alloc(N, sizeof *released);
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(7, 0, &rng, &err), CELLAR_OK);
    for (size_t s = 0; s < N_SPECS; s++) {
        cellar_mechanism *m = make(specs[s]);
        for (size_t c = 0; c < 3; c++) {
            double worst = 0, threshold = sqrt(log(2 / 1e-9) / (2.0 * N));
            size_t n_up_to = 0;
            for (size_t i = 0; i < N; i++)
                count[i] = counts[c];
            assert_int_equal(cellar_mechanism_sample_many(m, count, N, rng, released, &err),
                             CELLAR_OK);
            memset(n_of, 0, sizeof n_of);
            for (size_t i = 0; i < N; i++)
                n_of[released[i] < FAR ? released[i] : FAR]++;
            for (int64_t b = 0; b < FAR; b++) {
                n_up_to += n_of[b];
                worst =
                    fmax(worst, fabs((double) n_up_to / N - cellar_mechanism_cdf(m, counts[c], b)));
            }
            if (!(worst < threshold))
                fail_msg("%s at %lld: %g", specs[s], (long long) counts[c], worst);
        }
        cellar_mechanism_free(m);
    }
    cellar_rng_free(rng);
    cellar_free(released);
    cellar_free(count);
}

/* ---- ties and toy precision ------------------------------------------------------ */

/* P(Y <= j) = (j+1)/3 for j < 2: thresholds 1/3, 2/3 that no number of bits meets. */
static void thirds(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, first + (int64_t) i + 1);
        arb_div_ui(out + i, out + i, 3, bits);
    }
}

typedef struct script {
    unsigned char bytes[32];
    size_t n_used;
} script;

static cellar_status script_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    script *s = context;
    (void) e;
    assert_true(s->n_used + length <= sizeof s->bytes);
    memcpy(bytes, s->bytes + s->n_used, length);
    s->n_used += length;
    return CELLAR_OK;
}

/* 64 bits equal to a threshold's do not decide; the bits after them do. */
static void test_ties_reach_the_exact_law(void **state)
{
    static const struct {
        uint64_t bits;
        unsigned char more;
        int64_t want;
        size_t n_used;
    } cases[] = {
        {UINT64_C(0x5555555555555554), 0, 0, 8},     {UINT64_C(0x5555555555555555), 0x54, 0, 16},
        {UINT64_C(0x5555555555555555), 0x56, 1, 16}, {UINT64_C(0x5555555555555556), 0, 1, 8},
        {UINT64_C(0xaaaaaaaaaaaaaaaa), 0xa9, 1, 16}, {UINT64_C(0xaaaaaaaaaaaaaaaa), 0xab, 2, 16},
        {UINT64_C(0xffffffffffffffff), 0, 2, 8},
    };
    cellar_law law = {thirds, NULL, 2};
    cellar_inverse *inverse;
    (void) state;
    assert_int_equal(cellar_inverse_create(law, 0, 1, 8, &inverse, &err), CELLAR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_inverse *laws[1] = {inverse};
        uint64_t stored = cases[i].bits ^ (UINT64_C(1) << 63); /* as the sampler orders them */
        script s = {.n_used = 0};
        cellar_rng *rng;
        int64_t value;
        memcpy(s.bytes, &stored, 8);
        memset(s.bytes + 8, cases[i].more, 24);
        assert_int_equal(cellar_rng_create_source(script_bytes, &s, &rng, &err), CELLAR_OK);
        assert_int_equal(cellar_inverse_draw_many(laws, 1, rng, &value, &err), CELLAR_OK);
        if (cases[i].bits != UINT64_MAX) { /* all ones tie with the filling, to the same end */
            assert_int_equal(s.n_used, cases[i].n_used);
        }
        assert_int_equal(value, cases[i].want);
        cellar_rng_free(rng);
    }
    cellar_inverse_free(inverse);
}

/* A uniform law on 0..999 needs two steps; its value is floor(1000 u). */
static void thousandths(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, first + (int64_t) i + 1);
        arb_div_ui(out + i, out + i, 1000, bits);
    }
}

static void test_long_lists(void **state)
{
    cellar_law law = {thousandths, NULL, 999};
    cellar_inverse *inverse;
    (void) state;
    assert_int_equal(cellar_inverse_create(law, 0, 998, 2000, &inverse, &err), CELLAR_OK);
    for (int64_t i = 0; i < 4000; i++) {
        const cellar_inverse *laws[1] = {inverse};
        uint64_t u = (uint64_t) i * UINT64_C(0x9e3779b97f4a7c15), stored;
        script s = {.n_used = 0};
        cellar_rng *rng;
        int64_t value;
        stored = u ^ (UINT64_C(1) << 63);
        memcpy(s.bytes, &stored, 8);
        assert_int_equal(cellar_rng_create_source(script_bytes, &s, &rng, &err), CELLAR_OK);
        assert_int_equal(cellar_inverse_draw_many(laws, 1, rng, &value, &err), CELLAR_OK);
        assert_int_equal(value,
                         (int64_t) (((u >> 32) * 1000 + ((u & 0xffffffff) * 1000 >> 32)) >> 32));
        cellar_rng_free(rng);
    }
    cellar_inverse_free(inverse);
}

/* Laws too wide for a table, drawn by rejection. False alarm 1e-9 each (DKW), power: an error of
 * 2 x 0.033 escapes with chance 1e-9. */
static void test_wide_laws(void **state)
{
    enum { N = 10000 / CHECK_SHARE };
    static const struct {
        const char *spec;
        int64_t count;
        double mean, sd; /* roughly: where to look */
    } cases[] = {
        {"poisson:alpha=1", 100000000, 1e8, 1e4},
        {"negbin:alpha=0.5,sigma=0.3", 100000, 1e5, 5e4},
        {"negbin:alpha=0.5,sigma=20", 20000, 2e4, 9e4},
        {"hellinger:epsilon=0.3", 0, 200, 400},
        {"sichel:alpha=1,sigma=0.2,nu=3", 20000, 2e4, 7e3},
    };
    static int64_t numbers[N];
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(11, 0, &rng, &err), CELLAR_OK);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t n = c < 3 ? N : N / 10;
        double limit = sqrt(log(2 / 1e-9) / (2 * (double) n));
        cellar_mechanism *m = make(cases[c].spec);
        for (size_t i = 0; i < n; i++)
            numbers[i] = cases[c].count;
        assert_int_equal(cellar_mechanism_sample_many(m, numbers, n, rng, numbers, &err),
                         CELLAR_OK);
        for (int64_t j = -6; j <= 6; j++) { /* on both sides of the mean */
            double share = 0, at = cases[c].mean + floor(cases[c].sd * (double) j / 3);
            for (size_t i = 0; i < n; i++)
                share += (double) numbers[i] <= at;
            if (at >= 0 && !(fabs(share / (double) n -
                                  cellar_mechanism_cdf(m, cases[c].count, (int64_t) at)) < limit))
                fail_msg("%s at %g: share %g", cases[c].spec, at, share / (double) n);
        }
        cellar_mechanism_free(m);
    }
    cellar_rng_free(rng);
}

/* A tent on 0..8, zero beyond: 1/25 .. 5/25 .. 1/25. */
static void tent_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        int64_t b = first + (int64_t) i, part = b <= 4 ? b + 1 : b <= 8 ? 9 - b : 0;
        arb_set_si(out + i, part);
        arb_div_ui(out + i, out + i, 25, bits);
    }
}

static int tent_settles(const void *context, int64_t b)
{
    (void) context;
    return b >= 9;
}

static void test_histogram_of_a_tent(void **state)
{
    enum { N = 100000 };
    cellar_wide_law law = {tent_balls, tent_settles, NULL};
    cellar_histogram *h;
    cellar_rng *rng;
    int64_t n_of[9] = {0}, n_up_to = 0;
    (void) state;
    assert_int_equal(cellar_histogram_create(law, &h, &err), CELLAR_OK);
    assert_true(cellar_histogram_acceptance(h) > 0.9);
    assert_int_equal(cellar_rng_create_seeded(5, 0, &rng, &err), CELLAR_OK);
    for (int i = 0; i < N; i++) {
        int64_t b;
        assert_int_equal(cellar_histogram_draw(h, rng, &b, &err), CELLAR_OK);
        assert_in_range(b, 0, 8);
        n_of[b]++;
    }
    for (int64_t b = 0, sum = 0; b <= 8; b++) {
        n_up_to += n_of[b];
        sum += b <= 4 ? b + 1 : 9 - b;
        assert_true(fabs((double) n_up_to / N - (double) sum / 25) < 0.0104);
    }
    cellar_rng_free(rng);
    cellar_histogram_free(h);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *spec, *message;
    } cases[] = {
        {"poisson:alpha=-1", "alpha must be >= 0"},
        {"poisson-zeros:alpha=0", "alpha must be > 0"},
        {"negbin:alpha=1,sigma=0", "sigma must be >= 0.000001"},
        {"pig:alpha=1,sigma=1000", "sigma must be <= 100"},
        {"sichel:alpha=1,sigma=1,nu=30", "nu must be <= 20"},
        {"delaporte:alpha=1,sigma=1,nu=1", "nu must be < 1"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_mechanism *m;
        assert_int_equal(cellar_mechanism_create(cases[i].spec, &m, &err), CELLAR_ERR_ARGUMENT);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("%s: %s", cases[i].spec, err.message);
    }
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_mechanism *m = NULL;
    cellar_rng *rng = NULL;
    int64_t counts[4] = {0, 1, 2, 20000}, released[4];
    cellar_status status = cellar_mechanism_create(context, &m, e);
    if (status == CELLAR_OK)
        status = cellar_rng_create_seeded(1, 0, &rng, e);
    if (status == CELLAR_OK)
        status = cellar_mechanism_sample_many(m, counts, 4, rng, released, e);
    cellar_rng_free(rng);
    cellar_mechanism_free(m);
    return status;
}

static void test_memory_may_end(void **state)
{
    static char spec[] = "poisson:alpha=0.1", wide[] = "negbin:alpha=0.1,sigma=0.1";
    (void) state;
    check_fail_every(scenario, spec);
    check_fail_every(scenario, wide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubles_lie_in_the_balls),
        cmocka_unit_test(test_tails_lie_in_the_balls),
        cmocka_unit_test(test_moments_agree_with_sums),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_sampler_follows_the_law),
        cmocka_unit_test(test_ties_reach_the_exact_law),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_wide_laws),
        cmocka_unit_test(test_histogram_of_a_tent),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
