/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GET /v1/tables/DATASET/TABLE: everything about a table but its values. */
#include <math.h>

#include "base/error.h"
#include "serve/judge.h"
#include "serve/price.h"
#include "serve/suggest.h"
#include "serve/v1.h"

static void write_variables(const serve_dataset *dataset, const serve_table *table, size_t language,
                            cellar_text *out)
{
    serve_json_name(out, "variables");
    serve_json_open(out, '[');
    for (size_t v = 0; v < dataset->n_variables; v++) {
        const serve_variable *variable = &dataset->variables[v];
        const serve_level *level = &variable->levels[table->levels[v] - (table->levels[v] > 0)];
        if (table->levels[v] == 0)
            continue;
        serve_json_open(out, '{');
        serve_json_pair(out, "code", variable->code);
        v1_text(out, "label", &variable->label, language);
        serve_json_pair(out, "level", level->id);
        v1_integer(out, "categories", level->n_categories);
        serve_json_close(out, '}');
    }
    serve_json_close(out, ']');
}

/* The half width of the interval (95 %) that a cell with this noise alone will have. */
static double half_width(const char *mechanism)
{
    static const size_t n_levels[] = {1};
    static const int64_t released[] = {INT64_C(1) << 30}; /* far from zero */
    const cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy_spec spec = cellar_noisy_spec_default();
    cellar_noisy *noisy = NULL;
    cellar_cell_set *cell = NULL;
    cellar_interval interval = {.low = NAN, .high = NAN};
    spec.n_levels = n_levels;
    spec.n_variables = 1;
    spec.released = released;
    spec.mechanism = mechanism;
    if (cellar_noisy_create(&spec, &noisy, NULL) != CELLAR_OK ||
        cellar_cell_set_create_one(noisy, 0, &cell, NULL) != CELLAR_OK ||
        cellar_interval_run(noisy, cell, CELLAR_COMPARE_NONE, NULL, &options, &interval, NULL) !=
            CELLAR_OK)
        interval.low = interval.high = NAN;
    cellar_cell_set_free(cell);
    cellar_noisy_free(noisy);
    return (interval.high - interval.low) / 2;
}

/* Exact where the cell has the noise of one mechanism; of sums that of a normal distribution. */
static void write_noise(const char *mechanism, double sd, cellar_text *out)
{
    const double exact = mechanism != NULL ? half_width(mechanism) : NAN;
    v1_number(out, "sd", sd);
    v1_number(out, "half_width95", isnan(exact) ? 1.959963984540054 * sd : exact);
}

static void write_cost(const serve_price *price, int by_rho, cellar_text *out)
{
    serve_json_name(out, "cost");
    serve_json_open(out, '{');
    serve_json_pair(out, "currency", by_rho ? "rho" : "epsilon");
    serve_json_pair(out, "amount", price->amount);
    serve_json_pair(out, "text", price->text);
    serve_json_close(out, '}');
}

static const serve_price *find_price(const serve_dataset *dataset, const serve_table *table)
{
    return dataset->prices != NULL ? serve_price_of(dataset->prices, dataset, table) : NULL;
}

/* 1 when the vault would draw the table, if the budget is not spent. */
static int can_draw(const cellar_site *site, const serve_dataset *dataset, const serve_table *table)
{
    return site->options.ask_vault != NULL && serve_can_draw(dataset, table);
}

/* What drawing the table would cost and give; null when it cannot be drawn. */
static void write_draw(const serve_dataset *dataset, const serve_table *table, int is_possible,
                       cellar_text *out)
{
    const serve_price *price = find_price(dataset, table);
    serve_json_name(out, "draw");
    if (!is_possible) {
        serve_json_raw(out, "null");
        return;
    }
    serve_json_open(out, '{');
    if (price != NULL) {
        write_cost(price, dataset->prices->by_rho, out);
        serve_json_pair(out, "mechanism", price->class->mechanism);
        write_noise(price->class->mechanism, price->sd, out);
    } else
        serve_json_pair(out, "cost", NULL); /* cell keys charge nothing */
    serve_json_close(out, '}');
}

/* What answers the table now; null when nothing does. */
static cellar_status write_answer(const serve_dataset *dataset, const serve_table *table,
                                  const serve_status *known, cellar_arena *arena, cellar_text *out,
                                  cellar_error *err)
{
    char name[SERVE_TABLE_TEXT];
    serve_cover cover;
    cellar_status status;
    serve_json_name(out, "answer");
    if (!known->exists) {
        serve_json_raw(out, "null");
        return CELLAR_OK;
    }
    status = dataset->source->ops->describe(dataset->source, dataset, table, arena, &cover, err);
    if (status != CELLAR_OK)
        return status;
    serve_table_text(dataset, &known->from, name);
    serve_json_open(out, '{');
    v1_bool(out, "exact", known->is_exact);
    serve_json_pair(out, "from", name);
    serve_json_pair(out, "mechanism", known->mechanism);
    write_noise(dataset->kind != SERVE_CUBE && known->is_exact ? known->mechanism : NULL, known->sd,
                out);
    serve_json_pair(out, "certificate", cover.id);
    serve_json_pair(out, "guarantee", cover.guarantee);
    serve_json_pair(out, "origin", cover.origin);
    serve_json_close(out, '}');
    return CELLAR_OK;
}

static cellar_status write_suggestion(const cellar_site *site, const serve_dataset *dataset,
                                      const serve_table *table, cellar_text *out, cellar_error *err)
{
    char name[SERVE_TABLE_TEXT];
    serve_status known;
    cellar_status status =
        dataset->source->ops->status(dataset->source, dataset, table, &known, err);
    if (status != CELLAR_OK)
        return status;
    serve_table_text(dataset, table, name);
    serve_json_open(out, '{');
    serve_json_pair(out, "table", name);
    v1_integer(out, "cells", serve_table_n_cells(dataset, table));
    v1_bool(out, "exists", known.exists);
    write_draw(dataset, table, !known.exists && can_draw(site, dataset, table), out);
    serve_json_close(out, '}');
    return CELLAR_OK;
}

static cellar_status write_refusal(const cellar_site *site, const serve_dataset *dataset,
                                   const serve_verdict *verdict, cellar_text *out,
                                   cellar_error *err)
{
    const serve_refusal *refusal = &verdict->refusal;
    cellar_status status = CELLAR_OK;
    serve_json_name(out, "refusal");
    if (verdict->is_allowed) {
        serve_json_raw(out, "null");
        return CELLAR_OK;
    }
    serve_json_open(out, '{');
    serve_json_pair(out, "rule", refusal->rule);
    serve_json_pair(out, "kind", refusal->kind);
    serve_json_pair(out, "detail", refusal->detail);
    serve_json_name(out, "suggestions");
    serve_json_open(out, '[');
    for (size_t i = 0; i < refusal->n_suggestions && status == CELLAR_OK; i++)
        status = write_suggestion(site, dataset, &refusal->suggestions[i], out, err);
    serve_json_close(out, ']');
    serve_json_close(out, '}');
    return status;
}

cellar_status v1_write_table(const cellar_site *site, const serve_dataset *dataset,
                             const serve_table *table, const serve_call *call, cellar_text *out,
                             cellar_error *err)
{
    char name[SERVE_TABLE_TEXT];
    serve_status known;
    serve_verdict verdict;
    int is_drawn;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(serve_judge(dataset, table, call->arena, &known, &verdict, err));
    serve_table_text(dataset, table, name);
    serve_json_pair(out, "dataset", dataset->id);
    serve_json_pair(out, "table", name);
    write_variables(dataset, table, call->language, out);
    v1_integer(out, "cells", serve_table_n_cells(dataset, table));
    is_drawn = known.exists && known.is_exact;
    v1_bool(out, "allowed",
            verdict.is_allowed || (!known.exists && can_draw(site, dataset, table)));
    CELLAR_TRY(write_refusal(site, dataset, &verdict, out, err));
    CELLAR_TRY(write_answer(dataset, table, &known, call->arena, out, err));
    write_draw(dataset, table, !is_drawn && can_draw(site, dataset, table), out);
out:
    return status;
}

cellar_status v1_table(cellar_site *site, const serve_call *call, serve_reply *reply,
                       cellar_error *err)
{
    serve_table table;
    cellar_error why;
    cellar_status status;
    const serve_dataset *dataset = v1_find_dataset(site, call->segments[1], reply, &status);
    if (dataset == NULL)
        return status;
    if (serve_table_parse(dataset, call->segments[2], &table, &why) != CELLAR_OK)
        return serve_reply_problem(reply, 404, "%s.", why.message);
    serve_json_open(&reply->body, '{');
    status = v1_write_table(site, dataset, &table, call, &reply->body, err);
    serve_json_close(&reply->body, '}');
    return status == CELLAR_OK ? v1_finish(reply) : status;
}
