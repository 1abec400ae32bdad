/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A lane of a run over columns: of a data frame, or of a Parquet file. */
#ifndef CELLAR_DATA_FRAME_SCAN_H
#define CELLAR_DATA_FRAME_SCAN_H

#include "data/frame/frame.h"
#include "data/scan_lanes.h"

typedef struct frame_use {
    int is_looked_up;
    uint64_t part_number; /* whose levels `codes` is about */
    int32_t *codes;       /* of each level, CELLAR_CODE_ABSENT as long as it is not known */
    size_t n_levels, capacity;
    int32_t missing; /* that of a missing value, or the same */
} frame_use;

struct scan_frame {
    frame_piece piece;
    frame_use *uses;
    size_t n_uses, max_value;
    uint32_t *marks; /* the marks around each row, use by use */
    cellar_text text, value;
};

/* Clear it in every case. */
cellar_status scan_frame_init(scan_frame *frame, const scan_run *run, size_t max_row_mib,
                              cellar_error *err);
void scan_frame_clear(scan_frame *frame);
/* Counts the rows of frame->piece. */
cellar_status scan_frame_batch(scan_frame *frame, cellar_batch *batch, cellar_error *err);

#endif
