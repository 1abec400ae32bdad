/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shuffler's memory on disk. What was synced survives a crash; what a crash left unfinished is
 * cut; without the key the file shows only its length.
 *
 *   "CSPL", version 2, round, 0 0, length of a record (4), round id (32), keyed hash of these (16);
 *   at 512 the mark: how many records were synced (8), keyed hash of it (16);
 *   from 1024 on the records: nonce (24), ciphertext, tag (16), XChaCha20-Poly1305 bound to the
 *   round and the record's number
 */
#ifndef CELLAR_PROTOCOL_SPOOL_H
#define CELLAR_PROTOCOL_SPOOL_H

#include "protocol/message.h"

typedef struct collect_spool collect_spool;

/* Receives every record in order. */
typedef cellar_status spool_visitor(void *context, const unsigned char *record, cellar_error *err);

/* Opens or makes the file, for this process alone (CELLAR_ERR_EXISTS when another holds it), and
 * visits its records. The round and the key outlive the spool. Records at the end that are cut off,
 * zeroed or damaged and were not synced are cut; see spool_n_cut(). A damaged record that was
 * synced, another key and another round are CELLAR_ERR_INPUT. */
cellar_status spool_open(const char *path, const collect_round *round, const unsigned char key[32],
                         size_t record_bytes, spool_visitor *visit, void *context,
                         collect_spool **out, cellar_error *err);
void spool_close(collect_spool *spool); /* NULL is fine */
uint64_t spool_n_records(const collect_spool *spool);
/* How many records spool_open() cut from the end; nobody was told that they had been taken. */
uint64_t spool_n_cut(const collect_spool *spool);

cellar_status spool_visit(collect_spool *spool, spool_visitor *visit, void *context,
                          cellar_error *err);
/* Adds a record; it is safe only after spool_sync(). A failure leaves the file as it was. */
cellar_status spool_append(collect_spool *spool, const unsigned char *record, cellar_error *err);
cellar_status spool_sync(collect_spool *spool, cellar_error *err);

/* Makes the name of a new file last. */
cellar_status folder_sync(const char *path, cellar_error *err);

#endif
