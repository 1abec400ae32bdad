/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums over the two laws of a pair in double-words, term by term, where kernels have them: proven,
 * and quick. */
#include <math.h>

#include "privacy/pair.h"

enum { ROW_END = 700 };
static const double UNIT = 0x1.001p-106;
static const double TERM_COST = 0.02; /* us (work.h) */

/* Both laws as far as the first one goes, and e^epsilon. */
typedef struct words {
    const cellar_law_row *p, *q;
    double q_rest; /* no less than Q of all numbers that are taken for 0 */
    cellar_dword factor;
    double factor_error;
} words;

/* Q(b), or 0 where it is too small. */
static cellar_dword words_q(const words *w, size_t b)
{
    return b < w->q->n ? w->q->p[b] : (cellar_dword){0};
}

/* The numbers of P that are left out are less likely than 2^-bits. */
static int words_init(words *w, const cellar_pair *pair, const fmpq_t epsilon, int bits)
{
    int64_t last;
    arb_t factor;
    w->p = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[0], bits);
    if (w->p == NULL || w->p->first != 0)
        return 0;
    last = (int64_t) w->p->n - 1;
    w->q = cellar_pair_cache_words(pair->cache, pair->m, pair->count[1], last);
    if (w->q == NULL) /* it ends before */
        w->q = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[1], ROW_END);
    w->p = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[0], bits);
    if (w->q == NULL || w->p == NULL || w->p == w->q || w->q->first != 0 ||
        !(w->p->run.error + w->q->run.error < 0x1p50))
        return 0;
    w->q_rest = w->q->untold + (w->q->n <= (size_t) last ? w->q->after : 0);
    arb_init(factor);
    arb_set_fmpq(factor, epsilon, CELLAR_PAIR_BITS);
    arb_exp(factor, factor, CELLAR_PAIR_BITS);
    w->factor = cellar_dword_of_ball(factor, &w->factor_error);
    arb_clear(factor);
    cellar_work_add(cellar_pair_cache_work(pair->cache), TERM_COST * (double) w->p->n);
    return w->factor_error < 0x1p40;
}

/* Everything that is left out is P's, and counts or not. */
static void words_ball(const words *w, double sum, double error, arb_t out)
{
    double rest = w->p->after + w->p->untold + w->p->before;
    arb_set_d(out, sum);
    mag_set_d(arb_radref(out), (error + rest) * (1 + 0x1p-40));
}

/* A term p - f q is off by its own rounding, and by what p and f q are off; terms that are clearly
 * negative are not in the sum, nor are their errors. */
int cellar_pair_delta_by_words(const cellar_pair *pair, const fmpq_t epsilon, int bits, arb_t out)
{
    cellar_dword sum = {0};
    double units, size = 0;
    words w;
    if (!words_init(&w, pair, epsilon, bits))
        return 0;
    for (size_t b = 0; b < w.p->n; b++) {
        cellar_dword p = w.p->p[b], t = cellar_dword_mul(w.factor, words_q(&w, b));
        cellar_dword d = cellar_dword_two_sum(p.high, -t.high);
        double term = d.high + (d.low + (p.low - t.low));
        if (t.high > p.high * (1 + 0x1p-40))
            continue;
        size += p.high + t.high;
        if (term > 0)
            sum = cellar_dword_add_double(sum, term);
    }
    units = w.p->run.error + w.q->run.error + w.factor_error + 32;
    words_ball(&w, sum.high,
               sum.high * 0x1p-51 + size * (1 + 0x1p-20) * units * UNIT +
                   w.factor.high * w.q_rest * (1 + 0x1p-20),
               out);
    return 1;
}

/* +1: the larger exceeds e^epsilon times the other, -1: neither does, 0: too close to tell. */
static int words_compare(double p, double q, double factor)
{
    const double slack = 0x1p-40;
    if (p > factor * q * (1 + slack) || q > factor * p * (1 + slack))
        return 1;
    return p < factor * q * (1 - slack) && q < factor * p * (1 - slack) ? -1 : 0;
}

int cellar_pair_violation_by_words(const cellar_pair *pair, const fmpq_t epsilon, int bits,
                                   int (*violates)(const cellar_pair *, int64_t, const fmpq_t),
                                   arb_t out)
{
    cellar_dword sum = {0};
    double open = 0;
    words w;
    if (!words_init(&w, pair, epsilon, bits))
        return 0;
    for (size_t b = 0; b < w.p->n; b++) {
        double p = w.p->p[b].high, q = words_q(&w, b).high;
        int order = words_compare(p, q, w.factor.high);
        if (q <= 0 && !(p > w.factor.high * w.q_rest * (1 + 0x1p-40)))
            open += p;
        else if (q <= 0 || order > 0 || (order == 0 && violates(pair, (int64_t) b, epsilon)))
            sum = cellar_dword_add_double(sum, p);
    }
    words_ball(&w, sum.high, sum.high * 0x1p-50 + open, out);
    return 1;
}
