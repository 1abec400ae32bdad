/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/selection.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/formats.h"
#include "serve/json.h"
#include "serve/picks.h"

/* ---- queries -------------------------------------------------------------------- */

/* The choice of a variable, made when it is not there; NULL when there are too many. */
static serve_choice *selection_choice(serve_choices *choices, const char *variable)
{
    for (size_t i = 0; i < choices->n; i++)
        if (strcasecmp(choices->items[i].variable, variable) == 0)
            return &choices->items[i];
    if (choices->n == SERVE_MAX_CHOICES)
        return NULL;
    choices->items[choices->n] = (serve_choice){.variable = variable};
    return &choices->items[choices->n++];
}

/* The V of "lead[V]"; NULL when the name is another one. */
static cellar_status selection_subscript(const char *name, const char *lead, cellar_arena *arena,
                                         const char **out, cellar_error *err)
{
    const size_t n = strlen(lead), length = strlen(name);
    *out = NULL;
    if (strncasecmp(name, lead, n) != 0 || (name[n] != '[' && name[n] != '\0'))
        return CELLAR_OK;
    if (length < n + 3 || name[n] != '[' || name[length - 1] != ']')
        return cellar_fail(err, CELLAR_ERR_INPUT, "A parameter should be written %s[VARIABLE]=...",
                           lead);
    *out = cellar_arena_copy(arena, name + n + 1, length - n - 2);
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a selection");
}

static cellar_status selection_read_list(const char *list, cellar_arena *arena, serve_codes *out,
                                         cellar_error *err)
{
    out->n = serve_split_list(list, arena, &out->items);
    return out->n != SIZE_MAX ? CELLAR_OK : cellar_fail_memory(err, "a selection");
}

static cellar_status selection_read_codes(const serve_parameter *parameter, const char *variable,
                                          int is_codelist, cellar_arena *arena, serve_choices *out,
                                          cellar_error *err)
{
    serve_choice *choice = selection_choice(out, variable);
    serve_codes codes;
    cellar_status status;
    if (choice == NULL)
        return cellar_fail(err, CELLAR_ERR_INPUT, "The query names too many variables.");
    if (is_codelist ? choice->codelist != NULL : choice->n_expressions > 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "The query has '%.200s' twice.", parameter->name);
    if (is_codelist) {
        choice->codelist = parameter->value;
        return CELLAR_OK;
    }
    status = selection_read_list(parameter->value, arena, &codes, err);
    choice->expressions = codes.items;
    choice->n_expressions = status == CELLAR_OK ? codes.n : 0;
    return status;
}

static cellar_status selection_read_parameter(const serve_parameter *parameter, cellar_arena *arena,
                                              serve_choices *out, cellar_error *err)
{
    static const char *const leads[] = {"valuecodes", "codelist"};
    for (int is_codelist = 0; is_codelist < 2; is_codelist++) {
        const char *variable;
        const cellar_status status =
            selection_subscript(parameter->name, leads[is_codelist], arena, &variable, err);
        if (status != CELLAR_OK)
            return status;
        if (variable != NULL)
            return selection_read_codes(parameter, variable, is_codelist, arena, out, err);
    }
    if (strcasecmp(parameter->name, "stub") == 0)
        return selection_read_list(parameter->value, arena, &out->stub, err);
    if (strcasecmp(parameter->name, "heading") == 0)
        return selection_read_list(parameter->value, arena, &out->heading, err);
    if (strchr(parameter->name, '[') !=
        NULL) /* misspelt: the answer would be about something else */
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "There is no parameter '%.60s'; there are valuecodes[VARIABLE] and "
                           "codelist[VARIABLE].",
                           parameter->name);
    return CELLAR_OK;
}

/* A code list alone asks for all of it. */
static void selection_complete(serve_choices *choices)
{
    static const char *const all[] = {"*"};
    for (size_t i = 0; i < choices->n; i++)
        if (choices->items[i].codelist != NULL && choices->items[i].expressions == NULL) {
            choices->items[i].expressions = all;
            choices->items[i].n_expressions = 1;
        }
}

cellar_status serve_selection_of_query(const serve_call *call, serve_choices *out,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *out = (serve_choices){.n = 0};
    for (size_t i = 0; status == CELLAR_OK && i < call->n_parameters; i++)
        status = selection_read_parameter(&call->parameters[i], call->arena, out, err);
    selection_complete(out);
    return status;
}

/* ---- JSON ------------------------------------------------------------------------ */

/* A copy of a string; NULL when memory ends. */
static const char *selection_copy(const json_t *string, cellar_arena *arena)
{
    return cellar_arena_copy(arena, json_string_value(string), json_string_length(string));
}

cellar_status serve_strings_of_json(const json_t *array, const char *name, cellar_arena *arena,
                                    serve_codes *out, cellar_error *err)
{
    const size_t n = json_array_size(array);
    const char **items;
    *out = (serve_codes){.n = 0};
    if (array == NULL || json_is_null(array))
        return CELLAR_OK;
    if (!json_is_array(array))
        return cellar_fail(err, CELLAR_ERR_INPUT, "'%s' must be an array of strings.", name);
    items = cellar_arena_alloc(arena, n, sizeof *items);
    if (items == NULL)
        return cellar_fail_memory(err, "a selection");
    for (size_t i = 0; i < n; i++) {
        if (!json_is_string(json_array_get(array, i)))
            return cellar_fail(err, CELLAR_ERR_INPUT, "'%s' must be an array of strings.", name);
        items[i] = selection_copy(json_array_get(array, i), arena);
        if (items[i] == NULL)
            return cellar_fail_memory(err, "a selection");
    }
    *out = (serve_codes){items, n};
    return CELLAR_OK;
}

static cellar_status selection_read_choice(const json_t *item, cellar_arena *arena,
                                           serve_choices *out, cellar_error *err)
{
    const json_t *code = json_object_get(item, "variableCode");
    const json_t *codelist = json_object_get(item, "codelist");
    serve_choice *choice = &out->items[out->n];
    serve_codes codes;
    cellar_status status;
    if (!json_is_string(code) ||
        (codelist != NULL && !json_is_null(codelist) && !json_is_string(codelist)))
        return cellar_fail(
            err, CELLAR_ERR_INPUT,
            "Each item of 'selection' needs a 'variableCode', and 'codelist' must be "
            "a string.");
    if (out->n == SERVE_MAX_CHOICES)
        return cellar_fail(err, CELLAR_ERR_INPUT, "The selection names too many variables.");
    status = serve_strings_of_json(json_object_get(item, "valueCodes"), "valueCodes", arena, &codes,
                                   err);
    if (status != CELLAR_OK)
        return status;
    *choice = (serve_choice){.variable = selection_copy(code, arena),
                             .expressions = codes.items,
                             .n_expressions = codes.n};
    if (json_is_string(codelist) && json_string_length(codelist) > 0)
        choice->codelist = selection_copy(codelist, arena);
    out->n++;
    return choice->variable != NULL && (choice->codelist != NULL || !json_is_string(codelist) ||
                                        json_string_length(codelist) == 0)
               ? CELLAR_OK
               : cellar_fail_memory(err, "a selection");
}

cellar_status serve_selection_of_json(const json_t *object, cellar_arena *arena, serve_choices *out,
                                      cellar_error *err)
{
    const json_t *selection = json_object_get(object, "selection");
    const json_t *placement = json_object_get(object, "placement");
    cellar_status status = CELLAR_OK;

    *out = (serve_choices){.n = 0};
    if (!json_is_object(object) || !json_is_array(selection))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "The body must be an object with an array 'selection'.");
    for (size_t i = 0; i < json_array_size(selection); i++)
        CELLAR_TRY(selection_read_choice(json_array_get(selection, i), arena, out, err));
    if (placement != NULL && !json_is_null(placement) && !json_is_object(placement))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "'placement' must be an object."));
    CELLAR_TRY(
        serve_strings_of_json(json_object_get(placement, "stub"), "stub", arena, &out->stub, err));
    CELLAR_TRY(serve_strings_of_json(json_object_get(placement, "heading"), "heading", arena,
                                     &out->heading, err));
out:
    return status;
}

/* ---- writing ---------------------------------------------------------------------- */

/* The level of all picks of a side; 0 when they differ. */
static size_t selection_level(const serve_side *side)
{
    for (size_t i = 1; i < side->n_picks; i++)
        if (side->picks[i].level != side->picks[0].level)
            return 0;
    return side->picks[0].level;
}

/* An argument of group(), in quotes where it has a comma. */
static void selection_add_word(const char *word, cellar_text *out)
{
    const char *quote = strchr(word, ',') != NULL ? "\"" : "";
    cellar_text_printf(out, "%s%s%s", quote, word, quote);
}

/* A pick as an expression: its code, or the group that a user made. */
static void selection_add_pick(const serve_variable *variable, const serve_pick *pick,
                               cellar_text *out)
{
    cellar_text group = {0};
    if (pick->n_members == 1 &&
        serve_find_category(&variable->levels[pick->level - 1], pick->code) != SIZE_MAX) {
        serve_json_string(out, pick->code);
        return;
    }
    cellar_text_add_string(&group, "group(");
    selection_add_word(pick->code, &group);
    for (size_t i = 0; i < pick->n_members; i++) {
        cellar_text_add_char(&group, ',');
        selection_add_word(variable->levels[pick->level - 1].categories[pick->members[i]].code,
                           &group);
    }
    cellar_text_add_char(&group, ')');
    if (group.failed)
        out->failed = 1;
    else
        serve_json_string(out, group.bytes);
    cellar_text_clear(&group);
}

static void selection_add_codelist(const serve_dataset *dataset, const serve_level *level,
                                   cellar_text *out)
{
    cellar_text id = {0};
    serve_codelist_add_id(&id, dataset, level);
    if (id.failed)
        out->failed = 1;
    else
        serve_json_pair(out, "codelist", id.bytes);
    cellar_text_clear(&id);
}

static void selection_add_axis(const serve_grid *grid, size_t a, cellar_text *out)
{
    const serve_dataset *dataset = grid->question->dataset;
    const serve_side *side = grid->axes[a].side;
    serve_json_open(out, '{');
    serve_json_pair(out, "variableCode", grid->axes[a].code);
    if (side != NULL) {
        const serve_variable *variable = &dataset->variables[side->variable];
        const size_t level = selection_level(side);
        if (level > 0 && variable->n_levels > 1)
            selection_add_codelist(dataset, &variable->levels[level - 1], out);
    }
    serve_json_name(out, "valueCodes");
    serve_json_open(out, '[');
    for (size_t i = 0; i < grid->axes[a].n; i++)
        if (side == NULL)
            serve_json_string(out, serve_grid_heading(grid, a, i).code);
        else
            selection_add_pick(&dataset->variables[side->variable], &side->picks[i], out);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
}

void serve_selection_add(const serve_question *question, cellar_text *out)
{
    serve_grid grid;
    serve_grid_init(&grid, question, NULL);
    serve_json_name(out, "selection");
    serve_json_open(out, '[');
    for (size_t a = 0; a < grid.n_axes; a++)
        selection_add_axis(&grid, a, out);
    serve_json_close(out, ']');
    serve_json_name(out, "placement");
    serve_json_open(out, '{');
    serve_json_axes(&grid, "heading", grid.n_stub, grid.n_axes, out);
    serve_json_axes(&grid, "stub", 0, grid.n_stub, out);
    serve_json_close(out, '}');
}
