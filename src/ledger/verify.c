/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether the history is what was written, by itself and against what was released. */
#include "ledger/ledger.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/folder.h"

enum { RELEASE_MAX_BYTES = 1 << 30 };

/* ---- the history alone ------------------------------------------------------------------ */

static int by_request(const void *a, const void *b)
{
    const cellar_ledger_entry *const *left = a, *const *right = b;
    return strcmp((*left)->request, (*right)->request);
}

static cellar_status history_fault(const cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                   const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: entry %" PRId64 ": %s", ledger->path,
                       entry->number, what);
}

/* Every request is charged once, and staged, done or lost only afterwards. */
static cellar_status history_check_requests(const cellar_ledger *ledger, cellar_error *err)
{
    const cellar_ledger_entry **charges = cellar_alloc(ledger->n_entries, sizeof *charges);
    size_t n = 0;
    cellar_status status = CELLAR_OK;

    if (charges == NULL)
        return cellar_fail_memory(err, "the requests of a ledger");
    for (size_t i = 0; i < ledger->n_entries; i++)
        if (ledger->entries[i]->kind == CELLAR_ENTRY_CHARGE)
            charges[n++] = ledger->entries[i];
    qsort(charges, n, sizeof *charges, by_request);
    for (size_t i = 1; i < n; i++)
        if (by_request(&charges[i - 1], &charges[i]) == 0)
            CELLAR_TRY(history_fault(ledger, charges[i], "a request that is charged twice", err));
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        const cellar_ledger_entry **charge;
        if (entry->kind < CELLAR_ENTRY_STAGE)
            continue;
        charge = n > 0 ? bsearch(&entry, charges, n, sizeof *charges, by_request) : NULL;
        if (charge == NULL || (*charge)->number >= entry->number)
            CELLAR_TRY(history_fault(ledger, entry, "an output without a charge before it", err));
    }
out:
    cellar_free(charges);
    return status;
}

static int balance_is_over(const cellar_balance *balance)
{
    if (!balance->has_cap)
        return 0;
    return balance->by_rho ? balance->left.rho_nano < 0
                           : balance->left.epsilon_nano < 0 || balance->left.delta_atto < 0;
}

static cellar_status history_check_caps(const cellar_ledger *ledger, cellar_error *err)
{
    for (size_t i = 0; i < ledger->n_entries; i++) {
        const cellar_ledger_entry *entry = ledger->entries[i];
        cellar_balance balance;
        cellar_status status;
        if (entry->kind != CELLAR_ENTRY_DATASET && entry->kind != CELLAR_ENTRY_ANALYST)
            continue;
        status = cellar_ledger_balance(ledger, entry->dataset,
                                       entry->kind == CELLAR_ENTRY_ANALYST ? entry->analyst : NULL,
                                       &balance, err);
        if (status != CELLAR_OK)
            return status;
        if (balance_is_over(&balance))
            return history_fault(ledger, entry, "a cap that was exceeded", err);
    }
    return CELLAR_OK;
}

cellar_status cellar_ledger_verify(cellar_ledger *ledger, cellar_error *err)
{
    size_t n_before = ledger->n_entries;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_ledger_store_check(ledger, err));
    ledger->n_entries = 0;
    memset(ledger->head, 0, sizeof ledger->head);
    CELLAR_TRY(cellar_ledger_catch_up(ledger, err));
    if (ledger->n_entries < n_before)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: entries are missing that were there before",
                           ledger->path);
    CELLAR_TRY(cellar_ledger_check_witness(ledger, err));
    CELLAR_TRY(history_check_requests(ledger, err));
    CELLAR_TRY(history_check_caps(ledger, err));
out:
    return status;
}

/* ---- against releases --------------------------------------------------------------------- */

static cellar_status stamp_check(const cellar_ledger *ledger, const char *path,
                                 const cellar_stamp *found, cellar_error *err)
{
    if (strcmp(found->ledger, cellar_ledger_id(ledger)) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: was charged to another ledger (%s)", path,
                           found->ledger);
    if (found->number < 1 || (uint64_t) found->number > ledger->n_entries)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: was charged in entry %" PRId64
                           ", and the ledger ends at entry %zu: "
                           "it was cut short or restored from a backup",
                           path, found->number, ledger->n_entries);
    if (strcmp(ledger->entries[found->number - 1]->head, found->head) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: names another history up to entry %" PRId64 " than the ledger has: "
                           "the ledger was edited, or restored from a backup and used again",
                           path, found->number);
    return CELLAR_OK;
}

/* Checks every stamp in a text; *out is the last. */
static cellar_status stamps_check(const cellar_ledger *ledger, const char *path, const char *bytes,
                                  size_t length, size_t *n_stamps, cellar_stamp *out,
                                  cellar_error *err)
{
    const char *at = bytes, *end = bytes + length;
    const size_t begins = strlen(CELLAR_STAMP_BEGINS);
    while ((at = memmem(at, (size_t) (end - at), CELLAR_STAMP_BEGINS, begins)) != NULL) {
        cellar_status status;
        if (cellar_stamp_read(at, out) == NULL)
            return cellar_fail(err, CELLAR_ERR_INPUT, "%s: its ledger stamp is damaged", path);
        status = stamp_check(ledger, path, out, err);
        if (status != CELLAR_OK)
            return status;
        ++*n_stamps;
        at += begins;
    }
    return CELLAR_OK;
}

/* PC-Axis breaks a long text into quoted pieces, one a line: they are put together. */
static size_t pieces_join(char *bytes, size_t length)
{
    size_t n = 0, i = 0;
    while (i < length) {
        size_t next = i + 1;
        while (bytes[i] == '"' && next < length && (bytes[next] == '\r' || bytes[next] == '\n'))
            next++;
        if (next > i + 1 && next < length && bytes[next] == '"')
            i = next + 1;
        else
            bytes[n++] = bytes[i++];
    }
    bytes[n] = '\0';
    return n;
}

static cellar_status stamps_check_file(const cellar_ledger *ledger, const char *path,
                                       size_t *n_stamps, cellar_stamp *out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length;
    cellar_status status = cellar_file_read_plain(path, RELEASE_MAX_BYTES, &bytes, &length, err);
    if (status == CELLAR_OK)
        status = stamps_check(ledger, path, bytes, pieces_join(bytes, length), n_stamps, out, err);
    cellar_free(bytes);
    return status;
}

/* A file of a recorded pack: *digest is that of its folder, where that has a manifest. */
static cellar_status against_folder(const char *path, char digest[CELLAR_LEDGER_HASH_TEXT],
                                    cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    cellar_text folder = {0}, manifest = {0};
    int unused;
    cellar_status status = CELLAR_OK;
    if (slash == NULL)
        cellar_text_add_string(&folder, ".");
    else
        cellar_text_add(&folder, path, slash == path ? 1 : (size_t) (slash - path));
    cellar_text_printf(&manifest, "%s/manifest.sha256", folder.failed ? "" : folder.bytes);
    if (folder.failed || manifest.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    if (access(manifest.bytes, F_OK) == 0)
        CELLAR_TRY(cellar_ledger_digest(NULL, folder.bytes, NULL, &unused, digest, err));
out:
    cellar_text_clear(&manifest);
    cellar_text_clear(&folder);
    return status;
}

static cellar_status against_tell(const cellar_ledger *ledger, const char *path,
                                  const char *const *endings, const cellar_stamp *found,
                                  cellar_against *out, cellar_error *err)
{
    const cellar_ledger_entry *charge = ledger->entries[found->number - 1], *stage;
    char digest[CELLAR_LEDGER_HASH_TEXT];
    int is_there;
    cellar_status status = cellar_ledger_digest(NULL, path, endings, &is_there, digest, err);
    if (status != CELLAR_OK)
        return status;
    if (charge->kind != CELLAR_ENTRY_CHARGE)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: names entry %" PRId64 ", which is no charge",
                           path, found->number);
    stage = cellar_ledger_find_request(ledger, charge->request, CELLAR_ENTRY_STAGE);
    if (stage != NULL && strcmp(stage->digest, digest) != 0 && !cellar_folder_is_there(path))
        status = against_folder(path, digest, err);
    if (status != CELLAR_OK)
        return status;
    if (!is_there || stage == NULL || strcmp(stage->digest, digest) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: is not the output that is recorded for request '%s' (entry %" PRId64
                           "): it was edited, converted or drawn by a copy of the ledger",
                           path, charge->request, found->number);
    *out = (cellar_against){.number = found->number,
                            .request = charge->request,
                            .state = cellar_ledger_state(ledger, charge->request)};
    return CELLAR_OK;
}

cellar_status cellar_ledger_verify_against(const cellar_ledger *ledger, const char *path,
                                           cellar_against *out, cellar_error *err)
{
    const char *endings[] = {".cellar.json", "-metadata.json", NULL};
    cellar_text companion = {0};
    size_t n_stamps = 0;
    cellar_stamp found = {{0}, 0, {0}};
    cellar_status status = CELLAR_OK, beside;

    *out = (cellar_against){0};
    if (cellar_folder_is_there(path)) { /* the pack of a plan: its certificate has the stamp */
        endings[0] = NULL;
        cellar_text_printf(&companion, "%s/certificate.json", path);
    } else {
        CELLAR_TRY(stamps_check_file(ledger, path, &n_stamps, &found, err));
        cellar_text_printf(&companion, "%s%s", path, endings[0]);
    }
    if (companion.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    beside = stamps_check_file(ledger, companion.bytes, &n_stamps, &found, err);
    if (beside != CELLAR_OK && beside != CELLAR_ERR_IO) /* most formats have no companion */
        CELLAR_TRY(beside);
    if (n_stamps == 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: does not say which ledger was charged for it", path));
    CELLAR_TRY(against_tell(ledger, path, endings, &found, out, err));
out:
    cellar_text_clear(&companion);
    return status;
}
