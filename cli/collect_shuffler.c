/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect shuffler: takes what was sent, and forwards it when enough have come. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"

/* Takes the inbox of the round, waits at the socket if there is one, and forwards if it may. */
static cellar_status shuffler_work(const collect_values *values, cellar_shuffler *shuffler,
                                   const char *inbox, cellar_collect_report *report,
                                   cellar_error *err)
{
    cellar_collect_limits limits = cellar_collect_limits_default();
    cellar_rng *rng = NULL;
    cellar_status status = CELLAR_OK;
    limits.timeout_ms = collect_timeout_ms(values);
    if (access(inbox, F_OK) == 0) /* who listens needs none */
        status = cellar_shuffler_take_folder(shuffler, inbox, report, err);
    if (status == CELLAR_OK && values->listen != NULL)
        status = cellar_shuffler_serve(shuffler, values->listen, &limits, err);
    if (status == CELLAR_OK &&
        cellar_shuffler_n_held(shuffler) >= cellar_shuffler_n_announced(shuffler)) {
        status = cellar_rng_create_secure(&rng, err);
        if (status == CELLAR_OK)
            status = cellar_shuffler_forward(shuffler, rng, err);
    }
    cellar_rng_free(rng);
    return status;
}

/* What a power cut left of submissions that nobody was told had been taken. */
static void cut_tell(const char *round, uint64_t n_cut)
{
    if (n_cut > 0)
        cli_message("round-%s.spool: %" PRIu64
                    " unfinished submission%s at the end cut off (a crash, a "
                    "power cut or a full disk); nothing that was acknowledged is lost",
                    round, n_cut, n_cut == 1 ? "" : "s");
}

/* Numbers of senders are no secret: the shuffler sees them come. */
static void shuffler_tell(const char *round, uint64_t n_held, uint64_t n_announced,
                          int is_delivered, const cellar_collect_report *report)
{
    collect_tell_refused(report, "submissions");
    if (report->n_ignored > 0)
        cli_message("%" PRIu64 " file%s in inbox-%s left alone: submissions have names of 32 "
                    "hexadecimal digits, as participant send gives them",
                    report->n_ignored, report->n_ignored == 1 ? "" : "s", round);
    if (n_held < n_announced)
        cli_message("round %s: %" PRIu64 " of %" PRIu64 " have sent; nothing is forwarded yet",
                    round, n_held, n_announced);
    else
        cli_message(is_delivered ? "round %s: enough have sent, the batch is written"
                                 : "round %s: forwarded",
                    round);
}

static cellar_status shuffler_open(const collect_values *values, const collect_place *place,
                                   cellar_shuffler **out, cellar_error *err)
{
    const cellar_question *asked = collect_place_asked(place);
    return asked != NULL ? cellar_shuffler_open_asked(values->spool, place->invitation, asked,
                                                      place->keys, out, err)
                         : cellar_shuffler_open(values->spool, place->invitation, place->decision,
                                                place->keys, out, err);
}

/* Delivers the batch to whom it is for. */
static cellar_status batch_deliver(const collect_values *values, const collect_place *place,
                                   cellar_error *err)
{
    int role = place->decision != NULL ? CELLAR_COLLECT_ANALYST : CELLAR_COLLECT_CURATOR;
    const cellar_collect_desk desk = {
        .identity = *cellar_invitation_identity(place->invitation, (cellar_collect_role) role),
        .role = (cellar_collect_role) role,
        .address = values->forward,
        .timeout_ms = collect_timeout_ms(values)};
    char name[64], path[COLLECT_PATH_BYTES];
    snprintf(name, sizeof name, "round-%s.batch", collect_place_stage(place));
    (void) collect_path(values, name, path);
    return cellar_collect_deliver(&desk, place->keys, name, path, err);
}

/* One stage, as far as it goes. */
static cellar_status stage_work(const collect_values *values, const collect_place *place,
                                cellar_error *err)
{
    char inbox[COLLECT_PATH_BYTES], batch[COLLECT_PATH_BYTES];
    cellar_collect_report report = {0};
    cellar_shuffler *shuffler = NULL;
    uint64_t n_held = 0, n_announced = 0;
    cellar_status status = CELLAR_OK;

    (void) collect_stage_path(values, place, "inbox", "", inbox);
    (void) collect_stage_path(values, place, "round", ".batch", batch);
    if (values->forward == NULL || access(batch, F_OK) != 0) { /* else it is only to deliver */
        status = shuffler_open(values, place, &shuffler, err);
        if (status == CELLAR_OK) {
            cut_tell(collect_place_stage(place), cellar_shuffler_n_cut(shuffler));
            status = shuffler_work(values, shuffler, inbox, &report, err);
        }
        if (status == CELLAR_OK) {
            n_held = cellar_shuffler_n_held(shuffler);
            n_announced = cellar_shuffler_n_announced(shuffler);
            shuffler_tell(collect_place_stage(place), n_held, n_announced, values->forward != NULL,
                          &report);
        }
        cellar_shuffler_close(shuffler);
    }
    if (status == CELLAR_OK && values->forward != NULL && n_held >= n_announced) {
        status = batch_deliver(values, place, err);
        if (status == CELLAR_OK)
            cli_message("round %s: forwarded", collect_place_stage(place));
    }
    return status;
}

static int run(const collect_values *values)
{
    collect_place place = {0};
    char inbox[COLLECT_PATH_BYTES];
    cellar_error err;
    int result = collect_place_open(values, CELLAR_COLLECT_SHUFFLER, &place);

    if (result == CLI_GO_ON)
        result = collect_place_invited(values, &place);
    if (result == CLI_GO_ON)
        result = collect_stage_path(values, &place, "inbox", "", inbox);
    if (result == CLI_GO_ON)
        result = cli_exit_kept(stage_work(values, &place, &err), &err);
    collect_place_clear(&place);
    return result;
}

int collect_run_shuffler(const collect_values *values, const char *action, const char *file)
{
    if (file != NULL || strcmp(action, "run") != 0)
        return cli_usage("collect shuffler: say identity or run");
    if (values->curator == NULL)
        return cli_usage("collect shuffler: --curator names the identity of the curator");
    return run(values);
}
