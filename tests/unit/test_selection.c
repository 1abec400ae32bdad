/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choices of columns against exhaustive search. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cellar/codelist.h>
#include <cellar/exposure.h>

#include "base/error.h"
#include "code_lists.h"
#include "fail_every.h"
#include "risk/selection/column_groups.h"
#include "selection_samples.h"

/* The measure of a set of columns, from the library's other functions. */
static double measure(const cellar_table *table, uint64_t set,
                      const cellar_selection_options *options)
{
    size_t variables[MAX_COLUMNS], n = 0;
    cellar_exposure_curve *curve, *columns[MAX_COLUMNS];
    cellar_exposure_pair pair = {.population = options->population, .k = options->k};
    cellar_exposure_bound bounds[2];
    const cellar_exposure_model model = {cellar_table_n_records(table), options->k,
                                         options->tolerance};
    double value = 0;
    for (size_t c = 0; c < MAX_COLUMNS; c++)
        if (set >> c & 1)
            variables[n++] = c;
    if (n == 0)
        return cellar_table_n_records(table) < options->k;
    assert_int_equal(cellar_exposure_curve_create(table, variables, n, &curve, NULL), CELLAR_OK);
    switch (options->measure) {
    case CELLAR_SELECTION_KNOWN:
        value = cellar_exposure_value(curve, options->k);
        break;
    case CELLAR_SELECTION_ESTIMATED:
        assert_int_equal(cellar_exposure_statistical(curve, &pair, 1, 1, NULL), CELLAR_OK);
        value = pair.value;
        break;
    case CELLAR_SELECTION_BOUNDED:
    case CELLAR_SELECTION_INDEPENDENT:
        for (size_t i = 0; i < n; i++)
            assert_int_equal(
                cellar_exposure_curve_create(table, &variables[i], 1, &columns[i], NULL),
                CELLAR_OK);
        assert_int_equal(
            cellar_exposure_bounds((const cellar_exposure_curve *const *) columns, n,
                                   (double) options->k / (double) cellar_table_n_records(table),
                                   NULL, bounds, NULL),
            CELLAR_OK);
        value = bounds[0].value;
        if (options->measure == CELLAR_SELECTION_INDEPENDENT) {
            assert_int_equal(
                cellar_exposure_independent((const cellar_exposure_curve *const *) columns, n,
                                            &model, &value, NULL),
                CELLAR_OK);
            for (size_t i = 0; i < n; i++) /* single columns were counted */
                value = fmax(value, cellar_exposure_value(columns[i], options->k));
            value = fmin(value, bounds[0].value);
        }
        for (size_t i = 0; i < n; i++)
            cellar_exposure_curve_free(columns[i]);
        break;
    }
    cellar_exposure_curve_free(curve);
    return value;
}

static double weight_of(uint64_t set, const double *weights)
{
    double sum = 0;
    for (size_t c = 0; c < MAX_COLUMNS; c++)
        sum += set >> c & 1 ? weights[c] : 0;
    return sum;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x < y) - (x > y);
}

/* The weights of all maximal allowed sets, heaviest first; answers how many there are. */
static size_t exhaustive(const cellar_table *table, size_t n,
                         const cellar_selection_options *options, double *weights)
{
    unsigned char allowed[1 << MAX_COLUMNS] = {0};
    size_t n_found = 0;
    for (uint64_t set = 0; set < UINT64_C(1) << n; set++)
        allowed[set] = (set & options->must) == options->must && (set & options->must_not) == 0 &&
                       measure(table, set, options) <= options->exposure;
    for (uint64_t set = 0; set < UINT64_C(1) << n; set++) {
        int maximal = allowed[set];
        for (size_t c = 0; c < n; c++)
            maximal &= (set >> c & 1) || !allowed[set | UINT64_C(1) << c];
        if (maximal)
            weights[n_found++] = weight_of(set, options->weights);
    }
    qsort(weights, n_found, sizeof *weights, descending);
    return n_found;
}

static void choice_is_exhaustive(void **state)
{
    (void) state;
    random_state = 1;
    for (int round = 0; round < 90; round++) {
        size_t n = 2 + (size_t) random_below(MAX_COLUMNS - 1), n_found;
        cellar_table *table = random_table(n, 5 + (size_t) random_below(200));
        cellar_profiles *profiles = profiles_of(table, n);
        double weights[MAX_COLUMNS], found[1 << MAX_COLUMNS];
        cellar_selection_options options = cellar_selection_options_default();
        cellar_selection *selection;

        for (size_t c = 0; c < n; c++)
            weights[c] = 1 + (double) random_below(1000) / 7;
        options.measure =
            round % 5 == 4 ? CELLAR_SELECTION_INDEPENDENT : (cellar_selection_measure) (round % 3);
        options.tolerance = 0.02;
        options.k = 2 + random_below(20);
        options.exposure = (double) random_below(500) / 1000;
        options.population = options.measure == CELLAR_SELECTION_ESTIMATED ? 500 : 0;
        options.weights = weights;
        options.must = round % 4 == 1 ? 2 : 0;
        options.must_not = round % 4 == 2 ? 1 : 0;
        options.n_runners_up = 3;
        n_found = exhaustive(table, n, &options, found);
        assert_int_equal(cellar_selection_create(profiles, &options, &selection, NULL), CELLAR_OK);
        assert_int_equal(cellar_selection_n_sets(selection), n_found < 4 ? n_found : 4);
        assert_true(cellar_selection_gap(selection) == 0);
        for (size_t i = 0; i < cellar_selection_n_sets(selection); i++) {
            cellar_selection_set set = cellar_selection_set_at(selection, i);
            assert_true(fabs(set.weight - found[i]) < 1e-9);
            assert_true(fabs(set.exposure - measure(table, set.columns, &options)) < 1e-12);
        }
        if (n_found > 0)
            for (size_t c = 0; c < n; c++) {
                uint64_t best = cellar_selection_set_at(selection, 0).columns;
                double with = cellar_selection_with(selection, c);
                if (best >> c & 1)
                    assert_true(isnan(with));
                else
                    assert_true(fabs(with - measure(table, best | UINT64_C(1) << c, &options)) <
                                1e-12);
            }
        cellar_selection_free(selection);
        cellar_profiles_free(profiles);
        cellar_table_free(table);
    }
}

/* Twenty columns from a file, more combinations than an index holds; and a search cut short. */
static void twenty_columns(void **state)
{
    enum { COLUMNS = 20, RECORDS = 3000 };
    char path[] = "/tmp/cellar-selection-XXXXXX", names[COLUMNS][16];
    FILE *file = fdopen(mkstemp(path), "w");
    cellar_variable_spec variables[COLUMNS] = {{0}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_selection_options options = cellar_selection_options_default();
    cellar_profiles *profiles;
    cellar_selection *all, *few;
    cellar_row_report rows;
    (void) state;

    random_state = 5;
    for (int c = 0; c < COLUMNS; c++) {
        snprintf(names[c], sizeof names[c], "v%d", c);
        variables[c].column = names[c];
        fprintf(file, "%s%s", names[c], c + 1 < COLUMNS ? "," : "\n");
    }
    for (int r = 0; r < RECORDS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            uint64_t level = random_below(random_below((uint64_t) (c % 7) * 4 + 2) + 1);
            if (r < 40 && c >= 15) /* the domains are large, the data is not */
                level = (uint64_t) (r * 8 + c) % 40;
            fprintf(file, "%d%s", (int) level, c + 1 < COLUMNS ? "," : "\n");
        }
    fclose(file);
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = COLUMNS;
    assert_int_equal(cellar_profiles_read(&spec, &profiles, &rows, NULL), CELLAR_OK);
    assert_int_equal(rows.n_counted, RECORDS);
    assert_int_equal(cellar_profiles_n_people(profiles), RECORDS);
    options.k = 5;
    options.exposure = 0.1;
    options.n_runners_up = 5;
    assert_int_equal(cellar_selection_create(profiles, &options, &all, NULL), CELLAR_OK);
    assert_true(cellar_selection_gap(all) == 0);
    assert_int_equal(cellar_selection_n_sets(all), 6);
    options.n_threads = 1;
    assert_int_equal(cellar_selection_create(profiles, &options, &few, NULL), CELLAR_OK);
    assert_int_equal(cellar_selection_n_evaluations(few), cellar_selection_n_evaluations(all));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(cellar_selection_set_at(few, i).columns,
                         cellar_selection_set_at(all, i).columns);
    cellar_selection_free(few);
    options.max_evaluations = 300;
    assert_int_equal(cellar_selection_create(profiles, &options, &few, NULL), CELLAR_OK);
    assert_true(cellar_selection_gap(few) > 0);
    assert_true(cellar_selection_set_at(few, 0).weight + cellar_selection_gap(few) >=
                cellar_selection_set_at(all, 0).weight);
    cellar_selection_free(few);
    cellar_selection_free(all);
    cellar_profiles_free(profiles);
    unlink(path);
}

/* All sets that contain the base, at once. */
static void check_groups(const cellar_profiles *profiles, uint64_t base, int n_threads)
{
    cellar_selection_options options = {.k = 4, .exposure = 1, .n_threads = n_threads};
    column_groups *groups;
    uint64_t sets[16];
    double values[16];
    size_t n = 0;
    for (uint64_t set = 0; set < UINT64_C(1) << profiles->n_columns; set++)
        if ((set & base) == base)
            sets[n++] = set;
    assert_int_equal(cellar_column_groups_create(profiles, &options, &groups, NULL), CELLAR_OK);
    assert_int_equal(cellar_column_groups_values(groups, base, sets, n, values, NULL), CELLAR_OK);
    for (size_t i = 0; i < n; i++) {
        size_t columns[4], n_columns = 0;
        cellar_exposure_curve *curve;
        for (size_t c = 0; c < profiles->n_columns; c++)
            if (sets[i] >> c & 1)
                columns[n_columns++] = c;
        if (n_columns == 0) {
            assert_true(values[i] == 0);
            continue;
        }
        assert_int_equal(
            cellar_exposure_curve_from_profiles(profiles, columns, n_columns, &curve, NULL),
            CELLAR_OK);
        assert_true(values[i] == cellar_exposure_value(curve, options.k));
        cellar_exposure_curve_free(curve);
    }
    cellar_column_groups_free(groups);
}

/* Columns of one, two and three bytes a level, rows that several people have, more sets at a time
 * than one thread takes: values against the curve of the same columns, whatever the base. */
static void groups_of_wide_columns(void **state)
{
    (void) state;
    enum { N = 4, N_ROWS = 70000 };
    static const size_t n_levels[N] = {3, 300, N_ROWS, 40};
    static uint32_t level[N][N_ROWS];
    static uint64_t counts[N_ROWS];
    uint32_t *levels[N] = {level[0], level[1], level[2], level[3]};
    cellar_codelist *domains[N];
    cellar_profiles profiles = {
        .n_columns = N, .n_rows = N_ROWS, .domains = domains, .levels = levels, .counts = counts};
    random_state = 3;
    for (size_t r = 0; r < N_ROWS; r++) {
        for (size_t c = 0; c < N; c++)
            level[c][r] = (uint32_t) random_below(1 + random_below(n_levels[c]));
        profiles.n_people += counts[r] = 1 + random_below(3);
    }
    for (size_t c = 0; c < N; c++)
        domains[c] = numbered_list("", n_levels[c]);
    for (int threads = 1; threads <= 3; threads += 2)
        for (uint64_t base = 0; base < 1 << N; base++)
            check_groups(&profiles, base, threads);
    for (size_t c = 0; c < N; c++)
        cellar_codelist_free(domains[c]);
}

/* However little time there is, no more exposures are looked at, and what is told holds. */
static void little_time(void **state)
{
    (void) state;
    random_state = 31;
    for (int round = 0; round < 30; round++) {
        cellar_table *table = random_table(MAX_COLUMNS, 30 + (size_t) random_below(200));
        cellar_profiles *profiles = profiles_of(table, MAX_COLUMNS);
        cellar_selection_options options = cellar_selection_options_default();
        cellar_selection *all, *few;
        options.k = 2 + random_below(5);
        options.exposure = (double) random_below(300) / 1000;
        options.n_runners_up = 2;
        assert_int_equal(cellar_selection_create(profiles, &options, &all, NULL), CELLAR_OK);
        assert_true(cellar_selection_gap(all) == 0 && cellar_selection_n_sets(all) > 0);
        for (uint64_t max = 1; max <= 20; max++) {
            cellar_selection_set best;
            options.max_evaluations = max;
            assert_int_equal(cellar_selection_create(profiles, &options, &few, NULL), CELLAR_OK);
            assert_true(cellar_selection_n_evaluations(few) <= max);
            assert_true(cellar_selection_n_sets(few) > 0);
            best = cellar_selection_set_at(few, 0);
            assert_true(best.exposure <= options.exposure);
            assert_true(fabs(best.exposure - measure(table, best.columns, &options)) < 1e-12);
            assert_true(best.weight + cellar_selection_gap(few) >=
                        cellar_selection_set_at(all, 0).weight);
            cellar_selection_free(few);
        }
        cellar_selection_free(all);
        cellar_profiles_free(profiles);
        cellar_table_free(table);
    }
}

static void bad_options(void **state)
{
    cellar_table *table;
    cellar_profiles *profiles;
    cellar_selection *selection;
    cellar_suppression *suppression;
    const double weights[] = {1, 0};
    struct {
        uint64_t k;
        double exposure;
        uint64_t must, must_not, population;
        const double *weights;
    } bad[] = {{0, 0.1, 0, 0, 0, NULL}, {2, NAN, 0, 0, 0, NULL},  {2, 1.5, 0, 0, 0, NULL},
               {2, 0.1, 1, 1, 0, NULL}, {2, 0.1, 0, 0, 10, NULL}, {2, 0.1, 0, 0, 0, weights}};
    cellar_suppression_options none = cellar_suppression_options_default();
    (void) state;
    random_state = 3;
    table = random_table(2, 20);
    profiles = profiles_of(table, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cellar_selection_options options = cellar_selection_options_default();
        options.k = bad[i].k;
        options.exposure = bad[i].exposure;
        options.must = bad[i].must;
        options.must_not = bad[i].must_not;
        options.population = bad[i].population;
        options.weights = bad[i].weights;
        assert_int_equal(cellar_selection_create(profiles, &options, &selection, NULL),
                         CELLAR_ERR_ARGUMENT);
        assert_null(selection);
    }
    none.k = 2;
    none.exposure = 0.1;
    assert_int_equal(cellar_suppression_create(profiles, &none, &suppression, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_profiles_free(profiles);
    cellar_table_free(table);
}

static cellar_status choose_and_suppress(void *context, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const size_t variables[] = {0, 1, 2};
    cellar_profiles *profiles = NULL;
    cellar_selection *selection = NULL;
    cellar_suppression *suppression = NULL;
    cellar_selection_options choice = cellar_selection_options_default();
    cellar_suppression_options rules = cellar_suppression_options_default();

    choice.k = rules.k = 4;
    choice.exposure = rules.exposure = 0.05;
    rules.hide = 0.8;
    CELLAR_TRY(cellar_profiles_create(context, variables, 3, &profiles, err));
    for (int m = 0; m < 3; m++) {
        choice.measure = (cellar_selection_measure) m;
        CELLAR_TRY(cellar_selection_create(profiles, &choice, &selection, err));
        cellar_selection_free(selection);
        selection = NULL;
    }
    CELLAR_TRY(cellar_suppression_create(profiles, &rules, &suppression, err));
out:
    cellar_suppression_free(suppression);
    cellar_selection_free(selection);
    cellar_profiles_free(profiles);
    return status;
}

static cellar_status read_profiles(void *context, cellar_error *err)
{
    cellar_variable_spec variables[2] = {{.column = "a"}, {.column = "b"}};
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    const char *where[] = {"a!=9"};
    cellar_profiles *profiles;
    cellar_status status;
    spec.path = context;
    spec.variables = variables;
    spec.n_variables = 2;
    spec.where = where;
    spec.n_where = 1;
    spec.n_threads = 1;
    status = cellar_profiles_read(&spec, &profiles, NULL, err);
    cellar_profiles_free(profiles);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    char path[] = "/tmp/cellar-profiles-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    cellar_table *table;
    (void) state;
    random_state = 4;
    table = random_table(3, 12);
    check_fail_every(choose_and_suppress, table);
    cellar_table_free(table);
    fputs("a,b\n1,2\n1,3\n9,2\n", file);
    fclose(file);
    check_fail_every(read_profiles, path);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(choice_is_exhaustive),
        cmocka_unit_test(twenty_columns),
        cmocka_unit_test(groups_of_wide_columns),
        cmocka_unit_test(little_time),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
