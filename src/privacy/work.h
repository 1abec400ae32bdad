/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How much a certificate may take. What costs time is counted where it is done, in about
 * microseconds of the machine this was written on, and not timed: an answer depends on no machine
 * and on no other program. A search that has done as much as it may takes the bound it has, which
 * is as proven as the supremum it did not find, and says so. */
#ifndef CELLAR_PRIVACY_WORK_H
#define CELLAR_PRIVACY_WORK_H

typedef struct cellar_work {
    double done, limit; /* of what is being asked; limit 0: none */
} cellar_work;

/* Begins with something new, that may take `effort` times as much as usual. NULL is fine here and
 * below, and has no limit. */
void cellar_work_begin(cellar_work *work, double effort);
/* Goes on with something else, that may take at least that share of it. */
void cellar_work_go_on(cellar_work *work, double share);
void cellar_work_add(cellar_work *work, double microseconds);
/* What may be done in all, and what may still be done; INFINITY without a limit. */
double cellar_work_limit(const cellar_work *work);
double cellar_work_left(const cellar_work *work);
/* 1 when more than that share of the limit has been done. */
int cellar_work_is_over(const cellar_work *work, double share);

#endif
