/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The size of a group as a random number. */
#include "risk/homogeneity/size_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"

/* ---- the spec ------------------------------------------------------------------------ */

static const char truncated_prefix[] = "zero-truncated-", inflated_prefix[] = "zero-inflated-";

static int size_skip(const char **text, const char *prefix)
{
    size_t length = strlen(prefix);
    int matches = strncmp(*text, prefix, length) == 0;
    if (matches)
        *text += length;
    return matches;
}

/* key=value,...: each of the keys once. */
static cellar_status size_parameters(const char *text, cellar_size_model *out, cellar_error *err)
{
    while (*text != '\0') {
        double *where = NULL, value;
        char *end;
        if (size_skip(&text, "lambda="))
            where = &out->lambda;
        else if (out->family == CELLAR_SIZE_NEGBIN && size_skip(&text, "r="))
            where = &out->r;
        else if (out->zeros == CELLAR_SIZE_INFLATED && size_skip(&text, "zero="))
            where = &out->zero;
        if (where == NULL || !isnan(*where))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                               "a size model reads poisson:lambda=L or negbin:r=R,lambda=L, with "
                               "zero=Z when zero-inflated; '%.40s' does not fit",
                               text);
        value = strtod(text, &end);
        if (end == text || (*end != ',' && *end != '\0') || !isfinite(value))
            return cellar_fail(err, CELLAR_ERR_ARGUMENT, "size model: '%.40s' is no number", text);
        *where = value;
        text = *end == ',' ? end + 1 : end;
    }
    return CELLAR_OK;
}

static double size_mean(const cellar_size_model *model)
{
    return model->family == CELLAR_SIZE_POISSON ? model->lambda
                                                : model->r * (1 - model->lambda) / model->lambda;
}

cellar_status cellar_size_model_check(const cellar_size_model *model, cellar_error *err)
{
    int is_negbin = model->family == CELLAR_SIZE_NEGBIN;
    if (!(model->lambda > 0) || !isfinite(model->lambda) || (is_negbin && !(model->lambda < 1)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           is_negbin ? "size model: lambda must lie between 0 and 1"
                                     : "size model: lambda must be positive");
    if (is_negbin && (!(model->r > 0) || !isfinite(model->r)))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "size model: r must be positive");
    if (!(size_mean(model) <= 0x1p53))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "size model: a group has at most 2^53 members, on average as well");
    if (model->zeros == CELLAR_SIZE_INFLATED && !(model->zero >= 0 && model->zero < 1))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT, "size model: zero must be in [0,1)");
    return CELLAR_OK;
}

cellar_status cellar_size_model_parse(const char *spec, cellar_size_model *out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    const char *text = spec;

    *out = (cellar_size_model){CELLAR_SIZE_POISSON, CELLAR_SIZE_PLAIN, NAN, NAN, NAN};
    if (size_skip(&text, truncated_prefix))
        out->zeros = CELLAR_SIZE_TRUNCATED;
    else if (size_skip(&text, inflated_prefix))
        out->zeros = CELLAR_SIZE_INFLATED;
    if (size_skip(&text, "negbin:"))
        out->family = CELLAR_SIZE_NEGBIN;
    else if (!size_skip(&text, "poisson:"))
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "there is no size model '%.60s': poisson:lambda=L or "
                           "negbin:r=R,lambda=L",
                           spec);
    CELLAR_TRY(size_parameters(text, out, err));
    CELLAR_TRY(cellar_size_model_check(out, err));
out:
    return status;
}

const char *cellar_size_model_name(const cellar_size_model *model)
{
    static const char *const names[2][3] = {
        {"poisson", "zero-truncated-poisson", "zero-inflated-poisson"},
        {"negbin", "zero-truncated-negbin", "zero-inflated-negbin"}};
    return names[model->family][model->zeros];
}

/* ---- the law --------------------------------------------------------------------------- */

static double size_plain_log(const cellar_size_model *model, uint64_t n)
{
    return model->family == CELLAR_SIZE_POISSON ? dpois((double) n, model->lambda, 1)
                                                : dnbinom((double) n, model->r, model->lambda, 1);
}

double cellar_size_model_log_pmf(const cellar_size_model *model, uint64_t n)
{
    double log_zero = size_plain_log(model, 0);
    switch (model->zeros) {
    case CELLAR_SIZE_TRUNCATED:
        return n == 0 ? -INFINITY : size_plain_log(model, n) - log(-expm1(log_zero));
    case CELLAR_SIZE_INFLATED:
        if (n == 0)
            return log(model->zero + (1 - model->zero) * exp(log_zero));
        return log1p(-model->zero) + size_plain_log(model, n);
    case CELLAR_SIZE_PLAIN:
        break;
    }
    return size_plain_log(model, n);
}

void cellar_size_model_window(const cellar_size_model *model, uint64_t *low, uint64_t *high)
{
    double mean = size_mean(model), variance = mean;
    const double nothing = log(1e-22);
    uint64_t n, step;

    if (model->family == CELLAR_SIZE_NEGBIN)
        variance = mean / model->lambda;
    n = (uint64_t) mean;
    step = (uint64_t) (fmin(sqrt(variance), CELLAR_SIZE_WINDOW_MAX) / 8) + 1;
    *high = n + 1;
    while (*high - n < CELLAR_SIZE_WINDOW_MAX &&
           size_plain_log(model, *high) > nothing - log(variance + 1))
        *high += step;
    *low = n > 1 ? n : 1;
    while (*low > step && n - *low < CELLAR_SIZE_WINDOW_MAX &&
           size_plain_log(model, *low) > nothing - log(variance + 1))
        *low -= step;
    if (*low <= step)
        *low = 1;
}
