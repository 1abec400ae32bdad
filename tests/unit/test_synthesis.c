/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <cellar/adjustment.h>
#include <cellar/release_file.h>
#include <cellar/synthesis.h>
#include <cellar/tabulate.h>

#include "fail_every.h"
#include "scratch.h"
#include "table_samples.h"
#include "table/schema/schema.h"

static cellar_release *release_of(const cellar_table *table, const char *spec,
                                  cellar_negatives negatives)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *m = NULL;
    cellar_release *release = NULL;
    cellar_error err;

    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = negatives;
    options.per_cell = 1;
    options.domain_public = 1;
    options.date = "2026-07-01";
    options.n_threads = 1;
    assert_int_equal(cellar_mechanism_create(spec, &m, NULL), CELLAR_OK);
    if (cellar_release_protect(table, m, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(m);
    return release;
}

/* A random table without weights, perhaps with margins, rules, hierarchies and hostile labels. */
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

/* Counts a file of records by the code lists of the schema. */
static cellar_table *count_again(const char *path, const cellar_schema *schema, const char *column)
{
    cellar_variable_spec variables[CELLAR_MAX_VARIABLES];
    cellar_tabulate_spec spec = cellar_tabulate_spec_default();
    cellar_table *table = NULL;
    cellar_error err = {""};

    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        variables[v] = cellar_variable_spec_default();
        variables[v].column = cellar_schema_variable(schema, v);
        variables[v].codelist = cellar_schema_codelist(schema, v);
    }
    spec.path = path;
    spec.variables = variables;
    spec.n_variables = cellar_schema_n_variables(schema);
    spec.reader.count_column = column;
    spec.reader.rows_are_records = column == NULL;
    spec.n_threads = 1;
    if (cellar_tabulate(&spec, &table, NULL, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return table;
}

/* The inner cells of the release are the cells of the table, one by one. */
static void check_same(const cellar_release *release, const cellar_table *table)
{
    const cellar_schema *schema = cellar_release_schema(release);
    const cellar_schema *inner = cellar_table_schema(table);
    uint64_t n = 0;
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
        uint32_t categories[CELLAR_MAX_VARIABLES];
        if (!cellar_schema_is_interior(schema, index))
            continue;
        cellar_schema_categories(schema, index, categories);
        assert_int_equal(cellar_table_at(table, cellar_schema_index(inner, categories)).count,
                         cellar_release_at(release, index).released);
        n += (uint64_t) cellar_release_at(release, index).released;
    }
    assert_int_equal(n, cellar_table_n_records(table));
}

static void write_and_count(scratch *place, const cellar_release *release,
                            const cellar_synthesis *records, const char *name,
                            const cellar_synthesis_write_options *options)
{
    char path[400];
    cellar_table *table;
    cellar_error err = {""};
    snprintf(path, sizeof path, "%s", scratch_path(place, name));
    if (cellar_synthesis_write(records, path, options, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(scratch_mode(place, name), 0644);
    table = count_again(path, cellar_release_schema(release), options->count_column);
    check_same(release, table);
    cellar_table_free(table);
}

/* Whatever the release, counting the records gives its inner cells back. */
static void counting_gives_the_release_back(void **state)
{
    sample_random random = {11};
    int n_long = 0;
    for (int round = 0; round < 40; round++) {
        static const char *const specs[] = {"poisson:alpha=1", "negbin:alpha=0.5,sigma=0.2",
                                            "discrete-laplace:epsilon=0.5", "identity"};
        const cellar_synthesis_options options = {.ignore_margins = round % 4 != 3,
                                                  .max_records = 1000000000};
        cellar_synthesis_write_options write = {.count_column = "how many", .replace = 1};
        cellar_table *table = make_table(&random);
        cellar_release *release = release_of(table, specs[round % 4], CELLAR_NEGATIVES_ZERO);
        cellar_synthesis *records = NULL;
        cellar_error err = {""};

        if (cellar_synthesis_from_release(release, &options, &records, &err) != CELLAR_OK)
            fail_msg("round %d: %s", round, err.message);
        write_and_count(*state, release, records, "a.csv", &write);
        write_and_count(*state, release, records, "a.tsv.gz", &write);
        write.count_column = NULL;
        if (cellar_synthesis_n_records(records) < 20000) {
            write_and_count(*state, release, records, "b.tsv", &write);
            write.shuffle = 1;
            write_and_count(*state, release, records, "b.csv.gz", &write);
            n_long++;
        }
        cellar_synthesis_free(records);
        cellar_release_free(release);
        cellar_table_free(table);
    }
    assert_true(n_long > 5);
}

/* Two by two, counts 1 to 4, with labels. */
static cellar_table *small_table(int with_margins)
{
    static const char list[] = "code,label\na,\"A, really\"\nb,B\n";
    cellar_margins margins = {.all = 1};
    cellar_codelist *codes = NULL;
    cellar_schema *schema = NULL;
    cellar_table *table = NULL, *expanded = NULL;
    cellar_cells cells = {.n = 4,
                          .index = cellar_alloc(4, sizeof(uint64_t)),
                          .count = cellar_alloc(4, sizeof(uint64_t))};
    for (size_t i = 0; i < 4; i++) {
        cells.index[i] = i;
        cells.count[i] = i + 1;
    }
    assert_int_equal(cellar_codelist_parse("list", list, strlen(list), &codes, NULL), CELLAR_OK);
    cellar_schema_variable_def defs[] = {{"x", CELLAR_DOMAIN_DECLARED, codes},
                                         {"y", CELLAR_DOMAIN_DECLARED, codes}};
    assert_int_equal(cellar_schema_create(defs, 2, NULL, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    cellar_codelist_free(codes);
    cellar_schema_free(schema);
    if (!with_margins)
        return table;
    assert_int_equal(cellar_table_create_expanded(table, &margins, &expanded, NULL), CELLAR_OK);
    cellar_table_free(table);
    return expanded;
}

static void rows_are_written_as_asked(void **state)
{
    cellar_table *table = small_table(0);
    cellar_release *release = release_of(table, "identity", CELLAR_NEGATIVES_KEEP);
    cellar_synthesis_write_options write = cellar_synthesis_write_options_default();
    cellar_synthesis *records = NULL;
    cellar_error err = {""};
    char path[400];

    assert_int_equal(cellar_synthesis_from_release(release, NULL, &records, &err), CELLAR_OK);
    assert_int_equal(cellar_synthesis_n_records(records), 10);
    assert_int_equal(cellar_synthesis_n_combinations(records), 4);
    snprintf(path, sizeof path, "%s", scratch_path(*state, "a.csv"));
    assert_int_equal(cellar_synthesis_write(records, path, &write, &err), CELLAR_OK);
    scratch_expect(*state, "a.csv", "x,y\na,a\na,b\na,b\nb,a\nb,a\nb,a\nb,b\nb,b\nb,b\nb,b\n");
    scratch_says(*state, "a.csv.synthetic.json", CELLAR_SYNTHETIC_STATEMENT);
    scratch_says(*state, "a.csv.synthetic.json", "\"certificate\"");
    assert_int_equal(cellar_synthesis_write(records, path, &write, &err), CELLAR_ERR_EXISTS);
    write.replace = 1;
    write.labels = 1;
    write.count_column = "n";
    assert_int_equal(cellar_synthesis_write(records, path, &write, &err), CELLAR_OK);
    scratch_expect(*state, "a.csv",
                   "x,y,n\n\"A, really\",\"A, really\",1\n\"A, really\",B,2\nB,\"A, really\",3\n"
                   "B,B,4\n");
    write.count_column = "x";
    assert_int_equal(cellar_synthesis_write(records, path, &write, &err), CELLAR_ERR_ARGUMENT);
    write.count_column = NULL;
    write.language = "tlh";
    assert_int_equal(cellar_synthesis_write(records, path, &write, &err), CELLAR_ERR_ARGUMENT);
    snprintf(path, sizeof path, "%s", scratch_path(*state, "a.json"));
    assert_int_equal(cellar_synthesis_write(records, path, NULL, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(scratch_n_entries(*state), 2); /* nothing half-written */
    cellar_synthesis_free(records);
    cellar_release_free(release);
    cellar_table_free(table);
}

static void check_refused(const cellar_release *release, const char *words)
{
    cellar_synthesis *records = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_synthesis_from_release(release, NULL, &records, &err), CELLAR_ERR_RULE);
    assert_null(records);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}

/* Negative values and margins that do not add are refused, and what helps is named; it helps. */
static void refusals_name_what_helps(void **state)
{
    cellar_table *table = small_table(1);
    const cellar_release *release = NULL;
    cellar_release *drawn;
    cellar_adjustment *fit = NULL;
    cellar_rounding *rounding = NULL;
    cellar_estimate *estimate = NULL, *without = NULL;
    cellar_synthesis *records = NULL;
    cellar_synthesis_options options = cellar_synthesis_options_default();
    const cellar_adjustment_options fitting = cellar_adjustment_options_default();
    const cellar_rounding_options whole = cellar_rounding_options_default();
    cellar_error err = {""};
    int has_negative = 0;
    (void) state;

    while (!has_negative) { /* noise of this size makes one soon */
        cellar_release_free((cellar_release *) release);
        release = drawn = release_of(table, "discrete-laplace:epsilon=0.05", CELLAR_NEGATIVES_KEEP);
        for (size_t i = 0; i < cellar_release_n_cells(release); i++)
            has_negative |= cellar_release_cell(release, i).released < 0;
    }
    check_refused(release, "cellar fit");
    assert_int_equal(cellar_adjustment_create(&release, 1, &fitting, &fit, &err), CELLAR_OK);
    assert_int_equal(cellar_rounding_create(fit, &whole, &rounding, &err), CELLAR_OK);
    assert_int_equal(cellar_estimate_from_fit(fit, rounding, &release, 1, CELLAR_OFFICIAL_FITTED, 0,
                                              &estimate, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_synthesis_from_estimate(estimate, NULL, &records, &err), CELLAR_OK);
    assert_int_equal(cellar_synthesis_n_records(records), cellar_rounding_total(rounding));
    cellar_synthesis_free(records);
    assert_int_equal(
        cellar_estimate_from_fit(fit, NULL, &release, 1, CELLAR_OFFICIAL_FITTED, 0, &without, &err),
        CELLAR_OK);
    assert_int_equal(cellar_synthesis_from_estimate(without, NULL, &records, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "--whole"));
    cellar_release_free(drawn);

    release = drawn = release_of(table, "poisson:alpha=20", CELLAR_NEGATIVES_KEEP);
    check_refused(release, "--ignore-margins");
    options.max_records = 3;
    options.ignore_margins = 1;
    assert_int_equal(cellar_synthesis_from_release(release, &options, &records, &err),
                     CELLAR_ERR_RULE);
    assert_non_null(strstr(err.message, "--max-records"));
    cellar_estimate_free(estimate);
    cellar_estimate_free(without);
    cellar_rounding_free(rounding);
    cellar_adjustment_free(fit);
    cellar_release_free(drawn);
    cellar_table_free(table);
}

typedef struct place_and_release {
    scratch *place;
    const cellar_release *release;
} place_and_release;

static cellar_status write_scenario(void *context, cellar_error *err)
{
    const place_and_release *job = context;
    const cellar_synthesis_write_options write = {.labels = 1, .shuffle = 1, .replace = 1};
    char path[400];
    cellar_synthesis *records = NULL;
    cellar_status status = cellar_synthesis_from_release(job->release, NULL, &records, err);
    snprintf(path, sizeof path, "%s", scratch_path(job->place, "a.csv.gz"));
    if (status == CELLAR_OK)
        status = cellar_synthesis_write(records, path, &write, err);
    cellar_synthesis_free(records);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    cellar_table *table = small_table(1);
    cellar_release *release = release_of(table, "identity", CELLAR_NEGATIVES_KEEP);
    place_and_release job = {*state, release};
    check_fail_every(write_scenario, &job);
    cellar_release_free(release);
    cellar_table_free(table);
}

#define SCRATCH_TEST(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCRATCH_TEST(counting_gives_the_release_back),
        SCRATCH_TEST(rows_are_written_as_asked),
        cmocka_unit_test(refusals_name_what_helps),
        SCRATCH_TEST(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
