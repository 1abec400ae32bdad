/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/tight.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/rational.h"
#include "privacy/envelope.h"
#include "privacy/listed.h"

static const double GAP = 1e-3;
enum { REFINE_MAX = 4096 };

/* The atoms of all stakes, and the grid they are put on. */
typedef struct table_of_losses {
    size_t n;
    cellar_atoms *atoms;
    cellar_pld *plds;
    cellar_part *parts;
    uint64_t *refine; /* per stake; of the common lattice */
    int is_lattice;
    double spacing;   /* of the grid when there is no lattice */
    double deviation; /* of one part's loss, about */
    double tail;      /* mass that was left out, of all together */
    uint64_t *times;
} table_of_losses;

static void losses_drop_plds(table_of_losses *t)
{
    for (size_t i = 0; i < t->n && t->plds != NULL; i++)
        cellar_pld_clear(&t->plds[i]);
}

static void losses_clear(table_of_losses *t)
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
static void losses_find_lattice(table_of_losses *t)
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

/* A first grid. The lower bound is off by about 7 k h^2 / sd in epsilon (sum_split_error(), some
 * deviations out), h the spacing, k the number of parts, sd the deviation of the sum. */
static void losses_first_spacing(table_of_losses *t, const cellar_stake *stakes)
{
    double variance = 0, times = 0, largest = 1e-9, deviation;
    for (size_t i = 0; i < t->n; i++) {
        double sum = 0, square = 0, mass = 0;
        for (size_t k = 0; k < t->atoms[i].n; k++) {
            const cellar_atom *a = &t->atoms[i].items[k];
            mass += a->mass;
            sum += a->mass * a->loss;
            square += a->mass * a->loss * a->loss;
            largest = fmax(largest, fabs(a->loss));
        }
        sum /= fmax(mass, 1e-300);
        times += (double) stakes[i].times;
        variance += (double) stakes[i].times * fmax(square / fmax(mass, 1e-300) - sum * sum, 0);
    }
    deviation = fmax(sqrt(variance), 1e-3 * largest); /* all losses may be one */
    t->deviation = deviation / sqrt(times);
    t->spacing = fmin(GAP, fmin(deviation / 512, sqrt(GAP * deviation / (12 * times))));
}

static cellar_status stake_atoms(const cellar_stake *stake, double tail, cellar_atoms *out,
                                 cellar_error *err)
{
    if (stake->is_envelope)
        return cellar_envelope_create(&stake->reach, stake->pair.count[0] > stake->pair.count[1],
                                      tail, out, err);
    return cellar_atoms_create(&stake->pair, tail, out, err);
}

static cellar_status losses_init(table_of_losses *t, const cellar_stake *stakes, size_t n,
                                 double tail, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *t = (table_of_losses){.n = n};
    t->atoms = cellar_alloc(n, sizeof *t->atoms);
    t->plds = cellar_alloc(n, sizeof *t->plds);
    t->parts = cellar_alloc(n, sizeof *t->parts);
    t->refine = cellar_alloc(n, sizeof *t->refine);
    t->times = cellar_alloc(n, sizeof *t->times);
    if (t->atoms == NULL || t->plds == NULL || t->parts == NULL || t->refine == NULL ||
        t->times == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "privacy losses"));
    for (size_t i = 0; i < n; i++) {
        CELLAR_TRY(stake_atoms(&stakes[i], tail, &t->atoms[i], err));
        t->times[i] = stakes[i].times;
        t->tail += tail * (double) stakes[i].times;
    }
    losses_find_lattice(t);
    losses_first_spacing(t, stakes);
out:
    if (status != CELLAR_OK)
        losses_clear(t);
    return status;
}

static cellar_status losses_put(table_of_losses *t, const cellar_stake *stakes,
                                cellar_pld_rounding rounding, int sign, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    losses_drop_plds(t);
    for (size_t i = 0; i < t->n; i++) {
        CELLAR_TRY(cellar_pld_create(&t->atoms[i], t->is_lattice ? 0 : t->spacing, t->refine[i],
                                     rounding, sign, &t->plds[i], err));
        t->parts[i] = (cellar_part){&t->plds[i], stakes[i].times};
    }
out:
    return status;
}

/* All mass infinite, or all losses zero: nothing to transform. */
static int losses_are_empty(const table_of_losses *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->atoms[i].n == 0)
            return 1;
    return 0;
}

/* ---- one question on one grid ------------------------------------------------------ */

typedef struct question {
    double epsilon; /* NAN: asks for it */
    double delta;
} question;

/* Upper and lower bounds, and how far apart they are in epsilon. */
static cellar_status losses_ask(table_of_losses *t, const cellar_stake *stakes,
                                const question *asked, cellar_bounds *out, double *gap,
                                cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = losses_put(t, stakes, CELLAR_PLD_SPLIT, 1, err);
    if (status == CELLAR_OK)
        status = cellar_sum_create(t->parts, t->n, asked->epsilon, asked->delta, &sum, err);
    if (status != CELLAR_OK)
        return status;
    if (isnan(asked->epsilon)) {
        out->upper = cellar_sum_epsilon_upper(sum, asked->delta);
        out->lower = cellar_sum_epsilon_lower(sum, asked->delta);
        *gap = out->upper - out->lower;
    } else {
        out->upper = cellar_sum_delta_upper(sum, asked->epsilon);
        out->lower = cellar_sum_delta_lower(sum, asked->epsilon);
        *gap = asked->epsilon - cellar_sum_epsilon_lower(sum, out->upper);
    }
    cellar_sum_free(sum);
    return CELLAR_OK;
}

/* Few losses need no grid: *found when their sums could be listed. So little is moved that it does
 * not show in delta. */
static cellar_status losses_list(const table_of_losses *t, const question *asked,
                                 cellar_bounds *out, int *found, cellar_error *err)
{
    double about = isnan(asked->epsilon) ? asked->delta : 1e-6;
    cellar_listed *list;
    cellar_status status;
    *found = 0;
    for (int round = 0; round < 2; round++) {
        double scale;
        status = cellar_listed_create(t->atoms, t->times, t->n, about * 1e-13, &list, err);
        if (status != CELLAR_OK || list == NULL)
            return status;
        if (isnan(asked->epsilon)) {
            out->upper = cellar_listed_epsilon_upper(list, asked->delta);
            out->lower = fmin(out->upper, cellar_listed_epsilon_lower(list, asked->delta));
        } else {
            out->upper = cellar_listed_delta_upper(list, asked->epsilon);
            out->lower = fmin(out->upper, cellar_listed_delta_lower(list, asked->epsilon));
        }
        cellar_listed_free(list);
        scale = isnan(asked->epsilon) ? asked->delta : out->upper;
        if (about <= scale)
            break;
        about = 0;
    }
    *found = 1;
    return CELLAR_OK;
}

/* Further out than five deviations the grid must be finer. Transforms have powers of two of cells,
 * and it is made finer until it uses all of them: how wide the window is shows on a grid of a
 * sixteenth of a part's deviation. */
static cellar_status losses_fill(table_of_losses *t, const cellar_stake *stakes,
                                 const question *asked, cellar_error *err)
{
    double width, cells = 0x1p14, wanted = t->spacing;
    cellar_status status;
    if (isnan(asked->epsilon))
        wanted /= sqrt(fmax(1, sqrt(-2 * log(asked->delta)) / 5));
    t->spacing = wanted;
    if (t->deviation < 16 * wanted)
        return CELLAR_OK;
    t->spacing = t->deviation / 16;
    status = losses_put(t, stakes, CELLAR_PLD_SPLIT, 1, err);
    if (status == CELLAR_OK) {
        width = cellar_sum_width(t->parts, t->n, asked->epsilon, asked->delta);
        while (cells < 0x1p60 && cells < width / wanted)
            cells *= 2;
        wanted = fmin(wanted, 1.005 * width / (cells - 8));
    }
    t->spacing = wanted;
    return status == CELLAR_ERR_OVERFLOW ? CELLAR_OK : status;
}

/* Refines the grid until the bounds are close, or the next grid would be too fine. */
static cellar_status losses_answer(table_of_losses *t, const cellar_stake *stakes,
                                   const question *asked, cellar_bounds *out, cellar_error *err)
{
    cellar_status status;
    int found;
    double gap;
    if (!t->is_lattice) {
        status = losses_list(t, asked, out, &found, err);
        if (status != CELLAR_OK || found)
            return status;
    }
    if (t->is_lattice) {
        status = losses_ask(t, stakes, asked, out, &gap, err);
        if (status != CELLAR_ERR_OVERFLOW) {
            out->is_lattice = 1;
            return status;
        }
        t->is_lattice = 0; /* finer than is any use */
    }
    status = losses_fill(t, stakes, asked, err);
    if (status != CELLAR_OK)
        return status;
    for (int coarser = 0; coarser < 12; coarser++) {
        status = losses_ask(t, stakes, asked, out, &gap, err);
        if (status != CELLAR_ERR_OVERFLOW)
            break;
        t->spacing *= 4;
    }
    for (int finer = 0; finer < 6 && status == CELLAR_OK && gap > GAP; finer++) {
        cellar_bounds closer = {0};
        if (stakes[0].is_rough || (!isnan(asked->epsilon) && out->upper <= 1e4 * t->tail) ||
            (!isnan(asked->epsilon) && out->upper - out->lower <= 1e-4 * out->upper))
            break; /* all is left out yet; or the curve is flat there, and no epsilon near */
        t->spacing *= fmin(0.5, fmax(0.25, 0.9 * sqrt(GAP / gap)));
        status = losses_ask(t, stakes, asked, &closer, &gap, err);
        if (status == CELLAR_OK)
            *out = closer;
        if (status != CELLAR_ERR_OVERFLOW)
            continue;
        status = CELLAR_OK; /* as fine as it gets */
        break;
    }
    out->is_lattice = 0;
    return status;
}

/* Mass that was left out counts as infinite loss: so little is left out that it does not show. */
static cellar_status stakes_answer(const cellar_stake *stakes, size_t n, const question *asked,
                                   cellar_bounds *out, cellar_error *err)
{
    double times = 0, tail;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        times += (double) stakes[i].times;
    tail = (isnan(asked->epsilon) ? asked->delta : 1e-12) * 1e-6 / times;
    for (int round = 0; round < 4; round++) {
        table_of_losses t;
        double scale;
        tail = fmax(tail, 1e-305);
        status = losses_init(&t, stakes, n, tail, err);
        if (status != CELLAR_OK)
            return status;
        if (losses_are_empty(&t))
            *out = (cellar_bounds){.upper = isnan(asked->epsilon) ? INFINITY : 1, .lower = 0};
        else
            status = losses_answer(&t, stakes, asked, out, err);
        losses_clear(&t);
        scale = isnan(asked->epsilon) ? asked->delta : out->upper;
        if (status != CELLAR_OK || tail <= 1e-305 || times * tail <= 1e-4 * scale)
            break;
        tail = round < 1 ? 1e-100 : 1e-305;
    }
    return status;
}

/* ---- the three questions ------------------------------------------------------------- */

cellar_status cellar_tight_delta(const cellar_stake *stakes, size_t n, double epsilon,
                                 cellar_bounds *out, cellar_error *err)
{
    question asked = {epsilon, NAN};
    *out = (cellar_bounds){.upper = 1};
    return stakes_answer(stakes, n, &asked, out, err);
}

cellar_status cellar_tight_epsilon(const cellar_stake *stakes, size_t n, double delta,
                                   cellar_bounds *out, cellar_error *err)
{
    question asked = {NAN, delta};
    *out = (cellar_bounds){.upper = INFINITY};
    return stakes_answer(stakes, n, &asked, out, err);
}

/* P(loss > epsilon) or, with sign -1, P(-loss > epsilon), every loss rounded up on its grid. What
 * has infinite loss counts on the side of sign 1; what was given a larger loss, on the other. */
static cellar_status losses_exceed(table_of_losses *t, const cellar_stake *stakes, double epsilon,
                                   int sign, double *out, cellar_error *err)
{
    cellar_sum *sum = NULL;
    cellar_status status = losses_put(t, stakes, CELLAR_PLD_UP, sign, err);
    for (size_t i = 0; i < t->n && status == CELLAR_OK && sign < 0; i++)
        t->plds[i].infinite = t->plds[i].moved;
    if (status == CELLAR_OK)
        status = cellar_sum_create(t->parts, t->n, epsilon, NAN, &sum, err);
    if (status == CELLAR_OK)
        *out = cellar_sum_exceeds_upper(sum, epsilon);
    cellar_sum_free(sum);
    return status;
}

/* The same of all but `tail` of each law, which counts. */
static cellar_status violation_to(const cellar_stake *stakes, size_t n, double epsilon, double tail,
                                  cellar_bounds *out, cellar_error *err)
{
    table_of_losses t;
    double above = 1, below = 1;
    cellar_status status = losses_init(&t, stakes, n, tail, err);
    if (status != CELLAR_OK)
        return status;
    *out = (cellar_bounds){.upper = 1};
    if (!losses_are_empty(&t)) {
        double times = 0;
        for (size_t i = 0; i < n; i++)
            times += (double) stakes[i].times;
        t.spacing = fmax(1e-5 / times, t.spacing / 8);
        for (int coarser = 0; coarser < 12; coarser++) {
            status = losses_exceed(&t, stakes, epsilon, 1, &above, err);
            if (status == CELLAR_OK)
                status = losses_exceed(&t, stakes, epsilon, -1, &below, err);
            if (status != CELLAR_ERR_OVERFLOW)
                break;
            t.is_lattice = 0;
            t.spacing *= 4;
        }
        *out = (cellar_bounds){.upper = fmin(1, above + below), .is_lattice = t.is_lattice};
    }
    losses_clear(&t);
    return status;
}

/* Long tails are looked at only where short ones would show. */
cellar_status cellar_tight_violation(const cellar_stake *stakes, size_t n, double epsilon,
                                     cellar_bounds *out, cellar_error *err)
{
    const double tail = 1e-30;
    double times = 0;
    cellar_status status = violation_to(stakes, n, epsilon, tail, out, err);
    for (size_t i = 0; i < n; i++)
        times += (double) stakes[i].times;
    if (status == CELLAR_OK && out->upper < 1e12 * times * tail)
        status = violation_to(stakes, n, epsilon, 1e-300, out, err);
    return status;
}
