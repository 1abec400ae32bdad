/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CELLAR_FAIL_ALLOCATION
#include <stdatomic.h>

static _Atomic int64_t memory_failing = -1; /* the number of the allocation that fails */
static _Atomic int64_t memory_asked;

uint64_t cellar_memory_fail_after(int64_t n)
{
    atomic_store(&memory_failing, n);
    return (uint64_t) atomic_exchange(&memory_asked, 0);
}

static int memory_may_succeed(void)
{
    return atomic_fetch_add(&memory_asked, 1) != atomic_load(&memory_failing);
}
#else
static int memory_may_succeed(void)
{
    return 1;
}
#endif

/* Allocation of nothing still returns something, so that NULL always means failure. */
static int memory_product(size_t n, size_t size, size_t *bytes)
{
    if (__builtin_mul_overflow(n, size, bytes) || *bytes > PTRDIFF_MAX)
        return 0;
    if (*bytes == 0)
        *bytes = 1;
    return 1;
}

void *cellar_alloc(size_t n, size_t size)
{
    size_t bytes;
    if (!memory_product(n, size, &bytes) || !memory_may_succeed())
        return NULL;
    return calloc(1, bytes);
}

void *cellar_realloc(void *old, size_t n, size_t size)
{
    size_t bytes;
    if (!memory_product(n, size, &bytes) || !memory_may_succeed())
        return NULL;
    return realloc(old, bytes);
}

void *cellar_alloc_pages(size_t bytes)
{
    size_t page = (size_t) sysconf(_SC_PAGESIZE);
    if (bytes > PTRDIFF_MAX - page || !memory_may_succeed())
        return NULL;
    return aligned_alloc(page, (bytes + page) / page * page);
}

void cellar_free(void *pointer)
{
    free(pointer);
}

void cellar_wipe(void *pointer, size_t size)
{
    explicit_bzero(pointer, size);
}

int cellar_grow(void *items_pointer, size_t *capacity, size_t n_needed, size_t size)
{
    void *items, *grown;
    size_t wanted = *capacity < 8 ? 8 : *capacity;
    if (n_needed <= *capacity)
        return 1;
    while (wanted < n_needed)
        if (__builtin_add_overflow(wanted, wanted / 2, &wanted))
            return 0;
    memcpy(&items, items_pointer, sizeof items); /* any object pointer type */
    grown = cellar_realloc(items, wanted, size);
    if (grown == NULL)
        return 0;
    memcpy(items_pointer, &grown, sizeof grown);
    *capacity = wanted;
    return 1;
}

/* ---- arena ---------------------------------------------------------------- */

typedef struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(max_align_t) unsigned char bytes[];
} arena_block;

struct cellar_arena {
    arena_block *blocks; /* the first is the one with room */
    size_t used, limit;
    size_t next_bytes; /* of the next block */
};

enum { ARENA_FIRST_BYTES = 512, ARENA_BLOCK_BYTES = 16384 };

cellar_arena *cellar_arena_create(size_t limit_bytes)
{
    cellar_arena *arena = cellar_alloc(1, sizeof *arena);
    if (arena != NULL) {
        arena->limit = limit_bytes;
        arena->next_bytes = ARENA_FIRST_BYTES;
    }
    return arena;
}

void cellar_arena_free(cellar_arena *arena)
{
    if (arena == NULL)
        return;
    for (arena_block *block = arena->blocks, *next; block != NULL; block = next) {
        next = block->next;
        cellar_free(block);
    }
    cellar_free(arena);
}

/* A large piece gets a block of its own behind the newest, whose rest stays in use. So a block is
 * given up with less than a quarter of it free. Blocks begin small: there may be an arena for each
 * of a hundred thousand columns. */
static arena_block *arena_add_block(cellar_arena *arena, size_t bytes)
{
    int large = bytes > arena->next_bytes / 4;
    size_t room = large ? bytes : arena->next_bytes;
    arena_block **place = large && arena->blocks != NULL ? &arena->blocks->next : &arena->blocks;
    arena_block *block = cellar_alloc(1, sizeof *block + room);
    if (block == NULL)
        return NULL;
    block->size = room;
    block->next = *place;
    *place = block;
    if (arena->next_bytes < ARENA_BLOCK_BYTES)
        arena->next_bytes *= 2;
    return block;
}

void *cellar_arena_alloc(cellar_arena *arena, size_t n, size_t size)
{
    const size_t align = _Alignof(max_align_t);
    arena_block *block = arena->blocks;
    size_t bytes;
    void *piece;

    if (!memory_product(n, size, &bytes) || bytes > arena->limit - arena->used)
        return NULL;
    bytes = (bytes + align - 1) / align * align;
    if (bytes > arena->limit - arena->used)
        return NULL;
    if (block == NULL || block->size - block->used < bytes) {
        block = arena_add_block(arena, bytes);
        if (block == NULL)
            return NULL;
    }
    piece = block->bytes + block->used;
    block->used += bytes;
    arena->used += bytes;
    return piece;
}

char *cellar_arena_copy(cellar_arena *arena, const char *text, size_t length)
{
    char *copy;
    if (length == SIZE_MAX)
        return NULL;
    copy = cellar_arena_alloc(arena, length + 1, 1);
    if (copy != NULL && length > 0)
        memcpy(copy, text, length);
    return copy;
}

size_t cellar_arena_used(const cellar_arena *arena)
{
    return arena->used;
}
