/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all roles of a collection do: keys, the folder, the invitation. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cellar/output.h>

#include "collect.h"

int collect_place_open(const collect_values *values, int role, collect_place *place)
{
    cellar_error err;
    cellar_status status;
    if (values->key == NULL)
        return cli_usage("collect: --key names the key file (cellar key create makes one)");
    status = cellar_key_read(values->key, &place->key, &err);
    if (status == CELLAR_OK && role != 0)
        status =
            cellar_collect_keys_create(place->key, (cellar_collect_role) role, &place->keys, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

const cellar_question *collect_place_asked(const collect_place *place)
{
    if (place->decision != NULL)
        return NULL;
    return place->questions[1] != NULL ? place->questions[1] : place->questions[0];
}

const char *collect_place_stage(const collect_place *place)
{
    const cellar_question *asked = collect_place_asked(place);
    if (place->decision != NULL)
        return "2";
    return asked == NULL ? "1" : cellar_question_order(asked) == 2 ? "pairs" : "triples";
}

int collect_stage_path(const collect_values *values, const collect_place *place, const char *before,
                       const char *behind, char path[])
{
    char name[64];
    snprintf(name, sizeof name, "%s-%s%s", before, collect_place_stage(place), behind);
    return collect_path(values, name, path);
}

void collect_place_clear(collect_place *place)
{
    for (int i = 0; i < 2; i++)
        cellar_question_free(place->questions[i]);
    cellar_decision_free(place->decision);
    cellar_invitation_free(place->invitation);
    cellar_collect_keys_free(place->keys);
    cellar_key_free(place->key);
    *place = (collect_place){0};
}

int collect_path(const collect_values *values, const char *name, char path[COLLECT_PATH_BYTES])
{
    int length;
    if (values->spool == NULL)
        return cli_usage("collect: --spool names the folder that the roles share");
    length = snprintf(path, COLLECT_PATH_BYTES, "%s/%s", values->spool, name);
    if (length < 0 || length >= COLLECT_PATH_BYTES)
        return cli_usage("collect: --spool: the path is too long");
    return CLI_GO_ON;
}

/* The curator is known from elsewhere: an invitation of somebody else is refused. */
static cellar_status curator_check(const collect_values *values, const collect_place *place,
                                   cellar_error *err)
{
    cellar_collect_identity pinned;
    cellar_status status = CELLAR_OK;
    if (values->curator != NULL)
        status =
            cellar_collect_identity_read(values->curator, CELLAR_COLLECT_CURATOR, &pinned, err);
    else
        pinned = *cellar_collect_keys_identity(place->keys);
    if (status == CELLAR_OK &&
        memcmp(&pinned, cellar_invitation_identity(place->invitation, CELLAR_COLLECT_CURATOR),
               sizeof pinned) != 0) {
        snprintf(err->message, sizeof err->message, "the invitation is of another curator");
        status = CELLAR_ERR_RULE;
    }
    return status;
}

/* Fetches from the curator's desk what is not here yet. */
static cellar_status papers_fetch(const collect_values *values, cellar_error *err)
{
    static const char *const papers[] = {"invitation", "question-pairs", "question-triples",
                                         "tally", "decision"};
    cellar_collect_desk desk = {.role = CELLAR_COLLECT_CURATOR,
                                .address = values->from,
                                .timeout_ms = collect_timeout_ms(values)};
    char path[COLLECT_PATH_BYTES];
    int found;
    cellar_status status =
        cellar_collect_identity_read(values->curator, CELLAR_COLLECT_CURATOR, &desk.identity, err);
    for (size_t i = 0; i < sizeof papers / sizeof *papers && status == CELLAR_OK; i++) {
        (void) collect_path(values, papers[i], path);
        if (access(path, F_OK) != 0)
            status = cellar_collect_fetch(&desk, papers[i], path, &found, err);
    }
    return status;
}

/* Questions that were published, the one for pairs first. */
static cellar_status questions_read(const collect_values *values, collect_place *place,
                                    cellar_error *err)
{
    static const char *const names[] = {"question-pairs", "question-triples"};
    char path[COLLECT_PATH_BYTES];
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < 2 && status == CELLAR_OK; i++) {
        (void) collect_path(values, names[i], path);
        if (access(path, F_OK) == 0)
            status = cellar_question_read(path, place->invitation, &place->questions[i], err);
    }
    return status;
}

int collect_place_invited(const collect_values *values, collect_place *place)
{
    char path[COLLECT_PATH_BYTES];
    cellar_error err;
    cellar_status status;
    int result = collect_path(values, "invitation", path);
    if (result != CLI_GO_ON)
        return result;
    if (values->from != NULL && values->curator == NULL)
        return cli_usage("collect: --from needs --curator, whose desk it must be");
    status = values->from != NULL ? papers_fetch(values, &err) : CELLAR_OK;
    if (status == CELLAR_OK)
        status = cellar_invitation_read(path, &place->invitation, &err);
    if (status == CELLAR_OK)
        status = curator_check(values, place, &err);
    if (status == CELLAR_OK)
        status = questions_read(values, place, &err);
    (void) collect_path(values, "decision", path);
    if (status == CELLAR_OK && access(path, F_OK) == 0)
        status = cellar_decision_read(path, place->invitation, &place->decision, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

int collect_place_tally(const collect_values *values, const collect_place *place,
                        cellar_collect_margins **out)
{
    char path[COLLECT_PATH_BYTES];
    cellar_collect_margins *tally = NULL;
    cellar_error err;
    cellar_status status;
    int result = collect_path(values, "tally", path);
    if (result != CLI_GO_ON)
        return result;
    status = cellar_collect_tally_read(path, place->invitation, &tally, &err);
    if (status == CELLAR_OK)
        status = cellar_decision_check(place->decision, place->invitation, tally, &err);
    if (status == CELLAR_OK && out != NULL)
        *out = tally;
    else
        cellar_collect_margins_free(tally);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

void collect_tell_refused(const cellar_collect_report *report, const char *what)
{
    for (size_t i = 0; i < report->n_reasons; i++)
        cli_message("%" PRIu64 " %s refused: %s", report->reasons[i].n, what,
                    report->reasons[i].why);
}

int collect_publish(const char *path, const char *text, size_t length)
{
    cellar_output_options options = cellar_output_options_default();
    cellar_output *output;
    cellar_error err;
    cellar_status status;
    options.shared = 1;
    status = cellar_output_open(path, &options, &output, &err);
    if (status == CELLAR_OK) {
        cellar_output_write(output, text, length);
        status = cellar_output_commit(output, &err);
    }
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

int collect_run_serve(const collect_values *values, int role)
{
    cellar_collect_limits limits = cellar_collect_limits_default();
    limits.timeout_ms = collect_timeout_ms(values);
    collect_place place = {0};
    cellar_error err;
    int result = values->listen == NULL ? cli_usage("collect: serve needs --listen") : CLI_GO_ON;
    if (result == CLI_GO_ON)
        result = collect_place_open(values, role, &place);
    if (result == CLI_GO_ON)
        result = collect_place_invited(values, &place);
    if (result == CLI_GO_ON && role == CELLAR_COLLECT_ANALYST && place.decision == NULL)
        result = cli_usage("collect analyst serve: the curator has not decided yet");
    if (result == CLI_GO_ON)
        result = cli_exit_kept(
            cellar_collect_desk_serve(
                values->spool, place.invitation, place.decision, place.keys, values->listen,
                role == CELLAR_COLLECT_ANALYST ? "round-2.batch" : NULL, &limits, &err),
            &err);
    collect_place_clear(&place);
    return result;
}

int collect_run_identity(const collect_values *values, int role)
{
    collect_place place = {0};
    cellar_error err;
    int result = CLI_GO_ON;
    if (values->path == NULL)
        return cli_usage("collect: -o names the file for the identity");
    result = collect_place_open(values, role, &place);
    if (result == CLI_GO_ON)
        result = cli_exit_kept(
            cellar_collect_identity_write(cellar_collect_keys_identity(place.keys),
                                          (cellar_collect_role) role, values->path, &err),
            &err);
    collect_place_clear(&place);
    return result;
}
