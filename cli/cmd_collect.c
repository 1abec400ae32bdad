/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cellar collect: two rounds of collecting without a trusted curator. */
#include "verbs.h"

#include <string.h>

#include <cellar/text.h>

#include "collect.h"

#define AT(member) offsetof(collect_values, member)
static const cli_option collect_options[] = {
    TEXT("spool", "FOLDER", spool, "where the roles leave what is for the others"),
    TEXT("key", "FILE", key, "the key file of the role or the participant (cellar key create)"),
    TEXT("curator", "FILE", curator,
         "the identity of the curator, got in a way you trust; for all but the curator"),
    OUTPUT(path, "identity: where to write it; table: where to write it"),
    SECTION("Over a network"),
    TEXT("listen", "ADDRESS", listen,
         "shuffler run: wait at HOST:PORT or unix:PATH until as many have sent as announced; "
         "curator serve, analyst serve: give out papers and take batches there; door run: answer "
         "browsers there [127.0.0.1:8081]"),
    TEXT("from", "ADDRESS", from,
         "fetch what is not in the folder yet from the curator that serves there"),
    TEXT("forward", "ADDRESS", forward,
         "shuffler run: deliver the batch to the curator or the analyst that serves there"),
    TEXT("to", "ADDRESS", to,
         "participant send: to the shuffler that listens there, not into the folder"),
    NUMBER("timeout", "SECONDS", timeout, 1, 3600, "wait at most this long for a partner [10]"),
    SECTION("For browsers (door run)"),
    MANY("origin", "URL", origin,
         "pages of this origin may take part, such as https://survey.example; repeated"),
    FLAG("anywhere", anywhere,
         "listen at other addresses than this machine's own; there is no TLS here"),
    SECTION("Inviting (curator invite)"),
    TEXT("title", "TEXT", title, "what is collected, in a line"),
    NUMBER("people", "N", people, 2, 4294967295, "nothing is forwarded before so many have sent"),
    NUMBER("k", "K", k, 1, 0, "groups of fewer than K people are small"),
    TEXT("exposure", "Q", exposure, "the share of people allowed in small groups"),
    NUMBER("population", "N", population, 2, 4294967295,
           "other people answer in round two, so many; the decision bounds their statistical "
           "exposure"),
    TEXT("epsilon", "E", epsilon,
         "every value of round one is randomised by its sender, with this epsilon"),
    FLAG("open", open,
         "with --epsilon: what was counted is published, so that everybody can check the decision"),
    TEXT("hide", "H", hide,
         "rare values may be redacted in round two, and so many others by chance that at most the "
         "share H of the redactions is no chance"),
    TEXT("redacted", "R", redacted, "with --hide: at most the share R of a column's entries"),
    NUMBER("order", "2|3", order, 2, 3,
           "the curator may ask for pairs (2) and triples (3) of common values before it decides"),
    NUMBER("common", "N", common, 1, 0, "with --order: values that at least N people have [K]"),
    TEXT("model", "independence|sample:FILE|cube:FILE", model,
         "decide as if columns were independent, or hung together as in a file of records or a "
         "cube of other people, but for the share --tolerance of people; the decision says so, and "
         "the analyst checks it after round two; curator decide reads the same FILE again"),
    TEXT("tolerance", "T", tolerance, "with --model: the share about whom nothing is assumed"),
    NUMBER("payload", "BYTES", payload, 1, CELLAR_COLLECT_PAYLOAD_MAX,
           "an attachment of at most BYTES goes with each row of round two, sealed for the "
           "analyst, every message padded to that length"),
    TEXT("delta", "D", delta,
         "with --population, --epsilon, --hide or a --model of a file: the decision may be wrong "
         "with this probability"),
    MANY("domain", "COLUMN=FILE", domain, "a column and the code list of its values; repeated"),
    TEXT("shuffler", "FILE", shuffler, "the identity of the shuffler"),
    TEXT("analyst", "FILE", analyst, "the identity of the analyst"),
    SECTION("What a participant asks for, in every round (participant send and check)"),
    NUMBER("least-k", "K", least_k, 1, 0, "a k of at least K; required in round two"),
    TEXT("most-exposure", "Q", most_exposure,
         "an exposure of at most Q: as the invitation allows in round one, as the decision bounds "
         "it "
         "in round two, where it is required"),
    NUMBER("least-people", "N", least_people, 0, 0, "at least N people"),
    TEXT("never", "A,B", never,
         "send these columns in no form: decline an invitation that asks for one, randomised or "
         "not"),
    TEXT("most-epsilon", "E", most_epsilon, "an epsilon of at most E for the record in round one"),
    TEXT("most-tolerance", "T", most_tolerance,
         "accept a decision that rests on a model with a tolerance of at most T; without this, "
         "none"),
    TEXT("models", "A,B", models,
         "with --most-tolerance, which models: independence, sample, cube [independence]"),
    TEXT("budget", "E", budget,
         "spend an epsilon of at most E over all collections, from now on; kept in KEY.budget"),
    SECTION("Payloads"),
    TEXT("payload-column", "COLUMN", payload_column,
         "participant send: the column of FILE that names the file of each record's payload"),
    TEXT("payloads", "FOLDER", payloads,
         "analyst table: write the payloads to a new folder, with a file rows.csv"),
    SECTION("Other"),
};

static const char *const collect_examples[] = {
    "cellar collect shuffler identity --key shuffler.key -o shuffler.pub",
    "cellar collect curator invite --spool survey --key curator.key --shuffler shuffler.pub "
    "--analyst analyst.pub --title 'Health 2026' --people 10000 --k 5 --exposure 0.05 "
    "--domain sex=sex.csv --domain region=region.csv",
    "cellar collect participant send me.csv --spool survey --key my.key --curator curator.pub "
    "--least-k 5 --least-people 1000 --never diagnosis",
    "cellar collect shuffler run --spool survey --key shuffler.key --curator curator.pub",
    "cellar collect shuffler run --spool survey --key shuffler.key --curator curator.pub "
    "--listen 0.0.0.0:7000",
    "cellar collect curator serve --spool survey --key curator.key --listen 0.0.0.0:7001",
    "cellar collect shuffler run --spool mine --key shuffler.key --curator curator.pub "
    "--from curator.example:7001 --listen 0.0.0.0:7000 --forward curator.example:7001",
    "cellar collect curator decide --spool survey --key curator.key",
    "cellar collect participant send me.csv --spool survey --key my.key --curator curator.pub "
    "--least-k 5 --most-exposure 0.05",
    "cellar collect analyst table --spool survey --key analyst.key --curator curator.pub "
    "-o table.csv",
    "cellar collect participant send me.csv --spool survey --key my.key --curator curator.pub "
    "--least-k 5 --most-exposure 0.05 --most-tolerance 0.01 --models independence,cube",
    "cellar collect participant send me.csv --spool survey --key my.key --curator curator.pub "
    "--least-k 5 --most-exposure 0.05 --payload-column image",
    "cellar collect door run --spool survey --curator curator.pub --origin https://survey.example",
    "cellar collect analyst table --spool survey --key analyst.key --curator curator.pub "
    "-o table.csv --payloads images",
    NULL};

static const cli_command collect_command = {
    "collect",
    "curator|shuffler|analyst|participant|door ACTION [FILE] [options]",
    "Collects data so that no party sees a whole record. In round one every value goes sealed "
    "through the shuffler to the curator, who learns how often each value of each column occurs "
    "and decides which columns are safe together; in round two the analyst receives those. The "
    "roles work on files in a folder, which can be carried between machines, or reach each other "
    "through sockets. Actions: identity (all roles but participants), invite, ask, decide and "
    "serve "
    "(curator), send FILE and check [FILE] (participant), run (shuffler), serve and table "
    "(analyst), run (door: HTTP for participants in browsers, which holds no key).",
    collect_options,
    sizeof collect_options / sizeof collect_options[0],
    collect_examples};

typedef struct collect_role {
    const char *name;
    int role; /* 0: none of the library's */
    int (*run)(const collect_values *values, const char *action, const char *file);
} collect_role;

static const collect_role roles[] = {{"curator", CELLAR_COLLECT_CURATOR, collect_run_curator},
                                     {"shuffler", CELLAR_COLLECT_SHUFFLER, collect_run_shuffler},
                                     {"analyst", CELLAR_COLLECT_ANALYST, collect_run_analyst},
                                     {"participant", 0, collect_run_participant},
                                     {"door", 0, collect_run_door}};
enum { N_ROLES = sizeof roles / sizeof roles[0] };

static int collect_run(const collect_values *values, const cli_words *words)
{
    const char *names[N_ROLES + 1] = {NULL}, *nearest;
    const char *action = words->n > 1 ? words->items[1] : "", *file = NULL;
    if (words->n < 2 || words->n > 3)
        return cli_usage(
            "collect needs a role (curator, shuffler, analyst, participant or door) and "
            "an action");
    file = words->n > 2 ? words->items[2] : NULL;
    for (size_t i = 0; i < N_ROLES; i++) {
        names[i] = roles[i].name;
        if (strcmp(roles[i].name, words->items[0]) != 0)
            continue;
        if (roles[i].role != 0 && strcmp(action, "identity") == 0 && file == NULL)
            return collect_run_identity(values, roles[i].role);
        return roles[i].run(values, action, file);
    }
    nearest = cellar_nearest_word(words->items[0], names);
    if (nearest != NULL)
        return cli_usage("collect: unknown role '%s'; did you mean '%s'?", words->items[0],
                         nearest);
    return cli_usage("collect: unknown role '%s'; it is curator, shuffler, analyst, participant or "
                     "door",
                     words->items[0]);
}

int cli_collect(int argc, char **argv)
{
    collect_values values = {0};
    cli_words words = {0};
    int result = cli_options_parse(&collect_command, argc, argv, &values, &words);
    if (result == CLI_GO_ON)
        result = collect_run(&values, &words);
    cli_words_clear(&words);
    cli_options_clear(&collect_command, &values);
    return result;
}
