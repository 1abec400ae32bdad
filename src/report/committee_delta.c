/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Delta against epsilon for every mechanism, and against alpha for synthetic counts ("Obtaining
 * (epsilon,delta)-differential privacy guarantees when using a Poisson mechanism to synthesize
 * contingency tables", Figures 1 and 2). */
#include <math.h>
#include <stdio.h>

#include "base/error.h"
#include "release/guarantee/certify.h"
#include "report/committee.h"

#define DELTA_LEAST 1e-18 /* that is drawn */

enum { DELTA_N_EPSILONS = 31, DELTA_N_ALPHAS = 25, DELTA_N_CURVES = 4 };

cellar_status cellar_committee_certify(const cellar_committee *run,
                                       const cellar_mechanism *mechanism,
                                       const char *const *epsilons, size_t n,
                                       cellar_certificate **out, cellar_error *err)
{
    cellar_protect_options protect = cellar_protect_options_default();
    cellar_release_facts facts;
    cellar_question question;
    protect.negatives = run->what->negatives;
    if (cellar_table_is_weighted(run->table)) {
        protect.max_weight = cellar_table_max_weight(run->table);
        if (protect.max_weight == 0)
            return cellar_fail(err, CELLAR_ERR_RULE,
                               "the weights of the table have no bound (tabulate --max-weight)");
    }
    facts = cellar_protection_facts(&protect, cellar_schema_cells_per_record(run->schema));
    facts.unit = NULL; /* "record" */
    cellar_question_init(&question, &facts);
    cellar_question_add_domains(&question, run->schema);
    question.options.epsilons = epsilons;
    question.options.n_epsilons = n;
    question.options.n_deltas = 1; /* the first */
    return cellar_certify(&(cellar_certify_part){mechanism, 1}, 1, &question.options, out, err);
}

/* ---- against epsilon --------------------------------------------------------------------- */

typedef struct delta_grid {
    char texts[DELTA_N_EPSILONS][16];
    const char *epsilons[DELTA_N_EPSILONS];
} delta_grid;

typedef struct delta_chart {
    delta_grid grid;
    cellar_chart *chart;
    size_t n_curves;
    double lowest; /* delta drawn */
} delta_chart;

static cellar_status delta_add_profile(delta_chart *chart, const char *name,
                                       cellar_status certified,
                                       const cellar_certificate *certificate, cellar_error *err)
{
    double x[DELTA_N_EPSILONS], y[DELTA_N_EPSILONS];
    size_t n = 0;
    if (certified != CELLAR_OK)
        return cellar_page_is_answer(certified) ? CELLAR_OK : certified;
    for (size_t i = 0; i < cellar_certificate_n_points(certificate) && i < DELTA_N_EPSILONS; i++) {
        const cellar_profile_point point = cellar_certificate_point(certificate, i);
        if (!(point.delta > DELTA_LEAST))
            continue; /* too small for the axis, where zero has no place */
        x[n] = point.epsilon;
        y[n++] = point.delta;
        chart->lowest = fmin(chart->lowest, point.delta);
    }
    chart->n_curves += n > 0;
    return n > 0 ? cellar_chart_add_curve(chart->chart, name, x, y, n, err) : CELLAR_OK;
}

cellar_status cellar_committee_profiles(cellar_page *page, const char *const *names, size_t n,
                                        double planned, cellar_committee_certifier *certify,
                                        void *context, cellar_error *err)
{
    delta_chart chart = {.lowest = 1};
    cellar_chart_options options = cellar_chart_options_default();
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < DELTA_N_EPSILONS; i++) {
        snprintf(chart.grid.texts[i], sizeof chart.grid.texts[i], "%.3g",
                 pow(10, -2 + (double) i / 10));
        chart.grid.epsilons[i] = chart.grid.texts[i];
    }
    options.title = "Delta against epsilon";
    options.description =
        "The proven delta of all cells that one unit contributes to, at each "
        "epsilon. Where a curve ends before an epsilon of 10, delta is at most 1e-18 "
        "from there on.";
    options.x = (cellar_chart_axis){"epsilon", 1, NAN, NAN};
    options.y = (cellar_chart_axis){"delta", 1, NAN, 1};
    CELLAR_TRY(cellar_page_chart_create(page, &options, &chart.chart, err));
    for (size_t m = 0; m < n; m++) {
        cellar_certificate *certificate = NULL;
        const cellar_status certified =
            certify(context, m, chart.grid.epsilons, DELTA_N_EPSILONS, &certificate, err);
        status = delta_add_profile(&chart, names[m], certified, certificate, err);
        cellar_certificate_free(certificate);
        if (status != CELLAR_OK)
            goto out;
    }
    CELLAR_TRY(cellar_committee_mark(chart.chart, planned, chart.lowest, 1, err));
    if (chart.n_curves > 0)
        CELLAR_TRY(cellar_page_chart(page, "delta-epsilon", chart.chart, err));
    else
        cellar_page_paragraph(page, "There is no curve: delta is at most 1e-18 at every epsilon of "
                                    "0.01 or more, or no bound is known.");
out:
    cellar_chart_free(chart.chart);
    return status;
}

static cellar_status delta_certify(void *context, size_t i, const char *const *epsilons, size_t n,
                                   cellar_certificate **out, cellar_error *err)
{
    const cellar_committee *run = context;
    return cellar_committee_certify(run, run->planned[i], epsilons, n, out, err);
}

static cellar_status delta_profiles(cellar_committee *run, cellar_error *err)
{
    static const char *const one[] = {"1"};
    const char *names[COMMITTEE_MAX_MECHANISMS];
    cellar_certificate *certificate = NULL;
    double planned = NAN;
    cellar_status status =
        cellar_committee_certify(run, run->planned[0], one, 1, &certificate, err);
    if (status == CELLAR_OK)
        planned = cellar_committee_joint_epsilon(certificate);
    cellar_certificate_free(certificate);
    if (status != CELLAR_OK && !cellar_page_is_answer(status))
        return status;
    for (size_t m = 0; m < run->what->n_mechanisms; m++)
        names[m] = cellar_mechanism_spec(run->planned[m]);
    return cellar_committee_profiles(&run->page, names, run->what->n_mechanisms, planned,
                                     delta_certify, run, err);
}

/* ---- against alpha ------------------------------------------------------------------------- */

typedef struct delta_alphas {
    double alpha[DELTA_N_ALPHAS];
    double delta[DELTA_N_CURVES][DELTA_N_ALPHAS];
} delta_alphas;

static const char *const delta_epsilons[DELTA_N_CURVES] = {"1.5", "2", "2.5", "3"};

static cellar_status delta_take_alphas(const cellar_committee *run,
                                       const cellar_mechanism *mechanism, delta_alphas *out,
                                       cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < DELTA_N_ALPHAS && status == CELLAR_OK; i++) {
        cellar_mechanism *own = NULL;
        cellar_certificate *certificate = NULL;
        char text[16];
        out->alpha[i] = pow(10, -2 + 3 * (double) i / (DELTA_N_ALPHAS - 1));
        snprintf(text, sizeof text, "%.3g", out->alpha[i]);
        status = cellar_committee_vary(mechanism, "alpha", text, &own, err);
        if (status == CELLAR_OK && own != NULL)
            status = cellar_committee_certify(run, own, delta_epsilons, DELTA_N_CURVES,
                                              &certificate, err);
        for (size_t c = 0; c < DELTA_N_CURVES; c++)
            out->delta[c][i] =
                certificate != NULL ? cellar_certificate_point(certificate, c).delta : NAN;
        if (cellar_page_is_answer(status))
            status = CELLAR_OK;
        cellar_certificate_free(certificate);
        cellar_mechanism_free(own);
    }
    return status;
}

static cellar_status delta_alpha(cellar_committee *run, size_t m, cellar_error *err)
{
    static const char *const names[DELTA_N_CURVES] = {"epsilon 1.5", "epsilon 2", "epsilon 2.5",
                                                      "epsilon 3"};
    delta_alphas points;
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_text title = {0};
    char name[32];
    cellar_status status = CELLAR_OK;
    cellar_text_printf(&title, "Delta against alpha, %s", cellar_mechanism_name(run->planned[m]));
    if (title.failed)
        return cellar_fail_memory(err, "a chart");
    snprintf(name, sizeof name, "delta-alpha-%zu", m + 1);
    options.title = title.bytes;
    options.description = "The proven delta for four values of epsilon when alpha, which is added "
                          "to every count before it is replaced, varies.";
    options.x = (cellar_chart_axis){"alpha", 1, NAN, NAN};
    options.y = (cellar_chart_axis){"delta", 1, NAN, NAN};
    CELLAR_TRY(delta_take_alphas(run, run->planned[m], &points, err));
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    for (size_t c = 0; c < DELTA_N_CURVES; c++)
        CELLAR_TRY(cellar_chart_add_curve(chart, names[c], points.alpha, points.delta[c],
                                          DELTA_N_ALPHAS, err));
    CELLAR_TRY(cellar_page_chart(&run->page, name, chart, err));
out:
    cellar_chart_free(chart);
    cellar_text_clear(&title);
    return status;
}

cellar_status cellar_committee_delta(cellar_committee *run, cellar_error *err)
{
    cellar_status status = delta_profiles(run, err);
    for (size_t m = 0; m < run->what->n_mechanisms && status == CELLAR_OK; m++)
        if (cellar_committee_parameter(run->planned[m], "alpha") != NULL)
            status = delta_alpha(run, m, err);
    return status;
}
