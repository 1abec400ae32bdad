/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The variance floor: against least squares on the cells themselves, and as the vault keeps it. */
#include <math.h>

#include <cellar/release_file.h>
#include <cellar/store.h>

#include "plan/work.h"
#include "serve/floor.h"
#include "vault_place.h"

enum {
    LEAVES = 240,
    VARIABLES = 5,
    STEP = CHECK_SHARE > 1 ? 3 : 1
}; /* region 5, sex 2, age 4, edu 3, job 2 */
static const size_t n_leaves[VARIABLES] = {5, 2, 4, 3, 2};

/* ---- least squares ----------------------------------------------------------------------------
 */

/* The cell of a table that a leaf of the cross of all variables is in. */
static size_t cell_of(const serve_axes *axes, const serve_table *table, size_t leaf)
{
    size_t cell = 0, divisor = LEAVES;
    for (size_t v = 0; v < VARIABLES; v++) {
        const cube_axis *axis = &axes->items[v].variable.axis;
        uint32_t node;
        divisor /= n_leaves[v];
        node = (uint32_t) (leaf / divisor % n_leaves[v]);
        if (table->levels[v] == 0)
            continue;
        for (size_t at = axis->n_levels; at > table->levels[v]; at--)
            node = cube_axis_parent(axis, at, node);
        cell = cell * axis->n[table->levels[v]] + node;
    }
    return cell;
}

/* Solves A x = b for a symmetric positive definite A, which is destroyed. */
static void solve(double (*a)[LEAVES], double *b)
{
    for (size_t k = 0; k < LEAVES; k++)
        for (size_t i = k + 1; i < LEAVES; i++) {
            const double factor = a[i][k] / a[k][k];
            for (size_t j = k; factor != 0 && j < LEAVES; j++)
                a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    for (size_t k = LEAVES; k-- > 0;) {
        for (size_t j = k + 1; j < LEAVES; j++)
            b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
}

/* The variance of the best estimate of one cell of a margin, with noise of variance 1. */
static double least_squares(const serve_axes *axes, const serve_table *tables, size_t n,
                            const serve_table *margin, size_t cell)
{
    static double a[LEAVES][LEAVES], b[LEAVES], c[LEAVES];
    double variance = 0;
    for (size_t i = 0; i < LEAVES; i++) {
        b[i] = c[i] = cell_of(axes, margin, i) == cell;
        for (size_t j = 0; j < LEAVES; j++) {
            a[i][j] = i == j ? 1e-8 : 0; /* what is not observed stays free */
            for (size_t t = 0; t < n; t++)
                a[i][j] += cell_of(axes, &tables[t], i) == cell_of(axes, &tables[t], j);
        }
    }
    solve(a, b);
    for (size_t i = 0; i < LEAVES; i++)
        variance += c[i] * b[i];
    return variance;
}

/* The smallest over all margins of the tables and all of their cells. */
static double least_of_all(const serve_axes *axes, const serve_table *tables, size_t n)
{
    double least = INFINITY;
    serve_table margin = {{0}};
    for (;;) {
        int is_below = 0;
        size_t v = 0;
        for (size_t t = 0; t < n; t++) {
            int fits = 1;
            for (size_t k = 0; k < VARIABLES; k++)
                fits &= margin.levels[k] <= tables[t].levels[k];
            is_below |= fits;
        }
        for (size_t cell = 0; is_below && cell < LEAVES; cell++) {
            double variance;
            int is_there = 0;
            for (size_t leaf = 0; leaf < LEAVES; leaf++)
                is_there |= cell_of(axes, &margin, leaf) == cell;
            if (!is_there)
                break;
            variance = least_squares(axes, tables, n, &margin, cell);
            least = variance < least ? variance : least;
        }
        while (v < VARIABLES && ++margin.levels[v] > axes->items[v].variable.axis.n_levels)
            margin.levels[v++] = 0;
        if (v == VARIABLES)
            return least;
    }
}

static void check_floor(const serve_axes *axes, const serve_table *tables, size_t n, int is_even)
{
    const double least = least_of_all(axes, tables, n);
    serve_floor floor;
    CHECK_OK(serve_floor_find(axes, tables, n, 2.5, &floor, &err));
    if (is_even ? fabs(floor.variance / (2.5 * least) - 1) > 1e-5
                : floor.variance > 2.5 * least * (1 + 1e-5))
        fail_msg("floor %.9g, least squares %.9g", floor.variance, 2.5 * least);
    /* a table released again says nothing new */
    serve_table twice[8];
    serve_floor same;
    memcpy(twice, tables, n * sizeof *tables);
    twice[n] = tables[0];
    CHECK_OK(serve_floor_find(axes, twice, n + 1, 2.5, &same, &err));
    assert_true(same.variance == floor.variance);
}

static void test_least_squares(void **state)
{
    static const serve_table even[] = {{{0, 1, 1}}, {{0, 1, 0, 1}}, {{0, 0, 1, 1}}, {{0, 1}}};
    static const serve_table wide[] = {{{0, 1, 1}}, {{0, 1, 0, 0, 1}}, {{0, 0, 0, 0, 1}}};
    static const serve_table levels[] = {{{1, 1}}, {{2, 0, 0, 0, 1}}, {{1}}, {{0, 1}}};
    cellar_vault *vault = vault_open_here(*state);
    const serve_axes *axes = &vault->sets[0].axes;
    for (size_t n = 1; n <= 4; n += STEP)
        check_floor(axes, even, n, 1);
    for (size_t n = 1; n <= 3; n += STEP)
        check_floor(axes, wide, n, 1);
    for (size_t n = 1; n <= 4; n += STEP)
        check_floor(axes, levels, n, 0);
    cellar_vault_close(vault);
}

/* ---- the vault --------------------------------------------------------------------------------
 */

#define DRAW(table) vault_state(vault_ask_draw(vault, "keyed", table, NULL))

static void test_vault(void **state)
{
    static const char *const averaging[] = {"sex*age", "sex*edu", "sex*job", "sex*region^1",
                                            "sex*region"};
    cellar_vault *vault = vault_open_here(*state);
    json_t *reply;
    size_t n = 0;
    assert_string_equal(DRAW("sex"), "drawn");
    while (n < 5 && strcmp(DRAW(averaging[n]), "drawn") == 0)
        n++;
    assert_int_equal(n, 3); /* a variance of 2 / (1 + 1/4 + 1/3 + 1/2 + 1/2) would be below 0.81 */
    reply = vault_ask_draw(vault, "keyed", averaging[n], NULL);
    assert_string_equal(vault_text(reply, "rule"), "variance-floor");
    assert_non_null(strstr(vault_text(reply, "detail"), "margin sex"));
    json_decref(reply);
    assert_string_equal(DRAW("sex*age"), "exists");
    assert_string_equal(DRAW("age*edu"), "drawn"); /* other margins are not worn yet */
    cellar_vault_close(vault);
    vault = vault_open_here(*state); /* the ledger remembers which tables there are */
    assert_string_equal(DRAW(averaging[n]), "refused: variance-floor");
    cellar_vault_close(vault);
}

/* A file that is lost is made again, with the same values: keys decide them. */
static void test_again(void **state)
{
    cellar_vault *vault = vault_open_here(*state);
    json_t *reply = vault_ask_draw(vault, "keyed", "age*edu", NULL);
    cellar_release *first, *second;
    char path[600];
    size_t n_noted = cellar_ledger_n_entries(vault->ledgers[0].ledger);
    snprintf(path, sizeof path, "%s/keyed/%s", ((scratch *) *state)->folder,
             vault_text(reply, "file"));
    json_decref(reply);
    CHECK_OK(cellar_release_read(path, CELLAR_TABLE_AUTO, &first, &err));
    assert_int_equal(unlink(path), 0);
    assert_string_equal(DRAW("age*edu"), "drawn");
    CHECK_OK(cellar_release_read(path, CELLAR_TABLE_AUTO, &second, &err));
    for (uint64_t index = 0; index < 12; index++)
        assert_int_equal(cellar_release_at(first, index).released,
                         cellar_release_at(second, index).released);
    assert_int_equal(cellar_release_noise(first), CELLAR_NOISE_RECORD_KEYS);
    assert_int_equal(cellar_ledger_n_entries(vault->ledgers[0].ledger), n_noted);
    cellar_release_free(first);
    cellar_release_free(second);
    cellar_vault_close(vault);
}

static void test_configuration(void **state)
{
    cellar_vault *vault;
    vault_write_matrix(*state, "max-entropy:variance=0.5,m=3"); /* below 0.81 */
    assert_int_equal(cellar_vault_open(scratch_path(*state, "site.yaml"), NULL, &vault, &err),
                     CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "cell_key.smallest_sd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {VAULT_TEST(test_least_squares), VAULT_TEST(test_vault),
                                       VAULT_TEST(test_again), VAULT_TEST(test_configuration)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
