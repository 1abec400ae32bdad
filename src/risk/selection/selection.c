/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/selection.h>

#include <math.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/selection/column_groups.h"
#include "risk/exposure/exposure_curve.h"
#include "risk/selection/profiles.h"
#include "risk/selection/selection_search.h"

enum { DEFAULT_EVALUATIONS = 1000000, MAX_COLUMNS = 64 };

struct cellar_selection {
    selection_result result;
    double *with; /* by column */
    size_t n_columns;
};

/* Where the exposure of a set comes from. */
typedef struct column_source {
    const cellar_profiles *profiles; /* NULL: nothing is known but the curves */
    size_t n_columns;
    uint64_t n_people;
    const cellar_selection_options *options;
    column_groups *groups;                            /* of known and estimated */
    const cellar_exposure_curve *curves[MAX_COLUMNS]; /* of bounded and independent */
    cellar_exposure_curve *own_curves[MAX_COLUMNS];   /* those of them to free */
} column_source;

/* ---- exposure --------------------------------------------------------------- */

static int uses_curves(cellar_selection_measure measure)
{
    return measure == CELLAR_SELECTION_BOUNDED || measure == CELLAR_SELECTION_INDEPENDENT;
}

/* Adding a column never lowers it: leaving a column out of a solution of Theorem 2 or 3 leaves a
 * cheaper solution. */
static cellar_status source_bound(void *context, uint64_t set, double *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const column_source *source = context;
    const cellar_exposure_curve *curves[MAX_COLUMNS];
    cellar_exposure_bound bounds[2];
    double t = (double) source->options->k / (double) source->n_people;
    size_t n = 0;

    for (uint64_t rest = set; rest != 0; rest &= rest - 1)
        curves[n++] = source->curves[__builtin_ctzll(rest)];
    *value = t > 1;
    if (n == 0 || t > 1)
        return CELLAR_OK;
    if (source->options->measure == CELLAR_SELECTION_INDEPENDENT) {
        const cellar_exposure_model model = {source->n_people, source->options->k,
                                             source->options->tolerance};
        CELLAR_TRY(cellar_exposure_independent(curves, n, &model, value, err));
        CELLAR_TRY(cellar_exposure_within(curves, n, t, value, err));
    } else {
        CELLAR_TRY(cellar_exposure_bounds(curves, n, t, NULL, bounds, err));
        *value = bounds[0].value;
    }
out:
    return status;
}

static cellar_status source_open(column_source *source, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (!uses_curves(source->options->measure))
        return cellar_column_groups_create(source->profiles, source->options, &source->groups, err);
    for (size_t c = 0; source->profiles != NULL && c < source->n_columns; c++) {
        CELLAR_TRY(cellar_exposure_curve_from_profiles(source->profiles, &c, 1,
                                                       &source->own_curves[c], err));
        source->curves[c] = source->own_curves[c];
    }
out:
    return status;
}

static void source_close(column_source *source)
{
    for (size_t c = 0; c < MAX_COLUMNS; c++)
        cellar_exposure_curve_free(source->own_curves[c]);
    cellar_column_groups_free(source->groups);
}

/* ---- the choice ------------------------------------------------------------- */

cellar_selection_options cellar_selection_options_default(void)
{
    return (cellar_selection_options){.exposure = NAN};
}

static cellar_status selection_check(size_t n_columns, const cellar_selection_options *options,
                                     cellar_error *err)
{
    if (options->k == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a choice of columns needs a k of at least 1");
    if (!(options->exposure >= 0 && options->exposure <= 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a choice of columns needs the exposure allowed, from 0 to 1");
    if ((options->must & options->must_not) != 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a column both must and must not be there");
    if (options->population > 0 && options->measure != CELLAR_SELECTION_ESTIMATED)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a population belongs to the estimated measure");
    for (size_t c = 0; options->weights != NULL && c < n_columns; c++)
        if (!(options->weights[c] > 0 && isfinite(options->weights[c])))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "column number %zu: a weight is a number above 0", c + 1);
    return CELLAR_OK;
}

/* What the best set costs with one more column. */
static cellar_status selection_marginal(const selection_problem *problem,
                                        cellar_selection *selection, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    uint64_t best =
        selection->result.n_sets > 0 ? selection->result.sets[0].columns : problem->must;
    uint64_t sets[MAX_COLUMNS];
    double values[MAX_COLUMNS];
    size_t n = 0;
    for (size_t c = 0; c < selection->n_columns; c++)
        if ((best >> c & 1) == 0)
            sets[n++] = best | UINT64_C(1) << c;
    if (n > 0)
        CELLAR_TRY(cellar_selection_ask(problem, best, sets, n, values, err));
    n = 0;
    for (size_t c = 0; c < selection->n_columns; c++)
        selection->with[c] = (best >> c & 1) == 0 ? values[n++] : (double) NAN;
out:
    return status;
}

static cellar_status selection_run(column_source *source, cellar_selection *selection,
                                   cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const cellar_selection_options *options = source->options;
    double equal[MAX_COLUMNS];
    selection_problem problem = {.n_items = source->n_columns,
                                 .weights = options->weights != NULL ? options->weights : equal,
                                 .must = options->must,
                                 .must_not = options->must_not,
                                 .limit = options->exposure,
                                 .n_wanted = 1 + options->n_runners_up,
                                 .max_evaluations = options->max_evaluations > 0
                                                        ? options->max_evaluations
                                                        : DEFAULT_EVALUATIONS,
                                 .value = source_bound,
                                 .context = source,
                                 .progress = options->progress};

    for (size_t c = 0; c < MAX_COLUMNS; c++)
        equal[c] = 1;
    CELLAR_TRY(source_open(source, err));
    if (source->groups != NULL) {
        problem.values = cellar_column_groups_values;
        problem.context = source->groups;
    }
    CELLAR_TRY(cellar_selection_search(&problem, &selection->result, err));
    if (source->groups != NULL)
        cellar_column_groups_exactly(source->groups);
    CELLAR_TRY(selection_marginal(&problem, selection, err));
out:
    source_close(source);
    return status;
}

static cellar_status selection_make(column_source *source, cellar_selection **out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_sets = 1 + source->options->n_runners_up;
    cellar_selection *selection = NULL;

    CELLAR_TRY(selection_check(source->n_columns, source->options, err));
    selection = cellar_alloc(1, sizeof *selection);
    if (selection != NULL) {
        selection->n_columns = source->n_columns;
        selection->with = cellar_alloc(source->n_columns, sizeof *selection->with);
        selection->result.sets = cellar_alloc(n_sets, sizeof *selection->result.sets);
    }
    if (selection == NULL || selection->with == NULL || selection->result.sets == NULL) {
        status = cellar_fail_memory(err, "a choice of columns");
        goto out;
    }
    CELLAR_TRY(selection_run(source, selection, err));
    *out = selection;
    selection = NULL;
out:
    cellar_selection_free(selection);
    return status;
}

cellar_status cellar_selection_create(const cellar_profiles *profiles,
                                      const cellar_selection_options *options,
                                      cellar_selection **out, cellar_error *err)
{
    column_source source = {.profiles = profiles,
                            .n_columns = profiles->n_columns,
                            .n_people = profiles->n_people,
                            .options = options};
    *out = NULL;
    return selection_make(&source, out, err);
}

cellar_status cellar_selection_from_curves(const cellar_exposure_curve *const *curves, size_t n,
                                           const cellar_selection_options *options,
                                           cellar_selection **out, cellar_error *err)
{
    column_source source = {.n_columns = n, .options = options};
    *out = NULL;
    if (n == 0 || n > MAX_COLUMNS || !uses_curves(options->measure))
        return cellar_fail(
            err, CELLAR_ERR_ARGUMENT,
            "from single columns, 1 to %d of them, exposure can only be bounded or modelled",
            MAX_COLUMNS);
    source.n_people = cellar_exposure_total(curves[0]);
    for (size_t c = 0; c < n; c++) {
        source.curves[c] = curves[c];
        if (cellar_exposure_total(curves[c]) != source.n_people)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "column number %zu: is not about the same people as the first",
                               c + 1);
    }
    return selection_make(&source, out, err);
}

void cellar_selection_free(cellar_selection *selection)
{
    if (selection == NULL)
        return;
    cellar_free(selection->with);
    cellar_free(selection->result.sets);
    cellar_free(selection);
}

size_t cellar_selection_n_sets(const cellar_selection *selection)
{
    return selection->result.n_sets;
}

cellar_selection_set cellar_selection_set_at(const cellar_selection *selection, size_t position)
{
    return selection->result.sets[position];
}

double cellar_selection_gap(const cellar_selection *selection)
{
    return selection->result.gap;
}

uint64_t cellar_selection_n_evaluations(const cellar_selection *selection)
{
    return selection->result.n_evaluations;
}

double cellar_selection_with(const cellar_selection *selection, size_t column)
{
    return selection->with[column];
}
