/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From the text of a field to a small number, fast: the inner loop of all counting. */
#ifndef CELLAR_DATA_DICTIONARY_H
#define CELLAR_DATA_DICTIONARY_H

#include <stddef.h>
#include <stdint.h>

#include "base/memory.h"

enum {
    DICTIONARY_INLINE = 32, /* bytes of text compared without a loop */
    DICTIONARY_WORDS = DICTIONARY_INLINE / 4
};

struct cellar_long_text {
    size_t length;
    char bytes[];
};

typedef struct cellar_dictionary_entry {
    uint32_t word[DICTIONARY_WORDS];     /* the first 32 bytes, padded with zeros */
    const struct cellar_long_text *rest; /* where there are more than 32 bytes */
    uint32_t short_length; /* the length, or UINT32_MAX where the words are not all of the text */
    int32_t code;
    char unused[16]; /* 64 bytes: an entry lies in one line of the cache */
} cellar_dictionary_entry;

/* A hash table of texts. Lookups read 32 bytes from the start of a text, whatever its length:
 * callers keep that much readable. One thread at a time. */
typedef struct cellar_dictionary {
    cellar_dictionary_entry *entries; /* number 0 is like no text: empty slots point at it */
    uint32_t *slots;                  /* entry numbers */
    cellar_arena *long_texts;
    size_t n, capacity;                    /* entries, number 0 included */
    size_t settled;                        /* entries when the multipliers were chosen with care */
    uint32_t multiplier[DICTIONARY_WORDS]; /* random: the hash cannot be foreseen */
    uint64_t spread;                       /* odd and random */
    unsigned shift;                        /* 64 - log2 of the number of slots */
} cellar_dictionary;

enum { CELLAR_CODE_ABSENT = INT32_MIN };

int cellar_dictionary_init(cellar_dictionary *dictionary); /* 0 when memory ends */
void cellar_dictionary_clear(cellar_dictionary *dictionary);
/* Forgets all texts: for caches that have grown too large. 0 when memory ends. */
int cellar_dictionary_reset(cellar_dictionary *dictionary);
size_t cellar_dictionary_n(const cellar_dictionary *dictionary);
/* Adds a text that is not there. 0 when memory ends. */
int cellar_dictionary_add(cellar_dictionary *dictionary, const char *text, size_t length,
                          int32_t code);
/* For a dictionary that will hardly grow any more: looks for multipliers under which few texts
 * share a slot. Costs nothing when little was added since, so that all calls together cost about as
 * much as adding the texts. */
void cellar_dictionary_settle(cellar_dictionary *dictionary);
/* The code of a text, or CELLAR_CODE_ABSENT. */
int32_t cellar_dictionary_find(const cellar_dictionary *dictionary, const char *text,
                               size_t length);

/* Many slices of one text. Slice i lies between two marks, marks[i * stride] and the one after it:
 * its first byte follows the first mark (a mark of UINT32_MAX stands before the text), its last one
 * comes before the second, or before a carriage return there where that may be part of a line
 * end. */
typedef struct cellar_slices {
    const char *text;
    const uint32_t *marks;
    size_t stride, n;
    int may_end_in_cr;
} cellar_slices;

/* The codes of the slices from number `first` on. Stops at the first one that is absent and answers
 * its number, or n. *any collects the bits of all codes: it is negative if one of them is. */
size_t cellar_dictionary_find_many(const cellar_dictionary *dictionary, const cellar_slices *slices,
                                   size_t first, int32_t *codes, int32_t *any);

/* The ways to do that, best first; the last always works. For tests: all give the same answer. */
typedef struct cellar_dictionary_way {
    const char *name;
    int (*works)(void);
    size_t (*find_many)(const cellar_dictionary *dictionary, const cellar_slices *slices,
                        size_t first, int32_t *codes, int32_t *any);
} cellar_dictionary_way;
enum { CELLAR_DICTIONARY_MAX_WAYS = 3 };
extern const cellar_dictionary_way cellar_dictionary_ways[CELLAR_DICTIONARY_MAX_WAYS];

#endif
