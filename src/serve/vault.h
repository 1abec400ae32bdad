/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A vault inside the library. */
#ifndef CELLAR_SERVE_VAULT_H
#define CELLAR_SERVE_VAULT_H

#include <pthread.h>

#include <jansson.h>

#include <cellar/ledger.h>
#include <cellar/vault.h>

#include "serve/dataset.h"
#include "serve/price.h"
#include "serve/records.h"
#include "serve/refusal.h"
#include "serve/tokens.h"

/* A ledger that data sets share. Its file is opened once, and serves one thread at a time. */
typedef struct vault_ledger {
    const char *path;
    cellar_ledger *ledger;
    pthread_mutex_t lock;
    int has_lock;
} vault_ledger;

/* A data set whose tables are drawn here. */
typedef struct vault_set {
    serve_dataset dataset; /* what reads and judges tables; it has no source */
    serve_drawn_text text;
    serve_axes axes;
    serve_counter counter;
    vault_ledger *ledger;
    const char *folder;
    const char *prefix;  /* of its requests, after the number of the attempt */
    uint64_t population; /* how many people there are, a public number; 0: not stated */
    uint64_t step_ms;    /* replies to draws come at multiples of it [0: by public sizes] */
    int is_void;         /* cell keys are served beside a guarantee for these people */
    serve_prices prices; /* kind `budget` */
    /* Of kind `cell-key`: the mechanism, its noise and what may be known of a margin. */
    const char *spec;
    double noise_variance, floor_variance;
    unsigned char secret[CELLAR_KEY_SECRET_BYTES];
    serve_record_keys keys;
    pthread_mutex_t floor_lock;
    int has_lock;
} vault_set;

/* Time, so that tests need not wait. */
typedef struct vault_clock {
    uint64_t (*now_ms)(void *context);
    void (*sleep_ms)(void *context, uint64_t ms);
    void *context;
} vault_clock;

/* A table that somebody is working on. */
typedef struct vault_claim {
    const vault_set *set;
    serve_table table;
    struct vault_claim *next;
} vault_claim;

struct cellar_vault {
    serve_config *config;
    vault_set *sets;
    size_t n_sets;
    vault_ledger *ledgers;
    size_t n_ledgers;
    serve_tokens *tokens; /* NULL: nobody may draw */
    vault_clock clock;
    pthread_mutex_t lock; /* of the claims */
    pthread_cond_t freed;
    int has_lock;
    vault_claim *claims;
};

/* ---- vault_requests.c: what the ledger knows about tables ----------------------------------- */

enum { VAULT_FILE_TEXT = 128 };

/* Where a canonical table is. */
typedef struct vault_place {
    int exists;                 /* 1: it was drawn, and its file has its name */
    size_t noted;               /* of kind `cell-key`: the entry of the ledger, from 1; 0: none */
    unsigned attempt;           /* that drew it, or that will be the next */
    cellar_text request;        /* of that attempt */
    char file[VAULT_FILE_TEXT]; /* its name in the folder of the data set */
} vault_place;

/* Asks the ledger, whose lock is held, and settles what an earlier vault left unfinished. Clear it
 * in every case. CELLAR_ERR_RULE: the table was drawn, and its file is gone or was changed. */
cellar_status vault_place_find(const vault_set *set, const serve_table *table, vault_place *out,
                               cellar_error *err);
void vault_place_clear(vault_place *place);
/* The path of the file of a place. */
cellar_status vault_place_path(const vault_set *set, const vault_place *place, cellar_text *out,
                               cellar_error *err);
/* Settles every request of the data set that an earlier vault left unfinished. */
cellar_status vault_settle(const vault_set *set, cellar_error *err);

/* Refuses a folder with a release that the ledger does not vouch for (CELLAR_ERR_RULE): the ledger
 * is older than the releases, or somebody put the file there. */
cellar_status vault_check_folder(const vault_set *set, cellar_error *err);

/* A request of the data set. */
typedef struct vault_known {
    const char *request;
    serve_table table;
    cellar_charge_state state; /* of kind `cell-key`: CELLAR_CHARGE_DONE */
    cellar_amounts amounts;
} vault_known;
/* All of them, the oldest first; free *out with cellar_free(). The lock of the ledger is held, and
 * the texts live as long as the ledger. */
cellar_status vault_known_list(const vault_set *set, vault_known **out, size_t *n,
                               cellar_error *err);

/* ---- vault_history.c ---------------------------------------------------------------------------
 */

/* Adds to an array the days on which something was drawn, the oldest first: "day", "drawn" and, of
 * a budget, "spent" and "left" at its end, in the currency of the ledger. The lock of the ledger is
 * held. */
cellar_status vault_history(const vault_set *set, json_t *days, cellar_error *err);

/* ---- vault_draw.c -------------------------------------------------------------------------------
 */

/* What became of a request to draw. Texts live in the arena. */
typedef struct vault_outcome {
    int is_drawn, exists; /* drawn now; or it was there. Neither: refused */
    const char *file;
    const serve_price *price; /* of kind `budget`, once it is known */
    serve_refusal refusal;
} vault_outcome;

/* Draws a canonical table unless it exists; requests for one table wait for each other. A refusal
 * is an outcome, a failure is not. `max_cost` is NULL for the kind `cell-key`; `analyst` may be. */
cellar_status vault_draw(cellar_vault *vault, vault_set *set, const serve_table *table,
                         const char *analyst, const char *max_cost, cellar_arena *arena,
                         vault_outcome *out, cellar_error *err);

/* ---- vault_protect.c: one table, counted and protected ------------------------------------------
 */

/* Counts, charges, draws and writes a table of kind `budget`. *is_counted says whether records were
 * read, also on failure. */
cellar_status vault_draw_charged(vault_set *set, const serve_table *table, const char *analyst,
                                 const serve_price *price, const vault_place *place,
                                 int *is_counted, cellar_error *err);
/* Counts a table, perturbs it by its records' keys, notes it in the ledger and writes it. *verdict
 * refuses when a rule on released values does; nothing is written then. */
cellar_status vault_draw_keyed(vault_set *set, const serve_table *table, const vault_place *place,
                               cellar_arena *arena, serve_verdict *verdict, int *is_counted,
                               cellar_error *err);

/* ---- config_sign.c ------------------------------------------------------------------------------
 */

/* cellar_config_verify() of what was read: the file may change meanwhile. */
cellar_status serve_config_verify(const serve_config *config, const cellar_public_key *key,
                                  cellar_error *err);

/* ---- vault.c -------------------------------------------------------------------------------- */

vault_set *vault_find_set(cellar_vault *vault, const char *id);

/* ---- vault_clock.c
 * -------------------------------------------------------------------------------- */

vault_clock vault_clock_real(void);
/* How long drawing a table may take without showing: a function of public sizes. */
uint64_t vault_step_ms(const vault_set *set, const serve_table *table);
/* Sleeps until a multiple of `step` milliseconds has passed since `began`. */
void vault_clock_round_up(const vault_clock *clock, uint64_t began, uint64_t step);

#endif
