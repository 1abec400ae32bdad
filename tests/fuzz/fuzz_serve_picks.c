/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Selections: the whole input is a list as a query has it, chosen from a small data set; and every
 * line of it an expression of its own. */
#include <stdint.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "fuzz_serve.h"
#include "serve/choices.h"
#include "serve/picks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was picked must be there. */
static void check(const serve_picks *picks)
{
    for (size_t i = 0; i < picks->n; i++) {
        const serve_pick *pick = &picks->items[i];
        CELLAR_ASSERT(pick->level >= 1 && pick->level <= picks->n_levels && pick->n_members > 0);
        for (size_t m = 0; m < pick->n_members; m++)
            CELLAR_ASSERT(pick->members[m] < picks->levels[pick->level - 1].n_categories);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cellar_arena *arena = cellar_arena_create(1 << 24);
    char *text = cellar_arena_copy(arena, (const char *) data, size), *rest = text, *line;
    serve_choices choices = {.items = {{.variable = "region"}}, .n = 1};
    serve_picks picks = {.variable = "region",
                         .levels = fuzz_region_levels,
                         .n_levels = 2,
                         .level = 2,
                         .may_coarsen = 1,
                         .arena = arena};
    serve_question question;

    if (text != NULL) {
        serve_choice *choice = &choices.items[0];
        choice->n_expressions = serve_split_list(text, arena, &choice->expressions);
        if (choice->n_expressions != SIZE_MAX)
            (void) serve_choices_question(&fuzz_dataset, &choices, 0, arena, &question, NULL);
        while ((line = strsep(&rest, "\n")) != NULL)
            if (serve_picks_add(&picks, line, NULL) == CELLAR_OK)
                check(&picks);
    }
    cellar_arena_free(arena);
    return 0;
}
