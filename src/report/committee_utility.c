/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What analysts lose, as box plots: margins ("Disclosure risk from homogeneity attack in
 * differentially private frequency distribution", Figure 5), losses and Cramer's V
 * ("Confidentiality and differential privacy in the dissemination of frequency tables", Figures 1
 * to 3), and relative differences by count ("Obtaining (epsilon,delta)-differential privacy
 * guarantees when using a Poisson mechanism to synthesize contingency tables", Figure 3). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/utility.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/committee.h"

enum { UTILITY_N_FACTORS = 5, UTILITY_PLANNED = 2, UTILITY_MAX_COUNT = 10, UTILITY_N_CHARTS = 8 };

/* Of what each box is made. */
typedef struct utility_chart {
    const char *name, *measure, *title, *y_label, *description;
    size_t ways; /* of a spread over margins; 0: a result over copies */
} utility_chart;

static const utility_chart utility_charts[UTILITY_N_CHARTS] = {
    {"utility-1way", "total_variation", "Margins of one variable", "total variation distance",
     "How far margins of one variable, as shares, are from the true ones; the boxes are over all "
     "such margins of all simulated copies.",
     1},
    {"utility-2way", "total_variation", "Margins of two variables", "total variation distance",
     "How far margins of two variables, as shares, are from the true ones.", 2},
    {"utility-3way", "total_variation", "Margins of three variables", "total variation distance",
     "How far margins of three variables, as shares, are from the true ones.", 3},
    {"utility-l1", "l1", "Absolute loss", "sum of |released - true|",
     "The sum of absolute differences over all cells; boxes over simulated copies.", 0},
    {"utility-l2", "l2", "Squared loss", "sum of (released - true)\xc2\xb2",
     "The sum of squared differences over all cells; boxes over simulated copies.", 0},
    {"utility-l3", "l3", "Square root loss",
     "sum of (\xe2\x88\x9areleased - \xe2\x88\x9atrue)\xc2\xb2",
     "The sum over all cells of the squared differences of square roots, which weighs small cells "
     "more; boxes over simulated copies.",
     0},
    {"utility-v", "cramers_v", "Cramer's V of two variables", "Cramer's V",
     "The association of two variables as an analyst would see it who takes released values for "
     "true counts; boxes over simulated copies.",
     0},
    {"utility-p", "p_value_chi_square", "p-value of independence, noise ignored", "p-value",
     "The p-value of independence as an analyst would find it who takes released values for true "
     "counts; boxes over simulated copies. The tests of cellar infer take the noise into account.",
     0}};

/* All assessments: mechanisms by values of epsilon, and the mechanisms as planned. */
typedef struct utility_work {
    char names[UTILITY_N_FACTORS][32];  /* of the values of epsilon */
    char labels[UTILITY_N_FACTORS][48]; /* the same; the one planned says so */
    const char *categories[UTILITY_N_FACTORS];
    size_t n_epsilons; /* 1 when nothing varies */
    cellar_utility *at[COMMITTEE_MAX_MECHANISMS][UTILITY_N_FACTORS];
    cellar_utility *planned[COMMITTEE_MAX_MECHANISMS];
} utility_work;

/* ---- simulating ---------------------------------------------------------------------------- */

static cellar_status utility_assess(const cellar_committee *run, const char *spec,
                                    cellar_utility **out, cellar_error *err)
{
    cellar_utility_options options = cellar_utility_options_default();
    options.negatives = run->what->negatives;
    options.copies = run->what->copies;
    options.seed = run->what->seed;
    options.n_threads = run->what->n_threads;
    return cellar_utility_assess(run->table, spec, &options, out, err);
}

/* The epsilon planned and its halves and doubles. */
static void utility_values(const cellar_committee *run, utility_work *work)
{
    const char *epsilon = NULL;
    for (size_t m = 0; m < run->what->n_mechanisms && epsilon == NULL; m++)
        epsilon = cellar_committee_parameter(run->planned[m], "epsilon"); /* the first is planned */
    work->n_epsilons = epsilon != NULL ? UTILITY_N_FACTORS : 1;
    snprintf(work->names[0], sizeof work->names[0], "as planned");
    for (size_t i = 0; i < UTILITY_N_FACTORS; i++) {
        if (epsilon != NULL)
            snprintf(work->names[i], sizeof work->names[i], "%.4g",
                     strtod(epsilon, NULL) * pow(2, (double) i - UTILITY_PLANNED));
        snprintf(work->labels[i], sizeof work->labels[i], "%s%s", work->names[i],
                 epsilon != NULL && i == UTILITY_PLANNED ? " (planned)" : "");
        work->categories[i] = work->labels[i];
    }
}

static cellar_status utility_simulate_one(const cellar_committee *run, utility_work *work, size_t m,
                                          size_t i, cellar_error *err)
{
    cellar_mechanism *own = NULL;
    const int varies = cellar_committee_parameter(run->planned[m], "epsilon") != NULL;
    cellar_status status = CELLAR_OK;
    if (varies)
        status = cellar_committee_vary(run->planned[m], "epsilon", work->names[i], &own, err);
    if (status == CELLAR_OK && (own != NULL || (!varies && i == 0)))
        status = utility_assess(run, cellar_mechanism_spec(own != NULL ? own : run->planned[m]),
                                &work->at[m][i], err);
    cellar_mechanism_free(own);
    return cellar_page_is_answer(status) ? CELLAR_OK : status;
}

static cellar_status utility_simulate(const cellar_committee *run, utility_work *work,
                                      cellar_error *err)
{
    const size_t n = run->what->n_mechanisms;
    cellar_status status = CELLAR_OK;
    utility_values(run, work);
    for (size_t m = 0; m < n && status == CELLAR_OK; m++) {
        for (size_t i = 0; i < work->n_epsilons && status == CELLAR_OK; i++) {
            status = cellar_committee_step(run, "copies", 0.3 + 0.4 * (double) m / (double) n, err);
            if (status == CELLAR_OK)
                status = utility_simulate_one(run, work, m, i, err);
        }
        if (status == CELLAR_OK)
            status =
                utility_assess(run, cellar_mechanism_spec(run->planned[m]), &work->planned[m], err);
        if (cellar_page_is_answer(status))
            status = CELLAR_OK;
    }
    return status;
}

static void utility_clear(utility_work *work)
{
    for (size_t m = 0; m < COMMITTEE_MAX_MECHANISMS; m++) {
        cellar_utility_free(work->planned[m]);
        for (size_t i = 0; i < UTILITY_N_FACTORS; i++)
            cellar_utility_free(work->at[m][i]);
    }
}

/* The assessment at one epsilon; a mechanism without one is the same at all. */
static const cellar_utility *utility_at(const cellar_committee *run, const utility_work *work,
                                        size_t m, size_t i)
{
    const int varies = cellar_committee_parameter(run->planned[m], "epsilon") != NULL;
    return work->at[m][varies ? i : 0];
}

/* ---- boxes ----------------------------------------------------------------------------------- */

static const cellar_chart_box utility_no_box = {NAN, NAN, NAN, NAN, NAN};

/* The quantiles 0.05, 0.25, 0.5, 0.75, 0.95 of a spread. */
static cellar_chart_box utility_spread_box(const cellar_utility_spread *s)
{
    return (cellar_chart_box){s->quantiles[1], s->quantiles[2], s->quantiles[3], s->quantiles[4],
                              s->quantiles[5]};
}

static cellar_chart_box utility_box(const cellar_utility *u, const utility_chart *what)
{
    if (u == NULL)
        return utility_no_box;
    for (size_t i = 0; i < cellar_utility_n_spreads(u) && what->ways > 0; i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(u, i);
        if (s->ways == what->ways && strcmp(s->measure, what->measure) == 0)
            return utility_spread_box(s);
    }
    for (size_t i = 0; i < cellar_utility_n_results(u) && what->ways == 0; i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        if (strcmp(r->measure, what->measure) == 0 && isfinite(r->median))
            return (cellar_chart_box){r->minimum, r->quartile_1, r->median, r->quartile_3,
                                      r->maximum};
    }
    return utility_no_box;
}

/* The boxes of one mechanism; *any becomes 1 when there is one. */
static cellar_status utility_add(const cellar_committee *run, const utility_work *work,
                                 const utility_chart *what, size_t m, cellar_chart *chart, int *any,
                                 cellar_error *err)
{
    cellar_chart_box boxes[UTILITY_N_FACTORS];
    cellar_status status;
    char *label;
    int own = 0;
    for (size_t i = 0; i < work->n_epsilons; i++) {
        boxes[i] = utility_box(utility_at(run, work, m, i), what);
        own |= isfinite(boxes[i].median);
    }
    *any |= own;
    if (!own)
        return CELLAR_OK;
    label = cellar_committee_label(run, m);
    status = label != NULL ? cellar_chart_add_boxes(chart, label, boxes, work->n_epsilons, err)
                           : cellar_fail_memory(err, "a chart");
    cellar_free(label);
    return status;
}

/* What the true table says, for statistics. */
static void utility_truth(const utility_work *work, const utility_chart *what, cellar_text *text)
{
    const cellar_utility *u = work->planned[0];
    for (size_t i = 0; u != NULL && what->ways == 0 && i < cellar_utility_n_results(u); i++) {
        const cellar_utility_result *r = cellar_utility_result_at(u, i);
        if (strcmp(r->measure, what->measure) != 0 || !isfinite(r->median))
            continue;
        if (isfinite(r->original))
            cellar_text_printf(text, " Of the true table%s%s it is ",
                               r->variables != NULL ? " by " : "",
                               r->variables != NULL ? r->variables : "");
        if (isfinite(r->original) && r->original < 1e-4 && strcmp(what->name, "utility-p") == 0)
            cellar_text_add_string(text, "below 0.0001.");
        else if (isfinite(r->original))
            cellar_text_printf(text, "%.4g.", r->original);
        return;
    }
}

static cellar_status utility_draw(cellar_committee *run, const utility_work *work,
                                  const utility_chart *what, cellar_error *err)
{
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text description = {0};
    cellar_status status = CELLAR_OK;
    int any = 0;
    cellar_text_add_string(&description, what->description);
    utility_truth(work, what, &description);
    if (description.failed)
        return cellar_fail_memory(err, "a chart");
    options.title = what->title;
    options.description = description.bytes;
    options.x.label = "epsilon of a cell";
    options.y.label = what->y_label;
    if (strcmp(what->name, "utility-p") == 0) { /* a probability, even when all boxes lie at 0 */
        options.y.low = 0;
        options.y.high = 1;
    }
    options.height = 320;
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    CELLAR_TRY(cellar_chart_set_categories(chart, work->categories, work->n_epsilons, err));
    for (size_t m = 0; m < run->what->n_mechanisms; m++)
        CELLAR_TRY(utility_add(run, work, what, m, chart, &any, err));
    if (any)
        CELLAR_TRY(cellar_page_chart(&run->page, what->name, chart, err));
out:
    cellar_chart_free(chart);
    cellar_text_clear(&description);
    return status;
}

/* ---- by count ------------------------------------------------------------------------------ */

/* The exact law's box where there is one, else that of the copies. */
static cellar_chart_box utility_count_box(const cellar_utility *u, int64_t count)
{
    cellar_chart_box box = utility_no_box;
    for (size_t i = 0; u != NULL && i < cellar_utility_n_spreads(u); i++) {
        const cellar_utility_spread *s = cellar_utility_spread_at(u, i);
        if (s->count != count || strcmp(s->measure, "relative_difference") != 0)
            continue;
        if (isnan(box.median) || s->source == CELLAR_SPREAD_DISTRIBUTION)
            box = utility_spread_box(s);
    }
    box.low *= 100;
    box.quarter *= 100;
    box.median *= 100;
    box.three_quarters *= 100;
    box.high *= 100;
    return box;
}

static cellar_status utility_draw_counts(cellar_committee *run, const utility_work *work,
                                         cellar_error *err)
{
    static const char *const counts[UTILITY_MAX_COUNT] = {"1", "2", "3", "4", "5",
                                                          "6", "7", "8", "9", "10"};
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_status status = CELLAR_OK;
    options.title = "Small counts, mechanisms as planned";
    options.description = "The relative difference between the released value and the true count, "
                          "by true count. Boxes are quartiles, whiskers hold 90 %.";
    options.x.label = "true count";
    options.y.label = "difference in %";
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    CELLAR_TRY(cellar_chart_set_categories(chart, counts, UTILITY_MAX_COUNT, err));
    for (size_t m = 0; m < run->what->n_mechanisms; m++) {
        cellar_chart_box boxes[UTILITY_MAX_COUNT];
        for (size_t i = 0; i < UTILITY_MAX_COUNT; i++)
            boxes[i] = utility_count_box(work->planned[m], (int64_t) i + 1);
        CELLAR_TRY(cellar_chart_add_boxes(chart, cellar_mechanism_spec(run->planned[m]), boxes,
                                          UTILITY_MAX_COUNT, err));
    }
    CELLAR_TRY(cellar_page_chart(&run->page, "utility-counts", chart, err));
out:
    cellar_chart_free(chart);
    return status;
}

/* ---- the sections -------------------------------------------------------------------------- */

static cellar_status utility_write(cellar_committee *run, const utility_work *work,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_page_paragraph(&run->page,
                          "%llu seeded copies (seed %llu) were drawn with each mechanism and "
                          "compared with the table; copies are simulations and are never released.",
                          (unsigned long long) run->what->copies,
                          (unsigned long long) run->what->seed);
    for (size_t i = 0; i < UTILITY_N_CHARTS && status == CELLAR_OK; i++)
        status = utility_draw(run, work, &utility_charts[i], err);
    if (status == CELLAR_OK)
        status = utility_draw_counts(run, work, err);
    cellar_page_tag(&run->page, "<ul class=\"small\">\n");
    for (size_t i = 0; work->planned[0] != NULL && i < cellar_utility_n_notes(work->planned[0]);
         i++)
        cellar_page_item(&run->page, "%s", cellar_utility_note(work->planned[0], i));
    cellar_page_item(&run->page, "An epsilon on the axis is that of one cell. A mechanism without "
                                 "an epsilon has the same boxes at each epsilon.");
    cellar_page_tag(&run->page, "</ul>\n");
    return status;
}

cellar_status cellar_committee_utility(cellar_committee *run, cellar_error *err)
{
    utility_work work = {.n_epsilons = 0};
    cellar_status status = utility_simulate(run, &work, err);
    if (status == CELLAR_OK)
        status = utility_write(run, &work, err);
    utility_clear(&work);
    return status;
}

/* What a release did to the table it was made from. */
cellar_status cellar_committee_release(cellar_committee *run, cellar_error *err)
{
    static const char *const headings[] = {"measure", "#in this release", "#expected", NULL};
    static const char *const measures[] = {"l1",
                                           "l2",
                                           "l3",
                                           "hellinger",
                                           "total_difference",
                                           "zeros_turned_positive",
                                           "positives_turned_zero"};
    const cellar_utility_options options = cellar_utility_options_default();
    cellar_utility *u = NULL;
    cellar_status status =
        cellar_utility_compare(run->table, run->what->release, &options, &u, err);
    if (status != CELLAR_OK)
        return status;
    cellar_page_table_begin(&run->page, "The release beside the table it was made from", headings);
    for (size_t k = 0; k < sizeof measures / sizeof *measures; k++)
        for (size_t i = 0; i < cellar_utility_n_results(u); i++) {
            const cellar_utility_result *r = cellar_utility_result_at(u, i);
            if (strcmp(r->measure, measures[k]) != 0 || r->variables != NULL)
                continue;
            cellar_page_row_begin(&run->page, "%s", r->measure);
            cellar_page_number(&run->page, "%.6g", r->mean);
            if (isnan(r->expected))
                cellar_page_number(&run->page, "-");
            else
                cellar_page_number(&run->page, "%.6g", r->expected);
            cellar_page_row_end(&run->page);
            break;
        }
    cellar_page_table_end(&run->page);
    cellar_utility_free(u);
    return CELLAR_OK;
}
