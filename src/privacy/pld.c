/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pld.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "privacy/listed_sort.h"

/* ---- atoms in order ------------------------------------------------------------------------ */

/* Masses and where they stand, by rising place: the atoms forwards, backwards, or sorted. */
typedef struct order {
    const cellar_atom *items;
    size_t n;
    int falls;
    cellar_atom *sorted;
} order;

static int items_rise(const cellar_atom *items, size_t n, double sign)
{
    for (size_t i = 1; i < n; i++)
        if (sign * items[i].loss < sign * items[i - 1].loss)
            return 0;
    return 1;
}

static cellar_status order_init(order *o, const cellar_atom *items, size_t n, cellar_error *err)
{
    *o = (order){.items = items, .n = n};
    if (items_rise(items, n, 1))
        return CELLAR_OK;
    o->falls = items_rise(items, n, -1);
    if (o->falls)
        return CELLAR_OK;
    o->sorted = cellar_alloc(2 * n, sizeof *o->sorted);
    if (o->sorted == NULL)
        return cellar_fail_memory(err, "privacy losses");
    for (size_t i = 0; i < n; i++)
        o->sorted[i] = items[i];
    cellar_atoms_sort(o->sorted, o->sorted + n, n);
    o->items = o->sorted;
    return CELLAR_OK;
}

static const cellar_atom *order_item(const order *o, size_t i)
{
    return &o->items[o->falls ? o->n - 1 - i : i];
}

/* ---- cells ---------------------------------------------------------------------------------- */

static cellar_status pld_room(cellar_pld *pld, size_t n, cellar_error *err)
{
    pld->loss = cellar_alloc(n + 1, sizeof *pld->loss);
    pld->log_mass = cellar_alloc(n + 1, sizeof *pld->log_mass);
    pld->index = cellar_alloc(n + 1, sizeof *pld->index);
    if (pld->loss == NULL || pld->log_mass == NULL || pld->index == NULL)
        return cellar_fail_memory(err, "privacy losses");
    return CELLAR_OK;
}

static cellar_status pld_check(double low, double high, cellar_error *err)
{
    if (fabs(low) < 0x1p52 && fabs(high) < 0x1p52)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_OVERFLOW, "privacy losses need too fine a grid");
}

/* Puts a cell behind all others. */
static void pld_put(cellar_pld *pld, double cell, double mass)
{
    if (!(mass > 0))
        return;
    pld->index[pld->n_filled] = (int64_t) cell;
    pld->loss[pld->n_filled] = pld->offset + cell * pld->spacing;
    pld->log_mass[pld->n_filled++] = log(mass);
}

static cellar_status pld_on_lattice(const cellar_atoms *atoms, uint64_t refine, cellar_pld *pld,
                                    cellar_error *err)
{
    double widest = 0, cell = 0, mass = 0;
    cellar_atom *items = cellar_alloc(atoms->n, sizeof *items);
    cellar_status status = CELLAR_OK;
    order o = {0};
    if (items == NULL)
        return cellar_fail_memory(err, "privacy losses");
    for (size_t i = 0; i < atoms->n; i++)
        items[i] = (cellar_atom){atoms->items[i].mass, (double) refine * (double) atoms->index[i]};
    CELLAR_TRY(order_init(&o, items, atoms->n, err));
    pld->offset = cellar_rational_double(atoms->offset);
    pld->spacing = cellar_rational_double(atoms->spacing) / (double) refine;
    CELLAR_TRY(pld_room(pld, atoms->n, err));
    CELLAR_TRY(pld_check(order_item(&o, 0)->loss, order_item(&o, o.n - 1)->loss, err));
    for (size_t i = 0; i < o.n; i++) {
        const cellar_atom *a = order_item(&o, i);
        if (a->loss > cell || i == 0) {
            pld_put(pld, cell, mass);
            cell = a->loss;
            mass = 0;
        }
        mass += a->mass;
        widest = fmax(widest, fabs(a->loss));
    }
    pld_put(pld, cell, mass);
    widest = fabs(pld->offset) + widest * pld->spacing;
    pld->loss_error = atoms->loss_error + widest * 0x1p-50;
out:
    cellar_free(items);
    cellar_free(o.sorted);
    return status;
}

/* The share of a loss that goes to the point of the grid above it. */
static double share_above(double above, double spacing, double full, cellar_pld_rounding rounding)
{
    above = above < 0 ? 0 : above > spacing ? spacing : above;
    if (rounding == CELLAR_PLD_SPLIT)
        return -expm1(-above) / full;
    return above == 0 ? 0 : 1;
}

static cellar_status pld_on_grid(const cellar_atoms *atoms, double spacing,
                                 cellar_pld_rounding rounding, cellar_pld *pld, cellar_error *err)
{
    double widest, full = -expm1(-spacing);
    double cell = 0, mass = 0, next = 0; /* where we stand, and the masses there and one above */
    cellar_status status = CELLAR_OK;
    order o = {0};
    CELLAR_TRY(order_init(&o, atoms->items, atoms->n, err));
    pld->spacing = spacing;
    widest = fmax(fabs(order_item(&o, 0)->loss), fabs(order_item(&o, o.n - 1)->loss));
    CELLAR_TRY(pld_check(widest / spacing + 2, 0, err));
    CELLAR_TRY(pld_room(pld, 2 * atoms->n, err));
    for (size_t i = 0; i < o.n; i++) {
        const cellar_atom *a = order_item(&o, i);
        double at = floor(a->loss / spacing), share;
        if (at > cell || i == 0) {
            pld_put(pld, cell, mass);
            if (at > cell + 1)
                pld_put(pld, cell + 1, next);
            mass = at > cell + 1 || i == 0 ? 0 : next;
            next = 0;
            cell = at;
        }
        share = share_above(a->loss - at * spacing, spacing, full, rounding);
        mass += a->mass * (1 - share);
        next += a->mass * share;
    }
    pld_put(pld, cell, mass);
    pld_put(pld, cell + 1, next);
    pld->split += spacing * spacing;
    pld->widest = fmax(pld->widest, spacing);
    /* A loss that is off by e is split as another one: the law is that of losses off by e. */
    pld->loss_error = atoms->loss_error + widest * 0x1p-50 + spacing * 0x1p-48;
out:
    cellar_free(o.sorted);
    return status;
}

cellar_status cellar_pld_create(const cellar_atoms *atoms, double spacing, uint64_t refine,
                                cellar_pld_rounding rounding, cellar_pld *out, cellar_error *err)
{
    cellar_status status;
    *out = (cellar_pld){.infinite = atoms->infinite,
                        .infinite_true = atoms->infinite_true,
                        .moved = atoms->moved,
                        .mass_error = 0x1p-42 + (double) atoms->n * 0x1p-52 + atoms->mass_error,
                        .split = atoms->split * atoms->split,
                        .widest = atoms->split};
    if (atoms->n == 0) {
        out->spacing = spacing > 0 ? spacing : 1;
        status = pld_room(out, 0, err);
    } else if (spacing > 0) {
        status = pld_on_grid(atoms, spacing, rounding, out, err);
    } else {
        status = pld_on_lattice(atoms, refine, out, err);
    }
    if (status != CELLAR_OK)
        cellar_pld_clear(out);
    return status;
}

void cellar_pld_clear(cellar_pld *pld)
{
    cellar_free(pld->loss);
    cellar_free(pld->log_mass);
    cellar_free(pld->index);
    *pld = (cellar_pld){0};
}
