/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <cellar/inference.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/chi_square.h"
#include "inference/engine.h"
#include "inference/information.h"

struct cellar_loglinear {
    cellar_test aware, naive;
    cellar_test_quality quality;
    cellar_loglinear_cell *cells;
    size_t n_cells;
};

/* What is needed on the way. */
typedef struct work {
    const cellar_noisy *noisy;
    const cellar_test_options *options;
    cellar_model inner, outer;
    const cellar_model *outer_model; /* NULL: saturated */
    cellar_engine aware, naive;
    cellar_mechanism *identity;
    cellar_channel plain; /* without noise */
    int64_t *clipped;
    double *weights, *levers;
} work;

cellar_test_options cellar_test_options_default(void)
{
    return (cellar_test_options){
        .reference = CELLAR_REFERENCE_CHI_SQUARE, .n_replicates = 999, .seed = 1};
}

static void work_clear(work *w)
{
    cellar_model_clear(&w->inner);
    cellar_model_clear(&w->outer);
    cellar_engine_clear(&w->aware);
    cellar_engine_clear(&w->naive);
    cellar_mechanism_free(w->identity);
    cellar_free(w->clipped);
    cellar_free(w->weights);
    cellar_free(w->levers);
}

static cellar_status work_models(work *w, const char *model, const char *against, cellar_error *err)
{
    const char *const *names = (const char *const *) w->noisy->names;
    cellar_status status = CELLAR_OK;
    CELLAR_TRY(cellar_model_parse(model, names, w->noisy->n_variables, &w->inner, err));
    if (against != NULL) {
        CELLAR_TRY(cellar_model_parse(against, names, w->noisy->n_variables, &w->outer, err));
        if (!cellar_model_is_within(&w->inner, &w->outer)) {
            status = cellar_fail(err, CELLAR_ERR_ARGUMENT,
                                 "model '%.200s' does not lie within '%.200s': a likelihood ratio "
                                 "compares a model with a larger one",
                                 model, against);
            goto out;
        }
        w->outer_model = &w->outer;
    }
out:
    return status;
}

static cellar_status work_prepare(work *w, const char *model, const char *against,
                                  cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t n = w->noisy->n_cells;
    CELLAR_TRY(work_models(w, model, against, err));
    CELLAR_TRY(cellar_mechanism_create("identity", &w->identity, err));
    w->plain = (cellar_channel){w->identity, CELLAR_NEGATIVES_KEEP, 0, NULL};
    CELLAR_TRY(cellar_engine_init(&w->aware, w->noisy, &w->noisy->channel, &w->inner,
                                  w->outer_model, err));
    CELLAR_TRY(cellar_engine_init(&w->naive, w->noisy, &w->plain, &w->inner, w->outer_model, err));
    w->clipped = cellar_alloc(n, sizeof *w->clipped);
    w->weights = cellar_alloc(n, sizeof *w->weights);
    w->levers = cellar_alloc(n, sizeof *w->levers);
    if (w->clipped == NULL || w->weights == NULL || w->levers == NULL)
        status = cellar_fail_memory(err, "the test");
    for (size_t i = 0; status == CELLAR_OK && i < n; i++)
        w->clipped[i] = w->noisy->released[i] > 0 ? w->noisy->released[i] : 0;
out:
    return status;
}

/* ---- the two tests -------------------------------------------------------------------- */

static void set_test(cellar_test *test, const cellar_ratio *ratio, double total)
{
    test->statistic = ratio->statistic;
    test->df = ratio->df;
    test->p_value = test->chi_square_p_value = cellar_chi_square_tail(ratio->statistic, ratio->df);
    test->pearson = NAN;
    test->total = total;
}

static cellar_status test_naive(work *w, cellar_loglinear *out, cellar_error *err)
{
    const double *means = cellar_fitter_means(w->naive.inner), *outer_means = NULL;
    double total = 0, pearson = 0;
    cellar_ratio ratio;
    cellar_status status = cellar_engine_run(&w->naive, w->clipped, 1, 1, &ratio, err);
    if (status != CELLAR_OK)
        return status;
    if (w->naive.outer != NULL)
        outer_means = cellar_fitter_means(w->naive.outer);
    for (size_t i = 0; i < out->n_cells; i++) {
        double seen = outer_means != NULL ? outer_means[i] : (double) w->clipped[i];
        double d = seen - means[i];
        if (w->noisy->structural[i])
            continue;
        total += (double) w->clipped[i];
        pearson += means[i] > 0 ? d * d / means[i] : 0;
        out->cells[i].naive_expected = means[i];
    }
    set_test(&out->naive, &ratio, total);
    out->naive.pearson = pearson;
    return CELLAR_OK;
}

static void set_quality(const work *w, const cellar_ratio *ratio, cellar_loglinear *out)
{
    const double *means = cellar_fitter_means(w->aware.inner);
    const cellar_posterior *posteriors = cellar_fitter_posteriors(w->aware.inner);
    double sum = 0, left = 0;
    cellar_test_quality *q = &out->quality;
    q->converged = ratio->inner.converged && ratio->outer.converged;
    q->same_from_all_starts = ratio->inner.n_agreeing == ratio->inner.n_starts &&
                              ratio->outer.n_agreeing == ratio->outer.n_starts;
    q->n_iterations = ratio->inner.n_iterations + ratio->outer.n_iterations;
    q->smallest_expected = INFINITY;
    for (size_t i = 0; i < out->n_cells; i++) {
        if (cellar_fitter_leaves_out(w->aware.inner, i))
            continue;
        q->smallest_expected = fmin(q->smallest_expected, means[i]);
        sum += means[i];
        left += means[i] - posteriors[i].variance;
    }
    q->information = sum > 0 ? fmax(0, fmin(1, left / sum)) : 1;
    q->chi_square_is_off =
        q->information < 0.95 || q->smallest_expected < 5 || cellar_noisy_is_correlated(w->noisy);
}

static cellar_status test_aware(work *w, cellar_loglinear *out, cellar_error *err)
{
    const double *means = cellar_fitter_means(w->aware.inner);
    double total = 0;
    cellar_ratio ratio;
    cellar_status status =
        cellar_engine_run(&w->aware, w->noisy->released, CELLAR_STARTS, 1, &ratio, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < out->n_cells; i++) {
        out->cells[i].expected = means[i];
        total += w->noisy->structural[i] ? 0 : (double) w->noisy->released[i];
    }
    set_test(&out->aware, &ratio, total);
    set_quality(w, &ratio, out);
    return CELLAR_OK;
}

/* ---- residuals ---------------------------------------------------------------------------- */

/* The score for a mean of the cell's own, over its standard deviation given the fitted margins:
 * without noise these are Haberman's adjusted residuals. */
static void set_residual(double score, double information, double lever, double *out)
{
    double left = information * (1 - lever);
    *out = left > 1e-9 * information && information > 0 ? score / sqrt(left) : NAN;
}

static cellar_status test_residuals(work *w, cellar_loglinear *out, cellar_error *err)
{
    const double *means = cellar_fitter_means(w->aware.inner);
    const double *naive_means = cellar_fitter_means(w->naive.inner);
    const cellar_posterior *posteriors = cellar_fitter_posteriors(w->aware.inner);
    cellar_status status = CELLAR_OK;

    CELLAR_TRY(cellar_information_many(w->aware.likelihood, &w->noisy->channel, means, out->n_cells,
                                       w->weights, err));
    CELLAR_TRY(cellar_fitter_levers(w->aware.inner, w->weights, w->levers, err));
    for (size_t i = 0; i < out->n_cells; i++)
        if (!cellar_fitter_leaves_out(w->aware.inner, i))
            set_residual(posteriors[i].mean - means[i], w->weights[i], w->levers[i],
                         &out->cells[i].residual);
    CELLAR_TRY(cellar_fitter_levers(w->naive.inner, naive_means, w->levers, err));
    for (size_t i = 0; i < out->n_cells; i++)
        if (!cellar_fitter_leaves_out(w->naive.inner, i))
            set_residual((double) w->clipped[i] - naive_means[i], naive_means[i], w->levers[i],
                         &out->cells[i].naive_residual);
out:
    return status;
}

/* ---- all together ---------------------------------------------------------------------------- */

static cellar_status test_bootstrap(const work *w, cellar_loglinear *out, cellar_error *err)
{
    cellar_bootstrap b = {.noisy = w->noisy,
                          .inner = &w->inner,
                          .outer = w->outer_model,
                          .means = cellar_fitter_means(w->aware.inner),
                          .n_replicates = w->options->n_replicates,
                          .seed = w->options->seed,
                          .n_threads = w->options->n_threads,
                          .progress = w->options->progress,
                          .observed = out->aware.statistic};
    cellar_status status = cellar_bootstrap_run(&b, err);
    out->aware.p_value = b.p_value;
    out->quality.n_failed = b.n_failed;
    return status;
}

cellar_status cellar_loglinear_create(const cellar_noisy *noisy, const char *model,
                                      const char *against, const cellar_test_options *options,
                                      cellar_loglinear **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    work w = {.noisy = noisy, .options = options};
    cellar_loglinear *test = cellar_alloc(1, sizeof *test);

    *out = NULL;
    if (test == NULL)
        return cellar_fail_memory(err, "the test");
    if (options->reference != CELLAR_REFERENCE_BOOTSTRAP)
        CELLAR_TRY(cellar_noisy_check_independent(
            noisy, "the chi-square reference does not know: use the bootstrap", err));
    test->n_cells = noisy->n_cells;
    test->cells = cellar_alloc(noisy->n_cells, sizeof *test->cells);
    if (test->cells == NULL) {
        status = cellar_fail_memory(err, "the test");
        goto out;
    }
    for (size_t i = 0; i < noisy->n_cells; i++)
        test->cells[i] = (cellar_loglinear_cell){0, NAN, 0, NAN};
    CELLAR_TRY(work_prepare(&w, model, against, err));
    CELLAR_TRY(test_naive(&w, test, err));
    CELLAR_TRY(test_aware(&w, test, err));
    if (options->with_residuals)
        CELLAR_TRY(test_residuals(&w, test, err));
    if (options->reference == CELLAR_REFERENCE_BOOTSTRAP)
        CELLAR_TRY(test_bootstrap(&w, test, err));
    *out = test;
    test = NULL;
out:
    work_clear(&w);
    cellar_loglinear_free(test);
    return status;
}

void cellar_loglinear_free(cellar_loglinear *test)
{
    if (test == NULL)
        return;
    cellar_free(test->cells);
    cellar_free(test);
}

cellar_test cellar_loglinear_aware(const cellar_loglinear *test)
{
    return test->aware;
}

cellar_test cellar_loglinear_naive(const cellar_loglinear *test)
{
    return test->naive;
}

cellar_test_quality cellar_loglinear_quality(const cellar_loglinear *test)
{
    return test->quality;
}

cellar_loglinear_cell cellar_loglinear_cell_at(const cellar_loglinear *test, size_t cell)
{
    return test->cells[cell];
}
