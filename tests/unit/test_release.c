/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a release says and refuses. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <cellar/cell_key.h>

#include "fail_every.h"
#include "mechanism/mechanism.h"
#include "mechanism/registry.h"
#include "release_samples.h"
#include "scratch.h"
#include "wrong_tails.h"

/* ---- refusals --------------------------------------------------------------- */

static void what_is_not_covered_is_refused(void **state)
{
    struct {
        const char *label, *said;
        cellar_status status;
        small_table table;
        const char *spec;
        cellar_protect_options options;
    } cases[] = {
        {"negatives undecided", "negative", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"threshold with negatives", "threshold", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"negative threshold", "threshold", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"observed domain", "'x'", CELLAR_ERR_RULE, plain, "identity", keep()},
        {"weights", "weighted", CELLAR_ERR_RULE, plain, "identity", keep()},
        {"marks", "marked", CELLAR_ERR_RULE, plain, "identity", keep()},
        {"several cells", "8 cells", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"both", "not both", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"no epsilon", "no epsilon", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"total exceeded", "exceeds", CELLAR_ERR_RULE, plain, "laplace:epsilon=0.51", keep()},
        {"total no number", "decimal", CELLAR_ERR_ARGUMENT, plain, "laplace:epsilon=1", keep()},
        {"too many", "possible cells", CELLAR_ERR_RULE, plain, "laplace:epsilon=0.1", keep()},
        {"date", "date", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"no records", "at least one", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"huge", "too large", CELLAR_ERR_OVERFLOW, plain, "identity", keep()},
        {"weights not clipped", "not clipped", CELLAR_ERR_RULE, plain, "identity", keep()},
        {"clipped to more", "clipped to 3", CELLAR_ERR_RULE, plain, "identity", keep()},
        {"no weights", "no weights", CELLAR_ERR_ARGUMENT, plain, "identity", keep()},
        {"weighted total", "exceeds", CELLAR_ERR_RULE, plain, "laplace:epsilon=0.34", keep()},
    };
    (void) state;
    cases[0].options.negatives = CELLAR_NEGATIVES_UNDECIDED;
    cases[1].options.threshold = 3;
    cases[2].options.threshold = -1;
    cases[3].table.domain = CELLAR_DOMAIN_OBSERVED;
    cases[4].table.with_weights = 1;
    cases[5].table.with_statuses = 1;
    cases[5].table.status[1] = CELLAR_CELL_SUPPRESSED;
    cases[6].table.margins.all = 1;
    cases[6].table = (small_table){.n_variables = 3,
                                   .sizes = {2, 2, 2},
                                   .margins = {.all = 1},
                                   .domain = CELLAR_DOMAIN_DECLARED};
    cases[7].options.per_cell = 1;
    cases[7].options.total_epsilon = "1";
    cases[8].options.total_epsilon = "1";
    cases[9].options.total_epsilon = "1";
    cases[9].options.max_per_unit = 2;
    cases[10].options.total_epsilon = "-1";
    cases[11].options.max_cells = 5;
    cases[12].options.date = "2026-02-29";
    cases[13].options.max_per_unit = 0;
    cases[14].table.count[0] = UINT64_C(1) << 62;
    for (size_t i = 15; i <= 18; i++)
        cases[i].options.max_weight = i == 16 ? 2 : 3;
    cases[15].table.with_weights = cases[16].table.with_weights = cases[18].table.with_weights = 1;
    cases[16].table.max_weight = cases[18].table.max_weight = 3;
    cases[18].options.total_epsilon = "1";
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_release *release = (void *) 1;
        cellar_error err = {""};
        cellar_status status =
            protect(&cases[i].table, cases[i].spec, &cases[i].options, &release, &err);
        if (status != cases[i].status || strstr(err.message, cases[i].said) == NULL)
            fail_msg("%s: %s '%s'", cases[i].label, cellar_status_name(status), err.message);
        assert_null(release);
    }
}

/* ---- what a release says ----------------------------------------------------- */

static void a_release_says_how_it_was_made(void **state)
{
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_release *release = NULL;
    const char *text;
    (void) state;

    small.domain = CELLAR_DOMAIN_OBSERVED;
    small.margins.all = 1;
    options.domain_public = 1;
    options.total_epsilon = "3";
    options.max_per_unit = 3;
    options.unit = "person";
    options.choice = CELLAR_CHOICE_IN_ADVANCE;
    assert_int_equal(protect(&small, "discrete-laplace:epsilon=0.250", &options, &release, NULL),
                     CELLAR_OK);
    assert_string_equal(cellar_release_mechanism(release), "discrete-laplace:epsilon=0.25");
    assert_int_equal(cellar_release_mechanism_revision(release), 1);
    assert_int_equal(cellar_release_negatives(release), CELLAR_NEGATIVES_KEEP);
    assert_int_equal(cellar_release_threshold(release), 0);
    assert_int_equal(cellar_release_noise(release), CELLAR_NOISE_SECURE);
    assert_null(cellar_release_key_id(release));
    assert_int_equal(cellar_release_cells_per_record(release), 4);
    assert_int_equal(cellar_release_max_per_unit(release), 3);
    assert_string_equal(cellar_release_unit(release), "person");
    assert_string_equal(cellar_release_total_epsilon(release), "3");
    assert_int_equal(cellar_release_choice(release), CELLAR_CHOICE_IN_ADVANCE);
    assert_string_equal(cellar_release_date(release), "2026-07-01");
    assert_string_equal(cellar_release_ledger(release), "unaccounted, not for publication");
    assert_int_equal(cellar_schema_domain(cellar_release_schema(release), 0),
                     CELLAR_DOMAIN_ASSERTED);
    text = cellar_release_description(release);
    assert_non_null(strstr(text, "\"parameters\":{\"epsilon\":0.25}"));
    assert_int_equal(cellar_release_verdict(release), CELLAR_VERDICT_HOLDS);
    text = cellar_release_guarantee(release);
    assert_memory_equal(text, "The released values are differentially private for one ", 55);
    assert_non_null(strstr(text, ": epsilon "));
    text = cellar_release_certificate(release);
    assert_non_null(strstr(text, "\"cells_per_unit\":4"));
    assert_non_null(strstr(text, "\"records_per_unit\":3"));
    assert_non_null(strstr(text, "\"domain\":\"asserted\""));
    text = cellar_release_description(release);
    assert_null(strstr(text, "900")); /* no true number */
    cellar_release_free(release);
}

/* Without noise the release shows what noise would be added to. */
static void weighted_sums_are_rounded(void **state)
{
    static const int64_t want[] = {3, 2, 1350}; /* 3, 1.5 and 1350 */
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_release *release = NULL;
    (void) state;

    small.with_weights = 1;
    small.max_weight = 2;
    options.max_weight = 4;
    assert_int_equal(protect(&small, "identity", &options, &release, NULL), CELLAR_OK);
    assert_int_equal(cellar_release_n_cells(release), 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cellar_release_cell(release, i).released, want[i]);
    assert_true(cellar_release_is_weighted(release));
    assert_int_equal(cellar_release_max_weight(release), 4);
    cellar_release_free(release);

    options.total_epsilon = "2";
    options.max_per_unit = 5;
    assert_int_equal(protect(&small, "discrete-laplace:epsilon=0.1", &options, &release, NULL),
                     CELLAR_OK);
    assert_string_equal(cellar_release_total_epsilon(release), "2");
    assert_non_null(strstr(cellar_release_certificate(release), "\"max_weight\":4"));
    assert_non_null(strstr(cellar_release_certificate(release), "\"pure_epsilon_exact\":\"2\""));
    cellar_release_free(release);
}

/* Under substitution a unit leaves one cell and enters another: twice the epsilon. */
static void the_certificate_is_for_the_neighbours_asked_for(void **state)
{
    static const struct {
        cellar_neighbours asked, got;
        const char *pure;
    } cases[] = {{CELLAR_NEIGHBOURS_DEFAULT, CELLAR_NEIGHBOURS_ADD_REMOVE, "0.4"},
                 {CELLAR_NEIGHBOURS_ADD_REMOVE, CELLAR_NEIGHBOURS_ADD_REMOVE, "0.4"},
                 {CELLAR_NEIGHBOURS_SUBSTITUTE, CELLAR_NEIGHBOURS_SUBSTITUTE, "0.8"}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_protect_options options = keep();
        cellar_release *release = NULL;
        char want[80];
        options.neighbours = cases[i].asked;
        options.total_epsilon = "0.8";
        options.max_per_unit = 2;
        assert_int_equal(protect(&plain, "discrete-laplace:epsilon=0.2", &options, &release, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_release_neighbours(release), cases[i].got);
        assert_string_equal(cellar_release_total_epsilon(release), cases[i].pure);
        snprintf(want, sizeof want, "\"pure_epsilon_exact\":\"%s\"", cases[i].pure);
        assert_non_null(strstr(cellar_release_certificate(release), want));
        snprintf(want, sizeof want, "\"neighbours\":\"%s\"", cellar_neighbours_name(cases[i].got));
        assert_non_null(strstr(cellar_release_certificate(release), want));
        cellar_release_free(release);
    }
}

static void neighbours_must_fit(void **state)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    cellar_table *table = small_table_create(&plain);
    cellar_error err;
    (void) state;
    options.neighbours = CELLAR_NEIGHBOURS_SUBSTITUTE;
    options.total_epsilon = "1"; /* enough for add-remove */
    assert_int_equal(protect(&plain, "discrete-laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_RULE);
    options.neighbours = (cellar_neighbours) 3;
    assert_int_equal(protect(&plain, "discrete-laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_ARGUMENT);
    options.neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE; /* and the table's own total is shown */
    assert_int_equal(cellar_release_protect_dirichlet(table, "multinomial-dirichlet:alpha=1",
                                                      &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_null(release);
    assert_int_equal(cellar_release_protect_dirichlet(
                         table, "multinomial-dirichlet:alpha=1,total=5", &options, &release, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_release_neighbours(release), CELLAR_NEIGHBOURS_ADD_REMOVE);
    cellar_release_free(release);
    options.neighbours = CELLAR_NEIGHBOURS_DEFAULT;
    assert_int_equal(cellar_release_protect_dirichlet(table, "multinomial-dirichlet:alpha=1",
                                                      &options, &release, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_release_neighbours(release), CELLAR_NEIGHBOURS_SUBSTITUTE);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* Counts drawn from kernels are covered for units of several records too. */
static void kernels_cover_units_of_several_records(void **state)
{
    static const char *const specs[] = {"poisson:alpha=1", "round:base=3"};
    (void) state;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_protect_options options = keep();
        cellar_release *release = NULL;
        cellar_error err;
        options.max_per_unit = 3;
        assert_int_equal(protect(&plain, specs[i], &options, &release, &err), CELLAR_OK);
        assert_int_equal(cellar_release_verdict(release), CELLAR_VERDICT_HOLDS);
        assert_non_null(strstr(cellar_release_certificate(release), "\"records_per_unit\":3"));
        cellar_release_free(release);
    }
}

/* Drawing cells of cell keys independently would be another mechanism. */
static void joint_laws_are_not_drawn(void **state)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    char spec[500];
    cellar_error err;
    scratch_write(*state, "m.csv", "i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n");
    snprintf(spec, sizeof spec, "cell-key:file=%s", scratch_path(*state, "m.csv"));
    assert_int_equal(protect(&plain, spec, &options, &release, &err), CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "independently"));
}

static void joint_mechanisms_take_counts(void **state)
{
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_table *table;
    cellar_release *release = NULL;
    cellar_error err;
    (void) state;
    small.with_weights = 1;
    small.max_weight = 2;
    options.max_weight = 2;
    table = small_table_create(&small);
    assert_int_equal(cellar_release_protect_dirichlet(table, "multinomial-dirichlet:alpha=1",
                                                      &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_int_equal(
        cellar_release_protect_cell_keys(table, "cell-key:file=x", &options, &release, &err),
        CELLAR_ERR_RULE);
    cellar_table_free(table);
}

/* The identity shows what is done with cells: listed without zeros, in order. */
static void listed_cells_are_in_order_and_not_zero(void **state)
{
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_release *release = NULL;
    (void) state;

    small.with_statuses = 1;
    small.n_cells = 4;
    small.index[3] = 7;
    small.count[3] = 0;
    small.status[3] = CELLAR_CELL_STRUCTURAL_ZERO;
    small.rules = "x = c0 & y = c1\n";
    assert_int_equal(protect(&small, "identity", &options, &release, NULL), CELLAR_OK);
    assert_int_equal(cellar_release_n_cells(release), 4);
    assert_int_equal(cellar_release_cell(release, 0).index, 0);
    assert_int_equal(cellar_release_cell(release, 0).released, 2);
    assert_int_equal(cellar_release_cell(release, 1).index, 5);
    assert_int_equal(cellar_release_cell(release, 2).index, 7);
    assert_int_equal(cellar_release_cell(release, 2).released, 0);
    assert_int_equal(cellar_release_cell(release, 2).status, CELLAR_CELL_STRUCTURAL_ZERO);
    assert_int_equal(cellar_release_cell(release, 3).released, 900);
    assert_int_equal(cellar_release_at(release, 1).status, CELLAR_CELL_STRUCTURAL_ZERO);
    assert_int_equal(cellar_release_at(release, 2).released, 0);
    assert_int_equal(cellar_release_at(release, 2).status, CELLAR_CELL_NORMAL);
    assert_int_equal(cellar_release_at(release, 11).released, 900);
    cellar_release_free(release);
    release = NULL;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.threshold = 2;
    assert_int_equal(protect(&small, "identity", &options, &release, NULL), CELLAR_OK);
    assert_int_equal(cellar_release_n_cells(release), 3);
    assert_int_equal(cellar_release_at(release, 5).released, 0);
    assert_int_equal(cellar_release_at(release, 5).status, CELLAR_CELL_NORMAL);
    cellar_release_free(release);
    options.below = CELLAR_BELOW_SUPPRESS;
    assert_int_equal(protect(&small, "identity", &options, &release, NULL), CELLAR_OK);
    assert_int_equal(cellar_release_n_cells(release), 3);
    assert_int_equal(cellar_release_at(release, 5).released, 0);
    assert_int_equal(cellar_release_at(release, 5).status, CELLAR_CELL_SUPPRESSED);
    assert_int_equal(cellar_release_at(release, 1).status, CELLAR_CELL_STRUCTURAL_ZERO);
    cellar_release_free(release);
}

static void seeds_make_simulations(void **state)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    (void) state;
    assert_int_equal(cellar_rng_create_seeded(1, 2, &options.rng, NULL), CELLAR_OK);
    assert_int_equal(protect(&plain, "laplace:epsilon=1", &options, &release, NULL), CELLAR_OK);
    assert_int_equal(cellar_release_noise(release), CELLAR_NOISE_SEEDED);
    cellar_release_free(release);
    cellar_rng_free(options.rng);
}

static int cancel(void *context, const char *stage, double fraction)
{
    (void) context;
    (void) stage;
    return fraction >= 0;
}

static void work_can_be_cancelled(void **state)
{
    cellar_protect_options options = keep();
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make("laplace:epsilon=1");
    cellar_release *release = NULL;
    (void) state;
    options.progress.report = cancel;
    assert_int_equal(cellar_release_protect(table, m, &options, &release, NULL),
                     CELLAR_ERR_CANCELLED);
    assert_null(release);
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

static cellar_status no_draw(const cellar_mechanism *m, const int64_t *counts, size_t n,
                             cellar_rng *rng, int64_t *released, cellar_error *err)
{
    (void) m, (void) counts, (void) rng, (void) err;
    for (size_t i = 0; i < n; i++)
        released[i] = 0;
    fail_msg("noise was drawn without a certificate");
    return CELLAR_ERR_RULE;
}

static void nothing_is_drawn_when_certificates_disagree(void **state)
{
    cellar_protect_options options = keep();
    cellar_table *table = small_table_create(&plain);
    cellar_mechanism *m = make("discrete-gaussian:sigma=2");
    const cellar_mechanism_ops *right = m->ops;
    cellar_mechanism_ops wrong = *right;
    cellar_release *release = NULL;
    cellar_error err;
    (void) state;
    wrong.survival_ball = wrong_survival;
    wrong.sample_many = no_draw;
    m->ops = &wrong;
    assert_int_equal(cellar_release_protect(table, m, &options, &release, &err), CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "disagree"));
    assert_null(release);
    m->ops = right;
    cellar_mechanism_free(m);
    cellar_table_free(table);
}

/* ---- memory -------------------------------------------------------------------- */

typedef struct scenario {
    cellar_table *table;
    cellar_mechanism *mechanism;
    cellar_protect_options options;
} scenario;

static cellar_status release_scenario(void *context, cellar_error *err)
{
    scenario *s = context;
    cellar_release *release = NULL;
    cellar_forecast forecast;
    cellar_status status =
        cellar_protect_forecast(s->table, s->mechanism, &s->options, &forecast, err);
    if (status == CELLAR_OK)
        status = cellar_release_protect(s->table, s->mechanism, &s->options, &release, err);
    cellar_release_free(release);
    return status;
}

static void failing_allocations_are_survived(void **state)
{
    small_table small = plain;
    scenario s = {.options = keep()};
    (void) state;
    small.with_statuses = 1;
    small.n_cells = 4;
    small.index[3] = 7;
    small.status[3] = CELLAR_CELL_STRUCTURAL_ZERO;
    small.domain = CELLAR_DOMAIN_OBSERVED;
    s.options.domain_public = 1;
    s.options.n_threads = 2;
    small.with_weights = 1;
    small.max_weight = s.options.max_weight = 2;
    s.table = small_table_create(&small);
    s.mechanism = make("discrete-laplace:epsilon=1");
    check_fail_every(release_scenario, &s);
    cellar_mechanism_free(s.mechanism);
    cellar_table_free(s.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_covered_is_refused),
        cmocka_unit_test(a_release_says_how_it_was_made),
        cmocka_unit_test(weighted_sums_are_rounded),
        cmocka_unit_test(the_certificate_is_for_the_neighbours_asked_for),
        cmocka_unit_test(neighbours_must_fit),
        cmocka_unit_test(kernels_cover_units_of_several_records),
        cmocka_unit_test_setup_teardown(joint_laws_are_not_drawn, scratch_setup, scratch_teardown),
        cmocka_unit_test(joint_mechanisms_take_counts),
        cmocka_unit_test(listed_cells_are_in_order_and_not_zero),
        cmocka_unit_test(seeds_make_simulations),
        cmocka_unit_test(work_can_be_cancelled),
        cmocka_unit_test(nothing_is_drawn_when_certificates_disagree),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
