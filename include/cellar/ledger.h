/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ledger: the privacy budget of datasets, charged before a number is drawn. docs/ledger.md
 * has its format and what it promises. */
#ifndef CELLAR_LEDGER_H
#define CELLAR_LEDGER_H

#include <stddef.h>
#include <stdint.h>

#include <cellar/amounts.h>
#include <cellar/export.h>
#include <cellar/key.h>
#include <cellar/status.h>
#include <cellar/terms.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An open ledger: its history, read and verified, and the file it is appended to. For one thread
 * at a time; any number of processes, or of ledgers opened by one, may share the file. */
typedef struct cellar_ledger cellar_ledger;

/* ---- life cycle ------------------------------------------------------------ */

/* Makes an empty ledger; its history is chained under `key`, which must be kept elsewhere. Never
 * replaces a file. Refuses file systems whose locks are not known to hold (CELLAR_ERR_RULE). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_create(const char *path,
                                                               const cellar_key *key,
                                                               cellar_error *err);
/* Opens a ledger and verifies every entry. One that was changed without the key is refused
 * (CELLAR_ERR_INPUT), and so is one whose witness has seen more, or another history, or cannot be
 * read (CELLAR_ERR_RULE). On failure *out is NULL. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_open(const char *path,
                                                             const cellar_key *key,
                                                             cellar_ledger **out,
                                                             cellar_error *err);
/* The same with the file of its key [NULL: the ledger's name followed by ".key"]. A ledger that is
 * not there is reported as such, not its key. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_open_file(const char *path,
                                                                  const char *key_path,
                                                                  cellar_ledger **out,
                                                                  cellar_error *err);
CELLAR_API void cellar_ledger_close(cellar_ledger *ledger); /* NULL is fine */

/* ---- datasets, editions, analysts ------------------------------------------ */

/* What is protected and how much may ever be spent on it, over all its editions. Names are one
 * line of UTF-8 of 1 to 200 bytes. Start from cellar_ledger_dataset_default(). */
typedef struct cellar_ledger_dataset {
    const char *name;
    const char *edition;          /* the first one */
    const char *unit;             /* whom the guarantee protects: "person" */
    cellar_neighbours neighbours; /* required: all charges must be of this kind */
    uint64_t population;          /* units, a public number; needed when the cap has a delta */
    cellar_amounts cap;           /* epsilon and delta, or rho alone with the others 0 */
    int accept_delta;             /* 1: a delta of 1/population or more is meant */
} cellar_ledger_dataset;

/* Names and cap are required; no rho is claimed. */
CELLAR_API cellar_ledger_dataset cellar_ledger_dataset_default(void);

/* Adds a dataset with its cap. A name that is taken is refused (CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_add_dataset(
    cellar_ledger *ledger, const cellar_ledger_dataset *dataset, cellar_error *err);
/* Makes a ledger that has this dataset and this witness (NULL: none) from its first moment: all or
 * nothing. A witness is a file elsewhere that receives every new head of the history, so that an
 * older copy of the ledger is refused. It is made, or added to when it is one already. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_create_with(
    const char *path, const cellar_key *key, const cellar_ledger_dataset *dataset,
    const char *witness, cellar_error *err);
/* Accepts a ledger that does not fit its witness, or gives it another one (`witness` not NULL). The
 * history says so from then on, and what may be missing from it: CELLAR_ENTRY_ADOPT. A ledger that
 * fits is left alone (CELLAR_ERR_ARGUMENT). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_adopt(const char *path,
                                                              const cellar_key *key,
                                                              const char *witness,
                                                              cellar_error *err);
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_add_edition(cellar_ledger *ledger,
                                                                    const char *dataset,
                                                                    const char *edition,
                                                                    cellar_error *err);
/* A share for one analyst, in the dataset's currency. From then on every charge to the dataset must
 * name an analyst who has a share. The dataset's cap is the guarantee: analysts may collude. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_add_analyst(cellar_ledger *ledger,
                                                                    const char *dataset,
                                                                    const char *analyst,
                                                                    cellar_amounts cap,
                                                                    cellar_error *err);

/* What is known about a dataset outside the budget; each changes the dataset's statement. */
typedef enum cellar_uncharged {
    CELLAR_UNCHARGED_CELL_KEY,  /* a cell-key release: no differential privacy */
    CELLAR_UNCHARGED_INVARIANT, /* a true count that is published */
    CELLAR_UNCHARGED_ELSEWHERE  /* a table published without this ledger */
} cellar_uncharged;

/* Notes such a fact; `what` describes it in one line. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_enter(cellar_ledger *ledger,
                                                              const char *dataset,
                                                              const char *edition,
                                                              cellar_uncharged kind,
                                                              const char *what, cellar_error *err);

/* ---- spending --------------------------------------------------------------- */

enum { CELLAR_REQUEST_MAX_BYTES = 1000 };

/* What a request asks for. A request is known by its id, one line of UTF-8 of at most
 * CELLAR_REQUEST_MAX_BYTES; asking again for the same must say the same. Nothing here may be
 * confidential. Start from cellar_charge_default(). */
typedef struct cellar_charge {
    const char *request; /* the id, of the whole ledger */
    const char *dataset;
    const char *edition;
    const char *analyst;          /* NULL: none is named; must have a share if anybody has */
    const char *unit;             /* must be the dataset's */
    cellar_neighbours neighbours; /* must be the dataset's */
    const char *mechanism;        /* canonical spec, of one cell */
    uint64_t n_cells;             /* cells one record touches */
    uint64_t max_per_unit;        /* records of a unit */
    uint64_t max_weight;          /* of a record; 0: 1, no weights */
    const char *what;             /* the table, in words or JSON */
    const char *content; /* a digest of the data and of all that decides what is drawn from them
                            and what it means. The ledger holds it keyed, for it would
                            confirm a guess. NULL: none */
    cellar_amounts amounts;
    int accept_delta; /* 1: a delta of 1/population or more is meant */
} cellar_charge;

/* One cell, one record of a unit, no weights; no rho is claimed. */
CELLAR_API cellar_charge cellar_charge_default(void);

typedef enum cellar_charge_state {
    CELLAR_CHARGE_NONE,    /* not known */
    CELLAR_CHARGE_CHARGED, /* paid; no output is recorded */
    CELLAR_CHARGE_STAGED,  /* paid; the digest of the complete output is recorded */
    CELLAR_CHARGE_DONE,    /* the output has its name */
    CELLAR_CHARGE_LOST     /* paid; the output was lost, and is never drawn again */
} cellar_charge_state;

/* What a release says about its charge: "cellar-ledger 1 LEDGER ENTRY HEAD". */
enum { CELLAR_STAMP_TEXT = 128, CELLAR_LEDGER_HASH_BYTES = 32, CELLAR_LEDGER_HASH_TEXT = 65 };

/* 1 when the text has the form of a stamp. Whether some ledger has that entry, only the ledger
 * knows: cellar_ledger_verify_against(). */
CELLAR_API int cellar_stamp_is_sound(const char *text);

/* Draws and writes the complete output to `staged_path` (which does not exist) through
 * cellar_output, mode 0600, and, when the release has companions, to staged_path with their
 * endings; or makes a folder of that name, of plain files, which then
 * appears whole. `stamp` goes into the release. Called at most once, after the charge is on disk.
 */
typedef cellar_status cellar_produce(void *context, const char *staged_path, const char *stamp,
                                     cellar_error *err);

/* Start from cellar_spend_options_default(). */
typedef struct cellar_spend_options {
    const char *path;           /* where the output appears */
    const char *const *endings; /* of companions, NULL-terminated: {".cellar.json", NULL}; or NULL:
                                   they appear before the output itself, as path + ending */
    int replace;                /* 1: existing files are replaced */
} cellar_spend_options;

/* No path yet; one file, which must not exist. */
CELLAR_API cellar_spend_options cellar_spend_options_default(void);

typedef struct cellar_spend_result {
    cellar_charge_state state;
    int is_new; /* 1: drawn now; 0: the output of an earlier request of that id */
    char stamp[CELLAR_STAMP_TEXT];
} cellar_spend_result;

/* Charges, draws, stages, records the digest, gives the output its name, notes that it is done.
 * Asked again for a request that was interrupted, finishes it without drawing; for one that is
 * done, checks that the recorded output is there. An output that was lost stays paid and is never
 * drawn again (CELLAR_ERR_RULE). Over a cap: CELLAR_ERR_BUDGET, with nothing drawn or written. */
CELLAR_API CELLAR_NODISCARD cellar_status
cellar_ledger_spend(cellar_ledger *ledger, const cellar_charge *charge,
                    const cellar_spend_options *options, cellar_produce *produce, void *context,
                    cellar_spend_result *out, cellar_error *err) CELLAR_NONNULL(2);

/* ---- queries ----------------------------------------------------------------- */

typedef enum cellar_entry_kind {
    CELLAR_ENTRY_CREATE,
    CELLAR_ENTRY_DATASET,
    CELLAR_ENTRY_EDITION,
    CELLAR_ENTRY_ANALYST,
    CELLAR_ENTRY_UNCHARGED,
    CELLAR_ENTRY_ADOPT,
    CELLAR_ENTRY_CHARGE,
    CELLAR_ENTRY_STAGE,
    CELLAR_ENTRY_DONE,
    CELLAR_ENTRY_LOST
} cellar_entry_kind;

/* One line of the history. Texts that an entry does not have are NULL; all live as long as the
 * ledger. */
typedef struct cellar_ledger_entry {
    int64_t number; /* from 1 */
    cellar_entry_kind kind;
    const char *time;  /* "2026-11-15T20:45:37Z"; never before that of the entry before */
    const char *nonce; /* random: two entries are never alike, and so two stamps never are */
    const char *ledger, *key, *witness;
    const char *dataset, *edition, *unit, *analyst;
    cellar_neighbours neighbours; /* of a dataset; CELLAR_NEIGHBOURS_DEFAULT of other entries */
    const char *request, *mechanism, *what, *content, *output, *digest;
    uint64_t population, n_cells, max_per_unit, max_weight;
    uint64_t generation; /* of the history: how often it was adopted, as far as a witness knows */
    int accept_delta;
    int has_gap; /* of an adoption: entries before it are missing, or may be */
    cellar_uncharged uncharged;
    cellar_amounts amounts;
    char head[CELLAR_LEDGER_HASH_TEXT]; /* of the history up to here */
} cellar_ledger_entry;

/* Names as in the history and on the command line. */
CELLAR_API const char *cellar_entry_kind_name(cellar_entry_kind kind);
CELLAR_API const char *cellar_uncharged_name(cellar_uncharged kind); /* "cell-key", ... */
CELLAR_API const char *cellar_charge_state_name(cellar_charge_state state);

/* The id of the ledger and the head of its history. */
CELLAR_API const char *cellar_ledger_id(const cellar_ledger *ledger) CELLAR_NONNULL(1);
CELLAR_API const char *cellar_ledger_head(const cellar_ledger *ledger) CELLAR_NONNULL(1);
/* The file of its witness, which knew no newer history when the ledger was opened; NULL: there is
 * none, and this may be an older copy. */
CELLAR_API const char *cellar_ledger_witness(const cellar_ledger *ledger) CELLAR_NONNULL(1);
/* The entries of the history, from the oldest. */
CELLAR_API size_t cellar_ledger_n_entries(const cellar_ledger *ledger) CELLAR_NONNULL(1);
CELLAR_API const cellar_ledger_entry *cellar_ledger_entry_at(const cellar_ledger *ledger,
                                                             size_t index) CELLAR_NONNULL(1);
/* The entry that made the dataset, or NULL. */
CELLAR_API const cellar_ledger_entry *cellar_ledger_find_dataset(const cellar_ledger *ledger,
                                                                 const char *dataset);
CELLAR_API cellar_charge_state cellar_ledger_state(const cellar_ledger *ledger,
                                                   const char *request);

typedef struct cellar_balance {
    int has_cap;
    int by_rho; /* 1: enforced by rho; 0: by the sums of epsilon and of delta */
    cellar_amounts cap, spent, left;
    size_t n_charges, n_uncharged;
} cellar_balance;

/* Of a dataset, or of one analyst on it (`analyst` not NULL). */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_balance(const cellar_ledger *ledger,
                                                                const char *dataset,
                                                                const char *analyst,
                                                                cellar_balance *out,
                                                                cellar_error *err);
/* The history of a dataset as it would count if all of it had been fixed before the first draw:
 * "non-adaptive figure, not enforced". Requests chosen after seeing releases void it. */
typedef struct cellar_nonadaptive {
    size_t n_charges;
    int is_known; /* 0: nothing is proved at that delta */
    int64_t epsilon_nano, delta_atto;
    double lower; /* the tight epsilon is not below; 0: not known */
} cellar_nonadaptive;

/* At `delta`, a decimal; NULL: at that of the cap, or 1e-9 when the cap has none. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_nonadaptive(const cellar_ledger *ledger,
                                                                    const char *dataset,
                                                                    const char *delta,
                                                                    cellar_nonadaptive *out,
                                                                    cellar_error *err);

/* The dataset's statement, in words that can be published. It lives as long as the ledger; NULL
 * when memory ends or there is no such dataset. */
CELLAR_API const char *cellar_ledger_statement(cellar_ledger *ledger, const char *dataset);

/* ---- verifying ----------------------------------------------------------------- */

/* Reads everything again: the structure of the file, every entry's place in the chain, and that
 * no cap was exceeded and no output recorded without a charge. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_verify(cellar_ledger *ledger,
                                                               cellar_error *err) CELLAR_NONNULL(1);

typedef struct cellar_against {
    int64_t number;      /* the entry the release names */
    const char *request; /* of that entry */
    cellar_charge_state state;
} cellar_against;

/* Compares the stamps in the release `path` (and in path + ".cellar.json", when there is one; of a
 * folder, those in its certificate.json) with the history, and its digest with the recorded one. A
 * ledger that was edited, cut short or restored from a backup lacks the head that the release
 * names, and a release that was edited, converted or drawn by a copy of the ledger has another
 * digest: CELLAR_ERR_RULE. A file without a stamp is CELLAR_ERR_INPUT. */
CELLAR_API CELLAR_NODISCARD cellar_status cellar_ledger_verify_against(const cellar_ledger *ledger,
                                                                       const char *path,
                                                                       cellar_against *out,
                                                                       cellar_error *err);

#ifdef __cplusplus
}
#endif

#endif
