/* SPDX-License-Identifier: GPL-3.0-or-later */
/* With f = e^{-rate (sqrt(a+1) - sqrt a)}, below(a+1) = f (below(a) + 1) and above(a) = 1 +
 * f above(a+1). Chunks of counts begin and end where the Euler-Maclaurin formula gives both, so no
 * number passes through many steps: each adds less than 2^-62 of the sum.
 *   Z(a+1) - Z(a) = (1 - f) (above(a+1) - 1 - below(a)) does not cancel as the difference of two Z
 * does: it is off by 2^-50 Z at most, times 1 - f <= rate (sqrt(a+1) - sqrt a). Added up and
 * divided by Z, that is 2^-51 of `range`; and as Z(b)/Z(a) <= e^{range/2}, what Z(a) is off in
 * ln(1 + (Z(b) - Z(a))/Z(a)) is no more. Adding up 512 of them loses at most 2^-55 of their sum,
 * which is below 2^-46 of a single step's range. */
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

static void chunk_fill(long double rate, int64_t first, side *chunk)
{
    long double factor[CHUNK], fall[CHUNK], root = sqrtl((long double) first);
    for (int i = 0; i < CHUNK; i++) {
        long double after = sqrtl((long double) (first + i + 1));
        fall[i] = -expm1l(-rate / (root + after));
        factor[i] = fall[i] < 0.5L ? 1 - fall[i] : expl(-rate / (root + after));
        root = after;
    }
    chunk[0] = side_at(rate, first);
    chunk[CHUNK] = side_at(rate, first + CHUNK);
    for (int i = 1; i < CHUNK; i++)
        chunk[i].below = factor[i - 1] * (chunk[i - 1].below + 1);
    for (int i = CHUNK - 1; i >= 0; i--)
        chunk[i].above = 1 + factor[i] * chunk[i + 1].above;
    for (int i = 0; i < CHUNK; i++)
        chunk[i + 1].rise = chunk[i].rise + fall[i] * (chunk[i + 1].above - 1 - chunk[i].below);
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
        if (chunk != NULL)
            chunk_fill(sides->rate, i * CHUNK, chunk);
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
        *error = 0x1p-45L * range;
        return log1pl((b.rise - a.rise + (apart > 0 ? chunk[CHUNK].rise : 0)) /
                      (a.below + a.above));
    }
    a = cellar_hellinger_sides_at(sides, smaller);
    b = cellar_hellinger_sides_at(sides, larger);
    *error = 0x1p-48L;
    return logl((b.below + b.above) / (a.below + a.above));
}
