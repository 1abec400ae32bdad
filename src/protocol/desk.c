/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "protocol/desk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "protocol/batch.h"
#include "protocol/invitation.h"
#include "protocol/joint.h"
#include "protocol/spool.h"

enum { PATH_BYTES = 4096 };

const char *const desk_names[DESK_NAMES] = {
    "invitation",    "decision",      "question-pairs",    "question-triples",   "tally",
    "round-1.batch", "round-2.batch", "round-pairs.batch", "round-triples.batch"};

size_t desk_find(const char *name)
{
    size_t i = 0;
    while (i < DESK_NAMES && strcmp(desk_names[i], name) != 0)
        i++;
    return i;
}

/* ---- frames ---------------------------------------------------------------- */

void desk_write(const desk_frame *frame, unsigned char out[DESK_FRAME_BYTES])
{
    memset(out, 0, DESK_FRAME_BYTES);
    out[0] = frame->kind;
    out[1] = frame->paper;
    bytes_put(out + 4, 4, frame->length);
    bytes_put(out + 8, 8, frame->offset);
    if (frame->bytes != NULL && frame->length <= DESK_CHUNK)
        memcpy(out + 16, frame->bytes, frame->length);
}

int desk_read(const unsigned char in[DESK_FRAME_BYTES], desk_frame *frame)
{
    *frame =
        (desk_frame){in[0], in[1], (uint32_t) bytes_get(in + 4, 4), bytes_get(in + 8, 8), in + 16};
    if (in[2] != 0 || in[3] != 0 || frame->length > DESK_CHUNK)
        return 0;
    for (size_t i = frame->length; i < DESK_CHUNK; i++)
        if (frame->bytes[i] != 0)
            return 0;
    return 1;
}

void desk_round(const cellar_collect_identity *identity, cellar_collect_role role,
                collect_round *out)
{
    static const char label[] = "cellar collect desk 1";
    unsigned char input[sizeof label + 1 + CELLAR_COLLECT_KEY_BYTES];
    memcpy(input, label, sizeof label);
    input[sizeof label] = (unsigned char) role;
    memcpy(input + sizeof label + 1, identity->sign, CELLAR_COLLECT_KEY_BYTES);
    *out = (collect_round){.shuffler = *identity};
    crypto_generichash(out->id, sizeof out->id, input, sizeof input, NULL, 0);
}

void desk_digest(const unsigned char *binding, size_t paper, uint64_t total,
                 unsigned char digest[32])
{
    static const char label[] = "cellar collect delivery 1";
    unsigned char input[sizeof label + CHANNEL_BINDING_BYTES + 16];
    memcpy(input, label, sizeof label);
    memcpy(input + sizeof label, binding, CHANNEL_BINDING_BYTES);
    bytes_put(input + sizeof label + CHANNEL_BINDING_BYTES, 8, paper);
    bytes_put(input + sizeof label + CHANNEL_BINDING_BYTES + 8, 8, total);
    crypto_generichash(digest, 32, input, sizeof input, NULL, 0);
}

static void answer_say(unsigned char *answer, desk_verdict verdict, const char *why)
{
    const desk_frame said = {(unsigned char) verdict, 0, (uint32_t) strlen(why), 0,
                             (const unsigned char *) why};
    desk_write(&said, answer);
}

static int name_path(const desk *d, const char *name, const char *ending, char path[PATH_BYTES])
{
    int length = snprintf(path, PATH_BYTES, "%s/%s%s", d->folder, name, ending);
    return length > 0 && length < PATH_BYTES;
}

/* ---- handing out ----------------------------------------------------------- */

static void paper_give(const desk *d, const desk_frame *wish, unsigned char *answer)
{
    unsigned char bytes[DESK_CHUNK];
    char path[PATH_BYTES];
    struct stat facts;
    ssize_t got = -1;
    cellar_error unheard;
    int fd = -1;

    if (wish->paper >= DESK_PAPERS || wish->length != 0) {
        answer_say(answer, DESK_REFUSED, "there is no such paper");
        return;
    }
    if (name_path(d, desk_names[wish->paper], "", path))
        fd = cellar_file_open_plain(path, O_RDONLY, &unheard);
    if (fd < 0 && errno == ENOENT) {
        answer_say(answer, DESK_NOT_YET, "it has not been published");
        return;
    }
    if (fd >= 0 && fstat(fd, &facts) == 0 && wish->offset <= (uint64_t) facts.st_size)
        got = pread(fd, bytes, sizeof bytes, (off_t) wish->offset);
    if (fd >= 0)
        close(fd);
    if (got < 0) {
        answer_say(answer, DESK_REFUSED, "it cannot be read there");
        return;
    }
    desk_write(&(desk_frame){DESK_OK, 0, (uint32_t) got, (uint64_t) facts.st_size, bytes}, answer);
}

/* ---- taking ---------------------------------------------------------------- */

void desk_close(desk *d)
{
    char path[PATH_BYTES];
    if (!d->is_open)
        return;
    close(d->fd);
    d->is_open = 0;
    if (name_path(d, desk_names[d->paper], ".part", path))
        unlink(path);
}

/* The round whose batch has this name; 0 when this role waits for no such batch. */
static int batch_round(const desk *d, size_t paper, collect_round *out)
{
    char path[PATH_BYTES];
    cellar_question *question = NULL;
    int is_rows = strcmp(desk_names[paper], "round-2.batch") == 0;
    int is_pairs = strcmp(desk_names[paper], "round-pairs.batch") == 0;

    if (is_rows != (d->role == CELLAR_COLLECT_ANALYST))
        return 0;
    if (is_rows)
        return d->decision != NULL && round_of(d->invitation, d->decision, out, NULL) == CELLAR_OK;
    if (strcmp(desk_names[paper], "round-1.batch") == 0) {
        round_one(d->invitation, out);
        return 1;
    }
    if (!name_path(d, is_pairs ? "question-pairs" : "question-triples", "", path) ||
        cellar_question_read(path, d->invitation, &question, NULL) != CELLAR_OK)
        return 0;
    round_asked(d->invitation, question->id, (int) question->order, question->n_asked, out);
    cellar_question_free(question);
    return 1;
}

static const char *delivery_begin(desk *d, const service_sender *sender, const desk_frame *wish)
{
    char path[PATH_BYTES];
    unsigned char digest[32];
    collect_round round;

    if (wish->paper < DESK_PAPERS || wish->paper >= DESK_NAMES || wish->length != 64)
        return "there is no such batch";
    desk_digest(sender->binding, wish->paper, wish->offset, digest);
    if (crypto_sign_verify_detached(wish->bytes, digest, sizeof digest,
                                    d->invitation->identities[CELLAR_COLLECT_SHUFFLER].sign) != 0)
        return "only the shuffler of the invitation delivers";
    if (!batch_round(d, wish->paper, &round))
        return "nobody waits here for this batch";
    desk_close(d); /* of a shuffler that was cut off */
    if (!name_path(d, desk_names[wish->paper], ".part", path))
        return "the path is too long";
    unlink(path); /* what a crash left */
    d->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (d->fd < 0)
        return "the file cannot be made there";
    d->is_open = 1;
    d->sender = sender->number;
    d->paper = wish->paper;
    d->got = 0;
    d->total = wish->offset;
    return NULL;
}

static const char *delivery_part(desk *d, const service_sender *sender, const desk_frame *wish)
{
    if (!d->is_open || sender->number != d->sender || wish->offset != d->got ||
        wish->length > d->total - d->got)
        return "the delivery is out of order, or another one has begun";
    for (size_t at = 0; at < wish->length;) {
        ssize_t written = write(d->fd, wish->bytes + at, wish->length - at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            desk_close(d); /* a part of a batch is no use, and gives the disk back */
            return "the disk is full there, or broken";
        }
        at += (size_t) written;
    }
    d->got += wish->length;
    return NULL;
}

/* A batch that is there already is not replaced: once it was counted, that was it. */
static const char *delivery_finish(desk *d, const service_sender *sender)
{
    char part[PATH_BYTES], path[PATH_BYTES];
    collect_round round;
    collect_batch batch = {0};
    int ok;

    if (!d->is_open || sender->number != d->sender || d->got != d->total)
        return "the delivery is not complete";
    if (!name_path(d, desk_names[d->paper], ".part", part) ||
        !name_path(d, desk_names[d->paper], "", path) || fsync(d->fd) != 0) {
        desk_close(d);
        return "the disk is full there, or broken";
    }
    ok = batch_round(d, d->paper, &round) &&
         collect_batch_read(part, &round, &batch, NULL) == CELLAR_OK;
    collect_batch_clear(&batch);
    if (!ok) {
        desk_close(d);
        return "it is no batch of this round that the shuffler signed";
    }
    if (link(part, path) != 0 && errno != EEXIST) {
        desk_close(d);
        return "the file cannot be made there";
    }
    desk_close(d);
    return folder_sync(path, NULL) == CELLAR_OK ? NULL : "the disk is full there, or broken";
}

cellar_status desk_take(void *context, const service_sender *sender, const unsigned char *frame,
                        unsigned char *answer, cellar_error *err)
{
    desk *d = context;
    desk_frame wish;
    const char *why = "this is no request";
    (void) err;

    if (desk_read(frame, &wish)) {
        switch ((desk_wish) wish.kind) {
        case DESK_GET:
            paper_give(d, &wish, answer);
            return CELLAR_OK;
        case DESK_BEGIN:
            why = delivery_begin(d, sender, &wish);
            break;
        case DESK_PART:
            why = delivery_part(d, sender, &wish);
            break;
        case DESK_FINISH:
            why = delivery_finish(d, sender);
            break;
        }
    }
    answer_say(answer, why == NULL ? DESK_OK : DESK_REFUSED, why == NULL ? "" : why);
    return CELLAR_OK;
}

/* ---- at work --------------------------------------------------------------- */

static cellar_status desk_sync(void *context, cellar_error *err)
{
    (void) context;
    (void) err;
    return CELLAR_OK; /* what ends a delivery is synced when it is answered */
}

static int desk_is_done(void *context)
{
    const desk *d = context;
    char path[PATH_BYTES];
    return d->until != NULL && name_path(d, d->until, "", path) && access(path, F_OK) == 0;
}

cellar_status cellar_collect_desk_serve(const char *folder, const cellar_invitation *invitation,
                                        const cellar_decision *decision,
                                        const cellar_collect_keys *keys, const char *address,
                                        const char *until, const cellar_collect_limits *limits,
                                        cellar_error *err)
{
    desk d = {folder, invitation, decision, keys->role, until, -1, 0, 0, 0, 0, 0};
    collect_round round;
    const service s = {.round = &round,
                       .keys = keys,
                       .frame_bytes = DESK_FRAME_BYTES,
                       .answer_bytes = DESK_FRAME_BYTES,
                       .n_waiting = DESK_WINDOW,
                       .context = &d,
                       .take = desk_take,
                       .sync = desk_sync,
                       .is_done = desk_is_done};
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(keys_check(keys, invitation, keys->role, err));
    desk_round(&keys->identity, keys->role, &round);
    CELLAR_TRY(service_run(&s, address, limits, err));
out:
    desk_close(&d);
    return status;
}
