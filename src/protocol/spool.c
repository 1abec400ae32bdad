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

enum {
    SPOOL_VERSION = 2,
    HASH_BYTES = 16,
    FACTS_BYTES = 44, /* what the header says, before a hash of it */
    MARK_PLACE = 512, /* in a sector of its own: it is written again and again */
    MARK_BYTES = 8,
    HEADER_BYTES = 1024,
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
    uint64_t n_records, n_synced, n_cut; /* see spool_n_cut() */
    unsigned char *stored, *record;      /* room for one of each */
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
        spool->n_records++; /* else the next record is written over what there is */
    return status;
}

/* Reads record `number` into spool->record; *is_whole is 0 when its tag does not fit. */
static cellar_status record_read(collect_spool *spool, uint64_t number, int *is_whole,
                                 cellar_error *err)
{
    unsigned char bound[BOUND_BYTES];
    size_t got;
    cellar_status status =
        read_at(spool, spool->stored, spool->stored_bytes, record_place(spool, number), &got, err);
    if (status != CELLAR_OK)
        return status;
    record_bound(spool, number, bound);
    *is_whole =
        got == spool->stored_bytes &&
        crypto_aead_xchacha20poly1305_ietf_decrypt(
            spool->record, NULL, NULL, spool->stored + NONCE_BYTES,
            spool->stored_bytes - NONCE_BYTES, bound, sizeof bound, spool->stored, spool->key) == 0;
    return CELLAR_OK;
}

static cellar_status fail_damaged(const collect_spool *spool, uint64_t number, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s: record %llu is damaged or missing", spool->path,
                       (unsigned long long) number + 1);
}

cellar_status spool_visit(collect_spool *spool, spool_visitor *visit, void *context,
                          cellar_error *err)
{
    int is_whole;
    cellar_status status = CELLAR_OK;

    for (uint64_t i = 0; i < spool->n_records; i++) {
        CELLAR_TRY(record_read(spool, i, &is_whole, err));
        if (!is_whole)
            CELLAR_TRY(fail_damaged(spool, i, err));
        CELLAR_TRY(visit(context, spool->record, err));
    }
out:
    return status;
}

/* ---- the header ------------------------------------------------------------ */

/* `n` bytes followed by a hash of them under the key. */
static void hash_add(const collect_spool *spool, unsigned char *bytes, size_t n)
{
    crypto_generichash(bytes + n, HASH_BYTES, bytes, n, spool->key, 32);
}

static void header_make(const collect_spool *spool, unsigned char header[HEADER_BYTES])
{
    static const unsigned char start[] = {'C', 'S', 'P', 'L', SPOOL_VERSION};
    memset(header, 0, HEADER_BYTES);
    memcpy(header, start, sizeof start);
    header[5] = (unsigned char) spool->round->number;
    bytes_put(header + 8, 4, spool->record_bytes);
    memcpy(header + 12, spool->round->id, CELLAR_COLLECT_ID_BYTES);
    hash_add(spool, header, FACTS_BYTES);
    hash_add(spool, header + MARK_PLACE, MARK_BYTES);
}

/* How many records had been synced, by the header. A mark that does not fit its hash was being
 * written when the power went: it says nothing. */
static uint64_t mark_read(const collect_spool *spool, const unsigned char header[HEADER_BYTES])
{
    unsigned char mark[MARK_BYTES + HASH_BYTES];
    memcpy(mark, header + MARK_PLACE, MARK_BYTES);
    hash_add(spool, mark, MARK_BYTES);
    return memcmp(mark, header + MARK_PLACE, sizeof mark) == 0 ? bytes_get(mark, MARK_BYTES) : 0;
}

/* The mark follows the sync and is not synced itself: it may be behind, and is never ahead. */
cellar_status spool_sync(collect_spool *spool, cellar_error *err)
{
    unsigned char mark[MARK_BYTES + HASH_BYTES];
    if (fdatasync(spool->fd) != 0)
        return cellar_fail_errno(err, spool->path, "sync");
    bytes_put(mark, MARK_BYTES, spool->n_records);
    hash_add(spool, mark, MARK_BYTES);
    return write_at(spool, mark, sizeof mark, MARK_PLACE, err);
}

/* ---- after a crash --------------------------------------------------------- */

/* Visits what is there. A power cut can leave zeros, or parts, of records that were not synced, so
 * not acknowledged: from the first of these on all are cut. When a record is damaged or missing
 * that had been synced, the file stays as it is. */
static cellar_status spool_recover(collect_spool *spool, spool_visitor *visit, void *context,
                                   cellar_error *err)
{
    uint64_t n_whole = 0;
    int is_whole = 1;
    cellar_status status = CELLAR_OK;

    while (n_whole < spool->n_records) {
        CELLAR_TRY(record_read(spool, n_whole, &is_whole, err));
        if (!is_whole)
            break;
        CELLAR_TRY(visit(context, spool->record, err));
        n_whole++;
    }
    if (n_whole < spool->n_synced)
        CELLAR_TRY(fail_damaged(spool, n_whole, err));
    spool->n_cut += spool->n_records - n_whole;
    spool->n_records = n_whole;
    if (ftruncate(spool->fd, record_place(spool, n_whole)) != 0)
        CELLAR_TRY(cellar_fail_errno(err, spool->path, "cut"));
    CELLAR_TRY(spool_sync(spool, err));
out:
    return status;
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

static cellar_status header_check(const collect_spool *spool, const unsigned char *found,
                                  const unsigned char *wanted, cellar_error *err)
{
    if (memcmp(found, wanted, FACTS_BYTES) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: belongs to another collection, round or decision", spool->path);
    if (memcmp(found, wanted, FACTS_BYTES + HASH_BYTES) != 0)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: was written with another key", spool->path);
    return CELLAR_OK;
}

/* The header is synced before the first record is written, so a file that is too short for one, or
 * lacks its first sector, holds nothing. */
static cellar_status file_begin(collect_spool *spool, cellar_error *err)
{
    unsigned char wanted[HEADER_BYTES], found[HEADER_BYTES] = {0};
    struct stat facts;
    size_t got;
    cellar_status status = CELLAR_OK;

    header_make(spool, wanted);
    if (fstat(spool->fd, &facts) != 0)
        return cellar_fail_errno(err, spool->path, "look at");
    CELLAR_TRY(read_at(spool, found, sizeof found, 0, &got, err));
    if (facts.st_size < HEADER_BYTES ||
        (facts.st_size == HEADER_BYTES && sodium_is_zero(found, MARK_PLACE))) {
        CELLAR_TRY(write_at(spool, wanted, sizeof wanted, 0, err));
        CELLAR_TRY(spool_sync(spool, err));
        return folder_sync(spool->path, err);
    }
    CELLAR_TRY(header_check(spool, found, wanted, err));
    spool->n_synced = mark_read(spool, found);
    spool->n_records = (uint64_t) (facts.st_size - HEADER_BYTES) / spool->stored_bytes;
    spool->n_cut = (uint64_t) (facts.st_size - HEADER_BYTES) % spool->stored_bytes > 0;
out:
    return status;
}

cellar_status spool_open(const char *path, const collect_round *round, const unsigned char key[32],
                         size_t record_bytes, spool_visitor *visit, void *context,
                         collect_spool **out, cellar_error *err)
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
    CELLAR_TRY(spool_recover(spool, visit, context, err));
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

uint64_t spool_n_cut(const collect_spool *spool)
{
    return spool->n_cut;
}
