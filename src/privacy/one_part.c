/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/one_part.h"

#include <math.h>

#include "privacy/atoms_store.h"
#include "privacy/blocks.h"

int cellar_one_part_is_long(const cellar_stake *stake, double tail)
{
    enum { LONG = 1 << 12, SHOWS = 300 }; /* so much more left out would show */
    const double least = 1e-304;          /* no list goes further */
    const cellar_mechanism *m = stake->pair.m;
    int64_t low, high, larger = stake->pair.count[stake->pair.count[0] < stake->pair.count[1]];
    if (tail < least || m->ops->law_row == NULL || !stake->pair.monotone ||
        stake->pair.cache == NULL)
        return 0;
    m->ops->support(m, larger, tail, &low, &high);
    if (high - low <= LONG)
        return 0;
    m->ops->support(m, larger, tail * SHOWS, &low, &high);
    return high - low <= CELLAR_BLOCKS_NUMBERS_MAX;
}

/* Losses rise with the number for the larger count, and fall for the smaller one. */
double cellar_one_part_about(const cellar_stake *stake, double epsilon)
{
    const cellar_mechanism *m = stake->pair.m;
    const int64_t *count = stake->pair.count;
    int64_t below = -1, above = 1 << 21; /* of the numbers whose losses decide */
    int rising = count[0] > count[1];
    if (m->ops->law_row == NULL || !stake->pair.monotone)
        return NAN;
    while (above - below > 1) {
        int64_t b = below + (above - below) / 2;
        double loss = m->ops->log_pmf(m, count[0], b) - m->ops->log_pmf(m, count[1], b);
        if ((loss > epsilon) == rising)
            above = b;
        else
            below = b;
    }
    return rising ? exp(m->ops->log_pmf(m, count[0], above))
                  : (below < 0 ? 0 : exp(m->ops->log_pmf(m, count[0], below)));
}

/* How far a sum over all atoms may be off, relative. */
static double sum_error(const cellar_atoms *atoms)
{
    return atoms->mass_error + 0x1p-44 + ((double) atoms->n + 64) * 0x1p-51;
}

double cellar_one_part_delta(const cellar_stake *stake, double epsilon, double tail,
                             double *left_out)
{
    double sum = 0;
    cellar_error err;
    const cellar_atoms *atoms = cellar_atoms_hold(&stake->pair, tail, tail, &err);
    if (atoms == NULL)
        return *left_out = 1;
    epsilon -= atoms->loss_error + fabs(epsilon) * 0x1p-50;
    for (size_t i = 0; i < atoms->n; i++)
        if (atoms->items[i].loss > epsilon)
            sum += atoms->items[i].mass * -expm1(epsilon - atoms->items[i].loss);
    sum = sum * (1 + sum_error(atoms)) + atoms->infinite;
    *left_out = atoms->infinite;
    return fmin(1, sum * (1 + 0x1p-50));
}

/* From the largest loss down: at x, delta(x) = D, and E is the sum of e^{x - loss} over the losses
 * above. At x - g these are D + E (1 - e^-g) and E e^-g. */
static double atoms_cross(const cellar_atoms *atoms, double delta)
{
    int falls = atoms->items[0].loss > atoms->items[atoms->n - 1].loss;
    double at = NAN, d = 0, e = 0;
    for (size_t i = atoms->n; i-- > 0;) {
        const cellar_atom *a = &atoms->items[falls ? atoms->n - 1 - i : i];
        double step = isnan(at) ? 0 : fmax(0, at - a->loss), more = e * -expm1(-step);
        if (a->loss <= 0 || d + more > delta)
            break;
        d += more;
        e = e * exp(-step) + a->mass;
        at = a->loss;
    }
    if (isnan(at))
        return 0;
    return delta - d >= e ? 0 : fmax(0, at + log1p(-(delta - d) / e));
}

double cellar_one_part_epsilon(const cellar_stake *stake, double delta)
{
    const double visible = 1e-5, least = 1e-305;
    double epsilon, left;
    cellar_error err;
    const cellar_atoms *atoms = cellar_atoms_hold(&stake->pair, delta * visible,
                                                  fmax(least, delta * CELLAR_ONE_PART_LEFT), &err);
    if (atoms == NULL || atoms->n == 0 || atoms->infinite > 10 * visible * delta)
        return INFINITY;
    left = (delta - atoms->infinite) * (1 - 2 * sum_error(atoms)) * (1 - 0x1p-40);
    epsilon = atoms_cross(atoms, left);
    return epsilon + atoms->loss_error * 1.01 + epsilon * 0x1p-40;
}
