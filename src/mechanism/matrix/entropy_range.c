/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which variances the distributions of a row can have, and the distributions at both ends. */
#include "mechanism/matrix/entropy_row.h"

#include "base/error.h"

size_t cellar_entropy_row_stay_at(const cellar_entropy_row *row)
{
    size_t at = 0;
    while (at < row->n && row->changes[at] != 0)
        at++;
    return at;
}

/* ---- the least ------------------------------------------------------------------ */

double cellar_entropy_row_lowest(const cellar_entropy_row *row)
{
    size_t above = 0;
    if (cellar_entropy_row_stay_at(row) < row->n)
        return 0;
    while (row->changes[above] < 0)
        above++;
    return (double) (-row->changes[above - 1] * row->changes[above]);
}

void cellar_entropy_row_lowest_law(const cellar_entropy_row *row, arb_ptr p)
{
    size_t stay_at = cellar_entropy_row_stay_at(row), above = 0;
    for (size_t k = 0; k < row->n; k++)
        arb_set_ui(p + k, k == stay_at);
    if (stay_at < row->n)
        return;
    while (row->changes[above] < 0)
        above++;
    arb_set_si(p + above, -row->changes[above - 1]);
    arb_div_si(p + above, p + above, row->changes[above] - row->changes[above - 1],
               CELLAR_ENTROPY_BITS);
    arb_sub_ui(p + above - 1, p + above, 1, CELLAR_ENTROPY_BITS);
    arb_neg(p + above - 1, p + above - 1);
}

/* ---- the largest ----------------------------------------------------------------- */

/* A distribution on changes <= 0 (a point, or the even one from a point up to 0), completed to mean
 * zero by the largest change M, with whole mass 1. Changes between would carry the same mean with
 * less variance and more mass. */
typedef struct atom {
    size_t first, last; /* the points it is even on */
    long double own;    /* its mass before completion */
    long double variance, stay;
} atom;

static atom atom_make(const cellar_entropy_row *row, size_t first, size_t last, size_t stay_at)
{
    long double mean = 0, square = 0, n = (long double) (last - first + 1);
    long double top = (long double) row->changes[row->n - 1];
    atom a = {.first = first, .last = last};
    for (size_t k = first; k <= last; k++) {
        mean -= (long double) row->changes[k] / n;
        square += (long double) (row->changes[k] * row->changes[k]) / n;
    }
    a.own = 1 / (1 + mean / top);
    a.variance = a.own * (square + mean * top);
    a.stay = last == stay_at ? a.own / n : 0;
    return a;
}

static atom atom_at(const cellar_entropy_row *row, size_t k, size_t stay_at)
{
    return atom_make(row, k, row->monotone && stay_at < row->n ? stay_at : k, stay_at);
}

/* How much of the one and the rest of the other has the largest variance and stays enough. */
static long double atom_weight(const atom *one, const atom *two, long double stay)
{
    if (two->variance <= one->variance)
        return 1;
    return two->stay >= stay ? 0 : (stay - two->stay) / (one->stay - two->stay);
}

/* The two atoms of the distribution with the largest variance. */
typedef struct mixture {
    atom one, two;
    long double variance;
} mixture;

/* A linear programme with three constraints (mass, mean, staying): after completion its best
 * distribution mixes at most two atoms, one that stays often enough and one that need not. */
static mixture row_mixture(const cellar_entropy_row *row)
{
    size_t stay_at = cellar_entropy_row_stay_at(row), n = 0;
    long double stay = stay_at < row->n ? row->stay : 0;
    atom atoms[CELLAR_ENTROPY_REACH_MAX + 1];
    mixture best = {.variance = -1};

    for (; n < row->n && row->changes[n] <= 0; n++) {
        CELLAR_ASSERT(n <= CELLAR_ENTROPY_REACH_MAX);
        atoms[n] = atom_at(row, n, stay_at);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; atoms[i].stay >= stay && k < n; k++) {
            long double w = atom_weight(&atoms[i], &atoms[k], stay);
            long double variance = w * atoms[i].variance + (1 - w) * atoms[k].variance;
            if (variance > best.variance)
                best = (mixture){atoms[i], atoms[k], variance};
        }
    return best;
}

double cellar_entropy_row_highest(const cellar_entropy_row *row)
{
    return (double) row_mixture(row).variance;
}

/* The mass of an atom before completion, n M / (n M + sum |v|). */
static void atom_own_ball(const cellar_entropy_row *row, const atom *a, arb_t own)
{
    int64_t sum = 0, full = (int64_t) (a->last - a->first + 1) * row->changes[row->n - 1];
    for (size_t k = a->first; k <= a->last; k++)
        sum -= row->changes[k];
    arb_set_si(own, full);
    arb_div_si(own, own, full + sum, CELLAR_ENTROPY_BITS);
}

static void atom_add(const cellar_entropy_row *row, const atom *a, const arb_t weight, arb_ptr p)
{
    arb_t own, rest;
    arb_init(own);
    arb_init(rest);
    atom_own_ball(row, a, own);
    arb_mul(own, own, weight, CELLAR_ENTROPY_BITS);
    arb_sub(rest, weight, own, CELLAR_ENTROPY_BITS);
    arb_add(p + row->n - 1, p + row->n - 1, rest, CELLAR_ENTROPY_BITS);
    arb_div_ui(own, own, a->last - a->first + 1, CELLAR_ENTROPY_BITS);
    for (size_t k = a->first; k <= a->last; k++)
        arb_add(p + k, p + k, own, CELLAR_ENTROPY_BITS);
    arb_clear(own);
    arb_clear(rest);
}

/* P(no change) of a completed atom. */
static void atom_stay_ball(const cellar_entropy_row *row, const atom *a, arb_t stay)
{
    atom_own_ball(row, a, stay);
    arb_div_ui(stay, stay, a->last - a->first + 1, CELLAR_ENTROPY_BITS);
    if (row->changes[a->last] != 0)
        arb_zero(stay);
}

void cellar_entropy_row_highest_law(const cellar_entropy_row *row, arb_ptr p)
{
    mixture best = row_mixture(row);
    long double w = atom_weight(&best.one, &best.two, row->stay);
    arb_t weight, difference, other;

    arb_init(weight);
    arb_init(difference);
    arb_init(other);
    arb_set_d(weight, (double) w);
    if (w > 0 && w < 1) { /* (stay - two.stay) / (one.stay - two.stay) */
        atom_stay_ball(row, &best.one, difference);
        atom_stay_ball(row, &best.two, other);
        arb_sub(difference, difference, other, CELLAR_ENTROPY_BITS);
        arb_set_d(weight, row->stay);
        arb_sub(weight, weight, other, CELLAR_ENTROPY_BITS);
        arb_div(weight, weight, difference, CELLAR_ENTROPY_BITS);
    }
    for (size_t k = 0; k < row->n; k++)
        arb_zero(p + k);
    atom_add(row, &best.one, weight, p);
    arb_sub_ui(weight, weight, 1, CELLAR_ENTROPY_BITS);
    arb_neg(weight, weight);
    atom_add(row, &best.two, weight, p);
    arb_clear(weight);
    arb_clear(difference);
    arb_clear(other);
}
