/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/atoms.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
#include "math/rational.h"
#include "privacy/atoms_noise.h"

enum { ATOMS_MAX = 4000000, ATOM_BITS = 96 };
static const double STEPS_EXACT = 1e-14, STEPS_CLOSE = 1e-9;

/* ln P(b)/Q(b) when it is known exactly. */
static int atom_log_ratio(const cellar_pair *pair, int64_t b, fmpq_t out)
{
    const cellar_facts *facts = pair->m->ops->facts;
    return facts != NULL && facts->log_ratio != NULL && !(pair->clamped && b == 0) &&
           facts->log_ratio(pair->m, pair->count[0], pair->count[1], b, out);
}

/* ln(p/q), and how wrong the double may be. */
static void atom_loss(const arb_t p, const arb_t q, arb_t work, double *loss, double *error)
{
    arb_div(work, p, q, ATOM_BITS);
    arb_log(work, work, ATOM_BITS);
    *loss = arf_get_d(arb_midref(work), ARF_RND_NEAR);
    *error = fmax(*error, 0x1p-52 * fabs(*loss) + 0x1p-80);
    if (!arb_is_finite(work) || mag_cmp_2exp_si(arb_radref(work), -80) > 0)
        *error = INFINITY;
}

/* q(0), q(1), ... of additive noise, so that each is enclosed once; where ratios are known to be
 * rational, one enclosure and a logarithm do for all. Of kernels that can enclose many at once,
 * both laws. */
typedef struct noise_list {
    arb_ptr balls; /* NULL: not additive, or too many */
    size_t n;
    arb_ptr rows[2]; /* P and Q of a kernel from `low` on, made together; or NULL */
    int64_t low;
    size_t width;
} noise_list;

static int64_t absolute(int64_t k)
{
    return k < 0 ? -k : k;
}

static void noise_list_init(noise_list *list, const cellar_pair *pair, int64_t low, int64_t high)
{
    const cellar_mechanism *m = pair->m;
    int64_t last = 0;
    fmpq_t ratio;

    *list = (noise_list){.low = low, .width = high >= low ? (size_t) (high - low) + 1 : 0};
    if (!m->ops->is_additive && m->ops->pmf_balls != NULL && low >= 0)
        for (int side = 0; side < 2; side++) {
            list->rows[side] = _arb_vec_init((slong) list->width);
            m->ops->pmf_balls(m, pair->count[side], low, list->width, ATOM_BITS, list->rows[side]);
        }
    if (!m->ops->is_additive || pair->clamped)
        return;
    for (int side = 0; side < 2; side++) {
        int64_t k = absolute(low - pair->count[side]), other = absolute(high - pair->count[side]);
        last = last > k ? last : k;
        last = last > other ? last : other;
    }
    list->n = (size_t) last + 1;
    list->balls = _arb_vec_init((slong) list->n);
    fmpq_init(ratio);
    for (int64_t k = 0; k <= last; k++) {
        const cellar_facts *facts = m->ops->facts;
        int64_t first, end;
        m->ops->support(m, 0, 0, &first, &end);
        if (k > 0 && k <= end && facts != NULL && facts->log_ratio != NULL &&
            facts->log_ratio(m, 0, k, k, ratio)) { /* ln q(k) / q(0) */
            arb_set_fmpq(list->balls + k, ratio, ATOM_BITS + 32);
            arb_exp(list->balls + k, list->balls + k, ATOM_BITS);
            arb_mul(list->balls + k, list->balls + k, list->balls, ATOM_BITS);
        } else {
            m->ops->pmf_ball(m, 0, k, ATOM_BITS, list->balls + k);
        }
    }
    fmpq_clear(ratio);
}

static void noise_list_clear(noise_list *list)
{
    if (list->balls != NULL)
        _arb_vec_clear(list->balls, (slong) list->n);
    for (int side = 0; side < 2; side++)
        if (list->rows[side] != NULL)
            _arb_vec_clear(list->rows[side], (slong) list->width);
}

static void noise_list_pmf(const noise_list *list, const cellar_pair *pair, int side, int64_t b,
                           arb_t out)
{
    if (list->balls != NULL)
        arb_set(out, list->balls + absolute(b - pair->count[side]));
    else if (list->rows[side] != NULL)
        arb_set(out, list->rows[side] + (b - list->low));
    else
        cellar_pair_pmf(pair, side, b, ATOM_BITS, out);
}

/* Which b are atoms of their own. What lies to the left of them (in the direction of falling
 * losses) is put with the first one, whose loss is larger; what lies to the right has the pure
 * loss, or counts as infinite. Noise that is geometric beyond both counts loses nothing. */
typedef struct atom_window {
    int64_t low, high;
    int pure; /* the right end stands for all beyond it, whose losses are the same or smaller */
} atom_window;

static atom_window atoms_window(const cellar_pair *pair, double tail)
{
    const cellar_facts *facts = pair->m->ops->facts;
    int64_t smaller = pair->count[0] < pair->count[1] ? pair->count[0] : pair->count[1];
    int64_t larger = pair->count[0] + pair->count[1] - smaller;
    atom_window w = {0};
    fmpq_t bound, end;

    pair->m->ops->support(pair->m, pair->count[0], tail, &w.low, &w.high);
    fmpq_init(bound);
    fmpq_init(end);
    if (pair->monotone && pair->m->ops->is_additive && !pair->clamped && facts != NULL &&
        facts->pure_rational != NULL && facts->pure_rational(pair->m, larger - smaller, bound) &&
        atom_log_ratio(pair, pair->count[0] > pair->count[1] ? larger + 1 : smaller - 1, end) &&
        fmpq_equal(bound, end)) {
        w.low = smaller - 1;
        w.high = larger + 1;
        w.pure = 1;
    }
    if (pair->flat) {
        w.low = smaller;
        w.high = larger;
        w.pure = 1;
    }
    fmpq_clear(bound);
    fmpq_clear(end);
    w.low = w.low < pair->low[0] ? pair->low[0] : w.low;
    w.high = w.high > pair->high[0] ? pair->high[0] : w.high;
    return w;
}

/* No less than P from b on: of kernels with ratios that are not monotone, whose tails take long, by
 * its first number. */
static void tail_above(const cellar_pair *pair, int64_t b, arb_t out)
{
    const cellar_mechanism *m = pair->m;
    double factor = INFINITY;
    arb_t most;
    if (!pair->monotone && m->ops->tail_factor != NULL)
        factor = m->ops->tail_factor(m, pair->count[0], b);
    if (!isfinite(factor)) {
        cellar_pair_upper(pair, 0, b, ATOM_BITS, out);
        return;
    }
    arb_init(most);
    arb_set_d(most, factor);
    cellar_pair_pmf(pair, 0, b, ATOM_BITS, out);
    arb_mul(out, out, most, ATOM_BITS);
    arb_clear(most);
}

/* Adds the mass outside the window to the atoms at its ends, or to the infinite. */
static void atoms_add_tails(const cellar_pair *pair, const atom_window *w, cellar_atoms *atoms,
                            int64_t low_atom, int64_t high_atom)
{
    int rising = pair->count[0] > pair->count[1];
    arb_t tail;
    arb_init(tail);
    for (int upper = 0; upper < 2; upper++) {
        int64_t atom = upper ? high_atom : low_atom;
        double mass;
        if (upper)
            tail_above(pair, w->high + 1, tail);
        else
            cellar_pair_lower(pair, 0, w->low - 1, ATOM_BITS, tail);
        mass = cellar_ball_upper(tail);
        if (mass <= 0)
            continue;
        if (atom < 0 || (!w->pure && (!pair->monotone || upper == rising))) {
            atoms->infinite = nextafter(atoms->infinite + mass, 2);
            continue;
        }
        atoms->items[atom].mass = nextafter(atoms->items[atom].mass + mass, 2);
        if (!w->pure)
            atoms->moved += mass;
    }
    arb_clear(tail);
}

/* The lattice of exactly known losses: their first one and the greatest common divisor of the
 * differences. */
static void atoms_find_lattice(cellar_atoms *atoms, fmpq_t *losses)
{
    fmpq_t difference, origin, spacing;
    fmpz_t index;
    fmpq_init(spacing);
    fmpq_init(difference);
    fmpq_init(origin);
    fmpz_init(index);
    fmpq_set(origin, losses[0]);
    fmpq_set(atoms->offset, origin);
    fmpq_zero(spacing);
    for (size_t i = 1; i < atoms->n; i++) {
        fmpq_sub(difference, losses[i], origin);
        fmpq_gcd(spacing, spacing, difference);
    }
    if (fmpq_is_zero(spacing)) /* one loss only */
        fmpq_abs(spacing, atoms->offset);
    if (fmpq_is_zero(spacing))
        fmpq_one(spacing);
    atoms->is_lattice = 1;
    for (size_t i = 0; i < atoms->n; i++) {
        fmpq_sub(difference, losses[i], origin);
        fmpq_div(difference, difference, spacing);
        fmpz_set(index, fmpq_numref(difference));
        if (fmpz_bits(index) > 40)
            atoms->is_lattice = 0;
        else
            atoms->index[i] = fmpz_get_si(index);
    }
    fmpq_set(atoms->spacing, spacing);
    fmpq_clear(spacing);
    fmpq_clear(origin);
    fmpq_clear(difference);
    fmpz_clear(index);
}

/* Losses that rise by the same amount from one released number to the next (Poisson and negative
 * binomial counts) lie on a lattice too, if on one of no rational spacing: how far they are off the
 * nearest lattice of doubles is a part of their error. Those of wide normal noise nearly do. */
void cellar_atoms_find_steps(cellar_atoms *atoms, double close)
{
    size_t last = atoms->n - 1;
    double spacing, origin, furthest = 0, widest = 0;
    if (atoms->n < 3 || !isfinite(atoms->loss_error))
        return;
    origin = atoms->items[0].loss;
    spacing = (atoms->items[last].loss - origin) / (double) (atoms->index[last] - atoms->index[0]);
    for (size_t i = 0; i <= last; i++) {
        double loss = origin + (double) (atoms->index[i] - atoms->index[0]) * spacing;
        furthest = fmax(furthest, fabs(loss - atoms->items[i].loss));
        widest = fmax(widest, fabs(atoms->items[i].loss));
    }
    if (spacing == 0 || furthest > close * (1 + widest))
        return;
    atoms->is_lattice = 1;
    atoms->loss_error += furthest + 0x1p-50 * (widest + fabs(origin));
    cellar_rational_set_double(atoms->offset, origin);
    cellar_rational_set_double(atoms->spacing, fabs(spacing));
    for (size_t i = last + 1; i-- > 0;)
        atoms->index[i] = (atoms->index[i] - atoms->index[0]) * (spacing < 0 ? -1 : 1);
}

/* Fills in the atoms of the window; `losses` get the exact ones. Answers 1 when all are exact. */
static int atoms_fill(const cellar_pair *pair, const atom_window *w, cellar_atoms *atoms,
                      fmpq_t *losses)
{
    int exact = 1;
    int64_t low_atom = -1, high_atom = -1;
    noise_list noise;
    arb_t p, q, work;
    arb_init(p);
    arb_init(q);
    arb_init(work);
    noise_list_init(&noise, pair, w->low, w->high);
    for (int64_t b = w->low; b <= w->high; b++) {
        cellar_atom *atom = &atoms->items[atoms->n];
        noise_list_pmf(&noise, pair, 0, b, p);
        if (arb_is_zero(p))
            continue;
        atom->mass = cellar_ball_upper(p);
        noise_list_pmf(&noise, pair, 1, b, q);
        if (!arb_is_positive(q)) {
            atoms->infinite = nextafter(atoms->infinite + atom->mass, 2);
            if (arb_is_zero(q))
                atoms->infinite_true += cellar_ball_lower(p) * (1 - 0x1p-40);
            continue;
        }
        if (exact && atom_log_ratio(pair, b, losses[atoms->n])) {
            atom->loss = cellar_rational_double(losses[atoms->n]);
            atoms->loss_error = fmax(atoms->loss_error, fabs(atom->loss) * 0x1p-52);
        } else {
            exact = 0;
            atom_loss(p, q, work, &atom->loss, &atoms->loss_error);
        }
        atoms->index[atoms->n] = b - w->low;
        low_atom = b == w->low ? (int64_t) atoms->n : low_atom;
        high_atom = b == w->high ? (int64_t) atoms->n : high_atom;
        atoms->n++;
    }
    atoms_add_tails(pair, w, atoms, low_atom, high_atom);
    noise_list_clear(&noise);
    arb_clear(p);
    arb_clear(q);
    arb_clear(work);
    return exact && atoms->n > 0;
}

cellar_status cellar_atoms_init(cellar_atoms *atoms, size_t n, cellar_error *err)
{
    *atoms = (cellar_atoms){0};
    fmpq_init(atoms->offset);
    fmpq_init(atoms->spacing);
    atoms->items = cellar_alloc(n, sizeof *atoms->items);
    atoms->index = cellar_alloc(n, sizeof *atoms->index);
    if (atoms->items != NULL && atoms->index != NULL)
        return CELLAR_OK;
    cellar_atoms_clear(atoms);
    return cellar_fail_memory(err, "privacy losses");
}

/* In balls, whatever the mechanism. */
static cellar_status atoms_by_balls(const cellar_pair *pair, const atom_window *w,
                                    cellar_atoms *out, cellar_error *err)
{
    size_t n = (size_t) (w->high - w->low + 1);
    fmpq_t *losses = cellar_alloc(n, sizeof *losses);
    if (losses == NULL)
        return cellar_fail_memory(err, "privacy losses");
    for (size_t i = 0; i < n; i++)
        fmpq_init(losses[i]);
    if (atoms_fill(pair, w, out, losses))
        atoms_find_lattice(out, losses);
    else
        cellar_atoms_find_steps(out, STEPS_EXACT);
    for (size_t i = 0; i < n; i++)
        fmpq_clear(losses[i]);
    cellar_free(losses);
    if (isfinite(out->loss_error))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: a loss could not be enclosed",
                       cellar_mechanism_spec(pair->m));
}

/* No lattice of very many losses is used, and fewer do as well. */
static cellar_status atoms_put_together(cellar_atoms *atoms, cellar_error *err)
{
    enum { MANY = 1 << 16, LATTICE_MANY = 1 << 17, FEW = 1 << 15 };
    cellar_atoms fewer;
    cellar_status status;
    if (atoms->n <= (atoms->is_lattice ? LATTICE_MANY : MANY))
        return CELLAR_OK;
    status = cellar_atoms_thin(atoms, FEW, &fewer, err);
    cellar_atoms_clear(atoms);
    if (status == CELLAR_OK)
        *atoms = fewer;
    return status;
}

static cellar_status atoms_of_window(const cellar_pair *pair, double tail, cellar_atoms *out,
                                     cellar_error *err)
{
    const double each = 0.05;
    atom_window w = atoms_window(pair, tail);
    cellar_status status;
    if (!w.pure)
        cellar_atoms_noise_trim(pair, &w.low, &w.high);
    if (w.low < -ATOMS_MAX || w.high > ATOMS_MAX || w.high - w.low > ATOMS_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: its noise is too wide to be composed by its losses",
                           cellar_mechanism_spec(pair->m));
    status = cellar_atoms_init(out, (size_t) (w.high - w.low + 1), err);
    if (status != CELLAR_OK)
        return status;
    cellar_work_add(cellar_pair_cache_work(pair->cache), each * (double) (w.high - w.low));
    if (!cellar_atoms_by_noise(pair, w.low, w.high, out))
        return atoms_by_balls(pair, &w, out, err);
    atoms_add_tails(pair, &w, out, cellar_pair_in_support(pair, 1, w.low) ? 0 : -1,
                    cellar_pair_in_support(pair, 1, w.high) ? (int64_t) out->n - 1 : -1);
    if (!out->is_lattice)
        cellar_atoms_find_steps(out, STEPS_CLOSE);
    return atoms_put_together(out, err);
}

/* 1 when a kernel's law goes on for so long that its numbers are better put together. */
static int atoms_are_many(const cellar_pair *pair, double tail)
{
    enum { LONG = 1 << 14 };
    int64_t low, high, larger = pair->count[pair->count[0] < pair->count[1]];
    pair->m->ops->support(pair->m, larger, tail, &low, &high);
    return high - low > LONG;
}

/* By the quickest way there is. */
static cellar_status atoms_of_kernel(const cellar_pair *pair, double tail, cellar_atoms *out,
                                     int *made, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    int by_blocks = 0;
    *made = 0;
    if (pair->clamped || pair->cache == NULL || pair->m->ops->law_row == NULL)
        return CELLAR_OK;
    if (!atoms_are_many(pair, tail))
        status = cellar_atoms_by_words(pair, tail, 1, out, made, err);
    if (status == CELLAR_OK && !*made) {
        status = cellar_atoms_by_blocks(pair, tail, out, &by_blocks, err);
        *made = by_blocks;
    }
    if (status == CELLAR_OK && !*made)
        status = cellar_atoms_by_words(pair, tail, 0, out, made, err);
    if (status != CELLAR_OK || !*made || by_blocks)
        return status;
    cellar_atoms_find_steps(out, STEPS_EXACT);
    return atoms_put_together(out, err);
}

cellar_status cellar_atoms_create(const cellar_pair *pair, double tail, cellar_atoms *out,
                                  cellar_error *err)
{
    cellar_status status;
    int made;
    *out = (cellar_atoms){0};
    fmpq_init(out->offset);
    fmpq_init(out->spacing);
    status = atoms_of_kernel(pair, tail, out, &made, err);
    if (status == CELLAR_OK && !made)
        status = atoms_of_window(pair, tail, out, err);
    if (status != CELLAR_OK)
        cellar_atoms_clear(out);
    return status;
}

void cellar_atoms_clear(cellar_atoms *atoms)
{
    cellar_free(atoms->items);
    cellar_free(atoms->index);
    fmpq_clear(atoms->offset);
    fmpq_clear(atoms->spacing);
    *atoms = (cellar_atoms){0};
    fmpq_init(atoms->offset);
    fmpq_init(atoms->spacing);
}
