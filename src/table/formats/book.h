/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Workbooks: sheets of rows of cells, for people, whatever they are packed in. No cells are merged,
 * every column has a heading, headings are repeated on every page, and numbers are numbers, so that
 * screen readers and programs read them cell by cell. Texts are cells of type text, which no
 * program takes for formulas. The same book makes the same bytes. */
#ifndef CELLAR_TABLE_FORMATS_BOOK_H
#define CELLAR_TABLE_FORMATS_BOOK_H

#include "table/formats/zip.h"

#define CELLAR_BOOK_TABLE "Table" /* names of sheets */
#define CELLAR_BOOK_ABOUT "About"

enum {
    CELLAR_BOOK_MAX_ROWS = 1048576, /* what Excel and LibreOffice hold */
    CELLAR_BOOK_MAX_COLUMNS = 16384,
    CELLAR_BOOK_MAX_LETTERS = 32767, /* in a cell */
    CELLAR_BOOK_MAX_SHEETS = 2,
    CELLAR_BOOK_MIN_WIDTH = 10, /* of columns, in letters */
    CELLAR_BOOK_MAX_WIDTH = 60
};

typedef enum cellar_book_style {
    CELLAR_BOOK_PLAIN,
    CELLAR_BOOK_HEADING, /* bold, of a row or a column */
    CELLAR_BOOK_TITLE    /* bold, and never breaks: the cells to its right are empty */
} cellar_book_style;

/* In units of 10^-decimals; at most CELLAR_SHEET_MAX_DECIMALS. */
typedef struct cellar_book_number {
    cellar_int128 units;
    int decimals;
} cellar_book_number;

/* Where the rows of a sheet go, and the next cell (both from 0). */
typedef struct cellar_book_place {
    const struct cellar_book_sheet *sheet;
    const struct cellar_book_form *form;
    cellar_zip *zip;
    cellar_text out; /* what is not yet in the archive */
    size_t row, column;
    size_t n_lines;   /* of the open row, where texts break: about as many as its longest has */
    size_t height_at; /* of the open row in `out`, for XLSX */
    int is_too_long;  /* some text was */
} cellar_book_place;

/* Cells are written from left to right, between the opening and the closing of their row. */
void cellar_book_open_row(cellar_book_place *place);
void cellar_book_close_row(cellar_book_place *place);
/* Nothing ("") makes an empty cell. */
void cellar_book_add_text(cellar_book_place *place, cellar_book_style style, const char *text);
/* The same for a text that was gathered, which is emptied. */
void cellar_book_add_gathered(cellar_book_place *place, cellar_book_style style,
                              cellar_text *gathered);
/* A number, and as people are shown it. */
void cellar_book_add_number(cellar_book_place *place, const cellar_book_number *number,
                            const cellar_book_number *shown);
/* 1 when what follows is not needed: writing has failed already. */
int cellar_book_has_failed(const cellar_book_place *place);

typedef struct cellar_book_sheet {
    const char *name;            /* at most 31 letters, and none of []:*?/\' */
    const char *title;           /* or NULL */
    const unsigned char *widths; /* of the columns, in letters */
    size_t n_columns;
    size_t n_stub;     /* the first so many head their rows, and are repeated */
    size_t n_lead;     /* rows above the headings */
    size_t n_headings; /* rows that are repeated; 0: none */
    int wraps;         /* 1: long texts break where their column ends, all but titles */
    /* Marks what is below the lead as a table: the texts of its one row of headings, which
     * cellar_book_can_mark() takes; there are rows below it. NULL: it is not marked. */
    const char *const *headings;
    void (*add_rows)(const void *source, cellar_book_place *place);
    const void *source;
} cellar_book_sheet;

typedef struct cellar_book {
    const char *title;
    const char *language; /* of its texts, such as "en" or "pt-BR" */
    const cellar_book_sheet *sheets;
    size_t n_sheets; /* at most CELLAR_BOOK_MAX_SHEETS */
} cellar_book;

typedef enum cellar_book_format { CELLAR_BOOK_ODS, CELLAR_BOOK_XLSX } cellar_book_format;

/* Adds the whole file to `out`. Fails when a text is too long for a cell. */
cellar_status cellar_book_write(const cellar_book *book, cellar_book_format format,
                                cellar_text *out, cellar_error *err);

/* Fails when a sheet has no room for so many rows and columns. */
cellar_status cellar_book_check_room(uint64_t n_rows, uint64_t n_columns, cellar_error *err);
/* Fails when a cell has no room for the text, which messages call `what` ("a label") and, unless it
 * is NULL, `variable`; the text may be NULL. */
cellar_status cellar_book_check_text(const char *text, const char *what, const char *variable,
                                     cellar_error *err);
/* 1 when headings can be those of a marked table: Excel repairs, with an alarm, a table with two
 * that differ in nothing but case, one that is empty or long, or one with control characters. */
int cellar_book_can_mark(const char *const *headings, size_t n);
/* How wide a column is for a text of so many bytes, where `most` is what it had before. */
unsigned char cellar_book_width(const char *text, size_t most);

/* ---- for the formats -------------------------------------------------------------- */

/* How a format writes cells, at place->row and place->column, to place->out. */
typedef struct cellar_book_form {
    void (*open_row)(cellar_book_place *place);
    void (*text)(cellar_book_place *place, cellar_book_style style, const char *text);
    void (*number)(cellar_book_place *place, const cellar_book_number *number,
                   const cellar_book_number *shown);
    void (*close_row)(cellar_book_place *place);
    /* Adds the parts of the archive. */
    void (*pack)(const cellar_book *book, cellar_book_place *place);
} cellar_book_form;

extern const cellar_book_form cellar_book_form_ods, cellar_book_form_xlsx;

/* Writes the rows of a sheet to the file of the archive that is open. */
void cellar_book_add_sheet(const cellar_book_sheet *sheet, cellar_book_place *place);
/* Adds a file of fixed content to the archive. */
void cellar_book_add_fixed(cellar_zip *zip, const char *name, const char *content);

#endif
