/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conversions: from every format into every other and back, nothing is lost and nothing changes
 * what it is. */
#include "check.h"

#include <string.h>
#include <sys/stat.h>

#include <cellar/convert.h>

#include "base/file.h"
#include "fail_every.h"
#include "scratch.h"
#include "table_samples.h"

enum { N_RANDOM_TABLES = 4 };

static const cellar_table_format formats[] = {
    CELLAR_TABLE_CSV, CELLAR_TABLE_JSONSTAT, CELLAR_TABLE_PX, CELLAR_TABLE_SDMX, CELLAR_TABLE_CSVW};
enum { N_FORMATS = sizeof formats / sizeof *formats };

static const cellar_variable_role roles[] = {{"region", CELLAR_ROLE_GEO}};
static const cellar_table_write_options said = {.format = CELLAR_TABLE_JSONSTAT,
                                                .title = "A \"small\" table",
                                                .source = "Office; of \"numbers\"",
                                                .note = "Line one\nline two # 100 %",
                                                .units = "persons",
                                                .updated = "2026-11-18T10:00:30Z",
                                                .matrix = "POP01",
                                                .structure_id = "AGENCY:POP(1.0)",
                                                .roles = roles,
                                                .n_roles = 1};

static void paths_of(scratch *place, const char *name, char out[400])
{
    snprintf(out, 400, "%s", scratch_path(place, name));
}

static void write_table(const cellar_table *table, const char *path,
                        const cellar_table_write_options *options)
{
    static const cellar_output_options replace = {.replace = 1};
    cellar_output *output = NULL;
    cellar_error err = {""};
    assert_int_equal(cellar_output_open(path, &replace, &output, &err), CELLAR_OK);
    if (cellar_table_write(table, options, output, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
}

static void convert(const char *from, cellar_table_format read, const char *to,
                    cellar_table_format write, const char *kind)
{
    cellar_convert_options options = cellar_convert_options_default();
    cellar_conversion done = {0};
    cellar_error err = {""};
    options.read.format = read;
    options.write.format = write;
    options.replace = 1;
    if (cellar_convert(from, to, &options, &done, &err) != CELLAR_OK)
        fail_msg("format %d to %d: %s", (int) read, (int) write, err.message);
    assert_string_equal(done.kind, kind);
}

static char *read_text(const char *path)
{
    char *bytes;
    size_t length;
    cellar_error err = {""};
    if (cellar_file_read(path, 1 << 24, &bytes, &length, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return bytes;
}

/* From a JSON-stat file through both formats and back: the same bytes. */
static void check_pairs(scratch *place, const char *start, const char *kind)
{
    char one[400], two[400], end[400];
    char *want = read_text(start);
    for (size_t f = 0; f < N_FORMATS; f++)
        for (size_t g = 0; g < N_FORMATS; g++) {
            char *got;
            paths_of(place, "one", one);
            paths_of(place, "two", two);
            paths_of(place, "end.json", end);
            convert(start, CELLAR_TABLE_JSONSTAT, one, formats[f], kind);
            convert(one, formats[f], two, formats[g], kind);
            convert(two, formats[g], end, CELLAR_TABLE_JSONSTAT, kind);
            got = read_text(end);
            assert_string_equal(got, want);
            cellar_free(got);
        }
    cellar_free(want);
}

static void test_every_pair_keeps_all(void **state)
{
    cellar_table *table = sample_fixed_table();
    char start[400];
    paths_of(*state, "start.json", start);
    write_table(table, start, &said);
    check_pairs(*state, start, "table");
    cellar_table_free(table);
}

/* Hostile names and labels, margins, weights, keys, statuses and structural zeros. */
static void test_random_tables_come_back(void **state)
{
    static const cellar_table_write_options json = {.format = CELLAR_TABLE_JSONSTAT};
    const sample_options options = {.with_rules = 1, .with_statuses = 1};
    sample_random random = {11};
    char start[400];
    paths_of(*state, "start.json", start);
    for (size_t i = 0; i < N_RANDOM_TABLES; i++) {
        cellar_table *table = sample_table(&random, &options);
        write_table(table, start, &json);
        check_pairs(*state, start, "table");
        cellar_table_free(table);
    }
}

static void test_estimates_stay_estimates(void **state)
{
    char start[400], golden[400];
    snprintf(golden, sizeof golden, "%s/estimate.json", CELLAR_GOLDEN);
    paths_of(*state, "start.json", start);
    convert(golden, CELLAR_TABLE_AUTO, start, CELLAR_TABLE_JSONSTAT, "estimate");
    check_pairs(*state, start, "estimate");
}

static unsigned mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return (unsigned) info.st_mode & 0777;
}

static void test_true_counts_stay_the_owners(void **state)
{
    static const char *const beside[] = {"", ".cellar.json", "-metadata.json"};
    cellar_table *table = sample_fixed_table();
    char start[400], one[400], name[420];
    paths_of(*state, "start.json", start);
    paths_of(*state, "one.csv", one);
    write_table(table, start, &said);
    convert(start, CELLAR_TABLE_AUTO, one, CELLAR_TABLE_CSVW, "table");
    for (size_t i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", one, beside[i]);
        assert_int_equal(mode_of(name), 0600);
    }
    cellar_table_free(table);
}

static void check_holds(const char *path, const char *const *texts)
{
    char *got = read_text(path);
    for (; *texts != NULL; texts++)
        if (strstr(got, *texts) == NULL)
            fail_msg("%s: no %s", path, *texts);
    cellar_free(got);
}

/* Each format shows what it has a place for; px holds prose in its note. */
static void test_formats_show_what_is_said(void **state)
{
    static const char *const px[] = {"CREATION-DATE=\"20261118 10:00\";",
                                     "LAST-UPDATED=\"20261118 10:00\";",
                                     "MATRIX=\"POP01\";",
                                     "SOURCE=\"Office; of 'numbers'\";",
                                     "UNITS=\"persons\";",
                                     "NOTE=\"Confidential: true counts, not for publication.#Line "
                                     "one line two # 100 %\";",
                                     "\nCELLAR=\"cellar:{",
                                     NULL};
    static const char *const json[] = {
        "\"source\":\"Office; of \\\"numbers\\\"\"", "\"updated\":\"2026-11-18T10:00:30Z\"",
        "\"role\":{\"geo\":[\"region\"]}", "line two # 100 %\"]", NULL};
    static const char *const sdmx[] = {"dataflow,AGENCY:POP(1.0),I,N1,", NULL};
    static const char *const csvw[] = {"\"name\": \"sex\"",
                                       "\"propertyUrl\": \"#sex\"",
                                       "dimension#refArea",
                                       "\"name\": \"record_key%3A4096\"",
                                       "\"dc:source\": \"Office",
                                       "\"dc:modified\": \"2026-",
                                       NULL};
    const struct {
        const char *name;
        cellar_table_format format;
        const char *shown;
        const char *const *texts;
    } cases[] = {{"a.px", CELLAR_TABLE_PX, "a.px", px},
                 {"a.json", CELLAR_TABLE_JSONSTAT, "a.json", json},
                 {"a.csv", CELLAR_TABLE_SDMX, "a.csv", sdmx},
                 {"b.csv", CELLAR_TABLE_CSVW, "b.csv-metadata.json", csvw}};
    cellar_table *table = sample_fixed_table();
    char start[400];
    paths_of(*state, "start.json", start);
    write_table(table, start, &said);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        convert(start, CELLAR_TABLE_AUTO, scratch_path(*state, cases[i].name), cases[i].format,
                "table");
        check_holds(scratch_path(*state, cases[i].shown), cases[i].texts);
    }
    cellar_table_free(table);
}

/* What others' files say about their table is kept, too. */
static void test_words_of_others_are_kept(void **state)
{
    static const struct {
        const char *name, *text;
    } files[] = {{"f.px",
                  "TITLE=\"Pets\";SOURCE=\"Office\";MATRIX=\"M1\";UNITS=\"pets\";NOTE=\"Few\";"
                  "CREATION-DATE=\"20200102 03:04\";VARIABLE-TYPE(\"s\")=\"Time\";STUB=\"s\";"
                  "VALUES(\"s\")=\"a\",\"b\";DATA=3 4;"},
                 {"f.json",
                  "{\"version\":\"2.0\",\"class\":\"dataset\",\"label\":\"Pets\",\"source\":"
                  "\"Office\",\"updated\":\"2020-01-02T03:04:05.678Z\",\"note\":[\"Few\"],\"role\":"
                  "{\"time\":[\"s\"]},\"id\":[\"s\"],\"size\":[2],\"dimension\":{\"s\":{"
                  "\"category\":{\"index\":[\"a\",\"b\"]}}},\"value\":[3,4]}"}};
    static const char *const wanted[] = {
        "\"label\":\"Pets\"", "\"source\":\"Office\"",       "\"updated\":\"2020-01-02T03:04\"",
        "\"Few\"]",           "\"role\":{\"time\":[\"s\"]}", NULL};
    for (size_t i = 0; i < 2; i++) {
        char from[400];
        FILE *file;
        paths_of(*state, files[i].name, from);
        file = fopen(from, "w");
        assert_non_null(file);
        fputs(files[i].text, file);
        fclose(file);
        convert(from, CELLAR_TABLE_AUTO, scratch_path(*state, "out.json"), CELLAR_TABLE_JSONSTAT,
                "table");
        check_holds(scratch_path(*state, "out.json"), wanted);
    }
}

static void check_refused(const char *from, const char *to, cellar_convert_options options,
                          cellar_status expected, const char *reason)
{
    cellar_error err = {""};
    assert_int_equal(cellar_convert(from, to, &options, NULL, &err), expected);
    if (strstr(err.message, reason) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, reason);
    assert_int_not_equal(access(to, F_OK), 0);
}

static void test_refusals_give_reasons(void **state)
{
    cellar_convert_options options = cellar_convert_options_default();
    char from[400], to[400], name[420];
    FILE *file;
    paths_of(*state, "t.csv", from);
    paths_of(*state, "out.px", to);
    file = fopen(from, "w");
    fputs("OBS_VALUE,count\na,3\n", file);
    fclose(file);
    options.write.updated = "yesterday";
    check_refused(from, to, options, CELLAR_ERR_ARGUMENT, "expected a date such as 2026-11-18");
    options.write.updated = NULL;
    options.write.format = CELLAR_TABLE_SDMX;
    check_refused(from, to, options, CELLAR_ERR_ARGUMENT, "'OBS_VALUE' cannot be written");
    options.write.format = CELLAR_TABLE_AUTO;
    file = fopen(from, "w");
    fputs("x,released\na,3\n", file);
    fclose(file);
    check_refused(from, to, options, CELLAR_ERR_INPUT, "its values are 'released', and");
    file = fopen(from, "w");
    fputs("STRUCTURE,STRUCTURE_ID,ACTION,x,OBS_VALUE,OBS_STATUS,CONF_STATUS\n", file);
    fclose(file);
    check_refused(from, to, options, CELLAR_ERR_INPUT,
                  ".cellar.json beside it, which is not there");

    /* numbers that were changed after the description was written */
    cellar_table *table = sample_fixed_table();
    char start[400];
    paths_of(*state, "start.json", start);
    write_table(table, start, &said);
    convert(start, CELLAR_TABLE_AUTO, from, CELLAR_TABLE_SDMX, "table");
    snprintf(name, sizeof name, "%s.cellar.json", from);
    assert_int_equal(access(name, F_OK), 0);
    file = fopen(from, "a");
    fputs("dataflow,X,I,N1,f,0-14,1,A,C\n", file);
    fclose(file);
    check_refused(from, to, options, CELLAR_ERR_INPUT, "the digests differ");
    cellar_table_free(table);
}

/* ---- memory ---------------------------------------------------------------- */

typedef struct memory_case {
    char start[400], one[400], end[400];
    cellar_table_format format;
} memory_case;

static cellar_status there_and_back(void *context, cellar_error *err)
{
    const memory_case *now = context;
    cellar_convert_options options = cellar_convert_options_default();
    cellar_status status;
    options.replace = 1;
    options.write.format = now->format;
    status = cellar_convert(now->start, now->one, &options, NULL, err);
    if (status != CELLAR_OK)
        return status;
    options.read.format = now->format;
    options.write.format = CELLAR_TABLE_JSONSTAT;
    return cellar_convert(now->one, now->end, &options, NULL, err);
}

static void test_every_allocation(void **state)
{
    cellar_table *table = sample_fixed_table();
    memory_case now;
    paths_of(*state, "start.json", now.start);
    paths_of(*state, "one", now.one);
    paths_of(*state, "end.json", now.end);
    write_table(table, now.start, &said);
    for (size_t f = 0; f < N_FORMATS; f++) {
        now.format = formats[f];
        check_fail_every(there_and_back, &now);
    }
    cellar_table_free(table);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_every_pair_keeps_all),      IN_SCRATCH(test_random_tables_come_back),
        IN_SCRATCH(test_estimates_stay_estimates),  IN_SCRATCH(test_true_counts_stay_the_owners),
        IN_SCRATCH(test_formats_show_what_is_said), IN_SCRATCH(test_words_of_others_are_kept),
        IN_SCRATCH(test_refusals_give_reasons),     IN_SCRATCH(test_every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
