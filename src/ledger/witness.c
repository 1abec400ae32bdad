/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The witness: a file elsewhere that hears of every new head before anybody acts on it.
 *
 * One line for each: "cellar-witness 1 LEDGER GENERATION ENTRIES HEAD MAC". Lines are only added,
 * so the file may lie where nothing can be taken back (chattr +a, a remote log). The newest line
 * counts, by generation and entries, wherever it stands: an old one added again changes nothing. A
 * line begins with its line feed, and what was cut short has no good MAC: whatever a program that
 * was killed, or a full disk, left of a line is passed over. Ledgers may share a witness. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"

enum { WITNESS_MAX_BYTES = 1 << 30, MAC_DIGITS = CELLAR_LEDGER_HASH_TEXT - 1 };

static const char WITNESS[] = "cellar-witness 1 ";
static const char PURPOSE[] = "cellar ledger witness 1";

static const cellar_ledger_entry *last_adoption(const cellar_ledger *ledger)
{
    for (size_t i = ledger->n_entries; i-- > 0;)
        if (ledger->entries[i]->kind == CELLAR_ENTRY_ADOPT ||
            ledger->entries[i]->kind == CELLAR_ENTRY_CREATE)
            return ledger->entries[i];
    return NULL;
}

const char *cellar_ledger_witness(const cellar_ledger *ledger)
{
    const cellar_ledger_entry *entry = last_adoption(ledger);
    return entry != NULL ? entry->witness : NULL;
}

uint64_t cellar_ledger_generation(const cellar_ledger *ledger)
{
    const cellar_ledger_entry *entry = last_adoption(ledger);
    return entry != NULL ? entry->generation : 0;
}

/* ---- reading ------------------------------------------------------------------------- */

/* Reads a number that ends with a space; NULL when there is none. */
static const char *line_number(const char *text, const char *end, uint64_t *out)
{
    const char *space = memchr(text, ' ', (size_t) (end - text));
    if (space == NULL || !cellar_parse_u64(text, (size_t) (space - text), out))
        return NULL;
    return space + 1;
}

/* 1 when the line is about the ledger and in place; its MAC is not looked at. */
static int line_read(const cellar_ledger *ledger, const char *line, const char *end,
                     cellar_sighting *out)
{
    const char *id = cellar_ledger_id(ledger);
    size_t id_length = strlen(id), prefix = sizeof WITNESS - 1;
    const char *at = line + prefix;
    if ((size_t) (end - line) <= prefix + id_length || memcmp(line, WITNESS, prefix) != 0 ||
        memcmp(at, id, id_length) != 0 || at[id_length] != ' ')
        return 0;
    at += id_length + 1;
    at = line_number(at, end, &out->generation);
    if (at != NULL)
        at = line_number(at, end, &out->n_entries);
    if (at == NULL || end - at != MAC_DIGITS + 1 + MAC_DIGITS || at[MAC_DIGITS] != ' ')
        return 0;
    memcpy(out->head, at, MAC_DIGITS);
    out->head[MAC_DIGITS] = '\0';
    return 1;
}

static int line_is_ours(const cellar_ledger *ledger, const char *line, const char *end)
{
    char mac[CELLAR_LEDGER_HASH_TEXT];
    size_t length = (size_t) (end - line) - MAC_DIGITS;
    cellar_ledger_text_mac(ledger->secret, PURPOSE, line, length, mac);
    return sodium_memcmp(line + length, mac, MAC_DIGITS) == 0;
}

static int is_newer(const cellar_sighting *a, const cellar_sighting *b)
{
    return a->generation != b->generation ? a->generation > b->generation
                                          : a->n_entries > b->n_entries;
}

/* From the end, where the newest line is expected: MACs of older ones need not be computed. */
static void lines_search(const cellar_ledger *ledger, const char *bytes, size_t length,
                         cellar_sighting *best)
{
    const char *end = bytes + length;
    while (end > bytes) {
        const char *feed = memrchr(bytes, '\n', (size_t) (end - bytes));
        const char *line = feed != NULL ? feed + 1 : bytes;
        cellar_sighting one;
        if (line_read(ledger, line, end, &one) && is_newer(&one, best) &&
            line_is_ours(ledger, line, end))
            *best = one;
        end = feed != NULL ? feed : bytes;
    }
}

cellar_status cellar_witness_read(const cellar_ledger *ledger, const char *path,
                                  cellar_sighting *out, cellar_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    cellar_status status = cellar_file_read_plain(path, WITNESS_MAX_BYTES, &bytes, &length, err);
    *out = (cellar_sighting){0};
    if (status == CELLAR_OK)
        lines_search(ledger, bytes, length, out);
    cellar_free(bytes);
    return status;
}

/* ---- writing ------------------------------------------------------------------------- */

/* A file that is there must be a witness, or empty. */
static cellar_status file_is_witness(int fd, const char *path, cellar_error *err)
{
    char start[sizeof WITNESS];
    struct stat facts;
    ssize_t n = 0;
    if (fstat(fd, &facts) != 0 ||
        (S_ISREG(facts.st_mode) && (n = pread(fd, start, sizeof start, 0)) < 0))
        return cellar_fail_errno(err, path, "read the witness");
    if (!S_ISREG(facts.st_mode) ||
        (n > 0 && (start[0] != '\n' || memcmp(start + 1, WITNESS, (size_t) n - 1) != 0)))
        return cellar_fail(err, CELLAR_ERR_INPUT,
                           "%s: is something else than a witness, and is left alone; name another "
                           "file",
                           path);
    return CELLAR_OK;
}

/* The name of a new file must outlast a power cut, too. */
static void folder_sync(const char *path)
{
    char folder[PATH_MAX];
    int fd;
    snprintf(folder, sizeof folder, "%.*s", (int) (strrchr(path, '/') - path) + 1, path);
    fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* One write, so that lines of other programs do not come between. */
static cellar_status line_append(int fd, const char *path, const cellar_text *line,
                                 cellar_error *err)
{
    ssize_t n;
    do
        n = write(fd, line->bytes, line->length);
    while (n < 0 && errno == EINTR);
    if (n >= 0 && (size_t) n < line->length) {
        errno = ENOSPC;
        n = -1;
    }
    if (n < 0 || fsync(fd) != 0)
        return cellar_fail_errno(err, path, "write to the witness");
    return CELLAR_OK;
}

cellar_status cellar_witness_make(const char *path, cellar_error *err)
{
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    cellar_status status;
    if (fd < 0)
        return cellar_fail_errno(err, path, "make the witness");
    status = file_is_witness(fd, path, err);
    close(fd);
    if (status == CELLAR_OK)
        folder_sync(path);
    return status;
}

cellar_status cellar_witness_tell(const cellar_ledger *ledger, const char *path, cellar_error *err)
{
    char mac[CELLAR_LEDGER_HASH_TEXT] = "";
    cellar_text line = {0};
    cellar_status status = CELLAR_OK;
    int fd = -1;

    cellar_text_printf(&line, "\n%s%s %" PRIu64 " %zu %s ", WITNESS, cellar_ledger_id(ledger),
                       cellar_ledger_generation(ledger), ledger->n_entries,
                       cellar_ledger_head(ledger));
    if (!line.failed)
        cellar_ledger_text_mac(ledger->secret, PURPOSE, line.bytes + 1, line.length - 1, mac);
    cellar_text_add(&line, mac, MAC_DIGITS);
    if (line.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a witness"));
    fd = cellar_file_open_plain(path, O_WRONLY | O_APPEND | O_NOFOLLOW, err);
    if (fd < 0)
        CELLAR_TRY(CELLAR_ERR_IO);
    CELLAR_TRY(line_append(fd, path, &line, err));
out:
    if (fd >= 0)
        close(fd);
    cellar_text_clear(&line);
    return status;
}

/* ---- comparing ----------------------------------------------------------------------- */

int cellar_sighting_fits(const cellar_sighting *seen, const cellar_ledger *ledger)
{
    uint64_t generation = cellar_ledger_generation(ledger);
    if (seen->generation != generation)
        return seen->generation < generation;
    return seen->n_entries > 0 && seen->n_entries <= ledger->n_entries &&
           strcmp(ledger->entries[seen->n_entries - 1]->head, seen->head) == 0;
}

static cellar_status refuse_unseen(const cellar_ledger *ledger, const char *why, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "%s: its witness %s; bring the witness back, or accept the ledger without "
                       "what it knew, which the history then says: cellar ledger adopt %s "
                       "--witness FILE",
                       ledger->path, why, ledger->path);
}

static cellar_status refuse_old(const cellar_ledger *ledger, const cellar_sighting *seen,
                                cellar_error *err)
{
    char what[96];
    if (seen->n_entries > ledger->n_entries)
        snprintf(what, sizeof what, "saw %" PRIu64 " entries where this file has %zu",
                 seen->n_entries, ledger->n_entries);
    else
        snprintf(what, sizeof what, "saw another history up to entry %" PRIu64, seen->n_entries);
    return cellar_fail(
        err, CELLAR_ERR_RULE,
        "%s: its witness %s %s: the ledger was restored from an older copy, and what "
        "was charged since could be spent twice; bring the newest ledger back, or "
        "accept this one, which its history then says: cellar ledger adopt %s",
        ledger->path, cellar_ledger_witness(ledger), what, ledger->path);
}

static cellar_status witness_ask(const cellar_ledger *ledger, cellar_sighting *seen,
                                 cellar_error *err)
{
    const char *path = cellar_ledger_witness(ledger);
    cellar_error why = {""};
    cellar_text reason = {0};
    cellar_status status = cellar_witness_read(ledger, path, seen, &why);
    if (status == CELLAR_ERR_MEMORY)
        return cellar_fail(err, status, "%s", why.message);
    if (status != CELLAR_OK)
        cellar_text_printf(&reason, "cannot be asked (%s)", why.message);
    else if (seen->n_entries == 0)
        cellar_text_printf(&reason, "%s knows nothing of it", path);
    if (reason.failed)
        status = cellar_fail_memory(err, "a witness");
    else if (reason.length > 0)
        status = refuse_unseen(ledger, reason.bytes, err);
    cellar_text_clear(&reason);
    return status;
}

/* The witness is read before what it is compared with: whoever wrote the line had written the
 * entries, so an honest ledger has them by then. */
cellar_status cellar_ledger_check_witness(cellar_ledger *ledger, cellar_error *err)
{
    cellar_sighting seen;
    cellar_status status = CELLAR_OK;
    if (cellar_ledger_witness(ledger) == NULL)
        return CELLAR_OK;
    CELLAR_TRY(witness_ask(ledger, &seen, err));
    if (!cellar_sighting_fits(&seen, ledger))
        CELLAR_TRY(cellar_ledger_catch_up(ledger, err));
    if (!cellar_sighting_fits(&seen, ledger))
        CELLAR_TRY(refuse_old(ledger, &seen, err));
out:
    return status;
}

cellar_status cellar_ledger_mend_witness(cellar_ledger *ledger, cellar_error *err)
{
    cellar_sighting seen,
        now = {.generation = cellar_ledger_generation(ledger), .n_entries = ledger->n_entries};
    cellar_status status = CELLAR_OK;
    if (cellar_ledger_witness(ledger) == NULL)
        return CELLAR_OK;
    CELLAR_TRY(witness_ask(ledger, &seen, err));
    if (!cellar_sighting_fits(&seen, ledger))
        CELLAR_TRY(refuse_old(ledger, &seen, err));
    if (is_newer(&now, &seen))
        CELLAR_TRY(cellar_witness_tell(ledger, cellar_ledger_witness(ledger), err));
    if (faccessat(AT_FDCWD, cellar_ledger_witness(ledger), W_OK, AT_EACCESS) != 0)
        CELLAR_TRY(cellar_fail_errno(err, cellar_ledger_witness(ledger), "write to the witness"));
out:
    return status;
}
