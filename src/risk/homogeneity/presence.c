/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/homogeneity/presence.h"

double cellar_presence_absent_at(const cellar_presence *p, uint64_t count)
{
    return p->never_negative ? cellar_mechanism_pmf(p->mechanism, (int64_t) count, 0)
                             : cellar_mechanism_cdf(p->mechanism, (int64_t) count, 0);
}

void cellar_presence_init(cellar_presence *p, const cellar_mechanism *mechanism, uint64_t n_counts)
{
    int64_t low0, low1, high;
    p->mechanism = mechanism;
    cellar_mechanism_support(mechanism, 0, 0, &low0, &high);
    cellar_mechanism_support(mechanism, 1, 0, &low1, &high);
    p->never_negative = low0 >= 0 && low1 >= 0;
    p->n_cached = n_counts < CELLAR_PRESENCE_CACHED ? (int) n_counts : CELLAR_PRESENCE_CACHED;
    for (int count = 0; count < p->n_cached; count++) {
        p->present[count] = cellar_mechanism_presence(mechanism, count);
        p->absent[count] = cellar_presence_absent_at(p, (uint64_t) count);
    }
}

void cellar_presence_keep_zeros(cellar_presence *p)
{
    if (p->n_cached == 0)
        p->n_cached = 1;
    p->present[0] = 0;
    p->absent[0] = 1;
}
