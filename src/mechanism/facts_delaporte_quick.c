/* SPDX-License-Identifier: GPL-3.0-or-later */
/* delta and delta_p of one pair of Delaporte counts in doubles, rounded up: thirty times as fast as
 * in double-words. (b+1) P(b+1) = lambda P(b) + S(b), S(b) = q (r P(b) + S(b-1)) (delaporte.c), all
 * of it sums and products of positive numbers, so that P(b) is right to 8b units; what is close to
 * e^epsilon counts as a violation.
 *
 * What lies beyond b: the ratio of neighbours in the negative binomial part stays below
 * q = beta/(1 + beta), so P(b+1) <= q P(b) + P(X = b+1) P(Y = 0), and the quotient of the last by
 * P(b) falls, as (b+1) P(b+1) >= lambda P(b). */
#include <math.h>

#include "mechanism/facts_delaporte.h"
#include "mechanism/kernel.h"

static const double ROUNDING = 1e-9;
enum { STEP = 16 }; /* numbers in a row, over which no P(b) changes by 2^500 */

/* Of the smaller count and of the larger one. */
typedef double both __attribute__((vector_size(16)));
typedef int64_t masks __attribute__((vector_size(16)));

/* Two laws, at b. */
typedef struct sides {
    both lambda, q, feed; /* feed = q r */
    both p, s, plain;     /* P(b), S(b - 1), and P(X = b) P(Y = 0), divided by e^log_scale */
    both log_scale, scale;
    both scaled; /* e^(log_scale + epsilon), which may be infinite */
    double epsilon;
    double log_least; /* what falls below counts as 0 */
    int is_concave;   /* sizes r are at least 1 */
} sides;

/* Past its mode a law falls, and it would fall through numbers that processors are slow with. */
static void side_rescale(sides *a, int i, int is_past)
{
    int exponent;
    if (a->p[i] > 0x1p-20 && a->p[i] < 0x1p250 && a->scale[i] >= 0)
        return;
    a->p[i] = frexp(a->p[i], &exponent);
    a->s[i] = ldexp(a->s[i], -exponent);
    a->plain[i] = ldexp(a->plain[i], -exponent);
    a->log_scale[i] += exponent * M_LN2;
    a->scale[i] = is_past && a->log_scale[i] < a->log_least ? 0 : exp(a->log_scale[i]);
    a->scaled[i] = exp(a->log_scale[i] + a->epsilon);
}

static sides sides_of(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    double sigma = fmpq_get_d(cellar_kernel_parameter(k, "sigma")->value);
    double nu = fmpq_get_d(cellar_kernel_parameter(k, "nu")->value);
    sides a = {.p = {1, 1}, .plain = {1, 1}, .scale = {-1, -1}, .epsilon = epsilon};
    a.is_concave = cellar_facts_ordered(m);
    fmpq_t rest;
    fmpq_init(rest);
    fmpq_set_si(rest, 1, 1);
    fmpq_sub(rest, rest, cellar_kernel_parameter(k, "nu")->value);
    for (int i = 0; i < 2; i++) {
        double mean = (double) cellar_kernel_mean(k, i == 0 ? count : count + shift);
        double beta = sigma * mean * fmpq_get_d(rest);
        a.lambda[i] = mean * nu;
        a.q[i] = beta / (1 + beta);
        a.feed[i] = a.q[i] / sigma;
        a.log_scale[i] = -a.lambda[i] - log1p(beta) / sigma;
        side_rescale(&a, i, 0);
    }
    fmpq_clear(rest);
    return a;
}

static both both_swapped(both x)
{
    return (both){x[1], x[0]};
}

static both both_where(masks mask, both x)
{
    return (both) (mask & (masks) x);
}

/* Adds the STEP numbers from b on to delta and delta_p. */
static void sides_step(sides *a, double b, both *delta, both *violation)
{
    const both close = {3 * ROUNDING, 3 * ROUNDING}, zero = {0, 0};
    const both own = a->lambda + a->feed, lambda = a->lambda, q = a->q, feed = a->feed;
    const both scale = a->scale, scaled = a->scaled;
    both p = a->p, s = a->s, plain = a->plain, sum = *delta, sum_p = *violation;
    for (int k = 0; k < STEP; k++) {
        both value = p * scale, term = value - both_swapped(p * scaled);
        masks counts = term > -close * value, either = counts | (masks) both_swapped((both) counts);
        double inverse = 1 / (b + k + 1);
        sum += both_where(counts, both_where(term > zero, term) + close * value);
        sum_p += both_where(either, value);
        value = own * inverse * p + q * inverse * s;
        s = feed * p + q * s;
        plain *= lambda * inverse;
        p = value;
    }
    a->p = p;
    a->s = s;
    a->plain = plain;
    *delta = sum;
    *violation = sum_p;
    for (int i = 0; i < 2; i++)
        side_rescale(a, i, b > a->lambda[i] && !a->is_concave);
}

/* No less than P(>= b), where sizes r are at least 1: P(b + 1) / P(b) then falls (delaporte.c). */
static double side_rest_concave(const sides *a, int i, double b)
{
    double mean = a->lambda[i] + a->feed[i] + a->q[i] * a->s[i] / a->p[i]; /* m(b) */
    double ratio = mean / (b + 1) * (1 + ROUNDING);
    return ratio < 1 ? a->p[i] * a->scale[i] / (1 - ratio) : 1;
}

/* No less than P(>= b). */
static double side_rest(const sides *a, int i, double b)
{
    double ratio;
    if (a->is_concave)
        return side_rest_concave(a, i, b);
    ratio = a->q[i] * (1 + 1e-15) + a->plain[i] / a->p[i] * a->lambda[i] / (b + 1);
    return ratio < 1 ? a->p[i] * a->scale[i] / (1 - ratio) : 1;
}

int cellar_delaporte_quick(const cellar_mechanism *m, int64_t count, int64_t shift, double epsilon,
                           double enough, double numbers, cellar_quick *out)
{
    const int is_tiny = enough < 1e-280;
    const double part = 1e-6, tiny = is_tiny ? 1e-305 : 1e-290; /* more than all that comes as 0 */
    const double much = 1.5; /* that length may be more than it takes */
    sides a = sides_of(m, count, shift, epsilon);
    both delta = {0, 0}, violation = {0, 0};
    double rest[2] = {1, 1}, size = enough;
    *out = (cellar_quick){.numbers = 0};
    if (!(epsilon >= 0))
        return 0;
    if (cellar_delaporte_length(m, count + shift, part * (enough > 0 ? enough : 1) + tiny) >
        much * numbers) /* it would not end */
        return 0;
    a.log_least = is_tiny ? -INFINITY : -690;
    while (rest[0] > part * size + tiny || rest[1] > part * size + tiny) {
        if (out->numbers >= numbers)
            return 0;
        sides_step(&a, out->numbers, &delta, &violation);
        out->numbers += STEP;
        for (int i = 0; i < 2; i++) {
            rest[i] = out->numbers > a.lambda[1] ? side_rest(&a, i, out->numbers) : 1;
            size = size > delta[i] ? size : delta[i];
        }
    }
    for (int i = 0; i < 2; i++) {
        out->delta[i] = (delta[i] + rest[i]) * (1 + ROUNDING) + tiny;
        out->violation[i] = (violation[i] + rest[i]) * (1 + ROUNDING) + tiny;
    }
    out->rest = fmax(rest[0], rest[1]) + tiny;
    return 1;
}

/* ---- blocks of counts ------------------------------------------------------------------ */

/* Where a walk over a block is: of the first pair and the last one. */
typedef struct block_walk {
    sides first, last;
    double mean[2];         /* of their larger counts */
    int is_above, is_below; /* the first violates above from here on, the last one still below */
    both above, below;
} block_walk;

static void sides_next(sides *a, both own, double inverse)
{
    both next = own * inverse * a->p + a->q * inverse * a->s;
    a->s = a->feed * a->p + a->q * a->s;
    a->p = next;
}

/* Adds the next STEP numbers of the last pair to `above` where the first pair violates above, and
 * those of the first pair to `below` where the last one does below. */
static void block_step(block_walk *w, double b)
{
    sides x = w->first, y = w->last;
    const both own_x = x.lambda + x.feed, own_y = y.lambda + y.feed;
    const double up = exp(x.log_scale[0] - x.log_scale[1] + x.epsilon) * (1 - ROUNDING);
    const double down = exp(y.log_scale[1] - y.log_scale[0] + y.epsilon) * (1 - ROUNDING);
    const int needs_first = w->is_below || !w->is_above;
    both above = w->above, below = w->below;
    for (int k = 0; k < STEP; k++) {
        double inverse = 1 / (b + k + 1);
        w->is_above = w->is_above || x.p[1] >= up * x.p[0];
        w->is_below = w->is_below && y.p[0] >= down * y.p[1];
        if (w->is_above)
            above += y.p * y.scale;
        if (w->is_below)
            below += x.p * x.scale;
        if (needs_first)
            sides_next(&x, own_x, inverse);
        sides_next(&y, own_y, inverse);
    }
    w->first = x;
    w->last = y;
    w->above = above;
    w->below = below;
    for (int i = 0; i < 2; i++) {
        side_rescale(&w->first, i, b > w->mean[0]);
        side_rescale(&w->last, i, b > w->mean[1]);
    }
}

int cellar_delaporte_block(const cellar_mechanism *m, int64_t first, int64_t last, int64_t shift,
                           double epsilon, double enough, double numbers, cellar_quick *out)
{
    const double part = 1e-8, tiny = 1e-290, s = (double) shift;
    const cellar_kernel *k = (const cellar_kernel *) m;
    double start = (double) cellar_kernel_mean(k, first),
           end = (double) cellar_kernel_mean(k, last);
    double least = epsilon * log1p(s / end) / log1p(s / start) * (1 - ROUNDING);
    block_walk w = {.first = sides_of(m, first, shift, epsilon),
                    .last = sides_of(m, last, shift, least),
                    .mean = {start + s, end + s},
                    .is_below = 1};
    double rest[2] = {1, 1}, size = enough;
    *out = (cellar_quick){.numbers = 0};
    if (!(epsilon > 0) || !cellar_facts_ordered(m))
        return 0;
    w.first.log_least = w.last.log_least = -690;
    while (rest[0] > part * size + tiny || rest[1] > part * size + tiny) {
        if (out->numbers >= numbers)
            return 0;
        block_step(&w, out->numbers);
        out->numbers += STEP;
        for (int i = 0; i < 2; i++) {
            rest[i] = side_rest_concave(&w.last, i, out->numbers);
            size = fmax(size, w.above[i] + w.below[i]);
        }
    }
    for (int i = 0; i < 2; i++)
        out->violation[i] = fmin(1, (w.above[i] + w.below[i] + rest[i]) * (1 + ROUNDING) + tiny);
    return 1;
}

/* ---- one law ---------------------------------------------------------------------------- */

/* E z^B = e^{lambda (z - 1)} (1 - beta (z - 1))^-r, z < 1/q, bounds P(>= b) by z^-b E z^B, which is
 * least where b is the mean of the law tilted by z. With 1 - beta (z - 1) = w, b and the exponent
 * grow as w falls. */
double cellar_delaporte_length(const cellar_mechanism *m, int64_t count, double tail)
{
    const sides a = sides_of(m, count, 0, 0);
    const double lambda = a.lambda[0], r = a.feed[0] / a.q[0], beta = a.q[0] / (1 - a.q[0]);
    const double goal = -log(tail);
    double low = -700, high = 0, b = 0; /* of ln w */
    for (int i = 0; i < 50; i++) {
        double middle = low + (high - low) / 2, w = exp(middle), over = -expm1(middle) / beta;
        b = (1 + over) * (lambda + r * beta / w);
        if (b * log1p(over) - lambda * over + r * middle > goal)
            low = middle;
        else
            high = middle;
    }
    return ceil(b) + 1;
}

/* A number whose power of two is kept apart, so that rescaling is exact. */
typedef struct scaled_law {
    double p, s, plain; /* as above */
    int exponent;
    double scale; /* 2^exponent, or 0 where that is too small */
} scaled_law;

static void scaled_law_rescale(scaled_law *a)
{
    int exponent;
    a->p = frexp(a->p, &exponent);
    a->s = ldexp(a->s, -exponent);
    a->plain = ldexp(a->plain, -exponent);
    a->exponent += exponent;
    a->scale = a->exponent < -990 ? 0 : ldexp(1, a->exponent);
}

/* The law of a count, and where it is at b = 0. */
typedef struct law_walk {
    double lambda, q, feed, own, log_zero;
    int is_concave;
    scaled_law at;
} law_walk;

static law_walk law_walk_of(const cellar_mechanism *m, int64_t count)
{
    const sides a = sides_of(m, count, 0, 0);
    law_walk w = {.lambda = a.lambda[0], .q = a.q[0], .feed = a.feed[0]};
    w.own = w.lambda + w.feed;
    w.log_zero = a.log_scale[0] + log(a.p[0]);
    w.is_concave = a.is_concave;
    w.at.exponent = (int) floor(w.log_zero / M_LN2);
    w.at.plain = w.at.p = exp(w.log_zero - w.at.exponent * M_LN2);
    scaled_law_rescale(&w.at);
    return w;
}

static void law_walk_step(law_walk *w, int64_t b)
{
    scaled_law *x = &w->at;
    double inverse = 1 / (double) (b + 1), next = w->own * inverse * x->p + w->q * inverse * x->s;
    x->s = w->feed * x->p + w->q * x->s;
    x->plain *= w->lambda * inverse;
    x->p = next;
    if (!(next > 0x1p-20 && next < 0x1p20))
        scaled_law_rescale(x);
}

/* Of what was found after so many steps, relative. */
static double law_walk_error(const law_walk *w, int64_t steps)
{
    return (12 * (double) steps + 100 + 16 * fabs(w->log_zero)) * 0x1p-53;
}

double cellar_delaporte_fill(const cellar_mechanism *m, int64_t count, int64_t first, size_t n,
                             double *out, double *error)
{
    const int64_t end = first + (int64_t) n;
    law_walk w = law_walk_of(m, count);
    const scaled_law *x = &w.at;
    double outside = 0, ratio;
    for (int64_t b = 0; b < end; b++) {
        if (b < first)
            outside += x->p * x->scale;
        else
            out[b - first] = x->p * x->scale;
        law_walk_step(&w, b);
    }
    *error = law_walk_error(&w, end);
    ratio = w.is_concave ? (w.own + w.q * x->s / x->p) / (double) (end + 1) * (1 + ROUNDING)
                         : w.q * (1 + 1e-15) + x->plain / x->p * w.lambda / (double) (end + 1);
    outside +=
        ratio < 1 && (double) end > w.lambda ? x->p * fmax(x->scale, 0x1p-990) / (1 - ratio) : 1;
    return (outside + (double) first * CELLAR_FILL_LEAST) * (1 + 2 * *error);
}

double cellar_delaporte_loss(const cellar_mechanism *m, int64_t count, int64_t neighbour, int64_t b,
                             double *error)
{
    law_walk p = law_walk_of(m, count), q = law_walk_of(m, neighbour);
    double loss;
    for (int64_t k = 0; k < b; k++) {
        law_walk_step(&p, k);
        law_walk_step(&q, k);
    }
    loss = log(p.at.p / q.at.p) + (p.at.exponent - q.at.exponent) * M_LN2;
    *error = 2 * (law_walk_error(&p, b) + law_walk_error(&q, b)) + 0x1p-50 * (1 + fabs(loss));
    return loss;
}
