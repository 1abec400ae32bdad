/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the risk of a group against epsilon, for two mechanisms:
 *     api_chart CHART.svg */
#include <math.h>
#include <stdio.h>

#include <cellar/cellar.h>

enum { N_POINTS = 61 };

/* The chance that three people with one of two values are given away, from 0.01 to 100. */
static cellar_status add_curve(cellar_chart *chart, const char *name, cellar_error *err)
{
    const uint64_t counts[2] = {3, 0};
    cellar_risk_cell cell = cellar_risk_cell_default();
    double x[N_POINTS], y[N_POINTS];
    cellar_status status = CELLAR_OK;
    cell.n_values = 2;
    cell.counts = counts;
    for (int i = 0; i < N_POINTS && status == CELLAR_OK; i++) {
        char spec[64];
        cellar_mechanism *mechanism = NULL;
        cellar_risk risk = {0};
        x[i] = pow(10, -2 + i / 15.0);
        snprintf(spec, sizeof spec, "%s:epsilon=%.6f", name, x[i]);
        status = cellar_mechanism_create(spec, &mechanism, err);
        if (status == CELLAR_OK)
            status = cellar_risk_cell_assess(&cell, mechanism, CELLAR_RISK_LOCAL, CELLAR_RISK_EXACT,
                                             &risk, err);
        y[i] = risk.value;
        cellar_mechanism_free(mechanism);
    }
    return status == CELLAR_OK ? cellar_chart_add_curve(chart, name, x, y, N_POINTS, err) : status;
}

int main(int argc, char **argv)
{
    cellar_chart *chart = NULL;
    cellar_chart_options options = cellar_chart_options_default();
    cellar_output_options shared = {.shared = 1}; /* no data in it: everybody may read it */
    cellar_error err = {"usage: api_chart CHART.svg"};
    cellar_status status = argc == 2 ? CELLAR_OK : CELLAR_ERR_ARGUMENT;
    options.title = "Three people with the same value, of two";
    options.description = "The chance of the homogeneity attack grows with epsilon, from 1/4 to 1.";
    options.x = (cellar_chart_axis){.label = "epsilon", .log = 1, .low = NAN, .high = NAN};
    options.y = (cellar_chart_axis){.label = "risk", .low = 0, .high = 1};
    if (status == CELLAR_OK)
        status = cellar_chart_create(&options, &chart, &err);
    if (status == CELLAR_OK)
        status = add_curve(chart, "discrete-laplace", &err);
    if (status == CELLAR_OK)
        status = add_curve(chart, "laplace", &err);
    if (status == CELLAR_OK)
        status = cellar_chart_write_svg(chart, argv[1], &shared, &err);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s\n", err.message);
    cellar_chart_free(chart);
    return status != CELLAR_OK;
}
