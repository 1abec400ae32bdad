/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ledger/check.h"

#include <string.h>

#include "base/error.h"

enum { NAME_MAX_BYTES = 200, TEXT_MAX_BYTES = 65536 };

static const uint64_t ATTO = UINT64_C(1000000000000000000);

static int is_text(const char *text, size_t limit)
{
    size_t length = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char) text[i] < 0x20 || text[i] == 0x7f) /* terminals would obey */
            return 0;
    return length > 0 && length <= limit && cellar_utf8_valid(text, length);
}

static cellar_status check_line(const char *what, const char *text, int limit, cellar_error *err)
{
    if (is_text(text, (size_t) limit))
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: one line of UTF-8 of 1 to %d bytes is needed",
                       what, limit);
}

cellar_status cellar_ledger_check_name(const char *what, const char *name, cellar_error *err)
{
    return check_line(what, name, NAME_MAX_BYTES, err);
}

cellar_status cellar_ledger_check_text(const char *what, const char *text, cellar_error *err)
{
    return check_line(what, text, TEXT_MAX_BYTES, err);
}

cellar_status cellar_ledger_check_delta(const cellar_amounts *amounts, uint64_t population,
                                        int accept_delta, cellar_error *err)
{
    char delta[CELLAR_AMOUNT_TEXT];
    if (amounts->delta_atto == 0 || accept_delta)
        return CELLAR_OK;
    if (population == 0)
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "a delta above 0 needs the population, to be compared with 1/population");
    if ((cellar_uint128) (uint64_t) amounts->delta_atto * population < ATTO)
        return CELLAR_OK;
    cellar_amount_text_atto(amounts->delta_atto, delta);
    return cellar_fail(
        err, CELLAR_ERR_RULE,
        "delta %s is at least one over the population of %llu: publishing one record "
        "picked at random would satisfy it; accept it explicitly "
        "(--accept-delta) or choose a smaller one",
        delta, (unsigned long long) population);
}

cellar_status cellar_ledger_check_edition(const cellar_ledger *ledger, const char *dataset,
                                          const char *edition, cellar_error *err)
{
    cellar_balance unused;
    cellar_status status = cellar_ledger_balance(ledger, dataset, NULL, &unused, err);
    if (status != CELLAR_OK)
        return status;
    if (edition == NULL || !cellar_ledger_has_edition(ledger, dataset, edition))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "dataset '%s' has no edition '%s'", dataset,
                           edition != NULL ? edition : "");
    return CELLAR_OK;
}

static cellar_status charge_check_names(const cellar_charge *charge, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(check_line("request", charge->request, CELLAR_REQUEST_MAX_BYTES, err));
    CELLAR_TRY(cellar_ledger_check_name("dataset", charge->dataset, err));
    if (charge->analyst != NULL)
        CELLAR_TRY(cellar_ledger_check_name("analyst", charge->analyst, err));
    CELLAR_TRY(cellar_ledger_check_text("mechanism", charge->mechanism, err));
    CELLAR_TRY(cellar_ledger_check_text("what is released", charge->what, err));
    if (charge->amounts.epsilon_nano < 0 || charge->amounts.delta_atto < 0 ||
        charge->amounts.rho_nano < CELLAR_NO_RHO || charge->n_cells > INT64_MAX ||
        charge->max_per_unit > INT64_MAX || charge->max_weight > INT64_MAX ||
        (charge->amounts.epsilon_nano == 0 && charge->amounts.delta_atto == 0 &&
         charge->amounts.rho_nano <= 0))
        status = cellar_fail(err, CELLAR_ERR_ARGUMENT, "a charge must be above 0");
out:
    return status;
}

cellar_charge cellar_charge_default(void)
{
    return (cellar_charge){
        .n_cells = 1, .max_per_unit = 1, .max_weight = 1, .amounts = {.rho_nano = CELLAR_NO_RHO}};
}

cellar_status cellar_ledger_check_charge(const cellar_ledger *ledger, const cellar_charge *charge,
                                         cellar_amounts *amounts, cellar_error *err)
{
    const cellar_ledger_entry *dataset;
    cellar_status status = CELLAR_OK;

    *amounts = charge->amounts;
    CELLAR_TRY(charge_check_names(charge, err));
    CELLAR_TRY(cellar_ledger_check_edition(ledger, charge->dataset, charge->edition, err));
    dataset = cellar_ledger_find_dataset(ledger, charge->dataset);
    if (charge->unit == NULL || strcmp(charge->unit, dataset->unit) != 0 ||
        charge->neighbours != dataset->neighbours)
        CELLAR_TRY(cellar_fail(
            err, CELLAR_ERR_RULE,
            "dataset '%s' accounts for the unit '%s' under %s, the release for "
            "'%s' under %s: these cannot be added; without --unit and --neighbours a release has "
            "the dataset's",
            charge->dataset, dataset->unit, cellar_neighbours_name(dataset->neighbours),
            charge->unit != NULL ? charge->unit : "", cellar_neighbours_name(charge->neighbours)));
    if (dataset->amounts.rho_nano != CELLAR_NO_RHO)
        CELLAR_TRY(cellar_amounts_claim_rho(amounts, err));
    else
        CELLAR_TRY(
            cellar_ledger_check_delta(amounts, dataset->population, charge->accept_delta, err));
    if (dataset->amounts.rho_nano == CELLAR_NO_RHO && amounts->epsilon_nano == 0 &&
        amounts->delta_atto == 0)
        status =
            cellar_fail(err, CELLAR_ERR_ARGUMENT,
                        "dataset '%s' is accounted in epsilon and delta, and the charge has "
                        "neither: choose the delta to charge (--delta, in a plan ledger.delta)",
                        charge->dataset);
out:
    return status;
}
