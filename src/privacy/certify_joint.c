/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates of mechanisms that do not treat cells one by one. */
#include "privacy/certify.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/ball.h"
#include "math/rational.h"

/* ---- cell keys ---- */

cellar_status cellar_certify_cell_key(const cellar_cell_key *cell_key,
                                      const cellar_certify_options *options,
                                      cellar_certificate **out, cellar_error *err)
{
    cellar_certificate *c = NULL;
    cellar_status status = CELLAR_OK;
    fmpq_t value;

    *out = NULL;
    fmpq_init(value);
    CELLAR_TRY(cellar_certify_check_options(options, err));
    CELLAR_TRY(cellar_certificate_create(options, 1, &c, err));
    CELLAR_TRY(cellar_certificate_name(c, 0, cellar_cell_key_spec(cell_key),
                                       cellar_cell_key_revision(cell_key), err));
    c->is_cell_key = 1;
    c->difference =
        cellar_matrix_difference(cellar_cell_key_matrix(cell_key), &c->difference_count);
    c->infinite = 1;
    CELLAR_TRY(cellar_certificate_judge(
        c, CELLAR_VERDICT_FAILS, err,
        "no differential privacy: when a cell and the same cell with one record more are both "
        "released, the two released values differ with probability %.6g, and with probability 0 "
        "when that record is not there; so delta is at least %.6g for every epsilon",
        c->difference, c->difference));
    for (; c->n_points < options->n_epsilons; c->n_points++) {
        CELLAR_TRY(cellar_certify_read_epsilon(options->epsilons[c->n_points], value, err));
        c->points[c->n_points] = (cellar_profile_point){.epsilon = cellar_rational_double(value),
                                                        .delta = 1,
                                                        .delta_lower = c->difference,
                                                        .delta_probabilistic = 1,
                                                        .delta_published = NAN,
                                                        .count = (int64_t) c->difference_count + 1,
                                                        .neighbour = (int64_t) c->difference_count};
    }
    for (; c->n_epsilons < options->n_deltas; c->n_epsilons++) {
        CELLAR_TRY(cellar_certify_read_delta(options->deltas[c->n_epsilons], value, err));
        c->epsilons[c->n_epsilons] =
            (cellar_epsilon_at){cellar_rational_double(value), INFINITY, INFINITY};
    }
    *out = c;
    c = NULL;
out:
    fmpq_clear(value);
    cellar_certificate_free(c);
    return status;
}

/* ---- multinomial-Dirichlet ---- */

/* The exact decimal of the canonical spec. */
static void dirichlet_alpha(const cellar_dirichlet *d, fmpq_t out)
{
    const char *text = strstr(cellar_dirichlet_spec(d), "alpha=");
    CELLAR_ASSERT(text != NULL);
    text += strlen("alpha=");
    CELLAR_ASSERT(cellar_rational_parse(text, strcspn(text, ","), out));
}

/* Given counts a with total N, n released in K cells, the distribution is Dirichlet-multinomial
 * with parameters a + A. One record more in cell k multiplies P(b) by (a_k + A + b_k) / (a_k + A) *
 * (N + KA) / (N + KA + n), the second factor being its normalising constant. Moving a record from
 * cell j to k cancels it and leaves (a_k + A + b_k)/(a_k + A) * (a_j - 1 + A)/(a_j - 1 + A + b_j),
 * largest at a_k = 0, b_k = n: epsilon = ln((n + A)/A) for substitution, attained. For add-remove
 * the ratio lies between (N + KA)/(N + KA + n) and (n + A)/A times that. When N is public that is
 * the bound; when it is not, both ends are worst at N = 0 and N = infinity, and stay within (n +
 * A)/A. */
static void dirichlet_pure(const cellar_dirichlet *d, const cellar_certify_options *o, arb_t out)
{
    enum { BITS = 256 };
    fmpq_t alpha;
    arb_t first, second;
    double total = (double) cellar_dirichlet_total(d), cells = (double) cellar_dirichlet_n_cells(d);
    fmpq_init(alpha);
    arb_init(first);
    arb_init(second);
    dirichlet_alpha(d, alpha);
    arb_set_fmpq(first, alpha, BITS);
    arb_set_d(out, total);
    arb_div(out, out, first, BITS);
    arb_log1p(out, out, BITS); /* ln((n + A)/A) */
    if (o->neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE && o->population > 0 &&
        o->max_per_unit == 1) {
        arb_set_d(second, cells);
        arb_mul(second, second, first, BITS);
        arb_add_ui(second, second, o->population - 1, BITS); /* N - 1 + KA */
        arb_set_d(first, total);
        arb_div(first, first, second, BITS);
        arb_log1p(first, first, BITS); /* -ln of the factor */
        arb_sub(out, out, first, BITS);
        arb_max(out, out, first, BITS);
    }
    fmpq_clear(alpha);
    arb_clear(first);
    arb_clear(second);
}

/* A mechanism with pure epsilon e0 is dominated by randomised response (Kairouz, Oh and Viswanath
 * 2017): delta(epsilon) <= (e^e0 - e^epsilon) / (1 + e^e0), and nothing from e0 on. */
static cellar_status dirichlet_points(cellar_certificate *c, const cellar_certify_options *o,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    fmpq_t value;
    fmpq_init(value);
    for (; c->n_points < o->n_epsilons; c->n_points++) {
        double epsilon, delta;
        CELLAR_TRY(cellar_certify_read_epsilon(o->epsilons[c->n_points], value, err));
        epsilon = cellar_rational_double(value);
        delta = epsilon >= c->pure
                    ? 0
                    : -expm1(epsilon * (1 - 1e-15) - c->pure) / (1 + exp(-c->pure)) * (1 + 1e-12);
        c->points[c->n_points] = (cellar_profile_point){.epsilon = epsilon,
                                                        .delta = delta,
                                                        .delta_probabilistic = delta > 0 ? 1 : 0,
                                                        .probabilistic_is_bound = delta > 0,
                                                        .delta_published = NAN,
                                                        .count = 1};
    }
    for (; c->n_epsilons < o->n_deltas; c->n_epsilons++) {
        CELLAR_TRY(cellar_certify_read_delta(o->deltas[c->n_epsilons], value, err));
        c->epsilons[c->n_epsilons] = (cellar_epsilon_at){cellar_rational_double(value), c->pure, 0};
    }
out:
    fmpq_clear(value);
    return status;
}

cellar_status cellar_certify_dirichlet(const cellar_dirichlet *dirichlet,
                                       const cellar_certify_options *options,
                                       cellar_certificate **out, cellar_error *err)
{
    cellar_certificate *c = NULL;
    cellar_status status = CELLAR_OK;
    arb_t pure;

    *out = NULL;
    arb_init(pure);
    CELLAR_TRY(cellar_certify_check_options(options, err));
    if (cellar_dirichlet_total(dirichlet) < 0 || cellar_dirichlet_n_cells(dirichlet) < 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "multinomial-dirichlet: the guarantee depends on the released total "
                               "and the number of cells: give total and cells"));
    if (options->n_cells > 1 || options->max_weight > 1)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "multinomial-dirichlet: a record lies in one of its cells and has "
                               "weight 1"));
    CELLAR_TRY(cellar_certificate_create(options, 1, &c, err));
    CELLAR_TRY(cellar_certificate_name(c, 0, cellar_dirichlet_spec(dirichlet),
                                       cellar_dirichlet_revision(dirichlet), err));
    dirichlet_pure(dirichlet, options, pure);
    arb_mul_ui(pure, pure, options->max_per_unit, 256); /* group privacy */
    c->pure = cellar_ball_upper(pure);
    arb_mul(pure, pure, pure, 256); /* pure epsilon is epsilon^2/2 concentrated */
    arb_mul_2exp_si(pure, pure, -1);
    c->composition.rho = cellar_ball_upper(pure);
    c->composition.n_parts = 1;
    c->composition.basic = c->composition.tight = (cellar_guarantee){c->pure, 0};
    CELLAR_TRY(dirichlet_points(c, options, err));
    CELLAR_TRY(cellar_certificate_judge_domain(c, options, err));
    if (options->neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE)
        CELLAR_TRY(cellar_certificate_warn(
            c, err, "%s",
            options->population > 0
                ? "holds if the number of units is public"
                : "the number of units is not given: the bound is the one for substitution"));
    *out = c;
    c = NULL;
out:
    arb_clear(pure);
    cellar_certificate_free(c);
    return status;
}
