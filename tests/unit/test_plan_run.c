/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs of plans: all or nothing, paid once, drawn once; and the rules that stop them. */
#include "check.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cellar/manifest.h>
#include <cellar/release_file.h>

#include "base/folder.h"
#include "fail_every.h"
#include "plan_place.h"

#include "ledger_place.h"

#define LIST                                                                                       \
    "tables:\n"                                                                                    \
    "  - {name: one, title: All of it, by: [region, sex], margins: [region, total]}\n"             \
    "  - {name: two, by: [sex], weight: 2}\n"                                                      \
    "mechanism: discrete-laplace\n"                                                                \
    "budget: {epsilon: 0.75, split: weights}\n"
#define OUT "outputs: {folder: pack, formats: [csv, json, px]}\n"
#define PAID "ledger: {file: ledger, key: key, dataset: census, request: one}\n"

/* Runs the plan of a text in this process. */
static cellar_status run_with(scratch *place, const char *text, cellar_plan_extra *extra,
                              cellar_plan_run_result *result)
{
    cellar_plan_run_options options = {.n_threads = 1, .date = "2026-07-01", .extra = extra};
    cellar_plan *plan;
    cellar_status status = plan_place_parse(place, text, &plan, &err);
    *result = (cellar_plan_run_result){0};
    if (status == CELLAR_OK)
        status = cellar_plan_run(plan, &options, result, &err);
    cellar_plan_free(plan);
    return status;
}

static cellar_status run(scratch *place, const char *text)
{
    cellar_plan_run_result unused;
    return run_with(place, text, NULL, &unused);
}

static int is_there(scratch *place, const char *name)
{
    return access(scratch_path(place, name), F_OK) == 0;
}

/* Everything is there, fits the manifest, and reads back. */
static void check_pack(scratch *place)
{
    static const char *const files[] = {
        "one.csv", "one.csv.cellar.json", "one.json",      "one.px", "two.csv", "two.json",
        "two.px",  "certificate.json",    "method-note.md"};
    cellar_release *release;
    size_t n;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char name[64];
        snprintf(name, sizeof name, "pack/%s", files[i]);
        assert_int_equal(scratch_mode(place, name), 0644);
    }
    assert_int_equal(scratch_mode(place, "pack"), 0755);
    CHECK_OK(cellar_manifest_check(scratch_path(place, "pack"), &n, &err));
    assert_int_equal(n, 10);
    CHECK_OK(cellar_release_read(scratch_path(place, "pack/one.json"), CELLAR_TABLE_AUTO, &release,
                                 &err));
    assert_string_equal(cellar_release_date(release), "2026-07-01");
    cellar_release_free(release);
}

/* Nothing visible and nothing hidden. */
static void check_nothing(scratch *place)
{
    cellar_names names = {0};
    CHECK_OK(cellar_folder_list(place->folder, &names, &err));
    for (size_t i = 0; i < names.n; i++)
        if (strstr(names.items[i], "staged") != NULL || strcmp(names.items[i], "pack") == 0)
            fail_msg("%s is there", names.items[i]);
    cellar_names_clear(&names);
}

static void runs_without_a_ledger(void **state)
{
    CHECK_OK(run(*state, PLAN_HEAD LIST OUT));
    check_pack(*state);
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT), CELLAR_ERR_EXISTS);
    check_pack(*state);
}

/* A signed pack verifies, and is still the recorded one. */
static void signs(void **state)
{
    static const char text[] =
        PLAN_HEAD LIST PAID "outputs: {folder: pack, formats: [csv, ods], sign: signing.key}\n";
    cellar_public_key public_key;
    cellar_key *key;
    assert_int_equal(run(*state, text), CELLAR_ERR_IO); /* before anything is paid */
    cellar_ledger_close(fresh(*state));
    CHECK_OK(cellar_key_create(scratch_path(*state, "signing.key"), NULL, &err));
    CHECK_OK(cellar_key_read(scratch_path(*state, "signing.key"), &key, &err));
    public_key = cellar_key_public(key);
    cellar_key_free(key);
    CHECK_OK(run(*state, text));
    CHECK_OK(cellar_manifest_verify(scratch_path(*state, "pack"), &public_key, NULL, &err));
    remove(scratch_path(*state, "pack/manifest.sig"));
    CHECK_OK(run(*state, text));
}

static int64_t spent(scratch *place, cellar_charge_state *request)
{
    cellar_ledger *ledger = reopen(place);
    cellar_balance balance;
    CHECK_OK(cellar_ledger_verify(ledger, &err));
    CHECK_OK(cellar_ledger_balance(ledger, "census", NULL, &balance, &err));
    *request = cellar_ledger_state(ledger, "one");
    cellar_ledger_close(ledger);
    return balance.spent.epsilon_nano;
}

/* Charged once; asked again, found; another plan under the same request is refused. */
static void pays_once(void **state)
{
    cellar_plan_run_result result;
    cellar_charge_state request;
    cellar_ledger *ledger;
    cellar_against against;
    char first[CELLAR_STAMP_TEXT];
    cellar_ledger_close(fresh(*state));
    CHECK_OK(run_with(*state, PLAN_HEAD LIST OUT PAID, NULL, &result));
    assert_true(result.is_new && result.is_charged);
    memcpy(first, result.stamp, sizeof first);
    check_pack(*state);
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_DONE);
    CHECK_OK(run_with(*state, PLAN_HEAD LIST OUT PAID, NULL, &result));
    assert_false(result.is_new);
    assert_string_equal(result.stamp, first);
    assert_int_equal(run(*state, PLAN_HEAD LIST "threads: 1\n" OUT PAID), CELLAR_ERR_INPUT);
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID "title: Another\n"), CELLAR_ERR_RULE);
    assert_int_equal(spent(*state, &request), 750000000);
    ledger = reopen(*state);
    CHECK_OK(cellar_ledger_verify_against(ledger, scratch_path(*state, "pack"), &against, &err));
    assert_string_equal(against.request, "one");
    CHECK_OK(
        cellar_ledger_verify_against(ledger, scratch_path(*state, "pack/one.csv"), &against, &err));
    assert_string_equal(against.request, "one");
    cellar_ledger_close(ledger);
    remove(scratch_path(*state, "pack/two.px"));
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID), CELLAR_ERR_RULE);
    assert_false(is_there(*state, "pack/two.px"));
}

/* Of two tables together: the certificate of the pack is the price, at the delta of the plan. */
static void charges_what_it_prints(void **state)
{
    static const char text[] =
        PLAN_HEAD "tables:\n"
                  "  - {name: one, by: [region, sex], margins: [region, total]}\n"
                  "  - {name: two, by: [sex], mechanism: 'gaussian:sigma=30'}\n"
                  "mechanism: 'gaussian:sigma=40'\n" OUT
                  "ledger: {file: ledger, key: key, dataset: census, request: one, delta: 1e-7}\n";
    cellar_charge_state request;
    cellar_amounts printed;
    const json_t *first;
    json_t *pack;
    cellar_ledger_close(fresh(*state));
    CHECK_OK(run(*state, text));
    pack = json_load_file(scratch_path(*state, "pack/certificate.json"), 0, NULL);
    first = json_array_get(json_object_get(json_object_get(pack, "certificate"), "epsilon_at"), 0);
    assert_true(json_number_value(json_object_get(first, "delta")) == 1e-7);
    CHECK_OK(cellar_amounts_from_bounds(json_number_value(json_object_get(first, "epsilon")), 0,
                                        NAN, &printed, &err));
    assert_true(printed.epsilon_nano > 0);
    assert_int_equal(spent(*state, &request), printed.epsilon_nano);
    json_decref(pack);
}

static void stops_at_the_cap(void **state)
{
    cellar_charge_state request;
    cellar_ledger_close(fresh(*state));
    CHECK_OK(run(*state, PLAN_HEAD LIST "outputs: {folder: first, formats: [csv]}\n"
                                        "ledger: {file: ledger, key: key, dataset: census, "
                                        "request: zero}\n"));
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID), CELLAR_ERR_BUDGET);
    check_nothing(*state);
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_NONE);
}

static cellar_status die(void *context, const char *folder, const cellar_plan_pack *pack,
                         cellar_error *error)
{
    (void) context;
    (void) pack;
    (void) error;
    assert_non_null(folder);
    kill(getpid(), SIGKILL);
    return CELLAR_OK;
}

static void run_and_die(scratch *place, const char *text)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        cellar_plan_run_result unused;
        run_with(place, text, die, &unused);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* Killed with half of the pack written: nobody has seen it, it is paid, and never drawn again. */
static void gives_up_what_was_not_recorded(void **state)
{
    cellar_charge_state request;
    cellar_ledger_close(fresh(*state));
    run_and_die(*state, PLAN_HEAD LIST OUT PAID);
    assert_false(is_there(*state, "pack"));
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_CHARGED);
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID), CELLAR_ERR_RULE);
    check_nothing(*state);
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_LOST);
}

static void starts_anew_without_a_ledger(void **state)
{
    run_and_die(*state, PLAN_HEAD LIST OUT);
    assert_false(is_there(*state, "pack"));
    CHECK_OK(run(*state, PLAN_HEAD LIST OUT));
    check_pack(*state);
}

static cellar_status fail_extra(void *context, const char *folder, const cellar_plan_pack *pack,
                                cellar_error *error)
{
    (void) context;
    (void) folder;
    assert_int_equal(pack->n, 2);
    assert_string_equal(pack->names[1], "two");
    return cellar_fail(error, CELLAR_ERR_IO, "no luck");
}

static void leaves_nothing_when_it_fails(void **state)
{
    cellar_plan_run_result result;
    cellar_charge_state request;
    assert_int_equal(run_with(*state, PLAN_HEAD LIST OUT, fail_extra, &result), CELLAR_ERR_IO);
    check_nothing(*state);
    cellar_ledger_close(fresh(*state));
    assert_int_equal(run_with(*state, PLAN_HEAD LIST OUT PAID, fail_extra, &result), CELLAR_ERR_IO);
    check_nothing(*state);
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_LOST);
}

/* What the formats cannot hold is known before anything is paid. */
static void refuses_before_paying(void **state)
{
    static const char *const cases[] = {"csv", "csvw", "json, csv", "ods"};
    char text[1024];
    cellar_charge_state request;
    cellar_ledger_close(fresh(*state));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text,
                 "plan: 1\ndata: {file: people.csv, edition: '1'}\nunit: {name: person}\n"
                 "variables: [{name: released, column: sex, codelist: sex.csv}]\n"
                 "negatives: keep\nparameter_choice: advance\n"
                 "tables: [{name: one, by: [released]}]\nmechanism: discrete-laplace\n"
                 "budget: {epsilon: 0.75}\noutputs: {folder: pack, formats: [%s]}\n" PAID,
                 cases[i]);
        assert_int_equal(run(*state, text), CELLAR_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "table one: a variable called 'released'"));
        assert_int_equal(spent(*state, &request), 0);
        assert_int_equal(request, CELLAR_CHARGE_NONE);
    }
}

/* The same plan on other data is another request. */
static void tells_data_apart(void **state)
{
    cellar_charge_state request;
    cellar_ledger_close(fresh(*state));
    CHECK_OK(run(*state, PLAN_HEAD LIST OUT PAID));
    scratch_write(*state, "people.csv", "id,region,sex\n1,N,F\n2,N,M\n3,N,M\n4,S,M\n");
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "for something else"));
    scratch_write(*state, "people.csv", plan_data_csv);
    CHECK_OK(run(*state, PLAN_HEAD LIST OUT PAID));
    assert_int_equal(spent(*state, &request), 750000000);
}

/* Another program takes the name while this one draws. */
static cellar_status take_name(void *context, const char *folder, const cellar_plan_pack *pack,
                               cellar_error *error)
{
    char path[PATH_MAX];
    (void) context;
    (void) error;
    assert_string_equal(pack->titles[0], "All of it");
    assert_null(pack->titles[1]);
    snprintf(path, sizeof path, "%s", folder);
    strcpy(strrchr(path, '/'), "/pack");
    return mkdir(path, 0700) == 0 ? CELLAR_OK : CELLAR_ERR_IO;
}

/* What was drawn waits for the name, and gets it when it is free. */
static void waits_for_a_name_that_was_taken(void **state)
{
    cellar_plan_run_result result;
    cellar_charge_state request;
    assert_int_equal(run_with(*state, PLAN_HEAD LIST OUT, take_name, &result), CELLAR_ERR_EXISTS);
    assert_non_null(strstr(err.message, "was made by another program in the meantime"));
    rmdir(scratch_path(*state, "pack"));
    check_nothing(*state);
    cellar_ledger_close(fresh(*state));
    assert_int_equal(run_with(*state, PLAN_HEAD LIST OUT PAID, take_name, &result),
                     CELLAR_ERR_EXISTS);
    assert_non_null(strstr(
        err.message,
        "request 'one' stays charged with epsilon 0.75, delta 0 (entry 3), and its output is "
        "drawn and waits for its name"));
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_STAGED);
    rmdir(scratch_path(*state, "pack"));
    CHECK_OK(run_with(*state, PLAN_HEAD LIST OUT PAID, NULL, &result));
    assert_false(result.is_new);
    check_pack(*state);
    assert_int_equal(spent(*state, &request), 750000000);
}

/* ---- rules ---------------------------------------------------------------------------------- */

static const struct ruled {
    const char *rule, *refusal; /* NULL: passes */
} ruled[] = {
    {"{evaluate: true, max_empty_share: 0.25, table: one}", NULL},
    {"{evaluate: true, max_empty_share: 0.2, table: one}",
     "table one breaks the rule 'at most a share of 0.2 of the cells is empty'; merging the "
     "categories of 'region' along its hierarchy into Land would pass"},
    {"{evaluate: true, max_small_share: 0.4, small: 1, table: one}",
     "'at most a share of 0.4 of the cells has a count of 1 to 1'; merging the categories of "
     "'region'"},
    {"{evaluate: true, min_population: 4}", NULL},
    {"{evaluate: true, min_population: 5}", "'at least 5 records'"},
    {"{evaluate: true, max_cells: 10}", NULL},
    {"{evaluate: true, max_cells: 9}", "merging the categories of 'region'"},
    {"{evaluate: true, max_exposure: 0.5, small: 2, table: one}", NULL},
    {"{evaluate: true, max_exposure: 0.4, small: 2, table: one}",
     "'at most a share of 0.4 of the records in cells of fewer than 2'; merging the categories of "
     "'region'"},
    {"{evaluate: true, max_risk: 1, sensitive: sex, table: one}", NULL},
    {"{evaluate: true, max_risk: 0.001, sensitive: sex, table: one}",
     "'an expected homogeneity risk of at most 0.001'"},
};

static void rules_refuse_with_the_remedy(void **state)
{
    for (size_t i = 0; i < sizeof ruled / sizeof *ruled; i++) {
        char text[2048];
        cellar_plan_figures *figures;
        cellar_plan *plan;
        snprintf(text, sizeof text, "%srules:\n  - %s\n", PLAN_HEAD LIST, ruled[i].rule);
        CHECK_OK(plan_place_parse(*state, text, &plan, &err));
        CHECK_OK(cellar_plan_check(plan, NULL, &figures, &err));
        if (ruled[i].refusal == NULL)
            assert_int_equal(figures->n_refusals, 0);
        else if (figures->n_refusals == 0 || strstr(figures->refusals[0], ruled[i].refusal) == NULL)
            fail_msg("%s: %s", ruled[i].rule,
                     figures->n_refusals > 0 ? figures->refusals[0] : "not refused");
        cellar_plan_figures_free(figures);
        cellar_plan_free(plan);
    }
}

/* What was drawn is thrown away and stays paid. */
static void rules_judge_what_is_released(void **state)
{
    cellar_charge_state request;
    cellar_ledger_close(fresh(*state));
    assert_int_equal(run(*state, PLAN_HEAD LIST OUT PAID
                         "rules:\n  - {evaluate: released, min_population: 1000000}\n"),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "the released values drawn for table one break the rule"));
    check_nothing(*state);
    assert_int_equal(spent(*state, &request), 750000000);
    assert_int_equal(request, CELLAR_CHARGE_LOST);
}

static void displays_for_readers(void **state)
{
    static const char text[] = "plan: 1\n"
                               "data: {file: people.csv}\n"
                               "variables:\n  - {name: sex, codelist: sex.csv}\n"
                               "negatives: keep\nparameter_choice: advance\n"
                               "tables:\n  - {name: one, by: sex, margins: all}\n"
                               "mechanism: identity\naccept: [no-protection]\n"
                               "display: {rounding: 5, zero: '-'}\n"
                               "outputs: {folder: pack, formats: csv}\n";
    CHECK_OK(run(*state, text));
    scratch_expect(*state, "pack/one.display.csv",
                   "\"sex\",\"released, as displayed\"\n\"F\",\"-\"\n\"M\",\"-\"\n\"_T\",5\n");
}

static cellar_status run_scenario(void *context, cellar_error *error)
{
    scratch *place = context;
    cellar_plan_run_options options = {.n_threads = 1};
    cellar_plan_run_result result;
    cellar_plan *plan = NULL;
    cellar_status status =
        plan_place_parse(place,
                         PLAN_HEAD "tables:\n  - {name: one, by: [sex]}\n"
                                   "mechanism: discrete-laplace\nbudget: {epsilon: 1}\n"
                                   "rules:\n  - {evaluate: true, max_cells: 100}\n"
                                   "display: {rounding: 3}\n"
                                   "outputs: {folder: pack, formats: [csv, xlsx]}\n",
                         &plan, error);
    if (status == CELLAR_OK)
        status = cellar_plan_run(plan, &options, &result, error);
    cellar_plan_free(plan);
    plan_place_remove(scratch_path(place, "pack"));
    return status;
}

static void every_allocation_may_fail(void **state)
{
    check_fail_every(run_scenario, *state);
}

int main(void)
{
#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, plan_place_setup, plan_place_teardown)
    const struct CMUnitTest tests[] = {
        IN_PLACE(runs_without_a_ledger),
        IN_PLACE(signs),
        IN_PLACE(pays_once),
        IN_PLACE(charges_what_it_prints),
        IN_PLACE(stops_at_the_cap),
        IN_PLACE(gives_up_what_was_not_recorded),
        IN_PLACE(starts_anew_without_a_ledger),
        IN_PLACE(leaves_nothing_when_it_fails),
        IN_PLACE(waits_for_a_name_that_was_taken),
        IN_PLACE(refuses_before_paying),
        IN_PLACE(tells_data_apart),
        IN_PLACE(rules_refuse_with_the_remedy),
        IN_PLACE(rules_judge_what_is_released),
        IN_PLACE(displays_for_readers),
        IN_PLACE(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
