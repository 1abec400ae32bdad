/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With f = e^{-rate (sqrt(a+1) - sqrt a)}, below(a+1) = f (below(a) + 1) and above(a) = 1 +
 * f above(a+1). Chunks of counts begin and end where the Euler-Maclaurin formula gives both, so no
 * number passes through many steps: each adds less than 2^-62 of the sum.
 *   Z(a+1) - Z(a) = (1 - f) (above(a+1) - 1 - below(a)) does not cancel as the difference of two Z
 * does: it is off by 2^-50 Z at most, times 1 - f <= rate (sqrt(a+1) - sqrt a). Added up and
 * divided by Z, that is 2^-51 of `range`; and as Z(b)/Z(a) <= e^{range/2}, what Z(a) is off in
 * ln(1 + (Z(b) - Z(a))/Z(a)) is no more. Adding up 512 of them loses at most 2^-55 of their sum,
 * which is below 2^-46 of a single step's range, and below 2^-55 Z. */
#include "mechanism/hellinger_sides.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanism/hellinger_sums.h"

enum { CHUNK = 512, N_CHUNKS = 256, N_FAR = 64 };
static const long double RATE_FAR = 8; /* larger ones never ask for many large counts */

typedef cellar_hellinger_side side;

typedef struct chunk {
    int64_t index;
    int falls_from;        /* from there on steps of ln Z fall, up to the next chunk's first */
    side sides[CHUNK + 1]; /* the first of the next, too */
} chunk;

struct cellar_hellinger_sides {
    long double rate, low; /* see cellar_hellinger_far() */
    pthread_mutex_t lock;
    /* Made when asked for. Of those further out the first that comes to a place keeps it. */
    _Atomic(chunk *) chunks[N_CHUNKS + N_FAR];
};

cellar_status cellar_hellinger_sides_create(long double rate, cellar_hellinger_sides **out,
                                            cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    (*out)->rate = rate;
    (*out)->low = rate < RATE_FAR ? cellar_hellinger_low(rate) : 0;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CELLAR_OK;
}

void cellar_hellinger_sides_free(cellar_hellinger_sides *sides)
{
    if (sides == NULL)
        return;
    for (int i = 0; i < N_CHUNKS + N_FAR; i++)
        cellar_free(atomic_load(&sides->chunks[i]));
    pthread_mutex_destroy(&sides->lock);
    cellar_free(sides);
}

long double cellar_hellinger_sides_rate(const cellar_hellinger_sides *sides)
{
    return sides->rate;
}

static side side_at(long double rate, long double low, int64_t count)
{
    long double n = (long double) count, root = sqrtl(n);
    side out = {.rise = 0};
    if (rate < RATE_FAR && n > 0x1p16L * (1 + rate * rate) && rate * root > 0.125L) {
        cellar_hellinger_far(rate, low, count, &out.below, &out.above);
        return out;
    }
    cellar_hellinger_below(rate, root, count - 1, 1, &out.below);
    cellar_hellinger_above(rate, root, count, 1, &out.above);
    return out;
}

/* 1 - e^-x, x > 0: mostly so small that the series is right to the last bit, and much quicker. */
static long double fall_of(long double x)
{
    if (x > 0x1p-8L)
        return -expm1l(-x);
    return x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5 * (1 - x / 6 * (1 - x / 7))))));
}

/* falls[i] = 1 - e^{-rate (sqrt(first + i + 1) - sqrt(first + i))}, i <= CHUNK. */
static void falls_make(long double rate, int64_t first, long double *falls)
{
    long double root = sqrtl((long double) first);
    for (int i = 0; i <= CHUNK; i++) {
        long double after = sqrtl((long double) (first + i + 1));
        falls[i] = fall_of(rate / (root + after));
        root = after;
    }
}

static void sides_fill(long double rate, long double low, int64_t first, const long double *falls,
                       side *sides)
{
    long double factor[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        factor[i] = falls[i] < 0.5L ? 1 - falls[i]
                                    : expl(-rate / (sqrtl((long double) (first + i)) +
                                                    sqrtl((long double) (first + i + 1))));
    sides[0] = side_at(rate, low, first);
    sides[CHUNK] = side_at(rate, low, first + CHUNK);
    for (int i = 1; i < CHUNK; i++)
        sides[i].below = factor[i - 1] * (sides[i - 1].below + 1);
    for (int i = CHUNK - 1; i >= 0; i--)
        sides[i].above = 1 + factor[i] * sides[i + 1].above;
    for (int i = 0; i < CHUNK; i++)
        sides[i + 1].rise = sides[i].rise + falls[i] * (sides[i + 1].above - 1 - sides[i].below);
}

/* (Z(a+1) - Z(a)) / Z(a), or 0 where it is too small to be told well. It is off by 2^-50 of 1e4 at
 * most, relative to itself. */
static long double step_of(long double fall, long double above_next, const side *s)
{
    const long double least = 1e-4L;
    long double rise = above_next - 1 - s->below, z = s->below + s->above;
    return rise > least * z ? fall * rise / z : 0;
}

/* From which place on these steps fall, up to the next chunk's first, by more than they are off. */
static int falls_from(const long double *falls, const side *sides)
{
    const long double by = 1 - 1e-10L;
    long double before = INFINITY;
    int from = 0;
    for (int i = 0; i <= CHUNK; i++) {
        long double next = i < CHUNK ? sides[i + 1].above : (sides[i].above - 1) / (1 - falls[i]);
        long double step = step_of(falls[i], next, &sides[i]);
        if (!(step > 0 && step < before * by))
            from = step > 0 ? i : i + 1;
        before = step;
    }
    return from;
}

static chunk *chunk_create(long double rate, long double low, int64_t index)
{
    long double falls[CHUNK + 1];
    chunk *c = cellar_alloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    c->index = index;
    falls_make(rate, index * CHUNK, falls);
    sides_fill(rate, low, index * CHUNK, falls, c->sides);
    c->falls_from = falls_from(falls, c->sides);
    return c;
}

/* NULL where memory is short, and where another one has its place. */
static const chunk *chunk_of(cellar_hellinger_sides *sides, int64_t count)
{
    int64_t index = count / CHUNK;
    _Atomic(chunk *) *place = &sides->chunks[index < N_CHUNKS ? index : N_CHUNKS + index % N_FAR];
    chunk *c = atomic_load_explicit(place, memory_order_acquire);
    if (c == NULL) {
        pthread_mutex_lock(&sides->lock);
        c = atomic_load(place);
        if (c == NULL) {
            c = chunk_create(sides->rate, sides->low, index);
            atomic_store_explicit(place, c, memory_order_release);
        }
        pthread_mutex_unlock(&sides->lock);
    }
    return c != NULL && c->index == index ? c : NULL;
}

int cellar_hellinger_sides_are_near(cellar_hellinger_sides *sides, int64_t count)
{
    return chunk_of(sides, count) != NULL;
}

cellar_hellinger_side cellar_hellinger_sides_at(cellar_hellinger_sides *sides, int64_t count)
{
    const chunk *c = chunk_of(sides, count);
    return c != NULL ? c->sides[count % CHUNK] : side_at(sides->rate, sides->low, count);
}

long double cellar_hellinger_sides_log(cellar_hellinger_sides *sides, int64_t smaller,
                                       int64_t larger, long double range, long double *error)
{
    int64_t apart = larger / CHUNK - smaller / CHUNK;
    const chunk *c = apart <= 1 ? chunk_of(sides, smaller) : NULL;
    const chunk *next = apart <= 1 ? chunk_of(sides, larger) : NULL;
    side a, b;
    if (c != NULL && next != NULL) {
        a = c->sides[smaller % CHUNK];
        b = next->sides[larger % CHUNK];
        *error = 0x1p-49L * range + fminl(0x1p-54L, 0x1p-46L * range);
        a.rise = b.rise - a.rise + (apart > 0 ? c->sides[CHUNK].rise : 0);
        return (long double) log1p((double) (a.rise / (a.below + a.above)));
    }
    a = cellar_hellinger_sides_at(sides, smaller);
    b = cellar_hellinger_sides_at(sides, larger);
    *error = 0x1p-48L;
    return logl((b.below + b.above) / (a.below + a.above));
}

int cellar_hellinger_sides_are_concave(cellar_hellinger_sides *sides, int64_t first, int64_t last)
{
    int64_t begin = first / CHUNK, end = last / CHUNK;
    if (end - begin >= N_CHUNKS)
        return 0;
    for (int64_t i = begin; i <= end; i++) {
        const chunk *c = chunk_of(sides, i * CHUNK);
        if (c == NULL || c->falls_from > (i == begin ? first % CHUNK : 0))
            return 0;
    }
    return 1;
}
