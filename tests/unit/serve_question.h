/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions for tests, side by side and pick by pick. */
#ifndef CELLAR_TESTS_SERVE_QUESTION_H
#define CELLAR_TESTS_SERVE_QUESTION_H

#include <string.h>

#include "check.h"
#include "serve/answer.h"

enum { ASKED_SIDES = 3, ASKED_PICKS = 16, ASKED_MEMBERS = 16 };

typedef struct asked {
    serve_question question;
    serve_pick picks[ASKED_SIDES][ASKED_PICKS];
    uint32_t members[ASKED_SIDES][ASKED_PICKS][ASKED_MEMBERS];
} asked;

static inline void ask_begin(asked *a, const serve_dataset *dataset)
{
    *a = (asked){.question = {.dataset = dataset, .contents = {SERVE_COUNT}, .n_contents = 1}};
}

/* Another side; its picks are added by ask_pick(). */
static inline void ask_side(asked *a, const char *variable)
{
    serve_side *side = &a->question.sides[a->question.n_sides];
    const serve_dataset *d = a->question.dataset;
    side->variable = (size_t) (serve_find_variable(d, variable) - d->variables);
    side->picks = a->picks[a->question.n_sides++];
    a->question.contents_at = a->question.n_sides;
}

/* Codes of one level, separated by commas, as one pick. */
static inline void ask_pick(asked *a, size_t level, const char *codes)
{
    const size_t s = a->question.n_sides - 1;
    serve_side *side = &a->question.sides[s];
    const serve_level *list = &a->question.dataset->variables[side->variable].levels[level - 1];
    serve_pick *pick = &a->picks[s][side->n_picks];
    uint32_t *members = a->members[s][side->n_picks++];
    *pick = (serve_pick){.code = codes, .label = codes, .level = level, .members = members};
    while (*codes != '\0') {
        char code[16] = "";
        const size_t length = strcspn(codes, ",");
        memcpy(code, codes, length);
        members[pick->n_members++] = (uint32_t) serve_find_category(list, code);
        codes += length + (codes[length] == ',');
    }
}

/* Every category of a level. */
static inline void ask_all(asked *a, const char *variable, size_t level)
{
    const serve_level *list =
        &serve_find_variable(a->question.dataset, variable)->levels[level - 1];
    ask_side(a, variable);
    for (size_t k = 0; k < list->n_categories; k++)
        ask_pick(a, level, list->categories[k].code);
}

static inline serve_answer ask_answer(const asked *a)
{
    serve_answer out;
    cellar_error err = {""};
    if (serve_answer_question(&a->question, SERVE_TAIL, &out, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return out;
}

#endif
