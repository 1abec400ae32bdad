/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of very many different groups: another way leads to the same risks. And memory that ends
 * anywhere on any way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/risk.h>
#include <cellar/risk_fit.h>
#include <cellar/table_file.h>

#include "base/error.h"
#include "fail_every.h"

enum { N_VALUES = 5, N_ROWS = 9000, PIECE = 3000 };

static const char *const specs[] = {
    "laplace:epsilon=0.01",         "laplace:epsilon=1", "laplace:epsilon=100", "gaussian:sigma=3",
    "discrete-laplace:epsilon=0.5", "poisson:alpha=0.1", "round:base=3",        "identity"};
enum { N_SPECS = sizeof specs / sizeof specs[0] };

static void mechanisms_make(cellar_mechanism **out)
{
    for (size_t i = 0; i < N_SPECS; i++)
        assert_int_equal(cellar_mechanism_create(specs[i], &out[i], NULL), CELLAR_OK);
}

static void mechanisms_free(cellar_mechanism **mechanisms)
{
    for (size_t i = 0; i < N_SPECS; i++)
        cellar_mechanism_free(mechanisms[i]);
}

/* Rows of counts around `mean`, uneven, some zero. */
static uint64_t *rows_make(double mean, uint64_t least)
{
    uint64_t *rows = calloc((size_t) N_ROWS * N_VALUES, sizeof *rows), x = 12345;
    assert_non_null(rows);
    for (size_t i = 0; i < (size_t) N_ROWS * N_VALUES; i++) {
        double u;
        x = x * 6364136223846793005u + 1442695040888963407u;
        u = ((double) (x >> 11) + 0.5) * 0x1p-53;
        rows[i] = least + (uint64_t) (-mean * log(u) * (double) (i % N_VALUES) / N_VALUES);
    }
    for (size_t i = 0; i < N_ROWS; i++)
        rows[i * N_VALUES]++; /* no group is empty */
    return rows;
}

static void assess(const uint64_t *rows, size_t n_rows, size_t n_mechanisms,
                   cellar_mechanism **mechanisms, cellar_risk_summary *out, size_t *n_distinct)
{
    cellar_groups *g = NULL;
    cellar_risk_options options = {.measure = CELLAR_RISK_EXPECTED, .n_threads = 2};
    assert_int_equal(cellar_groups_from_counts(rows, n_rows, N_VALUES, NULL, &g, NULL), CELLAR_OK);
    *n_distinct = cellar_groups_n_distinct(g);
    assert_int_equal(cellar_risk_assess(g, (const cellar_mechanism *const *) mechanisms,
                                        n_mechanisms, &options, out, NULL),
                     CELLAR_OK);
    cellar_groups_free(g);
}

/* The table in pieces too small for the fast way, put together. */
static void by_pieces(const uint64_t *rows, size_t n, cellar_mechanism **mechanisms,
                      cellar_risk_summary *out)
{
    memset(out, 0, n * sizeof *out);
    for (size_t first = 0; first < N_ROWS; first += PIECE) {
        cellar_risk_summary piece[N_SPECS];
        size_t n_distinct;
        assess(rows + first * N_VALUES, PIECE, n, mechanisms, piece, &n_distinct);
        for (size_t i = 0; i < n; i++) {
            double weight = (double) PIECE / N_ROWS;
            out[i].mean.value += weight * piece[i].mean.value;
            out[i].mean.claim += weight * piece[i].mean.claim;
            out[i].mean.right += weight * piece[i].mean.right;
            for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
                out[i].mean.scenario[s] += weight * piece[i].mean.scenario[s];
            out[i].maximum = fmax(out[i].maximum, piece[i].maximum);
        }
    }
}

static void near(double got, double want, double relative, double absolute, const char *what)
{
    if (!(fabs(got - want) <= relative * fabs(want) + absolute))
        fail_msg("%s: %.17g, and by pieces %.17g", what, got, want);
}

static void circles_equal_products(void **state)
{
    cellar_mechanism *mechanisms[N_SPECS];
    cellar_risk_summary whole[N_SPECS], pieces[N_SPECS];
    uint64_t *rows = rows_make(16, 0);
    size_t n_distinct;
    (void) state;
    mechanisms_make(mechanisms);
    assess(rows, N_ROWS, N_SPECS, mechanisms, whole, &n_distinct);
    assert_true(n_distinct > 4096);
    by_pieces(rows, N_SPECS, mechanisms, pieces);
    for (size_t i = 0; i < N_SPECS; i++) {
        near(whole[i].mean.value, pieces[i].mean.value, 1e-12, 0, specs[i]);
        near(whole[i].mean.claim, pieces[i].mean.claim, 1e-12, 0, specs[i]);
        near(whole[i].mean.right, pieces[i].mean.right, 1e-12, 0, specs[i]);
        near(whole[i].maximum, pieces[i].maximum, 1e-12, 0, specs[i]);
        for (int s = 0; s < CELLAR_RISK_N_SCENARIOS; s++)
            near(whole[i].mean.scenario[s], pieces[i].mean.scenario[s], 0, 1e-14, specs[i]);
    }
    mechanisms_free(mechanisms);
    free(rows);
}

/* No group is likely to be read: rounding on the circle would be all there is. */
static void small_risks_keep_their_digits(void **state)
{
    cellar_mechanism *mechanism = NULL;
    cellar_risk_summary whole, pieces;
    uint64_t *rows = rows_make(25, 8);
    size_t n_distinct;
    (void) state;
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=2", &mechanism, NULL), CELLAR_OK);
    assess(rows, N_ROWS, 1, &mechanism, &whole, &n_distinct);
    assert_true(n_distinct > 4096);
    by_pieces(rows, 1, &mechanism, &pieces);
    assert_true(pieces.mean.value > 1e-290 && pieces.mean.value < 1e-12);
    near(whole.mean.value, pieces.mean.value, 1e-11, 0, "a small risk");
    cellar_mechanism_free(mechanism);
    free(rows);
}

/* ---- memory -------------------------------------------------------------- */

static const char table_text[] = "region,sex,illness,job,count\n"
                                 "n,f,none,a,5\nn,f,flu,a,1\nn,m,none,a,3\nn,m,none,b,2\n"
                                 "s,f,flu,b,4\ns,m,none,a,1\ns,m,flu,b,1\n";

static int rank_nothing(void *context, const cellar_exposed_group *group)
{
    (void) context;
    (void) group;
    return 0;
}

/* Every measure by every method that gives it, on a small table. */
static cellar_status all_measures(const cellar_groups *g, const cellar_mechanism *mechanism,
                                  cellar_error *err)
{
    static const double prior[] = {0.5, 0.7};
    static const cellar_size_model model = {.lambda = 2};
    cellar_status status = CELLAR_OK;
    for (int measure = 0; measure < CELLAR_RISK_N_MEASURES && status == CELLAR_OK; measure++) {
        cellar_risk_options options = {.measure = (cellar_risk_measure) measure,
                                       .prior = prior,
                                       .model = &model,
                                       .copies = 3,
                                       .n_threads = 1};
        cellar_risk_summary out;
        status = cellar_risk_assess(g, &mechanism, 1, &options, &out, err);
        options.method = CELLAR_RISK_SIMULATE;
        if (status == CELLAR_OK && (measure <= CELLAR_RISK_EXPECTED || measure >= CELLAR_RISK_HARD))
            status = cellar_risk_assess(g, &mechanism, 1, &options, &out, err);
    }
    return status;
}

static cellar_status table_scenario(void *context, cellar_error *err)
{
    static const size_t qid[] = {0, 1}, sensitive[] = {2};
    cellar_status status = CELLAR_OK;
    cellar_table *table = context;
    cellar_groups *g = NULL;
    cellar_mechanism *mechanism = NULL;
    cellar_risk_options options = {.n_threads = 1};
    cellar_calibration calibration;
    cellar_size_model model;
    cellar_hyper_fit fit;
    double prior[2];

    CELLAR_TRY(cellar_groups_create(table, qid, 2, sensitive, 1, &g, err));
    CELLAR_TRY(cellar_mechanism_create("discrete-laplace:epsilon=1", &mechanism, err));
    CELLAR_TRY(all_measures(g, mechanism, err));
    CELLAR_TRY(cellar_risk_rank(g, mechanism, 0, rank_nothing, NULL, err));
    CELLAR_TRY(cellar_prior_fit(g, prior, &fit, err));
    CELLAR_TRY(cellar_prior_moments(g, prior, &fit, err));
    CELLAR_TRY(cellar_size_fit(g, CELLAR_SIZE_NEGBIN, CELLAR_SIZE_TRUNCATED, &model, &fit, err));
    CELLAR_TRY(cellar_risk_calibrate(g, "truncated-laplace:epsilon=1", "m", 1, 3, 0.5, &options,
                                     &calibration, err));
out:
    cellar_mechanism_free(mechanism);
    cellar_groups_free(g);
    return status;
}

static void memory_may_end_in_a_table(void **state)
{
    cellar_table *table = NULL;
    cellar_error err;
    (void) state;
    assert_int_equal(
        cellar_table_parse("t.csv", table_text, strlen(table_text), NULL, &table, &err), CELLAR_OK);
    check_fail_every(table_scenario, table);
    cellar_table_free(table);
}

/* One group alone, small and large, and a table done on circles. */
static cellar_status group_scenario(void *context, cellar_error *err)
{
    static const double shares[] = {0.5, 0.3, 0.2}, prior[] = {1, 0.5, 0};
    const cellar_mechanism *mechanism = context;
    cellar_status status = CELLAR_OK;
    for (uint64_t size = 5; size < 1000000; size *= 100) {
        cellar_risk_cell cell = {.n_values = 3, .size = size, .shares = shares, .prior = prior};
        cellar_risk out;
        CELLAR_TRY(cellar_risk_cell_assess(&cell, mechanism, CELLAR_RISK_EXPECTED,
                                           CELLAR_RISK_EXACT, &out, err));
        CELLAR_TRY(cellar_risk_cell_assess(&cell, mechanism, CELLAR_RISK_SHRINKAGE,
                                           CELLAR_RISK_EXACT, &out, err));
    }
out:
    return status;
}

static void memory_may_end_in_a_group(void **state)
{
    cellar_mechanism *mechanism = NULL;
    (void) state;
    assert_int_equal(cellar_mechanism_create("laplace:epsilon=0.3", &mechanism, NULL), CELLAR_OK);
    check_fail_every(group_scenario, mechanism);
    cellar_mechanism_free(mechanism);
}

static cellar_status circle_scenario(void *context, cellar_error *err)
{
    const cellar_groups *g = context;
    cellar_mechanism *mechanism = NULL;
    cellar_risk_options options = {.measure = CELLAR_RISK_EXPECTED, .n_threads = 1};
    cellar_risk_summary out;
    cellar_status status = cellar_mechanism_create("laplace:epsilon=1", &mechanism, err);
    if (status == CELLAR_OK)
        status = cellar_risk_assess(g, (const cellar_mechanism *const *) &mechanism, 1, &options,
                                    &out, err);
    cellar_mechanism_free(mechanism);
    return status;
}

static void memory_may_end_on_circles(void **state)
{
    enum { SIDE = 70 };
    uint64_t *rows = calloc((size_t) SIDE * SIDE * 2, sizeof *rows);
    cellar_groups *g = NULL;
    (void) state;
    assert_non_null(rows);
    for (size_t i = 0; i < (size_t) SIDE * SIDE; i++) {
        rows[2 * i] = 1 + i / SIDE;
        rows[2 * i + 1] = 100 + i % SIDE;
    }
    assert_int_equal(cellar_groups_from_counts(rows, (size_t) SIDE * SIDE, 2, NULL, &g, NULL),
                     CELLAR_OK);
    assert_true(cellar_groups_n_distinct(g) > 4096);
    check_fail_every(circle_scenario, g);
    cellar_groups_free(g);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(circles_equal_products),
        cmocka_unit_test(small_risks_keep_their_digits),
        cmocka_unit_test(memory_may_end_in_a_table),
        cmocka_unit_test(memory_may_end_in_a_group),
        cmocka_unit_test(memory_may_end_on_circles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
