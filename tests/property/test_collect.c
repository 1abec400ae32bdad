/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 10,000 people in two rounds: what each role receives, byte for byte, and what comes of it. */
#include "collection_people.h"

#include "base/error.h"
#include "base/file.h"
#include "protocol/batch.h"
#include "protocol/decision.h"

enum { N = 10000, N_COLUMNS = 4 };
static const size_t levels[] = {2, 2, 3, 40};
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
    collection_open(&f.own, f.place, levels, N_COLUMNS, N, 5, "0.2");
    people_open(&f.p, f.place, N, levels, N_COLUMNS);
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

/* The transcript of a recipient: a header and a signature whose every byte follows from public
 * facts, and messages of one length that its own key opens and no other role's does. */
static void check_transcript(fixture *f, const char *name, const collect_round *round,
                             cellar_collect_role recipient)
{
    collect_batch batch;
    char *bytes;
    size_t length, one = round_inner_bytes(round);
    unsigned char id[MESSAGE_ID_BYTES], body[MESSAGE_BODY_MAX];
    assert_int_equal(
        cellar_file_read(scratch_path(f->place, name), SIZE_MAX / 2, &bytes, &length, &err),
        CELLAR_OK);
    assert_int_equal(
        collect_batch_parse(name, (unsigned char *) bytes, length, round, &batch, &err), CELLAR_OK);
    assert_int_equal(batch.n, N * round->n_messages);
    assert_int_equal(length, 52 + batch.n * one + 64);
    for (size_t i = 0; i < batch.n; i += 97)
        for (int role = 1; role <= 3; role++)
            assert_int_equal(
                message_open(round, f->own.keys[role], batch.messages + i * one, id, body),
                role == (int) recipient);
    cellar_free(bytes);
}

/* What the shuffler receives: it opens the outer envelopes, and nobody else does; nothing inside
 * opens for it. */
static void check_submissions(fixture *f, const cellar_decision *decision,
                              const collect_round *round)
{
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant;
    unsigned char bytes[4096], id[MESSAGE_ID_BYTES], inner[MESSAGE_INNER_MAX];
    unsigned char body[MESSAGE_INNER_MAX];
    size_t one = round_outer_bytes(round);
    assert_int_equal(cellar_participant_create(f->own.invitation, decision, &policy, f->p.key,
                                               &participant, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_participant_size_bytes(participant),
                     SUBMISSION_HEADER_BYTES + round->n_messages * one);
    for (size_t row = 0; row < 50; row++) {
        people_seal(&f->p, participant, row, bytes);
        for (size_t i = 0; i < round->n_messages; i++) {
            const unsigned char *outer = bytes + SUBMISSION_HEADER_BYTES + i * one;
            for (int role = 1; role <= 3; role++)
                assert_int_equal(message_peel(round, f->own.keys[role], outer, id, inner),
                                 role == CELLAR_COLLECT_SHUFFLER);
            assert_false(message_open(round, f->own.keys[2], inner, id, body));
        }
    }
    cellar_participant_free(participant);
}

static cellar_decision *first_round(fixture *f)
{
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision;
    collect_round round;
    people_round(&f->p, &f->own, NULL, f->place->folder);
    assert_int_equal(cellar_collect_margins_read(scratch_path(f->place, "round-1.batch"),
                                                 f->own.invitation, f->own.keys[1], &margins,
                                                 &report, &err),
                     CELLAR_OK);
    people_expect_margins(&f->p, margins);
    assert_int_equal(
        cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, &err),
        CELLAR_OK);
    people_expect_decision(&f->p, &f->own, decision);
    round_one(f->own.invitation, &round);
    check_transcript(f, "round-1.batch", &round, CELLAR_COLLECT_CURATOR);
    check_submissions(f, NULL, &round);
    cellar_collect_margins_free(margins);
    return decision;
}

static void test_ten_thousand_people(void **state)
{
    fixture *f = *state;
    cellar_decision *decision = first_round(f);
    size_t n = cellar_decision_n_columns(decision), columns[N_COLUMNS];
    cellar_collect_report report;
    cellar_table *table, *expected;
    collect_round round;
    assert_in_range(n, 1, N_COLUMNS - 1); /* neither everything nor nothing */
    people_round(&f->p, &f->own, decision, f->place->folder);
    assert_int_equal(cellar_collect_table_read(scratch_path(f->place, "round-2.batch"),
                                               f->own.invitation, decision, f->own.keys[3], &table,
                                               &report, &err),
                     CELLAR_OK);
    for (size_t i = 0; i < n; i++)
        columns[i] = cellar_decision_column(decision, i);
    expected = people_table(&f->p, f->own.invitation, columns, n);
    people_expect_table(table, expected);
    assert_int_equal(round_of(f->own.invitation, decision, &round, &err), CELLAR_OK);
    check_transcript(f, "round-2.batch", &round, CELLAR_COLLECT_ANALYST);
    check_submissions(f, decision, &round);
    cellar_table_free(expected);
    cellar_table_free(table);
    cellar_decision_free(decision);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ten_thousand_people)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
