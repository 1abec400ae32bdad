/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "check.h"

#include "fail_every.h"
#include "adjustment_samples.h"
#include "release/adjustment/rounding.h"
#include "table/schema/schema.h"

/* Many small counts: noise makes about half of the cells negative. */
static const small_table flat = {.n_variables = 2,
                                 .sizes = {3, 4},
                                 .domain = CELLAR_DOMAIN_DECLARED,
                                 .margins = {.all = 1},
                                 .n_cells = 6,
                                 .index = {0, 2, 3, 6, 9, 11},
                                 .count = {4, 1, 2, 1, 8, 1}};
static const small_table deep = {.n_variables = 3,
                                 .sizes = {2, 3, 2},
                                 .domain = CELLAR_DOMAIN_DECLARED,
                                 .margins = {.all = 1},
                                 .n_cells = 5,
                                 .index = {0, 3, 5, 8, 11},
                                 .count = {3, 1, 7, 2, 1}};

static cellar_adjustment *fitted(const small_table *small, uint64_t seed)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_release *release = sample_release(small, "discrete-gaussian:sigma=2", seed);
    cellar_adjustment *fit = NULL;
    assert_int_equal(
        cellar_adjustment_create((const cellar_release *const *) &release, 1, &options, &fit, NULL),
        CELLAR_OK);
    cellar_release_free(release);
    return fit;
}

/* The weighted sum of squares that the fit makes small. */
static double squares(const cellar_adjustment *fit, const double *table)
{
    double sum = 0;
    for (size_t i = 0; i < fit->n; i++)
        sum += fit->weight[i] * (table[i] - fit->observed[i]) * (table[i] - fit->observed[i]);
    return sum;
}

/* ---- not negative ------------------------------------------------------------------ */

static int holds(const cellar_schema *schema, uint64_t aggregate, uint64_t cell)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        const uint32_t c = schema_category(schema, v, aggregate);
        if (c != schema->axes[v].n_categories - 1 && c != schema_category(schema, v, cell))
            return 0;
    }
    return 1;
}

static double inner_sum(const cellar_adjustment *fit, const double *table)
{
    double sum = 0;
    for (size_t i = 0; i < fit->n; i++)
        sum += cellar_schema_is_interior(fit->schema, i) ? table[i] : 0;
    return sum;
}

/* Moves `by` from one inner cell to another, in all that sums them. */
static void transfer(const cellar_adjustment *fit, double *table, size_t from, size_t to, double by)
{
    for (size_t j = 0; j < fit->n; j++)
        table[j] += (holds(fit->schema, j, to) ? by : 0) - (holds(fit->schema, j, from) ? by : 0);
}

/* The total is the unbiased one, and no small move from one cell to another that keeps both >= 0
 * is an improvement, which is enough: the function is convex, and such moves span the tables with
 * that total. */
static void the_non_negative_table_is_the_nearest(void **state)
{
    (void) state;
    size_t n_zero = 0;
    for (uint64_t seed = 0; seed < 12; seed++) {
        cellar_adjustment *fit = fitted(seed % 2 ? &deep : &flat, seed);
        double table[64] = {0};
        assert_in_range(fit->n, 1, 64);
        assert_int_equal(cellar_adjustment_nonnegative(fit, table, NULL), CELLAR_OK);
        assert_true(fabs(inner_sum(fit, table) - cellar_adjustment_total(fit)) < 1e-9);
        const double least = squares(fit, table);
        for (size_t i = 0; i < fit->n; i++) {
            if (!cellar_schema_is_interior(fit->schema, i))
                continue;
            assert_true(table[i] >= 0);
            n_zero += table[i] == 0;
            for (size_t k = 0; k < fit->n; k++) {
                double moved[64];
                if (k == i || !cellar_schema_is_interior(fit->schema, k))
                    continue;
                memcpy(moved, table, sizeof moved);
                transfer(fit, moved, i, k, fmin(1e-3, table[i]));
                assert_true(squares(fit, moved) >= least - 1e-9);
            }
        }
        cellar_adjustment_free(fit);
    }
    assert_in_range(n_zero, 10, 140); /* the constraint was felt */
}

/* A table with few people and no margin: lifting its negative cells to zero would make it many
 * times as large. Both ways of rounding hold the total, too. */
static void a_sparse_table_keeps_its_total(void **state)
{
    (void) state;
    static const small_table sparse = {.n_variables = 3,
                                       .sizes = {9, 10, 10},
                                       .domain = CELLAR_DOMAIN_DECLARED,
                                       .n_cells = 3,
                                       .index = {0, 400, 899},
                                       .count = {90, 60, 150}};
    for (uint64_t seed = 0; seed < 4; seed++) {
        cellar_adjustment *fit = fitted(&sparse, 400 + seed);
        double lifted = 0;
        assert_int_equal(fit->n, 900); /* what was released, and no total */
        for (size_t i = 0; i < fit->n; i++)
            lifted += fmax(fit->estimate[i], 0);
        assert_true(lifted > 2 * cellar_adjustment_total(fit));
        for (size_t searched = 0; searched < 2; searched++) {
            cellar_rounding_options options = cellar_rounding_options_default();
            cellar_rounding *rounding = NULL;
            int64_t sum = 0;
            options.max_searched = searched ? 5000 : 0;
            assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
            for (size_t i = 0; i < fit->n; i++)
                sum += cellar_rounding_value(rounding, i);
            assert_int_equal(cellar_rounding_total(rounding), sum);
            assert_true(fabs((double) sum - cellar_adjustment_total(fit)) < 1);
            cellar_rounding_free(rounding);
        }
        cellar_adjustment_free(fit);
    }
}

/* A total that is estimated as negative becomes zero, and with it every cell. */
static void a_negative_total_becomes_zero(void **state)
{
    (void) state;
    static const small_table empty = {
        .n_variables = 2, .sizes = {3, 4}, .domain = CELLAR_DOMAIN_DECLARED};
    uint64_t seed = 0;
    cellar_adjustment *fit = fitted(&empty, seed);
    const cellar_rounding_options options = cellar_rounding_options_default();
    cellar_rounding *rounding = NULL;
    while (cellar_adjustment_total(fit) >= 0) {
        cellar_adjustment_free(fit);
        fit = fitted(&empty, ++seed);
    }
    assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
    assert_int_equal(cellar_rounding_total(rounding), 0);
    for (size_t i = 0; i < fit->n; i++)
        assert_int_equal(cellar_rounding_value(rounding, i), 0);
    cellar_rounding_free(rounding);
    cellar_adjustment_free(fit);
}

/* ---- whole ----------------------------------------------------------------------- */

/* The smallest sum of distances over all ways to round the cells up or down in which every
 * released aggregate is within one; INFINITY when there is none. */
static double exhaustive(const cellar_adjustment *fit, const double *before)
{
    uint64_t cells[16];
    size_t n = 0;
    double best = INFINITY;
    for (size_t i = 0; i < fit->n; i++)
        if (cellar_schema_is_interior(fit->schema, i))
            cells[n++] = i;
    assert_in_range(n, 1, 12);
    for (unsigned ups = 0; ups < 1u << n; ups++) {
        double cost = 0, value[16];
        int fits = 1;
        for (size_t k = 0; k < n; k++) {
            const double x = before[cells[k]], whole = floor(x + 1e-7);
            const int up = ups >> k & 1;
            if (up && fabs(x - nearbyint(x)) < 1e-7)
                fits = 0;
            value[k] = whole + up;
            cost += fabs(value[k] - x);
        }
        for (size_t j = 0; j < fit->n && fits; j++) {
            double sum = 0;
            if (cellar_schema_is_interior(fit->schema, j))
                continue;
            for (size_t k = 0; k < n; k++)
                sum += holds(fit->schema, j, cells[k]) ? value[k] : 0;
            fits = sum >= floor(before[j] + 1e-7) && sum <= ceil(before[j] - 1e-7);
        }
        if (fits && cost < best)
            best = cost;
    }
    return best;
}

static void check_adds(const cellar_rounding *rounding, const cellar_schema *schema)
{
    for (uint64_t j = 0; j < schema->n_indices; j++) {
        int64_t sum = 0;
        for (uint64_t i = 0; i < schema->n_indices; i++)
            if (cellar_schema_is_interior(schema, i) && holds(schema, j, i))
                sum += cellar_rounding_value(rounding, i);
        assert_true(cellar_rounding_value(rounding, j) >= 0);
        assert_int_equal(cellar_rounding_value(rounding, j), sum);
    }
}

static void it_is_the_best_of_all_roundings(void **state)
{
    (void) state;
    for (uint64_t seed = 0; seed < 16; seed++) {
        cellar_adjustment *fit = fitted(seed % 2 ? &deep : &flat, 100 + seed);
        cellar_rounding_options options = cellar_rounding_options_default();
        cellar_rounding *rounding = NULL;
        assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
        check_adds(rounding, fit->schema);
        const double best = exhaustive(fit, rounding->before);
        assert_int_equal(cellar_rounding_proof_of(rounding), CELLAR_ROUNDING_OPTIMAL);
        if (isfinite(best)) {
            assert_int_equal(cellar_rounding_n_far(rounding), 0);
            assert_true(fabs(cellar_rounding_distance(rounding) - best) < 1e-6);
            assert_true(fabs(cellar_rounding_bound(rounding) - best) < 1e-6);
        } else {
            assert_true(cellar_rounding_n_far(rounding) > 0);
        }
        cellar_rounding_free(rounding);
        cellar_adjustment_free(fit);
    }
}

static void large_tables_are_rounded_downwards(void **state)
{
    (void) state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        cellar_adjustment *fit = fitted(seed % 2 ? &deep : &flat, 200 + seed);
        cellar_rounding_options options = cellar_rounding_options_default();
        cellar_rounding *rounding = NULL;
        options.max_searched = 0;
        assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
        assert_int_equal(cellar_rounding_proof_of(rounding), CELLAR_ROUNDING_GREEDY);
        assert_true(cellar_rounding_bound(rounding) <= cellar_rounding_distance(rounding));
        check_adds(rounding, fit->schema);
        const uint64_t total = fit->schema->n_indices - 1;
        assert_true(fabs((double) cellar_rounding_value(rounding, total) -
                         cellar_rounding_before(rounding, total)) <= 0.5 + 1e-9);
        cellar_rounding_free(rounding);
        cellar_adjustment_free(fit);
    }
}

/* ---- near ------------------------------------------------------------------------ */

static double farthest(const cellar_adjustment *fit, const double *table)
{
    double out = 0;
    for (size_t i = 0; i < fit->n; i++)
        out = fmax(out, fabs(table[i] - fit->estimate[i]));
    return out;
}

/* Moves people from cell to cell of a table, never below zero, while that brings its farthest
 * number nearer to its estimate. Returns how far that is in the end: a bound that can be kept. */
static double witness(const cellar_adjustment *fit, double *table)
{
    double bound = farthest(fit, table);
    for (double step = 1; step > 0.01; step /= 2)
        for (size_t pair = 0; pair < fit->n * fit->n; pair++) {
            const size_t from = pair / fit->n, to = pair % fit->n;
            double moved[64];
            if (!cellar_schema_is_interior(fit->schema, from) || table[from] < step ||
                !cellar_schema_is_interior(fit->schema, to))
                continue;
            memcpy(moved, table, sizeof moved);
            transfer(fit, moved, from, to, step);
            if (farthest(fit, moved) < bound) {
                bound = farthest(fit, moved);
                memcpy(table, moved, fit->n * sizeof *table);
                pair = (size_t) -1; /* once more */
            }
        }
    return bound;
}

static size_t n_beyond(const cellar_adjustment *fit, const double *table, double bound)
{
    size_t n = 0;
    for (size_t i = 0; i < fit->n; i++)
        n += fit->weight[i] > 0 && fabs(table[i] - fit->estimate[i]) > bound + 1e-6;
    return n;
}

/* Some table is within the bound by construction, so one must be found, also where the nearest
 * non-negative one is not. */
static void no_number_moves_further_than_it_must(void **state)
{
    (void) state;
    size_t n_moved = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        cellar_adjustment *fit = fitted(seed % 2 ? &deep : &flat, 300 + seed);
        cellar_rounding_options options = cellar_rounding_options_default();
        cellar_rounding *rounding = NULL;
        double nearest[64] = {0}, within[64];
        assert_int_equal(cellar_adjustment_nonnegative(fit, nearest, NULL), CELLAR_OK);
        memcpy(within, nearest, sizeof within);
        options.max_move = witness(fit, within);
        n_moved += n_beyond(fit, nearest, options.max_move) > 0;
        assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
        check_adds(rounding, fit->schema);
        assert_int_equal(cellar_rounding_n_beyond(rounding), 0);
        assert_int_equal(n_beyond(fit, rounding->before, options.max_move), 0);
        if (cellar_rounding_n_far(rounding) == 0)
            assert_true(cellar_rounding_largest_move(rounding) < options.max_move + 1);
        cellar_rounding_free(rounding);
        cellar_adjustment_free(fit);
    }
    assert_true(n_moved >= 3); /* the bound was felt */
}

/* No table lies within a bound of zero when some estimate is negative: the excess is counted. */
static void what_must_move_further_is_counted(void **state)
{
    (void) state;
    cellar_adjustment *fit = fitted(&flat, 3);
    cellar_rounding_options options = cellar_rounding_options_default();
    cellar_rounding *rounding = NULL;
    options.max_move = 0;
    assert_int_equal(cellar_rounding_create(fit, &options, &rounding, NULL), CELLAR_OK);
    assert_true(cellar_rounding_n_beyond(rounding) > 0);
    assert_true(cellar_rounding_max_move(rounding) == 0);
    check_adds(rounding, fit->schema);
    cellar_rounding_free(rounding);
    cellar_adjustment_free(fit);
}

static cellar_status round_once(void *context, cellar_error *err)
{
    const cellar_rounding_options options = cellar_rounding_options_default();
    cellar_rounding_options large = options;
    cellar_rounding *rounding = NULL;
    cellar_status status = cellar_rounding_create(context, &options, &rounding, err);
    cellar_rounding_free(rounding);
    large.max_move = 0;
    rounding = NULL;
    if (status == CELLAR_OK)
        status = cellar_rounding_create(context, &large, &rounding, err);
    cellar_rounding_free(rounding);
    large.max_searched = 0;
    rounding = NULL;
    if (status == CELLAR_OK)
        status = cellar_rounding_create(context, &large, &rounding, err);
    cellar_rounding_free(rounding);
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    (void) state;
    cellar_adjustment *fit = fitted(&flat, 3);
    check_fail_every(round_once, fit);
    cellar_adjustment_free(fit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_non_negative_table_is_the_nearest),
        cmocka_unit_test(a_sparse_table_keeps_its_total),
        cmocka_unit_test(a_negative_total_becomes_zero),
        cmocka_unit_test(it_is_the_best_of_all_roundings),
        cmocka_unit_test(no_number_moves_further_than_it_must),
        cmocka_unit_test(what_must_move_further_is_counted),
        cmocka_unit_test(large_tables_are_rounded_downwards),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
