/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Losses that lie on a lattice, whose sums need no grid. */
#include <math.h>

#include "math/rational.h"
#include "privacy/losses.h"

/* The first one and the greatest common divisor of all differences. */
void cellar_losses_find_lattice(cellar_losses *out, const fmpq *exact)
{
    enum { INDEX_BITS = 40 };
    fmpq_t step;
    fmpq_init(step);
    out->has_largest = out->is_lattice = 1;
    fmpq_set(out->offset, exact);
    fmpq_set(out->largest, exact);
    for (size_t i = 1; i < out->n; i++) {
        fmpq_sub(step, exact + i, out->offset);
        fmpq_gcd(out->spacing, out->spacing, step);
        if (fmpq_cmp(exact + i, out->largest) > 0)
            fmpq_set(out->largest, exact + i);
    }
    if (fmpq_is_zero(out->spacing)) /* one loss only */
        fmpq_abs(out->spacing, out->offset);
    if (fmpq_is_zero(out->spacing))
        fmpq_one(out->spacing);
    for (size_t i = 0; i < out->n && out->is_lattice; i++) {
        fmpq_sub(step, exact + i, out->offset);
        fmpq_div(step, step, out->spacing);
        out->is_lattice = fmpz_bits(fmpq_numref(step)) <= INDEX_BITS;
        if (out->is_lattice)
            out->items[i].index = fmpz_get_si(fmpq_numref(step));
    }
    fmpq_clear(step);
}

void cellar_losses_find_steps(cellar_losses *out)
{
    const double close = 1e-14;
    const size_t last = out->n - 1;
    double spacing, origin, furthest = 0, widest = 0;
    if (out->n < 3)
        return;
    origin = out->items[0].loss;
    spacing =
        (out->items[last].loss - origin) / (double) (out->items[last].index - out->items[0].index);
    for (size_t i = 0; i <= last; i++) {
        double at = origin + (double) (out->items[i].index - out->items[0].index) * spacing;
        furthest = fmax(furthest, fabs(at - out->items[i].loss));
        widest = fmax(widest, fabs(out->items[i].loss));
    }
    if (spacing == 0 || furthest > close * (1 + widest))
        return;
    out->is_lattice = 1;
    out->loss_error += furthest + 0x1p-50 * (widest + fabs(origin));
    cellar_rational_set_double(out->offset, origin);
    cellar_rational_set_double(out->spacing, fabs(spacing));
    for (size_t i = last + 1; i-- > 0;)
        out->items[i].index = (out->items[i].index - out->items[0].index) * (spacing < 0 ? -1 : 1);
}
