/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger inside: a list of entries in a file, and what follows from them.
 *
 * The file holds nothing but the chained entries; every sum and every state is computed from
 * entries whose place in the chain was verified. So nothing in the file can disagree. */
#ifndef CELLAR_LEDGER_LEDGER_H
#define CELLAR_LEDGER_LEDGER_H

#include <time.h>

#include <sqlite3.h>

#include <cellar/ledger.h>

#include "base/memory.h"
#include "base/text.h"

/* What is kept in locked memory. */
typedef struct cellar_ledger_secret {
    unsigned char mac_key[CELLAR_KEY_SECRET_BYTES];
    int is_there; /* 0 in a forked child, which finds zeros */
} cellar_ledger_secret;

struct cellar_ledger {
    char *path;
    sqlite3 *db;
    int lock_fd; /* of the file of locks on requests */
    char key_id[24];
    cellar_ledger_secret *secret;
    cellar_arena *arena; /* the texts of the entries */
    cellar_ledger_entry **entries;
    size_t n_entries, capacity;
    int is_adopting;                              /* 1: what its witness has seen does not decide */
    unsigned char head[CELLAR_LEDGER_HASH_BYTES]; /* of the last entry; zeros before the first */
};

/* ---- ledger.c --------------------------------------------------------------------- */

/* cellar_ledger_open() without asking the witness. */
cellar_status cellar_ledger_open_alone(const char *path, const cellar_key *key, cellar_ledger **out,
                                       cellar_error *err);

/* ---- store.c: the file -------------------------------------------------- */

/* Refuses paths, of files that are there or are to be made, on file systems whose locks are not
 * known to hold. */
cellar_status cellar_ledger_check_place(const char *path, cellar_error *err);
cellar_status cellar_ledger_store_make(cellar_ledger *ledger, cellar_error *err);
cellar_status cellar_ledger_store_open(cellar_ledger *ledger, cellar_error *err);
/* Begins to write: nobody else can until the end. Reads what others added since, and asks the
 * witness. */
cellar_status cellar_ledger_begin(cellar_ledger *ledger, cellar_error *err);
/* Writes `now` as "2026-11-15T20:45:37Z", or the time of the last entry where that is later: the
 * order of a history and its times agree even where the clock went back. */
const char *cellar_ledger_time(const cellar_ledger *ledger, time_t now, char out[24]);
/* Appends one entry, dated now and with a fresh nonce, to be kept by cellar_ledger_end(). */
cellar_status cellar_ledger_append(cellar_ledger *ledger, const cellar_ledger_entry *entry,
                                   cellar_error *err);
/* Keeps what was appended when `status` is CELLAR_OK, on disk and told to the witness when this
 * returns; otherwise drops it and answers `status`. */
cellar_status cellar_ledger_end(cellar_ledger *ledger, cellar_status status, cellar_error *err);
/* Reads and verifies the entries that this ledger has not seen. */
cellar_status cellar_ledger_catch_up(cellar_ledger *ledger, cellar_error *err);
/* The structure of the file, by SQLite's own check. */
cellar_status cellar_ledger_store_check(cellar_ledger *ledger, cellar_error *err);

/* ---- amount.c --------------------------------------------------------------- */

/* Gives amounts that claim no rho the one that follows from their pure epsilon; CELLAR_ERR_ARGUMENT
 * when they have a delta. */
cellar_status cellar_amounts_claim_rho(cellar_amounts *amounts, cellar_error *err);

/* "epsilon 0.5, delta 0", or "rho 0.1". */
enum { CELLAR_COST_TEXT = 2 * CELLAR_AMOUNT_TEXT + 24 };
void cellar_ledger_cost_text(const cellar_amounts *amounts, int by_rho, char out[CELLAR_COST_TEXT]);

/* ---- entry.c: entries as text -------------------------------------------- */

cellar_status cellar_ledger_entry_write(const cellar_ledger_entry *entry, cellar_text *body,
                                        cellar_error *err);
/* Texts are copied into the arena. Fails with CELLAR_ERR_INPUT when the body is no entry. */
cellar_status cellar_ledger_entry_read(const char *body, size_t length, cellar_arena *arena,
                                       cellar_ledger_entry *out, cellar_error *err);
/* The MAC that chains an entry to the head before it. */
void cellar_ledger_entry_mac(const cellar_ledger_secret *secret,
                             const unsigned char previous[CELLAR_LEDGER_HASH_BYTES], int64_t number,
                             const char *body, size_t length,
                             unsigned char mac[CELLAR_LEDGER_HASH_BYTES]);
/* Of a text, for a purpose that no other MAC under the key has. */
void cellar_ledger_text_mac(const cellar_ledger_secret *secret, const char *purpose,
                            const char *text, size_t length, char out[CELLAR_LEDGER_HASH_TEXT]);
/* What an entry says about content: that of a digest, which is confidential. */
void cellar_ledger_content(const cellar_ledger *ledger, const char *digest,
                           char out[CELLAR_LEDGER_HASH_TEXT]);
void cellar_ledger_hex(const unsigned char bytes[CELLAR_LEDGER_HASH_BYTES],
                       char out[CELLAR_LEDGER_HASH_TEXT]);

/* ---- witness.c: whoever remembers how far the history got -------------------- */

/* The newest head that a witness knows. */
typedef struct cellar_sighting {
    uint64_t generation, n_entries; /* 0 entries: it knows none of this ledger */
    char head[CELLAR_LEDGER_HASH_TEXT];
} cellar_sighting;

uint64_t cellar_ledger_generation(const cellar_ledger *ledger);
/* The newest line about this ledger in a witness. */
cellar_status cellar_witness_read(const cellar_ledger *ledger, const char *path,
                                  cellar_sighting *out, cellar_error *err);
/* 1 when the history goes on from what was seen. */
int cellar_sighting_fits(const cellar_sighting *seen, const cellar_ledger *ledger);
/* Makes the file, unless it is there and a witness already. */
cellar_status cellar_witness_make(const char *path, cellar_error *err);
/* Adds the head of the history to a witness, on disk when this returns. */
cellar_status cellar_witness_tell(const cellar_ledger *ledger, const char *path, cellar_error *err);
/* Refuses a ledger that does not fit its witness. Reads what others added meanwhile. */
cellar_status cellar_ledger_check_witness(cellar_ledger *ledger, cellar_error *err);
/* The same while nobody else can write; a witness that did not receive the last head, because a
 * program ended in between, receives it now, and one that may not be written to is refused. */
cellar_status cellar_ledger_mend_witness(cellar_ledger *ledger, cellar_error *err);

/* ---- state.c: what follows from the entries -------------------------------- */

/* Equal, or both missing. */
int cellar_ledger_same(const char *a, const char *b);
/* Sums stop at the largest number rather than wrap. */
void cellar_amounts_add(cellar_amounts *sum, const cellar_amounts *amounts);

/* The charge of a request, or NULL; the last entry of that kind for it. */
const cellar_ledger_entry *cellar_ledger_find_request(const cellar_ledger *ledger,
                                                      const char *request, cellar_entry_kind kind);
int cellar_ledger_has_edition(const cellar_ledger *ledger, const char *dataset,
                              const char *edition);
/* Where a dataset has shares, one of them pays: CELLAR_ERR_RULE when none is named or known. */
cellar_status cellar_ledger_check_share(const cellar_ledger *ledger, const char *dataset,
                                        const char *analyst, cellar_error *err);
/* Whether the amounts fit under the caps of dataset and analyst: CELLAR_ERR_BUDGET if not. */
cellar_status cellar_ledger_check_caps(const cellar_ledger *ledger, const char *dataset,
                                       const char *analyst, const cellar_amounts *amounts,
                                       cellar_error *err);

/* ---- charge.c: the three transactions --------------------------------------- */

/* Transaction 1. A request known already must be the same; its state is answered, and nothing is
 * charged. */
cellar_status cellar_ledger_charge(cellar_ledger *ledger, const cellar_charge *charge,
                                   const char *output, cellar_charge_state *before,
                                   cellar_error *err);
/* Transactions 2 and 3, and the note that an output was lost. */
cellar_status cellar_ledger_note_staged(cellar_ledger *ledger, const char *request,
                                        const char *digest, cellar_error *err);
cellar_status cellar_ledger_note_done(cellar_ledger *ledger, const char *request,
                                      cellar_error *err);
/* cellar_ledger_enter() with the digest of what was made (as cellar_charge.content), or NULL. */
cellar_status cellar_ledger_enter_content(cellar_ledger *ledger, const char *dataset,
                                          const char *edition, cellar_uncharged kind,
                                          const char *what, const char *content, cellar_error *err);
cellar_status cellar_ledger_note_lost(cellar_ledger *ledger, const char *request,
                                      cellar_error *err);

/* ---- spend.c ------------------------------------------------------------------- */

/* Brings a request that was interrupted to its end, from the record alone: an output whose digest
 * is recorded gets its name, any other is noted as lost. Nothing is drawn. *out is the state
 * afterwards. */
cellar_status cellar_ledger_settle(cellar_ledger *ledger, const char *request,
                                   const char *const *endings, cellar_charge_state *out,
                                   cellar_error *err);

/* ---- files.c: outputs on their way ------------------------------------------ */

/* The digest of a release: of the file and its companions, by their endings, each in `staged` or
 * else at `path` (`staged` may be NULL). *found is 0 when the file itself is not there. */
cellar_status cellar_ledger_digest(const char *staged, const char *path, const char *const *endings,
                                   int *found, char digest[CELLAR_LEDGER_HASH_TEXT],
                                   cellar_error *err);
/* Holds a request for this ledger alone, until let go or the process ends. */
cellar_status cellar_ledger_hold(cellar_ledger *ledger, const char *request, cellar_error *err);
void cellar_ledger_let_go(cellar_ledger *ledger, const char *request);
/* "folder/name" with the folder's one true path. */
cellar_status cellar_ledger_true_path(const char *path, cellar_text *out, cellar_error *err);
/* Where the output of a request lies until it has its name: hidden, in the folder of `path`, under
 * a name that only who has the key can know before. */
cellar_status cellar_ledger_staged_path(const cellar_ledger *ledger, const char *request,
                                        const char *path, cellar_text *out, cellar_error *err);

/* ---- stamp.c ---------------------------------------------------------------- */

#define CELLAR_STAMP_BEGINS "cellar-ledger 1 "

typedef struct cellar_stamp {
    char ledger[24];
    int64_t number; /* of the charge's entry */
    char head[CELLAR_LEDGER_HASH_TEXT];
} cellar_stamp;

/* Reads the stamp that a text begins with; answers what follows it, or NULL: there is none. */
const char *cellar_stamp_read(const char *text, cellar_stamp *out);
void cellar_ledger_stamp(const cellar_ledger *ledger, const cellar_ledger_entry *charge,
                         char out[CELLAR_STAMP_TEXT]);
/* What a release says that an entry notes without a charge; 1 when a text has that form. */
void cellar_ledger_note_stamp(const cellar_ledger *ledger, size_t number,
                              char out[CELLAR_STAMP_TEXT]);
int cellar_note_stamp_is_sound(const char *text);

#endif
