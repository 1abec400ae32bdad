/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pld.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"

/* Room for n cells, whose indices must be exact in doubles. */
static cellar_status pld_room(cellar_pld *pld, size_t n, double widest_index, cellar_error *err)
{
    if (!(widest_index < 0x1p52))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW, "privacy losses need too fine a grid");
    pld->loss = cellar_alloc(n, sizeof *pld->loss);
    pld->log_mass = cellar_alloc(n, sizeof *pld->log_mass);
    pld->index = cellar_alloc(n, sizeof *pld->index);
    if (pld->loss == NULL || pld->log_mass == NULL || pld->index == NULL)
        return cellar_fail_memory(err, "privacy losses");
    return CELLAR_OK;
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

static cellar_status pld_on_lattice(const cellar_losses *losses, uint64_t refine, cellar_pld *pld,
                                    cellar_error *err)
{
    const double factor = (double) refine;
    const double first = factor * (double) losses->items[0].index;
    const double last = factor * (double) losses->items[losses->n - 1].index;
    const double widest = fmax(fabs(first), fabs(last));
    double cell = first, mass = 0;
    cellar_status status = pld_room(pld, losses->n, widest, err);
    if (status != CELLAR_OK)
        return status;
    pld->offset = cellar_rational_double(losses->offset);
    pld->spacing = cellar_rational_double(losses->spacing) / factor;
    for (size_t i = 0; i < losses->n; i++) {
        const cellar_loss *item = &losses->items[i];
        if (factor * (double) item->index > cell) {
            pld_put(pld, cell, mass);
            cell = factor * (double) item->index;
            mass = 0;
        }
        mass += item->mass;
    }
    pld_put(pld, cell, mass);
    pld->loss_error += (fabs(pld->offset) + widest * pld->spacing) * 0x1p-50;
    return CELLAR_OK;
}

static cellar_status pld_on_grid(const cellar_losses *losses, double spacing, cellar_pld *pld,
                                 cellar_error *err)
{
    const double widest =
        fmax(fabs(losses->items[0].loss), fabs(losses->items[losses->n - 1].loss));
    const double full = -expm1(-spacing);
    double cell = floor(losses->items[0].loss / spacing);
    double mass = 0, next = 0; /* of the cell, and of the one above */
    cellar_status status = pld_room(pld, 2 * losses->n + 2, widest / spacing + 2, err);
    if (status != CELLAR_OK)
        return status;
    pld->spacing = spacing;
    for (size_t i = 0; i < losses->n; i++) {
        const cellar_loss *item = &losses->items[i];
        const double at = floor(item->loss / spacing);
        double above, share;
        if (at > cell) {
            pld_put(pld, cell, mass);
            if (at > cell + 1)
                pld_put(pld, cell + 1, next);
            mass = at > cell + 1 ? 0 : next;
            next = 0;
            cell = at;
        }
        above = fmin(fmax(item->loss - at * spacing, 0), spacing);
        share = -expm1(-above) / full;
        mass += item->mass * (1 - share);
        next += item->mass * share;
    }
    pld_put(pld, cell, mass);
    pld_put(pld, cell + 1, next);
    pld->split = spacing;
    /* A loss that is off by e is split as another one: the distribution of losses off by e. */
    pld->loss_error += widest * 0x1p-50 + spacing * 0x1p-48;
    return CELLAR_OK;
}

cellar_status cellar_pld_create(const cellar_losses *losses, double spacing, uint64_t refine,
                                cellar_pld *out, cellar_error *err)
{
    cellar_status status;
    *out = (cellar_pld){.infinite = losses->infinite,
                        .infinite_true = losses->infinite_true,
                        .moved = losses->moved,
                        .mass_error = 0x1p-42 + (double) losses->n * 0x1p-52,
                        .loss_error = losses->loss_error};
    if (losses->n == 0) {
        out->spacing = spacing > 0 ? spacing : 1;
        return CELLAR_OK;
    }
    status = spacing > 0 ? pld_on_grid(losses, spacing, out, err)
                         : pld_on_lattice(losses, refine, out, err);
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
