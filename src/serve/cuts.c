/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/cuts.h"

#include <string.h>

#include "base/error.h"

/* ---- checking ----------------------------------------------------------------------------------
 */

static cellar_status check_pick(const serve_variable *variable, const serve_pick *pick,
                                unsigned char *seen, cellar_error *err)
{
    const serve_level *level;
    if (pick->level < 1 || pick->level > variable->n_levels || pick->n_members == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a category of variable '%.200s' has no members or no level",
                           variable->code);
    level = &variable->levels[pick->level - 1];
    for (size_t k = 0; k < pick->n_members; k++) {
        const uint32_t member = pick->members[k];
        if (member >= level->n_categories || seen[member]++ > 0)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "group '%.200s' of variable '%.200s' names a category twice, or "
                               "one that is not there",
                               pick->code, variable->code);
    }
    for (size_t k = 0; k < pick->n_members; k++)
        seen[pick->members[k]] = 0;
    return CELLAR_OK;
}

static cellar_status check_side(const serve_question *question, size_t i, cellar_error *err)
{
    const serve_side *side = &question->sides[i];
    const serve_variable *variable;
    unsigned char *seen;
    size_t most = 0;
    cellar_status status = CELLAR_OK;
    if (side->variable >= question->dataset->n_variables || side->n_picks == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a variable has no categories to show");
    variable = &question->dataset->variables[side->variable];
    for (size_t j = 0; j < i; j++)
        if (question->sides[j].variable == side->variable)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "variable '%.200s' is named twice",
                               variable->code);
    for (size_t l = 0; l < variable->n_levels; l++)
        most = variable->levels[l].n_categories > most ? variable->levels[l].n_categories : most;
    seen = cellar_alloc(most, 1);
    if (seen == NULL)
        return cellar_fail_memory(err, "a question");
    for (size_t p = 0; status == CELLAR_OK && p < side->n_picks; p++)
        status = check_pick(variable, &side->picks[p], seen, err);
    cellar_free(seen);
    return status;
}

cellar_status serve_question_check(const serve_question *question, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (question->n_sides > question->dataset->n_variables || question->n_contents == 0 ||
        question->n_contents > SERVE_N_CONTENTS || question->n_stub > question->n_sides + 1 ||
        question->contents_at > question->n_sides ||
        question->language >= question->dataset->n_languages)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the question is not sound");
    for (size_t i = 0; status == CELLAR_OK && i < question->n_sides; i++)
        status = check_side(question, i, err);
    return status;
}

/* ---- walking -----------------------------------------------------------------------------------
 */

static int is_constant(const serve_cuts *cuts, size_t i)
{
    const serve_question *q = cuts->question;
    return q->dataset->variables[q->sides[i].variable].is_constant;
}

/* The side's picks of the level that this part takes. */
static void fill_side(serve_cuts *cuts, size_t i)
{
    const serve_side *side = &cuts->question->sides[i];
    const size_t level = cuts->levels[i][cuts->at[i]];
    size_t n = 0;
    for (size_t p = 0; p < side->n_picks; p++)
        if (side->picks[p].level == level) {
            cuts->picks[i][n] = side->picks[p];
            cuts->places[i][n++] = p;
        }
    cuts->n_places[i] = n;
    if (is_constant(cuts, i))
        return;
    cuts->cut.table.levels[side->variable] = (unsigned char) level;
    cuts->sides[cuts->cut.n_sides++] =
        (serve_side){.variable = side->variable, .picks = cuts->picks[i], .n_picks = n};
    cuts->n_cells *= n;
}

static void fill(serve_cuts *cuts)
{
    cuts->cut = (serve_cut){.dataset = cuts->question->dataset, .sides = cuts->sides};
    cuts->n_cells = 1;
    for (size_t i = 0; i < cuts->question->n_sides; i++)
        fill_side(cuts, i);
}

cellar_status serve_cuts_begin(serve_cuts *cuts, const serve_question *question,
                               cellar_arena *arena, cellar_error *err)
{
    *cuts = (serve_cuts){.question = question, .arena = arena};
    for (size_t i = 0; i < question->n_sides; i++) {
        const serve_side *side = &question->sides[i];
        unsigned char has[256] = {0};
        for (size_t p = 0; p < side->n_picks; p++)
            if (has[side->picks[p].level]++ == 0)
                cuts->levels[i][cuts->n_levels[i]++] = (unsigned char) side->picks[p].level;
            else
                has[side->picks[p].level] = 1;
        cuts->places[i] = cellar_arena_alloc(arena, side->n_picks, sizeof *cuts->places[i]);
        cuts->picks[i] = cellar_arena_alloc(arena, side->n_picks, sizeof *cuts->picks[i]);
        if (cuts->places[i] == NULL || cuts->picks[i] == NULL)
            return cellar_fail_memory(err, "a question");
    }
    fill(cuts);
    return CELLAR_OK;
}

int serve_cuts_next(serve_cuts *cuts)
{
    size_t i = cuts->question->n_sides;
    while (i > 0 && cuts->at[i - 1] + 1 == cuts->n_levels[i - 1])
        cuts->at[--i] = 0;
    if (i == 0)
        return 0;
    cuts->at[i - 1]++;
    fill(cuts);
    return 1;
}

/* ---- putting values into order -----------------------------------------------------------------
 */

void serve_cuts_place(const serve_cuts *cuts, const serve_value *values, serve_value *out)
{
    const serve_question *q = cuts->question;
    size_t pick[CELLAR_MAX_VARIABLES] = {0};
    for (;;) {
        size_t from = 0, to = 0, i = q->n_sides;
        for (size_t k = 0; k < q->n_sides; k++) {
            if (!is_constant(cuts, k))
                from = from * cuts->n_places[k] + pick[k];
            to = to * q->sides[k].n_picks + cuts->places[k][pick[k]];
        }
        out[to] = values[from];
        while (i > 0 && pick[i - 1] + 1 == cuts->n_places[i - 1])
            pick[--i] = 0;
        if (i == 0)
            return;
        pick[i - 1]++;
    }
}
