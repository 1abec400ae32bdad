/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases and estimates as spreadsheets: first what they are and how they are protected, then the
 * table, one row a cell, with all cells of the table. True counts are not written so. */
#include "table/formats/format.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "table/formats/book.h"

#define BOOK_LABEL " label" /* ends the name of a column with labels */
/* Where there is no number. These are the signs of the UK's Analysis Function. */
#define BOOK_SUPPRESSED "[c]"
#define BOOK_NOT_AVAILABLE "[x]"
#define BOOK_CANNOT_OCCUR "[z]"

enum {
    BOOK_LEAD_ROWS = 2,
    BOOK_N_ABOUT = 2,
    BOOK_SHOWN_DECIMALS = 2, /* of estimates, which have noise in the first already */
    BOOK_MAX_COLUMNS = 2 * CELLAR_MAX_VARIABLES + 2,
    BOOK_ARENA_BYTES = 1 << 25 /* names fit into cells */
};

static const unsigned char book_about_widths[BOOK_N_ABOUT] = {24, 60}; /* as wide as a page */

typedef struct book_writer {
    const cellar_sheet *sheet;
    const cellar_table_write_options *options;
    cellar_sheet_walk walk;
    cellar_text title;
    int has_labels[CELLAR_MAX_VARIABLES]; /* of variables: a column of their own */
    cellar_arena *arena;                  /* has the headings of labels */
    const char *headings[BOOK_MAX_COLUMNS];
    unsigned char widths[BOOK_MAX_COLUMNS];
    size_t n_columns, n_stub;
} book_writer;

/* ---- columns --------------------------------------------------------------------- */

static int book_variable_has_labels(const cellar_schema *schema, size_t v)
{
    for (size_t c = 0; c < cellar_schema_n_categories(schema, v); c++)
        if (strcmp(cellar_schema_code(schema, v, c), cellar_schema_label(schema, v, c, 0)) != 0)
            return 1;
    return 0;
}

/* How wide the codes or the labels of a variable are; fails when one does not fit into a cell. */
static cellar_status book_measure(const cellar_schema *schema, size_t v, int labels,
                                  unsigned char *width, cellar_error *err)
{
    for (size_t c = 0; c < cellar_schema_n_categories(schema, v); c++) {
        const char *text =
            labels ? cellar_schema_label(schema, v, c, 0) : cellar_schema_code(schema, v, c);
        const cellar_status status = cellar_book_check_text(text, labels ? "a label" : "a code",
                                                            cellar_schema_variable(schema, v), err);
        if (status != CELLAR_OK)
            return status;
        *width = cellar_book_width(text, *width);
    }
    return CELLAR_OK;
}

static unsigned char *book_add_column(book_writer *writer, const char *heading)
{
    unsigned char *width = &writer->widths[writer->n_columns];
    *width = cellar_book_width(heading, 0);
    writer->headings[writer->n_columns++] = heading;
    return width;
}

/* "region label"; NULL when memory ends. */
static const char *book_label_heading(book_writer *writer, const char *variable)
{
    const size_t size = strlen(variable) + sizeof BOOK_LABEL;
    char *heading = cellar_arena_alloc(writer->arena, size, 1);
    if (heading != NULL)
        snprintf(heading, size, "%s%s", variable, BOOK_LABEL);
    return heading;
}

static cellar_status book_add_variable(book_writer *writer, size_t v, cellar_error *err)
{
    const cellar_schema *schema = writer->sheet->schema;
    const char *name = cellar_schema_variable(schema, v), *label;
    cellar_status status = cellar_book_check_text(name, "the name of a variable", NULL, err);
    if (status == CELLAR_OK)
        status = book_measure(schema, v, 0, book_add_column(writer, name), err);
    writer->has_labels[v] = book_variable_has_labels(schema, v);
    if (status != CELLAR_OK || !writer->has_labels[v])
        return status;
    label = book_label_heading(writer, name);
    return label == NULL ? cellar_fail_memory(err, "a spreadsheet")
                         : book_measure(schema, v, 1, book_add_column(writer, label), err);
}

static cellar_status book_check_names(const book_writer *writer, cellar_error *err)
{
    for (size_t i = 0; i < writer->n_columns; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(writer->headings[i], writer->headings[j]) == 0)
                return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                   "a variable called '%s' cannot be distinguished from the column "
                                   "of that name in a spreadsheet; rename the variable",
                                   writer->headings[i]);
    return CELLAR_OK;
}

static cellar_status book_add_columns(book_writer *writer, cellar_error *err)
{
    const cellar_sheet *sheet = writer->sheet;
    for (size_t v = 0; v < cellar_schema_n_variables(sheet->schema); v++) {
        const cellar_status status = book_add_variable(writer, v, err);
        if (status != CELLAR_OK)
            return status;
    }
    writer->n_stub = writer->n_columns;
    book_add_column(writer, cellar_sheet_value_name(sheet->kind));
    if (sheet->with_errors)
        book_add_column(writer, CELLAR_SHEET_ERROR_NAME);
    return book_check_names(writer, err);
}

/* ---- the table ------------------------------------------------------------------- */

/* As people are shown it, half rounded away from zero. */
static cellar_book_number book_shown(cellar_book_number number)
{
    cellar_int128 unit = 1;
    for (int d = number.decimals; d > BOOK_SHOWN_DECIMALS; d--)
        unit *= 10;
    if (unit == 1)
        return number;
    number.units = (number.units + (number.units < 0 ? -unit / 2 : unit / 2)) / unit;
    number.decimals = BOOK_SHOWN_DECIMALS;
    return number;
}

static void book_add_value(const book_writer *writer, int64_t units, cellar_book_place *place)
{
    const cellar_book_number number = {units, writer->sheet->decimals};
    const cellar_book_number shown = book_shown(number);
    cellar_book_add_number(place, &number, &shown);
}

static void book_add_values(const book_writer *writer, cellar_book_place *place)
{
    const cellar_sheet *sheet = writer->sheet;
    const cellar_sheet_cell *cell = &writer->walk.cell;
    const int cannot = cell->status == CELLAR_CELL_STRUCTURAL_ZERO;
    const int shows = !cannot && cellar_sheet_shows(sheet, cell);
    const char *sign = cannot                                   ? BOOK_CANNOT_OCCUR
                       : cell->status == CELLAR_CELL_SUPPRESSED ? BOOK_SUPPRESSED
                                                                : BOOK_NOT_AVAILABLE;
    if (shows)
        book_add_value(writer, cell->value, place);
    else
        cellar_book_add_text(place, CELLAR_BOOK_PLAIN, sign);
    if (sheet->with_errors && shows && cell->se != CELLAR_SHEET_NO_ERROR)
        book_add_value(writer, cell->se, place);
    else if (sheet->with_errors)
        cellar_book_add_text(place, CELLAR_BOOK_PLAIN, sign);
}

static void book_add_line(cellar_book_place *place, cellar_book_style style, const char *text)
{
    cellar_book_open_row(place);
    cellar_book_add_text(place, style, text);
    cellar_book_close_row(place);
}

static void book_add_table(const void *source, cellar_book_place *place)
{
    book_writer *writer = *(book_writer *const *) source;
    const cellar_schema *schema = writer->sheet->schema;
    cellar_sheet_walk *walk = &writer->walk;

    book_add_line(place, CELLAR_BOOK_TITLE, writer->title.bytes);
    book_add_line(place, CELLAR_BOOK_PLAIN,
                  "The sheet " CELLAR_BOOK_ABOUT " has the guarantee, the source and the notes.");
    cellar_book_open_row(place);
    for (size_t i = 0; i < writer->n_columns; i++)
        cellar_book_add_text(place, CELLAR_BOOK_HEADING, writer->headings[i]);
    cellar_book_close_row(place);
    while (!cellar_book_has_failed(place) && cellar_sheet_walk_next(walk)) {
        cellar_book_open_row(place);
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
            const uint32_t c = walk->categories[v];
            cellar_book_add_text(place, CELLAR_BOOK_PLAIN, cellar_schema_code(schema, v, c));
            if (writer->has_labels[v])
                cellar_book_add_text(place, CELLAR_BOOK_PLAIN,
                                     cellar_schema_label(schema, v, c, 0));
        }
        book_add_values(writer, place);
        cellar_book_close_row(place);
    }
}

/* ---- what is to be known ----------------------------------------------------------- */

static void book_hear(void *context, const char *name, const char *text)
{
    cellar_book_place *place = context;
    cellar_book_open_row(place);
    cellar_book_add_text(place, CELLAR_BOOK_HEADING, name);
    cellar_book_add_text(place, CELLAR_BOOK_PLAIN, text != NULL ? text : "");
    cellar_book_close_row(place);
    place->out.failed |= text == NULL;
}

/* What the columns with values mean. */
static void book_add_meanings(const cellar_sheet *sheet, cellar_book_place *place)
{
    static const struct meaning {
        const char *name, *text;
    } values[] = {
        [CELLAR_SHEET_RELEASE] =
            {"The column released",
             "What the mechanism made of the cell. Sums are cells like others, so that values need "
             "not add up. cellar infer computes intervals and tests from the mechanism: they are "
             "about the protection noise only, not about sampling, non-response or coverage "
             "error."},
        [CELLAR_SHEET_FIT] =
            {"The column fitted",
             "Whole numbers that add up. They have no standard errors: intervals and tests belong "
             "to the values that they were computed from."},
        [CELLAR_SHEET_ESTIMATE] =
            {"The column estimate",
             "What the noisy values say about the cell. It may be negative, because noise is."},
    };
    book_hear(place, values[sheet->kind].name, values[sheet->kind].text);
    if (sheet->with_errors)
        book_hear(place, "The column " CELLAR_SHEET_ERROR_NAME,
                  "The standard error of the estimate: protection noise only, not sampling, "
                  "non-response or coverage error. The value without noise lies within 1.96 "
                  "standard errors of the estimate in about 95 of 100 cells. Bounds do not add.");
}

static void book_hear_known(cellar_book_place *place, const char *name, const char *text)
{
    if (text != NULL)
        book_hear(place, name, text);
}

static void book_add_about(const void *source, cellar_book_place *place)
{
    const book_writer *writer = *(book_writer *const *) source;
    const cellar_sheet *sheet = writer->sheet;
    const cellar_table_write_options *options = writer->options;

    book_add_line(place, CELLAR_BOOK_TITLE, writer->title.bytes);
    book_hear_known(place, "Warning", sheet->stamp);
    if (sheet->state != NULL)
        sheet->state(sheet->statements, book_hear, place);
    book_add_meanings(sheet, place);
    book_hear_known(place, "What is counted", options->units);
    book_hear_known(place, "Source", options->source);
    book_hear_known(place, "Last updated", options->updated);
    book_hear_known(place, "Note", options->note);
    book_hear(place, "The sheet " CELLAR_BOOK_TABLE,
              "One row is one cell of the table. A variable has a column with the codes of its "
              "categories and, where these have labels, one with the labels.");
    book_hear(place, "Signs in place of numbers",
              BOOK_SUPPRESSED " suppressed; " BOOK_NOT_AVAILABLE
                              " not available; " BOOK_CANNOT_OCCUR " cannot occur");
}

/* ---- the file ------------------------------------------------------------------------ */

static void book_add_title(const book_writer *writer, cellar_text *title)
{
    const cellar_schema *schema = writer->sheet->schema;
    if (writer->options->title != NULL) {
        cellar_text_add_string(title, writer->options->title);
        return;
    }
    cellar_text_add_string(title, cellar_sheet_value_name(writer->sheet->kind));
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
        cellar_text_printf(title, "%s%s", v == 0 ? " by " : ", ",
                           cellar_schema_variable(schema, v));
}

/* That of the labels. */
static const char *book_language(const cellar_schema *schema)
{
    const char *language =
        cellar_schema_n_languages(schema) > 0 ? cellar_schema_language(schema, 0) : "";
    return language[0] != '\0' ? language : "en";
}

/* What is said besides codes and labels fits into cells: known before anything is paid, too. */
static cellar_status book_check_said(const book_writer *writer, cellar_error *err)
{
    const cellar_table_write_options *options = writer->options;
    const struct {
        const char *what, *text;
    } said[] = {{"the title", writer->title.bytes},
                {"the units", options->units},
                {"the source", options->source},
                {"the note", options->note}};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; status == CELLAR_OK && i < sizeof said / sizeof *said; i++)
        status = cellar_book_check_text(said[i].text, said[i].what, NULL, err);
    return status;
}

static cellar_status book_pack(book_writer *writer, cellar_text *out, cellar_error *err)
{
    const cellar_sheet *sheet = writer->sheet;
    const int is_marked = cellar_book_can_mark(writer->headings, writer->n_columns) &&
                          cellar_schema_n_possible(sheet->schema) > 0;
    const cellar_book_sheet sheets[] = {{.name = CELLAR_BOOK_ABOUT,
                                         .widths = book_about_widths,
                                         .n_columns = BOOK_N_ABOUT,
                                         .wraps = 1,
                                         .add_rows = book_add_about,
                                         .source = &writer},
                                        {.name = CELLAR_BOOK_TABLE,
                                         .title = writer->title.bytes,
                                         .widths = writer->widths,
                                         .n_columns = writer->n_columns,
                                         .n_stub = writer->n_stub,
                                         .n_lead = BOOK_LEAD_ROWS,
                                         .n_headings = 1,
                                         .headings = is_marked ? writer->headings : NULL,
                                         .add_rows = book_add_table,
                                         .source = &writer}};
    const cellar_book book = {.title = writer->title.bytes,
                              .language = book_language(sheet->schema),
                              .sheets = sheets,
                              .n_sheets = sizeof sheets / sizeof *sheets};
    return cellar_book_write(
        &book, writer->options->format == CELLAR_TABLE_ODS ? CELLAR_BOOK_ODS : CELLAR_BOOK_XLSX,
        out, err);
}

static cellar_status book_check(const cellar_sheet *sheet, cellar_error *err)
{
    const size_t n_columns = 2 * cellar_schema_n_variables(sheet->schema) + 2;
    if (sheet->confidential)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "true counts are not written as a spreadsheet, which is made to be "
                           "passed on: write CSV, JSON-stat or PC-Axis");
    return cellar_book_check_room(cellar_schema_n_possible(sheet->schema) + BOOK_LEAD_ROWS + 1,
                                  n_columns, err);
}

cellar_status cellar_format_book_write(const cellar_sheet *sheet,
                                       const cellar_table_write_options *options,
                                       cellar_output *output, cellar_error *err)
{
    book_writer writer = {.sheet = sheet, .options = options};
    cellar_text out = {0};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(book_check(sheet, err));
    writer.arena = cellar_arena_create(BOOK_ARENA_BYTES);
    book_add_title(&writer, &writer.title);
    if (writer.arena == NULL || writer.title.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a spreadsheet"));
    CELLAR_TRY(book_check_said(&writer, err));
    CELLAR_TRY(book_add_columns(&writer, err));
    CELLAR_TRY(cellar_sheet_walk_init(&writer.walk, sheet, CELLAR_SHEET_CELLS, err));
    if (output == NULL)
        goto out;
    CELLAR_TRY(book_pack(&writer, &out, err));
    cellar_output_write(output, out.bytes, out.length);
out:
    cellar_arena_free(writer.arena);
    cellar_text_clear(&writer.title);
    cellar_text_clear(&out);
    return status;
}
