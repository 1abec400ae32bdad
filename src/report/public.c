/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page for the public: made from releases alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "privacy/certificate.h"
#include "release/files/description.h"
#include "report/public.h"

cellar_report_options cellar_report_options_default(void)
{
    return (cellar_report_options){.max_rows = 200};
}

typedef struct public_run {
    const cellar_release *const *releases;
    size_t n;
    const cellar_report_options *options;
    cellar_page page;
} public_run;

/* What a release is called on the page. */
static const char *public_name(const public_run *run, size_t i, char number[32])
{
    if (run->options->names != NULL && run->options->names[i] != NULL)
        return run->options->names[i];
    if (run->n == 1)
        snprintf(number, 32, "the release");
    else
        snprintf(number, 32, "release %zu", i + 1);
    return number;
}

static const char *public_title(const public_run *run, size_t i, char number[32])
{
    if (run->options->titles != NULL && run->options->titles[i] != NULL)
        return run->options->titles[i];
    return public_name(run, i, number);
}

static int public_is_fitted(const cellar_release *release)
{
    const json_t *fitted = json_object_get(release->description, "fitted");
    if (fitted == NULL)
        fitted = json_object_get(release->description, "adjusted");
    return fitted != NULL && !json_is_false(fitted) && !json_is_null(fitted);
}

/* ---- what is released --------------------------------------------------------------- */

static void public_variables(cellar_page *page, const cellar_schema *schema)
{
    static const char *const domains[] = {[CELLAR_DOMAIN_OBSERVED] = "read off the data",
                                          [CELLAR_DOMAIN_DECLARED] = "declared in advance",
                                          [CELLAR_DOMAIN_ASSERTED] = "asserted to be public",
                                          [CELLAR_DOMAIN_DRAFTED] =
                                              "drafted from the data, reviewed by "};
    static const char *const headings[] = {"variable", "#categories", "source of the categories",
                                           NULL};
    cellar_page_table_begin(page, "The variables of the table", headings);
    for (size_t v = 0; v < cellar_schema_n_variables(schema); v++) {
        cellar_page_row_begin(page, "%s", cellar_schema_variable(schema, v));
        cellar_page_number(page, "%zu", cellar_schema_n_leaves(schema, v));
        const cellar_domain domain = cellar_schema_domain(schema, v);
        cellar_page_cell(page, "%s%s", domains[domain],
                         domain == CELLAR_DOMAIN_DRAFTED ? cellar_schema_reviewer(schema, v) : "");
        cellar_page_row_end(page);
    }
    cellar_page_table_end(page);
}

static void public_facts(cellar_page *page, const cellar_release *release, const char *file,
                         int is_part)
{
    const cellar_schema *schema = cellar_release_schema(release);
    size_t n_margins;
    (void) cellar_schema_margins(schema, &n_margins);
    cellar_page_tag(page, "<dl>\n");
    if (file != NULL)
        cellar_page_fact(page, "File", "%s", file);
    cellar_page_fact(page, "Released on", "%s", cellar_release_date(release));
    cellar_page_fact(page, "Mechanism, for each cell", "%s (revision %u)",
                     cellar_release_mechanism(release),
                     (unsigned) cellar_release_mechanism_revision(release));
    cellar_page_fact(page, "Values below zero", "%s",
                     cellar_release_negatives(release) == CELLAR_NEGATIVES_ZERO ? "set to zero"
                                                                                : "kept");
    if (cellar_release_threshold(release) > 0)
        cellar_page_fact(page, "Threshold",
                         cellar_release_below(release) == CELLAR_BELOW_SUPPRESS
                             ? "values below %lld are suppressed, zeros among them; the guarantee "
                               "is that of the values before this step"
                             : "values below %lld set to zero",
                         (long long) cellar_release_threshold(release));
    cellar_page_fact(page, "Noise drawn from", "%s",
                     cellar_release_noise(release) == CELLAR_NOISE_SECURE
                         ? "the system's entropy, never stored"
                         : cellar_noise_source_name(cellar_release_noise(release)));
    if (cellar_release_total_epsilon(release) != NULL)
        cellar_page_fact(page,
                         is_part ? "Epsilon of the cells of this table, a part of the whole"
                                 : "Epsilon of all cells together",
                         "%s", cellar_release_total_epsilon(release));
    if (cellar_release_is_weighted(release))
        cellar_page_fact(page, "What is counted", "weighted sums, weights of at most %llu",
                         (unsigned long long) cellar_release_max_weight(release));
    cellar_page_fact(page, "Margins, the inner cells included", "%zu", n_margins);
    cellar_page_fact(page, "Verdict of the certificate", "%s",
                     cellar_verdict_name(cellar_release_verdict(release)));
    cellar_page_fact(page, "Charged to the ledger", "%s", cellar_release_ledger(release));
    cellar_page_tag(page, "</dl>\n");
}

void cellar_public_level(cellar_page *page, cellar_protection_level level)
{
    if (cellar_protection_level_stamp(level) != NULL)
        cellar_page_remark(page, "warn", "%s", cellar_protection_level_stamp(level));
}

void cellar_public_unaccounted(cellar_page *page)
{
    cellar_page_remark(page, "warn",
                       "Unaccounted, not for publication: no ledger was charged for these "
                       "values, so nobody adds their privacy loss to that of other releases.");
}

static void public_stamp(cellar_page *page, const cellar_release *release)
{
    cellar_public_level(page, cellar_release_level(release));
    if (strcmp(cellar_release_ledger(release), CELLAR_RELEASE_UNACCOUNTED) == 0)
        cellar_public_unaccounted(page);
}

/* ---- one release ----------------------------------------------------------------------- */

static void public_heading(public_run *run, size_t i, const char *id, const char *text)
{
    char own[64];
    snprintf(own, sizeof own, "%s-%zu", id, i + 1);
    cellar_page_heading(&run->page, run->n > 1 ? 3 : 2, own, "%s", text);
}

static cellar_section_noise_of public_noise_of(const cellar_release *release, const char *id)
{
    return (cellar_section_noise_of){id, cellar_release_mechanism(release),
                                     cellar_release_negatives(release),
                                     cellar_release_threshold(release), 0};
}

/* A fitted number has no noise of its own, and a weighted sum no count: neither has an interval. */
static cellar_status public_numbers(public_run *run, size_t i, cellar_error *err)
{
    const cellar_release *release = run->releases[i];
    char id[64];
    snprintf(id, sizeof id, "values-%zu", i + 1);
    const cellar_section_noise_of noise = public_noise_of(release, id);
    const int has_intervals = strncmp(noise.mechanism, "identity", 8) != 0 &&
                              !public_is_fitted(release) && !cellar_release_is_weighted(release) &&
                              cellar_section_has_law(noise.mechanism);
    return cellar_section_table(&run->page, release, run->options->max_rows,
                                has_intervals ? &noise : NULL, err);
}

static cellar_status public_noise(public_run *run, size_t i, cellar_error *err)
{
    const cellar_release *release = run->releases[i];
    char id[64];
    snprintf(id, sizeof id, "noise-%zu", i + 1);
    const cellar_section_noise_of noise = public_noise_of(release, id);
    if (public_is_fitted(release)) {
        cellar_page_paragraph(&run->page,
                              "These values were fitted so that they add up: their errors depend "
                              "on each other, and this section describes the noise before the fit. "
                              "For tests and intervals use the release that was not fitted.");
    }
    return cellar_section_noise(&run->page, &noise, err);
}

static cellar_status public_release(public_run *run, size_t i, cellar_error *err)
{
    const cellar_release *release = run->releases[i];
    cellar_page *page = &run->page;
    char number[32];
    const char *name = public_name(run, i, number);
    cellar_status status;

    if (run->n > 1) {
        snprintf(number, sizeof number, "release-%zu", i + 1);
        cellar_page_heading(page, 2, number, "%s", public_title(run, i, (char[32]){0}));
    }
    public_stamp(page, release);
    public_heading(run, i, "numbers", "The values");
    status = public_numbers(run, i, err);
    if (status != CELLAR_OK)
        return status;
    public_heading(run, i, "released", "What is released");
    public_facts(page, release, run->options->names != NULL ? run->options->names[i] : NULL,
                 run->n > 1);
    public_variables(page, cellar_release_schema(release));
    public_heading(run, i, "certificate", "What the certificate says");
    cellar_section_certificate(page, json_object_get(release->description, "certificate"),
                               run->n > 1);
    if (!cellar_release_can_recertify(release))
        cellar_page_remark(page, "warn",
                           "Not computed again: the noise comes from a matrix in a file of its "
                           "own, which the release does not carry. This certificate is the "
                           "publisher's statement and was not checked.");
    public_heading(run, i, "noise", "The noise of every value");
    status = public_noise(run, i, err);
    if (status != CELLAR_OK)
        return status;
    public_heading(run, i, "tests", "How to test with these values");
    status =
        cellar_section_test(page, release, run->options->names != NULL ? name : "RELEASE.csv", err);
    return status;
}

/* ---- the page ---------------------------------------------------------------------------- */

static void public_contents(public_run *run)
{
    char number[32];
    cellar_page *page = &run->page;
    cellar_page_tag(page, "<nav aria-label=\"Contents\"><ul>\n");
    if (run->n == 1)
        cellar_page_tag(
            page,
            "<li><a href=\"#numbers-1\">The values</a></li>\n<li><a href=\"#released-1\">What is "
            "released</a></li>\n<li><a href=\"#certificate-1\">What the certificate "
            "says</a></li>\n<li><a href=\"#noise-1\">The noise of every value</a></li>\n<li><a "
            "href=\"#tests-1\">How to test with these values</a></li>\n");
    for (size_t i = 0; i < run->n && run->n > 1; i++) {
        cellar_text_printf(&page->out, "<li><a href=\"#release-%zu\">", i + 1);
        cellar_page_text(page, "%s", public_title(run, i, number));
        cellar_page_tag(page, "</a></li>\n");
    }
    cellar_page_tag(page, "<li><a href=\"#not-covered\">What is not covered</a></li>\n"
                          "</ul></nav>\n");
}

/* a + b, rounded up. */
static double public_add_up(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (a - (sum - part)) + (b - part) > 0 ? nextafter(sum, INFINITY) : sum;
}

/* Basic composition: releases about the same units cost at most the sum of their bounds. *out stays
 * NULL when that says nothing: a bound is missing, or the releases protect different units. */
static cellar_status public_sum(const public_run *run, json_t **out, cellar_error *err)
{
    static const char *const same[] = {"unit", "neighbours", "records_per_unit"};
    const json_t *first = json_object_get(run->releases[0]->description, "certificate");
    double sum = 0;
    for (size_t i = 0; i < run->n; i++) {
        const json_t *certificate = json_object_get(run->releases[i]->description, "certificate");
        const json_t *pure = json_object_get(certificate, "pure_epsilon");
        if (cellar_release_verdict(run->releases[i]) != CELLAR_VERDICT_HOLDS ||
            !json_is_number(pure))
            return CELLAR_OK;
        sum = public_add_up(sum, json_number_value(pure));
        for (size_t k = 0; k < sizeof same / sizeof *same; k++)
            if (!json_equal(json_object_get(certificate, same[k]), json_object_get(first, same[k])))
                return CELLAR_OK;
    }
    *out = json_pack("{s:s, s:f, s:O?, s:O?, s:O?}", "verdict", "holds", "pure_epsilon", sum,
                     "unit", json_object_get(first, "unit"), "neighbours",
                     json_object_get(first, "neighbours"), "records_per_unit",
                     json_object_get(first, "records_per_unit"));
    return *out != NULL ? CELLAR_OK : cellar_fail_memory(err, "a certificate");
}

/* What protects is the bound of everything together: it comes first. */
static cellar_status public_guarantee(public_run *run, cellar_error *err)
{
    const cellar_certificate *together = run->options->together;
    json_t *joint = NULL;
    cellar_status status = CELLAR_OK;
    if (run->n == 1 && together == NULL)
        joint = json_incref(json_object_get(run->releases[0]->description, "certificate"));
    else if (together != NULL)
        joint = cellar_certificate_json(together);
    else
        status = public_sum(run, &joint, err);
    if (joint == NULL && together != NULL)
        status = cellar_fail_memory(err, "a certificate");
    if (status != CELLAR_OK)
        return status;
    if (joint == NULL && run->n > 1)
        cellar_page_remark(
            &run->page, "warn",
            "No guarantee of all %zu releases together is stated here: not each of them has a "
            "bound with delta = 0 for the same unit. Each release has its own guarantee below; "
            "somebody who has all releases knows more than any one of them shows.",
            run->n);
    else
        cellar_section_guarantee(&run->page, joint, run->n);
    if (run->n > 1 && together == NULL && joint != NULL)
        cellar_page_paragraph(&run->page, "This is the sum of their bounds, for releases about the "
                                          "same units.");
    json_decref(joint);
    return CELLAR_OK;
}

/* 1 when each release is one with a proved guarantee. */
static int public_is_protected(const public_run *run)
{
    for (size_t i = 0; i < run->n; i++)
        if (cellar_release_level(run->releases[i]) != CELLAR_LEVEL_GUARANTEE)
            return 0;
    return 1;
}

void cellar_public_signer(cellar_page *page, const char *signer)
{
    if (signer != NULL)
        cellar_page_remark(page, "lead",
                           "Verified: the files that this page is about were as the owner of key "
                           "%s signed them when it was written.",
                           signer);
    else
        cellar_page_remark(page, "warn",
                           "Not verified: no signature was checked when this page was written. It "
                           "repeats what the files say; cellar verify-release checks with the "
                           "publisher's public key whether the files are the publisher's.");
}

static cellar_status public_write(public_run *run, cellar_error *err)
{
    cellar_page *page = &run->page;
    char number[32];
    cellar_text title = {0};
    cellar_status status = CELLAR_OK;
    if (run->options->title != NULL)
        cellar_text_add_string(&title, run->options->title);
    else if (run->n == 1 && run->options->titles != NULL && run->options->titles[0] != NULL)
        cellar_text_add_string(&title, run->options->titles[0]);
    else if (run->n == 1 && run->options->names != NULL)
        cellar_text_printf(&title, "About %s", public_name(run, 0, number));
    else
        cellar_text_add_string(&title, "About these values");
    page->out.failed |= title.failed;
    cellar_page_begin(page, title.failed ? "" : title.bytes);
    cellar_text_clear(&title);
    status = public_guarantee(run, err);
    cellar_page_remark(
        page, "lead",
        public_is_protected(run)
            ? "Random noise was put on these values before they were published, to protect the "
              "people who were counted. This page shows how and how much they were changed, what "
              "is proved about the protection, and how to draw conclusions from the values."
            : "This page shows how these values were treated before they were published, what is "
              "proved about the protection and what is not, and how to draw conclusions.");
    cellar_public_signer(page, run->options->signer);
    cellar_public_level(page, run->options->level);
    public_contents(run);
    for (size_t i = 0; i < run->n && status == CELLAR_OK; i++) {
        const cellar_progress *progress = &run->options->progress;
        if (progress->report != NULL &&
            progress->report(progress->context, "report", (double) i / (double) run->n) != 0)
            return cellar_fail(err, CELLAR_ERR_CANCELLED, "the report was cancelled");
        status = public_release(run, i, err);
    }
    cellar_page_heading(page, 2, "not-covered", "What is not covered");
    cellar_section_not_covered(page);
    cellar_page_end(page);
    return status;
}

cellar_status cellar_report_public(const cellar_release *const *releases, size_t n,
                                   const cellar_report_options *options, const char *path,
                                   cellar_error *err)
{
    const cellar_report_options plain = cellar_report_options_default();
    public_run run = {.releases = releases, .n = n, .options = options != NULL ? options : &plain};
    const cellar_output_options how = {.replace = run.options->replace, .shared = 1};
    cellar_output *output = NULL;
    cellar_status status;
    if (n == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a page is about one release at least");
    for (size_t i = 0; i < n; i++)
        if (cellar_release_noise(releases[i]) == CELLAR_NOISE_SEEDED)
            return cellar_fail(err, CELLAR_ERR_RULE, "a simulation is not published");
    run.page.charts = run.options->charts;
    run.page.replace = run.options->replace;
    status = cellar_output_open(path, &how, &output, err);
    if (status == CELLAR_OK)
        status = public_write(&run, err);
    status = cellar_page_finish(&run.page, output, status, err);
    return status;
}
