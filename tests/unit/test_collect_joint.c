/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions for pairs and triples: who answers what, what the curator learns, and what it is good
 * for. */
#include "collection_fixture.h"

#include "fail_every.h"
#include "protocol/joint.h"

enum { N = 600, K = 4, N_COLUMNS = 4 };
static const size_t levels[] = {2, 3, 4, 12};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {
        .n_people = N, .k = K, .exposure = "0.15", .order = 3, .common = K};
    *state = &f;
    return fixture_open(&f, levels, N_COLUMNS, spec);
}

static uint64_t true_count(const people *p, const column_set *set, const uint32_t *cell)
{
    uint64_t count = 0;
    for (size_t r = 0; r < p->n; r++) {
        int same = 1;
        for (size_t i = 0; i < set->n; i++)
            same = same && p->levels[r][set->columns[i]] == cell[i];
        count += (uint64_t) same;
    }
    return count;
}

static double true_exposure(const fixture *f, const size_t *columns, size_t n)
{
    static const size_t variables[] = {0, 1, 2, 3};
    cellar_table *table = people_table(&f->p, f->own.invitation, columns, n);
    cellar_exposure_curve *curve;
    double value;
    assert_int_equal(cellar_exposure_curve_create(table, variables, n, &curve, &err), CELLAR_OK);
    value = cellar_exposure_value(curve, K);
    cellar_exposure_curve_free(curve);
    cellar_table_free(table);
    return value;
}

/* Every cell that was counted has its true count; the rest is other; with `common` = k the exposure
 * is known exactly. */
static void expect_joints(const fixture *f, const cellar_collect_joints *joints)
{
    for (size_t i = 0; i < joints->n; i++) {
        const joint *j = &joints->joints[i];
        uint64_t total = j->other;
        for (size_t c = 0; c < j->n_cells; c++) {
            total += j->cells[c].count;
            assert_int_equal(j->cells[c].count, true_count(&f->p, &j->set, j->cells[c].levels));
        }
        assert_int_equal(total, N);
        assert_true((double) joint_exposed(j, K) / N == true_exposure(f, j->set.columns, j->set.n));
    }
}

/* Nothing is listed that fewer than `common` people have. */
static void expect_question(const fixture *f, const cellar_question *question, size_t order)
{
    assert_int_equal(cellar_question_order(question), order);
    assert_true(cellar_question_n_asked(question) > 0);
    for (size_t i = 0; i < question->n_known; i++)
        for (size_t c = 0; c < question->known[i].n_cells; c++)
            assert_true(true_count(&f->p, &question->known[i].set,
                                   question->known[i].cells[c].levels) >= K);
}

static cellar_question *ask(const fixture *f, const cellar_collect_margins *margins,
                            const cellar_collect_joints *pairs)
{
    cellar_question *question;
    if (cellar_question_create(margins, pairs, f->own.invitation, f->own.keys[1], &question,
                               &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    expect_question(f, question, pairs == NULL ? 2 : 3);
    return question;
}

static cellar_collect_joints *answer(fixture *f, const cellar_question *question, const char *batch)
{
    cellar_collect_joints *joints;
    cellar_collect_report report;
    people_answer(&f->p, &f->own, question, f->place->folder);
    if (cellar_collect_joints_read(scratch_path(f->place, batch), f->own.invitation, question,
                                   f->own.keys[1], &joints, &report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(report.n_counted, N * cellar_question_n_asked(question));
    expect_joints(f, joints);
    return joints;
}

static void test_pairs_and_triples_release_more(void **state)
{
    fixture *f = *state;
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_collect_joints *joints[2];
    cellar_question *pairs, *triples;
    cellar_decision *plain, *known;
    size_t columns[N_COLUMNS] = {0}, n;
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = fixture_margins(f, &report);
    plain = fixture_decision(f, margins);
    pairs = ask(f, margins, NULL);
    joints[0] = answer(f, pairs, "round-pairs.batch");
    triples = ask(f, margins, joints[0]);
    joints[1] = answer(f, triples, "round-triples.batch");
    if (cellar_decision_create_known(margins, (const cellar_collect_joints *const *) joints, 2,
                                     f->own.invitation, f->own.keys[1], &known, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    n = cellar_decision_n_columns(known);
    assert_true(n > cellar_decision_n_columns(plain));
    for (size_t i = 0; i < n; i++)
        columns[i] = cellar_decision_column(known, i);
    assert_true(true_exposure(f, columns, n) <= cellar_decision_bound(known));
    if (cellar_decision_theorem(known) == 1)
        assert_true(cellar_decision_bound(known) - true_exposure(f, columns, n) < 1e-11);
    people_round(&f->p, &f->own, known, f->place->folder);
    cellar_table_free(fixture_table(f, known, &report));
    assert_int_equal(report.n_counted, N);
    for (int i = 0; i < 2; i++)
        cellar_collect_joints_free(joints[i]);
    cellar_question_free(pairs);
    cellar_question_free(triples);
    cellar_decision_free(plain);
    cellar_decision_free(known);
    cellar_collect_margins_free(margins);
    scratch_walk(f->place, 1);
}

/* The question about margins of everybody, without the crypto. */
static cellar_status question_of(const fixture *f, cellar_question **out, cellar_error *e)
{
    cellar_collect_margins *margins = NULL;
    cellar_status status = margins_create(f->own.invitation, &margins, e);
    *out = NULL;
    if (status == CELLAR_OK) {
        margins->n_people = N;
        for (size_t i = 0; i < N; i++)
            for (size_t c = 0; c < N_COLUMNS; c++)
                margins->counts[c][f->p.levels[i][c]]++;
        status = cellar_question_create(margins, NULL, f->own.invitation, f->own.keys[1], out, e);
    }
    cellar_collect_margins_free(margins);
    return status;
}

static void test_no_byte_of_a_question_can_be_changed(void **state)
{
    const fixture *f = *state;
    cellar_question *question, *again;
    size_t length;
    const char *text;
    char *copy;
    assert_int_equal(question_of(f, &question, &err), CELLAR_OK);
    text = cellar_question_text(question, &length);
    copy = malloc(length);
    for (size_t i = 0; i < length; i++) {
        memcpy(copy, text, length);
        copy[i] ^= 1;
        assert_int_not_equal(
            cellar_question_parse("x", copy, length, f->own.invitation, &again, &err), CELLAR_OK);
        assert_int_not_equal(cellar_question_parse("x", text, i, f->own.invitation, &again, &err),
                             CELLAR_OK);
    }
    free(copy);
    cellar_question_free(question);
}

static void test_answers_that_nobody_gives_are_refused(void **state)
{
    const fixture *f = *state;
    cellar_question *question;
    unsigned char body[JOINT_BODY_BYTES], bad[JOINT_BODY_BYTES];
    uint32_t record[N_COLUMNS] = {0}, cell[JOINT_MOST];
    size_t index, n_accepted = 0;
    assert_int_equal(question_of(f, &question, &err), CELLAR_OK);
    answer_write(question, 0, record, body);
    assert_true(answer_read(question, body, &index, cell));
    record[question->asked[0].columns[0]] = 1000000; /* rare, to say the least */
    answer_write(question, 0, record, bad);
    assert_true(answer_read(question, bad, &index, cell));
    assert_true(cell[0] == JOINT_OTHER);
    for (size_t i = 0; i < sizeof body; i++)
        for (int bit = 0; bit < 8; bit++) {
            memcpy(bad, body, sizeof bad);
            bad[i] ^= (unsigned char) (1 << bit);
            n_accepted += (size_t) answer_read(question, bad, &index, cell);
        }
    assert_in_range(n_accepted, 0, 12); /* those that are answers of others */
    cellar_question_free(question);
}

static void test_a_question_is_answered_once(void **state)
{
    fixture *f = *state;
    cellar_question *question;
    const char *path = scratch_path(f->place, "memory");
    assert_int_equal(question_of(f, &question, &err), CELLAR_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            cellar_participant_remember_question(path, f->own.invitation, question, &err),
            CELLAR_OK);
    question->id[0] ^= 1;
    assert_int_equal(cellar_participant_remember_question(path, f->own.invitation, question, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "twice"));
    cellar_question_free(question);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    cellar_question *question = NULL;
    cellar_status status = question_of(context, &question, e);
    cellar_question_free(question);
    return status;
}

static void test_memory_may_end(void **state)
{
    check_fail_every(scenario, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_and_triples_release_more),
        cmocka_unit_test(test_no_byte_of_a_question_can_be_changed),
        cmocka_unit_test(test_answers_that_nobody_gives_are_refused),
        cmocka_unit_test(test_a_question_is_answered_once),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
