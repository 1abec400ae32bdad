/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms at several values of their parameters. */
#ifndef CELLAR_CLI_VARY_H
#define CELLAR_CLI_VARY_H

#include "words.h"

/* Every mechanism with every combination of the values that vary. {0} is empty. */
typedef struct cli_vary {
    cli_words specs;
    cli_words keys;   /* what varies, in order; the last varies fastest */
    cli_words values; /* keys.n for each spec */
} cli_vary;

/* `mechanisms` are specs without the keys that vary; `vary` holds KEY=GRID, and `epsilon`, when not
 * NULL, is a grid of the first key. Answers CLI_GO_ON, or CLI_USAGE after a message. Clear in every
 * case. */
int cli_vary_read(const cli_words *mechanisms, const cli_words *vary, const char *epsilon,
                  cli_vary *out);
void cli_vary_clear(cli_vary *vary);

/* The value of a key for a spec, or NULL when it does not vary. */
const char *cli_vary_value(const cli_vary *vary, size_t spec, const char *key);

#endif
