/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The likelihood ratios of likelihood.csv, which another program found by direct maximisation:
 * every mechanism with independent cells, numbers set to zero, thresholds, structural zeros, small
 * counts, models of two and three variables. To 1e-6. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/inference.h>

enum { CELLS_MAX = 64 };

/* One line, taken apart. */
typedef struct golden {
    const char *mechanism, *negatives, *threshold, *model;
    size_t levels[3], n_variables, n_cells;
    int64_t released[CELLS_MAX];
    unsigned char structural[CELLS_MAX];
    double statistic;
} golden;

static void golden_read(char *line, golden *g)
{
    char *levels, *numbers, *end;
    *g = (golden){.mechanism = strtok(line, ";")};
    g->negatives = strtok(NULL, ";");
    g->threshold = strtok(NULL, ";");
    levels = strtok(NULL, ";");
    g->model = strtok(NULL, ";");
    numbers = strtok(NULL, ";");
    g->statistic = strtod(strtok(NULL, ";\n"), NULL);
    for (end = levels; *end != '\0'; end += *end == 'x')
        g->levels[g->n_variables++] = strtoul(end, &end, 10);
    for (char *word = strtok(numbers, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(g->n_cells < CELLS_MAX);
        g->structural[g->n_cells] = word[0] == '.';
        g->released[g->n_cells++] = word[0] == '.' ? 0 : strtoll(word, NULL, 10);
    }
}

static void golden_check(const golden *g)
{
    static const char *const names[] = {"a", "b", "c"};
    const cellar_noisy_spec spec = {.n_levels = g->levels,
                                    .n_variables = g->n_variables,
                                    .names = names,
                                    .released = g->released,
                                    .structural = g->structural,
                                    .mechanism = g->mechanism,
                                    .negatives = strcmp(g->negatives, "zero") == 0
                                                     ? CELLAR_NEGATIVES_ZERO
                                                     : CELLAR_NEGATIVES_KEEP,
                                    .threshold = strtoll(g->threshold, NULL, 10)};
    cellar_test_options options = cellar_test_options_default();
    cellar_noisy *noisy = NULL;
    cellar_loglinear *test = NULL;
    cellar_error err = {""};
    double got;
    if (cellar_noisy_create(&spec, &noisy, &err) != CELLAR_OK ||
        cellar_loglinear_create(noisy, g->model, NULL, &options, &test, &err) != CELLAR_OK)
        fail_msg("%s: %s", g->mechanism, err.message);
    got = cellar_loglinear_aware(test).statistic;
    assert_true(cellar_loglinear_quality(test).converged);
    if (!(fabs(got - g->statistic) <= 1e-6))
        fail_msg("%s, %s, threshold %s, %s of %zu cells: %.9f, known %.9f", g->mechanism,
                 g->negatives, g->threshold, g->model, g->n_cells, got, g->statistic);
    cellar_loglinear_free(test);
    cellar_noisy_free(noisy);
}

static void test_known_ratios(void **state)
{
    FILE *file = fopen(CELLAR_GOLDEN "/likelihood.csv", "r");
    char line[400];
    int n = 0;
    (void) state;
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        golden g;
        if (line[0] == '#')
            continue;
        golden_read(line, &g);
        golden_check(&g);
        n++;
    }
    fclose(file);
    assert_true(n >= 70);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_ratios)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
