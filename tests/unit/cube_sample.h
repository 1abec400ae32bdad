/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small cube with seeded values. */
#ifndef CELLAR_TESTS_CUBE_SAMPLE_H
#define CELLAR_TESTS_CUBE_SAMPLE_H

#include <string.h>

#include "base/memory.h"
#include "cube/cube.h"
#include "splitmix.h"

static const char CUBE_SAMPLE_REGIONS[] = "code,parent,label\n"
                                          "north,,North\nsouth,,South\n"
                                          "n1,north,N one\nn2,north,N two\n"
                                          "s1,south,S one\ns2,south,S two\ns3,south,S three\n";
static const char CUBE_SAMPLE_SEXES[] = "code,label\nf,female\nm,male\n";

static inline cellar_status cube_sample_variable(cube_variable *out, const char *name,
                                                 const char *list, cellar_error *err)
{
    cellar_codelist *codes = NULL;
    cellar_status status = cellar_codelist_parse(name, list, strlen(list), &codes, err);
    if (status == CELLAR_OK)
        status = cellar_cube_variable_init(out, name, CELLAR_DOMAIN_DECLARED, codes, 1, err);
    cellar_codelist_free(codes);
    return status;
}

/* Region (two levels, not balanced) by sex, everything measured with noise of this variance. */
static inline cellar_status cube_sample(const char *mechanism, double variance, cellar_cube **out,
                                        cellar_error *err)
{
    cube_variable variables[2] = {{0}};
    cube_axis axes[2];
    cube_space *tables = NULL;
    size_t n_tables = 0;
    uint64_t seed = 1;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    status = cube_sample_variable(&variables[0], "region", CUBE_SAMPLE_REGIONS, err);
    if (status == CELLAR_OK)
        status = cube_sample_variable(&variables[1], "sex", CUBE_SAMPLE_SEXES, err);
    axes[0] = variables[0].axis;
    axes[1] = variables[1].axis;
    if (status == CELLAR_OK)
        status = cellar_cube_tables_up_to(axes, 2, 2, &tables, &n_tables, err);
    if (status == CELLAR_OK)
        status = cellar_cube_create(variables, 2, tables, n_tables, out, err);
    for (uint32_t t = 0; status == CELLAR_OK && t < (*out)->lattice.n; t++)
        status = cellar_cube_plan_measure(*out, t, mechanism, variance, err);
    if (status == CELLAR_OK)
        status = cellar_cube_settle(*out, err);
    if (status == CELLAR_OK)
        status = cellar_cube_measured_alloc(*out, err);
    for (uint32_t t = 0; status == CELLAR_OK && t < (*out)->lattice.n; t++)
        for (size_t i = 0; i < (size_t) (*out)->lattice.n_cells[t]; i++)
            cellar_cube_measured_room(*out, t)[i] = (int64_t) (next_random(&seed) % 1000) - 100;
    if (status == CELLAR_OK)
        status = cellar_cube_estimate_all(*out, err);
    if (status == CELLAR_OK)
        status = cellar_cube_describe(
            *out, json_pack("{s:{s:s}}", "certificate", "verdict", "holds"), err);
    for (size_t v = 0; v < 2; v++)
        cellar_cube_variable_clear(&variables[v]);
    cellar_free(tables);
    if (status != CELLAR_OK) {
        cellar_cube_close(*out);
        *out = NULL;
    }
    return status;
}

#endif
