/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar ledger: the budget of datasets, made, looked at and verified. */
#include "verbs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cellar/ledger.h>

#include "json_out.h"
#include "ledger_open.h"
#include "ledger_out.h"
#include "lists.h"
#include "options.h"

typedef struct ledger_values {
    const char *key, *dataset, *edition, *unit, *epsilon, *delta, *rho, *analyst, *what, *witness,
        *rate;
    int neighbours, accept_delta, uncharged, json, sampling, panel, calibrated;
    cli_number population;
    cli_words against;
} ledger_values;

#define AT(member) offsetof(ledger_values, member)
static const cli_option ledger_options[] = {
    SECTION("The ledger"),
    TEXT("ledger-key", "FILE", key, "the key that chains the history [LEDGER.key]"),
    FLAG("json", json, "print JSON"),
    SECTION("create, adopt: who remembers how far the history got"),
    TEXT("witness", "FILE", witness,
         "a file on another disk that receives every new head, so that an older copy of the "
         "ledger is refused"),
    SECTION("create, add: a dataset and its cap, which is never changed"),
    TEXT("dataset", "NAME", dataset, "the dataset"),
    TEXT("edition", "NAME", edition, "an edition of its data [the first one is called 1]"),
    TEXT("unit", "NAME", unit, "whom the guarantee protects, such as person"),
    CHOICE("neighbours", "add-remove|substitute", neighbours, "what it hides about a unit"),
    TEXT("epsilon", "E", epsilon, "the cap: the sum of epsilon"),
    TEXT("delta", "D", delta,
         "the cap: the sum of delta [0]; show: that of the non-adaptive figure"),
    TEXT("rho", "R", rho, "the cap instead: the sum of rho (zero-concentrated)"),
    NUMBER("population", "N", population, 1, INT64_MAX,
           "how many units there are, a public number; needed with --delta"),
    FLAG("accept-delta", accept_delta, "accept a delta of 1/N or more"),
    TEXT("analyst", "NAME", analyst, "add: the caps are those of an analyst on the dataset"),
    SECTION("enter: what is known outside the budget"),
    CHOICE("uncharged", "cell-key|invariant|elsewhere", uncharged,
           "a cell-key release, a true count that is published, or a table published elsewhere"),
    TEXT("what", "TEXT", what, "what it is, in words"),
    SECTION("amplify: the data are a sample, and who is in it is secret"),
    CHOICE("sampling", "poisson|without-replacement", sampling,
           "how units (--unit) were drawn: with add-remove, or with substitute"),
    TEXT("sampling-rate", "Q", rate, "the chance of every unit to be in the sample"),
    FLAG("panel", panel, "the same units are in every edition: refused"),
    FLAG("calibrated-weights", calibrated, "weights were calibrated: refused"),
    SECTION("verify"),
    MANY("against", "RELEASE", against,
         "the release must be the recorded output of a charge in this history; may be repeated"),
    SECTION("Other"),
};

static const char *const ledger_examples[] = {
    "cellar ledger create census.ledger --ledger-key census.key --dataset census --unit person "
    "--neighbours add-remove --epsilon 4 --delta 1e-9 --population 8000000",
    "cellar ledger show census.ledger --ledger-key census.key",
    "cellar ledger verify census.ledger --ledger-key census.key --against table1.csv", NULL};

static const cli_command ledger_command = {
    "ledger",
    "create|add|enter|show|history|amplify|verify|adopt LEDGER [options]",
    "Keeps the privacy budget of datasets: makes a ledger, adds datasets, editions and analysts, "
    "enters what is published outside the budget, shows what is left and the history, states what "
    "the cap is for the population behind a sample (amplify), and verifies "
    "that the history is the one that was written. adopt goes on with a ledger that its witness "
    "does not know, or gives it another witness. cellar protect --ledger spends.",
    ledger_options,
    sizeof ledger_options / sizeof ledger_options[0],
    ledger_examples};

/* ---- create, add, enter ------------------------------------------------------------- */

static int ledger_has_cap(const ledger_values *values)
{
    return values->epsilon != NULL || values->rho != NULL || values->delta != NULL;
}

/* The dataset that is asked for; what is missing is a mistake of usage. */
static int ledger_read_dataset(const ledger_values *values, cellar_ledger_dataset *dataset)
{
    cellar_error err;
    *dataset = cellar_ledger_dataset_default();
    dataset->name = values->dataset;
    dataset->edition = values->edition != NULL ? values->edition : "1";
    dataset->unit = values->unit;
    dataset->neighbours = (cellar_neighbours) values->neighbours;
    dataset->population = values->population.value;
    dataset->accept_delta = values->accept_delta;
    if (values->epsilon == NULL && values->rho == NULL)
        return cli_usage("a new dataset needs a cap: --epsilon E (and --delta D), or --rho R");
    if (values->unit == NULL || values->neighbours == 0)
        return cli_usage("a new dataset needs --unit and --neighbours: what is protected");
    return cli_exit(
        cellar_amounts_parse_cap(values->epsilon, values->delta, values->rho, &dataset->cap, &err),
        &err);
}

static int ledger_add_dataset(cellar_ledger *ledger, const ledger_values *values)
{
    cellar_ledger_dataset dataset;
    cellar_error err;
    int result = ledger_read_dataset(values, &dataset);
    if (result != CLI_DONE)
        return result;
    return cli_exit(cellar_ledger_add_dataset(ledger, &dataset, &err), &err);
}

static int ledger_add(cellar_ledger *ledger, const ledger_values *values)
{
    cellar_amounts cap;
    cellar_error err;
    cellar_status status;
    if (values->dataset == NULL)
        return cli_usage("ledger: name the dataset with --dataset");
    if (values->analyst != NULL) {
        if (!ledger_has_cap(values))
            return cli_usage("an analyst's share needs --epsilon, --delta or --rho");
        status = cellar_amounts_parse_cap(values->epsilon, values->delta, values->rho, &cap, &err);
        if (status == CELLAR_OK)
            status = cellar_ledger_add_analyst(ledger, values->dataset, values->analyst, cap, &err);
        return cli_exit(status, &err);
    }
    if (values->edition == NULL || ledger_has_cap(values))
        return ledger_add_dataset(ledger, values);
    return cli_exit(cellar_ledger_add_edition(ledger, values->dataset, values->edition, &err),
                    &err);
}

static int ledger_enter(cellar_ledger *ledger, const ledger_values *values)
{
    cellar_error err;
    const char *edition = values->edition;
    const cellar_ledger_entry *dataset;
    if (values->dataset == NULL || values->uncharged == 0 || values->what == NULL)
        return cli_usage("ledger enter needs --dataset, --uncharged and --what");
    dataset = cellar_ledger_find_dataset(ledger, values->dataset);
    if (edition == NULL && dataset != NULL)
        edition = dataset->edition;
    return cli_exit(cellar_ledger_enter(ledger, values->dataset, edition,
                                        (cellar_uncharged) (values->uncharged - 1), values->what,
                                        &err),
                    &err);
}

/* A witness is of use where a copy of the ledger does not bring a copy of the witness along. */
static void ledger_warn(const char *path, const char *witness)
{
    struct stat one, other;
    if (witness != NULL && stat(path, &one) == 0 && stat(witness, &other) == 0 &&
        one.st_dev == other.st_dev)
        cli_message("%s: the witness lies on the same file system as the ledger: who restores that "
                    "restores both; keep it on another disk",
                    witness);
}

/* What an adoption says about the history before it. */
static int ledger_tell_adopted(const cellar_ledger *ledger)
{
    const cellar_ledger_entry *entry =
        cellar_ledger_entry_at(ledger, cellar_ledger_n_entries(ledger) - 1);
    if (entry->kind == CELLAR_ENTRY_ADOPT)
        cli_message("adopted in entry %lld: %s", (long long) entry->number, entry->what);
    return CLI_DONE;
}

/* The ledger appears with its dataset or not at all. Makes the key too, unless there is one; a
 * ledger that cannot be made leaves none behind. */
static int ledger_create(const char *path, const ledger_values *values)
{
    cellar_ledger_dataset dataset;
    char *key_path;
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status = CELLAR_OK;
    int made_key = 0;
    int result = values->dataset != NULL ? ledger_read_dataset(values, &dataset) : CLI_DONE;
    if (result != CLI_DONE)
        return result;
    key_path = cli_ledger_key_path(path, values->key);
    if (access(path, F_OK) == 0) {
        cli_message("%s: exists already, and a ledger is never replaced", path);
        free(key_path);
        return CLI_FAILED;
    }
    if (access(key_path, F_OK) != 0) {
        status = cellar_key_create(key_path, NULL, &err);
        made_key = status == CELLAR_OK;
    }
    if (status == CELLAR_OK)
        status = cellar_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_create_with(path, key, values->dataset != NULL ? &dataset : NULL,
                                           values->witness, &err);
    if (made_key && status == CELLAR_OK)
        cli_message("made the key %s; keep a copy apart from the ledger: who has both can rewrite "
                    "history",
                    key_path);
    else if (made_key && access(path, F_OK) != 0)
        unlink(key_path); /* nothing is chained under it */
    if (status == CELLAR_OK)
        ledger_warn(path, values->witness);
    cellar_key_free(key);
    free(key_path);
    return cli_exit(status, &err);
}

static int ledger_adopt(const char *path, const ledger_values *values)
{
    char *key_path = cli_ledger_key_path(path, values->key);
    cellar_key *key = NULL;
    cellar_error err;
    cellar_status status = cellar_key_read(key_path, &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_adopt(path, key, values->witness, &err);
    if (status == CELLAR_OK)
        ledger_warn(path, values->witness);
    cellar_key_free(key);
    free(key_path);
    return cli_exit(status, &err);
}

/* ---- verify ---------------------------------------------------------------------------- */

static int ledger_verify(cellar_ledger *ledger, const ledger_values *values)
{
    cellar_against *found = cli_alloc(values->against.n + 1, sizeof *found);
    cellar_error err;
    int result = cli_exit(cellar_ledger_verify(ledger, &err), &err);
    for (size_t i = 0; i < values->against.n; i++) {
        int one = cli_exit(
            cellar_ledger_verify_against(ledger, values->against.items[i], &found[i], &err), &err);
        result = result == CLI_DONE && one != CLI_DONE ? CLI_FAILED : result;
    }
    if (result == CLI_DONE)
        result = cli_exit(cli_ledger_tell_verified(ledger, cli_words_items(&values->against), found,
                                                   values->json, &err),
                          &err);
    free(found);
    return result;
}

static int ledger_amplify(cellar_ledger *ledger, const ledger_values *values)
{
    cellar_sampling sampling = cellar_sampling_default();
    cellar_error err;
    cellar_status status;
    int result;
    if (values->dataset == NULL || values->sampling == 0 || values->rate == NULL ||
        values->unit == NULL)
        return cli_usage("ledger amplify needs --dataset, --sampling, --sampling-rate and --unit");
    result = cli_list_real("sampling-rate", values->rate, &sampling.rate);
    if (result != CLI_GO_ON)
        return result;
    sampling.scheme = (cellar_sampling_scheme) (values->sampling - 1);
    sampling.unit = values->unit;
    sampling.is_panel = values->panel;
    sampling.has_calibrated_weights = values->calibrated;
    status = cli_ledger_amplify(ledger, values->dataset, &sampling, values->json, &err);
    return status == CELLAR_ERR_ARGUMENT ? cli_usage("ledger amplify: %s", err.message)
                                         : cli_exit(status, &err);
}

/* ---- the verb ---------------------------------------------------------------------------- */

static int ledger_act(const char *action, cellar_ledger *ledger, const ledger_values *values)
{
    cellar_error err;
    if (strcmp(action, "create") == 0)
        return CLI_DONE;
    if (strcmp(action, "adopt") == 0)
        return ledger_tell_adopted(ledger);
    if (strcmp(action, "add") == 0)
        return ledger_add(ledger, values);
    if (strcmp(action, "enter") == 0)
        return ledger_enter(ledger, values);
    if (strcmp(action, "show") == 0)
        return cli_exit(cli_ledger_show(ledger, values->dataset, values->delta, values->json, &err),
                        &err);
    if (strcmp(action, "history") == 0)
        return cli_exit(cli_ledger_history(ledger, values->dataset, values->json, &err), &err);
    if (strcmp(action, "amplify") == 0)
        return ledger_amplify(ledger, values);
    return ledger_verify(ledger, values);
}

static int ledger_run(const char *action, const char *path, const ledger_values *values)
{
    static const char *const actions[] = {"create",  "add",    "enter", "show", "history",
                                          "amplify", "verify", "adopt", NULL};
    int makes = strcmp(action, "create") == 0 || strcmp(action, "adopt") == 0;
    cellar_ledger *ledger = NULL;
    int result = CLI_GO_ON;
    size_t i = 0;
    while (actions[i] != NULL && strcmp(actions[i], action) != 0)
        i++;
    if (actions[i] == NULL)
        return cli_usage(
            "ledger: say create, add, enter, show, history, amplify, verify or adopt, not '%s'",
            action);
    if (strcmp(action, "verify") != 0 && values->against.n > 0)
        return cli_usage("--against belongs to ledger verify");
    if (!makes && values->witness != NULL)
        return cli_usage("--witness belongs to ledger create and adopt");
    if (strcmp(action, "create") == 0)
        result = ledger_create(path, values);
    if (strcmp(action, "adopt") == 0)
        result = ledger_adopt(path, values);
    if (result == CLI_GO_ON || result == CLI_DONE)
        result = cli_ledger_open(path, values->key, &ledger);
    if (result == CLI_GO_ON)
        result = ledger_act(action, ledger, values);
    cellar_ledger_close(ledger);
    return result;
}

int cli_ledger(int argc, char **argv)
{
    ledger_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&ledger_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON && words.n != 2)
        result = cli_usage(
            "ledger needs create, add, enter, show, history, amplify, verify or adopt, and a file");
    if (result == CLI_GO_ON)
        result = ledger_run(words.items[0], words.items[1], &values);
    cli_words_clear(&words);
    cli_options_clear(&ledger_command, &values);
    return result;
}
