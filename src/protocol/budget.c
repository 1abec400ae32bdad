/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/budget.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/invitation.h"
#include "protocol/lines.h"
#include "protocol/spool.h"

static const char HEADER[] = "cellar collect budget 1\n";
static const size_t FILE_MAX = (size_t) 1 << 26;
static const cellar_int128 LIMIT_MAX = 1000000; /* an epsilon beyond it protects nobody */

enum { HASH_BYTES = 16, SESSION_BYTES = 6 };

/* The file, locked, and what it says. */
typedef struct budget {
    const char *path;
    int fd, has_limit, is_new;
    char *bytes;
    size_t length;              /* of whole lines */
    cellar_int128 limit, spent; /* in units of 10^-18 */
    uint64_t n_randomised, n_exact;
} budget;

/* ---- reading --------------------------------------------------------------- */

static cellar_status fail_line(const budget *b, uint64_t line, const char *what, cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_INPUT, "%s:%llu: expected %s", b->path,
                       (unsigned long long) line, what);
}

/* A decimal from 0 to a million. */
static int amount_read(const char *text, size_t length, cellar_int128 *out)
{
    int exact = 0;
    return cellar_parse_decimal(text, length, LINES_SCALE, out, &exact) && exact && *out >= 0 &&
           *out <= LIMIT_MAX * (cellar_int128) LINES_ONE;
}

/* "sent SESSION ROUND HASH EPSILON": the last word counts. */
static cellar_status line_read(budget *b, const char *line, size_t length, uint64_t number,
                               cellar_error *err)
{
    static const char limit[] = "limit ", sent[] = "sent ";
    const char *word = memrchr(line, ' ', length);
    size_t rest = word != NULL ? length - (size_t) (word + 1 - line) : 0;
    cellar_int128 amount = 0;

    if (number == 1)
        return length + 1 == sizeof HEADER - 1 && memcmp(line, HEADER, length) == 0
                   ? CELLAR_OK
                   : fail_line(b, number, "'cellar collect budget 1'", err);
    if (word != NULL && length > sizeof limit - 1 && memcmp(line, limit, sizeof limit - 1) == 0) {
        b->has_limit = 1;
        return amount_read(word + 1, rest, &b->limit) ? CELLAR_OK
                                                      : fail_line(b, number, "a limit", err);
    }
    if (word == NULL || length < sizeof sent || memcmp(line, sent, sizeof sent - 1) != 0)
        return fail_line(b, number, "'limit' or 'sent'", err);
    if (rest == 5 && memcmp(word + 1, "exact", 5) == 0) {
        b->n_exact++;
        return CELLAR_OK;
    }
    if (!amount_read(word + 1, rest, &amount))
        return fail_line(b, number, "an epsilon, or 'exact'", err);
    b->spent += amount;
    b->n_randomised++;
    return CELLAR_OK;
}

/* What a crash left of the last line: no newline, or zeros that were never written. */
static size_t whole_lines(const char *bytes, size_t length)
{
    const char *end = length > 0 ? memrchr(bytes, '\n', length) : NULL;
    const char *before;
    if (end == NULL)
        return 0;
    before = memrchr(bytes, '\n', (size_t) (end - bytes));
    before = before != NULL ? before + 1 : bytes;
    if (memchr(before, '\0', (size_t) (end - before)) != NULL)
        return (size_t) (before - bytes);
    return (size_t) (end + 1 - bytes);
}

static cellar_status lines_read(budget *b, cellar_error *err)
{
    uint64_t number = 1;
    cellar_status status = CELLAR_OK;
    for (size_t at = 0; at < b->length && status == CELLAR_OK; number++) {
        const char *end = memchr(b->bytes + at, '\n', b->length - at);
        size_t length = (size_t) (end - (b->bytes + at));
        status = line_read(b, b->bytes + at, length, number, err);
        at += length + 1;
    }
    b->is_new = b->length == 0;
    return status;
}

static cellar_status file_read(budget *b, cellar_error *err)
{
    struct stat facts;
    size_t got = 0, size;

    if (fstat(b->fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return cellar_fail(err, CELLAR_ERR_IO, "%s: is no file that can be read", b->path);
    if (facts.st_size < 0 || (uint64_t) facts.st_size > FILE_MAX)
        return cellar_fail(err, CELLAR_ERR_INPUT, "%s: is too long for a budget", b->path);
    size = (size_t) facts.st_size;
    b->bytes = cellar_alloc(size + 1, 1);
    if (b->bytes == NULL)
        return cellar_fail_memory(err, "a budget");
    while (got < size) {
        ssize_t n = pread(b->fd, b->bytes + got, size - got, (off_t) got);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return cellar_fail_errno(err, b->path, "read");
        got += (size_t) n;
    }
    b->length = whole_lines(b->bytes, size);
    return lines_read(b, err);
}

/* Opens and locks the file; `flags` may make it. */
static cellar_status budget_open(budget *b, const char *path, int flags, cellar_error *err)
{
    *b = (budget){.path = path, .fd = -1};
    b->fd = cellar_file_open_plain(path, flags | O_NOFOLLOW, err);
    if (b->fd < 0)
        return CELLAR_ERR_IO;
    while (flock(b->fd, LOCK_EX) != 0)
        if (errno != EINTR)
            return cellar_fail_errno(err, path, "lock");
    return file_read(b, err);
}

static void budget_close(budget *b)
{
    if (b->fd >= 0)
        close(b->fd);
    cellar_free(b->bytes);
}

/* ---- writing --------------------------------------------------------------- */

/* Adds a line behind the whole ones and syncs. */
static cellar_status budget_add(const budget *b, const cellar_text *line, cellar_error *err)
{
    cellar_text text = {0};
    size_t done = 0;
    cellar_status status = CELLAR_OK;

    if (b->is_new)
        cellar_text_add_string(&text, HEADER);
    if (!line->failed)
        cellar_text_add(&text, line->bytes, line->length);
    if (text.failed || line->failed)
        CELLAR_TRY(cellar_fail_memory(err, "a budget"));
    if (ftruncate(b->fd, (off_t) b->length) != 0)
        CELLAR_TRY(cellar_fail_errno(err, b->path, "cut"));
    while (done < text.length) {
        ssize_t n =
            pwrite(b->fd, text.bytes + done, text.length - done, (off_t) (b->length + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            CELLAR_TRY(cellar_fail_errno(err, b->path, "write"));
        done += (size_t) n;
    }
    if (fdatasync(b->fd) != 0)
        CELLAR_TRY(cellar_fail_errno(err, b->path, "sync"));
    if (b->is_new)
        CELLAR_TRY(folder_sync(b->path, err));
out:
    cellar_text_clear(&text);
    return status;
}

cellar_status cellar_collect_budget_limit(const char *path, const char *limit, cellar_error *err)
{
    budget b = {.fd = -1};
    cellar_text line = {0};
    cellar_int128 amount = 0;
    cellar_status status = CELLAR_OK;

    if (!amount_read(limit, strlen(limit), &amount))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a budget is an epsilon from 0 to a million with at most %d decimals, "
                           "not '%.100s'",
                           LINES_SCALE, limit);
    CELLAR_TRY(budget_open(&b, path, O_RDWR | O_CREAT, err));
    if (b.has_limit && b.limit == amount)
        goto out;
    cellar_text_add_string(&line, "limit ");
    cellar_text_add_decimal(&line, amount, LINES_SCALE);
    cellar_text_add_char(&line, '\n');
    CELLAR_TRY(budget_add(&b, &line, err));
out:
    budget_close(&b);
    cellar_text_clear(&line);
    return status;
}

cellar_status cellar_collect_budget_read(const char *path, cellar_collect_budget *out,
                                         cellar_error *err)
{
    budget b = {.fd = -1};
    cellar_status status = CELLAR_OK;

    *out = (cellar_collect_budget){.limit = INFINITY};
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return CELLAR_OK;
    CELLAR_TRY(budget_open(&b, path, O_RDONLY, err));
    if (b.has_limit)
        out->limit = (double) b.limit / 1e18;
    out->spent = (double) b.spent / 1e18;
    out->n_randomised = b.n_randomised;
    out->n_exact = b.n_exact;
out:
    budget_close(&b);
    return status;
}

/* ---- charging -------------------------------------------------------------- */

/* The epsilon of an answer to this round; *is_exact when there is none. Rows of round two are exact
 * whatever the invitation says. */
static cellar_int128 answer_epsilon(const cellar_participant *participant, int *is_exact)
{
    const cellar_invitation *invitation = participant->invitation;
    *is_exact = participant->round.number != 1 || invitation->terms.epsilon == 0;
    return *is_exact
               ? 0
               : (cellar_int128) invitation->terms.epsilon * (cellar_int128) invitation->n_columns;
}

/* "sent SESSION ROUND HASH ", which stands for this answer and no other. */
static void answer_name(const cellar_participant *participant, const void *bytes, size_t length,
                        cellar_text *out)
{
    crypto_generichash_state state;
    unsigned char hash[HASH_BYTES];
    char digits[2 * HASH_BYTES + 1], session[2 * SESSION_BYTES + 1];

    crypto_generichash_init(&state, participant->secret, sizeof participant->secret, sizeof hash);
    crypto_generichash_update(&state, participant->round.id, sizeof participant->round.id);
    crypto_generichash_update(&state, bytes, length);
    crypto_generichash_final(&state, hash, sizeof hash);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    sodium_bin2hex(session, sizeof session, participant->invitation->session, SESSION_BYTES);
    cellar_text_printf(out, "sent %s %s %s ", session, round_label(&participant->round), digits);
    cellar_wipe(&state, sizeof state);
}

static cellar_status fail_spent(const budget *b, cellar_int128 cost, cellar_error *err)
{
    double left = b->limit > b->spent ? (double) (b->limit - b->spent) / 1e18 : 0;
    return cellar_fail(err, CELLAR_ERR_BUDGET,
                       "%s: this answer costs an epsilon of %.6g; %.6g of %.6g is left", b->path,
                       (double) cost / 1e18, left, (double) b->limit / 1e18);
}

cellar_status budget_charge(const cellar_participant *participant, const void *bytes, size_t length,
                            cellar_error *err)
{
    budget b = {.fd = -1};
    cellar_text line = {0};
    int is_exact;
    cellar_int128 cost = answer_epsilon(participant, &is_exact);
    cellar_status status = CELLAR_OK;

    if (participant->budget == NULL)
        return CELLAR_OK;
    CELLAR_TRY(budget_open(&b, participant->budget, O_RDWR | O_CREAT, err));
    answer_name(participant, bytes, length, &line);
    if (line.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a budget"));
    if (b.length > 0 && memmem(b.bytes, b.length, line.bytes, line.length) != NULL)
        goto out; /* sent again */
    if (b.has_limit && is_exact && participant->decision == NULL)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_BUDGET,
                               "%s: has a limit, and this answer is not randomised: it has no "
                               "epsilon at all",
                               b.path));
    if (b.has_limit && cost > b.limit - b.spent)
        CELLAR_TRY(fail_spent(&b, cost, err));
    if (is_exact)
        cellar_text_add_string(&line, "exact");
    else
        cellar_text_add_decimal(&line, cost, LINES_SCALE);
    cellar_text_add_char(&line, '\n');
    CELLAR_TRY(budget_add(&b, &line, err));
out:
    budget_close(&b);
    cellar_text_clear(&line);
    return status;
}
