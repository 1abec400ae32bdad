/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/cell_set.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/noisy.h"

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

enum { WORD_BYTES = 1024 };

typedef struct reader {
    const cellar_noisy *noisy;
    const char *at;
    unsigned char *wanted; /* by level of all variables, one after the other */
    unsigned char *named;  /* by variable */
} reader;

static void skip_space(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

/* A word up to one of `ends`, or in double quotes. */
static cellar_status read_word(reader *r, const char *ends, char word[WORD_BYTES],
                               cellar_error *err)
{
    size_t n = 0;
    int quoted;
    skip_space(r);
    quoted = *r->at == '"';
    r->at += quoted;
    for (; *r->at != '\0'; r->at++) {
        if (quoted && r->at[0] == '"' && r->at[1] == '"')
            r->at++;
        else if (quoted ? *r->at == '"' : strchr(ends, *r->at) != NULL)
            break;
        if (n + 1 == WORD_BYTES)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a code is too long");
        word[n++] = *r->at;
    }
    if (quoted && *r->at != '"')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a quote is not closed");
    r->at += quoted;
    while (!quoted && n > 0 && (word[n - 1] == ' ' || word[n - 1] == '\t'))
        n--;
    word[n] = '\0';
    skip_space(r);
    return CELLAR_OK;
}

static cellar_status read_codes(reader *r, size_t variable, size_t first, cellar_error *err)
{
    const cellar_noisy *noisy = r->noisy;
    char word[WORD_BYTES];
    do {
        size_t level = 0;
        cellar_status status = read_word(r, ",;", word, err);
        if (status != CELLAR_OK)
            return status;
        while (level < noisy->n_levels[variable] && strcmp(noisy->codes[first + level], word) != 0)
            level++;
        if (level == noisy->n_levels[variable])
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' has no code '%.100s'",
                               noisy->names[variable], word);
        r->wanted[first + level] = 1;
    } while (*r->at == ',' && r->at++);
    return CELLAR_OK;
}

static cellar_status read_variable(reader *r, cellar_error *err)
{
    const cellar_noisy *noisy = r->noisy;
    char word[WORD_BYTES];
    size_t variable = 0, first = 0;
    cellar_status status = read_word(r, "=;", word, err);
    if (status != CELLAR_OK)
        return status;
    while (variable < noisy->n_variables && strcmp(noisy->names[variable], word) != 0)
        first += noisy->n_levels[variable++];
    if (variable == noisy->n_variables)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "there is no variable '%.100s'", word);
    if (r->named[variable])
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.100s' is named twice", word);
    if (*r->at != '=')
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.100s': expected '=' and a code", word);
    r->at++;
    r->named[variable] = 1;
    return read_codes(r, variable, first, err);
}

/* Marks the cells all of whose levels are wanted. */
static void set_fill(cellar_cell_set *set, const reader *r)
{
    const cellar_noisy *noisy = r->noisy;
    for (size_t i = 0; i < noisy->n_cells; i++) {
        size_t rest = i, first = 0, inside = !noisy->structural[i];
        for (size_t v = 0; v < noisy->n_variables; v++)
            first += noisy->n_levels[v];
        for (size_t v = noisy->n_variables; v-- > 0; rest /= noisy->n_levels[v]) {
            first -= noisy->n_levels[v];
            inside &= !r->named[v] || r->wanted[first + rest % noisy->n_levels[v]];
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
    reader r = {.noisy = noisy, .at = text};
    size_t n_codes = 0;

    *out = NULL;
    for (size_t v = 0; v < noisy->n_variables; v++)
        n_codes += noisy->n_levels[v];
    r.wanted = cellar_alloc(n_codes, sizeof *r.wanted);
    r.named = cellar_alloc(noisy->n_variables, sizeof *r.named);
    if (r.wanted == NULL || r.named == NULL) {
        status = cellar_fail_memory(err, "a set of cells");
        goto out;
    }
    CELLAR_TRY(set_create(noisy, &set, err));
    skip_space(&r);
    while (*r.at != '\0') {
        CELLAR_TRY(read_variable(&r, err));
        if (*r.at != '\0' && *r.at != ';') {
            status =
                cellar_fail(err, CELLAR_ERR_ARGUMENT, "expected ';' or the end at '%.60s'", r.at);
            goto out;
        }
        r.at += *r.at == ';';
        skip_space(&r);
    }
    set_fill(set, &r);
    if (set->n_cells == 0) {
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "'%.200s' is no cell of the table", text);
        goto out;
    }
    *out = set;
    set = NULL;
out:
    cellar_cell_set_free(set);
    cellar_free(r.wanted);
    cellar_free(r.named);
    return status;
}

cellar_status cellar_cell_set_variables(const cellar_release *release, const char *text,
                                        size_t *variables, size_t *n, cellar_error *err)
{
    const cellar_schema *schema = cellar_release_schema(release);
    reader r = {.at = text};
    char word[WORD_BYTES];
    cellar_status status = CELLAR_OK;
    skip_space(&r);
    while (*r.at != '\0') {
        size_t variable, i = 0;
        CELLAR_TRY(read_word(&r, "=;", word, err));
        variable = cellar_schema_find_variable(schema, word);
        if (variable == CELLAR_NO_CODE) {
            status =
                cellar_fail(err, CELLAR_ERR_ARGUMENT, "the release has no variable '%.100s'", word);
            goto out;
        }
        while (i < *n && variables[i] != variable)
            i++;
        if (i == *n)
            variables[(*n)++] = variable;
        do { /* the codes are looked at later */
            r.at += *r.at == '=' || *r.at == ',';
            CELLAR_TRY(read_word(&r, ",;", word, err));
        } while (*r.at == ',');
        r.at += *r.at == ';';
        skip_space(&r);
    }
out:
    return status;
}
