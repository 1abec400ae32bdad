/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parameters that keep a risk below a target. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cellar/risk_fit.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "risk/homogeneity/groups.h"

#define ROUNDING 1e-13 /* a risk that exceeds the target by less reaches it */
enum { GRID = 193, SECTION = 8, ZOOMS = 14, MAX_WHOLE = 4096 };

typedef struct calibration_work {
    const cellar_groups *groups;
    const char *spec, *key;
    const cellar_risk_options *options;
    double target;
    int is_whole;
    cellar_calibration *out;
} calibration_work;

enum { VALUE_TEXT = 32 };

/* ---- risks at some values ------------------------------------------------ */

static cellar_status mechanism_at(const calibration_work *w, double x, cellar_mechanism **out,
                                  cellar_error *err)
{
    const size_t size = strlen(w->spec) + strlen(w->key) + VALUE_TEXT + 3;
    char value[VALUE_TEXT], *spec = cellar_alloc(size, 1);
    cellar_status status = CELLAR_OK;

    if (spec == NULL)
        return cellar_fail_memory(err, "a mechanism");
    snprintf(value, sizeof value, "%.15g", x);
    CELLAR_TRY(cellar_mechanism_spec_add(w->spec, w->key, value, spec, size, err));
    CELLAR_TRY(cellar_mechanism_create(spec, out, err));
out:
    cellar_free(spec);
    return status;
}

/* The mean risk at n values of the parameter; the least so far is remembered. */
static cellar_status risks_at(const calibration_work *w, const double *x, size_t n, double *risk,
                              cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_mechanism **mechanisms = cellar_alloc(n, sizeof(cellar_mechanism *));
    cellar_risk_summary *summaries = cellar_alloc(n, sizeof *summaries);

    if (mechanisms == NULL || summaries == NULL) {
        status = cellar_fail_memory(err, "a calibration");
        goto out;
    }
    for (size_t i = 0; i < n; i++)
        CELLAR_TRY(mechanism_at(w, x[i], &mechanisms[i], err));
    CELLAR_TRY(cellar_risk_assess(w->groups, (const cellar_mechanism *const *) mechanisms, n,
                                  w->options, summaries, err));
    for (size_t i = 0; i < n; i++) {
        risk[i] = summaries[i].mean.value;
        if (risk[i] < w->out->least) {
            w->out->least = risk[i];
            w->out->least_at = x[i];
        }
    }
out:
    for (size_t i = 0; i < n && mechanisms != NULL; i++)
        cellar_mechanism_free(mechanisms[i]);
    cellar_free(mechanisms);
    cellar_free(summaries);
    return status;
}

/* ---- narrowing ----------------------------------------------------------- */

static void points_between(double a, double b, double *x)
{
    for (int i = 0; i < SECTION; i++)
        x[i] = a * pow(b / a, (i + 1) / (double) (SECTION + 1));
}

/* A crossing between a and b, one of which meets the target: eight points at a time. Answers the
 * end that meets it. */
static cellar_status narrow(const calibration_work *w, double a, double b, int a_meets, double *out,
                            cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (int zoom = 0; zoom < ZOOMS && b / a - 1 > 1e-10; zoom++) {
        double x[SECTION], risk[SECTION];
        int i = 0;
        points_between(a, b, x);
        CELLAR_TRY(risks_at(w, x, SECTION, risk, err));
        while (i < SECTION && (risk[i] <= w->target) == a_meets)
            i++;
        if (i < SECTION)
            b = x[i];
        if (i > 0)
            a = x[i - 1];
    }
    *out = a_meets ? a : b;
out:
    return status;
}

/* Between a and b, both on one side of the target, the risk may still dip below it or rise above:
 * zooms in on the extreme. Answers 1 and where, when it crosses. */
static cellar_status hidden_extreme(const calibration_work *w, double a, double b, int meets,
                                    int *found, double *at, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    *found = 0;
    for (int zoom = 0; zoom < 6 && !*found; zoom++) {
        double x[SECTION], risk[SECTION];
        int best = 0;
        points_between(a, b, x);
        CELLAR_TRY(risks_at(w, x, SECTION, risk, err));
        for (int i = 1; i < SECTION; i++)
            if (meets ? risk[i] > risk[best] : risk[i] < risk[best])
                best = i;
        *found = (risk[best] <= w->target) != meets;
        *at = x[best];
        a = best > 0 ? x[best - 1] : a;
        b = best + 1 < SECTION ? x[best + 1] : b;
    }
out:
    return status;
}

/* ---- the search ---------------------------------------------------------- */

/* Points in order, and whether they meet the target; extremes found between are put in. */
typedef struct search {
    double x[3 * GRID], risk[3 * GRID];
    size_t n;
} search;

static cellar_status search_refine(const calibration_work *w, const search *grid, search *out,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < grid->n; i++) {
        double here = grid->risk[i], at;
        int meets = here <= w->target, found = 0;
        int is_extreme = i > 0 && i + 1 < grid->n &&
                         (meets ? here >= grid->risk[i - 1] && here >= grid->risk[i + 1]
                                : here <= grid->risk[i - 1] && here <= grid->risk[i + 1]);
        if (is_extreme && (grid->risk[i - 1] <= w->target) == meets &&
            (grid->risk[i + 1] <= w->target) == meets)
            CELLAR_TRY(hidden_extreme(w, grid->x[i - 1], grid->x[i + 1], meets, &found, &at, err));
        if (found && at < grid->x[i]) {
            out->x[out->n] = at;
            CELLAR_TRY(risks_at(w, &at, 1, &out->risk[out->n++], err));
        }
        out->x[out->n] = grid->x[i];
        out->risk[out->n++] = here;
        if (found && at > grid->x[i]) {
            out->x[out->n] = at;
            CELLAR_TRY(risks_at(w, &at, 1, &out->risk[out->n++], err));
        }
    }
out:
    return status;
}

static cellar_status calibration_too_many(cellar_error *err)
{
    return cellar_fail(err, CELLAR_ERR_UNSUPPORTED, "the risk crosses the target too often");
}

/* Runs of points that meet the target become ranges; their ends are narrowed. */
static cellar_status search_ranges(const calibration_work *w, const search *s, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (size_t i = 0; i < s->n; i++) {
        cellar_risk_range *range;
        if (s->risk[i] > w->target)
            continue;
        if (w->out->n_ranges == CELLAR_RISK_MAX_RANGES)
            return calibration_too_many(err);
        range = &w->out->ranges[w->out->n_ranges++];
        range->low = s->x[i];
        if (i > 0 && !w->is_whole)
            CELLAR_TRY(narrow(w, s->x[i - 1], s->x[i], 0, &range->low, err));
        while (i + 1 < s->n && s->risk[i + 1] <= w->target)
            i++;
        range->high = s->x[i];
        if (i + 1 < s->n && !w->is_whole)
            CELLAR_TRY(narrow(w, s->x[i], s->x[i + 1], 1, &range->high, err));
    }
out:
    return status;
}

static cellar_status search_whole(calibration_work *w, double low, double high, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n;
    double *x = NULL;
    int in_range = 0;

    if (!(low <= high) || high - low >= MAX_WHOLE)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: from 1 to %d whole numbers are tried",
                           w->key, MAX_WHOLE);
    n = (size_t) (high - low) + 1;
    x = cellar_alloc(2 * n, sizeof *x);
    if (x == NULL)
        return cellar_fail_memory(err, "a calibration");
    for (size_t i = 0; i < n; i++)
        x[i] = low + (double) i;
    CELLAR_TRY(risks_at(w, x, n, x + n, err));
    for (size_t i = 0; i < n; i++) {
        int meets = x[n + i] <= w->target;
        if (meets && !in_range) {
            if (w->out->n_ranges == CELLAR_RISK_MAX_RANGES) {
                status = calibration_too_many(err);
                goto out;
            }
            w->out->ranges[w->out->n_ranges++].low = x[i];
        }
        if (meets)
            w->out->ranges[w->out->n_ranges - 1].high = x[i];
        in_range = meets;
    }
out:
    cellar_free(x);
    return status;
}

cellar_status cellar_risk_calibrate(const cellar_groups *groups, const char *spec, const char *key,
                                    double low, double high, double target,
                                    const cellar_risk_options *options, cellar_calibration *out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    search *grid = NULL, *fine = NULL;
    calibration_work w = {groups, spec, key, options, target * (1 + ROUNDING), 0, out};

    *out = (cellar_calibration){.least = INFINITY, .least_at = NAN};
    if (!(low > 0) || !(high > low) || !isfinite(high))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "%s: the range must be positive and grow",
                           key);
    w.is_whole = strcmp(key, "m") == 0 || strcmp(key, "base") == 0;
    if (w.is_whole)
        return search_whole(&w, ceil(low), floor(high), err);
    grid = cellar_alloc(1, sizeof *grid);
    fine = cellar_alloc(1, sizeof *fine);
    if (grid == NULL || fine == NULL) {
        status = cellar_fail_memory(err, "a calibration");
        goto out;
    }
    grid->n = GRID;
    for (int i = 0; i < GRID; i++)
        grid->x[i] = i + 1 == GRID ? high : low * pow(high / low, i / (double) (GRID - 1));
    CELLAR_TRY(risks_at(&w, grid->x, GRID, grid->risk, err));
    CELLAR_TRY(search_refine(&w, grid, fine, err));
    CELLAR_TRY(search_ranges(&w, fine, err));
out:
    cellar_free(grid);
    cellar_free(fine);
    return status;
}
