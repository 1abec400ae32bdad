/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "random_table.h"

#include "base/error.h"
#include "fail_every.h"
#include "table/structural/structural.h"

/* ---- help ---- */

static const int ALL_ARRAYS = RANDOM_WEIGHTS | RANDOM_KEYS;
enum { KEY_RANGE = 4096 };

static cellar_int128 weight_at(const cellar_table *table, uint64_t index)
{
    for (size_t k = 0; k < cellar_table_n_cells(table); k++)
        if (cellar_table_cell(table, k).index == index)
            return cellar_table_weight(table, k);
    return 0;
}

/* Every cell of `table` is the sum of the cells of `interior` that its codes say it sums. */
static void check_sums(const cellar_table *table, const cellar_table *interior)
{
    const cellar_schema *schema = cellar_table_schema(table), *plain;
    size_t n_stored = 0;
    plain = cellar_table_schema(interior);
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
        uint64_t count = 0, key = 0;
        cellar_int128 weight = 0;
        cellar_cell cell = cellar_table_at(table, index);
        if (!cellar_schema_has_cell(schema, index)) {
            assert_int_equal(cell.count, 0);
            continue;
        }
        for (size_t k = 0; k < cellar_table_n_cells(interior); k++) {
            cellar_cell leaf = cellar_table_cell(interior, k);
            uint32_t leaves[4];
            cellar_schema_categories(plain, leaf.index, leaves);
            if (!cell_sums(schema, index, leaves))
                continue;
            count += leaf.count;
            key = (key + leaf.key) % KEY_RANGE;
            weight += cellar_table_weight(interior, k);
        }
        assert_int_equal(cell.count, count);
        assert_true(weight_at(table, index) == weight);
        n_stored += count != 0 || weight != 0;
        if (count != 0 || weight != 0)
            assert_int_equal(cell.key, key);
    }
    assert_int_equal(cellar_table_n_cells(table), n_stored);
    assert_int_equal(cellar_table_n_records(table), cellar_table_n_records(interior));
}

static void check_same(const cellar_table *a, const cellar_table *b)
{
    const cellar_schema *s = cellar_table_schema(a), *t = cellar_table_schema(b);
    size_t n_a, n_b;
    assert_int_equal(cellar_schema_n_indices(s), cellar_schema_n_indices(t));
    assert_int_equal(cellar_schema_n_possible(s), cellar_schema_n_possible(t));
    cellar_schema_margins(s, &n_a);
    cellar_schema_margins(t, &n_b);
    assert_int_equal(n_a, n_b);
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    assert_int_equal(cellar_table_n_records(a), cellar_table_n_records(b));
    for (size_t k = 0; k < cellar_table_n_cells(a); k++) {
        cellar_cell x = cellar_table_cell(a, k), y = cellar_table_cell(b, k);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.key, y.key);
        assert_int_equal(x.status, y.status);
        assert_true(cellar_table_weight(a, k) == cellar_table_weight(b, k));
    }
}

static cellar_table *expand(const cellar_table *table, const cellar_margins *margins)
{
    cellar_table *out = NULL;
    assert_int_equal(cellar_table_create_expanded(table, margins, &out, NULL), CELLAR_OK);
    return out;
}

static cellar_table *margin(const cellar_table *table, const size_t *variables, size_t n)
{
    cellar_table *out = NULL;
    assert_int_equal(cellar_table_create_margin(table, variables, n, &out, NULL), CELLAR_OK);
    return out;
}

static cellar_table *slice(const cellar_table *table, size_t variable, size_t category)
{
    cellar_table *out = NULL;
    assert_int_equal(cellar_table_create_slice(table, variable, category, &out, NULL), CELLAR_OK);
    return out;
}

/* ---- tests ---- */

/* All margins, some margins, no margins; hierarchies of some variables; many and few cells. */
static void test_expand_random(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 80; seed++) {
        uint64_t random = seed, masks[6];
        size_t n = 1 + random_below(&random, 3);
        cellar_schema *schema = random_schema(&random, n, NULL);
        cellar_table *table =
            random_table(&random, schema, 5 + 45 * (unsigned) (seed % 3), ALL_ARRAYS, KEY_RANGE);
        cellar_margins margins = {.all = seed % 4 == 0,
                                  .masks = masks,
                                  .n_masks = random_below(&random, 7),
                                  .hierarchies = random_below(&random, UINT64_C(1) << n)};
        cellar_margins other = {.all = 1, .hierarchies = 1};
        cellar_table *wide, *again, *detour;
        for (size_t m = 0; m < 6; m++)
            masks[m] = random_below(&random, UINT64_C(1) << n);
        wide = expand(table, &margins);
        check_sums(wide, table);
        detour = expand(table, &other); /* what was expanded before starts from its leaves */
        again = expand(detour, &margins);
        check_same(wide, again);
        cellar_table_free(again);
        cellar_table_free(detour);
        cellar_table_free(wide);
        cellar_table_free(table);
        cellar_schema_free(schema);
    }
}

/* A margin is the slice at the totals of what it drops, and the order of the rest does not
 * matter; slices and margins commute. */
static void test_margins_and_slices(void **state)
{
    static const size_t some[] = {0, 2}, swapped[] = {2, 0}, first[] = {0}, two[] = {0, 1};
    (void) state;
    for (uint64_t seed = 100; seed <= 140; seed++) {
        uint64_t random = seed;
        cellar_schema *schema = random_schema(&random, 3, NULL);
        cellar_table *table = random_table(&random, schema, 40, ALL_ARRAYS, KEY_RANGE);
        cellar_margins totals = {.all = 1}, all = {.all = 1, .hierarchies = 7};
        cellar_table *wide = expand(table, &totals), *rich = expand(table, &all);
        cellar_table *m = margin(table, some, 2), *direct = expand(m, &totals), *sliced, *other;
        sliced = slice(wide, 1, cellar_schema_n_categories(cellar_table_schema(wide), 1) - 1);
        check_same(direct, sliced);
        cellar_table_free(sliced);

        other = margin(rich, swapped, 2); /* from a table with aggregates, in another order */
        sliced = margin(other, (const size_t[]){1, 0}, 2);
        check_same(m, sliced);
        cellar_table_free(other);
        cellar_table_free(sliced);

        for (size_t c = 0; c < cellar_schema_n_categories(cellar_table_schema(rich), 2); c++) {
            cellar_table *here = slice(rich, 2, c), *there, *sum;
            check_sums(here, other = margin(here, two, 2)); /* a slice adds up like any table */
            cellar_table_free(other);
            sum = margin(here, first, 1);
            if (c < cellar_schema_n_leaves(cellar_table_schema(rich), 2)) {
                there = slice(m, 1, c);
                check_same(sum, there);
                cellar_table_free(there);
            }
            cellar_table_free(sum);
            cellar_table_free(here);
        }
        cellar_table_free(direct);
        cellar_table_free(m);
        cellar_table_free(rich);
        cellar_table_free(wide);
        cellar_table_free(table);
        cellar_schema_free(schema);
    }
}

/* Remarks stay with their cells; a sum has none unless all it sums is impossible. */
static void test_statuses(void **state)
{
    (void) state;
    for (uint64_t seed = 200; seed <= 240; seed++) {
        uint64_t random = seed;
        cellar_schema *schema = random_schema(&random, 2, NULL);
        size_t n = (size_t) cellar_schema_n_indices(schema);
        cellar_margins all = {.all = 1, .hierarchies = 3};
        cellar_cells cells = cells_make(n, RANDOM_STATUSES);
        cellar_table *table = NULL, *wide, *m;
        for (size_t k = 0; k < n; k++) {
            cells.index[k] = k;
            cells.status[k] = random_below(&random, 8) != 0 ? CELLAR_CELL_STRUCTURAL_ZERO
                                                            : (uint8_t) random_below(&random, 5);
            if (cells.status[k] != CELLAR_CELL_STRUCTURAL_ZERO)
                cells.count[k] = random_below(&random, 3);
        }
        assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
        wide = expand(table, &all);
        for (uint64_t index = 0; index < cellar_schema_n_indices(cellar_table_schema(wide));
             index++) {
            cellar_cell_status want = CELLAR_CELL_STRUCTURAL_ZERO;
            size_t n_summed = 0;
            for (size_t k = 0; k < n; k++) {
                uint32_t leaves[2];
                cellar_schema_categories(schema, k, leaves);
                if (!cell_sums(cellar_table_schema(wide), index, leaves))
                    continue;
                n_summed++;
                if (cellar_table_at(table, k).status != CELLAR_CELL_STRUCTURAL_ZERO)
                    want = CELLAR_CELL_NORMAL;
            }
            if (cellar_table_at(wide, index).status != want) {
                uint32_t c[2]; /* then it must be an interior cell with its own remark */
                cellar_schema_categories(cellar_table_schema(wide), index, c);
                assert_true(c[0] < cellar_schema_n_leaves(schema, 0) &&
                            c[1] < cellar_schema_n_leaves(schema, 1) && n_summed == 1);
                assert_int_equal(cellar_table_at(wide, index).status,
                                 cellar_table_at(table, cellar_schema_index(schema, c)).status);
            }
        }
        m = margin(table, (const size_t[]){1}, 1);
        for (uint32_t k = 0; k < cellar_schema_n_leaves(schema, 1); k++) {
            const cellar_schema *to = cellar_table_schema(wide);
            uint32_t total = (uint32_t) cellar_schema_n_categories(to, 0) - 1;
            uint64_t index = cellar_schema_index(to, (const uint32_t[]){total, k});
            assert_int_equal(cellar_table_at(m, k).status, cellar_table_at(wide, index).status);
        }
        cellar_table_free(m);
        cellar_table_free(wide);
        cellar_table_free(table);
        cellar_schema_free(schema);
    }
}

static void test_refusals(void **state)
{
    uint64_t random = 3;
    const size_t twice[] = {1, 1}, beyond[] = {0, 7};
    const uint64_t masks[] = {0};
    cellar_margins grand_total = {.masks = masks, .n_masks = 1};
    cellar_schema *schema = random_schema(&random, 2, NULL);
    cellar_table *table = random_table(&random, schema, 50, 0, 0), *out = NULL, *wide;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_table_create_margin(table, twice, 2, &out, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_create_margin(table, beyond, 2, &out, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_create_margin(table, twice, 0, &out, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_create_slice(table, 2, 0, &out, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_create_slice(table, 0, 100, &out, &err), CELLAR_ERR_ARGUMENT);
    wide = expand(table, &grand_total); /* has a total of variable 0, but not by variable 1 */
    assert_int_equal(
        cellar_table_create_slice(wide, 0, cellar_schema_n_leaves(schema, 0), &out, &err),
        CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "'a'"));
    assert_null(out);
    cellar_table_free(wide);
    cellar_table_free(table);
    cellar_schema_free(schema);
}

/* ---- every allocation fails once ---- */

static cellar_status list_make(cellar_codelist **list, cellar_error *err)
{
    static const char text[] = "code,parent,label\nx,X,one\ny,X,two\nz,,three\nX,,both\n";
    return cellar_codelist_parse("list", text, sizeof text - 1, list, err);
}

static int ignore_group(void *context, const uint32_t *group, const uint64_t *counts, size_t n)
{
    (void) context, (void) group, (void) counts, (void) n;
    return 0;
}

static cellar_status cells_fill(cellar_cells *cells, size_t n, cellar_error *err)
{
    *cells = cells_make(n, ALL_ARRAYS | RANDOM_STATUSES);
    if (cells->index == NULL || cells->count == NULL || cells->weight == NULL ||
        cells->key == NULL || cells->status == NULL)
        return cellar_fail_memory(err, "cells");
    for (size_t k = 0; k < n; k++) {
        cells->index[k] = (k * 5 + 2) % 9;
        cells->count[k] = cells->index[k] != 0;
        cells->status[k] = cells->index[k] == 0 ? CELLAR_CELL_STRUCTURAL_ZERO : CELLAR_CELL_NORMAL;
    }
    return CELLAR_OK;
}

static cellar_status everything(void *context, cellar_error *err)
{
    static const char text[] = "a = x & b = x # never\na = z & b = X\na != x & b = z | X";
    const size_t second[] = {1}, *sum_rules = context;
    const uint64_t masks[] = {1};
    cellar_margins some = {.masks = masks, .n_masks = 1, .hierarchies = 2};
    cellar_margins all = {.all = 1, .hierarchies = 3};
    cellar_structural_rules *rules = NULL;
    cellar_codelist *list = NULL;
    cellar_schema *schema = NULL;
    cellar_table *table = NULL, *wide = NULL, *part = NULL, *row = NULL, *sum = NULL;
    cellar_cells cells = {0};
    cellar_schema_variable_def defs[2];
    cellar_status status;

    CELLAR_TRY(list_make(&list, err));
    CELLAR_TRY(cellar_structural_rules_parse("rules", text, sizeof text - 1, &rules, err));
    defs[0] = (cellar_schema_variable_def){"a", CELLAR_DOMAIN_DECLARED, list};
    defs[1] = (cellar_schema_variable_def){"b", CELLAR_DOMAIN_DECLARED, list};
    CELLAR_TRY(cellar_schema_create(defs, 2, sum_rules == NULL ? NULL : rules, &schema, err));
    CELLAR_TRY(cells_fill(&cells, sum_rules == NULL ? 12 : 0, err));
    CELLAR_TRY(cellar_table_from_cells(schema, &cells, 16, &table, err));
    CELLAR_TRY(cellar_table_create_expanded(table, &all, &wide, err));
    CELLAR_TRY(cellar_table_create_expanded(table, &some, &part, err));
    CELLAR_TRY(cellar_table_create_slice(wide, 0, 1, &row, err));
    CELLAR_TRY(cellar_table_create_margin(wide, second, 1, &sum, err));
    CELLAR_TRY(cellar_table_groups(wide, second, 1, 0, ignore_group, NULL, err));
out:
    cellar_cells_clear(&cells);
    cellar_table_free(table);
    cellar_table_free(wide);
    cellar_table_free(part);
    cellar_table_free(row);
    cellar_table_free(sum);
    cellar_schema_free(schema);
    cellar_structural_rules_free(rules);
    cellar_codelist_free(list);
    return status;
}

static void test_every_allocation_fails(void **state)
{
    size_t with_rules = 1;
    (void) state;
    check_fail_every(everything, NULL);
    check_fail_every(everything, &with_rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expand_random),
        cmocka_unit_test(test_margins_and_slices),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
