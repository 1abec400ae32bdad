/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/losses.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"
#include "math/rational.h"
#include "math/work.h"

enum { VALUES_MAX = 1 << 18, BITS = 96 };

cellar_status cellar_losses_init(cellar_losses *losses, size_t n, cellar_error *err)
{
    *losses = (cellar_losses){0};
    losses->items = cellar_alloc(n, sizeof *losses->items);
    if (losses->items == NULL)
        return cellar_fail_memory(err, "privacy losses");
    fmpq_init(losses->offset);
    fmpq_init(losses->spacing);
    fmpq_init(losses->largest);
    return CELLAR_OK;
}

void cellar_losses_clear(cellar_losses *losses)
{
    if (losses->items == NULL)
        return;
    cellar_free(losses->items);
    fmpq_clear(losses->offset);
    fmpq_clear(losses->spacing);
    fmpq_clear(losses->largest);
    *losses = (cellar_losses){0};
}

/* ---- which values ----------------------------------------------------------------------- */

/* Values that are listed on their own. What lies below and above them has the loss of the first
 * and the last when the ends are flat. Else, of a monotone pair, what lies on the side of small
 * losses is put with the smallest one listed, and what lies on the other counts as infinite. */
typedef struct window {
    int64_t low, high;
} window;

static window window_of(const cellar_pair *pair, double tail)
{
    const int64_t smaller = pair->p->count < pair->q->count ? pair->p->count : pair->q->count;
    const int64_t larger = pair->p->count + pair->q->count - smaller;
    window w;
    if (pair->is_flat) {
        w = (window){smaller - pair->flat_margin, larger + pair->flat_margin};
        w.low = w.low < pair->p->low ? pair->p->low : w.low;
        w.high = w.high > pair->p->high ? pair->p->high : w.high;
        return w;
    }
    cellar_distribution_window(pair->p, tail, &w.low, &w.high);
    cellar_distribution_cut(pair->p, &w.high);
    return w;
}

/* ---- one value --------------------------------------------------------------------------- */

/* ln(p/q), and by how much the double may be wrong. */
static void loss_of(const arb_t p, const arb_t q, arb_t work, double *loss, double *error)
{
    arb_div(work, p, q, BITS);
    arb_log(work, work, BITS);
    *loss = arf_get_d(arb_midref(work), ARF_RND_NEAR);
    *error = fmax(*error, 0x1p-52 * fabs(*loss) + 0x1p-70);
    if (!arb_is_finite(work) || mag_cmp_2exp_si(arb_radref(work), -70) > 0)
        *error = INFINITY;
}

/* The mass of P at b, the lumps of flat ends included. */
static void mass_of(const cellar_pair *pair, cellar_distribution *side, const window *w, int64_t b,
                    arb_t out)
{
    if (pair->is_flat && b == w->low)
        cellar_distribution_lower(side, b, BITS, out);
    else if (pair->is_flat && b == w->high)
        cellar_distribution_upper(side, b, BITS, out);
    else
        cellar_distribution_pmf(side, b, BITS, out);
}

/* The mass of P at b and its loss in doubles, where these hold both: with u = CELLAR_NEAR_ERROR the
 * quotient is right to 2u + 2^-53 of itself, and log to an ulp. A loss whose Q is below what
 * doubles hold counts as infinite. 0: the value is not held, and *is_known 0 says that balls are
 * needed. */
static int near_loss(const cellar_pair *pair, int64_t b, cellar_loss *item, cellar_losses *out,
                     double *error, int *is_known)
{
    double p, q;
    *is_known = !pair->is_flat && cellar_distribution_near(pair->p, b, &p) &&
                cellar_distribution_near(pair->q, b, &q);
    if (!*is_known)
        return 0;
    item->mass = p > 0 ? p * (1 + 2 * CELLAR_NEAR_ERROR) : CELLAR_NEAR_LEAST;
    if (!(p > 0) || !(q > 0)) {
        out->infinite = nextafter(out->infinite + item->mass, 2);
        return 0;
    }
    item->loss = log(p / q);
    *error = 3 * CELLAR_NEAR_ERROR + 0x1p-52 * fabs(item->loss);
    return 1;
}

/* The same in balls; 0 where P has nothing, or the loss is infinite. */
static int ball_loss(const cellar_pair *pair, const window *w, int64_t b, cellar_loss *item,
                     cellar_losses *out, double *error)
{
    int is_listed;
    arb_t p, q, work;
    arb_init(p);
    arb_init(q);
    arb_init(work);
    mass_of(pair, pair->p, w, b, p);
    mass_of(pair, pair->q, w, b, q);
    item->mass = cellar_ball_upper(p);
    is_listed = arb_is_positive(q) && !arb_is_zero(p);
    if (is_listed) {
        loss_of(p, q, work, &item->loss, error);
    } else if (!arb_is_zero(p)) {
        out->infinite = nextafter(out->infinite + item->mass, 2);
        if (arb_is_zero(q))
            out->infinite_true += cellar_ball_lower(p) * (1 - 0x1p-40);
    }
    arb_clear(p);
    arb_clear(q);
    arb_clear(work);
    return is_listed;
}

/* Lists the values of the window in the order of b; answers 1 when all losses are rational, and
 * puts them into `exact`. */
static int list_values(const cellar_pair *pair, const window *w, cellar_losses *out, fmpq *exact)
{
    int is_exact = 1;
    for (int64_t b = w->low; b <= w->high; b += pair->step) {
        cellar_loss *item = &out->items[out->n];
        double error = 0;
        int is_known;
        item->index = b - w->low;
        if (!near_loss(pair, b, item, out, &error, &is_known) &&
            (is_known || !ball_loss(pair, w, b, item, out, &error)))
            continue;
        is_exact = is_exact && cellar_pair_log_ratio(pair, b, exact + out->n);
        if (is_exact) {
            item->loss = cellar_rational_double(exact + out->n);
            error = fabs(item->loss) * 0x1p-52;
        }
        out->loss_error = fmax(out->loss_error, error);
        out->n++;
    }
    return is_exact && out->n > 0;
}

/* Adds what lies outside the window to the smallest loss, or to the infinite ones. */
static void add_tails(const cellar_pair *pair, const window *w, cellar_losses *out)
{
    const int rising = pair->p->count > pair->q->count;
    for (int upper = 0; upper < 2 && !pair->is_flat; upper++) {
        const double mass = upper ? cellar_distribution_above(pair->p, w->high)
                                  : cellar_distribution_below(pair->p, w->low);
        if (mass <= 0)
            continue;
        if (!pair->is_monotone || upper == rising || out->n == 0) {
            out->infinite = nextafter(out->infinite + mass, 2);
        } else {
            cellar_loss *smallest = &out->items[rising ? 0 : out->n - 1];
            smallest->mass = nextafter(smallest->mass + mass, 2);
            out->moved += mass;
        }
    }
}

/* ---- all of them --------------------------------------------------------------------------- */

static int by_loss(const void *a, const void *b)
{
    const cellar_loss *x = a, *y = b;
    if (x->loss != y->loss)
        return x->loss > y->loss ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static cellar_status fill(const cellar_pair *pair, const window *w, cellar_losses *out,
                          cellar_error *err)
{
    const size_t n = (size_t) (w->high - w->low) + 1;
    fmpq *exact = cellar_alloc(n, sizeof *exact);
    if (exact == NULL)
        return cellar_fail_memory(err, "privacy losses");
    for (size_t i = 0; i < n; i++)
        fmpq_init(exact + i);
    cellar_work_add(20 * (double) n);
    if (list_values(pair, w, out, exact))
        cellar_losses_find_lattice(out, exact);
    else if (isfinite(out->loss_error))
        cellar_losses_find_steps(out);
    for (size_t i = 0; i < n; i++)
        fmpq_clear(exact + i);
    cellar_free(exact);
    add_tails(pair, w, out);
    qsort(out->items, out->n, sizeof *out->items, by_loss);
    if (isfinite(out->loss_error) && !cellar_work_is_over())
        return CELLAR_OK;
    return cellar_fail(err, CELLAR_ERR_OVERFLOW, "%s: a loss could not be enclosed",
                       cellar_mechanism_spec(pair->p->m));
}

cellar_status cellar_losses_create(const cellar_pair *pair, double tail, cellar_losses *out,
                                   cellar_error *err)
{
    const window w = window_of(pair, tail);
    cellar_status status;
    if (w.high - w.low >= VALUES_MAX)
        return cellar_fail(err, CELLAR_ERR_OVERFLOW,
                           "%s: the distribution takes more than %d released values",
                           cellar_mechanism_spec(pair->p->m), VALUES_MAX);
    status = cellar_losses_init(out, (size_t) (w.high - w.low) + 1, err);
    if (status != CELLAR_OK)
        return status;
    status = fill(pair, &w, out, err);
    if (status != CELLAR_OK)
        cellar_losses_clear(out);
    return status;
}
