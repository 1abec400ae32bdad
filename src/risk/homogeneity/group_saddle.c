/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large groups with fixed shares: the coefficient of x^n as a contour integral.
 *
 * On the circle through the saddle point the product of the factors is a probability law's
 * characteristic function times its largest value; the law has mean n, so the coefficient is that
 * value times P(sum = n), about 1/(2.5 sigma), and the trapezoidal rule with a number of points
 * beyond the law's spread is exact but for what lies outside. Nothing cancels by more than a small
 * factor. (H. E. Daniels, Saddlepoint approximations in statistics, Annals of Mathematical
 * Statistics 25, 1954; here the integral is computed, not approximated.) */
#include "risk/homogeneity/group.h"

#include <math.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/tilted.h"

enum { MAX_STEPS = 200, MIN_TURNS = 60 };
#define SIGMAS 14.0         /* aliases lie that far away */
#define NEAR 2.0            /* sigmas between n and a law's mean that cost no more than e^2 */
#define LOG_NOTHING (-760.) /* below the smallest double */
#define QUIET 1e-14         /* below the rounding of a sum over a wide window */

/* What is asked for: with one value of `part` shown, or stray (in the release but not in truth), or
 * with all absent. */
typedef enum saddle_kind { SADDLE_SHOWN, SADDLE_STRAY, SADDLE_EMPTY, SADDLE_N_KINDS } saddle_kind;
typedef struct saddle_target {
    saddle_kind kind;
    size_t part;
    int is_done;
} saddle_target;

typedef struct saddle {
    const cellar_group *group;
    cellar_tilted *absent, *shown; /* of each part, at the present tilt */
    double complex *turned, *before, *after;
    saddle_target *targets;
    size_t n_targets;
    double tilt;                   /* the radius is e^tilt */
    double log_floor;              /* a bound below it means nothing is there */
    double totals[SADDLE_N_KINDS]; /* done so far */
    double right;
} saddle;

/* e^s - 1 - s without cancellation. */
static double exp_less_two_terms(double s)
{
    double sum = 0, term = s * s / 2;
    if (fabs(s) > 0.3)
        return expm1(s) - s;
    for (int k = 3; fabs(term) > 1e-18 * fabs(sum) && k < 40; k++) {
        sum += term;
        term *= s / k;
    }
    return sum;
}

/* ---- laws at a tilt --------------------------------------------------------------- */

static cellar_status saddle_tilt(saddle *s, double tilt, cellar_error *err)
{
    const cellar_group *g = s->group;
    s->tilt = tilt;
    for (size_t i = 0; i < g->n_parts; i++) {
        cellar_count_law law = {0, g->parts[i].weight * exp(tilt), 0, 0};
        uint64_t most = (uint64_t) (law.mean + 40 * sqrt(law.mean) + 1000);
        if (!cellar_tilted_make(&s->absent[i], g->presence, &law, 0, most) ||
            !cellar_tilted_make(&s->shown[i], g->presence, &law, 1, most))
            return cellar_fail_memory(err, "the risk of a large group");
    }
    return CELLAR_OK;
}

/* The law of the sum that a target means, at the present tilt. */
typedef struct saddle_sum {
    double mean, variance;
    double log_bound; /* of the coefficient, as a probability */
} saddle_sum;

static void saddle_add(saddle_sum *sum, const cellar_tilted *law, double times)
{
    if (times <= 0)
        return;
    sum->mean += times * law->mean;
    sum->variance += times * law->variance;
    sum->log_bound += times * law->log_sum;
}

static saddle_sum saddle_sum_of(const saddle *s, const saddle_target *target)
{
    const cellar_group *g = s->group;
    double n = (double) g->size;
    saddle_sum sum = {0, 0, n * exp_less_two_terms(s->tilt) - dpois(n, n, 1)};

    for (size_t i = 0; i < g->n_parts; i++) {
        int is_it = target->kind != SADDLE_EMPTY && i == target->part;
        saddle_add(&sum, &s->absent[i], (double) g->parts[i].times - is_it);
    }
    if (target->kind == SADDLE_SHOWN)
        saddle_add(&sum, &s->shown[target->part], 1);
    if (target->kind == SADDLE_STRAY) /* a count of zero: the Poisson weight, and presence */
        sum.log_bound +=
            log(presence_present(g->presence, 0)) - g->parts[target->part].weight * exp(s->tilt);
    if (target->kind != SADDLE_EMPTY)
        sum.log_bound += log((double) g->parts[target->part].times);
    return sum;
}

/* Turns the tilt until the mean is within a tenth of a standard deviation of n: Newton's steps in
 * a bracket. Answers the sum's law; its bound tells when there is nothing. */
static cellar_status saddle_solve(saddle *s, const saddle_target *target, saddle_sum *sum,
                                  cellar_error *err)
{
    double low = -INFINITY, high = INFINITY, tilt = s->tilt, n = (double) s->group->size;
    cellar_status status = CELLAR_OK;

    for (int step = 0; step < MAX_STEPS && status == CELLAR_OK; step++) {
        double away, move;
        *sum = saddle_sum_of(s, target);
        if (!(sum->log_bound > s->log_floor))
            break;
        away = n - sum->mean;
        if (fabs(away) <= 0.1 * sqrt(sum->variance) + 1e-9)
            break;
        if (away > 0)
            low = tilt;
        else
            high = tilt;
        move = away / fmax(sum->variance, 1e-3);
        tilt += fmax(-1, fmin(1, move));
        if (tilt <= low || tilt >= high)
            tilt = (low + high) / 2;
        status = saddle_tilt(s, tilt, err);
    }
    return status;
}

/* ---- the integral ------------------------------------------------------------------ */

static double complex power(double complex base, double times)
{
    double complex result = 1;
    for (uint64_t n = (uint64_t) times; n > 0; n >>= 1) {
        if (n & 1)
            result *= base;
        base *= base;
    }
    return result;
}

/* Characteristic functions at an angle, each about its own centre, and the products of all factors
 * before and after a part. */
static void saddle_turn(saddle *s, double angle)
{
    const cellar_group *g = s->group;
    double complex product = 1;
    for (size_t i = 0; i < g->n_parts; i++) {
        uint64_t centre = (uint64_t) s->absent[i].mean;
        s->turned[i] = cellar_tilted_turn(&s->absent[i], angle, centre, NULL);
        s->before[i] = product;
        product *= power(s->turned[i], (double) g->parts[i].times);
    }
    product = 1;
    for (size_t i = g->n_parts; i-- > 0;) {
        s->after[i] = product;
        product *= power(s->turned[i], (double) g->parts[i].times);
    }
}

/* The phase of the centres left out: sum of centres minus n, with the target's in its place. */
static double saddle_phase(const saddle *s, const saddle_target *target)
{
    const cellar_group *g = s->group;
    double phase = -(double) g->size;
    for (size_t i = 0; i < g->n_parts; i++) {
        int is_it = target->kind != SADDLE_EMPTY && i == target->part;
        phase += (double) (uint64_t) s->absent[i].mean * ((double) g->parts[i].times - is_it);
    }
    if (target->kind == SADDLE_SHOWN)
        phase += (double) (uint64_t) s->shown[target->part].mean;
    return phase;
}

typedef struct saddle_integral {
    saddle_target *target;
    double log_bound, phase, sum, sum_right;
} saddle_integral;

/* Adds one angle (and its mirror image) to an integral; answers how much it was. */
static double saddle_add_angle(const saddle *s, double angle, double weight, saddle_integral *to)
{
    const cellar_group *g = s->group;
    size_t part = to->target->part;
    double complex others, right;

    if (to->target->kind == SADDLE_EMPTY) {
        others = s->before[g->n_parts - 1] *
                 power(s->turned[g->n_parts - 1], (double) g->parts[g->n_parts - 1].times);
    } else {
        others = s->before[part] * s->after[part] *
                 power(s->turned[part], (double) (g->parts[part].times - 1));
    }
    others *= cexp(I * fmod(angle * to->phase, 2 * M_PI));
    if (to->target->kind == SADDLE_SHOWN) {
        uint64_t centre = (uint64_t) s->shown[part].mean;
        double complex shown = cellar_tilted_turn(&s->shown[part], angle, centre, &right);
        to->sum_right += weight * creal(others * right);
        others *= shown;
    }
    to->sum += weight * creal(others);
    return cabs(others);
}

/* The trapezoidal rule for several targets at once; it ends early once nothing more comes. */
static void saddle_integrate(saddle *s, saddle_integral *integrals, size_t n_integrals,
                             double variance)
{
    double n_turns = ceil(SIGMAS * sqrt(variance)) + MIN_TURNS;
    uint64_t n_half = (uint64_t) (n_turns / 2);
    int n_quiet = 0;
    for (uint64_t k = 0; k <= n_half && n_quiet < 8; k++) {
        double angle = 2 * M_PI * (double) k / n_turns, largest = 0;
        double weight = k == 0 || 2 * (double) k == n_turns ? 1 : 2;
        saddle_turn(s, angle);
        for (size_t i = 0; i < n_integrals; i++)
            largest = fmax(largest, saddle_add_angle(s, angle, weight, &integrals[i]));
        n_quiet = largest < QUIET ? n_quiet + 1 : 0;
    }
    for (size_t i = 0; i < n_integrals; i++) {
        double scale = exp(integrals[i].log_bound) / n_turns;
        saddle_kind kind = integrals[i].target->kind;
        s->totals[kind] += fmax(0, integrals[i].sum) * scale;
        if (kind == SADDLE_SHOWN)
            s->right += fmax(0, integrals[i].sum_right) * scale / (double) s->group->size;
    }
}

/* Does the first target that is left, and with it all whose mean is near n at the same tilt. One
 * whose bound is far below what its kind has already is done as well. */
static cellar_status saddle_round(saddle *s, saddle_target *first, saddle_integral *integrals,
                                  cellar_error *err)
{
    cellar_status status;
    saddle_sum sum = {0};
    double variance = 0;
    size_t n = 0;

    status = saddle_solve(s, first, &sum, err);
    if (status != CELLAR_OK)
        return status;
    first->is_done = 1;
    if (!(sum.log_bound > s->log_floor))
        return CELLAR_OK;
    for (saddle_target *t = first; t < s->targets + s->n_targets; t++) {
        saddle_sum own = saddle_sum_of(s, t);
        if (t != first &&
            (t->is_done || fabs(own.mean - (double) s->group->size) > NEAR * sqrt(own.variance)))
            continue;
        t->is_done = 1;
        variance = fmax(variance, own.variance);
        integrals[n++] = (saddle_integral){t, own.log_bound, saddle_phase(s, t), 0, 0};
    }
    saddle_integrate(s, integrals, n, variance);
    for (saddle_target *t = first; t < s->targets + s->n_targets; t++)
        if (!t->is_done && saddle_sum_of(s, t).log_bound <
                               log(s->totals[t->kind]) - 40 - log((double) s->n_targets))
            t->is_done = 1;
    return CELLAR_OK;
}

/* ---- the whole ---------------------------------------------------------------------- */

static int saddle_heavier(const void *left, const void *right)
{
    double a = ((const cellar_group_part *) left)->weight;
    double b = ((const cellar_group_part *) right)->weight;
    return (a < b) - (a > b);
}

/* 1 when all values can be absent together: no mechanism with bounded noise hides large counts. */
static int saddle_can_hide(const cellar_group *group)
{
    uint64_t low = 0, high = group->size + 1; /* absent at low (or never), not at high */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (presence_absent(group->presence, middle) > 0)
            low = middle;
        else
            high = middle;
    }
    return (double) low * (double) cellar_group_n_values(group) >= (double) group->size;
}

static cellar_status saddle_init(saddle *s, const cellar_group *group, saddle_integral **integrals,
                                 cellar_error *err)
{
    size_t n = group->n_parts;
    int is_done;
    *s = (saddle){.group = group, .n_targets = 2 * n + 1};
    s->log_floor = group->floor > 0 ? log(group->floor) : LOG_NOTHING;
    s->absent = cellar_alloc(n, sizeof *s->absent);
    s->shown = cellar_alloc(n, sizeof *s->shown);
    s->turned = cellar_alloc(3 * n, sizeof *s->turned);
    s->targets = cellar_alloc(s->n_targets, sizeof *s->targets);
    *integrals = cellar_alloc(s->n_targets, sizeof **integrals);
    if (s->absent == NULL || s->shown == NULL || s->turned == NULL || s->targets == NULL ||
        *integrals == NULL)
        return cellar_fail_memory(err, "the risk of a large group");
    s->before = s->turned + n;
    s->after = s->turned + 2 * n;
    for (size_t i = 0; i < n; i++)
        s->targets[i] = (saddle_target){SADDLE_SHOWN, i, 0};
    is_done = !saddle_can_hide(group);
    s->targets[n] = (saddle_target){SADDLE_EMPTY, 0, is_done};
    for (size_t i = 0; i < n; i++)
        s->targets[n + 1 + i] = (saddle_target){SADDLE_STRAY, i, is_done};
    return saddle_tilt(s, 0, err);
}

static void saddle_clear(saddle *s, size_t n)
{
    for (size_t i = 0; i < n && s->absent != NULL && s->shown != NULL; i++) {
        cellar_tilted_clear(&s->absent[i]);
        cellar_tilted_clear(&s->shown[i]);
    }
    cellar_free(s->absent);
    cellar_free(s->shown);
    cellar_free(s->turned);
    cellar_free(s->targets);
}

/* The integrals hold counts with a single positive value as well: those are known in closed form
 * and taken off. */
static void saddle_answer(const saddle *s, cellar_group_spread *out)
{
    const cellar_group *g = s->group;
    cellar_group_spread none = {0};
    cellar_risk single;

    cellar_risk_compose(g->presence, g->size, cellar_group_n_values(g), cellar_group_homogeneous(g),
                        &none, &single);
    out->shown = fmax(0, s->totals[SADDLE_SHOWN] - single.scenario[0]);
    out->right = fmax(0, s->right - single.scenario[0]);
    out->stray = fmax(0, s->totals[SADDLE_STRAY] - single.scenario[1]);
    out->empty = fmax(0, s->totals[SADDLE_EMPTY] - single.scenario[3]);
}

cellar_status cellar_group_by_saddle(const cellar_group *group, cellar_group_spread *out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    saddle s = {0};
    saddle_integral *integrals = NULL;
    cellar_group sorted = *group;
    cellar_group_part *parts = cellar_alloc(group->n_parts, sizeof *parts);

    CELLAR_ASSERT(!group->has_prior && group->size >= 2 && group->n_never == 0);
    if (parts == NULL)
        return cellar_fail_memory(err, "the risk of a large group");
    for (size_t i = 0; i < group->n_parts; i++)
        parts[i] = group->parts[i];
    qsort(parts, group->n_parts, sizeof *parts, saddle_heavier);
    sorted.parts = parts;
    CELLAR_TRY(saddle_init(&s, &sorted, &integrals, err));
    for (size_t i = 0; i < s.n_targets; i++)
        if (!s.targets[i].is_done)
            CELLAR_TRY(saddle_round(&s, &s.targets[i], integrals, err));
    saddle_answer(&s, out);
out:
    saddle_clear(&s, group->n_parts);
    cellar_free(integrals);
    cellar_free(parts);
    return status;
}
