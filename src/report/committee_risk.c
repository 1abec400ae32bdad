/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The homogeneity attack against epsilon: the S-curves of "Disclosure risk from homogeneity attack
 * in differentially private frequency distribution", Figure 4, exact and as published, and the
 * surface over epsilon and delta of its first version, Figure 5. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/committee.h"

/* One way to look at the groups. */
typedef struct risk_look {
    cellar_risk_measure measure;
    cellar_risk_method method;
} risk_look;

/* Summaries along the grid; a point whose mechanism does not exist is NAN. */
typedef struct risk_curve {
    double *value, *precision;
} risk_curve;

static cellar_status risk_at(const cellar_committee *run, const cellar_mechanism *mechanism,
                             risk_look look, cellar_risk_summary *out, cellar_error *err)
{
    const cellar_risk_options options = {
        .measure = look.measure, .method = look.method, .n_threads = run->what->n_threads};
    return cellar_risk_assess(run->groups, &mechanism, 1, &options, out, err);
}

/* Fills a curve at every `stride`-th epsilon; the others are NAN. A mechanism without an epsilon is
 * a horizontal line. */
static cellar_status risk_along(const cellar_committee *run, size_t m, risk_look look,
                                size_t stride, risk_curve *out, cellar_error *err)
{
    const int varies = cellar_committee_parameter(run->planned[m], "epsilon") != NULL;
    cellar_risk_summary summary = {.mean.value = NAN};
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < run->n_epsilons && status == CELLAR_OK; i++) {
        cellar_mechanism *own = NULL;
        out->value[i] = out->precision[i] = NAN;
        if (i % stride != 0)
            continue;
        if (varies)
            status = cellar_committee_vary(run->planned[m], "epsilon", run->epsilons[i], &own, err);
        if (status == CELLAR_OK && (own != NULL || (!varies && i == 0)))
            status = risk_at(run, own != NULL ? own : run->planned[m], look, &summary, err);
        if (status == CELLAR_OK && (own != NULL || !varies)) {
            out->value[i] = summary.mean.value;
            out->precision[i] = summary.mean.precision;
        }
        cellar_mechanism_free(own);
    }
    return status;
}

/* ---- a chart of all mechanisms ----------------------------------------------------------- */

typedef struct risk_chart {
    const char *name, *title, *description, *y_label;
    cellar_risk_measure measure;
    int precision; /* 1: how often claims are right, else how often they are made and right */
    size_t stride;
} risk_chart;

/* Adds what is finite: gaps of a coarser grid are none. */
static cellar_status risk_add(cellar_committee *run, cellar_chart *chart, const char *label,
                              const double *y, cellar_error *err)
{
    double *points = cellar_alloc(2 * run->n_epsilons + 1, sizeof *points);
    double *values = points != NULL ? points + run->n_epsilons : NULL;
    size_t n = 0;
    cellar_status status;
    if (points == NULL)
        return cellar_fail_memory(err, "a curve");
    for (size_t i = 0; i < run->n_epsilons; i++)
        if (isfinite(y[i])) {
            points[n] = run->grid[i];
            values[n++] = y[i];
            run->top = fmax(run->top, y[i]);
        }
    status = n > 0 ? cellar_chart_add_curve(chart, label, points, values, n, err) : CELLAR_OK;
    cellar_free(points);
    return status;
}

/* The curve of a mechanism by a method, named with what is added to the label. A method that has no
 * such number is left out. */
static cellar_status risk_add_mechanism(cellar_committee *run, cellar_chart *chart,
                                        const risk_chart *what, size_t m, cellar_risk_method method,
                                        risk_curve *curve, cellar_error *err)
{
    const risk_look look = {what->measure, method};
    char *label;
    cellar_text name = {0};
    cellar_status status = risk_along(run, m, look, what->stride, curve, err);
    if (status != CELLAR_OK)
        return method != CELLAR_RISK_EXACT && cellar_page_is_answer(status) ? CELLAR_OK : status;
    label = cellar_committee_label(run, m);
    cellar_text_printf(&name, "%s%s", label != NULL ? label : "",
                       method == CELLAR_RISK_EXACT ? "" : ", as published");
    status = label == NULL || name.failed
                 ? cellar_fail_memory(err, "a chart")
                 : risk_add(run, chart, name.bytes,
                            what->precision ? curve->precision : curve->value, err);
    cellar_text_clear(&name);
    cellar_free(label);
    return status;
}

/* A horizontal line. */
static cellar_status risk_add_level(cellar_committee *run, cellar_chart *chart, const char *name,
                                    double level, cellar_error *err)
{
    run->top = fmax(run->top, level); /* NAN is none */
    const double x[] = {run->grid[0], run->grid[run->n_epsilons - 1]}, y[] = {level, level};
    return isfinite(level) && x[1] > x[0] ? cellar_chart_add_curve(chart, name, x, y, 2, err)
                                          : CELLAR_OK;
}

static cellar_status risk_draw(cellar_committee *run, const risk_chart *what, cellar_error *err)
{
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_risk_summary planned;
    double *numbers = cellar_alloc(2 * run->n_epsilons, sizeof *numbers);
    cellar_status status = CELLAR_OK;
    risk_curve curve = {numbers, numbers != NULL ? numbers + run->n_epsilons : NULL};
    if (numbers == NULL)
        return cellar_fail_memory(err, "a curve");
    run->top = 0;
    options.title = what->title;
    options.description = what->description;
    options.x = (cellar_chart_axis){"epsilon of a cell", 1, NAN, NAN};
    options.y = (cellar_chart_axis){what->y_label, 0, 0, what->precision ? 1 : NAN};
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    for (size_t m = 0; m < run->what->n_mechanisms; m++)
        CELLAR_TRY(risk_add_mechanism(run, chart, what, m, CELLAR_RISK_EXACT, &curve, err));
    for (size_t m = 0; m < run->what->n_mechanisms && !what->precision; m++)
        CELLAR_TRY(risk_add_mechanism(run, chart, what, m, CELLAR_RISK_PUBLISHED, &curve, err));
    CELLAR_TRY(risk_at(run, run->planned[0], (risk_look){CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT},
                       &planned, err));
    if (what->precision)
        CELLAR_TRY(
            risk_add_level(run, chart, "guessing without the release", planned.baseline, err));
    else if (what->measure == CELLAR_RISK_LOCAL)
        CELLAR_TRY(risk_add_level(run, chart, "before protection", planned.original, err));
    CELLAR_TRY(cellar_committee_mark(chart, cellar_committee_planned_epsilon(run), 0,
                                     what->precision ? 1 : run->top, err));
    CELLAR_TRY(cellar_page_chart(&run->page, what->name, chart, err));
out:
    cellar_chart_free(chart);
    cellar_free(numbers);
    return status;
}

/* ---- what is planned, as a table ----------------------------------------------------------- */

static cellar_status risk_planned(cellar_committee *run, cellar_error *err)
{
    static const char *const headings[] = {
        "mechanism",           "#risk", "#claims made", "#claims right", "#guessing",
        "#most exposed group", NULL};
    cellar_page *page = &run->page;
    cellar_status status = CELLAR_OK;
    cellar_page_table_begin(page,
                            "The attack on the groups as they are, mechanisms as planned "
                            "(means over groups)",
                            headings);
    for (size_t m = 0; m < run->what->n_mechanisms && status == CELLAR_OK; m++) {
        cellar_risk_summary s;
        status = risk_at(run, run->planned[m], (risk_look){CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT},
                         &s, err);
        if (status != CELLAR_OK)
            break;
        cellar_page_row_begin(page, "%s", cellar_mechanism_spec(run->planned[m]));
        cellar_page_share(page, s.mean.value);
        cellar_page_share(page, s.mean.claim);
        cellar_page_share(page, s.mean.precision);
        cellar_page_share(page, s.baseline);
        cellar_page_share(page, s.maximum);
        cellar_page_row_end(page);
    }
    cellar_page_table_end(page);
    return status;
}

cellar_status cellar_committee_summary(cellar_committee *run, cellar_error *err)
{
    cellar_risk_summary s;
    char text[3][24];
    const cellar_status status =
        risk_at(run, run->planned[0], (risk_look){CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT}, &s, err);
    if (status != CELLAR_OK)
        return status;
    cellar_page_remark(
        &run->page, "note",
        "In short: before protection, somebody who knows a person's group reads the "
        "sensitive value off %s of the groups. With %s the attack claims a value "
        "that somebody in the group has with a probability of %s on average, and of "
        "%s in the most exposed group.",
        cellar_page_percent(s.original, text[0]), cellar_mechanism_spec(run->planned[0]),
        cellar_page_percent(s.mean.value, text[1]), cellar_page_percent(s.maximum, text[2]));
    if (isfinite(s.mean.precision) && isfinite(s.baseline))
        cellar_page_paragraph(
            &run->page,
            "The attack makes a claim with a probability of %s. Of these claims %s are right. "
            "Guessing without the release is right for %s on average over all groups; claims fall "
            "on some groups only, so the two figures do not compare.",
            cellar_page_percent(s.mean.claim, text[0]),
            cellar_page_percent(s.mean.precision, text[1]),
            cellar_page_percent(s.baseline, text[2]));
    return CELLAR_OK;
}

/* ---- the section ---------------------------------------------------------------------------- */

/* Records times values, which the expected risk costs at each point: between these, a coarser grid
 * is looked at; above the second, none. Returns the stride, 0: none. */
static size_t risk_stride(const cellar_committee *run)
{
    const double work = (double) cellar_groups_n_records(run->groups) *
                        (double) cellar_groups_n_values(run->groups) *
                        (double) run->what->n_mechanisms;
    const double points = 4e7 / (work + 1);
    if (points >= (double) run->n_epsilons)
        return 1;
    return points >= 6 ? (size_t) ceil((double) (run->n_epsilons - 1) / (points - 1)) : 0;
}

cellar_status cellar_committee_risk(cellar_committee *run, cellar_error *err)
{
    cellar_page *page = &run->page;
    const risk_chart local = {
        "risk-local",
        "Risk of the groups as they are",
        "How likely the attack claims a value that somebody in the group has, mean over groups, "
        "against epsilon: "
        "exact, "
        "and by the published formula where there is one.",
        "risk (mean over groups)",
        CELLAR_RISK_LOCAL,
        0,
        1};
    const risk_chart expected = {
        "risk-expected",
        "Expected risk of groups like these",
        "The same when the members of each group are drawn anew with its shares: exact, and by the "
        "published formula where there is one.",
        "risk (mean over groups)",
        CELLAR_RISK_EXPECTED,
        0,
        risk_stride(run)};
    const risk_chart precision = {
        "risk-precision",
        "How often a claim of the attack is right",
        "Of the claims the attack makes, the share that is right for a random member of the group, "
        "beside guessing the most frequent value without the release.",
        "share of claims that are right",
        CELLAR_RISK_LOCAL,
        1,
        1};
    cellar_status status;
    cellar_page_paragraph(page, "The attack: somebody knows a person's values of the columns that "
                                "make the groups. Where exactly one sensitive value has a positive "
                                "released count, the attacker claims that value for the person.");
    status = risk_planned(run, err);
    if (status == CELLAR_OK)
        status = risk_draw(run, &local, err);
    if (status == CELLAR_OK)
        status = cellar_committee_step(run, "expected risk", 0.1, err);
    if (status == CELLAR_OK && expected.stride > 0)
        status = risk_draw(run, &expected, err);
    else
        cellar_page_remark(
            page, "small",
            "The expected risk is left out: with so many records and values its computation takes "
            "minutes. cellar risk table --measure expected computes it.");
    return status == CELLAR_OK ? risk_draw(run, &precision, err) : status;
}

/* ---- the surface ------------------------------------------------------------------------- */

enum { SURFACE_N_EPSILONS = 25, SURFACE_N_DELTAS = 13, SURFACE_N = 25 * 13 };

/* How much the risk varies along epsilon at the same delta, and along delta at the same epsilon:
 * the most of each. */
static void surface_ranges(const double *values, double *along_epsilon, double *along_delta)
{
    double low[2][SURFACE_N_EPSILONS], high[2][SURFACE_N_EPSILONS];
    *along_epsilon = *along_delta = 0;
    for (size_t i = 0; i < SURFACE_N_EPSILONS; i++)
        for (size_t k = 0; k < 2; k++) {
            low[k][i] = INFINITY;
            high[k][i] = -INFINITY;
        }
    for (size_t k = 0; k < SURFACE_N; k++) {
        const size_t i = k % SURFACE_N_EPSILONS, j = k / SURFACE_N_EPSILONS;
        if (isnan(values[k]))
            continue;
        low[0][i] = fmin(low[0][i], values[k]);
        high[0][i] = fmax(high[0][i], values[k]);
        low[1][j] = fmin(low[1][j], values[k]);
        high[1][j] = fmax(high[1][j], values[k]);
    }
    for (size_t i = 0; i < SURFACE_N_EPSILONS; i++) {
        *along_delta = fmax(*along_delta, high[0][i] - low[0][i]);
        *along_epsilon = fmax(*along_epsilon, high[1][i] - low[1][i]);
    }
}

static cellar_status surface_fill(const cellar_committee *run, double *x, double *y, double *values,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t k = 0; k < SURFACE_N && status == CELLAR_OK; k++) {
        const size_t i = k % SURFACE_N_EPSILONS, j = k / SURFACE_N_EPSILONS;
        char spec[128];
        cellar_mechanism *mechanism = NULL;
        cellar_risk_summary summary;
        x[i] = pow(10, -2 + 4 * (double) i / (SURFACE_N_EPSILONS - 1));
        y[j] = pow(10, -6 + 5 * (double) j / (SURFACE_N_DELTAS - 1));
        values[k] = NAN;
        snprintf(spec, sizeof spec, "gaussian:epsilon=%.4g,delta=%.4g,calibration=pdp", x[i], y[j]);
        status = cellar_mechanism_create(spec, &mechanism, err);
        if (status == CELLAR_OK)
            status = risk_at(run, mechanism, (risk_look){CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT},
                             &summary, err);
        if (status == CELLAR_OK)
            values[k] = summary.mean.value;
        else if (cellar_page_is_answer(status))
            status = CELLAR_OK;
        cellar_mechanism_free(mechanism);
    }
    return status;
}

cellar_status cellar_committee_surface(cellar_committee *run, cellar_error *err)
{
    double x[SURFACE_N_EPSILONS], y[SURFACE_N_DELTAS];
    double values[SURFACE_N], along_epsilon, along_delta;
    const double planned = cellar_committee_planned_epsilon(run);
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text description = {0};
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(surface_fill(run, x, y, values, err));
    surface_ranges(values, &along_epsilon, &along_delta);
    cellar_text_printf(&description,
                       "The risk of the groups as they are under Gaussian noise with probabilistic "
                       "(epsilon, delta)-differential privacy. At one delta it varies by up to "
                       "%.3g along epsilon; at one epsilon by up to %.3g along delta.",
                       along_epsilon, along_delta);
    if (isfinite(planned))
        cellar_text_printf(&description, " Planned is %s, with epsilon %.6g.",
                           cellar_mechanism_name(run->planned[0]), planned);
    if (description.failed)
        CELLAR_TRY(cellar_fail_memory(err, "a chart"));
    options.title = "Risk over epsilon and delta, Gaussian noise";
    options.description = description.bytes;
    options.x = (cellar_chart_axis){"epsilon of a cell", 1, NAN, NAN};
    options.y = (cellar_chart_axis){"delta", 1, NAN, NAN};
    options.height = 360;
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    CELLAR_TRY(cellar_chart_add_surface(chart, "risk", x, SURFACE_N_EPSILONS, y, SURFACE_N_DELTAS,
                                        values, err));
    CELLAR_TRY(cellar_page_chart(&run->page, "risk-surface", chart, err));
out:
    cellar_chart_free(chart);
    cellar_text_clear(&description);
    return status;
}
