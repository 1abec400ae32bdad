/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shuffler's memory on disk: what was acknowledged survives a crash, what was half written
 * never was, and without the key the file is noise of a known length.
 *
 *   "CSPL", version, round, 0 0, length of a record (4), round id (32), how many records were
 * synced when this was written (8); then of each record nonce (24), ciphertext, tag (16):
 * XChaCha20-Poly1305 bound to the round and the record's number
 */
#ifndef CELLAR_PROTOCOL_SPOOL_H
#define CELLAR_PROTOCOL_SPOOL_H

#include "protocol/message.h"

typedef struct collect_spool collect_spool;

/* Receives every record in order. */
typedef cellar_status spool_visitor(void *context, const unsigned char *record, cellar_error *err);

/* Opens or makes the file, for this process alone (CELLAR_ERR_EXISTS when another holds it). The
 * round and the key outlive it. What a crash or a power cut left behind the records that were
 * synced is dropped from the first damaged one on: it was not acknowledged. One of those that is
 * missing or damaged is CELLAR_ERR_INPUT, here or from spool_visit(). */
cellar_status spool_open(const char *path, const collect_round *round, const unsigned char key[32],
                         size_t record_bytes, collect_spool **out, cellar_error *err);
void spool_close(collect_spool *spool); /* NULL is fine */
uint64_t spool_n_records(const collect_spool *spool);

cellar_status spool_visit(collect_spool *spool, spool_visitor *visit, void *context,
                          cellar_error *err);
/* Adds a record; it is safe only after spool_sync(). A failure leaves the file as it was. */
cellar_status spool_append(collect_spool *spool, const unsigned char *record, cellar_error *err);
cellar_status spool_sync(collect_spool *spool, cellar_error *err);

/* Makes the name of a new file last. */
cellar_status folder_sync(const char *path, cellar_error *err);

#endif
