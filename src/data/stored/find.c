/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a question about the data means to a store. It is answered only where the answer is that of
 * the data the store was built from. */
#include <string.h>

#include <cellar/text.h>

#include "base/error.h"
#include "base/text.h"
#include "data/codelist.h"
#include "data/recode_map.h"
#include "data/stored/file.h"

/* ---- recodes ------------------------------------------------------------------- */

int cellar_recode_is_plain(const cellar_recode *recode)
{
    return recode->map == NULL && recode->bottom == NULL && recode->top == NULL &&
           recode->band_width == NULL;
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static int same_map(const cellar_recode_map *a, const cellar_recode_map *b)
{
    size_t n = a != NULL ? cellar_codelist_n_codes(a->pairs) : 0;
    if ((a == NULL) != (b == NULL) || (a != NULL && cellar_codelist_n_codes(b->pairs) != n))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(cellar_codelist_code(a->pairs, i), cellar_codelist_code(b->pairs, i)) != 0 ||
            strcmp(cellar_codelist_label(a->pairs, i, 0), cellar_codelist_label(b->pairs, i, 0)) !=
                0)
            return 0;
    return 1;
}

static int same_recode(const cellar_recode *a, const cellar_recode *b)
{
    return same_map(a->map, b->map) && same_text(a->bottom, b->bottom) &&
           same_text(a->top, b->top) && same_text(a->band_width, b->band_width) &&
           (a->band_width == NULL || (same_text(a->band_origin, b->band_origin) &&
                                      a->band_closed_right == b->band_closed_right));
}

/* 1 or 0; negative when memory ends. */
static int same_list(const cellar_codelist *a, const cellar_codelist *b)
{
    cellar_text texts[2] = {{0}};
    int same;
    cellar_codelist_add_text(a, &texts[0]);
    cellar_codelist_add_text(b, &texts[1]);
    if (texts[0].failed || texts[1].failed)
        same = -1;
    else
        same = texts[0].length == texts[1].length &&
               memcmp(texts[0].bytes, texts[1].bytes, texts[0].length) == 0;
    cellar_text_clear(&texts[0]);
    cellar_text_clear(&texts[1]);
    return same;
}

/* ---- variables ------------------------------------------------------------------- */

/* 1 when different values of the data may be one category. */
static int is_merged(const cellar_stored_variable *variable)
{
    for (size_t i = 0; i < cellar_codelist_n_codes(variable->list); i++)
        if (cellar_codelist_role(variable->list, i) == CELLAR_CODE_OTHER)
            return 1;
    return !cellar_recode_is_plain(&variable->spec.recode);
}

static cellar_status fail_name(const cellar_stored_file *file, const char *name, cellar_error *err)
{
    const char **names = cellar_alloc(file->n_variables + 1, sizeof *names), *nearest;
    if (names == NULL)
        return cellar_fail_memory(err, "the names of variables");
    for (size_t v = 0; v < file->n_variables; v++)
        names[v] = file->variables[v].spec.name;
    nearest = cellar_nearest_word(name, names);
    cellar_free(names);
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the store has no variable '%.200s'%s%s%s",
                       file->name, name,
                       nearest != NULL ? "; did you mean '" : "; cellar store show lists them",
                       nearest != NULL ? nearest : "", nearest != NULL ? "'?" : "");
}

static cellar_status fail_merged(const cellar_stored_file *file, const char *name, const char *what,
                                 cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "%s: variable '%.200s' was recoded when the store was built, and its values "
                       "are not in the store: %s",
                       file->name, name, what);
}

/* One made of the same column in the same way; else, where nothing is to be recoded, one of that
 * name; else one that can be recoded. n_variables: there is none. */
static size_t find_variable(const cellar_stored_file *file, const cellar_variable_spec *asked)
{
    const size_t n = file->n_variables;
    const int is_plain = cellar_recode_is_plain(&asked->recode);
    for (int way = 0; way < 3; way++)
        for (size_t v = 0; v < n; v++) {
            const cellar_variable_spec *spec = &file->variables[v].spec;
            const int has_column = strcmp(spec->column, asked->column) == 0;
            const int has_name = strcmp(spec->name, asked->column) == 0;
            if ((way == 0 && has_column && same_recode(&spec->recode, &asked->recode)) ||
                (way == 1 && has_name && is_plain) ||
                (way == 2 && (has_name || has_column) && cellar_recode_is_plain(&spec->recode)))
                return v;
        }
    return n;
}

static cellar_status fail_variable(const cellar_stored_file *file,
                                   const cellar_variable_spec *asked, cellar_error *err)
{
    for (size_t v = 0; v < file->n_variables; v++)
        if (strcmp(file->variables[v].spec.column, asked->column) == 0 ||
            strcmp(file->variables[v].spec.name, asked->column) == 0)
            return fail_merged(file, asked->column,
                               "recode it in the same way, or not at all (as it is stored)", err);
    return fail_name(file, asked->column, err);
}

/* Text that means missing: of a merged variable only what was said when it was built. */
static cellar_status adopt_missing(const cellar_stored_file *file,
                                   const cellar_stored_variable *variable, cellar_coder_spec *coder,
                                   cellar_error *err)
{
    for (size_t i = 0; i < coder->n_missing; i++) {
        size_t known = 0;
        while (known < file->n_missing && strcmp(file->missing[known], coder->missing[i]) != 0)
            known++;
        if (known == file->n_missing)
            return fail_merged(file, variable->spec.name,
                               "text that means missing is named when a store is built (--missing)",
                               err);
    }
    coder->n_missing = 0;
    return CELLAR_OK;
}

/* The categories as the store has them. */
static cellar_status adopt_domain(const cellar_stored_variable *variable, cellar_coder_spec *coder,
                                  cellar_codelist **held, cellar_error *err)
{
    if (variable->domain == CELLAR_STORED_OBSERVED)
        coder->labels = variable->list;
    else
        coder->codelist = variable->list;
    if (variable->domain == CELLAR_STORED_IMPLIED &&
        coder->missing_policy == CELLAR_MISSING_LEVEL) {
        cellar_status status = cellar_codelist_with_unknown(variable->list, held, err);
        coder->codelist = *held;
        return status;
    }
    return CELLAR_OK;
}

cellar_status cellar_stored_find_variable(const cellar_stored_file *file,
                                          const cellar_variable_spec *asked,
                                          cellar_coder_spec *coder, size_t *column,
                                          cellar_codelist **held, cellar_error *err)
{
    const size_t v = find_variable(file, asked);
    const cellar_stored_variable *variable = &file->variables[v < file->n_variables ? v : 0];
    cellar_status status = CELLAR_OK;
    int is_recoded;

    *held = NULL;
    if (v == file->n_variables)
        return fail_variable(file, asked, err);
    *column = v;
    is_recoded = !cellar_recode_is_plain(&asked->recode) &&
                 !same_recode(&asked->recode, &variable->spec.recode);
    coder->encoding = CELLAR_ENCODING_UTF8;
    coder->recode = is_recoded ? &asked->recode : NULL;
    coder->codelist = asked->codelist;
    coder->level = asked->level;
    if (coder->missing_policy == CELLAR_MISSING_UNDECIDED)
        coder->missing_policy = variable->spec.missing_policy != CELLAR_MISSING_UNDECIDED
                                    ? variable->spec.missing_policy
                                    : file->missing_policy;
    if (is_merged(variable)) {
        const int same =
            asked->codelist != NULL ? same_list(asked->codelist, variable->list) : !is_recoded;
        CELLAR_TRY(adopt_missing(file, variable, coder, err));
        if (same < 0)
            return cellar_fail_memory(err, "a code list");
        if (is_recoded || !same)
            return fail_merged(file, asked->column,
                               "recode it in the same way and declare the same categories", err);
    }
    if (asked->codelist == NULL && !is_recoded)
        CELLAR_TRY(adopt_domain(variable, coder, held, err));
out:
    return status;
}

/* ---- conditions and numbers ----------------------------------------------------- */

cellar_status cellar_stored_find_condition(const cellar_stored_file *file,
                                           const cellar_condition *condition, size_t *column,
                                           cellar_error *err)
{
    const cellar_variable_spec asked = {.column = cellar_condition_column(condition)};
    const size_t v = find_variable(file, &asked);
    if (v == file->n_variables)
        return fail_variable(file, &asked, err);
    if (is_merged(&file->variables[v]))
        return fail_merged(file, asked.column,
                           "state the condition when the store is built (--where)", err);
    for (size_t i = 0; i < file->n_missing; i++)
        if (cellar_condition_holds(condition, file->missing[i], strlen(file->missing[i])))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: variable '%.200s': the condition holds for '%.60s', which the "
                               "store does not tell from other missing values: state the condition "
                               "when the store is built (--where)",
                               file->name, asked.column, file->missing[i]);
    *column = v;
    return CELLAR_OK;
}

cellar_status cellar_stored_find_number(const cellar_stored_file *file, cellar_stored_beside kind,
                                        const char *name, size_t *column, cellar_error *err)
{
    static const char *const words[] = {"record keys", "weights", "units", "order"};
    static const char *const options[] = {"--record-key or --record-id", "--weight", "--unit", ""};
    if (file->columns[kind].width == 0 || strcmp(file->columns[kind].name, name) != 0)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "%s: the store has no %s called '%.200s'; they are named when a store is "
            "built (%s)",
            file->name, words[kind], name, options[kind]);
    *column = file->n_variables + (size_t) kind;
    return CELLAR_OK;
}
