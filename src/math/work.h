/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counted work: how long a computation may go on is a number of steps, not of seconds, so that its
 * answer does not depend on the machine. A step is about one step of a recurrence in
 * double-doubles, some ten nanoseconds. Whoever loops adds what it has done; once the limit of its
 * thread is used up, sums end early and enclose what they left out, however widely. */
#ifndef CELLAR_MATH_WORK_H
#define CELLAR_MATH_WORK_H

#include <stdint.h>

typedef struct cellar_work {
    double done, most;
    int is_limited;
    int ran_out_of_memory;
} cellar_work;

/* Sets a limit for this thread, which had none or an outer one: to be given back at the end. */
cellar_work cellar_work_begin(double most);
void cellar_work_end(cellar_work outer);

void cellar_work_add(double steps);
/* The same for n values in balls of so many bits: cheap ones, by a recurrence, or in closed form.
 */
void cellar_work_add_balls(double n, int64_t bits);
void cellar_work_add_closed(int64_t bits);

/* Steps since the limit was set. */
double cellar_work_done(void);
/* Memory ended inside a computation that has another, slower way: 1 from then on, so that whoever
 * set the limit can refuse an answer that depends on it. */
void cellar_work_note_memory(void);
int cellar_work_ran_out_of_memory(void);
/* 1 once a limit is used up. */
int cellar_work_is_over(void);

#endif
