/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The file of a ledger: an SQLite table to which entries are appended, durably.
 *
 * A transaction is on disk when it ends: a rollback journal that is deleted, synchronous=EXTRA
 * (FULL, and the folder is synced once the journal is gone: without that a power cut could bring
 * the journal back and undo what was committed). */
#include "ledger/ledger.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/place.h"

enum { BUSY_MS = 30000, APPLICATION_ID = 0x43456c67 /* "CElg" */, FORMAT = 2, NONCE_BYTES = 16 };

static const char *const schema[] = {
    "CREATE TABLE entry (number INTEGER PRIMARY KEY, body TEXT NOT NULL, mac BLOB NOT NULL)",
    "CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry "
    "BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END",
    "CREATE TRIGGER entry_is_never_removed BEFORE DELETE ON entry "
    "BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END",
};
enum { N_SCHEMA = sizeof schema / sizeof schema[0] };

/* ---- where it lies ---------------------------------------------------------------- */

#ifndef ZFS_SUPER_MAGIC
#define ZFS_SUPER_MAGIC 0x2fc12fc1
#endif
#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif

/* Local file systems of Linux, whose locks every process of the machine sees. */
static int place_has_locks(const struct statfs *facts)
{
    static const unsigned long known[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC,      BTRFS_SUPER_MAGIC,
                                          F2FS_SUPER_MAGIC, BCACHEFS_SUPER_MAGIC, ZFS_SUPER_MAGIC,
                                          TMPFS_MAGIC,      OVERLAYFS_SUPER_MAGIC};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (((unsigned long) facts->f_type & 0xffffffff) == known[i])
            return 1;
    return 0;
}

/* Looks at the file system of a file, which may not be there yet. */
static int place_look(const char *path, struct statfs *out)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    size_t length = slash == NULL ? 0 : slash == path ? 1 : (size_t) (slash - path);
    if (statfs(path, out) == 0)
        return 0;
    if (errno != ENOENT || length >= sizeof folder)
        return -1;
    memcpy(folder, slash != NULL ? path : ".", slash != NULL ? length : 1);
    folder[slash != NULL ? length : 1] = '\0';
    return statfs(folder, out);
}

cellar_status cellar_ledger_check_place(const char *path, cellar_error *err)
{
    struct statfs facts;
    cellar_place place;
    cellar_status status = cellar_place_open(path, CELLAR_PLACE_OURS, &place, err);
    cellar_place_close(&place);
    if (status != CELLAR_OK) /* SQLite believes the journal that lies beside the file */
        return status;
    if (place_look(path, &facts) != 0)
        return cellar_fail_errno(err, path, "look at the file system");
    if (!place_has_locks(&facts))
        return cellar_fail(
            err, CELLAR_ERR_RULE,
            "%s: lies on a file system (type %lx) whose locks are not known to hold, "
            "so two programs could spend the same budget; keep the ledger on a local "
            "disk (ext4, xfs, btrfs, zfs, f2fs)",
            path, (unsigned long) facts.f_type & 0xffffffff);
    return CELLAR_OK;
}

/* A second name would give the file a second journal, and one would not undo what the other did. */
static cellar_status place_check_file(const char *path, cellar_error *err)
{
    struct stat facts;
    if (lstat(path, &facts) != 0)
        return cellar_fail_errno(err, path, "open the ledger");
    if (!S_ISREG(facts.st_mode) || facts.st_nlink != 1)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: a ledger must be a plain file with one name, not a link", path);
    if (facts.st_uid != geteuid())
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: the ledger belongs to another user", path);
    if ((facts.st_mode & 022) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: others may change the ledger; make it yours with chmod 600", path);
    return cellar_ledger_check_place(path, err);
}

/* ---- SQLite ------------------------------------------------------------------------ */

static cellar_status store_fail(const cellar_ledger *ledger, int code, const char *action,
                                cellar_error *err)
{
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return cellar_fail_memory(err, "the ledger");
    case SQLITE_BUSY:
        return cellar_fail(err, CELLAR_ERR_IO,
                           "%s: cannot %s: another program has held the ledger for %d seconds",
                           ledger->path, action, BUSY_MS / 1000);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is no ledger, or a damaged one (%s)",
                           ledger->path, sqlite3_errstr(code));
    default:
        return cellar_fail(err, CELLAR_ERR_IO, "%s: cannot %s: %s", ledger->path, action,
                           sqlite3_errstr(code));
    }
}

static cellar_status store_do(cellar_ledger *ledger, const char *sql, const char *action,
                              cellar_error *err)
{
    int code = sqlite3_exec(ledger->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? CELLAR_OK : store_fail(ledger, code, action, err);
}

static cellar_status store_connect(cellar_ledger *ledger, const char *path, cellar_error *err)
{
    int code =
        sqlite3_open_v2(path, &ledger->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_EXRESCODE, NULL);
    if (code != SQLITE_OK)
        return store_fail(ledger, code, "open the ledger", err);
    sqlite3_busy_timeout(ledger->db, BUSY_MS);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(ledger->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return store_do(
        ledger,
        "PRAGMA synchronous=EXTRA; PRAGMA journal_mode=DELETE; PRAGMA temp_store=MEMORY;"
        "PRAGMA cell_size_check=ON; PRAGMA fullfsync=ON",
        "open the ledger", err);
}

/* Runs a query with one row of one number. */
static cellar_status store_number(cellar_ledger *ledger, const char *sql, int64_t *out,
                                  cellar_error *err)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(ledger->db, sql, -1, &query, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    *out = code == SQLITE_ROW ? sqlite3_column_int64(query, 0) : -1;
    sqlite3_finalize(query);
    return code == SQLITE_ROW || code == SQLITE_DONE ? CELLAR_OK
                                                     : store_fail(ledger, code, "read", err);
}

/* The file must hold our table and triggers and nothing that would act besides. */
static cellar_status store_check_schema(cellar_ledger *ledger, cellar_error *err)
{
    sqlite3_stmt *query = NULL;
    int64_t application, format;
    size_t n_ours = 0, n_others = 0;
    int code;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(store_number(ledger, "PRAGMA application_id", &application, err));
    CELLAR_TRY(store_number(ledger, "PRAGMA user_version", &format, err));
    code = sqlite3_prepare_v2(ledger->db, "SELECT sql FROM sqlite_schema", -1, &query, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(query)) == SQLITE_ROW) {
        const char *sql = (const char *) sqlite3_column_text(query, 0);
        size_t i = 0;
        while (i < N_SCHEMA && (sql == NULL || strcmp(sql, schema[i]) != 0))
            i++;
        n_ours += i < N_SCHEMA;
        n_others += i == N_SCHEMA;
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE)
        CELLAR_TRY(store_fail(ledger, code, "read", err));
    if (application != APPLICATION_ID || n_ours != N_SCHEMA || n_others != 0)
        CELLAR_TRY(
            cellar_fail(err, CELLAR_ERR_INPUT, "%s: is no ledger, or a damaged one", ledger->path));
    if (format != FORMAT)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_UNSUPPORTED,
                               "%s: a ledger of format %lld, and this version reads format %d; "
                               "an older one is spent from by the version that made it, or left "
                               "for a new ledger in which what it paid for is entered as published "
                               "elsewhere",
                               ledger->path, (long long) format, FORMAT));
out:
    sqlite3_finalize(query);
    return status;
}

cellar_status cellar_ledger_store_make(cellar_ledger *ledger, cellar_error *err)
{
    char sql[64];
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(store_connect(ledger, ledger->path, err));
    CELLAR_TRY(store_do(ledger, "BEGIN IMMEDIATE", "make the ledger", err));
    snprintf(sql, sizeof sql, "PRAGMA application_id=%d", APPLICATION_ID);
    CELLAR_TRY(store_do(ledger, sql, "make the ledger", err));
    snprintf(sql, sizeof sql, "PRAGMA user_version=%d", FORMAT);
    CELLAR_TRY(store_do(ledger, sql, "make the ledger", err));
    for (size_t i = 0; i < N_SCHEMA; i++)
        CELLAR_TRY(store_do(ledger, schema[i], "make the ledger", err));
out:
    return status;
}

cellar_status cellar_ledger_store_open(cellar_ledger *ledger, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(place_check_file(ledger->path, err));
    CELLAR_TRY(store_connect(ledger, ledger->path, err));
    CELLAR_TRY(store_check_schema(ledger, err));
    CELLAR_TRY(cellar_ledger_catch_up(ledger, err));
out:
    return status;
}

/* ---- reading ------------------------------------------------------------------------ */

static cellar_status chain_broken(const cellar_ledger *ledger, int64_t number, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT,
                       "%s: entry %lld is not what was written there, or the key is another one; "
                       "nothing can be spent from this ledger",
                       ledger->path, (long long) number);
}

static cellar_status history_keep(cellar_ledger *ledger, const char *body, size_t length,
                                  const unsigned char mac[CELLAR_LEDGER_HASH_BYTES],
                                  cellar_error *err)
{
    cellar_ledger_entry *entry = cellar_arena_alloc(ledger->arena, 1, sizeof *entry);
    cellar_status status;
    if (entry == NULL ||
        !cellar_grow(&ledger->entries, &ledger->capacity, ledger->n_entries + 1, sizeof entry))
        return cellar_fail_memory(err, "the history of a ledger");
    status = cellar_ledger_entry_read(body, length, ledger->arena, entry, err);
    if (status != CELLAR_OK)
        return status;
    entry->number = (int64_t) ledger->n_entries + 1;
    cellar_ledger_hex(mac, entry->head);
    memcpy(ledger->head, mac, CELLAR_LEDGER_HASH_BYTES);
    ledger->entries[ledger->n_entries++] = entry;
    return CELLAR_OK;
}

/* One row of the table: the last one known must still be there, the next must continue it. */
static cellar_status history_take(cellar_ledger *ledger, sqlite3_stmt *row, cellar_error *err)
{
    unsigned char mac[CELLAR_LEDGER_HASH_BYTES];
    int64_t number = sqlite3_column_int64(row, 0);
    const char *body = (const char *) sqlite3_column_text(row, 1);
    size_t length = (size_t) sqlite3_column_bytes(row, 1);
    const void *stored = sqlite3_column_blob(row, 2);
    int64_t known = (int64_t) ledger->n_entries;

    if (body == NULL || stored == NULL || sqlite3_column_bytes(row, 2) != sizeof mac)
        return chain_broken(ledger, number, err);
    if (number == known && known > 0)
        return sodium_memcmp(stored, ledger->head, sizeof mac) == 0
                   ? CELLAR_OK
                   : chain_broken(ledger, number, err);
    if (number != known + 1)
        return chain_broken(ledger, known + 1, err);
    cellar_ledger_entry_mac(ledger->secret, ledger->head, number, body, length, mac);
    if (sodium_memcmp(stored, mac, sizeof mac) != 0)
        return chain_broken(ledger, number, err);
    return history_keep(ledger, body, length, mac, err);
}

cellar_status cellar_ledger_catch_up(cellar_ledger *ledger, cellar_error *err)
{
    static const char sql[] =
        "SELECT number, body, mac FROM entry WHERE number >= ?1 ORDER BY number";
    sqlite3_stmt *rows = NULL;
    cellar_status status = CELLAR_OK;
    size_t n_rows = 0, known = ledger->n_entries;
    int code = sqlite3_prepare_v2(ledger->db, sql, -1, &rows, NULL);

    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(rows, 1, known > 0 ? (int64_t) known : INT64_MIN);
    while (code == SQLITE_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        CELLAR_TRY(history_take(ledger, rows, err));
        n_rows++;
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE)
        CELLAR_TRY(store_fail(ledger, code, "read the history", err));
    if (n_rows == 0 && known > 0) /* it was cut short under our eyes */
        CELLAR_TRY(chain_broken(ledger, (int64_t) known, err));
out:
    sqlite3_finalize(rows);
    return status;
}

cellar_status cellar_ledger_store_check(cellar_ledger *ledger, cellar_error *err)
{
    sqlite3_stmt *query = NULL;
    cellar_status status = CELLAR_OK;
    int code = sqlite3_prepare_v2(ledger->db, "PRAGMA integrity_check(1)", -1, &query, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    if (code != SQLITE_ROW)
        status = store_fail(ledger, code, "check", err);
    else if (strcmp((const char *) sqlite3_column_text(query, 0), "ok") != 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT, "%s: the file is damaged", ledger->path);
    sqlite3_finalize(query);
    if (status == CELLAR_OK)
        status = store_check_schema(ledger, err);
    return status;
}

/* ---- writing -------------------------------------------------------------------------- */

cellar_status cellar_ledger_begin(cellar_ledger *ledger, cellar_error *err)
{
    cellar_status status = store_do(ledger, "BEGIN IMMEDIATE", "begin to write", err);
    if (status != CELLAR_OK)
        return status;
    status = cellar_ledger_catch_up(ledger, err);
    if (status == CELLAR_OK && !ledger->is_adopting)
        status = cellar_ledger_mend_witness(ledger, err);
    if (status != CELLAR_OK)
        sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    return status;
}

const char *cellar_ledger_time(const cellar_ledger *ledger, time_t now, char out[24])
{
    const char *last = ledger->n_entries > 0 ? ledger->entries[ledger->n_entries - 1]->time : "";
    struct tm parts;
    gmtime_r(&now, &parts);
    strftime(out, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
    if (strcmp(last, out) > 0 && strlen(last) < 24)
        memcpy(out, last, strlen(last) + 1);
    return out;
}

cellar_status cellar_ledger_append(cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                   cellar_error *err)
{
    unsigned char mac[CELLAR_LEDGER_HASH_BYTES];
    unsigned char random[NONCE_BYTES];
    char now[24], nonce[2 * NONCE_BYTES + 1];
    cellar_ledger_entry dated = *entry;
    cellar_text body = {0};
    sqlite3_stmt *insert = NULL;
    int64_t number = (int64_t) ledger->n_entries + 1;
    int code;
    cellar_status status = CELLAR_OK;

    dated.time = cellar_ledger_time(ledger, time(NULL), now);
    randombytes_buf(random, sizeof random);
    dated.nonce = sodium_bin2hex(nonce, sizeof nonce, random, sizeof random);
    CELLAR_TRY(cellar_ledger_entry_write(&dated, &body, err));
    cellar_ledger_entry_mac(ledger->secret, ledger->head, number, body.bytes, body.length, mac);
    code =
        sqlite3_prepare_v2(ledger->db, "INSERT INTO entry VALUES (?1, ?2, ?3)", -1, &insert, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_int64(insert, 1, number);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(insert, 2, body.bytes, (int) body.length, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_bind_blob(insert, 3, mac, sizeof mac, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(insert);
    if (code != SQLITE_DONE)
        status = store_fail(ledger, code, "write", err);
out:
    sqlite3_finalize(insert);
    cellar_text_clear(&body);
    return status;
}

/* What others and we appended is read back, as any reader would: what memory holds is what the
 * file holds. A COMMIT that failed may still have reached the disk; then the entry counts. The
 * witness hears of it before anybody acts on it: a program that ends in between leaves a witness
 * that is one entry behind, and nothing drawn. */
cellar_status cellar_ledger_end(cellar_ledger *ledger, cellar_status status, cellar_error *err)
{
    if (status == CELLAR_OK)
        status = store_do(ledger, "COMMIT", "write to disk", err);
    if (!sqlite3_get_autocommit(ledger->db))
        sqlite3_exec(ledger->db, "ROLLBACK", NULL, NULL, NULL);
    if (status == CELLAR_OK)
        status = cellar_ledger_catch_up(ledger, err);
    if (status == CELLAR_OK && cellar_ledger_witness(ledger) != NULL)
        status = cellar_witness_tell(ledger, cellar_ledger_witness(ledger), err);
    return status;
}
