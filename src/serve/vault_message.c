/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Messages from the front, each checked as if the front were hostile, and their replies
 * (docs/table-builder-vault.md lists both). A message is a JSON object of texts; a member that its
 * kind does not have is refused, so that nothing can be asked for that is not meant. Replies hold
 * what the configuration, the ledger and the request decide: never a count. */
#include "serve/vault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "ledger/ledger.h"
#include "serve/population.h"
#include "serve/rules.h"

enum {
    ARENA_BYTES = 1 << 22,
    REPLY_ROOM = CELLAR_VAULT_MESSAGE_BYTES - 8192, /* for what grows: texts and lists */
    TEXT_MAX = 4096                                 /* bytes of a member */
};

/* A message being answered. */
typedef struct answering {
    cellar_vault *vault;
    vault_set *set;
    const char *table, *max_cost, *authorization, *from;
    cellar_arena *arena;
    json_t *reply;
    cellar_error *err;
} answering;

/* ---- replies --------------------------------------------------------------------------------- */

/* Takes the value; what fails is noticed when the reply is written. */
static void put(answering *a, const char *key, json_t *value)
{
    if (json_object_set_new(a->reply, key, value) != 0) {
        json_decref(a->reply);
        a->reply = NULL;
    }
}

static void put_text(answering *a, const char *key, const char *text)
{
    put(a, key, text != NULL ? json_string(text) : json_null());
}

static cellar_status wrong(answering *a, const char *detail)
{
    put_text(a, "state", "wrong");
    put_text(a, "detail", detail);
    return CELLAR_OK;
}

static void put_refusal(answering *a, const serve_refusal *refusal)
{
    put_text(a, "rule", refusal->rule);
    put_text(a, "detail", refusal->detail);
}

static void put_cost(answering *a, const serve_price *price)
{
    const int by_rho = a->set->prices.by_rho;
    if (price == NULL)
        return;
    put_text(a, "cost", price->text);
    put_text(a, "currency", by_rho ? "rho" : "epsilon");
    put_text(a, "amount", price->amount);
}

static void put_table(answering *a, const serve_table *table)
{
    char text[SERVE_TABLE_TEXT];
    serve_table_text(&a->set->dataset, table, text);
    put_text(a, "dataset", a->set->dataset.id);
    put_text(a, "table", text);
    if (a->set->is_void)
        put_text(a, "note", SERVE_VOID_NOTE);
}

/* ---- who asks ----------------------------------------------------------------------------------
 */

/* The token of the message; 0: it has none that is known. */
static int find_token(const answering *a, serve_token *out)
{
    return a->vault->tokens != NULL && a->authorization != NULL &&
           serve_tokens_find(a->vault->tokens, a->authorization, (int64_t) time(NULL), out);
}

/* ---- draw ------------------------------------------------------------------------------------ */

static cellar_status refuse_token(answering *a)
{
    put_text(a, "state", "refused");
    put_text(a, "rule", "token");
    put_text(a, "detail", "a table is drawn for somebody whose token may draw");
    return CELLAR_OK;
}

static void reply_outcome(answering *a, const serve_table *table, const vault_outcome *outcome)
{
    put_text(a, "state", outcome->is_drawn ? "drawn" : outcome->exists ? "exists" : "refused");
    put_table(a, table);
    if (outcome->is_drawn || outcome->exists)
        put_text(a, "file", outcome->file);
    else
        put_refusal(a, &outcome->refusal);
    put_cost(a, outcome->price);
}

static cellar_status answer_draw(answering *a)
{
    const int is_budget = a->set->dataset.kind == SERVE_BUDGET;
    serve_token token;
    serve_table table;
    vault_outcome outcome;
    cellar_error why = {""};
    cellar_status status;
    if (is_budget != (a->max_cost != NULL))
        return wrong(a,
                     is_budget ? "'max_cost' is missing" : "there is no cost: leave max_cost out");
    if (serve_table_parse(&a->set->dataset, a->table, &table, &why) != CELLAR_OK)
        return wrong(a, why.message);
    if (!find_token(a, &token) || (token.roles & SERVE_MAY_DRAW) == 0)
        return refuse_token(a);
    status = vault_draw(a->vault, a->set, &table, token.analyst[0] != '\0' ? token.analyst : NULL,
                        a->max_cost, a->arena, &outcome, a->err);
    if (status == CELLAR_OK)
        reply_outcome(a, &table, &outcome);
    return status;
}

/* ---- cost ------------------------------------------------------------------------------------ */

static cellar_status answer_cost(answering *a)
{
    serve_table table;
    serve_verdict verdict;
    vault_place place;
    cellar_error why = {""};
    cellar_status status = CELLAR_OK;
    if (serve_table_parse(&a->set->dataset, a->table, &table, &why) != CELLAR_OK)
        return wrong(a, why.message);
    pthread_mutex_lock(&a->set->ledger->lock);
    status = vault_place_find(a->set, &table, &place, &why);
    pthread_mutex_unlock(&a->set->ledger->lock);
    if (status == CELLAR_OK || status == CELLAR_ERR_RULE) {
        put_text(a, "state", "ok");
        put_table(a, &table);
        put(a, "exists", json_boolean(place.exists && status == CELLAR_OK));
        if (status == CELLAR_OK && place.exists)
            put_text(a, "file", place.file);
        status = serve_rules_check(&a->set->dataset, &table, a->arena, &verdict, a->err);
        put(a, "is_allowed", json_boolean(verdict.is_allowed));
        if (!verdict.is_allowed)
            put_refusal(a, &verdict.refusal);
        if (a->set->dataset.kind == SERVE_BUDGET) {
            const serve_price *price = serve_price_of(&a->set->prices, &a->set->dataset, &table);
            put_cost(a, price);
            if (price != NULL && isfinite(price->sd))
                put(a, "sd", json_real(price->sd));
        }
    } else
        cellar_fail(a->err, status, "%s", why.message);
    vault_place_clear(&place);
    return status;
}

/* ---- balance and statement ------------------------------------------------------------------- */

static json_t *json_amounts(const cellar_balance *balance, const cellar_amounts *amounts)
{
    char text[CELLAR_COST_TEXT];
    cellar_ledger_cost_text(amounts, balance->by_rho, text);
    return json_string(text);
}

/* Of the data set (`analyst` NULL) or of a share. */
static cellar_status put_balance(answering *a, const char *key, const char *analyst)
{
    cellar_balance balance;
    json_t *object;
    cellar_status status = cellar_ledger_balance(
        a->set->ledger->ledger, a->set->text.ledger.dataset, analyst, &balance, a->err);
    if (status != CELLAR_OK || !balance.has_cap)
        return status;
    object = json_pack("{s:o, s:o, s:o, s:I}", "cap", json_amounts(&balance, &balance.cap), "spent",
                       json_amounts(&balance, &balance.spent), "left",
                       json_amounts(&balance, &balance.left), "n_charges",
                       (json_int_t) balance.n_charges);
    put(a, key, object);
    return CELLAR_OK;
}

/* What was paid for and lost, because a vault ended while it drew. */
static cellar_status put_wasted(answering *a)
{
    vault_known *known;
    size_t n, n_wasted = 0;
    cellar_amounts sum = {0};
    cellar_balance balance;
    cellar_status status = vault_known_list(a->set, &known, &n, a->err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        if (known[i].state == CELLAR_CHARGE_LOST) {
            cellar_amounts_add(&sum, &known[i].amounts);
            n_wasted++;
        }
    cellar_free(known);
    status = cellar_ledger_balance(a->set->ledger->ledger, a->set->text.ledger.dataset, NULL,
                                   &balance, a->err);
    if (status == CELLAR_OK)
        put(a, "wasted",
            json_pack("{s:I, s:o}", "n_charges", (json_int_t) n_wasted, "cost",
                      json_amounts(&balance, &sum)));
    return status;
}

static cellar_status answer_balance(answering *a)
{
    serve_token token;
    cellar_status status = CELLAR_OK;
    put_text(a, "state", "ok");
    put_text(a, "dataset", a->set->dataset.id);
    CELLAR_TRY(cellar_ledger_catch_up(a->set->ledger->ledger, a->err));
    CELLAR_TRY(put_balance(a, "budget", NULL));
    if (find_token(a, &token) && token.analyst[0] != '\0')
        CELLAR_TRY(put_balance(a, "share", token.analyst));
    CELLAR_TRY(put_wasted(a));
out:
    return status;
}

static cellar_status answer_statement(answering *a)
{
    const char *statement;
    size_t length;
    cellar_status status = cellar_ledger_catch_up(a->set->ledger->ledger, a->err);
    if (status != CELLAR_OK)
        return status;
    statement = cellar_ledger_statement(a->set->ledger->ledger, a->set->text.ledger.dataset);
    if (statement == NULL)
        return cellar_fail_memory(a->err, "a statement");
    length = strlen(statement);
    while (length > REPLY_ROOM / 2 || ((unsigned char) statement[length] & 0xc0) == 0x80)
        length--; /* to the beginning of a character */
    put_text(a, "state", "ok");
    put_text(a, "dataset", a->set->dataset.id);
    put(a, "statement", json_stringn(statement, length));
    put(a, "is_whole", json_boolean(statement[length] == '\0'));
    if (a->set->is_void)
        put_text(a, "note", SERVE_VOID_NOTE);
    return put_wasted(a);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static cellar_status answer_tables(answering *a)
{
    json_t *list = json_array();
    vault_known *known;
    size_t n, first = 0, used = 0, i;
    uint64_t from = 0;
    cellar_status status;
    if (a->from != NULL && !cellar_parse_u64(a->from, strlen(a->from), &from)) {
        json_decref(list);
        return wrong(a, "'from' is no whole number");
    }
    status = vault_known_list(a->set, &known, &n, a->err);
    first = from < n ? (size_t) from : n;
    for (i = first; status == CELLAR_OK && i < n && used < REPLY_ROOM / 2; i++) {
        char text[SERVE_TABLE_TEXT];
        if (known[i].state != CELLAR_CHARGE_DONE)
            continue;
        serve_table_text(&a->set->dataset, &known[i].table, text);
        used += strlen(text) + 8;
        if (json_array_append_new(list, json_string(text)) != 0)
            status = cellar_fail_memory(a->err, "a reply");
    }
    cellar_free(known);
    put_text(a, "state", "ok");
    put_text(a, "dataset", a->set->dataset.id);
    put(a, "tables", list);
    put(a, "next", status == CELLAR_OK && i < n ? json_integer((json_int_t) i) : json_null());
    return status;
}

static cellar_status answer_history(answering *a)
{
    json_t *days = json_array();
    cellar_status status = cellar_ledger_catch_up(a->set->ledger->ledger, a->err);
    if (status == CELLAR_OK)
        status = vault_history(a->set, days, a->err);
    put_text(a, "state", "ok");
    put(a, "days", days);
    return status;
}

/* ---- messages -------------------------------------------------------------------------------- */

typedef struct message_kind {
    const char *name;
    cellar_status (*answer)(answering *a);
    int has_table, has_max_cost, has_authorization, has_from; /* which members it may have */
    int holds_ledger; /* answered while nobody else uses the ledger */
} message_kind;

static const message_kind kinds[] = {
    {.name = "draw",
     .answer = answer_draw,
     .has_table = 1,
     .has_max_cost = 1,
     .has_authorization = 1},
    {.name = "cost", .answer = answer_cost, .has_table = 1},
    {.name = "balance", .answer = answer_balance, .has_authorization = 1, .holds_ledger = 1},
    {.name = "statement", .answer = answer_statement, .holds_ledger = 1},
    {.name = "tables", .answer = answer_tables, .has_from = 1, .holds_ledger = 1},
    {.name = "history", .answer = answer_history, .holds_ledger = 1},
};

/* Takes one member; 0 when this kind of message has none of that name. */
static int take_member(answering *a, const message_kind *kind, const char *key, const char *text)
{
    const struct {
        const char *key;
        int is_allowed;
        const char **out;
    } members[] = {{"table", kind->has_table, &a->table},
                   {"max_cost", kind->has_max_cost, &a->max_cost},
                   {"authorization", kind->has_authorization, &a->authorization},
                   {"from", kind->has_from, &a->from}};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (strcmp(key, members[i].key) == 0 && members[i].is_allowed) {
            *members[i].out = text;
            return 1;
        }
    return 0;
}

static const message_kind *find_kind(const json_t *message)
{
    const char *name = json_string_value(json_object_get(message, "do"));
    for (size_t i = 0; name != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(name, kinds[i].name) == 0)
            return &kinds[i];
    return NULL;
}

/* Reads the members; a sentence when something is wrong with them, else NULL. */
static const char *read_members(answering *a, const message_kind *kind, json_t *message)
{
    const char *key;
    json_t *value;
    json_object_foreach(message, key, value)
    {
        const char *text = json_string_value(value);
        if (text == NULL || json_string_length(value) > TEXT_MAX - 1)
            return "the members of a message are texts of at most 4095 bytes";
        if (strcmp(key, "do") == 0)
            continue;
        if (strcmp(key, "dataset") == 0)
            a->set = vault_find_set(a->vault, text);
        else if (!take_member(a, kind, key, text))
            return "the message has a member that its kind does not have";
    }
    if (a->set == NULL)
        return "'dataset' names no data set that is drawn here";
    if (kind->has_table && a->table == NULL)
        return "'table' is missing";
    return NULL;
}

static cellar_status answer_message(answering *a, json_t *message)
{
    const message_kind *kind = find_kind(message);
    const char *fault;
    cellar_status status;
    if (kind == NULL)
        return wrong(a, "'do' is none of draw, cost, balance, statement, tables and history");
    fault = read_members(a, kind, message);
    if (fault != NULL)
        return wrong(a, fault);
    if (kind->holds_ledger)
        pthread_mutex_lock(&a->set->ledger->lock);
    status = kind->answer(a);
    if (kind->holds_ledger)
        pthread_mutex_unlock(&a->set->ledger->lock);
    return status;
}

/* An operator sees why; the front does not, for the reason may name files. */
static void reply_failure(answering *a)
{
    json_decref(a->reply);
    a->reply = json_object();
    put_text(a, "state", "failed");
    put_text(a, "detail", "the vault could not do it; the operator of the server sees why");
}

static cellar_status write_reply(answering *a, char **reply, size_t *length)
{
    char *text = a->reply != NULL ? json_dumps(a->reply, JSON_COMPACT) : NULL;
    if (text == NULL)
        return cellar_fail_memory(a->err, "a reply");
    *length = strlen(text);
    CELLAR_ASSERT(*length <= CELLAR_VAULT_MESSAGE_BYTES);
    *reply = text;
    return CELLAR_OK;
}

cellar_status cellar_vault_answer(cellar_vault *vault, const char *message, size_t length,
                                  char **reply, size_t *reply_length, cellar_error *err)
{
    cellar_error unheard;
    answering a = {.vault = vault, .err = err != NULL ? err : &unheard, .reply = json_object()};
    json_t *root = NULL;
    cellar_status status = CELLAR_OK;

    *reply = NULL;
    *reply_length = 0;
    a.err->message[0] = '\0';
    a.arena = cellar_arena_create(ARENA_BYTES);
    if (a.arena == NULL)
        CELLAR_TRY(cellar_fail_memory(a.err, "a reply"));
    if (length <= CELLAR_VAULT_MESSAGE_BYTES)
        root = json_loadb(message, length, JSON_REJECT_DUPLICATES, NULL);
    status = json_is_object(root) ? answer_message(&a, root)
                                  : wrong(&a, "the message is no JSON object of at most 64 KiB");
    if (status == CELLAR_ERR_MEMORY)
        goto out;
    if (status != CELLAR_OK)
        reply_failure(&a);
    status = write_reply(&a, reply, reply_length);
out:
    json_decref(root);
    json_decref(a.reply);
    cellar_arena_free(a.arena);
    return status;
}
