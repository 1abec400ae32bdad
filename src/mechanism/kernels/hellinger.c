/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The exponential mechanism for the loss |sqrt b - sqrt a|: P(b | a) = e^{-rate |sqrt b - sqrt a|}
 * / Z(a), rate = epsilon/2, b = 0, 1, ... All sums are split at a and made by hellinger_sums.h. */
#include <math.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/special.h"
#include "mechanism/kernels/hellinger_sums.h"
#include "mechanism/kernels/hellinger_table.h"
#include "mechanism/kernels/hellinger_weights.h"
#include "mechanism/kernels/kernel.h"
#include "mechanism/registry.h"

enum { KNOWN_COUNTS = 1 << 14 };

typedef struct hellinger {
    cellar_kernel kernel;
    long double rate;
    struct cellar_hellinger_weights *weights;
    _Atomic double *log_z; /* of the first counts; 0: not asked for yet. Threads may ask together:
                              all find the same */
    cellar_hellinger_table *table;
} hellinger;

static long double rate_of(const cellar_kernel *k)
{
    return ((const hellinger *) k)->rate;
}

/* Sums of d^k e^{-rate |d|}, d = sqrt b - sqrt a, below the count, and from it on. */
static void hellinger_sums(const cellar_kernel *k, int64_t count, int n_sums, long double *below,
                           long double *above)
{
    long double root = sqrtl((long double) count);
    cellar_hellinger_below(rate_of(k), root, count - 1, n_sums, below);
    cellar_hellinger_above(rate_of(k), root, count, n_sums, above);
}

static long double hellinger_z(const cellar_kernel *k, int64_t count)
{
    long double below, above;
    hellinger_sums(k, count, 1, &below, &above);
    return below + above;
}

/* ln Z, which likelihoods ask for again and again. */
static double hellinger_log_z(const cellar_kernel *k, int64_t count)
{
    _Atomic double *place = ((const hellinger *) k)->log_z;
    double known;
    if (count >= KNOWN_COUNTS)
        return (double) logl(hellinger_z(k, count));
    known = atomic_load_explicit(&place[count], memory_order_relaxed);
    if (known == 0) {
        known = (double) logl(hellinger_z(k, count));
        atomic_store_explicit(&place[count], known, memory_order_relaxed);
    }
    return known;
}

static long double hellinger_log_p(const cellar_kernel *k, int64_t count, int64_t b)
{
    long double a = (long double) count, x = (long double) b;
    long double distance = count == b ? 0 : fabsl(x - a) / (sqrtl(x) + sqrtl(a));
    return -rate_of(k) * distance - (long double) hellinger_log_z(k, count);
}

static void rate_ball(const cellar_kernel *k, int64_t bits, arb_t out)
{
    arb_set_fmpq(out, cellar_kernel_parameter(k, "epsilon")->value, bits);
    arb_mul_2exp_si(out, out, -1);
}

/* factor = e^{rate sqrt count}, z = Z(count). */
static void z_balls(const cellar_kernel *k, const arb_t rate, int64_t count, int64_t bits,
                    arb_t factor, arb_t z)
{
    cellar_hellinger_table *table = ((const hellinger *) k)->table;
    arb_t t;
    arb_init(t);
    arb_sqrt_ui(factor, (ulong) count, bits);
    arb_mul(factor, factor, rate, bits);
    arb_exp(factor, factor, bits);
    cellar_hellinger_table_above(table, count, bits, z);
    arb_mul(z, z, factor, bits);
    if (count > 0) {
        cellar_hellinger_table_below(table, count - 1, bits, t);
        arb_div(t, t, factor, bits);
        arb_add(z, z, t, bits);
    }
    arb_clear(t);
}

/* The table of small numbers, where it is precise enough. */
static cellar_hellinger_table *table_of(const cellar_kernel *k, int64_t count, int64_t b,
                                        int64_t bits)
{
    const int64_t most = CELLAR_HELLINGER_TABLE_MAX;
    int is_held = bits <= CELLAR_HELLINGER_TABLE_BITS && count < most && b < most;
    return is_held ? ((const hellinger *) k)->table : NULL;
}

static void hellinger_p_balls(const cellar_kernel *k, int64_t count, int64_t first, size_t n,
                              int64_t bits, arb_ptr out)
{
    cellar_hellinger_table *table = table_of(k, count, first + (int64_t) n, bits);
    int64_t work = bits + 32;
    arb_t rate, factor, z;
    if (table != NULL) {
        cellar_hellinger_table_pmf(table, count, first, n, out);
        return;
    }
    arb_init(rate);
    arb_init(factor);
    arb_init(z);
    rate_ball(k, work + 64, rate);
    z_balls(k, rate, count, work, factor, z);
    for (size_t i = 0; i < n; i++) {
        int64_t b = first + (int64_t) i;
        arb_sqrt_ui(out + i, (ulong) b, work);
        arb_mul(out + i, out + i, rate, work);
        if (b >= count)
            arb_neg(out + i, out + i);
        arb_exp(out + i, out + i, bits + 16);
        if (b >= count)
            arb_mul(out + i, out + i, factor, bits + 16);
        else
            arb_div(out + i, out + i, factor, bits + 16);
        arb_div(out + i, out + i, z, bits + 16);
    }
    arb_clear(z);
    arb_clear(factor);
    arb_clear(rate);
}

/* ---- slots ------------------------------------------------------------------- */

/* P(at most b) and P(more than b). */
static void hellinger_tails(const cellar_kernel *k, int64_t count, int64_t b, long double *below,
                            long double *above)
{
    long double root = sqrtl((long double) count), z = hellinger_z(k, count);
    if (b < count) {
        cellar_hellinger_below(rate_of(k), root, b, 1, below);
        *below /= z;
        *above = 1 - *below;
    } else {
        cellar_hellinger_above(rate_of(k), root, b + 1, 1, above);
        *above /= z;
        *below = 1 - *above;
    }
}

static double hellinger_cdf(const cellar_mechanism *m, int64_t count, int64_t released)
{
    long double below, above;
    if (released < 0 || released == INT64_MAX)
        return released >= 0;
    hellinger_tails((const cellar_kernel *) m, count, released, &below, &above);
    return (double) below;
}

static double hellinger_survival(const cellar_mechanism *m, int64_t count, int64_t released)
{
    long double below, above;
    if (released < 0 || released == INT64_MAX)
        return released < 0;
    hellinger_tails((const cellar_kernel *) m, count, released, &below, &above);
    return (double) above;
}

/* P(at most b), b < count, or P(more than b), b >= count: the smaller half, and precise. */
static void half_ball(const cellar_kernel *k, int64_t count, int64_t b, int64_t bits, arb_t out)
{
    cellar_hellinger_table *table = ((const hellinger *) k)->table;
    int64_t work = bits + 32;
    arb_t rate, factor, z;
    arb_init(rate);
    arb_init(factor);
    arb_init(z);
    rate_ball(k, work + 64, rate);
    z_balls(k, rate, count, work, factor, z);
    if (b < count) {
        cellar_hellinger_table_below(table, b, work, out);
        arb_div(out, out, factor, work);
    } else {
        cellar_hellinger_table_above(table, b + 1, work, out);
        arb_mul(out, out, factor, work);
    }
    arb_div(out, out, z, work);
    arb_clear(z);
    arb_clear(factor);
    arb_clear(rate);
}

static void one_less(arb_t x, int64_t bits)
{
    arb_sub_ui(x, x, 1, bits);
    arb_neg(x, x);
}

static void hellinger_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                    int64_t bits, arb_t out)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    cellar_hellinger_table *table = table_of(k, count, released, bits);
    if (released < 0) {
        arb_one(out);
    } else if (table != NULL) {
        cellar_hellinger_table_survival(table, count, released, out);
    } else {
        half_ball(k, count, released, bits, out);
        if (released < count)
            one_less(out, bits + 32);
    }
}

static void hellinger_cdf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                               int64_t bits, arb_t out)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    cellar_hellinger_table *table = table_of(k, count, released, bits);
    if (released < 0) {
        arb_zero(out);
    } else if (table != NULL) {
        cellar_hellinger_table_cdf(table, count, released, out);
    } else {
        half_ball(k, count, released, bits, out);
        if (released >= count)
            one_less(out, bits + 32);
    }
}

static void hellinger_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                              int64_t *high)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    int64_t step = 1, near_end = count, below_end = -1, above_end = count;
    *low = 0;
    *high = INT64_MAX;
    if (!(tail > 0))
        return;
    tail *= 0.5 * (1 - 1e-12);
    while (hellinger_survival(m, count, above_end) > tail) {
        near_end = above_end;
        above_end += step;
        step *= 2;
    }
    while (above_end - near_end > 1) {
        int64_t middle = near_end + (above_end - near_end) / 2;
        if (hellinger_survival(m, count, middle) > tail)
            near_end = middle;
        else
            above_end = middle;
    }
    near_end = count; /* the largest b with P(at most b) <= tail */
    while (near_end - below_end > 1) {
        int64_t middle = below_end + (near_end - below_end) / 2;
        if (hellinger_cdf(&k->base, count, middle) > tail)
            near_end = middle;
        else
            below_end = middle;
    }
    *low = below_end + 1;
    *high = above_end;
}

/* With M_k = E d^k and b - a = d^2 + 2 sqrt(a) d; entropy ln Z + rate E|d|. */
static void hellinger_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out)
{
    const cellar_kernel *k = (const cellar_kernel *) m;
    long double below[CELLAR_HELLINGER_POWERS], above[CELLAR_HELLINGER_POWERS];
    long double d[CELLAR_HELLINGER_POWERS], root = sqrtl((long double) count), z, bias;
    hellinger_sums(k, count, CELLAR_HELLINGER_POWERS, below, above);
    z = below[0] + above[0];
    for (int i = 0; i < CELLAR_HELLINGER_POWERS; i++)
        d[i] = (below[i] + above[i]) / z;
    bias = d[2] + 2 * root * d[1];
    out->mean = (double) ((long double) count + bias);
    out->variance = (double) (d[4] + 4 * root * d[3] + 4 * root * root * d[2] - bias * bias);
    out->entropy = (double) (log1pl(z - 1) + rate_of(k) * (above[1] - below[1]) / z);
}

/* rate (sqrt(2b) - sqrt b) >= ln 4: with room, 2/5 rate sqrt b >= 3/2 */
static int hellinger_settles(const cellar_kernel *k, int64_t count, int64_t b)
{
    return b >= count && rate_of(k) * sqrtl((long double) b) >= 3.75L;
}

static cellar_status hellinger_run(const cellar_kernel *k, int64_t count, int64_t first,
                                   cellar_run *out, cellar_error *err)
{
    cellar_status status;
    arb_t rate;
    CELLAR_ASSERT(first == 0);
    arb_init(rate);
    rate_ball(k, (int64_t) 2 * CELLAR_KERNEL_RUN_BITS, rate);
    status = cellar_hellinger_weights_run(((const hellinger *) k)->weights, rate, count, out, err);
    arb_clear(rate);
    return status;
}

static const cellar_count_law hellinger_law = {
    .run = hellinger_run,
    .run_from_zero = INT64_MAX,
    .settles = hellinger_settles,
    .log_p = hellinger_log_p,
    .p_balls = hellinger_p_balls,
};

static cellar_status hellinger_init(cellar_mechanism *m, cellar_error *err)
{
    hellinger *h = (hellinger *) m;
    const fmpq *epsilon = cellar_kernel_parameter(&h->kernel, "epsilon")->value;
    cellar_status status = cellar_hellinger_weights_create(&h->weights, err);
    fmpq_t rate;
    fmpq_init(rate);
    fmpq_div_2exp(rate, epsilon, 1);
    CELLAR_TRY(status);
    CELLAR_TRY(cellar_hellinger_table_create(rate, &h->table, err));
    h->log_z = cellar_alloc(KNOWN_COUNTS, sizeof *h->log_z);
    if (h->log_z == NULL)
        CELLAR_TRY(cellar_fail_memory(err, "a mechanism"));
    h->rate = cellar_long_double_of_rational(rate);
    status = cellar_kernel_init(m, &hellinger_law, err);
out:
    fmpq_clear(rate);
    return status;
}

static void hellinger_clear(cellar_mechanism *m)
{
    cellar_hellinger_weights_free(((hellinger *) m)->weights);
    cellar_hellinger_table_free(((hellinger *) m)->table);
    cellar_free(((hellinger *) m)->log_z);
    cellar_kernel_clear(m);
}

static const cellar_parameter_rule hellinger_parameters[] = {
    {.name = "epsilon", .required = 1, .at_least = "0.001", .at_most = "1000"},
    {0},
};

const cellar_mechanism_ops cellar_hellinger_ops = {
    .name = "hellinger",
    .revision = 1,
    .summary = "exponential in the distance of roots",
    .size = sizeof(hellinger),
    .parameters = hellinger_parameters,
    .init = hellinger_init,
    .clear = hellinger_clear,
    .facts = &cellar_hellinger_facts,
    CELLAR_KERNEL_SLOTS_BASIC,
    .support = hellinger_support,
    .cdf = hellinger_cdf,
    .survival = hellinger_survival,
    .moments = hellinger_moments,
    .survival_ball = hellinger_survival_ball,
    .cdf_ball = hellinger_cdf_ball,
};
