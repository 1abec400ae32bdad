/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of numbers whose law depends on each count: H. Chernoff's bound, and J.-L. Lagrange's.
 *
 * With M(a, s) = E[e^{s x} | a] and T the sum of the numbers x, counts a_1, a_2, ... are kept if no
 * theta > 0 makes  P(T <= t) <= e^{theta t} prod M(a_i, -theta)  smaller than the tail. Then
 * 0 <= theta t - ln tail + sum ln M(a_i, -theta), and for every lambda > 0
 *
 *     lambda sum a_i <= theta t - ln tail + sum max over a_i [ln M(a_i, -theta) + lambda a_i],
 *
 * each maximum over its own side of the box. Every theta and lambda give a valid limit; the best
 * ones are looked for. The lower limit is the same with theta for -theta. */
#include <math.h>

#include "base/error.h"
#include "base/memory.h"
#include "inference/interval_box.h"
#include "mechanism/mechanism.h"

enum { WORK_MAX = 3000000, THETAS = 11, GOLDEN_STEPS = 24 };
static const double ROW_TAIL = 1e-20, NEGLIGIBLE = 1e-9;

/* The law of the number for one count. */
typedef struct row {
    int64_t count, first;
    size_t n, at; /* its probabilities: pmf[at..at + n) */
    double log_m; /* ln M(count, s) at the present s */
} row;

typedef struct rows {
    const cellar_box *box;
    row *items; /* in order of count */
    size_t n, n_pmf;
    double *pmf;
} rows;

/* ---- laws ------------------------------------------------------------------------- */

static row row_of(const rows *r, int64_t count)
{
    row made = {.count = count, .at = r->n_pmf};
    int64_t last;
    cellar_mechanism_support(r->box->channel->mechanism, count, ROW_TAIL, &made.first, &last);
    if (made.first > 0 && cellar_channel_clamp(r->box->channel, made.first) == 0)
        made.first = 0; /* room for what becomes zero */
    made.n = (size_t) (last - made.first) + 1;
    return made;
}

/* Numbers that became zero are counted there. */
static void row_fill(const rows *r, const row *made)
{
    for (size_t k = 0; k < made->n; k++) {
        int64_t x = made->first + (int64_t) k;
        double p = cellar_mechanism_pmf(r->box->channel->mechanism, made->count, x);
        x = cellar_channel_clamp(r->box->channel, x);
        r->pmf[made->at + (size_t) (x - made->first)] += p;
    }
}

/* Sides overlap: counts below `next` have been looked at. */
static int64_t side_first(const cellar_box_side *side, int64_t next)
{
    return (int64_t) side->low > next ? (int64_t) side->low : next;
}

static int64_t side_next(const cellar_box_side *side, int64_t next)
{
    return (int64_t) side->high + 1 > next ? (int64_t) side->high + 1 : next;
}

/* How many counts there are in all sides, and what room their laws take; 0: too much. */
static int rows_measure(rows *r)
{
    int64_t next = 0;
    for (size_t i = 0; i < r->box->n_sides; i++) {
        const cellar_box_side *side = &r->box->sides[i];
        if (!(side->high - side->low < WORK_MAX))
            return 0;
        for (int64_t a = side_first(side, next); a <= (int64_t) side->high; a++, r->n++) {
            r->n_pmf += row_of(r, a).n;
            if (r->n_pmf > WORK_MAX)
                return 0;
        }
        next = side_next(side, next);
    }
    return 1;
}

static cellar_status rows_fill(rows *r, cellar_error *err)
{
    int64_t next = 0;
    r->items = cellar_alloc(r->n, sizeof *r->items);
    r->pmf = cellar_alloc(r->n_pmf, sizeof *r->pmf);
    if (r->items == NULL || r->pmf == NULL)
        return cellar_fail_memory(err, "the interval of a sum");
    r->n = r->n_pmf = 0;
    for (size_t i = 0; i < r->box->n_sides; i++) {
        const cellar_box_side *side = &r->box->sides[i];
        for (int64_t a = side_first(side, next); a <= (int64_t) side->high; a++) {
            row made = row_of(r, a);
            row_fill(r, &made);
            r->items[r->n++] = made;
            r->n_pmf += made.n;
        }
        next = side_next(side, next);
    }
    return CELLAR_OK;
}

/* Where the row of a count is. */
static size_t rows_find(const rows *r, double count)
{
    size_t low = 0, high = r->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if ((double) r->items[middle].count < count)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ln M at s, of every count; infinite where the sum does not settle. */
static void rows_transform(rows *r, double s)
{
    for (size_t i = 0; i < r->n; i++) {
        row *item = &r->items[i];
        const double *pmf = r->pmf + item->at, up = exp(s);
        double sum = 0, first = 0, last = 0, factor = exp(s * (double) (item->first - item->count));
        for (size_t k = 0; k < item->n; k++) {
            last = pmf[k] * factor;
            first = k == 0 ? last : first;
            sum += last;
            factor *= up;
        }
        item->log_m = log(sum) + s * (double) item->count;
        if (item->n > 1 && (s > 0 ? last : first) > NEGLIGIBLE * sum &&
            pmf[s > 0 ? item->n - 1 : 0] < NEGLIGIBLE)
            item->log_m = INFINITY;
    }
}

/* ---- limits ------------------------------------------------------------------------ */

/* The sum of max [ln M + slope a] over the sides. */
static double rows_support(const rows *r, double slope)
{
    double sum = 0;
    for (size_t i = 0; i < r->box->n_sides; i++) {
        const cellar_box_side *side = &r->box->sides[i];
        double best = -INFINITY;
        size_t k = rows_find(r, side->low);
        for (; k < r->n && (double) r->items[k].count <= side->high; k++)
            best = fmax(best, r->items[k].log_m + slope * (double) r->items[k].count);
        sum += (double) side->n_cells * best;
    }
    return sum;
}

/* The limit for lambda: the upper one, or the lower one with its sign changed. */
static double limit_at(const rows *r, double s, double lambda)
{
    double rest = -s * (double) r->box->total - log(r->box->tail);
    return (rest + rows_support(r, s < 0 ? lambda : -lambda)) / lambda;
}

/* The best limit at s, over lambda: a quotient of a convex function and lambda has one valley. */
static double limit_best(rows *r, double s)
{
    const double golden = 0.6180339887498949;
    double low = log(fabs(s) / 20), high = log(fabs(s) * 20), a, b;
    double left = high - golden * (high - low), right = low + golden * (high - low);
    rows_transform(r, s);
    a = limit_at(r, s, exp(left));
    b = limit_at(r, s, exp(right));
    for (int i = 0; i < GOLDEN_STEPS; i++) {
        if (a < b) {
            high = right;
            right = left;
            b = a;
            left = high - golden * (high - low);
            a = limit_at(r, s, exp(left));
        } else {
            low = left;
            left = right;
            a = b;
            right = low + golden * (high - low);
            b = limit_at(r, s, exp(right));
        }
    }
    return fmin(a, b);
}

/* About the standard deviation of the sum: of counts near the numbers. */
static double rows_deviation(const rows *r)
{
    double variance = 0, mean, own;
    for (size_t i = 0; i < r->box->n_sides; i++) {
        const cellar_box_side *side = &r->box->sides[i];
        double near = fmin(fmax((double) side->number, side->low), side->high);
        cellar_mechanism_mean_variance(r->box->channel->mechanism, (int64_t) near, &mean, &own);
        variance += (double) side->n_cells * own;
    }
    return sqrt(fmax(variance, 0.01));
}

cellar_status cellar_box_kernel(const cellar_box *box, double *low, double *high, cellar_error *err)
{
    rows r = {.box = box};
    cellar_status status = CELLAR_OK;
    double scale;
    if (!rows_measure(&r))
        return CELLAR_OK; /* the box itself is the answer */
    status = rows_fill(&r, err);
    scale = status == CELLAR_OK ? 0.4 / rows_deviation(&r) : 0;
    for (int i = 0; i < THETAS && status == CELLAR_OK; i++) {
        double upper = limit_best(&r, -scale), lower = -limit_best(&r, scale);
        if (!isnan(upper))
            *high = fmin(*high, floor(upper + 1e-9));
        if (!isnan(lower))
            *low = fmax(*low, ceil(lower - 1e-9));
        scale *= 1.4;
    }
    cellar_free(r.items);
    cellar_free(r.pmf);
    return status;
}
