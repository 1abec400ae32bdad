/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Large groups with a prior: the laws of the absent values are convolved within their windows and
 * meet the value that is shown, whose law is wide, only at the end. All terms are positive. */
#include "risk/homogeneity/group.h"

#include <math.h>
#include <string.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/homogeneity/tilted.h"

#define TRIM 1e-24     /* of the largest term: beyond, the ends of a convolution are cut */
#define MAX_WORK 2e11  /* multiplications: a few minutes */
#define MAX_WINDOW 2e7 /* counts */
enum { MAX_STEPS = 100 };

/* Weights of counts low, low + 1, ... times e^log_scale. */
typedef struct window {
    uint64_t low;
    size_t n;
    double *weights;
    double log_scale;
} window;

typedef struct windows {
    const cellar_group *group;
    cellar_tilted *absent; /* of each part */
    double theta;
    double work;
    cellar_group_spread sums;
    double log_norm; /* of the coefficient of all weights without absence and presence */
    cellar_error *err;
} windows;

static void window_clear(window *w)
{
    cellar_free(w->weights);
    w->weights = NULL;
}

static void window_trim(window *w)
{
    double largest = 0;
    size_t first = 0;
    for (size_t i = 0; i < w->n; i++)
        largest = fmax(largest, w->weights[i]);
    while (w->n > first + 1 && w->weights[w->n - 1] < TRIM * largest)
        w->n--;
    while (first + 1 < w->n && w->weights[first] < TRIM * largest)
        first++;
    memmove(w->weights, w->weights + first, (w->n - first) * sizeof *w->weights);
    w->n -= first;
    w->low += first;
    for (size_t i = 0; i < w->n && largest > 0; i++)
        w->weights[i] /= largest;
    w->log_scale += largest > 0 ? log(largest) : -INFINITY;
}

/* out = a * b up to counts of `most`; `out` may be `a`. */
static cellar_status window_convolve(windows *all, const window *a, const cellar_tilted *b,
                                     window *out)
{
    uint64_t most = all->group->size;
    window product = {a->low + b->low, a->n + b->n - 1, NULL, a->log_scale + b->log_sum};

    all->work += (double) a->n * (double) b->n;
    if (all->work > MAX_WORK)
        return cellar_fail(
            all->err, CELLAR_ERR_UNSUPPORTED,
            "the exact shrinkage risk of so large a group exceeds the limit of work; simulate the "
            "risk, or give shares instead of a prior");
    if (product.low > most)
        product.low = most, product.n = 1;
    if (product.n > most - product.low + 1)
        product.n = (size_t) (most - product.low + 1);
    product.weights = cellar_alloc(product.n, sizeof *product.weights);
    if (product.weights == NULL)
        return cellar_fail_memory(all->err, "the risk of a large group");
    for (size_t i = 0; i < a->n && i < product.n && a->low + b->low <= most; i++) {
        size_t end = b->n < product.n - i ? b->n : product.n - i;
        for (size_t j = 0; j < end; j++)
            product.weights[i + j] += a->weights[i] * b->weights[j];
    }
    window_trim(&product);
    if (out->weights != NULL)
        window_clear(out);
    *out = product;
    return CELLAR_OK;
}

/* A copy of `in` times the absent laws of parts first..last-1, `part` once less if it is among. */
static cellar_status window_times(windows *all, const window *in, size_t first, size_t last,
                                  size_t part, window *out)
{
    cellar_status status = CELLAR_OK;
    *out = (window){in->low, in->n, cellar_alloc(in->n, sizeof *out->weights), in->log_scale};
    if (out->weights == NULL)
        return cellar_fail_memory(all->err, "the risk of a large group");
    memcpy(out->weights, in->weights, in->n * sizeof *out->weights);
    for (size_t i = first; i < last; i++)
        for (uint64_t k = i == part; k < all->group->parts[i].times; k++)
            CELLAR_TRY(window_convolve(all, out, &all->absent[i], out));
out:
    return status;
}

/* The value of `part` is shown with count size - s, the others have s. */
static void window_meet(windows *all, const window *others, size_t part)
{
    const cellar_group *g = all->group;
    double alpha = g->parts[part].weight, times = (double) g->parts[part].times;
    double shown = 0, right = 0, n = (double) g->size, top = 0;
    double base = others->log_scale - all->log_norm;

    for (size_t i = 0; i < others->n && others->low + i < g->size; i++) {
        uint64_t j = g->size - others->low - i;
        double log_weight =
            (double) j * log(all->theta) - log((double) j) - lbeta((double) j, alpha);
        double term =
            others->weights[i] * presence_present(g->presence, j) * exp(log_weight + base);
        if (j == g->size) /* nobody else: not spread */
            continue;
        shown += term;
        right += term * (double) j / n;
    }
    if (others->low <= g->size && others->low + others->n > g->size)
        top = others->weights[g->size - others->low] * exp(base);
    all->sums.shown += times * shown;
    all->sums.right += times * right;
    all->sums.stray += times * presence_present(g->presence, 0) * top;
}

/* For each of the parts first..last-1, the product of all others meets it; `outside` holds what
 * lies outside of the range. Halving makes log2 of the parts' number products for each. */
static cellar_status windows_leave_one(windows *all, const window *outside, size_t first,
                                       size_t last)
{
    cellar_status status = CELLAR_OK;
    size_t middle = first + (last - first) / 2;
    window inner = {0};

    if (last - first == 1) {
        CELLAR_TRY(window_times(all, outside, first, last, first, &inner));
        window_meet(all, &inner, first);
        goto out;
    }
    CELLAR_TRY(window_times(all, outside, middle, last, (size_t) -1, &inner));
    CELLAR_TRY(windows_leave_one(all, &inner, first, middle));
    window_clear(&inner);
    CELLAR_TRY(window_times(all, outside, first, middle, (size_t) -1, &inner));
    CELLAR_TRY(windows_leave_one(all, &inner, middle, last));
out:
    window_clear(&inner);
    return status;
}

/* ---- the tilt ----------------------------------------------------------------------- */

/* Absent laws at theta, and the mean of the sum when the heaviest value is shown. */
static cellar_status windows_tilt(windows *all, double theta, size_t heaviest, double *mean)
{
    const cellar_group *g = all->group;
    double alpha = g->parts[heaviest].weight;

    all->theta = theta;
    *mean = 1 + theta * (alpha + 1) / (1 - theta); /* near enough: present from 1 on */
    for (size_t i = 0; i < g->n_parts; i++) {
        cellar_count_law law = {1, 0, g->parts[i].weight, theta};
        if (!cellar_tilted_make(&all->absent[i], g->presence, &law, 0, g->size))
            return cellar_fail_memory(all->err, "the risk of a large group");
        if ((double) all->absent[i].n > MAX_WINDOW)
            return cellar_fail(all->err, CELLAR_ERR_UNSUPPORTED,
                               "the exact shrinkage risk of so large a group needs more noise");
        *mean += all->absent[i].mean * ((double) g->parts[i].times - (i == heaviest));
    }
    return CELLAR_OK;
}

/* theta such that the mean is about the size, by bisection on ln(1 - theta): it only has to put
 * the windows where the mass is. */
static cellar_status windows_solve(windows *all)
{
    const cellar_group *g = all->group;
    double low = log(1e-3 / (double) g->size), high = -1e-9, mean;
    size_t heaviest = 0;
    cellar_status status = CELLAR_OK;

    for (size_t i = 1; i < g->n_parts; i++)
        if (g->parts[i].weight > g->parts[heaviest].weight)
            heaviest = i;
    for (int step = 0; step < 40 && status == CELLAR_OK; step++) {
        double middle = (low + high) / 2;
        status = windows_tilt(all, -expm1(middle), heaviest, &mean);
        if (fabs(mean - (double) g->size) < 0.05 * (double) g->size)
            break;
        if (mean > (double) g->size)
            low = middle;
        else
            high = middle;
    }
    return status;
}

/* All absent: what a window of everything holds at the size, less the one-valued counts. */
static void windows_empty(windows *all, const window *everything)
{
    const cellar_group *g = all->group;
    double at = 0, absent = presence_absent(g->presence, g->size);
    if (everything->low <= g->size && everything->low + everything->n > g->size)
        at = everything->weights[g->size - everything->low] *
             exp(everything->log_scale - all->log_norm);
    all->sums.empty = fmax(
        0, at - cellar_group_homogeneous(g) * absent *
                    pow(presence_absent(g->presence, 0), (double) (cellar_group_n_values(g) - 1)));
}

/* Stray values were counted with all other counts, one-valued ones included. */
static void windows_answer(windows *all, cellar_group_spread *out)
{
    const cellar_group *g = all->group;
    cellar_group_spread none = {0};
    cellar_risk single;
    cellar_risk_compose(g->presence, g->size, cellar_group_n_values(g), cellar_group_homogeneous(g),
                        &none, &single);
    *out = all->sums;
    out->stray = fmax(0, out->stray - single.scenario[1]);
}

cellar_status cellar_group_by_window(const cellar_group *group, cellar_group_spread *out,
                                     cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    windows all = {.group = group, .err = err};
    double one = 1, n = (double) group->size;
    window nothing = {0, 1, &one, 0}, everything = {0};

    CELLAR_ASSERT(group->has_prior && group->n_never == 0);
    all.absent = cellar_alloc(group->n_parts, sizeof *all.absent);
    if (all.absent == NULL)
        return cellar_fail_memory(err, "the risk of a large group");
    CELLAR_TRY(windows_solve(&all));
    all.log_norm = n * log(all.theta) - log(n) - lbeta(n, group->total);
    CELLAR_TRY(windows_leave_one(&all, &nothing, 0, group->n_parts));
    CELLAR_TRY(window_times(&all, &nothing, 0, group->n_parts, (size_t) -1, &everything));
    windows_empty(&all, &everything);
    windows_answer(&all, out);
out:
    window_clear(&everything);
    for (size_t i = 0; i < group->n_parts; i++)
        cellar_tilted_clear(&all.absent[i]);
    cellar_free(all.absent);
    return status;
}
