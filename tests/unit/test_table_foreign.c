/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table files that Cellar did not write: what is understood, and what is refused and how. */
#include <stdio.h>
#include <string.h>

#include "check.h"

#include <cellar/table_file.h>

/* What a file is expected to hold: each cell as "code,code=count!status", in canonical order. */
typedef struct foreign_case {
    const char *label;
    cellar_table_format format;
    const char *file;
    const char *cells; /* NULL: refused with ... */
    const char *message;
} foreign_case;

/* A dataset of four cells, around its values. */
#define VALUES(values)                                                                             \
    "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[4],\"dimension\":{\"s\":{\"category\":{"      \
    "\"index\":"                                                                                   \
    "[\"a\",\"b\",\"c\",\"d\"],\"label\":{\"a\":\"\\\"value\\\":[9,9]\"}}}},\"extension\":{"       \
    "\"value\":[7]},"                                                                              \
    "\"value\":" values "}"
#define PX_HEAD "CHARSET=\"ANSI\";\nAXIS-VERSION=\"2013\";\nTITLE=\"t\";\n"

static const foreign_case cases[] = {
    {"csv: quotes, CRLF, BOM", CELLAR_TABLE_CSV,
     "\xef\xbb\xbf\"a,b\",count\r\n\"x\"\"y\",3\r\n\"l\n2\",4\r\n", "l\n2=4 x\"y=3", NULL},
    {"csv: statuses", CELLAR_TABLE_CSV,
     "s,count,status\na,0,structural-zero\nb,,suppressed\nc,,not-available\nd,7,unreliable\ne,0,\n",
     "a=0!structural-zero b=0!suppressed c=0!not-available d=7!unreliable", NULL},
    {"csv: margins without a code list", CELLAR_TABLE_CSV, "s,t,count\na,x,1\na,_T,1\n_T,_T,1\n",
     "a,x=1 a,_T=1 _T,_T=1", NULL},
    {"csv: empty", CELLAR_TABLE_CSV, "", NULL, "f: is empty"},
    {"csv: microdata", CELLAR_TABLE_CSV, "a,b\n1,2\n", NULL, "f:1: no column 'count'"},
    {"csv: release", CELLAR_TABLE_CSV, "a,released\n1,2\n", NULL, "f: is a release"},
    {"csv: variable after", CELLAR_TABLE_CSV, "a,count,b\n1,2,3\n", NULL, "f:1: column 3"},
    {"csv: negative", CELLAR_TABLE_CSV, "a,count\nx,1\ny,-2\n", NULL, "f:3: column 'count'"},
    {"csv: fraction", CELLAR_TABLE_CSV, "a,count\nx,1.5\n", NULL, "f:2: column 'count'"},
    {"csv: empty count", CELLAR_TABLE_CSV, "a,count\nx,\n", NULL, "f:2: column 'count'"},
    {"csv: huge", CELLAR_TABLE_CSV, "a,count\nx,9223372036854775808\n", NULL, "f:2: column"},
    {"csv: no code", CELLAR_TABLE_CSV, "a,count\n,1\n", NULL, "f:2: column 'a': no code"},
    {"csv: twice", CELLAR_TABLE_CSV, "a,count\nx,1\ny,1\n\"x\",2\n", NULL,
     "f:4: the same cell as on line 2"},
    {"csv: status word", CELLAR_TABLE_CSV, "a,count,status\nx,1,odd\n", NULL, "column 'status'"},
    {"csv: counted zero", CELLAR_TABLE_CSV, "a,count,status\nx,1,structural-zero\n", NULL,
     "f:2: column 'count': a structural zero"},
    {"csv: weight", CELLAR_TABLE_CSV, "a,count,weighted\nx,1,0.0000000001\n", NULL,
     "f:2: column 'weighted'"},
    {"csv: weight of nothing", CELLAR_TABLE_CSV, "a,count,weighted\nx,0,1\n", NULL,
     "f:2: column 'weighted'"},
    {"csv: key out of range", CELLAR_TABLE_CSV, "a,count,record_key:256\nx,1,256\n", NULL,
     "f:2: column 'record_key:256'"},
    {"csv: key range", CELLAR_TABLE_CSV, "a,count,record_key:0\nx,1,0\n", NULL, "f:1: column"},
    {"csv: fields", CELLAR_TABLE_CSV, "a,count\nx,1,2\n", NULL, "f:2: 3 fields"},

    {"json: index as array, dense", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"version\":\"2.0\",\"id\":[\"s\",\"t\"],\"size\":[2,1],"
     "\"dimension\":{\"s\":{\"category\":{\"index\":[\"b\",\"a\"]}},"
     "\"t\":{\"category\":{\"label\":{\"2020\":\"the year\"}}}},\"value\":[3,4.0]}",
     "b,2020=3 a,2020=4", NULL},
    {"json: index as object, sparse, null, status", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[6],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":{\"c\":2,\"a\":0,\"b\":1,\"d\":3,\"e\":4,\"f\":5}}}},"
     "\"value\":{\"0\":1,\"1\":null,\"3\":5,\"4\":6},\"status\":{\"3\":\"u\",\"4\":\"e\","
     "\"5\":\"c\"}}",
     "a=1 b=0!not-available c=0!not-available d=5!unreliable e=6 f=0!suppressed", NULL},
    {"json: one status for all", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[2],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":[\"a\",\"b\"]}}},\"value\":[1,2],\"status\":\"u\"}",
     "a=1!unreliable b=2!unreliable", NULL},
    {"json: a total", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[3],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":[\"_T\",\"a\",\"b\"]}}},\"value\":[3,1,2]}",
     "a=1 b=2 _T=3", NULL},
    {"json: plain values", CELLAR_TABLE_JSONSTAT, VALUES("[1,20,\n300,0]"), "a=1 b=20 c=300", NULL},
    {"json: with a blank", CELLAR_TABLE_JSONSTAT, VALUES("[1,20, 300,0]"), "a=1 b=20 c=300", NULL},
    {"json: plain, sparse, null", CELLAR_TABLE_JSONSTAT, VALUES("{\"0\":1,\n\"2\":null,\"3\":40}"),
     "a=1 b=0!not-available c=0!not-available d=40", NULL},
    {"json: not in order", CELLAR_TABLE_JSONSTAT, VALUES("{\"3\":4,\"0\":1,\"1\":0,\"2\":0}"),
     "a=1 d=4", NULL},
    {"json: plain, too few", CELLAR_TABLE_JSONSTAT, VALUES("[1,2,3]"), NULL, "value: 3 elements"},
    {"json: plain, beyond", CELLAR_TABLE_JSONSTAT, VALUES("{\"0\":1,\"4\":1}"), NULL, "positions"},
    {"json: beyond", CELLAR_TABLE_JSONSTAT, VALUES("{\"4\":1, \"0\":1}"), NULL, "positions"},
    {"json: a position twice", CELLAR_TABLE_JSONSTAT, VALUES("{\"0\":1,\"00\":1}"), NULL,
     "each position once"},
    {"json: a name twice", CELLAR_TABLE_JSONSTAT, VALUES("{\"0\":1,\"0\":1}"), NULL, "f:1:"},
    {"json: values twice", CELLAR_TABLE_JSONSTAT, VALUES("[1,2,3,4],\"value\":[1,2,3,4]"), NULL,
     "f:1:"},
    {"json: a leading zero", CELLAR_TABLE_JSONSTAT, VALUES("[1,02,3,4]"), NULL, "f:1: column 170:"},
    {"json: a last comma", CELLAR_TABLE_JSONSTAT, VALUES("[1,2,3,4,]"), NULL, "not valid JSON"},
    {"json: wrong behind plain values", CELLAR_TABLE_JSONSTAT, VALUES("[1,2,\n3,4],x"), NULL,
     "f:2: column 6:"},
    {"json: no JSON", CELLAR_TABLE_JSONSTAT, "{\"class\":\n  \"dataset\",}", NULL, "f:2: column"},
    {"json: duplicate", CELLAR_TABLE_JSONSTAT, "{\"class\":\"a\",\"class\":\"b\"}", NULL, "f:1:"},
    {"json: collection", CELLAR_TABLE_JSONSTAT, "{\"class\":\"collection\"}", NULL,
     "f: is a collection"},
    {"json: no class", CELLAR_TABLE_JSONSTAT, "{\"dataset\":{}}", NULL, "f: has no class"},
    {"json: array", CELLAR_TABLE_JSONSTAT, "[]", NULL, "f: has no class"},
    {"json: size", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[\"2\"],\"value\":[]}", NULL, "f: size"},
    {"json: index", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[2],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":{\"a\":0,\"b\":0}}}},\"value\":[1,2]}",
     NULL, "f: dimension 's'"},
    {"json: length", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[2],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":[\"a\",\"b\"]}}},\"value\":[1]}",
     NULL, "f: value: 1 elements, but the sizes make 2"},
    {"json: fraction", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[2],\"dimension\":{\"s\":{\"category\":"
     "{\"index\":[\"a\",\"b\"]}}},\"value\":[1,2.5]}",
     NULL, "f: value 1: expected a whole number"},
    {"json: measures", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\"],\"size\":[2],\"role\":{\"metric\":[\"s\"]},"
     "\"dimension\":{\"s\":{\"category\":{\"index\":[\"a\",\"b\"]}}},\"value\":[1,2]}",
     NULL, "several measures"},
    {"json: large and nearly empty", CELLAR_TABLE_JSONSTAT,
     "{\"class\":\"dataset\",\"id\":[\"s\",\"s1\",\"s2\",\"s3\",\"s4\",\"s5\",\"s6\",\"s7\","
     "\"s8\",\"s9\"],\"size\":[9999,1,1,1,1,1,1,1,1,1],\"dimension\":{},\"value\":{}}",
     NULL, "f: size"},

    {"px: plain", CELLAR_TABLE_PX,
     PX_HEAD "STUB=\"s\";HEADING=\"t\";VALUES(\"s\")=\"one\",\"two\";VALUES(\"t\")=\"x\",\"y\";\n"
             "CODES(\"s\")=\"1\",\"2\";\nDATA=\n1 2\n3 4;\n",
     "1,x=1 1,y=2 2,x=3 2,y=4", NULL},
    {"px: symbols, quoted or not", CELLAR_TABLE_PX,
     PX_HEAD "HEADING=\"t\";VALUES(\"t\")=\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\";\n"
             "DATA=\"-\" . \"..\" ... \"....\" 6.0 \"......\" ;\n",
     "b=0!structural-zero c=0!not-available d=0!suppressed e=0!unreliable f=6 g=0!not-available",
     NULL},
    {"px: pieces, Windows-1252, a total by elimination", CELLAR_TABLE_PX,
     "STUB=\"\xe5lder\";VALUES(\"\xe5lder\")=\"al\"\n\"la\",\"0-\x96\";\n"
     "ELIMINATION(\"\xe5lder\")=\"alla\";\nDATA=3,3;",
     "0-\xe2\x80\x93=3 alla=3", NULL},
    {"px: several languages", CELLAR_TABLE_PX,
     PX_HEAD "CODEPAGE=\"utf-8\";LANGUAGE=\"sv\";LANGUAGES=\"sv\",\"en\";STUB=\"k\xc3\xb6n\";\n"
             "STUB[en]=\"sex\";VALUES(\"k\xc3\xb6n\")=\"m\xc3\xa4n\",\"kvinnor\";\n"
             "VALUES[en](\"sex\")=\"men\",\"women\";CODES(\"k\xc3\xb6n\")=\"1\",\"2\";DATA=5 6;\n",
     "1=5 2=6", NULL},
    {"px: keys", CELLAR_TABLE_PX,
     PX_HEAD "STUB=\"s\",\"u\";HEADING=\"t\";VALUES(\"s\")=\"one\",\"two\",\"three\";\n"
             "VALUES(\"u\")=\"v\",\"w\";KEYS(\"s\")=VALUES;KEYS(\"u\")=CODES;\n"
             "CODES(\"u\")=\"8\",\"9\";VALUES(\"t\")=\"x\",\"y\";\n"
             "DATA=\n\"three\",\"8\",1 2\n\"one\",\"9\",0 4\n;\n",
     "one,9,y=4 three,8,x=1 three,8,y=2", NULL},
    {"px: a timeline", CELLAR_TABLE_PX,
     PX_HEAD "HEADING=\"t\";VALUES(\"t\")=\"2019\",\"2020\";\n"
             "TIMEVAL(\"t\")=TLIST(A1),\"2019\",\"2020\";DATA=1 2;",
     "2019=1 2020=2", NULL},
    {"px: no data", CELLAR_TABLE_PX, PX_HEAD "STUB=\"s\";\n", NULL, "f:5: the file ends before"},
    {"px: open quote", CELLAR_TABLE_PX, "TITLE=\"t;\nDATA=1;", NULL, "f:1: the quote"},
    {"px: no keyword", CELLAR_TABLE_PX, "=1;DATA=1;", NULL, "f:1: expected a keyword"},
    {"px: no variables", CELLAR_TABLE_PX, PX_HEAD "DATA=1;", NULL, "neither STUB nor HEADING"},
    {"px: no values", CELLAR_TABLE_PX, "STUB=\"s\";DATA=1;", NULL, "no VALUES for the variable"},
    {"px: codes", CELLAR_TABLE_PX,
     "STUB=\"s\";VALUES(\"s\")=\"a\",\"b\";\nCODES(\"s\")=\"1\";DATA=1 2;", NULL, "f:2: CODES"},
    {"px: too few", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\",\"b\";DATA=1;", NULL,
     "fewer cells"},
    {"px: too many", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\",\"b\";DATA=1 2 3;", NULL,
     "more cells"},
    {"px: fraction", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\";\nDATA=1.5;", NULL,
     "f:2: DATA: expected a whole number"},
    {"px: negative", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\";DATA=-3;", NULL, "negative"},
    {"px: unended", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\";DATA=3", NULL, "semicolon"},
    {"px: twice", CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a\",\"a\";DATA=3 4;", NULL, "'s'"},
    {"px: repeated key", CELLAR_TABLE_PX,
     "STUB=\"s\";HEADING=\"t\";VALUES(\"s\")=\"a\";VALUES(\"t\")=\"x\";KEYS(\"s\")=VALUES;"
     "DATA=\"a\",1 \"a\",2;",
     NULL, "the same row twice"},
    {"px: damaged note", CELLAR_TABLE_PX,
     "NOTE=\"cellar:{x\";STUB=\"s\";VALUES(\"s\")=\"a\";DATA=3;", NULL, "f:1: NOTE"},
    {"px: code page", CELLAR_TABLE_PX,
     "CODEPAGE=\"klingon\";STUB=\"s\";VALUES(\"s\")=\"a\";DATA=3;", NULL, "CODEPAGE"},
    {"sdmx is not read", CELLAR_TABLE_SDMX, "STRUCTURE\n", NULL, "cellar convert reads them"},
};

static void describe_cells(const cellar_table *table, char *out, size_t size)
{
    static const char *const statuses[] = {"", "!structural-zero", "!suppressed", "!not-available",
                                           "!unreliable"};
    const cellar_schema *schema = cellar_table_schema(table);
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < cellar_table_n_cells(table); i++) {
        cellar_cell cell = cellar_table_cell(table, i);
        uint32_t categories[CELLAR_MAX_VARIABLES];
        cellar_schema_categories(schema, cell.index, categories);
        for (size_t v = 0; v < cellar_schema_n_variables(schema); v++)
            used += (size_t) snprintf(out + used, size - used, "%s%s",
                                      v > 0   ? ","
                                      : i > 0 ? " "
                                              : "",
                                      cellar_schema_code(schema, v, categories[v]));
        used += (size_t) snprintf(out + used, size - used, "=%llu%s",
                                  (unsigned long long) cell.count, statuses[cell.status]);
    }
}

static void test_cases(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_table_read_options options = {.format = cases[i].format};
        cellar_table *table = NULL;
        cellar_error err = {""};
        char found[4096];
        cellar_status status =
            cellar_table_parse("f", cases[i].file, strlen(cases[i].file), &options, &table, &err);
        if (cases[i].cells != NULL) {
            if (status != CELLAR_OK)
                fail_msg("%s: %s", cases[i].label, err.message);
            describe_cells(table, found, sizeof found);
            if (strcmp(found, cases[i].cells) != 0)
                fail_msg("%s: %s", cases[i].label, found);
        } else if (status == CELLAR_OK || strstr(err.message, cases[i].message) == NULL)
            fail_msg("%s: answered %s '%s'", cases[i].label, cellar_status_name(status),
                     err.message);
        cellar_table_free(table);
    }
}

/* Every prefix of a good file is refused, or is itself a table; nothing breaks. */
static void test_truncated(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t length = 0; length < strlen(cases[i].file); length++) {
            cellar_table_read_options options = {.format = cases[i].format};
            cellar_table *table = NULL;
            cellar_error err = {""};
            cellar_status status =
                cellar_table_parse("f", cases[i].file, length, &options, &table, &err);
            assert_int_equal(status == CELLAR_OK, table != NULL);
            assert_int_equal(status == CELLAR_OK, err.message[0] == '\0');
            cellar_table_free(table);
        }
}

static void test_labels_and_languages(void **state)
{
    static const char px[] =
        "CODEPAGE=\"utf-8\";LANGUAGE=\"sv\";LANGUAGES=\"sv\",\"en\";STUB=\"kon\";\n"
        "STUB[en]=\"sex\";VALUES(\"kon\")=\"man\",\"kvinnor\";\n"
        "VALUES[en](\"sex\")=\"men\",\"women\";CODES(\"kon\")=\"1\",\"2\";DATA=5 6;\n";
    cellar_table_read_options options = {.format = CELLAR_TABLE_PX};
    const cellar_schema *schema;
    cellar_table *table = NULL;

    (void) state;
    assert_int_equal(cellar_table_parse("f", px, strlen(px), &options, &table, NULL), CELLAR_OK);
    schema = cellar_table_schema(table);
    assert_int_equal(cellar_schema_domain(schema, 0), CELLAR_DOMAIN_OBSERVED);
    assert_int_equal(cellar_schema_n_languages(schema), 2);
    for (size_t l = 0; l < 2; l++)
        assert_string_equal(cellar_schema_label(schema, 0, 1, l),
                            strcmp(cellar_schema_language(schema, l), "en") == 0 ? "women"
                                                                                 : "kvinnor");
    cellar_table_free(table);
}

/* A declared domain must hold every code, in all formats, and may know more of them. */
static void test_declared(void **state)
{
    static const struct {
        cellar_table_format format;
        const char *file;
        cellar_status status;
        size_t n_categories;
    } files[] = {
        {CELLAR_TABLE_CSV, "s,count\na1,1\na,3\na2,2\nT,3\n", CELLAR_OK, 5},
        {CELLAR_TABLE_CSV, "s,count\na1,1\na2,2\n", CELLAR_OK, 3},
        {CELLAR_TABLE_CSV, "s,count\na1,1\nzz,2\n", CELLAR_ERR_INPUT, 0},
        {CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a1\",\"a2\",\"T\";DATA=1 2 3;", CELLAR_OK, 4},
        {CELLAR_TABLE_PX, "STUB=\"s\";VALUES(\"s\")=\"a1\",\"zz\";DATA=1 2;", CELLAR_ERR_INPUT, 0},
    };
    static const char list[] = "code,parent,role\na1,a,\na2,a,\nb,,\na,,\nT,,total\n";
    cellar_named_codelist named = {.variable = "s"};
    cellar_codelist *codelist = NULL;

    (void) state;
    assert_int_equal(cellar_codelist_parse("l", list, strlen(list), &codelist, NULL), CELLAR_OK);
    named.codelist = codelist;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        cellar_table_read_options options = {
            .format = files[i].format, .codelists = &named, .n_codelists = 1};
        cellar_table *table = NULL;
        cellar_error err = {""};
        assert_int_equal(
            cellar_table_parse("f", files[i].file, strlen(files[i].file), &options, &table, &err),
            files[i].status);
        if (table != NULL) {
            const cellar_schema *schema = cellar_table_schema(table);
            assert_int_equal(cellar_schema_n_categories(schema, 0), files[i].n_categories);
            assert_int_equal(cellar_schema_domain(schema, 0), CELLAR_DOMAIN_DECLARED);
            assert_int_equal(cellar_table_n_records(table), 3);
        }
        cellar_table_free(table);
    }
    cellar_codelist_free(codelist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_labels_and_languages),
        cmocka_unit_test(test_declared),
    };
    return cmocka_run_group_tests_name("table_foreign", tests, NULL, NULL);
}
