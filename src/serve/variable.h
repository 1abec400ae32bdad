/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Variables of a served data set: categories from code lists, words from the configuration. */
#ifndef CELLAR_SERVE_VARIABLE_H
#define CELLAR_SERVE_VARIABLE_H

#include "cube/variable.h"
#include "serve/config.h"

/* The levels of a variable of a cube (or of a code list) with their labels in the languages of the
 * site, or in the language that the code list has. Refuses a name that could not stand in the name
 * of a table. */
cellar_status serve_variable_make(const cube_variable *from, const serve_languages *languages,
                                  cellar_arena *arena, serve_variable *out, cellar_error *err);

/* The variable of one category that everybody has. */
cellar_status serve_variable_make_period(const char *period, const serve_languages *languages,
                                         cellar_arena *arena, serve_variable *out,
                                         cellar_error *err);

/* Gives variables and categories the labels, notes and roles that the configuration has. */
cellar_status serve_variables_word(const serve_config *config, const serve_config_dataset *words,
                                   serve_variable *variables, size_t n, cellar_error *err);

#endif
