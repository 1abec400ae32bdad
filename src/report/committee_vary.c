/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Mechanisms at other values of a parameter. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/committee.h"

enum { GRID_USUAL = 41 };

cellar_status cellar_committee_grid(cellar_committee *run, cellar_error *err)
{
    const int usual = run->what->epsilons == NULL;
    run->n_epsilons = usual ? GRID_USUAL : run->what->n_epsilons;
    run->epsilons = cellar_alloc(run->n_epsilons, sizeof *run->epsilons);
    run->grid = cellar_alloc(run->n_epsilons, sizeof *run->grid);
    if (run->epsilons == NULL || run->grid == NULL)
        return cellar_fail_memory(err, "a grid");
    for (size_t i = 0; i < run->n_epsilons; i++) {
        if (usual)
            snprintf(run->epsilons[i], sizeof *run->epsilons, "%.4g",
                     pow(10, -2 + (double) i / 10));
        else
            snprintf(run->epsilons[i], sizeof *run->epsilons, "%.47s", run->what->epsilons[i]);
        run->grid[i] = strtod(run->epsilons[i], NULL);
        if (!(run->grid[i] > 0) || !isfinite(run->grid[i]) ||
            (i > 0 && !(run->grid[i] > run->grid[i - 1])))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "the values of epsilon are positive and increase");
    }
    return CELLAR_OK;
}

const char *cellar_committee_parameter(const cellar_mechanism *mechanism, const char *name)
{
    for (size_t i = 0; i < cellar_mechanism_n_parameters(mechanism); i++)
        if (!cellar_mechanism_parameter_is_derived(mechanism, i) &&
            strcmp(cellar_mechanism_parameter_name(mechanism, i), name) == 0)
            return cellar_mechanism_parameter_text(mechanism, i);
    return NULL;
}

/* The spec with the parameter at another value, or without it (NULL). */
static void vary_spec(const cellar_mechanism *mechanism, const char *name, const char *value,
                      cellar_text *spec)
{
    char sign = ':';
    cellar_text_add_string(spec, cellar_mechanism_name(mechanism));
    for (size_t i = 0; i < cellar_mechanism_n_parameters(mechanism); i++) {
        const char *key = cellar_mechanism_parameter_name(mechanism, i);
        const char *text =
            strcmp(key, name) == 0 ? value : cellar_mechanism_parameter_text(mechanism, i);
        if (cellar_mechanism_parameter_is_derived(mechanism, i) || text == NULL)
            continue;
        cellar_text_printf(spec, "%c%s=%s", sign, key, text);
        sign = ',';
    }
}

char *cellar_committee_label(const cellar_committee *run, size_t m)
{
    cellar_text label = {0};
    vary_spec(run->planned[m], "epsilon", NULL, &label);
    if (label.failed)
        cellar_text_clear(&label);
    return label.bytes;
}

cellar_status cellar_committee_vary(const cellar_mechanism *mechanism, const char *name,
                                    const char *value, cellar_mechanism **out, cellar_error *err)
{
    cellar_text spec = {0};
    cellar_status status;
    *out = NULL;
    vary_spec(mechanism, name, value, &spec);
    status = spec.failed ? cellar_fail_memory(err, "a mechanism")
                         : cellar_mechanism_create(spec.bytes, out, err);
    cellar_text_clear(&spec);
    return cellar_page_is_answer(status) ? CELLAR_OK : status;
}

double cellar_committee_planned_epsilon(const cellar_committee *run)
{
    const char *text = cellar_committee_parameter(run->planned[0], "epsilon");
    return text != NULL ? strtod(text, NULL) : NAN;
}

double cellar_committee_joint_epsilon(const cellar_certificate *certificate)
{
    const double pure = cellar_certificate_pure_epsilon(certificate);
    if (cellar_certificate_verdict(certificate) != CELLAR_VERDICT_HOLDS)
        return NAN;
    return isfinite(pure) ? pure : cellar_certificate_composition(certificate).tight.epsilon;
}

cellar_status cellar_committee_mark(cellar_chart *chart, double epsilon, double low, double high,
                                    cellar_error *err)
{
    const double x[] = {epsilon, epsilon}, y[] = {low, high};
    char name[64];
    if (!isfinite(epsilon) || !(high > low))
        return CELLAR_OK;
    snprintf(name, sizeof name, "planned: epsilon %.6g", epsilon);
    return cellar_chart_add_curve(chart, name, x, y, 2, err);
}

cellar_status cellar_committee_step(const cellar_committee *run, const char *stage, double fraction,
                                    cellar_error *err)
{
    const cellar_progress *progress = &run->options->progress;
    if (progress->report != NULL && progress->report(progress->context, stage, fraction) != 0)
        return cellar_fail(err, CELLAR_ERR_CANCELLED, "the report was cancelled");
    return CELLAR_OK;
}
