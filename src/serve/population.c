/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/population.h"

#include <string.h>

#include "base/error.h"

static int is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static int has_kind(const serve_member *members, size_t n, const char *population, int is_cell_key)
{
    for (size_t i = 0; i < n; i++)
        if (is_same(members[i].population, population) &&
            (members[i].kind == SERVE_CELL_KEY) == is_cell_key)
            return 1;
    return 0;
}

int serve_population_is_void(const serve_member *members, size_t n, const char *population)
{
    return has_kind(members, n, population, 1) && has_kind(members, n, population, 0);
}

static cellar_status check_pair(const char *name, const serve_member *a, const serve_member *b,
                                cellar_error *err)
{
    const int have_ledgers = a->ledger != NULL && b->ledger != NULL;
    const int is_one_budget = have_ledgers && strcmp(a->ledger, b->ledger) == 0 &&
                              is_same(a->ledger_dataset, b->ledger_dataset);
    const int is_one_population = is_same(a->population, b->population);
    if (is_one_budget && !is_one_population)
        return cellar_plan_fail(name, &b->place, "population", err,
                                "'%.60s' and '%.60s' charge the same dataset of a ledger and must "
                                "be about the same population",
                                a->id, b->id);
    if (!is_one_population)
        return CELLAR_OK;
    if (have_ledgers && !is_one_budget)
        return cellar_plan_fail(
            name, &b->place, "ledger", err,
            "'%.60s' and '%.60s' are about the same population '%.60s' and must "
            "charge the same dataset of the same ledger",
            a->id, b->id, a->population);
    if (!is_same(a->unit, b->unit))
        return cellar_plan_fail(
            name, &b->place, "unit", err,
            "'%.60s' and '%.60s' are about the same population '%.60s' and must "
            "protect the same unit",
            a->id, b->id, a->population);
    return CELLAR_OK;
}

cellar_status serve_populations_check(const char *name, const serve_member *members, size_t n,
                                      cellar_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const serve_member *one = &members[i];
        for (size_t j = 0; j < i; j++) {
            cellar_status status = check_pair(name, &members[j], one, err);
            if (status != CELLAR_OK)
                return status;
        }
        if (one->kind == SERVE_CELL_KEY && !one->accepts_void &&
            serve_population_is_void(members, n, one->population))
            return cellar_plan_fail(
                name, &one->place, "accept", err,
                "cell keys are no differential privacy, and other data sets promise it to the same "
                "population '%.60s'; that promise then does not cover all that is published: say "
                "accept: [guarantee-void], or leave this data set out",
                one->population);
    }
    return CELLAR_OK;
}
