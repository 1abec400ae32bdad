/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "serve/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>
#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "serve/audit_chain.h"
#include "table/formats/extension.h"

struct serve_audit {
    char *path;
    int fd;
    pthread_mutex_t lock;
    audit_chain chain;
    uint64_t n_bytes; /* that the chain has followed */
};

/* ---- the file -------------------------------------------------------------------- */

static cellar_status hold(const serve_audit *audit, cellar_error *err)
{
    while (flock(audit->fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return cellar_fail_errno(err, audit->path, "lock the audit log");
    return CELLAR_OK;
}

/* Follows the lines after those that the chain has followed. */
static cellar_status follow(serve_audit *audit, cellar_error *err)
{
    const int copy = fcntl(audit->fd, F_DUPFD_CLOEXEC, 0);
    FILE *file = copy >= 0 ? fdopen(copy, "r") : NULL;
    cellar_status status;
    if (file == NULL || fseeko(file, (off_t) audit->n_bytes, SEEK_SET) != 0)
        status = cellar_fail_errno(err, audit->path, "read the audit log");
    else
        status =
            audit_chain_read(&audit->chain, audit->path, file, &audit->n_bytes, NULL, NULL, err);
    if (file != NULL)
        fclose(file);
    else if (copy >= 0)
        close(copy);
    return status;
}

/* Reads what others added, while the lock is held. The rest of a line whose writer ended is
 * removed. */
static cellar_status catch_up(serve_audit *audit, cellar_error *err)
{
    struct stat facts;
    cellar_status status;
    if (fstat(audit->fd, &facts) != 0)
        return cellar_fail_errno(err, audit->path, "look at the audit log");
    if ((uint64_t) facts.st_size == audit->n_bytes)
        return CELLAR_OK;
    if ((uint64_t) facts.st_size < audit->n_bytes)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: the audit log was cut off", audit->path);
    status = follow(audit, err);
    if (status == CELLAR_OK && (uint64_t) facts.st_size > audit->n_bytes &&
        ftruncate(audit->fd, (off_t) audit->n_bytes) != 0)
        status = cellar_fail_errno(err, audit->path, "mend the audit log");
    return status;
}

cellar_status serve_audit_open(const char *path, serve_audit **out, cellar_error *err)
{
    serve_audit *audit = cellar_alloc(1, sizeof *audit);
    cellar_status status = CELLAR_OK;
    *out = NULL;
    if (audit == NULL)
        return cellar_fail_memory(err, "an audit log");
    audit->fd = -1;
    pthread_mutex_init(&audit->lock, NULL);
    audit->path = cellar_alloc(strlen(path) + 1, 1);
    if (audit->path == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "an audit log"));
    memcpy(audit->path, path, strlen(path) + 1);
    audit->fd = cellar_file_open_plain(path, O_RDWR | O_CREAT | O_APPEND, err);
    if (audit->fd < 0)
        CELLAR_TRY(CELLAR_ERR_IO);
    CELLAR_TRY(hold(audit, err));
    status = catch_up(audit, err);
    flock(audit->fd, LOCK_UN);
    if (status == CELLAR_OK) {
        *out = audit;
        return CELLAR_OK;
    }
out:
    serve_audit_close(audit);
    return status;
}

void serve_audit_close(serve_audit *audit)
{
    if (audit == NULL)
        return;
    if (audit->fd >= 0)
        close(audit->fd);
    cellar_free(audit->path);
    cellar_free(audit);
}

/* ---- entries ---------------------------------------------------------------------- */

static int set_text(json_t *object, const char *key, const char *text)
{
    return text == NULL || json_object_set_new(object, key, json_string(text)) == 0;
}

static cellar_status entry_write(const serve_audit_entry *entry, uint64_t number, int64_t now,
                                 cellar_text *out, cellar_error *err)
{
    json_t *object = json_object();
    const time_t seconds = (time_t) now;
    struct tm day;
    char date[32], *text = NULL;
    gmtime_r(&seconds, &day);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &day);
    if (object != NULL &&
        json_object_set_new(object, "number", json_integer((json_int_t) number)) == 0 &&
        set_text(object, "time", date) && set_text(object, "who", entry->who) &&
        set_text(object, "action", entry->action) && set_text(object, "dataset", entry->dataset) &&
        set_text(object, "table", entry->table) && set_text(object, "decision", entry->decision) &&
        set_text(object, "rule", entry->rule) && set_text(object, "cost", entry->cost))
        text = cellar_json_text(object, JSON_COMPACT);
    json_decref(object);
    if (text != NULL)
        cellar_text_add_string(out, text);
    cellar_free(text);
    return text != NULL && !out->failed ? CELLAR_OK : cellar_fail_memory(err, "an audit log");
}

/* Writes all of it, or nothing. */
static cellar_status append(serve_audit *audit, const cellar_text *line, cellar_error *err)
{
    const ssize_t n = write(audit->fd, line->bytes, line->length);
    if (n == (ssize_t) line->length && fdatasync(audit->fd) == 0)
        return CELLAR_OK;
    if (n >= 0 && n < (ssize_t) line->length)
        errno = ENOSPC;
    (void) cellar_fail_errno(err, audit->path, "write to the audit log");
    while (ftruncate(audit->fd, (off_t) audit->n_bytes) != 0 && errno == EINTR)
        ; /* if it fails, whoever adds next removes what is left of the line */
    return CELLAR_ERR_IO;
}

static cellar_status add_held(serve_audit *audit, const serve_audit_entry *entry, int64_t now,
                              cellar_error *err)
{
    audit_chain chain;
    cellar_text body = {0}, line = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(catch_up(audit, err));
    CELLAR_TRY(entry_write(entry, audit->chain.n + 1, now, &body, err));
    chain = audit->chain;
    audit_chain_seal(&chain, &body, &line);
    cellar_text_add_char(&line, '\n');
    if (line.failed)
        CELLAR_TRY(cellar_fail_memory(err, "an audit log"));
    CELLAR_TRY(append(audit, &line, err));
    audit->chain = chain;
    audit->n_bytes += line.length;
out:
    cellar_text_clear(&body);
    cellar_text_clear(&line);
    return status;
}

cellar_status serve_audit_add(serve_audit *audit, const serve_audit_entry *entry, int64_t now,
                              cellar_error *err)
{
    cellar_status status;
    if (audit == NULL)
        return CELLAR_OK;
    pthread_mutex_lock(&audit->lock);
    status = hold(audit, err);
    if (status == CELLAR_OK) {
        status = add_held(audit, entry, now, err);
        flock(audit->fd, LOCK_UN);
    }
    pthread_mutex_unlock(&audit->lock);
    return status;
}

/* ---- reading ---------------------------------------------------------------------- */

typedef struct reading {
    const char *path;
    const cellar_audit_head *known;
    int is_known; /* 1: the known head was met */
    cellar_audit_visit *visit;
    void *context;
} reading;

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static cellar_status show(const reading *r, const audit_chain *chain, const char *line,
                          size_t length, cellar_error *err)
{
    json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
    const cellar_audit_entry entry = {.number = chain->n,
                                      .time = text_of(object, "time"),
                                      .who = text_of(object, "who"),
                                      .action = text_of(object, "action"),
                                      .dataset = text_of(object, "dataset"),
                                      .table = text_of(object, "table"),
                                      .decision = text_of(object, "decision"),
                                      .rule = text_of(object, "rule"),
                                      .cost = text_of(object, "cost"),
                                      .line = line,
                                      .length = length};
    const int is_entry = json_is_object(object);
    if (is_entry)
        r->visit(r->context, &entry);
    json_decref(object);
    return is_entry ? CELLAR_OK
                    : cellar_fail(err, CELLAR_ERR_INPUT, "%s:%" PRIu64 ": this is no entry",
                                  r->path, chain->n);
}

static cellar_status read_line(void *context, const audit_chain *chain, const char *line,
                               size_t length, cellar_error *err)
{
    reading *r = context;
    cellar_audit_head head;
    audit_chain_head(chain, &head);
    if (r->known != NULL && r->known->n_entries == head.n_entries) {
        if (strcmp(r->known->hash, head.hash) != 0)
            return cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the log does not go on from the head that is known: it was "
                               "written anew",
                               r->path);
        r->is_known = 1;
    }
    return r->visit != NULL ? show(r, chain, line, length, err) : CELLAR_OK;
}

cellar_status cellar_audit_read(const char *path, const cellar_audit_head *known,
                                cellar_audit_visit *visit, void *context, cellar_audit_head *out,
                                cellar_error *err)
{
    reading r = {path, known, known == NULL || known->n_entries == 0, visit, context};
    audit_chain chain = {0};
    uint64_t n_bytes = 0;
    struct stat facts;
    FILE *file = NULL;
    int fd = cellar_file_open_plain(path, O_RDONLY, err);
    cellar_status status = CELLAR_OK;
    if (fd < 0)
        return CELLAR_ERR_IO;
    file = fdopen(fd, "r");
    if (file == NULL) {
        close(fd);
        return cellar_fail_errno(err, path, "open the audit log");
    }
    flock(fd, LOCK_SH); /* nobody is in the middle of a line */
    CELLAR_TRY(audit_chain_read(&chain, path, file, &n_bytes, read_line, &r, err));
    if (fstat(fd, &facts) == 0 && (uint64_t) facts.st_size > n_bytes)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the last line was cut short; a server that starts removes it",
                               path));
    if (!r.is_known)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT,
                               "%s: the log has fewer lines than the head that is known", path));
    if (out != NULL)
        audit_chain_head(&chain, out);
out:
    fclose(file);
    return status;
}
