/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect participant check: what a collection asks and promises, before anything is sent,
 * and whether it kept the promise. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "collect.h"

static const double SHUFFLED_DELTA = 1e-6;

enum { SHOWN_BYTES = 256 }; /* a paper's values have at most 200 */

/* What a curator wrote must not steer the terminal of whoever makes up their mind about it. */
static const char *shown(const char *text, char out[SHOWN_BYTES])
{
    snprintf(out, SHOWN_BYTES, "%s", text);
    cli_make_harmless(out);
    return out;
}

static void certificate_tell(const cellar_invitation *invitation)
{
    cellar_collect_certificate certificate = cellar_collect_certify(invitation);
    if (isinf(certificate.epsilon_record)) {
        printf("round one      values are sent as they are: no guarantee\n");
        return;
    }
    printf("round one      randomised response: epsilon %.6g for a value, %.6g for a record, "
           "against everybody\n",
           certificate.epsilon_value, certificate.epsilon_record);
    printf("               epsilon %.4g for a record at delta %g, against whoever sees no "
           "sender, if as many senders as announced are honest\n",
           cellar_collect_certify_shuffled(invitation, SHUFFLED_DELTA), SHUFFLED_DELTA);
}

/* Whoever has the file can compare its hash: b2sum -l 256. */
static void model_tell(const cellar_invitation *invitation)
{
    cellar_collect_model_kind kind = cellar_invitation_model(invitation);
    printf("model          %s, but for the share %.6g of people\n",
           cellar_collect_model_kind_name(kind), cellar_invitation_tolerance(invitation));
    if (kind == CELLAR_COLLECT_INDEPENDENCE)
        return;
    printf("               of %" PRIu64 " people, in the file with the BLAKE2b hash ",
           cellar_invitation_model_people(invitation));
    for (size_t i = 0; i < CELLAR_COLLECT_ID_BYTES; i++)
        printf("%02x", cellar_invitation_model_id(invitation)[i]);
    printf("\n");
}

static void invitation_tell(const cellar_invitation *invitation)
{
    char text[SHOWN_BYTES];
    printf("title          %s\n", shown(cellar_invitation_title(invitation), text));
    printf("people         %" PRIu64 "\n", cellar_invitation_n_people(invitation));
    if (cellar_invitation_population(invitation) > 0)
        printf("population     %" PRIu64 " other people in round two\n",
               cellar_invitation_population(invitation));
    printf("exposure       at most %.6g in groups of fewer than %" PRIu64 "\n",
           cellar_invitation_exposure(invitation), cellar_invitation_k(invitation));
    for (size_t c = 0; c < cellar_invitation_n_columns(invitation); c++)
        printf("column         %s (%zu values)\n",
               shown(cellar_invitation_column(invitation, c), text),
               cellar_codelist_n_codes(cellar_invitation_codes(invitation, c)));
    if (cellar_invitation_payload_bytes(invitation) > 0)
        printf("payload        up to %" PRIu64 " bytes with each row, for the analyst\n",
               cellar_invitation_payload_bytes(invitation));
    if (cellar_invitation_model(invitation) != CELLAR_COLLECT_NO_MODEL)
        model_tell(invitation);
    if (cellar_invitation_delta(invitation) > 0)
        printf("chance         %.6g that the bound does not hold\n",
               cellar_invitation_delta(invitation));
    certificate_tell(invitation);
}

/* Looks for the records of the file in the tally. */
static int records_find(const collect_place *place, const cellar_collect_margins *tally,
                        const char *file)
{
    cellar_participant *participant = NULL;
    uint64_t n_found = 0;
    cellar_error err;
    cellar_status status =
        cellar_participant_create(place->invitation, NULL, NULL, place->key, &participant, &err);
    if (status == CELLAR_OK)
        status = cellar_participant_find_file(participant, file, tally, &n_found, &err);
    cellar_participant_free(participant);
    if (status == CELLAR_OK)
        printf("records        %" PRIu64 " counted as they were sent\n", n_found);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

static void column_tell(const collect_place *place, size_t position)
{
    size_t column = cellar_decision_column(place->decision, position);
    const cellar_codelist *codes = cellar_invitation_codes(place->invitation, column);
    char text[SHOWN_BYTES];
    printf("released       %s\n", shown(cellar_invitation_column(place->invitation, column), text));
    for (size_t v = 0; v < cellar_codelist_n_codes(codes); v++)
        if (cellar_decision_redacts(place->decision, position, v))
            printf("               %s is redacted\n", shown(cellar_codelist_code(codes, v), text));
    if (cellar_decision_cover(place->decision, position) > 0)
        printf("               any other value is redacted with probability %.4g\n",
               cellar_decision_cover(place->decision, position));
}

static int decision_tell(const collect_values *values, const collect_place *place, const char *file)
{
    cellar_collect_margins *tally = NULL;
    int result = CLI_GO_ON;
    for (size_t i = 0; i < cellar_decision_n_columns(place->decision); i++)
        column_tell(place, i);
    printf("bound          %.6g of %" PRIu64 " people\n", cellar_decision_bound(place->decision),
           cellar_decision_n_people(place->decision));
    if (!isnan(cellar_invitation_tolerance(place->invitation)))
        printf("               it rests on the model; without it %.6g\n",
               cellar_decision_worst(place->decision));
    if (cellar_invitation_is_open(place->invitation)) {
        result = collect_place_tally(values, place, &tally);
        if (result == CLI_GO_ON)
            printf("decision       follows from the tally\n");
        if (result == CLI_GO_ON && file != NULL)
            result = records_find(place, tally, file);
    } else {
        printf("decision       signed by the curator; margins are not published\n");
        if (file != NULL)
            result = cli_usage("collect participant check: there is no tally to find records in");
    }
    cellar_collect_margins_free(tally);
    return result;
}

/* The policy, if one was given, and the budget. */
static int participant_tell(const collect_values *values, const collect_place *place)
{
    cellar_collect_policy policy;
    cli_words never = {0};
    char path[COLLECT_PATH_BYTES], said[COLLECT_SAID_BYTES];
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int is_given = values->least_k.given || values->least_people.given || values->never != NULL ||
                   values->most_exposure != NULL || values->most_epsilon != NULL ||
                   values->most_tolerance != NULL;
    int result = is_given ? collect_policy_read(values, place, &never, &policy) : CLI_GO_ON;

    if (result == CLI_GO_ON)
        result = collect_budget_path(values, path);
    if (result == CLI_GO_ON)
        status = collect_budget_say(path, said, sizeof said, &err);
    if (result == CLI_GO_ON && status == CELLAR_OK && said[0] != '\0')
        printf("budget         %s\n", said);
    if (result == CLI_GO_ON && status == CELLAR_OK && is_given) {
        status =
            place->decision != NULL
                ? cellar_collect_policy_check(&policy, place->invitation, place->decision, &err)
                : cellar_collect_policy_check_invitation(&policy, place->invitation, &err);
        if (status == CELLAR_OK)
            printf("policy         allows sending\n");
    }
    cli_words_clear(&never);
    return status == CELLAR_OK ? result : cli_exit_kept(status, &err);
}

int collect_run_check(const collect_values *values, const char *file)
{
    collect_place place = {0};
    int result = collect_place_open(values, 0, &place);
    if (result == CLI_GO_ON)
        result = collect_place_invited(values, &place);
    if (result == CLI_GO_ON)
        invitation_tell(place.invitation);
    if (result == CLI_GO_ON && place.decision != NULL)
        result = decision_tell(values, &place, file);
    if (result == CLI_GO_ON)
        result = participant_tell(values, &place);
    collect_place_clear(&place);
    return result == CLI_GO_ON ? CLI_DONE : result;
}
