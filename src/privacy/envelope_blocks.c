/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Let A and B be P and Q of a block whose ratios P(b)/Q(b) lie within r..s. Its part of H, sum_b
 * max(0, P(b) - g Q(b)), is A - gB for g <= r and nothing for g >= s, and convex: between it is no
 * more than the chord. That is what two numbers with the ratios r and s would have, whose P add up
 * to A and whose Q to B.
 *
 * Ratios of counts that are s apart are products of ratios of neighbours: bounds of these, once
 * for each law, bound those of all pairs. */
#include "privacy/envelope_blocks.h"

#include <math.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    WIDTH_MIN = 400,
    PAIRS_MIN = 4,
    PARTS = 32 /* a block of numbers about b has b / PARTS of them: humps have some of them */
};
static const double LOG_SLACK = 1e-11; /* more than sums of logarithms are off */

int cellar_law_blocks_pay(const cellar_laws *l)
{
    return !l->is_flat && l->width >= WIDTH_MIN && l->n >= PAIRS_MIN + (size_t) l->reach->shift;
}

void cellar_law_blocks_clear(cellar_law_blocks *blocks)
{
    cellar_free(blocks->upper);
    cellar_free(blocks->lower);
    cellar_free(blocks->least);
    cellar_free(blocks->most);
    cellar_free(blocks->n_open);
    cellar_free(blocks->ends);
}

/* The end of the block that begins at the j-th number: before ratios of the first two laws differ
 * much, as long as the first one matters. Those of others differ less. */
static size_t block_end(const cellar_laws *l, size_t j)
{
    const double little = 1e-12, close = 1.3, *first = l->upper, *second = l->upper + l->width;
    const double ratio = second[j] / first[j];
    const int64_t b = l->low + (int64_t) j;
    const size_t last = j + 1 + (b > 0 ? (size_t) b / PARTS : 0);
    size_t end = j + 1;
    while (end < last && end < l->width &&
           (first[j] < little ||
            (second[end] < ratio * close * first[end] && second[end] * close > ratio * first[end])))
        end++;
    return end;
}

static cellar_status blocks_room(cellar_law_blocks *blocks, const cellar_laws *l, cellar_error *err)
{
    blocks->ends = cellar_alloc(l->width, sizeof *blocks->ends);
    if (blocks->ends == NULL)
        return cellar_fail_memory(err, "an envelope");
    for (size_t j = 0; j < l->width; j = blocks->ends[blocks->n++])
        blocks->ends[blocks->n] = block_end(l, j);
    blocks->upper = cellar_alloc(blocks->n * l->n, sizeof *blocks->upper);
    blocks->lower = cellar_alloc(blocks->n * l->n, sizeof *blocks->lower);
    blocks->least = cellar_alloc(blocks->n * l->n, sizeof *blocks->least);
    blocks->most = cellar_alloc(blocks->n * l->n, sizeof *blocks->most);
    blocks->n_open = cellar_alloc(blocks->n * l->n, sizeof *blocks->n_open);
    if (blocks->upper == NULL || blocks->lower == NULL || blocks->least == NULL ||
        blocks->most == NULL || blocks->n_open == NULL)
        return cellar_fail_memory(err, "an envelope");
    return CELLAR_OK;
}

/* The k-th block, of the numbers from..to-1, of the i-th law. */
static void block_fill(cellar_law_blocks *blocks, const cellar_laws *l, size_t i, size_t k,
                       size_t from, size_t to)
{
    const double *up = l->upper + i * l->width, *low = l->lower + i * l->width;
    const double rounding = (double) (to - from) * 0x1p-52;
    double upper = 0, lower = 0, least = INFINITY, most = 0;
    size_t at = i * blocks->n + k;
    int is_open;
    for (size_t j = from; j < to; j++) {
        upper += up[j];
        lower += low[j];
    }
    blocks->upper[at] = upper * (1 + rounding);
    blocks->lower[at] = lower * (1 - rounding);
    if (i == 0)
        return;
    for (size_t j = from; j < to; j++) {
        double lowest = low[j] / (up - l->width)[j], highest = up[j] / (low - l->width)[j];
        least = lowest < least ? lowest : least;
        most = highest > most ? highest : most;
    }
    is_open = !(least > 0 && least < INFINITY && most > 0 && most < INFINITY);
    blocks->n_open[at] = blocks->n_open[at - blocks->n] + (is_open ? 1 : 0);
    blocks->least[at] = blocks->least[at - blocks->n] + (is_open ? 0 : log(least));
    blocks->most[at] = blocks->most[at - blocks->n] + (is_open ? 0 : log(most));
}

cellar_status cellar_law_blocks_init(cellar_laws *l, cellar_error *err)
{
    cellar_status status = blocks_room(&l->blocks, l, err);
    for (size_t i = 0; status == CELLAR_OK && i < l->n; i++)
        for (size_t k = 0; k < l->blocks.n; k++)
            block_fill(&l->blocks, l, i, k, k > 0 ? l->blocks.ends[k - 1] : 0, l->blocks.ends[k]);
    return status;
}

/* ---- the values of a pair -------------------------------------------------------------- */

/* What is added up between two nodes: see wide_values() in envelope_laws.c. */
typedef struct sums {
    const cellar_curve_node *nodes;
    const double *log_g;
    size_t n;
    double *beyond, *mass;
} sums;

/* P and Q of something whose ratio lies above the node before the at-th, and not above that. */
static void sums_add(const sums *s, size_t at, double p, double q)
{
    double term;
    if (at == 0)
        return;
    term = p - s->nodes[at - 1].g * (1 - 0x1p-50) * q;
    s->beyond[at] += term > 0 ? term : 0;
    s->mass[at] += q;
}

/* The first node whose logarithm is not below x, looked for near another. */
static size_t sums_place(const sums *s, size_t near, double x)
{
    while (near < s->n && s->log_g[near] < x)
        near++;
    while (near > 0 && s->log_g[near - 1] >= x)
        near--;
    return near;
}

/* A block whose ratios lie within e^low .. e^high, where nodes lie between. */
static void sums_split(const sums *s, size_t first, size_t last, double low, double high, double a,
                       double b)
{
    const double farthest = 650; /* no node is that far out */
    const double r = exp(low), t = exp(high), above = fmax(0, a - r * b) + a * 0x1p-51;
    const double c = above / (t - r) * (1 + 0x1p-48);
    if (high > farthest) {
        s->beyond[s->n] += above;
        sums_add(s, first, fmin(a, r * b * (1 + 0x1p-50)), b);
    } else if (c < b) {
        sums_add(s, last, t * c, c);
        sums_add(s, first, fmax(0, a - t * c * (1 - 0x1p-48)) + a * 0x1p-50, b - c);
    } else { /* all of it has the largest ratio, but for rounding */
        sums_add(s, last, a, fmin(b, a / t));
    }
}

void cellar_law_blocks_values(const cellar_laws *l, size_t p, size_t q, cellar_curve_node *nodes,
                              const double *log_g, size_t n, double *room)
{
    const cellar_law_blocks *blocks = &l->blocks;
    const double *up = blocks->upper + p * blocks->n, *low = blocks->lower + q * blocks->n;
    const double *least = p > q ? blocks->least : blocks->most;
    const double *most = p > q ? blocks->most : blocks->least;
    const double rounding = 1 + (double) (blocks->n + 4 * n + 64) * 0x1p-50;
    const sums s = {nodes, log_g, n, room, room + n + 1};
    double above = 0, value = 0;
    size_t first = 0, last = 0;
    for (size_t i = 0; i < 2 * (n + 1); i++)
        room[i] = 0;
    for (size_t k = 0; k < blocks->n; k++) {
        double from = least[p * blocks->n + k] - least[q * blocks->n + k] - LOG_SLACK;
        double to = most[p * blocks->n + k] - most[q * blocks->n + k] + LOG_SLACK;
        if (blocks->n_open[p * blocks->n + k] != blocks->n_open[q * blocks->n + k]) {
            s.beyond[n] += up[k];
            continue;
        }
        first = sums_place(&s, first, from);
        last = sums_place(&s, last, to);
        if (first == last)
            sums_add(&s, first, up[k], low[k]);
        else
            sums_split(&s, first, last, from, to, up[k], low[k]);
    }
    for (size_t i = n; i > 0; i--) {
        if (i < n)
            value += (nodes[i].g - nodes[i - 1].g) * above;
        value += s.beyond[i];
        above += s.mass[i];
        nodes[i - 1].value = fmax(nodes[i - 1].value, (value + l->outside[p]) * rounding);
    }
}
