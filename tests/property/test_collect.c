/* SPDX-License-Identifier: GPL-3.0-or-later */
/* 10,000 people in two rounds: what comes of it, and a checker of transcripts that accounts for
 * every byte that each role received. */
#include "collection_fixture.h"

#include <dirent.h>

#include "base/error.h"
#include "base/file.h"
#include "protocol/batch.h"
#include "protocol/decision.h"
#include "protocol/ids.h"

enum { N = 10000, N_COLUMNS = 4 };
static const size_t levels[] = {2, 2, 3, 40};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {.n_people = N, .k = 5, .exposure = "0.2"};
    *state = &f;
    return fixture_open(&f, levels, N_COLUMNS, spec);
}

/* ---- transcripts ----------------------------------------------------------- */

static unsigned char *file_bytes(const char *path, size_t *length)
{
    char *bytes;
    if (cellar_file_read(path, SIZE_MAX / 2, &bytes, length, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return (unsigned char *) bytes;
}

/* Nobody but `role` opens the inner envelope. */
static void expect_opened_by(const fixture *f, const collect_round *round,
                             const unsigned char *inner, int role)
{
    unsigned char id[MESSAGE_ID_BYTES], body[MESSAGE_INNER_MAX];
    for (int other = 1; other <= 3; other++)
        assert_int_equal(message_open(round, f->own.keys[other], inner, id, body), other == role);
}

/* What the shuffler received: submissions one after the other and nothing else. Each has a header
 * whose every byte is public, and envelopes that open for the shuffler alone: ids that nobody else
 * sent, and inner envelopes that do not open for it. */
static void check_submissions(fixture *f, const collect_round *round, const char *inbox)
{
    size_t one = round_submission_bytes(round), outer_bytes = round_outer_bytes(round), length;
    unsigned char header[SUBMISSION_HEADER_BYTES], id[MESSAGE_ID_BYTES];
    unsigned char inner[MESSAGE_INNER_MAX], *bytes = file_bytes(inbox, &length);
    id_set seen = {0};
    int known;
    assert_int_equal(length, N * one);
    submission_header(round, header);
    for (size_t i = 0; i < N; i++) {
        assert_memory_equal(bytes + i * one, header, sizeof header);
        for (size_t m = 0; m < round->n_messages; m++) {
            const unsigned char *outer = bytes + i * one + sizeof header + m * outer_bytes;
            assert_true(message_peel(round, f->own.keys[2], outer, id, inner));
            assert_true(id_set_add(&seen, id, &known) && !known);
            if (i % 50 == 0) {
                assert_false(message_peel(round, f->own.keys[1], outer, id, inner));
                assert_false(message_peel(round, f->own.keys[3], outer, id, inner));
                assert_true(message_peel(round, f->own.keys[2], outer, id, inner));
                expect_opened_by(f, round, inner, round->number == 1 ? 1 : 3);
            }
        }
    }
    id_set_clear(&seen);
    cellar_free(bytes);
}

/* A body of round one is a column and a value; of round two the levels of the released columns. */
static void check_body(const fixture *f, const collect_round *round, const unsigned char *body,
                       const size_t *columns)
{
    size_t column;
    uint32_t level;
    if (round->number == 1)
        assert_true(value_read(f->own.invitation, body, &column, &level));
    for (size_t i = 0; columns != NULL && 4 * i < round->body_bytes; i++)
        assert_true(bytes_get(body + 4 * i, 4) < levels[columns[i]]);
}

/* What a recipient received: a header of public facts, messages that hold the context of the round,
 * an id of its own and a body without a byte to spare, and a signature. */
static void check_batch(fixture *f, const collect_round *round, const char *name,
                        const size_t *columns)
{
    unsigned char id[MESSAGE_ID_BYTES], body[MESSAGE_BODY_MAX], *bytes;
    int role = round->number == 1 ? CELLAR_COLLECT_CURATOR : CELLAR_COLLECT_ANALYST, known;
    size_t one = round_inner_bytes(round), length;
    collect_batch batch = {0};
    id_set seen = {0};
    bytes = file_bytes(scratch_path(f->place, name), &length);
    assert_int_equal(collect_batch_parse(name, bytes, length, round, &batch, &err), CELLAR_OK);
    assert_int_equal(batch.n, N * round->n_messages);
    assert_ptr_equal(batch.messages, bytes + 52);
    assert_int_equal(length, 52 + batch.n * one + 64);
    for (size_t i = 0; i < batch.n; i++) {
        const unsigned char *inner = batch.messages + i * one;
        assert_true(message_open(round, f->own.keys[role], inner, id, body));
        assert_true(id_set_add(&seen, id, &known) && !known);
        check_body(f, round, body, columns);
        if (i % 97 == 0)
            expect_opened_by(f, round, inner, role);
    }
    id_set_clear(&seen);
    cellar_free(bytes);
}

/* The only file in a folder. */
static void only_file(const char *folder, char *path, size_t bytes)
{
    DIR *all = opendir(folder);
    size_t n = 0;
    assert_non_null(all);
    for (struct dirent *entry; (entry = readdir(all)) != NULL;)
        if (entry->d_name[0] != '.') {
            snprintf(path, bytes, "%s/%s", folder, entry->d_name);
            n++;
        }
    closedir(all);
    assert_int_equal(n, 1);
}

/* ---- both rounds ----------------------------------------------------------- */

static void people_write(fixture *f)
{
    FILE *csv = fopen(scratch_path(f->place, "people.csv"), "w");
    fprintf(csv, "a,b,c,d\n");
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < N_COLUMNS; c++)
            fprintf(csv, "c%u%c", f->p.levels[i][c], c + 1 < N_COLUMNS ? ',' : '\n');
    fclose(csv);
}

/* Everybody sends through the inbox, whose bytes are looked at before the shuffler takes them. */
static void run_round(fixture *f, const cellar_decision *decision)
{
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant;
    cellar_shuffler *shuffler;
    cellar_collect_report report;
    collect_round round;
    char inbox[600], path[1200];
    uint64_t n_sent;
    snprintf(inbox, sizeof inbox, "%s", scratch_path(f->place, "inbox"));
    mkdir(inbox, 0700);
    assert_int_equal(round_of(f->own.invitation, decision, &round, &err), CELLAR_OK);
    assert_int_equal(cellar_participant_create(f->own.invitation, decision, &policy, f->p.key,
                                               &participant, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_participant_send_file(participant, scratch_path(f->place, "people.csv"),
                                                  inbox, &n_sent, &err),
                     CELLAR_OK);
    only_file(inbox, path, sizeof path);
    check_submissions(f, &round, path);
    assert_int_equal(cellar_shuffler_open(f->place->folder, f->own.invitation, decision,
                                          f->own.keys[2], &shuffler, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_shuffler_take_folder(shuffler, inbox, &report, &err), CELLAR_OK);
    assert_int_equal(report.n_counted, N);
    people_forward(&f->p, shuffler);
    cellar_participant_free(participant);
    rmdir(inbox);
}

static void test_ten_thousand_people(void **state)
{
    fixture *f = *state;
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision;
    cellar_table *table, *expected;
    collect_round round;
    size_t n, columns[N_COLUMNS] = {0};
    people_write(f);
    run_round(f, NULL);
    round_one(f->own.invitation, &round);
    check_batch(f, &round, "round-1.batch", NULL);
    margins = fixture_margins(f, &report);
    people_expect_margins(&f->p, margins);
    decision = fixture_decision(f, margins);
    people_expect_decision(&f->p, &f->own, decision);
    n = cellar_decision_n_columns(decision);
    assert_in_range(n, 1, N_COLUMNS - 1); /* neither everything nor nothing */
    for (size_t i = 0; i < n; i++)
        columns[i] = cellar_decision_column(decision, i);
    run_round(f, decision);
    assert_int_equal(round_of(f->own.invitation, decision, &round, &err), CELLAR_OK);
    check_batch(f, &round, "round-2.batch", columns);
    table = fixture_table(f, decision, &report);
    expected = people_table(&f->p, f->own.invitation, columns, n);
    people_expect_table(table, expected);
    cellar_table_free(expected);
    cellar_table_free(table);
    cellar_decision_free(decision);
    cellar_collect_margins_free(margins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ten_thousand_people)};
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
