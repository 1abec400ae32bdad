/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer as a spreadsheet of two sheets: the table, and what is to be known about it. */
#include "table/formats/book.h"

#include "base/error.h"
#include "serve/formats.h"

enum {
    BOOK_LEAD_ROWS = 2, /* above the headings of the table */
    BOOK_N_ABOUT = 3    /* columns of the sheet About */
};

static const unsigned char book_about_widths[BOOK_N_ABOUT] = {20, 20, 44}; /* as wide as a page */

/* An answer, and how its headings are written. */
typedef struct answer_book {
    serve_grid grid;
    const serve_format_options *options;
} answer_book;

static void book_add_value(const serve_grid *grid, size_t index, cellar_book_place *place)
{
    const serve_number number = serve_grid_number(grid, index);
    const serve_number shown = serve_grid_shown(grid, index);
    if (number.has_number)
        cellar_book_add_number(place, &(cellar_book_number){number.units, number.decimals},
                               &(cellar_book_number){shown.units, shown.decimals});
    else
        cellar_book_add_text(place, CELLAR_BOOK_PLAIN, serve_number_symbol(&number));
}

/* ---- the table ---------------------------------------------------------------- */

static size_t book_n_headings(const serve_grid *grid)
{
    return grid->n_axes > grid->n_stub ? grid->n_axes - grid->n_stub : 1;
}

static void book_add_lead(const serve_grid *grid, cellar_book_place *place)
{
    cellar_text title = {0};
    cellar_book_open_row(place);
    serve_grid_add_title(grid, &title);
    cellar_book_add_gathered(place, CELLAR_BOOK_TITLE, &title);
    cellar_book_close_row(place);
    cellar_book_open_row(place);
    cellar_book_add_text(place, CELLAR_BOOK_PLAIN,
                         "The sheet " CELLAR_BOOK_ABOUT
                         " has the guarantee, the source and the notes.");
    cellar_book_close_row(place);
    cellar_text_clear(&title);
}

static void book_add_heading(const serve_format_options *options, const serve_heading *heading,
                             cellar_book_place *place)
{
    cellar_text text = {0};
    serve_heading_add(options, heading->code, heading->label, &text);
    cellar_book_add_gathered(place, CELLAR_BOOK_HEADING, &text);
    cellar_text_clear(&text);
}

/* The headings of the columns with values; `level` counts the variables of the heading. */
static void book_add_level(const answer_book *book, size_t level, cellar_book_place *place)
{
    const serve_grid *grid = &book->grid;
    const size_t axis = grid->n_stub + level;
    size_t positions[SERVE_MAX_AXES];
    if (grid->n_stub == grid->n_axes)
        cellar_book_add_text(place, CELLAR_BOOK_HEADING, SERVE_VALUE_HEADING);
    for (size_t column = 0; axis < grid->n_axes && column < grid->n_columns; column++) {
        serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
        const serve_heading heading = serve_grid_heading(grid, axis, positions[axis]);
        book_add_heading(book->options, &heading, place);
    }
}

/* A row for each variable of the heading; the last has the names of the stub, too. */
static void book_add_headings(const answer_book *book, cellar_book_place *place)
{
    const serve_grid *grid = &book->grid;
    const size_t n_levels = book_n_headings(grid);
    for (size_t level = 0; level < n_levels; level++) {
        cellar_book_open_row(place);
        for (size_t a = 0; a < grid->n_stub; a++) {
            const serve_heading name = {.code = grid->axes[a].code, .label = grid->axes[a].label};
            if (level + 1 == n_levels)
                book_add_heading(book->options, &name, place);
            else
                cellar_book_add_text(place, CELLAR_BOOK_HEADING, "");
        }
        book_add_level(book, level, place);
        cellar_book_close_row(place);
    }
}

static void book_add_table(const void *source, cellar_book_place *place)
{
    const answer_book *book = source;
    const serve_grid *grid = &book->grid;
    size_t positions[SERVE_MAX_AXES];
    book_add_lead(grid, place);
    book_add_headings(book, place);
    for (size_t row = 0; row < grid->n_rows && !cellar_book_has_failed(place); row++) {
        cellar_book_open_row(place);
        serve_grid_positions(grid, 0, grid->n_stub, row, positions);
        for (size_t a = 0; a < grid->n_stub; a++) {
            const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
            book_add_heading(book->options, &heading, place);
        }
        for (size_t column = 0; column < grid->n_columns; column++)
            book_add_value(grid, row * grid->n_columns + column, place);
        cellar_book_close_row(place);
    }
}

/* ---- what is to be known ------------------------------------------------------ */

static void book_hear(void *context, const char *name, const char *part, const char *text)
{
    cellar_book_place *place = context;
    cellar_book_open_row(place);
    cellar_book_add_text(place, CELLAR_BOOK_HEADING, name);
    cellar_book_add_text(place, CELLAR_BOOK_PLAIN, part != NULL ? part : "");
    cellar_book_add_text(place, CELLAR_BOOK_PLAIN, text);
    cellar_book_close_row(place);
}

/* What the guarantee is comes first. */
static void book_add_about(const void *source, cellar_book_place *place)
{
    serve_grid_state(&((const answer_book *) source)->grid, book_hear, place);
}

/* ---- widths ------------------------------------------------------------------- */

static unsigned char book_wider(const serve_format_options *options, const char *code,
                                const char *label, size_t most, cellar_text *widths)
{
    cellar_text text = {0};
    serve_heading_add(options, code, label, &text);
    widths->failed |= text.failed;
    const unsigned char width = cellar_book_width(text.length > 0 ? text.bytes : "", most);
    cellar_text_clear(&text);
    return width;
}

/* Adds how many letters wide each column is. */
static void book_add_widths(const answer_book *book, cellar_text *widths)
{
    const serve_grid *grid = &book->grid;
    size_t positions[SERVE_MAX_AXES];
    for (size_t a = 0; a < grid->n_stub; a++) {
        const serve_axis *axis = &grid->axes[a];
        unsigned char most = book_wider(book->options, axis->code, axis->label, 0, widths);
        for (size_t i = 0; i < axis->n; i++) {
            const serve_heading heading = serve_grid_heading(grid, a, i);
            most = book_wider(book->options, heading.code, heading.label, most, widths);
        }
        cellar_text_add_char(widths, (char) most);
    }
    for (size_t column = 0; column < grid->n_columns; column++) {
        unsigned char most = CELLAR_BOOK_MIN_WIDTH;
        serve_grid_positions(grid, grid->n_stub, grid->n_axes, column, positions);
        for (size_t a = grid->n_stub; a < grid->n_axes; a++) {
            const serve_heading heading = serve_grid_heading(grid, a, positions[a]);
            most = book_wider(book->options, heading.code, heading.label, most, widths);
        }
        cellar_text_add_char(widths, (char) most);
    }
}

/* ---- the file ------------------------------------------------------------------ */

static cellar_status book_write(const answer_book *book, cellar_book_format format,
                                const cellar_text *title, const cellar_text *widths,
                                cellar_text *out, cellar_error *err)
{
    const serve_grid *grid = &book->grid;
    const cellar_book_sheet sheets[] = {{.name = CELLAR_BOOK_TABLE,
                                         .title = title->bytes,
                                         .widths = (const unsigned char *) widths->bytes,
                                         .n_columns = widths->length,
                                         .n_stub = grid->n_stub,
                                         .n_lead = BOOK_LEAD_ROWS,
                                         .n_headings = book_n_headings(grid),
                                         .add_rows = book_add_table,
                                         .source = book},
                                        {.name = CELLAR_BOOK_ABOUT,
                                         .widths = book_about_widths,
                                         .n_columns = BOOK_N_ABOUT,
                                         .wraps = 1,
                                         .add_rows = book_add_about,
                                         .source = book}};
    const cellar_book whole = {.title = title->bytes,
                               .language =
                                   grid->question->dataset->languages[grid->question->language],
                               .sheets = sheets,
                               .n_sheets = sizeof sheets / sizeof *sheets};
    return cellar_book_write(&whole, format, out, err);
}

static cellar_status book_make(const serve_answer *answer, const serve_format_options *options,
                               cellar_book_format format, cellar_text *out, cellar_error *err)
{
    answer_book book = {.options = options};
    cellar_text title = {0}, widths = {0};
    const serve_grid *grid = &book.grid;
    cellar_status status;

    serve_grid_init(&book.grid, answer->question, answer);
    status = cellar_book_check_room(grid->n_rows + book_n_headings(grid) + BOOK_LEAD_ROWS,
                                    grid->n_stub + grid->n_columns, err);
    if (status != CELLAR_OK)
        return status;
    serve_grid_add_title(grid, &title);
    book_add_widths(&book, &widths);
    status = title.failed || widths.failed ? cellar_fail_memory(err, "a spreadsheet")
                                           : book_write(&book, format, &title, &widths, out, err);
    cellar_text_clear(&title);
    cellar_text_clear(&widths);
    return status;
}

cellar_status serve_write_ods(const serve_answer *answer, const serve_format_options *options,
                              cellar_text *out, cellar_error *err)
{
    return book_make(answer, options, CELLAR_BOOK_ODS, out, err);
}

cellar_status serve_write_xlsx(const serve_answer *answer, const serve_format_options *options,
                               cellar_text *out, cellar_error *err)
{
    return book_make(answer, options, CELLAR_BOOK_XLSX, out, err);
}
