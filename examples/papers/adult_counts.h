/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The Adult data of 1994 (32,561 people) by sex, income, race and workclass, "?" being a level: the
 * four columns, the cells of the first two and of the first three, and the 131 cells of all. */
#ifndef EXAMPLES_ADULT_COUNTS_H
#define EXAMPLES_ADULT_COUNTS_H

#include <stdint.h>

static const uint64_t adult_sex[] = {10771, 21790};
static const uint64_t adult_income[] = {24720, 7841};
static const uint64_t adult_race[] = {311, 1039, 3124, 271, 27816};
static const uint64_t adult_workclass[] = {1836, 960, 2093, 7, 22696, 1116, 2541, 1298, 14};
static const uint64_t adult_two[] = {1179, 6662, 9592, 15128};
static const uint64_t adult_three[] = {6,   12,  19,  24,  43,   90,   103,  107,  143,  168,
                                       233, 297, 303, 460, 1028, 1272, 1465, 6089, 7614, 13085};
static const uint64_t adult_joint[] = {
    1,   1,   1,   1,   1,   1,   1,   1,    1,    1,    1,    2,   2,   2,   2,   2,   2,
    2,   2,   3,   3,   3,   3,   3,   3,    3,    3,    3,    4,   4,   4,   4,   4,   4,
    4,   4,   4,   4,   5,   5,   5,   5,    5,    5,    7,    7,   7,   8,   8,   9,   9,
    10,  10,  10,  10,  11,  11,  12,  12,   12,   12,   14,   15,  15,  15,  17,  17,  17,
    17,  17,  18,  18,  21,  22,  23,  23,   27,   28,   29,   29,  33,  37,  38,  41,  43,
    45,  46,  50,  52,  55,  56,  65,  77,   77,   82,   83,   84,  87,  94,  107, 117, 120,
    128, 132, 133, 146, 164, 173, 214, 245,  250,  271,  280,  313, 324, 372, 405, 443, 518,
    548, 594, 609, 639, 665, 728, 929, 1022, 1391, 3893, 5642, 9230};

#define ADULT_COUNT(counts) (sizeof(counts) / sizeof *(counts))

#endif
