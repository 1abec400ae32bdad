/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With E = e^{-rate sqrt a}, G = sum_{b < a} e^{rate sqrt b} and H = sum_{b >= a} e^{-rate sqrt b},
 * the normaliser is Z(a) = E G + H/E: two sums that are made once serve every count. */
#include "mechanism/kernels/hellinger_weights.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/kernels/hellinger_sums.h"

enum {
    BITS = 128,
    CHUNK = 256,
    N_FIRST = 1 << 14,
    N_LAST = 1 << 20,
    EXPONENT_MAX = 250, /* e^250 = 2^361, squared still far from the ends of doubles */
    REACH =
        60, /* rate (sqrt b - sqrt a) of the last threshold is less, but for rare distributions */
};

/* A set of arrays never changes; a longer one takes its place and both stay. */
typedef struct weights_set {
    struct weights_set *shorter;
    int64_t n;
    double error;
    cellar_dword *rising, *falling; /* e^{rate sqrt b}, e^{-rate sqrt b} */
    cellar_dword *below, *above;    /* sum_{c < b} rising[c], sum_{c >= b} falling[c] */
} weights_set;

struct cellar_hellinger_weights {
    pthread_mutex_t lock;
    weights_set *longest;
};

/* ---- life cycle ------------------------------------------------------------- */

cellar_status cellar_hellinger_weights_create(cellar_hellinger_weights **out, cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    pthread_mutex_init(&(*out)->lock, NULL);
    return CELLAR_OK;
}

static void set_free(weights_set *set)
{
    cellar_free(set->rising);
    cellar_free(set->falling);
    cellar_free(set->below);
    cellar_free(set->above);
    cellar_free(set);
}

void cellar_hellinger_weights_free(cellar_hellinger_weights *weights)
{
    if (weights == NULL)
        return;
    while (weights->longest != NULL) {
        weights_set *set = weights->longest;
        weights->longest = set->shorter;
        set_free(set);
    }
    pthread_mutex_destroy(&weights->lock);
    cellar_free(weights);
}

/* ---- a set -------------------------------------------------------------------- */

static void set_take(weights_set *set, const arb_t ball, cellar_dword *out)
{
    double error;
    *out = cellar_dword_of_ball(ball, &error);
    if (!(error <= set->error))
        set->error = error;
}

/* Running sums, whole chunks at a time, so that no term passes through many additions of error 4.
 */
static void sums_make(weights_set *set)
{
    cellar_dword before = {0}, chunk = {0};
    set->below[0] = before;
    for (int64_t b = 0; b < set->n; b++) {
        chunk = cellar_dword_add(chunk, set->rising[b]);
        set->below[b + 1] = cellar_dword_add(before, chunk);
        if (b % CHUNK == CHUNK - 1) {
            before = set->below[b + 1];
            chunk = (cellar_dword){0};
        }
    }
    before = set->above[set->n];
    chunk = (cellar_dword){0};
    for (int64_t b = set->n - 1; b >= 0; b--) {
        chunk = cellar_dword_add(chunk, set->falling[b]);
        set->above[b] = cellar_dword_add(before, chunk);
        if (b % CHUNK == 0) {
            before = set->above[b];
            chunk = (cellar_dword){0};
        }
    }
    set->error += 4 * (CHUNK + 3 + (double) set->n / CHUNK);
}

/* The exponentials by balls, and H beyond the last. */
static void set_fill(weights_set *set, const arb_t rate)
{
    arb_t t;
    arb_init(t);
    for (int64_t b = 0; b < set->n; b++) {
        arb_sqrt_ui(t, (ulong) b, BITS);
        arb_mul(t, t, rate, BITS);
        arb_exp(t, t, BITS);
        set_take(set, t, &set->rising[b]);
        arb_inv(t, t, BITS);
        set_take(set, t, &set->falling[b]);
    }
    cellar_hellinger_above_ball(rate, set->n, BITS, t);
    set_take(set, t, &set->above[set->n]);
    arb_clear(t);
    sums_make(set);
}

static weights_set *set_create(int64_t n, const arb_t rate)
{
    weights_set *set = cellar_alloc(1, sizeof *set);
    if (set == NULL)
        return NULL;
    set->n = n;
    set->rising = cellar_alloc((size_t) n, sizeof *set->rising);
    set->falling = cellar_alloc((size_t) n, sizeof *set->falling);
    set->below = cellar_alloc((size_t) n + 1, sizeof *set->below);
    set->above = cellar_alloc((size_t) n + 1, sizeof *set->above);
    if (set->rising == NULL || set->falling == NULL || set->below == NULL || set->above == NULL) {
        set_free(set);
        return NULL;
    }
    set_fill(set, rate);
    return set;
}

/* ---- runs ----------------------------------------------------------------------- */

/* *out: a set with at least n weights; NULL when that is too many. */
static cellar_status weights_reach(cellar_hellinger_weights *weights, const arb_t rate, double n,
                                   const weights_set **out, cellar_error *err)
{
    double h = arf_get_d(arb_midref(rate), ARF_RND_NEAR), limit = EXPONENT_MAX / h;
    int64_t n_set = N_FIRST;
    cellar_status status = CELLAR_OK;

    *out = NULL;
    limit = limit * limit < N_LAST ? floor(limit * limit) : N_LAST;
    if (!(n <= limit))
        return CELLAR_OK;
    while ((double) n_set < n)
        n_set *= 2;
    if ((double) n_set > limit)
        n_set = (int64_t) limit;
    pthread_mutex_lock(&weights->lock);
    if (weights->longest == NULL || weights->longest->n < n_set) {
        weights_set *set = set_create(n_set, rate);
        if (set != NULL) {
            set->shorter = weights->longest;
            weights->longest = set;
        } else {
            status = cellar_fail_memory(err, "the weights of a mechanism");
        }
    }
    if (status == CELLAR_OK)
        *out = weights->longest;
    pthread_mutex_unlock(&weights->lock);
    return status;
}

cellar_status cellar_hellinger_weights_run(cellar_hellinger_weights *weights, const arb_t rate,
                                           int64_t count, cellar_run *out, cellar_error *err)
{
    double end = sqrt((double) count) + REACH / arf_get_d(arb_midref(rate), ARF_RND_NEAR);
    const weights_set *set;
    cellar_dword e, scale;
    cellar_status status = weights_reach(weights, rate, end * end + 1, &set, err);

    *out = (cellar_run){.kind = CELLAR_RUN_WEIGHTS, .error = INFINITY};
    if (status != CELLAR_OK || set == NULL)
        return status;
    e = set->falling[count];
    scale = cellar_dword_mul(e, cellar_dword_mul(e, set->below[count]));
    scale = cellar_dword_div((cellar_dword){1, 0}, cellar_dword_add(scale, set->above[count]));
    out->weights = (cellar_run_weights){
        .rising = set->rising,
        .falling = set->falling,
        .scale_falling = scale,
        .scale_rising = cellar_dword_mul(e, cellar_dword_mul(e, scale)),
        .turn = count,
        .n = set->n,
    };
    out->error = 6 * set->error + 64; /* no number comes from more than six others */
    return CELLAR_OK;
}
