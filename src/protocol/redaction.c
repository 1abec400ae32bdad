/* SPDX-License-Identifier: GPL-3.0-or-later */
#define MATHLIB_STANDALONE
#include "protocol/redaction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "protocol/response.h"

static const double ONE = 1e18;

/* The share of people with a listed value: the sum of theirs, and what the others leave. */
static share_range listed_range(const redaction *r, const share_range *ranges, size_t n_values)
{
    double least = 0, largest = 0, others_least = 0, others_largest = 0;
    for (size_t v = 0; v < n_values; v++) {
        *(r->levels[v] ? &least : &others_least) += (double) ranges[v].least;
        *(r->levels[v] ? &largest : &others_largest) += (double) ranges[v].largest;
    }
    least = fmax(least, ONE - others_largest) * (1 - 1e-12);
    largest = fmin(largest, ONE - others_least) * (1 + 1e-12);
    return (share_range){(uint64_t) fmax(0, least), (uint64_t) fmin(ONE, fmax(largest, least))};
}

/* Redacted are the listed and, of all others, the share `cover`. */
static double redacted_of(double listed, double cover)
{
    return listed + cover * (1 - listed);
}

/* The chance at which the listed are at most the share `hide` of the redacted: listed / (listed +
 * (1 - listed) cover) = hide. 2 when there is none. */
static double cover_of(double listed, double hide)
{
    double cover = listed < 1 ? listed * (1 - hide) / (hide * (1 - listed)) : 2;
    return cover < 1 ? cover : 2;
}

double redaction_share(const redaction *r, const share_range *ranges, size_t n_values)
{
    if (r->levels == NULL)
        return 0;
    return redacted_of((double) listed_range(r, ranges, n_values).largest / ONE,
                       (double) r->cover / ONE);
}

/* ---- planning -------------------------------------------------------------- */

typedef struct ranked {
    uint64_t largest;
    size_t level;
} ranked;

static int ranked_compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->largest != y->largest)
        return x->largest < y->largest ? -1 : 1;
    return (x->level > y->level) - (x->level < y->level);
}

/* Adds to the list, from the rarest on, as long as the terms hold; answers how many were added. */
static size_t plan_fill(const ranked *order, const share_range *ranges, size_t n_values,
                        const redaction_terms *terms, double threshold, redaction *out)
{
    size_t n = 0;
    while (n < n_values && (double) ranges[order[n].level].least < threshold * ONE) {
        double listed, cover;
        out->levels[order[n].level] = 1;
        listed = (double) listed_range(out, ranges, n_values).largest / ONE;
        cover = ceil(cover_of(listed, terms->hide) * ONE) / ONE;
        if (cover >= 1 || redacted_of(listed, cover) > terms->most) {
            out->levels[order[n].level] = 0;
            break;
        }
        out->cover = (uint64_t) fmin(ceil(cover * ONE), ONE);
        n++;
    }
    return n;
}

cellar_status redaction_plan(const share_range *ranges, size_t n_values,
                             const redaction_terms *terms, double threshold, redaction *out,
                             cellar_error *err)
{
    ranked *order = cellar_alloc(n_values, sizeof *order);

    *out = (redaction){.levels = cellar_alloc(n_values, 1)};
    if (order == NULL || out->levels == NULL) {
        cellar_free(order);
        cellar_free(out->levels);
        *out = (redaction){0};
        return cellar_fail_memory(err, "a redaction");
    }
    for (size_t v = 0; v < n_values; v++)
        order[v] = (ranked){ranges[v].largest, v};
    qsort(order, n_values, sizeof *order, ranked_compare);
    if (plan_fill(order, ranges, n_values, terms, threshold, out) == 0) {
        cellar_free(out->levels);
        *out = (redaction){0};
    }
    cellar_free(order);
    return CELLAR_OK;
}

/* ---- what is left ---------------------------------------------------------- */

/* Of m people who each do something with probability p, at least so many do: all but the tail of
 * the binomial law. An expectation when it is about other people. */
static double at_least(const redaction_terms *terms, double m, double p)
{
    if (terms->people <= 0 || p <= 0 || p >= 1)
        return m * p;
    return qbinom(terms->tail, m, p, 1, 0);
}

/* A range of shares as numbers of people, which are whole when it is about these people. */
static void people_of(const redaction_terms *terms, share_range range, double *least,
                      double *largest)
{
    double n = terms->people > 0 ? terms->people : 1;
    *least = (double) range.least / ONE * n;
    *largest = (double) range.largest / ONE * n;
    if (terms->people > 0) {
        *least = ceil(*least);
        *largest = fmax(*least, floor(*largest));
    }
}

static share_range range_between(const redaction_terms *terms, double least, double largest)
{
    double n = terms->people > 0 ? terms->people : 1;
    return (share_range){estimate_range(least / n, 0).least,
                         estimate_range(largest / n, 0).largest};
}

void redaction_apply(const redaction *r, const share_range *ranges, size_t n_values,
                     const redaction_terms *terms, share_range *left, size_t *n_left)
{
    double cover = (double) r->cover / ONE, n = terms->people > 0 ? terms->people : 1;
    double least, largest;

    *n_left = 0;
    if (r->levels == NULL) {
        memcpy(left, ranges, n_values * sizeof *left);
        *n_left = n_values;
        return;
    }
    for (size_t v = 0; v < n_values; v++) {
        if (r->levels[v])
            continue;
        people_of(terms, ranges[v], &least, &largest);
        left[(*n_left)++] = range_between(terms, at_least(terms, least, 1 - cover),
                                          largest - at_least(terms, largest, cover));
    }
    people_of(terms, listed_range(r, ranges, n_values), &least, &largest);
    left[(*n_left)++] = range_between(terms, least + at_least(terms, n - least, cover),
                                      n - at_least(terms, n - largest, 1 - cover));
}

/* ---- participants ---------------------------------------------------------- */

uint32_t redaction_draw(const redaction *r, size_t n_values, const collect_round *round,
                        const unsigned char ticket[TICKET_BYTES], size_t column, uint32_t level)
{
    uint64_t chance = (uint64_t) ((double) r->cover / ONE * 0x1p64 * (1 - 0x1p-50));
    uint64_t drawn = response_word(round, ticket, column);
    if (r->levels == NULL)
        return level;
    return r->levels[level] || drawn < chance ? (uint32_t) n_values : level;
}
