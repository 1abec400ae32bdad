/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What follows from the entries: states of requests, balances, whether a charge fits.
 *
 * Amounts may be chosen after seeing earlier releases. The sums of epsilon and of delta are a
 * filter that stays valid then (Rogers, Roth, Ullman, Vadhan 2016, "Privacy odometers and
 * filters"), and so is the sum of rho (Whitehouse, Ramdas, Rogers, Wu 2023, "Fully adaptive
 * composition in differential privacy"); tighter composition is not. */
#include "ledger/ledger.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

int cellar_ledger_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

const cellar_ledger_entry *cellar_ledger_find_request(const cellar_ledger *ledger,
                                                      const char *request, cellar_entry_kind kind)
{
    for (size_t i = ledger->n_entries; i-- > 0;)
        if (ledger->entries[i]->kind == kind &&
            cellar_ledger_same(ledger->entries[i]->request, request))
            return ledger->entries[i];
    return NULL;
}

cellar_charge_state cellar_ledger_state(const cellar_ledger *ledger, const char *request)
{
    for (size_t i = ledger->n_entries; i-- > 0;) { /* the last entry about it says how far it got */
        const cellar_ledger_entry *entry = ledger->entries[i];
        if (entry->request == NULL || strcmp(entry->request, request) != 0)
            continue;
        switch (entry->kind) {
        case CELLAR_ENTRY_CHARGE:
            return CELLAR_CHARGE_CHARGED;
        case CELLAR_ENTRY_STAGE:
            return CELLAR_CHARGE_STAGED;
        case CELLAR_ENTRY_DONE:
            return CELLAR_CHARGE_DONE;
        case CELLAR_ENTRY_LOST:
            return CELLAR_CHARGE_LOST;
        default:
            break;
        }
    }
    return CELLAR_CHARGE_NONE;
}

const char *cellar_charge_state_name(cellar_charge_state state)
{
    static const char *const names[] = {
        [CELLAR_CHARGE_NONE] = "unknown",  [CELLAR_CHARGE_CHARGED] = "charged",
        [CELLAR_CHARGE_STAGED] = "staged", [CELLAR_CHARGE_DONE] = "done",
        [CELLAR_CHARGE_LOST] = "lost",
    };
    return names[state];
}

const cellar_ledger_entry *cellar_ledger_find_dataset(const cellar_ledger *ledger,
                                                      const char *dataset)
{
    for (size_t i = 0; i < ledger->n_entries; i++)
        if (ledger->entries[i]->kind == CELLAR_ENTRY_DATASET &&
            cellar_ledger_same(ledger->entries[i]->dataset, dataset))
            return ledger->entries[i];
    return NULL;
}

int cellar_ledger_has_edition(const cellar_ledger *ledger, const char *dataset, const char *edition)
{
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        if ((entry->kind == CELLAR_ENTRY_DATASET || entry->kind == CELLAR_ENTRY_EDITION) &&
            cellar_ledger_same(entry->dataset, dataset) &&
            cellar_ledger_same(entry->edition, edition))
            return 1;
    }
    return 0;
}

/* ---- balances ----------------------------------------------------------------------- */

static int64_t amount_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

void cellar_amounts_add(cellar_amounts *sum, const cellar_amounts *amounts)
{
    sum->epsilon_nano = amount_sum(sum->epsilon_nano, amounts->epsilon_nano);
    sum->delta_atto = amount_sum(sum->delta_atto, amounts->delta_atto);
    if (amounts->rho_nano != CELLAR_NO_RHO)
        sum->rho_nano = amount_sum(sum->rho_nano, amounts->rho_nano);
}

static void balance_set_cap(cellar_balance *balance, const cellar_amounts *cap)
{
    balance->has_cap = 1;
    balance->cap = *cap;
}

/* What is left in the currency of the cap; the other currency has nothing left to tell. */
static void balance_finish(cellar_balance *balance)
{
    balance->left = (cellar_amounts){.rho_nano = CELLAR_NO_RHO};
    if (!balance->has_cap)
        return;
    if (balance->by_rho) {
        balance->left.rho_nano = balance->cap.rho_nano - balance->spent.rho_nano;
        return;
    }
    balance->left.epsilon_nano = balance->cap.epsilon_nano - balance->spent.epsilon_nano;
    balance->left.delta_atto = balance->cap.delta_atto - balance->spent.delta_atto;
}

static cellar_status state_no_dataset(const cellar_ledger *ledger, const char *dataset,
                                      cellar_error *err)
{
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const char *names[] = {ledger->entries[i]->dataset, NULL};
        if (ledger->entries[i]->kind == CELLAR_ENTRY_DATASET &&
            cellar_nearest_word(dataset, names) != NULL)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "%s: has no dataset '%s'; did you mean '%s'?", ledger->path, dataset,
                               names[0]);
    }
    return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                       "%s: has no dataset '%s'; 'cellar ledger show' lists them", ledger->path,
                       dataset);
}

cellar_status cellar_ledger_balance(const cellar_ledger *ledger, const char *dataset,
                                    const char *analyst, cellar_balance *out, cellar_error *err)
{
    const cellar_ledger_entry *made = cellar_ledger_find_dataset(ledger, dataset);
    *out = (cellar_balance){0};
    if (made == NULL)
        return state_no_dataset(ledger, dataset, err);
    out->by_rho = made->amounts.rho_nano != CELLAR_NO_RHO;
    if (analyst == NULL)
        balance_set_cap(out, &made->amounts);
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        if (!cellar_ledger_same(entry->dataset, dataset))
            continue;
        out->n_uncharged += entry->kind == CELLAR_ENTRY_UNCHARGED;
        if (analyst != NULL && !cellar_ledger_same(entry->analyst, analyst))
            continue;
        if (entry->kind == CELLAR_ENTRY_ANALYST && analyst != NULL)
            balance_set_cap(out, &entry->amounts);
        if (entry->kind == CELLAR_ENTRY_CHARGE) {
            cellar_amounts_add(&out->spent, &entry->amounts);
            out->n_charges++;
        }
    }
    balance_finish(out);
    return CELLAR_OK;
}

cellar_status cellar_ledger_check_share(const cellar_ledger *ledger, const char *dataset,
                                        const char *analyst, cellar_error *err)
{
    int has_shares = 0;
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        if (entry->kind != CELLAR_ENTRY_ANALYST || !cellar_ledger_same(entry->dataset, dataset))
            continue;
        if (cellar_ledger_same(entry->analyst, analyst))
            return CELLAR_OK;
        has_shares = 1;
    }
    if (!has_shares)
        return CELLAR_OK;
    if (analyst == NULL)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "dataset '%s' is shared out among analysts: name the one whose share "
                           "pays (--analyst); nothing was drawn",
                           dataset);
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "dataset '%s' is shared out among analysts, and '%s' has no share; nothing "
                       "was drawn",
                       dataset, analyst);
}

static cellar_status caps_refuse(const char *whose, const cellar_balance *balance,
                                 const cellar_amounts *asked, cellar_error *err)
{
    char a[CELLAR_AMOUNT_TEXT], b[CELLAR_AMOUNT_TEXT], c[CELLAR_AMOUNT_TEXT], d[CELLAR_AMOUNT_TEXT];
    if (balance->by_rho) {
        cellar_amount_text_nano(asked->rho_nano, a);
        cellar_amount_text_nano(balance->left.rho_nano, b);
        return cellar_fail(
            err, CELLAR_ERR_BUDGET,
            "%s: the release would cost rho %s, and rho %s is left; nothing was drawn", whose, a,
            b);
    }
    cellar_amount_text_nano(asked->epsilon_nano, a);
    cellar_amount_text_atto(asked->delta_atto, b);
    cellar_amount_text_nano(balance->left.epsilon_nano, c);
    cellar_amount_text_atto(balance->left.delta_atto, d);
    return cellar_fail(
        err, CELLAR_ERR_BUDGET,
        "%s: the release would cost epsilon %s and delta %s, and epsilon %s and delta "
        "%s are left; nothing was drawn",
        whose, a, b, c, d);
}

static cellar_status caps_check(const cellar_ledger *ledger, const char *dataset,
                                const char *analyst, const cellar_amounts *amounts,
                                cellar_error *err)
{
    char whose[512];
    cellar_balance balance;
    int fits;
    cellar_status status = cellar_ledger_balance(ledger, dataset, analyst, &balance, err);
    if (status != CELLAR_OK || !balance.has_cap)
        return status;
    CELLAR_ASSERT(!balance.by_rho || amounts->rho_nano != CELLAR_NO_RHO);
    fits = balance.by_rho ? amounts->rho_nano <= balance.left.rho_nano
                          : amounts->epsilon_nano <= balance.left.epsilon_nano &&
                                amounts->delta_atto <= balance.left.delta_atto;
    if (fits)
        return CELLAR_OK;
    snprintf(whose, sizeof whose, "dataset '%s'%s%s%s", dataset,
             analyst != NULL ? ", analyst '" : "", analyst != NULL ? analyst : "",
             analyst != NULL ? "'" : "");
    return caps_refuse(whose, &balance, amounts, err);
}

cellar_status cellar_ledger_check_caps(const cellar_ledger *ledger, const char *dataset,
                                       const char *analyst, const cellar_amounts *amounts,
                                       cellar_error *err)
{
    cellar_status status = caps_check(ledger, dataset, NULL, amounts, err);
    if (status == CELLAR_OK && analyst != NULL)
        status = caps_check(ledger, dataset, analyst, amounts, err);
    return status;
}
