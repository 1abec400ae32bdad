/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entries as the text that is chained: one JSON object each. */
#include "ledger/ledger.h"

#include <string.h>

#include <jansson.h>
#include <sodium.h>

#include "base/error.h"

static const char *const kind_names[] = {
    [CELLAR_ENTRY_CREATE] = "create",       [CELLAR_ENTRY_DATASET] = "dataset",
    [CELLAR_ENTRY_EDITION] = "edition",     [CELLAR_ENTRY_ANALYST] = "analyst",
    [CELLAR_ENTRY_UNCHARGED] = "uncharged", [CELLAR_ENTRY_ADOPT] = "adopt",
    [CELLAR_ENTRY_CHARGE] = "charge",       [CELLAR_ENTRY_STAGE] = "stage",
    [CELLAR_ENTRY_DONE] = "done",           [CELLAR_ENTRY_LOST] = "lost",
};
static const char *const uncharged_names[] = {
    [CELLAR_UNCHARGED_CELL_KEY] = "cell-key",
    [CELLAR_UNCHARGED_INVARIANT] = "invariant",
    [CELLAR_UNCHARGED_ELSEWHERE] = "elsewhere",
};
enum { N_KINDS = CELLAR_ENTRY_LOST + 1, N_UNCHARGED = CELLAR_UNCHARGED_ELSEWHERE + 1 };

const char *cellar_entry_kind_name(cellar_entry_kind kind)
{
    return kind_names[kind];
}

const char *cellar_uncharged_name(cellar_uncharged kind)
{
    return uncharged_names[kind];
}

/* The texts an entry may have, by their names in the object. */
static const struct {
    const char *name;
    size_t offset;
} entry_texts[] = {
    {"time", offsetof(cellar_ledger_entry, time)},
    {"nonce", offsetof(cellar_ledger_entry, nonce)},
    {"ledger", offsetof(cellar_ledger_entry, ledger)},
    {"key", offsetof(cellar_ledger_entry, key)},
    {"witness", offsetof(cellar_ledger_entry, witness)},
    {"request", offsetof(cellar_ledger_entry, request)},
    {"dataset", offsetof(cellar_ledger_entry, dataset)},
    {"edition", offsetof(cellar_ledger_entry, edition)},
    {"unit", offsetof(cellar_ledger_entry, unit)},
    {"analyst", offsetof(cellar_ledger_entry, analyst)},
    {"mechanism", offsetof(cellar_ledger_entry, mechanism)},
    {"what", offsetof(cellar_ledger_entry, what)},
    {"content", offsetof(cellar_ledger_entry, content)},
    {"output", offsetof(cellar_ledger_entry, output)},
    {"digest", offsetof(cellar_ledger_entry, digest)},
};
enum { N_TEXTS = sizeof entry_texts / sizeof entry_texts[0] };

static int entry_has_amounts(cellar_entry_kind kind)
{
    return kind == CELLAR_ENTRY_DATASET || kind == CELLAR_ENTRY_ANALYST ||
           kind == CELLAR_ENTRY_CHARGE;
}

/* ---- writing ------------------------------------------------------------------- */

static int object_add(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0; /* fails when value is NULL */
}

static int object_add_amounts(json_t *object, const cellar_ledger_entry *entry)
{
    const cellar_amounts *amounts = &entry->amounts;
    return object_add(object, "epsilon_nano", json_integer(amounts->epsilon_nano)) &&
           object_add(object, "delta_atto", json_integer(amounts->delta_atto)) &&
           (amounts->rho_nano == CELLAR_NO_RHO ||
            object_add(object, "rho_nano", json_integer(amounts->rho_nano)));
}

static int object_fill(json_t *object, const cellar_ledger_entry *entry)
{
    int good = object_add(object, "kind", json_string(kind_names[entry->kind]));
    for (size_t i = 0; good && i < N_TEXTS; i++) {
        const char *text = *(const char *const *) ((const char *) entry + entry_texts[i].offset);
        if (text != NULL)
            good = object_add(object, entry_texts[i].name, json_string(text));
    }
    if (good && entry->neighbours != CELLAR_NEIGHBOURS_DEFAULT)
        good = object_add(object, "neighbours",
                          json_string(cellar_neighbours_name(entry->neighbours)));
    if (good && entry->kind == CELLAR_ENTRY_UNCHARGED)
        good = object_add(object, "type", json_string(uncharged_names[entry->uncharged]));
    if (good && entry_has_amounts(entry->kind))
        good = object_add_amounts(object, entry);
    if (good && entry->population != 0)
        good = object_add(object, "population", json_integer((json_int_t) entry->population));
    if (good && entry->n_cells != 0)
        good = object_add(object, "cells", json_integer((json_int_t) entry->n_cells));
    if (good && entry->max_per_unit != 0)
        good = object_add(object, "per_unit", json_integer((json_int_t) entry->max_per_unit));
    if (good && entry->max_weight > 1)
        good = object_add(object, "weight", json_integer((json_int_t) entry->max_weight));
    if (good && entry->generation != 0)
        good = object_add(object, "generation", json_integer((json_int_t) entry->generation));
    if (good && entry->accept_delta)
        good = object_add(object, "accept_delta", json_true());
    if (good && entry->has_gap)
        good = object_add(object, "gap", json_true());
    return good;
}

static int text_take(const char *bytes, size_t length, void *data)
{
    cellar_text_add(data, bytes, length);
    return 0;
}

cellar_status cellar_ledger_entry_write(const cellar_ledger_entry *entry, cellar_text *body,
                                        cellar_error *err)
{
    json_t *object = json_object();
    int good = object != NULL && object_fill(object, entry) &&
               json_dump_callback(object, text_take, body, JSON_COMPACT) == 0 && !body->failed;
    json_decref(object);
    return good ? CELLAR_OK : cellar_fail_memory(err, "an entry of the ledger");
}

/* ---- reading ------------------------------------------------------------------- */

static size_t name_find(const char *const *names, size_t n, const json_t *name)
{
    const char *text = json_string_value(name);
    for (size_t i = 0; text != NULL && i < n; i++)
        if (strcmp(names[i], text) == 0)
            return i;
    return n;
}

/* A whole number of at least 0, or `otherwise` when there is none; -2 when it is something else. */
static int64_t object_integer(const json_t *object, const char *name, int64_t otherwise)
{
    const json_t *value = json_object_get(object, name);
    if (value == NULL)
        return otherwise;
    return json_is_integer(value) && json_integer_value(value) >= 0 ? json_integer_value(value)
                                                                    : -2;
}

static int object_read_numbers(const json_t *object, cellar_ledger_entry *out)
{
    int64_t population = object_integer(object, "population", 0);
    int64_t n_cells = object_integer(object, "cells", 0);
    int64_t max_per_unit = object_integer(object, "per_unit", 0);
    int64_t max_weight = object_integer(object, "weight", 0);
    int64_t generation = object_integer(object, "generation", 0);
    int needed = entry_has_amounts(out->kind) ? -2 : 0;
    out->amounts.epsilon_nano = object_integer(object, "epsilon_nano", needed);
    out->amounts.delta_atto = object_integer(object, "delta_atto", needed);
    out->amounts.rho_nano = object_integer(object, "rho_nano", CELLAR_NO_RHO);
    out->accept_delta = json_is_true(json_object_get(object, "accept_delta"));
    out->has_gap = json_is_true(json_object_get(object, "gap"));
    if (population < 0 || n_cells < 0 || max_per_unit < 0 || max_weight < 0 || generation < 0 ||
        out->amounts.epsilon_nano < 0 || out->amounts.delta_atto < 0 ||
        out->amounts.rho_nano < CELLAR_NO_RHO)
        return 0;
    out->population = (uint64_t) population;
    out->n_cells = (uint64_t) n_cells;
    out->max_per_unit = (uint64_t) max_per_unit;
    out->max_weight = max_weight > 1 ? (uint64_t) max_weight : 0;
    out->generation = (uint64_t) generation;
    return 1;
}

/* What each kind cannot be without. */
static int entry_is_whole(const cellar_ledger_entry *entry)
{
    switch (entry->kind) {
    case CELLAR_ENTRY_CREATE:
        return entry->ledger != NULL && entry->key != NULL;
    case CELLAR_ENTRY_DATASET:
        return entry->dataset != NULL && entry->edition != NULL && entry->unit != NULL &&
               entry->neighbours != CELLAR_NEIGHBOURS_DEFAULT;
    case CELLAR_ENTRY_EDITION:
        return entry->dataset != NULL && entry->edition != NULL;
    case CELLAR_ENTRY_ANALYST:
        return entry->dataset != NULL && entry->analyst != NULL;
    case CELLAR_ENTRY_UNCHARGED:
        return entry->dataset != NULL && entry->edition != NULL && entry->what != NULL;
    case CELLAR_ENTRY_ADOPT:
        return entry->witness != NULL && entry->what != NULL && entry->generation > 0;
    case CELLAR_ENTRY_CHARGE:
        return entry->dataset != NULL && entry->edition != NULL && entry->request != NULL &&
               entry->mechanism != NULL && entry->what != NULL && entry->content != NULL &&
               entry->output != NULL;
    case CELLAR_ENTRY_STAGE:
        return entry->request != NULL && entry->digest != NULL;
    case CELLAR_ENTRY_DONE:
    case CELLAR_ENTRY_LOST:
        return entry->request != NULL;
    }
    return 0;
}

static cellar_status object_read(const json_t *object, cellar_arena *arena,
                                 cellar_ledger_entry *out, cellar_error *err)
{
    size_t kind = name_find(kind_names, N_KINDS, json_object_get(object, "kind"));
    size_t type = 0;
    if (kind == N_KINDS)
        return cellar_fail(err, CELLAR_ERR_INPUT, "an entry of unknown kind");
    out->kind = (cellar_entry_kind) kind;
    for (size_t i = 0; i < N_TEXTS; i++) {
        const json_t *value = json_object_get(object, entry_texts[i].name);
        char *copy = NULL;
        if (json_is_string(value)) {
            copy = cellar_arena_copy(arena, json_string_value(value), json_string_length(value));
            if (copy == NULL)
                return cellar_fail_memory(err, "the history of a ledger");
        }
        *(const char **) ((char *) out + entry_texts[i].offset) = copy;
    }
    cellar_neighbours_find(json_string_value(json_object_get(object, "neighbours")),
                           &out->neighbours);
    if (out->kind == CELLAR_ENTRY_UNCHARGED)
        type = name_find(uncharged_names, N_UNCHARGED, json_object_get(object, "type"));
    if (type == N_UNCHARGED || !object_read_numbers(object, out) || out->time == NULL ||
        out->nonce == NULL || !entry_is_whole(out))
        return cellar_fail(err, CELLAR_ERR_INPUT, "an entry that lacks something");
    out->uncharged = (cellar_uncharged) type;
    return CELLAR_OK;
}

cellar_status cellar_ledger_entry_read(const char *body, size_t length, cellar_arena *arena,
                                       cellar_ledger_entry *out, cellar_error *err)
{
    json_t *object = json_loadb(body, length, JSON_REJECT_DUPLICATES, NULL);
    cellar_status status;
    *out = (cellar_ledger_entry){0};
    if (!json_is_object(object))
        status = cellar_fail(err, CELLAR_ERR_INPUT, "an entry that is no JSON object");
    else
        status = object_read(object, arena, out, err);
    json_decref(object);
    return status;
}

/* ---- the chain ------------------------------------------------------------------ */

static void mac_number(crypto_generichash_state *state, uint64_t number)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char) (number >> 8 * i);
    crypto_generichash_update(state, bytes, sizeof bytes);
}

/* Keyed BLAKE2b of what came before, the number and the body. The lengths are fixed or hashed, so
 * that no two entries are hashed alike. */
void cellar_ledger_entry_mac(const cellar_ledger_secret *secret,
                             const unsigned char previous[CELLAR_LEDGER_HASH_BYTES], int64_t number,
                             const char *body, size_t length,
                             unsigned char mac[CELLAR_LEDGER_HASH_BYTES])
{
    static const unsigned char purpose[] = "cellar ledger 2";
    crypto_generichash_state state;
    CELLAR_ASSERT(secret->is_there);
    crypto_generichash_init(&state, secret->mac_key, sizeof secret->mac_key,
                            CELLAR_LEDGER_HASH_BYTES);
    crypto_generichash_update(&state, purpose, sizeof purpose);
    crypto_generichash_update(&state, previous, CELLAR_LEDGER_HASH_BYTES);
    mac_number(&state, (uint64_t) number);
    mac_number(&state, length);
    crypto_generichash_update(&state, (const unsigned char *) body, length);
    crypto_generichash_final(&state, mac, CELLAR_LEDGER_HASH_BYTES);
    cellar_wipe(&state, sizeof state);
}

void cellar_ledger_text_mac(const cellar_ledger_secret *secret, const char *purpose,
                            const char *text, size_t length, char out[CELLAR_LEDGER_HASH_TEXT])
{
    unsigned char mac[CELLAR_LEDGER_HASH_BYTES];
    crypto_generichash_state state;
    CELLAR_ASSERT(secret->is_there);
    crypto_generichash_init(&state, secret->mac_key, sizeof secret->mac_key, sizeof mac);
    crypto_generichash_update(&state, (const unsigned char *) purpose, strlen(purpose) + 1);
    crypto_generichash_update(&state, (const unsigned char *) text, length);
    crypto_generichash_final(&state, mac, sizeof mac);
    cellar_wipe(&state, sizeof state);
    cellar_ledger_hex(mac, out);
}

void cellar_ledger_content(const cellar_ledger *ledger, const char *digest,
                           char out[CELLAR_LEDGER_HASH_TEXT])
{
    cellar_ledger_text_mac(ledger->secret, "cellar ledger content 1", digest, strlen(digest), out);
}

void cellar_ledger_hex(const unsigned char bytes[CELLAR_LEDGER_HASH_BYTES],
                       char out[CELLAR_LEDGER_HASH_TEXT])
{
    sodium_bin2hex(out, CELLAR_LEDGER_HASH_TEXT, bytes, CELLAR_LEDGER_HASH_BYTES);
}
