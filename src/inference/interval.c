/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/interval.h>

#include <math.h>

#include "base/error.h"
#include "inference/cell_set.h"
#include "inference/interval_parts.h"
#include "inference/noisy.h"

cellar_interval_options cellar_interval_options_default(void)
{
    return (cellar_interval_options){.confidence = 0.95, .n_simultaneous = 1};
}

/* ---- what is read off the table ---------------------------------------------------- */

static int sets_overlap(const cellar_cell_set *a, const cellar_cell_set *b)
{
    for (size_t i = 0; i < a->n_table; i++)
        if (a->has[i] && b->has[i])
            return 1;
    return 0;
}

static int set_is_within(const cellar_cell_set *a, const cellar_cell_set *b)
{
    for (size_t i = 0; i < a->n_table; i++)
        if (a->has[i] && !b->has[i])
            return 0;
    return 1;
}

/* Common cells cancel in a difference; a proportion compares a set with the rest of the whole. */
static cellar_status read_both(const cellar_noisy *noisy, const cellar_cell_set *set,
                               cellar_comparison comparison, const cellar_cell_set *other,
                               cellar_reading *a, cellar_reading *b, cellar_error *err)
{
    cellar_status status;
    if (comparison == CELLAR_COMPARE_NONE)
        return cellar_reading_init(a, noisy, set, NULL, err);
    if (other == NULL || other->n_table != set->n_table)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "a comparison needs two sets of cells");
    if (comparison == CELLAR_COMPARE_RATIO && sets_overlap(set, other))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a ratio is of sets without common cells; a part of a whole is a "
                           "proportion");
    if (comparison == CELLAR_COMPARE_PROPORTION &&
        (!set_is_within(set, other) || set->n_cells == other->n_cells))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "a proportion is of a set within a larger one");
    status = cellar_reading_init(a, noisy, set,
                                 comparison == CELLAR_COMPARE_DIFFERENCE ? other : NULL, err);
    if (status == CELLAR_OK)
        status = cellar_reading_init(b, noisy, other, set, err);
    return status;
}

/* ---- the estimate --------------------------------------------------------------------- */

static double compare(cellar_comparison comparison, double a, double b)
{
    switch (comparison) {
    case CELLAR_COMPARE_DIFFERENCE:
        return a - b;
    case CELLAR_COMPARE_RATIO:
        return b > 0 ? a / b : a > 0 ? INFINITY : NAN;
    case CELLAR_COMPARE_PROPORTION:
        return a + b > 0 ? a / (a + b) : NAN;
    case CELLAR_COMPARE_NONE:
        break;
    }
    return a;
}

static double ratio_of_share(double share)
{
    return share < 1 - 1e-9 ? share / (1 - share) : INFINITY;
}

typedef cellar_status part_interval(const cellar_reading *r, double tail, double *low, double *high,
                                    cellar_error *err);

/* From intervals of both parts, each so narrow that both hold together. */
static cellar_status compare_parts(const cellar_reading *a, const cellar_reading *b,
                                   cellar_comparison comparison, part_interval *part,
                                   cellar_interval *out, cellar_error *err)
{
    double tail = (1 - sqrt(out->confidence)) / 2, a_low, a_high, b_low, b_high;
    cellar_status status = part(a, tail, &a_low, &a_high, err);
    if (status == CELLAR_OK)
        status = part(b, tail, &b_low, &b_high, err);
    if (status != CELLAR_OK)
        return status;
    out->conservative = 1;
    out->low = compare(comparison, a_low, b_high);
    out->high = compare(comparison, a_high, b_low);
    if (isnan(out->low) || a_low <= 0)
        out->low = comparison == CELLAR_COMPARE_DIFFERENCE ? out->low : 0;
    if (comparison == CELLAR_COMPARE_PROPORTION && (isnan(out->high) || isinf(a_high)))
        out->high = 1;
    if (comparison == CELLAR_COMPARE_RATIO && isnan(out->high))
        out->high = INFINITY;
    return CELLAR_OK;
}

static cellar_status interval_exact(const cellar_noisy *noisy, const cellar_reading *a,
                                    const cellar_reading *b, cellar_comparison comparison,
                                    cellar_interval *out, cellar_error *err)
{
    double tail = (1 - out->confidence) / 2;
    if (comparison == CELLAR_COMPARE_NONE) {
        out->conservative = a->is_of_parts;
        return cellar_interval_number(a, tail, &out->low, &out->high, err);
    }
    if (!cellar_channel_is_additive(&noisy->channel) || cellar_channel_is_clamped(&noisy->channel))
        return compare_parts(a, b, comparison, cellar_interval_number, out, err);
    if (comparison == CELLAR_COMPARE_DIFFERENCE) {
        out->estimate = (double) (a->number - b->number);
        return cellar_interval_difference(a, b, noisy->mechanism, tail, &out->low, &out->high, err);
    }
    cellar_interval_share(a, b, tail, &out->low, &out->high);
    if (comparison == CELLAR_COMPARE_RATIO) {
        out->low = ratio_of_share(out->low);
        out->high = ratio_of_share(out->high);
    }
    return CELLAR_OK;
}

/* As an estimate of the comparison asked for. */
static void set_estimate(cellar_comparison comparison, cellar_interval_estimate found,
                         cellar_interval *out)
{
    int ratio = comparison == CELLAR_COMPARE_RATIO;
    out->estimate = ratio ? ratio_of_share(found.value) : found.value;
    out->low = ratio ? ratio_of_share(found.low) : found.low;
    out->high = ratio ? ratio_of_share(found.high) : found.high;
}

/* Where the profile of the likelihood cannot be had, or covers too seldom: sums of parts, and
 * comparisons of numbers that may have been set to zero. */
static int wants_means_of_parts(const cellar_reading *a, const cellar_reading *b)
{
    return a->is_of_parts ||
           (b != NULL && (b->is_of_parts || cellar_channel_is_clamped(&a->channel)));
}

static cellar_status interval_means(const cellar_reading *a, const cellar_reading *b,
                                    cellar_comparison comparison, cellar_interval *out,
                                    cellar_error *err)
{
    cellar_interval_estimate found;
    cellar_status status;
    if (b != NULL && wants_means_of_parts(a, b))
        return compare_parts(a, b, comparison, cellar_interval_mean, out, err);
    if (wants_means_of_parts(a, b)) {
        out->conservative = 1;
        return cellar_interval_mean(a, (1 - out->confidence) / 2, &out->low, &out->high, err);
    }
    status = cellar_interval_profile(a, b, comparison, out->confidence, &found, err);
    if (status == CELLAR_OK)
        set_estimate(comparison, found, out);
    return status;
}

static cellar_status interval_population(const cellar_reading *a, const cellar_reading *b,
                                         cellar_comparison comparison, cellar_interval *out,
                                         cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_interval_estimate found;
    cellar_mechanism *identity = NULL;
    cellar_reading plain[2] = {{0}, {0}};
    cellar_interval naive = *out;
    CELLAR_TRY(interval_means(a, b, comparison, out, err));
    CELLAR_TRY(cellar_mechanism_create("identity", &identity, err));
    for (size_t i = 0; i < 2; i++) {
        const cellar_reading *r = i == 0 ? a : b;
        plain[i].number = r != NULL && r->number > 0 ? r->number : 0;
        plain[i].channel = (cellar_channel){identity, CELLAR_NEGATIVES_KEEP, 0, NULL};
    }
    CELLAR_TRY(cellar_interval_profile(&plain[0], b != NULL ? &plain[1] : NULL, comparison,
                                       out->confidence, &found, err));
    set_estimate(comparison, found, &naive);
    out->naive_low = naive.low;
    out->naive_high = naive.high;
out:
    cellar_mechanism_free(identity);
    return status;
}

/* ---- all together ------------------------------------------------------------------------ */

static cellar_status interval_check(const cellar_interval_options *options, cellar_error *err)
{
    if (!(options->confidence > 0) || !(options->confidence < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "confidence lies between 0 and 1, got %g",
                           options->confidence);
    if (options->n_simultaneous == 0)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "one interval at least");
    if (options->prior != CELLAR_PRIOR_NONE && options->target == CELLAR_TARGET_POPULATION)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "priors are for counts of the table, not for the population's means");
    return CELLAR_OK;
}

static int holds_suppressed(const cellar_noisy *noisy, const cellar_cell_set *set)
{
    for (size_t i = 0; set != NULL && i < set->n_table; i++)
        if (set->has[i] && cellar_noisy_is_suppressed(noisy, i))
            return 1;
    return 0;
}

/* A suppressed value is below the threshold, not 0: limits hold, sums of released values are none,
 * unless a likelihood or a prior made the estimate. */
static void forget_sums(const cellar_interval_options *options, cellar_interval *out)
{
    out->naive = out->naive_low = out->naive_high = NAN;
    if (options->target == CELLAR_TARGET_TABLE && options->prior == CELLAR_PRIOR_NONE)
        out->estimate = NAN;
}

cellar_status cellar_interval_run(const cellar_noisy *noisy, const cellar_cell_set *set,
                                  cellar_comparison comparison, const cellar_cell_set *other,
                                  const cellar_interval_options *options, cellar_interval *out,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_reading a = {0}, b = {0};
    const cellar_reading *second = comparison != CELLAR_COMPARE_NONE ? &b : NULL;
    cellar_interval_estimate found;

    *out = (cellar_interval){.naive_low = NAN, .naive_high = NAN};
    CELLAR_TRY(interval_check(options, err));
    CELLAR_TRY(cellar_noisy_check_independent(
        noisy, "these intervals do not know: ask the cube itself", err));
    out->confidence = pow(options->confidence, 1 / (double) options->n_simultaneous);
    CELLAR_TRY(read_both(noisy, set, comparison, other, &a, &b, err));
    out->n_noises = a.n_noises + b.n_noises;
    out->naive = compare(comparison, fmax(0, (double) a.number), fmax(0, (double) b.number));
    out->estimate = out->naive;
    if (options->target == CELLAR_TARGET_POPULATION)
        CELLAR_TRY(interval_population(&a, second, comparison, out, err));
    else if (options->prior != CELLAR_PRIOR_NONE) {
        CELLAR_TRY(cellar_interval_bayes(&a, second, comparison, options->prior, out->confidence,
                                         &found, err));
        set_estimate(comparison, found, out);
    } else
        CELLAR_TRY(interval_exact(noisy, &a, second, comparison, out, err));
    if (holds_suppressed(noisy, set) || holds_suppressed(noisy, other))
        forget_sums(options, out);
out:
    cellar_reading_clear(&a);
    cellar_reading_clear(&b);
    return status;
}
