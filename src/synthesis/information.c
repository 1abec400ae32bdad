/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much a variable says about others, from a table with noise.
 *
 * Let x be the count of a cell, E the count that independence gives it (the product of its margins
 * over the total n), and g(x; E) = x ln(x/E) - x + E. The mutual information is the sum of g over
 * all cells, over n. With noise, x is too spread and every g too large on average: with z = Z sd
 * the noise of x - E, a cell of independent variables adds E[g(max(E + z, 0); E)] = E H(E/sd),
 * which is about sd^2 / 2E where counts are large. That sum is taken away.
 *
 * Where E is below sd the logarithm would be of noise alone. There the same constant c = sd - E is
 * added to x and E: by the log sum inequality g(x + c; E + c) <= g(x; E), so that this can only
 * lower the information; and independence still has the expectation 0.
 *
 * The noise of x - E: along each side of the table x - E is (I - p 1') applied to the counts, p the
 * shares of the side. On the part of the noise that sums to zero along the side this changes
 * nothing, on the part that is constant along it it multiplies by 1 - n p. So the variance is the
 * sum over interactions C of free_share_C / (tau_C ratio_C^2) times (1 - n p)^2 for each of the two
 * sides that C does not touch (cube/precision.h has the variance of x itself). */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "synthesis/model.h"

/* ---- what noise adds ---------------------------------------------------------------- */

static double h_of(double u)
{
    return u > 0 ? u * log(u) - u + 1 : 1;
}

/* By the trapezoid rule, to about 1e-7: t of 1 to 8. */
static double excess_integral(double t)
{
    const double step = 1.0 / 256;
    double sum = 0;
    for (int i = -(int) (t / step) - 1; i <= (int) (9 / step); i++) {
        const double z = i * step;
        sum += h_of(1 + z / t) * exp(-z * z / 2);
    }
    return sum * step / sqrt(2 * acos(-1)) + 0.5 * erfc((t + 1.5 * step) / sqrt(2));
}

void cellar_synthesis_excess_init(synthesis_excess *excess)
{
    for (int i = 0; i < SYNTHESIS_EXCESS_POINTS; i++) {
        const double t = 1 + i / 16.0;
        excess->value[i] = t * t * excess_integral(t);
    }
}

double cellar_synthesis_excess_at(const synthesis_excess *excess, double t)
{
    const double at = (t - 1) * 16, s = 1 / (t * t);
    const int i = at < SYNTHESIS_EXCESS_POINTS - 1 ? (int) at : 0;
    if (!(at < SYNTHESIS_EXCESS_POINTS - 1)) /* even moments of Z in the series of h around 1 */
        return s * (1.0 / 2 + s * (1.0 / 4 + s * (1.0 / 2 + s * 15 / 8)));
    return s * (excess->value[i] + (at - i) * (excess->value[i + 1] - excess->value[i]));
}

/* ---- a table as two sides -------------------------------------------------------------- */

/* The variable, and all others together. */
typedef struct two_sides {
    size_t n_v, n_s, stride; /* of the variable, of the others, between categories */
    double *p, *q;           /* their shares */
    double total;            /* the sum of all cells */
    double touched[2][2];    /* variance by which sides an interaction touches: [v][s] */
} two_sides;

static void collect_variance(const cellar_cube *cube, uint32_t table, uint8_t variable,
                             two_sides *t)
{
    const cube_lattice *l = &cube->lattice;
    for (size_t i = l->start[table]; i < l->start[table + 1]; i++) {
        const uint32_t c = l->below[i];
        const int has = cube_space_level(&l->spaces[c], variable) > 0;
        if (!cube_is_exact(l, c))
            t->touched[has][l->spaces[c].order > has] +=
                l->free_share[c] / (cube->tau[c] * l->ratio[i] * l->ratio[i]);
    }
}

static cellar_status sides_init(const cellar_cube *cube, uint32_t table, uint8_t variable,
                                two_sides *t, cellar_error *err)
{
    const cube_lattice *l = &cube->lattice;
    const cube_space *space = &l->spaces[table];
    const size_t n = (size_t) l->n_cells[table];
    const int64_t *values = cube->tables[table].values;
    const double unit = pow(10, -cube->decimals);

    *t = (two_sides){.stride = 1};
    for (size_t k = space->order; k-- > 0 && space->variable[k] != variable;)
        t->stride *= l->axes[space->variable[k]].n[space->level[k]];
    t->n_v = l->axes[variable].n[cube_space_level(space, variable)];
    t->n_s = n / t->n_v;
    t->p = cellar_alloc(t->n_v, sizeof *t->p);
    t->q = cellar_alloc(t->n_s, sizeof *t->q);
    if (t->p == NULL || t->q == NULL)
        return cellar_fail_memory(err, "the margins of a table");
    for (size_t i = 0; i < n; i++) {
        const double x = (double) values[i] * unit;
        t->p[i / t->stride % t->n_v] += x;
        t->q[i / (t->stride * t->n_v) * t->stride + i % t->stride] += x;
        t->total += x;
    }
    for (size_t k = 0; k < t->n_v; k++)
        t->p[k] = fmax(t->p[k], 0) / t->total;
    for (size_t k = 0; k < t->n_s; k++)
        t->q[k] = fmax(t->q[k], 0) / t->total;
    collect_variance(cube, table, variable, t);
    return CELLAR_OK;
}

static void sides_clear(two_sides *t)
{
    cellar_free(t->p);
    cellar_free(t->q);
}

/* The variance of the noise of x - E. */
static double variance_at(const two_sides *t, double p, double q)
{
    const double a = (1 - (double) t->n_v * p) * (1 - (double) t->n_v * p);
    const double b = (1 - (double) t->n_s * q) * (1 - (double) t->n_s * q);
    return t->touched[1][1] + a * t->touched[0][1] + b * t->touched[1][0] +
           a * b * t->touched[0][0];
}

/* ---- the information --------------------------------------------------------------------- */

cellar_status cellar_synthesis_information(const cellar_cube *cube, uint32_t table,
                                           uint8_t variable, const synthesis_excess *excess,
                                           double *information, double *noise, cellar_error *err)
{
    const size_t n = (size_t) cube->lattice.n_cells[table];
    const int64_t *values = cube->tables[table].values;
    const double unit = pow(10, -cube->decimals);
    double sum = 0, added = 0;
    two_sides t;
    cellar_status status = sides_init(cube, table, variable, &t, err);

    for (size_t i = 0; i < n && status == CELLAR_OK; i++) {
        const double p = t.p[i / t.stride % t.n_v];
        const double q = t.q[i / (t.stride * t.n_v) * t.stride + i % t.stride];
        const double expected = p * q * t.total, sd = sqrt(variance_at(&t, p, q));
        const double base = fmax(expected, sd);
        const double x = (double) values[i] * unit + (base - expected);
        if (!(base > 0))
            continue;
        sum += base * h_of(x / base);
        if (sd > 0)
            added += base * cellar_synthesis_excess_at(excess, base / sd);
    }
    *noise = added / t.total;
    *information = sum / t.total - *noise;
    sides_clear(&t);
    return status;
}
