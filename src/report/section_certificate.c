/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A certificate in words a reader can follow. It comes from a file, so every member may be missing
 * or of another kind. Nothing is called more than was proved. */
#include <math.h>
#include <string.h>

#include "report/report.h"

static const char *certificate_word(const json_t *certificate, const char *key,
                                    const char *otherwise)
{
    const char *word = json_string_value(json_object_get(certificate, key));
    return word != NULL ? word : otherwise;
}

/* NAN when there is no such number. */
static double certificate_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

/* What is protected, as a noun: files of older versions say "one record". */
static const char *certificate_unit(const json_t *certificate)
{
    const char *unit = certificate_word(certificate, "unit", "record");
    return strncmp(unit, "one ", 4) == 0 ? unit + 4 : unit;
}

static int certificate_is(const json_t *certificate, const char *key, const char *word)
{
    return strcmp(certificate_word(certificate, key, ""), word) == 0;
}

/* Cells that one record lies in, of all mechanisms together. Files of older versions count those
 * of one mechanism; their parts are all, twice as many under substitution. */
static double certificate_cells(const json_t *c)
{
    const double sides = certificate_is(c, "neighbours", "substitute") ? 2 : 1;
    const double cells = certificate_number(c, "cells_per_unit");
    const double parts = certificate_number(json_object_get(c, "composition"), "parts") / sides;
    return !json_is_true(json_object_get(c, "parallel")) && parts > cells ? parts : cells;
}

/* ---- what is hidden ---------------------------------------------------------------- */

static void certificate_hidden(cellar_page *page, const json_t *c)
{
    const char *unit = certificate_unit(c);
    if (certificate_is(c, "neighbours", "substitute"))
        cellar_page_paragraph(page,
                              "What is hidden: which categories any one %s belongs to. That the %s "
                              "is in the data, and how many there are in all, is not hidden.",
                              unit, unit);
    else
        cellar_page_paragraph(page,
                              "What is hidden: whether any one %s is in the data at all, and so "
                              "which categories it belongs to.",
                              unit);
    const double records = certificate_number(c, "records_per_unit");
    if (records > 1)
        cellar_page_paragraph(
            page, "One %s may have up to %.0f records; all of these records are hidden together.",
            unit, records);
}

/* ---- how well ----------------------------------------------------------------------- */

/* Where even odds end, as percentages rounded outward with so many places that both say something.
 */
static void certificate_undecided(double epsilon, char low[32], char high[32])
{
    const double scale = epsilon < 4 ? 10 : epsilon < 8 ? 100 : 10000;
    const int places = epsilon < 4 ? 1 : epsilon < 8 ? 2 : 4;
    snprintf(low, 32, "%.*f", places, floor(100 * scale / (1 + exp(epsilon))) / scale);
    snprintf(high, 32, "%.*f", places, ceil(100 * scale / (1 + exp(-epsilon))) / scale);
}

/* To have one category and not another is to be taken out and put back elsewhere: of a pair
 * (epsilon, delta) this makes (2 epsilon, (1 + e^epsilon) delta). */
static void certificate_category(cellar_page *page, const char *unit, double epsilon, double delta)
{
    char ratio[32], more[32];
    if (delta > 0)
        cellar_page_paragraph(
            page,
            "Which of two categories one %s has that is known to be in the data is hidden with "
            "twice the epsilon and a delta of %s: except for what this delta allows, these values "
            "change the odds by a factor of at most %s.",
            unit, cellar_bound_text(fmin(1, (1 + exp(epsilon)) * delta), more),
            cellar_bound_text(exp(2 * epsilon), ratio));
    else
        cellar_page_paragraph(
            page,
            "Which of two categories one %s has that is known to be in the data is hidden with "
            "twice the epsilon: these values change the odds by a factor of at most %s.",
            unit, cellar_bound_text(exp(2 * epsilon), ratio));
}

/* Odds change by a factor of e^epsilon at most: even odds, as a probability. */
static void certificate_meaning(cellar_page *page, const json_t *c, double epsilon, double delta)
{
    const char *unit = certificate_unit(c);
    const int substitute = certificate_is(c, "neighbours", "substitute");
    char low[32], high[32], ratio[32];
    if (epsilon > 10) {
        cellar_page_paragraph(page,
                              "With so large an epsilon the bound says next to nothing: somebody "
                              "who was undecided about one %s may become practically certain.",
                              unit);
        return;
    }
    certificate_undecided(epsilon, low, high);
    cellar_page_paragraph(page,
                          "What that means: somebody wonders %s one %s %s. Whatever is known "
                          "besides, these values change the odds by a factor of at most %s, and "
                          "somebody who was undecided (50 %%) ends between %s %% and %s %%%s.",
                          substitute ? "which of two categories" : "whether", unit,
                          substitute ? "has" : "is in the data",
                          cellar_bound_text(exp(epsilon), ratio), low, high,
                          delta > 0 ? ": both except for what delta allows" : "");
    if (!substitute)
        certificate_category(page, unit, epsilon, delta);
}

static void certificate_delta_meaning(cellar_page *page, const json_t *c, double delta)
{
    const int substitute = certificate_is(c, "neighbours", "substitute");
    char text[32];
    if (delta > 0)
        cellar_page_paragraph(page,
                              "Delta is what this bound does not cover: an outcome that would have "
                              "probability p %s may have up to %s more than the factor times p %s.",
                              substitute ? "if the unit had other categories" : "without the unit",
                              cellar_bound_text(delta, text),
                              substitute ? "with those it has" : "with it");
}

/* The pair that a certificate proves, delta 0 where it can: 1, or 0 when there is none. */
static int certificate_pair(const json_t *c, double *epsilon, double *delta)
{
    const json_t *tight = json_object_get(json_object_get(c, "composition"), "tight");
    if (!certificate_is(c, "verdict", "holds"))
        return 0;
    *epsilon = certificate_number(c, "pure_epsilon");
    *delta = 0;
    if (isfinite(*epsilon))
        return 1;
    *epsilon = certificate_number(tight, "epsilon");
    *delta = certificate_number(tight, "delta");
    return isfinite(*epsilon) && isfinite(*delta);
}

/* "epsilon = 1 and delta = 0", rounded up unless the file has the exact epsilon. */
static void certificate_pair_text(const json_t *c, double epsilon, double delta, char out[96])
{
    const char *exact = json_string_value(json_object_get(c, "pure_epsilon_exact"));
    char text[2][32];
    snprintf(out, 96, "epsilon = %s and delta = %s",
             delta == 0 && exact != NULL && strlen(exact) < 12
                 ? exact
                 : cellar_bound_text(epsilon, text[0]),
             delta == 0 ? "0" : cellar_bound_text(delta, text[1]));
}

/* Why there is no guarantee; 1 when that was said. */
static int certificate_refused(cellar_page *page, const json_t *c, size_t n_releases)
{
    const char *reason = certificate_word(c, "reason", "nothing could be proved");
    const int fails = certificate_is(c, "verdict", "fails");
    if (certificate_is(c, "verdict", "holds"))
        return 0;
    if (n_releases == 1)
        cellar_page_remark(page, "warn",
                           fails ? "There is no guarantee: %s." : "No guarantee is known: %s.",
                           reason);
    else
        cellar_page_remark(page, "warn",
                           fails ? "All %zu releases together have no guarantee: %s."
                                 : "No guarantee of all %zu releases together is known: %s.",
                           n_releases, reason);
    return 1;
}

static void certificate_strength(cellar_page *page, const json_t *c, int is_part)
{
    double epsilon, delta;
    char pair[96];
    if (certificate_refused(page, c, 1))
        return;
    if (!certificate_pair(c, &epsilon, &delta)) {
        cellar_page_remark(
            page, "note",
            "Proven: the pairs of epsilon and delta in the table below. No epsilon has delta = 0.");
        return;
    }
    certificate_pair_text(c, epsilon, delta, pair);
    if (is_part) {
        cellar_page_paragraph(
            page,
            "This table's part of the guarantee is %s. For somebody who reads the other tables "
            "too, the bound at the top of this page applies: that bound is the protection.",
            pair);
        return;
    }
    cellar_page_remark(page, "note", "Proven: differential privacy with %s.%s", pair,
                       delta > 0 ? " No epsilon has delta = 0." : "");
    certificate_meaning(page, c, epsilon, delta);
    certificate_delta_meaning(page, c, delta);
}

void cellar_section_guarantee(cellar_page *page, const json_t *c, size_t n_releases)
{
    const char *unit = certificate_unit(c), *condition = certificate_word(c, "condition", NULL);
    const double records = certificate_number(c, "records_per_unit");
    const int substitute = certificate_is(c, "neighbours", "substitute");
    double epsilon, delta;
    char pair[96], who[64];
    if (n_releases == 1)
        snprintf(who, sizeof who, "This release is");
    else if (n_releases == 2)
        snprintf(who, sizeof who, "Both releases together are");
    else
        snprintf(who, sizeof who, "All %zu releases together are", n_releases);
    if (certificate_refused(page, c, n_releases))
        return;
    if (!certificate_pair(c, &epsilon, &delta)) {
        cellar_page_remark(page, "note",
                           "%s differentially private with the pairs of epsilon and delta that "
                           "the certificate lists, and with no epsilon at delta = 0.",
                           who);
        return;
    }
    certificate_pair_text(c, epsilon, delta, pair);
    cellar_page_remark(page, "note",
                       "%s differentially private with %s: %s any one %s %s is hidden up to that "
                       "bound (%s neighbours).",
                       who, pair, substitute ? "which categories" : "whether", unit,
                       substitute ? "has" : "is in the data",
                       substitute ? "substitute" : "add-remove");
    if (records > 1)
        cellar_page_paragraph(page, "One %s has at most %.0f records here.", unit, records);
    if (condition != NULL)
        cellar_page_paragraph(page, "On condition of this: %s.", condition);
    if (strncmp(certificate_word(c, "parameter_choice", ""), "from the confidential", 21) == 0)
        cellar_page_remark(page, "warn",
                           "The parameters were chosen from the confidential data: no part of the "
                           "guarantee covers that choice.");
    if (n_releases > 1) {
        certificate_meaning(page, c, epsilon, delta);
        certificate_delta_meaning(page, c, delta);
    }
}

/* The bounds at single epsilons. */
static void certificate_profile(cellar_page *page, const json_t *c)
{
    static const char *const headings[] = {"#epsilon", "#delta", "#probabilistic delta", NULL};
    const json_t *profile = json_object_get(c, "profile"), *point;
    size_t i;
    char text[32];
    if (json_array_size(profile) == 0)
        return;
    cellar_page_table_begin(page, "Proven delta at each epsilon", headings);
    json_array_foreach(profile, i, point)
    {
        const double delta = certificate_number(point, "delta");
        const double probabilistic = certificate_number(point, "delta_probabilistic");
        cellar_page_row_number(page, "%.6g", certificate_number(point, "epsilon"));
        cellar_page_number(page, "%s", cellar_bound_text(delta, text));
        if (isnan(probabilistic))
            cellar_page_number(page, "-");
        else
            cellar_page_number(page, "%s%s",
                               json_is_true(json_object_get(point, "delta_probabilistic_is_bound"))
                                   ? "at most "
                                   : "",
                               cellar_bound_text(probabilistic, text));
        cellar_page_row_end(page);
    }
    cellar_page_table_end(page);
}

/* ---- on which assumptions ------------------------------------------------------------- */

static void certificate_domain(cellar_page *page, const json_t *c)
{
    if (certificate_is(c, "domain", "declared"))
        cellar_page_item(page, "The categories were declared in advance, not read off the data.");
    else if (certificate_is(c, "domain", "drafted"))
        cellar_page_item(page, "Categories were drafted from the data and then reviewed; the "
                               "reviewer is named below.");
    else if (strncmp(certificate_word(c, "domain", ""), "asserted", 8) == 0)
        cellar_page_item(page, "The categories were read off the data; the custodian asserts that "
                               "they were public before.");
    else
        cellar_page_item(page,
                         "The categories were read off the data (%s): a category may exist because "
                         "of a single person.",
                         certificate_word(c, "domain", "not stated"));
}

static void certificate_assumptions(cellar_page *page, const json_t *c)
{
    const json_t *texts = json_object_get(c, "invariants"), *text;
    const char *unit = certificate_unit(c);
    size_t i;
    cellar_page_tag(page, "<ul>\n");
    certificate_domain(page, c);
    cellar_page_item(page,
                     "One record lies in at most %.0f released cell%s, and one %s has at most %.0f "
                     "record%s of weight at most %.0f.",
                     certificate_cells(c), certificate_cells(c) == 1 ? "" : "s", unit,
                     certificate_number(c, "records_per_unit"),
                     certificate_number(c, "records_per_unit") == 1 ? "" : "s",
                     certificate_number(c, "max_weight"));
    json_array_foreach(texts, i, text)
        cellar_page_item(page, "Published exactly, and so not hidden: %s.",
                         json_is_string(text) ? json_string_value(text) : "-");
    if (certificate_number(c, "min_count") > 0)
        cellar_page_item(page,
                         "No true count is below %.0f; the guarantee takes this fact about the "
                         "data as publicly known.",
                         certificate_number(c, "min_count"));
    if (certificate_word(c, "condition", NULL) != NULL)
        cellar_page_item(page, "The guarantee holds on a condition: %s.",
                         certificate_word(c, "condition", ""));
    cellar_page_item(page, "How the parameters were chosen: %s.",
                     certificate_word(c, "parameter_choice", "not stated"));
    texts = json_object_get(c, "warnings");
    json_array_foreach(texts, i, text)
        cellar_page_item(page, "%s", json_is_string(text) ? json_string_value(text) : "-");
    cellar_page_tag(page, "</ul>\n");
}

void cellar_section_certificate(cellar_page *page, const json_t *certificate, int is_part)
{
    certificate_hidden(page, certificate);
    certificate_strength(page, certificate, is_part);
    certificate_profile(page, certificate);
    cellar_page_paragraph(page, "The guarantee depends on this:");
    certificate_assumptions(page, certificate);
}

void cellar_section_not_covered(cellar_page *page)
{
    cellar_page_tag(page, "<ul>\n");
    cellar_page_item(page,
                     "What is true of a group. If nine in ten members of a group share a value, "
                     "this share says something about each member, in the data or not.");
    cellar_page_item(page,
                     "Other publications about the same units. Every further publication adds to "
                     "what can be learnt; the bounds of several publications have to be added up.");
    cellar_page_item(page, "What somebody knows from elsewhere. The bound is on what these values "
                           "add to that knowledge.");
    cellar_page_item(page, "A choice of parameters, tables or categories that was made after "
                           "looking at the confidential data.");
    cellar_page_item(page, "Errors of the data themselves: sampling, coverage, non-response, "
                           "wrong answers. The noise described here comes on top.");
    cellar_page_tag(page, "</ul>\n");
}
