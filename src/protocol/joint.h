/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a curator may learn about pairs and triples of values (section 8.2). Of a set of columns
 * only combinations are asked for whose parts are known to be common; everybody else answers
 * "other". */
#ifndef CELLAR_PROTOCOL_JOINT_H
#define CELLAR_PROTOCOL_JOINT_H

#include <cellar/exposure.h>

#include "protocol/decision.h"

enum {
    JOINT_MOST = 3,                         /* columns */
    JOINT_SETS_MAX = 512,                   /* in a question */
    JOINT_BODY_BYTES = MESSAGE_ANSWER_BYTES /* number of the set, three levels */
};
#define JOINT_OTHER UINT32_MAX

/* Columns of the invitation, ascending. */
typedef struct column_set {
    size_t n, columns[JOINT_MOST];
} column_set;

typedef struct joint_cell {
    uint32_t levels[JOINT_MOST]; /* of the columns of the set; 0 where there is none */
    uint64_t count;
} joint_cell;

/* A set of columns with cells in ascending order, and how many people are in none of them. */
typedef struct joint {
    column_set set;
    joint_cell *cells;
    size_t n_cells, capacity;
    uint64_t other;
} joint;

struct cellar_collect_joints {
    joint *joints;
    size_t n;
};

struct cellar_question {
    cellar_text text; /* as signed, the signature included */
    unsigned char id[CELLAR_COLLECT_ID_BYTES];
    size_t order; /* 2: pairs, 3: triples */
    joint *known; /* sets of order - 1 columns and their common cells, without counts */
    size_t n_known, n_asked;
    column_set *asked;
};

/* ---- sets and cells ---- */

int column_set_same(const column_set *a, const column_set *b);
/* The set without its column number `left_out`, and the same of levels. */
column_set column_set_without(const column_set *set, size_t left_out);
/* Adds a cell behind the others; 0 when memory ends. */
int joint_add(joint *j, const uint32_t levels[JOINT_MOST], uint64_t count);
void joint_sort(joint *j);
void joints_free(joint *joints, size_t n);

/* People in cells of fewer than k, those in no cell included: never fewer than there are, and
 * exactly so many when only cells were left out that are known to be that small. */
uint64_t joint_exposed(const joint *j, uint64_t k);
/* The exposure curve of the set as one column, with all others as if they were alone. */
cellar_status joint_curve(const joint *j, const cellar_invitation *invitation,
                          cellar_exposure_curve **out, cellar_error *err);

/* ---- answers ---- */

/* The body of the answer for asked set number `index`: the levels, if all parts are common. */
void answer_write(const cellar_question *question, size_t index, const uint32_t *record,
                  unsigned char body[JOINT_BODY_BYTES]);
/* 0 when it is none that a participant of ours gives; levels[0] is JOINT_OTHER for other. */
int answer_read(const cellar_question *question, const unsigned char body[JOINT_BODY_BYTES],
                size_t *index, uint32_t levels[JOINT_MOST]);

#endif
