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

/* The planned spec without epsilon, for legends. NULL when memory ends. */
char *cellar_committee_label(const cellar_committee *run, size_t m)
{
    const char *spec = cellar_mechanism_spec(run->planned[m]);
    const size_t size = strlen(spec) + 1;
    char *label = cellar_alloc(size, 1);
    if (label != NULL &&
        cellar_mechanism_spec_remove(spec, "epsilon", label, size, NULL) != CELLAR_OK) {
        cellar_free(label);
        label = NULL;
    }
    return label;
}

cellar_status cellar_committee_vary(const cellar_mechanism *mechanism, const char *name,
                                    const char *value, cellar_mechanism **out, cellar_error *err)
{
    const char *planned = cellar_mechanism_spec(mechanism);
    const size_t size = strlen(planned) + strlen(name) + strlen(value) + 3;
    char *others = cellar_alloc(size, 1), *spec = cellar_alloc(size, 1);
    cellar_status status = CELLAR_OK;

    *out = NULL;
    if (others == NULL || spec == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a mechanism"));
    CELLAR_TRY(cellar_mechanism_spec_remove(planned, name, others, size, err));
    CELLAR_TRY(cellar_mechanism_spec_add(others, name, value, spec, size, err));
    CELLAR_TRY(cellar_mechanism_create(spec, out, err));
out:
    cellar_free(others);
    cellar_free(spec);
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
