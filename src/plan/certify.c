/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The certificate of a whole list. A record touches d_t cells of table t, so the list is each
 * table's mechanism d_t times. A certificate takes a list of mechanisms, each met the same number
 * of times: tables of one mechanism are put together, and the numbers divided by what they have in
 * common. */
#include "plan/work.h"

#include <string.h>

#include "base/error.h"
#include "privacy/certify.h"
#include "release/share.h"

/* A mechanism and the cells that a record touches under it. */
typedef struct part {
    const cellar_mechanism *mechanism;
    uint64_t d;
} part;

static size_t collect_parts(const plan_work *work, part *parts)
{
    size_t n = 0;
    for (size_t t = 0; t < work->n; t++) {
        const cellar_mechanism *mechanism = work->pieces[t].mechanism;
        size_t i = 0;
        while (i < n && strcmp(cellar_mechanism_spec(parts[i].mechanism),
                               cellar_mechanism_spec(mechanism)) != 0)
            i++;
        if (i == n)
            parts[n++] = (part){mechanism, 0};
        parts[i].d += work->pieces[t].d;
    }
    return n;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* How often the whole list of mechanisms is met, so that the list is short enough. When nothing
 * divides all numbers they are rounded up: more cells than there are never understate. */
static uint64_t choose_times(const part *parts, size_t n, int *is_rounded_up)
{
    uint64_t times = 0, length = 0;
    for (size_t i = 0; i < n; i++)
        times = common_divisor(parts[i].d, times);
    for (;; times++) {
        length = 0;
        *is_rounded_up = 0;
        for (size_t i = 0; i < n; i++) {
            length += (parts[i].d + times - 1) / times;
            *is_rounded_up |= parts[i].d % times != 0;
        }
        if (length <= CELLAR_CERTIFY_MECHANISMS_MAX)
            return times;
    }
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

static cellar_status certify_list(plan_work *work, const part *parts, size_t n, cellar_error *err)
{
    static const char *const epsilons[] = {"0.5", "1", "2"};
    const char *deltas[] = {work->plan->ledger.delta, "1e-6", "1e-9"};
    size_t first = deltas[0] == NULL;
    const cellar_mechanism *mechanisms[CELLAR_CERTIFY_MECHANISMS_MAX];
    cellar_certify_options options = cellar_certify_options_default();
    size_t n_mechanisms = 0;

    options.n_cells = choose_times(parts, n, &work->is_rounded_up);
    for (size_t i = 0; i < n; i++)
        for (uint64_t k = 0; k < parts[i].d; k += options.n_cells)
            mechanisms[n_mechanisms++] = parts[i].mechanism;
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
    return cellar_certify(mechanisms, n_mechanisms, &options, &work->certificate, err);
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
    part *parts = cellar_alloc(work->n, sizeof *parts);
    cellar_status status = CELLAR_OK;
    if (parts == NULL)
        return cellar_fail_memory(err, "a certificate");
    CELLAR_TRY(check_budget(work, err));
    CELLAR_TRY(certify_list(work, parts, collect_parts(work, parts), err));
out:
    cellar_free(parts);
    return status;
}
