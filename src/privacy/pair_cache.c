/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/pair_cache.h"

#include <limits.h>
#include <math.h>

#include "base/memory.h"
#include "privacy/atoms_store.h"
#include "privacy/blocks.h"
#include "privacy/pair_rows.h"

enum { ENTRIES = 1 << 13, ROWS = 256, SET = 8, ROW_MIN = 32, CURVES = 64, KNOWN = 32 };
enum {
    ROW_ANYWHERE = 512
}; /* single numbers beyond are quick where laws can be run from anywhere */
/* Double-words answer where so many bits are asked for, if so many are then right. Rows are
 * finished when what they leave out is below 2^-90, or less when that is too much. */
enum { WORD_BITS = 128, WORD_ACCURACY = 60, REST_ACCURACY = 72 };

/* A newer entry takes the place of an older one with the same place. */
typedef struct cache_entry {
    const cellar_mechanism *m; /* NULL: empty */
    cellar_pair_kind kind;
    int64_t count, b, bits;
    arb_t value;
} cache_entry;

/* P(B = b | count) and P(B <= b | count) for b = 0 .. n-1. */
typedef struct cache_row {
    const cellar_mechanism *m; /* NULL: empty */
    int64_t count, bits;
    size_t n;
    arb_ptr pmf, sums; /* room for CELLAR_PAIR_ROW_MAX */
} cache_row;

/* The same in double-words, where a kernel has them. */
typedef struct cache_words {
    const cellar_mechanism *m; /* NULL: empty */
    int64_t count;
    uint64_t used;        /* when it was last asked for */
    int n_asked, n_tails; /* numbers beyond it asked for so far, and upper tails */
    int is_made, bits;    /* it has been finished to so many bits; INT_MAX: it cannot be */
    cellar_law_row row;
} cache_words;

/* P(noise > k) for k = 0 .. NOISE - 1, of noise whose ratios are rational powers of e: made when
 * many of them have been asked for one by one. */
enum { NOISE = 1 << 12, NOISE_FROM = 200 };
typedef struct cache_noise {
    const cellar_mechanism *m; /* the one asked last */
    size_t n_asked;
    arb_ptr above; /* NULL: not made */
} cache_noise;

/* Found for one shift of one mechanism. */
typedef struct cache_rest {
    const cellar_mechanism *m;
    int64_t shift;
    cellar_rest rest;
} cache_rest;

/* The last upper tail of a wide law of some count: others differ by what lies between. */
enum { LAST_TAILS = 8 };
typedef struct cache_tail {
    const cellar_mechanism *m; /* NULL: empty */
    int64_t count, b;
    arb_t above; /* P(> b) */
} cache_tail;

typedef struct cache_curve {
    const cellar_mechanism *m;
    int64_t shift, smallest;
    int larger;
    cellar_curve curve;
} cache_curve;

struct cellar_pair_cache {
    cellar_work work;
    cellar_known known[KNOWN];
    size_t n_known;
    cache_curve curves[CURVES]; /* a new one takes the place of the oldest */
    size_t n_curves;
    cache_tail tails[LAST_TAILS];
    cache_rest rests[ROWS];
    cache_noise noise;
    cache_entry entries[ENTRIES];
    cache_row rows[ROWS];
    cellar_blocks_store blocks;
    cellar_atoms_store atoms;
    cellar_pair_rows doubles;
    cache_words words[ROWS]; /* in sets of which the one used longest ago makes room */
    uint64_t n_asked;
};

cellar_pair_cache *cellar_pair_cache_create(void)
{
    return cellar_alloc(1, sizeof(cellar_pair_cache));
}

void cellar_pair_cache_free(cellar_pair_cache *cache)
{
    for (size_t i = 0; cache != NULL && i < ENTRIES; i++)
        if (cache->entries[i].m != NULL)
            arb_clear(cache->entries[i].value);
    for (size_t i = 0; cache != NULL && i < ROWS; i++)
        if (cache->rows[i].pmf != NULL) {
            _arb_vec_clear(cache->rows[i].pmf, CELLAR_PAIR_ROW_MAX);
            _arb_vec_clear(cache->rows[i].sums, CELLAR_PAIR_ROW_MAX);
        }
    for (size_t i = 0; cache != NULL && i < ROWS; i++)
        cellar_law_row_clear(&cache->words[i].row);
    for (size_t i = 0; cache != NULL && i < LAST_TAILS; i++)
        if (cache->tails[i].m != NULL)
            arb_clear(cache->tails[i].above);
    for (size_t i = 0; cache != NULL && i < CURVES; i++)
        cellar_free(cache->curves[i].curve.nodes);
    if (cache != NULL && cache->noise.above != NULL)
        _arb_vec_clear(cache->noise.above, NOISE);
    if (cache != NULL) {
        cellar_blocks_store_clear(&cache->blocks);
        cellar_atoms_store_clear(&cache->atoms);
        cellar_pair_rows_clear(&cache->doubles);
    }
    cellar_free(cache);
}

struct cellar_blocks_store *cellar_pair_cache_blocks(cellar_pair_cache *cache)
{
    return &cache->blocks;
}

struct cellar_pair_rows *cellar_pair_cache_doubles(cellar_pair_cache *cache)
{
    return &cache->doubles;
}

struct cellar_atoms_store *cellar_pair_cache_atoms(cellar_pair_cache *cache)
{
    return cache != NULL ? &cache->atoms : NULL;
}

cellar_work *cellar_pair_cache_work(cellar_pair_cache *cache)
{
    return cache != NULL ? &cache->work : NULL;
}

static size_t cache_place(cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits)
{
    uint64_t hash = (uint64_t) b * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t) kind;
    hash ^= ((uint64_t) count + (uint64_t) bits) * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (size_t) ((hash ^ hash >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 51);
}

int cellar_pair_cache_get(const cellar_pair_cache *cache, const cellar_mechanism *m,
                          cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits, arb_t out)
{
    const cache_entry *entry;
    if (cache == NULL)
        return 0;
    entry = &cache->entries[cache_place(kind, count, b, bits)];
    if (entry->m != m || entry->kind != kind || entry->count != count || entry->b != b ||
        entry->bits != bits)
        return 0;
    arb_set(out, entry->value);
    return 1;
}

void cellar_pair_cache_put(cellar_pair_cache *cache, const cellar_mechanism *m,
                           cellar_pair_kind kind, int64_t count, int64_t b, int64_t bits,
                           const arb_t value)
{
    cache_entry *entry;
    if (cache == NULL)
        return;
    entry = &cache->entries[cache_place(kind, count, b, bits)];
    if (entry->m == NULL)
        arb_init(entry->value);
    entry->m = m;
    entry->kind = kind;
    entry->count = count;
    entry->b = b;
    entry->bits = bits;
    arb_set(entry->value, value);
}

/* ---- rows --------------------------------------------------------------------------- */

/* Computes more of a row, at least twice as much, so that it holds b: starting is what costs. */
static void row_extend(cache_row *row, int64_t b)
{
    size_t n = row->n > 0 ? row->n : ROW_MIN;
    if ((size_t) b < row->n)
        return;
    while ((size_t) b >= n)
        n *= 2;
    row->m->ops->pmf_balls(row->m, row->count, (int64_t) row->n, n - row->n, row->bits,
                           row->pmf + row->n);
    for (size_t i = row->n; i < n; i++) {
        if (i == 0)
            arb_set(row->sums, row->pmf);
        else
            arb_add(row->sums + i, row->sums + i - 1, row->pmf + i, row->bits);
    }
    row->n = n;
}

/* Where all but the numbers between two counts have one loss, few are ever asked for. */
static cache_row *cache_find_row(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                                 int64_t b, int64_t bits)
{
    cache_row *row;
    if (cache == NULL || m->ops->pmf_balls == NULL || m->ops->is_additive || b < 0 ||
        b >= CELLAR_PAIR_ROW_MAX || cellar_facts_flat(m) ||
        (b >= ROW_ANYWHERE && cellar_pair_fall(m, count) > 0))
        return NULL;
    row = &cache->rows[(uint64_t) (count + bits / 64 * 5) % ROWS];
    if (row->pmf == NULL) {
        row->pmf = _arb_vec_init(CELLAR_PAIR_ROW_MAX);
        row->sums = _arb_vec_init(CELLAR_PAIR_ROW_MAX);
    }
    if (row->m != m || row->count != count || row->bits != bits) {
        row->m = m;
        row->count = count;
        row->bits = bits;
        row->n = 0;
    }
    if ((size_t) b >= row->n)
        cellar_work_add(&cache->work, cellar_pair_pmf_cost(m) + CELLAR_PAIR_ROW_COST * (double) b);
    row_extend(row, b);
    return row;
}

/* ---- double-words ----------------------------------------------------------------------- */

/* The place of a count; wide laws share one set. */
static cache_words *words_place(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count)
{
    double mean, variance;
    cache_words *set, *oldest;
    m->ops->mean_variance(m, count, &mean, &variance);
    set = cache->words + (variance > 1e4 ? 0 : SET * (1 + (uint64_t) count % (ROWS / SET - 1)));
    oldest = set;
    for (size_t i = 0; i < SET; i++) {
        if (set[i].m == m && set[i].count == count)
            return &set[i];
        if (set[i].used < oldest->used)
            oldest = &set[i];
    }
    return oldest;
}

/* What it took to start: more where many numbers had to be given, in balls of more bits each. */
static double words_cost(const cache_words *words)
{
    const cellar_mechanism *m = words->m;
    const double given = (double) words->row.run.n_head;
    return m->ops->row_cost * (1 + given / 6 + given * given / 100) +
           (words->row.first > 0 ? cellar_pair_pmf_cost(m) : 0);
}

static cache_words *words_find(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count)
{
    cache_words *words;
    if (cache == NULL || m->ops->law_row == NULL)
        return NULL;
    words = words_place(cache, m, count);
    if (words->m != m || words->count != count) {
        cellar_law_row_clear(&words->row);
        *words = (cache_words){.m = m, .count = count};
        words->is_made = m->ops->law_row(m, count, &words->row);
        cellar_work_add(&cache->work, words_cost(words));
    }
    words->used = ++cache->n_asked;
    return words->is_made ? words : NULL;
}

/* 0: too many numbers would have to be made for what is asked. Single numbers and tails of a law
 * that can be run from anywhere are quick; a row pays where what lies below tells a tail, and when
 * so many of them have been asked for that it takes no longer. */
static int words_pay(const cache_words *words, int64_t b)
{
    enum { NEAR = 1 << 12, ASKED = 6, ASKED_CLOSED = 100, NUMBERS_EACH = 8192, TAILS = 12 };
    const cellar_mechanism *m = words->m;
    double fall;
    int is_closed;
    if (b < NEAR || b < words->row.first + (int64_t) words->row.n ||
        CELLAR_PAIR_WORD_COST * ((double) b - (double) words->row.first) <
            2 * cellar_pair_pmf_cost(m))
        return 1;
    fall = cellar_pair_fall(m, words->count);
    if (fall <= 0)
        return 1;
    is_closed = m->ops->has_closed_tails(m);
    if (fall < CELLAR_PAIR_FALL_LONG &&
        (words->n_asked > (is_closed ? ASKED_CLOSED : ASKED) + (double) b / NUMBERS_EACH ||
         (words->n_tails > TAILS && fall > CELLAR_PAIR_FALL_WIDE && !is_closed)))
        return 1;
    return fall > CELLAR_PAIR_FALL_WIDE && !is_closed &&
           cellar_pair_below_tells(m, words->count, b);
}

/* Goes on to b, or to so many bits when it is not 0. */
static int words_extend(cellar_pair_cache *cache, cache_words *words, int64_t b, int bits)
{
    const size_t n = words->row.n;
    int done =
        bits > 0 ? cellar_law_row_finish(&words->row, bits) : cellar_law_row_reach(&words->row, b);
    cellar_work_add(&cache->work, CELLAR_PAIR_WORD_COST * (double) (words->row.n - n));
    return done;
}

const cellar_law_row *cellar_pair_cache_words(cellar_pair_cache *cache, const cellar_mechanism *m,
                                              int64_t count, int64_t b)
{
    cache_words *words = words_find(cache, m, count);
    if (words == NULL)
        return NULL;
    if (!words_pay(words, b)) {
        words->n_asked++;
        return NULL;
    }
    if (!words_extend(cache, words, b, 0))
        return NULL;
    return &words->row;
}

int cellar_pair_cache_lower(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                            int64_t b, int64_t bits, arb_t out)
{
    const cellar_law_row *row =
        bits == WORD_BITS ? cellar_pair_cache_words(cache, m, count, b) : NULL;
    if (row == NULL)
        return 0;
    cellar_law_row_below(row, b, out);
    return arb_rel_accuracy_bits(out) >= WORD_ACCURACY;
}

static int words_finish(cellar_pair_cache *cache, cache_words *words, int bits)
{
    if (words->bits < bits)
        words->bits = words_extend(cache, words, 0, bits) ? bits : INT_MAX;
    return words->bits < INT_MAX;
}

const cellar_law_row *cellar_pair_cache_words_to(cellar_pair_cache *cache,
                                                 const cellar_mechanism *m, int64_t count, int bits)
{
    cache_words *words = words_find(cache, m, count);
    return words != NULL && words_finish(cache, words, bits) ? &words->row : NULL;
}

/* How long a row must be for P(B >= b), which is no less than P(B = b) above the mean. */
static int words_length(const cache_words *words, int64_t b)
{
    const cellar_mechanism *m = words->m;
    double mean, variance, bits = REST_ACCURACY;
    int i = 0;
    m->ops->mean_variance(m, words->count, &mean, &variance);
    if ((double) b > mean)
        bits -= m->ops->log_pmf(m, words->count, b) / M_LN2;
    while (i < CELLAR_PAIR_LENGTHS && cellar_pair_lengths[i] < bits)
        i++;
    return i;
}

/* 1 when it has been made so long, or that would pay. */
static int words_pay_to(const cache_words *words, int bits)
{
    int64_t low, high = 0;
    if (words->bits >= bits)
        return 1;
    if (cellar_pair_fall(words->m, words->count) > 0)
        words->m->ops->support(words->m, words->count, ldexp(1, -bits), &low, &high);
    return words_pay(words, high);
}

/* P(B >= b): what the numbers below leave, or when that is too little the sum of the rest. */
static int words_upper(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                       int64_t b, int64_t bits, arb_t out)
{
    cache_words *words = bits == WORD_BITS ? words_find(cache, m, count) : NULL;
    if (words == NULL)
        return 0;
    if (words->bits == 0 && words_pay(words, b) && words_extend(cache, words, b - 1, 0)) {
        cellar_law_row_below(&words->row, b - 1, out);
        arb_sub_ui(out, out, 1, bits);
        arb_neg(out, out);
        if (arb_rel_accuracy_bits(out) >=
            (cellar_pair_fall(m, count) > CELLAR_PAIR_FALL_WIDE ? WORD_ACCURACY : REST_ACCURACY))
            return 1;
    }
    words->n_tails++;
    for (int i = words_length(words, b); i < CELLAR_PAIR_LENGTHS; i++) {
        if (!words_pay_to(words, cellar_pair_lengths[i]) ||
            !words_finish(cache, words, cellar_pair_lengths[i]))
            break;
        if (b < words->row.first || b >= words->row.first + (int64_t) words->row.n_above)
            continue;
        cellar_law_row_above(&words->row, b, out);
        if (arb_rel_accuracy_bits(out) >= REST_ACCURACY)
            return 1;
    }
    words->n_asked++;
    return 0;
}

/* ---- tails of wide laws --------------------------------------------------------------------- */

/* 1 and P(> b) where the last tail of that count is near. */
static int tail_near(const cache_tail *tail, int64_t b, int64_t bits, arb_t out)
{
    const double far = 4 * cellar_pair_fall(tail->m, tail->count);
    const int is_above = b > tail->b;
    if (fabs((double) b - (double) tail->b) > far)
        return 0;
    if (b == tail->b) {
        arb_set(out, tail->above);
        return 1;
    }
    if (!tail->m->ops->between_ball(tail->m, tail->count, (is_above ? tail->b : b) + 1,
                                    is_above ? b : tail->b, out))
        return 0;
    if (is_above)
        arb_neg(out, out);
    arb_add(out, out, tail->above, bits);
    return arb_rel_accuracy_bits(out) >= REST_ACCURACY;
}

int cellar_pair_cache_tail(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                           int64_t b, int64_t bits, arb_t out)
{
    cache_tail *tail;
    if (cache == NULL || bits != WORD_BITS || !cellar_pair_law_is_wide(m, count))
        return 0;
    tail = &cache->tails[(uint64_t) count % LAST_TAILS];
    if (tail->m == m && tail->count == count && tail_near(tail, b, bits, out)) {
        cellar_work_add(&cache->work, m->ops->row_cost + CELLAR_PAIR_SUM_COST *
                                                             fabs((double) b - (double) tail->b));
        return 1;
    }
    cellar_work_add(&cache->work, cellar_pair_upper_cost(m, count));
    m->ops->survival_ball(m, count, b, bits, out);
    if (tail->m == NULL)
        arb_init(tail->above);
    tail->m = m;
    tail->count = count;
    tail->b = b;
    arb_set(tail->above, out);
    return 1;
}

/* ---- noise ---------------------------------------------------------------------------------- */

/* From the last tail down, q(k) being q(0) times a power of e. */
static void noise_make(cache_noise *noise, const cellar_mechanism *m, int64_t bits)
{
    arb_t zero, q;
    fmpq_t ratio;
    arb_init(zero);
    arb_init(q);
    fmpq_init(ratio);
    noise->above = _arb_vec_init(NOISE);
    m->ops->pmf_ball(m, 0, 0, bits + 32, zero);
    m->ops->survival_ball(m, 0, NOISE - 1, bits + 32, noise->above + NOISE - 1);
    for (int64_t k = NOISE - 1; k > 0; k--) {
        m->ops->facts->log_ratio(m, 0, k, k, ratio); /* ln q(k) / q(0) */
        arb_set_fmpq(q, ratio, bits + 64);
        arb_exp(q, q, bits + 32);
        arb_mul(q, q, zero, bits + 32);
        arb_add(noise->above + k - 1, noise->above + k, q, bits + 32);
    }
    arb_clear(zero);
    arb_clear(q);
    fmpq_clear(ratio);
}

/* 1 and P(noise > k) where such a list holds it. */
static int cache_noise_above(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t k,
                             int64_t bits, arb_t out)
{
    cache_noise *noise;
    int64_t low, high;
    fmpq_t ratio;
    int is_rational;
    if (cache == NULL || !m->ops->is_additive || bits != WORD_BITS || k < 0 || k >= NOISE ||
        m->ops->facts == NULL || m->ops->facts->log_ratio == NULL)
        return 0;
    noise = &cache->noise;
    if (noise->m != m) {
        if (noise->above != NULL)
            _arb_vec_clear(noise->above, NOISE);
        *noise = (cache_noise){.m = m};
    }
    m->ops->support(m, 0, 0, &low, &high);
    fmpq_init(ratio);
    is_rational = high == INT64_MAX && m->ops->facts->log_ratio(m, 0, 1, 1, ratio);
    fmpq_clear(ratio);
    if (!is_rational || ++noise->n_asked < NOISE_FROM)
        return 0;
    if (noise->above == NULL)
        noise_make(noise, m, bits);
    arb_set(out, noise->above + k);
    return 1;
}

int cellar_pair_cache_pmf(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                          int64_t b, int64_t bits, arb_t out)
{
    const cellar_law_row *words =
        bits == WORD_BITS ? cellar_pair_cache_words(cache, m, count, b) : NULL;
    const cache_row *row;
    if (words != NULL) {
        cellar_law_row_pmf(words, b, out);
        if (arb_rel_accuracy_bits(out) >= WORD_ACCURACY)
            return 1;
    }
    row = cache_find_row(cache, m, count, b, bits);
    if (row != NULL)
        arb_set(out, row->pmf + b);
    return row != NULL;
}

int cellar_pair_cache_upper(cellar_pair_cache *cache, const cellar_mechanism *m, int64_t count,
                            int64_t b, int64_t bits, arb_t out)
{
    const cache_row *row;
    if (words_upper(cache, m, count, b + 1, bits, out) ||
        cache_noise_above(cache, m, b - count, bits, out))
        return 1;
    row = cache_find_row(cache, m, count, b, bits);
    if (row == NULL)
        return 0;
    arb_sub_ui(out, row->sums + b, 1, bits);
    arb_neg(out, out);
    return arb_rel_accuracy_bits(out) >= bits - 40;
}

cellar_rest *cellar_pair_cache_rest(cellar_pair_cache *cache, const cellar_mechanism *m,
                                    int64_t shift)
{
    cache_rest *place;
    if (cache == NULL)
        return NULL;
    place = &cache->rests[(uint64_t) shift % ROWS];
    if (place->m != m || place->shift != shift)
        *place = (cache_rest){.m = m, .shift = shift};
    return &place->rest;
}

cellar_curve *cellar_pair_cache_curve(cellar_pair_cache *cache, const cellar_mechanism *m,
                                      int64_t shift, int64_t smallest, int larger)
{
    cache_curve *place;
    if (cache == NULL)
        return NULL;
    for (size_t i = 0; i < CURVES; i++) {
        place = &cache->curves[i];
        if (place->m == m && place->shift == shift && place->smallest == smallest &&
            place->larger == (larger != 0))
            return &place->curve;
    }
    place = &cache->curves[cache->n_curves++ % CURVES];
    cellar_free(place->curve.nodes);
    *place = (cache_curve){m, shift, smallest, larger != 0, {0}};
    return &place->curve;
}

cellar_known *cellar_pair_cache_known(cellar_pair_cache *cache, const cellar_known *asked)
{
    cellar_known *k;
    if (cache == NULL)
        return NULL;
    for (size_t i = 0; i < KNOWN; i++) {
        k = &cache->known[i];
        if (k->m == asked->m && k->shift == asked->shift && k->smallest == asked->smallest &&
            k->is_delta == asked->is_delta && k->epsilon == asked->epsilon)
            return k;
    }
    k = &cache->known[cache->n_known++ % KNOWN];
    *k = *asked;
    k->bound = NAN;
    return k;
}
