/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Datasets, editions, analysts, and what is published outside the budget. */
#include "ledger/ledger.h"

#include <string.h>

#include "base/error.h"
#include "ledger/check.h"

/* One entry in a transaction of its own, unless `check` finds something against it. */
static cellar_status add_entry(cellar_ledger *ledger, const cellar_ledger_entry *entry,
                               cellar_status (*check)(const cellar_ledger *ledger,
                                                      const cellar_ledger_entry *entry,
                                                      cellar_error *err),
                               cellar_error *err)
{
    cellar_status status = cellar_ledger_begin(ledger, err);
    if (status != CELLAR_OK)
        return status;
    status = check(ledger, entry, err);
    if (status == CELLAR_OK)
        status = cellar_ledger_append(ledger, entry, err);
    return cellar_ledger_end(ledger, status, err);
}

/* ---- datasets ---------------------------------------------------------------------- */

static cellar_status dataset_is_new(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                    cellar_error *err)
{
    if (cellar_ledger_find_dataset(ledger, entry->dataset) == NULL)
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "the ledger has a dataset '%s' already, and its cap is never changed",
                       entry->dataset);
}

static cellar_status dataset_check_cap(const cellar_ledger_dataset *dataset, cellar_error *err)
{
    const cellar_amounts *cap = &dataset->cap;
    int by_rho = cap->rho_nano != CELLAR_NO_RHO;
    if (by_rho && (cap->epsilon_nano != 0 || cap->delta_atto != 0))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a cap is an epsilon with a delta, or a rho, not both");
    if (by_rho ? cap->rho_nano == 0 : cap->epsilon_nano == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the cap of a dataset must be above 0");
    return cellar_ledger_check_delta(cap, dataset->population, dataset->accept_delta, err);
}

cellar_ledger_dataset cellar_ledger_dataset_default(void)
{
    return (cellar_ledger_dataset){.cap = {.rho_nano = CELLAR_NO_RHO}};
}

cellar_status cellar_ledger_add_dataset(cellar_ledger *ledger, const cellar_ledger_dataset *dataset,
                                        cellar_error *err)
{
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_DATASET,
                                 .dataset = dataset->name,
                                 .edition = dataset->edition,
                                 .unit = dataset->unit,
                                 .neighbours = dataset->neighbours,
                                 .population = dataset->population,
                                 .accept_delta = dataset->accept_delta,
                                 .amounts = dataset->cap};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_ledger_check_name("dataset", dataset->name, err));
    CELLAR_TRY(cellar_ledger_check_name("edition", dataset->edition, err));
    CELLAR_TRY(cellar_ledger_check_name("unit", dataset->unit, err));
    if (dataset->neighbours != CELLAR_NEIGHBOURS_ADD_REMOVE &&
        dataset->neighbours != CELLAR_NEIGHBOURS_SUBSTITUTE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "neighbours are 'add-remove' or 'substitute'");
    if (dataset->population > INT64_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the population is too large");
    CELLAR_TRY(dataset_check_cap(dataset, err));
    CELLAR_TRY(add_entry(ledger, &entry, dataset_is_new, err));
out:
    return status;
}

/* ---- what belongs to a dataset --------------------------------------------------------- */

static cellar_status dataset_is_there(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                      cellar_error *err)
{
    cellar_balance unused;
    return cellar_ledger_balance(ledger, entry->dataset, NULL, &unused, err);
}

static cellar_status edition_is_new(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                    cellar_error *err)
{
    cellar_status status = dataset_is_there(ledger, entry, err);
    if (status == CELLAR_OK && cellar_ledger_has_edition(ledger, entry->dataset, entry->edition))
        status = cellar_fail(err, CELLAR_ERR_RULE, "dataset '%s' has an edition '%s' already",
                             entry->dataset, entry->edition);
    return status;
}

cellar_status cellar_ledger_add_edition(cellar_ledger *ledger, const char *dataset,
                                        const char *edition, cellar_error *err)
{
    cellar_ledger_entry entry = {
        .kind = CELLAR_ENTRY_EDITION, .dataset = dataset, .edition = edition};
    cellar_status status = cellar_ledger_check_name("edition", edition, err);
    return status == CELLAR_OK ? add_entry(ledger, &entry, edition_is_new, err) : status;
}

static cellar_status analyst_is_new(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                    cellar_error *err)
{
    cellar_balance balance;
    cellar_status status =
        cellar_ledger_balance(ledger, entry->dataset, entry->analyst, &balance, err);
    if (status != CELLAR_OK)
        return status;
    if (balance.has_cap)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "analyst '%s' has a cap on dataset '%s' already, which is never changed",
                           entry->analyst, entry->dataset);
    if (balance.n_charges > 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "analyst '%s' has spent from dataset '%s' already",
                           entry->analyst, entry->dataset);
    if (balance.by_rho != (entry->amounts.rho_nano != CELLAR_NO_RHO))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "dataset '%s' is accounted in %s",
                           entry->dataset, balance.by_rho ? "rho" : "epsilon and delta");
    return CELLAR_OK;
}

cellar_status cellar_ledger_add_analyst(cellar_ledger *ledger, const char *dataset,
                                        const char *analyst, cellar_amounts cap, cellar_error *err)
{
    cellar_ledger_entry entry = {
        .kind = CELLAR_ENTRY_ANALYST, .dataset = dataset, .analyst = analyst, .amounts = cap};
    cellar_status status = cellar_ledger_check_name("analyst", analyst, err);
    return status == CELLAR_OK ? add_entry(ledger, &entry, analyst_is_new, err) : status;
}

static cellar_status edition_is_there(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                      cellar_error *err)
{
    return cellar_ledger_check_edition(ledger, entry->dataset, entry->edition, err);
}

cellar_status cellar_ledger_enter(cellar_ledger *ledger, const char *dataset, const char *edition,
                                  cellar_uncharged kind, const char *what, cellar_error *err)
{
    return cellar_ledger_enter_content(ledger, dataset, edition, kind, what, NULL, err);
}

cellar_status cellar_ledger_enter_content(cellar_ledger *ledger, const char *dataset,
                                          const char *edition, cellar_uncharged kind,
                                          const char *what, const char *content, cellar_error *err)
{
    char keyed[CELLAR_LEDGER_HASH_TEXT];
    cellar_ledger_entry entry = {.kind = CELLAR_ENTRY_UNCHARGED,
                                 .dataset = dataset,
                                 .edition = edition,
                                 .uncharged = kind,
                                 .what = what};
    cellar_status status = cellar_ledger_check_text("what", what, err);
    if (content != NULL) {
        cellar_ledger_content(ledger, content, keyed);
        entry.content = keyed;
    }
    return status == CELLAR_OK ? add_entry(ledger, &entry, edition_is_there, err) : status;
}
