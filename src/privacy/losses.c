/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/losses.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "privacy/atoms_store.h"
#include "privacy/envelope.h"

enum { REFINE_MAX = 4096 };

static void losses_drop_plds(cellar_losses *t)
{
    for (size_t i = 0; i < t->n && t->plds != NULL; i++)
        cellar_pld_clear(&t->plds[i]);
}

void cellar_losses_clear(cellar_losses *t)
{
    losses_drop_plds(t);
    for (size_t i = 0; i < t->n && t->atoms != NULL; i++)
        cellar_atoms_clear(&t->atoms[i]);
    cellar_free(t->atoms);
    cellar_free(t->plds);
    cellar_free(t->parts);
    cellar_free(t->refine);
    cellar_free(t->times);
}

/* The common lattice of all stakes: the greatest common divisor of their spacings, unless it is
 * much finer than they are. */
static void losses_find_lattice(cellar_losses *t)
{
    fmpq_t common, ratio;
    fmpq_init(common);
    fmpq_init(ratio);
    t->is_lattice = 1;
    for (size_t i = 0; i < t->n; i++) {
        t->is_lattice &= t->atoms[i].is_lattice;
        fmpq_gcd(common, common, t->atoms[i].spacing);
    }
    for (size_t i = 0; i < t->n && t->is_lattice; i++) {
        fmpq_div(ratio, t->atoms[i].spacing, common);
        t->is_lattice = fmpz_cmp_ui(fmpq_numref(ratio), REFINE_MAX) <= 0;
        t->refine[i] = fmpz_get_ui(fmpq_numref(ratio));
    }
    fmpq_clear(common);
    fmpq_clear(ratio);
}

/* Deviations and largest losses, and what is infinite. */
static void losses_measure(cellar_losses *t, double tail, int has_envelope)
{
    double variance = 0, widest = 1e-9, finite = 0, finite_true = 0;
    for (size_t i = 0; i < t->n; i++) {
        double sum = 0, square = 0, mass = 0, most = -INFINITY, times = (double) t->times[i];
        for (size_t k = 0; k < t->atoms[i].n; k++) {
            const cellar_atom *a = &t->atoms[i].items[k];
            mass += a->mass;
            sum += a->mass * a->loss;
            square += a->mass * a->loss * a->loss;
            widest = fmax(widest, fabs(a->loss));
            most = fmax(most, a->loss);
        }
        sum /= fmax(mass, 1e-300);
        t->n_times += times;
        variance += times * fmax(square / fmax(mass, 1e-300) - sum * sum, 0);
        most += t->atoms[i].loss_error + fabs(most) * 0x1p-50;
        t->largest += times * most + fabs(times * most) * 0x1p-50;
        finite += times * log1p(-fmin(t->atoms[i].infinite, 1));
        finite_true += times * log1p(-fmin(t->atoms[i].infinite_true, 1));
    }
    t->largest += fabs(t->largest) * (double) t->n * 0x1p-50;
    t->deviation = fmax(sqrt(variance / t->n_times), 1e-3 * widest); /* all losses may be one */
    t->infinite = -expm1(finite) * (1 + 1e-12);
    t->infinite_true = -expm1(finite_true) * (1 - 1e-12);
    t->left_out = fmax(t->infinite - t->infinite_true, 0);
    if (has_envelope) /* which may have infinite losses of its own */
        t->left_out = fmin(t->left_out, tail * t->n_times);
}

static cellar_status stake_atoms(const cellar_stake *stake, double tail, int is_thin,
                                 cellar_atoms *out, cellar_error *err)
{
    if (stake->is_envelope)
        return cellar_envelope_create(&stake->reach, stake->pair.count[0] > stake->pair.count[1],
                                      tail, out, err);
    return is_thin ? cellar_atoms_get_thin(&stake->pair, tail, out, err)
                   : cellar_atoms_get(&stake->pair, tail, out, err);
}

cellar_status cellar_losses_init(cellar_losses *t, const cellar_stake *stakes, size_t n,
                                 double tail, int is_thin, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int has_envelope = 0;
    *t = (cellar_losses){.n = n,
                         .is_rough = stakes[0].is_rough,
                         .work = cellar_pair_cache_work(stakes[0].pair.cache)};
    t->atoms = cellar_alloc(n, sizeof *t->atoms);
    t->plds = cellar_alloc(n, sizeof *t->plds);
    t->parts = cellar_alloc(n, sizeof *t->parts);
    t->refine = cellar_alloc(n, sizeof *t->refine);
    t->times = cellar_alloc(n, sizeof *t->times);
    if (t->atoms == NULL || t->plds == NULL || t->parts == NULL || t->refine == NULL ||
        t->times == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "privacy losses"));
    for (size_t i = 0; i < n; i++) {
        has_envelope |= stakes[i].is_envelope;
        CELLAR_TRY(stake_atoms(&stakes[i], tail, is_thin, &t->atoms[i], err));
        t->times[i] = stakes[i].times;
    }
    losses_find_lattice(t);
    losses_measure(t, tail, has_envelope);
out:
    if (status != CELLAR_OK)
        cellar_losses_clear(t);
    return status;
}

int cellar_losses_are_empty(const cellar_losses *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->atoms[i].n == 0)
            return 1;
    return 0;
}

cellar_status cellar_losses_put(cellar_losses *t, double spacing, cellar_pld_rounding rounding,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    losses_drop_plds(t);
    for (size_t i = 0; i < t->n; i++) {
        CELLAR_TRY(
            cellar_pld_create(&t->atoms[i], spacing, t->refine[i], rounding, &t->plds[i], err));
        t->parts[i] = (cellar_part){&t->plds[i], t->times[i]};
    }
out:
    return status;
}

double cellar_losses_spacing(const cellar_losses *t)
{
    return cellar_rational_double(t->atoms[0].spacing) / (double) t->refine[0];
}

/* A sixteenth of a part's deviation, or more where losses are few and far between. */
cellar_status cellar_losses_tilt(cellar_losses *t, double epsilon, double delta,
                                 cellar_pld_rounding rounding, double most, cellar_tilt *out,
                                 cellar_error *err)
{
    double spacing = t->deviation / 16;
    cellar_status status = CELLAR_ERR_OVERFLOW;
    for (int i = 0; i < 12 && status == CELLAR_ERR_OVERFLOW; i++) {
        status = cellar_losses_put(t, spacing, rounding, err);
        spacing *= 16;
    }
    if (status == CELLAR_OK)
        *out = cellar_tilt_find(t->parts, t->n, epsilon, delta, most);
    return status;
}
