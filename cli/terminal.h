/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a person at a terminal sees: progress, and tables in aligned columns. */
#ifndef CELLAR_CLI_TERMINAL_H
#define CELLAR_CLI_TERMINAL_H

#include <stdint.h>

#include <cellar/output.h>
#include <cellar/progress.h>

#include "words.h"

/* A progress line on standard error when that is a terminal. An interrupt (control-C) cancels the
 * work at its next report; a second one ends the program at once. */
cellar_progress cli_progress_begin(void);
/* Wipes the line. Call it before any message. */
void cli_progress_end(void);

int cli_stdout_is_terminal(void);

/* A table of texts in aligned columns, filled row by row. */
typedef struct cli_grid {
    size_t n_columns;
    int keeps_columns; /* 1: a row that is too long goes on in the next line of the terminal */
    int is_list;       /* 1: no header, the first column names the second */
    cli_words cells;
} cli_grid;

void cli_grid_clear(cli_grid *grid);
void cli_grid_add(cli_grid *grid, const char *text); /* NULL is shown as "-" */
/* The same, never cut: for the last column. */
void cli_grid_add_whole(cli_grid *grid, const char *text);
void cli_grid_add_count(cli_grid *grid, uint64_t number);
/* Four digits for a reader, whole numbers with all of theirs. */
void cli_grid_add_number(cli_grid *grid, double number);
/* A bar of up to ten characters for a share of 0..1. */
void cli_grid_add_bar(cli_grid *grid, double share);
/* Writes it; bit c of `right` aligns column c to the right. Long texts are cut with an ellipsis,
 * what a terminal would obey is made harmless. On a terminal the header is bold (unless NO_COLOR is
 * set) and the table fits: texts are shortened, and then the last columns are left out and named.
 */
void cli_grid_write(const cli_grid *grid, uint64_t right, cellar_output *output);

#endif
