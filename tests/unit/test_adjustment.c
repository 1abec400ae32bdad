/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <string.h>

#include "check.h"

#include "fail_every.h"
#include "adjustment_samples.h"
#include "release/adjustment/aggregate.h"
#include "release/adjustment/noise_moments.h"
#include "table/schema/schema.h"

enum { MAX_INDICES = 100 }; /* of the tables here, totals included */

static const small_table plain = {.n_variables = 3,
                                  .sizes = {3, 2, 4},
                                  .domain = CELLAR_DOMAIN_DECLARED,
                                  .n_cells = 6,
                                  .index = {0, 3, 7, 11, 17, 23},
                                  .count = {40, 7, 120, 3, 1, 900}};

/* ---- the dense formula ------------------------------------------------------- */

/* E'WE as a matrix over the unknowns, made cell by cell from the categories' members. */
typedef struct dense {
    size_t n;                      /* unknowns */
    uint64_t unknown[MAX_INDICES]; /* their indices */
    double matrix[MAX_INDICES][2 * MAX_INDICES + 1];
} dense;

static int sums(const cellar_schema *schema, uint64_t aggregate, uint64_t cell)
{
    for (size_t v = 0; v < schema->n_variables; v++) {
        size_t n_members, found = 0;
        const uint32_t *members =
            cellar_schema_members(schema, v, schema_category(schema, v, aggregate), &n_members);
        for (size_t m = 0; m < n_members; m++)
            found += members[m] == schema_category(schema, v, cell);
        if (found == 0)
            return 0;
    }
    return 1;
}

/* Inverts by elimination with pivots; the right half begins as the unit matrix. */
static void dense_invert(dense *d)
{
    const size_t width = 2 * d->n;
    for (size_t k = 0; k < d->n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < d->n; i++)
            if (fabs(d->matrix[i][k]) > fabs(d->matrix[pivot][k]))
                pivot = i;
        assert_true(fabs(d->matrix[pivot][k]) > 1e-12);
        for (size_t j = 0; j < width; j++) {
            const double swap = d->matrix[k][j];
            d->matrix[k][j] = d->matrix[pivot][j];
            d->matrix[pivot][j] = swap;
        }
        for (size_t i = 0; i < d->n; i++) {
            const double factor = d->matrix[i][k] / d->matrix[k][k];
            for (size_t j = 0; i != k && j < width; j++)
                d->matrix[i][j] -= factor * d->matrix[k][j];
        }
    }
    for (size_t i = 0; i < d->n; i++)
        for (size_t j = d->n; j < width; j++)
            d->matrix[i][j] /= d->matrix[i][i];
}

/* Weights and numbers of the releases by the fit's index, found by codes and not by arithmetic. */
static void observe(const cellar_adjustment *fit, const cellar_release *release, double *weight,
                    double *weighted)
{
    const cellar_schema *to = cellar_adjustment_schema(fit), *from = cellar_release_schema(release);
    cellar_noise_moments noise;
    assert_int_equal(cellar_noise_moments_init(&noise, release, NULL), CELLAR_OK);
    for (uint64_t index = 0; index < cellar_schema_n_indices(from); index++) {
        uint32_t at[3];
        if (!cellar_schema_has_cell(from, index) || cellar_schema_is_structural_zero(from, index))
            continue;
        for (size_t v = 0; v < to->n_variables; v++) {
            const size_t mine = cellar_schema_find_variable(from, cellar_schema_variable(to, v));
            const char *code =
                mine == CELLAR_NO_CODE
                    ? "_T"
                    : cellar_schema_code(from, mine, schema_category(from, mine, index));
            at[v] = (uint32_t) cellar_schema_find_code(to, v, code, strlen(code));
        }
        const int64_t released = cellar_release_at(release, index).released;
        const double w = 1 / cellar_noise_moments_variance(&noise, released);
        weight[cellar_schema_index(to, at)] += w;
        weighted[cellar_schema_index(to, at)] += w * ((double) released - noise.offset);
    }
    cellar_noise_moments_clear(&noise);
}

static void dense_build(dense *d, const cellar_adjustment *fit, const double *weight)
{
    const cellar_schema *schema = cellar_adjustment_schema(fit);
    *d = (dense){0};
    for (uint64_t i = 0; i < schema->n_indices; i++)
        if (cellar_schema_is_interior(schema, i) && !cellar_schema_is_structural_zero(schema, i))
            d->unknown[d->n++] = i;
    for (size_t i = 0; i < d->n; i++) {
        d->matrix[i][d->n + i] = 1;
        for (size_t j = 0; j < d->n; j++)
            for (uint64_t a = 0; a < schema->n_indices; a++)
                if (weight[a] > 0 && sums(schema, a, d->unknown[i]) &&
                    sums(schema, a, d->unknown[j]))
                    d->matrix[i][j] += weight[a];
    }
    dense_invert(d);
}

/* The fit of the releases against the formula: estimates, sums and covariances. */
static void check_fit(const cellar_release *const *releases, size_t n_releases)
{
    static dense d;
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    double weight[MAX_INDICES] = {0}, weighted[MAX_INDICES] = {0}, want[MAX_INDICES] = {0};
    cellar_adjustment *fit = NULL;
    cellar_error err;
    if (cellar_adjustment_create(releases, n_releases, &options, &fit, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    const cellar_schema *schema = cellar_adjustment_schema(fit);
    assert_in_range(schema->n_indices, 1, MAX_INDICES);
    for (size_t r = 0; r < n_releases; r++)
        observe(fit, releases[r], weight, weighted);
    dense_build(&d, fit, weight);
    for (size_t i = 0; i < d.n; i++)
        for (size_t j = 0; j < d.n; j++)
            for (uint64_t a = 0; a < schema->n_indices; a++)
                if (sums(schema, a, d.unknown[j]))
                    want[d.unknown[i]] += d.matrix[i][d.n + j] * weighted[a];
    cellar_aggregate_sum(schema, want);
    for (uint64_t a = 0; a < schema->n_indices; a++) {
        assert_true(fabs(cellar_adjustment_estimate(fit, a) - want[a]) <
                    1e-7 * (1 + fabs(want[a])));
        assert_true(isnan(cellar_adjustment_observed(fit, a)) == (weight[a] == 0));
        if (weight[a] > 0)
            assert_true(fabs(cellar_adjustment_observed(fit, a) - weighted[a] / weight[a]) < 1e-9);
    }
    for (size_t i = 0; i < d.n; i += 5) {
        double covariance, direct;
        assert_int_equal(
            cellar_adjustment_covariance(fit, d.unknown[i], d.unknown[d.n - 1], &covariance, &err),
            0);
        direct = d.matrix[i][2 * d.n - 1];
        assert_true(fabs(covariance - direct) < 1e-8 * (1 + fabs(direct)));
    }
    cellar_adjustment_free(fit);
}

static void it_is_the_least_squares_formula(void **state)
{
    (void) state;
    static const uint64_t some[] = {1, 6};
    static const struct {
        const char *spec;
        cellar_margins margins;
        const char *rules;
    } cases[] = {{"discrete-laplace:epsilon=0.5", {.all = 1}, NULL},
                 {"discrete-gaussian:sigma=3", {.masks = some, .n_masks = 2}, NULL},
                 {"poisson:alpha=2", {.all = 1}, NULL},
                 {"poisson:alpha=2", {.all = 1}, "x = c1 & y = c1\n"},
                 {"negbin:alpha=1,sigma=0.1", {.all = 0}, NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        small_table small = plain;
        small.margins = cases[i].margins;
        small.rules = cases[i].rules;
        if (small.rules != NULL)
            small.n_cells = 3; /* the others are impossible */
        const cellar_release *release = sample_release(&small, cases[i].spec, 7 + i);
        check_fit(&release, 1);
        cellar_release_free((cellar_release *) (uintptr_t) release);
    }
}

static void releases_of_fewer_variables_join_in(void **state)
{
    (void) state;
    small_table coarse = {.n_variables = 1,
                          .sizes = {3},
                          .domain = CELLAR_DOMAIN_DECLARED,
                          .margins.all = 1,
                          .n_cells = 3,
                          .index = {0, 1, 2},
                          .count = {47, 123, 901}};
    const cellar_release *releases[] = {sample_release(&plain, "laplace:epsilon=0.2", 1),
                                        sample_release(&coarse, "discrete-gaussian:sigma=1", 2),
                                        sample_release(&plain, "discrete-laplace:epsilon=1", 3)};
    check_fit(releases, 3);
    for (size_t i = 0; i < 3; i++)
        cellar_release_free((cellar_release *) (uintptr_t) releases[i]);
}

/* A table of t variables with one variance in each margin has at most 2^t different eigenvalues. */
static void balanced_tables_take_few_steps(void **state)
{
    (void) state;
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    small_table small = plain;
    cellar_adjustment *fit = NULL;
    small.margins.all = 1;
    const cellar_release *release = sample_release(&small, "discrete-laplace:epsilon=1", 5);
    assert_int_equal(cellar_adjustment_create(&release, 1, &options, &fit, NULL), CELLAR_OK);
    assert_in_range(cellar_adjustment_n_iterations(fit), 1, 9); /* one more for rounding */
    assert_true(cellar_adjustment_remainder(fit) < 1e-12);
    cellar_adjustment_free(fit);
    cellar_release_free((cellar_release *) (uintptr_t) release);
}

/* ---- refusals ------------------------------------------------------------------ */

static void what_cannot_be_fitted_is_refused(void **state)
{
    (void) state;
    static const struct {
        const char *spec, *said;
        cellar_negatives negatives;
    } cases[] = {{"discrete-laplace:epsilon=1", "set to zero", CELLAR_NEGATIVES_ZERO},
                 {"identity", "no noise", CELLAR_NEGATIVES_KEEP},
                 {"hellinger:epsilon=1", "depends on the count", CELLAR_NEGATIVES_KEEP}};
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_release *release = NULL;
        cellar_adjustment *fit = NULL;
        cellar_error err;
        assert_int_equal(sample_draw(&plain, cases[i].spec, 1, cases[i].negatives, &release, &err),
                         0);
        assert_int_equal(cellar_adjustment_create((const cellar_release *const *) &release, 1,
                                                  &options, &fit, &err),
                         CELLAR_ERR_RULE);
        assert_non_null(strstr(err.message, cases[i].said));
        assert_null(fit);
        cellar_release_free(release);
    }
}

static void other_variables_are_refused(void **state)
{
    (void) state;
    small_table narrow = plain, long_one = plain;
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_adjustment *fit = NULL;
    cellar_error err;
    narrow.n_variables = 2;
    narrow.n_cells = 0;
    long_one.sizes[0] = 5;
    const cellar_release *releases[] = {sample_release(&narrow, "discrete-laplace:epsilon=1", 1),
                                        sample_release(&plain, "discrete-laplace:epsilon=1", 1)};
    const cellar_release *codes[] = {releases[1],
                                     sample_release(&long_one, "discrete-laplace:epsilon=1", 1)};
    assert_int_equal(cellar_adjustment_create(releases, 2, &options, &fit, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "variable 'z'"));
    assert_int_equal(cellar_adjustment_create(codes, 2, &options, &fit, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "'c3'"));
    cellar_release_free((cellar_release *) (uintptr_t) releases[0]);
    cellar_release_free((cellar_release *) (uintptr_t) releases[1]);
    cellar_release_free((cellar_release *) (uintptr_t) codes[1]);
}

/* Without overlap the estimate is what was released, and its variance that of the noise. */
static void alone_a_cell_keeps_its_own_variance(void **state)
{
    (void) state;
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    const cellar_release *release = sample_release(&plain, "discrete-laplace:epsilon=1", 1);
    cellar_adjustment *fit = NULL;
    double variance;
    assert_int_equal(cellar_adjustment_create(&release, 1, &options, &fit, NULL), CELLAR_OK);
    assert_int_equal(cellar_adjustment_covariance(fit, 0, 0, &variance, NULL), CELLAR_OK);
    assert_true(fabs(variance - 2 * exp(-1) / pow(1 - exp(-1), 2)) < 1e-9);
    assert_int_equal(cellar_adjustment_covariance(fit, 1000, 0, &variance, NULL),
                     CELLAR_ERR_ARGUMENT);
    cellar_adjustment_free(fit);
    cellar_release_free((cellar_release *) (uintptr_t) release);
}

/* The table has what some release holds, and more only when it is asked for. */
static void it_has_the_margins_that_were_released(void **state)
{
    (void) state;
    static const uint64_t only_x[] = {1};
    cellar_adjustment_options options = cellar_adjustment_options_default();
    small_table with_x = plain;
    with_x.margins = (cellar_margins){.masks = only_x, .n_masks = 1};
    const cellar_release *releases[] = {sample_release(&plain, "discrete-gaussian:sigma=2", 11),
                                        sample_release(&with_x, "discrete-gaussian:sigma=2", 12)};
    const struct {
        size_t n_releases;
        cellar_margins margins;
        size_t n_cells; /* 3 x 2 x 4; with x 3 more; all margins: 4 x 3 x 5 */
    } cases[] = {
        {1, {0}, 24}, {2, {0}, 27}, {1, {.masks = only_x, .n_masks = 1}, 27}, {1, {.all = 1}, 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_adjustment *fit = NULL;
        size_t n = 0;
        double sum = 0;
        options.margins = cases[i].margins;
        assert_int_equal(
            cellar_adjustment_create(releases, cases[i].n_releases, &options, &fit, NULL),
            CELLAR_OK);
        const cellar_schema *schema = cellar_adjustment_schema(fit);
        for (uint64_t index = 0; index < schema->n_indices; index++) {
            n += (size_t) cellar_schema_has_cell(schema, index);
            sum += cellar_schema_is_interior(schema, index) ? cellar_adjustment_estimate(fit, index)
                                                            : 0;
        }
        assert_int_equal(n, cases[i].n_cells);
        assert_true(fabs(cellar_adjustment_total(fit) - sum) < 1e-9);
        cellar_adjustment_free(fit);
    }
    for (size_t r = 0; r < 2; r++)
        cellar_release_free((cellar_release *) (uintptr_t) releases[r]);
}

static void larger_tables_are_refused(void **state)
{
    (void) state;
    cellar_adjustment_options options = cellar_adjustment_options_default();
    cellar_release *release = sample_release(&plain, "discrete-gaussian:sigma=2", 11);
    cellar_adjustment *fit = NULL;
    cellar_error err;
    options.max_cells = 24;
    assert_int_equal(
        cellar_adjustment_create((const cellar_release *const *) &release, 1, &options, &fit, &err),
        CELLAR_OK);
    cellar_adjustment_free(fit);
    options.max_cells = 23;
    assert_int_equal(
        cellar_adjustment_create((const cellar_release *const *) &release, 1, &options, &fit, &err),
        CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "--max-cells"));
    assert_null(fit);
    cellar_release_free(release);
}

static cellar_status fit_once(void *context, cellar_error *err)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    const cellar_release *release = context;
    cellar_adjustment *fit = NULL;
    double variance;
    cellar_status status = cellar_adjustment_create(&release, 1, &options, &fit, err);
    if (status == CELLAR_OK)
        status = cellar_adjustment_covariance(fit, 0, 1, &variance, err);
    cellar_adjustment_free(fit);
    return status;
}

static void memory_may_end_anywhere(void **state)
{
    (void) state;
    small_table small = plain;
    small.margins.all = 1;
    cellar_release *release = sample_release(&small, "poisson:alpha=1", 5);
    check_fail_every(fit_once, release);
    cellar_release_free(release);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_least_squares_formula),
        cmocka_unit_test(releases_of_fewer_variables_join_in),
        cmocka_unit_test(balanced_tables_take_few_steps),
        cmocka_unit_test(what_cannot_be_fitted_is_refused),
        cmocka_unit_test(other_variables_are_refused),
        cmocka_unit_test(it_has_the_margins_that_were_released),
        cmocka_unit_test(larger_tables_are_refused),
        cmocka_unit_test(alone_a_cell_keeps_its_own_variance),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
