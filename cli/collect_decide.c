/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect curator: asks for more if the invitation allows it, and decides. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "collect.h"

/* The tally comes first: nobody should see a decision that cannot be checked. */
static int tally_publish(const collect_values *values, const collect_place *place,
                         const cellar_collect_margins *margins)
{
    char path[COLLECT_PATH_BYTES];
    cellar_error err;
    cellar_status status;
    int result = collect_path(values, "tally", path);
    if (result != CLI_GO_ON || !cellar_invitation_is_open(place->invitation))
        return result;
    status = cellar_collect_tally_write(margins, place->invitation, place->keys, path, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

static int decision_publish(const collect_values *values, const cellar_decision *decision)
{
    char path[COLLECT_PATH_BYTES];
    size_t length;
    const char *text = cellar_decision_text(decision, &length);
    int result = collect_path(values, "decision", path);
    if (result == CLI_GO_ON)
        result = collect_publish(path, text, length);
    if (result != CLI_GO_ON)
        return result;
    if (cellar_decision_n_columns(decision) == 0) {
        cli_message("no column is safe enough: nothing goes to the analyst");
        return CLI_REFUSED;
    }
    return CLI_DONE;
}

/* What was counted of a round and of the answers to questions. */
typedef struct counted {
    cellar_collect_margins *margins;
    cellar_collect_joints *joints[2];
    size_t n_joints;
} counted;

static void counted_clear(counted *all)
{
    cellar_collect_margins_free(all->margins);
    for (size_t i = 0; i < all->n_joints; i++)
        cellar_collect_joints_free(all->joints[i]);
}

/* Whether the batch is there, and what has to happen if it is not. */
static int batch_is_there(const collect_values *values, const char *name,
                          char path[COLLECT_PATH_BYTES])
{
    int result = collect_path(values, name, path);
    if (result != CLI_GO_ON || access(path, F_OK) == 0)
        return result;
    cli_message("%s: is not there yet: the shuffler forwards it when everybody who was announced "
                "has sent (collect shuffler run shows how many have)",
                path);
    return CLI_FAILED;
}

/* Opens every batch that has come: round one, and the answers to each question. */
static int counted_read(const collect_values *values, const collect_place *place, counted *all)
{
    static const char *const names[] = {"round-pairs.batch", "round-triples.batch"};
    char path[COLLECT_PATH_BYTES];
    cellar_collect_report report;
    cellar_error err;
    cellar_status status;
    int result = batch_is_there(values, "round-1.batch", path);
    if (result != CLI_GO_ON)
        return result;
    status = cellar_collect_margins_read(path, place->invitation, place->keys, &all->margins,
                                         &report, &err);
    if (status == CELLAR_OK)
        collect_tell_refused(&report, "messages");
    for (size_t i = 0; i < 2 && status == CELLAR_OK && place->questions[i] != NULL; i++) {
        result = batch_is_there(values, names[i], path);
        if (result != CLI_GO_ON)
            return result;
        status = cellar_collect_joints_read(path, place->invitation, place->questions[i],
                                            place->keys, &all->joints[i], &report, &err);
        all->n_joints += status == CELLAR_OK;
        if (status == CELLAR_OK)
            collect_tell_refused(&report, "messages");
    }
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

/* Everything before a decision. */
static int curator_open(const collect_values *values, const char *action, collect_place *place,
                        counted *all)
{
    int result = collect_place_open(values, CELLAR_COLLECT_CURATOR, place);
    if (result == CLI_GO_ON)
        result = collect_place_invited(values, place);
    if (result == CLI_GO_ON && place->decision != NULL)
        result = cli_usage("collect curator %s: the decision has been published already", action);
    if (result == CLI_GO_ON)
        result = counted_read(values, place, all);
    return result;
}

/* Asks for pairs, or for triples when the pairs have come. */
int collect_run_ask(const collect_values *values)
{
    collect_place place = {0};
    counted all = {0};
    char path[COLLECT_PATH_BYTES];
    cellar_question *question = NULL;
    cellar_error err;
    cellar_status status;
    int result = curator_open(values, "ask", &place, &all);
    if (result == CLI_GO_ON && all.n_joints == 2)
        result = cli_usage("collect curator ask: there is nothing beyond triples");
    if (result == CLI_GO_ON)
        result =
            collect_path(values, all.n_joints == 0 ? "question-pairs" : "question-triples", path);
    if (result == CLI_GO_ON) {
        status = cellar_question_create(all.margins, all.n_joints > 0 ? all.joints[0] : NULL,
                                        place.invitation, place.keys, &question, &err);
        result = status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
    }
    if (result == CLI_GO_ON) {
        size_t length;
        const char *text = cellar_question_text(question, &length);
        result = collect_publish(path, text, length);
    }
    cellar_question_free(question);
    counted_clear(&all);
    collect_place_clear(&place);
    return result == CLI_GO_ON ? CLI_DONE : result;
}

/* Opens the file that the invitation names again: it is left where it was, since a sample may be
 * confidential. */
static int model_open(const collect_values *values, const cellar_invitation *invitation,
                      cellar_collect_model **model)
{
    const char *kind = cellar_collect_model_kind_name(cellar_invitation_model(invitation));
    cellar_collect_column columns[CELLAR_MAX_VARIABLES];
    size_t n = cellar_invitation_n_columns(invitation);
    int is_file = cellar_invitation_model(invitation) == CELLAR_COLLECT_SAMPLE ||
                  cellar_invitation_model(invitation) == CELLAR_COLLECT_CUBE;

    *model = NULL;
    if (!is_file && values->model != NULL && strcmp(values->model, kind) != 0)
        return cli_usage("collect curator decide: the invitation names no file of a model, so "
                         "--model is not needed");
    if (!is_file)
        return CLI_GO_ON;
    if (values->model == NULL || strncmp(values->model, kind, strlen(kind)) != 0)
        return cli_usage("collect curator decide: the invitation promises a decision by a %s; name "
                         "it once more with --model %s:FILE",
                         kind, kind);
    for (size_t c = 0; c < n; c++)
        columns[c] = (cellar_collect_column){cellar_invitation_column(invitation, c),
                                             cellar_invitation_codes(invitation, c)};
    return collect_model_open(values, columns, n, model);
}

int collect_run_decide(const collect_values *values)
{
    collect_place place = {0};
    counted all = {0};
    cellar_collect_model *model = NULL;
    cellar_error err;
    cellar_status status;
    int result = curator_open(values, "decide", &place, &all);
    if (result == CLI_GO_ON)
        result = model_open(values, place.invitation, &model);
    if (result == CLI_GO_ON) {
        if (model != NULL)
            status = cellar_decision_create_modelled(all.margins, model, place.invitation,
                                                     place.keys, &place.decision, &err);
        else
            status = cellar_decision_create_known(
                all.margins, (const cellar_collect_joints *const *) all.joints, all.n_joints,
                place.invitation, place.keys, &place.decision, &err);
        result = status == CELLAR_OK ? tally_publish(values, &place, all.margins)
                                     : cli_exit_kept(status, &err);
    }
    if (result == CLI_GO_ON)
        result = decision_publish(values, place.decision);
    cellar_collect_model_free(model);
    counted_clear(&all);
    collect_place_clear(&place);
    return result;
}
