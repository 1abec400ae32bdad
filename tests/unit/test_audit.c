/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reconstruction attack: against Frechet's bounds, against all tables with the same margins, by
 * simulation. */
#include "check.h"

#include <cellar/audit.h>

#include "adjustment_samples.h"
#include "fail_every.h"

static cellar_audit *attack(const cellar_release *const *releases, size_t n_releases,
                            const cellar_table *const *tables, size_t n_tables)
{
    const cellar_audit_options options = cellar_audit_options_default();
    cellar_audit *audit;
    cellar_error err;
    if (cellar_audit_create(releases, n_releases, tables, n_tables, &options, &audit, &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    return audit;
}

static cellar_audit_cell find_cell(const cellar_audit *audit, uint64_t index)
{
    for (size_t i = 0; i < cellar_audit_n_cells(audit); i++)
        if (cellar_audit_cell_at(audit, i).index == index)
            return cellar_audit_cell_at(audit, i);
    fail_msg("no such cell");
    return (cellar_audit_cell){0};
}

static cellar_table *margin(const cellar_table *table, size_t first, size_t second, size_t n)
{
    const size_t variables[] = {first, second};
    cellar_table *out;
    assert_int_equal(cellar_table_create_margin(table, variables, n, &out, NULL), CELLAR_OK);
    return out;
}

/* ---- without noise -------------------------------------------------------------------------- */

static const small_table two_way = {.n_variables = 2,
                                    .sizes = {2, 3},
                                    .domain = CELLAR_DOMAIN_DECLARED,
                                    .n_cells = 6,
                                    .index = {0, 1, 2, 3, 4, 5},
                                    .count = {5, 0, 2, 1, 9, 3}};

/* max(0, row + column - total) and min(row, column). */
static void bounds_from_two_margins_are_frechets(void **state)
{
    const int64_t rows[] = {7, 13}, columns[] = {6, 9, 5}, total = 20;
    cellar_table *table = small_table_create(&two_way);
    cellar_table *tables[] = {margin(table, 0, 0, 1), margin(table, 1, 0, 1)};
    cellar_audit *audit = attack(NULL, 0, (const cellar_table *const *) tables, 2);
    (void) state;
    for (uint64_t i = 0; i < 6; i++) {
        const int64_t row = rows[i / 3], column = columns[i % 3];
        const cellar_audit_cell cell = find_cell(audit, i);
        assert_int_equal(cell.low, row + column > total ? row + column - total : 0);
        assert_int_equal(cell.high, row < column ? row : column);
    }
    cellar_audit_free(audit);
    for (size_t t = 0; t < 2; t++)
        cellar_table_free(tables[t]);
    cellar_table_free(table);
}

static const small_table three_way = {.n_variables = 3,
                                      .sizes = {3, 2, 2},
                                      .domain = CELLAR_DOMAIN_DECLARED,
                                      .n_cells = 8,
                                      .index = {0, 1, 2, 4, 7, 8, 9, 11},
                                      .count = {3, 1, 4, 2, 1, 6, 1, 2}};

static int64_t count_at(const cellar_table *table, size_t x, size_t y, size_t z)
{
    return (int64_t) cellar_table_at(table, 4 * x + 2 * y + z).count;
}

/* All tables with the same three margins of two variables: what is added to (x,0,0) is taken from
 * (x,0,1) and (x,1,0) and added to (x,1,1), and the sum over x is 0. The linear programme has whole
 * solutions here, so its limits are those of whole numbers. */
static void bounds_from_three_margins_are_those_of_all_tables(void **state)
{
    int64_t low[12], high[12];
    cellar_table *table = small_table_create(&three_way);
    cellar_table *tables[] = {margin(table, 0, 1, 2), margin(table, 2, 0, 2),
                              margin(table, 1, 2, 2)};
    cellar_audit *audit = attack(NULL, 0, (const cellar_table *const *) tables, 3);
    (void) state;
    for (int i = 0; i < 12; i++)
        low[i] = high[i] = count_at(table, (size_t) i / 4, (size_t) i / 2 % 2, (size_t) i % 2);
    for (int64_t a = -20; a <= 20; a++)
        for (int64_t b = -20; b <= 20; b++) {
            const int64_t moved[] = {a, b, -a - b};
            int64_t x[12];
            int fits = 1;
            for (int i = 0; i < 12; i++) {
                const size_t y = (size_t) i / 2 % 2, z = (size_t) i % 2;
                x[i] =
                    count_at(table, (size_t) i / 4, y, z) + (y == z ? moved[i / 4] : -moved[i / 4]);
                fits &= x[i] >= 0;
            }
            for (int i = 0; i < 12 && fits; i++) {
                low[i] = x[i] < low[i] ? x[i] : low[i];
                high[i] = x[i] > high[i] ? x[i] : high[i];
            }
        }
    for (uint64_t i = 0; i < 12; i++) {
        /* The audit's variables are those of the files in their order: x, y, z. */
        assert_int_equal(find_cell(audit, i).low, low[i]);
        assert_int_equal(find_cell(audit, i).high, high[i]);
    }
    cellar_audit_free(audit);
    for (size_t t = 0; t < 3; t++)
        cellar_table_free(tables[t]);
    cellar_table_free(table);
}

static void a_table_itself_pins_every_cell(void **state)
{
    cellar_table *table = small_table_create(&two_way);
    cellar_audit *audit = attack(NULL, 0, (const cellar_table *const *) &table, 1);
    const cellar_audit_summary found = cellar_audit_summarize(audit);
    cellar_audit_score score;
    (void) state;
    assert_int_equal(found.n_pinned, 6);
    assert_int_equal(found.n_pinned_present, 5);
    assert_int_equal(found.n_pinned_ones, 1);
    assert_int_equal(found.n_located, 20);
    assert_true(found.mean_width == 0);
    assert_int_equal(cellar_audit_cell_at(audit, 0).low, 1); /* the most telling first */
    assert_int_equal(cellar_audit_cell_at(audit, 5).low, 0);
    assert_string_equal(cellar_audit_variable(audit, 1), "y");
    assert_string_equal(cellar_audit_code(audit, 5, 1), "c2");
    assert_int_equal(cellar_audit_compare(audit, table, &score, NULL), CELLAR_OK);
    assert_int_equal(score.n_guessed, 6);
    assert_int_equal(score.n_present_guessed, score.n_present);
    assert_true(score.mean_error == 0);
    cellar_audit_free(audit);
    cellar_table_free(table);
}

/* ---- with noise ---------------------------------------------------------------------------- */

static const small_table with_margins = {.n_variables = 2,
                                         .sizes = {3, 4},
                                         .domain = CELLAR_DOMAIN_DECLARED,
                                         .margins.all = 1,
                                         .n_cells = 8,
                                         .index = {0, 1, 2, 4, 6, 7, 9, 11},
                                         .count = {40, 7, 120, 3, 1, 900, 15, 60}};

/* Of 100 releases, the limits of all cells hold in fewer than 77, of 90 % together, with a chance
 * below 1e-3 if the joint confidence is kept. */
static void limits_hold_together(const char *spec, cellar_negatives negatives)
{
    cellar_table *truth = small_table_create(&with_margins);
    cellar_audit_options options = cellar_audit_options_default();
    int n_held = 0;
    options.confidence = 0.9;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        cellar_release *release;
        cellar_audit *audit;
        cellar_audit_score score;
        cellar_status status;
        assert_int_equal(sample_draw(&with_margins, spec, seed, negatives, &release, NULL),
                         CELLAR_OK);
        status = cellar_audit_create((const cellar_release *const *) &release, 1, NULL, 0, &options,
                                     &audit, NULL);
        assert_true(status == CELLAR_OK || status == CELLAR_ERR_RULE); /* no table fits: not held */
        if (status == CELLAR_OK) {
            assert_int_equal(cellar_audit_compare(audit, truth, &score, NULL), CELLAR_OK);
            n_held += score.n_held == 12;
            cellar_audit_free(audit);
        }
        cellar_release_free(release);
    }
    assert_true(n_held >= 77);
    cellar_table_free(truth);
}

static void limits_hold_for_noise_of_every_kind(void **state)
{
    (void) state;
    limits_hold_together("discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
    limits_hold_together("truncated-laplace:epsilon=0.5,m=7", CELLAR_NEGATIVES_ZERO);
    limits_hold_together("poisson:alpha=1", CELLAR_NEGATIVES_KEEP);
}

/* Little noise and margins beside the cells: the table that fits best is nearly the true one, and
 * every margin narrows the limits that a cell has by itself. */
static void little_noise_is_decoded(void **state)
{
    small_table inner = with_margins;
    cellar_release *release = sample_release(&with_margins, "discrete-laplace:epsilon=4", 3),
                   *alone;
    cellar_table *truth = small_table_create(&with_margins);
    cellar_audit *audit = attack((const cellar_release *const *) &release, 1, NULL, 0), *narrow;
    cellar_audit_score score;
    (void) state;
    assert_int_equal(cellar_audit_compare(audit, truth, &score, NULL), CELLAR_OK);
    assert_true(score.n_guessed >= 11);
    inner.margins.all = 0;
    alone = sample_release(&inner, "discrete-laplace:epsilon=4", 3);
    narrow =
        attack((const cellar_release *const *) &alone, 1, (const cellar_table *const *) &truth, 1);
    assert_true(cellar_audit_summarize(narrow).mean_width == 0); /* one file noisy, one exact */
    cellar_audit_free(narrow);
    cellar_audit_free(audit);
    cellar_release_free(alone);
    cellar_release_free(release);
    cellar_table_free(truth);
}

/* ---- what is refused ------------------------------------------------------------------------ */

static cellar_status audit_tables(const cellar_table *a, const cellar_table *b, cellar_error *err)
{
    const cellar_table *tables[] = {a, b};
    const cellar_audit_options options = cellar_audit_options_default();
    cellar_audit *audit;
    return cellar_audit_create(NULL, 0, tables, b != NULL ? 2 : 1, &options, &audit, err);
}

static void it_refuses(void **state)
{
    cellar_audit_options options = cellar_audit_options_default();
    small_table other = two_way, more = two_way;
    cellar_table *table = small_table_create(&two_way), *wide, *larger, *weighted;
    cellar_audit *audit;
    (void) state;
    other.sizes[0] = 3;
    wide = small_table_create(&other);
    assert_int_equal(audit_tables(table, wide, NULL), CELLAR_ERR_INPUT);
    more.count[0]++; /* other people */
    larger = small_table_create(&more);
    assert_int_equal(audit_tables(table, larger, NULL), CELLAR_ERR_RULE);
    more.with_weights = 1;
    weighted = small_table_create(&more);
    assert_int_equal(audit_tables(weighted, NULL, NULL), CELLAR_ERR_RULE);
    assert_int_equal(cellar_audit_create(NULL, 0, NULL, 0, &options, &audit, NULL),
                     CELLAR_ERR_ARGUMENT);
    options.max_cells = 5;
    assert_int_equal(cellar_audit_create(NULL, 0, (const cellar_table *const *) &table, 1, &options,
                                         &audit, NULL),
                     CELLAR_ERR_ARGUMENT);
    options = cellar_audit_options_default();
    options.confidence = 1;
    assert_int_equal(cellar_audit_create(NULL, 0, (const cellar_table *const *) &table, 1, &options,
                                         &audit, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_table_free(table);
    cellar_table_free(wide);
    cellar_table_free(larger);
    cellar_table_free(weighted);
}

/* A cell of which no file says anything has no upper limit. */
static void a_cell_may_have_no_limit(void **state)
{
    small_table marked = two_way;
    cellar_table *table;
    cellar_audit *audit;
    (void) state;
    marked.with_statuses = 1;
    marked.status[4] = CELLAR_CELL_SUPPRESSED;
    table = small_table_create(&marked);
    audit = attack(NULL, 0, (const cellar_table *const *) &table, 1);
    assert_int_equal(find_cell(audit, 4).low, 0);
    assert_int_equal(find_cell(audit, 4).high, CELLAR_AUDIT_NO_LIMIT);
    assert_int_equal(cellar_audit_summarize(audit).n_pinned, 5);
    cellar_audit_free(audit);
    cellar_table_free(table);
}

static cellar_status attack_once(void *context, cellar_error *err)
{
    const cellar_audit_options options = cellar_audit_options_default();
    const cellar_release *release = context;
    cellar_audit *audit;
    const cellar_status status = cellar_audit_create(&release, 1, NULL, 0, &options, &audit, err);
    cellar_audit_free(audit);
    return status;
}

static void any_allocation_may_fail(void **state)
{
    cellar_release *release = sample_release(&with_margins, "discrete-laplace:epsilon=1", 1);
    (void) state;
    check_fail_every(attack_once, release);
    cellar_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_from_two_margins_are_frechets),
        cmocka_unit_test(bounds_from_three_margins_are_those_of_all_tables),
        cmocka_unit_test(a_table_itself_pins_every_cell),
        cmocka_unit_test(limits_hold_for_noise_of_every_kind),
        cmocka_unit_test(little_noise_is_decoded),
        cmocka_unit_test(it_refuses),
        cmocka_unit_test(a_cell_may_have_no_limit),
        cmocka_unit_test(any_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
