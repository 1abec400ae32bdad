/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A question to a cube while it is answered. */
#ifndef CELLAR_CUBE_ASK_H
#define CELLAR_CUBE_ASK_H

#include "cube/picks.h"

typedef struct cube_asking {
    const cellar_cube *cube;
    const cellar_cube_question *question;
    uint32_t table;
    size_t variable[CUBE_ORDER_MAX], level[CUBE_ORDER_MAX]; /* in the order of the question */
    size_t side_of[CUBE_ORDER_MAX];   /* of each variable of the table: its side of the question */
    cube_picks picks[CUBE_ORDER_MAX]; /* in the order of the table */
    cellar_schema *schema;
    int64_t *value, *se;
    int is_whole; /* whole numbers are wanted */
} cube_asking;

/* Finds the table of a question and picks its nodes, nothing else yet: `a` has `cube` and
 * `question`. Close it in every case. */
cellar_status cellar_cube_asking_open(cube_asking *a, cellar_error *err);
void cellar_cube_asking_close(cube_asking *a);

/* Picks the nodes of variable k of the table: all of them, those that are named, or groups; with
 * margins their total too. Refuses what is not there, twice there, or would not add. */
cellar_status cellar_cube_pick_side(cube_asking *a, size_t k, cellar_error *err);

#endif
