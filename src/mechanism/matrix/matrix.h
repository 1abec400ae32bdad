/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A transition matrix inside, and the slots of a mechanism that is one.
 *
 * A row is a partition of the keys: segments in order, each with a change and the exact fraction of
 * the keys up to its end. The distribution of the row sums the segments of each change. Changes are
 * relative to the count, so that a row that serves many counts is the same for all of them. */
#ifndef CELLAR_MECHANISM_MATRIX_MATRIX_H
#define CELLAR_MECHANISM_MATRIX_MATRIX_H

#include <cellar/matrix.h>

#include "base/text.h"
#include "mechanism/mechanism.h"
#include "random/thresholds.h"

/* Counts above ROTATE_LAST use the rows (count - 1) mod ROTATE_PERIOD + ROTATE_FIRST. */
enum {
    CELLAR_MATRIX_ROTATE_FIRST = 501,
    CELLAR_MATRIX_ROTATE_PERIOD = 250,
    CELLAR_MATRIX_ROTATE_LAST = 750
};
enum { CELLAR_MATRIX_ROWS_MAX = 100000, CELLAR_MATRIX_CHANGE_MAX = 1000000 };

typedef struct cellar_segment {
    int64_t change;
    fmpq_t end; /* the fraction of keys up to and with this segment; 1 for the last */
} cellar_segment;

/* One row's distribution, by ascending change. */
typedef struct cellar_matrix_law {
    size_t n;
    int64_t *changes;
    fmpq *cdf;                         /* exact running sums; the last is 1 */
    double *p, *log_p, *below, *above; /* P(=), ln P(=), P(<=), P(>), each rounded once */
} cellar_matrix_law;

typedef struct cellar_matrix_part {
    cellar_segment *segments;
    size_t n_segments, capacity;
    cellar_matrix_law law;
    double asked; /* the variance asked for; NAN */
} cellar_matrix_part;

struct cellar_matrix {
    cellar_matrix_part *rows;
    size_t n_rows;
    cellar_matrix_large large;
    uint64_t n_keys;
    char digest[33];
};

/* ---- making one ---- */

/* `n_rows` rows without segments. On failure *out is NULL. */
cellar_status cellar_matrix_create(size_t n_rows, cellar_matrix_large large, uint64_t n_keys,
                                   cellar_matrix **out, cellar_error *err);
/* Adds a segment that ends at `end`; one that has the change of the segment before extends it. */
cellar_status cellar_matrix_add(cellar_matrix *matrix, size_t row, int64_t change, const fmpq_t end,
                                cellar_error *err);
/* Fills in the distributions when all segments are there (each row's last must end at 1). */
cellar_status cellar_matrix_finish(cellar_matrix *matrix, cellar_error *err);

/* Makes row 0 the identity, whatever it was; the digest stays. On failure only free it. */
cellar_status cellar_matrix_keep_zeros(cellar_matrix *matrix, cellar_error *err);

/* Reads bytes; `name` is the file's, for messages. */
cellar_status cellar_matrix_parse(const char *name, const char *bytes, size_t length,
                                  cellar_matrix_large large, cellar_matrix **out,
                                  cellar_error *err);
/* As cellar_matrix_write(), into a text. */
cellar_status cellar_matrix_add_text(const cellar_matrix *matrix, cellar_matrix_layout layout,
                                     uint64_t n_keys, cellar_text *text, cellar_error *err);

/* The row that serves a count. */
size_t cellar_matrix_row_of(const cellar_matrix *matrix, int64_t count);

/* The position of a change in a distribution, or SIZE_MAX. */
size_t cellar_matrix_law_find(const cellar_matrix_law *law, int64_t change);
/* Mean and variance of the change, each rounded once, and its entropy. */
void cellar_matrix_law_moments(const cellar_matrix_law *law, double *mean, double *variance);
double cellar_matrix_law_entropy(const cellar_matrix_law *law);

/* ---- mechanisms that are one ---- */

/* The first member of each such mechanism's struct; init sets `matrix`, clear is
 * cellar_matrix_mechanism_clear(). */
typedef struct cellar_matrix_mechanism {
    cellar_mechanism base;
    cellar_matrix *matrix;
    struct cellar_matrix_sampler *sampler; /* its thresholds are made at the first draw */
} cellar_matrix_mechanism;

/* Takes the matrix over, also when it fails. */
cellar_status cellar_matrix_mechanism_init(cellar_mechanism *m, cellar_matrix *matrix,
                                           cellar_error *err);
void cellar_matrix_mechanism_clear(cellar_mechanism *m);
double cellar_matrix_log_pmf(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_matrix_pmf_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                            int64_t bits, arb_t out);
void cellar_matrix_support(const cellar_mechanism *m, int64_t count, double tail, int64_t *low,
                           int64_t *high);
double cellar_matrix_cdf(const cellar_mechanism *m, int64_t count, int64_t released);
double cellar_matrix_survival(const cellar_mechanism *m, int64_t count, int64_t released);
void cellar_matrix_moments(const cellar_mechanism *m, int64_t count, cellar_moments *out);
void cellar_matrix_survival_ball(const cellar_mechanism *m, int64_t count, int64_t released,
                                 int64_t bits, arb_t out);
cellar_status cellar_matrix_sample_many(const cellar_mechanism *m, const int64_t *counts, size_t n,
                                        cellar_rng *rng, int64_t *released, cellar_error *err);

extern const cellar_facts cellar_matrix_facts;

#define CELLAR_MATRIX_SLOTS                                                                        \
    .size = sizeof(cellar_matrix_mechanism), .clear = cellar_matrix_mechanism_clear,               \
    .log_pmf = cellar_matrix_log_pmf, .pmf_ball = cellar_matrix_pmf_ball,                          \
    .support = cellar_matrix_support, .sample_many = cellar_matrix_sample_many,                    \
    .cdf = cellar_matrix_cdf, .survival = cellar_matrix_survival, .facts = &cellar_matrix_facts,   \
    .moments = cellar_matrix_moments, .survival_ball = cellar_matrix_survival_ball

#endif
