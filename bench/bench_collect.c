/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the protocol costs per message, against the bare operations of libsodium it needs: two seals
 * by the participant, one opened by the shuffler, one by the curator. Processor time of one core;
 * the spool and the batch are written to the folder of the first argument. */
#include <cellar/cellar.h>

#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "harness.h"

enum { N_PEOPLE = 2000, N_COLUMNS = 6, N_MESSAGES = N_PEOPLE * N_COLUMNS, INNER = 40, OUTER = 120 };

typedef struct collect_work {
    char folder[512], spool[600], batch[600];
    cellar_key *key;
    cellar_collect_keys *keys[4];
    cellar_invitation *invitation;
    cellar_participant *participant;
    unsigned char *submissions;
    size_t size;
    unsigned char (*outer)[OUTER + crypto_box_SEALBYTES];
    unsigned char public_key[32], secret_key[32];
} collect_work;

static cellar_error err;

static void must(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "bench_collect: %s\n", err.message);
    exit(1);
}

/* ---- bare operations ------------------------------------------------------- */

static void bare_seal(void *context)
{
    collect_work *w = context;
    unsigned char plain[OUTER] = {0};
    for (size_t i = 0; i < N_MESSAGES; i++) {
        crypto_box_seal(plain + OUTER - INNER - crypto_box_SEALBYTES, plain, INNER, w->public_key);
        crypto_box_seal(w->outer[i], plain, OUTER, w->public_key);
    }
}

static void bare_peel(void *context)
{
    collect_work *w = context;
    unsigned char plain[OUTER];
    for (size_t i = 0; i < N_MESSAGES; i++)
        must(crypto_box_seal_open(plain, w->outer[i], sizeof w->outer[i], w->public_key,
                                  w->secret_key) == 0);
}

static void bare_open(void *context)
{
    collect_work *w = context;
    unsigned char plain[INNER] = {0}, sealed[INNER + crypto_box_SEALBYTES];
    crypto_box_seal(sealed, plain, INNER, w->public_key);
    for (size_t i = 0; i < N_MESSAGES; i++)
        must(crypto_box_seal_open(plain, sealed, sizeof sealed, w->public_key, w->secret_key) == 0);
}

/* ---- the protocol ---------------------------------------------------------- */

static void protocol_seal(void *context)
{
    static const char *const values[] = {"0", "1", "2", "3", "0", "1"};
    collect_work *w = context;
    for (size_t i = 0; i < N_PEOPLE; i++)
        must(cellar_participant_seal(w->participant, i, values, w->submissions + i * w->size,
                                     &err) == CELLAR_OK);
}

/* Taken, synced, permuted and forwarded. */
static void protocol_shuffle(void *context)
{
    collect_work *w = context;
    cellar_shuffler *shuffler;
    cellar_rng *rng;
    int is_new;
    unlink(w->batch);
    must(cellar_rng_create_secure(&rng, &err) == CELLAR_OK);
    must(cellar_shuffler_open(w->folder, w->invitation, NULL, w->keys[CELLAR_COLLECT_SHUFFLER],
                              &shuffler, &err) == CELLAR_OK);
    for (size_t i = 0; i < N_PEOPLE; i++)
        must(cellar_shuffler_take(shuffler, w->submissions + i * w->size, w->size, &is_new, &err) ==
             CELLAR_OK);
    must(cellar_shuffler_sync(shuffler, &err) == CELLAR_OK);
    must(cellar_shuffler_forward(shuffler, rng, &err) == CELLAR_OK);
    cellar_shuffler_close(shuffler);
    cellar_rng_free(rng);
}

static void protocol_count(void *context)
{
    collect_work *w = context;
    cellar_collect_margins *margins;
    cellar_collect_report report;
    must(cellar_collect_margins_read(w->batch, w->invitation, w->keys[CELLAR_COLLECT_CURATOR],
                                     &margins, &report, &err) == CELLAR_OK);
    cellar_collect_margins_free(margins);
}

static cellar_key *key_make(const char *path)
{
    cellar_key *key;
    unlink(path);
    must(cellar_key_create(path, NULL, &err) == CELLAR_OK);
    must(cellar_key_read(path, &key, &err) == CELLAR_OK);
    unlink(path);
    return key;
}

/* ---- all ------------------------------------------------------------------- */

static void work_open(collect_work *w, const char *folder)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const codes[] = {"0", "1", "2", "3"};
    cellar_collect_column columns[N_COLUMNS];
    cellar_codelist *list;
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    spec.title = "bench";
    spec.n_people = N_PEOPLE;
    spec.k = 5;
    spec.exposure = "0.1";
    spec.columns = columns;
    spec.n_columns = N_COLUMNS;
    snprintf(w->folder, sizeof w->folder, "%s", folder);
    snprintf(w->spool, sizeof w->spool, "%s/bench.key", folder);
    snprintf(w->batch, sizeof w->batch, "%s/round-1.batch", folder);
    for (int role = 1; role <= 3; role++) {
        w->key = key_make(w->spool);
        must(cellar_collect_keys_create(w->key, (cellar_collect_role) role, &w->keys[role], &err) ==
             CELLAR_OK);
        cellar_key_free(w->key);
    }
    w->key = key_make(w->spool);
    must(cellar_codelist_create(&list, &err) == CELLAR_OK);
    for (size_t i = 0; i < 4; i++)
        must(cellar_codelist_add(list, codes[i], NULL, NULL, CELLAR_CODE_PLAIN, &err) == CELLAR_OK);
    must(cellar_codelist_finish(list, &err) == CELLAR_OK);
    for (size_t c = 0; c < N_COLUMNS; c++)
        columns[c] = (cellar_collect_column){names[c], list};
    spec.shuffler = *cellar_collect_keys_identity(w->keys[CELLAR_COLLECT_SHUFFLER]);
    spec.analyst = *cellar_collect_keys_identity(w->keys[CELLAR_COLLECT_ANALYST]);
    must(cellar_invitation_create(&spec, w->keys[CELLAR_COLLECT_CURATOR], &w->invitation, &err) ==
         CELLAR_OK);
    must(cellar_participant_create(w->invitation, NULL, NULL, w->key, &w->participant, &err) ==
         CELLAR_OK);
    w->size = cellar_participant_size_bytes(w->participant);
    w->submissions = malloc(N_PEOPLE * w->size);
    w->outer = malloc(N_MESSAGES * sizeof *w->outer);
    must(w->submissions != NULL && w->outer != NULL);
    crypto_box_keypair(w->public_key, w->secret_key);
    cellar_codelist_free(list);
}

static double microseconds(void (*work)(void *), collect_work *w)
{
    return 1e6 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, work, w) / N_MESSAGES;
}

int main(int argc, char **argv)
{
    collect_work w = {.size = 0};
    double bare[3], whole[3], bare_sum, whole_sum;
    if (argc != 2) {
        fprintf(stderr, "usage: bench_collect FOLDER\n");
        return 2;
    }
    work_open(&w, argv[1]);
    bare[0] = microseconds(bare_seal, &w);
    whole[0] = microseconds(protocol_seal, &w);
    bare[1] = microseconds(bare_peel, &w);
    whole[1] = microseconds(protocol_shuffle, &w);
    bare[2] = microseconds(bare_open, &w);
    whole[2] = microseconds(protocol_count, &w);
    bare_sum = bare[0] + bare[1] + bare[2];
    whole_sum = whole[0] + whole[1] + whole[2];
    bench_row("participant: two seals, bare", bare[0], "us", "");
    bench_row("participant: the protocol", whole[0], "us", "");
    bench_row("shuffler: one opened, bare", bare[1], "us", "");
    bench_row("shuffler: the protocol, spool and batch written", whole[1], "us", "");
    bench_row("curator: one opened, bare", bare[2], "us", "");
    bench_row("curator: the protocol, batch read and counted", whole[2], "us", "");
    bench_row("a message, all roles: protocol / bare", whole_sum / bare_sum, "x", "at most 1.3 x");
    unlink(w.batch);
    return 0;
}
