/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of cellar ptable share. */
#ifndef CELLAR_CLI_PTABLE_H
#define CELLAR_CLI_PTABLE_H

#include <stddef.h>

#include <cellar/status.h>

#include "options.h"

typedef struct ptable_values {
    const char *variance, *m, *min, *stay;
    const char *their_d, *their_v, *their_js, *their_pstay; /* the same in ptable's words */
    const char *mono_rows;
    int form, mono, optim;
    int large, layout;
    cli_number keys;
    const char *path;
    int force, json, probabilities;
} ptable_values;

/* The spec of the mechanism whose matrix is the design; CLI_GO_ON, or the exit status after a
 * message. */
int ptable_design_spec(const ptable_values *values, char *spec, size_t size);

/* Is the package's name for a parameter used? Then its defaults are meant too. */
int ptable_design_theirs(const ptable_values *values);

/* Says what is wrong with a design: where the message is about a parameter of max-entropy, it names
 * the option that was given. Answers the exit status. */
int ptable_design_fail(const ptable_values *values, const cellar_error *err);

#endif
