/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws by search, and the gaps between rare successes.
 *
 * Sampled laws are compared with the exact ones by the DKW inequality at 1e-9 each (some 20 in
 * this file: 2e-8 for all); with 400,000 draws a distribution function wrong by more than
 * 2 x 0.0052 escapes with chance 1e-9. Seeds are fixed. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#include "base/error.h"
#include "fail_every.h"
#include "random/gaps.h"
#include "random/rng.h"

enum { N_DRAWS = 400000 };

static double dkw(size_t n)
{
    return sqrt(log(2 / 1e-9) / (2 * (double) n));
}

/* ---- a generator that says what it is told ---------------------------------- */

typedef struct script {
    const uint64_t *words; /* then `rest` for ever */
    size_t n_words, next;
    uint64_t rest;
} script;

static cellar_status script_bytes(void *context, void *bytes, size_t length, cellar_error *err)
{
    script *s = context;
    unsigned char *out = bytes;
    (void) err;
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = s->next < s->n_words ? s->words[s->next++] : s->rest;
        memcpy(out + i, &word, length - i < 8 ? length - i : 8);
    }
    return CELLAR_OK;
}

/* ---- search ------------------------------------------------------------------ */

/* Three values with probabilities 1/2, 1/3, 1/6; the second bound is no binary fraction, the first
 * is one, and enclosed so that no precision tells on which side it lies. */
static void toy_cdf(const void *context, int64_t first, size_t n, int64_t bits, arb_ptr out)
{
    (void) context;
    for (size_t i = 0; i < n; i++) {
        int64_t j = first + (int64_t) i;
        arb_set_ui(out + i, j == 0 ? 3 : 5);
        arb_div_ui(out + i, out + i, 6, bits);
        arb_add_error_2exp_si(out + i, -bits);
    }
}

static void search_follows_all_words(void **state)
{
    static const cellar_law law = {toy_cdf, NULL, 2};
    const uint64_t third = UINT64_MAX / 6 * 5 + 3; /* floor(2^64 5/6) */
    const struct {
        uint64_t first, then;
        int64_t value;
    } cases[] = {
        {0, 0, 0},
        {(UINT64_C(1) << 63) - 3, 0, 0},
        {(UINT64_C(1) << 63) - 1, UINT64_MAX - 1, 0}, /* just below one half: a tie at first */
        {UINT64_C(1) << 63, 1, 1},                    /* just above */
        {(UINT64_C(1) << 63) + 1, 0, 1},
        {third - 5, 0, 1},
        {third + 5, 0, 2},
        {third, 0, 1},          /* 5/6 = 0.110101...: the next bits of it are 0101... */
        {third, UINT64_MAX, 2}, /* and these are above them */
        {UINT64_MAX, UINT64_MAX, 2},
    };
    cellar_search_table table;
    (void) state;

    assert_int_equal(cellar_search_table_init(&table, law, 10, NULL), CELLAR_OK);
    assert_int_equal(table.n_cuts, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t words[256];
        script s = {words, 256, 0, cases[i].then};
        cellar_search search = {0};
        int64_t value = -1;
        for (size_t k = 0; k < 256; k++)
            words[k] = cases[i].first;
        assert_int_equal(cellar_rng_create_source(script_bytes, &s, &search.rng, NULL), CELLAR_OK);
        assert_int_equal(cellar_search_draw(&search, &table, &value, NULL), CELLAR_OK);
        assert_int_equal(value, cases[i].value);
        cellar_rng_free(search.rng);
    }
    cellar_search_table_clear(&table);
}

static void search_refuses_wide_laws(void **state)
{
    static const cellar_law law = {toy_cdf, NULL, INT64_MAX}; /* never reaches one */
    cellar_search_table table;
    cellar_error err;
    (void) state;
    assert_int_equal(cellar_search_table_init(&table, law, 1000, &err), CELLAR_ERR_ARGUMENT);
    assert_null(table.cuts);
}

/* ---- gaps --------------------------------------------------------------------- */

static void decimal_probability(const void *context, int64_t bits, arb_t out)
{
    arb_set_str(out, context, bits + 16);
}

/* P(G <= g) against the draws, at all powers of two. */
static void check_gaps(const char *text, uint64_t seed)
{
    double p = strtod(text, NULL), worst = 0;
    cellar_search search = {0};
    cellar_gaps *gaps = NULL;
    static uint64_t below[64];
    uint64_t n_below = 0;

    assert_int_equal(cellar_gaps_create(decimal_probability, text, &gaps, NULL), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(seed, 1, &search.rng, NULL), CELLAR_OK);
    memset(below, 0, sizeof below);
    for (size_t i = 0; i < N_DRAWS; i++) {
        uint64_t gap;
        int bits = 0;
        assert_int_equal(cellar_gaps_next(gaps, &search, &gap, NULL), CELLAR_OK);
        while (bits < 63 && gap >> bits != 0) /* gap < 2^bits */
            bits++;
        below[bits]++;
    }
    for (int bits = 0; bits < 63; bits++) {
        double exact = -expm1(ldexp(1, bits) * log1p(-p)), gap;
        n_below += below[bits];
        gap = fabs((double) n_below / N_DRAWS - exact);
        worst = gap > worst ? gap : worst;
    }
    if (!(worst < dkw(N_DRAWS)))
        fail_msg("p = %s: the law is off by %g", text, worst);
    cellar_rng_free(search.rng);
    cellar_search_clear(&search);
    cellar_gaps_free(gaps);
}

static void gaps_are_geometric(void **state)
{
    static const char *const probabilities[] = {"0.5",  "0.27",  "0.75",  "0.001", "1e-5",
                                                "1e-9", "3e-16", "1e-18", "1e-19", "2e-25"};
    (void) state;
    for (size_t i = 0; i < sizeof probabilities / sizeof *probabilities; i++)
        check_gaps(probabilities[i], 20 + i);
}

/* Small gaps one by one: the digits carry as they should. */
static void gaps_have_the_exact_probabilities(void **state)
{
    const double p = 0.01;
    cellar_search search = {0};
    cellar_gaps *gaps = NULL;
    static uint64_t seen[2000];
    double sum = 0, worst = 0;
    (void) state;

    assert_int_equal(cellar_gaps_create(decimal_probability, "0.01", &gaps, NULL), CELLAR_OK);
    assert_int_equal(cellar_rng_create_seeded(7, 1, &search.rng, NULL), CELLAR_OK);
    for (size_t i = 0; i < N_DRAWS; i++) {
        uint64_t gap;
        assert_int_equal(cellar_gaps_next(gaps, &search, &gap, NULL), CELLAR_OK);
        seen[gap < 1999 ? gap : 1999]++;
    }
    for (size_t g = 0; g < 1999; g++) {
        double exact = -expm1((double) (g + 1) * log1p(-p));
        sum += (double) seen[g] / N_DRAWS;
        worst = fmax(worst, fabs(sum - exact));
    }
    assert_true(worst < dkw(N_DRAWS));
    cellar_rng_free(search.rng);
    cellar_search_clear(&search);
    cellar_gaps_free(gaps);
}

static cellar_status gaps_scenario(void *context, cellar_error *err)
{
    cellar_gaps *gaps = NULL;
    cellar_status status = cellar_gaps_create(decimal_probability, "1e-6", &gaps, err);
    (void) context;
    cellar_gaps_free(gaps);
    return status;
}

static void gaps_survive_failing_allocations(void **state)
{
    (void) state;
    check_fail_every(gaps_scenario, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_follows_all_words),
        cmocka_unit_test(search_refuses_wide_laws),
        cmocka_unit_test(gaps_are_geometric),
        cmocka_unit_test(gaps_have_the_exact_probabilities),
        cmocka_unit_test(gaps_survive_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
