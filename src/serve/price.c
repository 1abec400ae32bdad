/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A canonical table has no margins, so that one record is in one of its cells: the certificate of
 * a class is that of one cell, whatever the table. */
#include "serve/price.h"

#include <math.h>
#include <string.h>

#include <cellar/charged.h>

#include "base/error.h"
#include "cube/lattice.h"
#include "ledger/ledger.h"
#include "mechanism/mechanism.h"
#include "table/build.h"

/* Additive noise is the same at every count; of other mechanisms this one stands for the large. */
enum { LARGE_COUNT = 1000 };

/* ---- options --------------------------------------------------------------------------------- */

static cellar_protect_options options_make(const serve_drawn_text *text, const char *unit)
{
    const serve_budget_text *budget = &text->budget;
    const plan_unit *records = &text->records.unit;
    cellar_protect_options options = cellar_protect_options_default();
    options.negatives = (cellar_negatives) budget->negatives;
    options.threshold = (int64_t) budget->threshold;
    options.below = budget->below == 2 ? CELLAR_BELOW_SUPPRESS : CELLAR_BELOW_ZERO;
    options.unit = unit;
    options.neighbours = (cellar_neighbours) budget->neighbours;
    options.max_per_unit = records->max_records > 0 ? records->max_records : 1;
    options.choice = (cellar_parameter_choice) budget->parameter_choice;
    options.delta = budget->delta;
    options.n_threads = 1;
    for (size_t i = 0; i < budget->accept.n; i++)
        options.accept |= cellar_acceptance_find(plan_text_at(&budget->accept, i));
    return options;
}

static cellar_status check_accept(const char *name, const serve_drawn_text *text, cellar_error *err)
{
    const plan_list *accept = &text->budget.accept;
    for (size_t i = 0; i < accept->n; i++)
        if (strcmp(plan_text_at(accept, i), "delta") != 0 &&
            cellar_acceptance_find(plan_text_at(accept, i)) == 0)
            return cellar_plan_fail(name, &(plan_place){text->records.tree->line, NULL},
                                    "budget.accept", err,
                                    "expected delta, no-protection or large-epsilon");
    return CELLAR_OK;
}

static cellar_status take_cap(serve_prices *prices, const char *name, const serve_drawn_text *text,
                              cellar_error *err)
{
    const serve_cap_text *cap = &text->budget.cap;
    cellar_error why = {"expected rho, or epsilon and perhaps delta"};
    if ((cap->rho != NULL) != (cap->epsilon != NULL) && (cap->rho == NULL || cap->delta == NULL) &&
        cellar_amounts_parse_cap(cap->epsilon, cap->delta, cap->rho, &prices->cap, &why) ==
            CELLAR_OK)
        return CELLAR_OK;
    return cellar_plan_fail(name, &(plan_place){text->records.tree->line, NULL}, "budget.cap", err,
                            "%s", why.message);
}

/* ---- one class ---------------------------------------------------------------------------------
 */

/* A table of one cell. */
static cellar_status one_cell(cellar_table **out, cellar_error *err)
{
    cellar_codelist *list = NULL;
    cellar_schema *schema = NULL;
    cellar_cells none = {0};
    cellar_status status = CELLAR_OK;
    *out = NULL;
    CELLAR_TRY(cellar_codelist_create(&list, err));
    CELLAR_TRY(cellar_codelist_add(list, "1", NULL, NULL, CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_finish(list, err));
    CELLAR_TRY(
        cellar_schema_create(&(cellar_schema_variable_def){"cell", CELLAR_DOMAIN_DECLARED, list}, 1,
                             NULL, &schema, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &none, 0, out, err));
out:
    cellar_codelist_free(list);
    cellar_schema_free(schema);
    return status;
}

static cellar_status price_amounts(serve_price *price, const serve_prices *prices,
                                   const cellar_table *cell, cellar_error *err)
{
    cellar_prepared *prepared = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_protect_prepare(cell, price->mechanism, &prices->options, &prepared, err));
    if (cellar_prepared_certificate(prepared) == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "no guarantee could be computed"));
    CELLAR_TRY(cellar_amounts_from_certificate(cellar_prepared_certificate(prepared),
                                               prices->options.delta, &price->amounts, err));
    if (prices->by_rho)
        CELLAR_TRY(cellar_amounts_claim_rho(&price->amounts, err));
    else if (price->amounts.epsilon_nano == 0 && price->amounts.delta_atto == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE, "it has no epsilon: choose a delta"));
out:
    cellar_prepared_free(prepared);
    return status;
}

static cellar_status price_init(serve_price *price, const serve_prices *prices,
                                const cellar_table *cell, cellar_error *err)
{
    cellar_moments moments;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_mechanism_create(price->class->mechanism, &price->mechanism, err));
    if (price->mechanism->ops->is_joint)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s does not draw each cell by itself",
                               cellar_mechanism_name(price->mechanism)));
    CELLAR_TRY(price_amounts(price, prices, cell, err));
    cellar_ledger_cost_text(&price->amounts, prices->by_rho, price->text);
    cellar_amount_text_nano(prices->by_rho ? price->amounts.rho_nano : price->amounts.epsilon_nano,
                            price->amount);
    cellar_mechanism_moments(price->mechanism, LARGE_COUNT, CELLAR_NEGATIVES_KEEP, &moments);
    price->sd = sqrt(moments.variance);
out:
    return status;
}

/* ---- all of them -------------------------------------------------------------------------------
 */

cellar_status serve_prices_init(serve_prices *prices, const char *name,
                                const serve_drawn_text *text, const char *unit, cellar_error *err)
{
    const plan_list *classes = &text->budget.classes;
    cellar_table *cell = NULL;
    cellar_status status = CELLAR_OK;
    *prices = (serve_prices){.by_rho = text->budget.cap.rho != NULL,
                             .options = options_make(text, unit),
                             .items = cellar_alloc(classes->n, sizeof *prices->items)};
    if (prices->items == NULL)
        return cellar_fail_memory(err, "prices");
    CELLAR_TRY(check_accept(name, text, err));
    CELLAR_TRY(take_cap(prices, name, text, err));
    CELLAR_TRY(one_cell(&cell, err));
    for (; prices->n < classes->n && status == CELLAR_OK; prices->n++) {
        serve_price *price = &prices->items[prices->n];
        cellar_error why = {""};
        price->class = (const serve_class *) classes->items + prices->n;
        status = price_init(price, prices, cell, &why);
        if (status == CELLAR_ERR_MEMORY)
            cellar_fail_memory(err, "prices");
        else if (status != CELLAR_OK)
            cellar_plan_fail(name, &price->class->place, "mechanism", err, "%s", why.message);
    }
out:
    cellar_table_free(cell);
    return status;
}

void serve_prices_clear(serve_prices *prices)
{
    for (size_t i = 0; i < prices->n; i++)
        cellar_mechanism_free(prices->items[i].mechanism);
    cellar_free(prices->items);
    *prices = (serve_prices){0};
}

const serve_price *serve_price_of(const serve_prices *prices, const serve_dataset *dataset,
                                  const serve_table *table)
{
    const size_t n_variables = serve_table_n_variables(dataset, table);
    const uint64_t n_cells = serve_table_n_cells(dataset, table);
    for (size_t i = 0; i < prices->n; i++) {
        const serve_class *class = prices->items[i].class;
        if (n_variables <= class->variables && (class->cells == 0 || n_cells <= class->cells))
            return &prices->items[i];
    }
    return NULL;
}

const serve_obstacle *serve_find_obstacle(const serve_dataset *dataset, const serve_table *table)
{
    static const serve_obstacle total = {"total", "the total alone is not drawn"};
    static const serve_obstacle cells = {"cells", "the vault draws tables of at most 2^24 cells"};
    static const serve_obstacle class = {"class",
                                         "no class of the configuration has a table of that size"};
    static const serve_obstacle wide = {"variables",
                                        "the variance floor is known for tables of at most 8 "
                                        "variables"};
    const serve_prices *prices = dataset->prices;
    const size_t n_variables = serve_table_n_variables(dataset, table);
    _Static_assert(CUBE_ORDER_MAX == 8, "the sentence says so");
    if (n_variables == 0)
        return &total;
    if (serve_table_n_cells(dataset, table) > SERVE_DRAWN_CELLS_MAX)
        return &cells;
    if (dataset->kind == SERVE_CELL_KEY && n_variables > CUBE_ORDER_MAX)
        return &wide;
    return prices != NULL && serve_price_of(prices, dataset, table) == NULL ? &class : NULL;
}

int serve_price_is_within(const serve_prices *prices, const serve_price *price,
                          const char *max_cost)
{
    cellar_amounts most;
    const int by_rho = prices->by_rho;
    if (cellar_amounts_parse_cap(by_rho ? NULL : max_cost, NULL, by_rho ? max_cost : NULL, &most,
                                 NULL) != CELLAR_OK)
        return -1;
    return by_rho ? price->amounts.rho_nano <= most.rho_nano
                  : price->amounts.epsilon_nano <= most.epsilon_nano;
}
