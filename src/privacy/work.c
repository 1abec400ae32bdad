/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "privacy/work.h"

#include <math.h>
#include <stddef.h>

/* What is asked should be answered within 50 ms, the start of a program and the end of a search
 * that gave up included. */
static const double USUAL = 23000;

void cellar_work_begin(cellar_work *work, double effort)
{
    if (work != NULL)
        *work = (cellar_work){.limit = USUAL * effort};
}

void cellar_work_go_on(cellar_work *work, double share)
{
    if (work != NULL)
        work->done = fmin(work->done, (1 - share) * work->limit);
}

void cellar_work_add(cellar_work *work, double microseconds)
{
    if (work != NULL)
        work->done += microseconds;
}

double cellar_work_limit(const cellar_work *work)
{
    return work != NULL && work->limit > 0 ? work->limit : INFINITY;
}

double cellar_work_left(const cellar_work *work)
{
    return work != NULL ? cellar_work_limit(work) - work->done : INFINITY;
}

int cellar_work_is_over(const cellar_work *work, double share)
{
    return work != NULL && work->limit > 0 && work->done > share * work->limit;
}
