/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An assessment, while it is made and afterwards. */
#ifndef CELLAR_UTILITY_RUN_H
#define CELLAR_UTILITY_RUN_H

#include "base/text.h"
#include "release/protect.h"
#include "utility/additivity.h"
#include "utility/copies.h"
#include "utility/distance.h"
#include "utility/expect.h"
#include "utility/foreign.h"

enum { UTILITY_MAX_NOTES = 16 };

struct cellar_utility {
    cellar_arena *arena; /* holds strings */
    const char *mechanism;
    cellar_association original;
    uint64_t n_copies, n_cells;
    cellar_utility_result *results;
    size_t n_results;
    cellar_utility_spread *spreads;
    size_t n_spreads;
    cellar_utility_distance distances[UTILITY_N_DISTANCES];
    size_t n_distances;
    const char *notes[UTILITY_MAX_NOTES];
    size_t n_notes;
};

typedef struct utility_run {
    const cellar_table *table;
    cellar_table *rounded;   /* of a weighted table: its sums as they are protected */
    utility_foreign foreign; /* what another program wrote */
    utility_cells inner;     /* of the one copy that was compared */
    utility_plan plan;
    utility_law law;
    utility_outcome outcome;
    cellar_mechanism *mechanism;
    cellar_protect_options protect;
    double zero_share;
    int gaps;  /* 1: the table has the aggregates that the gaps are about */
    int known; /* 1: there are expectations */
    cellar_utility *out;
} utility_run;

/* 1 when both have the same variables, in order, with as many categories and the same margins. */
int cellar_utility_same_aggregates(const cellar_schema *a, const cellar_schema *b);

/* Adds a note for people, a text that stays. */
void cellar_utility_run_note(utility_run *run, const char *note);
/* Puts everything together; the plan gives its results and strings on. */
cellar_status cellar_utility_run_finish(utility_run *run, const char *mechanism, cellar_error *err);
/* Adds the distances of the one copy, its cells listed by `schema`: margins included when that is
 * the table's, else of run->inner alone. After cellar_utility_run_finish(). */
cellar_status cellar_utility_run_distances(utility_run *run, const cellar_schema *schema,
                                           const cellar_cells *listed, cellar_error *err);
/* Clears the run; *out is what it made, or NULL unless `status` is CELLAR_OK. Answers `status`. */
cellar_status cellar_utility_run_close(utility_run *run, cellar_status status,
                                       cellar_utility **out);

#endif
