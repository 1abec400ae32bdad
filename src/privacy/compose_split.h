/* SPDX-License-Identifier: GPL-3.0-or-later */
/* By how much delta grows when losses are split between the points of a grid. */
#ifndef CELLAR_PRIVACY_COMPOSE_SPLIT_H
#define CELLAR_PRIVACY_COMPOSE_SPLIT_H

enum { CELLAR_SPLIT_LAYERS = 64 };

typedef struct cellar_split {
    double most[CELLAR_SPLIT_LAYERS]; /* bounds what is added, by the distance from epsilon */
    double width;                     /* of a layer */
    double stray; /* by which splitting may have moved the sum: distances are shortened by it */
    double rest;  /* bounds what is added further away */
} cellar_split;

/* `v` is the sum of times * spacing^2 over all parts, `spacing` the widest of them; what is added
 * beyond the reach is below `rest`. */
void cellar_split_init(cellar_split *split, double v, double spacing, double rest);

/* delta grows by at most rest + E weight(|loss - epsilon|), the loss being that of the sum as it
 * was split; weights are 0 beyond the reach. */
double cellar_split_reach(const cellar_split *split);
double cellar_split_weight(const cellar_split *split, double distance);

#endif
