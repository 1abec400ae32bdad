/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The hash is multilinear: the first 32 bytes as eight words, each times a random number, summed,
 * and spread by one more multiplication whose high bits choose the slot. Processors with wide
 * registers do the eight at once; every path computes the same number. */
#include "data/dictionary.h"

#include <string.h>

#include <sodium.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define DICTIONARY_X86 1
#endif

enum {
    FIRST_LOG2_SLOTS = 6,
    SMALL_TABLE = 1024, /* entries up to which slots are cheap */
    SMALL_SLOTS = 8,    /* slots an entry gets at least, so that most first probes hit */
    LARGE_SLOTS = 2,
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    SEEDS_TRIED = 2, /* fuzzers look at many small files, none of them for long */
#else
    SEEDS_TRIED = 64, /* multipliers among which a settled table takes the best */
#endif
    SETTLE_GROWTH = 8,  /* a table that grew by less than one in so many stays as it is */
    SETTLE_LIMIT = 4096 /* entries beyond which that is not worth it */
};

_Static_assert(sizeof(cellar_dictionary_entry) == 64, "an entry is as long as a line");

/* ---- hashing and comparing -------------------------------------------------- */

/* The words of a text of at most 32 bytes, or of the first 32. */
static void text_words(const char *text, size_t length, uint32_t word[DICTIONARY_WORDS])
{
    memset(word, 0, DICTIONARY_INLINE);
    memcpy(word, text, length < DICTIONARY_INLINE ? length : DICTIONARY_INLINE);
}

/* The bytes after the first 32, eight at a time; long labels are rare. */
static uint64_t hash_rest(const char *text, size_t length)
{
    uint64_t hash = 0;
    for (size_t at = DICTIONARY_INLINE; at < length; at += 8) {
        uint64_t word = 0;
        memcpy(&word, text + at, length - at < 8 ? length - at : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static uint64_t hash_words(const cellar_dictionary *d, const uint32_t word[DICTIONARY_WORDS],
                           const char *text, size_t length)
{
    uint64_t sum = length;
    for (size_t i = 0; i < DICTIONARY_WORDS; i++)
        sum += (uint64_t) word[i] * d->multiplier[i];
    if (length > DICTIONARY_INLINE)
        sum += hash_rest(text, length);
    return sum * d->spread;
}

static size_t entry_length(const cellar_dictionary_entry *entry)
{
    return entry->rest != NULL ? entry->rest->length : entry->short_length;
}

static int entry_is(const cellar_dictionary_entry *entry, const uint32_t word[DICTIONARY_WORDS],
                    const char *text, size_t length)
{
    if (entry_length(entry) != length || memcmp(entry->word, word, DICTIONARY_INLINE) != 0)
        return 0;
    return entry->rest == NULL || memcmp(entry->rest->bytes, text, length) == 0;
}

int32_t cellar_dictionary_find(const cellar_dictionary *d, const char *text, size_t length)
{
    uint64_t last = ((uint64_t) 1 << (64 - d->shift)) - 1, slot;
    uint32_t word[DICTIONARY_WORDS], number;

    text_words(text, length, word);
    slot = hash_words(d, word, text, length) >> d->shift;
    for (; (number = d->slots[slot]) != 0; slot = (slot + 1) & last)
        if (entry_is(&d->entries[number], word, text, length))
            return d->entries[number].code;
    return CELLAR_CODE_ABSENT;
}

/* ---- many at once ----------------------------------------------------------- */

/* The loop around the first probe of each slice. `probe` answers the entry its hash points at, or
 * NULL where that is another text; then the careful way decides. `slice_end` is where a slice ends,
 * given where it begins and its separator. */
#define FIND_MANY(probe, slice_end)                                                                \
    for (; i < n; i++, mark += stride) {                                                           \
        uint32_t begin = mark[0] + 1;                                                              \
        uint32_t length = slice_end(text, begin, mark[1]) - begin;                                 \
        const cellar_dictionary_entry *entry = probe(&d, text + begin, length);                    \
        int32_t code;                                                                              \
        if (__builtin_expect(entry != NULL, 1))                                                    \
            code = entry->code;                                                                    \
        else {                                                                                     \
            code = cellar_dictionary_find(dictionary, text + begin, length);                       \
            if (code == CELLAR_CODE_ABSENT)                                                        \
                break;                                                                             \
        }                                                                                          \
        codes[i] = code;                                                                           \
        all |= code;                                                                               \
    }

#define END_AS_IT_IS(text, begin, end) (end)
#define END_WITHOUT_CR(text, begin, end)                                                           \
    ((end) - (uint32_t) ((end) > (begin) && (text)[(end) -1] == '\r'))

#define FIND_MANY_EITHER(probe)                                                                    \
    const char *const text = s->text;                                                              \
    const size_t stride = s->stride, n = s->n;                                                     \
    const uint32_t *mark = s->marks + first * stride;                                              \
    int32_t all = 0;                                                                               \
    size_t i = first;                                                                              \
    if (s->may_end_in_cr)                                                                          \
        FIND_MANY(probe, END_WITHOUT_CR)                                                           \
    else                                                                                           \
        FIND_MANY(probe, END_AS_IT_IS)                                                             \
    *any |= all;                                                                                   \
    return i

typedef struct probe_plain_state {
    const cellar_dictionary *dictionary;
} probe_plain_state;

static inline const cellar_dictionary_entry *probe_plain(const probe_plain_state *d,
                                                         const char *text, uint32_t length)
{
    const cellar_dictionary *dictionary = d->dictionary;
    uint32_t word[DICTIONARY_WORDS];
    const cellar_dictionary_entry *entry;
    if (length > DICTIONARY_INLINE)
        return NULL;
    text_words(text, length, word);
    entry = &dictionary->entries[dictionary->slots[hash_words(dictionary, word, text, length) >>
                                                   dictionary->shift]];
    return entry->short_length == length && memcmp(entry->word, word, DICTIONARY_INLINE) == 0
               ? entry
               : NULL;
}

static size_t find_many_plain(const cellar_dictionary *dictionary, const cellar_slices *s,
                              size_t first, int32_t *codes, int32_t *any)
{
    const probe_plain_state d = {dictionary};
    FIND_MANY_EITHER(probe_plain);
}

#ifdef DICTIONARY_X86
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,bmi2")))
#define AVX2 __attribute__((target("avx2")))

/* What the loop needs of a dictionary, in registers. */
typedef struct probe_wide_state {
    const cellar_dictionary_entry *entries;
    const uint32_t *slots;
    __m256i even, odd; /* multipliers of the words at even and odd places */
    uint64_t spread;
    unsigned shift;
} probe_wide_state;

AVX2 static inline probe_wide_state probe_wide_init(const cellar_dictionary *dictionary)
{
    const uint32_t *m = dictionary->multiplier;
    return (probe_wide_state){.entries = dictionary->entries,
                              .slots = dictionary->slots,
                              .even = _mm256_setr_epi64x(m[0], m[2], m[4], m[6]),
                              .odd = _mm256_setr_epi64x(m[1], m[3], m[5], m[7]),
                              .spread = dictionary->spread,
                              .shift = dictionary->shift};
}

/* The entry that the hash of eight words points at. */
AVX2 static inline const cellar_dictionary_entry *probe_wide(const probe_wide_state *d,
                                                             __m256i words, uint32_t length)
{
    __m256i products = _mm256_add_epi64(_mm256_mul_epu32(words, d->even),
                                        _mm256_mul_epu32(_mm256_srli_epi64(words, 32), d->odd));
    __m128i halves =
        _mm_add_epi64(_mm256_castsi256_si128(products), _mm256_extracti128_si256(products, 1));
    __m128i sum = _mm_add_epi64(halves, _mm_unpackhi_epi64(halves, halves));
    uint64_t hash = ((uint64_t) _mm_cvtsi128_si64(sum) + length) * d->spread;
    return &d->entries[d->slots[hash >> d->shift]];
}

AVX512 static inline const cellar_dictionary_entry *probe_avx512(const probe_wide_state *d,
                                                                 const char *text, uint32_t length)
{
    __m256i words = _mm256_maskz_loadu_epi8(_cvtu32_mask32(_bzhi_u32(UINT32_MAX, length)), text);
    const cellar_dictionary_entry *entry = probe_wide(d, words, length);
    __m256i known = _mm256_loadu_si256((const __m256i *) (const void *) entry->word);
    uint32_t different = _cvtmask32_u32(_mm256_cmpneq_epi8_mask(words, known));
    return (different | (entry->short_length ^ length)) == 0 ? entry : NULL;
}

AVX512 static size_t find_many_avx512(const cellar_dictionary *dictionary, const cellar_slices *s,
                                      size_t first, int32_t *codes, int32_t *any)
{
    const probe_wide_state d = probe_wide_init(dictionary);
    FIND_MANY_EITHER(probe_avx512);
}

/* 32 bytes are read, as callers allow, and those after the text blanked out: a window into `keep`
 * that begins with as many ones as the text has bytes. */
AVX2 static inline const cellar_dictionary_entry *probe_avx2(const probe_wide_state *d,
                                                             const char *text, uint32_t length)
{
    static const uint64_t keep[8] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint32_t kept = length < DICTIONARY_INLINE ? length : DICTIONARY_INLINE;
    const char *window = (const char *) keep + DICTIONARY_INLINE - kept;
    __m256i words = _mm256_and_si256(_mm256_loadu_si256((const __m256i *) (const void *) text),
                                     _mm256_loadu_si256((const __m256i *) (const void *) window));
    const cellar_dictionary_entry *entry = probe_wide(d, words, length);
    __m256i known = _mm256_loadu_si256((const __m256i *) (const void *) entry->word);
    uint32_t same = (uint32_t) _mm256_movemask_epi8(_mm256_cmpeq_epi8(words, known));
    return (~same | (entry->short_length ^ length)) == 0 ? entry : NULL;
}

AVX2 static size_t find_many_avx2(const cellar_dictionary *dictionary, const cellar_slices *s,
                                  size_t first, int32_t *codes, int32_t *any)
{
    const probe_wide_state d = probe_wide_init(dictionary);
    FIND_MANY_EITHER(probe_avx2);
}
#endif

static int always_works(void)
{
    return 1;
}

#ifdef DICTIONARY_X86
static int avx512_works(void)
{
    return __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("bmi2");
}

static int avx2_works(void)
{
    return __builtin_cpu_supports("avx2");
}
#endif

const cellar_dictionary_way cellar_dictionary_ways[CELLAR_DICTIONARY_MAX_WAYS] = {
#ifdef DICTIONARY_X86
    {"avx512", avx512_works, find_many_avx512},
    {"avx2", avx2_works, find_many_avx2},
#endif
    {"plain", always_works, find_many_plain},
};

size_t cellar_dictionary_find_many(const cellar_dictionary *dictionary, const cellar_slices *slices,
                                   size_t first, int32_t *codes, int32_t *any)
{
    const cellar_dictionary_way *way = cellar_dictionary_ways;
    while (!way->works())
        way++;
    return way->find_many(dictionary, slices, first, codes, any);
}

/* ---- building ---------------------------------------------------------------- */

static void dictionary_choose_multipliers(cellar_dictionary *d)
{
    randombytes_buf(d->multiplier, sizeof d->multiplier);
    randombytes_buf(&d->spread, sizeof d->spread);
    d->spread |= 1;
}

/* Puts entry `number` into its slot; answers whether it had to move from its first choice. */
static int dictionary_place(cellar_dictionary *d, size_t number)
{
    const cellar_dictionary_entry *entry = &d->entries[number];
    uint64_t last = ((uint64_t) 1 << (64 - d->shift)) - 1;
    const char *text = entry->rest != NULL ? entry->rest->bytes : NULL;
    uint64_t slot = hash_words(d, entry->word, text, entry_length(entry)) >> d->shift;
    int moved = 0;
    for (; d->slots[slot] != 0; slot = (slot + 1) & last)
        moved = 1;
    d->slots[slot] = (uint32_t) number;
    return moved;
}

static size_t dictionary_fill(cellar_dictionary *d)
{
    size_t n_moved = 0;
    memset(d->slots, 0, sizeof *d->slots << (64 - d->shift));
    for (size_t i = 1; i < d->n; i++)
        n_moved += (size_t) dictionary_place(d, i);
    return n_moved;
}

static int dictionary_rebuild(cellar_dictionary *d, unsigned log2_slots)
{
    uint32_t *slots = cellar_alloc((size_t) 1 << log2_slots, sizeof *slots);
    if (slots == NULL)
        return 0;
    cellar_free(d->slots);
    d->slots = slots;
    d->shift = 64 - log2_slots;
    dictionary_choose_multipliers(d);
    dictionary_fill(d);
    d->settled = 0;
    return 1;
}

void cellar_dictionary_settle(cellar_dictionary *d)
{
    cellar_dictionary best = *d;
    size_t fewest = SIZE_MAX;

    if (d->n <= d->settled + d->settled / SETTLE_GROWTH || d->n > SETTLE_LIMIT)
        return;
    for (int tried = 0; fewest > 0 && tried < SEEDS_TRIED; tried++) {
        size_t n_moved;
        dictionary_choose_multipliers(d);
        n_moved = dictionary_fill(d);
        if (n_moved < fewest) {
            fewest = n_moved;
            best = *d;
        }
    }
    *d = best;
    if (fewest > 0)
        dictionary_fill(d);
    d->settled = d->n;
}

int cellar_dictionary_init(cellar_dictionary *d)
{
    *d = (cellar_dictionary){0};
    if (sodium_init() < 0 || !cellar_grow(&d->entries, &d->capacity, 1, sizeof *d->entries))
        return 0;
    d->entries[0] =
        (cellar_dictionary_entry){.short_length = UINT32_MAX, .code = CELLAR_CODE_ABSENT};
    return cellar_dictionary_reset(d);
}

int cellar_dictionary_reset(cellar_dictionary *d)
{
    cellar_arena_free(d->long_texts);
    d->long_texts = cellar_arena_create(SIZE_MAX / 2);
    d->n = 1;
    return d->long_texts != NULL && dictionary_rebuild(d, FIRST_LOG2_SLOTS);
}

void cellar_dictionary_clear(cellar_dictionary *d)
{
    cellar_arena_free(d->long_texts);
    cellar_free(d->slots);
    cellar_free(d->entries);
    *d = (cellar_dictionary){0};
}

size_t cellar_dictionary_n(const cellar_dictionary *d)
{
    return d->n - 1;
}

int cellar_dictionary_add(cellar_dictionary *d, const char *text, size_t length, int32_t code)
{
    cellar_dictionary_entry *entry;
    size_t n_slots = (size_t) 1 << (64 - d->shift);

    if (length >= UINT32_MAX || d->n >= UINT32_MAX ||
        !cellar_grow(&d->entries, &d->capacity, d->n + 1, sizeof *d->entries))
        return 0;
    entry = &d->entries[d->n];
    *entry = (cellar_dictionary_entry){.short_length = (uint32_t) length, .code = code};
    text_words(text, length, entry->word);
    if (length > DICTIONARY_INLINE) {
        struct cellar_long_text *rest = cellar_arena_alloc(d->long_texts, 1, sizeof *rest + length);
        if (rest == NULL)
            return 0;
        rest->length = length;
        memcpy(rest->bytes, text, length);
        entry->rest = rest;
        entry->short_length = UINT32_MAX;
    }
    d->n++;
    if (d->n * (d->n <= SMALL_TABLE ? SMALL_SLOTS : LARGE_SLOTS) <= n_slots) {
        dictionary_place(d, d->n - 1);
        return 1;
    }
    if (!dictionary_rebuild(d, 64 - d->shift + 2)) {
        d->n--; /* the old slots are still whole, and do not name the new entry */
        return 0;
    }
    return 1;
}
