/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Cubes: any bytes give a sound cube or a message, and every question to it an answer or a message.
 * Digests are made right, so that what is behind them is reached. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <cellar/cube_inference.h>

#include "base/error.h"
#include "base/memory.h"
#include "cube/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MANY_CELLS = 4096 };

/* The table of one variable, or of two, or the total. */
static void fuzz_ask(const cellar_cube *cube, size_t first, size_t n_sides, int margins)
{
    cellar_cube_side sides[2] = {{0}};
    const cellar_cube_question question = {sides, n_sides, margins};
    cellar_estimate *estimate = NULL;
    cellar_error err = {""};
    cellar_status status;
    for (size_t i = 0; i < n_sides; i++)
        sides[i].variable = cellar_cube_variable(cube, first + i);
    status = cellar_cube_ask(cube, &question, &estimate, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    for (size_t i = 0; status == CELLAR_OK && i < cellar_estimate_n_cells(estimate); i++) {
        const cellar_estimated_cell cell = cellar_estimate_cell(estimate, i);
        CELLAR_ASSERT(isfinite(cell.value) && (isnan(cell.se) || cell.se >= 0));
    }
    cellar_estimate_free(estimate);
}

/* One category against everybody: an interval, an open ratio or a message. */
static void fuzz_compare(const cellar_cube *cube)
{
    const cube_variable *v = &cube->variables[0];
    const char *code = cellar_cube_variable_code(v, v->axis.n_levels, 0);
    const cellar_cube_side side = {.variable = v->name, .codes = &code, .n_codes = 1};
    cellar_cube_sum *sum = NULL, *all = NULL;
    cellar_cube_finding found;
    cellar_error err = {""};
    cellar_status status = cellar_cube_sum_create(cube, &side, 1, &sum, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_sum_parse(cube, "", &all, &err);
    if (status == CELLAR_OK)
        status = cellar_cube_compare(cube, sum, CELLAR_COMPARE_PROPORTION, all, 0.95, &found, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    CELLAR_ASSERT(status != CELLAR_OK || found.is_undetermined || found.low <= found.high);
    cellar_cube_sum_free(sum);
    cellar_cube_sum_free(all);
}

static void fuzz_cube(cellar_cube *cube)
{
    cellar_error err;
    cellar_status status = CELLAR_OK;
    double n_cells = 0;
    for (uint32_t t = 0; t < cube->lattice.n; t++) {
        n_cells += cube->lattice.n_cells[t];
        status = cellar_cube_table_digest(cube, t, cube->tables[t].digest, &err);
        CELLAR_ASSERT(status == CELLAR_OK);
    }
    if (n_cells > MANY_CELLS)
        return;
    status = cellar_cube_verify(cube, "fuzz", &err);
    CELLAR_ASSERT(status == CELLAR_OK || err.message[0] != '\0');
    fuzz_ask(cube, 0, 0, 0);
    if (cellar_cube_n_variables(cube) > 0)
        fuzz_compare(cube);
    for (size_t v = 0; v < cellar_cube_n_variables(cube); v++) {
        fuzz_ask(cube, v, 1, 1);
        if (v + 1 < cellar_cube_n_variables(cube))
            fuzz_ask(cube, v, 2, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int64_t *bytes = cellar_alloc(size / sizeof *bytes + 1, sizeof *bytes); /* aligned, as mapped */
    cellar_cube *cube = NULL;
    cellar_error err = {""};
    cellar_status status;
    CELLAR_ASSERT(bytes != NULL);
    if (size > 0)
        memcpy(bytes, data, size);
    status = cellar_cube_parse("fuzz", bytes, size, &cube, &err);
    CELLAR_ASSERT((status == CELLAR_OK) == (err.message[0] == '\0'));
    if (status == CELLAR_OK)
        fuzz_cube(cube);
    cellar_cube_close(cube);
    cellar_free(bytes);
    return 0;
}
