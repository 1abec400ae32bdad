/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases as a source: released values as they are, sums of them with the noise they have. */
#include <math.h>
#include <string.h>

#include <cellar/interval.h>

#include "check.h"
#include "code_lists.h"
#include "fail_every.h"
#include "inference/noise_sum.h"
#include "serve/noise.h"
#include "serve/releases.h"
#include "serve/source.h"
#include "serve_released.h"
#include "serve_question.h"
#include "table/build.h"
#include "table/table.h"

/* ---- values ------------------------------------------------------------------------------------
 */

static int64_t released_at(const cellar_release *release, const char *region, const char *sex)
{
    const cellar_schema *schema = cellar_release_schema(release);
    const uint32_t at[] = {(uint32_t) cellar_schema_find_code(schema, 0, region, strlen(region)),
                           (uint32_t) cellar_schema_find_code(schema, 1, sex, strlen(sex))};
    return cellar_release_at(release, cellar_schema_index(schema, at)).released;
}

/* Margins and levels that were released are shown as released. */
static void what_was_released_is_shown(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=0.5",
                      .negatives = CELLAR_NEGATIVES_KEEP,
                      .margins = {.all = 1, .hierarchies = 1}};
    cellar_release *release = release_into(*state, "all.json", &how);
    cellar_site *site = open_site(*state, CONFIG(WITH_LEVELS));
    serve_answer found;
    asked a;
    ask_begin(&a, &site->datasets[0]);
    found = ask_answer(&a);
    assert_true(found.values[0].count == (double) released_at(release, "_T", "_T"));
    assert_true(found.is_immutable);
    serve_answer_clear(&found);
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "sex");
    ask_pick(&a, 1, "m");
    ask_side(&a, "region");
    ask_pick(&a, 1, "south");
    ask_pick(&a, 2, "n2");
    found = ask_answer(&a);
    assert_true(found.values[0].count == (double) released_at(release, "south", "m"));
    assert_true(found.values[1].count == (double) released_at(release, "n2", "m"));
    assert_int_equal(found.decimals[SERVE_COUNT], 0);
    assert_non_null(strstr(found.guarantee, "differentially private for one record"));
    assert_string_equal(found.origin, "Released on 2026-07-01.");
    serve_answer_clear(&found);
    cellar_release_free(release);
    cellar_site_close(site);
}

/* What `cellar infer interval` says about a set of cells. */
static cellar_interval interval_of(const cellar_release *release, const char *set_text)
{
    const cellar_interval_options options = cellar_interval_options_default();
    cellar_noisy *noisy = NULL;
    cellar_cell_set *set = NULL;
    cellar_interval out = {0};
    cellar_error err = {""};
    if (cellar_noisy_from_release(release, NULL, 0, &noisy, &err) != CELLAR_OK ||
        cellar_cell_set_parse(noisy, set_text, &set, &err) != CELLAR_OK ||
        cellar_interval_run(noisy, set, CELLAR_COMPARE_NONE, NULL, &options, &out, &err) !=
            CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_cell_set_free(set);
    cellar_noisy_free(noisy);
    return out;
}

static void check_value(const serve_value *value, const cellar_release *release, const char *set,
                        size_t n, double variance)
{
    const cellar_interval want = interval_of(release, set);
    assert_true(value->low == want.low);
    assert_true(value->high == want.high);
    assert_true(fabs(value->se - sqrt((double) n * variance)) <= 0.005);
}

/* Sums of values that were released have the exact interval of their noise. */
static void sums_have_the_noise_of_their_parts(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.5",
                                        "discrete-gaussian:sigma=3"};
    for (size_t i = 0; i < 2; i++) {
        const made how = {.spec = specs[i], .negatives = CELLAR_NEGATIVES_KEEP};
        cellar_release *release = release_into(*state, "inner.json", &how);
        cellar_site *site = open_site(*state, CONFIG(WITH_LEVELS));
        cellar_mechanism *m = make(specs[i]);
        cellar_moments moments;
        serve_answer found;
        asked a;
        cellar_mechanism_moments(m, 0, CELLAR_NEGATIVES_KEEP, &moments);
        ask_begin(&a, &site->datasets[0]);
        ask_side(&a, "region");
        ask_pick(&a, 2, "s3");
        ask_pick(&a, 1, "north");
        ask_pick(&a, 2, "n1,s1,s2");
        ask_side(&a, "sex");
        ask_pick(&a, 1, "f");
        ask_pick(&a, 1, "f,m");
        found = ask_answer(&a);
        check_value(&found.values[0], release, "region=s3; sex=f", 1, moments.variance);
        check_value(&found.values[1], release, "region=s3", 2, moments.variance);
        check_value(&found.values[2], release, "region=n1,n2; sex=f", 2, moments.variance);
        check_value(&found.values[5], release, "region=n1,s1,s2", 6, moments.variance);
        serve_answer_clear(&found);
        ask_begin(&a, &site->datasets[0]);
        found = ask_answer(&a); /* the total, which was not released */
        check_value(&found.values[0], release, "", 10, moments.variance);
        assert_string_equal(found.origin, "Added up from the released table region*sex. Released "
                                          "on 2026-07-01.");
        serve_answer_clear(&found);
        cellar_mechanism_free(m);
        cellar_release_free(release);
        cellar_site_close(site);
    }
}

/* Where small values were set to zero sums are biased: a table is not added up from such ones, and
 * the interval of a group holds together. */
static void cut_values_are_not_added_up(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=0.5", .negatives = CELLAR_NEGATIVES_ZERO};
    cellar_release *release = release_into(*state, "cut.csv", &how);
    cellar_site *site = open_site(*state, CONFIG(""));
    cellar_interval one, other;
    serve_answer found;
    asked a;
    ask_begin(&a, &site->datasets[0]);
    found = ask_answer(&a);
    assert_true(found.is_refused);
    assert_string_equal(found.refusal.rule, "not-released");
    assert_int_equal(found.refusal.n_suggestions, 0);
    serve_answer_clear(&found);
    ask_side(&a, "region");
    ask_pick(&a, 1, "s3");
    ask_pick(&a, 1, "n1,s3");
    ask_side(&a, "sex");
    ask_pick(&a, 1, "m");
    found = ask_answer(&a);
    one = interval_of(release, "region=s3; sex=m");
    other = interval_of(release, "region=n1; sex=m");
    assert_true(found.values[0].low == one.low && found.values[0].high == one.high);
    assert_true(found.values[1].low <= one.low + other.low);
    assert_true(found.values[1].high >= one.high + other.high);
    assert_true(found.values[1].se > found.values[0].se);
    serve_answer_clear(&found);
    cellar_release_free(release);
    cellar_site_close(site);
}

static void suppressed_values_stay_so(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=2",
                      .negatives = CELLAR_NEGATIVES_ZERO,
                      .threshold = 30,
                      .below = CELLAR_BELOW_SUPPRESS};
    cellar_release *release = release_into(*state, "some.json", &how);
    cellar_site *site = open_site(*state, CONFIG(""));
    serve_answer found;
    asked a;
    ask_begin(&a, &site->datasets[0]);
    ask_side(&a, "region");
    ask_pick(&a, 1, "n1");
    ask_pick(&a, 1, "n1,s3");
    ask_pick(&a, 1, "s3");
    ask_side(&a, "sex");
    ask_pick(&a, 1, "f");
    found = ask_answer(&a);
    assert_int_equal(found.values[0].status, CELLAR_CELL_SUPPRESSED);
    assert_int_equal(found.values[1].status, CELLAR_CELL_SUPPRESSED);
    assert_true(isnan(found.values[1].count) && isnan(found.values[1].high));
    assert_int_equal(found.values[2].status, CELLAR_CELL_NORMAL);
    serve_answer_clear(&found);
    cellar_release_free(release);
    cellar_site_close(site);
}

/* ---- folders -----------------------------------------------------------------------------------
 */

/* The finer table answers for all below it, until one of them is there itself. */
static void folders_grow(void **state)
{
    const made inner = {.spec = "discrete-laplace:epsilon=0.5", .negatives = CELLAR_NEGATIVES_KEEP};
    const uint64_t total[] = {0};
    const made whole = {.spec = "discrete-laplace:epsilon=0.5",
                        .negatives = CELLAR_NEGATIVES_KEEP,
                        .margins = {.masks = total, .n_masks = 1}};
    cellar_release *first = release_into(*state, "a.json", &inner), *second;
    cellar_site *site = open_site(*state, CONFIG(""));
    serve_dataset *d = &site->datasets[0];
    const serve_table none = {{0}};
    serve_status status;
    serve_answer found;
    cellar_error err = {""};
    asked a;
    assert_int_equal(d->source->ops->status(d->source, d, &none, &status, &err), CELLAR_OK);
    assert_true(status.exists && !status.is_exact);
    second = release_into(*state, "b.json", &whole);
    assert_int_equal(serve_source_refresh(d->source, d, &err), CELLAR_OK);
    assert_int_equal(d->source->ops->status(d->source, d, &none, &status, &err), CELLAR_OK);
    assert_true(status.exists && status.is_exact);
    ask_begin(&a, d);
    found = ask_answer(&a);
    assert_true(found.values[0].count == (double) released_at(second, "_T", "_T"));
    serve_answer_clear(&found);
    cellar_release_free(first);
    cellar_release_free(second);
    cellar_site_close(site);
}

/* A table in two formats is one, and what is no release is left alone. */
static void formats_of_one_table_are_one(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=0.5", .negatives = CELLAR_NEGATIVES_KEEP};
    cellar_site *site;
    cellar_release_free(release_into(*state, "a.json", &how));
    cellar_release_free(release_into(*state, "a.csv", &how));
    scratch_write(*state, "notes.txt", "nothing");
    scratch_walk(*state, 0);
    remove(scratch_path(*state, "region.list"));
    site = open_site(*state, CONFIG(""));
    assert_int_equal(serve_releases_n(site->datasets[0].source), 1);
    cellar_site_close(site);
}

static void wrong_files_are_named(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=0.5", .negatives = CELLAR_NEGATIVES_KEEP};
    cellar_site *site = NULL;
    cellar_error err = {""};
    cellar_release_free(release_into(*state, "a.json", &how));
    scratch_write(*state, "region.list", "code\nn1\nn2\n");
    scratch_write(*state, "site.yaml", CONFIG(WITH_LEVELS));
    assert_int_not_equal(cellar_site_open(scratch_path(*state, "site.yaml"), NULL, &site, &err),
                         CELLAR_OK);
    assert_non_null(
        strstr(err.message, "a.json: its categories of 'region' are those of no level"));
    scratch_write(*state, "b.json", "{}");
    assert_int_not_equal(cellar_site_open(scratch_path(*state, "site.yaml"), NULL, &site, &err),
                         CELLAR_OK);
    assert_non_null(strstr(err.message, "b.json"));
}

/* ---- noise of wide sums ------------------------------------------------------------------------
 */

/* Beyond what is convolved the inversion takes over; here it is held against the convolution. */
static void wide_sums_cover_as_they_should(void **state)
{
    static const struct {
        const char *spec;
        size_t n;
    } cases[] = {{"discrete-laplace:epsilon=0.02", 2},
                 {"discrete-laplace:epsilon=0.02", 5},
                 {"discrete-laplace:epsilon=0.05", 30},
                 {"discrete-gaussian:sigma=150", 6}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const made how = {.spec = cases[i].spec, .negatives = CELLAR_NEGATIVES_KEEP};
        cellar_release *release = release_into(*state, "a.json", &how);
        cellar_mechanism *m = make(cases[i].spec);
        cellar_noise_sum *exact = NULL;
        serve_noise noise;
        serve_value value = {.count = 1e6};
        double covered;
        cellar_error err = {""};
        assert_int_equal(serve_noise_init(&noise, release, &err), CELLAR_OK);
        assert_int_equal(serve_noise_value(&noise, NULL, cases[i].n, SERVE_TAIL, &value, &err),
                         CELLAR_OK);
        assert_int_equal(cellar_noise_sum_create(m, cases[i].n, &exact, &err), CELLAR_OK);
        covered = cellar_noise_sum_cdf(exact, (int64_t) (value.high - 1e6)) -
                  cellar_noise_sum_cdf(exact, (int64_t) (value.low - 1e6) - 1);
        if (!(covered >= 0.95 && covered <= 0.955))
            fail_msg("%s x %zu: covers %.5f", cases[i].spec, cases[i].n, covered);
        cellar_noise_sum_free(exact);
        serve_noise_clear(&noise);
        cellar_mechanism_free(m);
        cellar_release_free(release);
    }
}

/* ---- memory ------------------------------------------------------------------------------------
 */

static cellar_status scenario(void *context, cellar_error *err)
{
    cellar_site *site = NULL;
    serve_answer out = {0};
    asked *a = cellar_alloc(1, sizeof *a);
    cellar_status status =
        a != NULL ? cellar_site_open(context, NULL, &site, err) : CELLAR_ERR_MEMORY;
    if (status == CELLAR_OK) {
        ask_begin(a, &site->datasets[0]);
        ask_side(a, "region");
        ask_pick(a, 1, "north");
        status = serve_answer_question(&a->question, SERVE_TAIL, &out, err);
        serve_answer_clear(&out);
    } else
        strcpy(err->message, "memory");
    cellar_free(a);
    cellar_site_close(site);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    const made how = {.spec = "discrete-laplace:epsilon=0.5", .negatives = CELLAR_NEGATIVES_KEEP};
    cellar_release_free(release_into(*state, "a.json", &how));
    scratch_write(*state, "site.yaml", CONFIG(WITH_LEVELS));
    check_fail_every(scenario, (void *) (uintptr_t) scratch_path(*state, "site.yaml"));
}

#define TEST(name) cmocka_unit_test_setup(name, clear_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_released_is_shown),
        TEST(sums_have_the_noise_of_their_parts),
        TEST(cut_values_are_not_added_up),
        TEST(suppressed_values_stay_so),
        TEST(folders_grow),
        TEST(formats_of_one_table_are_one),
        TEST(wrong_files_are_named),
        TEST(wide_sums_cover_as_they_should),
        TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
