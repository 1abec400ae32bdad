/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/work.h"

static _Thread_local cellar_work work;

cellar_work cellar_work_begin(double most)
{
    const cellar_work outer = work;
    work = (cellar_work){.most = most, .is_limited = 1};
    return outer;
}

void cellar_work_end(cellar_work outer)
{
    const double done = work.done;
    work = outer;
    work.done += done;
}

void cellar_work_add(double steps)
{
    work.done += steps;
}

/* Measured with 128 to 4,096 bits, roughly. */
void cellar_work_add_balls(double n, int64_t bits)
{
    work.done += n * (20 + (double) bits / 10);
}

void cellar_work_add_closed(int64_t bits)
{
    work.done += 1000 + 20 * (double) bits;
}

double cellar_work_done(void)
{
    return work.done;
}

void cellar_work_note_memory(void)
{
    work.ran_out_of_memory = 1;
}

int cellar_work_ran_out_of_memory(void)
{
    return work.ran_out_of_memory;
}

int cellar_work_is_over(void)
{
    return work.is_limited && work.done >= work.most;
}
