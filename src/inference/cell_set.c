/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/cell_set.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/noisy.h"
#include "inference/set_text.h"

/* ---- life cycle ------------------------------------------------------------------ */

static cellar_status set_create(const cellar_noisy *noisy, cellar_cell_set **out, cellar_error *err)
{
    cellar_cell_set *set = cellar_alloc(1, sizeof *set);
    *out = NULL;
    if (set != NULL)
        set->has = cellar_alloc(noisy->n_cells, sizeof *set->has);
    if (set == NULL || set->has == NULL) {
        cellar_cell_set_free(set);
        return cellar_fail_memory(err, "a set of cells");
    }
    set->n_table = noisy->n_cells;
    *out = set;
    return CELLAR_OK;
}

void cellar_cell_set_free(cellar_cell_set *set)
{
    if (set == NULL)
        return;
    cellar_free(set->has);
    cellar_free(set);
}

size_t cellar_cell_set_n_cells(const cellar_cell_set *set)
{
    return set->n_cells;
}

cellar_status cellar_cell_set_create_one(const cellar_noisy *noisy, size_t cell,
                                         cellar_cell_set **out, cellar_error *err)
{
    cellar_status status;
    *out = NULL;
    if (cell >= noisy->n_cells || noisy->structural[cell])
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no such cell");
    status = set_create(noisy, out, err);
    if (status == CELLAR_OK) {
        (*out)->has[cell] = 1;
        (*out)->n_cells = 1;
    }
    return status;
}

/* ---- reading ------------------------------------------------------------------------ */

typedef struct wish {
    const cellar_noisy *noisy;
    unsigned char *wanted;  /* by level of all variables, one after the other */
    unsigned char *named;   /* by variable */
    size_t variable, first; /* the latest one, and its first level */
} wish;

static cellar_status wish_variable(void *context, const char *name, cellar_error *err)
{
    wish *w = context;
    const cellar_noisy *noisy = w->noisy;
    w->variable = w->first = 0;
    while (w->variable < noisy->n_variables && strcmp(noisy->names[w->variable], name) != 0)
        w->first += noisy->n_levels[w->variable++];
    if (w->variable == noisy->n_variables)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no variable '%.100s'", name);
    if (w->named[w->variable])
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' is named twice", name);
    w->named[w->variable] = 1;
    return CELLAR_OK;
}

static cellar_status wish_code(void *context, const char *code, cellar_error *err)
{
    wish *w = context;
    const cellar_noisy *noisy = w->noisy;
    const size_t n = noisy->n_levels[w->variable];
    size_t level = 0;
    while (level < n && strcmp(noisy->codes[w->first + level], code) != 0)
        level++;
    if (level == n)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "variable '%.100s' has no code '%.100s' among its lowest categories, "
                           "of which sets are made",
                           noisy->names[w->variable], code);
    w->wanted[w->first + level] = 1;
    return CELLAR_OK;
}

/* Marks the cells all of whose levels are wanted. */
static void set_fill(cellar_cell_set *set, const wish *w)
{
    const cellar_noisy *noisy = w->noisy;
    for (size_t i = 0; i < noisy->n_cells; i++) {
        size_t rest = i, first = 0, inside = !noisy->structural[i];
        for (size_t v = 0; v < noisy->n_variables; v++)
            first += noisy->n_levels[v];
        for (size_t v = noisy->n_variables; v-- > 0; rest /= noisy->n_levels[v]) {
            first -= noisy->n_levels[v];
            inside &= !w->named[v] || w->wanted[first + rest % noisy->n_levels[v]];
        }
        set->has[i] = (unsigned char) inside;
        set->n_cells += inside;
    }
}

cellar_status cellar_cell_set_parse(const cellar_noisy *noisy, const char *text,
                                    cellar_cell_set **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_cell_set *set = NULL;
    wish w = {.noisy = noisy};
    const cellar_set_reader reader = {&w, wish_variable, wish_code};
    size_t n_codes = 0;

    *out = NULL;
    for (size_t v = 0; v < noisy->n_variables; v++)
        n_codes += noisy->n_levels[v];
    w.wanted = cellar_alloc(n_codes, sizeof *w.wanted);
    w.named = cellar_alloc(noisy->n_variables, sizeof *w.named);
    if (w.wanted == NULL || w.named == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a set of cells"));
    CELLAR_TRY(set_create(noisy, &set, err));
    CELLAR_TRY(cellar_set_text_read(text, &reader, err));
    set_fill(set, &w);
    if (set->n_cells == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.200s' is no cell of the table", text));
    *out = set;
    set = NULL;
out:
    cellar_cell_set_free(set);
    cellar_free(w.wanted);
    cellar_free(w.named);
    return status;
}

/* ---- the variables of a text --------------------------------------------------------- */

typedef struct naming {
    const cellar_schema *schema;
    size_t *variables, *n;
} naming;

static cellar_status naming_variable(void *context, const char *name, cellar_error *err)
{
    naming *names = context;
    const size_t variable = cellar_schema_find_variable(names->schema, name);
    size_t i = 0;
    if (variable == CELLAR_NO_CODE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the release has no variable '%.100s'", name);
    while (i < *names->n && names->variables[i] != variable)
        i++;
    if (i == *names->n)
        names->variables[(*names->n)++] = variable;
    return CELLAR_OK;
}

/* Codes are looked at later. */
static cellar_status naming_code(void *context, const char *code, cellar_error *err)
{
    (void) context;
    (void) code;
    (void) err;
    return CELLAR_OK;
}

cellar_status cellar_cell_set_variables(const cellar_release *release, const char *text,
                                        size_t *variables, size_t *n, cellar_error *err)
{
    naming names = {.schema = cellar_release_schema(release)};
    const cellar_set_reader reader = {&names, naming_variable, naming_code};
    names.variables = variables;
    names.n = n;
    return cellar_set_text_read(text, &reader, err);
}
