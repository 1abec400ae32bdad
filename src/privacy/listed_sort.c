/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Digit by digit: sums are so many that comparing them is most of the work. */
#include "privacy/listed_sort.h"

#include <string.h>

enum { DIGIT = 11, DIGITS = 6, VALUES = 1 << DIGIT };

/* Rises with the loss: the bits of a positive double do, and those of a negative one turned over.
 */
static uint64_t key_of(double loss)
{
    uint64_t bits;
    memcpy(&bits, &loss, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static size_t digit_of(double loss, int place)
{
    return (size_t) (key_of(loss) >> (place * DIGIT)) & (VALUES - 1);
}

void cellar_atoms_sort(cellar_atom *items, cellar_atom *room, size_t n)
{
    cellar_atom *from = items, *to = room;
    for (int place = 0; place < DIGITS; place++) {
        size_t first[VALUES + 1] = {0};
        cellar_atom *turn = from;
        for (size_t i = 0; i < n; i++)
            first[digit_of(from[i].loss, place) + 1]++;
        if (n == 0 || first[digit_of(from[0].loss, place) + 1] == n)
            continue; /* all are the same there */
        for (size_t value = 1; value < VALUES; value++)
            first[value + 1] += first[value];
        for (size_t i = 0; i < n; i++)
            to[first[digit_of(from[i].loss, place)]++] = from[i];
        from = to;
        to = turn;
    }
    if (from != items && n > 0)
        memcpy(items, from, n * sizeof *items);
}
