/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Randomised response: its law, what shuffling adds to it, decisions from randomised margins, and
 * the tally that everybody can count again. */
#include "collection_fixture.h"

#include <math.h>

#include <sodium.h>

#include "base/file.h"
#include "fail_every.h"
#include "protocol/response.h"
#include "protocol/tally.h"

enum { N = 3000 };
static const size_t levels[] = {2, 3};
static cellar_error err;

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {
        .n_people = N, .k = 3, .exposure = "0.4", .epsilon = "2.5", .is_open = 1, .delta = "0.001"};
    *state = &f;
    return fixture_open(&f, levels, 2, spec);
}

/* ---- the law --------------------------------------------------------------- */

static void test_epsilon_is_never_more_than_asked_for(void **state)
{
    static const uint64_t epsilons[] = {1, 1000000000, UINT64_C(100000000000000000),
                                        UINT64_C(1000000000000000000),
                                        UINT64_C(16000000000000000000)};
    static const size_t sizes[] = {1, 2, 3, 7, 1000, 1000000};
    (void) state;
    for (size_t i = 0; i < sizeof epsilons / sizeof *epsilons; i++)
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            response r = response_of(epsilons[i], sizes[j]);
            long double keep = (long double) r.keep / 18446744073709551616.0L;
            long double epsilon = log1pl(keep * (long double) sizes[j] / (1 - keep));
            assert_true(epsilon <= (long double) epsilons[i] * 1e-18L);
            assert_true(epsilon >= (long double) epsilons[i] * 1e-18L * (1 - 1e-6L) - 1e-11L);
        }
}

/* 30000 reports of a value of five, epsilon 1: chi squared with 4 degrees of freedom is above 35
 * with a probability below 1e-6. */
static void test_reports_follow_the_law_and_repeat_themselves(void **state)
{
    enum { DRAWS = 30000, M = 5 };
    const fixture *f = *state;
    response r = response_of(UINT64_C(1000000000000000000), M);
    double counts[M] = {0}, chi = 0, e = exp(1.0);
    collect_round round;
    round_one(f->own.invitation, &round);
    for (uint64_t i = 0; i < DRAWS; i++) {
        unsigned char ticket[TICKET_BYTES] = {0};
        uint32_t told;
        bytes_put(ticket, 8, i);
        told = response_draw(&r, &round, ticket, 0, 3);
        assert_in_range(told, 0, M - 1);
        assert_int_equal(told, response_draw(&r, &round, ticket, 0, 3));
        counts[told]++;
    }
    for (size_t v = 0; v < M; v++) {
        double expected = DRAWS * (v == 3 ? e : 1) / (e + M - 1);
        chi += (counts[v] - expected) * (counts[v] - expected) / expected;
    }
    assert_true(chi < 35);
    r = response_of(0, M);
    assert_int_equal(response_draw(&r, &round, (const unsigned char[TICKET_BYTES]){1}, 0, 3), 3);
}

/* Somebody sends one value, and then another: the two reports share no randomness. Of
 * 10000 independent pairs a share of 2p(1-p) has exactly one true report, 0.32 for p = 0.8, and is
 * off by 0.03 with a probability below 1e-9. */
static void test_reports_of_two_values_are_independent(void **state)
{
    enum { DRAWS = 10000, M = 1000 };
    const fixture *f = *state;
    response r = {.keep = UINT64_MAX / 5 * 4, .n_values = M};
    int n_one = 0;
    collect_round round;
    round_one(f->own.invitation, &round);
    for (uint64_t i = 0; i < DRAWS; i++) {
        unsigned char ticket[TICKET_BYTES] = {0};
        bytes_put(ticket, 8, i);
        n_one += (response_draw(&r, &round, ticket, 0, 3) == 3) !=
                 (response_draw(&r, &round, ticket, 0, 4) == 4);
    }
    assert_in_range(n_one, 2900, 3500);
}

/* ---- shuffling ------------------------------------------------------------- */

enum { MOST = 12 };

/* The law of the numbers of reports of values 0 and 1 of three, person by person. */
static void histogram(const int *values, int n, double keep, double law[MOST + 1][MOST + 1])
{
    double rest = (1 - keep) / 3;
    memset(law, 0, sizeof(double[MOST + 1][MOST + 1]));
    law[0][0] = 1;
    for (int i = 0; i < n; i++)
        for (int a = i + 1; a >= 0; a--)
            for (int b = i + 1 - a; b >= 0; b--)
                law[a][b] = law[a][b] * (rest + keep * (values[i] == 2)) +
                            (a > 0 ? law[a - 1][b] * (rest + keep * (values[i] == 0)) : 0) +
                            (b > 0 ? law[a][b - 1] * (rest + keep * (values[i] == 1)) : 0);
}

/* The exact delta for the worst values of the others. */
static double exact_delta(int n, double keep, double epsilon)
{
    double worst = 0;
    for (int zeros = 0; zeros < n; zeros++)
        for (int ones = 0; zeros + ones < n; ones++) {
            double p[MOST + 1][MOST + 1], q[MOST + 1][MOST + 1], delta = 0;
            int values[MOST];
            for (int i = 0; i < n - 1; i++)
                values[i] = i < zeros ? 0 : i < zeros + ones ? 1 : 2;
            values[n - 1] = 0;
            histogram(values, n, keep, p);
            values[n - 1] = 1;
            histogram(values, n, keep, q);
            for (int a = 0; a <= n; a++)
                for (int b = 0; a + b <= n; b++)
                    delta += fmax(0, p[a][b] - exp(epsilon) * q[a][b]);
            worst = fmax(worst, delta);
        }
    return worst;
}

static void test_shuffling_is_bounded_from_above(void **state)
{
    (void) state;
    for (int n = 1; n <= MOST; n++)
        for (int i = 1; i <= 4; i++)
            for (int j = 0; j < 4; j++) {
                response r = response_of((uint64_t) i * UINT64_C(500000000000000000), 3);
                double epsilon = 0.5 * i * j / 4;
                double bound = response_shuffled_delta(&r, (uint64_t) n, epsilon);
                double exact = exact_delta(n, response_keep(&r), epsilon);
                assert_true(bound >= exact * (1 - 1e-9));
                assert_true(bound <= response_shuffled_delta(&r, 1, epsilon) * (1 + 1e-6));
                if (n == 1) /* nobody to hide among: what one report gives away */
                    assert_true(bound <= exact * (1 + 1e-5) + 1e-12);
            }
}

/* With many people a report of epsilon 1 gives away far less; the numbers are those of an
 * independent computation. */
static void test_shuffling_helps(void **state)
{
    response r = response_of(UINT64_C(1000000000000000000), 4);
    double few = response_shuffled_epsilon(&r, 100, 1e-6);
    double many = response_shuffled_epsilon(&r, 100000, 1e-6);
    (void) state;
    assert_true(few <= 1 && many < few);
    assert_true(many > 0.005 && many < 0.05);
    assert_true(response_shuffled_delta(&r, 100000, many) <= 1e-6);
    r = response_of(UINT64_C(1000000000000000000), 1);
    assert_true(response_shuffled_epsilon(&r, 10, 1e-6) == 0);
}

/* ---- a collection ---------------------------------------------------------- */

/* Every reported count is that of what participants tell, and the shares are within the radius. */
static void expect_margins(const fixture *f, const cellar_collect_margins *margins)
{
    double radius = sqrt(log(2 * 5 / 0.001) / (2 * N));
    for (size_t c = 0; c < 2; c++) {
        response r = response_of(UINT64_C(2500000000000000000), levels[c]);
        double sum = 0;
        for (size_t v = 0; v < levels[c]; v++) {
            double share = cellar_collect_margins_share(margins, f->own.invitation, c, v);
            double truth = 0;
            for (size_t i = 0; i < N; i++)
                truth += f->p.levels[i][c] == v;
            assert_true(fabs(share - truth / N) <= radius / response_keep(&r));
            sum += share;
        }
        assert_true(fabs(sum - 1) < 1e-12);
    }
}

/* The exposure that the released columns have in fact. */
static double true_exposure(const fixture *f, const cellar_decision *decision)
{
    size_t columns[2] = {0}, variables[] = {0, 1}, n = cellar_decision_n_columns(decision);
    cellar_exposure_curve *curve;
    cellar_table *table;
    double value;
    for (size_t i = 0; i < n; i++)
        columns[i] = cellar_decision_column(decision, i);
    table = people_table(&f->p, f->own.invitation, columns, n);
    assert_int_equal(cellar_exposure_curve_create(table, variables, n, &curve, &err), CELLAR_OK);
    value = cellar_exposure_value(curve, 3);
    cellar_exposure_curve_free(curve);
    cellar_table_free(table);
    return value;
}

static void find_everybody(const fixture *f, const cellar_collect_margins *tally, int lies)
{
    cellar_participant *participant = fixture_participant(f);
    int n_found = 0;
    for (size_t i = 0; i < N; i += 10) {
        char codes[2][32];
        const char *values[] = {codes[0], codes[1]};
        for (size_t c = 0; c < 2; c++)
            snprintf(codes[c], sizeof codes[c], "c%u",
                     (unsigned) ((f->p.levels[i][c] + (uint32_t) lies) % levels[c]));
        n_found += cellar_participant_find(participant, i, values, tally, &err) == CELLAR_OK;
    }
    if (lies)
        assert_in_range(n_found, 0, N / 20); /* who sent noise cannot tell */
    else
        assert_int_equal(n_found, N / 10);
    cellar_participant_free(participant);
}

static void check_tally(const fixture *f, cellar_decision *decision, cellar_collect_margins *tally)
{
    char *bytes;
    size_t length;
    cellar_collect_margins *again;
    assert_int_equal(cellar_decision_check(decision, f->own.invitation, tally, &err), CELLAR_OK);
    find_everybody(f, tally, 0);
    find_everybody(f, tally, 1);
    for (size_t c = 0; c < 2; c++) { /* other margins, another decision */
        tally->counts[c][0] += tally->counts[c][1] - 220;
        tally->counts[c][1] = 220; /* a share of about nothing */
    }
    assert_int_equal(cellar_decision_check(decision, f->own.invitation, tally, &err),
                     CELLAR_ERR_RULE);
    assert_int_equal(cellar_file_read(f->place->path, 1 << 24, &bytes, &length, &err), CELLAR_OK);
    for (size_t i = 0; i < length; i += i < 80 ? 1 : 997) {
        bytes[i] ^= 1;
        assert_int_not_equal(
            tally_parse("x", (unsigned char *) bytes, length, f->own.invitation, &again, &err),
            CELLAR_OK);
        bytes[i] ^= 1;
        assert_int_not_equal(
            tally_parse("x", (unsigned char *) bytes, i, f->own.invitation, &again, &err),
            CELLAR_OK);
    }
    cellar_free(bytes);
}

static void test_an_open_collection_can_be_checked_by_everybody(void **state)
{
    fixture *f = *state;
    cellar_collect_report report;
    cellar_collect_margins *margins, *tally;
    cellar_decision *decision;
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = fixture_margins(f, &report);
    assert_int_equal(report.n_counted, 2 * N);
    expect_margins(f, margins);
    decision = fixture_decision(f, margins);
    assert_true(cellar_decision_n_columns(decision) >= 1);
    assert_true(true_exposure(f, decision) <= cellar_decision_bound(decision));
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "epsilon-record 5\n"));
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "locally differentially private"));
    assert_int_equal(cellar_collect_tally_write(margins, f->own.invitation, f->own.keys[1],
                                                scratch_path(f->place, "tally"), &err),
                     CELLAR_OK);
    if (cellar_collect_tally_read(f->place->path, f->own.invitation, &tally, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    check_tally(f, decision, tally);
    cellar_collect_margins_free(margins);
    cellar_collect_margins_free(tally);
    cellar_decision_free(decision);
}

static void test_who_wants_less_does_not_answer(void **state)
{
    const fixture *f = *state;
    cellar_collect_policy policy = people_policy();
    cellar_participant *participant;
    cellar_collect_certificate certificate = cellar_collect_certify(f->own.invitation);
    double shuffled = cellar_collect_certify_shuffled(f->own.invitation, 1e-6);
    assert_true(certificate.epsilon_value == 2.5 && certificate.epsilon_record == 5);
    assert_true(shuffled > 0 && shuffled < 5);
    policy.most_epsilon = 4.9;
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, &policy, f->p.key, &participant, &err),
        CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "epsilon"));
    policy.most_epsilon = 5;
    assert_int_equal(
        cellar_participant_create(f->own.invitation, NULL, &policy, f->p.key, &participant, &err),
        CELLAR_OK);
    cellar_participant_free(participant);
}

/* An exact collection has no epsilon, publishes nothing, and cannot be open. */
static void test_exact_margins_are_not_published(void **state)
{
    const fixture *f = *state;
    scratch copy = *f->place;
    collection exact = {{NULL}, NULL};
    cellar_collect_margins *margins;
    cellar_invitation *invitation;
    cellar_codelist *codes = numbered_list("c", 2);
    const cellar_collect_column column = {"a", codes};
    cellar_invitation_spec spec = {.title = "t",
                                   .n_people = 5,
                                   .k = 2,
                                   .exposure = "1",
                                   .is_open = 1,
                                   .columns = &column,
                                   .n_columns = 1};
    collection_open(&exact, &copy, levels, 2, N, 3, "0.4");
    assert_true(isinf(cellar_collect_certify(exact.invitation).epsilon_record));
    assert_int_equal(margins_create(exact.invitation, &margins, &err), CELLAR_OK);
    assert_int_equal(cellar_collect_tally_write(margins, exact.invitation, exact.keys[1],
                                                scratch_path(&copy, "no tally"), &err),
                     CELLAR_ERR_RULE);
    assert_int_not_equal(cellar_invitation_create(&spec, exact.keys[1], &invitation, &err),
                         CELLAR_OK);
    assert_non_null(strstr(err.message, "randomised"));
    cellar_collect_margins_free(margins);
    cellar_codelist_free(codes);
    collection_close(&exact);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    const fixture *f = context;
    cellar_collect_margins *tally = NULL;
    cellar_decision *decision = NULL;
    cellar_status status = cellar_collect_tally_read(f->place->path, f->own.invitation, &tally, e);
    if (status == CELLAR_OK)
        status = cellar_decision_create(tally, f->own.invitation, f->own.keys[1], &decision, e);
    if (status == CELLAR_OK)
        status = cellar_decision_check(decision, f->own.invitation, tally, e);
    cellar_decision_free(decision);
    cellar_collect_margins_free(tally);
    return status;
}

static void test_memory_may_end(void **state)
{
    const fixture *f = *state;
    scratch_path(f->place, "tally");
    check_fail_every(scenario, *state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epsilon_is_never_more_than_asked_for),
        cmocka_unit_test(test_reports_follow_the_law_and_repeat_themselves),
        cmocka_unit_test(test_reports_of_two_values_are_independent),
        cmocka_unit_test(test_shuffling_is_bounded_from_above),
        cmocka_unit_test(test_shuffling_helps),
        cmocka_unit_test(test_an_open_collection_can_be_checked_by_everybody),
        cmocka_unit_test(test_memory_may_end),
        cmocka_unit_test(test_who_wants_less_does_not_answer),
        cmocka_unit_test(test_exact_margins_are_not_published),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
