/* SPDX-License-Identifier: GPL-3.0-or-later */
/* P(released >= 1 | count) and its complement, small counts looked up. */
#ifndef CELLAR_RISK_HOMOGENEITY_PRESENCE_H
#define CELLAR_RISK_HOMOGENEITY_PRESENCE_H

#include <cellar/mechanism.h>

enum { CELLAR_PRESENCE_CACHED = 4096 };

typedef struct cellar_presence {
    const cellar_mechanism *mechanism;
    double present[CELLAR_PRESENCE_CACHED];
    double absent[CELLAR_PRESENCE_CACHED]; /* not 1 - present: its tail is small */
    int n_cached;
    int never_negative; /* absent means released as zero, which needs no sum over a tail */
} cellar_presence;

double cellar_presence_absent_at(const cellar_presence *presence, uint64_t count);

/* Looks up counts below `n_counts` (at most CELLAR_PRESENCE_CACHED of them) for good. */
void cellar_presence_init(cellar_presence *presence, const cellar_mechanism *mechanism,
                          uint64_t n_counts);

/* Cells without records are released as zero whatever the mechanism says. */
void cellar_presence_keep_zeros(cellar_presence *presence);

static inline double presence_present(const cellar_presence *p, uint64_t count)
{
    return count < (uint64_t) p->n_cached
               ? p->present[count]
               : cellar_mechanism_presence(p->mechanism, (int64_t) count);
}

static inline double presence_absent(const cellar_presence *p, uint64_t count)
{
    return count < (uint64_t) p->n_cached ? p->absent[count] : cellar_presence_absent_at(p, count);
}

#endif
