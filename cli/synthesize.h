/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts of cellar synthesize. */
#ifndef CELLAR_CLI_SYNTHESIZE_H
#define CELLAR_CLI_SYNTHESIZE_H

#include <cellar/synthesis.h>

#include "options.h"

typedef struct synthesize_values {
    const char *path, *language, *count_column;
    int labels, shuffle, ignore_margins, neutralise_formulas, force, json;
    cli_number max_records, records, sets, max_table_cells, limit;
} synthesize_values;

/* Records from a cube: a model, one or more sets, and how well each table is met. Answers an exit
 * code. */
int cli_synthesize_cube(const synthesize_values *values, const char *path,
                        const cellar_synthesis_write_options *write);

#endif
