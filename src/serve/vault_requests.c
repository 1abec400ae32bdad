/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the ledger knows about canonical tables. The request of a table follows from data set,
 * edition, table and the number of the attempt:
 *
 *     serve/1/census/2026/region^1*sex
 *
 * An attempt that was paid and lost, because the vault ended in between, was seen by nobody; the
 * next one has the next number and is a new charge. A table from cell keys is drawn by its keys,
 * and so always the same: it has one attempt, noted in the ledger without a charge. */
#include "serve/vault.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/folder.h"
#include "ledger/ledger.h"

static const char MARK[] = "serve/";
static const char *const endings[] = {".cellar.json", "-metadata.json", NULL};

/* ---- names --------------------------------------------------------------------------------- */

static cellar_status request_make(const vault_set *set, const serve_table *table, unsigned attempt,
                                  cellar_text *out, cellar_error *err)
{
    char text[SERVE_TABLE_TEXT];
    serve_table_text(&set->dataset, table, text);
    cellar_text_reset(out);
    cellar_text_printf(out, "%s%u/%s%s", MARK, attempt, set->prefix, text);
    if (out->failed)
        return cellar_fail_memory(err, "a request");
    return CELLAR_OK;
}

/* The table that a request of this data set is about; 0: it is none of its requests. */
static int request_read(const vault_set *set, const char *request, serve_table *out)
{
    const size_t prefix = strlen(set->prefix);
    size_t digits;
    if (request == NULL || strncmp(request, MARK, sizeof MARK - 1) != 0)
        return 0;
    request += sizeof MARK - 1;
    digits = strspn(request, "0123456789");
    if (digits == 0 || request[digits] != '/' ||
        strncmp(request + digits + 1, set->prefix, prefix) != 0)
        return 0;
    return serve_table_parse(&set->dataset, request + digits + 1 + prefix, out, NULL) == CELLAR_OK;
}

/* "region-1-sex.0123456789abcdef.json": readable, and no two requests share one. */
static void file_name(const char *request, const char *table, char out[VAULT_FILE_TEXT])
{
    enum { READABLE = 80, HASH = 8, DIGITS = 2 * HASH };
    unsigned char hash[16];
    size_t n = 0;
    crypto_generichash(hash, sizeof hash, (const unsigned char *) request, strlen(request), NULL,
                       0);
    for (; table[n] != '\0' && n < READABLE; n++) {
        const char c = table[n];
        const int is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        out[n] = (char) (is_plain ? c : '-');
    }
    out[n++] = '.';
    sodium_bin2hex(out + n, VAULT_FILE_TEXT - n, hash, HASH);
    memcpy(out + n + DIGITS, ".json", sizeof ".json");
}

cellar_status vault_place_path(const vault_set *set, const vault_place *place, cellar_text *out,
                               cellar_error *err)
{
    cellar_text_printf(out, "%s/%s", set->folder, place->file);
    return out->failed ? cellar_fail_memory(err, "the name of a file") : CELLAR_OK;
}

void vault_place_clear(vault_place *place)
{
    cellar_text_clear(&place->request);
}

/* ---- one table ------------------------------------------------------------------------------- */

static cellar_status place_name(const vault_set *set, const serve_table *table, unsigned attempt,
                                vault_place *out, cellar_error *err)
{
    char text[SERVE_TABLE_TEXT];
    cellar_status status;
    out->attempt = attempt;
    status = request_make(set, table, attempt, &out->request, err);
    if (status != CELLAR_OK)
        return status;
    serve_table_text(&set->dataset, table, text);
    file_name(out->request.bytes, text, out->file);
    return CELLAR_OK;
}

/* The file that was drawn must be there as it was recorded. */
static cellar_status place_check(const vault_set *set, const vault_place *place, cellar_error *err)
{
    const cellar_ledger_entry *stage =
        cellar_ledger_find_request(set->ledger->ledger, place->request.bytes, CELLAR_ENTRY_STAGE);
    char digest[CELLAR_LEDGER_HASH_TEXT];
    cellar_text path = {0};
    int found = 0;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(vault_place_path(set, place, &path, err));
    CELLAR_TRY(cellar_ledger_digest(NULL, path.bytes, endings, &found, digest, err));
    if (!found || stage == NULL || strcmp(stage->digest, digest) != 0)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "the table was drawn, and its file is not there any more or was "
                             "changed; it is never drawn again: restore the file from a copy");
out:
    cellar_text_clear(&path);
    return status;
}

static cellar_status find_charged(const vault_set *set, const serve_table *table, vault_place *out,
                                  cellar_error *err)
{
    cellar_ledger *ledger = set->ledger->ledger;
    for (unsigned attempt = 1;; attempt++) {
        cellar_charge_state state;
        cellar_status status = place_name(set, table, attempt, out, err);
        if (status == CELLAR_OK)
            status = cellar_ledger_settle(ledger, out->request.bytes, endings, &state, err);
        if (status != CELLAR_OK)
            return status;
        if (state == CELLAR_CHARGE_DONE) {
            out->exists = 1;
            return place_check(set, out, err);
        }
        if (state == CELLAR_CHARGE_NONE)
            return CELLAR_OK;
    }
}

/* The number of the entry that notes a request; 0: none does. */
static size_t find_note(const vault_set *set, const char *request)
{
    const cellar_ledger *ledger = set->ledger->ledger;
    for (size_t i = cellar_ledger_n_entries(ledger); i-- > 0;) {
        const cellar_ledger_entry *entry = cellar_ledger_entry_at(ledger, i);
        if (entry->kind == CELLAR_ENTRY_UNCHARGED && strcmp(entry->what, request) == 0)
            return i + 1;
    }
    return 0;
}

static cellar_status find_noted(const vault_set *set, const serve_table *table, vault_place *out,
                                cellar_error *err)
{
    cellar_text path = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(place_name(set, table, 1, out, err));
    CELLAR_TRY(vault_place_path(set, out, &path, err));
    out->noted = find_note(set, out->request.bytes);
    out->exists = out->noted > 0 && access(path.bytes, F_OK) == 0;
out:
    cellar_text_clear(&path);
    return status;
}

cellar_status vault_place_find(const vault_set *set, const serve_table *table, vault_place *out,
                               cellar_error *err)
{
    cellar_status status = cellar_ledger_catch_up(set->ledger->ledger, err);
    *out = (vault_place){0};
    if (status != CELLAR_OK)
        return status;
    return set->dataset.kind == SERVE_BUDGET ? find_charged(set, table, out, err)
                                             : find_noted(set, table, out, err);
}

/* ---- all of them -------------------------------------------------------------------------------
 */

typedef struct known_list {
    vault_known *items;
    size_t n, capacity;
} known_list;

static cellar_status known_add(known_list *list, const vault_known *one, cellar_error *err)
{
    if (!cellar_grow(&list->items, &list->capacity, list->n + 1, sizeof *list->items))
        return cellar_fail_memory(err, "a set of tables");
    list->items[list->n++] = *one;
    return CELLAR_OK;
}

static vault_known *known_find(const known_list *list, const char *request)
{
    for (size_t i = list->n; request != NULL && i-- > 0;)
        if (strcmp(list->items[i].request, request) == 0)
            return &list->items[i];
    return NULL;
}

/* Walks the history once: a later entry says how far a request got. */
static cellar_status known_take(const vault_set *set, const cellar_ledger_entry *entry,
                                known_list *list, cellar_error *err)
{
    const int is_charge = entry->kind == CELLAR_ENTRY_CHARGE;
    const int is_note = entry->kind == CELLAR_ENTRY_UNCHARGED;
    vault_known one = {.request = is_note ? entry->what : entry->request,
                       .amounts = entry->amounts,
                       .state = is_note ? CELLAR_CHARGE_DONE : CELLAR_CHARGE_CHARGED};
    vault_known *before;
    if (is_charge || is_note)
        return cellar_ledger_same(entry->dataset, set->text.ledger.dataset) &&
                       is_note == (set->dataset.kind == SERVE_CELL_KEY) &&
                       request_read(set, one.request, &one.table)
                   ? known_add(list, &one, err)
                   : CELLAR_OK;
    before = known_find(list, entry->request);
    if (before != NULL && entry->kind == CELLAR_ENTRY_STAGE)
        before->state = CELLAR_CHARGE_STAGED;
    if (before != NULL && entry->kind == CELLAR_ENTRY_DONE)
        before->state = CELLAR_CHARGE_DONE;
    if (before != NULL && entry->kind == CELLAR_ENTRY_LOST)
        before->state = CELLAR_CHARGE_LOST;
    return CELLAR_OK;
}

cellar_status vault_known_list(const vault_set *set, vault_known **out, size_t *n,
                               cellar_error *err)
{
    const cellar_ledger *ledger = set->ledger->ledger;
    known_list list = {0};
    cellar_status status = cellar_ledger_catch_up(set->ledger->ledger, err);
    for (size_t i = 0; status == CELLAR_OK && i < cellar_ledger_n_entries(ledger); i++)
        status = known_take(set, cellar_ledger_entry_at(ledger, i), &list, err);
    *out = list.items;
    *n = list.n;
    if (status != CELLAR_OK) {
        cellar_free(list.items);
        *out = NULL;
        *n = 0;
    }
    return status;
}

cellar_status vault_settle(const vault_set *set, cellar_error *err)
{
    vault_known *known;
    size_t n;
    cellar_status status = vault_known_list(set, &known, &n, err);
    for (size_t i = 0; status == CELLAR_OK && i < n; i++) {
        cellar_charge_state state;
        if (known[i].state == CELLAR_CHARGE_CHARGED || known[i].state == CELLAR_CHARGE_STAGED)
            status =
                cellar_ledger_settle(set->ledger->ledger, known[i].request, endings, &state, err);
    }
    cellar_free(known);
    return status;
}

/* ---- the folder
 * ---------------------------------------------------------------------------------- */

/* 1 when a file of that name belongs to a table that was drawn. */
static int is_known_file(const vault_set *set, const vault_known *known, size_t n, const char *name)
{
    char text[SERVE_TABLE_TEXT], file[VAULT_FILE_TEXT];
    for (size_t i = 0; i < n; i++) {
        if (known[i].state != CELLAR_CHARGE_DONE)
            continue;
        serve_table_text(&set->dataset, &known[i].table, text);
        file_name(known[i].request, text, file);
        if (strcmp(file, name) == 0)
            return 1;
    }
    return 0;
}

/* 1 when the ledger charged a file to the dataset, and not for another data set or edition that is
 * drawn here. */
static int is_vouched_for(const vault_set *set, const char *path)
{
    const cellar_ledger *ledger = set->ledger->ledger;
    cellar_against against;
    cellar_error why = {""};
    serve_table unused;
    if (set->dataset.kind != SERVE_BUDGET ||
        cellar_ledger_verify_against(ledger, path, &against, &why) != CELLAR_OK)
        return 0;
    return strcmp(cellar_ledger_entry_at(ledger, (size_t) against.number - 1)->dataset,
                  set->text.ledger.dataset) == 0 &&
           (strncmp(against.request, MARK, sizeof MARK - 1) != 0 ||
            request_read(set, against.request, &unused));
}

static cellar_status check_stranger(const vault_set *set, const char *name, cellar_error *err)
{
    cellar_text path = {0};
    cellar_status status = CELLAR_OK;
    cellar_text_printf(&path, "%s/%s", set->folder, name);
    if (path.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    CELLAR_TRY(cellar_ledger_catch_up(set->ledger->ledger, err)); /* it may be a moment old */
    if (!is_vouched_for(set, path.bytes))
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "%s: the ledger did not charge this release to the dataset '%s' for "
                             "this edition; a ledger that is older than the releases would draw "
                             "tables again that people have seen: restore the newest one, or take "
                             "the file away (each edition has a folder of its own)",
                             path.bytes, set->text.ledger.dataset);
out:
    cellar_text_clear(&path);
    return status;
}

cellar_status vault_check_folder(const vault_set *set, cellar_error *err)
{
    vault_known *known = NULL;
    cellar_names names = {0};
    size_t n;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(vault_known_list(set, &known, &n, err));
    CELLAR_TRY(cellar_folder_list(set->folder, &names, err));
    for (size_t i = 0; i < names.n; i++)
        if (names.items[i][0] != '.' && !is_known_file(set, known, n, names.items[i]))
            CELLAR_TRY(check_stranger(set, names.items[i], err));
out:
    cellar_names_clear(&names);
    cellar_free(known);
    return status;
}
