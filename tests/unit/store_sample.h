/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Made-up records, stores of them, and what a test of stores compares. */
#ifndef CELLAR_TESTS_STORE_SAMPLE_H
#define CELLAR_TESTS_STORE_SAMPLE_H

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cellar/store.h>

#include "check.h"
#include "scratch.h"
#include "splitmix.h"

static const char store_regions[] = "code,parent,label,role\n"
                                    "N,,North,\nS,,South,\nn1,N,,\nn2,N,,\ns1,S,,\n"
                                    "s2,S,Southern Two,\nx,,Nowhere,unknown\n";

/* Values of every kind: declared, numbers, observed words (quotes, commas, UTF-8), missing ones in
 * two spellings, weights, units and both kinds of record keys. */
static inline void store_write_people(scratch *place, const char *name, size_t n, uint64_t seed)
{
    static const char *const regions[] = {"n1", "n2", "s1", "s2", "?", ""};
    static const char *const jobs[] = {
        "nurse", "\"cook, head\"", "M\303\274ller", "\"the \"\"boss\"\"\"", "?", "10", "9"};
    FILE *file = fopen(scratch_path(place, name), "w");
    assert_non_null(file);
    fputs("region,sex,age,job,w,u,k,k2\n", file);
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = next_random(&seed), s = next_random(&seed);
        fprintf(file, "%s,%s,", regions[r % 29 < 25 ? r % 4 : r % 6],
                (r >> 8) % 50 == 0 ? ""
                : (r >> 8) % 2     ? "m"
                                   : "f");
        fprintf(file, "%u,%s,", (unsigned) (r >> 16) % 100, jobs[(r >> 24) % 7]);
        fprintf(file, "%u.%u,p%u,", (unsigned) (r >> 32) % 30, (unsigned) (r >> 40) % 1000,
                (unsigned) (s % (n / 2 + 1)));
        fprintf(file, "0.%06u,%u\n", (unsigned) (s >> 32) % 1000000, (unsigned) (s >> 16) % 256);
    }
    assert_int_equal(fclose(file), 0);
}

/* The store of `data`, as a file of that name. */
static inline void store_build(scratch *place, const char *name, const cellar_tabulate_spec *data,
                               const char *sort_by)
{
    cellar_output_options how = cellar_output_options_default();
    cellar_output *output = NULL;
    cellar_error err = {""};
    how.replace = 1;
    assert_int_equal(cellar_output_open(scratch_path(place, name), &how, &output, &err), CELLAR_OK);
    if (cellar_store_build(data, sort_by, output, NULL, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
}

static inline void check_same_variable(const cellar_schema *a, const cellar_schema *b, size_t v)
{
    assert_string_equal(cellar_schema_variable(a, v), cellar_schema_variable(b, v));
    assert_int_equal(cellar_schema_domain(a, v), cellar_schema_domain(b, v));
    assert_int_equal(cellar_schema_n_categories(a, v), cellar_schema_n_categories(b, v));
    for (size_t c = 0; c < cellar_schema_n_categories(a, v); c++) {
        assert_string_equal(cellar_schema_code(a, v, c), cellar_schema_code(b, v, c));
        assert_string_equal(cellar_schema_label(a, v, c, 0), cellar_schema_label(b, v, c, 0));
        assert_int_equal(cellar_schema_role(a, v, c), cellar_schema_role(b, v, c));
    }
}

/* Two tables that say the same, to the last bit. */
static inline void check_same_table(const cellar_table *a, const cellar_table *b)
{
    const cellar_schema *schema = cellar_table_schema(a);
    const size_t n = cellar_schema_n_variables(schema);
    assert_int_equal(cellar_schema_n_variables(cellar_table_schema(b)), n);
    for (size_t v = 0; v < n; v++)
        check_same_variable(schema, cellar_table_schema(b), v);
    if (cellar_table_tabulation(a) == NULL) /* it was not counted itself but added up */
        assert_null(cellar_table_tabulation(b));
    else
        assert_string_equal(cellar_table_tabulation(a), cellar_table_tabulation(b));
    assert_int_equal(cellar_table_n_records(a), cellar_table_n_records(b));
    assert_int_equal(cellar_table_key_range(a), cellar_table_key_range(b));
    assert_int_equal(cellar_table_max_weight(a), cellar_table_max_weight(b));
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    for (size_t i = 0; i < cellar_table_n_cells(a); i++) {
        const cellar_cell x = cellar_table_cell(a, i), y = cellar_table_cell(b, i);
        assert_true(x.index == y.index && x.count == y.count && x.key == y.key &&
                    x.status == y.status);
        assert_true(x.weighted == y.weighted || (isnan(x.weighted) && isnan(y.weighted)));
    }
}

#endif
