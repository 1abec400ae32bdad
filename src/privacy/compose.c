/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With masses w on losses l, ln E e^{theta l} = K(theta) adds up, and under the tilted masses
 * w e^{theta l - K} the losses that matter are the typical ones: what is read off the transform is
 * then of the order of one whatever delta is, and its error shrinks with delta. For the sum,
 *   delta(epsilon) = sum_j T_j e^{K - theta l_j} max(0, 1 - e^{epsilon - l_j}),
 * T the tilted law. The window of the transform holds all but e^-30 of T on each side (Chernoff);
 * what lies outside comes out at a wrong place of the circle, where it adds to T, and is counted
 * once more with the largest weight there is. */
#include "privacy/compose.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "privacy/compose_split.h"
#include "privacy/compose_transform.h"

enum { LOG2_CELLS_MAX = 23 };
static const double UNIT = 0x1p-53; /* rounding of one operation */

struct cellar_sum {
    size_t n;
    double *tilted; /* T on losses start + j * spacing */
    double start, spacing;
    double theta, log_k;          /* K(theta) */
    double *suffix, *suffix_next; /* sum_{i>=j} T_i e^{-theta (l_i - l_j)}, and with theta + 1 */
    double outside;               /* tilted mass outside the window, on either side */
    double entry_error;           /* of each T */
    double factor_error;          /* relative, of everything: ln of the factor */
    double loss_error;
    double infinite, infinite_true, moved;
    double variance_units; /* sum of times * split^2 over parts: v of compose_split.c */
    double widest;         /* of all steps between which masses were split */
};

/* ---- the sum ------------------------------------------------------------------------ */

/* Puts the tilted masses of a part on the circle, around its tilted mean; answers the index of the
 * cell that stands at 0. The relative error of a mass goes into *error. */
static int64_t sum_place(cellar_transform *t, const cellar_pld *pld, double theta, double *error)
{
    cellar_cumulants c = cellar_pld_cumulants(pld, theta);
    int64_t middle = (int64_t) floor((c.mean - pld->offset) / pld->spacing);
    double widest = 0;
    CELLAR_ASSERT(t->n > 0);
    for (size_t j = 0; j < t->n; j++)
        t->real[j] = 0;
    for (size_t i = 0; i < pld->n_filled; i++) {
        int64_t at = (pld->index[i] - middle) % (int64_t) t->n;
        double exponent = pld->log_mass[i] + theta * pld->loss[i] - c.value;
        t->real[at < 0 ? at + (int64_t) t->n : at] += exp(exponent);
        widest = fmax(widest, fabs(pld->log_mass[i]) + fabs(theta * pld->loss[i]));
    }
    *error = pld->mass_error + 8 * UNIT * (widest + fabs(c.value) + 2) +
             (double) pld->n_filled * 2 * UNIT;
    return middle;
}

static void sum_suffixes(cellar_sum *sum)
{
    double decay = exp(-sum->theta * sum->spacing), next = exp(-(sum->theta + 1) * sum->spacing);
    sum->suffix[sum->n] = sum->suffix_next[sum->n] = 0;
    for (size_t j = sum->n; j-- > 0;) {
        sum->suffix[j] = sum->tilted[j] + decay * sum->suffix[j + 1];
        sum->suffix_next[j] = sum->tilted[j] + next * sum->suffix_next[j + 1];
    }
}

static void sum_constants(cellar_sum *sum, const cellar_part *parts, size_t n_parts)
{
    double finite = 0, finite_true = 0;
    for (size_t i = 0; i < n_parts; i++) {
        const cellar_pld *pld = parts[i].pld;
        double times = (double) parts[i].times;
        finite += times * log1p(-fmin(pld->infinite, 1));
        finite_true += times * log1p(-fmin(pld->infinite_true, 1));
        sum->loss_error += times * pld->loss_error;
        sum->moved += times * pld->moved;
        sum->variance_units += times * pld->split * pld->split;
        sum->widest = fmax(sum->widest, pld->split);
    }
    sum->infinite = fmax(0, -expm1(finite) * (1 + 1e-12));
    sum->infinite_true = fmax(0, -expm1(finite_true) * (1 - 1e-12));
    sum->loss_error *= 1 + 1e-9;
}

static cellar_status sum_fill(cellar_sum *sum, cellar_transform *t, const cellar_part *parts,
                              size_t n_parts, double low)
{
    double origin = 0, spread = 0, widest;
    int64_t first, n = (int64_t) sum->n;
    for (size_t i = 0; i < n_parts; i++) {
        double error, times = (double) parts[i].times;
        int64_t middle = sum_place(t, parts[i].pld, sum->theta, &error);
        cellar_transform_multiply(t, parts[i].times);
        origin += times * (parts[i].pld->offset + (double) middle * sum->spacing);
        sum->factor_error += times * error * 1.01;
        spread += times * (fabs(parts[i].pld->offset) + fabs((double) middle * sum->spacing));
    }
    sum->entry_error = cellar_transform_finish(t);
    first = (int64_t) floor((low - origin) / sum->spacing);
    sum->start = origin + (double) first * sum->spacing;
    widest = spread + fabs(sum->start) + (double) sum->n * sum->spacing;
    sum->loss_error += widest * 0x1p-48 + 1e-300;
    sum->factor_error += 0x1p-46 * (fabs(sum->log_k) + sum->theta * widest + 1);
    first = first % n < 0 ? first % n + n : first % n;
    for (size_t j = 0; j < sum->n; j++)
        sum->tilted[j] = t->real[(first + (int64_t) j) % n] / (double) sum->n;
    sum_suffixes(sum);
    return CELLAR_OK;
}

cellar_status cellar_sum_create(const cellar_part *parts, size_t n_parts, const cellar_tilt *tilt,
                                cellar_sum **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_sum *sum = cellar_alloc(1, sizeof *sum);
    cellar_window w = cellar_tilt_window(tilt, parts, n_parts);
    cellar_transform t = {0};
    double cells;

    *out = NULL;
    if (sum == NULL)
        return cellar_fail_memory(err, "a sum of privacy losses");
    sum->spacing = parts[0].pld->spacing;
    sum->theta = tilt->theta;
    sum->log_k = w.log_k;
    sum->outside = w.outside;
    cells = (w.high - w.low) / sum->spacing + 8;
    for (sum->n = 64; (double) sum->n < cells && sum->n < (size_t) 1 << LOG2_CELLS_MAX;)
        sum->n *= 2;
    if (!((double) sum->n >= cells))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_OVERFLOW,
                               "composing these privacy losses needs more than 2^%d grid cells",
                               LOG2_CELLS_MAX));
    sum->tilted = cellar_alloc(sum->n, sizeof *sum->tilted);
    sum->suffix = cellar_alloc(sum->n + 1, sizeof *sum->suffix);
    sum->suffix_next = cellar_alloc(sum->n + 1, sizeof *sum->suffix_next);
    if (sum->tilted == NULL || sum->suffix == NULL || sum->suffix_next == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a sum of privacy losses"));
    CELLAR_TRY(cellar_transform_init(&t, sum->n, err));
    sum_constants(sum, parts, n_parts);
    CELLAR_TRY(sum_fill(sum, &t, parts, n_parts, w.low - 3 * sum->spacing));
    *out = sum;
    sum = NULL;
out:
    cellar_transform_clear(&t);
    cellar_sum_free(sum);
    return status;
}

void cellar_sum_free(cellar_sum *sum)
{
    if (sum == NULL)
        return;
    cellar_free(sum->tilted);
    cellar_free(sum->suffix);
    cellar_free(sum->suffix_next);
    cellar_free(sum);
}

/* ---- questions -------------------------------------------------------------------------- */

/* The first cell whose loss is above epsilon, n when none is. */
static size_t sum_cell(const cellar_sum *sum, double epsilon)
{
    double cell = ceil((epsilon - sum->start) / sum->spacing);
    return cell <= 0 ? 0 : cell >= (double) sum->n ? sum->n : (size_t) cell;
}

/* ln of the weight of an event of tilted probability one whose losses are about `loss`. */
static double sum_log_weight(const cellar_sum *sum, double loss)
{
    return sum->log_k - sum->theta * loss;
}

/* What rounding may add to a tilted sum over the cells from j on. */
static double sum_rounding(const cellar_sum *sum, size_t j)
{
    double decay = -expm1(-sum->theta * sum->spacing), cells = (double) (sum->n - j);
    double n_cells = decay > 0 ? fmin(cells, 1 / decay + 1) : cells;
    return 4 * (double) sum->n * UNIT * (fabs(sum->suffix[j]) + fabs(sum->suffix_next[j])) +
           sum->entry_error * n_cells;
}

/* What the losses beyond the right end of the window add to it, in units of the weight at cell
 * j. Those to the left of it are below epsilon (or, with j = 0, as heavy as epsilon's). */
static double sum_outside(const cellar_sum *sum, size_t j)
{
    return sum->outside * (exp(-sum->theta * (double) (sum->n - j) * sum->spacing) + (j == 0));
}

/* The tilted sum over losses above epsilon of 1 - e^{epsilon - l}, and ln of the weight
 * to multiply it with. */
static double sum_tilted(const cellar_sum *sum, double epsilon, size_t *cell, double *log_weight)
{
    size_t j = sum_cell(sum, epsilon);
    double loss = sum->start + (double) j * sum->spacing;
    *cell = j;
    *log_weight = sum_log_weight(sum, loss);
    return sum->suffix[j] - exp(epsilon - loss) * sum->suffix_next[j];
}

double cellar_sum_delta_upper(const cellar_sum *sum, double epsilon)
{
    size_t j;
    double log_weight, value, bound;
    epsilon -= sum->loss_error;
    value = sum_tilted(sum, epsilon, &j, &log_weight);
    if (j == 0) { /* losses between epsilon and the window are outside it, and counted there */
        log_weight = sum_log_weight(sum, epsilon);
        value *= exp(-sum->theta * (sum->start - epsilon));
    }
    value += sum_rounding(sum, j) + sum_outside(sum, j);
    bound = exp(log_weight + log(value) + sum->factor_error) * (1 + 1e-12) + sum->infinite;
    return fmin(1, bound);
}

/* What splitting adds to delta at most: each cell by its distance from epsilon. */
static double sum_split_error(const cellar_sum *sum, double epsilon, double delta)
{
    double reach, loss, mass = 0, tilt = 1, decay = exp(-sum->theta * sum->spacing);
    size_t low, high;
    cellar_split split;
    if (sum->variance_units == 0)
        return 0;
    cellar_split_init(&split, sum->variance_units, sum->widest, fmax(delta * 1e-7, 1e-305));
    reach = cellar_split_reach(&split);
    low = sum_cell(sum, epsilon - reach);
    high = sum_cell(sum, epsilon + reach);
    loss = sum->start + (double) low * sum->spacing;
    for (size_t j = low; j < sum->n && j <= high; j++) {
        double distance = fabs(sum->start + (double) j * sum->spacing - epsilon);
        mass += (fmax(sum->tilted[j], 0) + sum->entry_error) * tilt *
                cellar_split_weight(&split, distance);
        tilt *= decay;
    }
    mass += 2 * sum->outside * exp(sum->theta * fmax(loss - epsilon + reach, 0)) *
            cellar_split_weight(&split, 0);
    mass = exp(sum_log_weight(sum, loss) + log(mass) + sum->factor_error) * (1 + 1e-9);
    return split.rest + mass;
}

double cellar_sum_delta_lower(const cellar_sum *sum, double epsilon)
{
    size_t j;
    double log_weight, value;
    epsilon += sum->loss_error;
    value = sum_tilted(sum, epsilon, &j, &log_weight);
    if (j == 0)
        return sum->infinite_true;
    value -= sum_rounding(sum, j) + 2 * sum->outside; /* what came round the circle */
    if (value <= 0)
        return sum->infinite_true;
    value = exp(log_weight + log(value) - sum->factor_error) * (1 - 1e-12);
    value -= sum_split_error(sum, epsilon, value) + sum->moved;
    return fmax(value, 0) + sum->infinite_true;
}

/* The epsilon at which a bound crosses delta, by bisection between two ends of the window. */
static double sum_cross(const cellar_sum *sum, double (*bound)(const cellar_sum *, double),
                        double delta, double low, double high, int upper)
{
    for (int i = 0; i < 60 && high - low > 1e-9 * high; i++) {
        double middle = low + (high - low) / 2;
        if (bound(sum, middle) > delta)
            low = middle;
        else
            high = middle;
    }
    return upper ? high : low;
}

double cellar_sum_epsilon_upper(const cellar_sum *sum, double delta)
{
    double high = sum->start + (double) sum->n * sum->spacing;
    if (sum->infinite > delta)
        return INFINITY;
    if (cellar_sum_delta_upper(sum, 0) <= delta)
        return 0;
    if (high <= 0 || cellar_sum_delta_upper(sum, high) > delta)
        return INFINITY;
    return sum_cross(sum, cellar_sum_delta_upper, delta, 0, high, 1);
}

/* The bound is close only where the window is: steps to the left of the upper bound until the
 * lower one is above delta. It takes time, and is needed to a hundredth of how far off it is. */
double cellar_sum_epsilon_lower(const cellar_sum *sum, double delta)
{
    double high = cellar_sum_epsilon_upper(sum, delta), step = 1e-8 * (1 + high);
    if (sum->infinite_true > delta)
        return INFINITY;
    if (!isfinite(high))
        high = sum->start + (double) sum->n * sum->spacing;
    while (high > 0) {
        double low = fmax(0, high - step);
        if (cellar_sum_delta_lower(sum, low) > delta)
            return sum_cross(sum, cellar_sum_delta_lower, delta, low, high, 0);
        high = low;
        step *= 4;
    }
    return 0;
}
