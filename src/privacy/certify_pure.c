/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pure epsilon, zero-concentrated rho and infinite loss of everything together. */
#include "privacy/certify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "math/ball.h"
#include "math/rational.h"

/* Adds `cells` times `one`, or in parallel takes the larger of that and what there is. */
static void add_exact(const cellar_setting *s, double cells, fmpq_t one, fmpq_t total)
{
    fmpq_t times;
    fmpq_init(times);
    cellar_rational_set_double(times, cells);
    fmpq_mul(one, one, times);
    if (!s->options->parallel)
        fmpq_add(total, total, one);
    else if (fmpq_cmp(one, total) > 0)
        fmpq_set(total, one);
    fmpq_clear(times);
}

/* Doubles on both sides of an exact sum. Where few digits tell it, the nearest one stands for it,
 * as for what is asked for: 0.3 is not printed as more than 0.3. */
static void set_exact(const fmpq_t total, cellar_certificate *c)
{
    char text[40];
    int side;
    fmpq_t nearest;
    fmpq_init(nearest);
    c->pure = c->pure_lower = cellar_rational_double(total);
    snprintf(text, sizeof text, "%.*g", CELLAR_FEW_DIGITS, c->pure);
    if (!cellar_rational_parse(text, strlen(text), nearest) || !fmpq_equal(nearest, total)) {
        cellar_rational_set_double(nearest, c->pure);
        side = fmpq_cmp(nearest, total);
        c->pure = side < 0 ? nextafter(c->pure, INFINITY) : c->pure;
        c->pure_lower = side > 0 ? nextafter(c->pure_lower, 0) : c->pure_lower;
    }
    fmpq_clear(nearest);
}

/* 1 when all cells reach their pure epsilons together: a single cell does, and cells of noise do,
 * whose losses are as large in one order of the counts as in the other. */
static int is_attained(const cellar_setting *s)
{
    if (cellar_setting_is_single(s))
        return 1;
    for (size_t i = 0; i < s->n; i++)
        if (!cellar_one_cell_is_noise(&s->cells[i]))
            return 0;
    return 1;
}

/* The pure epsilons of all cells a unit meets; in parallel the largest. Monotone ratios are
 * furthest from 1 at their ends, where every step of a shift has its share. */
cellar_status cellar_certify_pure(cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    double sum = 0, largest = 0;
    int is_exact = 1;
    cellar_text text = {0};
    fmpq_t total, one;
    fmpq_init(total);
    fmpq_init(one);
    for (size_t i = 0; i < s->n; i++) {
        const double cells = cellar_setting_cells_of(s, i) * (double) s->group;
        int exact_here;
        const double epsilon = cellar_worst_pure(&s->cells[i], &exact_here, one) * cells;
        is_exact &= exact_here;
        sum = nextafter(sum + nextafter(epsilon, INFINITY), INFINITY);
        largest = fmax(largest, cells > 1 ? nextafter(epsilon, INFINITY) : epsilon);
        add_exact(s, cells, one, total);
    }
    c->pure = s->options->parallel || s->n == 1 ? largest : sum;
    c->pure_lower = c->pure * (1 - (double) (s->n + 2) * 0x1p-52); /* as often as it was rounded */
    if (is_exact) {
        cellar_rational_add(&text, total);
        set_exact(total, c);
        if (text.failed)
            cellar_text_clear(&text);
        c->pure_exact = text.bytes;
    }
    if (s->group > 1 || !is_attained(s))
        c->pure_lower = 0; /* the bound holds, and a smaller one may exist */
    fmpq_clear(total);
    fmpq_clear(one);
    return is_exact && c->pure_exact == NULL ? cellar_fail_memory(err, "a certificate") : CELLAR_OK;
}

/* Bun and Steinke 2016: rho adds up, and of a chain of m changes it is m^2 rho (Proposition 1.9).
 */
void cellar_certify_rho(const cellar_setting *s, cellar_certificate *c)
{
    int is_known = 1;
    fmpq_t total, one;
    arb_t ball;
    fmpq_init(total);
    fmpq_init(one);
    arb_init(ball);
    for (size_t i = 0; i < s->n && is_known; i++) {
        const cellar_mechanism *m = s->parts[i].mechanism;
        const cellar_facts *facts = m->ops->facts;
        is_known = facts != NULL && facts->rho != NULL && facts->rho(m, s->cells[i].shift, one);
        add_exact(s, cellar_setting_cells_of(s, i), one, total);
    }
    if (is_known) {
        fmpq_mul_ui(total, total, s->group);
        fmpq_mul_ui(total, total, s->group);
        arb_set_fmpq(ball, total, 128);
        c->composition.rho = cellar_ball_upper(ball);
    }
    fmpq_clear(total);
    fmpq_clear(one);
    arb_clear(ball);
}

/* The mass of infinite loss of one record: cells are independent, so that the logarithms of what is
 * finite add up. Moving in parallel meets the two worst tables at most. */
static cellar_status record_infinite(cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    const int moves = s->options->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE;
    double all = 0, worst = 0, second = 0, total;
    for (size_t i = 0; i < s->n; i++) {
        cellar_worst one;
        double finite;
        cellar_worst_infinite(&s->cells[i], &one);
        if (!one.is_proved) {
            cellar_status status = cellar_certificate_judge(
                c, CELLAR_VERDICT_UNKNOWN, err, "nothing is proved about %s for large counts",
                cellar_mechanism_spec(s->parts[i].mechanism));
            if (status != CELLAR_OK)
                return status;
        }
        c->infinite = one.upper; /* of a single cell; else replaced below */
        finite = cellar_setting_cells_of(s, i) * log1p(-fmin(one.upper, 1));
        all += finite;
        finite = moves ? finite / 2 : finite;
        second = fmin(second, fmax(worst, finite));
        worst = fmin(worst, finite);
    }
    if (cellar_setting_is_single(s))
        return CELLAR_OK;
    total = !s->options->parallel ? all : moves ? fmin(worst + second, 2 * worst) : worst;
    c->infinite = total < 0 ? fmin(1, -expm1(total) * (1 + 1e-12)) : 0;
    return CELLAR_OK;
}

/* A chain of changes: nothing is infinite when no step is; else delta at some epsilon bounds it. */
cellar_status cellar_certify_infinite(cellar_setting *s, cellar_certificate *c, cellar_error *err)
{
    static const int percents[] = {1, 50, 100, 200};
    cellar_status status = record_infinite(s, c, err);
    fmpq_t epsilon;
    if (status != CELLAR_OK || s->group <= 1 || c->infinite <= 0)
        return status;
    c->infinite = 1;
    fmpq_init(epsilon);
    for (size_t i = 0; i < sizeof percents / sizeof *percents && status == CELLAR_OK; i++) {
        cellar_curve_point point;
        fmpq_set_si(epsilon, percents[i], 100);
        status = cellar_curve_delta(s, epsilon, &point, err);
        if (status == CELLAR_OK)
            c->infinite = fmin(c->infinite, point.bounds.upper);
    }
    fmpq_clear(epsilon);
    return status;
}

/* Bun and Steinke 2016, Proposition 1.3, and its inverse. */
void cellar_certify_by_rho(cellar_certificate *c)
{
    const double rho = c->composition.rho, up = 1 + 1e-12;
    if (!(rho > 0) || !isfinite(rho))
        return;
    for (size_t i = 0; i < c->n_points; i++) {
        cellar_profile_point *p = &c->points[i];
        const double above = p->epsilon - rho;
        if (above > 0)
            p->delta = fmin(p->delta, exp(-above * above / (4 * rho) * (2 - up)) * up);
        p->delta_lower = fmin(p->delta_lower, p->delta);
    }
    for (size_t i = 0; i < c->n_epsilons; i++) {
        cellar_epsilon_at *at = &c->epsilons[i];
        if (at->delta > 0)
            at->epsilon = fmin(at->epsilon, (rho + 2 * sqrt(rho * -log(at->delta))) * up);
        at->lower = fmin(at->lower, at->epsilon);
    }
    if (c->n_epsilons > 0 && c->epsilons[0].delta > 0)
        c->composition.tight.epsilon = fmin(c->composition.tight.epsilon, c->epsilons[0].epsilon);
}
