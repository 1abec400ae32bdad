/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "data/decimal.h"

#include <string.h>

static int decimal_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

int cellar_decimal_read(const char *text, size_t length, int scale, cellar_decimal *out)
{
    while (length > 0 && decimal_is_blank(text[0])) {
        text++;
        length--;
    }
    while (length > 0 && decimal_is_blank(text[length - 1]))
        length--;
    return cellar_parse_decimal_floor(text, length, scale, &out->floor, &out->exact);
}

int cellar_decimal_scale(const char *text)
{
    cellar_decimal number;
    for (int scale = 0; scale <= CELLAR_DECIMAL_MAX_SCALE; scale++) {
        if (!cellar_decimal_read(text, strlen(text), scale, &number))
            return -1;
        if (number.exact)
            return scale;
    }
    return -1;
}

int cellar_decimal_compare(const cellar_decimal *number, cellar_int128 bound)
{
    if (number->floor < bound)
        return -1;
    return number->floor > bound || !number->exact;
}
