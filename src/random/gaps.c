/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A geometric number G, P(G >= g) = r^g with r = 1 - p, has independent digits: r^g is the product
 * of r^(w d) over its digits d of weight w, so P(D <= j) = (1 - r^(w(j+1))) / (1 - r^(wR)) for the
 * digits below the highest, R the radix. The highest digit is unbounded, and its table is short
 * once w p is not small; for a p so small that 2^63 trials are likely to bring no success, the
 * highest only tells whether G reaches 2^63. */
#include "random/gaps.h"

#include "base/error.h"
#include "base/memory.h"
#include "math/ball.h"

enum { GAPS_RADIX_BITS = 8, GAPS_DIGITS_MAX = 9, GAPS_TOP_SHIFT = 63 };

typedef struct gaps_digit {
    cellar_gaps_probability *probability;
    const void *context;
    int shift;    /* the weight is 2^shift */
    int64_t last; /* the largest value; INT64_MAX: unbounded */
    cellar_search_table table;
} gaps_digit;

struct cellar_gaps {
    gaps_digit digits[GAPS_DIGITS_MAX];
    size_t n_digits;
};

/* 1 - r^(w (j+1)), without loss for small p. */
static void digit_complement(const gaps_digit *digit, const arb_t log_r, int64_t j, int64_t bits,
                             arb_t out)
{
    arb_mul_si(out, log_r, j + 1, bits);
    arb_mul_2exp_si(out, out, digit->shift);
    arb_expm1(out, out, bits);
    arb_neg(out, out);
}

static void digit_cdf_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    const gaps_digit *digit = context;
    int64_t work = bits + 96;
    arb_t log_r, all;

    arb_init(log_r);
    arb_init(all);
    digit->probability(digit->context, work, log_r);
    arb_neg(log_r, log_r);
    arb_log1p(log_r, log_r, work);
    arb_one(all);
    if (digit->last != INT64_MAX && digit->shift != GAPS_TOP_SHIFT)
        digit_complement(digit, log_r, digit->last, work, all);
    for (size_t i = 0; i < n; i++) {
        digit_complement(digit, log_r, first + (int64_t) i, work, out + i);
        arb_div(out + i, out + i, all, work);
    }
    arb_clear(all);
    arb_clear(log_r);
}

/* The values of the digit of weight 2^shift: unbounded when a short table will do. */
static int64_t digit_last(double p, int shift)
{
    if (p * (double) (UINT64_C(1) << shift) * (1 << GAPS_RADIX_BITS) >= 48)
        return INT64_MAX; /* r^(wR) < 2^-64 */
    if (shift == GAPS_TOP_SHIFT)
        return 1;
    return (1 << (shift + GAPS_RADIX_BITS > GAPS_TOP_SHIFT ? GAPS_TOP_SHIFT - shift
                                                           : GAPS_RADIX_BITS)) -
           1;
}

cellar_status cellar_gaps_create(cellar_gaps_probability *probability, const void *context,
                                 cellar_gaps **out, cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    cellar_gaps *gaps = cellar_alloc(1, sizeof *gaps);
    double p;
    arb_t ball;

    *out = NULL;
    if (gaps == NULL)
        return cellar_fail_memory(err, "a sampler");
    arb_init(ball);
    probability(context, 64, ball);
    p = cellar_ball_lower(ball);
    arb_clear(ball);
    for (int shift = 0, top = 0; !top; shift += GAPS_RADIX_BITS) {
        gaps_digit *digit = &gaps->digits[gaps->n_digits];
        cellar_law law = {digit_cdf_balls, digit, 0};
        CELLAR_ASSERT(gaps->n_digits < GAPS_DIGITS_MAX);
        if (shift > GAPS_TOP_SHIFT)
            shift = GAPS_TOP_SHIFT;
        *digit = (gaps_digit){.probability = probability,
                              .context = context,
                              .shift = shift,
                              .last = digit_last(p, shift)};
        top = digit->last == INT64_MAX || shift == GAPS_TOP_SHIFT;
        law.last = digit->last;
        CELLAR_TRY(cellar_search_table_init(&digit->table, law, 1 << 16, err));
        gaps->n_digits++;
    }
    *out = gaps;
    gaps = NULL;
out:
    cellar_gaps_free(gaps);
    return status;
}

void cellar_gaps_free(cellar_gaps *gaps)
{
    if (gaps == NULL)
        return;
    for (size_t i = 0; i < gaps->n_digits; i++)
        cellar_search_table_clear(&gaps->digits[i].table);
    cellar_free(gaps);
}

cellar_status cellar_gaps_next(const cellar_gaps *gaps, cellar_search *search, uint64_t *n_failures,
                               cellar_error *err)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < gaps->n_digits; i++) {
        const gaps_digit *digit = &gaps->digits[i];
        int64_t value;
        cellar_status status = cellar_search_draw(search, &digit->table, &value, err);
        if (status != CELLAR_OK)
            return status;
        if (value != 0 && (uint64_t) value > (UINT64_MAX >> 1 >> digit->shift)) {
            *n_failures = UINT64_MAX;
            return CELLAR_OK;
        }
        sum += (uint64_t) value << digit->shift;
    }
    *n_failures = sum >> GAPS_TOP_SHIFT != 0 ? UINT64_MAX : sum;
    return CELLAR_OK;
}
