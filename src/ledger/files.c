/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Outputs on their way: their digests, where they wait, and who works on a request. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/folder.h"

enum { BUFFER_BYTES = 1 << 16, WAIT_MS = 30000, STEP_MS = 10 };

/* ---- digests ------------------------------------------------------------------------- */

/* A folder may be signed after it was recorded. */
static const char SIGNATURE[] = "manifest.sig";

static cellar_status digest_file(const char *path, int *found, unsigned char hash[32],
                                 cellar_error *err);

/* Hashes the names of a folder's files and their digests. */
static cellar_status digest_folder(const char *path, unsigned char hash[32], cellar_error *err)
{
    crypto_generichash_state state;
    cellar_names names = {0};
    cellar_text file = {0};
    cellar_status status = CELLAR_OK;

    crypto_generichash_init(&state, NULL, 0, 32);
    CELLAR_TRY(cellar_folder_list(path, &names, err));
    for (size_t i = 0; i < names.n; i++) {
        const char *name = names.items[i];
        unsigned char one[32];
        int found = 0;
        if (strcmp(name, SIGNATURE) == 0)
            continue;
        cellar_text_reset(&file);
        cellar_text_printf(&file, "%s/%s", path, name);
        if (file.failed)
            CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
        if (cellar_folder_is_there(file.bytes))
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_RULE,
                                   "%s: a folder in a recorded folder, which holds files only",
                                   file.bytes));
        CELLAR_TRY(digest_file(file.bytes, &found, one, err));
        crypto_generichash_update(&state, (const unsigned char *) name, strlen(name) + 1);
        crypto_generichash_update(&state, one, sizeof one);
    }
    crypto_generichash_final(&state, hash, 32);
out:
    cellar_text_clear(&file);
    cellar_names_clear(&names);
    return status;
}

/* Hashes the file or folder at `path`; *found is 0 when there is none. */
static cellar_status digest_file(const char *path, int *found, unsigned char hash[32],
                                 cellar_error *err)
{
    crypto_generichash_state state;
    unsigned char *buffer;
    cellar_status status = CELLAR_OK;
    ssize_t n;
    int fd;

    if (cellar_folder_is_there(path)) {
        *found = 1;
        return digest_folder(path, hash, err);
    }
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    *found = fd >= 0;
    if (fd < 0)
        return errno == ENOENT ? CELLAR_OK : cellar_fail_errno(err, path, "open the file");
    buffer = cellar_alloc(BUFFER_BYTES, 1);
    if (buffer == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "the digest of a file"));
    crypto_generichash_init(&state, NULL, 0, 32);
    while ((n = read(fd, buffer, BUFFER_BYTES)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            CELLAR_TRY(cellar_fail_errno(err, path, "read the file"));
        crypto_generichash_update(&state, buffer, (size_t) n);
    }
    crypto_generichash_final(&state, hash, 32);
out:
    cellar_free(buffer);
    close(fd);
    return status;
}

static cellar_status digest_part(const char *staged, const char *path, const char *ending,
                                 int *found, unsigned char hash[32], cellar_error *err)
{
    cellar_text name = {0};
    cellar_status status = CELLAR_OK;
    const char *places[] = {staged, path};
    *found = 0;
    for (size_t i = 0; i < 2 && !*found; i++) {
        if (places[i] == NULL)
            continue;
        cellar_text_reset(&name);
        cellar_text_printf(&name, "%s%s", places[i], ending);
        if (name.failed)
            CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
        CELLAR_TRY(digest_file(name.bytes, found, hash, err));
    }
out:
    cellar_text_clear(&name);
    return status;
}

cellar_status cellar_ledger_digest(const char *staged, const char *path, const char *const *endings,
                                   int *found, char digest[CELLAR_LEDGER_HASH_TEXT],
                                   cellar_error *err)
{
    static const char *const none[] = {NULL};
    crypto_generichash_state state;
    unsigned char hash[32];
    int there;
    cellar_status status = CELLAR_OK;

    if (endings == NULL)
        endings = none;
    crypto_generichash_init(&state, NULL, 0, 32);
    CELLAR_TRY(digest_part(staged, path, "", found, hash, err));
    crypto_generichash_update(&state, hash, sizeof hash);
    for (; *found && *endings != NULL; endings++) {
        CELLAR_TRY(digest_part(staged, path, *endings, &there, hash, err));
        if (!there)
            continue;
        crypto_generichash_update(&state, (const unsigned char *) *endings, strlen(*endings) + 1);
        crypto_generichash_update(&state, hash, sizeof hash);
    }
    crypto_generichash_final(&state, hash, sizeof hash);
    cellar_ledger_hex(hash, digest);
out:
    return status;
}

/* ---- names ------------------------------------------------------------------------------ */

/* The same file asked for from elsewhere is the same file. */
cellar_status cellar_ledger_true_path(const char *path, cellar_text *out, cellar_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    cellar_text folder = {0};
    char *true_folder;
    cellar_status status = CELLAR_OK;

    if (*name == '\0' || strcmp(path, "-") == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "'%s': what a ledger vouches for is a file with a name", path);
    cellar_text_add(&folder, slash != NULL ? path : ".",
                    slash != NULL ? (size_t) (slash - path) + 1 : 1);
    if (folder.failed)
        return cellar_fail_memory(err, "the name of a file");
    true_folder = realpath(folder.bytes, NULL);
    if (true_folder == NULL)
        status = cellar_fail_errno(err, folder.bytes, "find the folder");
    else
        cellar_text_printf(out, "%s/%s", strcmp(true_folder, "/") == 0 ? "" : true_folder, name);
    free(true_folder);
    cellar_text_clear(&folder);
    if (status == CELLAR_OK && out->failed)
        status = cellar_fail_memory(err, "the name of a file");
    return status;
}

/* ---- requests ------------------------------------------------------------------------- */

static void request_hash(const char *request, unsigned char hash[16])
{
    crypto_generichash(hash, 16, (const unsigned char *) request, strlen(request), NULL, 0);
}

/* The next run must find the file, so the name follows from the request; nobody else may take it
 * first and make the charge a loss, so it follows from the key too. */
cellar_status cellar_ledger_staged_path(const cellar_ledger *ledger, const char *request,
                                        const char *path, cellar_text *out, cellar_error *err)
{
    static const char label[] = "cellar staged output 1";
    crypto_generichash_state state;
    unsigned char hash[16];
    char hex[33];
    const char *slash = strrchr(path, '/');
    crypto_generichash_init(&state, ledger->secret->mac_key, sizeof ledger->secret->mac_key,
                            sizeof hash);
    crypto_generichash_update(&state, (const unsigned char *) label, sizeof label);
    crypto_generichash_update(&state, (const unsigned char *) request, strlen(request));
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(hex, sizeof hex, hash, sizeof hash);
    cellar_text_add(out, path, slash != NULL ? (size_t) (slash - path) + 1 : 0);
    cellar_text_printf(out, ".cellar-%s.staged", hex);
    return out->failed ? cellar_fail_memory(err, "the name of a file") : CELLAR_OK;
}

/* Locks the byte of the request in the file of locks. The system forgets the lock with the
 * process, however it ends; an open-file lock also keeps two threads apart. */
static int request_lock(const cellar_ledger *ledger, const char *request, short type)
{
    unsigned char hash[16];
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};
    request_hash(request, hash);
    for (size_t i = 0; i < 7; i++)
        lock.l_start = lock.l_start << 8 | hash[i];
    return fcntl(ledger->lock_fd, F_OFD_SETLK, &lock);
}

cellar_status cellar_ledger_hold(cellar_ledger *ledger, const char *request, cellar_error *err)
{
    struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
    for (int waited = 0; waited <= WAIT_MS; waited += STEP_MS) {
        if (request_lock(ledger, request, F_WRLCK) == 0)
            return CELLAR_OK;
        if (errno != EAGAIN && errno != EACCES && errno != EINTR)
            return cellar_fail_errno(err, ledger->path, "lock the request");
        nanosleep(&step, NULL);
    }
    return cellar_fail(err, CELLAR_ERR_IO,
                       "%s: another program is still working on request '%s'; ask again later",
                       ledger->path, request);
}

void cellar_ledger_let_go(cellar_ledger *ledger, const char *request)
{
    request_lock(ledger, request, F_UNLCK);
}
