/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What spreadsheets have in common, whatever they are packed in: two sheets, the table and what is
 * to be known about it, as rows of cells. No cells are merged, every column has a heading, and
 * numbers are numbers, so that screen readers and programs read them cell by cell. */
#ifndef CELLAR_SERVE_BOOK_H
#define CELLAR_SERVE_BOOK_H

#include "serve/formats.h"

#define SERVE_BOOK_TABLE "Table" /* the names of the sheets */
#define SERVE_BOOK_ABOUT "About"

enum {
    SERVE_BOOK_MAX_ROWS = 1048576, /* what Excel and LibreOffice hold */
    SERVE_BOOK_MAX_COLUMNS = 16384,
    SERVE_BOOK_LEAD_ROWS = 2, /* above the headings of the table */
    SERVE_BOOK_N_ABOUT = 3    /* columns of the sheet About */
};

typedef enum serve_book_style { SERVE_BOOK_PLAIN, SERVE_BOOK_HEADING } serve_book_style;

/* Where the next cell goes (both from 0, kept by book.c), and how a format writes it. */
typedef struct serve_book_place {
    cellar_text *out;
    size_t row, column;
    void (*open_row)(const struct serve_book_place *place);
    void (*text)(const struct serve_book_place *place, serve_book_style style, const char *text);
    /* A number that is there, and as people are shown it. */
    void (*number)(const struct serve_book_place *place, const serve_number *number,
                   const serve_number *shown);
    void (*close_row)(const struct serve_book_place *place);
} serve_book_place;

/* The language of the texts, such as "en" or "pt-BR". */
const char *serve_book_language(const serve_grid *grid);

/* Fails when a sheet has no room for the table. */
cellar_status serve_book_check(const serve_grid *grid, cellar_error *err);

/* The parts of the sheet Table in their order: its title and where notes are, the headings, the
 * rows with values. */
void serve_book_add_lead(const serve_grid *grid, serve_book_place *place);
void serve_book_add_headings(const serve_grid *grid, const serve_format_options *options,
                             serve_book_place *place);
void serve_book_add_rows(const serve_grid *grid, const serve_format_options *options,
                         serve_book_place *place);
/* How many rows are headings, and columns there are. */
size_t serve_book_n_headings(const serve_grid *grid);
size_t serve_book_n_columns(const serve_grid *grid);

/* The sheet About: what the guarantee is comes first. */
void serve_book_add_about(const serve_grid *grid, serve_book_place *place);

/* Adds how many letters wide each column is, as bytes; at most 255. */
void serve_book_add_widths(const serve_grid *grid, const serve_format_options *options,
                           cellar_text *widths);
/* The same of the sheet About. */
extern const unsigned char serve_book_about_widths[SERVE_BOOK_N_ABOUT];

#endif
