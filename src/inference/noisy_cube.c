/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A table of a cube for tests. */
#include <cellar/cube_inference.h>

#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/ask.h"
#include "inference/cube_noise.h"
#include "inference/noisy_build.h"

/* The shape, names and codes of the question's sides, all categories of each. */
static cellar_status take_shape(cellar_noisy *noisy, const cube_asking *a, cellar_error *err)
{
    size_t n_levels[CUBE_ORDER_MAX], code = 0;
    const size_t n = a->question->n_sides;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < n; i++)
        n_levels[i] = a->cube->variables[a->variable[i]].axis.n[a->level[i]];
    CELLAR_TRY(cellar_noisy_shape(noisy, n_levels, n, err));
    for (size_t i = 0; i < n; i++) {
        const cube_variable *v = &a->cube->variables[a->variable[i]];
        CELLAR_TRY(cellar_noisy_set_text(&noisy->names[i], v->name, err));
        for (uint32_t node = 0; node < n_levels[i]; node++)
            CELLAR_TRY(cellar_noisy_set_text(&noisy->codes[code++],
                                             cellar_cube_variable_code(v, a->level[i], node), err));
    }
out:
    return status;
}

/* Which cell of the cube's table each cell is: variables are in the question's order here. */
static cellar_status take_places(cellar_noisy *noisy, const cube_asking *a, cellar_error *err)
{
    const size_t n = a->question->n_sides;
    size_t stride[CUBE_ORDER_MAX] = {0}, step = 1; /* in the cube's table, by side */
    noisy->places = cellar_alloc(noisy->n_cells, sizeof *noisy->places);
    if (noisy->places == NULL)
        return cellar_fail_memory(err, "the table");
    for (size_t k = n; k-- > 0;) {
        stride[a->side_of[k]] = step;
        step *= noisy->n_levels[a->side_of[k]];
    }
    for (size_t cell = 0; cell < noisy->n_cells; cell++) {
        size_t rest = cell;
        for (size_t i = n; i-- > 0; rest /= noisy->n_levels[i])
            noisy->places[cell] += stride[i] * (rest % noisy->n_levels[i]);
    }
    return CELLAR_OK;
}

static cellar_status take_values(cellar_noisy *noisy, const cube_asking *a, cellar_error *err)
{
    const int64_t *values = a->cube->tables[a->table].values;
    const double unit = pow(10, a->cube->decimals);
    double *variances = cellar_alloc(noisy->n_cells, sizeof *variances), mean = 0;
    char spec[64];
    cellar_status status = CELLAR_OK;
    if (variances == NULL)
        return cellar_fail_memory(err, "the table");
    for (size_t cell = 0; cell < noisy->n_cells; cell++)
        noisy->released[cell] = llrint((double) values[noisy->places[cell]] / unit);
    CELLAR_TRY(cellar_cube_picks_variances(a->cube, a->table, a->picks, variances, err));
    for (size_t cell = 0; cell < noisy->n_cells; cell++)
        mean += variances[cell] / (double) noisy->n_cells;
    snprintf(spec, sizeof spec, "discrete-gaussian:sigma=%.6g", sqrt(mean));
    CELLAR_TRY(cellar_noisy_set_channel(noisy, spec, CELLAR_NEGATIVES_KEEP, 0, err));
out:
    cellar_free(variances);
    return status;
}

cellar_status cellar_noisy_from_cube(const cellar_cube *cube, const cellar_cube_side *sides,
                                     size_t n_sides, cellar_noisy **out, cellar_error *err)
{
    cellar_cube_side plain[CUBE_ORDER_MAX] = {{0}};
    const cellar_cube_question question = {plain, n_sides, 0};
    cube_asking a = {.cube = cube, .question = &question};
    cellar_noisy *noisy = cellar_alloc(1, sizeof *noisy);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (noisy == NULL)
        return cellar_fail_memory(err, "the table");
    if (n_sides == 0 || n_sides > CUBE_ORDER_MAX)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "choose 1 to %d variables of the cube",
                               CUBE_ORDER_MAX));
    for (size_t i = 0; i < n_sides; i++)
        plain[i] = (cellar_cube_side){.variable = sides[i].variable, .level = sides[i].level};
    CELLAR_TRY(cellar_cube_asking_open(&a, err));
    CELLAR_TRY(take_shape(noisy, &a, err));
    CELLAR_TRY(take_places(noisy, &a, err));
    CELLAR_TRY(take_values(noisy, &a, err));
    CELLAR_TRY(cellar_cube_noise_create(cube, a.table, &noisy->joint, err));
    *out = noisy;
    noisy = NULL;
out:
    cellar_cube_asking_close(&a);
    cellar_noisy_free(noisy);
    return status;
}
