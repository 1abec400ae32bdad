/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect participant: seals records and leaves them for the shuffler. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collect.h"
#include "lists.h"
#include "variables.h"

/* A word that the invitation does not know protects nothing in this collection. */
static void never_tell(const cellar_invitation *invitation, const cli_words *never)
{
    for (size_t i = 0; i < never->n; i++) {
        size_t c = 0, n = cellar_invitation_n_columns(invitation);
        while (c < n && !cellar_collect_is_same_column(never->items[i],
                                                       cellar_invitation_column(invitation, c)))
            c++;
        if (c == n)
            cli_message("--never %s: the invitation asks for no such column", never->items[i]);
    }
}

int collect_policy_read(const collect_values *values, const collect_place *place, cli_words *never,
                        cellar_collect_policy *out)
{
    int result = CLI_GO_ON;
    *out = cellar_collect_policy_default();
    if (place->decision != NULL && (!values->least_k.given || values->most_exposure == NULL))
        return cli_usage("collect participant: the decision is out; say what you ask of it with "
                         "--least-k and --most-exposure");
    out->least_k = values->least_k.value;
    out->least_people = values->least_people.value;
    if (values->most_epsilon != NULL)
        result = cli_list_real("most-epsilon", values->most_epsilon, &out->most_epsilon);
    if (result == CLI_GO_ON && values->most_tolerance != NULL)
        result = cli_list_real("most-tolerance", values->most_tolerance, &out->most_tolerance);
    if (values->models != NULL && values->most_tolerance == NULL)
        return cli_usage("collect participant: --models goes with --most-tolerance");
    if (result == CLI_GO_ON && values->models != NULL)
        result = collect_models_read(values->models, &out->models);
    if (result == CLI_GO_ON && values->most_exposure != NULL)
        result = cli_list_real("most-exposure", values->most_exposure, &out->most_exposure);
    if (result == CLI_GO_ON && values->never != NULL)
        result = cli_variables_names("never", values->never, never);
    out->never = cli_words_items(never);
    out->n_never = never->n;
    if (result == CLI_GO_ON)
        never_tell(place->invitation, never);
    return result;
}

/* ---- the budget ------------------------------------------------------------ */

int collect_budget_path(const collect_values *values, char path[COLLECT_PATH_BYTES])
{
    int length = snprintf(path, COLLECT_PATH_BYTES, "%s.budget", values->key);
    if (length < 0 || length >= COLLECT_PATH_BYTES)
        return cli_usage("collect: --key: the path is too long");
    return CLI_GO_ON;
}

cellar_status collect_budget_say(const char *path, char *said, size_t size, cellar_error *err)
{
    cellar_collect_budget budget;
    char left[64] = "no limit is set";
    cellar_status status = cellar_collect_budget_read(path, &budget, err);
    said[0] = '\0';
    if (status != CELLAR_OK || (isinf(budget.limit) && budget.n_randomised == 0))
        return status;
    if (!isinf(budget.limit))
        snprintf(left, sizeof left, "%.6g of %.6g left",
                 budget.limit > budget.spent ? budget.limit - budget.spent : 0, budget.limit);
    snprintf(said, size,
             "epsilon %.6g spent over all collections, %s; answers without randomisation: %" PRIu64,
             budget.spent, left, budget.n_exact);
    return CELLAR_OK;
}

/* ---- sending --------------------------------------------------------------- */

/* Beside the key, one file for each collection and stage: which decision, or question, was
 * accepted. */
static cellar_status paper_remember(const collect_values *values, const collect_place *place,
                                    cellar_error *err)
{
    const cellar_question *asked = collect_place_asked(place);
    const unsigned char *session = cellar_invitation_session(place->invitation);
    char path[COLLECT_PATH_BYTES];
    int length =
        snprintf(path, sizeof path, "%s.%02x%02x%02x%02x%02x%02x%s%s", values->key, session[0],
                 session[1], session[2], session[3], session[4], session[5],
                 asked != NULL ? "." : "", asked != NULL ? collect_place_stage(place) : "");
    if (length < 0 || (size_t) length >= sizeof path) {
        snprintf(err->message, sizeof err->message, "--key: the path is too long");
        return CELLAR_ERR_ARGUMENT;
    }
    if (asked != NULL)
        return cellar_participant_remember_question(path, place->invitation, asked, err);
    return place->decision == NULL
               ? CELLAR_OK
               : cellar_participant_remember(path, place->invitation, place->decision, err);
}

static int send_sealed(const collect_values *values, const collect_place *place,
                       const cellar_collect_policy *policy, const char *file)
{
    char inbox[COLLECT_PATH_BYTES], said[COLLECT_SAID_BYTES];
    cellar_participant *participant = NULL;
    cellar_error err;
    cellar_status status;
    uint64_t n_sent;
    const cellar_question *asked = collect_place_asked(place);
    int result = collect_stage_path(values, place, "inbox", "", inbox);
    if (result != CLI_GO_ON)
        return result;
    status = asked != NULL ? cellar_participant_create_asked(place->invitation, asked, policy,
                                                             place->key, &participant, &err)
                           : cellar_participant_create(place->invitation, place->decision, policy,
                                                       place->key, &participant, &err);
    if (status == CELLAR_OK) {
        cellar_participant_payload_column(participant, values->payload_column);
        status = paper_remember(values, place, &err);
    }
    if (status == CELLAR_OK && values->to != NULL)
        status = cellar_participant_post_file(participant, file, values->to,
                                              collect_timeout_ms(values), &n_sent, &err);
    else if (status == CELLAR_OK)
        status = cellar_participant_send_file(participant, file, inbox, &n_sent, &err);
    cellar_participant_free(participant);
    if (status == CELLAR_OK)
        status = collect_budget_say(policy->budget, said, sizeof said, &err);
    if (status == CELLAR_OK && said[0] != '\0')
        cli_message("budget: %s", said);
    if (status == CELLAR_ERR_EXISTS)
        cli_message("what this key sent before still waits for the shuffler, and need not be sent "
                    "again; send more when it was taken");
    return cli_exit_kept(status, &err);
}

/* The policy with the budget beside the key, and the limit if one is chosen now. */
static int policy_complete(const collect_values *values, const collect_place *place,
                           cli_words *never, char path[COLLECT_PATH_BYTES],
                           cellar_collect_policy *policy)
{
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = collect_policy_read(values, place, never, policy);
    if (result == CLI_GO_ON)
        result = collect_budget_path(values, path);
    policy->budget = path;
    if (result == CLI_GO_ON && values->budget != NULL)
        status = cellar_collect_budget_limit(path, values->budget, &err);
    return status == CELLAR_OK ? result : cli_exit_kept(status, &err);
}

int collect_run_participant(const collect_values *values, const char *action, const char *file)
{
    collect_place place = {0};
    cellar_collect_policy policy = cellar_collect_policy_default();
    cli_words never = {0};
    char budget[COLLECT_PATH_BYTES];
    int result = CLI_GO_ON;
    if (values->curator == NULL)
        return cli_usage("collect participant: --curator names the identity of the curator");
    if (strcmp(action, "check") == 0)
        return collect_run_check(values, file);
    if (strcmp(action, "send") != 0 || file == NULL)
        return cli_usage("collect participant: say send, and a CSV file of one record or many, or "
                         "check");
    result = collect_place_open(values, 0, &place);
    if (result == CLI_GO_ON)
        result = collect_place_invited(values, &place);
    if (result == CLI_GO_ON)
        result = policy_complete(values, &place, &never, budget, &policy);
    if (result == CLI_GO_ON && place.decision != NULL &&
        cellar_invitation_is_open(place.invitation))
        result = collect_place_tally(values, &place, NULL);
    if (result == CLI_GO_ON)
        result = send_sealed(values, &place, &policy, file);
    cli_words_clear(&never);
    collect_place_clear(&place);
    return result;
}
