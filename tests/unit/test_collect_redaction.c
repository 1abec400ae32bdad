/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditional redaction with random cover: who redacts, how often by chance, what the analyst gets,
 * and that the signed bound is above the exposure that comes of it. */
#include "collection_fixture.h"

#include <math.h>

#include "fail_every.h"
#include "protocol/decision.h"

enum { N = 4000, COMMON = 3, RARE = 20 };
static const size_t levels[] = {COMMON, RARE};
static cellar_error err;

/* Column a is even. Of column b two values are common and eighteen are rare. */
static void people_make(people *p)
{
    for (size_t i = 0; i < p->n; i++) {
        p->levels[i][0] = (uint32_t) (i % COMMON);
        p->levels[i][1] = (uint32_t) (i % 97 < 8 ? 2 + (i / 97) % (RARE - 2) : i / 3 % 2);
    }
}

static int set_up(void **state)
{
    static fixture f;
    const cellar_invitation_spec spec = {.n_people = N,
                                         .k = 30,
                                         .exposure = "0.07",
                                         .hide = "0.5",
                                         .redacted = "0.2",
                                         .delta = "0.001"};
    int failed;
    *state = &f;
    failed = fixture_open(&f, levels, 2, spec);
    if (!failed)
        people_make(&f.p);
    return failed;
}

/* ---- plans ----------------------------------------------------------------- */

static uint64_t state = 3;
static double uniform(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double) (state >> 11) * 0x1p-53;
}

/* The terms hold for the shares themselves, and the ranges left hold what is left. */
static void test_plans_keep_their_terms(void **unused)
{
    enum { M = 9 };
    (void) unused;
    for (int trial = 0; trial < 500; trial++) {
        redaction_terms terms = {0.2 + 0.8 * uniform(), 0.4 * uniform(), 0, 0};
        double shares[M], sum = 0, listed = 0, cover, threshold = 0.3 * uniform();
        share_range ranges[M], left[M + 1];
        size_t n_left, next = 0;
        redaction r;
        for (int v = 0; v < M; v++)
            sum += shares[v] = pow(uniform(), 4);
        for (int v = 0; v < M; v++)
            ranges[v] = estimate_range(shares[v] /= sum, 0);
        assert_int_equal(redaction_plan(ranges, M, &terms, threshold, &r, &err), CELLAR_OK);
        cover = (double) r.cover / 1e18;
        redaction_apply(&r, ranges, M, &terms, left, &n_left);
        for (int v = 0; v < M; v++) {
            int is_listed = r.levels != NULL && r.levels[v];
            assert_true(!is_listed || shares[v] <= threshold + 1e-9);
            listed += is_listed ? shares[v] : 0;
            if (is_listed)
                continue;
            assert_true((double) left[next].least <= shares[v] * (1 - cover) * 1e18 &&
                        (double) left[next].largest >= shares[v] * (1 - cover) * 1e18);
            next++;
        }
        if (r.levels == NULL) {
            assert_int_equal(n_left, M);
            continue;
        }
        assert_int_equal(n_left, next + 1);
        assert_true(listed <= terms.hide * (listed + (1 - listed) * cover) * (1 + 1e-9));
        assert_true(listed + (1 - listed) * cover <= terms.most * (1 + 1e-9));
        assert_true(fabs(redaction_share(&r, ranges, M) - (listed + (1 - listed) * cover)) < 1e-9);
        cellar_free(r.levels);
    }
}

/* ---- a collection ---------------------------------------------------------- */

/* What every participant should have sent, said again from the decision. */
static void expect_table(const fixture *f, const cellar_decision *decision,
                         const cellar_table *table)
{
    uint64_t n_redacted = 0, n_listed = 0, n_cells[COMMON][RARE + 1] = {{0}};
    double cover = cellar_decision_cover(decision, 1), expected;
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        uint32_t at[2];
        cellar_schema_categories(cellar_table_schema(table), cell.index, at);
        n_cells[at[0]][at[1]] = cell.count;
        n_redacted += at[1] == RARE ? cell.count : 0;
    }
    for (uint32_t a = 0; a < COMMON; a++)
        for (uint32_t b = 0; b < RARE; b++) {
            uint64_t count = 0;
            for (size_t i = 0; i < N; i++)
                count += f->p.levels[i][0] == a && f->p.levels[i][1] == b;
            n_listed += cellar_decision_redacts(decision, 1, b) ? count : 0;
            assert_true(n_cells[a][b] <= count);
            if (cellar_decision_redacts(decision, 1, b))
                assert_int_equal(n_cells[a][b], 0);
        }
    expected = (double) n_listed + cover * (double) (N - n_listed);
    assert_true(n_listed > 0 && (double) n_listed <= 0.5 * expected * (1 + 1e-9));
    /* six standard deviations: a false alarm in 10^8 */
    assert_true(fabs((double) n_redacted - expected) < 6 * sqrt(N * cover * (1 - cover)));
}

static double exposure_of(const cellar_table *table, uint64_t k)
{
    const size_t variables[] = {0, 1};
    cellar_exposure_curve *curve;
    double value;
    assert_int_equal(cellar_exposure_curve_create(table, variables, 2, &curve, &err), CELLAR_OK);
    value = cellar_exposure_value(curve, k);
    cellar_exposure_curve_free(curve);
    return value;
}

static void test_rare_values_are_redacted_under_cover(void **unused)
{
    fixture *f = *unused;
    cellar_collect_report report;
    cellar_collect_margins *margins;
    cellar_decision *decision, *again;
    cellar_table *table;
    const char *text;
    size_t length;
    people_round(&f->p, &f->own, NULL, f->place->folder);
    margins = fixture_margins(f, &report);
    decision = fixture_decision(f, margins);
    assert_int_equal(cellar_decision_n_columns(decision), 2); /* without redactions: one */
    assert_false(cellar_decision_redacts(decision, 0, 0));
    assert_true(cellar_decision_cover(decision, 1) > 0.01);
    text = cellar_decision_text(decision, &length);
    assert_int_equal(cellar_decision_parse("x", text, length, f->own.invitation, &again, &err),
                     CELLAR_OK);
    people_round(&f->p, &f->own, again, f->place->folder);
    table = fixture_table(f, decision, &report);
    assert_int_equal(report.n_counted, N);
    expect_table(f, decision, table);
    assert_true(exposure_of(table, 30) <= cellar_decision_bound(decision));
    cellar_table_free(table);
    cellar_decision_free(decision);
    cellar_decision_free(again);
    cellar_collect_margins_free(margins);
}

/* Sealed twice, the same is said twice; the analyst refuses what the decision forbids. */
static void test_chance_repeats_itself(void **unused)
{
    fixture *f = *unused;
    collect_round round;
    unsigned char flag[COMMON] = {0, 1, 0};
    redaction r = {flag, UINT64_C(300000000000000000)};
    size_t n_redacted = 0;
    round_one(f->own.invitation, &round);
    for (uint64_t i = 0; i < 10000; i++) {
        unsigned char ticket[TICKET_BYTES] = {0};
        uint32_t said;
        bytes_put(ticket, 8, i);
        said = redaction_draw(&r, COMMON, &round, ticket, 0, 2);
        assert_int_equal(said, redaction_draw(&r, COMMON, &round, ticket, 0, 2));
        assert_true(said == 2 || said == COMMON);
        n_redacted += said == COMMON;
        assert_int_equal(redaction_draw(&r, COMMON, &round, ticket, 0, 1), COMMON);
    }
    assert_in_range(n_redacted, 3000 - 6 * 46, 3000 + 6 * 46); /* a false alarm in 10^8 */
}

static void test_a_code_of_that_name_is_refused(void **unused)
{
    const fixture *f = *unused;
    cellar_codelist *codes;
    cellar_invitation *invitation;
    cellar_collect_column column = {"a", NULL};
    cellar_invitation_spec spec = {.title = "t",
                                   .n_people = 5,
                                   .k = 2,
                                   .exposure = "1",
                                   .hide = "0.5",
                                   .redacted = "0.5",
                                   .delta = "0.1",
                                   .columns = &column,
                                   .n_columns = 1};
    collection_name_roles(&f->own, &spec);
    assert_int_equal(cellar_codelist_create(&codes, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(codes, REDACTED_CODE, NULL, NULL, CELLAR_CODE_PLAIN, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(codes, &err), CELLAR_OK);
    column.codes = codes;
    assert_int_not_equal(cellar_invitation_create(&spec, f->own.keys[1], &invitation, &err),
                         CELLAR_OK);
    spec.hide = NULL;
    spec.delta = NULL;
    assert_int_equal(cellar_invitation_create(&spec, f->own.keys[1], &invitation, &err), CELLAR_OK);
    cellar_invitation_free(invitation);
    cellar_codelist_free(codes);
}

static cellar_status scenario(void *context, cellar_error *e)
{
    fixture *f = context;
    cellar_collect_margins *margins = NULL;
    cellar_decision *decision = NULL;
    cellar_status status = margins_create(f->own.invitation, &margins, e);
    if (status == CELLAR_OK) {
        margins->n_people = N;
        for (size_t i = 0; i < N; i++)
            for (size_t c = 0; c < 2; c++)
                margins->counts[c][f->p.levels[i][c]]++;
        status = cellar_decision_create(margins, f->own.invitation, f->own.keys[1], &decision, e);
    }
    cellar_decision_free(decision);
    cellar_collect_margins_free(margins);
    return status;
}

static void test_memory_may_end(void **unused)
{
    check_fail_every(scenario, *unused);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_keep_their_terms),
        cmocka_unit_test(test_rare_values_are_redacted_under_cover),
        cmocka_unit_test(test_chance_repeats_itself),
        cmocka_unit_test(test_a_code_of_that_name_is_refused),
        cmocka_unit_test(test_memory_may_end),
    };
    return cmocka_run_group_tests(tests, set_up, fixture_close);
}
