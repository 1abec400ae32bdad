/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two sweeps over the lattice. Downwards, every measured table is averaged onto all tables below
 * it, each reached by one path: variables are coarsened in their order, a level at a time. Upwards,
 * a table is its interaction plus what the tables directly below imply,
 *     m_B = r_B + sum over sets T of its variables, not empty, of
 *           (-1)^(|T|+1) m_{B with T one level coarser} / (siblings in T),
 * which is the product of (I - Q_i), Q_i the projection of variable i, multiplied out. */
#include "cube/reconstruct.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/box.h"

/* Estimates beyond this many units are refused: sums of them must fit, too. */
#define VALUE_MAX 1152921504606846976.0 /* 2^60 */

cellar_status cellar_cube_values_init(cube_values *values, const cube_lattice *lattice,
                                      cellar_error *err)
{
    *values = (cube_values){0};
    for (size_t s = 0; s < lattice->n; s++)
        values->n_cells += (size_t) lattice->n_cells[s];
    values->tables = cellar_alloc(lattice->n, sizeof *values->tables);
    values->cells = cellar_alloc(values->n_cells, sizeof *values->cells);
    if (values->tables == NULL || values->cells == NULL) {
        cellar_cube_values_clear(values);
        return cellar_fail_memory(err, "the tables of a cube");
    }
    for (size_t s = 0, at = 0; s < lattice->n; s++) {
        values->tables[s] = values->cells + at;
        at += (size_t) lattice->n_cells[s];
    }
    return CELLAR_OK;
}

void cellar_cube_values_clear(cube_values *values)
{
    cellar_free(values->tables);
    cellar_free(values->cells);
    *values = (cube_values){0};
}

/* ---- along one side ------------------------------------------------------------------ */

/* Sums over siblings along one side, times `share`: `out` has the cells of the coarser table,
 * zeroed. */
static void box_coarsen(const box *b, size_t side, double share, const double *in, double *out)
{
    const cube_axis *axis = box_axis(b, side);
    const size_t level = b->level[side], stride = box_stride(b, side), n = box_length(b, side);
    const size_t n_outer = box_n_cells(b) / (n * stride), n_parents = axis->n[level - 1];
    for (size_t o = 0; o < n_outer; o++)
        for (size_t node = 0; node < n; node++) {
            const double *from = in + (o * n + node) * stride;
            double *to =
                out + (o * n_parents + cube_axis_parent(axis, level, (uint32_t) node)) * stride;
            for (size_t i = 0; i < stride; i++)
                to[i] += share * from[i];
        }
}

/* One over the number of children of a node, on average. */
static double box_mean_share(const box *b, size_t side)
{
    const cube_axis *axis = box_axis(b, side);
    return (double) axis->n[b->level[side] - 1] / axis->n[b->level[side]];
}

/* ---- downwards: sums of weighted means ---------------------------------------------- */

typedef struct downwards {
    double **sums;  /* of each table of the lattice */
    uint32_t exact; /* only tables that are summed from this one; CUBE_NO_SPACE: with noise */
    /* One buffer for each step that a path may have. */
    double *buffer[CUBE_ORDER_MAX * CUBE_LEVELS_MAX + 1];
    size_t capacity[CUBE_ORDER_MAX * CUBE_LEVELS_MAX + 1];
} downwards;

/* Adds the array to the sum of its table, and goes on with all coarser ones that differ in sides
 * from `side` on. */
static int down_from(downwards *d, const box *b, const double *values, size_t side, size_t depth)
{
    const uint32_t table = box_number(b);
    double *sum = d->sums[table];
    const size_t n = box_n_cells(b);
    if (d->exact == CUBE_NO_SPACE && cube_is_exact(b->l, table))
        return 1; /* and so is all that lies below */
    for (size_t i = 0; b->l->exact_from[table] == d->exact && i < n; i++)
        sum[i] += values[i];
    for (size_t s = side; s < b->order; s++) {
        box coarser = *b;
        size_t n_coarser;
        if (b->level[s] == 0)
            continue;
        coarser.level[s]--;
        n_coarser = box_n_cells(&coarser);
        if (!cellar_grow(&d->buffer[depth], &d->capacity[depth], n_coarser, sizeof(double)))
            return 0;
        memset(d->buffer[depth], 0, n_coarser * sizeof(double));
        box_coarsen(b, s, box_mean_share(b, s), values, d->buffer[depth]);
        if (!down_from(d, &coarser, d->buffer[depth], s, depth + 1))
            return 0;
    }
    return 1;
}

static cellar_status sweep_down(const cube_lattice *l, const double *w,
                                const int64_t *const *measured, double **sums, cellar_error *err)
{
    downwards d = {.sums = sums, .exact = CUBE_NO_SPACE};
    int ok = 1;
    for (size_t a = 0; ok && a < l->n; a++) {
        const box b = box_of(l, &l->spaces[a]);
        const size_t n = box_n_cells(&b);
        const int is_exact = l->exact_from[a] == a;
        if (w[a] <= 0 && !is_exact)
            continue;
        d.exact = is_exact ? (uint32_t) a : CUBE_NO_SPACE;
        ok = cellar_grow(&d.buffer[0], &d.capacity[0], n, sizeof(double));
        for (size_t i = 0; ok && i < n; i++)
            d.buffer[0][i] = (is_exact ? 1 : w[a]) * (double) measured[a][i];
        ok = ok && down_from(&d, &b, d.buffer[0], 0, 1);
    }
    for (size_t i = 0; i < sizeof d.buffer / sizeof *d.buffer; i++)
        cellar_free(d.buffer[i]);
    return ok ? CELLAR_OK : cellar_fail_memory(err, "the reconstruction of a cube");
}

/* ---- upwards: interactions, then tables ------------------------------------------------ */

/* Takes the mean of siblings away along one side. `sums` has room for the coarser table. */
static void box_project(const box *b, size_t side, double *values, double *sums)
{
    const cube_axis *axis = box_axis(b, side);
    const size_t level = b->level[side], stride = box_stride(b, side), n = box_length(b, side);
    const size_t n_outer = box_n_cells(b) / (n * stride), n_parents = axis->n[level - 1];
    memset(sums, 0, n_outer * n_parents * stride * sizeof *sums);
    box_coarsen(b, side, 1, values, sums);
    for (size_t o = 0; o < n_outer; o++)
        for (uint32_t node = 0; node < n; node++) {
            const double share = cube_axis_share(axis, level, node);
            const double *sum =
                sums + (o * n_parents + cube_axis_parent(axis, level, node)) * stride;
            double *to = values + (o * n + node) * stride;
            for (size_t i = 0; i < stride; i++)
                to[i] -= share * sum[i];
        }
}

/* One table directly below, with its sign, as seen from the cells of a finer one. */
typedef struct implied {
    const int64_t *values;
    double sign;
    size_t stride[CUBE_ORDER_MAX];
    int is_coarser[CUBE_ORDER_MAX];
} implied;

static size_t implied_tables(const box *b, const cube_values *known, implied *out)
{
    size_t n = 0;
    for (unsigned set = 1; set < 1u << b->order; set++) {
        box coarser = *b;
        implied *one = &out[n++];
        *one = (implied){.sign = -1};
        for (size_t s = 0; s < b->order; s++)
            if ((set >> s & 1) != 0) {
                one->sign = -one->sign;
                one->is_coarser[s] = 1;
                coarser.level[s]--;
            }
        for (size_t s = 0; s < b->order; s++)
            one->stride[s] = box_stride(&coarser, s);
        one->values = known->tables[box_number(&coarser)];
    }
    return n;
}

/* The next row of cells that differ in the last side only: an odometer over the sides before. */
static void next_row(const box *b, uint32_t *node)
{
    for (size_t s = b->order - 1; s-- > 0;) {
        if (++node[s] < box_length(b, s))
            return;
        node[s] = 0;
    }
}

/* Adds what a table implies for the cells of a row. */
static void implied_add(const box *b, const implied *one, const uint32_t *node, double *row)
{
    const size_t last = b->order - 1, level = b->level[last], n = box_length(b, last);
    const cube_axis *axis = box_axis(b, last);
    const int64_t *values = one->values;
    double share = one->sign;
    for (size_t s = 0; s < last; s++)
        if (one->is_coarser[s]) {
            values += one->stride[s] * cube_axis_parent(box_axis(b, s), b->level[s], node[s]);
            share *= cube_axis_share(box_axis(b, s), b->level[s], node[s]);
        } else {
            values += one->stride[s] * node[s];
        }
    if (!one->is_coarser[last])
        for (size_t i = 0; i < n; i++)
            row[i] += share * (double) values[i];
    else if (level == 1) { /* one parent */
        const double each = share * cube_axis_share(axis, 1, 0) * (double) *values;
        for (size_t i = 0; i < n; i++)
            row[i] += each;
    } else {
        for (uint32_t i = 0; i < n; i++)
            row[i] += share * cube_axis_share(axis, level, i) *
                      (double) values[cube_axis_parent(axis, level, i)];
    }
}

/* r_B times the scale, and what the tables below imply, row by row into `sum`. */
static void table_add_implied(const box *b, double scale, const cube_values *known, double *sum)
{
    implied below[1 << CUBE_ORDER_MAX];
    const size_t n_below = implied_tables(b, known, below), n = box_n_cells(b);
    const size_t length = b->order > 0 ? box_length(b, b->order - 1) : 1;
    uint32_t node[CUBE_ORDER_MAX] = {0};
    for (size_t i = 0; i < n; i++)
        sum[i] *= scale;
    for (size_t at = 0; n_below > 0 && at < n; at += length, next_row(b, node))
        for (size_t t = 0; t < n_below; t++)
            implied_add(b, &below[t], node, sum + at);
}

static cellar_status table_round(const double *values, size_t n, int64_t *out, cellar_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(values[i]) < VALUE_MAX))
            return cellar_fail(err, CELLAR_ERR_OVERFLOW, "a value of the cube is too large");
        out[i] = llrint(values[i]);
    }
    return CELLAR_OK;
}

/* Gives the last child of every node along one side what the coarser table leaves for it. Sides
 * before it are settled; those after it are settled later, and overwrite what is done here. */
static cellar_status side_settle(const box *b, size_t side, const cube_values *known, int64_t *out,
                                 cellar_error *err)
{
    const cube_axis *axis = box_axis(b, side);
    const size_t level = b->level[side], stride = box_stride(b, side), n = box_length(b, side);
    const size_t n_outer = box_n_cells(b) / (n * stride), n_parents = axis->n[level - 1];
    box coarser = *b;
    const int64_t *sums;
    uint32_t *last = cellar_alloc(n_parents, sizeof *last);
    if (last == NULL)
        return cellar_fail_memory(err, "the reconstruction of a cube");
    coarser.level[side]--;
    sums = known->tables[box_number(&coarser)];
    for (uint32_t node = 0; node < n; node++)
        last[cube_axis_parent(axis, level, node)] = node;
    for (size_t o = 0; o < n_outer; o++) {
        for (size_t p = 0; p < n_parents; p++)
            memcpy(out + (o * n + last[p]) * stride, sums + (o * n_parents + p) * stride,
                   stride * sizeof *out);
        for (uint32_t node = 0; node < n; node++) {
            const uint32_t end = last[cube_axis_parent(axis, level, node)];
            const int64_t *from = out + (o * n + node) * stride;
            int64_t *to = out + (o * n + end) * stride;
            for (size_t i = 0; node != end && i < stride; i++)
                to[i] -= from[i];
        }
    }
    cellar_free(last);
    return CELLAR_OK;
}

/* What is exact is a sum of counts: a whole number. */
static cellar_status table_exact(const cube_lattice *l, size_t s, double *sum, double scale,
                                 int64_t *out, cellar_error *err)
{
    const size_t n = (size_t) l->n_cells[s];
    for (size_t i = 0; i < n; i++)
        sum[i] = scale * nearbyint(sum[i] * (l->n_cells[l->exact_from[s]] / l->n_cells[s]));
    return table_round(sum, n, out, err);
}

static cellar_status table_estimate(const cube_lattice *l, size_t s, double tau, double *sum,
                                    double *room, double scale, cube_values *out, cellar_error *err)
{
    const box b = box_of(l, &l->spaces[s]);
    const size_t n = box_n_cells(&b);
    cellar_status status = CELLAR_OK;
    if (cube_is_exact(l, s))
        return table_exact(l, s, sum, scale, out->tables[s], err);
    for (size_t side = 0; side < b.order; side++)
        box_project(&b, side, sum, room);
    for (size_t i = 0; i < n; i++)
        sum[i] /= tau;
    table_add_implied(&b, scale, out, sum);
    CELLAR_TRY(table_round(sum, n, out->tables[s], err));
    for (size_t side = 0; side < b.order; side++)
        CELLAR_TRY(side_settle(&b, side, out, out->tables[s], err));
out:
    return status;
}

cellar_status cellar_cube_reconstruct(const cube_lattice *lattice, const double *w,
                                      const double *tau, const int64_t *const *measured,
                                      int decimals, cube_values *out, cellar_error *err)
{
    double **sums = cellar_alloc(lattice->n, sizeof *sums);
    double *cells = cellar_alloc(out->n_cells, sizeof *cells), *room = NULL;
    double largest = 1;
    cellar_status status = CELLAR_OK;

    for (size_t s = 0; s < lattice->n; s++)
        if (lattice->n_cells[s] > largest)
            largest = lattice->n_cells[s];
    room = cellar_alloc((size_t) largest, sizeof *room);
    if (sums == NULL || cells == NULL || room == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the reconstruction of a cube"));
    for (size_t s = 0; s < lattice->n; s++)
        sums[s] = cells + (out->tables[s] - out->cells);
    CELLAR_TRY(sweep_down(lattice, w, measured, sums, err));
    for (size_t s = 0; s < lattice->n; s++)
        CELLAR_TRY(table_estimate(lattice, s, tau[s], sums[s], room, pow(10, decimals), out, err));
out:
    cellar_free(sums);
    cellar_free(cells);
    cellar_free(room);
    return status;
}

/* ---- checking ----------------------------------------------------------------------------- */

int cellar_cube_table_adds(const cube_lattice *lattice, uint32_t table,
                           const int64_t *const *values, int64_t *room)
{
    const box b = box_of(lattice, &lattice->spaces[table]);
    for (size_t side = 0; side < b.order; side++) {
        const cube_axis *axis = box_axis(&b, side);
        const size_t level = b.level[side], stride = box_stride(&b, side);
        const size_t n = box_length(&b, side), n_outer = box_n_cells(&b) / (n * stride);
        const size_t n_parents = axis->n[level - 1], n_coarser = n_outer * n_parents * stride;
        box coarser = b;
        coarser.level[side]--;
        memset(room, 0, n_coarser * sizeof *room);
        for (size_t o = 0; o < n_outer; o++)
            for (uint32_t node = 0; node < n; node++) {
                const int64_t *from = values[table] + (o * n + node) * stride;
                int64_t *to = room + (o * n_parents + cube_axis_parent(axis, level, node)) * stride;
                for (size_t i = 0; i < stride; i++)
                    to[i] = (int64_t) ((uint64_t) to[i] + (uint64_t) from[i]);
            }
        if (memcmp(room, values[box_number(&coarser)], n_coarser * sizeof *room) != 0)
            return 0;
    }
    return 1;
}
