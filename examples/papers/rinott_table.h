/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table 1 of Rinott, O'Keefe, Shlomo and Skinner (2018): twelve age groups by eleven occupations.
 */
#ifndef EXAMPLES_RINOTT_TABLE_H
#define EXAMPLES_RINOTT_TABLE_H

#include <stdint.h>

static const uint64_t rinott[12][11] = {
    {2, 2, 8, 7, 31, 0, 7, 2, 20, 0, 80},          {55, 68, 110, 54, 134, 0, 23, 13, 138, 2, 129},
    {115, 147, 132, 78, 83, 0, 19, 15, 45, 0, 18}, {191, 129, 127, 89, 68, 0, 18, 8, 33, 4, 10},
    {153, 113, 119, 74, 49, 1, 34, 15, 44, 4, 9},  {102, 70, 78, 70, 43, 1, 20, 21, 24, 3, 8},
    {94, 65, 55, 72, 47, 2, 29, 16, 36, 4, 14},    {92, 81, 75, 80, 65, 1, 43, 17, 36, 1, 8},
    {74, 51, 56, 64, 72, 2, 49, 21, 67, 2, 13},    {63, 41, 40, 70, 53, 3, 22, 22, 56, 4, 59},
    {12, 5, 7, 3, 12, 0, 6, 4, 8, 2, 287},         {4, 4, 1, 5, 4, 0, 2, 1, 4, 0, 307}};

#endif
