/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses of a pair one by one, against ln P/Q of balls: their masses, their lattice, and how they
 * are put on a grid. */
#include "check.h"

#include <math.h>

#include "fail_every.h"
#include "make_mechanism.h"
#include "math/ball.h"
#include "math/rational.h"
#include "privacy/losses.h"
#include "privacy/pld.h"
#include "privacy/worst.h"

static const struct {
    const char *spec;
    int64_t shift;
    int is_lattice;
} cases[] = {
    {"laplace:epsilon=0.3", 2, 0},
    {"discrete-laplace:epsilon=0.37", 2, 1},
    {"gaussian:sigma=4.3", 1, 0},
    {"discrete-gaussian:sigma=3.75", 3, 1},
    {"truncated-normal:epsilon=0.03,m=40", 1, 1},
    {"truncated-laplace:epsilon=0.1,m=25", 2, 1},
    {"poisson:alpha=0.4", 1, 1},
    {"poisson:alpha=150", 2, 1},
    {"negbin:alpha=3,sigma=0.7", 2, 1},
    {"pig:alpha=2,sigma=0.5", 1, 0},
    {"sichel:alpha=1,sigma=2,nu=-0.6", 2, 0},
    {"delaporte:alpha=4,sigma=0.8,nu=0.3", 1, 0},
    {"delaporte:alpha=0.6,sigma=2,nu=0.3", 1, 0},
    {"hellinger:epsilon=4", 3, 0},
    {"round:base=5", 1, 0},
};
enum { N_CASES = sizeof cases / sizeof *cases };

typedef struct listed {
    cellar_mechanism *m;
    cellar_one_cell cell;
    cellar_pair pair;
    cellar_losses losses;
} listed;

static void listed_open(listed *l, const char *spec, int64_t shift, int larger, double tail)
{
    cellar_error err;
    l->m = make(spec);
    cellar_one_cell_init(&l->cell, l->m, shift, 0, CELLAR_NEGATIVES_KEEP, 1);
    l->pair = cellar_one_cell_pair(&l->cell, 1, shift, larger, CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_losses_create(&l->pair, tail, &l->losses, &err), CELLAR_OK);
}

static void listed_close(listed *l)
{
    cellar_losses_clear(&l->losses);
    cellar_one_cell_clear(&l->cell);
    cellar_mechanism_free(l->m);
}

/* E max(0, 1 - e^{epsilon - loss}), as listed. */
static double delta_listed(const cellar_losses *l, double epsilon)
{
    double sum = l->infinite;
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].loss > epsilon)
            sum += l->items[i].mass * -expm1(epsilon - l->items[i].loss);
    return sum;
}

/* 1 when some listed loss is this one, and has at least this mass. */
static int is_listed(const cellar_losses *l, double loss, double mass)
{
    for (size_t i = 0; i < l->n; i++)
        if (fabs(l->items[i].loss - loss) <= l->loss_error + 1e-14 * (1 + fabs(loss)) &&
            l->items[i].mass >= mass)
            return 1;
    return 0;
}

/* Every value whose loss is finite is there; masses make 1, and losses rise. */
static void check_listed(const listed *l, double tail)
{
    const cellar_losses *losses = &l->losses;
    double sum = losses->infinite;
    int64_t low, high;
    arb_t p, q;
    arb_init(p);
    arb_init(q);
    for (size_t i = 0; i < losses->n; i++) {
        sum += losses->items[i].mass;
        assert_true(i == 0 || losses->items[i - 1].loss <= losses->items[i].loss);
        if (losses->is_lattice)
            assert_true(
                fabs(cellar_rational_double(losses->offset) +
                     (double) losses->items[i].index * cellar_rational_double(losses->spacing) -
                     losses->items[i].loss) <=
                losses->loss_error + 1e-13 * (1 + fabs(losses->items[i].loss)));
    }
    if (!(sum > 1 - 1e-11 && sum < 1 + 1e-11 + tail && losses->loss_error < 1e-12))
        fail_msg("%s: masses of %.15g, losses off by %g", cellar_mechanism_spec(l->m), sum,
                 losses->loss_error);
    assert_true(losses->moved <= 2 * tail && losses->infinite_true <= losses->infinite);
    cellar_distribution_window(l->pair.p, 1e-5, &low, &high);
    for (int64_t b = low; b <= high; b++) {
        l->m->ops->pmf_ball(l->m, l->pair.p->count, b, 160, p);
        l->m->ops->pmf_ball(l->m, l->pair.q->count, b, 160, q);
        if (!arb_is_positive(p) || !arb_is_positive(q))
            continue;
        arb_div(q, p, q, 160);
        arb_log(q, q, 160);
        if (!is_listed(losses, arf_get_d(arb_midref(q), ARF_RND_NEAR), cellar_ball_lower(p)))
            fail_msg("%s: the loss at %d is missing", cellar_mechanism_spec(l->m), (int) b);
    }
    arb_clear(p);
    arb_clear(q);
}

static void test_listed(void **state)
{
    static const double tails[] = {1e-9, 1e-25};
    (void) state;
    for (size_t i = 0; i < (size_t) 4 * N_CASES; i++) {
        listed l;
        listed_open(&l, cases[i / 4].spec, cases[i / 4].shift, i % 2, tails[i / 2 % 2]);
        check_listed(&l, tails[i / 2 % 2]);
        assert_int_equal(l.losses.is_lattice, cases[i / 4].is_lattice);
        listed_close(&l);
    }
}

/* Masses as small as doubles go are rounded up, and no more. */
static void test_far(void **state)
{
    static const char *const specs[] = {"discrete-gaussian:sigma=3", "poisson:alpha=0.4",
                                        "negbin:alpha=2,sigma=0.5"};
    arb_t p;
    (void) state;
    arb_init(p);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        int64_t low, high;
        listed l;
        listed_open(&l, specs[i], 1, 1, 1e-280);
        cellar_distribution_window(l.pair.p, 1e-280, &low, &high);
        for (size_t k = 1; k + 1 < l.losses.n; k++) { /* losses rise with the value */
            double mass = l.losses.items[k].mass;
            l.m->ops->pmf_ball(l.m, l.pair.p->count, low + (int64_t) k, 160, p);
            if (!(mass >= cellar_ball_lower(p) && mass <= cellar_ball_upper(p) * (1 + 0x1p-45)))
                fail_msg("%s at %d: %.15g, not %.15g", specs[i], (int) low + (int) k, mass,
                         cellar_ball_upper(p));
        }
        listed_close(&l);
    }
    arb_clear(p);
}

/* delta from the losses is that of the pair, and a little more where tails were moved. */
static void test_delta(void **state)
{
    (void) state;
    for (size_t i = 0; i < (size_t) 8 * N_CASES; i++) {
        const double epsilon = 0.2 * (double) (i / 2 % 4);
        double got;
        listed l;
        fmpq_t exact;
        arb_t delta;
        arb_init(delta);
        fmpq_init(exact);
        cellar_rational_set_double(exact, epsilon);
        listed_open(&l, cases[i / 8].spec, cases[i / 8].shift, i % 2, 1e-20);
        cellar_pair_delta_by_sum(&l.pair, exact, 1e-20, CELLAR_PAIR_BITS, delta);
        got = delta_listed(&l.losses, epsilon);
        if (!(got >= cellar_ball_lower(delta) * (1 - 1e-11) - 1e-14 &&
              got <= cellar_ball_upper(delta) * (1 + 1e-11) + 1e-14))
            fail_msg("%s: delta(%g) is %.15g, not %.15g", cases[i / 8].spec, epsilon, got,
                     cellar_ball_upper(delta));
        listed_close(&l);
        fmpq_clear(exact);
        arb_clear(delta);
    }
}

/* ---- grids ------------------------------------------------------------------------------------
 */

static double delta_on_grid(const cellar_pld *pld, double epsilon)
{
    double sum = pld->infinite;
    for (size_t i = 0; i < pld->n_filled; i++)
        if (pld->loss[i] > epsilon)
            sum += exp(pld->log_mass[i]) * -expm1(epsilon - pld->loss[i]);
    return sum;
}

/* A grid dominates what is put on it, keeps both masses, and is closer the finer it is. */
static void test_grids(void **state)
{
    static const double spacings[] = {0.1, 0.01, 0.001};
    cellar_error err;
    (void) state;
    for (size_t i = 0; i < (size_t) 3 * N_CASES; i++) {
        const double spacing = spacings[i % 3];
        double p = 0, q = 0, q_listed = 0;
        cellar_pld pld;
        listed l;
        listed_open(&l, cases[i / 3].spec, cases[i / 3].shift, i % 2, 1e-15);
        assert_int_equal(cellar_pld_create(&l.losses, spacing, 1, &pld, &err), CELLAR_OK);
        for (size_t k = 0; k < pld.n_filled; k++) {
            p += exp(pld.log_mass[k]);
            q += exp(pld.log_mass[k] - pld.loss[k]);
            assert_true(pld.loss[k] == (double) pld.index[k] * pld.spacing + pld.offset);
        }
        for (size_t k = 0; k < l.losses.n; k++)
            q_listed += l.losses.items[k].mass * exp(-l.losses.items[k].loss);
        assert_true(fabs(p + pld.infinite - 1) < 1e-9 && fabs(q / q_listed - 1) < 1e-9);
        for (double epsilon = 0; epsilon < 2; epsilon += 0.13) {
            double exact = delta_listed(&l.losses, epsilon), got = delta_on_grid(&pld, epsilon);
            assert_true(got >= exact * (1 - 1e-9) - 1e-13 && got <= exact + spacing);
        }
        cellar_pld_clear(&pld);
        listed_close(&l);
    }
}

/* ---- memory -------------------------------------------------------------------------------------
 */

static cellar_status losses_scenario(void *context, cellar_error *err)
{
    cellar_losses losses;
    cellar_pld pld;
    cellar_status status = cellar_losses_create(context, 1e-9, &losses, err);
    if (status != CELLAR_OK)
        return status;
    status = cellar_pld_create(&losses, 0.1, 1, &pld, err);
    if (status == CELLAR_OK)
        cellar_pld_clear(&pld);
    cellar_losses_clear(&losses);
    return status;
}

static void test_fail_every(void **state)
{
    listed l;
    (void) state;
    listed_open(&l, "discrete-laplace:epsilon=0.5", 1, 1, 1e-9);
    check_fail_every(losses_scenario, &l.pair);
    listed_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listed),     cmocka_unit_test(test_far),
        cmocka_unit_test(test_delta),      cmocka_unit_test(test_grids),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
