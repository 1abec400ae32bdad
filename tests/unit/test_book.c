/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Releases as spreadsheets: their values, what stands beside them, and what is refused.
 * tests/cli/check_sheets.py reads them with programs of others. */
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "check.h"

#include <cellar/estimate.h>
#include <cellar/release_file.h>

#include "base/file.h"
#include "base/memory.h"
#include "data/xml.h"
#include "fail_every.h"
#include "scratch.h"
#include "table/formats/book.h"
#include "table_samples.h"

static const char *const names[] = {"t.ods", "t.xlsx"};

/* ---- making ------------------------------------------------------------------------ */

static cellar_release *release_of(const cellar_table *table, int64_t threshold)
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
    assert_int_equal(cellar_mechanism_create("discrete-laplace:epsilon=0.5", &m, NULL), CELLAR_OK);
    if (cellar_release_protect(table, m, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_mechanism_free(m);
    return release;
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
                                   cellar_error *err)
{
    const cellar_table_write_options options = {.title = "A <title> & \"more\"",
                                                .note = "=cmd|' /C calc'!A0"};
    cellar_release_file *file = NULL;
    cellar_status status = cellar_release_file_open(path, &options, 1, &file, err);
    if (status == CELLAR_OK)
        status = cellar_release_file_write(file, release, err);
    cellar_release_file_discard(file);
    return status;
}

/* One variable v of the codes and labels that a list has, and a count in its first cell. */
static cellar_table *table_of(const char *variable, const char *list)
{
    cellar_schema_variable_def def = {variable, CELLAR_DOMAIN_DECLARED, NULL};
    cellar_codelist *codes = NULL;
    cellar_schema *schema = NULL;
    cellar_table *table = NULL;
    cellar_cells cells = {.index = cellar_alloc(1, sizeof(uint64_t)),
                          .count = cellar_alloc(1, sizeof(uint64_t)),
                          .n = 1};
    cells.count[0] = 1;
    assert_int_equal(cellar_codelist_parse("list", list, strlen(list), &codes, NULL), CELLAR_OK);
    def.codelist = codes;
    assert_int_equal(cellar_schema_create(&def, 1, NULL, &schema, NULL), CELLAR_OK);
    assert_int_equal(cellar_table_from_cells(schema, &cells, 0, &table, NULL), CELLAR_OK);
    cellar_schema_free(schema);
    cellar_codelist_free(codes);
    return table;
}

/* ---- unpacking --------------------------------------------------------------------- */

static uint32_t number_at(const char *bytes, size_t n)
{
    uint32_t number = 0;
    while (n-- > 0)
        number = number << 8 | (unsigned char) bytes[n];
    return number;
}

/* A file of an archive, found by its local header; its checksum is the one stated. */
static void unpack(const char *zip, size_t length, const char *name, cellar_text *out)
{
    for (size_t at = 0; at + 30 < length && number_at(zip + at, 4) == 0x04034b50;) {
        const size_t packed = number_at(zip + at + 18, 4), plain = number_at(zip + at + 22, 4);
        const size_t n_name = number_at(zip + at + 26, 2);
        const char *data = zip + at + 30 + n_name;
        if (strlen(name) == n_name && memcmp(zip + at + 30, name, n_name) == 0) {
            z_stream stream = {.next_in = (unsigned char *) data, .avail_in = (unsigned) packed};
            char *bytes = cellar_alloc(plain + 1, 1);
            stream.next_out = (unsigned char *) bytes;
            stream.avail_out = (unsigned) plain + 1;
            assert_int_equal(inflateInit2(&stream, -MAX_WBITS), Z_OK);
            assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
            assert_int_equal(stream.total_out, plain);
            inflateEnd(&stream);
            assert_int_equal(crc32(0, (unsigned char *) bytes, (unsigned) plain),
                             number_at(zip + at + 14, 4));
            cellar_text_add(out, bytes, plain);
            cellar_free(bytes);
            return;
        }
        at += 30 + n_name + packed;
    }
    fail_msg("the archive has no %s", name);
}

static void unpack_path(const char *path, const char *name, cellar_text *out)
{
    char *bytes = NULL;
    size_t length;
    assert_int_equal(cellar_file_read(path, 1 << 24, &bytes, &length, NULL), CELLAR_OK);
    unpack(bytes, length, name, out);
    cellar_free(bytes);
}

/* ---- reading ----------------------------------------------------------------------- */

typedef struct reading {
    int in_table; /* the sheet that is open is the table */
    size_t n_rows;
    cellar_text numbers; /* "3 -1 [c] ": numbers, and signs in their place */
} reading;

static cellar_status open_element(void *context, cellar_xml *xml, const char *name,
                                  cellar_error *err)
{
    reading *r = context;
    const char *value = cellar_xml_attribute(xml, "value");
    (void) err;
    if (strcmp(name, "table") == 0)
        r->in_table = strcmp(cellar_xml_attribute(xml, "name"), "Table") == 0;
    else if (r->in_table && (strcmp(name, "table-row") == 0 || strcmp(name, "row") == 0))
        r->n_rows++;
    else if (r->in_table && strcmp(name, "table-cell") == 0 && value != NULL)
        cellar_text_printf(&r->numbers, "%s ", value);
    if (strcmp(name, "v") == 0 || strcmp(name, "p") == 0 || strcmp(name, "t") == 0)
        cellar_xml_gather(xml);
    return CELLAR_OK;
}

static cellar_status close_element(void *context, cellar_xml *xml, const char *name,
                                   cellar_error *err)
{
    reading *r = context;
    const int is_sign = strcmp(name, "p") == 0 || strcmp(name, "t") == 0;
    (void) err;
    if (r->in_table && (strcmp(name, "v") == 0 || (is_sign && cellar_xml_text(xml)[0] == '[' &&
                                                   strlen(cellar_xml_text(xml)) == 3)))
        cellar_text_printf(&r->numbers, "%s ", cellar_xml_text(xml));
    return CELLAR_OK;
}

static void read_sheet(const char *path, reading *r)
{
    const int is_ods = strstr(path, ".ods") != NULL;
    const cellar_xml_handler handler = {open_element, close_element, r};
    cellar_text xml = {0};
    cellar_error err;
    *r = (reading){.in_table = !is_ods};
    unpack_path(path, is_ods ? "content.xml" : "xl/worksheets/sheet2.xml", &xml);
    if (cellar_xml_parse(path, xml.bytes, xml.length, &handler, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_text_clear(&xml);
}

/* ---- what is written ------------------------------------------------------------------ */

static void add_expected(const cellar_release *release, cellar_text *out)
{
    const cellar_schema *schema = cellar_release_schema(release);
    for (uint64_t index = 0; index < cellar_schema_n_indices(schema); index++) {
        const cellar_released_cell cell = cellar_release_at(release, index);
        if (!cellar_schema_has_cell(schema, index))
            continue;
        if (cell.status == CELLAR_CELL_STRUCTURAL_ZERO)
            cellar_text_add_string(out, "[z] ");
        else if (cell.status == CELLAR_CELL_SUPPRESSED)
            cellar_text_add_string(out, "[c] ");
        else
            cellar_text_printf(out, "%lld ", (long long) cell.released);
    }
}

/* Every cell of the table has its row, with the released value as a number. */
static void every_value_is_there(void **state)
{
    sample_random random = {21};
    for (int round = 0; round < 40; round++) {
        cellar_table *table = make_table(&random);
        cellar_release *release = release_of(table, round % 2 == 0 ? 0 : 4);
        const uint64_t n_cells = cellar_schema_n_possible(cellar_release_schema(release));
        cellar_text expected = {0};
        add_expected(release, &expected);
        for (size_t i = 0; i < 2; i++) {
            char path[400];
            cellar_error err = {""};
            reading r;
            snprintf(path, sizeof path, "%s", scratch_path(*state, names[i]));
            if (write_release(release, path, &err) != CELLAR_OK)
                fail_msg("round %d, %s: %s", round, names[i], err.message);
            read_sheet(path, &r);
            assert_int_equal(r.n_rows, n_cells + 3);
            assert_string_equal(r.numbers.bytes, expected.bytes);
            cellar_text_clear(&r.numbers);
            assert_int_equal(scratch_mode(*state, names[i]), 0644);
        }
        assert_int_equal(scratch_n_entries(*state), 4);
        cellar_text_clear(&expected);
        cellar_release_free(release);
        cellar_table_free(table);
    }
}

/* Texts are texts, whatever they look like; the guarantee is the first that is said. */
static void texts_stay_texts(void **state)
{
    static const struct {
        const char *file, *part, *has;
    } cases[] = {
        {"t.ods", "content.xml", "office:value-type=\"string\"><text:p>=1+1</text:p>"},
        {"t.ods", "content.xml", "<text:p>&lt;b&gt; &amp; &quot;it&#39;s&quot;</text:p>"},
        {"t.ods", "content.xml", "<text:p>two</text:p><text:p><text:s/>lines</text:p>"},
        {"t.ods", "content.xml", "<text:p>bell\xef\xbf\xbd</text:p>"},
        {"t.ods", "content.xml", "<text:p>=cmd|&#39; /C calc&#39;!A0</text:p>"},
        {"t.ods", "content.xml",
         "<table:table-header-rows>\n<table:table-row><table:table-cell "
         "table:style-name=\"heading\" office:value-type=\"string\">"
         "<text:p>v</text:p>"},
        {"t.ods", "meta.xml", "<dc:language>sv</dc:language>"},
        {"t.ods", "styles.xml", "fo:language=\"sv\" fo:country=\"none\""},
        {"t.xlsx", "xl/worksheets/sheet2.xml",
         "t=\"inlineStr\"><is><t xml:space=\"preserve\">=1+1"},
        {"t.xlsx", "xl/worksheets/sheet2.xml", "preserve\">_x005F_x0041_</t>"},
        {"t.xlsx", "xl/worksheets/sheet2.xml", "<tablePart r:id=\"rId1\"/>"},
        {"t.xlsx", "xl/tables/table2.xml", "ref=\"A3:C8\""},
        {"t.xlsx", "xl/tables/table2.xml", "name=\"v label\""},
        {"t.xlsx", "xl/workbook.xml", ">Table!$A:$B,Table!$3:$3<"},
        {"t.xlsx", "docProps/core.xml", "<dc:language>sv</dc:language>"},
        {"t.xlsx", "docProps/core.xml", "<dc:title>A &lt;title&gt; &amp; &quot;more&quot;<"},
        {"t.xlsx", "xl/worksheets/sheet1.xml",
         "<row r=\"2\" ht=\"045\"><c r=\"A2\" s=\"13\" t=\"inlineStr\"><is><t "
         "xml:space=\"preserve\">Protection"
         "</t></is></c><c r=\"B2\" s=\"12\" t=\"inlineStr\"><is><t xml:space=\"preserve\">The "
         "released values of this table are differentially private for one record: epsilon 0.5"},
    };
    cellar_table *table = table_of("v", "code,label@sv\n=1+1,\"<b> & \"\"it's\"\"\"\n2,\"two\n "
                                        "lines\"\n_x0041_,bell\a\n'4,\n05,=1+1\n");
    cellar_release *release = release_of(table, 0);
    char path[400];
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s", scratch_path(*state, names[i]));
        assert_int_equal(write_release(release, path, NULL), CELLAR_OK);
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_text part = {0};
        unpack_path(scratch_path(*state, cases[i].file), cases[i].part, &part);
        if (part.bytes == NULL || strstr(part.bytes, cases[i].has) == NULL)
            fail_msg("case %zu: %s lacks '%s' in\n%s", i, cases[i].part, cases[i].has, part.bytes);
        cellar_text_clear(&part);
    }
    cellar_release_free(release);
    cellar_table_free(table);
}

/* ---- what is refused ------------------------------------------------------------------ */

static void true_counts_are_refused(void **state)
{
    sample_random random = {3};
    cellar_table *table = make_table(&random);
    cellar_output *output = NULL;
    cellar_error err;
    for (cellar_table_format format = CELLAR_TABLE_ODS; format <= CELLAR_TABLE_XLSX; format++) {
        const cellar_table_write_options options = {.format = format};
        assert_int_equal(cellar_output_open(scratch_path(*state, "t.ods"), NULL, &output, NULL),
                         CELLAR_OK);
        assert_int_equal(cellar_table_write(table, &options, output, &err), CELLAR_ERR_RULE);
        assert_non_null(strstr(err.message, "true counts"));
        assert_int_equal(cellar_output_size_bytes(output), 0);
        cellar_output_discard(output);
    }
    cellar_table_free(table);
}

/* Before anything is paid: cellar_release_file_check() knows all of it. */
static void what_does_not_fit_is_refused(void **state)
{
    char *lists[3] = {cellar_alloc(1 << 16, 1), cellar_alloc(1 << 17, 1), cellar_alloc(1 << 16, 1)};
    const struct {
        const char *variable, *list, *said;
    } cases[] = {{"v", lists[0], NULL},
                 {"v", lists[1], "at most 32767 letters, and a label of 'v' has more"},
                 {"v", lists[2], "at most 32767 letters, and a label of 'v' has more"},
                 {"released", "code\na\n", "rename the variable"},
                 {"se", "code\na\n", NULL}};
    (void) state;
    for (size_t i = 0; i < 3; i++)
        memcpy(lists[i], "code,label\na,", 13);
    memset(lists[0] + 13, 'x', 32767);
    for (size_t n = 0; n < 16384; n++) /* each two letters of UTF-16 */
        memcpy(lists[1] + 13 + 4 * n, "\xf0\x9f\x98\x80", 4);
    memset(lists[2] + 13, 'x', 32768);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const cellar_table_write_options options = {.format = CELLAR_TABLE_XLSX};
        cellar_table *table = table_of(cases[i].variable, cases[i].list);
        cellar_error err = {""};
        const cellar_status status =
            cellar_release_file_check(table, CELLAR_BELOW_ZERO, &options, &err);
        if ((cases[i].said == NULL) != (status == CELLAR_OK) ||
            (cases[i].said != NULL && strstr(err.message, cases[i].said) == NULL))
            fail_msg("case %zu: '%s'", i, err.message);
        cellar_table_free(table);
    }
    for (size_t i = 0; i < 3; i++)
        cellar_free(lists[i]);
}

/* So is what the caller says about the table. */
static void what_is_said_fits(void **state)
{
    char *text = cellar_alloc(1 << 16, 1);
    const cellar_table_write_options cases[] = {
        {.title = text}, {.units = text}, {.source = text}, {.note = text}};
    cellar_table *table = table_of("v", "code\na\n");
    (void) state;
    for (size_t n = 32767; n <= 32768; n++) {
        memset(text, 'x', n);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            cellar_table_write_options options = cases[i];
            cellar_error err = {""};
            options.format = CELLAR_TABLE_ODS;
            assert_int_equal(cellar_release_file_check(table, CELLAR_BELOW_ZERO, &options, &err),
                             n == 32767 ? CELLAR_OK : CELLAR_ERR_INPUT);
        }
    }
    cellar_table_free(table);
    cellar_free(text);
}

static void rows_are_limited(void **state)
{
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_book_check_room(1048576, 16384, &err), CELLAR_OK);
    assert_int_equal(cellar_book_check_room(1048577, 1, &err), CELLAR_ERR_INPUT);
    assert_non_null(strstr(err.message, "1048576 rows, and this table needs 1048577: write CSV"));
    assert_int_equal(cellar_book_check_room(1, 16385, &err), CELLAR_ERR_INPUT);
}

static void spreadsheets_are_not_read(void **state)
{
    sample_random random = {4};
    cellar_table *table = make_table(&random);
    cellar_release *release = release_of(table, 0), *back = NULL;
    cellar_estimate *estimate = NULL;
    cellar_error err;
    for (size_t i = 0; i < 2; i++) {
        char path[400];
        snprintf(path, sizeof path, "%s", scratch_path(*state, names[i]));
        assert_int_equal(write_release(release, path, NULL), CELLAR_OK);
        assert_int_equal(cellar_release_read(path, CELLAR_TABLE_AUTO, &back, &err),
                         CELLAR_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, "written and not read"));
        assert_int_equal(cellar_estimate_read(path, CELLAR_TABLE_AUTO, &estimate, &err),
                         CELLAR_ERR_UNSUPPORTED);
    }
    cellar_release_free(release);
    cellar_table_free(table);
}

static void marked_headings_differ(void **state)
{
    static const struct {
        const char *headings[3];
        size_t n;
        int can;
    } cases[] = {{{"a", "b", "released"}, 3, 1},
                 {{"a", "b", "A"}, 3, 0},
                 {{"a", "", "b"}, 3, 0},
                 {{"a\tb", "c"}, 2, 0},
                 {{"caf\xc3\xa9"}, 1, 1}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cellar_book_can_mark(cases[i].headings, cases[i].n), cases[i].can);
}

/* ---- archives -------------------------------------------------------------------------- */

/* In how many pieces a file comes makes no difference. */
static void pieces_make_the_same_archive(void **state)
{
    cellar_text archives[2] = {{0}, {0}};
    (void) state;
    for (size_t i = 0; i < 2; i++) {
        cellar_text piece = {0};
        cellar_zip zip;
        cellar_text_add_string(&archives[i], "before"); /* it begins where the text ended */
        cellar_zip_init(&zip, &archives[i]);
        cellar_zip_store(&zip, "first", "as it is");
        cellar_zip_begin(&zip, "second");
        for (size_t n = 0; n < 60000; n++) {
            cellar_text_printf(&piece, "line %zu\n", n * n);
            if (i == 0 || n % 7 == 0)
                cellar_zip_feed(&zip, &piece);
        }
        cellar_zip_feed(&zip, &piece);
        cellar_zip_finish(&zip);
        assert_int_equal(cellar_zip_end(&zip, NULL), CELLAR_OK);
        cellar_text_clear(&piece);
    }
    assert_int_equal(archives[0].length, archives[1].length);
    assert_memory_equal(archives[0].bytes, archives[1].bytes, archives[0].length);
    for (size_t i = 0; i < 2; i++)
        cellar_text_clear(&archives[i]);
}

/* ---- memory ------------------------------------------------------------------------------ */

typedef struct scenario {
    const cellar_release *release;
    char path[400];
} scenario;

static cellar_status write_scenario(void *context, cellar_error *err)
{
    const scenario *s = context;
    return write_release(s->release, s->path, err);
}

static void failing_allocations_are_survived(void **state)
{
    cellar_table *table = table_of("v", "code,label\na,A\nb,B\n");
    scenario s = {.release = release_of(table, 0)};
    for (size_t i = 0; i < 2; i++) {
        snprintf(s.path, sizeof s.path, "%s", scratch_path(*state, names[i]));
        check_fail_every(write_scenario, &s);
    }
    cellar_release_free((cellar_release *) s.release);
    cellar_table_free(table);
}

int main(void)
{
#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(every_value_is_there),
        IN_SCRATCH(texts_stay_texts),
        IN_SCRATCH(true_counts_are_refused),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(what_is_said_fits),
        cmocka_unit_test(rows_are_limited),
        IN_SCRATCH(spreadsheets_are_not_read),
        cmocka_unit_test(marked_headings_differ),
        cmocka_unit_test(pieces_make_the_same_archive),
        IN_SCRATCH(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
