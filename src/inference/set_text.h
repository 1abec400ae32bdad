/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The text of a set of cells: "sex=F; region=1,2". */
#ifndef CELLAR_INFERENCE_SET_TEXT_H
#define CELLAR_INFERENCE_SET_TEXT_H

#include <cellar/status.h>

/* Receives what the text says: each variable, then its codes. */
typedef struct cellar_set_reader {
    void *context;
    cellar_status (*variable)(void *context, const char *name, cellar_error *err);
    cellar_status (*code)(void *context, const char *code, cellar_error *err);
} cellar_set_reader;

/* Codes and names that hold a separator stand in double quotes, a doubled quote in them stands for
 * one. The first failure of the reader ends it. */
cellar_status cellar_set_text_read(const char *text, const cellar_set_reader *reader,
                                   cellar_error *err);

#endif
