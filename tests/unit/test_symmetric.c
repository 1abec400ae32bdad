/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The block sampler against a second algorithm: the exact law, cell by cell, on the same bits. */
#include "check.h"

#include <string.h>

#include "random/rng.h"
#include "random/symmetric.h"

enum { BLOCK = 1024, PARTS = 3 };

static cellar_error err;

/* P(S < 0) = 0.3, P(S != 0) = 0.6, as in tenths. */
static void sign_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, 3 * (first + (int64_t) i + 1));
        arb_div_ui(out + i, out + i, 10, bits);
    }
}

/* 1 - e^{-(j+1)/2}. */
static void high_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, -(first + (int64_t) i + 1));
        arb_mul_2exp_si(out + i, out + i, -1);
        arb_expm1(out + i, out + i, bits);
        arb_neg(out + i, out + i);
    }
}

/* Fifths of 0..4. */
static void low_balls(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        arb_set_si(out + i, first + (int64_t) i + 1);
        arb_div_ui(out + i, out + i, 5, bits);
    }
}

static const cellar_law SIGN = {sign_balls, NULL, 2};
static const cellar_law DIGITS[] = {{low_balls, NULL, 4}, {high_balls, NULL, INT64_MAX}};
static const int64_t WEIGHTS[] = {1, 5};

static cellar_symmetric *create(void)
{
    cellar_symmetric *s;
    assert_int_equal(cellar_symmetric_create(SIGN, DIGITS, WEIGHTS, 2, &s, &err), CELLAR_OK);
    return s;
}

/* Bytes written beforehand; what is beyond them is one byte repeated. */
typedef struct script {
    unsigned char bytes[1 << 18];
    size_t length, at;
    unsigned char then;
    size_t n_beyond;
} script;

static cellar_status script_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    script *s = context;
    (void) e;
    for (size_t i = 0; i < length; i++, s->at++) {
        ((unsigned char *) bytes)[i] = s->at < s->length ? s->bytes[s->at] : s->then;
        s->n_beyond += s->at >= s->length;
    }
    return CELLAR_OK;
}

static void script_fill(script *s, uint64_t seed)
{
    cellar_rng *rng;
    assert_int_equal(cellar_rng_create_seeded(seed, 0, &rng, &err), CELLAR_OK);
    assert_int_equal(cellar_rng_bytes(rng, s->bytes, sizeof s->bytes, &err), CELLAR_OK);
    cellar_rng_free(rng);
    s->length = sizeof s->bytes;
    s->at = s->n_beyond = 0;
}

static cellar_status no_bytes(void *context, void *bytes, size_t length, cellar_error *e)
{
    (void) context;
    (void) e;
    memset(bytes, 0, length);
    return CELLAR_ERR_INPUT;
}

/* The value of one part from its bits, of which there are 32, or 96, or 96 and a tail. */
static cellar_status part_value(size_t part, uint32_t high, const uint64_t *low, cellar_rng *more,
                                int64_t *value)
{
    cellar_status status;
    fmpz_t prefix;
    fmpz_init_set_ui(prefix, high);
    if (low != NULL) {
        fmpz_mul_2exp(prefix, prefix, 64);
        fmpz_add_ui(prefix, prefix, *low);
    }
    status = cellar_law_draw(part == 0 ? &SIGN : &DIGITS[part - 1], prefix, low != NULL ? 96 : 32,
                             more, value, &err);
    fmpz_clear(prefix);
    return status;
}

static int64_t compose(const int64_t values[PARTS])
{
    int64_t size = 1 + values[1] + 5 * values[2];
    return values[0] == 2 ? 0 : values[0] == 0 ? -size : size;
}

/* Reads the script as the sampler must: 32 bits for every part of every cell; then 64 for every
 * part of each slot, slots going to the undecided cells in order, again and again until none is
 * left; 96 bits that tie are followed by `tail`. Answers how many cells were undecided. */
static size_t reference(const script *s, size_t n, cellar_rng *tail, int64_t *noise)
{
    cellar_rng *none;
    const unsigned char *more = s->bytes + PARTS * n * 4;
    size_t n_undecided = 0;
    assert_int_equal(cellar_rng_create_source(no_bytes, NULL, &none, &err), CELLAR_OK);
    for (size_t i = 0; i < n; i++) {
        uint32_t high[PARTS];
        int64_t values[PARTS];
        int undecided = 0;
        for (size_t p = 0; p < PARTS; p++) {
            memcpy(&high[p], s->bytes + (p * n + i) * 4, 4);
            high[p] ^= 0x80000000u;
            undecided |= part_value(p, high[p], NULL, none, &values[p]) != CELLAR_OK;
        }
        if (undecided) {
            for (size_t p = 0; p < PARTS; p++) {
                uint64_t low;
                memcpy(&low, more + (n_undecided * PARTS + p) * 8, 8);
                assert_int_equal(part_value(p, high[p], &low, tail, &values[p]), CELLAR_OK);
            }
            n_undecided++;
        }
        noise[i] = compose(values);
    }
    cellar_rng_free(none);
    return n_undecided;
}

/* Bits of cell i, part p, such that they tie with threshold j for 32 bits. */
static void force_tie(script *s, size_t n, size_t i, size_t p, const cellar_thresholds *t, size_t j)
{
    uint32_t raw = t->high[j] ^ 0x80000000u;
    memcpy(s->bytes + (p * n + i) * 4, &raw, 4);
}

/* Both the vector and the portable way give what the second algorithm gives. */
static void check_script(script *s, size_t n, size_t n_undecided)
{
    static int64_t counts[BLOCK], released[BLOCK], want[BLOCK];
    for (int vectors = 0; vectors <= 1; vectors++) {
        static script tail;
        cellar_symmetric *sampler = create();
        cellar_rng *rng, *tail_rng;
        tail = (script){.then = s->then};
        cellar_symmetric_use_vectors(sampler, vectors);
        assert_int_equal(cellar_rng_create_source(script_bytes, s, &rng, &err), CELLAR_OK);
        assert_int_equal(cellar_rng_create_source(script_bytes, &tail, &tail_rng, &err), CELLAR_OK);
        s->at = s->n_beyond = 0;
        for (size_t i = 0; i < n; i++)
            counts[i] = (int64_t) (i * i);
        assert_int_equal(cellar_symmetric_add_noise(sampler, counts, n, rng, released, &err),
                         CELLAR_OK);
        assert_int_equal(reference(s, n, tail_rng, want), n_undecided);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(released[i] - counts[i], want[i]);
        cellar_rng_free(rng);
        cellar_rng_free(tail_rng);
        cellar_symmetric_free(sampler);
    }
}

static void test_random_bits(void **state)
{
    static const size_t sizes[] = {1, 2, 31, 32, 33, 1000, 1024};
    static script s;
    (void) state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        script_fill(&s, 100 + i);
        check_script(&s, sizes[i], 0);
    }
}

/* Cells whose first 32 bits tie in one part or another: fewer than there are slots, and many more,
 * which takes further passes. The last cell of the block and the first are among them. */
static void test_ties_of_32_bits(void **state)
{
    static script s;
    static const size_t how_many[] = {1, 2, 40};
    cellar_thresholds t[PARTS];
    (void) state;
    for (size_t p = 0; p < PARTS; p++)
        assert_int_equal(cellar_thresholds_init(&t[p], p == 0 ? SIGN : DIGITS[p - 1], 1000, &err),
                         CELLAR_OK);
    for (size_t k = 0; k < 3; k++) {
        script_fill(&s, 200 + k);
        for (size_t c = 0; c < how_many[k]; c++) {
            size_t p = c % PARTS, i = c == 0 ? BLOCK - 1 : c == 1 ? 0 : 25 * c;
            force_tie(&s, BLOCK, i, p, &t[p], c % t[p].n_first);
        }
        check_script(&s, BLOCK, how_many[k]);
    }
    for (size_t p = 0; p < PARTS; p++)
        cellar_thresholds_clear(&t[p]);
}

/* A tie of 96 bits in the highest digit, also with the threshold that stands for all beyond: more
 * bits are asked for, and zeros stay below the threshold, ones come out above. */
static void test_ties_of_96_bits(void **state)
{
    static script s;
    cellar_thresholds t;
    cellar_symmetric *sampler = create();
    size_t n_slots = cellar_symmetric_n_slots(sampler), slots_at = PARTS * BLOCK * 4;
    (void) state;
    cellar_symmetric_free(sampler);
    assert_int_equal(cellar_thresholds_init(&t, DIGITS[1], 1000, &err), CELLAR_OK);
    for (int ones = 0; ones <= 1; ones++)
        for (size_t k = 0; k < 3 - (size_t) ones; k++) { /* ones for ever are beyond every number */
            size_t j = k == 0 ? 3 : k == 1 ? 60 : t.n_second - 1;
            script_fill(&s, 300 + j);
            force_tie(&s, BLOCK, 500, 2, &t, j);
            memcpy(s.bytes + slots_at + 2 * 8, &t.low[j], 8);
            s.length = slots_at + n_slots * PARTS * 8;
            s.then = ones ? 0xff : 0;
            check_script(&s, BLOCK, 1);
            assert_true(s.n_beyond > 0);
        }
    cellar_thresholds_clear(&t);
}

static void test_wide_noise_is_refused(void **state)
{
    static const int64_t weights[] = {1, 1 << 28};
    cellar_symmetric *s;
    (void) state;
    assert_int_equal(cellar_symmetric_create(SIGN, DIGITS, weights, 2, &s, &err),
                     CELLAR_ERR_ARGUMENT);
    assert_null(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_bits),
        cmocka_unit_test(test_ties_of_32_bits),
        cmocka_unit_test(test_ties_of_96_bits),
        cmocka_unit_test(test_wide_noise_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
