/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/choices.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "serve/address.h"
#include "serve/picks.h"

#define CHOICES_TIME "time"

/* ---- contents, as if they were a code list ------------------------------------ */

static const char *const choices_no_label[] = {""};
#define CHOICES_CONTENT(content)                                                                   \
    {                                                                                              \
        .code = content, .label = {choices_no_label}, .parent = SIZE_MAX                           \
    }
static const serve_category choices_contents[SERVE_N_CONTENTS] = {
    [SERVE_COUNT] = CHOICES_CONTENT("count"),
    [SERVE_SE] = CHOICES_CONTENT("se"),
    [SERVE_LOW] = CHOICES_CONTENT("noise_low95"),
    [SERVE_HIGH] = CHOICES_CONTENT("noise_high95"),
};
static const serve_level choices_contents_level = {
    .id = SERVE_CONTENTS_CODE, .categories = choices_contents, .n_categories = SERVE_N_CONTENTS};

/* ---- variables ----------------------------------------------------------------- */

/* A question under way. */
typedef struct choosing {
    const serve_dataset *dataset;
    const serve_choices *choices;
    cellar_arena *arena;
    serve_question *question;
    serve_side sides[CELLAR_MAX_VARIABLES]; /* by variable; without picks: summed out */
    size_t order[CELLAR_MAX_VARIABLES];     /* variables in the order they were asked for */
    size_t n_order;
    int has_contents;
    cellar_error *err;
} choosing;

/* SIZE_MAX is the contents. 0 when the data set has no such variable. */
static int choices_find(const serve_dataset *dataset, const char *code, size_t *out)
{
    const serve_variable *variable = serve_find_variable(dataset, code);
    *out = SIZE_MAX;
    if (variable != NULL)
        *out = (size_t) (variable - dataset->variables);
    else if (strcasecmp(code, SERVE_CONTENTS_CODE) == 0)
        return 1;
    else if (strcasecmp(code, CHOICES_TIME) == 0)
        for (size_t v = 0; v < dataset->n_variables && *out == SIZE_MAX; v++)
            if (dataset->variables[v].role == SERVE_ROLE_TIME)
                *out = v;
    return *out != SIZE_MAX;
}

static cellar_status choices_add_all(serve_picks *picks, const serve_choice *choice,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; status == CELLAR_OK && i < choice->n_expressions; i++)
        status = serve_picks_add(picks, choice->expressions[i], err);
    if (status == CELLAR_OK && picks->n == 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT,
                             "The expressions for variable '%.200s' fit none of its categories.",
                             picks->variable);
    return status;
}

static cellar_status choices_take_contents(choosing *c, const serve_choice *choice)
{
    serve_picks picks = {.variable = SERVE_CONTENTS_CODE,
                         .levels = &choices_contents_level,
                         .n_levels = 1,
                         .level = 1,
                         .arena = c->arena};
    cellar_status status = choices_add_all(&picks, choice, c->err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < picks.n; i++) {
        if (picks.items[i].n_members != 1 || i >= SERVE_N_CONTENTS)
            return cellar_fail(c->err, CELLAR_ERR_INPUT, "Contents cannot be grouped.");
        c->question->contents[i] = (serve_content) picks.items[i].members[0];
    }
    c->question->n_contents = picks.n;
    c->has_contents = 1;
    return CELLAR_OK;
}

static cellar_status choices_take_variable(choosing *c, size_t v, const serve_choice *choice)
{
    const serve_variable *variable = &c->dataset->variables[v];
    serve_picks picks = {.variable = variable->code,
                         .levels = variable->levels,
                         .n_levels = variable->n_levels,
                         .level = variable->n_levels,
                         .may_coarsen = choice->codelist == NULL,
                         .is_time = variable->role == SERVE_ROLE_TIME,
                         .language = c->question->language,
                         .arena = c->arena};
    cellar_status status;
    if (choice->codelist != NULL) {
        const serve_level *level = serve_codelist_find(c->dataset, variable, choice->codelist);
        if (level == NULL)
            return cellar_fail(c->err, CELLAR_ERR_INPUT,
                               "Variable '%.200s' has no code list '%.200s'.", variable->code,
                               choice->codelist);
        picks.level = (size_t) (level - variable->levels) + 1;
    }
    status = choices_add_all(&picks, choice, c->err);
    c->sides[v] = (serve_side){.variable = v, .picks = picks.items, .n_picks = picks.n};
    c->order[c->n_order++] = v;
    return status;
}

static cellar_status choices_take(choosing *c, const serve_choice *choice)
{
    size_t v;
    if (!choices_find(c->dataset, choice->variable, &v))
        return cellar_fail(c->err, CELLAR_ERR_INPUT, "There is no variable '%.200s'.",
                           choice->variable);
    if (choice->n_expressions == 0)
        return CELLAR_OK;
    if (v == SIZE_MAX ? c->has_contents : c->sides[v].n_picks > 0)
        return cellar_fail(c->err, CELLAR_ERR_INPUT, "Variable '%.200s' is named twice.",
                           choice->variable);
    return v == SIZE_MAX ? choices_take_contents(c, choice) : choices_take_variable(c, v, choice);
}

/* What is always there: contents and constants. */
static cellar_status choices_complete(choosing *c)
{
    static const char *const all[] = {"*"};
    const serve_choice every = {.expressions = all, .n_expressions = 1};
    cellar_status status = CELLAR_OK;
    if (!c->has_contents)
        CELLAR_TRY(choices_take_contents(c, &every));
    for (size_t v = 0; v < c->dataset->n_variables; v++)
        if (c->dataset->variables[v].is_constant && c->sides[v].n_picks == 0)
            CELLAR_TRY(choices_take_variable(c, v, &every));
out:
    return status;
}

/* ---- places --------------------------------------------------------------------- */

/* Variables in their places; SIZE_MAX is the contents. */
typedef struct choices_place {
    size_t axes[SERVE_MAX_CHOICES];
    size_t n;
} choices_place;

static int choices_has(const choices_place *place, size_t v)
{
    for (size_t a = 0; a < place->n; a++)
        if (place->axes[a] == v)
            return 1;
    return 0;
}

/* Puts the variables that were named into a place; `other` is the one before. */
static cellar_status choices_put_named(choosing *c, const serve_codes *codes,
                                       const choices_place *other, choices_place *place)
{
    for (size_t i = 0; i < codes->n; i++) {
        size_t v;
        if (!choices_find(c->dataset, codes->items[i], &v) ||
            (v != SIZE_MAX && c->sides[v].n_picks == 0))
            return cellar_fail(c->err, CELLAR_ERR_INPUT,
                               "Variable '%.200s' has a place and no categories.", codes->items[i]);
        if (choices_has(other, v) || choices_has(place, v))
            return cellar_fail(c->err, CELLAR_ERR_INPUT, "Variable '%.200s' has two places.",
                               codes->items[i]);
        place->axes[place->n++] = v;
    }
    return CELLAR_OK;
}

/* A variable without a place goes to the one that the client left empty, else where it usually
 * stands. */
static void choices_put(const choosing *c, size_t v, choices_place *stub, choices_place *heading)
{
    const int only_stub = c->choices->stub.n > 0 && c->choices->heading.n == 0;
    const int only_heading = c->choices->heading.n > 0 && c->choices->stub.n == 0;
    const int is_usual = v == SIZE_MAX || c->dataset->variables[v].role == SERVE_ROLE_TIME;
    choices_place *place = only_stub || (is_usual && !only_heading) ? heading : stub;
    if (!choices_has(stub, v) && !choices_has(heading, v))
        place->axes[place->n++] = v;
}

static void choices_lay_out(choosing *c, const choices_place *place)
{
    serve_question *question = c->question;
    for (size_t a = 0; a < place->n; a++)
        if (place->axes[a] == SIZE_MAX)
            question->contents_at = question->n_sides;
        else
            question->sides[question->n_sides++] = c->sides[place->axes[a]];
}

static cellar_status choices_arrange(choosing *c)
{
    choices_place stub = {.n = 0}, heading = {.n = 0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(choices_put_named(c, &c->choices->stub, &heading, &stub));
    CELLAR_TRY(choices_put_named(c, &c->choices->heading, &stub, &heading));
    choices_put(c, SIZE_MAX, &stub, &heading);
    for (size_t i = 0; i < c->n_order; i++)
        choices_put(c, c->order[i], &stub, &heading);
    choices_lay_out(c, &stub);
    choices_lay_out(c, &heading);
    c->question->n_stub = stub.n;
out:
    return status;
}

cellar_status serve_choices_question(const serve_dataset *dataset, const serve_choices *choices,
                                     size_t language, cellar_arena *arena, serve_question *out,
                                     cellar_error *err)
{
    choosing *c = cellar_arena_alloc(arena, 1, sizeof *c);
    cellar_status status = CELLAR_OK;

    *out = (serve_question){.dataset = dataset, .language = language};
    if (c == NULL)
        return cellar_fail_memory(err, "a selection");
    *c = (choosing){
        .dataset = dataset, .choices = choices, .arena = arena, .question = out, .err = err};
    for (size_t i = 0; i < choices->n; i++)
        CELLAR_TRY(choices_take(c, &choices->items[i]));
    CELLAR_TRY(choices_complete(c));
    CELLAR_TRY(choices_arrange(c));
out:
    return status;
}

/* ---- a table to begin with -------------------------------------------------------- */

void serve_choices_of_table(const serve_dataset *dataset, const serve_table *table,
                            serve_choices *out)
{
    static const char *const all[] = {"*"};
    *out = (serve_choices){.n = 0};
    for (size_t v = 0; v < dataset->n_variables; v++)
        if (table->levels[v] > 0)
            out->items[out->n++] =
                (serve_choice){.variable = dataset->variables[v].code,
                               .codelist = dataset->variables[v].levels[table->levels[v] - 1].id,
                               .expressions = all,
                               .n_expressions = 1};
}
