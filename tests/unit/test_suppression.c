/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Redactions against exhaustive search. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/exposure.h>

#include "risk/selection/redaction.h"
#include "selection_samples.h"

/* ---- redaction -------------------------------------------------------------- */

/* The entries lost to the cheapest rules, by trying all. */
static uint64_t cheapest_rules(const cellar_table *table, size_t n, uint64_t k, double limit)
{
    size_t column_of[32], n_pairs = 0;
    uint32_t level_of[32];
    uint64_t best = UINT64_MAX;
    const cellar_schema *schema = cellar_table_schema(table);
    for (size_t c = 0; c < n; c++)
        for (uint32_t v = 0; v < cellar_schema_n_leaves(schema, c); v++) {
            column_of[n_pairs] = c;
            level_of[n_pairs++] = v;
        }
    assert_true(n_pairs <= 14);
    for (uint64_t redacted = 0; redacted < UINT64_C(1) << n_pairs; redacted++) {
        static uint64_t sizes[4096];
        uint64_t lost = 0, exposed = 0, total = 0;
        memset(sizes, 0, sizeof sizes);
        for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
            cellar_cell cell = cellar_table_cell(table, i);
            uint32_t categories[MAX_COLUMNS + 1];
            size_t key = 0;
            cellar_schema_categories(schema, cell.index, categories);
            for (size_t c = 0; c < n; c++) {
                uint32_t level = categories[c];
                for (size_t p = 0; p < n_pairs; p++)
                    if ((redacted >> p & 1) && column_of[p] == c && level_of[p] == categories[c]) {
                        level = 7;
                        lost += cell.count;
                    }
                key = key * 8 + level;
            }
            sizes[key] += cell.count;
            total += cell.count;
        }
        for (size_t i = 0; i < 4096; i++)
            exposed += sizes[i] < k ? sizes[i] : 0;
        if ((double) exposed / (double) total <= limit && lost < best)
            best = lost;
    }
    return best;
}

static void rules_are_cheapest(void **state)
{
    (void) state;
    random_state = 9;
    for (int round = 0; round < 25; round++) {
        size_t n = 2 + (size_t) random_below(3);
        cellar_table *table = random_table(n, 10 + (size_t) random_below(40));
        cellar_profiles *profiles = profiles_of(table, n);
        cellar_suppression_options options = cellar_suppression_options_default();
        cellar_suppression *suppression;
        cellar_suppression_summary summary;
        uint64_t lost = 0;

        options.k = 3 + random_below(10);
        options.exposure = (double) random_below(10) / 100;
        options.hide = 1;
        assert_int_equal(cellar_suppression_create(profiles, &options, &suppression, NULL),
                         CELLAR_OK);
        summary = cellar_suppression_summarise(suppression);
        assert_true(summary.met && summary.gap == 0);
        assert_int_equal(summary.lost_to_rules,
                         cheapest_rules(table, n, options.k, options.exposure));
        assert_true(summary.lost_to_chance == 0 && summary.after_rules <= options.exposure);
        assert_true(fabs(summary.after - summary.after_rules) < 1e-12);
        for (size_t i = 0; i < cellar_suppression_n_rules(suppression); i++)
            lost += cellar_suppression_rule_at(suppression, i).n_people;
        assert_int_equal(lost, summary.lost_to_rules);
        cellar_suppression_free(suppression);

        options.hide = 0.5; /* as many random redactions as rules make */
        options.exposure = 0.5;
        assert_int_equal(cellar_suppression_create(profiles, &options, &suppression, NULL),
                         CELLAR_OK);
        summary = cellar_suppression_summarise(suppression);
        assert_true(summary.met == (summary.after <= 0.5));
        assert_true(summary.lost_to_chance <= (double) summary.lost_to_rules + 1e-9);
        cellar_suppression_free(suppression);
        cellar_profiles_free(profiles);
        cellar_table_free(table);
    }
}

/* ---- redaction, hidden ------------------------------------------------------ */

enum { MAX_PAIRS = 9 };

/* What a plan loses and exposes: rules as a mask of pairs, dropped columns as another. The loss is
 * infinite when the rules of a column cannot be hidden. */
static double plan_cost(const cellar_profiles *profiles, uint64_t rules, uint64_t dropped,
                        const cellar_suppression_options *options, double *after)
{
    uint32_t *levels[MAX_COLUMNS];
    double chance[MAX_COLUMNS] = {0}, n = (double) profiles->n_people, cost = 0;
    size_t pair = 0;
    for (size_t c = 0; c < profiles->n_columns; c++) {
        uint32_t mark = (uint32_t) cellar_profiles_n_levels(profiles, c);
        double m = 0;
        levels[c] = calloc(profiles->n_rows, sizeof *levels[c]);
        for (size_t row = 0; row < profiles->n_rows; row++) {
            uint32_t level = profiles->levels[c][row];
            int ruled = (int) (rules >> (pair + level) & 1);
            m += ruled ? (double) profiles->counts[row] : 0;
            levels[c][row] = ruled || (dropped >> c & 1) ? mark : level;
        }
        pair += mark;
        if (dropped >> c & 1)
            cost += m > 0 ? INFINITY : n;
        else
            cost += m < options->hide * n ? m / options->hide : INFINITY;
        chance[c] = dropped >> c & 1 ? 0 : m * (1 - options->hide) / (options->hide * (n - m));
    }
    if (isfinite(cost))
        assert_int_equal(
            cellar_redaction_expected(profiles, levels, chance, options->k, after, NULL),
            CELLAR_OK);
    for (size_t c = 0; c < profiles->n_columns; c++)
        free(levels[c]);
    return cost;
}

/* The least loss of all plans that will do. */
static double cheapest_plan(const cellar_profiles *profiles,
                            const cellar_suppression_options *options)
{
    size_t n_pairs = 0;
    double best = INFINITY;
    for (size_t c = 0; c < profiles->n_columns; c++)
        n_pairs += cellar_profiles_n_levels(profiles, c);
    assert_true(n_pairs <= MAX_PAIRS);
    for (uint64_t dropped = 0; dropped < UINT64_C(1) << profiles->n_columns; dropped++)
        for (uint64_t rules = 0; rules < UINT64_C(1) << n_pairs; rules++) {
            double after = 1, cost = plan_cost(profiles, rules, dropped, options, &after);
            if (after <= options->exposure * (1 + 1e-12))
                best = fmin(best, cost);
        }
    return best;
}

/* The plan keeps its promises: the share of the rules, the exposure, the number of entries. */
static void check_plan(const cellar_profiles *profiles, const cellar_suppression_options *options,
                       const cellar_suppression *suppression)
{
    cellar_suppression_summary summary = cellar_suppression_summarise(suppression);
    uint64_t rules = 0, dropped = 0, first = 0;
    double n = (double) profiles->n_people, after = 1, cost;
    for (size_t c = 0; c < profiles->n_columns; c++) {
        double chance = cellar_suppression_chance(suppression, c), m = 0;
        for (size_t i = 0; i < cellar_suppression_n_rules(suppression); i++) {
            cellar_suppression_rule rule = cellar_suppression_rule_at(suppression, i);
            if (rule.column != c)
                continue;
            m += (double) rule.n_people;
            rules |= UINT64_C(1) << (first + rule.level);
        }
        first += cellar_profiles_n_levels(profiles, c);
        if (chance >= 1) {
            dropped |= UINT64_C(1) << c;
            assert_true(m == 0);
        }
        if (m > 0)
            assert_true(fabs(m / (m + chance * (n - m)) - options->hide) < 1e-12);
        else
            assert_true(chance == 0 || chance == 1);
    }
    cost = plan_cost(profiles, rules, dropped, options, &after);
    assert_true(fabs(cost - (double) summary.lost_to_rules - summary.lost_to_chance) < 1e-6);
    assert_true(fabs(after - summary.after) < 1e-12);
    assert_true(summary.after <= options->exposure * (1 + 1e-12));
}

/* Whenever there are k people the exposure is reached, and with as few entries as there can be. */
static void hidden_rules_are_cheapest(void **state)
{
    const double hides[] = {0.9, 0.5, 0.2, 0.05};
    int n_rules = 0, n_dropped = 0;
    (void) state;
    random_state = 21;
    for (int round = 0; round < 80; round++) {
        size_t n = 1 + (size_t) random_below(3);
        cellar_table *table = random_table(n, 4 + (size_t) random_below(40));
        cellar_profiles *profiles = profiles_of(table, n);
        cellar_suppression_options options = cellar_suppression_options_default();
        cellar_suppression *suppression;
        cellar_suppression_summary summary;
        double best = INFINITY;

        options.k = 2 + random_below(5);
        options.exposure = (double) random_below(20) / 100;
        options.hide = hides[round % 4];
        assert_int_equal(cellar_suppression_create(profiles, &options, &suppression, NULL),
                         CELLAR_OK);
        summary = cellar_suppression_summarise(suppression);
        assert_int_equal(summary.met, profiles->n_people >= options.k);
        if (summary.met) {
            check_plan(profiles, &options, suppression);
            best = cheapest_plan(profiles, &options);
            assert_true(summary.gap == 0);
            assert_true(fabs((double) summary.lost_to_rules + summary.lost_to_chance - best) <
                        1e-6);
        }
        n_rules += cellar_suppression_n_rules(suppression) > 0;
        n_dropped += summary.lost_to_chance > 0 && cellar_suppression_n_rules(suppression) == 0;
        cellar_suppression_free(suppression);

        options.max_evaluations = 1 + random_below(30); /* little time: a plan, and its gap */
        assert_int_equal(cellar_suppression_create(profiles, &options, &suppression, NULL),
                         CELLAR_OK);
        summary = cellar_suppression_summarise(suppression);
        assert_true(summary.n_evaluations <= options.max_evaluations);
        if (summary.met) {
            check_plan(profiles, &options, suppression);
            assert_true((double) summary.lost_to_rules + summary.lost_to_chance - summary.gap <=
                        best + 1e-6);
        }
        cellar_suppression_free(suppression);
        cellar_profiles_free(profiles);
        cellar_table_free(table);
    }
    assert_true(n_rules > 3 && n_dropped > 3);
}

/* Fewer than k people: nothing can be done, and nothing is. */
static void too_few_people(void **state)
{
    const double hides[] = {1, 0.5};
    cellar_table *table = random_table(2, 7);
    cellar_profiles *profiles = profiles_of(table, 2);
    (void) state;
    for (int i = 0; i < 2; i++) {
        cellar_suppression_options options = cellar_suppression_options_default();
        cellar_suppression *suppression;
        options.k = 1000;
        options.exposure = 0.5;
        options.hide = hides[i];
        assert_int_equal(cellar_suppression_create(profiles, &options, &suppression, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_suppression_summarise(suppression).met, 0);
        assert_true(cellar_suppression_summarise(suppression).after == 1);
        assert_int_equal(cellar_suppression_n_rules(suppression), 0);
        assert_true(cellar_suppression_chance(suppression, 0) == 0);
        cellar_suppression_free(suppression);
    }
    cellar_profiles_free(profiles);
    cellar_table_free(table);
}

/* Everything chance can do to six people and two columns, one outcome after the other. */
static void chance_is_exact(void **state)
{
    static const char csv[] = "a,b,count\n0,0,2\n0,1,1\n1,0,1\n1,1,1\n2,1,1\n";
    const uint32_t people[6][2] = {{0, 0}, {0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 1}};
    const double chance[2] = {0.3, 0.45};
    cellar_table_read_options options = {.format = CELLAR_TABLE_CSV};
    const size_t variables[] = {0, 1};
    cellar_table *table;
    cellar_profiles *profiles;
    uint32_t a[] = {0, 0, 1, 1, 3}, b[] = {0, 1, 0, 1, 1}, *levels[] = {a, b}; /* 2 is redacted */
    (void) state;

    assert_int_equal(cellar_table_parse("t", csv, sizeof csv - 1, &options, &table, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_profiles_create(table, variables, 2, &profiles, NULL), CELLAR_OK);
    for (uint64_t k = 1; k <= 7; k++) {
        double want = 0, got;
        for (unsigned outcome = 0; outcome < 1u << 12; outcome++) {
            double probability = 1;
            unsigned sizes[16] = {0}, exposed = 0;
            for (unsigned i = 0; i < 6; i++) {
                unsigned row[2];
                for (unsigned c = 0; c < 2; c++) {
                    int redact = (int) (outcome >> (2 * i + c) & 1);
                    probability *= redact ? chance[c] : 1 - chance[c];
                    row[c] = redact || (c == 0 && people[i][c] == 2) ? 3 : people[i][c];
                }
                sizes[row[0] * 4 + row[1]]++;
            }
            for (unsigned v = 0; v < 16; v++)
                exposed += sizes[v] < k ? sizes[v] : 0;
            want += probability * exposed / 6;
        }
        assert_int_equal(cellar_redaction_expected(profiles, levels, chance, k, &got, NULL),
                         CELLAR_OK);
        assert_true(fabs(got - want) < 1e-12);
    }
    cellar_profiles_free(profiles);
    cellar_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_are_cheapest),
        cmocka_unit_test(hidden_rules_are_cheapest),
        cmocka_unit_test(too_few_people),
        cmocka_unit_test(chance_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
