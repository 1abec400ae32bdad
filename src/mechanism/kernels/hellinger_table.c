/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With W(b) = e^{rate sqrt b}, G(a) = sum_{b < a} W(b) and H(a) = sum_{b >= a} 1/W(b), P(b | a) is
 * W(b) / (W(a) Z) below a and W(a) / (W(b) Z) from a on, Z = G(a)/W(a) + H(a) W(a). Both sums are
 * made of positive terms, H downwards from where the Euler-Maclaurin formula gives it. */
#include "mechanism/kernels/hellinger_table.h"

#include <pthread.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/kernels/hellinger_sums.h"

enum { WORK = CELLAR_HELLINGER_TABLE_BITS + 48, N_FIRST = 64, REMEMBERED = 32 };

/* One of the two sums. */
typedef struct known_sum {
    int is_above;
    int64_t n, bits; /* bits is 0 when there is none */
    arb_t value;
} known_sum;

struct cellar_hellinger_table {
    pthread_mutex_t lock;
    fmpq_t rate;
    int64_t n;
    arb_ptr w, below, above; /* W(b), G(b), H(b); b < n, b <= n */
    known_sum known[REMEMBERED];
    size_t n_known; /* all there were; the oldest make room */
    cellar_hellinger_start start;
};

cellar_status cellar_hellinger_table_create(const fmpq_t rate, cellar_hellinger_table **out,
                                            cellar_error *err)
{
    cellar_hellinger_table *table = cellar_alloc(1, sizeof *table);
    *out = table;
    if (table == NULL)
        return cellar_fail_memory(err, "a mechanism");
    pthread_mutex_init(&table->lock, NULL);
    fmpq_init(table->rate);
    fmpq_set(table->rate, rate);
    for (int i = 0; i < REMEMBERED; i++)
        arb_init(table->known[i].value);
    cellar_hellinger_start_init(&table->start);
    return CELLAR_OK;
}

static void table_clear(cellar_hellinger_table *table)
{
    if (table->n == 0)
        return;
    _arb_vec_clear(table->w, table->n);
    _arb_vec_clear(table->below, table->n + 1);
    _arb_vec_clear(table->above, table->n + 1);
}

void cellar_hellinger_table_free(cellar_hellinger_table *table)
{
    if (table == NULL)
        return;
    table_clear(table);
    for (int i = 0; i < REMEMBERED; i++)
        arb_clear(table->known[i].value);
    cellar_hellinger_start_clear(&table->start);
    fmpq_clear(table->rate);
    pthread_mutex_destroy(&table->lock);
    cellar_free(table);
}

/* Makes it anew, long enough to hold b. */
static void table_reach(cellar_hellinger_table *table, int64_t b)
{
    int64_t n = table->n > 0 ? table->n : N_FIRST;
    arb_t rate, t;
    if (b < table->n)
        return;
    while (n <= b)
        n *= 2;
    table_clear(table);
    table->n = n;
    table->w = _arb_vec_init(n);
    table->below = _arb_vec_init(n + 1);
    table->above = _arb_vec_init(n + 1);
    arb_init(rate);
    arb_init(t);
    arb_set_fmpq(rate, table->rate, WORK + 64);
    for (int64_t i = 0; i < n; i++) {
        arb_sqrt_ui(t, (ulong) i, WORK + 32);
        arb_mul(t, t, rate, WORK + 32);
        arb_exp(table->w + i, t, WORK);
        arb_add(table->below + i + 1, table->below + i, table->w + i, WORK);
    }
    cellar_hellinger_above_ball(rate, n, WORK, table->above + n);
    for (int64_t i = n; i-- > 0;) {
        arb_inv(t, table->w + i, WORK);
        arb_add(table->above + i, table->above + i + 1, t, WORK);
    }
    arb_clear(rate);
    arb_clear(t);
}

/* Z of a count that is held. */
static void table_z(const cellar_hellinger_table *table, int64_t count, arb_t out)
{
    arb_t t;
    arb_init(t);
    arb_div(t, table->below + count, table->w + count, WORK);
    arb_mul(out, table->above + count, table->w + count, WORK);
    arb_add(out, out, t, WORK);
    arb_clear(t);
}

void cellar_hellinger_table_pmf(cellar_hellinger_table *table, int64_t count, int64_t first,
                                size_t n, arb_ptr out)
{
    int64_t last = first + (int64_t) n;
    arb_t z;
    arb_init(z);
    pthread_mutex_lock(&table->lock);
    table_reach(table, last > count ? last : count);
    table_z(table, count, z);
    for (size_t i = 0; i < n; i++) {
        int64_t b = first + (int64_t) i;
        if (b < count)
            arb_div(out + i, table->w + b, table->w + count, WORK);
        else
            arb_div(out + i, table->w + count, table->w + b, WORK);
        arb_div(out + i, out + i, z, WORK);
    }
    pthread_mutex_unlock(&table->lock);
    arb_clear(z);
}

/* P(at most b), b < count, or P(more than b), b >= count. */
static void table_half(cellar_hellinger_table *table, int64_t count, int64_t b, arb_t out)
{
    arb_t z;
    arb_init(z);
    pthread_mutex_lock(&table->lock);
    table_reach(table, b + 1 > count ? b + 1 : count);
    table_z(table, count, z);
    if (b < count)
        arb_div(out, table->below + b + 1, table->w + count, WORK);
    else
        arb_mul(out, table->above + b + 1, table->w + count, WORK);
    arb_div(out, out, z, WORK);
    pthread_mutex_unlock(&table->lock);
    arb_clear(z);
}

static void one_less(arb_t x)
{
    arb_sub_ui(x, x, 1, WORK);
    arb_neg(x, x);
}

void cellar_hellinger_table_survival(cellar_hellinger_table *table, int64_t count, int64_t b,
                                     arb_t out)
{
    table_half(table, count, b, out);
    if (b < count)
        one_less(out);
}

void cellar_hellinger_table_cdf(cellar_hellinger_table *table, int64_t count, int64_t b, arb_t out)
{
    table_half(table, count, b, out);
    if (b >= count)
        one_less(out);
}

/* ---- single sums ---------------------------------------------------------------------- */

static void table_sum(cellar_hellinger_table *table, int is_above, int64_t n, int64_t bits,
                      arb_t out)
{
    known_sum *place = NULL;
    arb_t rate;
    pthread_mutex_lock(&table->lock);
    for (int i = 0; i < REMEMBERED && place == NULL; i++) {
        known_sum *k = &table->known[i];
        place = k->is_above == is_above && k->n == n && k->bits == bits ? k : NULL;
    }
    if (place == NULL) {
        place = &table->known[table->n_known++ % REMEMBERED];
        place->is_above = is_above;
        place->n = n;
        place->bits = bits;
        arb_init(rate);
        arb_set_fmpq(rate, table->rate, bits + 64);
        if (is_above)
            cellar_hellinger_above_from(&table->start, rate, n, bits, place->value);
        else
            cellar_hellinger_below_from(&table->start, rate, n, bits, place->value);
        arb_clear(rate);
    }
    arb_set(out, place->value);
    pthread_mutex_unlock(&table->lock);
}

void cellar_hellinger_table_below(cellar_hellinger_table *table, int64_t n, int64_t bits, arb_t out)
{
    table_sum(table, 0, n, bits, out);
}

void cellar_hellinger_table_above(cellar_hellinger_table *table, int64_t n, int64_t bits, arb_t out)
{
    table_sum(table, 1, n, bits, out);
}
