/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The two laws of many pairs of Hellinger counts, on what tells them apart: with W(b) = e^{r sqrt
 * b}, P(b | a) is W(a)/Z(a) / W(b) from a on, and W(b) / (W(a) Z(a)) before, so that one list of W
 * serves all. */
#include <math.h>

#include "base/memory.h"
#include "mechanism/facts_hellinger.h"
#include "mechanism/hellinger_sides.h"

typedef struct weights {
    int64_t first;
    long double *rising, *falling; /* W(b) and 1/W(b), divided by those of the first b */
} weights;

static int weights_make(weights *w, long double rate, int64_t first, size_t n)
{
    const long double most = 11000; /* long doubles end at e^11356 */
    long double root = sqrtl((long double) first);
    *w = (weights){.first = first};
    if (!(rate * (sqrtl((long double) first + (long double) n) - root) < most))
        return 0;
    w->rising = cellar_alloc(n, sizeof *w->rising);
    w->falling = cellar_alloc(n, sizeof *w->falling);
    for (size_t i = 0; w->rising != NULL && w->falling != NULL && i < n; i++) {
        w->rising[i] = expl(rate * (sqrtl((long double) (first + (int64_t) i)) - root));
        w->falling[i] = 1 / w->rising[i];
    }
    return w->rising != NULL && w->falling != NULL;
}

static void weights_clear(weights *w)
{
    cellar_free(w->rising);
    cellar_free(w->falling);
}

/* Of one pair, the smaller count at place i of the weights. */
static void shares_put(const weights *w, cellar_hellinger_sides *sides, size_t i, size_t shift,
                       double *out)
{
    int64_t a = w->first + (int64_t) i, b = a + (int64_t) shift;
    cellar_hellinger_side p = cellar_hellinger_sides_at(sides, a);
    cellar_hellinger_side q = cellar_hellinger_sides_at(sides, b);
    long double scale = w->rising[i] / (p.below + p.above);
    long double other = w->falling[i + shift] / (q.below + q.above);
    double *second = out + shift + 1;
    out[0] = (double) ((p.below + 1) / (p.below + p.above));
    second[0] = (double) ((p.below + 1) * w->rising[i] * other);
    for (size_t j = 1; j < shift; j++) {
        out[j] = (double) (scale * w->falling[i + j]);
        second[j] = (double) (other * w->rising[i + j]);
    }
    out[shift] = (double) (q.above * w->falling[i + shift] * scale);
    second[shift] = (double) (q.above / (q.below + q.above));
}

int cellar_hellinger_shares(const cellar_mechanism *m, int64_t first, size_t n, int64_t shift,
                            double *out)
{
    cellar_hellinger_sides *sides = cellar_hellinger_sides_of(m);
    size_t width = (size_t) shift + 1;
    weights w;
    int is_made = weights_make(&w, cellar_hellinger_sides_rate(sides), first, n + width);
    for (size_t i = 0; is_made && i < n; i++)
        shares_put(&w, sides, i, (size_t) shift, out + 2 * i * width);
    weights_clear(&w);
    return is_made;
}
