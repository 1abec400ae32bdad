/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates that practitioners ask for, a committed list: the middle one is to take a few
 * milliseconds, and none more than half a second. */
#include <cellar/cellar.h>

#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "net_line.h"

enum { MOST = 100, SLOWEST = 5, TEXT = 400 };

typedef struct timed {
    double ms;
    char what[TEXT];
} timed;

static void certify(void *context)
{
    cellar_certificate *c = NULL;
    cellar_error err;
    if (net_line_certify(context, &c, &err) != CELLAR_OK) {
        fprintf(stderr, "bench_certify: %s\n", err.message);
        exit(1);
    }
    cellar_certificate_free(c);
}

/* Processor time of the certificate that a line of the list asks for. */
static timed measure(char *text)
{
    timed out;
    net_line line;
    snprintf(out.what, sizeof out.what, "%.*s", (int) strcspn(text, "\n"), text);
    if (!net_line_read(text, &line)) {
        fprintf(stderr, "bench_certify: '%s' is no certificate\n", out.what);
        exit(1);
    }
    out.ms = 1e3 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, certify, &line);
    return out;
}

/* The quickest first. */
static int compare(const void *a, const void *b)
{
    return bench_compare(&((const timed *) a)->ms, &((const timed *) b)->ms);
}

int main(void)
{
    static timed times[MOST];
    FILE *file = chdir(CELLAR_NET) == 0 ? fopen("usual.txt", "r") : NULL;
    char text[TEXT];
    size_t n = 0;
    if (file == NULL) {
        fprintf(stderr, "bench_certify: " CELLAR_NET "/usual.txt cannot be read\n");
        return 1;
    }
    while (n < MOST && fgets(text, sizeof text, file) != NULL)
        if (text[0] != '#')
            times[n++] = measure(text);
    fclose(file);
    qsort(times, n, sizeof *times, compare);
    bench_row("usual certificates: the middle one", times[n / 2].ms, "ms", "goal 5");
    for (size_t i = 0; i < SLOWEST && i < n; i++)
        bench_row(times[n - 1 - i].what, times[n - 1 - i].ms, "ms", "goal 500");
    return 0;
}
