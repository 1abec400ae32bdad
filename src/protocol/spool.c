/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/place.h"

static const unsigned char MAGIC[] = {'C', 'S', 'P', 'L'};

enum {
    SYNCED_AT = 44, /* in the header: how many records were synced */
    HEADER_BYTES = SYNCED_AT + 8,
    NONCE_BYTES = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG_BYTES = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    BOUND_BYTES = CELLAR_COLLECT_ID_BYTES + 8
};

struct collect_spool {
    int fd;
    char *path;
    const collect_round *round;
    const unsigned char *key; /* the role's, in locked memory */
    size_t record_bytes, stored_bytes;
    uint64_t n_records, n_synced;
    unsigned char *stored, *record; /* room for one of each */
};

/* ---- one record ------------------------------------------------------------ */

/* What a record is bound to: no record can take another's place. */
static void record_bound(const collect_spool *spool, uint64_t number,
                         unsigned char bound[BOUND_BYTES])
{
    memcpy(bound, spool->round->id, CELLAR_COLLECT_ID_BYTES);
    bytes_put(bound + CELLAR_COLLECT_ID_BYTES, 8, number);
}

static off_t record_place(const collect_spool *spool, uint64_t number)
{
    return (off_t) (HEADER_BYTES + number * spool->stored_bytes);
}

static cellar_status write_at(const collect_spool *spool, const unsigned char *bytes, size_t n,
                              off_t place, cellar_error *err)
{
    while (n > 0) {
        ssize_t written = pwrite(spool->fd, bytes, n, place);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return cellar_fail_errno(err, spool->path, "write");
        bytes += written;
        n -= (size_t) written;
        place += written;
    }
    return CELLAR_OK;
}

/* *got is less than n at the end of the file. */
static cellar_status read_at(const collect_spool *spool, unsigned char *bytes, size_t n,
                             off_t place, size_t *got, cellar_error *err)
{
    *got = 0;
    while (*got < n) {
        ssize_t n_read = pread(spool->fd, bytes + *got, n - *got, place + (off_t) *got);
        if (n_read < 0 && errno == EINTR)
            continue;
        if (n_read < 0)
            return cellar_fail_errno(err, spool->path, "read");
        if (n_read == 0)
            break;
        *got += (size_t) n_read;
    }
    return CELLAR_OK;
}

cellar_status spool_append(collect_spool *spool, const unsigned char *record, cellar_error *err)
{
    unsigned char bound[BOUND_BYTES];
    cellar_status status;

    record_bound(spool, spool->n_records, bound);
    randombytes_buf(spool->stored, NONCE_BYTES);
    crypto_aead_xchacha20poly1305_ietf_encrypt(spool->stored + NONCE_BYTES, NULL, record,
                                               spool->record_bytes, bound, sizeof bound, NULL,
                                               spool->stored, spool->key);
    status = write_at(spool, spool->stored, spool->stored_bytes,
                      record_place(spool, spool->n_records), err);
    if (status == CELLAR_OK)
        spool->n_records++; /* else the next one is written over what there is */
    return status;
}

/* Reads a record into spool->record; *is_whole is 0 when it is cut, damaged or another's. */
static cellar_status record_read(collect_spool *spool, uint64_t number, int *is_whole,
                                 cellar_error *err)
{
    unsigned char bound[BOUND_BYTES];
    size_t got;
    cellar_status status =
        read_at(spool, spool->stored, spool->stored_bytes, record_place(spool, number), &got, err);
    record_bound(spool, number, bound);
    *is_whole =
        status == CELLAR_OK && got == spool->stored_bytes &&
        crypto_aead_xchacha20poly1305_ietf_decrypt(
            spool->record, NULL, NULL, spool->stored + NONCE_BYTES, spool->record_bytes + TAG_BYTES,
            bound, sizeof bound, spool->stored, spool->key) == 0;
    return status;
}

static cellar_status fail_damaged(const collect_spool *spool, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is damaged, or was made with another key",
                       spool->path);
}

cellar_status spool_visit(collect_spool *spool, spool_visitor *visit, void *context,
                          cellar_error *err)
{
    int is_whole;
    cellar_status status = CELLAR_OK;

    for (uint64_t i = 0; i < spool->n_records; i++) {
        CELLAR_TRY(record_read(spool, i, &is_whole, err));
        if (!is_whole)
            CELLAR_TRY(fail_damaged(spool, err));
        CELLAR_TRY(visit(context, spool->record, err));
    }
out:
    return status;
}

/* The number is written behind the sync that it speaks of, and is on disk with the next one. */
cellar_status spool_sync(collect_spool *spool, cellar_error *err)
{
    unsigned char number[HEADER_BYTES - SYNCED_AT];
    if (fdatasync(spool->fd) != 0)
        return cellar_fail_errno(err, spool->path, "sync");
    if (spool->n_synced == spool->n_records)
        return CELLAR_OK;
    spool->n_synced = spool->n_records;
    bytes_put(number, sizeof number, spool->n_synced);
    return write_at(spool, number, sizeof number, SYNCED_AT, err);
}

/* ---- the file -------------------------------------------------------------- */

static cellar_status file_open(collect_spool *spool, cellar_error *err)
{
    struct stat unused;
    spool->fd = open(spool->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (spool->fd < 0)
        return cellar_fail_errno(err, spool->path, "open");
    if (flock(spool->fd, LOCK_EX | LOCK_NB) != 0)
        return cellar_fail(err, CELLAR_ERR_EXISTS, "%s: another process is using it", spool->path);
    return cellar_place_check_file(spool->fd, spool->path, &unused, err);
}

cellar_status folder_sync(const char *path, cellar_error *err)
{
    cellar_place place;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(path, CELLAR_PLACE_KEPT, &place, err));
    if (cellar_place_sync(&place, -1) != 0)
        CELLAR_TRY(cellar_fail_errno(err, path, "sync the folder of the file"));
out:
    cellar_place_close(&place);
    return status;
}

static void header_fill(const collect_spool *spool, unsigned char header[HEADER_BYTES])
{
    memset(header, 0, HEADER_BYTES);
    memcpy(header, MAGIC, sizeof MAGIC);
    header[4] = MESSAGE_VERSION;
    header[5] = (unsigned char) spool->round->number;
    bytes_put(header + 8, 4, spool->record_bytes);
    memcpy(header + 12, spool->round->id, CELLAR_COLLECT_ID_BYTES);
}

/* The records that were synced must be there. Behind them, what a power cut left may be whole,
 * torn or zeros; nothing of it was acknowledged, and it is kept up to the first that is not whole.
 */
static cellar_status file_find_end(collect_spool *spool, off_t size, cellar_error *err)
{
    const uint64_t n_stored = (uint64_t) (size - HEADER_BYTES) / spool->stored_bytes;
    int is_whole = 1;
    cellar_status status = CELLAR_OK;

    if (spool->n_synced > n_stored)
        return fail_damaged(spool, err);
    spool->n_records = spool->n_synced;
    while (spool->n_records < n_stored) {
        CELLAR_TRY(record_read(spool, spool->n_records, &is_whole, err));
        if (!is_whole)
            break;
        spool->n_records++;
    }
    if (ftruncate(spool->fd, record_place(spool, spool->n_records)) != 0)
        status = cellar_fail_errno(err, spool->path, "cut");
out:
    return status;
}

static cellar_status file_begin(collect_spool *spool, cellar_error *err)
{
    unsigned char wanted[HEADER_BYTES], found[HEADER_BYTES] = {0};
    struct stat facts;
    size_t got;
    cellar_status status = CELLAR_OK;

    header_fill(spool, wanted);
    if (fstat(spool->fd, &facts) != 0)
        return cellar_fail_errno(err, spool->path, "look at");
    CELLAR_TRY(read_at(spool, found, sizeof found, 0, &got, err));
    if (facts.st_size < HEADER_BYTES ||
        (facts.st_size == HEADER_BYTES && sodium_is_zero(found, sizeof found))) {
        /* new, or a crash before anything was taken */
        CELLAR_TRY(write_at(spool, wanted, sizeof wanted, 0, err));
        CELLAR_TRY(spool_sync(spool, err));
        return folder_sync(spool->path, err);
    }
    if (got != sizeof found || memcmp(found, wanted, SYNCED_AT) != 0)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: belongs to another collection, round or decision",
                               spool->path));
    spool->n_synced = bytes_get(found + SYNCED_AT, HEADER_BYTES - SYNCED_AT);
    CELLAR_TRY(file_find_end(spool, facts.st_size, err));
out:
    return status;
}

cellar_status spool_open(const char *path, const collect_round *round, const unsigned char key[32],
                         size_t record_bytes, collect_spool **out, cellar_error *err)
{
    collect_spool *spool = cellar_alloc(1, sizeof *spool);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (spool == NULL)
        return cellar_fail_memory(err, "a spool");
    spool->fd = -1;
    spool->round = round;
    spool->key = key;
    spool->record_bytes = record_bytes;
    spool->stored_bytes = NONCE_BYTES + record_bytes + TAG_BYTES;
    spool->stored = cellar_alloc(1, spool->stored_bytes);
    spool->record = cellar_alloc(1, record_bytes);
    spool->path = cellar_alloc(1, strlen(path) + 1);
    if (spool->stored == NULL || spool->record == NULL || spool->path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a spool"));
    memcpy(spool->path, path, strlen(path));
    CELLAR_TRY(file_open(spool, err));
    CELLAR_TRY(file_begin(spool, err));
    *out = spool;
    spool = NULL;
out:
    spool_close(spool);
    return status;
}

void spool_close(collect_spool *spool)
{
    if (spool == NULL)
        return;
    if (spool->fd >= 0)
        close(spool->fd);
    cellar_free(spool->stored);
    cellar_free(spool->record);
    cellar_free(spool->path);
    cellar_free(spool);
}

uint64_t spool_n_records(const collect_spool *spool)
{
    return spool->n_records;
}
