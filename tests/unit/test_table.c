/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code_lists.h"
#include "random_table.h"
#include "table/table.h"

#include <math.h>

/* A schema of n variables with n_codes categories each. */
static cellar_schema *cube(size_t n, size_t n_codes)
{
    cellar_codelist *list = numbered_list("", n_codes);
    cellar_schema_variable_def defs[8];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    cellar_schema *schema = NULL;
    for (size_t v = 0; v < n; v++)
        defs[v] = (cellar_schema_variable_def){names[v], CELLAR_DOMAIN_DECLARED, list};
    assert_int_equal(cellar_schema_create(defs, n, NULL, &schema, NULL), CELLAR_OK);
    cellar_codelist_free(list);
    return schema;
}

/* ---- storage ---- */

/* The same look-ups whatever the storage: from one cell in a thousand to all of them. */
static void test_storage(void **state)
{
    static const unsigned per_mille[] = {0, 1, 20, 100, 500, 999, 1000};
    enum { N = 5000 };
    cellar_schema *schema = cube(1, N);
    (void) state;
    for (size_t k = 0; k < sizeof per_mille / sizeof *per_mille; k++) {
        uint64_t random = k, want[N] = {0}, n_records = 0;
        cellar_cells cells = cells_make(N, 0);
        cellar_table *table = NULL;
        size_t n_stored = 0, position = 0;
        cells.n = 0;
        for (uint64_t index = N; index-- > 0;) {
            if (random_below(&random, 1000) >= per_mille[k])
                continue;
            want[index] = 1 + random_below(&random, 9);
            cells.index[cells.n] = index;
            cells.count[cells.n++] = want[index];
            n_records += want[index];
            n_stored++;
        }
        assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
        assert_int_equal(cellar_table_n_cells(table), n_stored);
        assert_int_equal(cellar_table_n_records(table), n_records);
        for (uint64_t index = 0; index < N; index++) {
            cellar_cell cell = cellar_table_at(table, index);
            assert_int_equal(cell.index, index);
            assert_int_equal(cell.count, want[index]);
            assert_true(isnan(cell.weighted));
            if (want[index] != 0)
                assert_int_equal(cellar_table_cell(table, position++).index, index);
        }
        cellar_table_free(table);
    }
    cellar_schema_free(schema);
}

static int entry_compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;
    return (x > y) - (x < y);
}

/* A domain of 10^18 cells: only what is stored costs, and repeated cells add up. */
static void test_huge_domain(void **state)
{
    enum { N = 3000 };
    cellar_schema *schema = cube(6, 1000);
    cellar_cells cells = cells_make(2 * N, 0);
    cellar_table *table = NULL;
    uint64_t random = 5, sorted[N];
    (void) state;
    for (size_t k = 0; k < N; k++) {
        sorted[k] = random_below(&random, cellar_schema_n_indices(schema));
        cells.index[k] = cells.index[2 * N - 1 - k] = sorted[k];
        cells.count[k] = 1;
        cells.count[2 * N - 1 - k] = 2;
    }
    qsort(sorted, N, sizeof *sorted, entry_compare);
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_n_cells(table), N);
    assert_int_equal(cellar_table_n_records(table), 3 * N);
    for (size_t k = 0; k < N; k++) {
        assert_true(cellar_table_cell(table, k).index == sorted[k]);
        assert_int_equal(cellar_table_at(table, sorted[k]).count, 3);
        assert_int_equal(cellar_table_at(table, sorted[k] ^ 1).count, 0);
    }
    cellar_table_free(table);
    cellar_schema_free(schema);
}

/* All 64 margins of it: each holds every record once, and agrees with the margin taken alone. */
static void test_huge_margins(void **state)
{
    enum { N = 200 };
    cellar_schema *schema = cube(6, 1000);
    cellar_cells cells = cells_make(N, 0);
    cellar_margins all = {.all = 1};
    cellar_table *table = NULL, *wide = NULL, *pair = NULL;
    const size_t kept[] = {1, 4};
    uint64_t random = 6, sum = 0;
    (void) state;
    for (size_t k = 0; k < N; k++) {
        cells.index[k] = random_below(&random, cellar_schema_n_indices(schema));
        cells.count[k] = 1;
    }
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_create_expanded(table, &all, &wide, NULL), CELLAR_OK);
    for (size_t k = 0; k < cellar_table_n_cells(wide); k++)
        sum += cellar_table_cell(wide, k).count;
    assert_int_equal(sum, 64 * N);
    assert_int_equal(cellar_schema_cells_per_record(cellar_table_schema(wide)), 64);
    assert_int_equal(cellar_table_create_margin(table, kept, 2, &pair, NULL), CELLAR_OK);
    for (size_t k = 0; k < cellar_table_n_cells(pair); k++) {
        cellar_cell cell = cellar_table_cell(pair, k);
        uint32_t two[2], six[] = {1000, 0, 1000, 1000, 0, 1000};
        cellar_schema_categories(cellar_table_schema(pair), cell.index, two);
        six[1] = two[0];
        six[4] = two[1];
        assert_int_equal(
            cellar_table_at(wide, cellar_schema_index(cellar_table_schema(wide), six)).count,
            cell.count);
    }
    cellar_table_free(pair);
    cellar_table_free(wide);
    cellar_table_free(table);
    cellar_schema_free(schema);
}

/* ---- adding up ---- */

static void test_adding(void **state)
{
    cellar_schema *schema = cube(1, 10);
    cellar_cells cells = cells_make(5, RANDOM_WEIGHTS | RANDOM_KEYS | RANDOM_STATUSES);
    cellar_table *table = NULL;
    (void) state;
    for (size_t k = 0; k < 4; k++) { /* four pieces of cell 7 */
        cells.index[k] = 7;
        cells.count[k] = k;
        cells.weight[k] = 1500000000;
        cells.key[k] = 250 + k * 256;
    }
    cells.status[1] = CELLAR_CELL_UNRELIABLE;
    cells.index[4] = 2; /* no count, but a remark */
    cells.status[4] = CELLAR_CELL_NOT_AVAILABLE;
    assert_int_equal(cellar_table_from_cells(schema, &cells, 256, &table, NULL), CELLAR_OK);
    assert_null(cells.count);
    assert_int_equal(cellar_table_n_cells(table), 2);
    assert_int_equal(cellar_table_cell(table, 0).status, CELLAR_CELL_NOT_AVAILABLE);
    assert_int_equal(cellar_table_cell(table, 1).count, 6);
    assert_int_equal(cellar_table_cell(table, 1).key, 1000 % 256);
    assert_int_equal(cellar_table_cell(table, 1).status, CELLAR_CELL_UNRELIABLE);
    assert_true(cellar_table_cell(table, 1).weighted == 6.0);
    assert_true(cellar_table_weight(table, 1) == 6000000000);
    assert_true(cellar_table_is_weighted(table));
    assert_true(cellar_table_at(table, 3).weighted == 0);
    assert_int_equal(cellar_table_key_range(table), 256);
    cellar_table_free(table);
    cellar_schema_free(schema);
}

/* A key range of 0 with keys present is 2^64. */
static void test_keys_wrap(void **state)
{
    cellar_schema *schema = cube(1, 2);
    cellar_cells cells = cells_make(2, RANDOM_KEYS);
    cellar_table *table = NULL;
    (void) state;
    cells.count[0] = cells.count[1] = 1;
    cells.key[0] = UINT64_MAX;
    cells.key[1] = 3;
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_at(table, 0).key, 2);
    cellar_table_free(table);
    cells = cells_make(2, RANDOM_KEYS);
    cells.count[0] = cells.count[1] = 1;
    cells.key[0] = cells.key[1] = UINT64_MAX - 2; /* a range so large that the sum wraps */
    assert_int_equal(cellar_table_from_cells(schema, &cells, UINT64_MAX, &table, NULL), CELLAR_OK);
    assert_true(cellar_table_at(table, 0).key == UINT64_MAX - 4);
    cellar_table_free(table);
    cellar_schema_free(schema);
}

static void test_refusals(void **state)
{
    static const struct {
        uint64_t index[2], count[2];
        int heavy;
        cellar_status want;
    } cases[] = {
        {{0, 0}, {UINT64_MAX, 1}, 0, CELLAR_ERR_OVERFLOW}, /* one cell */
        {{0, 1}, {UINT64_MAX, 1}, 0, CELLAR_ERR_OVERFLOW}, /* all records */
        {{0, 1}, {UINT64_MAX, 0}, 0, CELLAR_OK},
        {{0, 0}, {1, 1}, 1, CELLAR_ERR_OVERFLOW}, /* the weights */
        {{0, 2}, {1, 1}, 0, CELLAR_ERR_ARGUMENT}, /* no such cell */
    };
    cellar_schema *schema = cube(1, 2);
    (void) state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        cellar_cells cells = cells_make(2, RANDOM_WEIGHTS);
        cellar_table *table = NULL;
        for (size_t i = 0; i < 2; i++) {
            cells.index[i] = cases[k].index[i];
            cells.count[i] = cases[k].count[i];
            cells.weight[i] = cases[k].heavy ? (cellar_int128) 1 << 126 : 1;
        }
        assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), cases[k].want);
        assert_null(cells.index);
        assert_true((table == NULL) == (cases[k].want != CELLAR_OK));
        cellar_table_free(table);
    }
    cellar_schema_free(schema);
}

/* ---- groups ---- */

typedef struct group_walk {
    const cellar_table *table; /* margin of quasi-identifiers and sensitive variable */
    uint64_t next;             /* the first group not yet visited */
    size_t n_groups, stop_after;
} group_walk;

static uint64_t group_size(const cellar_table *margin, uint64_t group, size_t n_values)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < n_values; k++)
        sum += cellar_table_at(margin, group * n_values + k).count;
    return sum;
}

/* Groups come in order, none that is not empty is left out, and the counts are the margin's. */
static int visit_group(void *context, const uint32_t *group, const uint64_t *counts, size_t n)
{
    group_walk *walk = context;
    const cellar_schema *schema = cellar_table_schema(walk->table);
    uint32_t categories[4] = {0};
    size_t n_qid = cellar_schema_n_variables(schema) - 1;
    uint64_t first;
    memcpy(categories, group, n_qid * sizeof *group);
    first = cellar_schema_index(schema, categories);
    assert_true(first / n >= walk->next);
    assert_true(group_size(walk->table, first / n, n) > 0);
    for (; walk->next < first / n; walk->next++)
        assert_int_equal(group_size(walk->table, walk->next, n), 0);
    walk->next++;
    for (size_t k = 0; k < n; k++)
        assert_int_equal(counts[k], cellar_table_at(walk->table, first + k).count);
    return ++walk->n_groups == walk->stop_after;
}

static void test_groups(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        uint64_t random = seed;
        size_t n = 1 + random_below(&random, 4), kept[4], n_qid = random_below(&random, n);
        cellar_schema *schema = random_schema(&random, n, NULL);
        cellar_table *table = random_table(&random, schema, 20, 0, 0), *wide = NULL, *margin = NULL;
        cellar_margins all = {.all = 1, .hierarchies = (UINT64_C(1) << n) - 1};
        for (size_t k = 0; k < n; k++) { /* a random order of the variables */
            size_t j = random_below(&random, k + 1);
            kept[k] = kept[j];
            kept[j] = k;
        }
        assert_int_equal(cellar_table_create_margin(table, kept, n_qid + 1, &margin, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_table_create_expanded(table, &all, &wide, NULL), CELLAR_OK);
        for (int from_wide = 0; from_wide < 2; from_wide++) {
            const cellar_schema *to = cellar_table_schema(margin);
            size_t n_values = cellar_schema_n_leaves(to, n_qid);
            group_walk walk = {.table = margin};
            assert_int_equal(cellar_table_groups(from_wide ? wide : table, kept, n_qid, kept[n_qid],
                                                 visit_group, &walk, NULL),
                             CELLAR_OK);
            for (; walk.next < cellar_schema_n_indices(to) / n_values; walk.next++)
                assert_int_equal(group_size(margin, walk.next, n_values), 0);
            if (walk.n_groups > 1) {
                walk = (group_walk){.table = margin, .stop_after = 1};
                assert_int_equal(
                    cellar_table_groups(table, kept, n_qid, kept[n_qid], visit_group, &walk, NULL),
                    CELLAR_ERR_CANCELLED);
                assert_int_equal(walk.n_groups, 1);
            }
        }
        cellar_table_free(margin);
        cellar_table_free(wide);
        cellar_table_free(table);
        cellar_schema_free(schema);
    }
}

static void test_groups_refuse(void **state)
{
    cellar_schema *schema = cube(2, 2);
    cellar_cells none = cells_make(0, 0);
    cellar_table *table = NULL;
    const size_t same[] = {1, 1}, beyond[] = {2};
    group_walk walk = {0};
    (void) state;
    assert_int_equal(cellar_table_from_cells(schema, &none, 0, &table, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_groups(table, same, 1, 1, visit_group, &walk, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_groups(table, same, 2, 0, visit_group, &walk, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_groups(table, beyond, 1, 0, visit_group, &walk, NULL),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_table_groups(table, same, 1, 0, visit_group, &walk, NULL), CELLAR_OK);
    assert_int_equal(walk.n_groups, 0);
    cellar_table_free(table);
    cellar_schema_free(schema);
}

/* One record more, of any weight up to the bound, changes each rounded sum by 0 to the bound. */
static void test_rounded_weights(void **state)
{
    enum { BOUND = 7, CODES = 5 };
    cellar_schema *schema = cube(1, CODES);
    uint64_t seed = 7;
    (void) state;
    for (size_t round = 0; round < 200; round++) {
        cellar_table *tables[2] = {NULL, NULL}, *rounded[2];
        size_t chosen = random_below(&seed, CODES);
        uint64_t weights[CODES];
        for (size_t i = 0; i < CODES; i++)
            weights[i] = random_below(&seed, UINT64_C(3) * BOUND * CELLAR_WEIGHT_UNIT + 1);
        for (int k = 0; k < 2; k++) {
            cellar_cells cells = cells_make(CODES, RANDOM_WEIGHTS);
            for (size_t i = 0; i < CODES; i++) {
                cells.index[i] = i;
                cells.count[i] = 3 + (uint64_t) (k == 1 && i == chosen);
                cells.weight[i] = (cellar_int128) weights[i];
            }
            if (k == 1)
                cells.weight[chosen] +=
                    (cellar_int128) random_below(&seed, (uint64_t) BOUND * CELLAR_WEIGHT_UNIT + 1);
            assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &tables[k], NULL),
                             CELLAR_OK);
            assert_int_equal(cellar_table_set_max_weight(tables[k], BOUND, NULL), CELLAR_OK);
            assert_int_equal(cellar_table_round_weights(tables[k], &rounded[k], NULL), CELLAR_OK);
            assert_false(cellar_table_is_weighted(rounded[k]));
        }
        for (size_t i = 0; i < CODES; i++) {
            uint64_t few = cellar_table_at(rounded[0], i).count;
            uint64_t many = cellar_table_at(rounded[1], i).count;
            assert_int_equal(few, (weights[i] + CELLAR_WEIGHT_UNIT / 2) / CELLAR_WEIGHT_UNIT);
            assert_in_range(many, few, few + (i == chosen ? BOUND : 0));
        }
        for (int k = 0; k < 2; k++) {
            cellar_table_free(tables[k]);
            cellar_table_free(rounded[k]);
        }
    }
    cellar_schema_free(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_storage),         cmocka_unit_test(test_huge_domain),
        cmocka_unit_test(test_huge_margins),    cmocka_unit_test(test_adding),
        cmocka_unit_test(test_keys_wrap),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_groups),          cmocka_unit_test(test_groups_refuse),
        cmocka_unit_test(test_rounded_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
