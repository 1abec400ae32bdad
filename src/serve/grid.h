/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An answer as a table with headings: the variables of its question and the contents, in the order
 * of the view. All that the writers of formats know. */
#ifndef CELLAR_SERVE_GRID_H
#define CELLAR_SERVE_GRID_H

#include "base/text.h"
#include "serve/answer.h"

typedef struct serve_axis {
    const char *code, *label;
    const char *note; /* NULL: none */
    serve_role role;
    size_t n;               /* headings */
    const serve_side *side; /* NULL: the contents */
} serve_axis;

typedef struct serve_heading {
    const char *code, *label;
    const char *note; /* NULL: none */
} serve_heading;

enum { SERVE_MAX_AXES = CELLAR_MAX_VARIABLES + 1 };

/* Borrows everything. Values are in row-major order of the axes, the last one fastest. */
typedef struct serve_grid {
    const serve_question *question;
    const serve_answer *answer;
    serve_axis axes[SERVE_MAX_AXES];
    size_t n_axes;
    size_t n_stub; /* the first so many axes are rows, the others columns */
    size_t n_rows, n_columns;
    size_t n_inner; /* cells that the sides after the contents make */
} serve_grid;

/* The answer is no refusal. `answer` may be NULL for a grid of headings alone. */
void serve_grid_init(serve_grid *grid, const serve_question *question, const serve_answer *answer);

/* The labels of a content; of the count what is counted. .in is NULL where there is none but the
 * English one. */
serve_texts serve_content_texts(const serve_dataset *dataset, serve_content content);
/* Its label in a language, and that of all contents as a variable. */
const char *serve_content_label(const serve_dataset *dataset, serve_content content,
                                size_t language);
const char *serve_contents_label(const serve_dataset *dataset, size_t language);
serve_heading serve_grid_heading(const serve_grid *grid, size_t axis, size_t position);
/* The positions along the axes first .. last - 1 of the `index`-th combination of them. */
void serve_grid_positions(const serve_grid *grid, size_t first, size_t last, size_t index,
                          size_t *positions);

/* ---- values ----------------------------------------------------------------- */

/* A value in units of 10^-decimals; the bounds of intervals are rounded outward. has_number is 0
 * where the value is suppressed or not known. */
typedef struct serve_number {
    int has_number, decimals;
    cellar_int128 units;
    cellar_cell_status status;
} serve_number;

/* The index of a content of a cell; cells are counted without their contents. */
size_t serve_grid_index(const serve_grid *grid, size_t cell, size_t content);
/* The value at an index: with all its decimals, or as people are shown it, for whom noise hides the
 * last ones. */
serve_number serve_grid_number(const serve_grid *grid, size_t index);
serve_number serve_grid_shown(const serve_grid *grid, size_t index);
/* Adds the digits of a number that is there: "12.5". */
void serve_number_add(const serve_number *number, cellar_text *text);
/* The sign for a number that is not there, as in px files: "..", "...". */
const char *serve_number_symbol(const serve_number *number);
/* The decimals of a content, and those that all values have room in. */
int serve_grid_content_decimals(const serve_grid *grid, serve_content content);
int serve_grid_decimals(const serve_grid *grid);

/* ---- what every format says ------------------------------------------------- */

/* Hears one statement: what it is about ("Source"; the label of a variable), a part of that (the
 * label of a category) or NULL, and the text. */
typedef void serve_listener(void *context, const char *name, const char *part, const char *text);
/* What the values are and how they are protected: unit, guarantee, certificate, intervals. */
void serve_grid_state_protection(const serve_grid *grid, serve_listener *say, void *context);
/* All: protection, source, dates, contact, notes of the data set, its variables and categories. */
void serve_grid_state(const serve_grid *grid, serve_listener *say, void *context);
/* Adds all of it in one line, for formats that have one place: "Protection: ... | Source: ...". */
void serve_grid_add_statements(const serve_grid *grid, cellar_text *text);

/* (cell_notes.c) 1 when cells of a grid have the note: then positions[axis] is the heading that it
 * names, SIZE_MAX on axes where it is about all of them. */
int serve_cell_note_fits(const serve_grid *grid, const serve_cell_note *note, size_t *positions);
/* States every note that cells of a grid have: "Cells", "North, women" and the text. */
void serve_cell_notes_state(const serve_grid *grid, serve_listener *say, void *context);

/* "Persons by region, sex": adds a title of the table as it was asked for. */
void serve_grid_add_title(const serve_grid *grid, cellar_text *text);

#endif
