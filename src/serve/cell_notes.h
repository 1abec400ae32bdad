/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Notes of single cells: "in the north, women: the hospital was closed". grid.h finds those of an
 * answer. */
#ifndef CELLAR_SERVE_CELL_NOTES_H
#define CELLAR_SERVE_CELL_NOTES_H

#include "serve/config.h"

/* A note is about all cells that have one category of each variable it names. */
struct serve_cell_note {
    serve_table table;                 /* the variables it names, and their levels */
    uint32_t at[CELLAR_MAX_VARIABLES]; /* the category of each */
    serve_texts text;
};

/* Reads those of a data set whose variables are known. */
cellar_status serve_cell_notes_read(const serve_config *config, const serve_config_dataset *words,
                                    cellar_arena *arena, serve_dataset *dataset, cellar_error *err);

#endif
