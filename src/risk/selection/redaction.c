/* SPDX-License-Identifier: GPL-3.0-or-later */
#define MATHLIB_STANDALONE
#include "risk/selection/redaction.h"

#include <math.h>
#include <string.h>

#include <Rmath.h>

#include "base/error.h"
#include "base/memory.h"
#include "risk/selection/row_set.h"

/* A row as it is seen is the sum of binomials: of those who have the row that leads to it, each
 * sends it with the probability of that pattern of redactions. With N the number who do, the row
 * adds E[N 1{N < k}] to the people exposed, and for that only P(N = 0), ..., P(N = k-1) are needed.
 */

/* Beyond this the work is not worth it. */
static const double max_patterns = 4e6, max_work = 4e9;

/* Some people, and the row they send with some probability. */
typedef struct sending {
    uint32_t seen; /* number of the row */
    uint64_t people;
    double probability;
} sending;

typedef struct redaction {
    const cellar_profiles *profiles;
    const double *chance;
    size_t random[CELLAR_MAX_VARIABLES]; /* columns with a chance */
    size_t n_random;
    row_set held; /* rows after the rules */
    row_set seen; /* rows after chance as well; the counts are how many sendings reach them */
    sending *sendings;
    size_t n_sendings, sendings_capacity;
} redaction;

static uint32_t redaction_mark(const redaction *r, size_t column)
{
    return (uint32_t) cellar_profiles_n_levels(r->profiles, column);
}

/* The sendings of a row that is held, one for each pattern. */
static int redaction_spread(redaction *r, size_t held)
{
    size_t width = r->held.width;
    const uint32_t *row = r->held.rows + held * width;
    uint32_t sent[CELLAR_MAX_VARIABLES];

    for (uint64_t pattern = 0; pattern < UINT64_C(1) << r->n_random; pattern++) {
        double probability = 1;
        int possible = 1;
        memcpy(sent, row, width * sizeof *sent);
        for (size_t i = 0; i < r->n_random; i++) {
            size_t column = r->random[i];
            int redact = (int) (pattern >> i & 1);
            if (row[column] == redaction_mark(r, column)) {
                possible &= !redact; /* already redacted: one pattern is enough */
                continue;
            }
            probability *= redact ? r->chance[column] : 1 - r->chance[column];
            if (redact)
                sent[column] = redaction_mark(r, column);
        }
        if (!possible || probability <= 0)
            continue;
        if (!cellar_grow(&r->sendings, &r->sendings_capacity, r->n_sendings + 1,
                         sizeof *r->sendings) ||
            !cellar_row_set_add(&r->seen, sent, 1))
            return 0;
        r->sendings[r->n_sendings++] = (sending){(uint32_t) cellar_row_set_find(&r->seen, sent),
                                                 r->held.counts[held], probability};
    }
    return 1;
}

/* Convolves the law of N so far, P(N = 0..k-1), with that of one binomial. */
static void law_add(double *law, double *scratch, size_t k, uint64_t people, double probability)
{
    memset(scratch, 0, k * sizeof *scratch);
    for (size_t m = 0; m < k && m <= people; m++) {
        double p = dbinom((double) m, (double) people, probability, 0);
        if (p > 0)
            for (size_t i = 0; i + m < k; i++)
                scratch[i + m] += law[i] * p;
    }
    memcpy(law, scratch, k * sizeof *law);
}

/* Adds up all rows seen; `starts` and `order` list the sendings of each. */
static double redaction_sum(const redaction *r, const uint32_t *starts, const uint32_t *order,
                            double *law, double *scratch, size_t k)
{
    double exposed = 0;
    for (size_t row = 0; row < r->seen.n; row++) {
        memset(law, 0, k * sizeof *law);
        law[0] = 1;
        for (uint32_t i = starts[row]; i < starts[row + 1]; i++)
            law_add(law, scratch, k, r->sendings[order[i]].people,
                    r->sendings[order[i]].probability);
        for (size_t m = 1; m < k; m++)
            exposed += (double) m * law[m];
    }
    return exposed / (double) r->profiles->n_people;
}

static cellar_status redaction_evaluate(const redaction *r, size_t k, double *value,
                                        cellar_error *err)
{
    uint32_t *starts = cellar_alloc(r->seen.n + 1, sizeof *starts);
    uint32_t *order = cellar_alloc(r->n_sendings, sizeof *order);
    double *law = cellar_alloc(2 * k, sizeof *law);
    int ok = starts != NULL && order != NULL && law != NULL;

    if (ok) {
        uint32_t next = 0;
        for (size_t row = 0; row < r->seen.n; row++) {
            starts[row] = next;
            next += (uint32_t) r->seen.counts[row];
        }
        for (size_t i = 0; i < r->n_sendings; i++)
            order[starts[r->sendings[i].seen]++] = (uint32_t) i;
        memmove(starts + 1, starts, r->seen.n * sizeof *starts);
        starts[0] = 0;
        *value = redaction_sum(r, starts, order, law, law + k, k);
    }
    cellar_free(law);
    cellar_free(order);
    cellar_free(starts);
    return ok ? CELLAR_OK : cellar_fail_memory(err, "redacted rows");
}

/* The rows that people hold after the rules. */
static int redaction_hold(redaction *r, uint32_t *const *levels)
{
    uint32_t row[CELLAR_MAX_VARIABLES];
    for (size_t i = 0; i < r->profiles->n_rows; i++) {
        for (size_t c = 0; c < r->held.width; c++)
            row[c] = levels[c][i];
        if (!cellar_row_set_add(&r->held, row, r->profiles->counts[i]))
            return 0;
    }
    return 1;
}

cellar_status cellar_redaction_expected(const cellar_profiles *profiles, uint32_t *const *levels,
                                        const double *chance, uint64_t k, double *value,
                                        cellar_error *err)
{
    cellar_status status = CELLAR_OK;
    size_t width = profiles->n_columns;
    redaction r = {
        .profiles = profiles, .chance = chance, .held = {.width = width}, .seen = {.width = width}};
    int ok = redaction_hold(&r, levels);
    double patterns;

    *value = NAN;
    for (size_t c = 0; c < width; c++)
        if (chance[c] > 0)
            r.random[r.n_random++] = c;
    patterns = ldexp((double) r.held.n, (int) r.n_random);
    if (patterns > max_patterns || patterns * (double) k * (double) k > max_work)
        goto out;
    for (size_t i = 0; ok && i < r.held.n; i++)
        ok = redaction_spread(&r, i);
    if (ok)
        CELLAR_TRY(redaction_evaluate(&r, (size_t) k, value, err));
    else
        status = cellar_fail_memory(err, "redacted rows");
out:
    cellar_free(r.sendings);
    cellar_row_set_clear(&r.seen);
    cellar_row_set_clear(&r.held);
    return status;
}
