/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of a collection: nothing counted twice, nothing lost, every refusal with its reason. */
#include "collection_fixture.h"

#include "base/error.h"
#include "fail_every.h"
#include "protocol/batch.h"
#include "protocol/decision.h"

enum { N = 60 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {.n_people = N, .k = 2, .exposure = "0.9"};
    *state = &f;
    return fixture_open(&f, levels, 3, spec);
}

/* ---- both rounds ----------------------------------------------------------- */

static void test_two_rounds_count_what_a_trusted_party_would(void **state)
{
    fixture *f = *state;
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision;
    cellar_table *table, *expected;
    size_t columns[PEOPLE_COLUMNS_MAX] = {0};
    scratch_walk(f->place, 1);
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = fixture_margins(f, &report);
    people_expect_margins(&f->p, margins);
    assert_int_equal(report.n_counted, 3 * N);
    assert_int_equal(report.n_duplicates + report.n_refused, 0);
    decision = fixture_decision(f, margins);
    people_expect_decision(&f->p, &f->own, decision);
    assert_true(cellar_decision_n_columns(decision) >= 1);
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "no attribute disclosure"));
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "not differential privacy"));
    people_round(&f->p, &f->own, decision, f->place->folder);
    table = fixture_table(f, decision, &report);
    for (size_t i = 0; i < cellar_decision_n_columns(decision); i++)
        columns[i] = cellar_decision_column(decision, i);
    expected = people_table(&f->p, f->own.invitation, columns, cellar_decision_n_columns(decision));
    people_expect_table(table, expected);
    assert_int_equal(report.n_counted, N);
    cellar_table_free(expected);
    cellar_table_free(table);
    cellar_decision_free(decision);
    cellar_collect_margins_free(margins);
}

/* ---- the curator ----------------------------------------------------------- */

/* A shuffler that cheats: batches of its own making, well signed. */
static cellar_status cheat(fixture *f, const unsigned char *messages, size_t n,
                           cellar_collect_margins **margins, cellar_collect_report *report)
{
    collect_round round;
    const char *path = scratch_path(f->place, "cheat");
    round_one(f->own.invitation, &round);
    remove(path);
    assert_int_equal(collect_batch_write(path, &round, f->own.keys[2], messages, n, &err),
                     CELLAR_OK);
    return cellar_collect_margins_read(path, f->own.invitation, f->own.keys[1], margins, report,
                                       &err);
}

static void test_a_cheating_shuffler_cannot_count_twice(void **state)
{
    fixture *f = *state;
    cellar_collect_margins *margins;
    cellar_collect_report report;
    collect_round round;
    collect_batch batch;
    unsigned char *messages;
    size_t bytes;
    scratch_walk(f->place, 1);
    people_round(&f->p, &f->own, NULL, f->place->folder);
    round_one(f->own.invitation, &round);
    bytes = round_inner_bytes(&round);
    assert_int_equal(
        collect_batch_read(scratch_path(f->place, "round-1.batch"), &round, &batch, &err),
        CELLAR_OK);
    messages = malloc((batch.n + 2) * bytes);
    memcpy(messages, batch.messages, batch.n * bytes);
    memcpy(messages + batch.n * bytes, messages, bytes);   /* one message twice */
    memset(messages + (batch.n + 1) * bytes, 0x5a, bytes); /* one of noise */
    assert_int_equal(cheat(f, messages, batch.n + 2, &margins, &report), CELLAR_OK);
    people_expect_margins(&f->p, margins);
    assert_int_equal(report.n_duplicates, 1);
    assert_int_equal(report.n_refused, 1);
    cellar_collect_margins_free(margins);
    /* One message left out: the columns no longer agree. */
    assert_int_equal(cheat(f, messages + bytes, batch.n - 1, &margins, &report), CELLAR_ERR_RULE);
    assert_null(margins);
    free(messages);
    collect_batch_clear(&batch);
}

static void test_no_byte_of_a_batch_can_be_changed(void **state)
{
    fixture *f = *state;
    collect_round round;
    collect_batch batch, again;
    unsigned char *bytes;
    size_t length;
    scratch_walk(f->place, 1);
    people_round(&f->p, &f->own, NULL, f->place->folder);
    round_one(f->own.invitation, &round);
    assert_int_equal(
        collect_batch_read(scratch_path(f->place, "round-1.batch"), &round, &batch, &err),
        CELLAR_OK);
    assert_int_equal(scratch_mode(f->place, "round-1.batch"), 0600);
    length = 52 + batch.n * round_inner_bytes(&round) + 64; /* every byte is accounted for */
    bytes = (unsigned char *) batch.bytes;
    assert_int_equal(collect_batch_parse("x", bytes, length, &round, &again, &err), CELLAR_OK);
    for (size_t i = 0; i < length; i += i < 60 ? 1 : 211) {
        bytes[i] ^= 2;
        assert_int_not_equal(collect_batch_parse("x", bytes, length, &round, &again, &err),
                             CELLAR_OK);
        bytes[i] ^= 2;
        assert_int_not_equal(collect_batch_parse("x", bytes, i, &round, &again, &err), CELLAR_OK);
    }
    collect_batch_clear(&batch);
}

/* ---- decisions, policies --------------------------------------------------- */

static cellar_decision *make_decision(fixture *f)
{
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision;
    scratch_walk(f->place, 1);
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = fixture_margins(f, &report);
    decision = fixture_decision(f, margins);
    cellar_collect_margins_free(margins);
    return decision;
}

static void test_a_participant_may_refuse(void **state)
{
    fixture *f = *state;
    cellar_decision *decision = make_decision(f);
    const char *released =
        cellar_invitation_column(f->own.invitation, cellar_decision_column(decision, 0));
    cellar_collect_policy policies[6];
    static const char *const reasons[] = {NULL, "k = 2", "bounded by", "fewer people", "forbids"};
    cellar_participant *participant;
    for (size_t i = 0; i < 6; i++)
        policies[i] = people_policy();
    policies[1].least_k = 3;
    policies[2].most_exposure = cellar_decision_bound(decision) / 2;
    policies[3].least_people = N + 1;
    policies[4].never = &released;
    policies[4].n_never = 1;
    policies[5] = cellar_collect_policy_default(); /* nothing decided */
    for (size_t i = 0; i < 5; i++) {
        cellar_status status =
            cellar_collect_policy_check(&policies[i], f->own.invitation, decision, &err);
        assert_int_equal(status, i == 0 ? CELLAR_OK : CELLAR_ERR_RULE);
        if (i > 0)
            assert_non_null(strstr(err.message, reasons[i]));
        assert_int_equal(cellar_participant_create(f->own.invitation, decision, &policies[i],
                                                   f->p.key, &participant, &err),
                         status);
        cellar_participant_free(participant);
    }
    assert_int_equal(cellar_collect_policy_check(&policies[5], f->own.invitation, decision, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(
        cellar_participant_create(f->own.invitation, decision, NULL, f->p.key, &participant, &err),
        CELLAR_ERR_ARGUMENT);
    cellar_decision_free(decision);
}

static void test_a_curator_that_asks_twice_gets_one_answer(void **state)
{
    fixture *f = *state;
    cellar_decision *decision = make_decision(f), *second;
    const char *path = scratch_path(f->place, "memory");
    assert_int_equal(cellar_participant_remember(path, f->own.invitation, decision, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_participant_remember(path, f->own.invitation, decision, &err),
                     CELLAR_OK);
    second = make_decision(f); /* removes the memory, too */
    assert_memory_equal(cellar_decision_id(decision), cellar_decision_id(second), 32);
    second->id[0] ^= 1;
    path = scratch_path(f->place, "memory");
    assert_int_equal(cellar_participant_remember(path, f->own.invitation, decision, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_participant_remember(path, f->own.invitation, second, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "twice"));
    cellar_decision_free(decision);
    cellar_decision_free(second);
}

static void test_no_byte_of_a_decision_can_be_changed(void **state)
{
    fixture *f = *state;
    cellar_decision *decision = make_decision(f), *read;
    size_t length;
    const char *text = cellar_decision_text(decision, &length);
    char *copy = malloc(length);
    for (size_t i = 0; i < length; i++) {
        memcpy(copy, text, length);
        copy[i] ^= 1;
        err.message[0] = '\0';
        assert_int_not_equal(
            cellar_decision_parse("x", copy, length, f->own.invitation, &read, &err), CELLAR_OK);
        assert_null(read);
        assert_true(err.message[0] != '\0');
        assert_int_not_equal(cellar_decision_parse("x", text, i, f->own.invitation, &read, &err),
                             CELLAR_OK);
    }
    free(copy);
    cellar_decision_free(decision);
}

static void test_values_off_the_list_are_not_sent(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = fixture_participant(f);
    const char *values[] = {"c0", "c1", "something secret"};
    unsigned char *bytes = malloc(cellar_participant_size_bytes(participant));
    assert_int_equal(cellar_participant_seal(participant, 0, values, bytes, &err),
                     CELLAR_ERR_INPUT);
    assert_null(strstr(err.message, "secret"));
    assert_non_null(strstr(err.message, "'c'"));
    free(bytes);
    cellar_participant_free(participant);
}

/* ---- memory ---------------------------------------------------------------- */

static cellar_status scenario_round(fixture *f, const cellar_decision *decision, cellar_error *e)
{
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant = NULL;
    cellar_shuffler *shuffler = NULL;
    cellar_rng *rng = NULL;
    unsigned char bytes[1024];
    int is_new;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(
        cellar_participant_create(f->own.invitation, decision, &policy, f->p.key, &participant, e));
    CELLAR_TRY(cellar_rng_create_secure(&rng, e));
    CELLAR_TRY(cellar_shuffler_open(f->place->folder, f->own.invitation, decision, f->own.keys[2],
                                    &shuffler, e));
    for (size_t i = 0; i < f->p.n; i++) {
        CELLAR_TRY(people_try_seal(&f->p, participant, i, bytes, e));
        CELLAR_TRY(cellar_shuffler_take(shuffler, bytes, cellar_participant_size_bytes(participant),
                                        &is_new, e));
    }
    CELLAR_TRY(cellar_shuffler_forward(shuffler, rng, e));
out:
    cellar_participant_free(participant);
    cellar_shuffler_close(shuffler);
    cellar_rng_free(rng);
    return status;
}

static cellar_status scenario(void *context, cellar_error *e)
{
    fixture *f = context;
    cellar_collect_margins *margins = NULL;
    cellar_decision *decision = NULL;
    cellar_table *table = NULL;
    cellar_collect_report report;
    cellar_status status = CELLAR_OK;
    scratch_walk(f->place, 1);
    CELLAR_TRY(scenario_round(f, NULL, e));
    CELLAR_TRY(cellar_collect_margins_read(scratch_path(f->place, "round-1.batch"),
                                           f->own.invitation, f->own.keys[1], &margins, &report,
                                           e));
    CELLAR_TRY(cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, e));
    CELLAR_TRY(scenario_round(f, decision, e));
    CELLAR_TRY(cellar_collect_table_read(scratch_path(f->place, "round-2.batch"), f->own.invitation,
                                         decision, f->own.keys[3], &table, &report, e));
out:
    cellar_collect_margins_free(margins);
    cellar_decision_free(decision);
    cellar_table_free(table);
    return status;
}

static void test_memory_may_end(void **state)
{
    fixture few = *(fixture *) *state;
    collection_open(&few.own, few.place, levels, 3, 2, 2, "1");
    few.p.n = 2;
    check_fail_every(scenario, &few);
    collection_close(&few.own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_rounds_count_what_a_trusted_party_would),
        cmocka_unit_test(test_a_cheating_shuffler_cannot_count_twice),
        cmocka_unit_test(test_no_byte_of_a_batch_can_be_changed),
        cmocka_unit_test(test_a_participant_may_refuse),
        cmocka_unit_test(test_a_curator_that_asks_twice_gets_one_answer),
        cmocka_unit_test(test_no_byte_of_a_decision_can_be_changed),
        cmocka_unit_test(test_values_off_the_list_are_not_sent),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
