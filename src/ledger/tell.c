/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The statement of a dataset: what its releases together guarantee, and what they do not. */
#include "ledger/ledger.h"

#include <string.h>

#include "base/error.h"

static void tell_editions(const cellar_ledger *ledger, const char *dataset, cellar_text *text)
{
    const char *separator = " ";
    cellar_text_add_string(text, "Editions:");
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        if ((entry->kind != CELLAR_ENTRY_DATASET && entry->kind != CELLAR_ENTRY_EDITION) ||
            strcmp(entry->dataset, dataset) != 0)
            continue;
        cellar_text_printf(text, "%s%s", separator, entry->edition);
        separator = ", ";
    }
    cellar_text_add_string(text, ". The budget is that of all editions together.\n");
}

static void tell_amounts(const cellar_balance *balance, const cellar_amounts *amounts,
                         cellar_text *text)
{
    char cost[CELLAR_COST_TEXT];
    cellar_ledger_cost_text(amounts, balance->by_rho, cost);
    cellar_text_add_string(text, cost);
}

/* The guarantee of all that was paid for, by the filter that enforces the cap. */
static void tell_guarantee(const cellar_balance *balance, cellar_text *text)
{
    if (balance->n_charges == 0)
        cellar_text_add_string(text, "No release was charged to this ledger.\n");
    else {
        cellar_text_printf(text, "%zu request%s paid for, published or not. %s ",
                           balance->n_charges, balance->n_charges == 1 ? " was" : "s were",
                           balance->n_charges == 1 ? "It satisfies" : "Together they satisfy");
        tell_amounts(balance, &balance->spent, text);
        cellar_text_printf(text,
                           " (%s), also when later requests were chosen after seeing earlier "
                           "releases.\n",
                           balance->by_rho
                               ? "zero-concentrated differential privacy, by the sum; it "
                                 "implies epsilon = rho + 2 sqrt(rho ln(1/delta)) for "
                                 "every delta"
                               : "differential privacy, by the basic sum");
    }
    cellar_text_add_string(text, "This ledger refuses to go beyond ");
    tell_amounts(balance, &balance->cap, text);
    cellar_text_add_string(text, "; not yet spent are ");
    tell_amounts(balance, &balance->left, text);
    cellar_text_add_string(text, ". Analysts who share what they got are covered.\n");
}

static const char *uncharged_meaning(cellar_uncharged kind)
{
    switch (kind) {
    case CELLAR_UNCHARGED_CELL_KEY:
        return "a cell-key release, which has no differential privacy: with it the releases "
               "together have none, and the figures above are those of the other releases alone";
    case CELLAR_UNCHARGED_INVARIANT:
        return "a true count that is published: the figures above hold only between data that have "
               "the same true count, so they do not cover adding or removing a unit that it counts";
    case CELLAR_UNCHARGED_ELSEWHERE:
        return "published without this ledger: its privacy loss comes on top of the figures above "
               "and is not known here";
    }
    return "";
}

static void tell_uncharged(const cellar_ledger *ledger, const char *dataset, cellar_text *text)
{
    cellar_text_add_string(text, "Outside the budget:\n");
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        if (entry->kind == CELLAR_ENTRY_UNCHARGED && strcmp(entry->dataset, dataset) == 0)
            cellar_text_printf(text, "- %s (edition %s): %s.\n", entry->what, entry->edition,
                               uncharged_meaning(entry->uncharged));
    }
}

/* What a ledger that was adopted may lack. */
static void tell_gaps(const cellar_ledger *ledger, const cellar_ledger_entry *made,
                      cellar_text *text)
{
    for (size_t i = (size_t) made->number; i < ledger->n_entries; i++)
        if (ledger->entries[i]->has_gap)
            cellar_text_printf(
                text,
                "On %s the ledger was adopted (%s): what was charged in entries that "
                "are missing comes on top of the figures above.\n",
                ledger->entries[i]->time, ledger->entries[i]->what);
}

const char *cellar_ledger_statement(cellar_ledger *ledger, const char *dataset)
{
    const cellar_ledger_entry *made = cellar_ledger_find_dataset(ledger, dataset);
    cellar_text text = {0};
    cellar_balance balance;
    const char *copy = NULL;

    if (made == NULL || cellar_ledger_balance(ledger, dataset, NULL, &balance, NULL) != CELLAR_OK)
        return NULL;
    cellar_text_printf(&text, "Dataset '%s'. Protected is one %s, under %s neighbours.\n", dataset,
                       made->unit, cellar_neighbours_name(made->neighbours));
    tell_editions(ledger, dataset, &text);
    tell_guarantee(&balance, &text);
    tell_gaps(ledger, made, &text);
    if (made->accept_delta)
        cellar_text_add_string(&text, "A delta of one over the population or more was accepted.\n");
    if (balance.n_uncharged > 0)
        tell_uncharged(ledger, dataset, &text);
    if (!text.failed)
        copy = cellar_arena_copy(ledger->arena, text.bytes, text.length);
    cellar_text_clear(&text);
    return copy;
}
