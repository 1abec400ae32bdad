/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inner cells that an aggregate sums: all combinations of members of its categories. */
#ifndef CELLAR_RELEASE_ADJUSTMENT_MEMBER_WALK_H
#define CELLAR_RELEASE_ADJUSTMENT_MEMBER_WALK_H

#include "table/build.h"

typedef struct cellar_member_walk {
    const cellar_schema *schema;
    const uint32_t *members[CELLAR_MAX_VARIABLES];
    size_t n_members[CELLAR_MAX_VARIABLES], at[CELLAR_MAX_VARIABLES];
} cellar_member_walk;

/* At the first member; an inner cell is its own. */
void cellar_member_walk_start(cellar_member_walk *walk, const cellar_schema *schema,
                              uint64_t aggregate);
uint64_t cellar_member_walk_index(const cellar_member_walk *walk);
int cellar_member_walk_next(cellar_member_walk *walk); /* 0 after the last */

#endif
