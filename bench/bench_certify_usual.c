/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Certificates that practitioners ask for, a committed list: the middle one is to take a few
 * milliseconds, and none more than half a second. */
#include <cellar/cellar.h>

#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "net_line.h"

enum { MOST = 60 };

static void certify(void *context)
{
    cellar_certificate *c = NULL;
    cellar_error err;
    if (net_line_certify(context, &c, &err) != CELLAR_OK) {
        fprintf(stderr, "bench_certify_usual: %s\n", err.message);
        exit(1);
    }
    cellar_certificate_free(c);
}

/* Processor time in milliseconds of the certificate that a line of the list asks for. */
static double measure(char *text)
{
    char what[200];
    net_line line;
    double time;
    snprintf(what, sizeof what, "%.*s", (int) strcspn(text, "\n"), text);
    if (!net_line_read(text, &line)) {
        fprintf(stderr, "bench_certify_usual: '%s' is no certificate\n", what);
        exit(1);
    }
    time = 1e3 * bench_median_by(CLOCK_PROCESS_CPUTIME_ID, certify, &line);
    bench_row(what, time, "ms", "goal 500");
    return time;
}

int main(void)
{
    FILE *file = chdir(CELLAR_NET) == 0 ? fopen("usual.txt", "r") : NULL;
    double times[MOST];
    char text[400];
    size_t n = 0;
    if (file == NULL) {
        fprintf(stderr, "bench_certify_usual: " CELLAR_NET "/usual.txt cannot be read\n");
        return 1;
    }
    while (n < MOST && fgets(text, sizeof text, file) != NULL)
        if (text[0] != '#')
            times[n++] = measure(text);
    fclose(file);
    qsort(times, n, sizeof *times, bench_compare);
    bench_row("usual certificates: the middle one", times[n / 2], "ms", "goal 5");
    bench_row("the longest", times[n - 1], "ms", "goal 500");
    return 0;
}
