/* SPDX-License-Identifier: GPL-3.0-or-later */
/* New tables per second under a budget: each is charged, drawn and synced before it is answered.
 *
 *   bench_vault CONFIG TOKEN N SCRATCH   all tables of at most three of the variables v0 ... of a
 * data set `census`, from four threads
 *
 * Beside it stands the time of a file that is written and synced: a table takes about 19 syncs, of
 * three commits of the ledger, its file and its folder. */
#include <cellar/cellar.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

enum { N_CALLERS = 4, MAX_TABLES = 5000, N_SYNCS = 100 };

typedef struct calls {
    cellar_vault *vault;
    const char *token;
    char tables[MAX_TABLES][48];
    size_t n;
    atomic_size_t next;
} calls;

static void add_tables(calls *c, int n_variables)
{
    for (int i = 0; i < n_variables; i++) {
        snprintf(c->tables[c->n++], sizeof *c->tables, "v%d", i);
        for (int j = 0; j < i; j++) {
            snprintf(c->tables[c->n++], sizeof *c->tables, "v%d*v%d", j, i);
            for (int k = 0; k < j; k++)
                snprintf(c->tables[c->n++], sizeof *c->tables, "v%d*v%d*v%d", k, j, i);
        }
    }
}

static void draw(const calls *c, const char *table)
{
    char message[512], *reply = NULL;
    size_t length;
    cellar_error err = {""};
    snprintf(message, sizeof message,
             "{\"do\":\"draw\",\"dataset\":\"census\",\"table\":\"%s\",\"max_cost\":\"1\","
             "\"authorization\":\"Bearer %s\"}",
             table, c->token);
    if (cellar_vault_answer(c->vault, message, strlen(message), &reply, &length, &err) !=
            CELLAR_OK ||
        strstr(reply, "\"drawn\"") == NULL) {
        fprintf(stderr, "bench: %s: %s\n", table, reply != NULL ? reply : err.message);
        exit(1);
    }
    free(reply);
}

static void *call(void *context)
{
    calls *c = context;
    for (size_t i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
        draw(c, c->tables[i]);
    return NULL;
}

static double sync_seconds(const char *path)
{
    static const char page[4096];
    const int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const double start = bench_now();
    if (fd < 0)
        return 0;
    for (int i = 0; i < N_SYNCS; i++)
        if (write(fd, page, sizeof page) != sizeof page || fdatasync(fd) != 0)
            break;
    unlink(path);
    close(fd);
    return (bench_now() - start) / N_SYNCS;
}

int main(int argc, char **argv)
{
    static calls c;
    pthread_t threads[N_CALLERS];
    cellar_error err = {""};
    double start, processor;
    if (argc != 5) {
        fputs("usage: bench_vault CONFIG TOKEN N SCRATCH\n", stderr);
        return 2;
    }
    c.token = argv[2];
    add_tables(&c, atoi(argv[3]) < 30 ? atoi(argv[3]) : 30);
    if (cellar_vault_open(argv[1], NULL, &c.vault, &err) != CELLAR_OK) {
        fprintf(stderr, "bench: %s\n", err.message);
        return 1;
    }
    start = bench_now();
    processor = bench_read(CLOCK_PROCESS_CPUTIME_ID);
    for (int i = 0; i < N_CALLERS; i++)
        pthread_create(&threads[i], NULL, call, &c);
    for (int i = 0; i < N_CALLERS; i++)
        pthread_join(threads[i], NULL);
    bench_row("new tables per second under a budget", (double) c.n / (bench_now() - start), "", "");
    bench_row("  processor time of a table",
              1e3 * (bench_read(CLOCK_PROCESS_CPUTIME_ID) - processor) / (double) c.n, "ms", "");
    bench_row("  a write of 4 KiB with its sync", 1e3 * sync_seconds(argv[4]), "ms", "");
    cellar_vault_close(c.vault);
    return 0;
}
