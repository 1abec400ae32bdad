/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which tables to measure, and how precisely, for a pure epsilon. */
#ifndef CELLAR_CUBE_PRECISION_PURE_H
#define CELLAR_CUBE_PRECISION_PURE_H

#include "cube/precision.h"

/* Improves a choice for a pure epsilon of 1, split over the tables: w_A = e_A^2 / 2, sum of e_A
 * = 1. `choice` is one for a cost of rho, whose proportions are where the search begins; caps and
 * known precisions of the objective are those at epsilon 1. What comes out is no worse than these
 * proportions and no proven optimum: `least` and `free_least` are NAN. */
cellar_status cellar_cube_improve_pure(const cube_lattice *lattice, const cube_objective *objective,
                                       cube_choice *choice, cellar_error *err);
/* The same for the smallest largest variance / goal: the caps of the objective are goals, and its
 * weights do not count. */
cellar_status cellar_cube_improve_pure_minimax(const cube_lattice *lattice,
                                               const cube_objective *objective, cube_choice *choice,
                                               cellar_error *err);

#endif
