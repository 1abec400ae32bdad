/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The losses of kernels, from laws in double-words. These are right to 2^-56 of each probability
 * (law_row.h), and p - q is taken before it is rounded, so that ln(p/q) = ln(1 + (p - q)/q) is
 * right to a few roundings of itself and to what the laws are off. */
#include "privacy/atoms.h"

#include <math.h>

enum { BITS_MAX = 700, NARROW = 4096, WIDTH_MAX = CELLAR_LAW_ROW_MAX / 4 * 3 };
static const double UNIT = 0x1p-105; /* twice the unit of laws: covers products of errors */

/* Both laws and the numbers that become atoms. */
typedef struct window {
    const cellar_law_row *p, *q;
    int64_t low, high;
    double below, above; /* what lies outside, rounded up */
} window;

static double at(const cellar_dword *list, const cellar_law_row *row, int64_t b)
{
    return list[b - row->first].high * (1 + 0x1p-48);
}

/* All but `tail` on each side: where sums of the law from its ends exceed it. */
static void window_cut(window *w, double tail)
{
    int64_t first = w->p->first, end = first + (int64_t) w->p->n_above, middle;
    double before = w->p->before + w->p->untold;
    w->low = first;
    for (int64_t high = end - 1; w->low < high;) {
        middle = w->low + (high - w->low) / 2;
        if (at(w->p->below, w->p, middle) + before <= tail)
            w->low = middle + 1;
        else
            high = middle;
    }
    w->below = before + (w->low > first ? at(w->p->below, w->p, w->low - 1) : 0);
    w->high = w->low;
    for (int64_t high = end; w->high + 1 < high;) {
        middle = w->high + (high - w->high) / 2;
        if (at(w->p->above, w->p, middle) + w->p->after > tail)
            w->high = middle;
        else
            high = middle;
    }
    w->above = w->p->after + (w->high + 1 < end ? at(w->p->above, w->p, w->high + 1) : 0);
}

/* How many numbers the list of a law has, but for `tail`. */
static double list_width(const cellar_pair *pair, double tail)
{
    int64_t low, high;
    pair->m->ops->support(pair->m, pair->count[0], tail, &low, &high);
    return (double) high - (double) low;
}

/* Laws that go too far for a list, or further than there is time for, are cut off earlier: what is
 * left out counts, so that holds. */
static double tail_that_fits(const cellar_pair *pair, double tail)
{
    const double most = 1e-12, close = 0.01;
    const double left = cellar_work_left(cellar_pair_cache_work(pair->cache));
    const double width = fmin(WIDTH_MAX, fmax(NARROW, left / (2 * CELLAR_PAIR_WORD_COST)));
    double too_far = log(tail), fits = log(most);
    if (tail >= most || list_width(pair, tail) < width)
        return tail;
    while (fits - too_far > close * fabs(fits)) {
        double middle = too_far + (fits - too_far) / 2;
        if (list_width(pair, exp(middle)) < width)
            fits = middle;
        else
            too_far = middle;
    }
    return exp(fits);
}

/* Q up to b if that is possible, and as far as it goes if not. */
static const cellar_law_row *row_that_holds(const cellar_pair *pair, int64_t b, int bits)
{
    const cellar_law_row *row = cellar_pair_cache_words(pair->cache, pair->m, pair->count[1], b);
    while (row == NULL) { /* it ends before, or was thought not to pay */
        row = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[1], bits);
        if (row == NULL || bits >= BITS_MAX || b < row->first + (int64_t) row->n)
            break;
        row = NULL;
        bits = bits + 32 < BITS_MAX ? bits + 32 : BITS_MAX;
    }
    return row;
}

static int window_init(window *w, const cellar_pair *pair, double tail, int is_strict)
{
    int bits = tail > 0 ? (int) ceil(fmin(8 - log2(tail), BITS_MAX)) : BITS_MAX;
    w->p = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[0], bits);
    if (w->p == NULL)
        return 0;
    window_cut(w, tail);
    if (w->below + w->above > 4 * tail && (is_strict || w->high - w->low < NARROW))
        return 0; /* others go further */
    w->q = row_that_holds(pair, w->high, bits);
    w->p = cellar_pair_cache_words_to(pair->cache, pair->m, pair->count[0], bits);
    return w->p != NULL && w->q != NULL && w->p != w->q;
}

static cellar_dword window_q(const window *w, int64_t b)
{
    int64_t i = b - w->q->first;
    return i >= 0 && i < (int64_t) w->q->n ? w->q->p[i] : (cellar_dword){0};
}

/* ln(p/q). The difference is off by half a unit of the last place of its own, by 2^-104 of p + q,
 * and by what the laws are off; the quotient and the logarithm by some units in the last place. */
static double words_loss(cellar_dword p, cellar_dword q)
{
    cellar_dword d = cellar_dword_two_sum(p.high, -q.high);
    double ratio = (d.high + (d.low + (p.low - q.low))) / q.high;
    return fabs(ratio) < 0.5 ? log1p(ratio) : log(p.high / q.high);
}

/* Numbers that Q does not tell count as infinite losses; answers their mass. */
static double window_fill(const window *w, cellar_atoms *atoms)
{
    double untold = 0, widest = 0;
    for (int64_t b = w->low; b <= w->high; b++) {
        cellar_dword p = w->p->p[b - w->p->first], q = window_q(w, b);
        if (!(p.high > 0))
            continue; /* in `below` */
        if (!(q.high > 0)) {
            untold += p.high;
            continue;
        }
        atoms->index[atoms->n] = b - w->low;
        atoms->items[atoms->n] = (cellar_atom){p.high * (1 + 0x1p-50), words_loss(p, q)};
        widest = fmax(widest, fabs(atoms->items[atoms->n++].loss));
    }
    atoms->loss_error =
        widest * 0x1p-49 + (w->p->run.error + w->q->run.error + 16) * UNIT + 0x1p-80;
    return untold * (1 + 0x1p-30);
}

/* Numbers below the window have smaller losses than its first one where these rise, or count as
 * infinite; those above it likewise where they fall. */
static void window_add_rest(const window *w, const cellar_pair *pair, cellar_atoms *atoms)
{
    int rising = pair->count[0] > pair->count[1];
    for (int upper = 0; upper < 2; upper++) {
        double mass = upper ? w->above : w->below;
        if (!pair->monotone || upper == rising || atoms->n == 0) {
            atoms->infinite += mass;
        } else if (mass > 0) {
            atoms->items[upper ? atoms->n - 1 : 0].mass += mass;
            atoms->moved += mass;
        }
    }
}

cellar_status cellar_atoms_by_words(const cellar_pair *pair, double tail, int is_strict,
                                    cellar_atoms *out, int *made, cellar_error *err)
{
    cellar_status status;
    window w;
    double untold;
    *made = 0;
    if (!is_strict)
        tail = tail_that_fits(pair, tail);
    if (!window_init(&w, pair, tail, is_strict))
        return CELLAR_OK;
    status = cellar_atoms_init(out, (size_t) (w.high - w.low + 1), err);
    if (status != CELLAR_OK)
        return status;
    untold = window_fill(&w, out);
    if (untold > tail && (is_strict || w.high - w.low < NARROW)) {
        cellar_atoms_clear(out);
        return CELLAR_OK;
    }
    window_add_rest(&w, pair, out);
    out->infinite = (out->infinite + untold) * (1 + 0x1p-40);
    *made = 1;
    return CELLAR_OK;
}
