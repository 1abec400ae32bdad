/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of fitted numbers: they say what they are, and nothing takes them for releases. */
#include "check.h"

#include <math.h>
#include <string.h>

#include <cellar/table_file.h>

#include "adjustment_samples.h"
#include "base/output.h"
#include "fail_every.h"
#include "scratch.h"

static const small_table flat = {.n_variables = 2,
                                 .sizes = {2, 2},
                                 .domain = CELLAR_DOMAIN_DECLARED,
                                 .margins = {.all = 1},
                                 .n_cells = 2,
                                 .index = {0, 3},
                                 .count = {40, 20}};

typedef struct fit_sample {
    cellar_release *release;
    cellar_adjustment *fit;
    cellar_rounding *rounding;
    cellar_estimate *estimate; /* with standard errors */
} fit_sample;

static cellar_error err;

static cellar_status estimate_of(const fit_sample *s, cellar_official official,
                                 cellar_estimate **out, cellar_error *e)
{
    return cellar_estimate_from_fit(
        s->fit, s->rounding, (const cellar_release *const *) &s->release, 1, official, 1, out, e);
}

static fit_sample sample(const char *spec)
{
    const cellar_adjustment_options options = cellar_adjustment_options_default();
    const cellar_rounding_options rounding = cellar_rounding_options_default();
    fit_sample s = {.release = sample_release(&flat, spec, 5)};
    assert_int_equal(cellar_adjustment_create((const cellar_release *const *) &s.release, 1,
                                              &options, &s.fit, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_rounding_create(s.fit, &rounding, &s.rounding, &err), CELLAR_OK);
    assert_int_equal(estimate_of(&s, CELLAR_OFFICIAL_FITTED, &s.estimate, &err), CELLAR_OK);
    return s;
}

static void sample_clear(fit_sample *s)
{
    cellar_estimate_free(s->estimate);
    cellar_rounding_free(s->rounding);
    cellar_adjustment_free(s->fit);
    cellar_release_free(s->release);
}

static cellar_status write_estimate(const cellar_estimate *estimate, cellar_estimate_view view,
                                    const char *path, cellar_error *e)
{
    cellar_release_file *file = NULL;
    cellar_status status = cellar_release_file_open(path, NULL, 1, &file, e);
    if (status == CELLAR_OK)
        status = cellar_estimate_write(estimate, view, file, e);
    cellar_release_file_discard(file);
    return status;
}

static cellar_status write_fit(const fit_sample *s, const char *path, cellar_official official,
                               cellar_error *e)
{
    cellar_estimate *estimate = NULL;
    cellar_status status = estimate_of(s, official, &estimate, e);
    if (status == CELLAR_OK)
        status = write_estimate(estimate, CELLAR_ESTIMATE_WHOLE, path, e);
    cellar_estimate_free(estimate);
    return status;
}

static void test_files_say_what_they_are(void **state)
{
    static const char *const names[] = {"f.csv", "f.json", "f.px"};
    scratch *place = *state;
    fit_sample s = sample("discrete-gaussian:sigma=2");
    for (size_t i = 0; i < 3; i++) {
        cellar_estimate *back;
        cellar_release *release;
        cellar_table *table;
        assert_int_equal(write_fit(&s, scratch_path(place, names[i]), CELLAR_OFFICIAL_FITTED, &err),
                         CELLAR_OK);
        assert_int_equal(
            cellar_estimate_read(scratch_path(place, names[i]), CELLAR_TABLE_AUTO, &back, &err),
            CELLAR_OK);
        assert_non_null(strstr(cellar_estimate_description(back), "post-processing"));
        assert_non_null(
            strstr(cellar_estimate_description(back), "withdrawn: the probabilistic guarantee"));
        cellar_estimate_free(back);
        assert_int_equal(
            cellar_release_read(scratch_path(place, names[i]), CELLAR_TABLE_AUTO, &release, &err),
            CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "is a fitted table"));
        assert_int_equal(cellar_table_read(scratch_path(place, names[i]), NULL, &table, &err),
                         CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "is a fitted table"));
    }
    scratch_says(place, "f.csv.cellar.json", "\"official\": \"the fitted whole numbers\"");
    assert_int_equal(write_fit(&s, scratch_path(place, "f.csv"), CELLAR_OFFICIAL_RELEASED, &err),
                     CELLAR_OK);
    scratch_says(place, "f.csv.cellar.json", "\"official\": \"the releases\"");
    sample_clear(&s);
}

static void test_variances_that_depend_on_counts_are_reported(void **state)
{
    scratch *place = *state;
    fit_sample s = sample("poisson:alpha=0.5");
    assert_int_equal(cellar_adjustment_is_estimated(s.fit), 1);
    assert_int_equal(write_fit(&s, scratch_path(place, "f.csv"), CELLAR_OFFICIAL_FITTED, &err),
                     CELLAR_OK);
    scratch_says(place, "f.csv.cellar.json", "taken at the released counts");
    sample_clear(&s);
}

/* A row for every cell; the numbers are those the fit answers. */
static void test_versions_stand_side_by_side(void **state)
{
    scratch *place = *state;
    fit_sample s = sample("discrete-gaussian:sigma=2");
    const cellar_schema *schema = cellar_adjustment_schema(s.fit);
    cellar_output *output;
    FILE *file;
    char line[200];
    double variance;
    assert_int_equal(cellar_output_open(scratch_path(place, "c.csv"), NULL, &output, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_adjustment_write_comparison(s.fit, s.estimate, output, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
    file = fopen(scratch_path(place, "c.csv"), "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(strstr(line, "observed,unbiased,sd,fitted\n"));
    for (uint64_t i = 0; i < cellar_schema_n_indices(schema); i++) {
        double observed, unbiased, sd;
        long long fitted;
        const char *comma;
        assert_non_null(fgets(line, sizeof line, file));
        comma = strchr(strchr(line, ',') + 1, ',');
        assert_int_equal(sscanf(comma, ",%lf,%lf,%lf,%lld", &observed, &unbiased, &sd, &fitted), 4);
        assert_int_equal(cellar_adjustment_covariance(s.fit, i, i, &variance, &err), CELLAR_OK);
        assert_true(fabs(observed - cellar_adjustment_observed(s.fit, i)) < 1e-9);
        assert_true(fabs(unbiased - cellar_adjustment_estimate(s.fit, i)) < 5e-6);
        assert_true(fabs(sd - sqrt(variance)) <= 5e-7);
        assert_int_equal(fitted, cellar_rounding_value(s.rounding, i));
    }
    assert_null(fgets(line, sizeof line, file));
    fclose(file);
    sample_clear(&s);
}

typedef struct writing {
    const fit_sample *sample;
    char path[400];
} writing;

static cellar_status scenario(void *context, cellar_error *e)
{
    const writing *w = context;
    cellar_output *output = NULL;
    cellar_status status = write_fit(w->sample, w->path, CELLAR_OFFICIAL_FITTED, e);
    if (status == CELLAR_OK)
        status = cellar_output_open(w->path, &(cellar_output_options){.replace = 1}, &output, e);
    if (status == CELLAR_OK)
        status = cellar_adjustment_write_comparison(w->sample->fit, w->sample->estimate, output, e);
    cellar_output_discard(output);
    return status;
}

static void test_memory_may_end_anywhere(void **state)
{
    fit_sample s = sample("discrete-gaussian:sigma=2");
    writing w = {.sample = &s};
    snprintf(w.path, sizeof w.path, "%s", scratch_path(*state, "f.csv"));
    check_fail_every(scenario, &w);
    sample_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files_say_what_they_are, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_variances_that_depend_on_counts_are_reported,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(test_versions_stand_side_by_side, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(test_memory_may_end_anywhere, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
