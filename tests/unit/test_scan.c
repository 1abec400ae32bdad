/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delimited text in hostile dress, cut at every place, on several threads, equals what was meant.
 */
#include "check.h"
#include "fail_every.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "data/dictionary.h"
#include "data/scan.h"
#include "data/separators.h"
#include "splitmix.h"

/* ---- separators and dictionaries: every way gives the same ------------------ */

static void test_separators_every_way(void **state)
{
    static const char alphabet[] = "a,\n\";\rbc";
    enum { LONGEST = 300 };
    char text[LONGEST + CELLAR_TEXT_SLACK];
    uint32_t positions[LONGEST + CELLAR_TEXT_SLACK];
    uint64_t random = 1;
    (void) state;
    for (size_t length = 0; length <= LONGEST; length++) {
        size_t want = 0, newlines = 0, quotes = 0;
        for (size_t i = 0; i < sizeof text; i++)
            text[i] = alphabet[next_random(&random) % (sizeof alphabet - 1)];
        for (size_t i = 0; i < length; i++) {
            want += text[i] == ',' || text[i] == '\n';
            newlines += text[i] == '\n';
            quotes += text[i] == '"';
        }
        for (size_t w = 0; w < CELLAR_SEPARATORS_MAX_WAYS; w++) {
            const cellar_separators_way *way = &cellar_separators_ways[w];
            cellar_separators found;
            size_t at = 0;
            if (way->name == NULL || !way->works())
                continue;
            found = way->find(text, length, ',', positions);
            assert_int_equal(found.n, want);
            assert_int_equal(found.n_newlines, newlines);
            assert_int_equal(found.has_quote, quotes > 0);
            for (size_t i = 0; i < length; i++)
                if (text[i] == ',' || text[i] == '\n')
                    assert_int_equal(positions[at++], i);
        }
    }
}

/* Texts of all lengths around the 32 bytes compared at once, alike but for one byte. */
static size_t make_texts(char texts[][80], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t length = i % 70;
        memset(texts[i], 'x', sizeof texts[i]);
        snprintf(texts[i], 12, "%u", (unsigned) i);
        texts[i][strlen(texts[i])] = 'x';
        if (length > 40)
            memcpy(texts[i] + length - 6, texts[i], 6); /* they differ behind the 32 bytes only */
        if (length > 40)
            memset(texts[i], 'y', 32);
        texts[i][length < 12 ? 12 : length] = '\0';
    }
    return n;
}

static void test_dictionary_every_way(void **state)
{
    enum { N = 1000 };
    static char texts[N][80];
    static char text[N * 80 + CELLAR_TEXT_SLACK];
    static uint32_t begin[N], end[N], marks[2 * N];
    static int32_t codes[N];
    cellar_dictionary dictionary;
    size_t length = 0;
    (void) state;
    make_texts(texts, N);
    assert_true(cellar_dictionary_init(&dictionary));
    for (size_t i = 0; i < N; i++) {
        begin[i] = (uint32_t) length;
        length += (size_t) snprintf(text + length, sizeof text - length, "%s", texts[i]);
        end[i] = (uint32_t) length;
        assert_int_equal(cellar_dictionary_find(&dictionary, text + begin[i], end[i] - begin[i]),
                         CELLAR_CODE_ABSENT);
        assert_true(cellar_dictionary_add(&dictionary, texts[i], strlen(texts[i]), (int32_t) i));
        marks[2 * i] = begin[i] - 1;
        marks[2 * i + 1] = end[i];
        if (i % 100 == 99)
            cellar_dictionary_settle(&dictionary);
    }
    assert_int_equal(cellar_dictionary_n(&dictionary), N);
    for (size_t w = 0; w < CELLAR_DICTIONARY_MAX_WAYS; w++) {
        cellar_slices slices = {.text = text, .marks = marks, .stride = 2, .n = N};
        int32_t any = 0;
        if (cellar_dictionary_ways[w].name == NULL || !cellar_dictionary_ways[w].works())
            continue;
        memset(codes, -1, sizeof codes);
        assert_int_equal(cellar_dictionary_ways[w].find_many(&dictionary, &slices, 0, codes, &any),
                         N);
        for (size_t i = 0; i < N; i++)
            assert_int_equal(codes[i], i);
        marks[15]--; /* an unknown text stops the walk just there */
        assert_int_equal(cellar_dictionary_ways[w].find_many(&dictionary, &slices, 0, codes, &any),
                         7);
        marks[15]++;
    }
    assert_true(cellar_dictionary_reset(&dictionary));
    assert_int_equal(cellar_dictionary_find(&dictionary, text, end[0]), CELLAR_CODE_ABSENT);
    cellar_dictionary_clear(&dictionary);
}

/* ---- whole scans ------------------------------------------------------------ */

enum { N_VALUES = 6, N_COLUMNS = 3 };
static const char *const values[N_VALUES] = {
    "a", "b,c", "say \"hi\"", "two\nlines", "\"", "quite a long label, longer than thirty-two"};

typedef struct tally {
    pthread_mutex_t lock;
    uint64_t n[N_VALUES][N_VALUES];
    uint64_t n_batches;
} tally;

static cellar_status tally_batch(void *context, int lane, cellar_batch *batch, cellar_error *err)
{
    tally *t = context;
    (void) lane;
    (void) err;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < cellar_batch_n_rows(batch); i++)
        t->n[cellar_batch_codes(batch, 0)[i]][cellar_batch_codes(batch, 1)[i]]++;
    t->n_batches++;
    pthread_mutex_unlock(&t->lock);
    return CELLAR_OK;
}

/* A field as it may be written: bare where that is allowed, or quoted; the line end varies too. */
static void write_field(cellar_text *text, const char *value, uint64_t random)
{
    if (strpbrk(value, ",\n\"") == NULL && random % 3 != 0) {
        cellar_text_add_string(text, value);
        return;
    }
    cellar_text_add_char(text, '"');
    for (; *value != '\0'; value++) {
        if (*value == '"')
            cellar_text_add_char(text, '"');
        cellar_text_add_char(text, *value);
    }
    cellar_text_add_char(text, '"');
}

/* Two columns of interest around one of noise. `plain` keeps to values without quotes. */
static void write_rows(cellar_text *text, size_t n_rows, int plain, uint64_t seed, tally *want)
{
    uint64_t random = seed;
    cellar_text_add_string(text, seed % 2 ? "x,\"no,ise\",y\n" : "\xef\xbb\xbfx,noise,y\r\n");
    for (size_t row = 0; row < n_rows; row++) {
        size_t x = plain ? 0 : next_random(&random) % N_VALUES;
        size_t y = plain ? 0 : next_random(&random) % N_VALUES;
        want->n[x][y]++;
        write_field(text, values[x], plain ? 1 : next_random(&random));
        cellar_text_add_char(text, ',');
        write_field(text, plain ? "z" : values[next_random(&random) % N_VALUES], 1);
        cellar_text_add_char(text, ',');
        write_field(text, values[y], plain ? 1 : next_random(&random));
        if (row + 1 < n_rows || next_random(&random) % 2)
            cellar_text_add_string(text, next_random(&random) % 2 ? "\n" : "\r\n");
    }
}

static cellar_status scan_pairs(const cellar_text *text, size_t chunk_bytes, int n_lanes,
                                cellar_bad_rows bad_rows, tally *got, cellar_row_report *report,
                                cellar_error *err)
{
    static const char order[] = "code\na\n\"b,c\"\n\"say \"\"hi\"\"\"\n\"two\nlines\"\n\"\"\"\"\n"
                                "\"quite a long label, longer than thirty-two\"\n";
    cellar_reader_options options = {.bad_rows = bad_rows};
    cellar_scan_options how = {.n_lanes = n_lanes};
    cellar_coder_spec coding = {.variable = "x"};
    cellar_scan_use uses[2] = {{0}};
    cellar_codelist *list = NULL;
    cellar_scan *scan = NULL;
    cellar_status status;

    status = cellar_codelist_parse("order", order, sizeof order - 1, &list, err);
    coding.codelist = list;
    if (status == CELLAR_OK)
        status = cellar_scan_open_memory("rows.csv", text->bytes, text->length, &options,
                                         chunk_bytes, &scan, err);
    for (size_t u = 0; status == CELLAR_OK && u < 2; u++) {
        coding.variable = u == 0 ? "x" : "y";
        status = cellar_scan_find_column(scan, coding.variable, &uses[u].column, err);
        if (status == CELLAR_OK)
            status = cellar_coder_create(&coding, &uses[u].coder, err);
    }
    pthread_mutex_init(&got->lock, NULL);
    if (status == CELLAR_OK)
        status = cellar_scan_run(scan, uses, 2, tally_batch, got, &how, report, err);
    pthread_mutex_destroy(&got->lock);
    for (size_t u = 0; u < 2; u++)
        cellar_coder_free(uses[u].coder);
    cellar_scan_close(scan);
    cellar_codelist_free(list);
    return status;
}

static void test_scan_every_chunk(void **state)
{
    (void) state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        cellar_text text = {0};
        tally want = {.n_batches = 0};
        write_rows(&text, 40, seed % 4 == 0, seed, &want);
        for (size_t chunk = 1; chunk <= text.length + 1; chunk += chunk < 80 ? 1 : 37)
            for (int lanes = 1; lanes <= 3; lanes++) {
                tally got = {.n_batches = 0};
                cellar_row_report report;
                cellar_error err = {""};
                if (scan_pairs(&text, chunk, lanes, CELLAR_BAD_ROWS_ERROR, &got, &report, &err))
                    fail_msg("seed %d, chunk %zu: %s", (int) seed, chunk, err.message);
                assert_memory_equal(got.n, want.n, sizeof got.n);
                assert_int_equal(report.n_read, 40);
                assert_int_equal(report.n_bad, 0);
            }
        cellar_text_clear(&text);
    }
}

/* What is wrong with a row is told with its line, whatever the chunks; and can be skipped. */
static void test_scan_faults(void **state)
{
    static const struct {
        const char *rows, *message;
        uint64_t n_good, n_bad;
    } cases[] = {
        {"a,,a\na,a\na,,a\n", "rows.csv:3: expected 3 fields, found 2", 2, 1},
        {"a,,a\na,,a,a\n", "rows.csv:3: expected 3 fields, found 4", 1, 1},
        {"a,,a\n\na,,a\n", "rows.csv:3: expected 3 fields, found 1", 2, 1},
        {"a,,a\na,x\"y,a\na,,a\n",
         "rows.csv:3: column 'noise': a quote inside a field that does not begin with one", 2, 1},
        {"\"two\nlines\",,a\na,\"x\"y,a\na,,a\n",
         "rows.csv:4: column 'noise': text behind the closing quote of a field", 2, 1},
        {"a,,a\na,,\"a\n", "rows.csv:3: column 'y': a quote that is never closed", 1, 1},
        {"a,,a\nnever,,a\na,,a\n",
         "rows.csv:3: column 'x': the value is outside the code list; add its "
         "code, or a code with the role other for all such values, or name text that means missing "
         "(--missing)",
         2, 1},
        {"a,,a\na,,\n",
         "rows.csv:3: column 'y': the value is missing: say whether missing values are dropped or "
         "a category of their own (--missing-as drop or level, or VARIABLE=level for one; in a "
         "plan missing_as)",
         1, 1},
        {"a,,a\na,,\xff\n",
         "rows.csv:3: column 'y': the field is not text in the encoding of the file; "
         "--encoding latin1 or windows-1252 names another",
         1, 1},
    };
    (void) state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t chunk = 1; chunk < 64; chunk++) {
            cellar_text text = {0};
            tally got = {.n_batches = 0};
            cellar_row_report report;
            cellar_error err = {""};
            cellar_text_add_string(&text, "x,noise,y\n");
            cellar_text_add_string(&text, cases[c].rows);
            assert_int_equal(
                scan_pairs(&text, chunk, 2, CELLAR_BAD_ROWS_ERROR, &got, &report, &err),
                CELLAR_ERR_INPUT);
            assert_string_equal(err.message, cases[c].message);
            memset(&got, 0, sizeof got);
            assert_int_equal(scan_pairs(&text, chunk, 2, CELLAR_BAD_ROWS_SKIP, &got, &report, &err),
                             CELLAR_OK);
            assert_int_equal(report.n_bad, cases[c].n_bad);
            assert_int_equal(report.n_read, cases[c].n_good + cases[c].n_bad);
            cellar_text_clear(&text);
        }
}

static void test_scan_headers(void **state)
{
    static const struct {
        const char *bytes, *message;
        int no_header;
        size_t n_columns;
    } cases[] = {
        {"", "rows.csv:1: the file is empty; expected a header", 0, 0},
        {"", "rows.csv:1: the file is empty; expected rows", 1, 0},
        {"\n", "rows.csv:1: the file is empty; expected a header", 0, 0},
        {"a,b,a\n",
         "rows.csv:1: columns 1 and 3 have the same name; or has the file no header "
         "(--no-header)?",
         0, 0},
        {"b,a,c,a,b,a\n",
         "rows.csv:1: columns 2 and 4 have the same name; or has the file no header "
         "(--no-header)?",
         0, 0},
        {"a,b\r1,2\r3,4\r",
         "rows.csv:1: the name of column 2 holds a carriage return; lines end with LF or CRLF", 0,
         0},
        {"a,\"b\n", "rows.csv:1: column 2: a quote that is never closed", 0, 0},
        {"\xff\xfe"
         "a\n",
         "rows.csv: is text in UTF-16; save it as UTF-8", 0, 0},
        {"PK\003\004",
         "rows.csv: is a workbook (xlsx, ods) or another zip archive; save the sheet as "
         "CSV and name that file",
         0, 0},
        {"[{\"a\": 1}]", "rows.csv:1: is JSON; write its records as CSV, one row for each", 0, 0},
        {"PAR1,RDX,BZh,PK\n", NULL, 0, 4}, /* columns may be called so */
        {"a,b", NULL, 0, 2},
        {"1,2,3\n4,5,6\n", NULL, 1, 3},
    };
    (void) state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        cellar_reader_options options = {.no_header = cases[c].no_header};
        cellar_scan *scan = NULL;
        cellar_error err = {""};
        cellar_status status = cellar_scan_open_memory(
            "rows.csv", cases[c].bytes, strlen(cases[c].bytes), &options, 5, &scan, &err);
        assert_int_equal(status, cases[c].message != NULL ? CELLAR_ERR_INPUT : CELLAR_OK);
        assert_string_equal(err.message, cases[c].message != NULL ? cases[c].message : "");
        if (status == CELLAR_OK)
            assert_int_equal(cellar_scan_n_columns(scan), cases[c].n_columns);
        cellar_scan_close(scan);
    }
}

/* ---- memory ----------------------------------------------------------------- */

static cellar_status scan_scenario(void *context, cellar_error *err)
{
    tally got = {.n_batches = 0};
    cellar_row_report report;
    return scan_pairs(context, 64, 1, CELLAR_BAD_ROWS_ERROR, &got, &report, err);
}

static void test_scan_every_allocation_fails(void **state)
{
    cellar_text text = {0};
    tally want = {.n_batches = 0};
    (void) state;
    write_rows(&text, 8, 0, 3, &want);
    check_fail_every(scan_scenario, &text);
    cellar_text_clear(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separators_every_way),
        cmocka_unit_test(test_dictionary_every_way),
        cmocka_unit_test(test_scan_every_chunk),
        cmocka_unit_test(test_scan_faults),
        cmocka_unit_test(test_scan_headers),
        cmocka_unit_test(test_scan_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
