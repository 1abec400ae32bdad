/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/key.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include <cellar/output.h>
#include <cellar/text.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/place.h"
#include "random/locked.h"

enum { EDITION_MAX = 200, ID_BYTES = 8, FILE_MAX = 1024, PATH_MAX_BYTES = 4096 };

static const char HEADER[] = "cellar key 1";

struct cellar_key {
    int is_there; /* 0 in a forked child, which finds zeros */
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    char id[2 * ID_BYTES + 1];
    char created[11];
    char edition[EDITION_MAX + 1]; /* empty: none */
};

/* ---- what a secret gives --------------------------------------------------- */

/* The id is a hash of 256 random bits under a name: nothing else can be learnt from it. */
static void secret_id(const unsigned char *secret, char id[2 * ID_BYTES + 1])
{
    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash(hash, sizeof hash, (const unsigned char *) "cellar key id", 13, secret,
                       CELLAR_KEY_SECRET_BYTES);
    sodium_bin2hex(id, 2 * ID_BYTES + 1, hash, ID_BYTES);
}

void cellar_key_secret(const cellar_key *key, cellar_key_use use,
                       unsigned char secret[CELLAR_KEY_SECRET_BYTES])
{
    CELLAR_ASSERT(key->is_there);
    crypto_kdf_derive_from_key(secret, CELLAR_KEY_SECRET_BYTES, (uint64_t) use, "cellarky",
                               key->secret);
}

/* 128 bits modulo the range: no key is likelier than another by more than 2^-64. */
uint64_t cellar_key_record(const unsigned char secret[CELLAR_KEY_SECRET_BYTES],
                           const void *identifier, size_t length, uint64_t key_range)
{
    unsigned char hash[16];
    uint64_t rest = 0;
    CELLAR_ASSERT(key_range > 0 && key_range <= UINT64_C(1) << 63);
    crypto_generichash(hash, sizeof hash, identifier, length, secret, CELLAR_KEY_SECRET_BYTES);
    for (size_t i = 0; i < sizeof hash * 8; i++) {
        rest = rest << 1 | (uint64_t) (hash[i / 8] >> (7 - i % 8) & 1);
        rest -= rest >= key_range ? key_range : 0;
    }
    cellar_wipe(hash, sizeof hash);
    return rest;
}

/* ---- writing --------------------------------------------------------------- */

static cellar_status edition_check(const char *edition, cellar_error *err)
{
    size_t length = edition != NULL ? strlen(edition) : 0;
    if (edition == NULL)
        return CELLAR_OK;
    if (length == 0 || length > EDITION_MAX || !cellar_utf8_valid(edition, length) ||
        strpbrk(edition, "\r\n") != NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "an edition is one line of UTF-8 of 1 to %d bytes", EDITION_MAX);
    return CELLAR_OK;
}

static cellar_status key_make(cellar_key **out, const char *edition, cellar_error *err)
{
    time_t now = time(NULL);
    struct tm day;
    cellar_key *key;
    int unused;

    *out = NULL;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    key = cellar_locked_alloc(sizeof *key, &unused);
    if (key == NULL)
        return cellar_fail_memory(err, "a key");
    key->is_there = 1;
    randombytes_buf(key->secret, sizeof key->secret);
    secret_id(key->secret, key->id);
    gmtime_r(&now, &day);
    strftime(key->created, sizeof key->created, "%Y-%m-%d", &day);
    snprintf(key->edition, sizeof key->edition, "%s", edition != NULL ? edition : "");
    *out = key;
    return CELLAR_OK;
}

static cellar_status key_write(const char *path, int replace, const char *edition,
                               cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_key *key = NULL;
    char secret[2 * CELLAR_KEY_SECRET_BYTES + 1];
    cellar_status status = CELLAR_OK;

    options.replace = replace;
    CELLAR_TRY(edition_check(edition, err));
    CELLAR_TRY(key_make(&key, edition, err));
    CELLAR_TRY(cellar_output_open(path, &options, &output, err));
    sodium_bin2hex(secret, sizeof secret, key->secret, sizeof key->secret);
    cellar_output_printf(output, "%s\nid %s\ncreated %s\n", HEADER, key->id, key->created);
    if (edition != NULL)
        cellar_output_printf(output, "edition %s\n", edition);
    cellar_output_printf(output, "secret %s\n", secret);
    status = cellar_output_commit(output, err);
out:
    cellar_wipe(secret, sizeof secret);
    cellar_key_free(key);
    return status;
}

cellar_status cellar_key_create(const char *path, const char *edition, cellar_error *err)
{
    return key_write(path, 0, edition, err);
}

cellar_status cellar_key_rotate(const char *path, const char *edition, cellar_error *err)
{
    char kept[PATH_MAX_BYTES];
    cellar_key *old = NULL;
    cellar_place place = {.fd = -1};
    struct stat facts;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(edition_check(edition, err));
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    CELLAR_TRY(cellar_key_read(path, &old, err));
    if ((size_t) snprintf(kept, sizeof kept, "%s.%s", path, old->id) >= sizeof kept)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the path is too long", path));
    if (linkat(place.fd, place.name, place.fd, cellar_place_name(kept), 0) != 0)
        CELLAR_TRY(cellar_fail_errno(err, kept, "keep the old key"));
    /* On disk before the new key takes its name: no power cut may leave neither. */
    status = cellar_place_sync(&place, -1) == 0 ? key_write(path, 1, edition, err)
                                                : cellar_fail_errno(err, kept, "keep the old key");
    if (status != CELLAR_OK && fstatat(place.fd, place.name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
        cellar_place_is(&place, cellar_place_name(kept), &facts)) /* it is still the old one */
        unlinkat(place.fd, cellar_place_name(kept), 0);
out:
    cellar_place_close(&place);
    cellar_key_free(old);
    return status;
}

/* ---- reading --------------------------------------------------------------- */

/* Opens what only its owner can read, change or exchange for an older key. */
static cellar_status file_open(const char *path, int *fd, cellar_error *err)
{
    struct stat facts;
    cellar_place place;
    cellar_status status = cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err);
    if (status != CELLAR_OK)
        return status;
    *fd = openat(place.fd, place.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    cellar_place_close(&place); /* close leaves errno alone unless it fails */
    if (*fd < 0 && errno == ELOOP)
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: a key file must not be a symbolic link",
                           path);
    if (*fd < 0)
        return cellar_fail_errno(err, path, "open");
    if (fstat(*fd, &facts) != 0)
        return cellar_fail_errno(err, path, "look at");
    if (!S_ISREG(facts.st_mode))
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: a key file must be a plain file", path);
    if (facts.st_uid != geteuid())
        return cellar_fail(err, CELLAR_ERR_RULE, "%s: the key file belongs to another user", path);
    if ((facts.st_mode & 077) != 0)
        return cellar_fail(err, CELLAR_ERR_RULE,
                           "%s: others may use the key file; make it yours alone with chmod 600",
                           path);
    return CELLAR_OK;
}

static cellar_status file_bytes(const char *path, int fd, char bytes[FILE_MAX + 1],
                                cellar_error *err)
{
    size_t length = 0;
    for (;;) {
        ssize_t n = read(fd, bytes + length, FILE_MAX - length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return cellar_fail_errno(err, path, "read");
        if (n == 0)
            break;
        length += (size_t) n;
    }
    bytes[length] = '\0';
    return CELLAR_OK;
}

/* The value of "name value\n" at *text, cut off there; NULL when that is not what stands there. */
static char *line_take(char **text, const char *name)
{
    size_t length = strlen(name);
    char *value, *end;
    if (strncmp(*text, name, length) != 0 || (*text)[length] != ' ')
        return NULL;
    value = *text + length + 1;
    end = strchr(value, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *text = end + 1;
    return value;
}

/* Fills the key from the lines; 0 when they are not a key file's. */
static int key_parse(char *text, cellar_key *key)
{
    char *id, *created, *edition, *secret, own[2 * ID_BYTES + 1];
    size_t n = 0;

    if (strncmp(text, HEADER, strlen(HEADER)) != 0 || text[strlen(HEADER)] != '\n')
        return 0;
    text += strlen(HEADER) + 1;
    id = line_take(&text, "id");
    created = id != NULL ? line_take(&text, "created") : NULL;
    edition = created != NULL ? line_take(&text, "edition") : NULL;
    secret = created != NULL ? line_take(&text, "secret") : NULL;
    if (secret == NULL || *text != '\0' || strlen(created) >= sizeof key->created ||
        (edition != NULL && edition_check(edition, NULL) != CELLAR_OK))
        return 0;
    if (strlen(secret) != 2 * sizeof key->secret ||
        sodium_hex2bin(key->secret, sizeof key->secret, secret, strlen(secret), NULL, &n, NULL) !=
            0 ||
        n != sizeof key->secret)
        return 0;
    secret_id(key->secret, own);
    if (strcmp(own, id) != 0) /* a damaged secret is found out */
        return 0;
    memcpy(key->id, own, sizeof own);
    snprintf(key->created, sizeof key->created, "%s", created);
    snprintf(key->edition, sizeof key->edition, "%s", edition != NULL ? edition : "");
    key->is_there = 1;
    return 1;
}

cellar_status cellar_key_read(const char *path, cellar_key **out, cellar_error *err)
{
    cellar_key *key = NULL;
    char *bytes = NULL;
    int fd = -1, unused;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (sodium_init() < 0)
        return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "libsodium cannot start");
    CELLAR_TRY(file_open(path, &fd, err));
    key = cellar_locked_alloc(sizeof *key, &unused);
    bytes = cellar_locked_alloc(FILE_MAX + 1, &unused);
    if (key == NULL || bytes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a key"));
    CELLAR_TRY(file_bytes(path, fd, bytes, err));
    if (!key_parse(bytes, key))
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: is no key file, or a damaged one (cellar key create makes one)",
                               path));
    *out = key;
    key = NULL;
out:
    cellar_locked_free(bytes, FILE_MAX + 1);
    cellar_key_free(key);
    if (fd >= 0)
        close(fd);
    return status;
}

void cellar_key_free(cellar_key *key)
{
    cellar_locked_free(key, sizeof *key);
}

/* ---- queries --------------------------------------------------------------- */

const char *cellar_key_id(const cellar_key *key)
{
    return key->id;
}

const char *cellar_key_edition(const cellar_key *key)
{
    return key->edition[0] != '\0' ? key->edition : NULL;
}

const char *cellar_key_created(const cellar_key *key)
{
    return key->created;
}
