/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known before anything is drawn: shares of a total, and forecasts. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "release_samples.h"

static void shares_are_exact_and_never_too_large(void **state)
{
    static const struct {
        const char *total;
        uint64_t n_parts;
        const char *share;
    } cases[] = {
        {"1", 1, "1"},
        {"1", 4, "0.25"},
        {"1", 3, "0.333333333333333"},
        {"2", 3, "0.666666666666666"},
        {"0.1", 31, "0.00322580645161290"},
        {"1e-6", 7, "0.000000142857142857142"},
        {"1000", 3, "333.333333333333"},
        {"12345678901234567890", 1, "12345678901234567890"},
    };
    char share[64];
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[64], *end;
        assert_int_equal(cellar_protect_share(cases[i].total, cases[i].n_parts, share, NULL),
                         CELLAR_OK);
        snprintf(want, sizeof want, "%s", cases[i].share);
        end = want + strlen(want);
        while (strchr(want, '.') != NULL && end[-1] == '0') /* canonical decimals end otherwise */
            *--end = '\0';
        assert_string_equal(share, want);
    }
    assert_int_equal(cellar_protect_share("0", 1, share, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_protect_share("x", 1, share, NULL), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_protect_share("1", 0, share, NULL), CELLAR_ERR_ARGUMENT);
}

/* Sums over all cells and numbers, the slow way. */
static void forecasts_are_sums_over_all_cells(void **state)
{
    static const struct {
        const char *spec;
        cellar_negatives negatives;
        int64_t threshold;
    } cases[] = {
        {"discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP, 0},
        {"discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_ZERO, 0},
        {"laplace:epsilon=0.3", CELLAR_NEGATIVES_ZERO, 4},
        {"poisson:alpha=0.5", CELLAR_NEGATIVES_ZERO, 0},
        {"poisson:alpha=0.5", CELLAR_NEGATIVES_ZERO, 3},
        {"identity", CELLAR_NEGATIVES_ZERO, 2},
    };
    small_table small = plain;
    (void) state;
    small.margins.all = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_protect_options options = keep();
        cellar_table *table = small_table_create(&small);
        const cellar_schema *schema = cellar_table_schema(table);
        cellar_mechanism *m = make(cases[i].spec);
        cellar_forecast forecast;
        double size = 0, false_positives = 0, bias = 0, empty = 0;

        options.per_cell = 1;
        options.negatives = cases[i].negatives;
        options.threshold = cases[i].threshold;
        assert_int_equal(cellar_protect_forecast(table, m, &options, &forecast, NULL), CELLAR_OK);
        for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
            int64_t count = (int64_t) cellar_table_at(table, index).count, low, high;
            uint32_t categories[3];
            cellar_schema_categories(schema, index, categories);
            cellar_mechanism_support(m, count, 1e-14, &low, &high);
            for (int64_t b = low; b <= high; b++) {
                double p = cellar_mechanism_pmf(m, count, b);
                int listed = options.negatives == CELLAR_NEGATIVES_KEEP
                                 ? b != 0
                                 : b >= (options.threshold > 1 ? options.threshold : 1);
                size += listed * p;
                false_positives += (count == 0 && listed && b > 0) * p;
                if (categories[0] < 3 && categories[1] < 4)
                    bias += p * (double) (listed * b - count);
            }
            cellar_mechanism_support(m, 0, 1e-14, &low, &high);
            for (int64_t b = low; b <= high; b++)
                empty += cellar_mechanism_pmf(m, 0, b) *
                         (options.negatives == CELLAR_NEGATIVES_KEEP
                              ? b != 0
                              : b >= (options.threshold > 1 ? options.threshold : 1));
        }
        assert_true(fabs(forecast.size - size) < 1e-9);
        assert_true(fabs(forecast.false_positives - false_positives) < 1e-9);
        assert_true(fabs(forecast.bias - bias) < 1e-9);
        assert_true(fabs(forecast.empty_size - empty) < 1e-9);
        assert_int_equal(forecast.n_possible, 20);
        cellar_mechanism_free(m);
        cellar_table_free(table);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_exact_and_never_too_large),
        cmocka_unit_test(forecasts_are_sums_over_all_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
