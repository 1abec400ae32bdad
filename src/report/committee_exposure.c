/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Who stands out: the exposure curve with its bounds from single columns ("Statistical anonymity:
 * Quantifying reidentification risks without reidentifying users", Figure 2), and the groups that
 * the attack succeeds on most. */
#include <math.h>
#include <string.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "report/committee.h"

/* ---- the curve ------------------------------------------------------------------------------ */

typedef struct exposure_work {
    cellar_exposure_curve *joint, *columns[CELLAR_MAX_VARIABLES];
    cellar_exposure_bound_curve *bound;
    double *x, *y; /* room for the longest curve */
} exposure_work;

static cellar_status exposure_make(const cellar_committee *run, exposure_work *work,
                                   cellar_error *err)
{
    const cellar_committee_options *what = run->what;
    cellar_status status =
        cellar_exposure_curve_create(run->table, what->qid, what->n_qid, &work->joint, err);
    for (size_t j = 0; j < what->n_qid && status == CELLAR_OK; j++)
        status = cellar_exposure_curve_create(run->table, &what->qid[j], 1, &work->columns[j], err);
    if (status == CELLAR_OK)
        status =
            cellar_exposure_bound_curve_create((const cellar_exposure_curve *const *) work->columns,
                                               what->n_qid, NULL, 0.005, &work->bound, err);
    if (status != CELLAR_OK)
        return status;
    size_t n = cellar_exposure_n_steps(work->joint);
    if (n < cellar_exposure_bound_curve_n_steps(work->bound))
        n = cellar_exposure_bound_curve_n_steps(work->bound);
    work->x = cellar_alloc(n + 2, sizeof *work->x);
    work->y = cellar_alloc(n + 2, sizeof *work->y);
    return work->x != NULL && work->y != NULL ? CELLAR_OK : cellar_fail_memory(err, "a curve");
}

static void exposure_clear(exposure_work *work)
{
    cellar_exposure_bound_curve_free(work->bound);
    cellar_exposure_curve_free(work->joint);
    for (size_t j = 0; j < CELLAR_MAX_VARIABLES; j++)
        cellar_exposure_curve_free(work->columns[j]);
    cellar_free(work->x);
    cellar_free(work->y);
}

/* The share of people in groups of at most a share t, which is Q just above t: a step begins at
 * the share of a group. */
static cellar_status exposure_add_known(const exposure_work *work, cellar_chart *chart,
                                        cellar_error *err)
{
    const double total = (double) cellar_exposure_total(work->joint);
    const size_t n = cellar_exposure_n_steps(work->joint);
    for (size_t i = 0; i < n; i++) {
        const cellar_exposure_step step = cellar_exposure_step_at(work->joint, i);
        work->x[i] = (double) step.count / total;
        work->y[i] = (double) (step.below + step.count * step.n_cells) / total;
    }
    work->x[n] = 1;
    work->y[n] = n > 0 ? work->y[n - 1] : 0;
    return cellar_chart_add_steps(chart, "known exactly", work->x, work->y, n + 1, err);
}

static cellar_status exposure_add_bound(const exposure_work *work, int upper, cellar_chart *chart,
                                        cellar_error *err)
{
    const double total = (double) cellar_exposure_total(work->joint);
    size_t n = 0;
    for (size_t i = 0; i < cellar_exposure_bound_curve_n_steps(work->bound); i++) {
        const cellar_exposure_bound_step step = cellar_exposure_bound_curve_step(work->bound, i);
        if (step.last < 2)
            continue; /* no group is smaller than one person */
        work->x[n] = (double) (step.first > 1 ? step.first - 1 : 1) / total;
        work->y[n++] = upper ? step.value : step.lower;
    }
    work->x[n] = 1;
    work->y[n] = n > 0 ? work->y[n - 1] : 0;
    return cellar_chart_add_steps(
        chart, upper ? "upper bound from single columns" : "lower bound from single columns",
        work->x, work->y, n + 1, err);
}

static cellar_status exposure_draw(cellar_committee *run, const exposure_work *work,
                                   cellar_error *err)
{
    cellar_chart_options options = cellar_chart_options_default();
    cellar_chart *chart = NULL;
    cellar_status status = CELLAR_OK;
    options.title = "Exposure";
    options.description = "The share of people in groups with at most a share t of all people: "
                          "known exactly, and bounded from the columns one by one.";
    options.x = (cellar_chart_axis){"t, a group's share of all people", 1, NAN, 1};
    options.y = (cellar_chart_axis){"share of people in groups of at most t", 0, 0, 1};
    CELLAR_TRY(cellar_page_chart_create(&run->page, &options, &chart, err));
    CELLAR_TRY(exposure_add_known(work, chart, err));
    CELLAR_TRY(exposure_add_bound(work, 1, chart, err));
    CELLAR_TRY(exposure_add_bound(work, 0, chart, err));
    CELLAR_TRY(cellar_page_chart(&run->page, "exposure", chart, err));
out:
    cellar_chart_free(chart);
    return status;
}

static void exposure_table(cellar_committee *run, const cellar_exposure_curve *joint)
{
    static const char *const headings[] = {"#k", "#people in groups of fewer than k",
                                           "#share of all", NULL};
    static const uint64_t ks[] = {2, 3, 5, 10, 20, 50, 100};
    cellar_page_table_begin(&run->page, "How many share their values with how few", headings);
    for (size_t i = 0; i < sizeof ks / sizeof *ks; i++) {
        cellar_page_row_number(&run->page, "%llu", (unsigned long long) ks[i]);
        cellar_page_number(&run->page, "%llu",
                           (unsigned long long) cellar_exposure_below(joint, ks[i]));
        cellar_page_share(&run->page, cellar_exposure_value(joint, ks[i]));
        cellar_page_row_end(&run->page);
    }
    cellar_page_table_end(&run->page);
}

cellar_status cellar_committee_exposure(cellar_committee *run, cellar_error *err)
{
    exposure_work work = {.joint = NULL};
    cellar_status status = exposure_make(run, &work, err);
    if (status == CELLAR_OK && cellar_exposure_total(work.joint) > 0) {
        exposure_table(run, work.joint);
        status = exposure_draw(run, &work, err);
    } else if (cellar_page_is_answer(status)) {
        cellar_page_remark(&run->page, "small", "There is no curve: %s.",
                           err != NULL ? err->message : "it was refused");
        status = CELLAR_OK;
    }
    exposure_clear(&work);
    return status;
}

/* ---- the most exposed groups ---------------------------------------------------------------- */

typedef struct exposed_walk {
    cellar_committee *run;
    size_t n;
} exposed_walk;

static int exposed_row(void *context, const cellar_exposed_group *group)
{
    exposed_walk *walk = context;
    cellar_committee *run = walk->run;
    if (walk->n == run->what->n_groups)
        return 1;
    walk->n++;
    cellar_page_tag(&run->page, "<tr>");
    for (size_t j = 0; j < run->what->n_qid; j++)
        cellar_section_category(&run->page, run->schema, run->what->qid[j], group->categories[j]);
    cellar_page_number(&run->page, "%llu", (unsigned long long) group->size);
    cellar_page_number(&run->page, "%zu", group->n_present);
    cellar_page_share(&run->page, group->value);
    cellar_page_row_end(&run->page);
    return 0;
}

cellar_status cellar_committee_groups(cellar_committee *run, cellar_error *err)
{
    static const char *const headings[] = {"#people", "#values they have", "#risk", NULL};
    const char *names[CELLAR_MAX_VARIABLES];
    exposed_walk walk = {run, 0};
    cellar_status status;
    for (size_t j = 0; j < run->what->n_qid; j++)
        names[j] = cellar_schema_variable(run->schema, run->what->qid[j]);
    cellar_page_table_of(&run->page, "The most exposed groups under the mechanism planned", names,
                         run->what->n_qid, headings);
    status = cellar_risk_rank(run->groups, run->planned[0], 0, exposed_row, &walk, err);
    cellar_page_table_end(&run->page);
    return status == CELLAR_ERR_CANCELLED ? CELLAR_OK : status;
}
