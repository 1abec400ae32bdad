/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A whole collection: 100,000 people with six columns in both rounds, every role a process of its
 * own, over files in the folder of the first argument (the number of people may follow). Prints
 * wall time, processor time and the most memory of each step. */
#include <cellar/cellar.h>

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

enum { N_COLUMNS = 6, N_CODES = 4, N_GATEWAYS = 2, PATH_BYTES = 600 };

typedef struct large_work {
    char folder[512];
    uint64_t n_people;
} large_work;

static cellar_error err;

static void must(int ok)
{
    if (ok)
        return;
    fprintf(stderr, "bench_collect_large: %s\n", err.message);
    exit(1);
}

static const char *path_of(const large_work *w, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s/%s", w->folder, name);
    return path;
}

/* ---- what is on disk ------------------------------------------------------- */

static cellar_key *key_read(const large_work *w, const char *name)
{
    char path[PATH_BYTES];
    cellar_key *key;
    must(cellar_key_read(path_of(w, name, path), &key, &err) == CELLAR_OK);
    return key;
}

static const char *const role_files[] = {NULL, "curator.key", "shuffler.key", "analyst.key"};

static cellar_collect_keys *keys_read(const large_work *w, int role)
{
    cellar_key *key = key_read(w, role_files[role]);
    cellar_collect_keys *keys;
    must(cellar_collect_keys_create(key, (cellar_collect_role) role, &keys, &err) == CELLAR_OK);
    cellar_key_free(key);
    return keys;
}

static cellar_invitation *invitation_read(const large_work *w)
{
    char path[PATH_BYTES];
    cellar_invitation *invitation;
    must(cellar_invitation_read(path_of(w, "invitation", path), &invitation, &err) == CELLAR_OK);
    return invitation;
}

/* NULL in round one. */
static cellar_decision *decision_read(const large_work *w, int round,
                                      const cellar_invitation *invitation)
{
    char path[PATH_BYTES];
    cellar_decision *decision = NULL;
    if (round == 2)
        must(cellar_decision_read(path_of(w, "decision", path), invitation, &decision, &err) ==
             CELLAR_OK);
    return decision;
}

static void file_write(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    must(file != NULL && fwrite(text, 1, length, file) == length && fclose(file) == 0);
}

/* Half of the people in each file: skewed values. */
static void people_write(const large_work *w, int gateway)
{
    char name[32], path[PATH_BYTES];
    FILE *file;
    uint64_t state = (uint64_t) gateway + 1;
    snprintf(name, sizeof name, "people-%d.csv", gateway);
    file = fopen(path_of(w, name, path), "w");
    must(file != NULL);
    fprintf(file, "a,b,c,d,e,f\n");
    for (uint64_t i = (uint64_t) gateway; i < w->n_people; i += N_GATEWAYS)
        for (int c = 0; c < N_COLUMNS; c++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            fprintf(file, "%d%c", (int) ((state >> 40) % N_CODES * ((state >> 50) % 3 > 0)),
                    c + 1 < N_COLUMNS ? ',' : '\n');
        }
    must(fclose(file) == 0);
}

static void work_open(const large_work *w)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
    static const char *const codes[] = {"0", "1", "2", "3"};
    static const char *const left[] = {"invitation",   "decision",      "round-1.batch",
                                       "curator.key",  "round-2.batch", "gateway-0.key",
                                       "shuffler.key", "analyst.key",   "gateway-1.key"};
    cellar_collect_column columns[N_COLUMNS];
    cellar_codelist *list;
    cellar_collect_keys *keys[4];
    cellar_invitation *invitation;
    cellar_invitation_spec spec = cellar_invitation_spec_default();
    char path[PATH_BYTES];
    size_t length;
    const char *text;
    spec.title = "bench";
    spec.n_people = w->n_people;
    spec.k = 5;
    spec.exposure = "0.1";
    spec.columns = columns;
    spec.n_columns = N_COLUMNS;
    for (size_t i = 0; i < sizeof left / sizeof *left; i++)
        unlink(path_of(w, left[i], path));
    for (int role = 1; role <= 3; role++)
        must(cellar_key_create(path_of(w, role_files[role], path), NULL, &err) == CELLAR_OK);
    must(cellar_key_create(path_of(w, "gateway-0.key", path), NULL, &err) == CELLAR_OK);
    must(cellar_key_create(path_of(w, "gateway-1.key", path), NULL, &err) == CELLAR_OK);
    must(cellar_codelist_create(&list, &err) == CELLAR_OK);
    for (size_t i = 0; i < N_CODES; i++)
        must(cellar_codelist_add(list, codes[i], NULL, NULL, CELLAR_CODE_PLAIN, &err) == CELLAR_OK);
    must(cellar_codelist_finish(list, &err) == CELLAR_OK);
    for (size_t c = 0; c < N_COLUMNS; c++)
        columns[c] = (cellar_collect_column){names[c], list};
    for (int role = 1; role <= 3; role++)
        keys[role] = keys_read(w, role);
    spec.shuffler = *cellar_collect_keys_identity(keys[CELLAR_COLLECT_SHUFFLER]);
    spec.analyst = *cellar_collect_keys_identity(keys[CELLAR_COLLECT_ANALYST]);
    must(cellar_invitation_create(&spec, keys[CELLAR_COLLECT_CURATOR], &invitation, &err) ==
         CELLAR_OK);
    text = cellar_invitation_text(invitation, &length);
    file_write(path_of(w, "invitation", path), text, length);
    mkdir(path_of(w, "inbox", path), 0700);
    for (int g = 0; g < N_GATEWAYS; g++)
        people_write(w, g);
    for (int role = 1; role <= 3; role++)
        cellar_collect_keys_free(keys[role]);
    cellar_invitation_free(invitation);
    cellar_codelist_free(list);
}

/* ---- the roles ------------------------------------------------------------- */

static void gateway_run(const large_work *w, int round, int gateway)
{
    cellar_collect_policy policy = cellar_collect_policy_default();
    cellar_invitation *invitation = invitation_read(w);
    cellar_decision *decision = decision_read(w, round, invitation);
    cellar_participant *participant;
    char name[32], csv[PATH_BYTES], inbox[PATH_BYTES];
    cellar_key *key;
    uint64_t n_sent;
    policy.least_k = 1;
    policy.most_exposure = 1;
    snprintf(name, sizeof name, "gateway-%d.key", gateway);
    key = key_read(w, name);
    must(cellar_participant_create(invitation, decision, &policy, key, &participant, &err) ==
         CELLAR_OK);
    snprintf(name, sizeof name, "people-%d.csv", gateway);
    must(cellar_participant_send_file(participant, path_of(w, name, csv),
                                      path_of(w, "inbox", inbox), &n_sent, &err) == CELLAR_OK);
}

static void shuffler_run(const large_work *w, int round, int unused)
{
    cellar_invitation *invitation = invitation_read(w);
    cellar_decision *decision = decision_read(w, round, invitation);
    cellar_shuffler *shuffler;
    cellar_collect_report report;
    cellar_rng *rng;
    char inbox[PATH_BYTES];
    (void) unused;
    must(cellar_rng_create_secure(&rng, &err) == CELLAR_OK);
    must(cellar_shuffler_open(w->folder, invitation, decision,
                              keys_read(w, CELLAR_COLLECT_SHUFFLER), &shuffler, &err) == CELLAR_OK);
    must(cellar_shuffler_take_folder(shuffler, path_of(w, "inbox", inbox), &report, &err) ==
         CELLAR_OK);
    must(cellar_shuffler_forward(shuffler, rng, &err) == CELLAR_OK);
    cellar_shuffler_close(shuffler);
}

static void curator_run(const large_work *w, int round, int unused)
{
    cellar_invitation *invitation = invitation_read(w);
    cellar_collect_keys *keys = keys_read(w, CELLAR_COLLECT_CURATOR);
    cellar_collect_margins *margins;
    cellar_collect_report report;
    cellar_decision *decision;
    char path[PATH_BYTES];
    size_t length;
    const char *text;
    (void) round;
    (void) unused;
    must(cellar_collect_margins_read(path_of(w, "round-1.batch", path), invitation, keys, &margins,
                                     &report, &err) == CELLAR_OK);
    must(report.n_counted == w->n_people * N_COLUMNS);
    must(cellar_decision_create(margins, invitation, keys, &decision, &err) == CELLAR_OK);
    text = cellar_decision_text(decision, &length);
    file_write(path_of(w, "decision", path), text, length);
}

static void analyst_run(const large_work *w, int round, int unused)
{
    cellar_invitation *invitation = invitation_read(w);
    cellar_decision *decision = decision_read(w, round, invitation);
    cellar_table *table;
    cellar_collect_report report;
    char path[PATH_BYTES];
    (void) unused;
    must(cellar_collect_table_read(path_of(w, "round-2.batch", path), invitation, decision,
                                   keys_read(w, CELLAR_COLLECT_ANALYST), &table, &report,
                                   &err) == CELLAR_OK);
    must(cellar_table_n_records(table) == w->n_people);
}

/* ---- steps ----------------------------------------------------------------- */

typedef struct step {
    const char *name;
    void (*run)(const large_work *w, int round, int number);
    int round, n_processes;
} step;

/* Every process is waited for; times add up, of memory the most counts. Answers wall seconds. */
static double step_run(const large_work *w, const step *s)
{
    struct timespec begin, end;
    double cpu = 0, wall;
    long most = 0;
    char note[64];
    clock_gettime(CLOCK_MONOTONIC, &begin);
    fflush(stdout);
    for (int i = 0; i < s->n_processes; i++)
        if (fork() == 0) {
            s->run(w, s->round, i);
            _exit(0);
        }
    for (int i = 0; i < s->n_processes; i++) {
        struct rusage used;
        int status;
        must(wait4(-1, &status, 0, &used) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        cpu += (double) used.ru_utime.tv_sec + 1e-6 * (double) used.ru_utime.tv_usec +
               (double) used.ru_stime.tv_sec + 1e-6 * (double) used.ru_stime.tv_usec;
        most = used.ru_maxrss > most ? used.ru_maxrss : most;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    wall = (double) (end.tv_sec - begin.tv_sec) + 1e-9 * (double) (end.tv_nsec - begin.tv_nsec);
    snprintf(note, sizeof note, "%.1f s of processors, %ld MB", cpu, most / 1024);
    bench_row(s->name, wall, "s", note);
    return wall;
}

int main(int argc, char **argv)
{
    static const step steps[] = {{"round one: two gateways seal", gateway_run, 1, N_GATEWAYS},
                                 {"round one: the shuffler", shuffler_run, 1, 1},
                                 {"round one: the curator decides", curator_run, 1, 1},
                                 {"round two: two gateways seal", gateway_run, 2, N_GATEWAYS},
                                 {"round two: the shuffler", shuffler_run, 2, 1},
                                 {"round two: the analyst's table", analyst_run, 2, 1}};
    large_work w = {.n_people = 100000};
    double sum = 0;
    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: bench_collect_large FOLDER [PEOPLE]\n");
        return 2;
    }
    snprintf(w.folder, sizeof w.folder, "%s", argv[1]);
    if (argc == 3)
        w.n_people = strtoull(argv[2], NULL, 10);
    work_open(&w);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        sum += step_run(&w, &steps[i]);
    bench_row("end to end", sum, "s", "100,000 people x 6 columns in minutes");
    return 0;
}
