/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/selection.h>

#include <math.h>

#include <cellar/exposure.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/exposure_curve.h"
#include "risk/profiles.h"
#include "risk/selection_search.h"

/* Adding a column splits groups. A group below k stays below k, so exposure does not fall. The
 * bound does not either: leaving a column out of a solution of Theorem 2 or 3 leaves a cheaper
 * solution. Nor does statistical exposure: P(Bin(n-1,x) <= k-2) falls in x. */

enum { DEFAULT_EVALUATIONS = 1000000, MAX_COLUMNS = 64 };

struct cellar_selection {
    selection_result result;
    double *with; /* by column */
    size_t n_columns;
};

/* The chances of groups of fewer people are kept once computed. */
enum { KEPT_CHANCES = 1 << 16 };

/* Partitions along the way from no column to a set: the search asks for neighbours. */
typedef struct column_values {
    const cellar_profiles *profiles; /* NULL: nothing is known but the curves */
    size_t n_columns;
    uint64_t n_people;
    const cellar_selection_options *options;
    refiner refiner;
    uint64_t masks[MAX_COLUMNS + 1];
    partition partitions[MAX_COLUMNS + 1];
    size_t depth;                                     /* partitions there are */
    const cellar_exposure_curve *curves[MAX_COLUMNS]; /* bounded only */
    cellar_exposure_curve *own_curves[MAX_COLUMNS];   /* those of them to free */
    double *chances; /* estimated only: by size, negative if unknown */
    uint64_t population;
    double sum;    /* people who stand out so far */
    double enough; /* the sum at which a set is known to be forbidden */
} column_values;

/* ---- one set of columns ----------------------------------------------------- */

static int values_add_exposed(void *context, uint64_t people)
{
    column_values *values = context;
    if (people < values->options->k)
        values->sum += (double) people;
    return values->sum > values->enough;
}

static double values_chance(column_values *values, uint64_t people)
{
    double n = (double) values->n_people, chance;
    if (people < KEPT_CHANCES && values->chances[people] >= 0)
        return values->chances[people];
    chance = cellar_exposure_few_others(values->population, values->options->k, (double) people / n,
                                        (double) (values->n_people - people) / n, 1);
    if (people < KEPT_CHANCES)
        values->chances[people] = chance;
    return chance;
}

static int values_add_expected(void *context, uint64_t people)
{
    column_values *values = context;
    values->sum += (double) people * values_chance(values, people);
    return values->sum > values->enough;
}

/* Leaves on the stack the partition by all columns of `set` but one, and answers that one
 * (MAX_COLUMNS for no column). */
static cellar_status values_approach(column_values *values, uint64_t set, size_t *last,
                                     cellar_error *err)
{
    uint64_t k = values->options->measure == CELLAR_SELECTION_KNOWN ? values->options->k : 0;
    uint64_t rest;

    while ((values->masks[values->depth - 1] & ~set) != 0 ||
           (values->masks[values->depth - 1] == set && set != 0))
        cellar_partition_clear(&values->partitions[--values->depth]);
    *last = MAX_COLUMNS;
    for (rest = set & ~values->masks[values->depth - 1]; rest != 0; rest &= rest - 1) {
        size_t column = (size_t) __builtin_ctzll(rest), top = values->depth;
        *last = column;
        if ((rest & (rest - 1)) == 0)
            break;
        if (!cellar_partition_refine(&values->refiner, &values->partitions[top - 1],
                                     values->profiles->levels[column], k, &values->partitions[top]))
            return cellar_fail_memory(err, "partitions");
        values->masks[top] = values->masks[top - 1] | UINT64_C(1) << column;
        values->depth++;
    }
    return CELLAR_OK;
}

/* Adds up the groups of a set; when it is forbidden, only until that is certain. */
static cellar_status value_by_groups(column_values *values, uint64_t set, partition_visitor *add,
                                     double *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const partition *base;
    size_t last;

    CELLAR_TRY(values_approach(values, set, &last, err));
    base = &values->partitions[values->depth - 1];
    values->sum = (double) base->dropped;
    if (last < MAX_COLUMNS)
        cellar_partition_visit(&values->refiner, base, values->profiles->levels[last], add, values);
    else
        add(values, values->n_people); /* all share the empty row */
    *value = fmin(1, values->sum / (double) values->n_people);
out:
    return status;
}

static cellar_status value_known(void *context, uint64_t set, double *value, cellar_error *err)
{
    return value_by_groups(context, set, values_add_exposed, value, err);
}

static cellar_status value_estimated(void *context, uint64_t set, double *value, cellar_error *err)
{
    return value_by_groups(context, set, values_add_expected, value, err);
}

static cellar_status value_bounded(void *context, uint64_t set, double *value, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    column_values *values = context;
    const cellar_exposure_curve *curves[MAX_COLUMNS];
    cellar_exposure_bound bounds[2];
    double t = (double) values->options->k / (double) values->n_people;
    size_t n = 0;

    for (uint64_t rest = set; rest != 0; rest &= rest - 1)
        curves[n++] = values->curves[__builtin_ctzll(rest)];
    *value = t > 1;
    if (n > 0 && t <= 1) {
        CELLAR_TRY(cellar_exposure_bounds(curves, n, t, NULL, bounds, err));
        *value = bounds[0].value;
    }
out:
    return status;
}

/* ---- all of them ------------------------------------------------------------ */

static cellar_status values_make(column_values *values, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    if (!cellar_refiner_init(values->profiles, &values->refiner) ||
        !cellar_partition_whole(values->profiles, &values->partitions[0]))
        return cellar_fail_memory(err, "partitions");
    values->depth = 1;
    values->population =
        values->options->population > 0 ? values->options->population : values->n_people;
    /* A little above the limit: rounding must not forbid what is allowed. */
    values->enough = values->options->exposure * (double) values->n_people * (1 + 1e-9) + 1e-9;
    values->chances = cellar_alloc(KEPT_CHANCES, sizeof *values->chances);
    if (values->chances == NULL)
        return cellar_fail_memory(err, "chances");
    for (size_t i = 0; i < KEPT_CHANCES; i++)
        values->chances[i] = -1;
    if (values->options->measure == CELLAR_SELECTION_BOUNDED)
        for (size_t c = 0; c < values->n_columns; c++) {
            CELLAR_TRY(cellar_profiles_curve(values->profiles, &c, 1, &values->own_curves[c], err));
            values->curves[c] = values->own_curves[c];
        }
out:
    return status;
}

static void values_clear(column_values *values)
{
    while (values->depth > 0)
        cellar_partition_clear(&values->partitions[--values->depth]);
    for (size_t c = 0; c < MAX_COLUMNS; c++)
        cellar_exposure_curve_free(values->own_curves[c]);
    cellar_free(values->chances);
    cellar_refiner_clear(&values->refiner);
}

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
    for (size_t c = 0; c < selection->n_columns; c++) {
        uint64_t best =
            selection->result.n_sets > 0 ? selection->result.sets[0].columns : problem->must;
        selection->with[c] = NAN;
        if ((best >> c & 1) == 0)
            CELLAR_TRY(problem->value(problem->context, best | UINT64_C(1) << c,
                                      &selection->with[c], err));
    }
out:
    return status;
}

static cellar_status selection_run(column_values *values, cellar_selection *selection,
                                   cellar_error *err)
{
    static selection_value *const value_of[] = {value_known, value_bounded, value_estimated};
    cellar_status status = CELLAR_OK;
    const cellar_selection_options *options = values->options;
    double equal[MAX_COLUMNS];
    selection_problem problem = {.n_items = values->n_columns,
                                 .weights = options->weights != NULL ? options->weights : equal,
                                 .must = options->must,
                                 .must_not = options->must_not,
                                 .limit = options->exposure,
                                 .n_wanted = 1 + options->n_runners_up,
                                 .max_evaluations = options->max_evaluations > 0
                                                        ? options->max_evaluations
                                                        : DEFAULT_EVALUATIONS,
                                 .value = value_of[options->measure],
                                 .context = values,
                                 .progress = options->progress};

    for (size_t c = 0; c < MAX_COLUMNS; c++)
        equal[c] = 1;
    if (values->profiles != NULL)
        CELLAR_TRY(values_make(values, err));
    CELLAR_TRY(cellar_selection_search(&problem, &selection->result, err));
    values->enough = INFINITY; /* from here on values are told, not compared */
    CELLAR_TRY(selection_marginal(&problem, selection, err));
out:
    values_clear(values);
    return status;
}

static cellar_status selection_make(column_values *values, cellar_selection **out,
                                    cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n_sets = 1 + values->options->n_runners_up;
    cellar_selection *selection = NULL;

    CELLAR_TRY(selection_check(values->n_columns, values->options, err));
    selection = cellar_alloc(1, sizeof *selection);
    if (selection != NULL) {
        selection->n_columns = values->n_columns;
        selection->with = cellar_alloc(values->n_columns, sizeof *selection->with);
        selection->result.sets = cellar_alloc(n_sets, sizeof *selection->result.sets);
    }
    if (selection == NULL || selection->with == NULL || selection->result.sets == NULL) {
        status = cellar_fail_memory(err, "a choice of columns");
        goto out;
    }
    CELLAR_TRY(selection_run(values, selection, err));
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
    column_values values = {.profiles = profiles,
                            .n_columns = profiles->n_columns,
                            .n_people = profiles->n_people,
                            .options = options};
    *out = NULL;
    return selection_make(&values, out, err);
}

cellar_status cellar_selection_from_curves(const cellar_exposure_curve *const *curves, size_t n,
                                           const cellar_selection_options *options,
                                           cellar_selection **out, cellar_error *err)
{
    column_values values = {.n_columns = n, .options = options};
    *out = NULL;
    if (n == 0 || n > MAX_COLUMNS || options->measure != CELLAR_SELECTION_BOUNDED)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "from single columns, 1 to %d of them, exposure can only be bounded",
                           MAX_COLUMNS);
    values.n_people = cellar_exposure_total(curves[0]);
    for (size_t c = 0; c < n; c++) {
        values.curves[c] = curves[c];
        if (cellar_exposure_total(curves[c]) != values.n_people)
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "column number %zu: is not about the same people as the first",
                               c + 1);
    }
    return selection_make(&values, out, err);
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
