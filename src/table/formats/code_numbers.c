/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "table/formats/code_numbers.h"

#include <string.h>

/* What a file writes for the total of a variable whose list names none. */
static const char TOTAL[] = "_T";

enum { MAX_CODES = 1 << 23, FIRST_SLOTS = 256 };

int cellar_code_numbers_init(code_numbers *numbers, cellar_codelist *list, cellar_arena *arena)
{
    *numbers = (code_numbers){.list = list, .arena = arena, .n_slots = FIRST_SLOTS};
    numbers->slots = cellar_alloc(FIRST_SLOTS, sizeof *numbers->slots);
    return numbers->slots != NULL;
}

void cellar_code_numbers_clear(code_numbers *numbers)
{
    cellar_codelist_free(numbers->list);
    cellar_free(numbers->codes);
    cellar_free(numbers->slots);
}

/* FNV-1a, then folded: short codes are hashed byte by byte anyway. */
static uint32_t numbers_hash(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char) text[i]) * UINT64_C(0x100000001b3);
    return (uint32_t) (hash ^ (hash >> 29));
}

static int code_is(const numbered_code *code, const char *text, size_t length)
{
    return code->length == length && memcmp(code->text, text, length) == 0;
}

static uint32_t *numbers_slot(const code_numbers *numbers, uint32_t hash, const char *text,
                              size_t length)
{
    for (size_t i = hash & (numbers->n_slots - 1);; i = (i + 1) & (numbers->n_slots - 1)) {
        uint32_t *slot = &numbers->slots[i];
        if (*slot == 0)
            return slot;
        if (numbers->codes[*slot - 1].hash == hash &&
            code_is(&numbers->codes[*slot - 1], text, length))
            return slot;
    }
}

static int numbers_grow_slots(code_numbers *numbers)
{
    uint32_t *old = numbers->slots;
    numbers->slots = cellar_alloc(numbers->n_slots * 2, sizeof *numbers->slots);
    if (numbers->slots == NULL) {
        numbers->slots = old;
        return 0;
    }
    numbers->n_slots *= 2;
    for (size_t i = 0; i < numbers->n; i++) {
        const numbered_code *code = &numbers->codes[i];
        *numbers_slot(numbers, code->hash, code->text, code->length) = (uint32_t) i + 1;
    }
    cellar_free(old);
    return 1;
}

/* What the code is in its list. 0 when it is not of the list. */
static int numbers_classify(const code_numbers *numbers, const char *text, size_t length,
                            code_part *part)
{
    size_t found;
    *part = CODE_LEAF;
    if (numbers->list != NULL) {
        found = cellar_codelist_find(numbers->list, text, length);
        if (found != CELLAR_NO_CODE) {
            if (cellar_codelist_role(numbers->list, found) == CELLAR_CODE_TOTAL)
                *part = CODE_TOTAL;
            else if (!cellar_codelist_is_leaf(numbers->list, found))
                *part = CODE_INNER;
            return 1;
        }
    }
    if (length == strlen(TOTAL) && memcmp(text, TOTAL, length) == 0) {
        *part = CODE_TOTAL;
        return 1;
    }
    return numbers->list == NULL;
}

uint32_t cellar_code_numbers_find(code_numbers *numbers, const char *text, size_t length)
{
    numbered_code code = {0};
    uint32_t *slot;

    if (numbers->n > 0 && code_is(&numbers->codes[numbers->last], text, length))
        return numbers->last;
    code.hash = numbers_hash(text, length);
    slot = numbers_slot(numbers, code.hash, text, length);
    if (*slot != 0)
        return numbers->last = *slot - 1;

    if (!numbers_classify(numbers, text, length, &code.part))
        return CODE_NUMBER_UNLISTED;
    code.length = (uint32_t) length;
    code.text = cellar_arena_copy(numbers->arena, text, length);
    if (length > UINT32_MAX || numbers->n == MAX_CODES || code.text == NULL ||
        !cellar_grow(&numbers->codes, &numbers->capacity, numbers->n + 1, sizeof code))
        return CODE_NUMBER_NO_MEMORY;
    numbers->codes[numbers->n] = code;
    *slot = (uint32_t) ++numbers->n;
    if (numbers->n * 2 > numbers->n_slots && !numbers_grow_slots(numbers))
        return CODE_NUMBER_NO_MEMORY;
    return numbers->last = (uint32_t) numbers->n - 1;
}
