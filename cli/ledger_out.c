/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "ledger_out.h"

#include <stdio.h>
#include <string.h>

#include "json_out.h"
#include "message.h"
#include "terminal.h"

static const char PLAN_NOTE[] = "non-adaptive figure, not enforced";

/* ---- amounts --------------------------------------------------------------------------- */

/* Exact decimals, as texts: no digit is lost on the way through a double. */
static void json_amounts(cli_json *json, const char *key, const cellar_amounts *amounts, int by_rho)
{
    char text[CELLAR_AMOUNT_TEXT];
    cli_json_begin(json, key, '{');
    if (by_rho) {
        cellar_amount_text_nano(amounts->rho_nano, text);
        cli_json_text(json, "rho", text);
    } else {
        cellar_amount_text_nano(amounts->epsilon_nano, text);
        cli_json_text(json, "epsilon", text);
        cellar_amount_text_atto(amounts->delta_atto, text);
        cli_json_text(json, "delta", text);
    }
    cli_json_end(json, '}');
}

static void json_balance(cli_json *json, const cellar_balance *balance)
{
    cli_json_text(json, "accounting", balance->by_rho ? "rho" : "basic");
    if (balance->has_cap)
        json_amounts(json, "cap", &balance->cap, balance->by_rho);
    json_amounts(json, "spent", &balance->spent, balance->by_rho);
    if (balance->has_cap)
        json_amounts(json, "left", &balance->left, balance->by_rho);
    cli_json_count(json, "charges", balance->n_charges);
}

/* ---- show --------------------------------------------------------------------------------- */

static int is_shown(const cellar_ledger_entry *entry, const char *dataset)
{
    return dataset == NULL || (entry->dataset != NULL && strcmp(entry->dataset, dataset) == 0);
}

static void json_analysts(cli_json *json, const cellar_ledger *ledger, const char *dataset)
{
    cli_json_begin(json, "analysts", '[');
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        cellar_balance balance;
        if (entry->kind != CELLAR_ENTRY_ANALYST || strcmp(entry->dataset, dataset) != 0 ||
            cellar_ledger_balance(ledger, dataset, entry->analyst, &balance, NULL) != CELLAR_OK)
            continue;
        cli_json_begin(json, NULL, '{');
        cli_json_text(json, "analyst", entry->analyst);
        json_balance(json, &balance);
        cli_json_end(json, '}');
    }
    cli_json_end(json, ']');
}

static void json_plan(cli_json *json, const cellar_nonadaptive *figure)
{
    char epsilon[CELLAR_AMOUNT_TEXT], delta[CELLAR_AMOUNT_TEXT];
    if (figure->n_charges == 0)
        return;
    cellar_amount_text_nano(figure->epsilon_nano, epsilon);
    cellar_amount_text_atto(figure->delta_atto, delta);
    cli_json_begin(json, "non_adaptive", '{');
    cli_json_text(json, "note", PLAN_NOTE);
    cli_json_text(json, "epsilon", figure->is_known ? epsilon : NULL);
    cli_json_real(json, "epsilon_lower", figure->lower);
    cli_json_text(json, "delta", delta);
    cli_json_end(json, '}');
}

static void json_dataset(cli_json *json, cellar_ledger *ledger, const cellar_ledger_entry *made,
                         const cellar_nonadaptive *figure)
{
    cellar_balance balance;
    if (cellar_ledger_balance(ledger, made->dataset, NULL, &balance, NULL) != CELLAR_OK)
        return;
    cli_json_begin(json, NULL, '{');
    cli_json_text(json, "dataset", made->dataset);
    cli_json_text(json, "unit", made->unit);
    cli_json_text(json, "neighbours", cellar_neighbours_name(made->neighbours));
    if (made->population > 0)
        cli_json_count(json, "population", made->population);
    json_balance(json, &balance);
    cli_json_count(json, "uncharged", balance.n_uncharged);
    json_plan(json, figure);
    json_analysts(json, ledger, made->dataset);
    cli_json_text(json, "statement", cellar_ledger_statement(ledger, made->dataset));
    cli_json_end(json, '}');
}

static void show_analysts(cellar_output *output, const cellar_ledger *ledger, const char *dataset)
{
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        char left[CELLAR_AMOUNT_TEXT], delta[CELLAR_AMOUNT_TEXT];
        cellar_balance balance;
        if (entry->kind != CELLAR_ENTRY_ANALYST || strcmp(entry->dataset, dataset) != 0 ||
            cellar_ledger_balance(ledger, dataset, entry->analyst, &balance, NULL) != CELLAR_OK)
            continue;
        cellar_amount_text_nano(balance.by_rho ? balance.left.rho_nano : balance.left.epsilon_nano,
                                left);
        cellar_amount_text_atto(balance.left.delta_atto, delta);
        cellar_output_printf(output, "Analyst %s: left are %s %s%s%s.\n", entry->analyst,
                             balance.by_rho ? "rho" : "epsilon", left,
                             balance.by_rho ? "" : ", delta ", balance.by_rho ? "" : delta);
    }
}

static void show_plan(cellar_output *output, const cellar_nonadaptive *figure)
{
    char epsilon[CELLAR_AMOUNT_TEXT], delta[CELLAR_AMOUNT_TEXT];
    if (figure->n_charges == 0)
        return;
    cellar_amount_text_nano(figure->epsilon_nano, epsilon);
    cellar_amount_text_atto(figure->delta_atto, delta);
    if (!figure->is_known)
        cellar_output_printf(output, "%s: nothing is proved at delta %s.\n", PLAN_NOTE, delta);
    else
        cellar_output_printf(output,
                             "%s: epsilon %s at delta %s, had every request been fixed before the "
                             "first draw.\n",
                             PLAN_NOTE, epsilon, delta);
}

static void show_text(cellar_output *output, cellar_ledger *ledger, const cellar_ledger_entry *made,
                      const cellar_nonadaptive *figure)
{
    const char *statement = cellar_ledger_statement(ledger, made->dataset);
    cellar_output_string(output, statement != NULL ? statement : "");
    show_plan(output, figure);
    show_analysts(output, ledger, made->dataset);
    cellar_output_string(output, "\n");
}

static cellar_status show_dataset(cli_json *json, cellar_ledger *ledger,
                                  const cellar_ledger_entry *made, const char *delta, int as_json,
                                  cellar_error *err)
{
    cellar_nonadaptive figure;
    cellar_status status = cellar_ledger_nonadaptive(ledger, made->dataset, delta, &figure, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json)
        json_dataset(json, ledger, made, &figure);
    else
        show_text(json->output, ledger, made, &figure);
    return CELLAR_OK;
}

cellar_status cli_ledger_show(cellar_ledger *ledger, const char *dataset, const char *delta,
                              int as_json, cellar_error *err)
{
    cli_json json = {0};
    cellar_balance unused;
    cellar_status status = CELLAR_OK;
    if (dataset != NULL)
        status = cellar_ledger_balance(ledger, dataset, NULL, &unused, err);
    if (status == CELLAR_OK)
        status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json) {
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "ledger", cellar_ledger_id(ledger));
        cli_json_count(&json, "entries", cellar_ledger_n_entries(ledger));
        cli_json_text(&json, "head", cellar_ledger_head(ledger));
        cli_json_begin(&json, "datasets", '[');
    }
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger) && status == CELLAR_OK; i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        if (entry->kind == CELLAR_ENTRY_DATASET && is_shown(entry, dataset))
            status = show_dataset(&json, ledger, entry, delta, as_json, err);
    }
    if (status != CELLAR_OK) {
        cellar_output_discard(json.output);
        return status;
    }
    if (as_json) {
        cli_json_end(&json, ']');
        cli_json_end(&json, '}');
    } else {
        cellar_output_printf(json.output, "ledger %s, %zu entr%s, head %s\n",
                             cellar_ledger_id(ledger), cellar_ledger_n_entries(ledger),
                             cellar_ledger_n_entries(ledger) == 1 ? "y" : "ies",
                             cellar_ledger_head(ledger));
    }
    return cellar_output_commit(json.output, err);
}

/* ---- history --------------------------------------------------------------------------------- */

static int has_amounts(const cellar_ledger_entry *entry)
{
    return entry->kind == CELLAR_ENTRY_DATASET || entry->kind == CELLAR_ENTRY_ANALYST ||
           entry->kind == CELLAR_ENTRY_CHARGE;
}

static void json_entry(cli_json *json, const cellar_ledger_entry *entry)
{
    const struct {
        const char *name, *text;
    } texts[] = {{"request", entry->request},
                 {"dataset", entry->dataset},
                 {"edition", entry->edition},
                 {"unit", entry->unit},
                 {"neighbours", entry->neighbours != CELLAR_NEIGHBOURS_DEFAULT
                                    ? cellar_neighbours_name(entry->neighbours)
                                    : NULL},
                 {"analyst", entry->analyst},
                 {"mechanism", entry->mechanism},
                 {"what", entry->what},
                 {"output", entry->output},
                 {"digest", entry->digest},
                 {"witness", entry->witness}};
    char text[CELLAR_AMOUNT_TEXT];
    cli_json_begin(json, NULL, '{');
    cli_json_count(json, "entry", (uint64_t) entry->number);
    cli_json_text(json, "kind", cellar_entry_kind_name(entry->kind));
    cli_json_text(json, "time", entry->time);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (texts[i].text != NULL)
            cli_json_text(json, texts[i].name, texts[i].text);
    if (entry->kind == CELLAR_ENTRY_UNCHARGED)
        cli_json_text(json, "uncharged", cellar_uncharged_name(entry->uncharged));
    if (entry->n_cells > 0)
        cli_json_count(json, "cells_per_record", entry->n_cells);
    if (entry->max_per_unit > 0)
        cli_json_count(json, "per_unit", entry->max_per_unit);
    if (entry->max_weight > 0)
        cli_json_count(json, "max_weight", entry->max_weight);
    if (has_amounts(entry)) {
        json_amounts(json, "amounts", &entry->amounts, 0);
        cellar_amount_text_nano(entry->amounts.rho_nano, text);
        cli_json_text(json, "rho", entry->amounts.rho_nano == CELLAR_NO_RHO ? NULL : text);
    }
    cli_json_text(json, "head", entry->head);
    cli_json_end(json, '}');
}

static void grid_entry(cli_grid *grid, const cellar_ledger_entry *entry)
{
    char number[24], epsilon[CELLAR_AMOUNT_TEXT] = "", delta[CELLAR_AMOUNT_TEXT] = "";
    char rho[CELLAR_AMOUNT_TEXT] = "";
    const char *about = entry->what != NULL      ? entry->what
                        : entry->digest != NULL  ? entry->digest
                        : entry->edition != NULL ? entry->edition
                                                 : "";
    snprintf(number, sizeof number, "%lld", (long long) entry->number);
    if (has_amounts(entry)) {
        cellar_amount_text_nano(entry->amounts.epsilon_nano, epsilon);
        cellar_amount_text_atto(entry->amounts.delta_atto, delta);
        if (entry->amounts.rho_nano != CELLAR_NO_RHO)
            cellar_amount_text_nano(entry->amounts.rho_nano, rho);
    }
    cli_grid_add(grid, number);
    cli_grid_add(grid, entry->time);
    cli_grid_add(grid, cellar_entry_kind_name(entry->kind));
    cli_grid_add(grid, entry->dataset != NULL ? entry->dataset : "");
    cli_grid_add(grid, entry->request != NULL   ? entry->request
                       : entry->analyst != NULL ? entry->analyst
                                                : "");
    cli_grid_add(grid, epsilon);
    cli_grid_add(grid, delta);
    cli_grid_add(grid, rho);
    cli_grid_add(grid, about);
}

static void grid_head(cli_grid *grid)
{
    static const char *const head[] = {"entry",   "time",  "kind", "dataset", "request",
                                       "epsilon", "delta", "rho",  "about"};
    grid->n_columns = sizeof head / sizeof head[0];
    for (size_t i = 0; i < grid->n_columns; i++)
        cli_grid_add(grid, head[i]);
}

cellar_status cli_ledger_history(const cellar_ledger *ledger, const char *dataset, int as_json,
                                 cellar_error *err)
{
    cli_json json = {0};
    cli_grid grid = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    grid_head(&grid);
    if (as_json) {
        cli_json_begin(&json, NULL, '{');
        cli_json_text(&json, "ledger", cellar_ledger_id(ledger));
        cli_json_begin(&json, "history", '[');
    }
    for (size_t i = 0; i < cellar_ledger_n_entries(ledger); i++) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        if (as_json && is_shown(entry, dataset))
            json_entry(&json, entry);
        else if (is_shown(entry, dataset))
            grid_entry(&grid, entry);
    }
    if (as_json) {
        cli_json_end(&json, ']');
        cli_json_end(&json, '}');
    } else {
        cli_grid_write(&grid, 1, json.output);
    }
    cli_grid_clear(&grid);
    return cellar_output_commit(json.output, err);
}

/* ---- verify ------------------------------------------------------------------------------- */

/* Only a witness knows whether entries were added since. */
static void ledger_tell_age(const cellar_ledger *ledger, cellar_output *output)
{
    if (cellar_ledger_witness(ledger) != NULL)
        cellar_output_printf(output, "its witness knows no newer history: %s\n",
                             cellar_ledger_witness(ledger));
    else
        cellar_output_string(output, "there is no witness: an older copy of this ledger would pass "
                                     "as well (ledger adopt --witness FILE)\n");
}

cellar_status cli_ledger_tell_verified(const cellar_ledger *ledger, const char *const *releases,
                                       const cellar_against *found, int as_json, cellar_error *err)
{
    cli_json json = {0};
    cellar_status status = cellar_output_open("-", NULL, &json.output, err);
    if (status != CELLAR_OK)
        return status;
    if (as_json) {
        cli_json_begin(&json, NULL, '{');
        cli_json_truth(&json, "verified", 1);
        cli_json_text(&json, "ledger", cellar_ledger_id(ledger));
        cli_json_count(&json, "entries", cellar_ledger_n_entries(ledger));
        cli_json_text(&json, "head", cellar_ledger_head(ledger));
        cli_json_text(&json, "witness", cellar_ledger_witness(ledger));
        cli_json_begin(&json, "against", '[');
    } else {
        cellar_output_printf(json.output, "%zu entr%s, none of them changed; head %s\n",
                             cellar_ledger_n_entries(ledger),
                             cellar_ledger_n_entries(ledger) == 1 ? "y" : "ies",
                             cellar_ledger_head(ledger));
        ledger_tell_age(ledger, json.output);
    }
    for (size_t i = 0; releases[i] != NULL; i++) {
        if (as_json) {
            cli_json_begin(&json, NULL, '{');
            cli_json_text(&json, "release", releases[i]);
            cli_json_count(&json, "entry", (uint64_t) found[i].number);
            cli_json_text(&json, "request", found[i].request);
            cli_json_text(&json, "state", cellar_charge_state_name(found[i].state));
            cli_json_end(&json, '}');
        } else {
            cellar_output_printf(json.output,
                                 "%s: charged in entry %lld, request %s; the recorded output\n",
                                 releases[i], (long long) found[i].number, found[i].request);
        }
    }
    if (as_json) {
        cli_json_end(&json, ']');
        cli_json_end(&json, '}');
    }
    return cellar_output_commit(json.output, err);
}
