/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "terminal.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "message.h"

/* ---- progress ------------------------------------------------------------- */

enum { PROGRESS_PER_SECOND = 10 };

/* A signal handler can do no more than set a flag. */
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

void cli_grid_add_number(cli_grid *grid, double number)
{
    char text[40];
    double size = fabs(number);
    int is_whole = size < 1e15 && number == floor(number);
    if (is_whole || (size >= 1000 && size < 1e15))
        snprintf(text, sizeof text, "%.0f", number == 0 ? 0 : number);
    else
        snprintf(text, sizeof text, "%.4g", number);
    cli_grid_add(grid, text);
}

void cli_grid_add_bar(cli_grid *grid, double share)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    static const char blocks[] = "██████████";
    enum { BAR_BLOCKS = 10, BLOCK_BYTES = (sizeof blocks - 1) / BAR_BLOCKS };
    char text[sizeof blocks + BLOCK_BYTES];
    int length = share > 0 ? (int) lround(8 * BAR_BLOCKS * (share < 1 ? share : 1)) : 0;
    snprintf(text, sizeof text, "%.*s%s", length / 8 * BLOCK_BYTES, blocks, eighths[length % 8]);
    cli_grid_add(grid, text);
}

/* ---- writing a grid -------------------------------------------------------------- */

enum { GRID_SMALLEST_TEXT = 12, GRID_GAP = 2 };

/* How many columns the terminal has; 0 when the answer goes elsewhere. */
static size_t terminal_width(const cellar_output *output)
{
    struct winsize size;
    if (!cellar_output_is_terminal(output) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
        return 0;
    return size.ws_col;
}

/* https://no-color.org: any value that is not empty. */
static int terminal_has_colour(const cellar_output *output)
{
    const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");
    return cellar_output_is_terminal(output) && (no == NULL || no[0] == '\0') &&
           (kind == NULL || strcmp(kind, "dumb") != 0);
}

static int grid_is_right(uint64_t right, size_t column)
{
    return column < 64 && (right >> column & 1) != 0;
}

/* Makes the widths fit: the longest texts are shortened, then columns left out from the right. A
 * text in the last column goes on in the next line instead. Answers how many columns are left. */
static size_t grid_fit(const cli_grid *grid, uint64_t right, size_t *widths, size_t screen)
{
    size_t n = grid->n_columns, last = n - 1, total = 0;
    if (!grid_is_right(right, last) && widths[last] > GRID_SMALLEST_TEXT)
        widths[last] = GRID_SMALLEST_TEXT;
    for (size_t c = 0; c < n; c++)
        total += widths[c] + (c > 0 ? GRID_GAP : 0);
    while (screen > 0 && total > screen) {
        size_t longest = n;
        for (size_t c = 0; c < n; c++)
            if (!grid_is_right(right, c) && widths[c] > GRID_SMALLEST_TEXT &&
                (longest == n || widths[c] > widths[longest]))
                longest = c;
        if (longest < n) {
            widths[longest]--;
            total--;
        } else if (n > 1 && !grid->is_list && !grid->keeps_columns)
            total -= widths[--n] + GRID_GAP;
        else
            break;
    }
    return n;
}

/* One cell in its width; what is longer ends with an ellipsis. */
static void grid_write_cell(const char *text, size_t width, int to_right, cellar_output *output)
{
    size_t own = grid_width(text);
    if (own > width) {
        cellar_output_write(output, text, grid_prefix(text, width - 1));
        cellar_output_string(output, "…");
        return;
    }
    cellar_output_printf(output, "%*s%s", to_right ? (int) (width - own) : 0, "", text);
    cellar_output_printf(output, "%*s", to_right ? 0 : (int) (width - own), "");
}

static void grid_write_row(const cli_grid *grid, size_t row, size_t n, uint64_t right,
                           const size_t *widths, cellar_output *output)
{
    for (size_t c = 0; c < n; c++) {
        const char *text = grid->cells.items[row * grid->n_columns + c];
        int is_end = c + 1 == grid->n_columns && !grid_is_right(right, c);
        cellar_output_string(output, c > 0 && !(is_end && text[0] == '\0') ? "  " : "");
        if (is_end)
            cellar_output_string(output, text);
        else
            grid_write_cell(text, widths[c], grid_is_right(right, c), output);
    }
}

/* Names the columns from n on, which had no place; a bar has no name. */
static void grid_write_left_out(const cli_grid *grid, size_t n, cellar_output *output)
{
    int n_named = 0;
    for (size_t c = n; c < grid->n_columns; c++)
        if (grid->cells.items[c][0] != '\0')
            cellar_output_printf(output, "%s%s",
                                 n_named++ == 0 ? "(left out for want of width: " : ", ",
                                 grid->cells.items[c]);
    cellar_output_string(output, n_named > 0 ? ")\n" : "");
}

void cli_grid_write(const cli_grid *grid, uint64_t right, cellar_output *output)
{
    size_t *widths = cli_alloc(grid->n_columns, sizeof *widths);
    size_t n, n_rows = grid->cells.n / grid->n_columns;
    int bold = !grid->is_list && terminal_has_colour(output);
    for (size_t i = 0; i < grid->cells.n; i++) {
        size_t width = grid_width(grid->cells.items[i]), *widest = &widths[i % grid->n_columns];
        *widest = width > *widest ? width : *widest;
    }
    n = grid_fit(grid, right, widths, terminal_width(output));
    for (size_t row = 0; row < n_rows; row++) {
        cellar_output_string(output, bold && row == 0 ? "\033[1m" : "");
        grid_write_row(grid, row, n, right, widths, output);
        cellar_output_string(output, bold && row == 0 ? "\033[0m\n" : "\n");
    }
    grid_write_left_out(grid, n, output);
    free(widths);
}
