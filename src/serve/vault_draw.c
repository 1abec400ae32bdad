/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A request to draw: found, refused, or drawn.
 *
 * Everything up to the count depends on the configuration, the ledger and the request alone; so do
 * its refusals. After the count nothing is refused that could have been before, and the reply waits
 * for its step. */
#include "serve/vault.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ledger/ledger.h"
#include "math/flint.h"
#include "serve/floor.h"
#include "serve/rules.h"

/* One request at work. */
typedef struct drawing {
    cellar_vault *vault;
    vault_set *set;
    const serve_table *table;
    const char *analyst, *max_cost;
    cellar_arena *arena;
    vault_outcome *out;
    vault_place place;
    int is_counted;
} drawing;

/* ---- refusals ---------------------------------------------------------------------------------
 */

/* Writes the refusal into the outcome. */
static cellar_status refuse(drawing *d, const char *rule, cellar_error *err, const char *format,
                            ...) CELLAR_PRINTF(4, 5);

static cellar_status refuse(drawing *d, const char *rule, cellar_error *err, const char *format,
                            ...)
{
    char detail[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(detail, sizeof detail, format, arguments);
    va_end(arguments);
    d->out->refusal = (serve_refusal){.rule = rule,
                                      .detail = cellar_arena_copy(d->arena, detail, strlen(detail)),
                                      .cost = d->out->price != NULL ? d->out->price->text : NULL};
    return d->out->refusal.detail != NULL ? CELLAR_OK : cellar_fail_memory(err, "a refusal");
}

static int is_refused(const drawing *d)
{
    return d->out->refusal.rule != NULL;
}

/* ---- claims: one at a time for one table --------------------------------------------------------
 */

static int is_claimed(const drawing *d)
{
    for (const vault_claim *claim = d->vault->claims; claim != NULL; claim = claim->next)
        if (claim->set == d->set && memcmp(&claim->table, d->table, sizeof *d->table) == 0)
            return 1;
    return 0;
}

static void claim(drawing *d, vault_claim *mine)
{
    cellar_vault *vault = d->vault;
    pthread_mutex_lock(&vault->lock);
    while (is_claimed(d))
        pthread_cond_wait(&vault->freed, &vault->lock);
    *mine = (vault_claim){d->set, *d->table, vault->claims};
    vault->claims = mine;
    pthread_mutex_unlock(&vault->lock);
}

static void let_go(drawing *d, vault_claim *mine)
{
    cellar_vault *vault = d->vault;
    pthread_mutex_lock(&vault->lock);
    for (vault_claim **at = &vault->claims; *at != NULL; at = &(*at)->next)
        if (*at == mine) {
            *at = mine->next;
            break;
        }
    pthread_cond_broadcast(&vault->freed);
    pthread_mutex_unlock(&vault->lock);
}

/* ---- before anything is counted
 * ------------------------------------------------------------------ */

static cellar_status check_table(drawing *d, cellar_error *err)
{
    const serve_obstacle *obstacle = serve_find_obstacle(&d->set->dataset, d->table);
    serve_verdict verdict;
    cellar_status status;
    if (d->place.request.length > CELLAR_REQUEST_MAX_BYTES)
        return refuse(d, "names", err, "the names of the variables are too long for the ledger");
    status = serve_rules_check(&d->set->dataset, d->table, d->arena, &verdict, err);
    if (status == CELLAR_OK && !verdict.is_allowed) {
        d->out->refusal = verdict.refusal;
        d->out->refusal.cost = NULL;
    } else if (status == CELLAR_OK && obstacle != NULL)
        status = refuse(d, obstacle->rule, err, "%s", obstacle->detail);
    return status;
}

/* What a share or the budget has left, in its currency. */
static cellar_status check_left(drawing *d, const char *analyst, cellar_error *err)
{
    const serve_price *price = d->out->price;
    const char *dataset = d->set->text.ledger.dataset;
    cellar_balance balance;
    char left[CELLAR_COST_TEXT];
    cellar_status status =
        cellar_ledger_balance(d->set->ledger->ledger, dataset, analyst, &balance, err);
    if (status != CELLAR_OK || !balance.has_cap)
        return status;
    if (balance.by_rho ? price->amounts.rho_nano <= balance.left.rho_nano
                       : price->amounts.epsilon_nano <= balance.left.epsilon_nano &&
                             price->amounts.delta_atto <= balance.left.delta_atto)
        return CELLAR_OK;
    cellar_ledger_cost_text(&balance.left, balance.by_rho, left);
    return refuse(d, analyst != NULL ? "share" : "budget", err,
                  "the table costs %s, and %s %s left of %s", price->text, left,
                  balance.by_rho ? "is" : "are",
                  analyst != NULL ? "your share of the budget" : "the budget of these people");
}

/* Looked at before counting, for counting takes time; the charge itself looks again. */
static cellar_status check_budget(drawing *d, cellar_error *err)
{
    cellar_error why = {""};
    cellar_status status = cellar_ledger_check_share(d->set->ledger->ledger,
                                                     d->set->text.ledger.dataset, d->analyst, &why);
    if (status == CELLAR_ERR_RULE)
        return refuse(d, "share", err,
                      "the budget is shared out among analysts, and the token has no share");
    status = check_left(d, NULL, err);
    if (status == CELLAR_OK && !is_refused(d) && d->analyst != NULL)
        status = check_left(d, d->analyst, err);
    return status;
}

static cellar_status check_price(drawing *d, cellar_error *err)
{
    int is_within;
    d->out->price = serve_price_of(&d->set->prices, &d->set->dataset, d->table);
    is_within = serve_price_is_within(&d->set->prices, d->out->price, d->max_cost);
    if (is_within < 0)
        return refuse(d, "max-cost", err, "max_cost is no decimal");
    if (!is_within)
        return refuse(d, "max-cost", err, "the table costs %s, more than max_cost",
                      d->out->price->text);
    return check_budget(d, err);
}

/* Which margins would be known, and how well, with this table too. */
static cellar_status check_floor(drawing *d, cellar_error *err)
{
    vault_set *set = d->set;
    vault_known *known = NULL;
    serve_table *tables = NULL;
    serve_floor floor;
    char margin[SERVE_TABLE_TEXT];
    size_t n;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(vault_known_list(set, &known, &n, err));
    tables = cellar_alloc(n + 1, sizeof *tables);
    if (tables == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the variance floor"));
    for (size_t i = 0; i < n; i++)
        tables[i] = known[i].table;
    tables[n] = *d->table;
    CELLAR_TRY(serve_floor_find(&set->axes, tables, n + 1, set->noise_variance, &floor, err));
    if (floor.variance >= set->floor_variance)
        goto out;
    serve_table_text(&set->dataset, &floor.margin, margin);
    status =
        refuse(d, "variance-floor", err,
               "with this table the margin %.200s could be estimated with a standard deviation "
               "below %.3g, and the floor is %.3g",
               margin, ceil(sqrt(floor.variance) * 1000) / 1000, sqrt(set->floor_variance));
out:
    cellar_free(tables);
    cellar_free(known);
    return status;
}

/* Finds the table, or whatever refuses it. The lock of the ledger is held. */
static cellar_status look(drawing *d, cellar_error *err)
{
    cellar_error why = {""};
    cellar_status status = vault_place_find(d->set, d->table, &d->place, &why);
    if (status == CELLAR_ERR_RULE)
        return refuse(d, "gone", err, "%s", why.message);
    if (status != CELLAR_OK)
        return cellar_fail(err, status, "%s", why.message);
    if (d->place.exists) {
        d->out->exists = 1;
        return CELLAR_OK;
    }
    status = check_table(d, err);
    if (status != CELLAR_OK || is_refused(d))
        return status;
    return d->set->dataset.kind == SERVE_BUDGET ? check_price(d, err)
           : d->place.noted > 0                 ? CELLAR_OK /* it is in the floor already */
                                                : check_floor(d, err);
}

/* ---- drawing
 * ------------------------------------------------------------------------------------- */

static cellar_status draw(drawing *d, cellar_error *err)
{
    serve_verdict verdict = {.is_allowed = 1};
    cellar_error why = {""};
    cellar_status status;
    if (d->set->dataset.kind == SERVE_BUDGET)
        status = vault_draw_charged(d->set, d->table, d->analyst, d->out->price, &d->place,
                                    &d->is_counted, &why);
    else
        status =
            vault_draw_keyed(d->set, d->table, &d->place, d->arena, &verdict, &d->is_counted, &why);
    if (status == CELLAR_ERR_BUDGET) /* somebody was faster */
        return refuse(d, "budget", err, "%s", why.message);
    if (status != CELLAR_OK)
        return cellar_fail(err, status, "%s", why.message);
    if (!verdict.is_allowed)
        d->out->refusal = verdict.refusal;
    d->out->is_drawn = verdict.is_allowed;
    return CELLAR_OK;
}

static cellar_status run(drawing *d, cellar_error *err)
{
    cellar_status status;
    pthread_mutex_lock(&d->set->ledger->lock);
    status = look(d, err);
    pthread_mutex_unlock(&d->set->ledger->lock);
    if (status == CELLAR_OK && !d->out->exists && !is_refused(d))
        status = draw(d, err);
    if (status == CELLAR_OK && (d->out->exists || d->out->is_drawn)) {
        d->out->file = cellar_arena_copy(d->arena, d->place.file, strlen(d->place.file));
        if (d->out->file == NULL)
            status = cellar_fail_memory(err, "a reply");
    }
    return status;
}

cellar_status vault_draw(cellar_vault *vault, vault_set *set, const serve_table *table,
                         const char *analyst, const char *max_cost, cellar_arena *arena,
                         vault_outcome *out, cellar_error *err)
{
    drawing d = {.vault = vault,
                 .set = set,
                 .table = table,
                 .analyst = analyst,
                 .max_cost = max_cost,
                 .arena = arena,
                 .out = out};
    const uint64_t began = vault->clock.now_ms(vault->clock.context);
    vault_claim mine;
    const int is_keyed = set->dataset.kind == SERVE_CELL_KEY;
    cellar_status status;
    *out = (vault_outcome){0};
    claim(&d, &mine);
    if (is_keyed) /* between looking at the floor and noting a table nobody else may look */
        pthread_mutex_lock(&set->floor_lock);
    status = run(&d, err);
    if (is_keyed)
        pthread_mutex_unlock(&set->floor_lock);
    if (d.is_counted)
        flint_cleanup(); /* what Arb keeps for a thread, which may end now */
    if (d.is_counted) /* before the claim ends: who waits for it would learn when drawing ended */
        vault_clock_round_up(&vault->clock, began, vault_step_ms(set, table));
    let_go(&d, &mine);
    vault_place_clear(&d.place);
    return status;
}
