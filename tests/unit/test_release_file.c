/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <unistd.h>

#include "check.h"

#include <cellar/release_file.h>

#include "base/file.h"
#include "fail_every.h"
#include "scratch.h"
#include "table_samples.h"

/* `threshold` 0: negatives are kept; else smaller values are suppressed. */
static cellar_release *release_of(const cellar_table *table, const char *spec, int64_t threshold,
                                  cellar_rng *rng)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *m = NULL;
    cellar_release *release = NULL;
    cellar_error err;

    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = threshold > 0 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
    options.threshold = threshold;
    options.below = threshold > 0 ? CELLAR_BELOW_SUPPRESS : CELLAR_BELOW_ZERO;
    options.per_cell = 1;
    options.domain_public = 1;
    options.date = "2026-07-01";
    options.n_threads = 1;
    options.rng = rng;
    assert_int_equal(cellar_mechanism_create(spec, &m, NULL), CELLAR_OK);
    if (cellar_release_protect(table, m, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(m);
    return release;
}

static cellar_release *make_release(const cellar_table *table, const char *spec, cellar_rng *rng)
{
    return release_of(table, spec, 0, rng);
}

/* A random table without weights; hostile labels, rules and hierarchies may be in it. */
static cellar_table *make_table(sample_random *random)
{
    static const sample_options options = {.with_rules = 1};
    for (;;) {
        cellar_table *table = sample_table(random, &options);
        if (!cellar_table_is_weighted(table))
            return table;
        cellar_table_free(table);
    }
}

static cellar_status write_release(const cellar_release *release, const char *path,
                                   const cellar_table_write_options *options, int replace,
                                   cellar_error *err)
{
    cellar_release_file *file = NULL;
    cellar_status status = cellar_release_file_open(path, options, replace, &file, err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, err);
    cellar_release_file_discard(file);
    return status;
}

static void check_equal(const cellar_release *a, const cellar_release *b)
{
    check_schemas_equal(cellar_release_schema(a), cellar_release_schema(b));
    assert_string_equal(cellar_release_description(a), cellar_release_description(b));
    assert_int_equal(cellar_release_n_cells(a), cellar_release_n_cells(b));
    for (size_t i = 0; i < cellar_release_n_cells(a); i++) {
        cellar_released_cell x = cellar_release_cell(a, i), y = cellar_release_cell(b, i);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.released, y.released);
        assert_int_equal(x.status, y.status);
    }
}

static const struct {
    const char *name;
    cellar_table_write_options options;
} formats[] = {
    {"a.csv", {0}},
    {"b.csv", {.zeros = 1}},
    {"a.json", {0}},
    {"b.json", {.sparse = 1}},
    {"a.px", {0}},
    {"c.csv", {.format = CELLAR_TABLE_CSVW}},
    {"d.csv", {.format = CELLAR_TABLE_SDMX}},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static void files_read_back_as_they_were(void **state)
{
    sample_random random = {5};
    for (int round = 0; round < 60; round++) {
        cellar_table *table = make_table(&random);
        cellar_release *release = make_release(table, "discrete-laplace:epsilon=0.5", NULL);
        for (size_t i = 0; i < N_FORMATS; i++) {
            char path[400];
            cellar_release *back = NULL;
            cellar_error err = {""};
            snprintf(path, sizeof path, "%s", scratch_path(*state, formats[i].name));
            if (write_release(release, path, &formats[i].options, 1, &err) != CELLAR_OK ||
                cellar_release_read(path, CELLAR_TABLE_AUTO, &back, &err) != CELLAR_OK)
                fail_msg("round %d: %s", round, err.message);
            check_equal(release, back);
            cellar_release_free(back);
            assert_int_equal(scratch_mode(*state, formats[i].name), 0644);
        }
        assert_int_equal(scratch_mode(*state, "a.csv.cellar.json"), 0644);
        assert_int_equal(scratch_mode(*state, "c.csv-metadata.json"), 0644);
        cellar_release_free(release);
        cellar_table_free(table);
    }
}

/* Every cell that is not listed is suppressed, unless it cannot occur, before and after; and no
 * format shows it as a number. */
static void suppressed_cells_read_back(void **state)
{
    sample_random random = {7};
    for (int round = 0; round < 40; round++) {
        cellar_table *table = make_table(&random);
        cellar_release *release = release_of(table, "discrete-laplace:epsilon=0.5", 4, NULL);
        const cellar_schema *schema = cellar_release_schema(release);
        for (size_t i = 0; i < N_FORMATS; i++) {
            char path[400];
            cellar_release *back = NULL;
            cellar_error err = {""};
            int checked;
            snprintf(path, sizeof path, "%s", scratch_path(*state, formats[i].name));
            if (write_release(release, path, &formats[i].options, 1, &err) != CELLAR_OK ||
                cellar_release_read(path, CELLAR_TABLE_AUTO, &back, &err) != CELLAR_OK ||
                cellar_release_recertify(back, path, &checked, &err) != CELLAR_OK)
                fail_msg("round %d, %s: %s", round, formats[i].name, err.message);
            check_equal(release, back);
            assert_int_equal(cellar_release_below(back), CELLAR_BELOW_SUPPRESS);
            for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
                cellar_released_cell cell = cellar_release_at(back, index);
                if (!cellar_schema_has_cell(schema, index))
                    continue;
                assert_int_equal(cell.status, cellar_release_at(release, index).status);
                assert_true(cell.status == CELLAR_CELL_NORMAL ? cell.released >= 4
                                                              : cell.released == 0);
            }
            cellar_release_free(back);
        }
        cellar_release_free(release);
        cellar_table_free(table);
    }
}

/* Replaces the first `from` in a file by `to`, of the same length. */
static void tamper(scratch *place, const char *name, const char *from, const char *to)
{
    char *bytes = NULL, *at;
    size_t length;
    FILE *file;
    assert_int_equal(cellar_file_read(scratch_path(place, name), 1 << 20, &bytes, &length, NULL),
                     CELLAR_OK);
    at = strstr(bytes, from);
    assert_non_null(at);
    memcpy(at, to, strlen(to));
    file = fopen(scratch_path(place, name), "w");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    cellar_free(bytes);
}

static cellar_release *fixed_release(cellar_rng *rng)
{
    sample_random random = {77};
    cellar_table *table = make_table(&random);
    cellar_release *release = make_release(table, "discrete-laplace:epsilon=0.1", rng);
    cellar_table_free(table);
    return release;
}

static void files_that_are_no_releases_are_refused(void **state)
{
    static const struct {
        const char *name, *changed, *from, *to, *said;
    } cases[] = {
        {"a.csv", "a.csv.cellar.json", NULL, NULL, "no certificate"},
        {"a.csv", "a.csv.cellar.json", "\"certificate\"", "\"cortificate\"", "no certificate"},
        {"a.csv", "a.csv.cellar.json", "\"secure\"", "\"seeded\"", "simulation"},
        {"a.csv", "a.csv.cellar.json", "\"release\"", "\"reloose\"", "kind"},
        {"a.csv", "a.csv.cellar.json", "\"sha256\": \"", "\"sha256\": \"x", "digests differ"},
        {"a.csv", "a.csv.cellar.json", "\"cells_sha256\": \"", "\"cells_sha256\": \"x", "differ"},
        {"a.csv", "a.csv.cellar.json", "\"negatives\": \"keep\"", "\"negatives\": \"keeq\"",
         "keep or zero"},
        {"a.csv", "a.csv.cellar.json", "{", "[", "JSON object"},
        {"a.json", "a.json", "\"certificate\"", "\"cortificate\"", "no certificate"},
        {"a.json", "a.json", "\"secure\"", "\"seeded\"", "simulation"},
        {"a.json", "a.json", "\"cells_sha256\":\"", "\"cells_sha256\":\"x", "digests differ"},
    };
    cellar_release *release = fixed_release(NULL), *back;
    cellar_error err;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s", scratch_path(*state, cases[i].name));
        assert_int_equal(write_release(release, path, NULL, 1, NULL), CELLAR_OK);
        if (cases[i].from == NULL)
            unlink(scratch_path(*state, cases[i].changed));
        else
            tamper(*state, cases[i].changed, cases[i].from, cases[i].to);
        back = (void *) 1;
        if (cellar_release_read(path, CELLAR_TABLE_AUTO, &back, &err) == CELLAR_OK ||
            strstr(err.message, cases[i].said) == NULL)
            fail_msg("case %zu: '%s'", i, err.message);
        assert_null(back);
    }
    cellar_release_free(release);
}

/* Another number in a file that has the right form. */
static void numbers_cannot_be_changed(void **state)
{
    cellar_release *release = fixed_release(NULL), *back = NULL;
    char path[400], number[40], other[40];
    cellar_error err;

    snprintf(number, sizeof number, ",%lld\n",
             (long long) cellar_release_cell(release, 0).released);
    snprintf(other, sizeof other, "%s", number);
    other[strlen(other) - 2] = (char) (other[strlen(other) - 2] == '7' ? '8' : '7');
    snprintf(path, sizeof path, "%s", scratch_path(*state, "a.csv"));
    assert_int_equal(write_release(release, path, NULL, 0, NULL), CELLAR_OK);
    tamper(*state, "a.csv", number, other);
    assert_int_equal(cellar_release_read(path, CELLAR_TABLE_AUTO, &back, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "digests differ"));
    cellar_release_free(release);
}

static void true_tables_and_releases_are_told_apart(void **state)
{
    static const char *const names[] = {"t.csv", "t.json", "t.px"};
    sample_random random = {9};
    cellar_table *table = make_table(&random), *as_table = NULL;
    cellar_release *release = make_release(table, "identity", NULL), *as_release = NULL;
    cellar_error err;

    for (size_t i = 0; i < 3; i++) {
        char path[400];
        cellar_table_write_options options = {.format = cellar_table_format_of_path(names[i])};
        cellar_output *output = NULL;
        snprintf(path, sizeof path, "%s", scratch_path(*state, names[i]));
        assert_int_equal(cellar_output_open(path, NULL, &output, NULL), CELLAR_OK);
        assert_int_equal(cellar_table_write(table, &options, output, NULL), CELLAR_OK);
        assert_int_equal(cellar_output_commit(output, NULL), CELLAR_OK);
        assert_int_equal(cellar_release_read(path, CELLAR_TABLE_AUTO, &as_release, &err),
                         CELLAR_ERR_INPUT);
        assert_int_equal(write_release(release, path, NULL, 1, NULL), CELLAR_OK);
        assert_int_equal(cellar_table_read(path, NULL, &as_table, &err), CELLAR_ERR_INPUT);
        assert_non_null(strstr(err.message, "release"));
    }
    cellar_release_free(release);
    cellar_table_free(table);
}

static void simulations_are_not_written(void **state)
{
    cellar_rng *rng = NULL;
    cellar_release *release;
    cellar_error err;
    assert_int_equal(cellar_rng_create_seeded(1, 1, &rng, NULL), CELLAR_OK);
    release = fixed_release(rng);
    assert_int_equal(write_release(release, scratch_path(*state, "a.json"), NULL, 0, &err),
                     CELLAR_ERR_RULE);
    assert_int_equal(scratch_n_entries(*state), 0);
    cellar_release_free(release);
    cellar_rng_free(rng);
}

/* All files are claimed at once, before there is anything to write. */
static void names_that_are_taken_are_known_first(void **state)
{
    static const char *const taken[] = {"a.csv", "a.csv.cellar.json", "a.csv-metadata.json"};
    const cellar_table_write_options csvw = {.format = CELLAR_TABLE_CSVW};
    cellar_release_file *file = NULL;
    cellar_error err;
    for (size_t i = 0; i < 3; i++) {
        char path[400];
        scratch_write(*state, taken[i], "mine");
        snprintf(path, sizeof path, "%s", scratch_path(*state, "a.csv"));
        assert_int_equal(cellar_release_file_open(path, &csvw, 0, &file, &err), CELLAR_ERR_EXISTS);
        assert_null(file);
        assert_int_equal(scratch_n_entries(*state), 1);
        unlink(scratch_path(*state, taken[i]));
    }
    assert_int_equal(cellar_release_file_open("-", NULL, 0, &file, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_release_file_open("-", &csvw, 0, &file, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_release_file_open("noformat", NULL, 0, &file, &err),
                     CELLAR_ERR_ARGUMENT);
}

/* ---- memory ---------------------------------------------------------------------- */

typedef struct scenario {
    const cellar_release *release;
    char paths[2][400];
} scenario;

static cellar_status file_scenario(void *context, cellar_error *err)
{
    scenario *s = context;
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < 2 && status == CELLAR_OK; i++) {
        cellar_release *back = NULL;
        status = write_release(s->release, s->paths[i], NULL, 1, err);
        if (status == CELLAR_OK)
            status = cellar_release_read(s->paths[i], CELLAR_TABLE_AUTO, &back, err);
        cellar_release_free(back);
    }
    return status;
}

static void failing_allocations_are_survived(void **state)
{
    cellar_release *release = fixed_release(NULL);
    sample_random random = {11};
    cellar_table *table;
    scenario s = {.release = release};
    snprintf(s.paths[0], sizeof s.paths[0], "%s", scratch_path(*state, "m.csv"));
    snprintf(s.paths[1], sizeof s.paths[1], "%s", scratch_path(*state, "m.json"));
    check_fail_every(file_scenario, &s);
    cellar_release_free(release);
    table = sample_table(&random, &(sample_options){0});
    release = release_of(table, "discrete-laplace:epsilon=0.5", 4, NULL);
    s.release = release;
    check_fail_every(file_scenario, &s);
    cellar_release_free(release);
    cellar_table_free(table);
}

int main(void)
{
#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(files_read_back_as_they_were),
        SCRATCH_TEST(suppressed_cells_read_back),
        SCRATCH_TEST(files_that_are_no_releases_are_refused),
        SCRATCH_TEST(numbers_cannot_be_changed),
        SCRATCH_TEST(true_tables_and_releases_are_told_apart),
        SCRATCH_TEST(simulations_are_not_written),
        SCRATCH_TEST(names_that_are_taken_are_known_first),
        SCRATCH_TEST(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
