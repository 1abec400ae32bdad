/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Of a measured table A the estimate of table B uses the sums over the cells of M, the finest table
 * below both. So it is enough to draw the noise of these sums, S_A, and to estimate on the small
 * lattice below B from tables M that are measured with
 *     g_M = sum over A with this M of (w_A n_M / n_A) S_A / w_M,     w_M = sum of w_A n_M / n_A.
 * Sums of many noises, or of wide discrete Gaussian ones, are drawn as normal variables; others
 * are added up from exact draws. */
#include "inference/cube_noise.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/precision.h"
#include "cube/reconstruct.h"

/* Draws are handed to the reconstruction as whole numbers of this many to one. */
static const double UNITS = 1e6;

/* Normal enough: an excess kurtosis of the sum below 0.03, and values that lie closer than a third
 * of its standard deviation. */
static const double KURTOSIS_MAX = 0.03, VARIANCE_MIN = 9;

/* Noise that is drawn exactly: each cell of M sums `n_summed` of it. */
typedef struct exact_source {
    const cellar_mechanism *mechanism;
    double coefficient;
    uint32_t *n_summed;
    size_t n_draws;
} exact_source;

/* A table of the small lattice as if measured. */
typedef struct pooled {
    double *variance; /* of the normal part, by cell; NULL: there is none */
    exact_source *sources;
    size_t n_sources, room;
} pooled;

struct cellar_cube_noise {
    cube_lattice lattice; /* the table, which is its last, and all below it */
    double *w, *tau;
    pooled *tables;
    cellar_mechanism **mechanisms; /* of the cube's tables; NULL where another has the same */
    size_t n_mechanisms;
};

static size_t n_cells_of(const cube_lattice *l, size_t table)
{
    return (size_t) l->n_cells[table];
}

void cellar_cube_noise_free(cellar_cube_noise *noise)
{
    if (noise == NULL)
        return;
    for (size_t m = 0; noise->tables != NULL && m < noise->lattice.n; m++) {
        for (size_t s = 0; s < noise->tables[m].n_sources; s++)
            cellar_free(noise->tables[m].sources[s].n_summed);
        cellar_free(noise->tables[m].sources);
        cellar_free(noise->tables[m].variance);
    }
    for (size_t t = 0; noise->mechanisms != NULL && t < noise->n_mechanisms; t++)
        cellar_mechanism_free(noise->mechanisms[t]);
    cellar_free(noise->mechanisms);
    cellar_free(noise->tables);
    cellar_free(noise->w);
    cellar_free(noise->tau);
    cellar_cube_lattice_clear(&noise->lattice);
    cellar_free(noise);
}

/* ---- what two tables have in common ---------------------------------------------------- */

/* The finest table below both. */
static cube_space meet(const cube_space *a, const cube_space *b)
{
    cube_space out = {0};
    for (size_t i = 0; i < a->order; i++)
        for (size_t j = 0; j < b->order; j++)
            if (a->variable[i] == b->variable[j]) {
                out.variable[out.order] = a->variable[i];
                out.level[out.order++] = a->level[i] < b->level[j] ? a->level[i] : b->level[j];
            }
    return out;
}

/* How many nodes of level `fine` lie below each node of level `coarse`. */
static uint32_t *count_below(const cube_axis *axis, size_t fine, size_t coarse)
{
    uint32_t *n = cellar_alloc(axis->n[coarse], sizeof *n);
    for (uint32_t node = 0; n != NULL && node < axis->n[fine]; node++) {
        uint32_t up = node;
        for (size_t c = fine; c > coarse; c--)
            up = cube_axis_parent(axis, c, up);
        n[up]++;
    }
    return n;
}

/* How many cells of A each cell of M sums: multiplies `n_summed`, all 1, variable by variable. */
static int count_summed(const cube_lattice *l, const cube_space *a, const cube_space *m,
                        size_t n_cells, uint32_t *n_summed)
{
    for (size_t i = 0; i < a->order; i++) {
        const cube_axis *axis = &l->axes[a->variable[i]];
        const size_t coarse = cube_space_level(m, a->variable[i]);
        uint32_t *n = count_below(axis, a->level[i], coarse);
        size_t stride = 1;
        if (n == NULL)
            return 0;
        for (size_t j = m->order; j-- > 0 && m->variable[j] > a->variable[i];)
            stride *= l->axes[m->variable[j]].n[m->level[j]];
        for (size_t cell = 0; cell < n_cells; cell++)
            n_summed[cell] *= n[coarse == 0 ? 0 : cell / stride % axis->n[coarse]];
        cellar_free(n);
    }
    return 1;
}

/* ---- pooling the measured tables ---------------------------------------------------------- */

static cellar_status mechanism_of(cellar_cube_noise *noise, const cellar_cube *cube, size_t a,
                                  const cellar_mechanism **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t t = 0;
    while (t < a && (noise->mechanisms[t] == NULL ||
                     strcmp(cube->tables[t].mechanism, cube->tables[a].mechanism) != 0))
        t++;
    if (t == a)
        status = cellar_mechanism_create(cube->tables[a].mechanism, &noise->mechanisms[a], err);
    *out = noise->mechanisms[t];
    return status;
}

static int is_normal_enough(const cellar_mechanism *mechanism, double variance, uint32_t n_summed)
{
    const int is_gaussian = strcmp(cellar_mechanism_name(mechanism), "discrete-gaussian") == 0;
    return (is_gaussian || (3 + 1 / variance) / n_summed < KURTOSIS_MAX) &&
           variance * n_summed >= VARIANCE_MIN;
}

/* Takes n_summed when it succeeds. */
static int add_exact(pooled *to, const cellar_mechanism *mechanism, double coefficient,
                     uint32_t *n_summed, size_t n_cells)
{
    exact_source source = {.mechanism = mechanism, .coefficient = coefficient};
    if (!cellar_grow(&to->sources, &to->room, to->n_sources + 1, sizeof source))
        return 0;
    source.n_summed = n_summed;
    for (size_t i = 0; i < n_cells; i++)
        source.n_draws += n_summed[i];
    to->sources[to->n_sources++] = source;
    return 1;
}

static int add_normal(pooled *to, double variance, const uint32_t *n_summed, size_t n_cells)
{
    if (to->variance == NULL)
        to->variance = cellar_alloc(n_cells, sizeof *to->variance);
    for (size_t i = 0; to->variance != NULL && i < n_cells; i++)
        to->variance[i] += variance * n_summed[i];
    return to->variance != NULL;
}

/* Adds what table A says about the table; w of the small lattice is known. */
static cellar_status pool_table(cellar_cube_noise *noise, const cellar_cube *cube, uint32_t a,
                                uint32_t m, cellar_error *err)
{
    const cube_lattice *l = &noise->lattice;
    const size_t n = n_cells_of(l, m);
    const double coefficient = cube->w[a] * l->n_cells[m] / cube->lattice.n_cells[a] / noise->w[m];
    const double variance = cube->tables[a].variance;
    uint32_t *n_summed = cellar_alloc(n, sizeof *n_summed), fewest = UINT32_MAX;
    const cellar_mechanism *mechanism;
    cellar_status status = CELLAR_OK;
    int ok = n_summed != NULL;
    for (size_t i = 0; ok && i < n; i++)
        n_summed[i] = 1;
    ok = ok && count_summed(l, &cube->lattice.spaces[a], &l->spaces[m], n, n_summed);
    if (!ok)
        CELLAR_TRY(cellar_fail_memory(err, "the noise of a table"));
    CELLAR_TRY(mechanism_of(noise, cube, a, &mechanism, err));
    for (size_t i = 0; i < n; i++)
        fewest = n_summed[i] < fewest ? n_summed[i] : fewest;
    if (is_normal_enough(mechanism, variance, fewest)) {
        ok = add_normal(&noise->tables[m], coefficient * coefficient * variance, n_summed, n);
    } else {
        ok = add_exact(&noise->tables[m], mechanism, coefficient, n_summed, n);
        n_summed = ok ? NULL : n_summed;
    }
    if (!ok)
        CELLAR_TRY(cellar_fail_memory(err, "the noise of a table"));
out:
    cellar_free(n_summed);
    return status;
}

static cellar_status noise_fill(cellar_cube_noise *noise, const cellar_cube *cube, uint32_t table,
                                cellar_error *err)
{
    const cube_lattice *all = &cube->lattice, *l = &noise->lattice;
    double *variance = NULL;
    uint32_t *meets = NULL;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_cube_lattice_init(&noise->lattice, all->axes, all->n_axes,
                                        &all->spaces[table], 1, err));
    for (uint32_t m = 0; m < l->n; m++) /* what is exact has no error */
        if (cube_is_exact(all, cellar_cube_lattice_find(all, &l->spaces[m])))
            cellar_cube_lattice_fix(&noise->lattice, m);
    noise->n_mechanisms = all->n;
    noise->mechanisms = cellar_alloc(all->n, sizeof(cellar_mechanism *));
    noise->w = cellar_alloc(l->n, sizeof *noise->w);
    noise->tau = cellar_alloc(l->n, sizeof *noise->tau);
    noise->tables = cellar_alloc(l->n, sizeof *noise->tables);
    variance = cellar_alloc(l->n, sizeof *variance);
    meets = cellar_alloc(all->n, sizeof *meets);
    if (noise->mechanisms == NULL || noise->w == NULL || noise->tau == NULL ||
        noise->tables == NULL || variance == NULL || meets == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the noise of a table"));
    for (uint32_t a = 0; a < all->n; a++) {
        const cube_space common = meet(&all->spaces[a], &all->spaces[table]);
        meets[a] = cellar_cube_lattice_find(l, &common);
        noise->w[meets[a]] += cube->w[a] * l->n_cells[meets[a]] / all->n_cells[a];
    }
    cellar_cube_evaluate(l, noise->w, noise->tau, variance);
    for (uint32_t a = 0; a < all->n; a++)
        if (cube->w[a] > 0)
            CELLAR_TRY(pool_table(noise, cube, a, meets[a], err));
out:
    cellar_free(variance);
    cellar_free(meets);
    return status;
}

cellar_status cellar_cube_noise_create(const cellar_cube *cube, uint32_t table,
                                       cellar_cube_noise **out, cellar_error *err)
{
    cellar_cube_noise *noise = cellar_alloc(1, sizeof *noise);
    cellar_status status;
    *out = NULL;
    if (noise == NULL)
        return cellar_fail_memory(err, "the noise of a table");
    status = noise_fill(noise, cube, table, err);
    if (status == CELLAR_OK)
        *out = noise;
    else
        cellar_cube_noise_free(noise);
    return status;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Adds noise that is drawn one by one. */
static cellar_status draw_exact(const exact_source *source, size_t n_cells,
                                cellar_simulator *simulator, double *out, cellar_error *err)
{
    const int64_t lift = INT64_C(1) << 40; /* counts are not negative */
    int64_t *draws = cellar_alloc(source->n_draws, sizeof *draws);
    cellar_status status = CELLAR_OK;
    if (draws == NULL)
        return cellar_fail_memory(err, "the noise of a table");
    for (size_t i = 0; i < source->n_draws; i++)
        draws[i] = lift;
    CELLAR_TRY(cellar_mechanism_sample_many(source->mechanism, draws, source->n_draws,
                                            simulator->rng, draws, err));
    for (size_t cell = 0, at = 0; cell < n_cells; cell++)
        for (uint32_t k = 0; k < source->n_summed[cell]; k++)
            out[cell] += source->coefficient * (double) (draws[at++] - lift);
out:
    cellar_free(draws);
    return status;
}

/* The noise of one table of the small lattice, in units. */
static cellar_status draw_table(const pooled *table, size_t n, cellar_simulator *simulator,
                                double *room, int64_t *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        room[i] = table->variance != NULL
                      ? sqrt(table->variance[i]) * cellar_simulate_normal(simulator)
                      : 0;
    for (size_t s = 0; status == CELLAR_OK && s < table->n_sources; s++)
        status = draw_exact(&table->sources[s], n, simulator, room, err);
    for (size_t i = 0; i < n; i++)
        out[i] = llrint(UNITS * room[i]);
    return status;
}

cellar_status cellar_cube_noise_draw(const cellar_cube_noise *noise, cellar_simulator *simulator,
                                     double *errors, cellar_error *err)
{
    const cube_lattice *l = &noise->lattice;
    const size_t last = l->n - 1, n_last = n_cells_of(l, last);
    cube_values measured = {0}, values = {0};
    double *room = cellar_alloc(n_last, sizeof *room);
    cellar_status status = CELLAR_OK;
    if (room == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the noise of a table"));
    CELLAR_TRY(cellar_cube_values_init(&measured, l, err));
    CELLAR_TRY(cellar_cube_values_init(&values, l, err));
    for (size_t m = 0; m < l->n; m++)
        if (noise->w[m] > 0)
            CELLAR_TRY(draw_table(&noise->tables[m], n_cells_of(l, m), simulator, room,
                                  measured.tables[m], err));
    CELLAR_TRY(cellar_cube_reconstruct(l, noise->w, noise->tau,
                                       (const int64_t *const *) measured.tables, 0, &values, err));
    for (size_t i = 0; i < n_last; i++)
        errors[i] = (double) values.tables[last][i] / UNITS;
out:
    cellar_cube_values_clear(&measured);
    cellar_cube_values_clear(&values);
    cellar_free(room);
    return status;
}
