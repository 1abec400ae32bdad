/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/noisy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/noisy_build.h"

void cellar_noisy_free(cellar_noisy *noisy)
{
    size_t n_codes = 0;
    if (noisy == NULL)
        return;
    for (size_t v = 0; v < noisy->n_variables; v++) {
        n_codes += noisy->n_levels != NULL ? noisy->n_levels[v] : 0;
        if (noisy->names != NULL)
            cellar_free(noisy->names[v]);
    }
    for (size_t c = 0; noisy->codes != NULL && c < n_codes; c++)
        cellar_free(noisy->codes[c]);
    cellar_free(noisy->n_levels);
    cellar_free(noisy->names);
    cellar_free(noisy->codes);
    cellar_free(noisy->released);
    cellar_free(noisy->structural);
    cellar_noise_sum_free(noisy->sum);
    cellar_cube_noise_free(noisy->joint);
    cellar_free(noisy->places);
    cellar_pooled_noise_free(noisy->pooled);
    cellar_mechanism_free(noisy->mechanism);
    cellar_free(noisy);
}

/* ---- making ---------------------------------------------------------------------- */

cellar_status cellar_noisy_set_text(char **place, const char *text, cellar_error *err)
{
    size_t size = strlen(text) + 1;
    *place = cellar_alloc(size, 1);
    if (*place == NULL)
        return cellar_fail_memory(err, "the table");
    memcpy(*place, text, size);
    return CELLAR_OK;
}

cellar_status cellar_noisy_shape(cellar_noisy *noisy, const size_t *n_levels, size_t n_variables,
                                 cellar_error *err)
{
    const size_t most = (size_t) 1 << 22;
    size_t n_codes = 0, n_cells = 1;
    if (n_variables == 0 || n_variables > 64)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a table has 1 to 64 variables");
    for (size_t v = 0; v < n_variables; v++) {
        if (n_levels[v] == 0 || n_levels[v] > most || n_cells > most / n_levels[v])
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "inference is for tables of 1 to %zu cells: choose fewer variables",
                               most);
        n_cells *= n_levels[v];
        n_codes += n_levels[v];
    }
    noisy->n_variables = n_variables;
    noisy->n_cells = n_cells;
    noisy->n_summed = 1;
    noisy->n_levels = cellar_alloc(n_variables, sizeof *noisy->n_levels);
    noisy->names = cellar_alloc(n_variables, sizeof *noisy->names);
    noisy->released = cellar_alloc(n_cells, sizeof *noisy->released);
    noisy->structural = cellar_alloc(n_cells, sizeof *noisy->structural);
    if (noisy->n_levels == NULL || noisy->names == NULL || noisy->released == NULL ||
        noisy->structural == NULL)
        return cellar_fail_memory(err, "the table");
    memcpy(noisy->n_levels, n_levels, n_variables * sizeof *n_levels);
    noisy->codes = cellar_alloc(n_codes, sizeof *noisy->codes);
    return noisy->codes != NULL ? CELLAR_OK : cellar_fail_memory(err, "the table");
}

cellar_status cellar_noisy_set_channel(cellar_noisy *noisy, const char *spec,
                                       cellar_negatives negatives, int64_t threshold,
                                       cellar_error *err)
{
    cellar_status status;
    if (strncmp(spec, "cell-key", 8) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "cell keys give the same records the same noise each time: this noise "
                           "is not a random draw that a test could take into account");
    if (strncmp(spec, "multinomial-dirichlet", 21) == 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "multinomial-dirichlet draws all cells together; inference is for "
                           "cells that were perturbed independently");
    status = cellar_mechanism_create(spec, &noisy->mechanism, err);
    if (status != CELLAR_OK)
        return status;
    noisy->channel = (cellar_channel){noisy->mechanism, negatives, threshold, NULL};
    return CELLAR_OK;
}

static cellar_status noisy_fill(cellar_noisy *noisy, const cellar_noisy_spec *spec,
                                cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = 0;
    char text[32];
    CELLAR_TRY(cellar_noisy_shape(noisy, spec->n_levels, spec->n_variables, err));
    for (size_t v = 0; v < spec->n_variables; v++) {
        snprintf(text, sizeof text, "%zu", v + 1);
        CELLAR_TRY(cellar_noisy_set_text(&noisy->names[v],
                                         spec->names != NULL ? spec->names[v] : text, err));
        for (size_t l = 0; l < spec->n_levels[v]; l++) {
            snprintf(text, sizeof text, "%zu", l + 1);
            CELLAR_TRY(cellar_noisy_set_text(&noisy->codes[n++], text, err));
        }
    }
    memcpy(noisy->released, spec->released, noisy->n_cells * sizeof *noisy->released);
    if (spec->structural != NULL)
        memcpy(noisy->structural, spec->structural, noisy->n_cells);
    CELLAR_TRY(
        cellar_noisy_set_channel(noisy, spec->mechanism, spec->negatives, spec->threshold, err));
out:
    return status;
}

cellar_noisy_spec cellar_noisy_spec_default(void)
{
    return (cellar_noisy_spec){.negatives = CELLAR_NEGATIVES_KEEP};
}

cellar_status cellar_noisy_create(const cellar_noisy_spec *spec, cellar_noisy **out,
                                  cellar_error *err)
{
    cellar_noisy *noisy = cellar_alloc(1, sizeof *noisy);
    cellar_status status;
    *out = NULL;
    if (noisy == NULL)
        return cellar_fail_memory(err, "the table");
    status = noisy_fill(noisy, spec, err);
    if (status == CELLAR_OK)
        *out = noisy;
    else
        cellar_noisy_free(noisy);
    return status;
}

/* ---- asking ---------------------------------------------------------------------- */

size_t cellar_noisy_n_cells(const cellar_noisy *noisy)
{
    return noisy->n_cells;
}

size_t cellar_noisy_n_variables(const cellar_noisy *noisy)
{
    return noisy->n_variables;
}

size_t cellar_noisy_n_levels(const cellar_noisy *noisy, size_t variable)
{
    return noisy->n_levels[variable];
}

const char *cellar_noisy_variable(const cellar_noisy *noisy, size_t variable)
{
    return noisy->names[variable];
}

const char *cellar_noisy_code(const cellar_noisy *noisy, size_t variable, size_t level)
{
    size_t first = 0;
    for (size_t v = 0; v < variable; v++)
        first += noisy->n_levels[v];
    return noisy->codes[first + level];
}

int cellar_noisy_is_suppressed(const cellar_noisy *noisy, size_t cell)
{
    return noisy->suppresses && !noisy->structural[cell] && noisy->released[cell] == 0;
}

int64_t cellar_noisy_released(const cellar_noisy *noisy, size_t cell)
{
    return noisy->released[cell];
}

int cellar_noisy_is_structural(const cellar_noisy *noisy, size_t cell)
{
    return noisy->structural[cell];
}

const char *cellar_noisy_mechanism(const cellar_noisy *noisy)
{
    return cellar_mechanism_spec(noisy->mechanism);
}

cellar_negatives cellar_noisy_negatives(const cellar_noisy *noisy)
{
    return noisy->channel.negatives;
}

uint64_t cellar_noisy_n_summed(const cellar_noisy *noisy)
{
    return noisy->n_summed;
}

size_t cellar_noisy_largest_level(const cellar_noisy *noisy, size_t variable)
{
    size_t stride = 1, best = 0;
    int64_t largest = INT64_MIN;
    for (size_t v = variable + 1; v < noisy->n_variables; v++)
        stride *= noisy->n_levels[v];
    for (size_t level = 0; level < noisy->n_levels[variable]; level++) {
        int64_t total = 0;
        for (size_t i = 0; i < noisy->n_cells; i++)
            if (i / stride % noisy->n_levels[variable] == level)
                total += noisy->released[i];
        if (total > largest) {
            largest = total;
            best = level;
        }
    }
    return best;
}

cellar_status cellar_noisy_check_two_way(const cellar_noisy *noisy, cellar_error *err)
{
    if (noisy->n_variables != 2 || noisy->n_levels[0] < 2 || noisy->n_levels[1] < 2)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a two-way table is needed, with two rows and two columns at least");
    return CELLAR_OK;
}

int cellar_noisy_is_correlated(const cellar_noisy *noisy)
{
    return noisy->joint != NULL || noisy->pooled != NULL;
}

cellar_status cellar_noisy_check_independent(const cellar_noisy *noisy, const char *what,
                                             cellar_error *err)
{
    return !cellar_noisy_is_correlated(noisy)
               ? CELLAR_OK
               : cellar_fail(err, CELLAR_ERR_RULE, "errors of cells of %s are correlated, which %s",
                             noisy->joint != NULL ? "a cube" : "pooled values", what);
}

/* Adds errors of all cells together. */
static cellar_status draw_joint(const cellar_noisy *noisy, cellar_simulator *simulator,
                                int64_t *numbers, cellar_error *err)
{
    double *errors = cellar_alloc(noisy->n_cells, sizeof *errors);
    cellar_status status = CELLAR_OK;
    if (errors == NULL)
        return cellar_fail_memory(err, "the noise of a table");
    if (noisy->joint != NULL)
        CELLAR_TRY(cellar_cube_noise_draw(noisy->joint, simulator, errors, err));
    else
        CELLAR_TRY(cellar_pooled_noise_draw(noisy->pooled, simulator, errors, err));
    for (size_t i = 0; i < noisy->n_cells; i++)
        numbers[i] += llrint(errors[noisy->joint != NULL ? noisy->places[i] : i]);
out:
    cellar_free(errors);
    return status;
}

cellar_status cellar_noisy_draw(const cellar_noisy *noisy, cellar_simulator *simulator,
                                int64_t *numbers, cellar_error *err)
{
    if (cellar_noisy_is_correlated(noisy))
        return draw_joint(noisy, simulator, numbers, err);
    return cellar_simulate_release(simulator, &noisy->channel, noisy->n_summed, numbers,
                                   noisy->n_cells, numbers, err);
}

cellar_status cellar_noisy_observe(const cellar_noisy *noisy, const int64_t *numbers,
                                   cellar_likelihood *likelihood, cellar_observation **out,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < noisy->n_cells && status == CELLAR_OK; i++) {
        out[i] = NULL;
        if (!noisy->structural[i])
            status = cellar_likelihood_observe(likelihood, numbers[i], &out[i], err);
    }
    return status;
}
