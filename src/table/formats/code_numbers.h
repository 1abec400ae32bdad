/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The codes of one variable as rows of a file name them, numbered as they first come. */
#ifndef CELLAR_TABLE_FORMATS_CODE_NUMBERS_H
#define CELLAR_TABLE_FORMATS_CODE_NUMBERS_H

#include <cellar/codelist.h>

#include "base/memory.h"

typedef enum code_part { CODE_LEAF, CODE_INNER, CODE_TOTAL } code_part;

typedef struct numbered_code {
    const char *text; /* NUL-terminated */
    uint32_t length;
    uint32_t hash;
    code_part part;
} numbered_code;

/* Found by open addressing. */
typedef struct code_numbers {
    cellar_codelist *list; /* owned; NULL: any code is taken */
    cellar_arena *arena;   /* holds the texts */
    numbered_code *codes;
    size_t n, capacity;
    uint32_t *slots; /* number + 1; 0 is free */
    size_t n_slots;
    uint32_t last; /* rows come sorted: the code is often the last one's */
} code_numbers;

/* Takes `list`, which may be NULL. 0 when memory ends; clear it all the same. */
int cellar_code_numbers_init(code_numbers *numbers, cellar_codelist *list, cellar_arena *arena);
void cellar_code_numbers_clear(code_numbers *numbers);

/* The number of a code, the same for the same code: 0, 1, ... Not in the list and out of memory are
 * told by these two. */
#define CODE_NUMBER_UNLISTED UINT32_MAX
#define CODE_NUMBER_NO_MEMORY (UINT32_MAX - 1)
uint32_t cellar_code_numbers_find(code_numbers *numbers, const char *text, size_t length);

#endif
