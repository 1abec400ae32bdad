/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Spends from a ledger as `cellar protect --ledger` would, one request after the other.
 *
 *     ledger_spender LEDGER KEY FOLDER REQUEST...
 *
 * A request is a number; it decides what the request costs and whether its release is two files.
 * Says "drawn REQUEST" once the charge is on disk, before anything is drawn, and "unseen REQUEST"
 * if the file "witness" beside the ledger does not know of the charge by then; "done", "refused" or
 * "failed" with the request when its fate is known. The true number, which may be nowhere on
 * disk, is held in memory all the time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <cellar/cellar.h>

enum { REQUESTS_PER_DATASET = 40 };

static const char planted[] = "planted-Qx7=48611";

static void say(const char *what, const char *request)
{
    char line[64];
    int length = snprintf(line, sizeof line, "%s %s\n", what, request);
    ssize_t unused = write(STDOUT_FILENO, line, (size_t) length);
    (void) unused;
}

typedef struct draw {
    const char *request, *ledger;
    char truth[sizeof planted];
    int n_files;
} draw;

/* 1 when the witness has a line about the entry of the stamp, or a later one. */
static int is_seen(const char *ledger, const char *stamp)
{
    const char *slash = strrchr(ledger, '/');
    unsigned long long number = 0, newest = 0, n;
    char path[4096], line[512];
    FILE *file;
    snprintf(path, sizeof path, "%.*s/witness", (int) (slash - ledger), ledger);
    file = fopen(path, "r");
    sscanf(stamp, "cellar-ledger 1 %*s %llu", &number);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "cellar-witness 1 %*s %*u %llu", &n) == 1 && n > newest)
            newest = n;
    if (file != NULL)
        fclose(file);
    return newest >= number && number > 0;
}

static cellar_status write_one(const char *path, const char *stamp, const draw *d, size_t n_lines,
                               cellar_error *err)
{
    cellar_output *output;
    uint64_t noise;
    cellar_status status = cellar_output_open(path, NULL, &output, err);
    if (status != CELLAR_OK)
        return status;
    cellar_output_printf(output, "{\"ledger\": \"%s\", \"released\": [", stamp);
    for (size_t i = 0; i < n_lines; i++) {
        if (getrandom(&noise, sizeof noise, 0) != sizeof noise)
            abort();
        cellar_output_printf(output, "%llu,\n",
                             (unsigned long long) (noise ^ (uint64_t) d->truth[i % 8]));
    }
    cellar_output_string(output, "0]}\n");
    return cellar_output_commit(output, err);
}

static cellar_status produce(void *context, const char *staged, const char *stamp,
                             cellar_error *err)
{
    const draw *d = context;
    char companion[4096];
    cellar_status status;
    say("drawn", d->request);
    if (!is_seen(d->ledger, stamp))
        say("unseen", d->request);
    snprintf(companion, sizeof companion, "%s.cellar.json", staged);
    status = write_one(staged, stamp, d, 2000, err);
    if (status == CELLAR_OK && d->n_files == 2)
        status = write_one(companion, stamp, d, 5, err);
    return status;
}

static int spend(cellar_ledger *ledger, const char *path_of_ledger, const char *folder,
                 const char *request)
{
    static const char *const endings[] = {".cellar.json", NULL};
    long number = strtol(request, NULL, 10);
    char path[4096], epsilon[32], dataset[32];
    cellar_spend_options options = {.path = path, .endings = endings};
    draw d = {.request = request, .ledger = path_of_ledger, .n_files = number % 3 == 0 ? 2 : 1};
    cellar_charge charge = {.request = request,
                            .dataset = dataset,
                            .edition = "1",
                            .analyst = number % 4 == 0 ? "ana" : "bob",
                            .unit = "person",
                            .neighbours = CELLAR_NEIGHBOURS_ADD_REMOVE,
                            .mechanism = "discrete-laplace:epsilon=1",
                            .n_cells = 1,
                            .what = "a table"};
    cellar_spend_result result;
    cellar_error err;
    cellar_status status;

    memcpy(d.truth, planted, sizeof planted);
    snprintf(path, sizeof path, "%s/r%s.csv", folder, request);
    snprintf(dataset, sizeof dataset, "d%ld", number / REQUESTS_PER_DATASET);
    snprintf(epsilon, sizeof epsilon, "0.0%ld", 1 + number % 5);
    status = cellar_amounts_parse(epsilon, "1e-12", NULL, &charge.amounts, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_spend(ledger, &charge, &options, produce, &d, &result, &err);
    if (status == CELLAR_OK)
        say(result.state == CELLAR_CHARGE_DONE ? "done" : "undone", request);
    else if (status == CELLAR_ERR_BUDGET || status == CELLAR_ERR_RULE)
        say("refused", request);
    else
        say("failed", request);
    if (status != CELLAR_OK)
        fprintf(stderr, "%s: %s\n", request, err.message);
    return status == CELLAR_OK;
}

int main(int argc, char **argv)
{
    cellar_key *key = NULL;
    cellar_ledger *ledger = NULL;
    cellar_error err = {""};
    cellar_status status = CELLAR_ERR_ARGUMENT;

    if (argc > 4)
        status = cellar_process_harden(&err);
    if (status == CELLAR_OK)
        status = cellar_key_read(argv[2], &key, &err);
    if (status == CELLAR_OK)
        status = cellar_ledger_open(argv[1], key, &ledger, &err);
    for (int i = 4; status == CELLAR_OK && i < argc; i++)
        spend(ledger, argv[1], argv[3], argv[i]);
    if (status != CELLAR_OK)
        fprintf(stderr, "ledger_spender: %s\n", err.message);
    cellar_ledger_close(ledger);
    cellar_key_free(key);
    return status != CELLAR_OK;
}
