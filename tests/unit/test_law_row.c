/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Laws in double-words: what they say holds what balls say, of single numbers and of both tails,
 * and sums of pairs are those of balls. */
#include "check.h"

#include "mechanism/kernels/kernel.h"
#include "privacy/pair.h"
#include "make_mechanism.h"

static const struct {
    const char *spec;
    int64_t count;
} cases[] = {
    {"poisson:alpha=1e-100", 0},
    {"poisson:alpha=0.3", 2},
    {"poisson:alpha=1", 900},
    {"poisson:alpha=5000", 100000},
    {"negbin:alpha=0.5,sigma=0.03", 7},
    {"negbin:alpha=4,sigma=3", 0},
    {"pig:alpha=0.5,sigma=2", 3},
    {"pig:alpha=1000,sigma=0.01", 60},
    {"sichel:alpha=1,sigma=0.7,nu=-2.4", 1},
    {"sichel:alpha=7,sigma=0.02,nu=16", 0},
    {"delaporte:alpha=0.6,sigma=2,nu=0.3", 4},
    {"delaporte:alpha=40,sigma=0.001,nu=0.9", 0},
};
enum { N_CASES = sizeof cases / sizeof *cases };

/* `given` holds what `want` holds, and no less than is asked of it. */
static void check_ball(const char *what, const char *spec, int64_t b, const arb_t given,
                       const arb_t want)
{
    if (!arb_overlaps(given, want) || arb_rel_accuracy_bits(given) < 40)
        fail_msg("%s: %s %ld: %s, but balls say %s", spec, what, (long) b,
                 arb_get_str(given, 30, 0), arb_get_str(want, 30, 0));
}

static void check_row(const cellar_mechanism *m, cellar_law_row *row, int64_t count)
{
    int64_t last = row->first + (int64_t) row->n - 1, step = (last - row->first) / 4 + 1;
    const char *spec = cellar_mechanism_spec(m);
    arb_t given, want;
    arb_init(given);
    arb_init(want);
    for (int64_t b = row->first; b <= last; b += step) {
        if (row->p[b - row->first].high <= 0)
            continue;
        cellar_law_row_pmf(row, b, given);
        m->ops->pmf_ball(m, count, b, 160, want);
        check_ball("P(B = b), b =", spec, b, given, want);
        if (count < 100 &&
            b < row->first + (last - row->first) / 3) { /* at the end it is what was left out */
            cellar_law_row_above(row, b, given);
            m->ops->survival_ball(m, count, b - 1, 160, want);
            check_ball("P(B >= b), b =", spec, b, given, want);
        }
        cellar_law_row_below(row, b, given);
        if (b < 200 && count < 100) { /* short enough to be summed */
            cellar_kernel_cdf_balls((const cellar_kernel *) m, count, b, 1, 160, want);
            assert_true(arb_overlaps(given, want));
        }
    }
    arb_clear(given);
    arb_clear(want);
}

static void test_rows(void **state)
{
    (void) state;
    for (size_t i = 0; i < N_CASES; i++) {
        cellar_mechanism *m = make(cases[i].spec);
        cellar_law_row row;
        assert_true(m->ops->law_row(m, cases[i].count, &row));
        assert_true(cellar_law_row_finish(&row, 90));
        check_row(m, &row, cases[i].count);
        cellar_law_row_reach(&row, row.first + 2 * (int64_t) row.n_above); /* and on, or not */
        assert_true(row.n_above <= row.n);
        assert_true(cellar_law_row_finish(&row, 300));
        assert_true(row.n_above == row.n);
        assert_false(cellar_law_row_reach(&row, -1));
        assert_false(cellar_law_row_reach(&row, INT64_C(1) << 50));
        cellar_law_row_clear(&row);
        cellar_mechanism_free(m);
    }
}

/* Sums over a pair that is not monotone, by rows and by balls. */
static void test_sums(void **state)
{
    cellar_mechanism *m = make("delaporte:alpha=0.6,sigma=2,nu=0.3");
    arb_t rows, balls;
    fmpq_t epsilon;
    (void) state;
    arb_init(rows);
    arb_init(balls);
    fmpq_init(epsilon);
    for (int i = 0; i < 16; i++) {
        const int64_t count = i % 8 / 2 * 5, larger = i % 2;
        cellar_distribution p, q;
        cellar_pair pair;
        cellar_distribution_init(&p, m, count + larger, CELLAR_NEGATIVES_KEEP);
        cellar_distribution_init(&q, m, count + 1 - larger, CELLAR_NEGATIVES_KEEP);
        cellar_pair_init(&pair, &p, &q);
        assert_true(p.has_row && q.has_row && !pair.is_monotone);
        fmpq_set_si(epsilon, i / 8 ? 2 : count > 0 ? 5 : 40, 100);
        cellar_pair_delta(&pair, epsilon, rows);
        p.has_row = q.has_row = 0;
        cellar_pair_delta_by_sum(&pair, epsilon, 1e-18, CELLAR_PAIR_BITS, balls);
        if (!arb_overlaps(rows, balls) || arb_rel_accuracy_bits(rows) < 20)
            fail_msg("%d: %s, but balls say %s", i, arb_get_str(rows, 30, 0),
                     arb_get_str(balls, 30, 0));
        cellar_pair_violation(&pair, epsilon, balls);
        p.has_row = q.has_row = 1;
        cellar_pair_violation(&pair, epsilon, rows);
        assert_true(arb_overlaps(rows, balls));
        cellar_distribution_clear(&p);
        cellar_distribution_clear(&q);
    }
    fmpq_clear(epsilon);
    arb_clear(rows);
    arb_clear(balls);
    cellar_mechanism_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
