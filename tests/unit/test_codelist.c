/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "data/codelist.h"
#include "fail_every.h"
#include "scratch.h"
#include "splitmix.h"

static cellar_codelist *parse(const char *text)
{
    cellar_codelist *list;
    cellar_error err;
    if (cellar_codelist_parse("f", text, strlen(text), &list, &err) != CELLAR_OK)
        fail_msg("%s", err.message);
    return list;
}

static size_t find(const cellar_codelist *list, const char *code)
{
    return cellar_codelist_find(list, code, strlen(code));
}

/* ---- reading --------------------------------------------------------------- */

static void test_everything_at_once(void **state)
{
    cellar_codelist *list = parse("label@de,code,parent,order,label,parent:urban,role\r\n"
                                  "Nord,N,T,1,North,,\r\n"
                                  "\"Stadt, klein\",n2,N,3,\"say \"\"hi\"\"\",town,\r\n"
                                  "Dorf,n1,N,2.5,,land,\r\n"
                                  ",town,,4,Town,,\r\n"
                                  ",land,,4,Land,,\r\n"
                                  "Alle,T,,-1e1,All,,total\r\n"
                                  ",9,T,,Unknown,,unknown\r\n"
                                  ",8,,,\"\",,not-applicable\r\n"
                                  ",x,,,,,other\r\n");
    static const char *const order[] = {"T", "N", "n1", "n2", "town", "land", "9", "8", "x"};
    static const char *const leaves[] = {"n1", "n2", "9", "8", "x"};
    (void) state;

    assert_int_equal(cellar_codelist_n_codes(list), 9);
    for (size_t i = 0; i < 9; i++) {
        assert_string_equal(cellar_codelist_code(list, i), order[i]);
        assert_int_equal(find(list, order[i]), i);
    }
    assert_int_equal(cellar_codelist_n_leaves(list), 5);
    for (size_t k = 0; k < 5; k++) {
        size_t code = cellar_codelist_leaf(list, k);
        assert_string_equal(cellar_codelist_code(list, code), leaves[k]);
        assert_int_equal(cellar_codelist_leaf_of(list, code), k);
        assert_int_equal(cellar_codelist_is_leaf(list, code), 1);
    }
    assert_int_equal(cellar_codelist_is_leaf(list, find(list, "T")), 0);
    assert_true(cellar_codelist_leaf_of(list, find(list, "N")) == CELLAR_NO_CODE);
    assert_int_equal(cellar_codelist_n_languages(list), 2);
    assert_string_equal(cellar_codelist_language(list, 0), "de");
    assert_string_equal(cellar_codelist_language(list, 1), "");
    assert_string_equal(cellar_codelist_label(list, find(list, "n2"), 0), "Stadt, klein");
    assert_string_equal(cellar_codelist_label(list, find(list, "n2"), 1), "say \"hi\"");
    assert_string_equal(cellar_codelist_label(list, find(list, "n1"), 1), "n1"); /* none */
    assert_string_equal(cellar_codelist_label(list, find(list, "8"), 1), "");    /* empty */
    assert_string_equal(cellar_codelist_label(list, find(list, "x"), 7), "x");
    assert_int_equal(cellar_codelist_n_hierarchies(list), 2);
    assert_string_equal(cellar_codelist_hierarchy(list, 0), "");
    assert_string_equal(cellar_codelist_hierarchy(list, 1), "urban");
    assert_int_equal(cellar_codelist_parent(list, 0, find(list, "n1")), find(list, "N"));
    assert_int_equal(cellar_codelist_parent(list, 1, find(list, "n1")), find(list, "land"));
    assert_true(cellar_codelist_parent(list, 1, find(list, "N")) == CELLAR_NO_CODE);
    assert_int_equal(cellar_codelist_role(list, find(list, "T")), CELLAR_CODE_TOTAL);
    assert_int_equal(cellar_codelist_role(list, find(list, "9")), CELLAR_CODE_UNKNOWN);
    assert_int_equal(cellar_codelist_role(list, find(list, "8")), CELLAR_CODE_NOT_APPLICABLE);
    assert_int_equal(cellar_codelist_role(list, find(list, "x")), CELLAR_CODE_OTHER);
    assert_true(find(list, "nope") == CELLAR_NO_CODE);
    assert_true(find(list, "") == CELLAR_NO_CODE);
    assert_int_equal(cellar_codelist_find(list, "townhouse", 4), find(list, "town"));
    cellar_codelist_free(list);
}

static const struct {
    const char *label, *input, *want;
} bad_files[] = {
    {"nothing", "", "f: is empty; a header was expected"},
    {"header only", "code,label\n", "f: the list holds no codes"},
    {"no code column", "label\nx\n", "f:1: the header has no column 'code'"},
    {"typo", "code,parnet\na,\n", "f:1: column 2: unknown; did you mean 'parent'?"},
    {"foreign column", "code,population\na,1\n",
     "f:1: column 2: unknown; expected code, parent, parent:HIERARCHY, order, label, "
     "label@LANGUAGE or role"},
    {"hierarchy without a name", "code,parent:\na,\n",
     "f:1: column 2: unknown; did you mean 'parent'?"},
    {"empty code", "label,code\nx,\n", "f:2: column 'code': a code must not be empty"},
    {"twice", "code\na\nb\na\n", "f:4: column 'code': stands already in line 2"},
    {"twice, ordered", "code,order\na,5\nb,1\na,1\n",
     "f:4: column 'code': stands already in line 2"},
    {"order", "code,order\na,first\n",
     "f:2: column 'order': expected a number with at most 18 decimals"},
    {"order too fine", "code,order\na,1e-19\n",
     "f:2: column 'order': expected a number with at most 18 decimals"},
    {"role", "code,role\na,Total\n",
     "f:2: column 'role': expected total, unknown, not-applicable, other or nothing"},
    {"two totals", "code,role\na,total\nb,total\n",
     "f:3: column 'role': a second code with the role 'total'"},
    {"two others", "code,role\na,other\nb,total\nc,other\n",
     "f:4: column 'role': a second code with the role 'other'"},
    {"orphan", "code,parent\na,b\n", "f:2: column 'parent': the parent is not in the list"},
    {"own parent", "code,parent\na,a\n",
     "f:2: column 'parent': the code is among its own ancestors"},
    {"cycle", "code,parent:h\na,\nb,d\nc,b\nd,c\ne,b\n",
     "f:3: column 'parent:h': the code is among its own ancestors"},
    {"total below", "code,parent,role\na,,\nb,a,total\n",
     "f:3: column 'parent': the total cannot have a parent"},
    {"other as a sum", "code,parent,role\na,,other\nb,a,\n",
     "f:3: column 'parent': the parent has the role 'other', which receives values and cannot be "
     "a sum"},
    {"a sum without children", "code,parent:a,parent:b\ns,,\nx,s,\nt,,\ns2,,t\nx2,s2,\n",
     "f:5: column 'parent:b': the code is a sum in another hierarchy but has no children in this "
     "one"},
    {"two different sums", "code,parent:a,parent:b\ns,,\nx,s,\ny,,s\n",
     "f:2: column 'parent:b': the code sums other codes in this hierarchy than in another"},
    {"broken CSV", "code,label\na,\"x\n", "f:2: column 2: the quote opened here is never closed"},
    {"a remark that is no mark", "# drafted\ncode\na\n",
     "f:1: expected the header, or before it '# drafted from the data; reviewed-by: NAME'"},
    {"a mark without codes", "# drafted from the data; reviewed-by: Ann\nlabel\na\n",
     "f:2: the header has no column 'code'"},
    {"a reviewer with a control character", "# drafted from the data; reviewed-by: A\x1bnn\ncode\n",
     "f:1: the name of the reviewer holds a control character"},
    {"a reviewer in Latin-1", "# drafted from the data; reviewed-by: M\xfcller\ncode\na\n",
     "f:1: the name of the reviewer: expected at most 100 bytes of UTF-8"},
    {"Latin-1", "code,label\na,M\xfcnchen\n", "f:2: column 2: is not valid UTF-8"},
};

static void test_bad_files(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        cellar_codelist *list;
        cellar_error err = {"no message"};
        cellar_status status =
            cellar_codelist_parse("f", bad_files[i].input, strlen(bad_files[i].input), &list, &err);
        if (status != CELLAR_ERR_INPUT || list != NULL ||
            strcmp(err.message, bad_files[i].want) != 0)
            fail_msg("%s: %s", bad_files[i].label, err.message);
    }
}

/* A region may be summed along two ways, as long as both come down to the same leaves. */
static void test_shared_aggregate(void **state)
{
    cellar_codelist *list = parse("code,parent:county,parent:district\n"
                                  "R,,\nc1,R,\nc2,R,\nd1,,R\nm1,c1,d1\nm2,c1,d1\nm3,c2,d1\n");
    (void) state;
    assert_int_equal(cellar_codelist_n_leaves(list), 3);
    cellar_codelist_free(list);
}

/* ---- tau-Argus ------------------------------------------------------------- */

static void test_hrc(void **state)
{
    static const char bytes[] = "\xef\xbb\xbfNr\r\n@ Gr \r\n@Fr\t\r\n@@Leeuwarden\r\n"
                                "\r\n@Dr\r\n Os\r\n@Ov";
    static const char *const parents[] = {NULL, "Nr", "Nr", "Fr", "Nr", NULL, "Os"};
    static const char *const codes[] = {"Nr", "Gr", "Fr", "Leeuwarden", "Dr", "Os", "Ov"};
    cellar_codelist *list;
    cellar_error err;
    (void) state;

    assert_int_equal(cellar_codelist_parse_hrc("f", bytes, sizeof bytes - 1, "@", &list, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_n_codes(list), 7);
    for (size_t i = 0; i < 7; i++) {
        size_t parent = cellar_codelist_parent(list, 0, i);
        assert_string_equal(cellar_codelist_code(list, i), codes[i]);
        if (parents[i] == NULL)
            assert_true(parent == CELLAR_NO_CODE);
        else
            assert_string_equal(cellar_codelist_code(list, parent), parents[i]);
    }
    assert_int_equal(cellar_codelist_n_leaves(list), 4);
    assert_int_equal(cellar_codelist_is_leaf(list, find(list, "Fr")), 0);
    cellar_codelist_free(list);
}

static const struct {
    const char *label, *input, *mark, *want;
} bad_hrc[] = {
    {"nothing", "", "@", "f: the hierarchy holds no codes"},
    {"blank lines", " \n\r\n", "@", "f: the hierarchy holds no codes"},
    {"begins below", "@a\n", "@", "f:1: the first code must stand at the top, without marks"},
    {"jump", "a\n@b\n@@@c\n", "@", "f:3: more than one level deeper than the line before"},
    {"jump after going up", "a\n@b\n@@c\nd\n@@e\n", "@",
     "f:5: more than one level deeper than the line before"},
    {"marks only", "a\n@@ \n", "@", "f:2: marks without a code"},
    {"twice", "a\n@b\nc\n@b\n", "@", "f:4: stands already in line 2"},
    {"Latin-1", "a\n@\xe4\n", "@", "f:2: is not valid UTF-8"},
    {"no mark", "a\n", "", "f: the mark of a level must not be empty or hold blanks"},
    {"blank mark", "a\n", " ", "f: the mark of a level must not be empty or hold blanks"},
};

static void test_bad_hrc(void **state)
{
    (void) state;
    for (size_t i = 0; i < sizeof bad_hrc / sizeof *bad_hrc; i++) {
        cellar_codelist *list;
        cellar_error err = {"no message"};
        cellar_status status = cellar_codelist_parse_hrc(
            "f", bad_hrc[i].input, strlen(bad_hrc[i].input), bad_hrc[i].mark, &list, &err);
        if (status == CELLAR_OK || list != NULL || strcmp(err.message, bad_hrc[i].want) != 0)
            fail_msg("%s: %s", bad_hrc[i].label, err.message);
    }
}

/* Marks of several bytes, and a code that holds the mark further on. */
static void test_hrc_marks(void **state)
{
    cellar_codelist *list;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_codelist_parse_hrc("f", "a--b\n--c\n----d", 14, "--", &list, &err),
                     CELLAR_OK);
    assert_string_equal(cellar_codelist_code(list, 0), "a--b");
    assert_int_equal(cellar_codelist_parent(list, 0, 2), 1);
    cellar_codelist_free(list);
}

/* ---- in memory ------------------------------------------------------------- */

static void test_build(void **state)
{
    cellar_codelist *list;
    cellar_error err;
    (void) state;

    assert_int_equal(cellar_codelist_create(&list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "", NULL, NULL, CELLAR_CODE_PLAIN, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_codelist_add(list, "\xff", NULL, NULL, CELLAR_CODE_PLAIN, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_codelist_add(list, "a", NULL, "s", CELLAR_CODE_PLAIN, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "b", "B", "s", CELLAR_CODE_PLAIN, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "s", "", NULL, CELLAR_CODE_PLAIN, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "c", NULL, NULL, CELLAR_CODE_PLAIN, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_codelist_finish(list, &err), CELLAR_ERR_ARGUMENT);
    assert_int_equal(cellar_codelist_n_leaves(list), 2);
    assert_string_equal(cellar_codelist_label(list, 0, 0), "a");
    assert_string_equal(cellar_codelist_label(list, 2, 0), "");
    cellar_codelist_free(list);

    assert_int_equal(cellar_codelist_create(&list, NULL), CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "a", NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_add(list, "a", NULL, NULL, CELLAR_CODE_PLAIN, NULL),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(list, &err), CELLAR_ERR_ARGUMENT);
    assert_string_equal(err.message, "code list: code number 2: stands in the list already");
    cellar_codelist_free(list);

    assert_int_equal(cellar_codelist_create(&list, NULL), CELLAR_OK);
    assert_int_equal(cellar_codelist_finish(list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_n_codes(list), 0);
    assert_int_equal(cellar_codelist_n_languages(list), 0);
    assert_int_equal(cellar_codelist_n_hierarchies(list), 0);
    assert_true(find(list, "a") == CELLAR_NO_CODE);
    cellar_codelist_free(list);
    cellar_codelist_free(NULL);
}

static void *share(void *list)
{
    for (int i = 0; i < 10000; i++)
        cellar_codelist_free(cellar_codelist_retain(list));
    return NULL;
}

static void test_retain(void **state)
{
    cellar_codelist *list = parse("code\na\n"), *second = cellar_codelist_retain(list);
    pthread_t threads[2];
    (void) state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, share, list), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    cellar_codelist_free(list);
    assert_int_equal(find(second, "a"), 0);
    cellar_codelist_free(second);
}

/* A million codes in a chain of sums: deep, large, and still a moment's work. */
static void test_large(void **state)
{
    enum { N = 1000000 };
    cellar_text text = {0};
    cellar_codelist *list;
    (void) state;

    cellar_text_add_string(&text, "code,parent\n");
    for (int i = 0; i < N - 1; i++)
        cellar_text_printf(&text, "c%d,c%d\n", i, i + 1);
    cellar_text_printf(&text, "c%d,\n", N - 1);
    assert_int_equal(text.failed, 0);
    list = parse(text.bytes);
    assert_int_equal(cellar_codelist_n_codes(list), N);
    assert_int_equal(cellar_codelist_n_leaves(list), 1);
    for (int i = 0; i < N; i += 997) {
        char code[16];
        snprintf(code, sizeof code, "c%d", i);
        assert_int_equal(find(list, code), i);
    }
    cellar_codelist_free(list);
    cellar_text_clear(&text);
}

/* ---- writing --------------------------------------------------------------- */

static int same_text(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

static void assert_same(const cellar_codelist *a, const cellar_codelist *b)
{
    assert_int_equal(cellar_codelist_n_codes(a), cellar_codelist_n_codes(b));
    assert_int_equal(cellar_codelist_n_leaves(a), cellar_codelist_n_leaves(b));
    assert_int_equal(cellar_codelist_n_languages(a), cellar_codelist_n_languages(b));
    assert_int_equal(cellar_codelist_n_hierarchies(a), cellar_codelist_n_hierarchies(b));
    for (size_t l = 0; l < cellar_codelist_n_languages(a); l++)
        assert_true(same_text(cellar_codelist_language(a, l), cellar_codelist_language(b, l)));
    for (size_t h = 0; h < cellar_codelist_n_hierarchies(a); h++)
        assert_true(same_text(cellar_codelist_hierarchy(a, h), cellar_codelist_hierarchy(b, h)));
    for (size_t i = 0; i < cellar_codelist_n_codes(a); i++) {
        assert_true(same_text(cellar_codelist_code(a, i), cellar_codelist_code(b, i)));
        assert_int_equal(cellar_codelist_role(a, i), cellar_codelist_role(b, i));
        assert_int_equal(cellar_codelist_is_leaf(a, i), cellar_codelist_is_leaf(b, i));
        for (size_t l = 0; l < cellar_codelist_n_languages(a); l++)
            assert_true(same_text(cellar_codelist_label(a, i, l), cellar_codelist_label(b, i, l)));
        for (size_t h = 0; h < cellar_codelist_n_hierarchies(a); h++)
            assert_int_equal(cellar_codelist_parent(a, h, i), cellar_codelist_parent(b, h, i));
    }
}

static const char *hostile_text(uint64_t *seed, cellar_text *out)
{
    static const char *const pieces[] = {"\"", "\n",   "\r", ",", "=1+1",     "a",
                                         " ",  "\t",   "'",  "@", "\xc3\xa9", "|",
                                         "\\", "\"\"", ";",  "-", "0",        "\xf0\x9f\x98\x80"};
    size_t n = next_random(seed) % 6;
    cellar_text_reset(out);
    cellar_text_add_string(out, "");
    while (n-- > 0)
        cellar_text_add_string(out, pieces[next_random(seed) % (sizeof pieces / sizeof *pieces)]);
    return out->bytes;
}

/* A draft says so, and names its reviewer as soon as there is one; spreadsheets add commas. */
static void test_drafts(void **state)
{
    static const struct {
        const char *input, *reviewer, *written;
    } cases[] = {{"code\na\n", NULL, "code\na\n"},
                 {"# drafted from the data; reviewed-by:\ncode\na\n", "",
                  "# drafted from the data; reviewed-by:\ncode\na\n"},
                 {"\xef\xbb\xbf# drafted from the data; reviewed-by:\t ,,\r\ncode\r\na\r\n", "",
                  "# drafted from the data; reviewed-by:\ncode\na\n"},
                 {"# drafted from the data; reviewed-by: Ann M\xc3\xbcller,,\ncode,label\na,\n",
                  "Ann M\xc3\xbcller",
                  "# drafted from the data; reviewed-by: Ann M\xc3\xbcller\ncode,label\na,\n"}};
    (void) state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_codelist *list;
        cellar_text text = {0};
        cellar_error err;
        if (cellar_codelist_parse("f", cases[i].input, strlen(cases[i].input), &list, &err) !=
            CELLAR_OK)
            fail_msg("%s", err.message);
        if (cases[i].reviewer == NULL)
            assert_null(cellar_codelist_reviewer(list));
        else
            assert_string_equal(cellar_codelist_reviewer(list), cases[i].reviewer);
        cellar_codelist_add_text(list, &text);
        assert_string_equal(text.bytes, cases[i].written);
        cellar_text_clear(&text);
        cellar_codelist_free(list);
    }
}

static void test_round_trip(void **state)
{
    uint64_t seed = 20240607;
    cellar_text label = {0}, code = {0}, parent = {0}, text = {0}, again = {0};
    (void) state;

    for (int round = 0; round < 300; round++) {
        cellar_codelist *list, *back;
        cellar_error err;
        size_t n = 1 + next_random(&seed) % 12, n_sums = next_random(&seed) % 3;
        assert_int_equal(cellar_codelist_create(&list, &err), CELLAR_OK);
        for (size_t i = 0; i < n + n_sums; i++) {
            int is_sum = i >= n, role = !is_sum && i < 5 ? (int) i : 0;
            hostile_text(&seed, &code);
            cellar_text_printf(&code, "%zu", i);
            hostile_text(&seed, &label);
            cellar_text_reset(&parent);
            if (!is_sum && role != CELLAR_CODE_TOTAL && n_sums > 0)
                cellar_text_printf(&parent, "sum\n%zu", n + next_random(&seed) % n_sums);
            if (is_sum) {
                cellar_text_reset(&code);
                cellar_text_printf(&code, "sum\n%zu", i);
            }
            assert_int_equal(cellar_codelist_add(list, code.bytes,
                                                 next_random(&seed) % 4 ? label.bytes : NULL,
                                                 parent.length > 0 ? parent.bytes : NULL,
                                                 (cellar_code_role) role, &err),
                             CELLAR_OK);
        }
        if (cellar_codelist_finish(list, &err) != CELLAR_OK)
            fail_msg("%s", err.message);
        cellar_text_reset(&text);
        cellar_codelist_add_text(list, &text);
        if (cellar_codelist_parse("f", text.bytes, text.length, &back, &err) != CELLAR_OK)
            fail_msg("%s in\n%s", err.message, text.bytes);
        assert_same(list, back);
        cellar_text_reset(&again);
        cellar_codelist_add_text(back, &again);
        assert_string_equal(text.bytes, again.bytes);
        cellar_codelist_free(list);
        cellar_codelist_free(back);
    }
    cellar_text_clear(&label);
    cellar_text_clear(&code);
    cellar_text_clear(&parent);
    cellar_text_clear(&text);
    cellar_text_clear(&again);
}

static void test_files(void **state)
{
    scratch *place = *state;
    cellar_codelist *list, *back;
    cellar_output *output;
    cellar_error err;

    list = parse("code,\"parent:a,b\",label@nl,label,role\nx,s,,\"\",other\ns,,\"1\n2\",,\n");
    assert_int_equal(cellar_output_open(scratch_path(place, "list.csv"), NULL, &output, &err),
                     CELLAR_OK);
    cellar_codelist_write(list, output);
    assert_int_equal(cellar_output_commit(output, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_read(scratch_path(place, "list.csv"), &back, &err), CELLAR_OK);
    assert_same(list, back);
    cellar_codelist_free(back);
    cellar_codelist_free(list);
    assert_int_equal(cellar_codelist_read(scratch_path(place, "none.csv"), &list, &err),
                     CELLAR_ERR_IO);
    assert_null(list);
    scratch_write(place, "tree.hrc", "a\n@b\n");
    assert_int_equal(cellar_codelist_read_hrc(scratch_path(place, "tree.hrc"), "@", &list, &err),
                     CELLAR_OK);
    assert_int_equal(cellar_codelist_n_leaves(list), 1);
    cellar_codelist_free(list);
}

/* ---- memory ends ----------------------------------------------------------- */

static cellar_status read_scenario(void *context, cellar_error *err)
{
    static const char csv[] = "code,parent,parent:x,order,label,label@de,role\n"
                              "a,s,t,2,\"A \"\"1\"\"\",A,\nb,s,t,1,,,\ns,,,,,,\nt,,,,,,\n";
    static const char hrc[] = "a\n@b\n@@c\n";
    cellar_codelist *list;
    cellar_status status =
        context != NULL ? cellar_codelist_parse_hrc("f", hrc, sizeof hrc - 1, "@", &list, err)
                        : cellar_codelist_parse("f", csv, sizeof csv - 1, &list, err);
    cellar_codelist_free(list);
    return status;
}

static cellar_status build_scenario(void *context, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_codelist *list = NULL;
    cellar_text text = {0};
    (void) context;

    CELLAR_TRY(cellar_codelist_create(&list, err));
    CELLAR_TRY(cellar_codelist_add(list, "a", "A", "s", CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_add(list, "s", NULL, NULL, CELLAR_CODE_PLAIN, err));
    CELLAR_TRY(cellar_codelist_finish(list, err));
    cellar_codelist_add_text(list, &text);
    if (text.failed)
        status = cellar_fail_memory(err, "a text");
out:
    cellar_text_clear(&text);
    cellar_codelist_free(list);
    return status;
}

static cellar_status unknown_scenario(void *context, cellar_error *err)
{
    static const char csv[] = "code,label,role\nmissing,M,\nb,B,other\n";
    cellar_codelist *list = NULL, *with = NULL;
    cellar_status status = CELLAR_OK;
    (void) context;
    CELLAR_TRY(cellar_codelist_parse("f", csv, sizeof csv - 1, &list, err));
    CELLAR_TRY(cellar_codelist_with_unknown(list, &with, err));
    assert_int_equal(cellar_codelist_n_codes(with), 3);
    assert_string_equal(cellar_codelist_code(with, 2), "missing_2");
    assert_int_equal(cellar_codelist_role(with, 2), CELLAR_CODE_UNKNOWN);
    assert_int_equal(cellar_codelist_role(with, 1), CELLAR_CODE_OTHER);
    assert_string_equal(cellar_codelist_label(with, 1, 0), "B");
out:
    cellar_codelist_free(with);
    cellar_codelist_free(list);
    return status;
}

/* A list that has such a code stays as it is; where it would have to stand in a hierarchy is not
 * known. */
static void test_unknown_is_added(void **state)
{
    static const char has[] = "code,role\na,\nb,unknown\n", tree[] = "code,parent\na,s\ns,\n";
    cellar_codelist *list, *with;
    cellar_error err = {""};
    (void) state;
    assert_int_equal(unknown_scenario(NULL, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_parse("f", has, sizeof has - 1, &list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_with_unknown(list, &with, &err), CELLAR_OK);
    assert_ptr_equal(with, list);
    cellar_codelist_free(with);
    cellar_codelist_free(list);
    assert_int_equal(cellar_codelist_parse("f", tree, sizeof tree - 1, &list, &err), CELLAR_OK);
    assert_int_equal(cellar_codelist_with_unknown(list, &with, &err), CELLAR_ERR_ARGUMENT);
    assert_null(with);
    cellar_codelist_free(list);
}

static void test_memory_ends(void **state)
{
    int hrc = 1;
    (void) state;
    check_fail_every(read_scenario, NULL);
    check_fail_every(read_scenario, &hrc);
    check_fail_every(build_scenario, NULL);
    check_fail_every(unknown_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_at_once),
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_shared_aggregate),
        cmocka_unit_test(test_hrc),
        cmocka_unit_test(test_bad_hrc),
        cmocka_unit_test(test_hrc_marks),
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_retain),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_drafts),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test_setup_teardown(test_files, scratch_setup, scratch_teardown),
        cmocka_unit_test(test_unknown_is_added),
        cmocka_unit_test(test_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
