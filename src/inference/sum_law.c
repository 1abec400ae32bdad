/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "inference/sum_law.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"

cellar_status cellar_sum_law_init(cellar_sum_law *law, int64_t first, int64_t last,
                                  cellar_error *err)
{
    *law = (cellar_sum_law){.first = first};
    if (last - first >= CELLAR_SUM_LAW_MAX)
        return cellar_fail(err, CELLAR_ERR_ARGUMENT,
                           "the noise of the sum takes too many values to be held in memory: sum "
                           "fewer cells, or use a margin that was released");
    law->n = (size_t) (last - first) + 1;
    law->pmf = cellar_alloc(law->n, sizeof *law->pmf);
    return law->pmf != NULL ? CELLAR_OK : cellar_fail_memory(err, "the noise of a sum");
}

cellar_status cellar_sum_law_init_nothing(cellar_sum_law *law, cellar_error *err)
{
    cellar_status status = cellar_sum_law_init(law, 0, 0, err);
    if (status == CELLAR_OK)
        law->pmf[0] = 1;
    return status;
}

void cellar_sum_law_clear(cellar_sum_law *law)
{
    cellar_free(law->pmf);
    *law = (cellar_sum_law){0};
}

/* Leaves out what is negligible at both ends. */
static void law_trim(cellar_sum_law *law)
{
    const double negligible = CELLAR_SUM_LAW_TAIL / 64;
    double below = 0, above = 0;
    size_t cut = 0;
    while (law->n > 1 && above + law->pmf[law->n - 1] < negligible)
        above += law->pmf[--law->n];
    while (cut + 1 < law->n && below + law->pmf[cut] < negligible)
        below += law->pmf[cut++];
    law->n -= cut;
    law->first += (int64_t) cut;
    memmove(law->pmf, law->pmf + cut, law->n * sizeof *law->pmf);
}

/* *a becomes the law of the sum of *a and *b. */
static cellar_status law_convolve(cellar_sum_law *a, const cellar_sum_law *b, cellar_error *err)
{
    cellar_sum_law sum;
    int64_t first = a->first + b->first;
    cellar_status status =
        cellar_sum_law_init(&sum, first, first + (int64_t) (a->n + b->n) - 2, err);
    if (status != CELLAR_OK)
        return status;
    for (size_t i = 0; i < a->n; i++) {
        double p = a->pmf[i], *to = sum.pmf + i;
        for (size_t j = 0; j < b->n; j++)
            to[j] += p * b->pmf[j];
    }
    cellar_sum_law_clear(a);
    *a = sum;
    law_trim(a);
    return CELLAR_OK;
}

/* By squaring: the law of 2^i numbers for each binary digit of n. */
cellar_status cellar_sum_law_add(cellar_sum_law *law, cellar_sum_law *one, uint64_t n,
                                 cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    for (; n > 0; n >>= 1) {
        if (n & 1)
            CELLAR_TRY(law_convolve(law, one, err));
        if (n > 1)
            CELLAR_TRY(law_convolve(one, one, err));
    }
out:
    cellar_sum_law_clear(one);
    return status;
}

int64_t cellar_sum_law_highest(const cellar_sum_law *law, double tail)
{
    double above = 0;
    size_t i = law->n;
    while (i > 1 && above + law->pmf[i - 1] < tail)
        above += law->pmf[--i];
    return law->first + (int64_t) i - 1;
}

int64_t cellar_sum_law_lowest(const cellar_sum_law *law, double tail)
{
    double below = 0;
    size_t i = 0;
    while (i + 1 < law->n && below + law->pmf[i] < tail)
        below += law->pmf[i++];
    return law->first + (int64_t) i;
}
