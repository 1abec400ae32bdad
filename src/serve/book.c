/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/book.h"

#include "base/error.h"

/* Of columns, in letters: room for a released value; what still fits beside others. */
enum { BOOK_MIN_WIDTH = 10, BOOK_MAX_WIDTH = 60 };

const unsigned char serve_book_about_widths[SERVE_BOOK_N_ABOUT] = {28, 28, 100};

/* ---- cells -------------------------------------------------------------------- */

static void book_open_row(serve_book_place *place)
{
    place->column = 0;
    place->open_row(place);
}

static void book_close_row(serve_book_place *place)
{
    place->close_row(place);
    place->row++;
}

static void book_add_text(serve_book_place *place, serve_book_style style, const char *text)
{
    place->text(place, style, text);
    place->column++;
}

/* Takes the text that was gathered. */
static void book_add_gathered(serve_book_place *place, serve_book_style style,
                              cellar_text *gathered)
{
    if (gathered->failed)
        place->out->failed = 1;
    else
        book_add_text(place, style, gathered->length > 0 ? gathered->bytes : "");
    cellar_text_reset(gathered);
}

static void book_add_value(const serve_grid *grid, size_t index, serve_book_place *place)
{
    const serve_number number = serve_grid_number(grid, index);
    const serve_number shown = serve_grid_shown(grid, index);
    if (!number.has_number) {
        book_add_text(place, SERVE_BOOK_PLAIN, serve_number_symbol(&number));
        return;
    }
    place->number(place, &number, &shown);
    place->column++;
}

const char *serve_book_language(const serve_grid *grid)
{
    return grid->question->dataset->languages[grid->question->language];
}

/* ---- the table ---------------------------------------------------------------- */

cellar_status serve_book_check(const serve_grid *grid, cellar_error *err)
{
    if (grid->n_rows + grid->n_axes + SERVE_BOOK_LEAD_ROWS > SERVE_BOOK_MAX_ROWS ||
        serve_book_n_columns(grid) > SERVE_BOOK_MAX_COLUMNS)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "a spreadsheet holds at most %d rows and %d columns; ask for csv",
                           (int) SERVE_BOOK_MAX_ROWS, (int) SERVE_BOOK_MAX_COLUMNS);
    return CELLAR_OK;
}

size_t serve_book_n_headings(const serve_grid *grid)
{
    return grid->n_axes > grid->n_stub ? grid->n_axes - grid->n_stub : 1;
}

size_t serve_book_n_columns(const serve_grid *grid)
{
    return grid->n_stub + grid->n_columns;
}

void serve_book_add_lead(const serve_grid *grid, serve_book_place *place)
{
    cellar_text title = {0};
    book_open_row(place);
    serve_grid_add_title(grid, &title);
    book_add_gathered(place, SERVE_BOOK_HEADING, &title);
    book_close_row(place);
    book_open_row(place);
    book_add_text(place, SERVE_BOOK_PLAIN,
                  "The sheet " SERVE_BOOK_ABOUT " has the guarantee, the source and the notes.");
    book_close_row(place);
    cellar_text_clear(&title);
}

static void book_add_heading(const serve_format_options *options, const serve_heading *heading,
                             serve_book_place *place)
{
    cellar_text text = {0};
    serve_heading_add(options, heading->code, heading->label, &text);
    book_add_gathered(place, SERVE_BOOK_HEADING, &text);
    cellar_text_clear(&text);
}

/* The headings of the columns with values; `level` counts the variables of the heading. */
static void book_add_level(const serve_grid *grid, const serve_format_options *options,
                           size_t level, serve_book_place *place)
{
    const size_t axis = grid->n_stub + level;
    size_t positions[SERVE_MAX_AXES];
    if (grid->n_stub == grid->n_axes)
        book_add_text(place, SERVE_BOOK_HEADING, SERVE_VALUE_HEADING);
    for (size_t column = 0; axis < grid->n_axes && column < grid->n_columns; column++) {
        serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
        const serve_heading heading = serve_grid_heading(grid, axis, positions[axis]);
        book_add_heading(options, &heading, place);
    }
}

/* A row for each variable of the heading; the last has the names of the stub, too. */
void serve_book_add_headings(const serve_grid *grid, const serve_format_options *options,
                             serve_book_place *place)
{
    const size_t n_levels = serve_book_n_headings(grid);
    for (size_t level = 0; level < n_levels; level++) {
        book_open_row(place);
        for (size_t a = 0; a < grid->n_stub; a++) {
            const serve_heading name = {.code = grid->axes[a].code, .label = grid->axes[a].label};
            if (level + 1 == n_levels)
                book_add_heading(options, &name, place);
            else
                book_add_text(place, SERVE_BOOK_HEADING, "");
        }
        book_add_level(grid, options, level, place);
        book_close_row(place);
    }
}

void serve_book_add_rows(const serve_grid *grid, const serve_format_options *options,
                         serve_book_place *place)
{
    size_t positions[SERVE_MAX_AXES];
    for (size_t row = 0; row < grid->n_rows && !place->out->failed; row++) {
        book_open_row(place);
        serve_grid_positions(grid, 0, grid->n_stub, row, positions);
        for (size_t a = 0; a < grid->n_stub; a++) {
            const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
            book_add_heading(options, &heading, place);
        }
        for (size_t column = 0; column < grid->n_columns; column++)
            book_add_value(grid, row * grid->n_columns + column, place);
        book_close_row(place);
    }
}

/* ---- what is to be known ------------------------------------------------------ */

static void book_hear(void *context, const char *name, const char *part, const char *text)
{
    serve_book_place *place = context;
    book_open_row(place);
    book_add_text(place, SERVE_BOOK_HEADING, name);
    book_add_text(place, SERVE_BOOK_PLAIN, part != NULL ? part : "");
    book_add_text(place, SERVE_BOOK_PLAIN, text);
    book_close_row(place);
}

void serve_book_add_about(const serve_grid *grid, serve_book_place *place)
{
    serve_grid_state(grid, book_hear, place);
}

/* ---- widths ------------------------------------------------------------------- */

/* The letters of a heading where they are more than `most`. Bytes that continue a letter of UTF-8
 * do not count. */
static size_t book_longer(const serve_format_options *options, const char *code, const char *label,
                          size_t most, cellar_text *widths)
{
    cellar_text text = {0};
    size_t n = 0;
    serve_heading_add(options, code, label, &text);
    for (size_t i = 0; i < text.length; i++)
        n += ((unsigned char) text.bytes[i] & 0xc0) != 0x80;
    widths->failed |= text.failed;
    cellar_text_clear(&text);
    return n > most ? n : most;
}

static void book_add_width(size_t letters, cellar_text *widths)
{
    cellar_text_add_char(widths, (char) (letters < BOOK_MAX_WIDTH ? letters : BOOK_MAX_WIDTH));
}

void serve_book_add_widths(const serve_grid *grid, const serve_format_options *options,
                           cellar_text *widths)
{
    size_t positions[SERVE_MAX_AXES];
    for (size_t a = 0; a < grid->n_stub; a++) {
        const serve_axis *axis = &grid->axes[a];
        size_t most = book_longer(options, axis->code, axis->label, BOOK_MIN_WIDTH, widths);
        for (size_t i = 0; i < axis->n; i++) {
            const serve_heading heading = serve_grid_heading(grid, a, i);
            most = book_longer(options, heading.code, heading.label, most, widths);
        }
        book_add_width(most, widths);
    }
    for (size_t column = 0; column < grid->n_columns; column++) {
        size_t most = BOOK_MIN_WIDTH;
        serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
        for (size_t a = grid->n_stub; a < grid->n_axes; a++) {
            const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
            most = book_longer(options, heading.code, heading.label, most, widths);
        }
        book_add_width(most, widths);
    }
}
