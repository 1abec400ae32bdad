/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a cap means for the population that a sample was drawn from.
 *
 * One sample serves all releases of a dataset. All of them together are one mechanism, with the
 * guarantee of the cap for the units of the sample; sampling amplifies that mechanism once
 * (Balle, Barthe and Gaboardi 2018, Theorems 8 and 9):
 *
 *     epsilon' = ln(1 + q (e^epsilon - 1)),  delta' = q delta.
 *
 * Amplified costs of single releases must not be added: ten releases of epsilon 0.5 from one sample
 * with q = 0.1 have 2.76 and not ten times 0.063, because whoever is in the sample is in all ten.
 */
#include <cellar/sampling.h>

#include <math.h>
#include <string.h>

#include "base/error.h"

cellar_sampling cellar_sampling_default(void)
{
    return (cellar_sampling){.rate = NAN};
}

static cellar_status sampling_check(const cellar_sampling *s, const cellar_ledger_entry *made,
                                    const cellar_balance *balance, cellar_error *err)
{
    if (!(s->rate > 0) || !(s->rate <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the sampling rate lies between 0 and 1, got %g", s->rate);
    if (s->unit == NULL || strcmp(s->unit, made->unit) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "sampling protects the unit that is drawn, and the dataset protects "
                           "'%s': a sample of clusters counts only where the cluster is the unit",
                           made->unit);
    if (s->is_panel)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "a panel keeps its sample from edition to edition, so that membership "
                           "is no new chance: no amplification is stated");
    if (s->has_calibrated_weights)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "calibrated weights depend on everybody in the sample and on totals "
                           "of the population: no amplification is stated");
    if ((s->scheme == CELLAR_SAMPLING_POISSON) !=
        (made->neighbours == CELLAR_NEIGHBOURS_ADD_REMOVE))
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "Poisson sampling goes with add-remove, sampling without replacement "
                           "with substitute; the dataset has %s",
                           cellar_neighbours_name(made->neighbours));
    if (!balance->has_cap || balance->by_rho)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "amplification is stated for a cap of epsilon and delta");
    if (balance->n_uncharged > 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "something about the dataset is known outside the budget (a true "
                           "count, a cell-key release, a table elsewhere): no amplification is "
                           "stated");
    return CELLAR_OK;
}

cellar_status cellar_ledger_amplify(const cellar_ledger *ledger, const char *dataset,
                                    const cellar_sampling *sampling, cellar_amplified *out,
                                    cellar_error *err)
{
    const cellar_ledger_entry *made = cellar_ledger_find_dataset(ledger, dataset);
    cellar_balance balance;
    cellar_status status;
    *out = (cellar_amplified){NAN, NAN};
    if (made == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "the ledger has no dataset '%.100s'", dataset);
    status = cellar_ledger_balance(ledger, dataset, NULL, &balance, err);
    if (status == CELLAR_OK)
        status = sampling_check(sampling, made, &balance, err);
    if (status != CELLAR_OK)
        return status;
    out->epsilon =
        log1p(sampling->rate * expm1((double) balance.cap.epsilon_nano * 1e-9)) * (1 + 1e-12);
    out->delta = sampling->rate * (double) balance.cap.delta_atto * 1e-18 * (1 + 1e-12);
    return CELLAR_OK;
}

static const char *const assumptions[] = {
    "Every unit of the population had the same known chance to be in the sample, whatever its data "
    "and whatever the data of others.",
    "Nobody but the custodian knows who is in the sample: no list, no letter, no interviewer's "
    "visit that others saw.",
    "Respondents keep to themselves that they took part; who does not has the guarantee of the "
    "cap.",
    "Whoever was drawn answered; non-response that depends on the data is no equal chance."};
static const char poisson_assumption[] = "Every unit was drawn or not by a coin of its own, and "
                                         "the size of the sample is not published.";
static const char fixed_assumption[] =
    "Samples of the given size were equally likely; the sizes of sample and population are public.";

const char *cellar_sampling_assumption(cellar_sampling_scheme scheme, size_t index)
{
    const size_t n = sizeof assumptions / sizeof *assumptions;
    if (index < n)
        return assumptions[index];
    if (index > n)
        return NULL;
    return scheme == CELLAR_SAMPLING_POISSON ? poisson_assumption : fixed_assumption;
}
