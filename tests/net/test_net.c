/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The net under the certificates: thousands of them, with bounds that were once proved, must not
 * be contradicted by what the library says today (README.md). Prints how much looser or tighter
 * upper bounds are.
 *
 * test_net [--effort N] [--list FACTOR] [--every N] FOLDER
 *   --effort N     the effort of every certificate [1]
 *   --list FACTOR  also list upper bounds that are looser or tighter by more than that factor
 *   --every N      only every N-th certificate
 * FOLDER holds certificates.txt.gz and the matrices it names. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#include "net_line.h"

enum { LINE_SIZE = 1 << 15, FACTORS = 3, SLOWEST = 10 };
static const double factors[FACTORS] = {1.01, 1.1, 10};

typedef struct net_slow {
    double ms;
    char words[200];
} net_slow;

typedef struct net_summary {
    double effort, list;
    long every, n_certificates, n_failures, n_independent;
    long n_compared[NET_KINDS], n_contradictions[NET_KINDS], n_silent[NET_KINDS];
    long n_looser[NET_KINDS][FACTORS], n_tighter[NET_KINDS][FACTORS];
    net_slow slowest[SLOWEST];
} net_summary;

/* Old and new bounds are proven: they may cross by what the text of a number loses, and a delta_p
 * that is said to be attained is so to nine digits. */
static double allowance(net_kind kind)
{
    return kind == NET_DELTA_P ? 1e-9 : 4e-16;
}

static int is_below(double upper, double lower, double share)
{
    return isinf(lower) ? !isinf(upper) : upper < lower * (1 - share);
}

static double looseness(double upper, double old)
{
    if (upper == old)
        return 1;
    if (isinf(upper) || old == 0)
        return INFINITY;
    return isinf(old) ? 0 : upper / old;
}

static void tell(const char *what, const char *words, const net_claim *old, const net_claim *now)
{
    printf("%s: %s: %s at %.17g: was %.17g to %.17g", what, words, net_kind_word(old->kind),
           old->at, old->lower, old->upper);
    if (old->independent > 0)
        printf(" (independently %.17g)", old->independent);
    printf(", is %.17g to %.17g\n", now->lower, now->upper);
}

static void compare(net_summary *s, const char *words, const net_claim *old, const net_claim *now)
{
    const double share = allowance(old->kind), ratio = looseness(now->upper, old->upper);
    s->n_compared[old->kind]++;
    s->n_independent += old->independent > 0;
    for (int i = 0; i < FACTORS; i++) {
        s->n_looser[old->kind][i] += ratio > factors[i];
        s->n_tighter[old->kind][i] += ratio < 1 / factors[i];
    }
    if (isnan(now->upper) || isnan(now->lower) ||
        is_below(now->upper, fmax(old->lower, old->independent), share) ||
        is_below(old->upper, now->lower, share)) {
        s->n_contradictions[old->kind]++;
        tell("contradiction", words, old, now);
    } else if (ratio > s->list || ratio < 1 / s->list) {
        tell(ratio > 1 ? "looser" : "tighter", words, old, now);
    }
}

/* Keeps the slowest ones, the slowest first. */
static void note_time(net_summary *s, const char *words, double ms)
{
    int i = SLOWEST - 1;
    if (ms <= s->slowest[i].ms)
        return;
    for (; i > 0 && s->slowest[i - 1].ms < ms; i--)
        s->slowest[i] = s->slowest[i - 1];
    s->slowest[i].ms = ms;
    snprintf(s->slowest[i].words, sizeof s->slowest[i].words, "%.*s",
             (int) sizeof s->slowest[i].words - 1, words);
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double) t.tv_sec + 1e-6 * (double) t.tv_nsec;
}

static void check_line(net_summary *s, char *text)
{
    char words[LINE_SIZE];
    const double begun = now_ms();
    cellar_certificate *c = NULL;
    cellar_error err = {.message = "a line that cannot be read"};
    net_line line;
    snprintf(words, sizeof words, "%.*s", (int) strcspn(text, ";\n"), text);
    s->n_certificates++;
    if (!net_line_read(text, &line) || line.n_claims == 0) {
        printf("failure: %s: %s\n", words, err.message);
        s->n_failures++;
        return;
    }
    line.options.effort = s->effort;
    if (net_line_certify(&line, &c, &err) != CELLAR_OK) {
        printf("failure: %s: %s\n", words, err.message);
        s->n_failures++;
        return;
    }
    note_time(s, words, now_ms() - begun);
    for (size_t i = 0; i < line.n_claims; i++) {
        net_claim now;
        if (net_claim_find(c, &line.claims[i], &now))
            compare(s, words, &line.claims[i], &now);
        else
            s->n_silent[line.claims[i].kind]++;
    }
    cellar_certificate_free(c);
}

static int check_file(net_summary *s, const char *path)
{
    gzFile file = gzopen(path, "rb");
    char text[LINE_SIZE];
    long n = 0;
    if (file == NULL)
        return 0;
    while (gzgets(file, text, sizeof text) != NULL) {
        if (text[0] == '#')
            fputs(text, stdout); /* how many were left out when it was made */
        else if (n++ % s->every == 0)
            check_line(s, text);
    }
    gzclose(file);
    return 1;
}

/* Returns how many lines failed or were contradicted. */
static long print_summary(const net_summary *s)
{
    long n_wrong = s->n_failures;
    printf("\n%ld certificates, %ld failed, effort %g, %ld numbers recomputed independently\n",
           s->n_certificates, s->n_failures, s->effort, s->n_independent);
    printf("%-10s%9s%8s%8s  looser%8s%8s%8s  tighter%8s%8s%8s\n", "", "compared", "wrong", "silent",
           "1 %", "10 %", "10x", "1 %", "10 %", "10x");
    for (int k = 0; k < NET_KINDS; k++) {
        const long *looser = s->n_looser[k], *tighter = s->n_tighter[k];
        printf("%-10s%9ld%8ld%8ld        %8ld%8ld%8ld         %8ld%8ld%8ld\n",
               net_kind_word((net_kind) k), s->n_compared[k], s->n_contradictions[k],
               s->n_silent[k], looser[0], looser[1], looser[2], tighter[0], tighter[1], tighter[2]);
        n_wrong += s->n_contradictions[k];
    }
    printf("\nthe slowest:\n");
    for (int i = 0; i < SLOWEST && s->slowest[i].ms > 0; i++)
        printf("%9.1f ms  %s\n", s->slowest[i].ms, s->slowest[i].words);
    return n_wrong;
}

int main(int argc, char **argv)
{
    static net_summary summary = {.effort = 1, .list = INFINITY, .every = 1};
    int i = 1;
    for (; i + 2 < argc; i += 2) {
        const double value = strtod(argv[i + 1], NULL);
        if (strcmp(argv[i], "--effort") == 0)
            summary.effort = value;
        else if (strcmp(argv[i], "--list") == 0)
            summary.list = value;
        else if (strcmp(argv[i], "--every") == 0 && value >= 1)
            summary.every = (long) value;
        else
            break;
    }
    if (i + 1 != argc || chdir(argv[i]) != 0) {
        fprintf(stderr, "usage: test_net [--effort N] [--list FACTOR] [--every N] FOLDER\n");
        return 2;
    }
    if (!check_file(&summary, "certificates.txt.gz")) {
        fprintf(stderr, "test_net: certificates.txt.gz cannot be read\n");
        return 2;
    }
    return print_summary(&summary) > 0;
}
