/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions by a sample: its file, its label in the papers, consent, and margins that contradict
 * it. Cubes are counted; what they decide is tests/cli/cases/collect_model_file.sh's. */
#include <math.h>

#include "collection_fixture.h"

#include "base/error.h"
#include "cube_sample.h"
#include "fail_every.h"
#include "protocol/choice.h"
#include "protocol/invitation.h"
#include "protocol/decision.h"
#include "protocol/model.h"

enum { N = 600, N_COLUMNS = 3, N_SAMPLE = 72000 };
static const size_t levels[N_COLUMNS] = {2, 3, 4};
static const char *const names[N_COLUMNS] = {"a", "b", "c"};
static cellar_error err;

typedef struct stage {
    fixture f;
    cellar_collect_column columns[N_COLUMNS];
    cellar_collect_model *model;
    char csv[512];
} stage;

static void sample_write(const char *path, size_t n, size_t shift)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("a,b,c\n", file);
    for (size_t i = 0; i < n; i++)
        fprintf(file, "c%zu,c%zu,c%zu\n", i % levels[0], (i / 2) % levels[1],
                (i / 6) % (levels[2] - shift) + shift);
    assert_int_equal(fclose(file), 0);
}

static cellar_status sample_open(stage *s, cellar_collect_model **out)
{
    return cellar_collect_model_open(CELLAR_COLLECT_SAMPLE, s->csv, s->columns, N_COLUMNS, out,
                                     &err);
}

static int set_up(void **state)
{
    static stage s;
    cellar_invitation_spec spec = {
        .n_people = N, .k = 3, .exposure = "0.2", .tolerance = "0.02", .delta = "0.001"};
    scratch *place;
    *state = &s;
    if (scratch_setup((void **) &place) != 0)
        return 1;
    snprintf(s.csv, sizeof s.csv, "%s", scratch_path(place, "sample.csv"));
    for (size_t c = 0; c < N_COLUMNS; c++)
        s.columns[c] = (cellar_collect_column){names[c], numbered_list("c", levels[c])};
    sample_write(s.csv, N_SAMPLE, 0);
    assert_int_equal(sample_open(&s, &s.model), CELLAR_OK);
    scratch_teardown((void **) &place);
    spec.model = s.model;
    return fixture_open(&s.f, levels, N_COLUMNS, spec);
}

static int tear_down(void **state)
{
    stage *s = *state;
    void *f = &s->f;
    cellar_collect_model_free(s->model);
    for (size_t c = 0; c < N_COLUMNS; c++)
        cellar_codelist_free((cellar_codelist *) s->columns[c].codes);
    return fixture_close(&f);
}

/* The margins of the people, and what a sample decides about them. */
static cellar_collect_margins *margins_of(stage *s)
{
    cellar_collect_margins *margins;
    assert_int_equal(margins_create(s->f.own.invitation, &margins, NULL), CELLAR_OK);
    margins->n_people = N;
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < N_COLUMNS; c++)
            margins->counts[c][s->f.p.levels[i][c]]++;
    return margins;
}

/* ---- papers ------------------------------------------------------------------ */

static void test_the_label(void **state)
{
    stage *s = *state;
    const cellar_invitation *invitation = s->f.own.invitation;
    cellar_collect_margins *margins = margins_of(s);
    cellar_decision *decision;
    char hash[80], line[256];

    assert_int_equal(cellar_invitation_model(invitation), CELLAR_COLLECT_SAMPLE);
    assert_int_equal(cellar_invitation_model_people(invitation), N_SAMPLE);
    assert_memory_equal(cellar_invitation_model_id(invitation), cellar_collect_model_id(s->model),
                        CELLAR_COLLECT_ID_BYTES);
    assert_int_equal(cellar_decision_create_modelled(margins, s->model, invitation,
                                                     s->f.own.keys[1], &decision, &err),
                     CELLAR_OK);
    for (size_t i = 0; i < CELLAR_COLLECT_ID_BYTES; i++)
        snprintf(hash + 2 * i, 3, "%02x", cellar_collect_model_id(s->model)[i]);
    snprintf(line, sizeof line, "\nmodel sample\nmodel-file %s\nmodel-people %d\ntolerance 0.02\n",
             hash, N_SAMPLE);
    assert_non_null(strstr(cellar_decision_text(decision, NULL), line));
    assert_non_null(strstr(cellar_decision_text(decision, NULL), "if columns hang together"));
    assert_int_equal(cellar_decision_theorem(decision), 0);
    assert_true(cellar_decision_n_columns(decision) > 1);
    assert_true(cellar_decision_bound(decision) > 0.02);
    assert_true(cellar_decision_bound(decision) <= 0.2);
    assert_true(cellar_decision_worst(decision) > cellar_decision_bound(decision));
    cellar_decision_free(decision);

    assert_int_equal(cellar_decision_create(margins, invitation, s->f.own.keys[1], &decision, &err),
                     CELLAR_ERR_ARGUMENT); /* not without the file */
    assert_null(decision);
    cellar_collect_margins_free(margins);
}

/* A participant consents to each kind of model; independence is the one it is asked for first. */
static void test_consent(void **state)
{
    stage *s = *state;
    const cellar_invitation *invitation = s->f.own.invitation;
    cellar_collect_margins *margins = margins_of(s);
    cellar_collect_policy policy = cellar_collect_policy_default();
    cellar_decision *decision;

    assert_int_equal(cellar_decision_create_modelled(margins, s->model, invitation,
                                                     s->f.own.keys[1], &decision, &err),
                     CELLAR_OK);
    policy.least_k = 3;
    policy.most_exposure = 0.2;
    assert_int_equal(cellar_collect_policy_check_invitation(&policy, invitation, &err), CELLAR_OK);
    assert_int_equal(cellar_collect_policy_check(&policy, invitation, decision, &err),
                     CELLAR_ERR_RULE);
    policy.most_tolerance = 0.02;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cellar_collect_policy_check(&policy, invitation, decision, &err),
                         CELLAR_ERR_RULE);
        assert_non_null(strstr(err.message, "rests on a sample"));
        assert_int_equal(cellar_collect_policy_check_invitation(&policy, invitation, &err),
                         CELLAR_ERR_RULE);
        policy.models = 1U << CELLAR_COLLECT_INDEPENDENCE | 1U << CELLAR_COLLECT_CUBE;
    }
    policy.models |= 1U << CELLAR_COLLECT_SAMPLE;
    assert_int_equal(cellar_collect_policy_check(&policy, invitation, decision, &err), CELLAR_OK);
    assert_int_equal(cellar_collect_policy_check_invitation(&policy, invitation, &err), CELLAR_OK);
    policy.most_tolerance = 0.01;
    assert_int_equal(cellar_collect_policy_check(&policy, invitation, decision, &err),
                     CELLAR_ERR_RULE);
    cellar_decision_free(decision);
    cellar_collect_margins_free(margins);
}

/* ---- files ------------------------------------------------------------------- */

static void expect_refused(stage *s, const char *text, cellar_status why, const char *reason)
{
    cellar_collect_model *model;
    FILE *file = fopen(s->csv, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(sample_open(s, &model), why);
    assert_null(model);
    if (strstr(err.message, reason) == NULL)
        fail_msg("%s", err.message);
}

static void test_what_is_no_sample(void **state)
{
    stage *s = *state;
    cellar_collect_model *model;
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "no.csv"));
    assert_int_equal(sample_open(s, &model), CELLAR_ERR_IO);
    expect_refused(s, "a,b,c\n", CELLAR_ERR_INPUT, "not one person");
    expect_refused(s, "a,b\nc0,c1\n", CELLAR_ERR_ARGUMENT, "no column 'c'");
    expect_refused(s, "a,b,c\nc0,c1,c7\n", CELLAR_ERR_INPUT, "outside the code list");
    expect_refused(s, "a,b,c\nc0,c1,\n", CELLAR_ERR_INPUT, "missing");
    assert_int_equal(
        cellar_collect_model_open(CELLAR_COLLECT_CUBE, s->csv, s->columns, N_COLUMNS, &model, &err),
        CELLAR_ERR_INPUT);
    assert_int_equal(cellar_collect_model_open(CELLAR_COLLECT_INDEPENDENCE, s->csv, s->columns,
                                               N_COLUMNS, &model, &err),
                     CELLAR_ERR_ARGUMENT);
    remove(s->csv);
}

/* Another file is not the model that was promised, even when it would decide the same. */
static void test_another_file(void **state)
{
    stage *s = *state;
    cellar_collect_margins *margins = margins_of(s);
    cellar_collect_model *other;
    cellar_decision *decision;
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "other.csv"));
    sample_write(s->csv, N_SAMPLE - 1, 0);
    assert_int_equal(sample_open(s, &other), CELLAR_OK);
    assert_int_equal(cellar_decision_create_modelled(margins, other, s->f.own.invitation,
                                                     s->f.own.keys[1], &decision, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "not the model that the invitation names"));
    cellar_collect_model_free(other);
    remove(s->csv);
    cellar_collect_margins_free(margins);
}

/* Nobody of this sample has the first value of c, which most of the people have. */
static void test_contradicting_margins(void **state)
{
    stage *s = *state;
    cellar_collect_margins *margins = margins_of(s);
    cellar_collect_model *other;
    cellar_decision *decision;
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "other.csv"));
    sample_write(s->csv, N_SAMPLE, 1);
    assert_int_equal(sample_open(s, &other), CELLAR_OK);
    memcpy(other->id, s->model->id, sizeof other->id);
    assert_int_equal(cellar_decision_create_modelled(margins, other, s->f.own.invitation,
                                                     s->f.own.keys[1], &decision, &err),
                     CELLAR_ERR_RULE);
    assert_null(decision);
    assert_non_null(strstr(err.message, "the margins contradict the model: in column 'c'"));
    cellar_collect_model_free(other);
    remove(s->csv);
    cellar_collect_margins_free(margins);
}

/* A sample that shows nothing leaves what single columns show, which is decided as without it. */
static void test_a_small_sample(void **state)
{
    stage *s = *state;
    cellar_collect_margins *margins = margins_of(s);
    choice by_bounds = {0}, by_sample = {0};
    cellar_collect_model *small;
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "small.csv"));
    sample_write(s->csv, 24, 0);
    assert_int_equal(sample_open(s, &small), CELLAR_OK);
    assert_int_equal(choice_make(margins, s->f.own.invitation, &by_bounds, &err), CELLAR_OK);
    assert_int_equal(choice_make_modelled(margins, s->f.own.invitation, small, &by_sample, &err),
                     CELLAR_OK);
    assert_true(by_bounds.n_columns > 0);
    assert_int_equal(by_sample.n_columns, by_bounds.n_columns);
    assert_memory_equal(by_sample.columns, by_bounds.columns, sizeof by_sample.columns);
    assert_float_equal(by_sample.bound, by_bounds.bound, 0);
    assert_float_equal(by_sample.worst, by_bounds.bound, 0);
    cellar_collect_model_free(small);
    remove(s->csv);
    cellar_collect_margins_free(margins);
}

/* ---- cubes ------------------------------------------------------------------- */

static cellar_status cube_write(const char *path, cellar_error *e)
{
    const cellar_output_options options = {.replace = 1};
    cellar_cube *cube = NULL;
    cellar_output *output = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cube_sample("discrete-gaussian:sigma=2", 4, &cube, e));
    CELLAR_TRY(cellar_output_open(path, &options, &output, e));
    CELLAR_TRY(cellar_cube_write(cube, output, e));
    status = cellar_output_commit(output, e);
    output = NULL;
out:
    cellar_output_discard(output);
    cellar_cube_close(cube);
    return status;
}

/* The columns of the cube in an order of their own, with their leaves in another order. */
typedef struct cube_columns {
    cellar_codelist *codes[2];
    char *names[2];
    cellar_collect_column columns[2];
    cellar_invitation invitation;
} cube_columns;

static void cube_columns_open(cube_columns *c)
{
    static const char sexes[] = "code\nm\nf\n", regions[] = "code\ns3\ns1\nn2\ns2\nn1\n";
    static char sex[] = "sex", region[] = "region";
    *c = (cube_columns){.names = {sex, region}};
    assert_int_equal(cellar_codelist_parse(sex, sexes, strlen(sexes), &c->codes[0], &err), 0);
    assert_int_equal(cellar_codelist_parse(region, regions, strlen(regions), &c->codes[1], &err),
                     0);
    for (size_t i = 0; i < 2; i++)
        c->columns[i] = (cellar_collect_column){c->names[i], c->codes[i]};
    c->invitation.n_columns = 2;
    c->invitation.names = c->names;
    c->invitation.codes = c->codes;
}

static void cube_columns_close(cube_columns *c)
{
    cellar_codelist_free(c->codes[0]);
    cellar_codelist_free(c->codes[1]);
}

/* Every combination has the count that the cube answers when asked for it alone. */
static void test_a_cube_is_counted(void **state)
{
    stage *s = *state;
    const model_set set = {.n = 2, .columns = {0, 1}};
    cellar_collect_model *model;
    fitted_cells cells;
    cube_columns c;
    int known;
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "a.cube"));
    assert_int_equal(cube_write(s->csv, &err), CELLAR_OK);
    cube_columns_open(&c);
    assert_int_equal(
        cellar_collect_model_open(CELLAR_COLLECT_CUBE, s->csv, c.columns, 2, &model, &err),
        CELLAR_OK);
    assert_int_equal(model_cells(model, &c.invitation, &set, 0.01, &cells, &known, &err),
                     CELLAR_OK);
    assert_true(known);
    assert_int_equal(cells.n_cells, 10);
    for (size_t i = 0; i < cells.n_cells; i++) {
        const char *sex = cellar_codelist_code(c.codes[0], i / 5);
        const char *region = cellar_codelist_code(c.codes[1], i % 5);
        const cellar_cube_side sides[] = {{.variable = "region", .codes = &region, .n_codes = 1},
                                          {.variable = "sex", .codes = &sex, .n_codes = 1}};
        const cellar_cube_question question = {.sides = sides, .n_sides = 2};
        cellar_estimate *alone;
        double value;
        assert_int_equal(cellar_cube_ask(model->cube, &question, &alone, &err), CELLAR_OK);
        value = cellar_estimate_cell(alone, 0).value;
        assert_true(fabs(cells.count[i] - fmax(value, 0)) < 1e-6);
        assert_true(cells.low[i] <= cells.count[i] && cells.count[i] <= cells.high[i]);
        assert_true(cells.high[i] <= fmax(value, 0) + 20); /* not far beyond the noise */
        cellar_estimate_free(alone);
    }
    assert_true(cells.least_people <= (double) model->n_people);
    assert_true(cells.most_people >= (double) model->n_people);
    fitted_cells_clear(&cells);
    cellar_collect_model_free(model);
    c.columns[1].codes = c.codes[0]; /* another code list */
    assert_int_equal(
        cellar_collect_model_open(CELLAR_COLLECT_CUBE, s->csv, c.columns, 2, &model, &err),
        CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "other values than its code list"));
    c.columns[1].name = "age";
    assert_int_equal(
        cellar_collect_model_open(CELLAR_COLLECT_CUBE, s->csv, c.columns, 2, &model, &err),
        CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "no column 'age'"));
    cube_columns_close(&c);
    remove(s->csv);
}

typedef struct counting {
    const stage *s;
    const cube_columns *c;
} counting;

static cellar_status cube_scenario(void *context, cellar_error *e)
{
    const counting *with = context;
    const model_set set = {.n = 2, .columns = {0, 1}};
    cellar_collect_model *model = NULL;
    fitted_cells cells = {0};
    int known;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_collect_model_open(CELLAR_COLLECT_CUBE, with->s->csv, with->c->columns, 2,
                                         &model, e));
    CELLAR_TRY(model_cells(model, &with->c->invitation, &set, 0.01, &cells, &known, e));
out:
    fitted_cells_clear(&cells);
    cellar_collect_model_free(model);
    return status;
}

static void test_memory_may_end_with_a_cube(void **state)
{
    stage *s = *state;
    cube_columns c;
    counting with = {s, &c};
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "a.cube"));
    assert_int_equal(cube_write(s->csv, &err), CELLAR_OK);
    cube_columns_open(&c);
    check_fail_every(cube_scenario, &with);
    cube_columns_close(&c);
    remove(s->csv);
}

/* ---- memory ------------------------------------------------------------------- */

typedef struct deciding {
    stage *s;
    cellar_collect_margins *margins;
} deciding;

static cellar_status scenario(void *context, cellar_error *e)
{
    const deciding *d = context;
    cellar_collect_model *model = NULL;
    cellar_decision *decision = NULL;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_collect_model_open(CELLAR_COLLECT_SAMPLE, d->s->csv, d->s->columns, N_COLUMNS,
                                         &model, e));
    memcpy(model->id, d->s->model->id, sizeof model->id);
    CELLAR_TRY(cellar_decision_create_modelled(d->margins, model, d->s->f.own.invitation,
                                               d->s->f.own.keys[1], &decision, e));
out:
    cellar_decision_free(decision);
    cellar_collect_model_free(model);
    return status;
}

static void test_memory_may_end(void **state)
{
    stage *s = *state;
    deciding d = {s, margins_of(s)};
    snprintf(s->csv, sizeof s->csv, "%s", scratch_path(s->f.place, "small.csv"));
    sample_write(s->csv, 240, 0);
    check_fail_every(scenario, &d);
    remove(s->csv);
    cellar_collect_margins_free(d.margins);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_label),
        cmocka_unit_test(test_consent),
        cmocka_unit_test(test_what_is_no_sample),
        cmocka_unit_test(test_another_file),
        cmocka_unit_test(test_contradicting_margins),
        cmocka_unit_test(test_a_small_sample),
        cmocka_unit_test(test_a_cube_is_counted),
        cmocka_unit_test(test_memory_may_end),
        cmocka_unit_test(test_memory_may_end_with_a_cube),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
