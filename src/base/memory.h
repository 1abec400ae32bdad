/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All allocation: overflow-checked, zeroed, capped while parsing, and able to fail on purpose. */
#ifndef CELLAR_BASE_MEMORY_H
#define CELLAR_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/* `n` zeroed objects of `size` bytes, or NULL when memory ends or n * size overflows.
 * n == 0 gives a valid pointer to nothing. Free with cellar_free(). */
void *cellar_alloc(size_t n, size_t size);

/* Like realloc for arrays; the bytes added are not zeroed. On failure `old` is untouched. */
void *cellar_realloc(void *old, size_t n, size_t size);

/* `bytes` bytes on a page boundary, not zeroed. read(2) into such a buffer is several
 * times faster than into what malloc returns for large blocks. */
void *cellar_alloc_pages(size_t bytes);

void cellar_free(void *pointer); /* NULL is fine */

/* Overwrites memory that held a secret; the compiler cannot drop it. */
void cellar_wipe(void *pointer, size_t size);

/* Makes room for `n_needed` elements in a growing array of *capacity elements; `items_pointer` is
 * the address of the pointer to it. Answers 0 when memory ends; the array then stays as it was. */
int cellar_grow(void *items_pointer, size_t *capacity, size_t n_needed, size_t size);

/* A bump allocator: many small pieces, freed together, never more than a stated limit.
 * Parsers of hostile files allocate from one. Pieces cost their size, rounded up to a multiple of
 * 16 bytes; what the arena takes from the system stays within 4/3 of that and one block. */
typedef struct cellar_arena cellar_arena;

cellar_arena *cellar_arena_create(size_t limit_bytes);                /* NULL when memory ends */
void cellar_arena_free(cellar_arena *arena);                          /* NULL is fine */
void *cellar_arena_alloc(cellar_arena *arena, size_t n, size_t size); /* zeroed */
/* A copy of `length` bytes with a NUL added. */
char *cellar_arena_copy(cellar_arena *arena, const char *text, size_t length);
size_t cellar_arena_used(const cellar_arena *arena);

#ifdef CELLAR_FAIL_ALLOCATION
/* Test build only. Lets `n` more allocations succeed, fails the one after and lets all later ones
 * succeed again; a negative number switches it off. Answers how many allocations were asked for
 * since the last call. */
uint64_t cellar_memory_fail_after(int64_t n);
#endif

#endif
