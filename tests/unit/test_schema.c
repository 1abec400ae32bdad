/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code_lists.h"
#include "random_table.h"

#include <stdio.h>

/* ---- help ---- */

static cellar_schema *schema_of(const char *first, const char *second)
{
    cellar_codelist *a = parse_list(first), *b = parse_list(second);
    cellar_schema_variable_def defs[] = {{"region", CELLAR_DOMAIN_DECLARED, a},
                                         {"sex", CELLAR_DOMAIN_OBSERVED, b}};
    cellar_schema *schema = NULL;
    assert_int_equal(cellar_schema_create(defs, 2, NULL, &schema, NULL), CELLAR_OK);
    cellar_codelist_free(a);
    cellar_codelist_free(b);
    return schema;
}

static const char REGIONS[] = "code,parent:area,parent:kind,label,label@fr,role\n"
                              "all,,,Everywhere,Partout,total\n"
                              "N,all,,North,Nord,\n"
                              "n1,N,city,North 1,Nord 1,\n"
                              "n2,N,land,North 2,,\n"
                              "s1,all,city,,,\n"
                              "city,,,Cities,Villes,\n"
                              "land,,,,,\n"
                              "?,,,Unknown,Inconnu,unknown\n";
static const char SEXES[] = "code,label\nm,Men\nw,Women\n";

/* ---- tests ---- */

static void test_interior(void **state)
{
    cellar_schema *schema = schema_of(REGIONS, SEXES);
    size_t n_margins, n_members;
    uint32_t categories[2];
    (void) state;

    assert_int_equal(cellar_schema_n_variables(schema), 2);
    assert_string_equal(cellar_schema_variable(schema, 1), "sex");
    assert_int_equal(cellar_schema_find_variable(schema, "sex"), 1);
    assert_true(cellar_schema_find_variable(schema, "Sex") == CELLAR_NO_CODE);
    assert_int_equal(cellar_schema_domain(schema, 0), CELLAR_DOMAIN_DECLARED);
    assert_int_equal(cellar_schema_domain(schema, 1), CELLAR_DOMAIN_OBSERVED);
    assert_int_equal(cellar_schema_n_categories(schema, 0), 4);
    assert_string_equal(cellar_schema_code(schema, 0, 3), "?");
    assert_int_equal(cellar_schema_role(schema, 0, 3), CELLAR_CODE_UNKNOWN);
    assert_true(cellar_schema_find_code(schema, 0, "N", 1) == CELLAR_NO_CODE);
    assert_true(cellar_schema_find_code(schema, 0, "all", 3) == CELLAR_NO_CODE);
    assert_int_equal(cellar_schema_margins(schema, &n_margins)[0], 3);
    assert_int_equal(n_margins, 1);
    assert_int_equal(cellar_schema_n_indices(schema), 8);
    assert_int_equal(cellar_schema_n_possible(schema), 8);
    assert_int_equal(cellar_schema_cells_per_record(schema), 1);
    assert_int_equal(cellar_schema_members(schema, 0, 2, &n_members)[0], 2);
    assert_int_equal(n_members, 1);
    for (uint64_t index = 0; index < 8; index++) {
        cellar_schema_categories(schema, index, categories);
        assert_int_equal(categories[1], index % 2);
        assert_int_equal(cellar_schema_index(schema, categories), index);
    }
    cellar_schema_free(schema);
}

static void test_expanded(void **state)
{
    static const char *const codes[] = {"n1", "n2", "s1", "?", "N", "city", "land", "all"};
    cellar_schema *plain = schema_of(REGIONS, SEXES), *schema = NULL;
    const uint64_t only_sex = 2;
    cellar_margins margins = {.masks = &only_sex, .n_masks = 1, .hierarchies = 3};
    const uint32_t *members;
    size_t n;
    (void) state;

    assert_int_equal(cellar_schema_expand(plain, &margins, &schema, NULL), CELLAR_OK);
    cellar_schema_free(plain);
    assert_int_equal(cellar_schema_n_categories(schema, 0), 8);
    assert_int_equal(cellar_schema_n_categories(schema, 1), 2); /* no margin drops sex */
    for (size_t k = 0; k < 8; k++) {
        assert_string_equal(cellar_schema_code(schema, 0, k), codes[k]);
        assert_int_equal(cellar_schema_find_code(schema, 0, codes[k], strlen(codes[k])), k);
    }
    members = cellar_schema_members(schema, 0, 5, &n);
    assert_int_equal(n, 2);
    assert_int_equal(members[0], 0);
    assert_int_equal(members[1], 2);
    cellar_schema_members(schema, 0, 7, &n);
    assert_int_equal(n, 4);
    assert_int_equal(cellar_schema_role(schema, 0, 7), CELLAR_CODE_TOTAL);
    assert_int_equal(cellar_schema_n_indices(schema), 16);
    assert_int_equal(cellar_schema_n_possible(schema), 16);
    assert_int_equal(cellar_schema_cells_per_record(schema), 3 + 1); /* n1, N, city; total */
    cellar_schema_free(schema);
}

static void test_labels(void **state)
{
    cellar_schema *plain = schema_of(REGIONS, SEXES), *schema = NULL;
    cellar_margins margins = {.all = 1};
    size_t french = 0;
    (void) state;

    assert_int_equal(cellar_schema_expand(plain, &margins, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_schema_n_languages(schema), 2);
    while (strcmp(cellar_schema_language(schema, french), "fr") != 0)
        french++;
    assert_string_equal(cellar_schema_label(schema, 0, 0, french), "Nord 1");
    assert_string_equal(cellar_schema_label(schema, 0, 0, 1 - french), "North 1");
    assert_string_equal(cellar_schema_label(schema, 0, 4, french), "Partout");
    assert_string_equal(cellar_schema_label(schema, 1, 0, french), "Men"); /* has no French */
    assert_string_equal(cellar_schema_code(schema, 1, 2), "_T");
    assert_string_equal(cellar_schema_label(schema, 1, 2, french), "Total");
    assert_int_equal(cellar_schema_find_code(schema, 1, "_T", 2), 2);
    cellar_schema_free(plain);
    cellar_schema_free(schema);
}

static void test_refusals(void **state)
{
    cellar_codelist *million = numbered_list("x", 1000), *taken = parse_list("code\n_T\nx\n");
    cellar_codelist *empty = parse_list("code,role\nall,total\n");
    cellar_schema_variable_def defs[CELLAR_MAX_VARIABLES + 1];
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g"};
    cellar_schema *schema = NULL, *wide = NULL;
    cellar_margins all = {.all = 1};
    const uint64_t unknown = 2;
    cellar_margins listed = {.masks = &unknown, .n_masks = 1}, upper = {.hierarchies = 2};
    (void) state;

    for (size_t v = 0; v < 7; v++)
        defs[v] = (cellar_schema_variable_def){names[v], CELLAR_DOMAIN_DECLARED, million};
    assert_int_equal(cellar_schema_create(defs, 7, NULL, &schema, NULL), CELLAR_ERR_OVERFLOW);
    assert_null(schema);
    assert_int_equal(cellar_schema_create(defs, 6, NULL, &schema, NULL), CELLAR_OK);
    assert_true(cellar_schema_n_possible(schema) == UINT64_C(1000000000000000000));
    assert_int_equal(cellar_schema_expand(schema, &all, &wide, NULL), CELLAR_OK);
    cellar_schema_free(wide);
    cellar_schema_free(schema);
    assert_int_equal(cellar_schema_create(defs, 0, NULL, &schema, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_schema_create(defs, CELLAR_MAX_VARIABLES + 1, NULL, &schema, NULL),
                     CELLAR_ERR_ARGUMENT);
    defs[1].name = "a";
    assert_int_equal(cellar_schema_create(defs, 2, NULL, &schema, NULL), CELLAR_ERR_ARGUMENT);
    defs[0].codelist = empty;
    assert_int_equal(cellar_schema_create(defs, 1, NULL, &schema, NULL), CELLAR_ERR_ARGUMENT);
    defs[0].codelist = taken;
    assert_int_equal(cellar_schema_create(defs, 1, NULL, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_schema_expand(schema, &all, &wide, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_schema_expand(schema, &listed, &wide, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_schema_expand(schema, &upper, &wide, NULL), CELLAR_ERR_ARGUMENT);
    assert_null(wide);
    cellar_schema_free(schema);
    cellar_codelist_free(million);
    cellar_codelist_free(taken);
    cellar_codelist_free(empty);
}

/* All margins of a few variables are welcome, of many not. */
static void test_all_has_a_limit(void **state)
{
    cellar_codelist *one = numbered_list("x", 1);
    cellar_schema_variable_def defs[21];
    char names[21][4];
    cellar_schema *schema = NULL, *wide = NULL;
    cellar_margins all = {.all = 1};
    size_t n_margins;
    (void) state;

    for (size_t v = 0; v < 21; v++) {
        snprintf(names[v], sizeof names[v], "v%zu", v);
        defs[v] = (cellar_schema_variable_def){names[v], CELLAR_DOMAIN_DECLARED, one};
    }
    assert_int_equal(cellar_schema_create(defs, 21, NULL, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_schema_expand(schema, &all, &wide, NULL), CELLAR_ERR_ARGUMENT);
    cellar_schema_free(schema);
    assert_int_equal(cellar_schema_create(defs, 20, NULL, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_schema_expand(schema, &all, &wide, NULL), CELLAR_OK);
    cellar_schema_margins(wide, &n_margins);
    assert_int_equal(n_margins, 1 << 20);
    assert_int_equal(cellar_schema_cells_per_record(wide), 1 << 20);
    cellar_schema_free(schema);
    cellar_schema_free(wide);
    cellar_codelist_free(one);
}

/* Members, sizes and d of random schemas equal what trying every cell says. */
static void check_random(uint64_t seed)
{
    uint64_t random = seed, masks[3], n_possible = 0, d = 0, n_interior;
    size_t n = 1 + random_below(&random, 3), n_masks = random_below(&random, 4), n_margins;
    cellar_schema *plain = random_schema(&random, n, NULL), *schema = NULL;
    cellar_margins margins = {.all = random_below(&random, 3) == 0,
                              .masks = masks,
                              .n_masks = n_masks,
                              .hierarchies = random_below(&random, UINT64_C(1) << n)};

    for (size_t m = 0; m < n_masks; m++)
        masks[m] = random_below(&random, UINT64_C(1) << n);
    assert_int_equal(cellar_schema_expand(plain, &margins, &schema, NULL), CELLAR_OK);
    cellar_schema_margins(schema, &n_margins);
    assert_true(!margins.all || n_margins == (size_t) 1 << n);
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++)
        n_possible += (uint64_t) cellar_schema_has_cell(schema, index);
    assert_int_equal(cellar_schema_n_possible(schema), n_possible);
    n_interior = cellar_schema_n_indices(plain);
    for (uint64_t record = 0; record < n_interior; record++) {
        uint32_t leaves[4];
        uint64_t touched = 0;
        cellar_schema_categories(plain, record, leaves);
        for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++)
            touched += (uint64_t) (cellar_schema_has_cell(schema, index) &&
                                   cell_sums(schema, index, leaves));
        d = touched > d ? touched : d;
    }
    assert_int_equal(cellar_schema_cells_per_record(schema), d);
    cellar_schema_free(plain);
    cellar_schema_free(schema);
}

static void test_random_sizes(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        check_random(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interior),        cmocka_unit_test(test_expanded),
        cmocka_unit_test(test_labels),          cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_all_has_a_limit), cmocka_unit_test(test_random_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
