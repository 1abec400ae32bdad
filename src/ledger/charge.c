/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transactions of a request: charged, staged, done; or lost. */
#include "ledger/ledger.h"

#include <string.h>

#include "base/error.h"
#include "ledger/check.h"

/* A request asked again must ask for the same: otherwise an output could stand for another one. */
static cellar_status charge_compare(const cellar_ledger_entry *known,
                                    const cellar_ledger_entry *asked, cellar_error *err)
{
    if (cellar_ledger_same(known->dataset, asked->dataset) &&
        cellar_ledger_same(known->edition, asked->edition) &&
        cellar_ledger_same(known->analyst, asked->analyst) &&
        cellar_ledger_same(known->mechanism, asked->mechanism) &&
        cellar_ledger_same(known->what, asked->what) &&
        cellar_ledger_same(known->content, asked->content) &&
        cellar_ledger_same(known->output, asked->output) && known->n_cells == asked->n_cells &&
        known->max_per_unit == asked->max_per_unit && known->max_weight == asked->max_weight &&
        known->amounts.epsilon_nano == asked->amounts.epsilon_nano &&
        known->amounts.delta_atto == asked->amounts.delta_atto &&
        known->amounts.rho_nano == asked->amounts.rho_nano)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "request '%s' was charged on %s for something else: other data, another "
                       "table, option or file (entry %lld); nothing was drawn or charged: a new "
                       "release needs a new request",
                       known->request, known->time, (long long) known->number);
}

cellar_status cellar_ledger_charge(cellar_ledger *ledger, const cellar_charge *charge,
                                   const char *output, cellar_charge_state *before,
                                   cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_CHARGE,
                                 .request = charge->request,
                                 .dataset = charge->dataset,
                                 .edition = charge->edition,
                                 .analyst = charge->analyst,
                                 .mechanism = charge->mechanism,
                                 .what = charge->what,
                                 .output = output,
                                 .n_cells = charge->n_cells,
                                 .max_per_unit = charge->max_per_unit,
                                 .max_weight = charge->max_weight > 1 ? charge->max_weight : 0,
                                 .accept_delta = charge->accept_delta};
    char keyed[CELLAR_LEDGER_HASH_TEXT];
    const cellar_ledger_entry *known;
    cellar_status status = cellar_ledger_begin(ledger, err);

    cellar_ledger_content(ledger, charge->content != NULL ? charge->content : "", keyed);
    entry.content = keyed;
    *before = CELLAR_CHARGE_NONE;
    if (status != CELLAR_OK)
        return status;
    CELLAR_TRY(cellar_ledger_check_charge(ledger, charge, &entry.amounts, err));
    known = cellar_ledger_find_request(ledger, charge->request, CELLAR_ENTRY_CHARGE);
    if (known != NULL) {
        *before = cellar_ledger_state(ledger, charge->request);
        CELLAR_TRY(charge_compare(known, &entry, err));
        goto out;
    }
    CELLAR_TRY(cellar_ledger_check_share(ledger, charge->dataset, charge->analyst, err));
    CELLAR_TRY(
        cellar_ledger_check_caps(ledger, charge->dataset, charge->analyst, &entry.amounts, err));
    CELLAR_TRY(cellar_ledger_append(ledger, &entry, err));
out:
    return cellar_ledger_end(ledger, status, err);
}

/* Appends what happened to a request, if it is in the one state in which that can happen. */
static cellar_status charge_note(cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                 int states, cellar_error *err)
{
    cellar_status status = cellar_ledger_begin(ledger, err);
    cellar_charge_state state;
    if (status != CELLAR_OK)
        return status;
    state = cellar_ledger_state(ledger, entry->request);
    if ((states >> state & 1) == 0)
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "request '%s' is %s and cannot become '%s'",
                             entry->request, cellar_charge_state_name(state),
                             cellar_entry_kind_name(entry->kind));
    else
        status = cellar_ledger_append(ledger, entry, err);
    return cellar_ledger_end(ledger, status, err);
}

cellar_status cellar_ledger_note_staged(cellar_ledger *ledger, const char *request,
                                        const char *digest, cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_STAGE, .request = request, .digest = digest};
    return charge_note(ledger, &entry, 1 << CELLAR_CHARGE_CHARGED, err);
}

cellar_status cellar_ledger_note_done(cellar_ledger *ledger, const char *request, cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_DONE, .request = request};
    return charge_note(ledger, &entry, 1 << CELLAR_CHARGE_STAGED, err);
}

cellar_status cellar_ledger_note_lost(cellar_ledger *ledger, const char *request, cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_LOST, .request = request};
    return charge_note(ledger, &entry, 1 << CELLAR_CHARGE_CHARGED | 1 << CELLAR_CHARGE_STAGED, err);
}
