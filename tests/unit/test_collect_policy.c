/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a participant asks for binds every message of every round, and its budget holds over all
 * collections. */
#include <dirent.h>
#include <math.h>

#include "collection_fixture.h"

#include "base/error.h"
#include "fail_every.h"
#include "protocol/joint.h"

enum { N = 60 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {
        .n_people = N, .k = 2, .exposure = "0.9", .order = 2, .common = 2};
    *state = &f;
    return fixture_open(&f, levels, 3, spec);
}

/* ---- policies -------------------------------------------------------------- */

/* Round one, and a question: what a participant may do with this policy. */
static void expect_status(const fixture *f, const cellar_invitation *invitation,
                          const cellar_collect_policy *policy, const char *reason)
{
    const cellar_question question = {.order = 2, .n_asked = 1};
    cellar_participant *participants[2] = {NULL, NULL};
    cellar_status status[2];
    status[0] =
        cellar_participant_create(invitation, NULL, policy, f->p.key, &participants[0], &err);
    if (reason != NULL)
        assert_non_null(strstr(err.message, reason));
    status[1] = cellar_participant_create_asked(invitation, &question, policy, f->p.key,
                                                &participants[1], &err);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(status[i], reason == NULL ? CELLAR_OK : CELLAR_ERR_RULE);
        assert_int_equal(participants[i] == NULL, reason != NULL);
        cellar_participant_free(participants[i]);
    }
    if (reason != NULL)
        assert_non_null(strstr(err.message, reason));
}

static void test_a_policy_binds_round_one_and_questions(void **state)
{
    const fixture *f = *state;
    static const char *const columns[] = {"z", "b"};
    cellar_collect_policy policy = cellar_collect_policy_default();
    expect_status(f, f->own.invitation, NULL, NULL);
    expect_status(f, f->own.invitation, &policy, NULL);
    policy.never = columns;
    policy.n_never = 1; /* of another collection */
    expect_status(f, f->own.invitation, &policy, NULL);
    policy.n_never = 2;
    expect_status(f, f->own.invitation, &policy, "'b'");
    policy = cellar_collect_policy_default();
    policy.least_people = N;
    expect_status(f, f->own.invitation, &policy, NULL);
    policy.least_people = N + 1;
    expect_status(f, f->own.invitation, &policy, "60 people");
    policy = cellar_collect_policy_default();
    policy.least_k = 2;
    policy.most_exposure = 0.9;
    expect_status(f, f->own.invitation, &policy, NULL);
    policy.least_k = 3;
    expect_status(f, f->own.invitation, &policy, "k = 2");
    policy.least_k = 2;
    policy.most_exposure = 0.89;
    expect_status(f, f->own.invitation, &policy, "exposure of 0.9");
    policy = cellar_collect_policy_default();
    policy.most_epsilon = 1000; /* values are sent as they are */
    expect_status(f, f->own.invitation, &policy, "epsilon");
}

/* The same columns, randomised. */
static cellar_invitation *invite_randomised(fixture *f, const char *epsilon)
{
    cellar_collect_column columns[3];
    cellar_invitation_spec spec = {.title = "randomised",
                                   .n_people = N,
                                   .k = 2,
                                   .exposure = "0.9",
                                   .epsilon = epsilon,
                                   .delta = "0.01",
                                   .columns = columns,
                                   .n_columns = 3};
    cellar_invitation *invitation;
    for (size_t c = 0; c < 3; c++)
        columns[c] = (cellar_collect_column){cellar_invitation_column(f->own.invitation, c),
                                             cellar_invitation_codes(f->own.invitation, c)};
    collection_name_roles(&f->own, &spec);
    if (cellar_invitation_create(&spec, f->own.keys[1], &invitation, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return invitation;
}

/* A randomised value is a form of the value. */
static void test_never_is_never_even_randomised(void **state)
{
    fixture *f = *state;
    const char *column = "a";
    cellar_invitation *invitation = invite_randomised(f, "0.1");
    cellar_collect_policy policy = cellar_collect_policy_default();
    policy.most_epsilon = 0.3; /* three values of 0.1, exactly */
    expect_status(f, invitation, &policy, NULL);
    policy.most_epsilon = 0.29;
    expect_status(f, invitation, &policy, "epsilon of 0.3");
    policy.most_epsilon = INFINITY;
    policy.never = &column;
    policy.n_never = 1;
    expect_status(f, invitation, &policy, "'a'");
    cellar_invitation_free(invitation);
}

static void test_a_participant_has_no_key_of_a_role(void **state)
{
    fixture *f = *state;
    char name[32];
    for (int role = 1; role <= 3; role++) {
        cellar_participant *participant;
        cellar_key *key;
        snprintf(name, sizeof name, "role-%d.key", role);
        assert_int_equal(cellar_key_read(scratch_path(f->place, name), &key, &err), CELLAR_OK);
        assert_int_equal(
            cellar_participant_create(f->own.invitation, NULL, NULL, key, &participant, &err),
            CELLAR_ERR_RULE);
        assert_null(participant);
        assert_non_null(strstr(err.message, "key file"));
        cellar_key_free(key);
    }
}

/* ---- budgets --------------------------------------------------------------- */

typedef struct sender {
    fixture *f;
    char budget[512], csv[512], inbox[512];
    cellar_invitation *randomised;
} sender;

static sender sender_open(fixture *f)
{
    sender s = {.f = f};
    snprintf(s.budget, sizeof s.budget, "%s", scratch_path(f->place, "my.budget"));
    snprintf(s.csv, sizeof s.csv, "%s", scratch_path(f->place, "me.csv"));
    snprintf(s.inbox, sizeof s.inbox, "%s", f->place->folder);
    remove(s.budget);
    return s;
}

static void write_text(const char *path, const char *mode, const char *text, size_t length)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

/* Sends a record to round one; what reaches the inbox is removed. */
static cellar_status send_record(const sender *s, const cellar_invitation *invitation,
                                 const char *record)
{
    cellar_collect_policy policy = cellar_collect_policy_default();
    cellar_participant *participant;
    char text[64];
    uint64_t n_sent;
    cellar_status status;
    snprintf(text, sizeof text, "a,b,c\n%s\n", record);
    write_text(s->csv, "w", text, strlen(text));
    policy.budget = s->budget;
    status = cellar_participant_create(invitation, NULL, &policy, s->f->p.key, &participant, &err);
    if (status == CELLAR_OK)
        status = cellar_participant_send_file(participant, s->csv, s->inbox, &n_sent, &err);
    cellar_participant_free(participant);
    return status;
}

/* How many submissions wait in the folder; they are removed. */
static int n_waiting(const sender *s)
{
    char path[1024];
    DIR *folder = opendir(s->inbox);
    int n = 0;
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (strlen(entry->d_name) == 32) {
            snprintf(path, sizeof path, "%s/%s", s->inbox, entry->d_name);
            assert_int_equal(remove(path), 0);
            n++;
        }
    closedir(folder);
    return n;
}

static cellar_collect_budget budget_of(const sender *s)
{
    cellar_collect_budget budget;
    if (cellar_collect_budget_read(s->budget, &budget, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return budget;
}

static void test_a_budget_holds_over_collections(void **state)
{
    sender s = sender_open(*state);
    cellar_invitation *first = invite_randomised(s.f, "1"), *second = invite_randomised(s.f, "0.5");
    assert_true(isinf(budget_of(&s).limit));
    assert_int_equal(cellar_collect_budget_limit(s.budget, "4.6", &err), CELLAR_OK);
    assert_int_equal(scratch_mode(s.f->place, "my.budget"), 0600);
    assert_int_equal(send_record(&s, first, "c0,c1,c2"), CELLAR_OK); /* three columns */
    assert_true(budget_of(&s).spent == 3);
    assert_int_equal(n_waiting(&s), 1);
    assert_int_equal(send_record(&s, first, "c0,c1,c2"), CELLAR_OK); /* the same once more */
    assert_true(budget_of(&s).spent == 3 && budget_of(&s).n_randomised == 1);
    assert_int_equal(n_waiting(&s), 1);
    assert_int_equal(send_record(&s, second, "c0,c1,c2"), CELLAR_OK);
    assert_true(budget_of(&s).spent == 4.5);
    assert_int_equal(n_waiting(&s), 1);
    /* Another record to the same collection is another answer, and there is no room for it. */
    assert_int_equal(send_record(&s, second, "c1,c1,c2"), CELLAR_ERR_BUDGET);
    assert_non_null(strstr(err.message, "0.1 of 4.6 is left"));
    assert_int_equal(n_waiting(&s), 0);
    assert_int_equal(cellar_collect_budget_limit(s.budget, "6", &err), CELLAR_OK);
    assert_int_equal(send_record(&s, second, "c1,c1,c2"), CELLAR_OK);
    assert_true(budget_of(&s).spent == 6 && budget_of(&s).limit == 6);
    assert_int_equal(n_waiting(&s), 1);
    cellar_invitation_free(first);
    cellar_invitation_free(second);
}

static void test_what_is_not_randomised_has_no_budget(void **state)
{
    sender s = sender_open(*state);
    assert_int_equal(send_record(&s, s.f->own.invitation, "c0,c1,c2"), CELLAR_OK);
    assert_true(budget_of(&s).spent == 0 && budget_of(&s).n_exact == 1);
    assert_int_equal(n_waiting(&s), 1);
    assert_int_equal(cellar_collect_budget_limit(s.budget, "100", &err), CELLAR_OK);
    assert_int_equal(send_record(&s, s.f->own.invitation, "c1,c1,c2"), CELLAR_ERR_BUDGET);
    assert_non_null(strstr(err.message, "not randomised"));
    assert_int_equal(n_waiting(&s), 0);
    assert_int_equal(cellar_collect_budget_limit(s.budget, "nonsense", &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_collect_budget_limit(s.budget, "-1", &err), CELLAR_ERR_ARGUMENT);
}

/* A fault in a record costs nothing. */
static void test_what_is_not_sent_is_not_charged(void **state)
{
    sender s = sender_open(*state);
    cellar_invitation *invitation = invite_randomised(s.f, "1");
    assert_int_equal(send_record(&s, invitation, "c0,c1,c2\nc0,c1,c9"), CELLAR_ERR_INPUT);
    assert_int_equal(n_waiting(&s), 0);
    assert_true(budget_of(&s).spent == 0 && budget_of(&s).n_randomised == 0);
    cellar_invitation_free(invitation);
}

/* What a crash leaves of a line is cut, and what cannot be a crash is refused. */
static void test_a_budget_survives_a_crash(void **state)
{
    static const char zeros[40] = {0},
                      good[] = "sent 0123456789ab 1 00112233445566778899aabbccddeeff 3";
    sender s = sender_open(*state);
    cellar_invitation *invitation = invite_randomised(s.f, "1");
    assert_int_equal(send_record(&s, invitation, "c0,c1,c2"), CELLAR_OK);
    write_text(s.budget, "a", good, 20);
    assert_true(budget_of(&s).spent == 3);
    write_text(s.budget, "a", zeros, sizeof zeros);
    assert_true(budget_of(&s).spent == 3);
    write_text(s.budget, "a", "\n", 1); /* the end of the line came to the disk, and not the rest */
    assert_true(budget_of(&s).spent == 3);
    n_waiting(&s);
    assert_int_equal(send_record(&s, invitation, "c1,c1,c2"), CELLAR_OK);
    assert_true(budget_of(&s).spent == 6);
    n_waiting(&s);
    write_text(s.budget, "a", "sent nothing\n", 13);
    assert_int_equal(send_record(&s, invitation, "c0,c2,c2"), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, ":4:"));
    n_waiting(&s);
    cellar_invitation_free(invitation);
}

/* Nothing that is written to the file is lost, or believed, when memory ends. */
static cellar_status scenario(void *context, cellar_error *e)
{
    const sender *s = context;
    cellar_collect_policy policy = cellar_collect_policy_default();
    cellar_participant *participant = NULL;
    cellar_collect_budget budget;
    uint64_t n_sent;
    cellar_status status = CELLAR_OK;
    policy.budget = s->budget;
    remove(s->budget);
    n_waiting(s);
    CELLAR_TRY(cellar_collect_budget_limit(s->budget, "3", e));
    CELLAR_TRY(
        cellar_participant_create(s->randomised, NULL, &policy, s->f->p.key, &participant, e));
    CELLAR_TRY(cellar_participant_send_file(participant, s->csv, s->inbox, &n_sent, e));
    CELLAR_TRY(cellar_collect_budget_read(s->budget, &budget, e));
    assert_true(budget.spent == 3);
out:
    cellar_participant_free(participant);
    return status;
}

static void test_memory_may_end(void **state)
{
    sender s = sender_open(*state);
    s.randomised = invite_randomised(s.f, "1");
    write_text(s.csv, "w", "a,b,c\nc0,c1,c2\n", 15);
    check_fail_every(scenario, &s);
    cellar_invitation_free(s.randomised);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_policy_binds_round_one_and_questions),
        cmocka_unit_test(test_never_is_never_even_randomised),
        cmocka_unit_test(test_a_participant_has_no_key_of_a_role),
        cmocka_unit_test(test_a_budget_holds_over_collections),
        cmocka_unit_test(test_what_is_not_randomised_has_no_budget),
        cmocka_unit_test(test_what_is_not_sent_is_not_charged),
        cmocka_unit_test(test_a_budget_survives_a_crash),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
