/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cellar/report.h>

#include "fail_every.h"
#include "page_check.h"
#include "report/report.h"
#include "scratch.h"
#include "small_table.h"
#include "table_samples.h"

/* ---- releases ---------------------------------------------------------------------- */

static cellar_release *release_of(const cellar_table *table, const char *spec,
                                  cellar_negatives negatives)
{
    cellar_protect_options options = cellar_protect_options_default();
    cellar_mechanism *mechanism = NULL;
    cellar_release *release = NULL;
    cellar_error err;
    options.accept = CELLAR_ACCEPT_NO_PROTECTION | CELLAR_ACCEPT_LARGE_EPSILON;
    options.negatives = negatives;
    options.per_cell = 1;
    options.domain_public = 1;
    options.date = "2026-07-01";
    options.n_threads = 1;
    assert_int_equal(cellar_mechanism_create(spec, &mechanism, NULL), CELLAR_OK);
    if (cellar_release_protect(table, mechanism, &options, &release, &err) != CELLAR_OK)
        fail_msg("%s: %s", spec, err.message);
    cellar_mechanism_free(mechanism);
    return release;
}

static cellar_table *small(void)
{
    const small_table of = {.n_variables = 2,
                            .sizes = {3, 2},
                            .domain = CELLAR_DOMAIN_DECLARED,
                            .n_cells = 5,
                            .index = {0, 1, 2, 3, 5},
                            .count = {31, 17, 44, 8, 23}};
    return small_table_create(&of);
}

/* The page that was written; free it. */
static char *page_read(scratch *place)
{
    FILE *file = fopen(scratch_path(place, "page.html"), "r");
    char *page = calloc(1, 4000000);
    assert_non_null(file);
    assert_non_null(page);
    const size_t length = fread(page, 1, 3999999, file);
    fclose(file);
    assert_int_equal(strlen(page), length);
    return page;
}

/* The page of releases; free it. */
static char *page_of(scratch *place, const cellar_release *const *releases, size_t n,
                     const cellar_report_options *options)
{
    cellar_error err;
    remove(scratch_path(place, "page.html"));
    if (cellar_report_public(releases, n, options, scratch_path(place, "page.html"), &err) !=
        CELLAR_OK)
        fail_msg("%s", err.message);
    return page_read(place);
}

static void check_page(const char *page)
{
    const char *problem = page_problem(page);
    if (problem != NULL)
        fail_msg("%s", problem);
}

/* ---- the page for the public ------------------------------------------------------------ */

static void every_mechanism_has_its_page(void **state)
{
    static const char *const specs[] = {"identity",
                                        "laplace:epsilon=1",
                                        "discrete-laplace:epsilon=0.1",
                                        "gaussian:sigma=2",
                                        "discrete-gaussian:epsilon=1,delta=1e-6",
                                        "poisson:alpha=1",
                                        "hellinger:epsilon=1",
                                        "truncated-laplace:epsilon=1,m=5",
                                        "round:base=5",
                                        "negbin:alpha=1,sigma=0.5",
                                        "max-entropy:variance=2,m=5"};
    cellar_table *table = small();
    for (size_t i = 0; i < 2 * (sizeof specs / sizeof *specs); i++) {
        cellar_release *release = release_of(table, specs[i / 2], (cellar_negatives) (1 + i % 2));
        const cellar_release *only = release;
        char *page = page_of(*state, &only, 1, NULL);
        check_page(page);
        assert_non_null(strstr(page, "The noise of every value"));
        assert_non_null(strstr(page, "cellar infer interval"));
        assert_non_null(strstr(page, "Unaccounted, not for publication"));
        assert_null(strstr(page, "CONFIDENTIAL"));
        assert_null(strstr(page, "nan"));
        assert_int_equal(scratch_mode(*state, "page.html"), 0644);
        free(page);
        cellar_release_free(release);
    }
    cellar_table_free(table);
}

/* Random tables with hostile labels, rules, hierarchies and margins; some have many rows. */
static void hostile_labels_stay_text(void **state)
{
    enum { N = CHECK_SHARE > 1 ? 8 : 40 };
    static const sample_options how = {.with_rules = 1};
    sample_random random = {.state = 20260701};
    for (int i = 0; i < N; i++) {
        cellar_table *table = sample_table(&random, &how);
        if (!cellar_table_is_weighted(table)) {
            cellar_release *release =
                release_of(table, "discrete-laplace:epsilon=1", CELLAR_NEGATIVES_KEEP);
            const cellar_release *both[] = {release, release};
            static const char *const names[] = {"<script>alert(1)</script>", "a\" onload=\"b' &"};
            cellar_report_options options = cellar_report_options_default();
            options.names = names;
            options.title = "</title><script src=\"http://x\">";
            options.max_rows = (uint64_t) i;
            char *page = page_of(*state, both, 1 + (size_t) i % 2, &options);
            check_page(page);
            free(page);
            cellar_release_free(release);
        }
        cellar_table_free(table);
    }
}

/* A certificate from a file may be anything. */
static void certificates_are_hostile(void **state)
{
    (void) state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "{\"verdict\": 3, \"profile\": 4, \"warnings\": [1, null, {}]}",
        "{\"verdict\": \"holds\", \"pure_epsilon\": -1e308, \"unit\": \"<b>\"}",
        "{\"verdict\": \"holds\", \"pure_epsilon\": 1e308, \"invariants\": [\"&\", 2]}",
        "{\"verdict\": \"holds\", \"composition\": {\"tight\": {\"epsilon\": 1e-300, "
        "\"delta\": 2}}, \"profile\": [1, {}, {\"epsilon\": \"x\"}]}",
        "{\"verdict\": \"fails\", \"reason\": \"<script>\", \"neighbours\": \"substitute\", "
        "\"min_count\": 1e300, \"records_per_unit\": 1e300}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *certificate = json_loads(texts[i], JSON_DECODE_ANY, NULL);
        cellar_page page = {.charts = NULL};
        cellar_page_begin(&page, "t");
        cellar_section_guarantee(&page, certificate, 1 + i % 3);
        cellar_section_certificate(&page, certificate, (int) i % 2);
        cellar_page_end(&page);
        assert_int_equal(page.out.failed, 0);
        check_page(page.out.bytes);
        cellar_page_clear(&page);
        json_decref(certificate);
    }
}

/* What protects is the bound of all releases together: a part never stands before it. */
static void the_joint_guarantee_comes_first(void **state)
{
    cellar_table *table = small();
    cellar_release *release =
        release_of(table, "discrete-laplace:epsilon=0.5", CELLAR_NEGATIVES_KEEP);
    const cellar_release *both[] = {release, release};
    for (size_t n = 1; n <= 2; n++) {
        char *page = page_of(*state, both, n, NULL);
        const char *joint = strstr(page, n == 1 ? "This release is differentially private with "
                                                  "epsilon = 0.5 and delta = 0: whether any one "
                                                  "record is in the data"
                                                : "Both releases together are differentially "
                                                  "private with epsilon = 1 and delta = 0: whether "
                                                  "any one record is in the data");
        const char *part = strstr(page, "part of the guarantee is epsilon = 0.5 and delta = 0");
        const char *numbers = strstr(page, "<caption>Released values by ");
        check_page(page);
        assert_non_null(joint);
        assert_non_null(numbers);
        assert_true(joint < strstr(page, "<nav") && numbers > joint);
        assert_true(numbers < strstr(page, "What the certificate says</h"));
        assert_int_equal(part != NULL, n == 2);
        assert_int_equal(strstr(page, "Proven: differential privacy") != NULL, n == 1);
        assert_null(strstr(page, "one one"));
        free(page);
    }
    cellar_release_free(release);
    cellar_table_free(table);
}

/* A test that does not keep its level is not the one that is recommended. */
static void the_bootstrap_is_recommended_where_chi_square_is_off(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=0.25",
                                        "discrete-laplace:epsilon=4"};
    cellar_table *table = small();
    for (size_t i = 0; i < 2; i++) {
        cellar_release *release = release_of(table, specs[i], CELLAR_NEGATIVES_KEEP);
        const cellar_release *only = release;
        char *page = page_of(*state, &only, 1, NULL);
        assert_int_equal(strstr(page, "&#39; --reference bootstrap") != NULL, i == 0);
        assert_int_equal(strstr(page, "Here the chi-square reference is not accurate") != NULL,
                         i == 0);
        free(page);
        cellar_release_free(release);
    }
    cellar_table_free(table);
}

/* The numbers behind the chart are the differences it shows, not the edges of its bars. */
static void the_noise_is_listed_by_difference(void **state)
{
    cellar_table *table = small();
    cellar_release *release =
        release_of(table, "discrete-laplace:epsilon=1", CELLAR_NEGATIVES_KEEP);
    const cellar_release *only = release;
    char *page = page_of(*state, &only, 1, NULL);
    const char *numbers = strstr(page, ">released value minus true count</th>");
    assert_non_null(numbers);
    numbers = strstr(numbers, "<th scope=\"row\">0</th><td>0.462117</td>"); /* tanh(1/2) */
    assert_non_null(numbers);
    assert_non_null(strstr(numbers, "<th scope=\"row\">1</th><td>0.170003</td>")); /* and / e */
    assert_null(strstr(page, "<th scope=\"row\">0.5</th>"));
    free(page);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* Every sentence about odds says that delta is not covered, and with which delta. */
static void odds_are_qualified_for_delta(void **state)
{
    (void) state;
    static const struct {
        const char *label, *certificate, *want[3], *not_want;
    } cases[] = {
        {"pure",
         "{\"verdict\": \"holds\", \"pure_epsilon\": 1}",
         {"ends between 26.8 % and 73.2 %.</p>", "factor of at most 7.38906.</p>"},
         "delta allows"},
        {"with delta",
         "{\"verdict\": \"holds\", \"composition\": {\"tight\": {\"epsilon\": 1, \"delta\": "
         "0.001}}}",
         {"ends between 26.8 % and 73.2 %: both except for what delta allows.</p>",
          "with twice the epsilon and a delta of 0.00371829: except for what this delta allows, "
          "these values change the odds by a factor of at most 7.38906.</p>"},
         "most 2.71829."},
        {"substitute",
         "{\"verdict\": \"holds\", \"neighbours\": \"substitute\", \"cells_per_unit\": 3, "
         "\"composition\": {\"parts\": 6, \"tight\": {\"epsilon\": 1, \"delta\": 0.001}}}",
         {"which of two categories one record has", "both except for what delta allows.</p>",
          "One record lies in at most 3 released cells"},
         "twice the epsilon"},
        {"large",
         "{\"verdict\": \"holds\", \"pure_epsilon\": 9}",
         {"ends between 0.0123 % and 99.9877 %.</p>"},
         " 0.0 %"},
        {"too large",
         "{\"verdict\": \"holds\", \"pure_epsilon\": 10.1}",
         {"the bound says next to nothing"},
         "ends between"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *certificate = json_loads(cases[i].certificate, 0, NULL);
        cellar_page page = {.charts = NULL};
        assert_non_null(certificate);
        cellar_section_certificate(&page, certificate, 0);
        for (size_t k = 0; k < 3 && cases[i].want[k] != NULL; k++)
            if (strstr(page.out.bytes, cases[i].want[k]) == NULL)
                fail_msg("%s: '%s' is not in %s", cases[i].label, cases[i].want[k], page.out.bytes);
        if (strstr(page.out.bytes, cases[i].not_want) != NULL)
            fail_msg("%s: '%s' is there", cases[i].label, cases[i].not_want);
        cellar_page_clear(&page);
        json_decref(certificate);
    }
}

/* What is neither 0 nor 1 does not become so by rounding. */
static void shares_are_not_rounded_away(void **state)
{
    (void) state;
    static const struct {
        double share;
        const char *cell, *percent;
    } cases[] = {{0, "0", "0 %"},
                 {1e-9, "below 0.0001", "less than 0.1 %"},
                 {0.0001, "0.0001", "less than 0.1 %"},
                 {0.0027, "0.0027", "0.3 %"},
                 {0.5, "0.5000", "50.0 %"},
                 {0.9996, "0.9996", "more than 99.9 %"},
                 {0.99999, "above 0.9999", "more than 99.9 %"},
                 {1, "1", "100 %"},
                 {NAN, "-", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cellar_page page = {.charts = NULL};
        char want[64], percent[24];
        snprintf(want, sizeof want, "<td class=\"n\">%s</td>", cases[i].cell);
        cellar_page_share(&page, cases[i].share);
        assert_string_equal(page.out.bytes, want);
        cellar_page_clear(&page);
        if (cases[i].percent != NULL)
            assert_string_equal(cellar_page_percent(cases[i].share, percent), cases[i].percent);
    }
}

static void bounds_are_rounded_up(void **state)
{
    (void) state;
    static const struct {
        double value;
        const char *want;
    } cases[] = {{1, "1"},        {0.5, "0.5"}, {0.1234564, "0.123457"}, {1.0000001, "1.00001"},
                 {1e-9, "1e-09"}, {0, "0"},     {123456.2, "123457"},    {0.3, "0.3"}};
    char text[32];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(cellar_bound_text(cases[i].value, text), cases[i].want);
        assert_true(strtod(text, NULL) >= cases[i].value);
    }
}

static void what_is_refused(void **state)
{
    cellar_table *table = small();
    cellar_release *release = release_of(table, "laplace:epsilon=1", CELLAR_NEGATIVES_KEEP);
    const cellar_release *only = release;
    cellar_report_options options = cellar_report_options_default();
    cellar_error err;
    const char *path;

    scratch_write(*state, "there.html", "mine");
    path = scratch_path(*state, "there.html");
    assert_int_equal(cellar_report_public(&only, 1, NULL, path, &err), CELLAR_ERR_EXISTS);
    scratch_expect(*state, "there.html", "mine");
    assert_int_equal(cellar_report_public(&only, 0, NULL, "-", &err), CELLAR_ERR_ARGUMENT);
    options.charts = "/nowhere/at/all";
    path = scratch_path(*state, "none.html");
    assert_int_equal(cellar_report_public(&only, 1, &options, path, &err), CELLAR_ERR_IO);
    assert_int_equal(access(path, F_OK), -1);
    cellar_release_free(release);
    cellar_table_free(table);
}

static void charts_become_files(void **state)
{
    cellar_table *table = small();
    cellar_release *release = release_of(table, "laplace:epsilon=1", CELLAR_NEGATIVES_KEEP);
    const cellar_release *only = release;
    cellar_report_options options = cellar_report_options_default();
    options.charts = ((scratch *) *state)->folder;
    options.replace = 1;
    for (int twice = 0; twice < 2; twice++)
        free(page_of(*state, &only, 1, &options));
    assert_int_equal(scratch_mode(*state, "noise-1-distribution.svg"), 0644);
    assert_int_equal(scratch_mode(*state, "noise-1-sums.png"), 0644);
    cellar_release_free(release);
    cellar_table_free(table);
}

/* ---- the page for the committee ---------------------------------------------------- */

static const size_t qid[] = {0}, sensitive[] = {1};

static cellar_committee_options committee_of(const char *const *specs, size_t n)
{
    static const char *const epsilons[] = {"0.1", "1", "10"};
    cellar_committee_options options = cellar_committee_options_default();
    options.qid = qid;
    options.n_qid = 1;
    options.sensitive = sensitive;
    options.n_sensitive = 1;
    options.mechanisms = specs;
    options.n_mechanisms = n;
    options.epsilons = epsilons;
    options.n_epsilons = 3;
    options.copies = 3;
    options.n_threads = 1;
    return options;
}

static void the_committee_has_its_page(void **state)
{
    static const char *const plans[][2] = {
        {"discrete-laplace:epsilon=1", "laplace:epsilon=0.5"},
        {"poisson:alpha=1", "identity"},
        {"gaussian:epsilon=0.5,delta=1e-6,calibration=classic", "truncated-laplace:epsilon=1,m=3"}};
    cellar_table *table = small();
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        cellar_committee_options committee = committee_of(plans[i], 2);
        cellar_release *release =
            i == 0 ? release_of(table, plans[i][0], CELLAR_NEGATIVES_KEEP) : NULL;
        cellar_error err;
        committee.release = release;
        committee.negatives = i == 2 ? CELLAR_NEGATIVES_ZERO : CELLAR_NEGATIVES_KEEP;
        remove(scratch_path(*state, "page.html"));
        if (cellar_report_committee(table, &committee, NULL, scratch_path(*state, "page.html"),
                                    &err) != CELLAR_OK)
            fail_msg("%s: %s", plans[i][0], err.message);
        char *page = page_read(*state);
        check_page(page);
        assert_non_null(strstr(page, "<title>CONFIDENTIAL: "));
        assert_non_null(strstr(page, "Checklist"));
        assert_null(strstr(page, "epsilon matters much"));
        assert_null(strstr(page, "one one"));
        assert_null(strstr(page, "was added")); /* nothing has been drawn */
        assert_null(strstr(page, "was replaced"));
        assert_int_equal(strstr(page, "planned: epsilon 1") != NULL, i == 0);
        assert_int_equal(strstr(page, "1 (planned)") != NULL, i == 0);
        assert_int_equal(strstr(page, "beside the table it was made from") != NULL, i == 0);
        assert_int_equal(strstr(page, "Delta against alpha") != NULL, i == 1);
        assert_int_equal(scratch_mode(*state, "page.html"), 0600);
        free(page);
        cellar_release_free(release);
    }
    cellar_table_free(table);
}

/* The page is a function of the table, the plan and the seed. */
static void the_same_again(void **state)
{
    static const char *const specs[] = {"discrete-laplace:epsilon=1"};
    cellar_committee_options committee = committee_of(specs, 1);
    cellar_report_options options = cellar_report_options_default();
    cellar_table *table = small();
    char *pages[2];
    options.replace = 1;
    for (int i = 0; i < 2; i++) {
        committee.n_threads = 1 + i;
        assert_int_equal(cellar_report_committee(table, &committee, &options,
                                                 scratch_path(*state, "page.html"), NULL),
                         CELLAR_OK);
        pages[i] = page_read(*state);
    }
    assert_string_equal(pages[0], pages[1]);
    free(pages[0]);
    free(pages[1]);
    cellar_table_free(table);
}

static int report_no(void *context, const char *stage, double fraction)
{
    (void) context;
    return strcmp(stage, "delta") == 0 && fraction > 0;
}

static void what_the_committee_is_refused(void **state)
{
    static const char *const good[] = {"identity"}, *const bad[] = {"nothing"},
                             *const joint[] = {"multinomial-dirichlet:alpha=1,total=9,cells=6"},
                             *const falling[] = {"2", "1"};
    cellar_committee_options c = committee_of(good, 1);
    cellar_report_options options = cellar_report_options_default();
    cellar_table *table = small();
    const char *path = scratch_path(*state, "page.html");
    const cellar_committee_options cases[] = {committee_of(bad, 1), committee_of(joint, 1),
                                              committee_of(good, 0), committee_of(good, 7)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(cellar_report_committee(table, &cases[i], NULL, path, NULL),
                         CELLAR_ERR_ARGUMENT);
    c.epsilons = falling;
    c.n_epsilons = 2;
    assert_int_equal(cellar_report_committee(table, &c, NULL, path, NULL), CELLAR_ERR_ARGUMENT);
    c = committee_of(good, 1);
    c.n_qid = 0;
    assert_int_equal(cellar_report_committee(table, &c, NULL, path, NULL), CELLAR_ERR_ARGUMENT);
    c = committee_of(good, 1);
    options.progress.report = report_no;
    assert_int_equal(cellar_report_committee(table, &c, &options, path, NULL),
                     CELLAR_ERR_CANCELLED);
    assert_int_equal(scratch_n_entries(*state), 0);
    cellar_table_free(table);
}

/* ---- memory --------------------------------------------------------------------------------- */

typedef struct memory_case {
    const cellar_release *release;
    char path[400];
} memory_case;

static cellar_status public_scenario(void *context, cellar_error *err)
{
    cellar_report_options options = cellar_report_options_default();
    const memory_case *work = context;
    options.title =
        "A title that is longer than the line that formatted text fits into: it goes on "
        "and on, and then it still goes on; and yet it is one title of one page, "
        "whatever a reader may think of it. A title that is longer than the line that "
        "formatted text fits into: it goes on and on, and then it still goes on; and "
        "yet it is one title of one page, whatever a reader may think of it. A title "
        "that is longer than the line that formatted text fits into, and so on.";
    options.replace = 1;
    return cellar_report_public(&work->release, 1, &options, work->path, err);
}

static void memory_may_end(void **state)
{
    cellar_table *table = small();
    cellar_release *release =
        release_of(table, "truncated-laplace:epsilon=2,m=2", CELLAR_NEGATIVES_KEEP);
    memory_case work = {.release = release};
    snprintf(work.path, sizeof work.path, "%s", scratch_path(*state, "page.html"));
    check_fail_every(public_scenario, &work);
    cellar_release_free(release);
    release = release_of(table, "round:base=3", CELLAR_NEGATIVES_ZERO); /* noise of another kind */
    work.release = release;
    check_fail_every(public_scenario, &work);
    cellar_release_free(release);
    cellar_table_free(table);
}

#ifdef CELLAR_FAIL_ALLOCATION
/* Every allocation is too many here: those that fail lie ever further apart. */
static void the_committees_memory_may_end(void **state)
{
    static const char *const specs[] = {"truncated-laplace:epsilon=2,m=2"};
    cellar_committee_options committee = committee_of(specs, 1);
    cellar_report_options options = cellar_report_options_default();
    cellar_table *table = small();
    char path[400];
    cellar_status status = CELLAR_ERR_MEMORY;
    snprintf(path, sizeof path, "%s", scratch_path(*state, "page.html"));
    options.replace = 1;
    committee.n_epsilons = 2;
    committee.copies = 2;
    for (uint64_t n = 0; status != CELLAR_OK; n += 1 + n / 8) {
        cellar_error err = {""};
        cellar_memory_fail_after((int64_t) n);
        status = cellar_report_committee(table, &committee, &options, path, &err);
        const uint64_t asked = cellar_memory_fail_after(-1);
        if (asked > n && status != CELLAR_ERR_MEMORY)
            fail_msg("allocation %llu failed, and the answer was %s: '%s'",
                     (unsigned long long) n + 1, cellar_status_name(status), err.message);
    }
    cellar_table_free(table);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_mechanism_has_its_page, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(hostile_labels_stay_text, scratch_setup, scratch_teardown),
        cmocka_unit_test(certificates_are_hostile),
        cmocka_unit_test_setup_teardown(the_joint_guarantee_comes_first, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_bootstrap_is_recommended_where_chi_square_is_off,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_noise_is_listed_by_difference, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(odds_are_qualified_for_delta),
        cmocka_unit_test(shares_are_not_rounded_away),
        cmocka_unit_test(bounds_are_rounded_up),
        cmocka_unit_test_setup_teardown(what_is_refused, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(charts_become_files, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_committee_has_its_page, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(the_same_again, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(what_the_committee_is_refused, scratch_setup,
                                        scratch_teardown),
#ifdef CELLAR_FAIL_ALLOCATION
        cmocka_unit_test_setup_teardown(the_committees_memory_may_end, scratch_setup,
                                        scratch_teardown),
#endif
        cmocka_unit_test_setup_teardown(memory_may_end, scratch_setup, scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
