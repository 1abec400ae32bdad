/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The roles of a collection: nothing counted twice, nothing lost, every refusal with its reason. */
#include "collection_people.h"

#include "base/error.h"
#include "fail_every.h"
#include "protocol/batch.h"
#include "protocol/decision.h"

enum { N = 60 };
static const size_t levels[] = {2, 3, 4};
static cellar_error err;

typedef struct fixture {
    scratch *place;
    collection own;
    people p;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    if (scratch_setup((void **) &f.place) != 0)
        return 1;
    collection_open(&f.own, f.place, levels, 3, N, 2, "0.9");
    people_open(&f.p, f.place, N, levels, 3);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    collection_close(&f->own);
    people_close(&f->p);
    return scratch_teardown((void **) &f->place);
}

static cellar_shuffler *open_shuffler(fixture *f)
{
    cellar_shuffler *shuffler;
    if (cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2], &shuffler,
                             &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return shuffler;
}

static cellar_participant *open_participant(fixture *f)
{
    cellar_participant *participant;
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, NULL, f->p.key, &participant, &err),
        CELLAR_OK);
    return participant;
}

static int take(cellar_shuffler *shuffler, const void *bytes, size_t length)
{
    int is_new;
    cellar_status status = cellar_shuffler_take(shuffler, bytes, length, &is_new, &err);
    if (status != CELLAR_OK)
        fail_msg("%s", err.message);
    return is_new;
}

static cellar_collect_margins *read_margins(fixture *f, cellar_collect_report *report)
{
    cellar_collect_margins *margins;
    if (cellar_collect_margins_read(scratch_path(f->place, "round-1.batch"), f->own.invitation,
                                    f->own.keys[1], &margins, report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return margins;
}

/* ---- both rounds ----------------------------------------------------------- */

static void test_two_rounds_count_what_a_trusted_party_would(void **state)
{
    fixture *f = *state;
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision;
    cellar_table *table, *expected;
    size_t columns[PEOPLE_COLUMNS_MAX];
    scratch_walk(f->place, 1);
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = read_margins(f, &report);
    people_expect_margins(&f->p, margins);
    assert_int_equal(report.n_counted, 3 * N);
    assert_int_equal(report.n_duplicates + report.n_refused, 0);
    assert_int_equal(
        cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, &err),
        CELLAR_OK);
    people_expect_decision(&f->p, &f->own, decision);
    assert_true(cellar_decision_n_columns(decision) >= 1);
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "no attribute disclosure"));
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "not differential privacy"));
    people_round(&f->p, &f->own, decision, f->place->folder);
    if (cellar_collect_table_read(scratch_path(f->place, "round-2.batch"), f->own.invitation,
                                  decision, f->own.keys[3], &table, &report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
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

/* ---- the shuffler ---------------------------------------------------------- */

static void test_what_was_taken_survives_and_counts_once(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = open_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *bytes = malloc(length);
    cellar_shuffler *shuffler;
    FILE *spool;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    assert_int_equal(cellar_shuffler_size_bytes(shuffler), length);
    for (size_t i = 0; i < 10; i++) {
        people_seal(&f->p, participant, i, bytes);
        assert_true(take(shuffler, bytes, length));
        assert_false(take(shuffler, bytes, length)); /* the same bytes again */
        people_seal(&f->p, participant, i, bytes);
        assert_false(take(shuffler, bytes, length)); /* sealed anew */
    }
    assert_int_equal(cellar_shuffler_sync(shuffler, &err), CELLAR_OK);
    cellar_shuffler_close(shuffler);
    spool = fopen(scratch_path(f->place, "round-1.spool"), "ab");
    assert_int_equal(fwrite(bytes, 1, 100, spool), 100); /* a crash in the middle of a record */
    fclose(spool);
    shuffler = open_shuffler(f);
    assert_int_equal(cellar_shuffler_n_held(shuffler), 10);
    people_send(&f->p, &f->own, NULL, shuffler); /* all send, ten of them once more */
    assert_int_equal(cellar_shuffler_n_held(shuffler), N);
    cellar_shuffler_close(shuffler);
    free(bytes);
    cellar_participant_free(participant);
}

static void test_a_spool_is_one_shufflers_and_whole(void **state)
{
    fixture *f = *state;
    cellar_shuffler *shuffler, *second;
    FILE *spool;
    long length;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    assert_int_equal(scratch_mode(f->place, "round-1.spool"), 0600);
    people_send(&f->p, &f->own, NULL, shuffler);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &second, &err),
                     CELLAR_ERR_EXISTS);
    cellar_shuffler_close(shuffler);
    spool = fopen(scratch_path(f->place, "round-1.spool"), "r+b");
    fseek(spool, 0, SEEK_END);
    length = ftell(spool);
    fseek(spool, length / 2, SEEK_SET);
    fputs("damage", spool);
    fclose(spool);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &second, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "damaged"));
}

static void test_forged_cut_and_foreign_submissions_are_refused(void **state)
{
    fixture *f = *state;
    cellar_participant *participant = open_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    size_t outer = (length - SUBMISSION_HEADER_BYTES) / 3;
    unsigned char *bytes = malloc(length), *other = malloc(length);
    cellar_shuffler *shuffler;
    int is_new;
    scratch_walk(f->place, 1);
    shuffler = open_shuffler(f);
    people_seal(&f->p, participant, 0, bytes);
    people_seal(&f->p, participant, 1, other);
    for (size_t i = 0; i < length; i += 37) {
        bytes[i] ^= 8;
        assert_int_not_equal(cellar_shuffler_take(shuffler, bytes, length, &is_new, &err),
                             CELLAR_OK);
        assert_false(is_new);
        bytes[i] ^= 8;
        assert_int_not_equal(cellar_shuffler_take(shuffler, bytes, i, &is_new, &err), CELLAR_OK);
    }
    assert_int_equal(cellar_shuffler_n_held(shuffler), 0);
    assert_true(take(shuffler, bytes, length));
    memcpy(other + SUBMISSION_HEADER_BYTES, bytes + SUBMISSION_HEADER_BYTES, outer);
    assert_int_equal(cellar_shuffler_take(shuffler, other, length, &is_new, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "repeats"));
    memcpy(other + SUBMISSION_HEADER_BYTES, other + SUBMISSION_HEADER_BYTES + outer, outer);
    assert_int_equal(cellar_shuffler_take(shuffler, other, length, &is_new, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_shuffler_n_held(shuffler), 1);
    cellar_shuffler_close(shuffler);
    free(bytes);
    free(other);
    cellar_participant_free(participant);
}

static void test_nothing_is_forwarded_early_insecurely_or_twice(void **state)
{
    fixture *f = *state;
    cellar_shuffler *shuffler;
    cellar_participant *participant = open_participant(f);
    size_t length = cellar_participant_size_bytes(participant);
    unsigned char *bytes = malloc(length);
    cellar_rng *secure, *seeded;
    int is_new;
    scratch_walk(f->place, 1);
    assert_int_equal(cellar_rng_create_secure(&secure, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(1, 1, &seeded, &err), CELLAR_OK);
    shuffler = open_shuffler(f);
    for (size_t i = 0; i + 1 < N; i++) {
        people_seal(&f->p, participant, i, bytes);
        assert_true(take(shuffler, bytes, length));
    }
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "announced"));
    people_seal(&f->p, participant, N - 1, bytes);
    assert_true(take(shuffler, bytes, length));
    assert_int_equal(cellar_shuffler_forward(shuffler, seeded, &err), CELLAR_ERR_RULE);
    assert_int_equal(access(scratch_path(f->place, "round-1.batch"), F_OK), -1);
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_OK);
    assert_int_equal(access(scratch_path(f->place, "round-1.spool"), F_OK), -1);
    assert_int_equal(cellar_shuffler_forward(shuffler, secure, &err), CELLAR_ERR_RULE);
    assert_int_equal(cellar_shuffler_take(shuffler, bytes, length, &is_new, &err), CELLAR_ERR_RULE);
    cellar_shuffler_close(shuffler);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, NULL, f->own.keys[2],
                                          &shuffler, &err),
                     CELLAR_ERR_RULE);
    cellar_rng_free(secure);
    cellar_rng_free(seeded);
    free(bytes);
    cellar_participant_free(participant);
}

/* 12000 permutations of five messages over 120 cells, and 10000 places of the first of 100
 * messages: a fair shuffle fails each with a probability below 1e-6. */
static void test_the_permutation_is_uniform(void **state)
{
    enum { DRAWS = 12000, CELLS = 120, PLACES = 100 };
    int hits[CELLS] = {0}, places[PLACES] = {0};
    double chi = 0;
    cellar_rng *rng;
    (void) state;
    assert_int_equal(cellar_rng_create_secure(&rng, &err), CELLAR_OK);
    for (int d = 0; d < DRAWS; d++) {
        unsigned char m[5][3] = {{0}, {1}, {2}, {3}, {4}};
        int cell = 0;
        assert_int_equal(collect_batch_permute(&m[0][0], 5, 3, rng, &err), CELLAR_OK);
        for (int i = 0; i < 5; i++) { /* Lehmer's code */
            int smaller = 0;
            for (int j = i + 1; j < 5; j++)
                smaller += m[j][0] < m[i][0];
            cell = cell * (5 - i) + smaller;
        }
        hits[cell]++;
    }
    for (int i = 0; i < CELLS; i++)
        chi += (hits[i] - 100.0) * (hits[i] - 100.0) / 100.0;
    assert_true(chi < 210); /* 119 degrees of freedom */
    for (int d = 0; d < 10000; d++) {
        unsigned char m[PLACES] = {1};
        assert_int_equal(collect_batch_permute(m, PLACES, 1, rng, &err), CELLAR_OK);
        for (int i = 0; i < PLACES; i++)
            places[i] += m[i];
    }
    chi = 0;
    for (int i = 0; i < PLACES; i++)
        chi += (places[i] - 100.0) * (places[i] - 100.0) / 100.0;
    assert_true(chi < 184); /* 99 degrees of freedom */
    cellar_rng_free(rng);
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
    margins = read_margins(f, &report);
    assert_int_equal(
        cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, &err),
        CELLAR_OK);
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
    cellar_participant *participant = open_participant(f);
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
        people_seal(&f->p, participant, i, bytes);
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
        cmocka_unit_test(test_what_was_taken_survives_and_counts_once),
        cmocka_unit_test(test_a_spool_is_one_shufflers_and_whole),
        cmocka_unit_test(test_forged_cut_and_foreign_submissions_are_refused),
        cmocka_unit_test(test_nothing_is_forwarded_early_insecurely_or_twice),
        cmocka_unit_test(test_the_permutation_is_uniform),
        cmocka_unit_test(test_a_cheating_shuffler_cannot_count_twice),
        cmocka_unit_test(test_no_byte_of_a_batch_can_be_changed),
        cmocka_unit_test(test_a_participant_may_refuse),
        cmocka_unit_test(test_a_curator_that_asks_twice_gets_one_answer),
        cmocka_unit_test(test_no_byte_of_a_decision_can_be_changed),
        cmocka_unit_test(test_values_off_the_list_are_not_sent),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
