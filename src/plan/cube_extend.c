/* SPDX-License-Identifier: GPL-3.0-or-later */
/* More tables for a published cube. A table is measured once: the second measurement is of tables
 * that the first left out, so that both together are one set of measured tables, each with its
 * noise. Everything else, estimates, variances, intervals and the certificate, is that of a cube of
 * all of them. */
#include <math.h>
#include <string.h>

#include <cellar/ledger.h>

#include "base/error.h"
#include "cube/picks.h"
#include "data/codelist.h"
#include "ledger/ledger.h"
#include "plan/cube_design.h"
#include "release/files/description.h"

static const char KEY[] = "universe.extends";

/* ---- the same people, the same variables ---------------------------------------------------- */

static int has_same_list(const cellar_codelist *a, const cellar_codelist *b, int *failed)
{
    cellar_text one = {0}, other = {0};
    int same;
    cellar_codelist_add_text(a, &one);
    cellar_codelist_add_text(b, &other);
    *failed = one.failed || other.failed;
    same =
        !*failed && one.length == other.length && memcmp(one.bytes, other.bytes, one.length) == 0;
    cellar_text_clear(&one);
    cellar_text_clear(&other);
    return same;
}

static cellar_status compare_variables(const cellar_cube_design *d, const cube_variable *variables,
                                       cellar_error *err)
{
    const cellar_cube *cube = d->published;
    int failed = 0;
    if (cube->n_variables != d->plan->variables.n)
        return cellar_plan_fail_at(d->plan, "variables", err,
                                   "the published cube has %zu variables: expected the same ones",
                                   cube->n_variables);
    for (size_t v = 0; v < cube->n_variables; v++) {
        const cube_variable *old = &cube->variables[v], *now = &variables[v];
        if (strcmp(old->name, now->name) != 0)
            return cellar_plan_fail_at(d->plan, "variables", err,
                                       "the published cube has '%.60s' where the plan has '%.60s': "
                                       "expected the same variables in the same order",
                                       old->name, now->name);
        if (old->domain != now->domain || old->axis.n_levels != now->axis.n_levels ||
            !has_same_list(old->codelist, now->codelist, &failed))
            return failed ? cellar_fail_memory(err, "a universe")
                          : cellar_plan_fail_at(d->plan, "variables", err,
                                                "'%.60s' has other categories or levels than in "
                                                "the published cube",
                                                now->name);
    }
    return CELLAR_OK;
}

/* What the description of a cube of this plan says about whom it counts. */
static cellar_status compare_units(const cellar_cube_design *d, cellar_error *err)
{
    static const char *const members[] = {"unit",       "neighbours", "max_per_unit",
                                          "max_weight", "where",      "weight"};
    json_t *mine = cellar_cube_describe_units(d);
    cellar_status status = mine != NULL ? CELLAR_OK : cellar_fail_memory(err, "a universe");
    for (size_t i = 0; status == CELLAR_OK && i < sizeof members / sizeof *members; i++) {
        const json_t *old = json_object_get(d->published->description, members[i]);
        const json_t *now = json_object_get(mine, members[i]);
        if (old != now && !json_equal(old, now))
            status = cellar_plan_fail_at(d->plan, KEY, err,
                                         "the published cube has another '%s' than the plan: it "
                                         "says something about other people or other units",
                                         members[i]);
    }
    json_decref(mine);
    return status;
}

cellar_status cellar_cube_extend_open(cellar_cube_design *d, const cube_variable *variables,
                                      cellar_error *err)
{
    const char *path = d->plan->universe.extends;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_cube_open(path, &d->published, err));
    CELLAR_TRY(cellar_cube_verify(d->published, path, err));
    CELLAR_TRY(cellar_cube_recertify(d->published, path, err));
    CELLAR_TRY(compare_variables(d, variables, err));
    CELLAR_TRY(compare_units(d, err));
out:
    return status;
}

/* ---- what was measured ----------------------------------------------------------------------- */

static int is_named(const cellar_cube_design *d, uint32_t table)
{
    for (size_t i = 0; i < d->plan->universe.tables.n; i++)
        if (d->named[i] == table)
            return 1;
    return 0;
}

cellar_status cellar_cube_extend_take(cellar_cube_design *d, cellar_error *err)
{
    const cube_lattice *l = &d->cube->lattice;
    size_t n_wanted = 0, n_left = 0;
    d->before = cellar_alloc(l->n, sizeof *d->before);
    d->before_sd = cellar_alloc(l->n, sizeof *d->before_sd);
    if (d->before == NULL || d->before_sd == NULL)
        return cellar_fail_memory(err, "a universe");
    for (uint32_t t = 0; t < l->n; t++) {
        const uint32_t old = cellar_cube_lattice_find(&d->published->lattice, &l->spaces[t]);
        double variance = NAN;
        cellar_status status = CELLAR_OK;
        d->before[t] = old;
        if (old != CUBE_NO_SPACE && d->published->w[old] > 0) {
            d->mechanism_of[t] = CUBE_MEASURED_BEFORE;
            status = cellar_cube_plan_measure(d->cube, t, d->published->tables[old].mechanism,
                                              d->published->tables[old].variance, err);
        }
        if (status == CELLAR_OK && old != CUBE_NO_SPACE)
            status = cellar_cube_largest_variance(d->published, old, &variance, err);
        if (status != CELLAR_OK)
            return status;
        d->before_sd[t] = sqrt(variance);
        if (old != CUBE_NO_SPACE && !is_named(d, t))
            d->weight[t] = 0;
        n_wanted += d->weight[t] > 0;
        n_left += d->mechanism_of[t] == CUBE_NOT_MEASURED && !cube_is_exact(l, t);
    }
    if (n_wanted > 0 && n_left > 0)
        return CELLAR_OK;
    if (cellar_plan_fail_at(d->plan, KEY, err,
                            "the published cube has every table of this universe, and no table is "
                            "measured twice: name one that it lacks") == CELLAR_ERR_MEMORY)
        return CELLAR_ERR_MEMORY;
    return CELLAR_ERR_RULE;
}

void cellar_cube_extend_fill(const cellar_cube_design *d)
{
    for (uint32_t t = 0; t < d->cube->lattice.n; t++)
        if (d->before[t] != CUBE_NO_SPACE && d->published->tables[d->before[t]].mechanism != NULL)
            memcpy(cellar_cube_measured_room(d->cube, t),
                   d->published->tables[d->before[t]].measured,
                   (size_t) d->cube->lattice.n_cells[t] * sizeof(int64_t));
}

/* ---- one certificate --------------------------------------------------------------------------
 */

typedef struct both {
    cellar_certify_part *parts;
    cellar_mechanism **own; /* those of the published cube */
    size_t n, n_own;
} both;

/* One more cell with the noise of a table. */
static cellar_status add_table(both *b, const char *spec, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t k = 0;
    while (k < b->n && strcmp(cellar_mechanism_spec(b->parts[k].mechanism), spec) != 0)
        k++;
    if (k == b->n) {
        status = cellar_mechanism_create(spec, &b->own[b->n_own], err);
        if (status == CELLAR_OK)
            b->parts[b->n++] = (cellar_certify_part){b->own[b->n_own++], 0};
    }
    if (status == CELLAR_OK)
        b->parts[k].times++;
    return status;
}

cellar_status cellar_cube_extend_certify(cellar_cube_design *d, cellar_error *err)
{
    const size_t n = d->cube->lattice.n;
    both b = {.parts = cellar_alloc(n, sizeof *b.parts), .own = cellar_alloc(n, sizeof *b.own)};
    cellar_status status = CELLAR_OK;
    if (b.parts == NULL || b.own == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a certificate"));
    for (size_t t = 0; t < n; t++)
        if (d->cube->w[t] > 0)
            CELLAR_TRY(add_table(&b, d->cube->tables[t].mechanism, err));
    CELLAR_TRY(cellar_cube_design_certify(d, b.parts, b.n, 0, &d->together, err));
out:
    for (size_t k = 0; k < b.n_own; k++)
        cellar_mechanism_free(b.own[k]);
    cellar_free(b.own);
    cellar_free(b.parts);
    return status;
}

/* ---- both charges ------------------------------------------------------------------------------
 */

static const char *stamp_of(const cellar_cube_design *d)
{
    return json_string_value(json_object_get(d->published->description, "ledger"));
}

static cellar_status fail_ledger(const cellar_cube_design *d, const char *what, cellar_error *err)
{
    const cellar_status status =
        cellar_plan_fail_at(d->plan, KEY, err, "the published cube %s", what);
    return status == CELLAR_ERR_MEMORY ? status : CELLAR_ERR_RULE;
}

cellar_status cellar_cube_extend_check_ledger(const cellar_cube_design *d,
                                              const cellar_ledger *ledger, cellar_error *err)
{
    const char *text = stamp_of(d);
    const cellar_ledger_entry *charge = NULL, *dataset;
    const char *edition = d->plan->data.edition;
    cellar_stamp stamp;
    if (ledger == NULL)
        return strcmp(text, CELLAR_RELEASE_UNACCOUNTED) == 0
                   ? CELLAR_OK
                   : fail_ledger(d, "was charged to a ledger: name it in the plan", err);
    if (strcmp(text, CELLAR_RELEASE_UNACCOUNTED) == 0)
        return fail_ledger(d,
                           "was charged to no ledger: what is added to it cannot be either, or the "
                           "ledger would know half of it",
                           err);
    if (cellar_stamp_read(text, &stamp) != NULL &&
        strcmp(stamp.ledger, cellar_ledger_id(ledger)) == 0 && stamp.number >= 1 &&
        (uint64_t) stamp.number <= cellar_ledger_n_entries(ledger))
        charge = cellar_ledger_entry_at(ledger, (size_t) stamp.number - 1);
    if (charge == NULL || charge->kind != CELLAR_ENTRY_CHARGE ||
        strcmp(charge->head, stamp.head) != 0)
        return fail_ledger(d, "was charged to another ledger", err);
    dataset = cellar_ledger_find_dataset(ledger, d->plan->ledger.dataset);
    if (edition == NULL && dataset != NULL)
        edition = dataset->edition;
    if (strcmp(charge->dataset, d->plan->ledger.dataset) != 0 || edition == NULL ||
        charge->edition == NULL || strcmp(charge->edition, edition) != 0)
        return fail_ledger(d,
                           "was charged to another dataset or edition: other data are a new cube "
                           "and a new charge",
                           err);
    return CELLAR_OK;
}

json_t *cellar_cube_extend_describe(const cellar_cube_design *d, json_t *last)
{
    const json_t *before = d->published->description;
    json_t *all = json_deep_copy(json_object_get(before, "measurements"));
    if (all == NULL) {
        all = json_array();
        if (json_array_append_new(
                all, json_pack("{s:O, s:O, s:O}", "date", json_object_get(before, "date"), "ledger",
                               json_object_get(before, "ledger"), "measured_tables",
                               json_object_get(before, "measured_tables"))) != 0) {
            json_decref(all);
            all = NULL;
        }
    }
    if (json_array_append_new(all, last) == 0)
        return all;
    json_decref(all);
    return NULL;
}
