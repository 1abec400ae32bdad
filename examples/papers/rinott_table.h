/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Table 1 of Rinott, O'Keefe, Shlomo and Skinner (2018): twelve age groups by eleven occupations.
 */
#ifndef EXAMPLES_RINOTT_TABLE_H
#define EXAMPLES_RINOTT_TABLE_H

#include <stdint.h>
#include <stdio.h>

static const uint64_t rinott[12][11] = {
    {2, 2, 8, 7, 31, 0, 7, 2, 20, 0, 80},          {55, 68, 110, 54, 134, 0, 23, 13, 138, 2, 129},
    {115, 147, 132, 78, 83, 0, 19, 15, 45, 0, 18}, {191, 129, 127, 89, 68, 0, 18, 8, 33, 4, 10},
    {153, 113, 119, 74, 49, 1, 34, 15, 44, 4, 9},  {102, 70, 78, 70, 43, 1, 20, 21, 24, 3, 8},
    {94, 65, 55, 72, 47, 2, 29, 16, 36, 4, 14},    {92, 81, 75, 80, 65, 1, 43, 17, 36, 1, 8},
    {74, 51, 56, 64, 72, 2, 49, 21, 67, 2, 13},    {63, 41, 40, 70, 53, 3, 22, 22, 56, 4, 59},
    {12, 5, 7, 3, 12, 0, 6, 4, 8, 2, 287},         {4, 4, 1, 5, 4, 0, 2, 1, 4, 0, 307}};

/* Table 2: P(|b - a| <= r) with negatives set to zero, in per cent as printed. */
typedef struct rinott_part {
    const char *spec;
    int percent[6][5];
} rinott_part;

static const rinott_part rinott_table_2[] = {{"truncated-laplace:epsilon=1.5,m=7",
                                              {{82, 96, 99, 100, 100},
                                               {64, 96, 99, 100, 100},
                                               {64, 92, 99, 100, 100},
                                               {64, 92, 98, 100, 100},
                                               {64, 92, 98, 100, 100},
                                               {64, 92, 98, 100, 100}}},
                                             {"truncated-laplace:epsilon=0.5,m=7",
                                              {{63, 78, 87, 93, 96},
                                               {25, 78, 87, 93, 96},
                                               {25, 55, 87, 93, 96},
                                               {25, 55, 74, 93, 96},
                                               {25, 55, 74, 85, 96},
                                               {25, 55, 74, 85, 92}}},
                                             {"truncated-normal:epsilon=1.5,m=12",
                                              {{57, 70, 81, 89, 94},
                                               {14, 70, 81, 89, 94},
                                               {14, 40, 81, 89, 94},
                                               {14, 40, 62, 89, 94},
                                               {14, 40, 62, 78, 94},
                                               {14, 40, 62, 78, 88}}},
                                             {"truncated-normal:epsilon=0.5,m=10",
                                              {{54, 63, 71, 78, 84},
                                               {9, 63, 71, 78, 84},
                                               {9, 26, 71, 78, 84},
                                               {9, 26, 42, 78, 84},
                                               {9, 26, 42, 57, 84},
                                               {9, 26, 42, 57, 69}}}};

/* The mechanisms of Figures 1 to 3: Laplace noise with m = 7, and normal noise with the m that has
 * about the same delta. */
enum { RINOTT_N_EPSILONS = 6 };
static const char *const rinott_epsilons[RINOTT_N_EPSILONS] = {"0.1", "0.5", "1", "1.5", "2", "3"};

static inline void rinott_spec(int is_normal, int epsilon, char *spec, size_t size)
{
    static const char *const normal_m[RINOTT_N_EPSILONS] = {"8", "10", "12", "12", "13", "14"};
    if (is_normal)
        snprintf(spec, size, "truncated-normal:epsilon=%s,m=%s", rinott_epsilons[epsilon],
                 normal_m[epsilon]);
    else
        snprintf(spec, size, "truncated-laplace:epsilon=%s,m=7", rinott_epsilons[epsilon]);
}

#endif
