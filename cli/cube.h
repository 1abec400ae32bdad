/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar cube. */
#ifndef CELLAR_CLI_CUBE_H
#define CELLAR_CLI_CUBE_H

#include <cellar/cube.h>
#include <cellar/cube_plan.h>

#include "about.h"
#include "options.h"

typedef struct cube_values {
    const char *path, *by, *interval, *date;
    cli_words level, only, group, from;
    int format, margins, simultaneous, whole, json, force, verify;
    cli_number threads, limit;
    cli_about about;
} cube_values;

/* Each takes the plan or the cube by its path and answers an exit code. */
int cli_cube_plan(const char *path, const cube_values *values);
int cli_cube_compare(const char *path, const cube_values *values);
int cli_cube_build(const char *path, const cube_values *values);
int cli_cube_show(const char *path, const cube_values *values);
int cli_cube_table(const char *path, const cube_values *values);

/* The sides of a question from names such as "sex" and "region^1"; `sides` has room for
 * CELLAR_MAX_VARIABLES. Changes the names: they lose their levels. */
int cli_cube_sides(const cli_words *names, cellar_cube_side *sides);

#endif
