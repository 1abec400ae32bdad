/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The joint law of the multinomial-Dirichlet mechanism, and its urn. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/dirichlet.h>

#include "fail_every.h"
#include "random/rng.h"
#include "random/urn.h"

static cellar_error err;

static cellar_dirichlet *make(const char *spec)
{
    cellar_dirichlet *d;
    if (cellar_dirichlet_create(spec, &d, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    return d;
}

static void test_specs(void **state)
{
    static const struct {
        const char *spec, *message;
    } refused[] = {
        {"multinomial-dirichlet", "needs the parameter alpha"},
        {"multinomial-dirichlet:alpha=0", "alpha must be > 0"},
        {"multinomial-dirichlet:alpha=1,total=2.5", "whole number"},
        {"poisson:alpha=1", "expected multinomial-dirichlet"},
    };
    cellar_dirichlet *d = make("multinomial-dirichlet:alpha=0.50,total=10,cells=3");
    (void) state;
    assert_string_equal(cellar_dirichlet_spec(d),
                        "multinomial-dirichlet:alpha=0.5,total=10,cells=3");
    assert_int_equal(cellar_dirichlet_total(d), 10);
    assert_int_equal(cellar_dirichlet_n_cells(d), 3);
    assert_true(cellar_dirichlet_alpha(d) == 0.5);
    cellar_dirichlet_free(d);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_int_equal(cellar_dirichlet_create(refused[i].spec, &d, &err), CELLAR_ERR_ARGUMENT);
        if (strstr(err.message, refused[i].message) == NULL)
            fail_msg("%s: %s", refused[i].spec, err.message);
    }
}

/* With a = (1, 9), alpha = 3 and ten draws, P(b | a) / P(b | (0, 9)) = (b_1 + 3)/5: what the
 * normalising constant that is sometimes forgotten makes of (b_1 + 3)/3. */
static void test_ratios(void **state)
{
    static const int64_t counts[2] = {1, 9}, neighbour[2] = {0, 9};
    cellar_dirichlet *d = make("multinomial-dirichlet:alpha=3");
    (void) state;
    for (int64_t b = 0; b <= 10; b += 5) {
        int64_t released[2] = {b, 10 - b};
        double ratio = exp(cellar_dirichlet_log_pmf(d, counts, released, 2) -
                           cellar_dirichlet_log_pmf(d, neighbour, released, 2));
        assert_true(fabs(ratio - (double) (b + 3) / 5) < 1e-14);
    }
    cellar_dirichlet_free(d);
}

/* All compositions of six into three; chi-square would do, but every frequency is checked by
 * itself: false alarm 28 x 2e-9 (Hoeffding), a probability wrong by 2 x 0.0073 escapes with 1e-9.
 */
static void test_urn_follows_the_law(void **state)
{
    enum { N = 200000, TOTAL = 6 };
    static const int64_t counts[3] = {0, 1, 4};
    static int64_t n_of[TOTAL + 1][TOTAL + 1];
    cellar_dirichlet *d = make("multinomial-dirichlet:alpha=0.25,total=6,cells=3");
    double sum = 0, limit = sqrt(log(2 / 1e-9) / (2.0 * N));
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(3, 0, &rng, &err), CELLAR_OK);
    for (int i = 0; i < N; i++) {
        int64_t b[3];
        assert_int_equal(cellar_dirichlet_sample(d, counts, 3, TOTAL, rng, b, &err), CELLAR_OK);
        assert_int_equal(b[0] + b[1] + b[2], TOTAL);
        n_of[b[0]][b[1]]++;
    }
    for (int64_t i = 0; i <= TOTAL; i++)
        for (int64_t j = 0; i + j <= TOTAL; j++) {
            int64_t b[3] = {i, j, TOTAL - i - j};
            double p = exp(cellar_dirichlet_log_pmf(d, counts, b, 3));
            sum += p;
            assert_true(fabs((double) n_of[i][j] / N - p) < limit);
        }
    assert_true(fabs(sum - 1) < 1e-12);
    cellar_rng_free(rng);
    cellar_dirichlet_free(d);
}

/* Numbers from a list, then zeros. */
typedef struct script {
    uint64_t numbers[4];
    size_t n_used;
} script;

static cellar_status script_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    script *s = context;
    (void) e;
    assert_int_equal(length, 8);
    assert_true(s->n_used < 4);
    memcpy(bytes, &s->numbers[s->n_used++], 8);
    return CELLAR_OK;
}

/* 2^64 = 1 mod 3: the one surplus product, of bits 0, is drawn again. */
static void test_uniform_is_exact(void **state)
{
    static const struct {
        uint64_t bits;
        uint64_t want;
        size_t n_used;
    } cases[] = {
        {0, 2, 2},
        {1, 0, 1},
        {UINT64_C(0x5555555555555555), 0, 1},
        {UINT64_C(0x5555555555555556), 1, 1},
        {UINT64_MAX, 2, 1},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        script s = {{cases[i].bits, UINT64_MAX, 0, 0}, 0};
        cellar_rng *rng;
        uint64_t value;
        assert_int_equal(cellar_rng_create_source(script_bytes, &s, &rng, &err), CELLAR_OK);
        assert_int_equal(cellar_uniform_below(rng, 3, &value, &err), CELLAR_OK);
        assert_int_equal(value, cases[i].want);
        assert_int_equal(s.n_used, cases[i].n_used);
        cellar_rng_free(rng);
    }
}

static void test_refused_tables(void **state)
{
    static const int64_t counts[2] = {1, INT64_MAX};
    int64_t released[2] = {5, 5};
    cellar_dirichlet *d = make("multinomial-dirichlet:alpha=0.001,total=6,cells=2");
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(3, 0, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_dirichlet_sample(d, counts, 2, 7, rng, released, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_dirichlet_sample(d, counts, 1, 6, rng, released, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_dirichlet_sample(d, counts, 2, 6, rng, released, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(released[0], 0);
    cellar_rng_free(rng);
    cellar_dirichlet_free(d);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    static const int64_t counts[3] = {1, 2, 3};
    int64_t released[3];
    cellar_dirichlet *d = NULL;
    cellar_rng *rng = NULL;
    cellar_status status = cellar_dirichlet_create(context, &d, e);
    if (status == CELLAR_OK)
        status = cellar_rng_create_seeded(1, 0, &rng, e);
    if (status == CELLAR_OK)
        status = cellar_dirichlet_sample(d, counts, 3, 9, rng, released, e);
    cellar_rng_free(rng);
    cellar_dirichlet_free(d);
    return status;
}

static void test_memory_may_end(void **state)
{
    static char spec[] = "multinomial-dirichlet:alpha=0.1";
    (void) state;
    check_fail_every(scenario, spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_specs),
        cmocka_unit_test(test_ratios),
        cmocka_unit_test(test_urn_follows_the_law),
        cmocka_unit_test(test_uniform_is_exact),
        cmocka_unit_test(test_refused_tables),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
