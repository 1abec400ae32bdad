/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ledgers: made, opened, verified. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/output.h"
#include "base/text.h"
#include "random/locked.h"

enum { ARENA_BYTES = 1 << 30, ID_BYTES = 8 };

void cellar_ledger_close(cellar_ledger *ledger)
{
    if (ledger == NULL)
        return;
    sqlite3_close(ledger->db);
    if (ledger->lock_fd >= 0)
        close(ledger->lock_fd);
    cellar_locked_free(ledger->secret, sizeof *ledger->secret);
    cellar_arena_free(ledger->arena);
    cellar_free(ledger->entries);
    cellar_free(ledger->path);
    cellar_free(ledger);
}

static cellar_status ledger_alloc(const char *path, const cellar_key *key, cellar_ledger **out,
                                  cellar_error *err)
{
    cellar_ledger *ledger = cellar_alloc(1, sizeof *ledger);
    int unused;
    *out = ledger;
    if (ledger == NULL)
        return cellar_fail_memory(err, "a ledger");
    ledger->lock_fd = -1;
    ledger->path = cellar_alloc(strlen(path) + 1, 1);
    ledger->secret = cellar_locked_alloc(sizeof *ledger->secret, &unused);
    ledger->arena = cellar_arena_create(ARENA_BYTES);
    if (ledger->path == NULL || ledger->secret == NULL || ledger->arena == NULL)
        return cellar_fail_memory(err, "a ledger");
    memcpy(ledger->path, path, strlen(path));
    snprintf(ledger->key_id, sizeof ledger->key_id, "%s", cellar_key_id(key));
    cellar_key_secret(key, CELLAR_KEY_LEDGER, ledger->secret->mac_key);
    ledger->secret->is_there = 1;
    return CELLAR_OK;
}

/* The file is made whole under another name, so that a ledger is never half there; its witness
 * knows of it before it has its own. */
static cellar_status ledger_make(cellar_ledger *ledger, const char *witness, cellar_error *err)
{
    unsigned char random[ID_BYTES];
    char id[2 * ID_BYTES + 1];
    cellar_ledger_entry entry = {
        .kind = CELLAR_ENTRY_CREATE, .key = ledger->key_id, .witness = witness};
    cellar_status status = cellar_ledger_store_make(ledger, err);
    if (status != CELLAR_OK)
        return status;
    randombytes_buf(random, sizeof random);
    entry.ledger = sodium_bin2hex(id, sizeof id, random, sizeof random);
    return cellar_ledger_end(ledger, cellar_ledger_append(ledger, &entry, err), err);
}

cellar_status cellar_ledger_create(const char *path, const cellar_key *key, cellar_error *err)
{
    return cellar_ledger_create_with(path, key, NULL, NULL, err);
}

cellar_status cellar_ledger_create_with(const char *path, const cellar_key *key,
                                        const cellar_ledger_dataset *dataset, const char *witness,
                                        cellar_error *err)
{
    cellar_ledger *ledger = NULL;
    cellar_text name = {0}, seen_by = {0};
    int fd = -1;
    cellar_status status = CELLAR_OK;

    if (access(path, F_OK) == 0)
        return cellar_fail(err, CELLAR_ERR_EXISTS, "%s: exists already, and is never replaced",
                           path);
    CELLAR_TRY(cellar_ledger_check_place(path, err)); /* before there is anything to clear away */
    if (witness != NULL)
        CELLAR_TRY(cellar_ledger_true_path(witness, &seen_by, err));
    if (witness != NULL)
        CELLAR_TRY(cellar_witness_make(seen_by.bytes, err));
    cellar_text_printf(&name, "%s-new-%08x", path, (unsigned) randombytes_random());
    if (name.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a ledger"));
    fd = open(name.bytes, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "create the ledger"));
    close(fd);
    CELLAR_TRY(ledger_alloc(name.bytes, key, &ledger, err));
    CELLAR_TRY(ledger_make(ledger, seen_by.bytes, err));
    if (dataset != NULL)
        CELLAR_TRY(cellar_ledger_add_dataset(ledger, dataset, err));
    sqlite3_close(ledger->db);
    ledger->db = NULL;
    CELLAR_TRY(cellar_output_publish(name.bytes, path, NULL, err));
out:
    cellar_ledger_close(ledger);
    if (status != CELLAR_OK && fd >= 0)
        unlink(name.bytes);
    cellar_text_clear(&name);
    cellar_text_clear(&seen_by);
    return status;
}

static cellar_status ledger_open_locks(cellar_ledger *ledger, cellar_error *err)
{
    cellar_text name = {0};
    cellar_text_printf(&name, "%s-lock", ledger->path);
    if (name.failed)
        return cellar_fail_memory(err, "a ledger");
    ledger->lock_fd = open(name.bytes, O_CREAT | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
    cellar_text_clear(&name);
    if (ledger->lock_fd < 0)
        return cellar_fail_errno(err, ledger->path, "open the file of locks");
    return CELLAR_OK;
}

/* A wrong key is told from a damaged file by the id in the first entry, read before it is
 * verified: nothing but this message depends on it. */
static cellar_status ledger_check_key(cellar_ledger *ledger, cellar_error *err)
{
    sqlite3_stmt *query = NULL;
    cellar_ledger_entry first;
    int code, wrong;
    code =
        sqlite3_prepare_v2(ledger->db, "SELECT body FROM entry WHERE number = 1", -1, &query, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    wrong = code == SQLITE_ROW &&
            cellar_ledger_entry_read((const char *) sqlite3_column_text(query, 0),
                                     (size_t) sqlite3_column_bytes(query, 0), ledger->arena, &first,
                                     NULL) == CELLAR_OK &&
            first.key != NULL && strcmp(first.key, ledger->key_id) != 0;
    sqlite3_finalize(query);
    if (wrong)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "%s: the history is chained under the key %s, and this is %s",
                           ledger->path, first.key, ledger->key_id);
    return CELLAR_OK;
}

cellar_status cellar_ledger_open_alone(const char *path, const cellar_key *key, cellar_ledger **out,
                                       cellar_error *err)
{
    cellar_ledger *ledger = NULL;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    CELLAR_TRY(ledger_alloc(path, key, &ledger, err));
    status = cellar_ledger_store_open(ledger, err);
    if (status == CELLAR_ERR_INPUT && ledger->db != NULL && ledger->n_entries == 0) {
        cellar_status about_key = ledger_check_key(ledger, err);
        status = about_key != CELLAR_OK ? about_key : status;
    }
    if (status != CELLAR_OK)
        goto out;
    if (ledger->n_entries == 0 || ledger->entries[0]->kind != CELLAR_ENTRY_CREATE)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: the history has no beginning", path));
    CELLAR_TRY(ledger_open_locks(ledger, err));
    *out = ledger;
    ledger = NULL;
out:
    cellar_ledger_close(ledger);
    return status;
}

cellar_status cellar_ledger_open(const char *path, const cellar_key *key, cellar_ledger **out,
                                 cellar_error *err)
{
    cellar_status status = cellar_ledger_open_alone(path, key, out, err);
    if (status == CELLAR_OK)
        status = cellar_ledger_check_witness(*out, err);
    if (status != CELLAR_OK) {
        cellar_ledger_close(*out);
        *out = NULL;
    }
    return status;
}

cellar_status cellar_ledger_open_file(const char *path, const char *key_path, cellar_ledger **out,
                                      cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_text name = {0};
    cellar_key *key = NULL;

    *out = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return cellar_fail(err, CELLAR_ERR_IO,
                           "%s: there is no such ledger; 'cellar ledger create' makes one", path);
    cellar_text_printf(&name, "%s%s", key_path != NULL ? key_path : path,
                       key_path != NULL ? "" : ".key");
    if (name.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    CELLAR_TRY(cellar_key_read(name.bytes, &key, err));
    CELLAR_TRY(cellar_ledger_open(path, key, out, err));
out:
    cellar_key_free(key);
    cellar_text_clear(&name);
    return status;
}

const char *cellar_ledger_id(const cellar_ledger *ledger)
{
    return ledger->entries[0]->ledger;
}

const char *cellar_ledger_head(const cellar_ledger *ledger)
{
    return ledger->entries[ledger->n_entries - 1]->head;
}

size_t cellar_ledger_n_entries(const cellar_ledger *ledger)
{
    return ledger->n_entries;
}

const cellar_ledger_entry *cellar_ledger_entry_at(const cellar_ledger *ledger, size_t index)
{
    CELLAR_ASSERT(index < ledger->n_entries);
    return ledger->entries[index];
}
