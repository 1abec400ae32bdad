/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What was spent when: the ledger's charges of a data set, a day at a time. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "serve/vault.h"

enum { DAYS_MAX = 500, DAY_TEXT = sizeof "2026-11-18" }; /* a reply has room for so many */

static json_t *day_of(const char *day, size_t n_drawn, const cellar_balance *balance,
                      int64_t spent_nano)
{
    const int64_t cap = balance->by_rho ? balance->cap.rho_nano : balance->cap.epsilon_nano;
    char spent[CELLAR_AMOUNT_TEXT], left[CELLAR_AMOUNT_TEXT];
    if (!balance->has_cap)
        return json_pack("{s:s, s:I}", "day", day, "drawn", (json_int_t) n_drawn);
    cellar_amount_text_nano(spent_nano, spent);
    cellar_amount_text_nano(cap > spent_nano ? cap - spent_nano : 0, left);
    return json_pack("{s:s, s:I, s:s, s:s}", "day", day, "drawn", (json_int_t) n_drawn, "spent",
                     spent, "left", left);
}

/* Adds a day; of more than fit the oldest is forgotten. */
static cellar_status add_day(json_t *days, json_t *day, cellar_error *err)
{
    if (json_array_size(days) == DAYS_MAX)
        json_array_remove(days, 0);
    return json_array_append_new(days, day) == 0 ? CELLAR_OK
                                                 : cellar_fail_memory(err, "the history");
}

cellar_status vault_history(const vault_set *set, json_t *days, cellar_error *err)
{
    const cellar_ledger *ledger = set->ledger->ledger;
    const char *dataset = set->text.ledger.dataset;
    const cellar_entry_kind kind =
        set->dataset.kind == SERVE_BUDGET ? CELLAR_ENTRY_CHARGE : CELLAR_ENTRY_UNCHARGED;
    char day[DAY_TEXT] = "";
    size_t n_drawn = 0;
    int64_t spent = 0;
    cellar_balance balance;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_ledger_balance(ledger, dataset, NULL, &balance, err));
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        if (entry->kind != kind || !cellar_ledger_same(entry->dataset, dataset))
            continue;
        if (n_drawn > 0 && strncmp(day, entry->time, DAY_TEXT - 1) != 0) {
            CELLAR_TRY(add_day(days, day_of(day, n_drawn, &balance, spent), err));
            n_drawn = 0;
        }
        snprintf(day, sizeof day, "%.*s", DAY_TEXT - 1, entry->time);
        n_drawn++;
        if (kind == CELLAR_ENTRY_CHARGE)
            spent += balance.by_rho ? entry->amounts.rho_nano : entry->amounts.epsilon_nano;
    }
    if (n_drawn > 0)
        CELLAR_TRY(add_day(days, day_of(day, n_drawn, &balance, spent), err));
out:
    return status;
}
