/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Let x_v be the share of the model's people with the values v, and m_j the shares of the values of
 * column j that were collected. Iterative proportional fitting (Deming and Stephan 1940) finds
 * factors a_j, so that q_v = x_v prod_j a_j(v_j) has the margins m_j. It leaves the odds ratios as
 * the model has them: the association is the model's, the frequencies of values are not.
 *
 * x_v is known from n draws. No draw counts for more than A, the largest factor. Were the factors
 * known, q_v / A would be the mean of n numbers from 0 to 1, and by the bound of Chernoff
 * (Hoeffding 1963, Theorem 1) the chance that it is so far from its expectation that n kl(mean,
 * expectation) > doubt would be at most exp(-doubt), on either side. That gives the ends l_v and
 * u_v of q_v.
 *
 * The factors are fitted to the same draws, which costs nothing in the exponent. For any truth x*
 * with fit q*, x* / x = q* e^h / q with h a sum over the columns, and each x_v >= q_v / A. The
 * divergence of Poisson counts sum_v x_v (t - 1 - ln t), t = x*_v / x_v, which n times is what the
 * draws have against x*, is therefore at least the same sum of q_v / A with t = q*_v e^h / q_v. It
 * is convex in h and least at h = 0, where q* e^h has the margins of q. So
 *
 *   n KL(x, x*) >= n KL(q, q*) / A >= n kl(q_v, q*_v) / A >= n kl(q_v / A, q*_v / A),
 *
 * and whenever q*_v lies beyond an end the draws are as unlikely as exp(-doubt) says, to the first
 * order in the exponent (Sanov 1957).
 *
 * Combinations that were not seen are many, and seldom all possible: there are 2^|V| sets of
 * combinations, so the same bound with doubt + |V| ln 2 holds for the total e of those not seen (or
 * not for certain, with noise), whichever they are.
 *
 * The share tau of the people may have any values. As under independence (exposure_independent.c),
 * with f(p) = P(Bin(n-1, p) <= k-2) and r_v = prod_j (c_j-1)/(n-1) / m_j for c_j = n m_j, by which
 * somebody's others have the values v less often than all people, the share expected in small
 * groups is at most
 *
 *   (1-tau) (e + max { sum_v q_v f((1-tau) r_v l_v) : l <= q <= u, q has the margin m_j at most })
 * + tau
 *
 * for each column j, hence for the one with the least, the maximum being over the cells that were
 * seen. It fills the most exposed first. People with a value that nobody of the model
 * has are part of tau. */
#include "risk/exposure/exposure_fitted.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure/exposure_curve.h"
#include "risk/exposure/share_interval.h"

enum { MAX_CYCLES = 200 };
static const double CLOSE = 1e-9; /* the share of people for whom no further cycle is worth while */

cellar_status fitted_cells_create(const size_t *n_levels, size_t n_columns, fitted_cells *out,
                                  cellar_error *err)
{
    *out = (fitted_cells){.n_columns = n_columns, .n_cells = 1};
    for (size_t c = 0; c < n_columns; c++) {
        out->n_levels[c] = n_levels[c];
        out->n_cells *= n_levels[c];
    }
    out->count = cellar_alloc(out->n_cells, sizeof *out->count);
    out->low = cellar_alloc(out->n_cells, sizeof *out->low);
    out->high = cellar_alloc(out->n_cells, sizeof *out->high);
    if (out->count == NULL || out->low == NULL || out->high == NULL)
        return cellar_fail_memory(err, "a model");
    return CELLAR_OK;
}

void fitted_cells_clear(fitted_cells *cells)
{
    cellar_free(cells->count);
    cellar_free(cells->low);
    cellar_free(cells->high);
    *cells = (fitted_cells){0};
}

/* ---- fitting ------------------------------------------------------------------ */

/* A column while it is fitted, by value: the shares to be met, the factors found so far, the fitted
 * shares of the cycle, and by how much fewer of somebody's others have the value than of all. */
typedef struct fitted_column {
    double *shares, *factors, *sums, *others;
} fitted_column;

typedef struct fitting {
    const fitted_cells *cells;
    double *fitted; /* counts times factors */
    fitted_column columns[CELLAR_MAX_VARIABLES];
    double tolerance; /* with those who have a value that nobody of the model has */
} fitting;

static void fitting_clear(fitting *fit)
{
    cellar_free(fit->fitted);
    for (size_t c = 0; c < fit->cells->n_columns; c++) {
        cellar_free(fit->columns[c].shares);
        cellar_free(fit->columns[c].factors);
        cellar_free(fit->columns[c].sums);
        cellar_free(fit->columns[c].others);
    }
}

static cellar_status fitting_open(fitting *fit, cellar_error *err)
{
    const fitted_cells *cells = fit->cells;
    int failed;

    fit->fitted = cellar_alloc(cells->n_cells, sizeof *fit->fitted);
    failed = fit->fitted == NULL;
    for (size_t i = 0; i < cells->n_cells && !failed; i++)
        fit->fitted[i] = cells->count[i];
    for (size_t c = 0; c < cells->n_columns && !failed; c++) {
        fitted_column *column = &fit->columns[c];
        column->shares = cellar_alloc(cells->n_levels[c], sizeof *column->shares);
        column->factors = cellar_alloc(cells->n_levels[c], sizeof *column->factors);
        column->sums = cellar_alloc(cells->n_levels[c], sizeof *column->sums);
        column->others = cellar_alloc(cells->n_levels[c], sizeof *column->others);
        failed = column->shares == NULL || column->factors == NULL || column->sums == NULL ||
                 column->others == NULL;
        for (size_t v = 0; v < cells->n_levels[c] && !failed; v++)
            column->factors[v] = 1;
    }
    return failed ? cellar_fail_memory(err, "a fit") : CELLAR_OK;
}

/* Steps to the values of the next cell; all zeros come first. */
static void levels_step(const fitted_cells *cells, size_t *levels)
{
    for (size_t c = cells->n_columns; c-- > 0;) {
        if (++levels[c] < cells->n_levels[c])
            return;
        levels[c] = 0;
    }
}

static void column_sum(fitting *fit, size_t column)
{
    size_t levels[CELLAR_MAX_VARIABLES] = {0};
    double *sums = fit->columns[column].sums;
    for (size_t v = 0; v < fit->cells->n_levels[column]; v++)
        sums[v] = 0;
    for (size_t i = 0; i < fit->cells->n_cells; i++, levels_step(fit->cells, levels))
        sums[levels[column]] += fit->fitted[i];
}

/* What is to be met: the shares of the values that the model knows, among those who have them. */
static void column_target(fitting *fit, const cellar_exposure_model *model, size_t column,
                          const uint64_t *counts)
{
    fitted_column *out = &fit->columns[column];
    size_t n = fit->cells->n_levels[column];
    double known = 0, unknown = 0;

    column_sum(fit, column);
    for (size_t v = 0; v < n; v++)
        *(out->sums[v] > 0 ? &known : &unknown) += (double) counts[v];
    for (size_t v = 0; v < n && known > 0; v++)
        out->shares[v] = out->sums[v] > 0 ? (double) counts[v] / known : 0;
    for (size_t v = 0; v < n && known > 0; v++) {
        double share = (double) counts[v] / (known + unknown);
        out->others[v] = share > 0 ? exposure_others(model, share) / share : 0;
    }
    fit->tolerance += known + unknown > 0 ? unknown / (known + unknown) : 0;
}

/* Meets the shares of one column, as far as anybody is left to meet them. */
static void column_fit(fitting *fit, size_t column)
{
    size_t levels[CELLAR_MAX_VARIABLES] = {0};
    const fitted_column *c = &fit->columns[column];

    column_sum(fit, column);
    for (size_t v = 0; v < fit->cells->n_levels[column]; v++) {
        c->sums[v] = c->sums[v] > 0 ? c->shares[v] / c->sums[v] : 0;
        c->factors[v] *= c->sums[v];
    }
    for (size_t i = 0; i < fit->cells->n_cells; i++, levels_step(fit->cells, levels))
        fit->fitted[i] *= c->sums[levels[column]];
}

/* The share of people who would have to have other values for all margins to be met. */
static double fitting_distance(fitting *fit)
{
    double sum = 0;
    for (size_t c = 0; c < fit->cells->n_columns; c++) {
        column_sum(fit, c);
        for (size_t v = 0; v < fit->cells->n_levels[c]; v++)
            sum += fabs(fit->columns[c].sums[v] - fit->columns[c].shares[v]) / 2;
    }
    return sum;
}

/* What is left to meet after so many cycles, since no factors can or since it takes long, is part
 * of the tolerance. */
static void fitting_run(fitting *fit)
{
    double distance = 1;
    for (int cycle = 0; cycle < MAX_CYCLES && distance > CLOSE; cycle++) {
        for (size_t c = 0; c < fit->cells->n_columns; c++)
            column_fit(fit, c);
        distance = fitting_distance(fit);
    }
    fit->tolerance += distance;
}

/* ---- the most exposed that the intervals allow ---------------------------------- */

/* A cell that was seen, with the ends of its fitted share, and the chance that somebody in it has
 * few others. */
typedef struct cell_ends {
    size_t cell;
    double low, high, chance;
} cell_ends;

/* The most exposed first. */
static int by_chance(const void *a, const void *b)
{
    const cell_ends *x = a, *y = b;
    if (x->chance != y->chance)
        return x->chance > y->chance ? -1 : 1;
    return x->cell < y->cell ? -1 : x->cell > y->cell;
}

/* The largest factor that a cell may have. */
static double factor_largest(const fitting *fit, double total)
{
    double product = total;
    for (size_t c = 0; c < fit->cells->n_columns; c++) {
        double largest = 0;
        for (size_t v = 0; v < fit->cells->n_levels[c]; v++)
            largest = fmax(largest, fit->columns[c].factors[v]);
        product *= largest;
    }
    return product;
}

/* The ends of all cells that were seen, and their number; the share of people that there may be in
 * all others, which have no more of the model's people than the seen ones leave. */
static size_t ends_fill(const fitting *fit, const cellar_exposure_model *model, double doubt,
                        cell_ends *ends, double *unseen)
{
    const fitted_cells *cells = fit->cells;
    const double draws = cells->least_people;
    size_t levels[CELLAR_MAX_VARIABLES] = {0}, n = 0, n_unseen = 0;
    double total = 0, seen = 0, rest = 0, largest;

    for (size_t i = 0; i < cells->n_cells; i++) {
        total += cells->count[i];
        seen += cells->low[i];
    }
    largest = factor_largest(fit, total);
    for (size_t i = 0; i < cells->n_cells; i++, levels_step(cells, levels)) {
        double weight = total / largest, surely = 1 - fit->tolerance;
        for (size_t c = 0; c < cells->n_columns; c++) {
            weight *= fit->columns[c].factors[levels[c]];
            surely *= fit->columns[c].others[levels[c]];
        }
        if (cells->low[i] <= 0) {
            rest += cells->high[i];
            n_unseen += weight > 0;
            continue;
        }
        ends[n].cell = i;
        ends[n].low =
            largest * cellar_share_least(weight * cells->low[i] / cells->most_people, draws, doubt);
        ends[n].high = largest * cellar_share_most(weight * cells->high[i] / draws, draws, doubt);
        surely = fmin(surely * ends[n].low, 1);
        ends[n++].chance =
            cellar_exposure_few_others(model->population, model->k, surely, 1 - surely, 1);
    }
    rest = fmin(rest, fmax(cells->most_people - seen, 0));
    *unseen = n_unseen == 0 ? 0
                            : largest * cellar_share_most(rest / draws, draws,
                                                          doubt + (double) cells->n_cells * log(2));
    return n;
}

/* With the margin of one column: every cell has its low end, and what is left of a value goes to
 * its cells in the order given, up to their high ends. */
static double ends_expose(fitting *fit, size_t column, const cell_ends *ends, size_t n)
{
    const fitted_cells *cells = fit->cells;
    size_t stride = 1;
    double *left = fit->columns[column].sums, sum = 0;

    for (size_t c = column + 1; c < cells->n_columns; c++)
        stride *= cells->n_levels[c];
    for (size_t v = 0; v < cells->n_levels[column]; v++)
        left[v] = fit->columns[column].shares[v];
    for (size_t i = 0; i < n; i++) {
        left[ends[i].cell / stride % cells->n_levels[column]] -= ends[i].low;
        sum += ends[i].low * ends[i].chance;
    }
    for (size_t i = 0; i < n; i++) {
        double *of_value = &left[ends[i].cell / stride % cells->n_levels[column]];
        double more = fmax(0, fmin(*of_value, ends[i].high - ends[i].low));
        *of_value -= more;
        sum += more * ends[i].chance;
    }
    return sum;
}

cellar_status cellar_exposure_fitted(const fitted_cells *cells, const uint64_t *const *counts,
                                     const cellar_exposure_model *model, double doubt,
                                     double *value, cellar_error *err)
{
    fitting fit = {.cells = cells, .tolerance = model->tolerance};
    cell_ends *ends = NULL;
    size_t n;
    double least = 1, unseen;
    cellar_status status = CELLAR_OK;

    *value = 1;
    CELLAR_TRY(fitting_open(&fit, err));
    for (size_t c = 0; c < cells->n_columns; c++)
        column_target(&fit, model, c, counts[c]);
    fitting_run(&fit);
    if (fit.tolerance >= 1)
        goto out;
    ends = cellar_alloc(cells->n_cells, sizeof *ends);
    if (ends == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a fit"));
    n = ends_fill(&fit, model, doubt, ends, &unseen);
    qsort(ends, n, sizeof *ends, by_chance);
    for (size_t c = 0; c < cells->n_columns; c++)
        least = fmin(least, ends_expose(&fit, c, ends, n));
    *value = fmin(1, (1 - fit.tolerance) * (least + unseen) + fit.tolerance);
out:
    cellar_free(ends);
    fitting_clear(&fit);
    return status;
}
