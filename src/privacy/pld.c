/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pld.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"

enum { CELLS_MAX = 1 << 24 };

static cellar_status pld_room(cellar_pld *pld, double low, double high, cellar_error *err)
{
    if (!(high - low < CELLS_MAX) || !(fabs(low) < 0x1p52))
        return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                           "privacy losses need a grid of more than %d cells", CELLS_MAX);
    pld->first = (int64_t) low;
    pld->n = (size_t) (high - low) + 1;
    pld->mass = cellar_alloc(pld->n, sizeof *pld->mass);
    return pld->mass != NULL ? CELLAR_OK : cellar_fail_memory(err, "privacy losses");
}

static cellar_status pld_on_lattice(const cellar_atoms *atoms, uint64_t refine, cellar_pld *pld,
                                    cellar_error *err)
{
    double low = INFINITY, high = -INFINITY, widest = 0;
    cellar_status status;
    for (size_t i = 0; i < atoms->n; i++) {
        double index = (double) refine * (double) atoms->index[i];
        low = fmin(low, index);
        high = fmax(high, index);
    }
    pld->offset = cellar_rational_double(atoms->offset);
    pld->spacing = cellar_rational_double(atoms->spacing) / (double) refine;
    status = pld_room(pld, low, high, err);
    for (size_t i = 0; i < atoms->n && status == CELLAR_OK; i++) {
        int64_t index = (int64_t) refine * atoms->index[i];
        pld->mass[index - pld->first] += atoms->items[i].mass;
    }
    widest = fabs(pld->offset) + fmax(fabs(low), fabs(high)) * pld->spacing;
    pld->loss_error = atoms->loss_error + widest * 0x1p-50;
    return status;
}

static cellar_status pld_on_grid(const cellar_atoms *atoms, double spacing,
                                 cellar_pld_rounding rounding, cellar_pld *pld, cellar_error *err)
{
    double low = INFINITY, high = -INFINITY, widest = 0, full = -expm1(-spacing);
    cellar_status status;
    for (size_t i = 0; i < atoms->n; i++) {
        double cell = floor(atoms->items[i].loss / spacing);
        low = fmin(low, cell);
        high = fmax(high, cell + 1);
        widest = fmax(widest, fabs(atoms->items[i].loss));
    }
    pld->spacing = spacing;
    status = pld_room(pld, low, high, err);
    for (size_t i = 0; i < atoms->n && status == CELLAR_OK; i++) {
        double loss = atoms->items[i].loss, cell = floor(loss / spacing);
        double above = loss - cell * spacing, share = 1, *mass;
        above = above < 0 ? 0 : above > spacing ? spacing : above;
        mass = &pld->mass[(int64_t) cell - pld->first];
        if (rounding == CELLAR_PLD_SPLIT)
            share = -expm1(-above) / full;
        else if (above == 0)
            share = 0;
        mass[0] += atoms->items[i].mass * (1 - share);
        mass[1] += atoms->items[i].mass * share;
    }
    pld->is_split = 1;
    /* A loss that is off by e is split as another one: the law is that of losses off by e. */
    pld->loss_error = atoms->loss_error + widest * 0x1p-50 + spacing * 0x1p-48;
    return status;
}

/* Lists the cells with mass. */
static cellar_status pld_list(cellar_pld *pld, cellar_error *err)
{
    size_t n = 0;
    for (size_t i = 0; i < pld->n; i++)
        n += pld->mass[i] > 0;
    pld->loss = cellar_alloc(n, sizeof *pld->loss);
    pld->log_mass = cellar_alloc(n, sizeof *pld->log_mass);
    pld->index = cellar_alloc(n, sizeof *pld->index);
    if (pld->loss == NULL || pld->log_mass == NULL || pld->index == NULL)
        return cellar_fail_memory(err, "privacy losses");
    for (size_t i = 0; i < pld->n; i++)
        if (pld->mass[i] > 0) {
            int64_t index = pld->first + (int64_t) i;
            pld->index[pld->n_filled] = index;
            pld->loss[pld->n_filled] = pld->offset + (double) index * pld->spacing;
            pld->log_mass[pld->n_filled++] = log(pld->mass[i]);
        }
    return CELLAR_OK;
}

cellar_status cellar_pld_create(const cellar_atoms *atoms, double spacing, uint64_t refine,
                                cellar_pld_rounding rounding, cellar_pld *out, cellar_error *err)
{
    cellar_status status;
    *out = (cellar_pld){.infinite = atoms->infinite,
                        .infinite_true = atoms->infinite_true,
                        .moved = atoms->moved,
                        .mass_error = 0x1p-42 + (double) atoms->n * 0x1p-52};
    if (atoms->n == 0) {
        out->spacing = spacing > 0 ? spacing : 1;
        status = pld_room(out, 0, 0, err);
    } else if (spacing > 0) {
        status = pld_on_grid(atoms, spacing, rounding, out, err);
    } else {
        status = pld_on_lattice(atoms, refine, out, err);
    }
    if (status == CELLAR_OK)
        status = pld_list(out, err);
    if (status != CELLAR_OK)
        cellar_pld_clear(out);
    return status;
}

void cellar_pld_clear(cellar_pld *pld)
{
    cellar_free(pld->mass);
    cellar_free(pld->loss);
    cellar_free(pld->log_mass);
    cellar_free(pld->index);
    *pld = (cellar_pld){0};
}
