/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The losses of a block of numbers lie between those of its edges. Its mass is split between these
 * so that both laws keep theirs, as losses between the points of a grid are (pld.h): the pair is a
 * post-processing of what is kept, which dominates it. */
#include "privacy/atoms.h"

#include <math.h>

#include "privacy/blocks.h"

/* Between losses `low` and `low` + `step`, at `above` above the first. */
static double share_above(double above, double step)
{
    return step > 0 ? fmin(1, fmax(0, expm1(-above) / expm1(-step))) : 0;
}

/* Of the larger count: losses rise, and those before the first block are smaller. */
static void split_rising(const cellar_blocks *blocks, cellar_atoms *atoms)
{
    for (size_t i = 0; i < blocks->n; i++) {
        double first = blocks->edge[i], step = blocks->edge[i + 1] - first;
        double share = share_above(blocks->loss[i] - first, step);
        atoms->items[i].mass += blocks->mass[i] * (1 - share);
        atoms->items[i + 1].mass += blocks->mass[i] * share;
        atoms->items[i].loss = first;
    }
    atoms->items[blocks->n].loss = blocks->edge[blocks->n];
    atoms->items[0].mass += blocks->below_larger * (1 + 0x1p-40);
    atoms->moved = blocks->below_larger * (1 + 0x1p-40);
    atoms->infinite = blocks->above * (1 + 0x1p-40);
}

/* Of the smaller count: its mass is that of the larger one times e^-loss, and losses fall. What
 * lies beyond has smaller ones, and what lies before the first block may have any. */
static void split_falling(const cellar_blocks *blocks, cellar_atoms *atoms)
{
    double beyond = blocks->above * exp(-blocks->edge[blocks->n]) * (1 + 0x1p-30) + 1e-300;
    for (size_t i = 0; i < blocks->n; i++) {
        double first = blocks->edge[i], step = blocks->edge[i + 1] - first;
        double mass = blocks->mass[i] * exp(-blocks->loss[i]);
        double share = share_above(first + step - blocks->loss[i], step);
        atoms->items[i].mass += mass * share;
        atoms->items[i + 1].mass += mass * (1 - share);
        atoms->items[i].loss = -first;
    }
    atoms->items[blocks->n].loss = -blocks->edge[blocks->n];
    atoms->items[blocks->n].mass += beyond;
    atoms->moved = beyond;
    atoms->infinite = blocks->below_smaller * (1 + 0x1p-40);
}

/* Drops atoms without mass. */
static void atoms_squeeze(cellar_atoms *atoms, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (atoms->items[i].mass > 0)
            atoms->items[atoms->n++] = atoms->items[i];
}

/* 1 when what lies before the first block shows, and numbers are so few that each can be told. */
static int blocks_lack_too_much(const cellar_blocks *blocks, const cellar_pair *pair, double tail)
{
    enum { FEW = 1 << 14 };
    return pair->count[0] < pair->count[1] && blocks->below_smaller > tail &&
           blocks->n_numbers < FEW;
}

cellar_status cellar_atoms_by_blocks(const cellar_pair *pair, double tail, cellar_atoms *out,
                                     int *made, cellar_error *err)
{
    const cellar_blocks *blocks = pair->monotone ? cellar_blocks_of(pair, tail) : NULL;
    double widest;
    cellar_status status;
    *made = 0;
    if (blocks == NULL || blocks_lack_too_much(blocks, pair, tail))
        return CELLAR_OK;
    status = cellar_atoms_init(out, blocks->n + 1, err);
    if (status != CELLAR_OK)
        return status;
    if (pair->count[0] > pair->count[1])
        split_rising(blocks, out);
    else
        split_falling(blocks, out);
    atoms_squeeze(out, blocks->n + 1);
    widest = fmax(fabs(blocks->edge[0]), fabs(blocks->edge[blocks->n]));
    out->split = blocks->widest * (1 + 0x1p-40);
    out->loss_error = blocks->error * 1.01 + widest * 0x1p-49;
    out->mass_error = blocks->error * 1.01 + widest * 0x1p-49;
    *made = 1;
    return CELLAR_OK;
}

/* ---- fewer ---------------------------------------------------------------------------------- */

/* The last of those from `first` on whose losses are within `step`, `first` + 1 at least. */
static size_t knot_after(const cellar_atoms *atoms, size_t first, double step)
{
    size_t next = first + 1;
    while (next + 1 < atoms->n &&
           fabs(atoms->items[next + 1].loss - atoms->items[first].loss) <= step)
        next++;
    return next;
}

static int atoms_are_sorted(const cellar_atoms *atoms)
{
    int rises = 1, falls = 1;
    for (size_t i = 1; i < atoms->n; i++) {
        rises &= atoms->items[i].loss >= atoms->items[i - 1].loss;
        falls &= atoms->items[i].loss <= atoms->items[i - 1].loss;
    }
    return rises || falls;
}

/* Splits those between two knots; the first of the two is the last of `out`. */
static double knots_fill(const cellar_atoms *atoms, size_t first, size_t next, cellar_atoms *out)
{
    double low = atoms->items[first].loss, step = atoms->items[next].loss - low;
    cellar_atom *here = &out->items[out->n - 1], *there = &out->items[out->n++];
    *there = atoms->items[next];
    for (size_t i = first + 1; i < next; i++) {
        const cellar_atom *a = &atoms->items[i];
        double share = step > 0 ? share_above(a->loss - low, step)
                                : 1 - share_above(a->loss - atoms->items[next].loss, -step);
        here->mass += a->mass * (1 - share);
        there->mass += a->mass * share;
    }
    return next > first + 1 ? fabs(step) : 0;
}

cellar_status cellar_atoms_thin(const cellar_atoms *atoms, size_t knots, cellar_atoms *out,
                                cellar_error *err)
{
    double step, widest = 0;
    cellar_status status = cellar_atoms_init(out, atoms->n + 1, err);
    if (status != CELLAR_OK)
        return status;
    out->infinite = atoms->infinite;
    out->infinite_true = atoms->infinite_true;
    out->moved = atoms->moved;
    out->loss_error = atoms->loss_error;
    out->mass_error = atoms->mass_error + (double) atoms->n * 0x1p-52;
    if (atoms->n > 0)
        out->items[out->n++] = atoms->items[0];
    step = atoms->n > 2 * knots && atoms_are_sorted(atoms)
               ? fabs(atoms->items[atoms->n - 1].loss - atoms->items[0].loss) / (double) knots
               : -1;
    for (size_t i = 0; i + 1 < atoms->n;) {
        size_t next = knot_after(atoms, i, step);
        widest = fmax(widest, knots_fill(atoms, i, next, out));
        i = next;
    }
    out->split = hypot(atoms->split, widest) * (1 + 0x1p-40);
    return CELLAR_OK;
}
