/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A batch: all messages of a round in the order of a secret permutation, signed by the shuffler.
 *
 *   "CBAT", version, round, 0 0, length of a message (4), how many (8), round id (32), messages,
 *   Ed25519ph signature (64) over all before it
 */
#ifndef CELLAR_PROTOCOL_BATCH_H
#define CELLAR_PROTOCOL_BATCH_H

#include "protocol/message.h"

/* Puts n messages of `bytes` bytes each into an order drawn uniformly from all n!. */
cellar_status collect_batch_permute(unsigned char *messages, size_t n, size_t bytes,
                                    cellar_rng *rng, cellar_error *err);

cellar_status collect_batch_write(const char *path, const collect_round *round,
                                  const cellar_collect_keys *shuffler,
                                  const unsigned char *messages, size_t n, cellar_error *err);

/* What a recipient found. */
typedef struct collect_batch {
    char *bytes;
    const unsigned char *messages;
    size_t n;
} collect_batch;

/* Reads a batch and checks its signature. Clear it in every case. */
cellar_status collect_batch_read(const char *path, const collect_round *round, collect_batch *out,
                                 cellar_error *err);
cellar_status collect_batch_parse(const char *name, const unsigned char *bytes, size_t length,
                                  const collect_round *round, collect_batch *out,
                                  cellar_error *err);
void collect_batch_clear(collect_batch *batch);

/* Takes the body of one message that was sent in this round; 0 when it makes no sense. */
typedef int collect_batch_body(void *context, const unsigned char *id, const unsigned char *body);

/* Counts a refusal, and why. */
void report_refuse(cellar_collect_report *report, const char *why);

/* Opens every message, drops those seen before by their ids and hands on the rest. */
cellar_status collect_batch_open_all(const collect_batch *batch, const collect_round *round,
                                     const cellar_collect_keys *recipient, collect_batch_body *take,
                                     void *context, cellar_collect_report *report,
                                     cellar_error *err);

#endif
