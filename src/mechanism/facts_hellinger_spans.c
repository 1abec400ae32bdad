/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P(b | a) = e^{-r |sqrt b - sqrt a|} / Z(a), Z(a) = g(a) + 1 + h(a), g the sum over b < a and h
 * that over b > a. With D = sqrt a' - sqrt a, a' = a + s, and M = 2rD, the losses ln P(b | a) /
 * P(b | a') fall from t = rD + ln Z(a')/Z(a) at all b <= a to t - M at all b >= a', and are
 * t - 2r (sqrt b - sqrt a) between.
 *
 * Z rises: with q = e^{r (sqrt(a+1) - sqrt a)}, g(a+1) = (g(a) + 1)/q and h(a) = (h(a+1) + 1)/q,
 * so Z(a+1) - Z(a) = (1 - 1/q) (h(a+1) - g(a)), and h(a+1) exceeds g(a) term by term since the root
 * is concave. Hence t >= M/2: no loss exceeds t in absolute value.
 *
 * Many pairs, f <= a <= l. By monotone ratios P(. | a) rises stochastically with a, so the pair
 * (f, l + s) has the largest delta(epsilon), in both orders. For delta_p let x be the largest
 * b with a loss above epsilon, y the smallest with one below -epsilon; both lie in a..a' and are
 * where sqrt b passes (sqrt a + sqrt a')/2 + (ln Z(a')/Z(a) -+ epsilon)/(2r). As Z rises its
 * logarithms lie between ln Z(f+s)/Z(l) and ln Z(l+s)/Z(f), or those of l and f where ln Z is known
 * to be concave. So x <= X, y >= Y for all, and
 *   P(b <= x | a) + P(b >= y | a) <= P(b <= X | f) + P(b >= Y | l), likewise of a'.
 *
 * Where s is small against f, delta is bounded by the range M and the largest loss alone
 * (facts_hellinger.c): by (1 - e^{t - M}) (1 - e^{epsilon - t}) / (1 - e^-M), which rises with M,
 * and with t up to (M + epsilon)/2, where it begins to fall. g and h rise with a, term by term, so
 * the steps ln Z(a+1)/Z(a) = ln(1 + (1 - 1/q) (h(a+1) - g(a))/Z(a)) are bounded from both sides by
 * their parts at f and l + s, and t by them; for the other order t' = M - t takes its place.
 *
 * Better where ln Z is known to be concave, so that ln Z(a')/Z(a) lies between those of l and f.
 * P(b <= a | a) = (g(a) + 1)/Z(a) <= (g(l) + 1)/Z(f), and each number between has 1/Z(f) at most.
 * Since sqrt(a+j) - sqrt a >= (sqrt(a+s) - sqrt a) j/s, their losses exceed epsilon by no more
 * than Y - kj, Y being what t exceeds it by and k = 2r (sqrt(l+s) - sqrt l)/s, and delta is at most
 *   (1 - e^-Y) (g(l) + 1)/Z(f) + min(Y^2/(2k), (s - 1) Y)/Z(f).
 * In the other order P(b >= a' | a') <= (1 + h(l+s))/Z(f+s), and k = r/sqrt(l+s).
 *
 * All pairs from f >= 2 on. By integrals of the monotone halves h(a+1) <= 2 sqrt(a+1)/r + 2/r^2,
 * g(a) >= 2 sqrt(a)/r - 2/r^2 - 1 and Z(a) >= 4 sqrt(a)/r - 1, so that
 *   ln Z(a+1)/Z(a) <= r/(2 sqrt a) (4/r^2 + 1/(r sqrt a) + 1) / (4 sqrt(a)/r - 1) <= k/(2a),
 * k = (1 + r/(4 sqrt f) + r^2/4) / (1 - r/(4 sqrt f)), and ln Z(a+s)/Z(a) <= k/2 times
 * 1/a + ... + 1/(a+s-1) <= ln (a+s-1)/(a-1). So t <= T, which falls with a as M does. */
#include <math.h>

#include "mechanism/facts_hellinger.h"
#include "mechanism/hellinger_sides.h"

/* More than a loss, a probability and a sum of them are off. */
static const long double LOSS_SLACK = 0x1p-45L, SHARE_SLACK = 0x1p-47L, ROUNDING = 0x1p-56L;

/* Doubles are much quicker where they are close enough: relative errors below 2^-48. */
static long double exp_of(long double x)
{
    return fabsl(x) < 16 ? (long double) exp((double) x) : expl(x);
}

static long double expm1_of(long double x)
{
    return x < 16 ? (long double) expm1((double) x) : expm1l(x);
}

/* A count with its root and what it is normalised by. */
typedef struct place {
    int64_t count;
    long double root, z;
    cellar_hellinger_side side;
} place;

typedef struct law {
    cellar_hellinger_sides *sides;
    long double rate;
} law;

static place place_at(const law *l, int64_t count)
{
    place p = {.count = count, .root = sqrtl((long double) count)};
    p.side = cellar_hellinger_sides_at(l->sides, count);
    p.z = p.side.below + p.side.above;
    return p;
}

/* rate |sqrt b - root| */
static long double distance_at(const law *l, const place *p, int64_t b)
{
    long double x = (long double) b, a = (long double) p->count;
    return b == p->count ? 0 : l->rate * fabsl(x - a) / (sqrtl(x) + p->root);
}

static long double weight_at(const law *l, const place *p, int64_t b)
{
    return exp_of(-distance_at(l, p, b));
}

/* P(b <= x | p) and P(b >= y | p). */
static long double share_below(const law *l, const place *p, int64_t x)
{
    if (x == p->count)
        return (p->side.below + 1) / p->z;
    if (x < p->count)
        return cellar_hellinger_sides_at(l->sides, x + 1).below * weight_at(l, p, x + 1) / p->z;
    return 1 - cellar_hellinger_sides_at(l->sides, x + 1).above * weight_at(l, p, x + 1) / p->z;
}

static long double share_above(const law *l, const place *p, int64_t y)
{
    if (y == p->count)
        return p->side.above / p->z;
    if (y > p->count)
        return cellar_hellinger_sides_at(l->sides, y).above * weight_at(l, p, y) / p->z;
    return 1 - cellar_hellinger_sides_at(l->sides, y).below * weight_at(l, p, y) / p->z;
}

/* e^epsilon share from below: nothing where it exceeds long doubles. */
static long double scaled_down(long double epsilon, long double share)
{
    return epsilon < 11000 ? exp_of(epsilon) * share * (1 - SHARE_SLACK) : 0;
}

static int64_t clamp(long double x, int64_t low, int64_t high)
{
    return !(x > (long double) low) ? low : x < (long double) high ? (int64_t) x : high;
}

static double round_up(long double x)
{
    return x > 0 ? nextafter((double) x, INFINITY) : 0;
}

/* ---- one pair, the widest of a span -------------------------------------------------- */

typedef struct pair {
    place a, b; /* a < b */
    long double range, log_z;
    long double slack; /* twice what losses are off */
} pair;

static pair pair_at(const law *l, int64_t smaller, int64_t larger)
{
    pair p = {.a = place_at(l, smaller), .b = place_at(l, larger)};
    p.range = 2 * l->rate * (long double) (larger - smaller) / (p.a.root + p.b.root);
    p.log_z = cellar_hellinger_sides_log(l->sides, smaller, larger, p.range, &p.slack);
    p.slack = 2 * (p.slack + p.range * ROUNDING);
    return p;
}

/* sum of (P - e^epsilon Q)(b) over the n numbers that begin at the end where P is the larger law
 * and the loss is `largest`; `own` is P of what lies beyond and at that end. All of their losses
 * exceed epsilon. */
static long double sum_near(const law *l, const place *end, int n, int direction,
                            long double largest, long double own, long double epsilon)
{
    long double sum = -own * expm1_of(epsilon - largest);
    for (int i = 1; i < n; i++) {
        long double far = distance_at(l, end, end->count + (int64_t) direction * i);
        sum -= exp_of(-far) / end->z * expm1_of(epsilon - largest + 2 * far);
    }
    return sum;
}

/* Numbers that are added one by one: always, and where the sum is so small that differences of
 * probabilities do not tell it. */
enum { NEAR = 2, NEAR_SMALL = 24 };
static const long double SMALL = 0x1p-20L;

/* P(x or beyond) - e^epsilon Q(x or beyond), x seen from the end where P is larger, with losses
 * there up to `largest`, all above epsilon. */
static long double delta_beyond(const law *l, const place *p, const place *q, int64_t x,
                                long double largest, long double epsilon)
{
    long double (*share)(const law *, const place *, int64_t) =
        p->count < q->count ? share_below : share_above;
    int direction = p->count < q->count ? 1 : -1;
    int64_t n = direction * (x - p->count) + 1;
    long double value = 0;
    if (n > NEAR)
        value = share(l, p, x) - scaled_down(epsilon, share(l, q, x)) + SHARE_SLACK;
    if (n <= NEAR || (n <= NEAR_SMALL && value < SMALL))
        value = sum_near(l, p, (int) n, direction, largest, share(l, p, p->count), epsilon) *
                (1 + SHARE_SLACK);
    return value;
}

/* Thresholds are a little below epsilon, and sums are taken at an epsilon that is lower still: no
 * number is missed, and none that is in counts for less than nothing. */
static long double delta_of_smaller(const law *l, const pair *p, long double epsilon)
{
    long double largest = p->range / 2 + p->log_z, low = epsilon - p->slack, middle;
    int64_t x;
    if (largest <= low)
        return 0;
    middle = (p->a.root + p->b.root) / 2 + (p->log_z - epsilon + p->slack / 2) / (2 * l->rate);
    x = clamp(middle > 0 ? ceill(middle * middle) - 1 : 0, p->a.count, p->b.count - 1);
    return delta_beyond(l, &p->a, &p->b, x, largest, low);
}

static long double delta_of_larger(const law *l, const pair *p, long double epsilon)
{
    long double largest = p->range / 2 - p->log_z, low = epsilon - p->slack, middle;
    int64_t y;
    if (largest <= low)
        return 0;
    middle = (p->a.root + p->b.root) / 2 + (p->log_z + epsilon - p->slack / 2) / (2 * l->rate);
    y = clamp(floorl(middle * middle) + 1, p->a.count + 1, p->b.count);
    return delta_beyond(l, &p->b, &p->a, y, largest, low);
}

/* ---- by the range of losses ------------------------------------------------------------ */

/* (1 - e^{t - M}) / (1 - e^-M): no less than the mass of P on losses above t. */
static long double mass_above(long double t, long double range)
{
    return t < range ? expm1_of(t - range) / expm1_of(-range) : 0;
}

/* delta where the largest loss lies within least..most. */
static long double delta_within(long double least, long double most, long double range,
                                long double epsilon)
{
    long double t = (range + epsilon) / 2;
    t = t < least ? least : t > most ? most : t;
    return t > epsilon ? -mass_above(t, range) * expm1_of(epsilon - t) * (1 + SHARE_SLACK) : 0;
}

/* sqrt(n + 1) - sqrt n, times the rate */
static long double step_at(const law *l, const place *p)
{
    return l->rate / (p->root + sqrtl((long double) (p->count + 1)));
}

/* All pairs from that of p on whose larger count is not above p->b. */
static void deltas_by_range(const law *l, const pair *p, int64_t shift, long double epsilon,
                            long double both[2])
{
    const place *f = &p->a, *e = &p->b; /* with 1 for b = a in `above`: h = above - 1 */
    long double s = (long double) shift, x = (long double) f->count, low = epsilon - LOSS_SLACK;
    long double first = l->rate * s / (f->root + sqrtl(x + s));
    long double last = l->rate * s / (e->root + sqrtl((long double) (e->count - shift)));
    long double rise = -expm1_of(-step_at(l, f)) * (e->side.above - 1 - f->side.below) / f->z;
    long double least = -expm1_of(-step_at(l, e)) * (f->side.above - 1 - e->side.below) / e->z;
    long double most = s * (long double) log1p((double) rise) + LOSS_SLACK / 4;
    least = least > 0 ? s * (long double) log1p((double) least) - LOSS_SLACK / 4 : 0;
    both[0] = delta_within(last + least, first + most, 2 * first, low);
    both[1] = delta_within(last - most, first - least, 2 * first, low);
}

/* 1 - e^-y of the flat end, whose share is no more than `flat`, and of the numbers between, which
 * have 1/z each at most, and losses that fall by k from one to the next. */
static double delta_by_end(long double y, long double flat, long double z, long double k,
                           int64_t shift)
{
    long double between = (long double) (shift - 1) * y, area = y / k * (y / 2);
    if (y <= 0)
        return 0;
    between = between < area ? between : area;
    return round_up((flat * -expm1_of(-y) + between / z) * (1 + SHARE_SLACK));
}

/* Where ln Z is concave from the first count to the last one's neighbour. */
static void deltas_by_ends(const law *l, int64_t first, int64_t last, int64_t shift,
                           long double epsilon, double both[2])
{
    pair f = pair_at(l, first, first + shift);
    pair e = first < last ? pair_at(l, last, last + shift) : f;
    both[0] = delta_by_end(f.range / 2 + f.log_z - epsilon + f.slack, (e.a.side.below + 1) / f.a.z,
                           f.a.z, e.range / (long double) shift, shift);
    both[1] = delta_by_end(f.range / 2 - e.log_z - epsilon + f.slack, e.b.side.above / f.b.z, f.b.z,
                           l->rate / e.b.root, shift);
}

/* ---- delta_p of a span --------------------------------------------------------------- */

static void violation_of(const law *l, const pair *first, const pair *last, long double epsilon,
                         double out[2])
{
    int is_concave = first->a.count == last->a.count ||
                     cellar_hellinger_sides_are_concave(l->sides, first->a.count, last->b.count);
    long double most = is_concave ? first->log_z : logl(last->b.z / first->a.z);
    long double least = is_concave ? last->log_z : logl(first->b.z / last->a.z);
    long double low = epsilon - (is_concave ? first->slack : LOSS_SLACK), middle, below[2] = {0, 0},
                above[2] = {0, 0};
    int64_t x = INT64_MIN, y = INT64_MAX;
    least = least > 0 ? least : 0;
    if (first->range / 2 + most > low) {
        middle = (last->a.root + last->b.root) / 2 + (most - low) / (2 * l->rate);
        x = clamp(middle > 0 ? ceill(middle * middle) - 1 : 0, last->a.count, last->b.count - 1);
        below[0] = share_below(l, &first->a, x) + SHARE_SLACK;
        below[1] = share_below(l, &first->b, x) + SHARE_SLACK;
    }
    if (first->range / 2 - least > low) {
        middle = (first->a.root + first->b.root) / 2 + (least + low) / (2 * l->rate);
        y = clamp(floorl(middle * middle) + 1, first->a.count + 1, first->b.count);
        above[0] = share_above(l, &last->a, y) + SHARE_SLACK;
        above[1] = share_above(l, &last->b, y) + SHARE_SLACK;
    }
    for (int i = 0; i < 2; i++)
        out[i] = x != INT64_MIN && y <= x + 1 ? 1 : fmin(1, round_up(below[i] + above[i]));
}

/* ---- all from one on ------------------------------------------------------------------ */

/* T, of which `range` is M. */
static long double loss_from(const law *l, int64_t first, int64_t shift, long double range)
{
    long double f = (long double) first, part = l->rate / (4 * sqrtl(f)), k, t;
    if (first < 2 || part >= 0.5L)
        return range;
    k = (1 + part + l->rate * l->rate / 4) / (1 - part);
    t = range / 2 + k / 2 * (long double) log1p((double) ((long double) shift / (f - 1)));
    return t < range ? t : range;
}

static void rest_of(const law *l, int is_delta, int64_t first, int64_t shift, long double epsilon,
                    double both[2])
{
    long double low = epsilon - LOSS_SLACK, up = 1 + SHARE_SLACK;
    long double range = 2 * l->rate * (long double) shift /
                        (sqrtl((long double) first) + sqrtl((long double) (first + shift)));
    long double t = loss_from(l, first, shift, range), mass = mass_above(low, range) * up;
    long double back = exp_of(-epsilon) * up;
    if (is_delta) {
        both[0] = round_up(delta_within(0, t, range, low));
        both[1] = round_up(delta_within(0, range / 2, range, low));
        return;
    }
    if (t <= low)
        mass = 0;
    both[0] = fmin(1, round_up(mass + (range / 2 > low ? back * mass : 0)));
    both[1] = fmin(1, round_up((range / 2 > low ? mass : 0) + back * mass));
}

/* ---- slots ------------------------------------------------------------------------- */

static law law_of(const cellar_mechanism *m)
{
    cellar_hellinger_sides *sides = cellar_hellinger_sides_of(m);
    return (law){.sides = sides, .rate = cellar_hellinger_sides_rate(sides)};
}

static void deltas_of(const law *l, int64_t first, int64_t last, int64_t shift, long double epsilon,
                      double enough, double both[2])
{
    enum { FAR_APART = 4 };
    int is_concave = cellar_hellinger_sides_are_concave(l->sides, first, last + shift);
    long double by_range[2] = {1, 1};
    double by_ends[2] = {1, 1};
    pair widest;
    if (is_concave)
        deltas_by_ends(l, first, last, shift, epsilon, by_ends);
    both[0] = by_ends[0];
    both[1] = by_ends[1];
    if (fmax(both[0], both[1]) <= enough)
        return;
    widest = pair_at(l, first, last + shift);
    if (first < last && !is_concave)
        deltas_by_range(l, &widest, shift, epsilon, by_range);
    if ((last - first) / FAR_APART > shift && !is_concave) { /* the widest is far from the others */
        both[0] = fmin(1, round_up(by_range[0]));
        both[1] = fmin(1, round_up(by_range[1]));
        return;
    }
    both[0] = fmin(round_up(delta_of_smaller(l, &widest, epsilon)),
                   fmin(by_ends[0], round_up(by_range[0])));
    both[1] = fmin(round_up(delta_of_larger(l, &widest, epsilon)),
                   fmin(by_ends[1], round_up(by_range[1])));
}

int cellar_hellinger_spans(const cellar_mechanism *m, int is_delta, int64_t first, int64_t last,
                           int64_t shift, double epsilon, double enough, double both[2])
{
    enum { NEAR_WORK = 1, FAR_WORK = 8 };
    law l = law_of(m);
    if (last == INT64_MAX) {
        rest_of(&l, is_delta, first, shift, epsilon, both);
        return NEAR_WORK;
    }
    if (is_delta) {
        deltas_of(&l, first, last, shift, epsilon, enough, both);
    } else {
        pair at_first = pair_at(&l, first, first + shift);
        pair at_last = first < last ? pair_at(&l, last, last + shift) : at_first;
        violation_of(&l, &at_first, &at_last, epsilon, both);
    }
    return cellar_hellinger_sides_are_near(l.sides, first) &&
                   cellar_hellinger_sides_are_near(l.sides, last + shift)
               ? NEAR_WORK
               : FAR_WORK;
}

double cellar_hellinger_largest_loss(const cellar_mechanism *m, int64_t first, int64_t last,
                                     int64_t shift)
{
    law l = law_of(m);
    long double f = (long double) first, s = (long double) shift;
    long double range = 2 * l.rate * s / (sqrtl(f) + sqrtl(f + s));
    if (last == INT64_MAX)
        return round_up(loss_from(&l, first, shift, range) + LOSS_SLACK);
    return round_up(range / 2 + LOSS_SLACK +
                    logl(place_at(&l, last + shift).z / place_at(&l, first).z));
}
