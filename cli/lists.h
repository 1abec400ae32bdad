/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists on the command line: decimals and grids, whole numbers, names. */
#ifndef CELLAR_CLI_LISTS_H
#define CELLAR_CLI_LISTS_H

#include <stdint.h>

#include "words.h"

enum { CLI_LIST_MAX = 100000 };

/* "0.1,1e-3" and grids "0.01..1/50" (50 points, log-spaced) as decimals, kept as text so that
 * nothing is lost of what was typed. Answers CLI_GO_ON or CLI_USAGE with a message; so below. */
int cli_list_decimals(const char *option, const char *text, cli_words *out);

/* "2,5,10" and ranges "2..5", all at least `smallest`. Free *out with free(). */
int cli_list_counts(const char *option, const char *text, uint64_t smallest, uint64_t **out,
                    size_t *n);

/* The ends of "0.01..100" or of a grid "0.01..100/50", positive and growing. Answers 1, or 0 when
 * the text is no such range. */
int cli_list_ends(const char *text, double *first, double *last);

/* A decimal, the whole text. */
int cli_list_real(const char *option, const char *text, double *out);

#endif
