/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "data/codelist.h"
#include "data/codelist_xml.h"
#include "data/xml.h"
#include "fail_every.h"
#include "scratch.h"

#define SDMX(inner) "<m:Structure xmlns:m=\"m\"><m:Codelists>" inner "</m:Codelists></m:Structure>"
#define DDI(inner) "<codeBook xmlns=\"ddi:codebook:2_5\"><dataDscr>" inner "</dataDscr></codeBook>"

static const char areas[] = SDMX(
    "<m:Codelist id=\"AREA\" agencyID=\"X\" version=\"1.1\"><m:Name>Areas</m:Name>\n"
    "<m:Code id=\"_T\"><m:Name xml:lang=\"en\">All</m:Name></m:Code>\n"
    "<m:Code id=\"N\"><m:Name xml:lang=\"en\">North, &amp; more</m:Name>"
    "<m:Name xml:lang=\"de\"> Nor\n  den </m:Name><m:Parent><Ref id=\"_T\"/></m:Parent></m:Code>\n"
    "<m:Code id=\"N1\"><m:Description>no label</m:Description><m:Parent>N</m:Parent></m:Code>\n"
    "<m:Code id=\"N2\"><m:Parent><URN>urn:sdmx:org.x.Code=X:AREA(1.1).N</URN></m:Parent></m:Code>\n"
    "<m:Code id=\"_U\"/><m:Code id=\"_Z\"/><m:Code id=\"_O\"/></m:Codelist>"
    "<m:Codelist id=\"SEX\"><m:Code id=\"F\"/><m:Code id=\"M\"/></m:Codelist>");

static const char book[] =
    DDI("<var ID=\"V1\" name=\"sex\"><labl>Sex</labl>"
        "<catgry><catValu> 1 </catValu><labl>Men <emph>and</emph> boys</labl>"
        "<catStat type=\"freq\">4711</catStat></catgry>"
        "<catgry><catValu>2</catValu></catgry>"
        "<catgry missing=\"Y\"><catValu>9</catValu><labl xml:lang=\"en\">No answer</labl></catgry>"
        "</var><var ID=\"V2\" name=\"age\"><labl>Age</labl></var>");

static cellar_status parse(const char *text, const char *wanted, cellar_codelist **out,
                           cellar_error *err)
{
    return cellar_codelist_parse_xml("f.xml", text, strlen(text), wanted, out, err);
}

/* The list in our own format. */
static void check_list(const char *text, const char *wanted, const char *expected)
{
    cellar_codelist *list;
    cellar_text found = {0};
    cellar_error err;
    if (parse(text, wanted, &list, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    cellar_codelist_add_text(list, &found);
    assert_string_equal(found.bytes, expected);
    cellar_text_clear(&found);
    cellar_codelist_free(list);
}

static void check_error(const char *text, const char *wanted, const char *expected)
{
    cellar_codelist *list;
    cellar_error err = {""};
    assert_int_equal(parse(text, wanted, &list, &err), CELLAR_ERR_INPUT);
    assert_null(list);
    assert_string_equal(err.message, expected);
}

/* ---- lists -------------------------------------------------------------------- */

static void test_sdmx(void **state)
{
    static const char expected[] = "code,parent,label@en,label@de,role\n"
                                   "_T,,All,,total\n"
                                   "N,_T,\"North, & more\",Nor den,\n"
                                   "N1,N,,,\n"
                                   "N2,N,,,\n"
                                   "_U,,,,unknown\n"
                                   "_Z,,,,not-applicable\n"
                                   "_O,,,,\n";
    (void) state;
    check_list(areas, "AREA", expected);
    check_list(areas, "X:AREA(1.1)", expected);
    check_list(areas, "SEX", "code\nF\nM\n");
}

static void test_ddi(void **state)
{
    static const char expected[] = "code,label,label@en,role\n"
                                   "1,Men and boys,,\n"
                                   "2,,,\n"
                                   "9,,No answer,unknown\n";
    (void) state;
    check_list(book, "sex", expected);
    check_list(book, "V1", expected);
    check_list(book, NULL, expected); /* the other variable has no categories */
}

static void test_choice(void **state)
{
    (void) state;
    check_error(areas, NULL,
                "f.xml: holds 2 code lists with codes: AREA, SEX; choose one: f.xml#NAME");
    check_error(areas, "Area", "f.xml: has no code list 'Area'; expected one of AREA, SEX");
    check_error(book, "age", "f.xml: the variable 'age' has no codes");
    check_error(SDMX("<Codelist id=\"A\" version=\"1\"><Code id=\"a\"/></Codelist>"
                     "<Codelist id=\"A\" version=\"2\"><Code id=\"b\"/></Codelist>"),
                "A",
                "f.xml:1:93: a second code list 'A'; choose one by its full name, "
                "AGENCY:ID(VERSION)");
    check_error(SDMX(""), NULL, "f.xml: holds no code list with codes");
}

/* ---- files that are damaged, or made to do harm ------------------------------- */

static void test_bad_files(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"<html/>", "f.xml:1:1: expected a structure message of SDMX-ML (<Structure>) or a code "
                    "book of DDI Codebook (<codeBook>), not <html>"},
        {"<Structure>\n<Codelist/></Structure>",
         "f.xml:2:1: expected <Codelist> with the attribute 'id'"},
        {"<Structure>\n<Codelist id=\"A\"><Code/></Codelist></Structure>",
         "f.xml:2:18: expected <Code> with the attribute 'id'"},
        {"<codeBook><var name=\"a\">\n<catgry><labl>x</labl></catgry></var></codeBook>",
         "f.xml:2:23: expected a code in this <catgry>"},
        {"<Structure><Codelist id=\"A\">\n<Code id=\"a\"/>\n<Code "
         "id=\"a\"/></Codelist></Structure>",
         "f.xml:3: code 'a': is already in line 2"},
        {"<Structure><Codelist id=\"A\"><Code id=\"a\"><Parent>b</Parent></Code></Codelist>"
         "</Structure>",
         "f.xml:1: code 'a': the parent is not in the list"},
        {"<Structure><Codelist id=\"A\"><CodelistExtension/></Codelist></Structure>",
         "f.xml:1:29: expected all codes in the code list itself: it extends others, which are "
         "not looked for"},
        {"<Structure><Codelist id=\"A\"><Code id=\"a\"/>",
         "f.xml:1:43: expected well-formed XML, and found: no element found"},
        {"<Structure></structure>",
         "f.xml:1:14: expected well-formed XML, and found: mismatched tag"},
        {"<Structure>\xff</Structure>",
         "f.xml:1:12: expected well-formed XML, and found: not well-formed (invalid token)"},
        {"<?xml version=\"1.0\" encoding=\"x-none\"?><Structure/>",
         "f.xml:1:31: expected well-formed XML, and found: unknown encoding"},
        {"<!DOCTYPE a [<!ENTITY b \"cc\"><!ENTITY c \"&b;&b;&b;\">]><Structure>&c;</Structure>",
         "f.xml:1:13: a document type declaration (<!DOCTYPE) is not read, because it may bring in "
         "other files; take it out"},
        {"<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><Structure/>",
         "f.xml:1:40: a document type declaration (<!DOCTYPE) is not read, because it may bring in "
         "other files; take it out"},
        {"<Structure>&unknown;</Structure>",
         "f.xml:1:12: expected well-formed XML, and found: undefined entity"},
    };
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_error(cases[i].text, NULL, cases[i].message);
}

static void test_limits(void **state)
{
    cellar_text text = {0};
    (void) state;
    for (size_t i = 0; i < 100000; i++)
        cellar_text_add_string(&text, i == 0 ? "<Structure>" : "<a>");
    check_error(text.bytes, NULL, "f.xml:1:201: elements lie more than 64 deep in each other");
    cellar_text_reset(&text);
    cellar_text_add_string(&text, "<Structure><Codelist id=\"A\"><Code id=\"a\"><Name>");
    for (size_t i = 0; i <= CELLAR_XML_MAX_TEXT; i++)
        cellar_text_add_char(&text, 'x');
    cellar_text_add_string(&text, "</Name></Code></Codelist></Structure>");
    check_error(text.bytes, NULL, "f.xml:1:48: a text is longer than 65536 bytes");
    cellar_text_reset(&text);
    cellar_text_add_string(&text, "<Structure><Codelist id=\"A\"><Code id=\"a\">");
    for (int i = 0; i < 65; i++)
        cellar_text_printf(&text, "<Name xml:lang=\"l%d\">x</Name>", i);
    cellar_text_add_string(&text, "</Code></Codelist></Structure>");
    check_error(text.bytes, NULL, "f.xml:1:1888: labels in more than 64 languages");
    cellar_text_clear(&text);
}

/* ---- files -------------------------------------------------------------------- */

static size_t n_codes(const char *path)
{
    cellar_codelist *list;
    cellar_error err;
    size_t n;
    assert_int_equal(cellar_codelist_read(path, &list, &err), CELLAR_OK);
    n = cellar_codelist_n_codes(list);
    cellar_codelist_free(list);
    return n;
}

static void test_read(void **state)
{
    scratch *place = *state;
    scratch_write(place, "areas.xml", areas);
    assert_int_equal(n_codes(scratch_path(place, "areas.xml#SEX")), 2);
    scratch_write(place, "areas.xml#SEX", "code\na\n"); /* a file of that name is meant */
    assert_int_equal(n_codes(scratch_path(place, "areas.xml#SEX")), 1);
}

static cellar_status scenario(void *context, cellar_error *err)
{
    cellar_codelist *list;
    cellar_status status = parse(context, "AREA", &list, err);
    cellar_codelist_free(list);
    return status;
}

static void test_fail_every(void **state)
{
    (void) state;
    check_fail_every(scenario, (void *) (uintptr_t) areas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sdmx),
        cmocka_unit_test(test_ddi),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_limits),
        cmocka_unit_test_setup_teardown(test_read, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_fail_every),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
