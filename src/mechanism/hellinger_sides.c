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

enum { CHUNK = 512, N_CHUNKS = 256 }; /* chunks hold the first of the next, too */

typedef cellar_hellinger_side side;

struct cellar_hellinger_sides {
    long double rate;
    pthread_mutex_t lock;
    _Atomic(side *) chunks[N_CHUNKS]; /* made when asked for */
    int falls_from[N_CHUNKS]; /* from there on steps of ln Z fall, up to the next chunk's first */
};

cellar_status cellar_hellinger_sides_create(long double rate, cellar_hellinger_sides **out,
                                            cellar_error *err)
{
    *out = cellar_alloc(1, sizeof **out);
    if (*out == NULL)
        return cellar_fail_memory(err, "a mechanism");
    (*out)->rate = rate;
    pthread_mutex_init(&(*out)->lock, NULL);
    return CELLAR_OK;
}

void cellar_hellinger_sides_free(cellar_hellinger_sides *sides)
{
    if (sides == NULL)
        return;
    for (int i = 0; i < N_CHUNKS; i++)
        cellar_free(atomic_load(&sides->chunks[i]));
    pthread_mutex_destroy(&sides->lock);
    cellar_free(sides);
}

long double cellar_hellinger_sides_rate(const cellar_hellinger_sides *sides)
{
    return sides->rate;
}

static side side_at(long double rate, int64_t count)
{
    long double root = sqrtl((long double) count);
    side out = {.rise = 0};
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

static void chunk_fill(long double rate, int64_t first, const long double *falls, side *chunk)
{
    long double factor[CHUNK];
    for (int i = 0; i < CHUNK; i++)
        factor[i] = falls[i] < 0.5L ? 1 - falls[i]
                                    : expl(-rate / (sqrtl((long double) (first + i)) +
                                                    sqrtl((long double) (first + i + 1))));
    chunk[0] = side_at(rate, first);
    chunk[CHUNK] = side_at(rate, first + CHUNK);
    for (int i = 1; i < CHUNK; i++)
        chunk[i].below = factor[i - 1] * (chunk[i - 1].below + 1);
    for (int i = CHUNK - 1; i >= 0; i--)
        chunk[i].above = 1 + factor[i] * chunk[i + 1].above;
    for (int i = 0; i < CHUNK; i++)
        chunk[i + 1].rise = chunk[i].rise + falls[i] * (chunk[i + 1].above - 1 - chunk[i].below);
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
static int chunk_falls_from(const long double *falls, const side *chunk)
{
    const long double by = 1 - 1e-10L;
    long double before = INFINITY;
    int from = 0;
    for (int i = 0; i <= CHUNK; i++) {
        long double next = i < CHUNK ? chunk[i + 1].above : (chunk[i].above - 1) / (1 - falls[i]);
        long double step = step_of(falls[i], next, &chunk[i]);
        if (!(step > 0 && step < before * by))
            from = step > 0 ? i : i + 1;
        before = step;
    }
    return from;
}

/* NULL where memory is short. */
static const side *sides_chunk(cellar_hellinger_sides *sides, int64_t i)
{
    side *chunk = atomic_load_explicit(&sides->chunks[i], memory_order_acquire);
    if (chunk != NULL)
        return chunk;
    pthread_mutex_lock(&sides->lock);
    chunk = atomic_load(&sides->chunks[i]);
    if (chunk == NULL) {
        chunk = cellar_alloc(CHUNK + 1, sizeof *chunk);
        if (chunk != NULL) {
            long double falls[CHUNK + 1];
            falls_make(sides->rate, i * CHUNK, falls);
            chunk_fill(sides->rate, i * CHUNK, falls, chunk);
            sides->falls_from[i] = chunk_falls_from(falls, chunk);
        }
        atomic_store_explicit(&sides->chunks[i], chunk, memory_order_release);
    }
    pthread_mutex_unlock(&sides->lock);
    return chunk;
}

/* NULL too where the count is too large. */
static const side *sides_chunk_of(cellar_hellinger_sides *sides, int64_t count)
{
    return count < (int64_t) CHUNK * N_CHUNKS ? sides_chunk(sides, count / CHUNK) : NULL;
}

cellar_hellinger_side cellar_hellinger_sides_at(cellar_hellinger_sides *sides, int64_t count)
{
    const side *chunk = sides_chunk_of(sides, count);
    return chunk != NULL ? chunk[count % CHUNK] : side_at(sides->rate, count);
}

long double cellar_hellinger_sides_log(cellar_hellinger_sides *sides, int64_t smaller,
                                       int64_t larger, long double range, long double *error)
{
    const side *chunk = sides_chunk_of(sides, smaller), *next = sides_chunk_of(sides, larger);
    int64_t apart = larger / CHUNK - smaller / CHUNK;
    side a, b;
    if (chunk != NULL && next != NULL && apart <= 1) {
        a = chunk[smaller % CHUNK];
        b = next[larger % CHUNK];
        *error = 0x1p-49L * range + fminl(0x1p-54L, 0x1p-46L * range);
        a.rise = b.rise - a.rise + (apart > 0 ? chunk[CHUNK].rise : 0);
        return (long double) log1p((double) (a.rise / (a.below + a.above)));
    }
    a = cellar_hellinger_sides_at(sides, smaller);
    b = cellar_hellinger_sides_at(sides, larger);
    *error = 0x1p-48L;
    return logl((b.below + b.above) / (a.below + a.above));
}

int cellar_hellinger_sides_are_concave(cellar_hellinger_sides *sides, int64_t first, int64_t last)
{
    if (sides_chunk_of(sides, last) == NULL)
        return 0;
    for (int64_t i = first / CHUNK; i <= last / CHUNK; i++)
        if (sides_chunk(sides, i) == NULL ||
            sides->falls_from[i] > (i == first / CHUNK ? first % CHUNK : 0))
            return 0;
    return 1;
}
