/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate of a whole set of tables. A record touches d_t cells of table t, so the set is
 * each table's mechanism d_t times; tables of one mechanism are put together. */
#include "plan/work.h"

#include <string.h>

#include "base/error.h"
#include "release/share.h"

static size_t collect_parts(const plan_work *work, cellar_certify_part *parts)
{
    size_t n = 0;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_mechanism *mechanism = work->pieces[t].mechanism;
        size_t i = 0;
        while (i < n && strcmp(cellar_mechanism_spec(parts[i].mechanism),
                               cellar_mechanism_spec(mechanism)) != 0)
            i++;
        if (i == n)
            parts[n++] = (cellar_certify_part){mechanism, 0};
        parts[i].times += work->pieces[t].d;
    }
    return n;
}

static cellar_certificate_domain list_domain(const plan_work *work)
{
    cellar_certificate_domain worst = CELLAR_CERTIFICATE_DOMAIN_DECLARED;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_schema *schema = cellar_table_schema(work->pieces[t].counts);
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            switch (cellar_schema_domain(schema, v)) {
            case CELLAR_DOMAIN_OBSERVED:
                return CELLAR_CERTIFICATE_DOMAIN_OBSERVED;
            case CELLAR_DOMAIN_ASSERTED:
                worst = CELLAR_CERTIFICATE_DOMAIN_ASSERTED;
                break;
            case CELLAR_DOMAIN_DECLARED:
                break;
            }
    }
    return worst;
}

static cellar_status certify_list(plan_work *work, const cellar_certify_part *parts, size_t n,
                                  cellar_error *err)
{
    static const char *const epsilons[] = {"0.5", "1", "2"};
    const char *deltas[] = {work->plan->ledger.delta, "1e-6", "1e-9"};
    size_t first = deltas[0] == NULL;
    cellar_certify_options options = cellar_certify_options_default();

    options.neighbours =
        work->n_sides == 2 ? CELLAR_NEIGHBOURS_SUBSTITUTE : CELLAR_NEIGHBOURS_ADD_REMOVE;
    options.negatives = (cellar_negatives) (work->plan->negatives - 1);
    options.domain = list_domain(work);
    options.choice = (cellar_parameter_choice) work->plan->parameter_choice;
    options.per_unit = work->per_unit;
    options.max_weight = work->max_weight;
    options.unit = work->plan->unit.name;
    options.epsilons = epsilons;
    options.n_epsilons = sizeof epsilons / sizeof *epsilons;
    options.deltas = deltas + first;
    options.n_deltas = 3 - first;
    return cellar_certify(parts, n, &options, &work->certificate, err);
}

/* What was to be split must not be exceeded, whatever the mechanisms made of it. */
static cellar_status check_budget(const plan_work *work, cellar_error *err)
{
    const plan_budget *budget = &work->plan->budget;
    char total[80];
    for (size_t t = 0; t < work->n; t++) {
        const plan_piece *piece = &work->pieces[t];
        cellar_status status = cellar_share_total(piece->mechanism, 1, total, sizeof total, err);
        if (status != CELLAR_OK)
            return status;
        if (total[0] == '\0' && (budget->epsilon != NULL || piece->table->epsilon != NULL))
            return cellar_plan_fail(work->plan->name, &piece->table->place, "mechanism", err,
                                    "%s has no epsilon of its own that could be split; give it a "
                                    "sigma, or the plan a budget of rho",
                                    cellar_mechanism_name(piece->mechanism));
    }
    return CELLAR_OK;
}

cellar_status cellar_plan_certify(plan_work *work, cellar_error *err)
{
    cellar_certify_part *parts = cellar_alloc(work->n, sizeof *parts);
    cellar_status status = CELLAR_OK;
    if (parts == NULL)
        return cellar_fail_memory(err, "a certificate");
    CELLAR_TRY(check_budget(work, err));
    CELLAR_TRY(certify_list(work, parts, collect_parts(work, parts), err));
out:
    cellar_free(parts);
    return status;
}
