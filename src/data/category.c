/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order in which observed categories are shown. */
#include <string.h>

#include "data/decimal.h"
#include "data/recode.h"

enum { CATEGORY_SCALE = CELLAR_DECIMAL_MAX_SCALE };

/* Codes by what they look like, in their order. */
typedef enum category_rank {
    CATEGORY_BOTTOM, /* <=15 */
    CATEGORY_NUMBER, /* 20, [20,25), (20,25] */
    CATEGORY_TOP,    /* >=85 */
    CATEGORY_TEXT
} category_rank;

typedef struct category {
    category_rank rank;
    cellar_int128 low, high; /* equal but for bands */
    int low_open;
} category;

static int category_number(const char *text, size_t length, cellar_int128 *out)
{
    cellar_decimal number;
    if (!cellar_decimal_read(text, length, CATEGORY_SCALE, &number))
        return 0;
    *out = number.floor;
    return 1;
}

static int category_band(const char *code, size_t length, category *out)
{
    const char *comma = memchr(code, ',', length);

    if (length < 5 || comma == NULL || (code[0] != '[' && code[0] != '(') ||
        (code[length - 1] != ']' && code[length - 1] != ')'))
        return 0;
    out->low_open = code[0] == '(';
    return category_number(code + 1, (size_t) (comma - code) - 1, &out->low) &&
           category_number(comma + 1, (size_t) (code + length - 1 - comma) - 1, &out->high);
}

static category category_read(const char *code)
{
    category c = {.rank = CATEGORY_TEXT};
    size_t length = strlen(code);

    if (category_number(code, length, &c.low)) {
        c.rank = CATEGORY_NUMBER;
        c.high = c.low;
    } else if (category_band(code, length, &c))
        c.rank = CATEGORY_NUMBER;
    else if (length > 2 && code[0] == '<' && code[1] == '=' &&
             category_number(code + 2, length - 2, &c.low))
        c.rank = CATEGORY_BOTTOM;
    else if (length > 2 && code[0] == '>' && code[1] == '=' &&
             category_number(code + 2, length - 2, &c.low))
        c.rank = CATEGORY_TOP;
    return c;
}

int cellar_category_compare(const char *a, const char *b)
{
    category x = category_read(a), y = category_read(b);

    if (x.rank != y.rank)
        return x.rank < y.rank ? -1 : 1;
    if (x.rank == CATEGORY_TEXT)
        return strcmp(a, b);
    if (x.low != y.low)
        return x.low < y.low ? -1 : 1;
    if (x.low_open != y.low_open)
        return x.low_open - y.low_open;
    if (x.high != y.high)
        return x.high < y.high ? -1 : 1;
    return strcmp(a, b); /* 1 and 1.0 */
}
