/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Kernels whose pairs are bounded many at a time in doubles: counts are passed over in spans as
 * wide as they can be without exceeding what was found, and only single counts that stand out are
 * measured. */
#include <math.h>

#include "math/rational.h"
#include "privacy/supremum_part.h"

/* Spans looked at in one pass, and pairs that are measured; and what each takes, in us (work.h). A
 * bound that rises with the width of a span needs many of them near a flat peak: as many as one
 * over the root of how close to it they have to come. */
enum {
    SPANS_MAX = 40000,
    SPANS_MIN = 1000,
    SPANS_LOOSE = 10000,
    MEASURED_MAX = 20,
    CONTENDERS = 16
};

static const double SPAN_WORK = 0.4, MEASURE_WORK = 500;

typedef struct scan {
    const cellar_reach *reach;
    int is_delta;
    double epsilon; /* not above the one asked */
    int spans;      /* left in this pass */
    int measured;   /* left */
} scan;

int cellar_spans_exist(const cellar_mechanism *m)
{
    return m->ops->facts != NULL && m->ops->facts->spans != NULL;
}

/* Half of what may still be done. */
static int spans_left(const cellar_reach *reach)
{
    double left = cellar_work_left(cellar_pair_cache_work(reach->cache)) / SPAN_WORK / 2;
    return (int) fmin(SPANS_MAX, fmax(SPANS_MIN, left));
}

static scan scan_of(const cellar_reach *reach, int is_delta, const fmpq_t epsilon)
{
    return (scan){.reach = reach,
                  .is_delta = is_delta,
                  .epsilon = nextafter(fmpq_get_d(epsilon), 0),
                  .spans = spans_left(reach),
                  .measured = MEASURED_MAX};
}

/* Of P the smaller count's and of P the larger one's; no better than `enough` is needed. */
static void ask_both(scan *s, int64_t first, int64_t last, double enough, double both[2])
{
    int work = s->reach->m->ops->facts->spans(s->reach->m, s->is_delta, first, last,
                                              s->reach->shift, s->epsilon, enough, both);
    cellar_work_add(cellar_pair_cache_work(s->reach->cache), SPAN_WORK * work);
    s->spans -= work;
}

static double ask(scan *s, int64_t first, int64_t last, double enough)
{
    double both[2];
    ask_both(s, first, last, enough, both);
    return fmax(both[0], both[1]);
}

/* The next single count from *from on whose bound exceeds `bound`, which becomes *value: 1. 0 when
 * there is none, and -1 when the work ran out at *from. */
static int pass_over(scan *s, int64_t *from, double bound, double *value)
{
    int64_t wide = 1, checked = *from - 1;
    int held = 0, patience = 1; /* a wider span is tried after so many of the same width */
    while (s->spans > 0) {
        if (*from > checked) { /* now and then, are these all? */
            if (ask(s, *from, INT64_MAX, bound) <= bound)
                return 0;
            checked = *from + (*from - s->reach->smallest) / 16;
        }
        *value = ask(s, *from, *from + wide - 1, bound);
        if (*value <= bound) {
            *from += wide;
            if (++held >= patience) {
                wide *= 2;
                held = 0;
            }
        } else if (wide > 1) {
            patience = held > 0 ? 1 : patience < 32 ? 2 * patience : patience;
            wide /= 2;
            held = 0;
        } else {
            return 1;
        }
    }
    return -1;
}

/* ---- where the peak is ----------------------------------------------------------------- */

typedef struct peak {
    int64_t at;
    double value;
} peak;

static void peak_try(scan *s, int64_t count, peak *p)
{
    double value = ask(s, count, count, p->value);
    if (value > p->value)
        *p = (peak){.at = count, .value = value};
}

/* A good guess: here and there, and then uphill. */
static peak peak_guess(scan *s)
{
    const int64_t first = s->reach->smallest;
    peak p = {.at = first, .value = -1};
    int64_t i = 0;
    while (i < INT64_C(1) << 40 && p.value < 1) {
        peak_try(s, first + i, &p);
        i += 1 + i / 8;
        if (ask(s, first + i, INT64_MAX, p.value) <= p.value)
            break;
    }
    for (int64_t step = (p.at - first) / 8; step > 0 && p.value < 1;) {
        int64_t before = p.at;
        peak_try(s, before - step, &p);
        peak_try(s, before + step, &p);
        if (p.at == before)
            step /= 2;
    }
    return p;
}

/* The largest bounds of single counts: the peak, and those that come close to it. */
typedef struct contest {
    peak best, others[CONTENDERS];
    int n;         /* others, or more than fit */
    double most;   /* of all of them */
    double passed; /* what all counts that were passed over, or are in no list, do not exceed */
    int64_t from;  /* the work ran out there; INT64_MAX when it did not */
} contest;

static void contest_add(contest *c, peak p)
{
    if (c->n < CONTENDERS)
        c->others[c->n] = p;
    c->most = fmax(c->most, p.value);
    c->n++;
}

static contest contest_hold(scan *s)
{
    const double close = 1 - 1e-9;
    contest c = {.best = peak_guess(s), .passed = -1, .from = INT64_MAX};
    int64_t from = s->reach->smallest;
    int found = 1;
    while (c.best.value < 1 && found > 0) {
        peak p;
        c.passed = c.best.value * close;
        found = pass_over(s, &from, c.passed, &p.value);
        p.at = from++;
        if (found > 0 && p.value > c.best.value) {
            contest_add(&c, c.best);
            c.best = p;
        } else if (found > 0 && p.at != c.best.at) {
            contest_add(&c, p);
        }
    }
    if (found < 0)
        c.from = from - 1;
    return c;
}

/* ---- where epsilon is ------------------------------------------------------------------ */

/* The epsilon at which the bound of one pair is delta, by halving; at `low` it is more. */
static double epsilon_of_peak(scan *s, int64_t at, double delta, double low)
{
    double high = low > 0 ? 2 * low : 1;
    s->epsilon = high;
    while (high < 1e9 && ask(s, at, at, 0) > delta) {
        low = high;
        high *= 2;
        s->epsilon = high;
    }
    while (high - low > 1e-13 * high) {
        s->epsilon = low + (high - low) / 2;
        if (ask(s, at, at, 0) > delta)
            low = s->epsilon;
        else
            high = s->epsilon;
    }
    return high;
}

double cellar_supremum_about(const cellar_reach *reach, double delta, cellar_worst *at)
{
    enum { ROUNDS = 12 };
    scan s = {.reach = reach, .is_delta = 1};
    int64_t found = reach->smallest;
    double epsilon = 0, both[2];
    if (!cellar_spans_exist(reach->m))
        return 0;
    for (int i = 0; i < ROUNDS; i++) {
        peak p;
        s.epsilon = epsilon;
        p = peak_guess(&s);
        found = i == 0 || p.value > delta * (1 + 1e-12) ? p.at : found;
        if (found != p.at || p.value <= delta)
            break;
        epsilon = epsilon_of_peak(&s, found, delta, epsilon);
    }
    s.epsilon = epsilon;
    ask_both(&s, found, found, 0, both);
    at->count = found + (both[1] > both[0] ? reach->shift : 0);
    at->neighbour = found + (both[1] > both[0] ? 0 : reach->shift);
    return epsilon;
}

/* ---- proofs ---------------------------------------------------------------------------- */

/* The orders of a pair that may be worse than what was found. */
static void measure_at(scan *s, int64_t smaller, const fmpq_t epsilon, cellar_worst *worst)
{
    double both[2];
    int first;
    ask_both(s, smaller, smaller, worst->bound, both);
    first = both[1] >= both[0];
    for (int i = 0; i < 2; i++) {
        int larger = i == 0 ? first : !first;
        int64_t other = smaller + s->reach->shift;
        cellar_pair pair;
        if (both[larger] <= worst->bound)
            continue;
        reach_pair(s->reach, &pair, larger ? other : smaller, larger ? smaller : other);
        worst_measure(&pair, s->is_delta ? cellar_pair_delta : cellar_pair_violation, epsilon,
                      worst);
    }
    cellar_work_add(cellar_pair_cache_work(s->reach->cache), MEASURE_WORK);
    s->measured--;
}

static void worst_raise(cellar_worst *worst, double bound)
{
    if (bound <= worst->bound)
        return;
    if (worst->is_attained)
        worst->least = fmax(0, worst->bound * (1 - 1e-12));
    worst->bound = bound;
    worst->is_attained = 0;
}

/* Bounds all counts from one on a little above the worst that was found: by 1e-4 of itself, or more
 * where that takes long too. */
static void worst_loosely(scan *s, int64_t from, const fmpq_t epsilon, cellar_worst *worst)
{
    static const double loose[] = {1e-4, 1e-3, 3e-2};
    for (size_t i = 0; i < sizeof loose / sizeof *loose && worst->bound < 1; i++) {
        double bound = worst->bound * (1 + loose[i]), value;
        int left;
        s->spans = SPANS_LOOSE;
        while ((left = pass_over(s, &from, bound, &value)) > 0 && worst->bound < 1) {
            if (worst->is_attained && s->measured > 0)
                measure_at(s, from, epsilon, worst);
            else
                worst_raise(worst, value);
            bound = fmax(bound, worst->bound * (1 + loose[i]));
            from++;
        }
        worst_raise(worst, fmin(1, bound));
        if (left == 0)
            return;
    }
    if (worst->bound < 1)
        worst_raise(worst, ask(s, from, INT64_MAX, worst->bound));
}

/* Measures whatever may be worse than `worst`, of all counts. */
static void worst_of_all(scan *s, int64_t measured, const fmpq_t epsilon, cellar_worst *worst)
{
    int64_t from = s->reach->smallest;
    double value;
    int left = 1;
    s->spans = spans_left(s->reach);
    while (worst->bound < 1 && (left = pass_over(s, &from, worst->bound, &value)) > 0) {
        if (from != measured && s->measured > 0)
            measure_at(s, from, epsilon, worst);
        else if (from != measured)
            worst_raise(worst, value);
        from++;
    }
    if (left < 0)
        worst_loosely(s, from, epsilon, worst);
}

static void worst_find(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                       cellar_worst *worst)
{
    const double tiny = 1e-9; /* there doubles may not tell that it is nothing */
    scan s = scan_of(reach, is_delta, epsilon);
    contest c = contest_hold(&s);
    *worst = worst_start(reach);
    if ((c.best.value <= 0 && c.from == INT64_MAX) ||
        (c.best.value < tiny && cellar_reach_is_pure_at(reach, epsilon))) {
        worst->bound = 0;
        worst->everywhere = 1;
        return;
    }
    measure_at(&s, c.best.at, epsilon, worst);
    if (worst->bound >= 1)
        return;
    if (c.from != INT64_MAX && c.n > CONTENDERS) { /* there is no time for all of them */
        worst_raise(worst, fmax(c.most, c.passed));
        worst_loosely(&s, c.from, epsilon, worst);
        return;
    }
    if (c.n > CONTENDERS || c.passed > worst->bound) {
        worst_of_all(&s, c.best.at, epsilon, worst);
        return;
    }
    for (int i = 0; i < c.n; i++)
        if (c.others[i].value > worst->bound)
            measure_at(&s, c.others[i].at, epsilon, worst);
    if (c.from != INT64_MAX)
        worst_loosely(&s, c.from, epsilon, worst);
}

/* The place where it is remembered: of an epsilon that is a double, as in searches. */
static cellar_known *known_at(const cellar_reach *reach, int is_delta, const fmpq_t epsilon)
{
    cellar_known asked = {.m = reach->m,
                          .shift = reach->shift,
                          .smallest = reach->smallest,
                          .is_delta = is_delta,
                          .epsilon = fmpq_get_d(epsilon)};
    int is_double;
    fmpq_t same;
    fmpq_init(same);
    cellar_rational_set_double(same, asked.epsilon);
    is_double = fmpq_equal(same, epsilon);
    fmpq_clear(same);
    return is_double ? cellar_pair_cache_known(reach->cache, &asked) : NULL;
}

void cellar_spans_worst(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                        cellar_worst *worst)
{
    cellar_known *known = known_at(reach, is_delta, epsilon);
    if (known != NULL && !isnan(known->bound)) {
        *worst = (cellar_worst){.bound = known->bound,
                                .count = known->count,
                                .neighbour = known->neighbour,
                                .everywhere = known->everywhere,
                                .least = known->least,
                                .is_proved = 1,
                                .is_attained = known->is_attained};
        return;
    }
    worst_find(reach, is_delta, epsilon, worst);
    if (reach->enough > 0) /* which need not be of any pair */
        worst->least = 0;
    if (known == NULL)
        return;
    known->bound = worst->bound;
    known->least = worst->least;
    known->count = worst->count;
    known->neighbour = worst->neighbour;
    known->everywhere = worst->everywhere;
    known->is_attained = worst->is_attained;
}

int cellar_spans_are_covered(const cellar_reach *reach, int is_delta, const fmpq_t epsilon,
                             double bound)
{
    scan s = scan_of(reach, is_delta, epsilon);
    int64_t from = reach->smallest;
    double value;
    return pass_over(&s, &from, bound, &value) == 0;
}
