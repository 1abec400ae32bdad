/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect curator: invites, and decides which columns go to the analyst. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect.h"

/* ---- inviting -------------------------------------------------------------- */

/* "COLUMN=FILE"; the name ends at the first equals sign. */
static int domain_read(const char *text, char **name, cellar_codelist **codes)
{
    const char *equals = strchr(text, '=');
    cellar_error err;
    cellar_status status;
    if (equals == NULL || equals == text || equals[1] == '\0')
        return cli_usage("--domain reads COLUMN=FILE, not '%s'", text);
    *name = cli_alloc((size_t) (equals - text) + 1, 1);
    memcpy(*name, text, (size_t) (equals - text));
    status = cellar_codelist_read(equals + 1, codes, &err);
    return status == CELLAR_OK ? CLI_GO_ON : cli_exit_kept(status, &err);
}

/* What needs the same people in both rounds, and values as they are. */
static int fixed_check(const collect_values *values)
{
    const int is_estimated =
        values->population.given || values->epsilon != NULL || values->hide != NULL;
    if (values->model != NULL && (is_estimated || values->order.given))
        return cli_usage("collect curator invite: --model goes with none of --population, "
                         "--epsilon, --hide and --order");
    if (values->order.given && is_estimated)
        return cli_usage("collect curator invite: --order goes with none of --population, "
                         "--epsilon and --hide");
    if (values->common.given && !values->order.given)
        return cli_usage("collect curator invite: --common goes with --order");
    return CLI_GO_ON;
}

static int invite_check(const collect_values *values)
{
    if (values->shuffler == NULL || values->analyst == NULL || values->title == NULL ||
        values->exposure == NULL || !values->people.given || !values->k.given ||
        values->domain.n == 0)
        return cli_usage("collect curator invite needs --shuffler, --analyst, --title, --people, "
                         "--k, --exposure and a --domain for each column");
    if (values->k.value >
        (values->population.given ? values->population.value : values->people.value))
        return cli_usage("collect curator invite: --k %" PRIu64 ": no group can be larger than all "
                         "the people, --%s",
                         values->k.value, values->population.given ? "population" : "people");
    if ((values->population.given || values->epsilon != NULL || values->hide != NULL ||
         (values->model != NULL && strcmp(values->model, "independence") != 0)) !=
        (values->delta != NULL))
        return cli_usage("collect curator invite: --delta goes with --population, --epsilon, "
                         "--hide or a --model of a file");
    if ((values->hide == NULL) != (values->redacted == NULL))
        return cli_usage("collect curator invite: --hide and --redacted go together");
    if (values->open && values->epsilon == NULL)
        return cli_usage("collect curator invite: --open needs --epsilon: exact margins are not "
                         "published");
    if ((values->model == NULL) != (values->tolerance == NULL))
        return cli_usage("collect curator invite: --model and --tolerance go together");
    if (values->domain.n > CELLAR_MAX_VARIABLES)
        return cli_usage("collect: at most %d columns", CELLAR_MAX_VARIABLES);
    return fixed_check(values);
}

/* Makes the folders that participants send to. Those that are there are left from an attempt that
 * was cut short: without an invitation nobody has sent anything. */
static int inboxes_make(const collect_values *values, const cellar_invitation *invitation)
{
    static const char *const inboxes[] = {"inbox-1", "inbox-2", "inbox-pairs", "inbox-triples"};
    size_t n_inboxes =
        cellar_invitation_order(invitation) < 2 ? 2 : cellar_invitation_order(invitation) + 1;
    char path[COLLECT_PATH_BYTES];
    int result = CLI_GO_ON;
    for (size_t i = 0; i < n_inboxes && result == CLI_GO_ON; i++) {
        result = collect_path(values, inboxes[i], path);
        if (result == CLI_GO_ON && mkdir(path, 0700) != 0 && errno != EEXIST) {
            cli_message("%s: cannot be made: %s", path, strerror(errno));
            result = CLI_FAILED;
        }
    }
    return result;
}

/* The invitation comes last: who sees it finds the rest. */
static int invite_publish(const collect_values *values, const cellar_invitation *invitation)
{
    char path[COLLECT_PATH_BYTES];
    size_t length;
    const char *text = cellar_invitation_text(invitation, &length);
    int result = inboxes_make(values, invitation);
    if (result == CLI_GO_ON)
        result = collect_path(values, "invitation", path);
    if (result == CLI_GO_ON)
        result = collect_publish(path, text, length);
    return result == CLI_GO_ON ? CLI_DONE : result;
}

static int invite(const collect_values *values)
{
    collect_place place = {0};
    cellar_collect_column columns[CELLAR_MAX_VARIABLES] = {{NULL, NULL}};
    char *names[CELLAR_MAX_VARIABLES] = {NULL};
    cellar_codelist *codes[CELLAR_MAX_VARIABLES] = {NULL};
    cellar_collect_model *model = NULL;
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int result = invite_check(values);

    spec.title = values->title;
    spec.n_people = values->people.value;
    spec.k = values->k.value;
    spec.exposure = values->exposure;
    spec.population = values->population.value;
    spec.epsilon = values->epsilon;
    spec.is_open = values->open;
    spec.hide = values->hide;
    spec.redacted = values->redacted;
    spec.order = (unsigned) values->order.value;
    spec.common = values->common.given ? values->common.value : values->k.value;
    spec.tolerance = values->tolerance;
    spec.payload = values->payload.value;
    spec.delta = values->delta;
    spec.columns = columns;
    spec.n_columns = values->domain.n;
    if (result == CLI_GO_ON)
        result = collect_place_open(values, CELLAR_COLLECT_CURATOR, &place);
    for (size_t c = 0; c < values->domain.n && result == CLI_GO_ON; c++) {
        result = domain_read(values->domain.items[c], &names[c], &codes[c]);
        columns[c] = (cellar_collect_column){names[c], codes[c]};
        for (size_t before = 0; before < c && result == CLI_GO_ON; before++)
            if (strcmp(names[before], names[c]) == 0)
                result =
                    cli_usage("collect curator invite: --domain names column '%s' twice", names[c]);
    }
    if (result == CLI_GO_ON && values->model != NULL)
        result = collect_model_open(values, columns, spec.n_columns, &model);
    spec.model = model;
    if (result == CLI_GO_ON) {
        status = cellar_collect_identity_read(values->shuffler, CELLAR_COLLECT_SHUFFLER,
                                              &spec.shuffler, &err);
        if (status == CELLAR_OK)
            status = cellar_collect_identity_read(values->analyst, CELLAR_COLLECT_ANALYST,
                                                  &spec.analyst, &err);
        if (status == CELLAR_OK)
            status = cellar_invitation_create(&spec, place.keys, &place.invitation, &err);
        result = status == CELLAR_OK ? invite_publish(values, place.invitation)
                                     : cli_exit_kept(status, &err);
    }
    for (size_t c = 0; c < CELLAR_MAX_VARIABLES; c++) {
        cellar_codelist_free(codes[c]);
        free(names[c]);
    }
    cellar_collect_model_free(model);
    collect_place_clear(&place);
    return result;
}

int collect_run_curator(const collect_values *values, const char *action, const char *file)
{
    if (file != NULL)
        return cli_usage("collect curator takes no file");
    if (strcmp(action, "invite") == 0)
        return invite(values);
    if (strcmp(action, "ask") == 0)
        return collect_run_ask(values);
    if (strcmp(action, "serve") == 0)
        return collect_run_serve(values, CELLAR_COLLECT_CURATOR);
    if (strcmp(action, "decide") == 0)
        return collect_run_decide(values);
    return cli_usage("collect curator: say identity, invite, ask, decide or serve, not '%s'",
                     action);
}
