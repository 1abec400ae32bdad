/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A convex problem, solved by multiplicative steps with a bound that proves how close they are.
 *
 * With q_B the weight of a whole table, v_C = p_C sum_{B above C} q_B / ratio(B, C)^2 and cost 1,
 *     loss(w) = sum_C v_C / tau_C,   g_A = -dloss/dw_A = sum_{C below A} (v_C / tau_C^2) / ratio(A,
 * C), and sum_A w_A g_A = loss, because the loss has degree -1 in w. At the optimum g_A equals the
 * loss where w_A > 0 and is no larger elsewhere. The step w_A <- w_A sqrt(g_A / loss) has this as
 * its fixed point (the multiplicative algorithm of optimal design: Silvey, Titterington and Torsney
 * 1978; monotone for such losses: Yu 2010).
 *
 * The bound: for all w* of cost 1 and t > 0 convexity at t w gives
 *     loss(w*) >= 2 loss(w)/t - max g / t^2, whose largest value over t is loss(w)^2 / max_A g_A.
 *
 * Tables that were measured already keep their precision k_A: tau has it, steps leave it alone, and
 * the loss has no degree any more. The bound is then that of the tangent at w,
 *     loss(w*) >= loss(w) - (max g - sum_A w_A g_A)   over the tables that may be measured.
 *
 * Caps Var_B <= cap_B have multipliers m_B, added to q_B; the multiplier of a cap that is exceeded
 * grows. For all m >= 0 no choice within the caps has a loss below
 *     min_w sum_B (q_B + m_B) Var_B - sum_B m_B cap_B  (weak duality), bounded as above. */
#include "cube/precision.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Caps are aimed at a little below, so that what is found lies within them. */
#define CAP_AIM 0.998

cube_objective cellar_cube_objective_default(void)
{
    return (cube_objective){.gap = 0.001, .rounds_max = 20000};
}

double cellar_cube_variance(const cube_lattice *l, const double *tau, size_t table)
{
    double variance = 0;
    for (size_t k = l->start[table]; k < l->start[table + 1]; k++)
        variance += l->free_share[l->below[k]] / (tau[l->below[k]] * l->ratio[k] * l->ratio[k]);
    return variance;
}

void cellar_cube_evaluate(const cube_lattice *l, const double *w, double *tau, double *variance)
{
    memset(tau, 0, l->n * sizeof *tau);
    for (size_t a = 0; a < l->n; a++)
        if (w[a] > 0)
            for (size_t k = l->start[a]; k < l->start[a + 1]; k++)
                tau[l->below[k]] += w[a] / l->ratio[k];
    for (size_t s = 0; s < l->n; s++)
        if (cube_is_exact(l, s))
            tau[s] = INFINITY;
    for (size_t b = 0; b < l->n; b++)
        variance[b] = cellar_cube_variance(l, tau, b);
}

/* ---- a problem at work ------------------------------------------------------------ */

typedef struct choosing {
    const cube_lattice *l;
    double *q;      /* of tables: what is wanted */
    double *m;      /* of tables: multipliers of the caps */
    double *v, *g;  /* of interactions, of tables */
    double *best_w; /* of the best choice so far */
    const double *known;
    cube_choice now;
} choosing;

static void choosing_clear(choosing *c)
{
    cellar_free(c->q);
    cellar_free(c->m);
    cellar_free(c->v);
    cellar_free(c->g);
    cellar_free(c->best_w);
    cellar_cube_choice_clear(&c->now);
}

static int is_known(const choosing *c, size_t a)
{
    return c->known != NULL && c->known[a] > 0;
}

/* Clear it in every case. */
static cellar_status choosing_init(choosing *c, const cube_lattice *l, const double *known,
                                   cellar_error *err)
{
    *c = (choosing){.l = l,
                    .known = known,
                    .q = cellar_alloc(l->n, sizeof(double)),
                    .m = cellar_alloc(l->n, sizeof(double)),
                    .v = cellar_alloc(l->n, sizeof(double)),
                    .g = cellar_alloc(l->n, sizeof(double)),
                    .best_w = cellar_alloc(l->n, sizeof(double)),
                    .now = {.w = cellar_alloc(l->n, sizeof(double)),
                            .tau = cellar_alloc(l->n, sizeof(double)),
                            .variance = cellar_alloc(l->n, sizeof(double))}};
    if (c->q == NULL || c->m == NULL || c->v == NULL || c->g == NULL || c->best_w == NULL ||
        c->now.w == NULL || c->now.tau == NULL || c->now.variance == NULL) {
        return cellar_fail_memory(err, "the choice of tables to measure");
    }
    for (size_t a = 0; a < l->n; a++)
        c->now.w[a] = is_known(c, a) ? known[a] : cube_is_exact(l, a) ? 0 : 1 / (double) l->n;
    return CELLAR_OK;
}

/* v of the weights q and multipliers m. */
static void choosing_weigh(choosing *c)
{
    const cube_lattice *l = c->l;
    memset(c->v, 0, l->n * sizeof *c->v);
    for (size_t b = 0; b < l->n; b++)
        if (c->q[b] + c->m[b] > 0)
            for (size_t k = l->start[b]; k < l->start[b + 1]; k++)
                c->v[l->below[k]] += (c->q[b] + c->m[b]) / (l->ratio[k] * l->ratio[k]);
    for (size_t s = 0; s < l->n; s++)
        c->v[s] *= cube_is_exact(l, s) ? 0 : l->free_share[s];
}

/* Computes g for the present w. Answers the loss with multipliers; *bound: no choice has less. */
static double choosing_gradient(choosing *c, double *bound)
{
    const cube_lattice *l = c->l;
    double loss = 0, largest = 0, spent = 0;
    for (size_t s = 0; s < l->n; s++)
        loss += c->v[s] / c->now.tau[s];
    for (size_t a = 0; a < l->n; a++) {
        double g = 0;
        for (size_t k = l->start[a]; k < l->start[a + 1]; k++) {
            const uint32_t s = l->below[k];
            g += c->v[s] / (c->now.tau[s] * c->now.tau[s] * l->ratio[k]);
        }
        c->g[a] = g;
        if (!is_known(c, a) && g > largest)
            largest = g;
        spent += is_known(c, a) ? 0 : c->now.w[a] * g;
    }
    *bound = c->known == NULL ? loss * loss / largest : loss - (largest - spent);
    return loss;
}

static void choosing_step(choosing *c, double loss)
{
    double sum = 0;
    for (size_t a = 0; a < c->l->n; a++)
        if (!is_known(c, a)) {
            c->now.w[a] *= sqrt(c->g[a] / loss);
            sum += c->now.w[a];
        }
    for (size_t a = 0; a < c->l->n; a++)
        c->now.w[a] /= is_known(c, a) ? 1 : sum;
}

/* The least loss of all Gaussian matrix mechanisms: all tau free (docs/cube.md). */
static double choosing_free_least(const choosing *c)
{
    double root = c->known == NULL ? 0 : NAN;
    for (size_t s = 0; s < c->l->n; s++)
        root += sqrt(c->v[s] * c->l->free_share[s]);
    return root * root;
}

static double sum_products(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] > 0 ? a[i] * b[i] : 0;
    return sum;
}

static double largest_ratio(const double *variance, const double *cap, size_t n)
{
    double largest = 0;
    for (size_t b = 0; cap != NULL && b < n; b++)
        if (variance[b] > largest * cap[b])
            largest = variance[b] / cap[b];
    return largest;
}

/* ---- within caps -------------------------------------------------------------------- */

/* Multipliers to begin with: together a hundredth of the loss. */
static void caps_begin(choosing *c, const double *cap)
{
    size_t n_capped = 0;
    double loss;
    for (size_t b = 0; b < c->l->n; b++)
        n_capped += isfinite(cap[b]) ? 1 : 0;
    cellar_cube_evaluate(c->l, c->now.w, c->now.tau, c->now.variance);
    loss = sum_products(c->q, c->now.variance, c->l->n);
    for (size_t b = 0; b < c->l->n; b++)
        if (isfinite(cap[b]))
            c->m[b] = 0.01 * loss / ((double) n_capped * cap[b]);
}

static void caps_step(choosing *c, const double *cap)
{
    for (size_t b = 0; b < c->l->n; b++)
        if (c->m[b] > 0)
            c->m[b] *= pow(c->now.variance[b] / (CAP_AIM * cap[b]), 0.5);
}

/* Keeps the present choice when it is the best of those within the caps, or the nearest to them. */
static void choosing_keep(choosing *c, double loss, double over)
{
    const int was_within = c->now.over <= 1, is_within = over <= 1;
    if (c->now.loss > 0 && was_within && (!is_within || loss >= c->now.loss))
        return;
    if (c->now.loss > 0 && !was_within && !is_within && over >= c->now.over)
        return;
    memcpy(c->best_w, c->now.w, c->l->n * sizeof *c->best_w);
    c->now.loss = loss;
    c->now.over = over;
}

/* The best choice becomes the answer. */
static void choosing_finish(choosing *c, cube_choice *out)
{
    memcpy(c->now.w, c->best_w, c->l->n * sizeof *c->best_w);
    cellar_cube_evaluate(c->l, c->now.w, c->now.tau, c->now.variance);
    *out = c->now;
    c->now = (cube_choice){0};
}

cellar_status cellar_cube_choose(const cube_lattice *lattice, const cube_objective *objective,
                                 double cost, cube_choice *out, cellar_error *err)
{
    const size_t n = lattice->n;
    double *cap = NULL; /* of variances at cost 1 */
    choosing c = {0};
    cellar_status status = CELLAR_OK;

    *out = (cube_choice){0};
    CELLAR_TRY(choosing_init(&c, lattice, objective->known, err));
    for (size_t b = 0; b < n; b++)
        c.q[b] = objective->weight[b] * lattice->n_cells[b];
    choosing_weigh(&c);
    c.now.free_least = choosing_free_least(&c);
    if (objective->cap != NULL) {
        cap = cellar_alloc(n, sizeof *cap);
        if (cap == NULL)
            CELLAR_TRY(cellar_fail_memory(err, "the choice of tables to measure"));
        for (size_t b = 0; b < n; b++)
            cap[b] = objective->cap[b] * cost;
        caps_begin(&c, cap);
    }
    for (size_t round = 0; round < objective->rounds_max; round++) {
        double loss, bound;
        cellar_cube_evaluate(lattice, c.now.w, c.now.tau, c.now.variance);
        if (cap != NULL)
            choosing_weigh(&c);
        loss = choosing_gradient(&c, &bound);
        if (!isfinite(loss)) /* caps that cannot be met: multipliers grow without end */
            break;
        for (size_t b = 0; cap != NULL && b < n; b++)
            bound -= c.m[b] > 0 ? c.m[b] * cap[b] : 0;
        if (bound > c.now.least)
            c.now.least = bound;
        choosing_keep(&c, sum_products(c.q, c.now.variance, n),
                      largest_ratio(c.now.variance, cap, n));
        if (c.now.over <= 1 && c.now.loss <= c.now.least * (1 + objective->gap))
            break;
        if (cap != NULL)
            caps_step(&c, cap);
        choosing_step(&c, loss);
    }
    choosing_finish(&c, out);
out:
    cellar_free(cap);
    choosing_clear(&c);
    return status;
}

/* ---- the smallest largest variance ---------------------------------------------------- */

/* The loss is the largest variance / goal; q are the weights of an adversary who moves towards the
 * largest. With sum_B q_B goal_B = 1 the loss of any w is at least sum_B q_B Var_B. */
static void adversary_step(choosing *c, const double *goal)
{
    double sum = 0;
    for (size_t b = 0; b < c->l->n; b++)
        if (c->q[b] > 0) {
            c->q[b] *= c->now.variance[b] / goal[b];
            sum += c->q[b] * goal[b];
        }
    for (size_t b = 0; b < c->l->n; b++)
        c->q[b] /= sum;
}

cellar_status cellar_cube_choose_minimax(const cube_lattice *lattice,
                                         const cube_objective *objective, cube_choice *out,
                                         cellar_error *err)
{
    const double *goal = objective->cap;
    size_t n_goals = 0;
    choosing c = {0};
    cellar_status status = CELLAR_OK;

    *out = (cube_choice){0};
    for (size_t b = 0; b < lattice->n; b++)
        n_goals += isfinite(goal[b]) ? 1 : 0;
    if (n_goals == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "no table has a goal");
    CELLAR_TRY(choosing_init(&c, lattice, objective->known, err));
    for (size_t b = 0; b < lattice->n; b++)
        c.q[b] = isfinite(goal[b]) ? 1 / ((double) n_goals * goal[b]) : 0;
    for (size_t round = 0; round < objective->rounds_max; round++) {
        double bound, loss, worst;
        cellar_cube_evaluate(lattice, c.now.w, c.now.tau, c.now.variance);
        choosing_weigh(&c);
        loss = choosing_gradient(&c, &bound);
        worst = largest_ratio(c.now.variance, goal, lattice->n);
        if (bound > c.now.least) {
            c.now.least = bound;
            c.now.free_least = choosing_free_least(&c);
        }
        choosing_keep(&c, worst, 0);
        if (c.now.loss <= c.now.least * (1 + objective->gap))
            break;
        adversary_step(&c, goal);
        choosing_step(&c, loss);
    }
    c.now.over = c.now.loss;
    choosing_finish(&c, out);
out:
    choosing_clear(&c);
    return status;
}

void cellar_cube_choice_clear(cube_choice *choice)
{
    cellar_free(choice->w);
    cellar_free(choice->tau);
    cellar_free(choice->variance);
    *choice = (cube_choice){0};
}
