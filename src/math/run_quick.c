/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "math/run_quick.h"

int cellar_run_quick_start(cellar_run_quick *quick, const cellar_run *run)
{
    const double error_most = 0x1p40;
    *quick = (cellar_run_quick){.kind = run->kind,
                                .constant = run->constant.high,
                                .slope = run->slope.high,
                                .shift = run->slope.high > 0 ? run->shift.high : 0,
                                .feed = run->feed.high,
                                .fade = run->fade.high,
                                .pair = run->pair.high,
                                .b = (double) run->b,
                                .p = run->p.high,
                                .before = run->before.high,
                                .s = run->s.high,
                                .inverse = run->inverse.high};
    quick->first = quick->b;
    cellar_run_quick_scale(quick);
    return run->kind != CELLAR_RUN_WEIGHTS && run->n_used == run->n_head && run->lag == 0 &&
           run->error < error_most && quick->p > 0x1p-512 && quick->p < 0x1p500;
}
