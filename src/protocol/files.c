/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Submissions in files: from a CSV into a folder, from the folder into the shuffler. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sodium.h>

#include <cellar/collect.h>
#include <cellar/output.h>

#include "base/csv_record.h"
#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/budget.h"
#include "protocol/invitation.h"
#include "protocol/participant.h"
#include "protocol/payload.h"

enum { PATH_BYTES = 4096, NAME_DIGITS = 32, VALUE_BYTES = 256, AT_ONCE = 32 };

static const size_t CSV_MAX = (size_t) 1 << 32;

/* ---- sending --------------------------------------------------------------- */

/* One name for one key and round, that tells neither. */
static cellar_status inbox_path(const cellar_participant *participant, const char *inbox,
                                char path[PATH_BYTES], cellar_error *err)
{
    unsigned char hash[NAME_DIGITS / 2];
    char digits[NAME_DIGITS + 1];
    int length;
    crypto_generichash(hash, sizeof hash, participant->round.id, sizeof participant->round.id,
                       participant->secret, sizeof participant->secret);
    sodium_bin2hex(digits, sizeof digits, hash, sizeof hash);
    length = snprintf(path, PATH_BYTES, "%s/%s", inbox, digits);
    if (length < 0 || length >= PATH_BYTES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", inbox);
    return CELLAR_OK;
}

typedef struct sending {
    const cellar_participant *participant;
    cellar_csv csv;
    size_t columns[CELLAR_MAX_VARIABLES]; /* of the file, for each of the invitation */
    size_t payload_column;                /* of the file; CELLAR_CSV_NO_COLUMN: none */
    char (*values)[VALUE_BYTES];
    unsigned char *sealed; /* AT_ONCE of them */
    cellar_output *output; /* one of the three */
    cellar_collect_link *link;
    const cellar_collect_margins *tally; /* nothing is sent, all is looked for */
    int is_check;                        /* nothing is sent, all is read */
} sending;

static void sending_clear(sending *s)
{
    if (s->values != NULL)
        cellar_wipe(s->values, s->participant->invitation->n_columns * sizeof *s->values);
    cellar_free(s->values);
    cellar_free(s->sealed);
    cellar_csv_clear(&s->csv);
}

static cellar_status sending_begin(sending *s, cellar_error *err)
{
    const cellar_invitation *invitation = s->participant->invitation;
    cellar_status status = CELLAR_OK;
    s->values = cellar_alloc(invitation->n_columns, sizeof *s->values);
    s->sealed = cellar_alloc(AT_ONCE, cellar_participant_size_bytes(s->participant));
    if (s->values == NULL || s->sealed == NULL)
        return cellar_fail_memory(err, "a submission");
    CELLAR_TRY(cellar_csv_read_header(&s->csv, err));
    for (size_t c = 0; c < invitation->n_columns; c++) {
        s->columns[c] = cellar_csv_find_column(&s->csv, invitation->names[c]);
        if (s->columns[c] == CELLAR_CSV_NO_COLUMN)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no column '%.200s'", s->csv.name,
                                   invitation->names[c]));
    }
    s->payload_column = CELLAR_CSV_NO_COLUMN;
    if (s->participant->payload_column != NULL) {
        s->payload_column = cellar_csv_find_column(&s->csv, s->participant->payload_column);
        if (s->payload_column == CELLAR_CSV_NO_COLUMN)
            CELLAR_TRY(cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no column '%.200s'", s->csv.name,
                                   s->participant->payload_column));
    }
out:
    return status;
}

/* The values of the record just read. */
static void sending_values(sending *s, const char *values[CELLAR_MAX_VARIABLES])
{
    for (size_t c = 0; c < s->participant->invitation->n_columns; c++) {
        const cellar_csv_field *field = &s->csv.fields[s->columns[c]];
        size_t length = field->length < VALUE_BYTES - 1 ? field->length : VALUE_BYTES - 1;
        memcpy(s->values[c], field->bytes, length); /* codes have at most 200 bytes */
        s->values[c][length] = '\0';
        values[c] = s->values[c];
    }
}

/* Seals the record with its payload, or only looks whether that could be done. */
static cellar_status sending_attach(sending *s, uint64_t row, const char *const *values,
                                    unsigned char *sealed, cellar_error *err)
{
    char *payload = NULL;
    size_t length = 0;
    uint32_t levels[CELLAR_MAX_VARIABLES];
    cellar_status status = CELLAR_OK;

    if (s->payload_column != CELLAR_CSV_NO_COLUMN && s->participant->decision != NULL)
        CELLAR_TRY(payload_read(s->csv.name, &s->csv.fields[s->payload_column],
                                cellar_invitation_payload_bytes(s->participant->invitation),
                                &payload, &length, err));
    if (s->is_check)
        CELLAR_TRY(participant_levels(s->participant, values, levels, err));
    else
        CELLAR_TRY(cellar_participant_seal_with(s->participant, row, values, payload, length,
                                                sealed, err));
out:
    if (payload != NULL)
        cellar_wipe(payload, length);
    cellar_free(payload);
    return status;
}

static cellar_status sending_seal(sending *s, uint64_t row, unsigned char *sealed,
                                  cellar_error *err)
{
    const char *values[CELLAR_MAX_VARIABLES];
    cellar_error why = {""};
    cellar_status status;

    sending_values(s, values);
    if (s->tally != NULL)
        status = cellar_participant_find(s->participant, row, values, s->tally, &why);
    else
        status = sending_attach(s, row, values, sealed, &why);
    if (status != CELLAR_OK)
        return cellar_fail(err, status, "%s:%llu: %s", s->csv.name,
                           (unsigned long long) cellar_csv_line(&s->csv), why.message);
    return CELLAR_OK;
}

/* Where sealed records go: a file, or a link. */
static cellar_status sending_flush(sending *s, size_t n, cellar_error *err)
{
    if (s->is_check || s->tally != NULL)
        return CELLAR_OK;
    if (s->link != NULL)
        return cellar_collect_link_send(s->link, s->sealed, n, err);
    cellar_output_write(s->output, s->sealed, n * cellar_participant_size_bytes(s->participant));
    return CELLAR_OK;
}

static cellar_status sending_all(sending *s, uint64_t *n_sent, cellar_error *err)
{
    size_t one = cellar_participant_size_bytes(s->participant), waiting = 0;
    int found = 1;
    cellar_status status = CELLAR_OK;
    for (*n_sent = 0; found;) {
        CELLAR_TRY(cellar_csv_next(&s->csv, &found, err));
        if (found)
            CELLAR_TRY(sending_seal(s, *n_sent, s->sealed + waiting++ * one, err));
        *n_sent += (uint64_t) found;
        if (waiting == AT_ONCE || !found) {
            CELLAR_TRY(sending_flush(s, waiting, err));
            waiting = 0;
        }
    }
    if (*n_sent == 0)
        status = cellar_fail(err, CELLAR_ERR_INPUT, "%s: has no record", s->csv.name);
out:
    return status;
}

/* Reads all records, so that a fault in any of them is found while nothing was sent, and charges
 * the budget for them. */
static cellar_status sending_check(sending *s, const char *bytes, size_t length, uint64_t *n,
                                   cellar_error *err)
{
    sending first = {.participant = s->participant, .is_check = 1};
    cellar_status status = CELLAR_OK;

    cellar_csv_init(&first.csv, s->csv.name, bytes, length, ',');
    CELLAR_TRY(sending_begin(&first, err));
    CELLAR_TRY(sending_all(&first, n, err));
    CELLAR_TRY(budget_charge(s->participant, bytes, length, err));
out:
    sending_clear(&first);
    return status;
}

/* Reads the file and hands every record on. */
static cellar_status sending_run(sending *s, const char *csv_path, uint64_t *n_sent,
                                 cellar_error *err)
{
    char *bytes = NULL;
    size_t length = 0;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_file_read(csv_path, CSV_MAX, &bytes, &length, err));
    cellar_csv_init(&s->csv, csv_path, bytes, length, ',');
    if (s->tally == NULL)
        CELLAR_TRY(sending_check(s, bytes, length, n_sent, err));
    CELLAR_TRY(sending_begin(s, err));
    CELLAR_TRY(sending_all(s, n_sent, err));
out:
    if (bytes != NULL) {
        sending_clear(s);
        cellar_wipe(bytes, length);
    }
    cellar_free(bytes);
    return status;
}

cellar_status cellar_participant_send_file(const cellar_participant *participant,
                                           const char *csv_path, const char *inbox,
                                           uint64_t *n_sent, cellar_error *err)
{
    sending s = {.participant = participant};
    char path[PATH_BYTES];
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(inbox_path(participant, inbox, path, err));
    CELLAR_TRY(cellar_output_open(path, NULL, &s.output, err));
    CELLAR_TRY(sending_run(&s, csv_path, n_sent, err));
    status = cellar_output_commit(s.output, err);
    s.output = NULL;
out:
    cellar_output_discard(s.output);
    return status;
}

cellar_status cellar_participant_post_file(const cellar_participant *participant,
                                           const char *csv_path, const char *address,
                                           uint32_t timeout_ms, uint64_t *n_sent, cellar_error *err)
{
    sending s = {.participant = participant};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_collect_link_open(participant, address, timeout_ms, &s.link, err));
    CELLAR_TRY(sending_run(&s, csv_path, n_sent, err));
out:
    cellar_collect_link_close(s.link);
    return status;
}

cellar_status cellar_participant_find_file(const cellar_participant *participant,
                                           const char *csv_path,
                                           const cellar_collect_margins *tally, uint64_t *n_found,
                                           cellar_error *err)
{
    sending s = {.participant = participant, .tally = tally};
    return sending_run(&s, csv_path, n_found, err);
}

/* ---- taking ---------------------------------------------------------------- */

/* One submission. What is wrong with it is for the report; our own trouble is a failure. */
static cellar_status take_one(cellar_shuffler *shuffler, const unsigned char *bytes, size_t length,
                              cellar_collect_report *report, cellar_error *err)
{
    cellar_error why = {""};
    int is_new = 0;
    cellar_status status = cellar_shuffler_take(shuffler, bytes, length, &is_new, &why);
    report->n_messages++;
    if (status == CELLAR_ERR_INPUT || status == CELLAR_ERR_RULE || status == CELLAR_ERR_UNSUPPORTED)
        report_refuse(report, why.message);
    else if (status != CELLAR_OK)
        return cellar_fail(err, status, "%s", why.message);
    else if (is_new)
        report->n_counted++;
    else
        report->n_duplicates++;
    return CELLAR_OK;
}

/* A regular file, and nothing that it may point to; NULL for anything else. */
static FILE *inbox_open(const char *path)
{
    struct stat facts;
    FILE *file = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        file = fdopen(fd, "rb");
    if (file == NULL && fd >= 0)
        close(fd);
    return file;
}

/* One submission after the other; a rest shorter than one is one that was cut. Something that
 * cannot be read stays there, and stops nobody else. */
static cellar_status take_file(cellar_shuffler *shuffler, const char *path,
                               cellar_collect_report *report, int *is_read, cellar_error *err)
{
    size_t one = cellar_shuffler_size_bytes(shuffler), got = 0;
    unsigned char *bytes = NULL;
    FILE *file = inbox_open(path);
    cellar_status status = CELLAR_OK;

    *is_read = file != NULL;
    if (file == NULL) {
        report->n_messages++;
        report_refuse(report, "not a file that can be read here");
        return CELLAR_OK;
    }
    bytes = cellar_alloc(1, one);
    if (bytes == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a submission"));
    while ((got = fread(bytes, 1, one, file)) > 0)
        CELLAR_TRY(take_one(shuffler, bytes, got, report, err));
    if (ferror(file))
        status = cellar_fail_errno(err, path, "read");
out:
    cellar_free(bytes);
    fclose(file);
    return status;
}

/* The files that wait in a folder, by name: what comes later is left for later. */
typedef struct inbox_list {
    char (*names)[NAME_DIGITS + 1];
    size_t n, capacity;
} inbox_list;

/* Submissions have names of hexadecimal digits; anything else is somebody else's, and kept. Names
 * that begin with a dot are of files that are not complete yet. */
static cellar_status inbox_read(const char *inbox, inbox_list *list, uint64_t *n_ignored,
                                cellar_error *err)
{
    DIR *folder = opendir(inbox);
    cellar_status status = CELLAR_OK;

    if (folder == NULL)
        return cellar_fail_errno(err, inbox, "open");
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strlen(entry->d_name) != NAME_DIGITS ||
            strspn(entry->d_name, "0123456789abcdef") != NAME_DIGITS) {
            *n_ignored += entry->d_name[0] != '.';
            continue;
        }
        if (!cellar_grow(&list->names, &list->capacity, list->n + 1, sizeof *list->names)) {
            status = cellar_fail_memory(err, "names of files");
            break;
        }
        memcpy(list->names[list->n++], entry->d_name, NAME_DIGITS + 1);
    }
    closedir(folder);
    return status;
}

/* PATH of one of them; the length of the folder was checked. */
static const char *inbox_file(const char *inbox, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", inbox, name);
    return path;
}

cellar_status cellar_shuffler_take_folder(cellar_shuffler *shuffler, const char *inbox,
                                          cellar_collect_report *report, cellar_error *err)
{
    char path[PATH_BYTES];
    inbox_list list = {0};
    cellar_status status = CELLAR_OK;

    *report = (cellar_collect_report){0};
    if (strlen(inbox) + NAME_DIGITS + 2 > PATH_BYTES)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%.200s...: the path is too long", inbox);
    CELLAR_TRY(inbox_read(inbox, &list, &report->n_ignored, err));
    for (size_t i = 0; i < list.n; i++) {
        int is_read;
        CELLAR_TRY(
            take_file(shuffler, inbox_file(inbox, list.names[i], path), report, &is_read, err));
        if (!is_read)
            list.names[i][0] = '\0';
    }
    CELLAR_TRY(cellar_shuffler_sync(shuffler, err));
    for (size_t i = 0; i < list.n; i++)
        if (list.names[i][0] != '\0' && unlink(inbox_file(inbox, list.names[i], path)) != 0 &&
            errno != ENOENT)
            CELLAR_TRY(cellar_fail_errno(err, path, "remove"));
out:
    cellar_free(list.names);
    return status;
}
