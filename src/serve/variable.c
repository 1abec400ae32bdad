/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/variable.h"

#include <string.h>

#include "base/error.h"

#define PERIOD_CODE "period"

/* ---- from code lists ---------------------------------------------------------------------------
 */

/* The language of a code list that stands for one of the site. */
static size_t language_of(const cellar_codelist *list, const char *tag)
{
    size_t other = 0;
    for (size_t i = 0; i < cellar_codelist_n_languages(list); i++) {
        if (strcmp(cellar_codelist_language(list, i), tag) == 0)
            return i;
        if (cellar_codelist_language(list, i)[0] == '\0')
            other = i;
    }
    return other;
}

static const char *copy(cellar_arena *arena, const char *text)
{
    return cellar_arena_copy(arena, text, strlen(text));
}

static int make_category(const cellar_codelist *list, size_t code, const size_t *language_at,
                         const serve_languages *languages, cellar_arena *arena, serve_category *out)
{
    const char **in = cellar_arena_alloc(arena, languages->n, sizeof *in);
    out->code = copy(arena, cellar_codelist_code(list, code));
    for (size_t i = 0; in != NULL && i < languages->n; i++) {
        in[i] = copy(arena, cellar_codelist_label(list, code, language_at[i]));
        if (in[i] == NULL)
            return 0;
    }
    out->label = (serve_texts){in};
    return in != NULL && out->code != NULL;
}

static int make_level(const cube_variable *from, size_t level, const size_t *language_at,
                      const serve_languages *languages, cellar_arena *arena, serve_level *out)
{
    const size_t n = from->axis.n[level];
    serve_category *categories = cellar_arena_alloc(arena, n, sizeof *categories);
    cellar_text id = {0};
    for (size_t i = 0; i < n; i++) {
        if (categories == NULL || !make_category(from->codelist, from->code[level][i], language_at,
                                                 languages, arena, &categories[i]))
            return 0;
        categories[i].parent =
            level > 1 ? cube_axis_parent(&from->axis, level, (uint32_t) i) : SIZE_MAX;
    }
    cellar_text_add_string(&id, from->name);
    if (level < from->axis.n_levels)
        cellar_text_printf(&id, "^%zu", level);
    *out = (serve_level){.id = id.failed ? NULL : copy(arena, id.bytes),
                         .categories = categories,
                         .n_categories = n,
                         .by_code = serve_index_codes(categories, n, arena)};
    cellar_text_clear(&id);
    if (out->id != NULL)
        out->label = serve_texts_same(languages, out->id, arena);
    return out->id != NULL && out->by_code != NULL && out->label.in != NULL;
}

cellar_status serve_variable_make(const cube_variable *from, const serve_languages *languages,
                                  cellar_arena *arena, serve_variable *out, cellar_error *err)
{
    serve_level *levels = cellar_arena_alloc(arena, from->axis.n_levels, sizeof *levels);
    size_t *language_at = cellar_arena_alloc(arena, languages->n, sizeof *language_at);
    if (strcspn(from->name, "*^\n") != strlen(from->name) || strcmp(from->name, "total") == 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "a variable that is served cannot be called '%.200s'", from->name);
    *out = (serve_variable){
        .code = copy(arena, from->name), .levels = levels, .n_levels = from->axis.n_levels};
    if (levels == NULL || language_at == NULL || out->code == NULL)
        return cellar_fail_memory(err, "a variable");
    for (size_t i = 0; i < languages->n; i++)
        language_at[i] = language_of(from->codelist, languages->tags[i]);
    for (size_t l = 0; l < out->n_levels; l++)
        if (!make_level(from, l + 1, language_at, languages, arena, &levels[l]))
            return cellar_fail_memory(err, "a variable");
    out->label = serve_texts_same(languages, out->code, arena);
    return out->label.in != NULL ? CELLAR_OK : cellar_fail_memory(err, "a variable");
}

cellar_status serve_variable_make_period(const char *period, const serve_languages *languages,
                                         cellar_arena *arena, serve_variable *out,
                                         cellar_error *err)
{
    serve_level *level = cellar_arena_alloc(arena, 1, sizeof *level);
    serve_category *category = cellar_arena_alloc(arena, 1, sizeof *category);
    if (level == NULL || category == NULL)
        return cellar_fail_memory(err, "a variable");
    *category = (serve_category){
        .code = period, .label = serve_texts_same(languages, period, arena), .parent = SIZE_MAX};
    *level = (serve_level){.id = PERIOD_CODE,
                           .label = serve_texts_same(languages, PERIOD_CODE, arena),
                           .categories = category,
                           .n_categories = 1};
    *out = (serve_variable){.code = PERIOD_CODE,
                            .label = level->label,
                            .role = SERVE_ROLE_TIME,
                            .levels = level,
                            .n_levels = 1,
                            .is_constant = 1};
    return category->label.in != NULL && level->label.in != NULL
               ? CELLAR_OK
               : cellar_fail_memory(err, "a variable");
}

/* ---- words of the configuration ----------------------------------------------------------------
 */

/* Gives the categories of all levels that a map names their texts: labels or notes. */
static cellar_status word_categories(plan_reading *r, const plan_node *map,
                                     const serve_languages *languages,
                                     const serve_variable *variable, int is_note)
{
    if (map != NULL && map->kind != PLAN_NODE_MAP)
        return cellar_plan_fail_node(r, map, "'code: text' lines");
    for (const plan_node *node = map != NULL ? map->first : NULL; node != NULL; node = node->next) {
        serve_texts texts = {NULL};
        int is_found = 0;
        cellar_status status = serve_texts_read(r, node, languages, &texts);
        if (status != CELLAR_OK)
            return status;
        for (size_t l = 0; l < variable->n_levels; l++) {
            /* The arrays were made here, and are constant for everybody else. */
            serve_category *categories =
                (serve_category *) (uintptr_t) variable->levels[l].categories;
            const size_t at = serve_find_category(&variable->levels[l], node->key);
            if (at == SIZE_MAX || strcmp(categories[at].code, node->key) != 0)
                continue;
            *(is_note ? &categories[at].note : &categories[at].label) = texts;
            is_found = 1;
        }
        if (!is_found)
            return cellar_plan_fail_node(r, node, "a code of the variable");
    }
    return CELLAR_OK;
}

static cellar_status word_levels(plan_reading *r, const plan_node *list,
                                 const serve_languages *languages, const serve_variable *variable)
{
    serve_level *levels = (serve_level *) (uintptr_t) variable->levels;
    size_t l = 0;
    cellar_status status = CELLAR_OK;
    if (list != NULL && (list->kind != PLAN_NODE_LIST || list->n != variable->n_levels))
        return cellar_plan_fail_node(r, list, "a text for each level, the coarsest first");
    for (const plan_node *node = list != NULL ? list->first : NULL;
         status == CELLAR_OK && node != NULL; node = node->next)
        status = serve_texts_read(r, node, languages, &levels[l++].label);
    return status;
}

static cellar_status word(plan_reading *r, const serve_config_variable *words,
                          const serve_languages *languages, serve_variable *variable)
{
    cellar_status status = CELLAR_OK;
    if (words->role > 0)
        variable->role = words->role == 1 ? SERVE_ROLE_TIME : SERVE_ROLE_GEO;
    CELLAR_TRY(serve_texts_read(r, words->label, languages, &variable->label));
    CELLAR_TRY(serve_texts_read(r, words->note, languages, &variable->note));
    CELLAR_TRY(word_levels(r, words->levels, languages, variable));
    CELLAR_TRY(word_categories(r, words->labels, languages, variable, 0));
    CELLAR_TRY(word_categories(r, words->notes, languages, variable, 1));
out:
    return status;
}

cellar_status serve_variables_word(const serve_config *config, const serve_config_dataset *words,
                                   serve_variable *variables, size_t n, cellar_error *err)
{
    const serve_config_variable *given = words->variables.items;
    plan_reading reading = serve_config_reading(config, err);
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; status == CELLAR_OK && i < words->variables.n; i++) {
        size_t v = 0;
        while (v < n && strcmp(variables[v].code, given[i].name) != 0)
            v++;
        cellar_text_reset(&reading.path);
        cellar_text_add_string(&reading.path, given[i].place.path);
        if (v == n)
            status = cellar_plan_fail(config->name, &given[i].place, "name", err,
                                      "the data set has no variable '%.200s'", given[i].name);
        else
            status = word(&reading, &given[i], &config->languages, &variables[v]);
    }
    cellar_text_clear(&reading.path);
    return status;
}
