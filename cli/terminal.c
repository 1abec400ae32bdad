/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "terminal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

/* ---- progress ------------------------------------------------------------- */

enum { PROGRESS_PER_SECOND = 10 };

/* A signal has no other way to tell the program anything. */
static volatile sig_atomic_t interrupted;

static void terminal_on_interrupt(int signal_number)
{
    (void) signal_number;
    interrupted = 1;
}

/* Which tenth of a second this is. */
static long terminal_tick(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long) now.tv_sec * PROGRESS_PER_SECOND +
           now.tv_nsec / (1000000000 / PROGRESS_PER_SECOND);
}

static int terminal_report(void *context, const char *stage, double fraction)
{
    static long last_tick;
    long tick = terminal_tick();
    (void) context;
    if (isatty(STDERR_FILENO) && tick != last_tick) {
        last_tick = tick;
        if (fraction >= 0)
            fprintf(stderr, "\r\033[K%s %3.0f%%", stage, 100 * fraction);
        else
            fprintf(stderr, "\r\033[K%s ...", stage);
        fflush(stderr);
    }
    return interrupted != 0;
}

cellar_progress cli_progress_begin(void)
{
    struct sigaction action = {0};
    action.sa_handler = terminal_on_interrupt;
    action.sa_flags = (int) SA_RESETHAND;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    return (cellar_progress){terminal_report, NULL};
}

void cli_progress_end(void)
{
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

int cli_stdout_is_terminal(void)
{
    return isatty(STDOUT_FILENO);
}

/* ---- grids ---------------------------------------------------------------- */

enum { GRID_MAX_WIDTH = 40, GRID_MAX_BYTES = 4 * GRID_MAX_WIDTH };

void cli_grid_clear(cli_grid *grid)
{
    cli_words_clear(&grid->cells);
}

/* The bytes of the first `width` characters (code points). */
static size_t grid_prefix(const char *text, size_t width)
{
    size_t i = 0;
    for (; text[i] != '\0'; i++)
        if (((unsigned char) text[i] & 0xc0) != 0x80 && width-- == 0)
            break;
    return i;
}

static size_t grid_width(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += ((unsigned char) *text & 0xc0) != 0x80;
    return width;
}

void cli_grid_add_whole(cli_grid *grid, const char *text)
{
    cli_words_add(&grid->cells, text, strlen(text));
    cli_make_harmless(grid->cells.items[grid->cells.n - 1]);
}

void cli_grid_add(cli_grid *grid, const char *text)
{
    static const char ellipsis[] = "…";
    char cut[GRID_MAX_BYTES + sizeof ellipsis];
    size_t n;

    if (text == NULL)
        text = "-";
    if (grid_width(text) <= GRID_MAX_WIDTH)
        cli_words_add(&grid->cells, text, strlen(text));
    else {
        n = grid_prefix(text, GRID_MAX_WIDTH - 1);
        if (n > sizeof cut - sizeof ellipsis)
            n = sizeof cut - sizeof ellipsis;
        memcpy(cut, text, n);
        memcpy(cut + n, ellipsis, sizeof ellipsis);
        cli_words_add(&grid->cells, cut, n + sizeof ellipsis - 1);
    }
    cli_make_harmless(grid->cells.items[grid->cells.n - 1]);
}

void cli_grid_add_count(cli_grid *grid, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    cli_grid_add(grid, text);
}

void cli_grid_add_real(cli_grid *grid, double number, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    cli_grid_add(grid, text);
}

void cli_grid_write(const cli_grid *grid, uint64_t right, cellar_output *output)
{
    size_t *widths = cli_alloc(grid->n_columns, sizeof *widths);
    for (size_t i = 0; i < grid->cells.n; i++) {
        size_t width = grid_width(grid->cells.items[i]), *widest = &widths[i % grid->n_columns];
        *widest = width > *widest ? width : *widest;
    }
    for (size_t i = 0; i < grid->cells.n; i++) {
        size_t column = i % grid->n_columns;
        int last = column + 1 == grid->n_columns, to_right = (int) (right >> column & 1);
        int blanks = (int) (widths[column] - grid_width(grid->cells.items[i]));
        cellar_output_printf(output, "%*s%s", to_right ? blanks : 0, "", grid->cells.items[i]);
        cellar_output_printf(output, "%*s%s", to_right || last ? 0 : blanks, "",
                             last ? "\n" : "  ");
    }
    free(widths);
}
