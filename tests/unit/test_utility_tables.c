/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Utility: a release beside its table, tables at the edge, refusals. */
#include "utility_check.h"

#include "fail_every.h"
#include "small_table.h"
#include "table/table.h"

/* ---- a release ----------------------------------------------------------- */

static cellar_release *protect(const cellar_table *table, const char *spec, int64_t threshold)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *mechanism;
    cellar_release *release;
    cellar_error err = {""};
    assert_int_equal(cellar_mechanism_create(spec, &mechanism, NULL), CELLAR_OK);
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.threshold = threshold;
    options.per_cell = options.domain_public = 1;
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(mechanism);
    return release;
}

/* Counts below 10 become zero: figures computed independently. */
static void release_figures(void **state)
{
    static const struct {
        const char *measure, *variables;
        double want;
    } cases[] = {{"l1", NULL, 155.0},
                 {"l2", NULL, 847.0},
                 {"l3", NULL, 73.92508973877197},
                 {"hellinger", NULL, 12.449899597988733},
                 {"hellinger_squared", NULL, 155.0},
                 {"absolute_difference", NULL, 1.1742424242424243},
                 {"total_difference", NULL, -155.0},
                 {"zeros_turned_positive", NULL, 0.0},
                 {"positives_turned_zero", NULL, 39.0},
                 {"top_overlap", NULL, 1.0},
                 {"chi_square", NULL, 4317.944881383552},
                 {"df", NULL, 88.0},
                 {"g_square", NULL, 3823.4149400204233},
                 {"cramers_v", NULL, 0.3096548804625969},
                 {"total_variation", "age", 0.011685711983020167},
                 {"total_variation", "status", 0.009520784605113772},
                 {"total_variation", "age,status", 0.026798063623789774},
                 {"margin_square", "status", 240.8181818181818},
                 {"total_variation_1way", NULL, 0.01060324829406697}};
    cellar_table *table = table_of_rinott();
    cellar_release *release = protect(table, "identity", 10);
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    assert_int_equal(cellar_utility_compare(table, release, &options, &u, NULL), CELLAR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_utility_result *r = find(u, cases[i].measure, cases[i].variables, -1, -1);
        assert_near(r->mean, cases[i].want, 1e-12);
        assert_true(isnan(r->sd));
        if (!isnan(r->expected)) /* nothing was random */
            assert_near(r->expected, cases[i].want, 1e-12);
    }
    assert_int_equal(cellar_utility_n_copies(u), 1);
    cellar_utility_free(u);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* Variables and categories in another order are the same table. */
static void release_in_another_order(void **state)
{
    cellar_table *table = table_of("a,b,count\nx,u,5\nx,v,1\ny,u,0\ny,v,7\nz,u,2\n");
    cellar_table *turned = table_of("b,a,count\nv,y,7\nv,x,1\nu,z,2\nu,y,0\nu,x,5\n");
    cellar_table *others[] = {
        table_of("a,count\nx,1\n"), table_of("a,c,count\nx,u,5\nx,v,1\ny,u,0\nz,v,7\n"),
        table_of("a,b,count\nx,u,5\nx,w,1\ny,u,0\nz,w,7\n"), table_of("a,b,count\nx,u,5\nx,v,1\n")};
    cellar_release *release = protect(turned, "identity", 0);
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    assert_int_equal(cellar_utility_compare(table, release, &options, &u, NULL), CELLAR_OK);
    assert_true(find(u, "l1", NULL, -1, -1)->mean == 0);
    assert_true(find(u, "total_variation", "a,b", -1, -1)->mean == 0);
    cellar_utility_free(u);
    for (size_t i = 0; i < 4; i++) {
        cellar_error err = {""};
        assert_int_equal(cellar_utility_compare(others[i], release, &options, &u, &err),
                         CELLAR_ERR_INPUT);
        assert_null(u);
        assert_true(err.message[0] != '\0');
        cellar_table_free(others[i]);
    }
    cellar_release_free(release);
    cellar_table_free(turned);
    cellar_table_free(table);
}

/* ---- large, empty, refused ----------------------------------------------- */

static void tables_at_the_edge(void **state)
{
    cellar_utility_options options = cellar_utility_options_default();
    const char *const csvs[] = {"a,count\nx,0\n", "a,count\nx,7\n", "a,b,count\nx,u,0\nx,v,0\n",
                                "a,b,count\nx,u,3\nx,v,0\n"};
    (void) state;
    options.copies = 3;
    for (size_t i = 0; i < sizeof csvs / sizeof *csvs; i++) {
        cellar_table *table = table_of(csvs[i]);
        cellar_utility *u = assess(table, "discrete-laplace:epsilon=1", &options);
        assert_true(isnan(cellar_utility_original(u).chi_square));
        assert_true(isfinite(find(u, "l1", NULL, -1, -1)->mean));
        cellar_utility_free(u);
        cellar_table_free(table);
    }
}

/* Three variables of 2000 categories: eight thousand million cells, of which five hold records. */
static void sparse_table(void **state)
{
    cellar_text text = {0};
    cellar_table *table;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    double n = 8e9, zero;
    (void) state;

    cellar_text_add_string(&text, "a,b,c,count\n");
    for (int i = 0; i < 2000; i++)
        cellar_text_printf(&text, "a%d,b%d,c%d,%d\n", i, i, i, i % 400 == 0 ? 50 : 0);
    table = table_of(text.bytes);
    cellar_text_clear(&text);
    options.copies = 3;
    options.max_ways = 1;
    options.negatives = CELLAR_NEGATIVES_ZERO;
    options.threshold = 16; /* P(noise >= 16) = 8e-8 at epsilon 1: 660 zeros in a copy */
    u = assess(table, "discrete-laplace:epsilon=1", &options);
    zero = (n - 5) * exp(-16) / (1 + exp(-1));
    assert_int_equal(cellar_utility_n_cells(u), 8000000000);
    assert_near(find(u, "zeros_turned_positive", NULL, -1, -1)->expected, zero, 1e-12);
    assert_near(find(u, "zeros_turned_positive", NULL, -1, -1)->mean, zero,
                6 / sqrt(3 * zero)); /* 6 standard errors of a Poisson number */
    assert_true(find(u, "within", NULL, 0, 0)->mean > 0.9999998);
    cellar_utility_free(u);
    cellar_table_free(table);
}

static int has_note(const cellar_utility *u, const char *words)
{
    for (size_t i = 0; i < cellar_utility_n_notes(u); i++)
        if (strstr(cellar_utility_note(u, i), words) != NULL)
            return 1;
    return 0;
}

/* What has no expectation with structural zeros, and gaps of tables that are too large. */
static void left_out_is_said(void **state)
{
    static const small_table small = {.n_variables = 2,
                                      .sizes = {2, 2},
                                      .rules = "x = c1 & y = c1\n",
                                      .n_cells = 3,
                                      .index = {0, 1, 2},
                                      .count = {5, 1, 2}};
    cellar_table *tables[] = {small_table_create(&small), table_of("a,b,count\nx,u,5\ny,v,1\n"),
                              NULL};
    cellar_utility_options options = cellar_utility_options_default();
    cellar_text text = {0};
    (void) state;

    cellar_text_add_string(&text, "a,b,c,count\n");
    for (int i = 0; i < 350; i++)
        cellar_text_printf(&text, "a%d,b%d,c%d,%d\n", i, i, i, i % 50 == 0 ? 9 : 0);
    tables[2] = with_margins(table_of(text.bytes)); /* 351 cubed */
    cellar_text_clear(&text);
    options.copies = 0;
    options.max_ways = 1;
    for (size_t i = 0; i < 3; i++) {
        cellar_utility *u = assess(tables[i], "discrete-laplace:epsilon=1", &options);
        assert_int_equal(has_note(u, "no exact expectation of margin_square"), i == 0);
        assert_int_equal(has_note(u, "gaps between margins and their cells are left out"), i == 2);
        cellar_utility_free(u);
        cellar_table_free(tables[i]);
    }
}

/* Laws of the largest counts are not summed, and that is known at once. */
static void largest_counts(void **state)
{
    static const char *const specs[] = {"poisson:alpha=1", "negbin:alpha=1,sigma=0.3",
                                        "pig:alpha=1,sigma=0.3",
                                        "delaporte:alpha=1,sigma=0.4,nu=0.3"};
    cellar_table *table = table_of("a,count\nx,4611686018427387000\ny,3\n");
    cellar_utility_options options = cellar_utility_options_default();
    (void) state;
    options.copies = 0;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        cellar_utility *u = assess(table, specs[i], &options);
        assert_true(has_note(u, "takes too many values to be summed"));
        assert_true(isnan(find(u, "l1", NULL, -1, -1)->expected));
        cellar_utility_free(u);
    }
    cellar_table_free(table);
}

static int cancel(void *context, const char *stage, double fraction)
{
    (void) context;
    (void) stage;
    (void) fraction;
    return 1;
}

static void refusals(void **state)
{
    static const uint64_t down[] = {3, 2};
    cellar_table *table = table_of("a,count\nx,1\ny,2\n");
    cellar_utility_options good = cellar_utility_options_default(), bad[6];
    cellar_utility *u;
    (void) state;

    for (size_t i = 0; i < 6; i++)
        bad[i] = good;
    bad[0].counts = down;
    bad[0].n_counts = 2;
    bad[1].radii = down;
    bad[1].n_radii = 2;
    bad[2].max_ways = 4;
    bad[3].top = 1001;
    bad[4].threshold = 2; /* with negatives kept */
    bad[5].copies = UINT64_MAX;
    for (size_t i = 0; i < 6; i++) {
        cellar_error err = {""};
        assert_int_equal(cellar_utility_assess(table, "laplace:epsilon=1", &bad[i], &u, &err),
                         CELLAR_ERR_ARGUMENT);
        assert_null(u);
        assert_true(err.message[0] != '\0');
    }
    assert_int_equal(cellar_utility_assess(table, "laplace", &good, &u, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_utility_assess(table, "cell-key:file=none", &good, &u, NULL),
                     CELLAR_ERR_ARGUMENT);
    good.progress.report = cancel;
    assert_int_equal(cellar_utility_assess(table, "laplace:epsilon=1", &good, &u, NULL),
                     CELLAR_ERR_CANCELLED);
    assert_null(u);
    cellar_table_free(table);
}

/* Weighted sums are rounded; without a bound on weights, nothing is protected. */
static void weighted_tables(void **state)
{
    cellar_table *table = table_of("a,count,weighted\nx,3,4.5\ny,2,1.25\n");
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;

    options.copies = 2;
    assert_int_equal(cellar_utility_assess(table, "identity", &options, &u, NULL), CELLAR_ERR_RULE);
    assert_null(u);
    assert_int_equal(cellar_table_set_max_weight(table, 3, NULL), CELLAR_OK);
    u = assess(table, "identity", &options);
    assert_true(cellar_utility_original(u).total == 6);
    assert_true(find(u, "l1", NULL, -1, -1)->mean == 0);
    cellar_utility_free(u);
    assert_int_equal(
        cellar_utility_assess(table, "multinomial-dirichlet:alpha=1", &options, &u, NULL),
        CELLAR_ERR_RULE);
    cellar_table_free(table);
}

/* All cells together: no expectations, and the total is that of the table. */
static void multinomial_dirichlet(void **state)
{
    cellar_table *table = table_of_rinott();
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u;
    (void) state;
    options.copies = 5;
    u = assess(table, "multinomial-dirichlet:alpha=1", &options);
    assert_true(find(u, "total_difference", NULL, -1, -1)->mean == 0);
    assert_true(find(u, "l1", NULL, -1, -1)->mean > 100);
    assert_true(isnan(find(u, "l1", NULL, -1, -1)->expected));
    cellar_utility_free(u);
    cellar_table_free(table);
}

static cellar_status whole_scenario(void *context, cellar_error *err)
{
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status;
    options.copies = 2;
    options.n_threads = 1;
    status = cellar_utility_assess(context, "poisson:alpha=1", &options, &u, err);
    cellar_utility_free(u);
    return status;
}

typedef struct pair {
    cellar_table *table;
    cellar_release *release;
} pair;

static cellar_status compare_scenario(void *context, cellar_error *err)
{
    const pair *p = context;
    cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status = cellar_utility_compare(p->table, p->release, &options, &u, err);
    cellar_utility_free(u);
    return status;
}

static void fail_every(void **state)
{
    pair p;
    (void) state;
    p.table = with_margins(table_of("a,b,c,count\nx,u,k,5\nx,v,l,1\ny,u,k,0\ny,v,k,7\n"));
    p.release = protect(p.table, "discrete-laplace:epsilon=1", 0);
    check_fail_every(whole_scenario, p.table);
    check_fail_every(compare_scenario, &p);
    cellar_release_free(p.release);
    cellar_table_free(p.table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(release_figures),
        cmocka_unit_test(release_in_another_order),
        cmocka_unit_test(tables_at_the_edge),
        cmocka_unit_test(sparse_table),
        cmocka_unit_test(left_out_is_said),
        cmocka_unit_test(largest_counts),
        cmocka_unit_test(refusals),
        cmocka_unit_test(weighted_tables),
        cmocka_unit_test(multinomial_dirichlet),
        cmocka_unit_test(fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
