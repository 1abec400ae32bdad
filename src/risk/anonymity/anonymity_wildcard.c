/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "risk/anonymity/anonymity_wildcard.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/order.h"

/* Groups with the same columns missing form a pattern. Between two patterns only the columns that
 * neither lacks are compared: the groups of the one are sorted by them and added up, those of the
 * other look themselves up. That is (patterns)^2 sorts instead of (groups)^2 comparisons. */

typedef struct matching {
    const anonymity_groups *groups;
    uint64_t *patterns; /* of each group: bit c, column c is missing */
    size_t *order;      /* groups of one pattern, sorted by the columns of `kept` */
    uint64_t *sums;     /* of groups in `order` that agree, at the first of them */
    uint64_t kept;
} matching;

static const uint32_t *matching_row(const matching *m, size_t group)
{
    return m->groups->categories + group * m->groups->n_qid;
}

static int matching_compare_rows(const matching *m, size_t a, size_t b)
{
    const uint32_t *x = matching_row(m, a), *y = matching_row(m, b);
    for (size_t c = 0; c < m->groups->n_qid; c++)
        if ((m->kept >> c & 1) && x[c] != y[c])
            return x[c] < y[c] ? -1 : 1;
    return 0;
}

static int matching_compare(const void *a, const void *b, void *context)
{
    size_t x = *(const size_t *) a, y = *(const size_t *) b;
    int way = matching_compare_rows(context, x, y);
    return way != 0 ? way : (x > y) - (x < y);
}

/* Sorts the groups of a pattern and adds up those that agree; answers how many differ. */
static size_t matching_index(matching *m, uint64_t pattern)
{
    size_t n = 0, distinct = 0, n_values = m->groups->n_values;
    for (size_t g = 0; g < m->groups->n; g++)
        if (m->patterns[g] == pattern)
            m->order[n++] = g;
    qsort_r(m->order, n, sizeof *m->order, matching_compare, m);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *counts = m->groups->counts + m->order[i] * n_values;
        uint64_t *sum;
        if (i == 0 || matching_compare_rows(m, m->order[distinct - 1], m->order[i]) != 0) {
            m->order[distinct] = m->order[i];
            memset(m->sums + distinct++ * n_values, 0, n_values * sizeof *m->sums);
        }
        sum = m->sums + (distinct - 1) * n_values;
        for (size_t s = 0; s < n_values; s++)
            sum[s] += counts[s];
    }
    return distinct;
}

static void matching_look_up(const matching *m, size_t n_indexed, size_t group, uint64_t *matches)
{
    size_t low = 0, high = n_indexed, n_values = m->groups->n_values;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (matching_compare_rows(m, m->order[middle], group) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == n_indexed || matching_compare_rows(m, m->order[low], group) != 0)
        return;
    for (size_t s = 0; s < n_values; s++)
        matches[group * n_values + s] += m->sums[low * n_values + s];
}

static void matching_mark(matching *m, const uint32_t *wildcards)
{
    for (size_t g = 0; g < m->groups->n; g++)
        for (size_t c = 0; c < m->groups->n_qid; c++)
            if (matching_row(m, g)[c] == wildcards[c])
                m->patterns[g] |= UINT64_C(1) << c;
}

/* The distinct patterns, ascending; answers how many. */
static size_t matching_distinct(const matching *m, uint64_t *distinct)
{
    size_t n = 0;
    memcpy(distinct, m->patterns, m->groups->n * sizeof *distinct);
    qsort(distinct, m->groups->n, sizeof *distinct, cellar_order_u64);
    for (size_t i = 0; i < m->groups->n; i++)
        if (n == 0 || distinct[n - 1] != distinct[i])
            distinct[n++] = distinct[i];
    return n;
}

cellar_status cellar_anonymity_match(const anonymity_groups *groups, const uint32_t *wildcards,
                                     uint64_t *matches, cellar_error *err)
{
    size_t n = groups->n, n_patterns;
    uint64_t *distinct = cellar_alloc(n, sizeof *distinct);
    matching m = {.groups = groups,
                  .patterns = cellar_alloc(n, sizeof *m.patterns),
                  .order = cellar_alloc(n, sizeof *m.order),
                  .sums = cellar_alloc(n * groups->n_values, sizeof *m.sums)};
    int ok = distinct != NULL && m.patterns != NULL && m.order != NULL && m.sums != NULL;

    if (ok) {
        matching_mark(&m, wildcards);
        n_patterns = matching_distinct(&m, distinct);
        for (size_t a = 0; a < n_patterns; a++)
            for (size_t b = 0; b < n_patterns; b++) {
                size_t n_indexed;
                m.kept = ~(distinct[a] | distinct[b]);
                n_indexed = matching_index(&m, distinct[b]);
                for (size_t g = 0; g < n; g++)
                    if (m.patterns[g] == distinct[a])
                        matching_look_up(&m, n_indexed, g, matches);
            }
    }
    cellar_free(m.sums);
    cellar_free(m.order);
    cellar_free(m.patterns);
    cellar_free(distinct);
    return ok ? CELLAR_OK : cellar_fail_memory(err, "matching groups");
}
