/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers that repeat themselves: keyed noise, cell keys; and all cells drawn together. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <cellar/cell_key.h>

#include "fail_every.h"
#include "fixed_key.h"
#include "release_samples.h"
#include "scratch.h"

/* ---- keyed noise ------------------------------------------------------------- */

static cellar_key *make_key(const char *path, const char *edition)
{
    cellar_key *key = NULL;
    cellar_error err;
    if (cellar_key_create(path, edition, &err) != CELLAR_OK ||
        cellar_key_read(path, &key, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return key;
}

static cellar_release *release_keyed(const small_table *small, const cellar_key *key, int n_threads)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    cellar_error err;
    options.key = key;
    options.edition = "2026";
    options.per_cell = 1;
    options.n_threads = n_threads;
    if (protect(small, "discrete-laplace:epsilon=0.2", &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return release;
}

/* How many of the cells 0, 1, ... n - 1 have the same noise in both releases. */
static int n_shared(const cellar_release *one, const small_table *first, const cellar_release *two,
                    const small_table *second, uint64_t n)
{
    cellar_table *a = small_table_create(first), *b = small_table_create(second);
    int shared = 0;
    for (uint64_t i = 0; i < n; i++)
        shared += cellar_release_at(one, i).released - (int64_t) cellar_table_at(a, i).count ==
                  cellar_release_at(two, i).released - (int64_t) cellar_table_at(b, i).count;
    cellar_table_free(a);
    cellar_table_free(b);
    return shared;
}

static const small_table described = {.n_variables = 2,
                                      .sizes = {30, 40},
                                      .domain = CELLAR_DOMAIN_DECLARED,
                                      .n_cells = 3,
                                      .index = {0, 5, 11},
                                      .count = {2, 1, 900},
                                      .tabulation = "{\"where\":[\"a\"]}"};

/* The same table asked again is the same release, for any number of threads. */
static void a_table_has_one_release(void **state)
{
    cellar_key *key = fixed_key(*state, 1, "2026");
    cellar_release *one, *four;
    small_table small = described;
    small.margins.all = 1;
    one = release_keyed(&small, key, 1);
    four = release_keyed(&small, key, 4);
    assert_int_equal(cellar_release_n_cells(one), cellar_release_n_cells(four));
    for (uint64_t index = 0; index < UINT64_C(31) * 41; index++)
        assert_int_equal(cellar_release_at(one, index).released,
                         cellar_release_at(four, index).released);
    assert_string_equal(cellar_release_key_id(one), cellar_key_id(key));
    assert_int_equal(cellar_release_noise(one), CELLAR_NOISE_KEYED);
    assert_non_null(strstr(cellar_release_description(one), "\"scheme\":2"));
    cellar_release_free(one);
    cellar_release_free(four);
    cellar_key_free(key);
}

/* As many records in the same schema, and either the description is another or somebody is
 * elsewhere. Two cells have the same noise with a chance of 0.0503 (epsilon is 0.2), so 120 or more
 * of 1200 have with one below 1e-10 (Chernoff); the key is fixed. */
static void other_tables_share_no_noise(void **state)
{
    cellar_key *key = fixed_key(*state, 1, "2026");
    cellar_release *first = release_keyed(&described, key, 1);
    small_table others[3] = {described, described, described};
    others[0].tabulation = "{\"where\":[\"b\"]}";
    others[1].count[0] = 1;
    others[1].count[1] = 2;
    others[2].index[2] = 12;
    for (size_t i = 0; i < 3; i++) {
        cellar_release *other = release_keyed(&others[i], key, 1);
        assert_true(n_shared(first, &described, other, &others[i], 1200) < 120);
        cellar_release_free(other);
    }
    cellar_release_free(first);
    cellar_key_free(key);
}

static void tables_must_say_what_was_counted(void **state)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    cellar_error err;
    cellar_key *key = fixed_key(*state, 1, "2026");

    options.key = key;
    options.edition = "2026";
    assert_int_equal(protect(&plain, "laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_null(release);
    assert_non_null(strstr(err.message, "does not say what was counted"));
    cellar_key_free(key);
}

typedef struct keyed_scenario {
    cellar_table *table;
    cellar_mechanism *mechanism;
    cellar_protect_options options;
} keyed_scenario;

static cellar_status keyed_protect(void *context, cellar_error *err)
{
    const keyed_scenario *s = context;
    cellar_release *release = NULL;
    cellar_status status =
        cellar_release_protect(s->table, s->mechanism, &s->options, &release, err);
    cellar_release_free(release);
    return status;
}

/* Weighted sums have keyed noise too. */
static void failing_allocations_are_survived(void **state)
{
    small_table small = described;
    keyed_scenario s = {.options = keep(), .mechanism = make("discrete-laplace:epsilon=1")};
    cellar_key *key = fixed_key(*state, 2, "2026");
    s.options.key = key;
    s.options.edition = "2026";
    s.options.dataset = "census";
    small.with_weights = 1;
    small.max_weight = s.options.max_weight = 2;
    s.table = small_table_create(&small);
    check_fail_every(keyed_protect, &s);
    cellar_table_free(s.table);
    cellar_mechanism_free(s.mechanism);
    cellar_key_free(key);
}

static void keys_belong_to_one_edition(void **state)
{
    cellar_protect_options options = keep();
    cellar_release *release = NULL;
    cellar_error err;
    char path[400];
    cellar_key *key;

    snprintf(path, sizeof path, "%s", scratch_path(*state, "key"));
    options.key = key = make_key(path, "2025");
    assert_int_equal(protect(&plain, "laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_ARGUMENT);
    options.edition = "2026";
    assert_int_equal(protect(&plain, "laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "2025"));
    cellar_key_free(key);
    snprintf(path, sizeof path, "%s", scratch_path(*state, "nameless"));
    options.key = key = make_key(path, NULL);
    assert_int_equal(protect(&plain, "laplace:epsilon=1", &options, &release, &err),
                     CELLAR_ERR_RULE);
    cellar_key_free(key);
}

/* ---- cell keys ----------------------------------------------------------------- */

static void cell_keys_look_up_the_matrix(void **state)
{
    char path[400], spec[500];
    cellar_mechanism *design = make("max-entropy:variance=2,m=3");
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_release *release = NULL;
    cellar_cell_key *cell_key = NULL;
    cellar_output *output = NULL;
    cellar_table *table;
    cellar_error err;

    snprintf(path, sizeof path, "%s", scratch_path(*state, "matrix.csv"));
    assert_int_equal(cellar_output_open(path, NULL, &output, NULL), CELLAR_OK);
    assert_int_equal(
        cellar_matrix_write(cellar_mechanism_matrix(design), CELLAR_MATRIX_PTABLE, 0, output, NULL),
        CELLAR_OK);
    assert_int_equal(cellar_output_commit(output, NULL), CELLAR_OK);
    snprintf(spec, sizeof spec, "cell-key:file=%s", path);
    small.margins.all = 1;
    small.key_range = 1000;
    small.key[0] = 17;
    small.key[1] = 555;
    small.key[2] = 998;
    table = small_table_create(&small);
    options.n_threads = 2;
    if (cellar_release_protect_cell_keys(table, spec, &options, &release, &err) != CELLAR_OK ||
        cellar_cell_key_create(spec, 1000, &cell_key, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (uint64_t index = 0; index < 20; index++) {
        cellar_cell cell = cellar_table_at(table, index);
        int64_t count = (int64_t) cell.count, want;
        cellar_cell_key_apply(cell_key, &count, &cell.key, 1, &want);
        assert_int_equal(cellar_release_at(release, index).released, want);
    }
    assert_int_equal(cellar_release_noise(release), CELLAR_NOISE_RECORD_KEYS);
    assert_int_equal(cellar_release_verdict(release), CELLAR_VERDICT_FAILS);
    assert_null(strchr(cellar_release_mechanism(release), '/')); /* no path */
    cellar_release_free(release);
    cellar_table_free(table);
    small.key_range = 0;
    table = small_table_create(&small);
    assert_int_equal(cellar_release_protect_cell_keys(table, spec, &options, &release, &err),
                     CELLAR_ERR_ARGUMENT);
    cellar_cell_key_free(cell_key);
    cellar_table_free(table);
    cellar_mechanism_free(design);
}

/* ---- all cells together ---------------------------------------------------------- */

static void joint_draws_keep_the_total(void **state)
{
    cellar_protect_options options = keep();
    small_table small = plain;
    cellar_table *table;
    cellar_release *release = NULL;
    cellar_error err;
    int64_t sum = 0;
    (void) state;

    small.rules = "x = c0 & y = c1\n";
    table = small_table_create(&small);
    if (cellar_release_protect_dirichlet(table, "multinomial-dirichlet:alpha=0.5", &options,
                                         &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < cellar_release_n_cells(release); i++)
        sum += cellar_release_cell(release, i).released;
    assert_int_equal(sum, 903);
    assert_int_equal(cellar_release_at(release, 1).released, 0); /* the structural zero */
    assert_non_null(strstr(cellar_release_certificate(release), "\"invariants\":[\"total\"]"));
    cellar_release_free(release);
    assert_int_equal(cellar_release_protect_dirichlet(
                         table, "multinomial-dirichlet:alpha=1,total=50", &options, &release, NULL),
                     CELLAR_OK);
    assert_non_null(strstr(cellar_release_certificate(release), "\"invariants\":[]"));
    assert_int_equal(cellar_release_verdict(release), CELLAR_VERDICT_HOLDS);
    cellar_release_free(release);
    assert_int_equal(cellar_release_protect_dirichlet(
                         table, "multinomial-dirichlet:alpha=1,cells=12", &options, &release, NULL),
                     CELLAR_ERR_ARGUMENT); /* there are 11 */
    cellar_table_free(table);
    small.margins.all = 1;
    table = small_table_create(&small);
    assert_int_equal(cellar_release_protect_dirichlet(table, "multinomial-dirichlet:alpha=1",
                                                      &options, &release, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_table_has_one_release, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(other_tables_share_no_noise, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(tables_must_say_what_was_counted, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(failing_allocations_are_survived, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(keys_belong_to_one_edition, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(cell_keys_look_up_the_matrix, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(joint_draws_keep_the_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
