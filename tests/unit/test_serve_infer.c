/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inference from releases that are served, against exact convolutions of their noise. */
#include <math.h>
#include <string.h>

#include <cellar/inference.h>

#include "base/error.h"
#include "check.h"
#include "fail_every.h"
#include "inference/noise_sum.h"
#include "serve/cut_make.h"
#include "serve/releases.h"
#include "serve_released.h"

static const made laplace = {.spec = "discrete-laplace:epsilon=0.4",
                             .negatives = CELLAR_NEGATIVES_KEEP};

/* A site with one release of regions by sexes, and what is asked of it. */
typedef struct world {
    cellar_site *site;
    const serve_dataset *dataset;
    cellar_release *release;
    cellar_arena *arena;
} world;

static void world_open(world *w, scratch *place, const made *how)
{
    w->release = release_into(place, "a.json", how);
    w->site = open_site(place, CONFIG(WITH_LEVELS));
    w->dataset = serve_find_dataset(w->site, "people");
    w->arena = cellar_arena_create(1 << 24);
}

static void world_close(world *w)
{
    cellar_release_free(w->release);
    cellar_site_close(w->site);
    cellar_arena_free(w->arena);
}

static serve_cut set_of(world *w, const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    serve_cut cut;
    cellar_error err = {""};
    if (serve_cut_of_set(w->dataset, json, w->arena, &cut, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    json_decref(json);
    return cut;
}

static cellar_cube_finding compare_at(world *w, const char *first, cellar_comparison comparison,
                                      const char *second, double confidence)
{
    const serve_cut one = set_of(w, first), two = set_of(w, second != NULL ? second : "{}");
    cellar_cube_finding found;
    cellar_error err = {""};
    if (serve_releases_compare(w->dataset->source, &one, comparison, second != NULL ? &two : NULL,
                               confidence, &found, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return found;
}

static cellar_cube_finding compare(world *w, const char *first, cellar_comparison comparison,
                                   const char *second)
{
    return compare_at(w, first, comparison, second, 0.95);
}

/* P(|N| >= x) of the sum of n noises, by convolution. */
static double outside(size_t n, double x)
{
    cellar_mechanism *mechanism = make(laplace.spec);
    cellar_noise_sum *sum = NULL;
    double p;
    assert_int_equal(cellar_noise_sum_create(mechanism, n, &sum, NULL), CELLAR_OK);
    p = 2 * cellar_noise_sum_cdf(sum, -(int64_t) ceil(x - 1e-9));
    cellar_noise_sum_free(sum);
    cellar_mechanism_free(mechanism);
    return x <= 0 ? 1 : p;
}

/* The interval is as wide as the noise of n values asks for, and hardly wider. */
static void check_width(const cellar_cube_finding *found, size_t n)
{
    const double width = (found->high - found->low) / 2;
    assert_true(outside(n, floor(width) + 1) <= 0.05);
    assert_true(outside(n, ceil(width * 0.99) - 1) > 0.05);
}

static void sums_have_the_noise_of_their_cells(void **state)
{
    static const struct {
        const char *first, *second;
        size_t n; /* noises in the difference */
    } cases[] = {
        {"{\"region\": \"n1\", \"sex\": \"f\"}", "{\"region\": \"n2\", \"sex\": \"f\"}", 2},
        {"{\"region\": \"n1\"}", "{\"sex\": \"f\"}", 1 + 4}, /* n1 f is in both */
        {"{\"region^1\": \"south\"}", "{\"region\": [\"s1\", \"s2\"]}", 2},
        {"{}", "{\"region^1\": \"north\", \"sex\": \"m\"}", 8},
    };
    world w;
    world_open(&w, *state, &laplace);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const cellar_cube_finding difference =
            compare(&w, cases[i].first, CELLAR_COMPARE_DIFFERENCE, cases[i].second);
        const cellar_cube_finding one = compare(&w, cases[i].first, CELLAR_COMPARE_NONE, NULL);
        const cellar_cube_finding two = compare(&w, cases[i].second, CELLAR_COMPARE_NONE, NULL);
        assert_true(fabs(difference.estimate - (one.estimate - two.estimate)) < 1e-9);
        check_width(&difference, cases[i].n);
        assert_true(difference.p_value >= outside(cases[i].n, fabs(difference.estimate)) - 1e-12);
        assert_true(difference.p_value <=
                    outside(cases[i].n, fabs(difference.estimate) - 1) + 1e-12);
    }
    world_close(&w);
}

/* Fieller's interval: the ends are the ratios at which noise just explains the difference. */
static void ratios_are_bounded_where_noise_allows(void **state)
{
    static const char numerator[] = "{\"region\": \"s2\"}", denominator[] = "{\"region\": \"s3\"}";
    const double variance = 2 * 2 * exp(-0.4) / pow(1 - exp(-0.4), 2); /* of two values */
    world w;
    cellar_cube_finding ratio, one, two;
    world_open(&w, *state, &laplace);
    ratio = compare(&w, numerator, CELLAR_COMPARE_RATIO, denominator);
    one = compare(&w, numerator, CELLAR_COMPARE_NONE, NULL);
    two = compare(&w, denominator, CELLAR_COMPARE_NONE, NULL);
    assert_false(ratio.is_undetermined);
    assert_true(ratio.low < ratio.estimate && ratio.estimate < ratio.high);
    for (int side = 0; side < 2; side++) {
        const double r = side == 0 ? ratio.low : ratio.high;
        const double z = fabs(one.estimate - r * two.estimate) / sqrt(variance * (1 + r * r));
        assert_true(z > 1.9 && z < 2.1);
    }
    /* The count is 0; noise that hides this has probability 1e-9. */
    ratio = compare_at(&w, numerator, CELLAR_COMPARE_RATIO, "{\"region\": \"n1\", \"sex\": \"f\"}",
                       1 - 1e-9);
    assert_true(ratio.is_undetermined);
    assert_true(isinf(ratio.low) && isinf(ratio.high));
    world_close(&w);
}

static void bounds_hold_together(void **state)
{
    world w;
    serve_table table;
    serve_cut cut;
    world_open(&w, *state, &laplace);
    assert_int_equal(serve_table_parse(w.dataset, "region^1*sex", &table, NULL), CELLAR_OK);
    assert_int_equal(serve_cut_whole(w.dataset, &table, w.arena, &cut, NULL), CELLAR_OK);
    for (int together = 0; together < 2; together++) {
        const double tail = together ? 0.05 / 4 : 0.05;
        serve_value values[4];
        assert_int_equal(w.dataset->source->ops->ask(w.dataset->source, &cut, tail, values, NULL),
                         CELLAR_OK);
        for (size_t k = 0; k < 4; k++) {
            const size_t n = k < 2 ? 2 : 3; /* places in the north, in the south */
            const double above = values[k].high - values[k].count;
            assert_true(values[k].low == fmax(0, values[k].count - above));
            assert_true(outside(n, above + 1) <= tail && outside(n, above - 1) > tail);
        }
    }
    world_close(&w);
}

static void what_is_not_known_is_refused(void **state)
{
    static const made clamped = {.spec = "discrete-laplace:epsilon=0.4",
                                 .negatives = CELLAR_NEGATIVES_ZERO};
    world w;
    serve_cut one, two;
    cellar_cube_finding found;
    cellar_noisy *noisy;
    serve_table table;
    int bootstrap;
    cellar_error err;
    world_open(&w, *state, &clamped);
    one = set_of(&w, "{\"region\": \"s2\"}");
    two = set_of(&w, "{\"region\": \"s2\", \"sex\": \"f\"}");
    assert_int_equal(serve_releases_compare(w.dataset->source, &two, CELLAR_COMPARE_NONE, NULL,
                                            0.95, &found, &err),
                     CELLAR_ERR_RULE);
    assert_string_equal(err.message, "The noise of this table is not known well enough for this.");
    assert_int_equal(serve_table_parse(w.dataset, "region*sex", &table, NULL), CELLAR_OK);
    assert_int_equal(
        serve_releases_noisy(w.dataset->source, w.dataset, &table, &bootstrap, &noisy, NULL),
        CELLAR_OK); /* tests know what was set to zero */
    assert_int_equal(cellar_noisy_negatives(noisy), CELLAR_NEGATIVES_ZERO);
    cellar_noisy_free(noisy);
    world_close(&w);

    clear_place(state);
    world_open(&w, *state, &laplace);
    one = set_of(&w, "{\"region\": [\"n1\", \"n2\"]}");
    two = set_of(&w, "{\"region^1\": \"north\"}");
    assert_int_equal(serve_releases_compare(w.dataset->source, &one, CELLAR_COMPARE_DIFFERENCE,
                                            &two, 0.95, &found, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_string_equal(err.message, "the two sets have the same cells");
    assert_int_equal(serve_table_parse(w.dataset, "region^1*sex", &table, NULL), CELLAR_OK);
    assert_int_equal(
        serve_releases_noisy(w.dataset->source, w.dataset, &table, &bootstrap, &noisy, &err),
        CELLAR_ERR_RULE);
    world_close(&w);
}

/* Values that were set to zero have intervals of their own, and so have shares. */
static void shares_of_clamped_values_are_bounded(void **state)
{
    static const made clamped = {.spec = "discrete-laplace:epsilon=0.4",
                                 .negatives = CELLAR_NEGATIVES_ZERO,
                                 .margins = {.all = 1}};
    const cellar_request request = {.method = "GET",
                                    .path = "/v1/tables/people/region*sex/intervals",
                                    .query = "share=row&heading=sex"};
    world w;
    cellar_response response;
    json_t *found;
    serve_table table;
    serve_cut cut;
    serve_value part[10], whole[5];
    size_t n_bounded = 0;
    world_open(&w, *state, &clamped);
    cellar_site_answer(w.site, &request, &response);
    assert_int_equal(response.status, 200);
    found = json_loadb(response.body, response.body_length, 0, NULL);
    for (int of_whole = 0; of_whole < 2; of_whole++) {
        const char *name = of_whole ? "region" : "region*sex";
        assert_int_equal(serve_table_parse(w.dataset, name, &table, NULL), CELLAR_OK);
        assert_int_equal(serve_cut_whole(w.dataset, &table, w.arena, &cut, NULL), CELLAR_OK);
        assert_int_equal(w.dataset->source->ops->ask(w.dataset->source, &cut, 0.025,
                                                     of_whole ? whole : part, NULL),
                         CELLAR_OK);
    }
    for (size_t k = 0; k < 10; k++) {
        const serve_value *p = &part[k], *all = &whole[k / 2];
        const json_t *low = json_array_get(json_object_get(found, "low"), k);
        const json_t *high = json_array_get(json_object_get(found, "high"), k);
        if (all->low <= 0) {
            assert_true(json_is_null(low) && json_is_null(high));
            continue;
        }
        n_bounded++;
        assert_true(fabs(json_number_value(low) - fmin(1, p->low / all->high)) < 1e-9);
        assert_true(fabs(json_number_value(high) - fmin(1, p->high / all->low)) < 1e-9);
    }
    assert_true(n_bounded > 0);
    json_decref(found);
    cellar_response_clear(&response);
    world_close(&w);
}

/* The test of a table that is served is the test of its release. */
static void independence_is_that_of_the_release(void **state)
{
    cellar_test_options options = cellar_test_options_default();
    world w;
    cellar_noisy *noisy[2] = {NULL, NULL};
    cellar_test tests[2];
    serve_table table;
    int bootstrap;
    world_open(&w, *state, &laplace);
    assert_int_equal(serve_table_parse(w.dataset, "region*sex", &table, NULL), CELLAR_OK);
    assert_int_equal(
        serve_releases_noisy(w.dataset->source, w.dataset, &table, &bootstrap, &noisy[0], NULL),
        CELLAR_OK);
    assert_int_equal(bootstrap, 0);
    assert_int_equal(cellar_noisy_from_release(w.release, NULL, 0, &noisy[1], NULL), CELLAR_OK);
    for (size_t i = 0; i < 2; i++) {
        cellar_loglinear *test = NULL;
        assert_int_equal(
            cellar_loglinear_create(noisy[i], "region + sex", NULL, &options, &test, NULL),
            CELLAR_OK);
        tests[i] = cellar_loglinear_aware(test);
        cellar_loglinear_free(test);
        cellar_noisy_free(noisy[i]);
    }
    assert_true(tests[0].df == 4 && tests[1].df == 4);
    assert_true(tests[0].statistic == tests[1].statistic);
    world_close(&w);
}

/* ---- memory --------------------------------------------------------------------------------- */

static cellar_status compare_scenario(void *context, cellar_error *err)
{
    world *w = context;
    const serve_cut one = set_of(w, "{\"region\": \"s2\"}"), two = set_of(w, "{\"sex\": \"f\"}");
    cellar_cube_finding found;
    serve_value values[2];
    serve_table table = {{0}};
    serve_cut cut;
    cellar_status status = CELLAR_OK;
    table.levels[1] = 1;
    CELLAR_TRY(serve_releases_compare(w->dataset->source, &one, CELLAR_COMPARE_RATIO, &two, 0.95,
                                      &found, err));
    CELLAR_TRY(serve_cut_whole(w->dataset, &table, w->arena, &cut, err));
    CELLAR_TRY(w->dataset->source->ops->ask(w->dataset->source, &cut, 0.01, values, err));
out:
    return status;
}

static void every_allocation_may_fail(void **state)
{
    world w;
    world_open(&w, *state, &laplace);
    check_fail_every(compare_scenario, &w);
    world_close(&w);
}

int main(void)
{
#define IN_PLACE(name) cmocka_unit_test_setup(name, clear_place)
    const struct CMUnitTest tests[] = {
        IN_PLACE(sums_have_the_noise_of_their_cells),
        IN_PLACE(ratios_are_bounded_where_noise_allows),
        IN_PLACE(bounds_hold_together),
        IN_PLACE(what_is_not_known_is_refused),
        IN_PLACE(shares_of_clamped_values_are_bounded),
        IN_PLACE(independence_is_that_of_the_release),
        IN_PLACE(every_allocation_may_fail),
    };
    return cmocka_run_group_tests_name("serve_infer", tests, scratch_setup, scratch_teardown);
}
