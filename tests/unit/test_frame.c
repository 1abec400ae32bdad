/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Data frames: whatever way the same rows come in, the table is the one of the CSV file. */
#include "scratch.h"

#include <math.h>

#include <cellar/arrow.h>
#include <cellar/columns.h>
#include <cellar/table_file.h>

#include "arrow_sample.h"
#include "fail_every.h"
#include "splitmix.h"

enum { N_ROWS = 20000, N_REGIONS = 7 };

static const char *const regions[N_REGIONS] = {
    "north", "south", "east", "west", "a,\"b\"", "", "M\xc3\xbcnchen and far beyond it"};
static const char *const sexes[] = {"F", "M"};

/* The same rows as a frame of every kind of column. */
typedef struct rows {
    int32_t region[N_ROWS]; /* as R has it: 1 is the first; INT32_MIN is missing */
    int8_t sex[N_ROWS];     /* as pandas has it: -1 is missing */
    double age[N_ROWS];     /* NaN is missing */
    int64_t unit[N_ROWS], key[N_ROWS];
    double weight[N_ROWS];
    const char *flag[N_ROWS];
} rows;

static rows *make_rows(uint64_t seed, size_t n)
{
    rows *r = calloc(1, sizeof *r);
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = next_random(&seed);
        r->region[i] = x % 50 == 0 ? INT32_MIN : (int32_t) (1 + x / 64 % N_REGIONS);
        r->sex[i] = x / 1024 % 60 == 0 ? -1 : (int8_t) (x / 4096 % 2);
        r->age[i] = x / 8192 % 70 == 0 ? NAN : (double) (x / 16384 % 100) + (x % 4 == 1 ? 0.5 : 0);
        r->unit[i] = (int64_t) (x >> 20) % 9000;
        r->key[i] = (int64_t) (x >> 30) % 65536;
        r->weight[i] = (double) ((x >> 40) % 4000) / 1000;
        r->flag[i] = x % 3 == 0 ? "yes" : x % 3 == 1 ? "no" : NULL;
    }
    return r;
}

static void write_csv(scratch *place, const rows *r, size_t n)
{
    FILE *file = fopen(scratch_path(place, "rows.csv"), "w");
    assert_non_null(file);
    fputs("region,sex,age,unit,key,weight,flag\n", file);
    for (size_t i = 0; i < n; i++) {
        const char *region = r->region[i] == INT32_MIN ? "" : regions[r->region[i] - 1];
        fprintf(file, strpbrk(region, "\",") != NULL ? "\"a,\"\"b\"\"\"," : "%s,", region);
        fprintf(file, "%s,", r->sex[i] < 0 ? "" : sexes[r->sex[i]]);
        if (isnan(r->age[i]))
            fputs(",", file);
        else
            fprintf(file, "%.10g,", r->age[i]);
        fprintf(file, "%lld,%lld,%.10g,%s\n", (long long) r->unit[i], (long long) r->key[i],
                r->weight[i], r->flag[i] != NULL ? r->flag[i] : "");
    }
    assert_int_equal(fclose(file), 0);
}

static cellar_frame frame_of(const rows *r, size_t n, cellar_column columns[7])
{
    columns[0] = (cellar_column){.name = "region",
                                 .kind = CELLAR_COLUMN_CODES,
                                 .value_bytes = 4,
                                 .values = r->region,
                                 .has_missing = 1,
                                 .missing = INT32_MIN,
                                 .levels = regions,
                                 .n_levels = N_REGIONS,
                                 .first_code = 1};
    columns[1] = (cellar_column){.name = "sex",
                                 .kind = CELLAR_COLUMN_CODES,
                                 .value_bytes = 1,
                                 .values = r->sex,
                                 .has_missing = 1,
                                 .missing = -1,
                                 .levels = sexes,
                                 .n_levels = 2};
    columns[2] = (cellar_column){
        .name = "age", .kind = CELLAR_COLUMN_FLOATS, .value_bytes = 8, .values = r->age};
    columns[3] = (cellar_column){
        .name = "unit", .kind = CELLAR_COLUMN_INTEGERS, .value_bytes = 8, .values = r->unit};
    columns[4] = (cellar_column){
        .name = "key", .kind = CELLAR_COLUMN_INTEGERS, .value_bytes = 8, .values = r->key};
    columns[5] = (cellar_column){
        .name = "weight", .kind = CELLAR_COLUMN_FLOATS, .value_bytes = 8, .values = r->weight};
    columns[6] = (cellar_column){.name = "flag", .kind = CELLAR_COLUMN_TEXTS, .values = r->flag};
    return (cellar_frame){.columns = columns, .n_columns = 7, .n_rows = n};
}

/* ---- the same rows with codes that are made ------------------------------------- */

/* Codes of regions in the order of appearance, from 1; 0 is missing. */
typedef struct maker {
    const rows *r;
    uint64_t next_row;
    const char *levels[N_REGIONS];
    size_t n;
    int fails;
} maker;

static int make_region_codes(void *context, uint64_t first, size_t n, uint32_t *codes,
                             const char *const **levels, size_t *n_levels)
{
    maker *m = context;
    assert_int_equal(first, m->next_row);
    m->next_row += n;
    for (size_t i = 0; i < n; i++) {
        const int32_t region = m->r->region[first + i];
        codes[i] = 0;
        if (region == INT32_MIN)
            continue;
        while (codes[i] < m->n && m->levels[codes[i]] != regions[region - 1])
            codes[i]++;
        if (codes[i] == m->n)
            m->levels[m->n++] = regions[region - 1];
        codes[i]++;
    }
    *levels = m->levels;
    *n_levels = m->n;
    return !m->fails;
}

static cellar_column made_column(maker *m)
{
    return (cellar_column){.name = "region",
                           .kind = CELLAR_COLUMN_CODES,
                           .has_missing = 1,
                           .first_code = 1,
                           .make_codes = make_region_codes,
                           .context = m};
}

/* ---- the same rows as a stream -------------------------------------------------- */

/* Buffers of one batch. */
typedef struct buffers {
    int16_t region[N_ROWS];
    uint8_t validity[N_ROWS / 8 + 2], age_validity[N_ROWS / 8 + 2], flags_validity[N_ROWS / 8 + 2];
    int32_t ends[N_ROWS + 1], region_ends[N_REGIONS + 1];
    int64_t flag_ends[N_ROWS + 1];
    char views[N_ROWS * 16];
    char sex_bytes[N_ROWS * 2], flag_bytes[N_ROWS * 4], region_bytes[256];
    __extension__ __int128 weight[N_ROWS];
    int32_t keys[N_ROWS];
} buffers;

/* The dictionary turns by `turn`, so that batches number the regions differently. */
static void fill_batch(const rows *r, size_t first, size_t n, size_t turn, buffers *b,
                       sample_batch *out)
{
    int32_t at = 0, flag_at = 0, region_at = 0;
    memset(b, 0, sizeof *b);
    for (size_t i = 0; i < N_REGIONS; i++) {
        const char *text = regions[(i + turn) % N_REGIONS];
        memcpy(b->region_bytes + region_at, text, strlen(text));
        b->region_ends[i + 1] = region_at += (int32_t) strlen(text);
    }
    for (size_t i = 0; i < n; i++) {
        const size_t row = first + i;
        const char *sex = r->sex[row] < 0 ? "" : sexes[r->sex[row]];
        const char *flag = r->flag[row] != NULL ? r->flag[row] : "?";
        const int32_t length = (int32_t) strlen(flag);
        if (r->region[row] != INT32_MIN) {
            b->validity[(i + 3) / 8] |= (uint8_t) (1u << (i + 3) % 8);
            b->region[i + 3] =
                (int16_t) (((size_t) r->region[row] - 1 + N_REGIONS - turn % N_REGIONS) %
                           N_REGIONS);
        }
        if (!isnan(r->age[row]))
            b->age_validity[i / 8] |= (uint8_t) (1u << i % 8);
        if (r->flag[row] != NULL)
            b->flags_validity[i / 8] |= (uint8_t) (1u << i % 8);
        memcpy(b->sex_bytes + at, sex, strlen(sex));
        b->ends[i + 1] = at += (int32_t) strlen(sex);
        memcpy(b->views + 16 * i, &length, 4);
        memcpy(b->views + 16 * i + 4, flag, (size_t) length);
        memcpy(b->flag_bytes + flag_at, flag, (size_t) length);
        b->flag_ends[i + 1] = flag_at += length;
        b->weight[i] = (int64_t) lround(r->weight[row] * 1000);
        b->keys[i] = (int32_t) r->key[row];
    }
    *out = (sample_batch){.n_rows = (int64_t) n};
    out->columns[0] = (sample_column){.name = "region",
                                      .format = "s",
                                      .level_format = "u",
                                      .buffers = {b->validity, b->region},
                                      .n_buffers = 2,
                                      .offset = 3,
                                      .null_count = -1,
                                      .n_levels = N_REGIONS,
                                      .level_buffers = {NULL, b->region_ends, b->region_bytes},
                                      .n_level_buffers = 3};
    out->columns[1] = (sample_column){
        .name = "sex", .format = "u", .buffers = {NULL, b->ends, b->sex_bytes}, .n_buffers = 3};
    out->columns[2] = (sample_column){.name = "age",
                                      .format = "g",
                                      .buffers = {b->age_validity, r->age + first},
                                      .n_buffers = 2,
                                      .null_count = -1};
    out->columns[3] = (sample_column){
        .name = "unit", .format = "L", .buffers = {NULL, r->unit + first}, .n_buffers = 2};
    out->columns[4] =
        (sample_column){.name = "key", .format = "I", .buffers = {NULL, b->keys}, .n_buffers = 2};
    out->columns[5] = (sample_column){
        .name = "weight", .format = "d:20,3", .buffers = {NULL, b->weight}, .n_buffers = 2};
    if (turn % 2 == 0)
        out->columns[6] = (sample_column){.name = "flag",
                                          .format = "vu",
                                          .buffers = {b->flags_validity, b->views, NULL},
                                          .n_buffers = 3,
                                          .null_count = -1};
    else
        out->columns[6] =
            (sample_column){.name = "flag",
                            .format = "U",
                            .buffers = {b->flags_validity, b->flag_ends, b->flag_bytes},
                            .n_buffers = 3,
                            .null_count = -1};
    out->columns[7] = (sample_column){.name = "list", .format = "+l"};
}

/* ---- specs ------------------------------------------------------------------------ */

typedef struct question {
    cellar_tabulate_spec spec;
    cellar_variable_spec variables[3];
    const char *where[1], *missing[1];
} question;

/* A random question: recodes, bands, conditions, units, weights, keys. */
static void make_question(uint64_t seed, question *q)
{
    const uint64_t x = next_random(&seed);
    *q = (question){.where = {x & 1 ? "age>=18" : "region!=west"}, .missing = {"yes"}};
    q->variables[0].column = "region";
    q->variables[1].column = "sex";
    q->variables[2].column = x & 2 ? "age" : "flag";
    if (x & 2) {
        q->variables[2].recode =
            (cellar_recode){.bottom = "10", .top = "80", .band_width = x & 4 ? "5" : "7.5"};
        q->variables[2].name = "band";
    }
    q->spec.variables = q->variables;
    q->spec.n_variables = 1 + x / 8 % 3;
    q->spec.missing_policy = x & 64 ? CELLAR_MISSING_DROP : CELLAR_MISSING_LEVEL;
    q->spec.where = q->where;
    q->spec.n_where = x / 128 & 1;
    q->spec.missing = q->missing;
    q->spec.n_missing = x / 256 & 1;
    q->spec.margins.all = x / 512 & 1;
    if (x & 1024) {
        q->spec.weight_column = "weight";
        q->spec.max_weight = 3;
    }
    if (x & 2048) {
        q->spec.record_key_column = "key";
        q->spec.key_range = 65536;
    }
    if (x & 4096) {
        q->spec.unit_column = "unit";
        q->spec.max_per_unit = 2;
    }
    q->spec.n_threads = 1 + (int) (x / 8192 % 3);
}

static void expect_equal(const cellar_table *a, const cellar_table *b)
{
    assert_string_equal(cellar_table_tabulation(a), cellar_table_tabulation(b));
    assert_int_equal(cellar_table_n_cells(a), cellar_table_n_cells(b));
    assert_int_equal(cellar_table_key_range(a), cellar_table_key_range(b));
    for (size_t i = 0; i < cellar_table_n_cells(a); i++) {
        const cellar_cell x = cellar_table_cell(a, i), y = cellar_table_cell(b, i);
        assert_int_equal(x.index, y.index);
        assert_int_equal(x.count, y.count);
        assert_int_equal(x.key, y.key);
        assert_true(x.weighted == y.weighted || (isnan(x.weighted) && isnan(y.weighted)));
    }
    for (size_t v = 0; v < cellar_schema_n_variables(cellar_table_schema(a)); v++)
        for (size_t c = 0; c < cellar_schema_n_categories(cellar_table_schema(a), v); c++)
            assert_string_equal(cellar_schema_code(cellar_table_schema(a), v, c),
                                cellar_schema_code(cellar_table_schema(b), v, c));
}

static void expect_report(const cellar_row_report *a, const cellar_row_report *b)
{
    assert_int_equal(a->n_read, b->n_read);
    assert_int_equal(a->n_missing, b->n_missing);
    assert_int_equal(a->n_filtered, b->n_filtered);
    assert_int_equal(a->n_over_unit, b->n_over_unit);
    assert_int_equal(a->n_counted, b->n_counted);
}

static void ask_stream(const rows *r, const question *q, size_t turn, const cellar_table *want,
                       const cellar_row_report *counted)
{
    static buffers memory[3];
    static sample_batch batches[3];
    static const size_t cuts[] = {0, 1, 9000, N_ROWS};
    sample_stream sample = {.batches = batches, .n_batches = 3, .n_columns = 8, .fails_at = -1};
    struct ArrowArrayStream stream;
    cellar_table *table = NULL;
    cellar_row_report report;
    cellar_error err = {""};

    for (size_t b = 0; b < 3; b++)
        fill_batch(r, cuts[b], cuts[b + 1] - cuts[b], turn + 2 * b, &memory[b], &batches[b]);
    stream = sample_open(&sample);
    if (cellar_tabulate_stream(&q->spec, &stream, &table, &report, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    assert_null(stream.release);
    assert_int_equal(sample.n_alive, 0);
    expect_equal(table, want);
    expect_report(&report, counted);
    cellar_table_free(table);
}

static void test_every_way_in_is_the_file(void **state)
{
    scratch *place = *state;
    rows *r = make_rows(1, N_ROWS);
    cellar_column columns[7];
    write_csv(place, r, N_ROWS);
    for (uint64_t seed = 0; seed < 60; seed++) {
        const cellar_frame frame = frame_of(r, N_ROWS, columns);
        maker made = {.r = r};
        question q;
        cellar_table *file = NULL, *table = NULL;
        cellar_row_report counted, report;
        cellar_error err = {""};
        make_question(seed, &q);
        q.spec.path = scratch_path(place, "rows.csv");
        if (cellar_tabulate(&q.spec, &file, &counted, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        q.spec.path = NULL;
        if (cellar_tabulate_columns(&q.spec, &frame, &table, &report, &err) != CELLAR_OK)
            fail_msg("seed %d: %s", (int) seed, err.message);
        expect_equal(table, file);
        expect_report(&report, &counted);
        cellar_table_free(table);
        columns[0] = made_column(&made);
        if (cellar_tabulate_columns(&q.spec, &frame, &table, &report, &err) != CELLAR_OK)
            fail_msg("seed %d, made: %s", (int) seed, err.message);
        expect_equal(table, file);
        expect_report(&report, &counted);
        ask_stream(r, &q, seed, file, &counted);
        cellar_table_free(file);
        cellar_table_free(table);
    }
    free(r);
}

/* ---- values as texts ---------------------------------------------------------------- */

/* The categories that a column of one type has, one row each. */
static void expect_categories(const char *format, const void *values, int64_t n_rows,
                              const char *want)
{
    const sample_batch batch = {
        .n_rows = n_rows,
        .columns = {{.name = "x", .format = format, .buffers = {NULL, values}, .n_buffers = 2}}};
    sample_stream sample = {.batches = &batch, .n_batches = 1, .n_columns = 1, .fails_at = -1};
    struct ArrowArrayStream stream = sample_open(&sample);
    const cellar_variable_spec variable = {.column = "x"};
    const cellar_tabulate_spec spec = {.variables = &variable, .n_variables = 1, .n_threads = 1};
    cellar_table *table = NULL;
    cellar_error err = {""};
    char found[400] = "";
    if (cellar_tabulate_stream(&spec, &stream, &table, NULL, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    for (size_t c = 0; c < cellar_schema_n_categories(cellar_table_schema(table), 0); c++) {
        strcat(found, cellar_schema_code(cellar_table_schema(table), 0, c));
        strcat(found, " ");
    }
    assert_string_equal(found, want);
    cellar_table_free(table);
}

static void test_numbers_are_written_as_in_files(void **state)
{
    const int8_t small[] = {-128, 0, 127};
    const uint64_t large[] = {0, UINT64_MAX, INT64_MAX};
    const float floats[] = {0.1f, -3, 1e20f};
    const double doubles[] = {0.1, 1e15, -2.5};
    const uint8_t bits[] = {2};
    const int32_t decimals[] = {-1, 5, 1200};
    const uint64_t wide[] = {7,          0,          0, 0, UINT64_MAX, UINT64_MAX,
                             UINT64_MAX, UINT64_MAX, 0, 1, 0,          0};
    (void) state;
    expect_categories("c", small, 3, "-128 0 127 ");
    expect_categories("L", large, 3, "0 9223372036854775807 18446744073709551615 ");
    expect_categories("f", floats, 3, "-3 0.1 1e20 ");
    expect_categories("g", doubles, 3, "-2.5 0.1 1000000000000000 ");
    expect_categories("b", bits, 2, "false true ");
    expect_categories("d:9,2,32", decimals, 3, "-0.01 0.05 12.00 ");
    expect_categories("d:9,-1,32", decimals, 3, "-10 50 12000 ");
    expect_categories("d:70,0,256", wide, 3, "-1 7 18446744073709551616 ");
}

/* ---- refusals -------------------------------------------------------------------- */

static void expect_refusal(sample_stream *sample, const char *words)
{
    struct ArrowArrayStream stream = sample_open(sample);
    const cellar_variable_spec variable = {.column = "x"};
    const cellar_tabulate_spec spec = {.variables = &variable, .n_variables = 1, .n_threads = 2};
    cellar_table *table = NULL;
    cellar_error err = {""};
    sample->next = 0;
    assert_int_not_equal(cellar_tabulate_stream(&spec, &stream, &table, NULL, &err), CELLAR_OK);
    assert_null(table);
    assert_null(stream.release);
    assert_int_equal(sample->n_alive, 0);
    if (strstr(err.message, words) == NULL)
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void test_bad_streams_are_refused(void **state)
{
    static const int32_t values[] = {0, 1, 7, 3}, ends[] = {0, 2, 1, 3};
    static const char *const formats[][2] = {
        {"+l", "lists"}, {"+r", "run-end"},  {"+s", "records within"}, {"tdD", "dates"},
        {"z", "binary"}, {"?", "not known"}, {"d:3", "not known"},     {"", "not known"}};
    sample_batch batch = {
        .n_rows = 4,
        .columns = {{.name = "x", .format = "i", .buffers = {NULL, values}, .n_buffers = 2}}};
    sample_stream sample = {.batches = &batch, .n_batches = 1, .n_columns = 1, .fails_at = -1};
    sample_column *x = &batch.columns[0];
    (void) state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        x->format = formats[i][0];
        expect_refusal(&sample, formats[i][1]);
    }
    x->format = "i";
    x->name = "y";
    expect_refusal(&sample, "has no column 'x'");
    x->name = "x";
    x->n_buffers = 1;
    expect_refusal(&sample, "buffers of its type");
    x->n_buffers = 2;
    x->offset = -1;
    expect_refusal(&sample, "impossible");
    x->offset = 0;
    x->buffers[1] = NULL;
    expect_refusal(&sample, "no buffer");
    x->buffers[1] = values;
    x->level_format = "u";
    x->n_level_buffers = 3;
    x->level_buffers[1] = ends;
    x->level_buffers[2] = "abc";
    x->n_levels = 1;
    expect_refusal(&sample, "data: row 2: column 'x': the code has no level");
    x->n_levels = 3;
    expect_refusal(&sample, "row 2: column 'x': the code has no level"); /* ends go backwards */
    x->level_format = NULL;
    sample.fails_at = 0;
    expect_refusal(&sample, "the sample fails here");
    sample.fails_at = -1;
    batch.n_rows = -1;
    expect_refusal(&sample, "columns of its schema");
    sample.n_columns = 0;
    expect_refusal(&sample, "expected 1 to");
}

static void test_columns_that_hold_counts_are_asked_about(void **state)
{
    static const int32_t values[] = {1, 2};
    const cellar_column columns[] = {
        {.name = "x", .kind = CELLAR_COLUMN_INTEGERS, .value_bytes = 4, .values = values},
        {.name = "Freq", .kind = CELLAR_COLUMN_INTEGERS, .value_bytes = 4, .values = values}};
    const cellar_frame frame = {.columns = columns, .n_columns = 2, .n_rows = 2};
    const cellar_variable_spec variable = {.column = "x"};
    cellar_tabulate_spec spec = {.variables = &variable, .n_variables = 1, .n_threads = 1};
    cellar_table *table = NULL;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_tabulate_columns(&spec, &frame, &table, NULL, &err), CELLAR_ERR_INPUT);
    spec.reader.count_column = "Freq";
    assert_int_equal(cellar_tabulate_columns(&spec, &frame, &table, NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_table_n_records(table), 3);
    cellar_table_free(table);
}

static void test_makers_that_fail(void **state)
{
    rows *r = make_rows(1, 40);
    maker made = {.r = r, .fails = 1};
    cellar_column column = made_column(&made);
    const cellar_frame frame = {.columns = &column, .n_columns = 1, .n_rows = 40};
    const cellar_variable_spec variable = {.column = "region"};
    const cellar_tabulate_spec spec = {.variables = &variable, .n_variables = 1, .n_threads = 2};
    cellar_table *table = NULL;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_tabulate_columns(&spec, &frame, &table, NULL, &err), CELLAR_ERR_MEMORY);
    assert_null(table);
    column.kind = CELLAR_COLUMN_TEXTS;
    assert_int_equal(cellar_tabulate_columns(&spec, &frame, &table, NULL, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "only codes are made"));
    free(r);
}

/* ---- memory ---------------------------------------------------------------------- */

static cellar_status count_small(void *context, cellar_error *err)
{
    static buffers memory;
    static sample_batch batch;
    sample_stream sample = {.batches = &batch, .n_batches = 1, .n_columns = 8, .fails_at = -1};
    cellar_column columns[7];
    const cellar_frame frame = frame_of(context, 40, columns);
    struct ArrowArrayStream stream;
    maker made = {.r = context};
    cellar_table *table = NULL;
    question q;
    cellar_status status;
    make_question(3, &q);
    q.spec.n_threads = 1;
    status = cellar_tabulate_columns(&q.spec, &frame, &table, NULL, err);
    cellar_table_free(table);
    if (status != CELLAR_OK)
        return status;
    columns[0] = made_column(&made);
    status = cellar_tabulate_columns(&q.spec, &frame, &table, NULL, err);
    cellar_table_free(table);
    if (status != CELLAR_OK)
        return status;
    fill_batch(context, 0, 40, 1, &memory, &batch);
    stream = sample_open(&sample);
    status = cellar_tabulate_stream(&q.spec, &stream, &table, NULL, err);
    assert_int_equal(sample.n_alive, 0);
    cellar_table_free(table);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    rows *r = make_rows(2, 40);
    (void) state;
    check_fail_every(count_small, r);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_way_in_is_the_file, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(test_numbers_are_written_as_in_files),
        cmocka_unit_test(test_bad_streams_are_refused),
        cmocka_unit_test(test_columns_that_hold_counts_are_asked_about),
        cmocka_unit_test(test_makers_that_fail),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
