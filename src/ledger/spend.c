/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spending: from a request to a file that has its name, whatever happens in between.
 *
 *     charge on disk | noise drawn | output complete, hidden, on disk | digest on disk | name |
 * done
 *
 * A run that ends at any point leaves a state that tells how far it got. Before the digest is on
 * disk nobody has seen the output, and the next run gives it up: it could not tell a whole output
 * from another one. After that the next run finishes. Nothing is ever drawn twice. */
#include "ledger/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/folder.h"
#include "base/output.h"
#include "base/place.h"

typedef struct spend {
    cellar_ledger *ledger;
    const cellar_charge *charge;
    const char *const *endings; /* of companions; never NULL */
    int replace;
    cellar_text output; /* the absolute path */
    cellar_text staged; /* where it waits */
    cellar_charge_state before;
} spend;

/* Does something to the companions and then to the file itself. */
static cellar_status spend_each(spend *s,
                                cellar_status (*act)(const spend *s, const char *staged,
                                                     const char *path, cellar_error *err),
                                cellar_error *err)
{
    static const char *const itself[] = {"", NULL};
    const char *const *lists[] = {s->endings, itself};
    cellar_text staged = {0}, path = {0};
    cellar_status status = CELLAR_OK;

    for (size_t i = 0; i < 2; i++)
        for (const char *const *ending = lists[i]; *ending != NULL; ending++) {
            cellar_text_reset(&staged);
            cellar_text_reset(&path);
            cellar_text_printf(&staged, "%s%s", s->staged.bytes, *ending);
            cellar_text_printf(&path, "%s%s", s->output.bytes, *ending);
            if (staged.failed || path.failed)
                CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
            CELLAR_TRY(act(s, staged.bytes, path.bytes, err));
        }
out:
    cellar_text_clear(&staged);
    cellar_text_clear(&path);
    return status;
}

static cellar_status file_must_be_new(const spend *s, const char *staged, const char *path,
                                      cellar_error *err)
{
    struct stat unused;
    (void) s;
    (void) staged;
    if (lstat(path, &unused) != 0 && errno == ENOENT) /* a link that leads nowhere is there too */
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_EXISTS,
                       "%s: exists already; choose another name or allow replacing it", path);
}

static cellar_status file_drop(const spend *s, const char *staged, const char *path,
                               cellar_error *err)
{
    (void) s;
    (void) path;
    if (cellar_folder_is_there(staged))
        return cellar_folder_remove(staged, err);
    if (unlink(staged) == 0 || errno == ENOENT)
        return CELLAR_OK;
    return cellar_fail_errno(err, staged, "remove the file");
}

static cellar_status file_publish(const spend *s, const char *staged, const char *path,
                                  cellar_error *err)
{
    cellar_output_options options = cellar_output_options_default();
    options.replace = s->replace;
    options.shared = 1;
    struct stat unused;
    if (lstat(staged, &unused) != 0 && errno == ENOENT)
        return CELLAR_OK; /* has its name already, or the release has no such companion */
    if (cellar_folder_is_there(staged))
        return cellar_folder_publish(staged, path, err);
    return cellar_output_publish(staged, path, &options, err);
}

/* ---- the steps ------------------------------------------------------------------------- */

static cellar_status spend_lose(spend *s, cellar_error *err)
{
    cellar_status status = spend_each(s, file_drop, err);
    if (status == CELLAR_OK)
        status = cellar_ledger_note_lost(s->ledger, s->charge->request, err);
    return status;
}

static cellar_status spend_give_up(spend *s, cellar_error *err)
{
    cellar_status status = spend_lose(s, err);
    if (status != CELLAR_OK)
        return status;
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "request '%s': the request was charged and its output was lost; the charge "
                       "stays spent and nothing is drawn again: a new request is a new charge",
                       s->charge->request);
}

/* The staged files, or those that have their names, are the output whose digest is recorded. */
static cellar_status spend_is_recorded(const spend *s, int *is_recorded, cellar_error *err)
{
    const cellar_ledger_entry *stage =
        cellar_ledger_find_request(s->ledger, s->charge->request, CELLAR_ENTRY_STAGE);
    char digest[CELLAR_LEDGER_HASH_TEXT];
    int found;
    cellar_status status =
        cellar_ledger_digest(s->staged.bytes, s->output.bytes, s->endings, &found, digest, err);
    *is_recorded =
        status == CELLAR_OK && found && stage != NULL && strcmp(digest, stage->digest) == 0;
    return status;
}

/* Brings the names in the folder of the output to disk. */
static cellar_status spend_sync(const spend *s, cellar_error *err)
{
    cellar_place place;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(s->output.bytes, CELLAR_PLACE_KEPT, &place, err));
    if (cellar_place_sync(&place, -1) != 0)
        CELLAR_TRY(cellar_fail_errno(err, s->output.bytes, "sync the folder of the file"));
out:
    cellar_place_close(&place);
    return status;
}

static cellar_status spend_finish(spend *s, cellar_status (*otherwise)(spend *s, cellar_error *err),
                                  cellar_error *err)
{
    int is_recorded;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(spend_is_recorded(s, &is_recorded, err));
    if (!is_recorded)
        return otherwise(s, err);
    CELLAR_TRY(spend_each(s, file_publish, err));
    CELLAR_TRY(spend_sync(s, err)); /* the run before may have ended right after the name */
    CELLAR_TRY(cellar_ledger_note_done(s->ledger, s->charge->request, err));
out:
    return status;
}

static cellar_status spend_return(spend *s, cellar_error *err)
{
    int is_recorded;
    cellar_status status = spend_is_recorded(s, &is_recorded, err);
    if (status == CELLAR_OK && !is_recorded)
        status = cellar_fail(err, CELLAR_ERR_RULE,
                             "request '%s' was done, and its output is not at %s any more, or was "
                             "changed; nothing is drawn again: a new request is a new charge",
                             s->charge->request, s->output.bytes);
    return status;
}

/* After a failure: 1 when it is certain that the digest did not reach the disk. */
static int spend_is_unrecorded(const spend *s)
{
    cellar_error unheard;
    return cellar_ledger_catch_up(s->ledger, &unheard) == CELLAR_OK &&
           cellar_ledger_state(s->ledger, s->charge->request) == CELLAR_CHARGE_CHARGED;
}

/* Draws and stages. Whatever fails here, the charge stays. */
static cellar_status spend_produce(spend *s, const char *stamp, cellar_produce *produce,
                                   void *context, cellar_error *err)
{
    char digest[CELLAR_LEDGER_HASH_TEXT];
    int found = 0;
    cellar_error unheard;
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(spend_each(s, file_drop, err)); /* of a ledger that was lost, say */
    CELLAR_TRY(produce(context, s->staged.bytes, stamp, err));
    CELLAR_TRY(
        cellar_ledger_digest(s->staged.bytes, s->staged.bytes, s->endings, &found, digest, err));
    if (!found)
        CELLAR_TRY(cellar_fail(err, CELLAR_ERR_IO, "%s: no output was written", s->output.bytes));
    CELLAR_TRY(cellar_ledger_note_staged(s->ledger, s->charge->request, digest, err));
out:
    if (status != CELLAR_OK && spend_is_unrecorded(s) &&
        spend_each(s, file_drop, &unheard) == CELLAR_OK) /* else the next run does */
        cellar_ledger_note_lost(s->ledger, s->charge->request, &unheard);
    return status;
}

static cellar_status spend_new(spend *s, const char *stamp, cellar_produce *produce, void *context,
                               cellar_error *err)
{
    cellar_status status = spend_produce(s, stamp, produce, context, err);
    if (status == CELLAR_OK)
        status = spend_each(s, file_publish, err);
    if (status == CELLAR_OK)
        status = cellar_ledger_note_done(s->ledger, s->charge->request, err);
    return status;
}

/* What would go wrong after paying is looked for before. */
static cellar_status spend_check_place(spend *s, cellar_error *err)
{
    cellar_place place;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_place_open(s->output.bytes, CELLAR_PLACE_KEPT, &place, err));
    if (faccessat(place.fd, ".", W_OK | X_OK, AT_EACCESS) != 0)
        CELLAR_TRY(cellar_fail_errno(err, s->output.bytes, "write to the folder of the file"));
    if (!s->replace)
        CELLAR_TRY(spend_each(s, file_must_be_new, err));
out:
    cellar_place_close(&place);
    return status;
}

static cellar_status spend_charge(spend *s, cellar_charge_state *before, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_ledger_catch_up(s->ledger, err));
    s->before = cellar_ledger_state(s->ledger, s->charge->request);
    if (s->before == CELLAR_CHARGE_NONE)
        CELLAR_TRY(spend_check_place(s, err));
    CELLAR_TRY(cellar_ledger_charge(s->ledger, s->charge, s->output.bytes, before, err));
out:
    return status;
}

static cellar_status spend_run(spend *s, cellar_produce *produce, void *context,
                               cellar_spend_result *out, cellar_error *err)
{
    cellar_charge_state before;
    cellar_status status = spend_charge(s, &before, err);
    if (status != CELLAR_OK)
        return status;
    cellar_ledger_stamp(
        s->ledger, cellar_ledger_find_request(s->ledger, s->charge->request, CELLAR_ENTRY_CHARGE),
        out->stamp);
    switch (before) {
    case CELLAR_CHARGE_NONE:
        out->is_new = 1;
        return spend_new(s, out->stamp, produce, context, err);
    case CELLAR_CHARGE_STAGED:
        return spend_finish(s, spend_give_up, err);
    case CELLAR_CHARGE_DONE:
        return spend_return(s, err);
    case CELLAR_CHARGE_CHARGED:
        return spend_give_up(s, err);
    case CELLAR_CHARGE_LOST:
        break;
    }
    return cellar_fail(err, CELLAR_ERR_RULE,
                       "request '%s': its output was lost; the charge stays spent and nothing is "
                       "drawn again: a new request is a new charge",
                       s->charge->request);
}

/* After a failure: what stays charged, and how to go on. Requests that are refused because of what
 * happened to them before say so by themselves. */
static void spend_explain(const spend *s, cellar_status status, cellar_charge_state state,
                          cellar_error *err)
{
    const cellar_ledger_entry *charge =
        cellar_ledger_find_request(s->ledger, s->charge->request, CELLAR_ENTRY_CHARGE);
    int waits = state == CELLAR_CHARGE_STAGED || state == CELLAR_CHARGE_DONE;
    char cost[CELLAR_COST_TEXT];
    int by_rho;
    if (err == NULL || charge == NULL || s->before == CELLAR_CHARGE_DONE ||
        (s->before != CELLAR_CHARGE_NONE && status == CELLAR_ERR_RULE))
        return;
    by_rho =
        cellar_ledger_find_dataset(s->ledger, charge->dataset)->amounts.rho_nano != CELLAR_NO_RHO;
    cellar_ledger_cost_text(&charge->amounts, by_rho, cost);
    cellar_fail(err, status, "%s; request '%s' stays charged with %s (entry %" PRId64 ")%s",
                err->message, s->charge->request, cost, charge->number,
                waits
                    ? ", and its output is drawn and waits for its name: mend what failed and ask "
                      "for the same request again, nothing is charged or drawn twice"
                    : ", and its output is lost: mend what failed and ask under a new request, "
                      "which is a new charge");
}

cellar_spend_options cellar_spend_options_default(void)
{
    return (cellar_spend_options){0};
}

cellar_status cellar_ledger_spend(cellar_ledger *ledger, const cellar_charge *charge,
                                  const cellar_spend_options *options, cellar_produce *produce,
                                  void *context, cellar_spend_result *out, cellar_error *err)
{
    static const char *const none[] = {NULL};
    spend s = {.ledger = ledger,
               .charge = charge,
               .endings = options->endings != NULL ? options->endings : none,
               .replace = options->replace};
    cellar_status status = CELLAR_OK;
    int held = 0;

    *out = (cellar_spend_result){.state = CELLAR_CHARGE_NONE};
    if (charge->request == NULL)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a charge needs a request");
    CELLAR_TRY(cellar_ledger_true_path(options->path, &s.output, err));
    CELLAR_TRY(cellar_ledger_staged_path(ledger, charge->request, s.output.bytes, &s.staged, err));
    CELLAR_TRY(cellar_ledger_hold(ledger, charge->request, err));
    held = 1;
    status = spend_run(&s, produce, context, out, err);
    if (status != CELLAR_OK)
        cellar_ledger_catch_up(ledger, NULL); /* a COMMIT that failed may be on disk */
    out->state = cellar_ledger_state(ledger, charge->request);
    if (status != CELLAR_OK)
        spend_explain(&s, status, out->state, err);
out:
    if (held)
        cellar_ledger_let_go(ledger, charge->request);
    cellar_text_clear(&s.output);
    cellar_text_clear(&s.staged);
    return status;
}

static cellar_status settle_run(spend *s, cellar_error *err)
{
    cellar_status status = cellar_ledger_catch_up(s->ledger, err);
    if (status != CELLAR_OK)
        return status;
    switch (cellar_ledger_state(s->ledger, s->charge->request)) {
    case CELLAR_CHARGE_CHARGED:
        return spend_lose(s, err);
    case CELLAR_CHARGE_STAGED:
        return spend_finish(s, spend_lose, err);
    default:
        return CELLAR_OK;
    }
}

cellar_status cellar_ledger_settle(cellar_ledger *ledger, const char *request,
                                   const char *const *endings, cellar_charge_state *out,
                                   cellar_error *err)
{
    const cellar_ledger_entry *known =
        cellar_ledger_find_request(ledger, request, CELLAR_ENTRY_CHARGE);
    const cellar_charge charge = {.request = request};
    spend s = {.ledger = ledger, .charge = &charge, .endings = endings};
    cellar_status status = CELLAR_OK;
    int held = 0;

    *out = CELLAR_CHARGE_NONE;
    if (known == NULL)
        return CELLAR_OK;
    cellar_text_add_string(&s.output, known->output);
    if (s.output.failed)
        CELLAR_TRY(cellar_fail_memory(err, "the name of a file"));
    CELLAR_TRY(cellar_ledger_staged_path(ledger, request, s.output.bytes, &s.staged, err));
    CELLAR_TRY(cellar_ledger_hold(ledger, request, err));
    held = 1;
    CELLAR_TRY(settle_run(&s, err));
out:
    *out = cellar_ledger_state(ledger, request);
    if (held)
        cellar_ledger_let_go(ledger, request);
    cellar_text_clear(&s.output);
    cellar_text_clear(&s.staged);
    return status;
}
