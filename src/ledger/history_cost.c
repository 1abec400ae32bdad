/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the history of a dataset would cost if all of it had been fixed before its first draw.
 *
 * Privacy losses are composed tightly then. Requests that are chosen after looking at releases void
 * the figure, so nothing is enforced by it. */
#include "ledger/ledger.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "privacy/certify.h"

/* Charges of one mechanism under which one unit changes a cell by the same number. */
typedef struct plan_part {
    cellar_mechanism *mechanism;
    cellar_one_cell cell;
    uint64_t times; /* cells, over all charges */
} plan_part;

typedef struct plan {
    int substitute;
    plan_part *parts;
    size_t n, capacity;
    cellar_amounts added; /* of charges whose losses cannot be composed */
    int is_open;          /* one of them has neither epsilon nor delta */
} plan;

static void plan_clear(plan *p)
{
    for (size_t i = 0; i < p->n; i++) {
        cellar_one_cell_clear(&p->parts[i].cell);
        cellar_mechanism_free(p->parts[i].mechanism);
    }
    cellar_free(p->parts);
}

/* ---- reading the history -------------------------------------------------------------- */

/* By how much a unit changes one cell; 0 when that is more than can be composed. */
static int64_t entry_shift(const cellar_ledger_entry *charge)
{
    uint64_t per_unit = charge->max_per_unit > 1 ? charge->max_per_unit : 1;
    uint64_t weight = charge->max_weight > 1 ? charge->max_weight : 1;
    if (per_unit > CELLAR_CERTIFY_SHIFT_MAX || weight > CELLAR_CERTIFY_SHIFT_MAX ||
        per_unit * weight > CELLAR_CERTIFY_SHIFT_MAX)
        return 0;
    return (int64_t) (per_unit * weight);
}

static plan_part *plan_find(plan *p, const cellar_ledger_entry *charge)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->parts[i].cell.shift == entry_shift(charge) &&
            strcmp(cellar_mechanism_spec(p->parts[i].mechanism), charge->mechanism) == 0)
            return &p->parts[i];
    return NULL;
}

static cellar_one_cell cell_of(const cellar_mechanism *mechanism, int64_t shift)
{
    cellar_one_cell cell;
    cellar_one_cell_init(&cell, mechanism, shift, 0, CELLAR_NEGATIVES_KEEP, 1);
    return cell;
}

/* The mechanism of a charge if its losses can be composed, else NULL. A file that a spec names may
 * have changed since. */
static cellar_status plan_mechanism(const cellar_ledger_entry *charge, cellar_mechanism **out,
                                    cellar_error *err)
{
    const int64_t shift = entry_shift(charge);
    cellar_status status = CELLAR_ERR_ARGUMENT;
    *out = NULL;
    if (strstr(charge->mechanism, "file=") == NULL && shift > 0)
        status = cellar_mechanism_create(charge->mechanism, out, err);
    if (status == CELLAR_OK) {
        const cellar_one_cell cell = cell_of(*out, shift);
        if (cellar_one_cell_has_first(&cell))
            return CELLAR_OK;
    }
    cellar_mechanism_free(*out);
    *out = NULL;
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_OK;
}

static cellar_status plan_add(plan *p, const cellar_ledger_entry *charge, cellar_error *err)
{
    plan_part *part = plan_find(p, charge);
    uint64_t times = charge->n_cells > 0 ? charge->n_cells : 1;
    cellar_mechanism *mechanism;
    cellar_status status;
    if (part != NULL) {
        part->times += times;
        return CELLAR_OK;
    }
    status = plan_mechanism(charge, &mechanism, err);
    if (status != CELLAR_OK)
        return status;
    if (mechanism == NULL) {
        cellar_amounts_add(&p->added, &charge->amounts);
        p->is_open |= charge->amounts.epsilon_nano == 0 && charge->amounts.delta_atto == 0;
        return CELLAR_OK;
    }
    if (!cellar_grow(&p->parts, &p->capacity, p->n + 1, sizeof *p->parts)) {
        cellar_mechanism_free(mechanism);
        return cellar_fail_memory(err, "the charges of a dataset");
    }
    p->parts[p->n++] = (plan_part){mechanism, cell_of(mechanism, entry_shift(charge)), times};
    return CELLAR_OK;
}

/* ---- composing it ---------------------------------------------------------------------- */

/* A unit that comes or goes moves all counts up or all down; one that changes does both. */
static size_t plan_components(plan *p, int larger, cellar_component *components)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        plan_part *part = &p->parts[i];
        const int is_noise = cellar_one_cell_is_noise(&part->cell);
        const int n_orders = p->substitute && !is_noise ? 2 : 1;
        for (int side = 0; side < n_orders; side++)
            components[n++] = (cellar_component){
                .cell = &part->cell,
                .larger_is_p = larger ^ side,
                .times = p->substitute && is_noise ? 2 * part->times : part->times};
    }
    return n;
}

static cellar_status plan_epsilon(plan *p, double delta, cellar_bounds *out, cellar_error *err)
{
    cellar_component *components = cellar_alloc(2 * p->n, sizeof *components);
    cellar_status status = CELLAR_OK;
    *out = (cellar_bounds){.upper = 0, .lower = 0};
    if (components == NULL)
        return cellar_fail_memory(err, "the charges of a dataset");
    for (int larger = 0; larger < (p->substitute ? 1 : 2) && status == CELLAR_OK; larger++) {
        cellar_bounds one = {0, INFINITY};
        size_t n = plan_components(p, larger, components);
        status = cellar_tight_epsilon(components, n, delta, &one, err);
        if (status == CELLAR_ERR_OVERFLOW)
            status = CELLAR_OK; /* too many losses to be composed: there is no figure */
        out->upper = fmax(out->upper, one.upper);
        out->lower = fmax(out->lower, one.lower);
    }
    cellar_free(components);
    return status;
}

/* Rounded down: it is what may be spent. */
static double delta_of_atto(int64_t atto)
{
    return nextafter(nextafter((double) atto, 0) / 1e18, 0);
}

static void figure_offer(cellar_nonadaptive *figure, int64_t epsilon_nano)
{
    if (!figure->is_known || epsilon_nano < figure->epsilon_nano)
        figure->epsilon_nano = epsilon_nano;
    figure->is_known = 1;
}

/* The composed epsilon and the sum of those that cannot be composed; or the basic sum of all. */
static cellar_status plan_figure(plan *p, const cellar_balance *balance, cellar_nonadaptive *out,
                                 cellar_error *err)
{
    int64_t left = out->delta_atto - p->added.delta_atto;
    cellar_bounds bounds = {.upper = 0, .lower = 0};
    cellar_amounts sum;
    cellar_status status = CELLAR_OK;

    if (!balance->by_rho && balance->spent.delta_atto <= out->delta_atto)
        figure_offer(out, balance->spent.epsilon_nano);
    if (p->is_open || left < 0 || (left == 0 && p->n > 0))
        return CELLAR_OK;
    if (p->n > 0)
        CELLAR_TRY(plan_epsilon(p, delta_of_atto(left), &bounds, err));
    if (cellar_amounts_from_bounds(bounds.upper, 0, NAN, &sum, NULL) != CELLAR_OK)
        return CELLAR_OK; /* infinite, or beyond all use */
    cellar_amounts_add(&sum, &p->added);
    figure_offer(out, sum.epsilon_nano);
    if (p->added.epsilon_nano == 0 && p->added.delta_atto == 0)
        out->lower = bounds.lower;
out:
    return status;
}

cellar_status cellar_ledger_nonadaptive(const cellar_ledger *ledger, const char *dataset,
                                        const char *delta, cellar_nonadaptive *out,
                                        cellar_error *err)
{
    const cellar_ledger_entry *made;
    cellar_balance balance;
    cellar_amounts asked;
    plan p = {0};
    cellar_status status = CELLAR_OK;

    *out = (cellar_nonadaptive){0};
    CELLAR_TRY(cellar_ledger_balance(ledger, dataset, NULL, &balance, err));
    CELLAR_TRY(cellar_amounts_parse(NULL, delta != NULL ? delta : "1e-9", NULL, &asked, err));
    made = cellar_ledger_find_dataset(ledger, dataset);
    if (delta == NULL && made->amounts.delta_atto > 0)
        asked.delta_atto = made->amounts.delta_atto;
    out->delta_atto = asked.delta_atto;
    out->n_charges = balance.n_charges;
    p.substitute = made->neighbours == CELLAR_NEIGHBOURS_SUBSTITUTE;
    for (size_t i = 0; i < ledger->n_entries; i++)
        if (ledger->entries[i]->kind == CELLAR_ENTRY_CHARGE &&
            cellar_ledger_same(ledger->entries[i]->dataset, dataset))
            CELLAR_TRY(plan_add(&p, ledger->entries[i], err));
    if (balance.n_charges > 0)
        CELLAR_TRY(plan_figure(&p, &balance, out, err));
out:
    plan_clear(&p);
    return status;
}
